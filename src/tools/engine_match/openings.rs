//! Openings of an engine match, read from a file or generated at random. Each opening is played
//! twice with the sides swapped.

mod pgn;

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use plyhouse_engine::catalog::{AnalysisBoard, AnyPosition, GameEntry, MoveChoice};
use plyhouse_engine::search::{Level, Limits, Stop, TranspositionTable};

use self::pgn::PgnGame;
use super::random_openings::{default_opening_plies, generate_openings};

/// Maximum number of nodes of the search that checks whether an opening is balanced.
const BALANCE_SEARCH_NODES: u64 = 20_000;

/// Size of the transposition table of the balance search, in bytes.
const BALANCE_SEARCH_TABLE_BYTES: usize = 1 << 20;

/// Maximum absolute score of a balanced opening. For comparison, a score of 100 is an advantage
/// that a careful player notices.
const BALANCED_SCORE_MAX: i32 = 80;

/// Byte order mark, which some text files contain at the beginning.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Source of the openings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpeningSource {
    /// Openings with random moves. Each opening has the given number of plies, or a number that
    /// suits the game if the value is `None`.
    Random(Option<u32>),
    /// Openings with random moves, after which neither side is far ahead. Each opening has the
    /// given number of plies.
    Balanced(u32),
    /// File with one opening per line, or with games in PGN or PDN format.
    File(PathBuf),
}

impl FromStr for OpeningSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plies = |text: &str| {
            text.parse()
                .map_err(|_| format!("invalid number of plies '{text}'"))
        };
        match text.split_once(':') {
            _ if text == "random" => Ok(Self::Random(None)),
            Some(("random", number)) => Ok(Self::Random(Some(plies(number)?))),
            Some(("balanced", number)) => Ok(Self::Balanced(plies(number)?)),
            Some(_) | None => Ok(Self::File(text.into())),
        }
    }
}

/// Start position of a game, with the opening moves that are played from it.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Position after the opening.
    pub(crate) pos: Box<dyn AnyPosition>,
    /// Position before the opening moves, in the server's notation. Empty if the moves begin at the
    /// start of the game.
    pub(crate) start_position: String,
    pub(crate) moves: Vec<String>,
}

impl OpeningSource {
    /// Returns the openings of a match. Random sources generate `opening_count` different openings.
    /// A file source returns all openings in the file. If the match needs more openings than the
    /// file contains, the match repeats openings.
    pub(crate) fn load_openings(
        &self,
        game: &'static GameEntry,
        opening_count: usize,
        seed: u64,
    ) -> anyhow::Result<Vec<Opening>> {
        Ok(match self {
            Self::File(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                parse_openings(&text, game).with_context(|| path.display().to_string())?
            }
            Self::Random(plies) => {
                let plies = plies.unwrap_or_else(|| default_opening_plies(&game.info));
                generate_openings(game, opening_count, plies, seed, |_| true)?
            }
            Self::Balanced(plies) => {
                generate_openings(game, opening_count, *plies, seed, is_balanced)?
            }
        })
    }
}

/// Searches a position for a short time and returns whether the score is close to even.
fn is_balanced(pos: &dyn AnyPosition) -> bool {
    let limits = Limits::nodes(BALANCE_SEARCH_NODES);
    let mut table = TranspositionTable::new(BALANCE_SEARCH_TABLE_BYTES);
    let choice = pos.choose_move(Level::Max, 0, &limits, &Stop::new(), &mut table);
    choice.is_some_and(|MoveChoice { report, .. }| {
        !report.score.is_decided() && report.score.value().abs() <= BALANCED_SCORE_MAX
    })
}

/// Parses the contents of an openings file: games in PGN or PDN, or one opening per line.
fn parse_openings(text: &str, game: &'static GameEntry) -> anyhow::Result<Vec<Opening>> {
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    let openings = match pgn::is_pgn(text) {
        true => parse_games(text, game)?,
        false => parse_lines(text, game)?,
    };
    if openings.is_empty() {
        bail!("no openings found");
    }
    Ok(openings)
}

/// Parses the games of a PGN or PDN file. Each game is an opening that consists of all the moves of
/// the game.
fn parse_games(text: &str, game: &'static GameEntry) -> anyhow::Result<Vec<Opening>> {
    let mut analysis_board = game.analysis_board(0);
    let games = pgn::split_games(text, game)?.into_iter().zip(1..);
    let openings = games.map(|(PgnGame { fen, movetext }, number)| {
        let opening = parse_game(analysis_board.as_mut(), fen.as_deref(), &movetext);
        opening.with_context(|| format!("game {number}"))
    });
    openings.collect()
}

fn parse_game(
    analysis_board: &mut dyn AnalysisBoard,
    fen: Option<&str>,
    movetext: &str,
) -> anyhow::Result<Opening> {
    let moves = analysis_board.set_up_moves(fen.unwrap_or_default())?;
    ensure!(moves.is_empty(), "the FEN tag is not a position");
    let start = fen.map_or_else(String::new, |_| analysis_board.position().to_string());
    let moves = analysis_board.play_record(movetext)?;
    opening_at_current_position(analysis_board, start, moves)
}

/// Parses one opening per line, either moves from the start of the game or a position.
///
/// Empty lines and comment lines are skipped. A comment line begins with `#` or `;`, or with `%` as
/// in Othello board files. A line that contains only text in braces is also skipped.
fn parse_lines(text: &str, game: &'static GameEntry) -> anyhow::Result<Vec<Opening>> {
    let mut analysis_board = game.analysis_board(0);
    let mut openings = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        let is_braced = line.starts_with('{') && line.find('}') == Some(line.len() - 1);
        if line.is_empty() || line.starts_with(['#', '%', ';']) || is_braced {
            continue;
        }
        let opening = parse_line(analysis_board.as_mut(), line);
        openings.push(opening.with_context(|| format!("line {number}"))?);
    }
    Ok(openings)
}

fn parse_line(analysis_board: &mut dyn AnalysisBoard, line: &str) -> anyhow::Result<Opening> {
    let moves = analysis_board.set_up_moves(line)?;
    let start = match moves.is_empty() {
        true => analysis_board.position().to_string(),
        false => String::new(),
    };
    opening_at_current_position(analysis_board, start, moves)
}

/// Builds an opening from the moves that were played on the analysis board. Fails if the game is
/// already over in the board's current position.
fn opening_at_current_position(
    analysis_board: &dyn AnalysisBoard,
    start: String,
    moves: Vec<String>,
) -> anyhow::Result<Opening> {
    let pos = analysis_board.position();
    ensure!(pos.outcome().is_none(), "the game is over");
    Ok(Opening {
        pos: pos.clone_box(),
        start_position: start,
        moves,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyhouse_engine::catalog::find_game;

    #[test]
    fn file_lines_may_be_moves_or_positions() {
        let game = find_game("tic-tac-toe").expect("the game is in the catalog");
        let text =
            "# a comment\n\nb2 a1\n9,x\n".replace("9,x", &game.initial_position().to_string());
        let openings = parse_openings(&text, game).expect("both lines are valid");
        assert_eq!(openings.len(), 2);
        assert_eq!(openings[0].moves, ["b2", "a1"]);
        assert_eq!(openings[0].start_position, "");
        assert_eq!(
            openings[1].start_position,
            game.initial_position().to_string()
        );
        for (text, expected) in [
            ("", "no opening"),
            ("b2 b2", "line 1"),
            ("a1 b1 a2 b2 a3", "line 1: the game is over"),
        ] {
            let error = format!("{:#}", parse_openings(text, game).expect_err(text));
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    /// Opening files may use the formats of other programs. The test covers EPD, the FEN of PDN,
    /// OBF, and Othello games without separators between the moves.
    #[test]
    fn epd_pdn_fen_obf_and_move_lists_are_parsed() {
        let board = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R";
        let chess = format!("{board} b KQkq -");
        let epd = format!("{chess} hmvc 3; fmvn 3; id \"Ruy Lopez\";");
        let obf = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X; G8:+18; % 1";
        for (id, line, start) in [
            ("chess", chess.as_str(), format!("{chess} 0 1")),
            ("chess", &epd, format!("{chess} 3 3")),
            (
                "draughts",
                "W:WK31,32:B1-4.",
                "W:WK31,32:B1,2,3,4:H0:F1".to_owned(),
            ),
            ("othello", obf, obf[..66].replace('X', "*")),
        ] {
            let game = find_game(id).expect("the game is in the catalog");
            let openings = parse_openings(line, game).expect(line);
            assert_eq!(openings[0].start_position, start);
            assert_eq!(openings[0].moves, [""; 0]);
        }
        for (id, line, moves) in [
            ("othello", "f5d6c3", ["f5", "d6", "c3"]),
            ("othello", "F5D6 C3", ["f5", "d6", "c3"]),
            ("connect-four", "445", ["4", "4", "5"]),
            ("gomoku", "h8i10a1", ["h8", "i10", "a1"]),
            ("chess", "e2e4e7e5g1f3", ["e2e4", "e7e5", "g1f3"]),
        ] {
            let openings = parse_openings(line, find_game(id).expect("the game is in the catalog"))
                .expect(line);
            assert_eq!(openings[0].start_position, "", "{line}");
            assert_eq!(openings[0].moves, moves);
        }
    }

    /// Parses a list of openings. Returns the start position and the moves of each opening.
    fn parse_starts_and_moves(text: &str, game: &str) -> Vec<(String, String)> {
        let openings = parse_openings(text, find_game(game).expect("the game is in the catalog"));
        let openings = openings.unwrap_or_else(|error| panic!("{text}: {error:#}"));
        let pair = |opening: Opening| (opening.start_position, opening.moves.join(" "));
        openings.into_iter().map(pair).collect()
    }

    #[test]
    fn lines_may_have_move_numbers_comments_and_results() {
        for (game, text, expected) in [
            (
                "chess",
                "\u{feff}; a book\r\n{ two }\r\n1.c4 e5 2.Nc3 {English}\r\n1. Nf3 d5 ; Reti\r\n",
                &["c2c4 e7e5 b1c3", "g1f3 d7d5"][..],
            ),
            (
                "chess",
                "1. f4 e5 2. fxe5 d6 3. exd6 Bxd6 (3... c5 4. d3) *\ne4 d5 exd5 Qxd5 1/2-1/2",
                &["f2f4 e7e5 f4e5 d7d6 e5d6 f8d6", "e2e4 d7d5 e4d5 d8d5"],
            ),
            (
                "draughts",
                "1. 9-13 22-18 2. 6-9 0-1\n1.10-14 22-18!",
                &["9-13 22-18 6-9", "10-14 22-18"],
            ),
            (
                "connect-four",
                "% book\n1. 4 4 2. 3\n\n1.4 2",
                &["4 4 3", "4 2"],
            ),
            ("gomoku", "1. h8 h9 $1\nh8i9j10", &["h8 h9", "h8 i9 j10"]),
        ] {
            let parsed = parse_starts_and_moves(text, game);
            let expected = expected
                .iter()
                .map(|moves| (String::new(), (*moves).to_owned()));
            assert_eq!(parsed, expected.collect::<Vec<_>>(), "{text}");
        }
    }

    /// If a transcript omits a forced pass, the parser inserts the pass.
    #[test]
    fn transcripts_may_omit_passes() {
        let parsed = parse_starts_and_moves(
            "d3c3f5d2d1e1b2c1a3\n1. d3 c3 2. f5d2 3. d1e1 4. b2c1 5. a3",
            "othello",
        );
        for (_, moves) in parsed {
            assert_eq!(moves, "d3 c3 f5 d2 d1 e1 b2 c1 pass a3");
        }
    }

    #[test]
    fn fen_may_end_with_a_semicolon() {
        for fen in [
            "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
            "4k3/8/8/8/8/8/4P3/4K2R b K - 7 31",
            "r3k3/8/8/8/8/8/4P3/4K3 w q - 12 7",
        ] {
            for end in [";", " ;", "; id \"7\";"] {
                let parsed = parse_starts_and_moves(&format!("\u{feff}{fen}{end}\r\n"), "chess");
                assert_eq!(parsed, [(fen.to_owned(), String::new())]);
            }
        }
        let bad = "4k3/8/8/8/8/8/4P3/4K2R w Q - 0 1;";
        let error = format!(
            "{:#}",
            parse_openings(bad, find_game("chess").expect("the game is in the catalog"))
                .expect_err(bad)
        );
        assert!(
            error.contains("line 1") && error.contains("castling rights"),
            "{error}"
        );
    }

    #[test]
    fn pgn_and_pdn_books_are_parsed() {
        let chess = "\u{feff}[Event \"Book\"]\r\n[Site \"?\"]\r\n[Result \"*\"]\r\n\r\n1. d4 Nf6 2. c4\r\n\
            e6 {[%eval 0.2]\r\n[x] } 3. Nc3 (3. Nf3 b6) Bb4 *\r\n\r\n\
            [Event \"Ending\"]\r\n[SetUp \"1\"]\r\n[FEN \"4k3/8/8/8/8/8/4P3/4K2R b K - 0 31\"]\r\n\r\n\
            31... Kd7 32. O-O $1 1/2-1/2\r\n\r\n[Event \"None\"]\r\n\r\n*\r\n";
        assert_eq!(
            parse_starts_and_moves(chess, "chess"),
            [
                ("", "d2d4 g8f6 c2c4 e7e6 b1c3 f8b4"),
                ("4k3/8/8/8/8/8/4P3/4K2R b K - 0 31", "e8d7 e1g1"),
                ("", ""),
            ]
            .map(|(start, moves)| (start.to_owned(), moves.to_owned()))
        );
        let draughts = "[Event \"Double corner\"]\n[GameType \"21\"]\n1. 9-14 22-18 2. 5-9\n1-0\n\
            [SetUp \"1\"]\n[FEN \"W:WK32,21:B1,K5.\"]\n1. 32-27 1-6 *";
        assert_eq!(
            parse_starts_and_moves(draughts, "draughts"),
            [
                ("", "9-14 22-18 5-9"),
                ("W:W21,K32:B1,K5:H0:F1", "32-27 1-6"),
            ]
            .map(|(start, moves)| (start.to_owned(), moves.to_owned()))
        );
    }

    #[test]
    fn errors_name_the_line_or_the_game() {
        let good = "[Event \"x\"]\n\n1. e4 e5 *\n\n[Event \"y\"]\n";
        for (text, expected) in [
            ("e4 e5\n\n1. e4 e4".to_owned(), "line 3: ply 1: e4"),
            ("{x}\n1. e4 {x\n".to_owned(), "line 2: ply 1: {"),
            ("# x\nf3 e5 g4 Qh4#".to_owned(), "line 2: the game is over"),
            (format!("{good}1. e4 e5 2. Ke3"), "game 2: ply 2: Ke3"),
            (
                format!("{good}1. f3 e5 2. g4 Qh4#"),
                "game 2: the game is over",
            ),
            (
                format!("{good}[FEN \"e4 e5\"]"),
                "game 2: the FEN tag is not a position",
            ),
            (format!("{good}[FEN \"8/8\"]"), "game 2: \"8/8\""),
            (format!("{good}1. e4 (1. d4"), "game 2: ply 1: ("),
            (
                format!("{good}[Variant \"Antichess\"]\n1. e4"),
                "game 2: unsupported variant 'antichess'",
            ),
            ("\u{feff}\n; x\n".to_owned(), "no opening"),
        ] {
            let error = format!(
                "{:#}",
                parse_openings(
                    &text,
                    find_game("chess").expect("the game is in the catalog")
                )
                .expect_err(&text)
            );
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    /// In chess, a threefold repetition ends the game only if a player claims the draw. Openings
    /// may therefore contain threefold repetitions.
    #[test]
    fn openings_continue_after_an_unclaimed_draw() {
        let repetition = "Nf3 Nf6 Ng1 Ng8 ".repeat(2);
        let opening = format!("{repetition}e4 c5");
        assert!(
            parse_starts_and_moves(&opening, "chess")[0]
                .1
                .ends_with("f6g8 e2e4 c7c5")
        );
        let pgn = format!("[Event \"x\"]\n{repetition}\nd4 *");
        assert!(
            parse_starts_and_moves(&pgn, "chess")[0]
                .1
                .ends_with("f6g8 d2d4")
        );
        let error = parse_openings(
            &repetition,
            find_game("chess").expect("the game is in the catalog"),
        )
        .expect_err("a draw");
        assert!(
            format!("{error:#}").contains("line 1: the game is over"),
            "{error:#}"
        );
    }

    /// In more than half of all Connect Four positions after eight plies, one side can force a win.
    /// At least one opening from the source `random:8` must therefore fail the balance check.
    #[test]
    fn balanced_openings_pass_the_balance_check() {
        let game = find_game("connect-four").expect("the game is in the catalog");
        let load = |source: &str| {
            let source: OpeningSource = source.parse().expect("a valid opening source");
            source
                .load_openings(game, 10, 1)
                .expect("the game has enough openings")
        };
        let is_balanced_opening = |opening: &Opening| is_balanced(opening.pos.as_ref());
        assert!(load("balanced:8").iter().all(is_balanced_opening));
        assert!(!load("random:8").iter().all(is_balanced_opening));
        assert!(
            load("random:8")
                .iter()
                .all(|opening| opening.moves.len() == 8)
        );
    }
}
