//! Error messages for options of `plyhouse match` that are written with a single dash, as in
//! cutechess and fastchess.

use clap::error::ErrorKind;
use clap::{Command, CommandFactory};

/// Options of cutechess and fastchess that `plyhouse match` does not have. Each option has a hint
/// that names the replacement or explains why none is needed.
const RENAMED: [(&str, &str); 5] = [
    (
        "rounds",
        "did you mean --games, the number of games per pair of players?",
    ),
    ("pgnout", "did you mean --out?"),
    ("srand", "did you mean --seed?"),
    ("repeat", "every opening is always played with both sides"),
    ("variant", "give the game as the first argument"),
];

/// Prints a command-line error and exits the process. If an option of `plyhouse match` has a single
/// dash, the message contains a hint.
pub(crate) fn exit<C: CommandFactory>(error: clap::Error, words: &[String]) -> ! {
    if error.kind() != ErrorKind::UnknownArgument || words.first().is_none_or(|w| w != "match") {
        error.exit();
    }
    let command = C::command();
    let options = command.find_subcommand("match").expect("it is a command");
    match hint(options, words) {
        Some(hint) => clap::Error::raw(ErrorKind::UnknownArgument, format!("{hint}\n")).exit(),
        None => error.exit(),
    }
}

/// Returns an error message for the first option that is written with a single dash. The message
/// contains a hint about the correct usage.
fn hint(options: &Command, words: &[String]) -> Option<String> {
    let word = words.iter().find(|word| is_single_dash(word))?;
    let name = word[1..].split('=').next().unwrap_or_default();
    let is_option = options
        .get_arguments()
        .any(|known| known.get_long() == Some(name));
    let renamed = RENAMED.iter().find(|(theirs, _)| *theirs == name);
    let hint = match renamed {
        _ if is_option => format!("did you mean --{name}?"),
        Some((_, hint)) => (*hint).to_owned(),
        None => "options begin with two dashes; see --help".to_owned(),
    };
    Some(format!("unexpected argument '{word}' found: {hint}"))
}

/// Returns whether a command-line argument is a single dash followed by a name of at least two
/// characters.
fn is_single_dash(word: &str) -> bool {
    let mut rest = word.strip_prefix('-').unwrap_or_default().chars();
    rest.next().is_some_and(|c| c.is_ascii_alphabetic()) && rest.next().is_some()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;
    use crate::CommandLine;

    fn hint_of(words: &str) -> Option<String> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let all = std::iter::once("plyhouse".to_owned()).chain(words.clone());
        let error = CommandLine::try_parse_from(all).expect_err("an option has one dash");
        assert_eq!(error.kind(), ErrorKind::UnknownArgument, "{words:?}");
        let command = CommandLine::command();
        hint(
            command.find_subcommand("match").expect("it is there"),
            &words,
        )
    }

    #[test]
    fn single_dash_option_is_suggested_with_two() {
        let command = CommandLine::command();
        let options = command.find_subcommand("match").expect("it is there");
        let long = options.get_arguments().filter_map(clap::Arg::get_long);
        // The test skips option names that begin with `h`: clap parses `-h…` as the help option
        // `-h`, so no hint is printed for them.
        let long: Vec<_> = long.filter(|name| !name.starts_with('h')).collect();
        assert!(
            long.contains(&"engine") && long.contains(&"resign"),
            "{long:?}"
        );
        for name in long {
            let hint = hint_of(&format!("match chess -{name} level=easy"));
            let expected = format!("unexpected argument '-{name}' found: did you mean --{name}?");
            assert_eq!(hint, Some(expected));
        }
    }

    #[test]
    fn options_of_other_programs_have_suggestions() {
        for (words, expected) in [
            ("match chess -rounds 10", "did you mean --games"),
            (
                "match chess --engine level=easy -pgnout a.pgn",
                "did you mean --out?",
            ),
            ("match chess -srand 1", "did you mean --seed?"),
            ("match chess -repeat", "with both sides"),
            ("match -variant fischerandom", "the first argument"),
            ("match chess -maxmoves 200", "two dashes"),
            ("match chess -games=10", "did you mean --games?"),
        ] {
            let hint = hint_of(words).expect(words);
            assert!(hint.contains(expected), "{words}: {hint}");
        }
        assert_eq!(hint_of("match chess --engien level=easy"), None);
        assert_eq!(hint_of("match chess -x"), None);
    }
}
