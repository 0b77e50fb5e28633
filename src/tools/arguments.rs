//! Arguments that several commands have.

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use plyhouse_engine::catalog::{self, CATALOG, GameEntry};
use plyhouse_engine::search::{Level, ParseLevelError};

/// Reads the id of a game.
pub fn game() -> impl TypedValueParser<Value = &'static GameEntry> {
    PossibleValuesParser::new(ids()).map(|id| catalog::find_game(&id).expect("clap has found it"))
}

/// The game of a command: its first positional argument, or `--game`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct GameArg {
    /// The game; `--game GAME` is the same
    #[arg(value_name = "GAME", value_parser = game(), required_unless_present = "game_option")]
    game: Option<&'static GameEntry>,

    #[arg(long = "game", value_name = "GAME", value_parser = game(), hide = true, conflicts_with = "game")]
    game_option: Option<&'static GameEntry>,
}

impl GameArg {
    /// The game that was named, by whichever of the two forms.
    pub fn entry(&self) -> &'static GameEntry {
        self.game
            .or(self.game_option)
            .expect("clap requires one of them")
    }
}

/// The game of a command and an optional position: `GAME [POSITION]` or `--game GAME [POSITION]`.
#[derive(Clone, Debug)]
pub struct GameAndPosition {
    /// The game that was named, by whichever of the two forms.
    pub game: &'static GameEntry,
    /// The position as it was given.
    pub position: Option<String>,
}

impl clap::Args for GameAndPosition {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
            .arg(
                clap::Arg::new("game")
                    .value_name("GAME")
                    .value_parser(GameOrPosition)
                    .required_unless_present("game_option")
                    .help("The game; `--game GAME` is the same"),
            )
            .arg(
                clap::Arg::new("position")
                    .value_name("POSITION")
                    .help(POSITION_HELP),
            )
            .arg(
                clap::Arg::new("game_option")
                    .long("game")
                    .value_name("GAME")
                    .value_parser(game())
                    .hide(true),
            )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

const POSITION_HELP: &str = "The position: in wire notation, or as the moves that lead to it \
    (`e4 e5`, `f5d6c3`). Without it: the start. A position that begins with `-` comes last, behind `--`";

impl clap::FromArgMatches for GameAndPosition {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let text = |id| matches.get_one::<String>(id).cloned();
        if let Some(game) = matches.get_one::<&'static GameEntry>("game_option") {
            // The game is known, so the first positional argument is the position.
            if let Some(extra) = text("position") {
                let message = format!("unexpected argument '{extra}': --game names the game\n");
                return Err(clap::Error::raw(ErrorKind::UnknownArgument, message));
            }
            let position = text("game");
            return Ok(Self { game, position });
        }
        let id = text("game").unwrap_or_default();
        let game = catalog::find_game(&id).ok_or_else(|| {
            let ids = ids().collect::<Vec<_>>().join(", ");
            let message =
                format!("invalid value '{id}' for '<GAME>'\n  [possible values: {ids}]\n");
            clap::Error::raw(ErrorKind::InvalidValue, message)
        })?;
        let position = text("position");
        Ok(Self { game, position })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Takes any text, and offers the ids of games to help texts and shell completion.
#[derive(Clone, Copy, Debug)]
struct GameOrPosition;

impl TypedValueParser for GameOrPosition {
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
        Some(Box::new(ids().map(PossibleValue::new)))
    }
}

/// The ids of all games.
fn ids() -> impl Iterator<Item = &'static str> {
    CATALOG.iter().map(|game| game.info.id)
}

/// Reads the id of a level.
pub fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::id))
        .try_map(|id| -> Result<Level, ParseLevelError> { id.parse() })
}

/// Ends the process as clap does, with status 2: the options are well-formed, but what they say
/// cannot be.
pub fn refuse(error: impl std::fmt::Display) -> ! {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{error}\n")).exit()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct OfPosition {
        #[command(flatten)]
        subject: GameAndPosition,
        #[arg(long)]
        depth: Option<u32>,
    }

    #[derive(Debug, Parser)]
    struct OfGame {
        #[command(flatten)]
        game: GameArg,
        #[arg(long)]
        seed: Option<u64>,
    }

    fn words(text: &str) -> impl Iterator<Item = &str> {
        std::iter::once("command").chain(text.split(' ').filter(|word| !word.is_empty()))
    }

    #[test]
    fn game_is_positional_or_an_option() {
        for text in [
            "go",
            "--game go",
            "--seed 1 go",
            "go --seed 1",
            "--game=go --seed 1",
            "--seed 1 --game go",
        ] {
            let parsed = OfGame::try_parse_from(words(text)).expect(text);
            assert_eq!(parsed.game.entry().info.id, "go", "{text}");
        }
        for (text, kind, said) in [
            ("", ErrorKind::MissingRequiredArgument, "<GAME>"),
            ("whist", ErrorKind::InvalidValue, "tic-tac-toe"),
            ("--game whist", ErrorKind::InvalidValue, "tic-tac-toe"),
            ("go --game go", ErrorKind::ArgumentConflict, "GAME"),
            ("go chess", ErrorKind::UnknownArgument, "chess"),
        ] {
            let error = OfGame::try_parse_from(words(text)).expect_err(text);
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn position_follows_the_game_in_both_forms() {
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
            // A position is never taken for the name of a game.
            ("--game othello chess", Some("chess")),
        ] {
            let parsed = OfPosition::try_parse_from(words(text)).expect(text);
            assert_eq!(parsed.subject.game.info.id, "othello", "{text}");
            assert_eq!(parsed.subject.position.as_deref(), position, "{text}");
        }
        for (text, kind, said) in [
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
            let error = OfPosition::try_parse_from(words(text)).expect_err(text);
            assert_eq!(error.kind(), kind, "{text}: {error}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn shell_completion_offers_the_games() {
        let offered = GameOrPosition.possible_values().expect("there are games");
        let offered: Vec<_> = offered.map(|value| value.get_name().to_owned()).collect();
        assert_eq!(offered, ids().collect::<Vec<_>>());
    }
}
