//! Test positions of Connect Four, in the style of the public sets (Pascal Pons, "Solving Connect
//! 4: how to build a perfect AI", 2015). A set is defined by two ranges: the number of discs
//! played, and the number of plies to the end with best play.
//!
//! Each position is reached by random play and scored by the engine's own solver. A seed yields
//! identical sets on every machine.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use plyhouse_engine::game::connect_four::{ConnectFour, Move};
use plyhouse_engine::game::{GameHistory, Position};
use plyhouse_engine::search::{Evaluate, Limits, Report, Stop, TranspositionTable, search, solve};

/// Size in bytes of the table that is used to generate and solve the sets. The published figures
/// use this size.
pub(crate) const TABLE_BYTES: usize = 64 << 20;

/// Stage of the game, by the number of discs played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Beginning,
    Middle,
    End,
}

/// Class of positions with a similar number of plies to the end of the game with best play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    Easy,
    Medium,
    Hard,
}

/// Set of positions, named by its stage and distance, such as `middle-easy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleSet {
    stage: Stage,
    distance: Distance,
}

/// Sample position, with its score and the moves that lead to it.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// One digit per move: its file, counted from 1.
    pub(crate) moves: String,
    pub(crate) pos: ConnectFour,
    /// Score with best play: the number of discs that the winner has left, plus one. It is 0 for a
    /// draw and negative if the side to move loses.
    pub(crate) score: i32,
}

impl Stage {
    /// Returns the range of discs played. The beginning starts at four discs, because there are too
    /// few positions with fewer discs.
    const fn ply_range(self) -> RangeInclusive<u64> {
        match self {
            Self::Beginning => 4..=14,
            Self::Middle => 15..=28,
            Self::End => 29..=41,
        }
    }
}

impl Distance {
    const fn from_plies(plies: u32) -> Self {
        match plies {
            ..=14 => Self::Easy,
            15..=28 => Self::Medium,
            29.. => Self::Hard,
        }
    }
}

impl SampleSet {
    /// Returns `count` different positions of the set. A position is excluded if the side to move
    /// wins with its next disc or loses to the reply.
    ///
    /// A shallow search first rejects some candidates. Each remaining candidate is solved to decide
    /// whether it belongs to the set. Solving a medium or hard position of the beginning takes
    /// minutes.
    #[must_use]
    pub(crate) fn samples(self, count: usize, seed: u64) -> Vec<Sample> {
        let mut random = SplitMix64(seed);
        let mut table = TranspositionTable::new(TABLE_BYTES);
        let mut samples: Vec<Sample> = Vec::new();
        while samples.len() < count {
            let Some((moves, pos)) = play_random_moves(self.stage, &mut random) else {
                continue;
            };
            if samples.iter().any(|sample| sample.pos == pos) {
                continue;
            }
            table.start_search();
            if let Some(score) = self.score(&pos, &table) {
                samples.push(Sample { moves, pos, score });
            }
        }
        samples
    }

    /// Returns the score of the position if it belongs to the set.
    fn score(self, pos: &ConnectFour, table: &TranspositionTable) -> Option<i32> {
        // A shallow search shows whether the game ends within 14 plies with best play. A shallow
        // search costs less than solving the position.
        let near = Limits::depth(14);
        let shallow_report = search(&GameHistory::from(*pos), &near, &Stop::new(), table)?;
        let is_near = shallow_report.exact && distance(pos, &shallow_report) == Distance::Easy;
        if is_near != (self.distance == Distance::Easy) {
            return None;
        }
        let solution = solve(
            &GameHistory::from(*pos),
            &Limits::default(),
            &Stop::new(),
            table,
        )?;
        let is_immediate = solution
            .score
            .plies_to_end()
            .is_some_and(|plies| plies <= 2);
        let is_in_set = !is_immediate && distance(pos, &solution) == self.distance;
        is_in_set.then(|| pos.conventional_score(solution.score))
    }
}

/// Returns the distance to the end of the game. A draw always fills the board.
fn distance(pos: &ConnectFour, report: &Report<Move>) -> Distance {
    Distance::from_plies(
        report
            .score
            .plies_to_end()
            .unwrap_or(pos.remaining_plies_max()),
    )
}

/// Picks a random number of plies in the range of the stage and plays that many random moves.
/// Returns `None` if these moves end the game.
fn play_random_moves(stage: Stage, random: &mut SplitMix64) -> Option<(String, ConnectFour)> {
    let (first, last) = (*stage.ply_range().start(), *stage.ply_range().end());
    let plies = first + random.below(last - first + 1);
    let (mut pos, mut played_files, mut legal) =
        (ConnectFour::initial(), String::new(), Vec::new());
    for _ in 0..plies {
        legal.clear();
        pos.legal_moves(&mut legal);
        let index = usize::try_from(random.below(legal.len() as u64)).expect("an index fits usize");
        pos.play(legal[index]).expect("a generated move is legal");
        played_files += &legal[index].to_string();
        if pos.outcome().is_some() {
            return None;
        }
    }
    Some((played_files, pos))
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). The
/// `rand` crate is not used, because its generators may produce different numbers in another
/// version.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// Writes a position in the format of the public sets: the files played, counted from 1, then a
/// space and the score.
impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.moves, self.score)
    }
}

impl fmt::Display for SampleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Beginning => "beginning",
            Stage::Middle => "middle",
            Stage::End => "end",
        };
        let distance = match self.distance {
            Distance::Easy => "easy",
            Distance::Medium => "medium",
            Distance::Hard => "hard",
        };
        write!(f, "{stage}-{distance}")
    }
}

/// Error for an unknown set name.
#[derive(Debug, thiserror::Error)]
#[error("expected a name such as middle-easy")]
pub(crate) struct UnknownSet;

impl FromStr for SampleSet {
    type Err = UnknownSet;

    fn from_str(text: &str) -> Result<Self, UnknownSet> {
        let stages = [Stage::Beginning, Stage::Middle, Stage::End];
        let distances = [Distance::Easy, Distance::Medium, Distance::Hard];
        let mut sets = stages
            .into_iter()
            .flat_map(|stage| distances.map(|distance| Self { stage, distance }));
        // Positions of the end stage have at most 13 plies left, so they are all easy. The sets
        // `end-medium` and `end-hard` therefore do not exist.
        let exists = |set: &Self| set.stage != Stage::End || set.distance == Distance::Easy;
        sets.find(|set| exists(set) && set.to_string() == text)
            .ok_or(UnknownSet)
    }
}
