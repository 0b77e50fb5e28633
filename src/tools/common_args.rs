//! Arguments that several commands share.

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use plyhouse_engine::catalog::{self, CATALOG, GameEntry};
use plyhouse_engine::search::{Level, ParseLevelError};

/// Returns a parser for the id of a game.
pub fn game_parser() -> impl TypedValueParser<Value = &'static GameEntry> {
    PossibleValuesParser::new(game_ids())
        .map(|id| catalog::find_game(&id).expect("clap accepts only ids of the catalog"))
}

/// The game of a command: its first positional argument, or `--game`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct GameArg {
    /// Game (also accepted as --game GAME)
    #[arg(value_name = "GAME", value_parser = game_parser(), required_unless_present = "game_option")]
    game: Option<&'static GameEntry>,

    #[arg(long = "game", value_name = "GAME", value_parser = game_parser(), hide = true, conflicts_with = "game")]
    game_option: Option<&'static GameEntry>,
}

impl GameArg {
    /// Returns the game that the user selected with the positional argument or with `--game`.
    pub fn game_entry(&self) -> &'static GameEntry {
        self.game
            .or(self.game_option)
            .expect("clap requires one of them")
    }
}

/// Arguments of a command that takes a game and an optional position: `GAME [POSITION]` or `--game
/// GAME [POSITION]`.
#[derive(Clone, Debug)]
pub struct GameAndPosition {
    /// Game that the user selected with the positional argument or with `--game`.
    pub game: &'static GameEntry,
    /// Position as the user typed it.
    pub position: Option<String>,
}

/// The arguments as clap parses them.
#[derive(clap::Args)]
struct PositionalArgs {
    /// Game; may also be given as --game GAME
    #[arg(value_name = "GAME", value_parser = GameOrPositionParser, required_unless_present = "game_option")]
    game: Option<String>,

    /// Position (FEN for chess) or moves from the start (`e4 e5`); default: initial position. Put
    /// `--` before a position that begins with `-`
    #[arg(value_name = "POSITION")]
    position: Option<String>,

    #[arg(long = "game", value_name = "GAME", value_parser = game_parser(), hide = true)]
    game_option: Option<&'static GameEntry>,
}

impl clap::Args for GameAndPosition {
    fn augment_args(command: clap::Command) -> clap::Command {
        PositionalArgs::augment_args(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        PositionalArgs::augment_args_for_update(command)
    }
}

impl clap::FromArgMatches for GameAndPosition {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let args = PositionalArgs::from_arg_matches(matches)?;
        if let Some(game) = args.game_option {
            // If `--game` is present, the first positional argument is the position, and a second
            // positional argument is an error.
            if let Some(extra) = args.position {
                let message =
                    format!("unexpected argument '{extra}': the game is already given by --game\n");
                return Err(clap::Error::raw(ErrorKind::UnknownArgument, message));
            }
            let position = args.game;
            return Ok(Self { game, position });
        }
        let id = args.game.unwrap_or_default();
        let game = catalog::find_game(&id).ok_or_else(|| {
            let ids = game_ids().collect::<Vec<_>>().join(", ");
            let message =
                format!("invalid value '{id}' for '<GAME>'\n  [possible values: {ids}]\n");
            clap::Error::raw(ErrorKind::InvalidValue, message)
        })?;
        let position = args.position;
        Ok(Self { game, position })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Parser for the first positional argument. The first argument is a position if `--game` is
/// present, and otherwise a game id. The parser therefore accepts any text. It lists the game ids
/// for help texts and shell completion.
#[derive(Clone, Copy, Debug)]
struct GameOrPositionParser;

impl TypedValueParser for GameOrPositionParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(game_ids().map(PossibleValue::new)))
    }
}

/// Returns the ids of all games.
fn game_ids() -> impl Iterator<Item = &'static str> {
    CATALOG.iter().map(|game| game.info.id)
}

/// Returns a parser for the id of a bot level.
pub fn level_parser() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::id))
        .try_map(|id| -> Result<Level, ParseLevelError> { id.parse() })
}

/// Prints the error and exits with status 2, as clap does on a usage error. Commands call this
/// function for well-formed arguments with an invalid value, such as an illegal position.
pub fn exit_with_usage_error(error: impl std::fmt::Display) -> ! {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{error}\n")).exit()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct PositionCommand {
        #[command(flatten)]
        subject: GameAndPosition,
        #[arg(long)]
        depth: Option<u32>,
    }

    #[derive(Debug, Parser)]
    struct GameCommand {
        #[command(flatten)]
        game: GameArg,
        #[arg(long)]
        seed: Option<u64>,
    }

    fn command_line(text: &str) -> impl Iterator<Item = &str> {
        std::iter::once("command").chain(text.split(' ').filter(|word| !word.is_empty()))
    }

    #[test]
    fn game_is_accepted_as_positional_argument_or_option() {
        for text in [
            "go",
            "--game go",
            "--seed 1 go",
            "go --seed 1",
            "--game=go --seed 1",
            "--seed 1 --game go",
        ] {
            let parsed = GameCommand::try_parse_from(command_line(text)).expect(text);
            assert_eq!(parsed.game.game_entry().info.id, "go", "{text}");
        }
        for (text, kind, expected) in [
            ("", ErrorKind::MissingRequiredArgument, "<GAME>"),
            ("whist", ErrorKind::InvalidValue, "tic-tac-toe"),
            ("--game whist", ErrorKind::InvalidValue, "tic-tac-toe"),
            ("go --game go", ErrorKind::ArgumentConflict, "GAME"),
            ("go chess", ErrorKind::UnknownArgument, "chess"),
        ] {
            let error = GameCommand::try_parse_from(command_line(text)).expect_err(text);
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn position_is_parsed_after_either_form_of_the_game() {
        for (text, position) in [
            ("othello", None),
            ("--game othello", None),
            ("othello f5d6", Some("f5d6")),
            ("--game othello f5d6", Some("f5d6")),
            ("f5d6 --game othello", Some("f5d6")),
            ("othello --depth 3 f5d6", Some("f5d6")),
            ("othello -", Some("-")),
            ("--game othello -", Some("-")),
            ("othello --depth 3 -- ---*O", Some("---*O")),
            ("--game othello -- ---*O", Some("---*O")),
            // If `--game` is present, a positional argument must not be parsed as a game id.
            ("--game othello chess", Some("chess")),
        ] {
            let parsed = PositionCommand::try_parse_from(command_line(text)).expect(text);
            assert_eq!(parsed.subject.game.info.id, "othello", "{text}");
            assert_eq!(parsed.subject.position.as_deref(), position, "{text}");
        }
        for (text, kind, expected) in [
            ("", ErrorKind::MissingRequiredArgument, "<GAME>"),
            ("whist", ErrorKind::InvalidValue, "tic-tac-toe"),
            ("f5d6 othello", ErrorKind::InvalidValue, "f5d6"),
            ("--game whist", ErrorKind::InvalidValue, "tic-tac-toe"),
            (
                "--game othello othello f5d6",
                ErrorKind::UnknownArgument,
                "f5d6",
            ),
            ("othello f5 d6", ErrorKind::UnknownArgument, "d6"),
        ] {
            let error = PositionCommand::try_parse_from(command_line(text)).expect_err(text);
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn shell_completion_offers_all_games() {
        let offered = GameOrPositionParser
            .possible_values()
            .expect("the parser lists the games");
        let offered: Vec<_> = offered.map(|value| value.get_name().to_owned()).collect();
        assert_eq!(offered, game_ids().collect::<Vec<_>>());
    }
}
