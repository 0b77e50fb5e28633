//! For terminals that have ASCII only: other signs in place of those that `ply` draws with. What
//! others wrote stays as it is, and so does the sign of a bot: in ASCII anybody could write it.

use crate::customs::letter;

/// The text with every sign of ours replaced by one of ASCII.
pub(crate) fn ascii(text: &str) -> String {
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
            // Stones and discs: the first seat's, the second's.
            '●' => plain.push('X'),
            '○' => plain.push('O'),
            other => plain.push(letter(other).unwrap_or(other)),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::customs::Customs;

    #[test]
    fn every_piece_has_a_sign_of_its_own() {
        let games: [(&str, &str); 3] = [
            ("chess", "KQRBNPkqrbnp"),
            ("draughts", "bBwW"),
            ("go", "bw"),
        ];
        for (game, pieces) in games {
            let figures: String = pieces
                .chars()
                .filter_map(|piece| Customs::of(game).figure(piece))
                .map(|(_, figure)| figure)
                .collect();
            let mut signs: Vec<char> = ascii(&figures).chars().collect();
            assert!(signs.iter().all(char::is_ascii), "{game}: {signs:?}");
            signs.sort_unstable();
            signs.dedup();
            assert_eq!(signs.len(), pieces.len(), "{game}");
        }
    }

    #[test]
    fn names_stay_as_they_are() {
        assert_eq!(ascii("│ ● zoë ▸"), "| X zoë >");
    }
}
