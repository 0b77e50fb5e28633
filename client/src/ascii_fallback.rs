//! Text for terminals that can show only ASCII. Symbols that `ply` draws get an ASCII substitute,
//! and any other non-ASCII character becomes a question mark.

use crate::conventions::piece_letter;

/// ASCII symbol of a bot. A `%` that occurs in other text becomes `?`, so that a player name cannot
/// imitate a bot.
const BOT_SYMBOL: char = '%';

const REPLACEMENT: char = '?';

/// Returns whether the environment selects a locale without UTF-8. `settings` holds the values of
/// `LC_ALL`, `LC_CTYPE` and `LANG`, in this order. The first value that is not empty determines the
/// locale.
pub(crate) fn is_ascii_locale(settings: [Option<String>; 3]) -> bool {
    let locale = settings.into_iter().flatten().find(|set| !set.is_empty());
    locale.is_some_and(|set| {
        let set = set.to_ascii_lowercase();
        !set.contains("utf-8") && !set.contains("utf8")
    })
}

/// Returns the text in the characters of the terminal. If `ascii` is set, these are only ASCII
/// characters.
pub(crate) fn to_charset(text: &str, ascii: bool) -> String {
    match ascii {
        true => to_ascii(text),
        false => text.to_owned(),
    }
}

/// Replaces every character that is not ASCII. Also replaces `%`, because `%` is the ASCII symbol
/// of a bot.
fn to_ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '─' => plain.push('-'),
            '│' => plain.push('|'),
            '╭' | '╮' | '╰' | '╯' | '┬' | '┴' | '├' | '┤' | '┼' => {
                plain.push('+')
            }
            '·' => plain.push('.'),
            '▸' => plain.push('>'),
            '…' => plain.push_str("..."),
            // The first seat has the stones or discs `●`, and the second seat has `○`.
            '●' => plain.push('X'),
            '○' => plain.push('O'),
            '½' => plain.push_str(".5"),
            '⚙' => plain.push(BOT_SYMBOL),
            BOT_SYMBOL => plain.push(REPLACEMENT),
            other if other.is_ascii() => plain.push(other),
            other => plain.push(piece_letter(other).unwrap_or(REPLACEMENT)),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conventions::Conventions;

    #[test]
    fn each_piece_maps_to_distinct_ascii_character() {
        let games: [(&str, &str); 3] = [
            ("chess", "KQRBNPkqrbnp"),
            ("draughts", "bBwW"),
            ("go", "bw"),
        ];
        for (game, pieces) in games {
            let symbols: String = pieces
                .chars()
                .filter_map(|piece| Conventions::for_game(game).piece_symbol(piece))
                .map(|(_, figure)| figure)
                .collect();
            let mut characters: Vec<char> = to_ascii(&symbols).chars().collect();
            assert!(
                characters.iter().all(char::is_ascii),
                "{game}: {characters:?}"
            );
            characters.sort_unstable();
            characters.dedup();
            assert_eq!(characters.len(), pieces.len(), "{game}");
        }
    }

    #[test]
    fn non_ascii_is_replaced_and_bot_symbol_cannot_be_forged() {
        assert_eq!(to_ascii("│ ● zoë ▸"), "| X zo? >");
        assert_eq!(to_ascii("⚙ max bot … 歩\u{fffd}"), "% max bot ... ??");
        // A `%` in a player name is replaced, so the name cannot imitate a bot.
        assert_eq!(to_ascii("% max bot"), "? max bot");
    }

    #[test]
    fn first_set_locale_variable_without_utf8_is_ascii() {
        let is_ascii = |settings: [&str; 3]| {
            is_ascii_locale(settings.map(|set| (set != "-").then(|| set.to_owned())))
        };
        for settings in [
            ["C", "-", "en_US.UTF-8"],
            ["POSIX", "C.UTF-8", "-"],
            ["", "C", "C.UTF-8"],
            ["-", "", "de_DE"],
            ["de_DE.ISO-8859-1", "-", "-"],
        ] {
            assert!(is_ascii(settings), "{settings:?}");
        }
        for settings in [
            ["-", "-", "-"],
            ["", "", ""],
            ["C.UTF-8", "C", "C"],
            ["", "de_DE.utf8", "C"],
            ["-", "-", "en_US.UTF-8"],
        ] {
            assert!(!is_ascii(settings), "{settings:?}");
        }
    }
}
