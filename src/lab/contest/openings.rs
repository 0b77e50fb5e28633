//! What the games of a contest begin with: openings of a file, or random ones. Each is played twice,
//! with the sides swapped.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, bail};
use plyhouse_engine::catalog::{AnyPosition, Choice, Entry};
use plyhouse_engine::search::{Level, Limits, Stop, Table};

use crate::tournament::{default_plies, opening};

/// How many positions are visited to see whether an opening is balanced.
const NODES: u64 = 20_000;

/// What that search remembers.
const TABLE_BYTES: usize = 1 << 20;

/// An opening is balanced if neither side is ahead by more than this; a hundred is what a careful player
/// feels.
const BALANCED: i32 = 80;

/// Where openings come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Random moves; so many plies, or as many as suit the game.
    Random(Option<u32>),
    /// Random moves after which neither side is far ahead.
    Balanced(u32),
    /// A file with an opening in each line.
    File(PathBuf),
}

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plies = |text: &str| {
            text.parse()
                .map_err(|_| format!("{text} is no number of plies"))
        };
        match text.split_once(':') {
            _ if text == "random" => Ok(Self::Random(None)),
            Some(("random", number)) => Ok(Self::Random(Some(plies(number)?))),
            Some(("balanced", number)) => Ok(Self::Balanced(plies(number)?)),
            Some(_) | None => Ok(Self::File(text.into())),
        }
    }
}

/// How games begin.
#[derive(Debug)]
pub(super) struct Opening {
    /// The position at which the contest's players take over.
    pub(super) pos: Box<dyn AnyPosition>,
    /// The position at which the moves begin, in wire notation; empty for the start of the game.
    pub(super) start: String,
    pub(super) moves: Vec<String>,
}

impl Source {
    /// So many openings; of a file that has fewer some come again.
    pub(super) fn open(
        &self,
        game: &'static Entry,
        wanted: usize,
        seed: u64,
    ) -> anyhow::Result<Vec<Opening>> {
        let drawn = match self {
            Self::File(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                return read(&text, game).with_context(|| path.display().to_string());
            }
            Self::Random(plies) => {
                let plies = plies.unwrap_or_else(|| default_plies(&game.info));
                opening::draw(game, wanted, plies, seed, |_| true)?
            }
            Self::Balanced(plies) => opening::draw(game, wanted, *plies, seed, is_balanced)?,
        };
        let openings = drawn
            .into_iter()
            .map(|opening::Opening { pos, moves }| Opening {
                pos,
                start: String::new(),
                moves,
            });
        Ok(openings.collect())
    }
}

/// Whether neither side is far ahead, as a short search sees it.
fn is_balanced(pos: &dyn AnyPosition) -> bool {
    let (limits, mut table) = (Limits::nodes(NODES), Table::new(TABLE_BYTES));
    let choice = pos.choose(Level::Max, 0, &limits, &Stop::new(), &mut table);
    choice.is_some_and(|Choice { report, .. }| {
        !report.score.is_decided() && report.score.value().abs() <= BALANCED
    })
}

/// Reads a line for each opening: moves from the start, or a position. Lines that are empty or begin
/// with `#`, or `%` as in Othello board files, are left out.
fn read(text: &str, game: &'static Entry) -> anyhow::Result<Vec<Opening>> {
    let mut openings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let opening = read_line(line, game).with_context(|| format!("line {}", number + 1))?;
        if opening.pos.outcome().is_some() {
            bail!("line {}: the game is over", number + 1);
        }
        openings.push(opening);
    }
    if openings.is_empty() {
        bail!("there is no opening in it");
    }
    Ok(openings)
}

fn read_line(line: &str, game: &'static Entry) -> anyhow::Result<Opening> {
    let mut analyst = game.analyst(0);
    let mut pos = game.start();
    let words = analyst.moves_of(line);
    let moves: Result<Vec<_>, _> = words.into_iter().map(|word| pos.play(word)).collect();
    if let Ok(moves) = moves {
        let start = String::new();
        return Ok(Opening { pos, start, moves });
    }
    analyst.set_up(line)?;
    let pos = analyst.position();
    Ok(Opening {
        pos: pos.clone_box(),
        start: pos.to_string(),
        moves: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyhouse_engine::catalog::find;

    #[test]
    fn a_file_has_moves_or_positions() {
        let game = find("tic-tac-toe").expect("hosted");
        let text = "# a comment\n\nb2 a1\n9,x\n".replace("9,x", &game.start().to_string());
        let openings = read(&text, game).expect("both can be read");
        assert_eq!(openings.len(), 2);
        assert_eq!(openings[0].moves, ["b2", "a1"]);
        assert_eq!(openings[0].start, "");
        assert_eq!(openings[1].start, game.start().to_string());
        for (text, why) in [
            ("", "no opening"),
            ("b2 b2", "line 1"),
            ("a1 b1 a2 b2 a3", "line 1: the game is over"),
        ] {
            let error = format!("{:#}", read(text, game).expect_err(text));
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    /// Files of the field: EPD, FEN of PDN, OBF, and games of Othello, whose moves have nothing between.
    #[test]
    fn files_of_other_programs_are_read() {
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
            let game = find(id).expect("hosted");
            let openings = read(line, game).expect(line);
            assert_eq!(openings[0].start, start);
            assert_eq!(openings[0].moves, [""; 0]);
        }
        for (id, line, moves) in [
            ("othello", "f5d6c3", ["f5", "d6", "c3"]),
            ("othello", "F5D6 C3", ["f5", "d6", "c3"]),
            ("connect-four", "445", ["4", "4", "5"]),
            ("gomoku", "h8i10a1", ["h8", "i10", "a1"]),
            ("chess", "e2e4e7e5g1f3", ["e2e4", "e7e5", "g1f3"]),
        ] {
            let openings = read(line, find(id).expect("hosted")).expect(line);
            assert_eq!(openings[0].start, "", "{line}");
            assert_eq!(openings[0].moves, moves);
        }
    }

    /// In Connect Four more than half of all positions after eight plies are decided.
    #[test]
    fn balanced_openings_are_not_lost() {
        let game = find("connect-four").expect("hosted");
        let open = |source: &str| {
            let source: Source = source.parse().expect("it is a source");
            source.open(game, 10, 1).expect("there are so many")
        };
        let is_fit = |opening: &Opening| is_balanced(opening.pos.as_ref());
        assert!(open("balanced:8").iter().all(is_fit));
        assert!(!open("random:8").iter().all(is_fit));
        assert!(
            open("random:8")
                .iter()
                .all(|opening| opening.moves.len() == 8)
        );
    }
}
