//! Test positions of Connect Four, in the manner of the public sets (Pascal Pons, "Solving Connect
//! 4: how to build a perfect AI", 2015): by how many discs were played, and by how far away the end
//! is with best play.
//!
//! Each is reached by random play and valued by our own solver. The same seed makes the same set on
//! every machine.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use plyhouse_engine::game::connect_four::{ConnectFour, Move};
use plyhouse_engine::game::{GameHistory, Position};
use plyhouse_engine::search::{Evaluate, Limits, Report, Stop, TranspositionTable, search, solve};

/// How large the table is that sets are made with, and solved with: that of the published figures.
pub(crate) const TABLE_BYTES: usize = 64 << 20;

/// How much of the game was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Beginning,
    Middle,
    End,
}

/// How far away the end is with best play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    Easy,
    Medium,
    Hard,
}

/// A set of positions, named by both: `middle-easy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleSet {
    stage: Stage,
    distance: Distance,
}

/// A position, how it was reached, and what it is worth.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The files of the moves, from 1.
    pub(crate) moves: String,
    pub(crate) pos: ConnectFour,
    /// The number of own discs left plus one at the win, negative for a loss, 0 for a draw.
    pub(crate) score: i32,
}

impl Stage {
    /// How many discs were played. Positions before the fourth are too few to make a set of.
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
    /// So many different positions of the set, in none of which the side to move wins with its next
    /// disc or loses with the one after.
    ///
    /// Takes as long as it takes to solve them, and such as turn out to belong elsewhere: of
    /// medium and hard ones at the beginning of the game, minutes each.
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

    /// What the position is worth, if it is one of the set.
    fn score(self, pos: &ConnectFour, table: &TranspositionTable) -> Option<i32> {
        // Whether the end is near, a near look tells at less cost than a solution.
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

/// How far away the end is; that of a drawn game is a full board.
fn distance(pos: &ConnectFour, report: &Report<Move>) -> Distance {
    Distance::from_plies(
        report
            .score
            .plies_to_end()
            .unwrap_or(pos.remaining_plies_max()),
    )
}

/// A game of random moves up to a random ply of the stage, unless it is over by then.
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

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), since
/// the generators of the `rand` crate may give other numbers in another version.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// As a line of the public sets: the files played from 1, a space, the score.
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

/// No set has this name.
#[derive(Debug, thiserror::Error)]
#[error("not a set, as middle-easy is")]
pub(crate) struct UnknownSet;

impl FromStr for SampleSet {
    type Err = UnknownSet;

    fn from_str(text: &str) -> Result<Self, UnknownSet> {
        let stages = [Stage::Beginning, Stage::Middle, Stage::End];
        let distances = [Distance::Easy, Distance::Medium, Distance::Hard];
        let mut sets = stages
            .into_iter()
            .flat_map(|stage| distances.map(|distance| Self { stage, distance }));
        // A game that is so near its end can have no end that is farther away.
        let exists = |set: &Self| set.stage != Stage::End || set.distance == Distance::Easy;
        sets.find(|set| exists(set) && set.to_string() == text)
            .ok_or(UnknownSet)
    }
}
