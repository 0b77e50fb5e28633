//! How strong a bot plays: each level is a depth of search.

use std::fmt;
use std::str::FromStr;

use super::deepening::{Findings, deepen};
use super::{Evaluate, Limits, Report, Stop};

/// Rises whenever a level plays differently than it did, so that records of games can tell.
pub const LEVELS_VERSION: u32 = 1;

/// How strong a bot plays, from a beginner to the best the engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Overlooks much; a careful child wins.
    Beginner,
    /// Takes what is offered.
    Easy,
    /// Also sees what threatens.
    Medium,
    /// Seldom errs.
    Hard,
    /// Plays the best move the engine can find.
    Max,
}

/// The text is not the id of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a level, which are: beginner, easy, medium, hard, max")]
pub struct ParseLevelError;

impl Level {
    /// All levels, the weakest first.
    pub const ALL: [Self; 5] = [
        Self::Beginner,
        Self::Easy,
        Self::Medium,
        Self::Hard,
        Self::Max,
    ];

    /// The level's name on the wire.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Beginner => "beginner",
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
            Self::Max => "max",
        }
    }

    /// The level's name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Beginner => "Beginner",
            Self::Easy => "Easy",
            Self::Medium => "Medium",
            Self::Hard => "Hard",
            Self::Max => "Full strength",
        }
    }

    const fn depth(self) -> u32 {
        match self {
            Self::Beginner | Self::Easy => 1,
            Self::Medium => 2,
            Self::Hard => 4,
            Self::Max => u32::MAX,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl FromStr for Level {
    type Err = ParseLevelError;

    fn from_str(text: &str) -> Result<Self, ParseLevelError> {
        Self::ALL
            .into_iter()
            .find(|level| level.id() == text)
            .ok_or(ParseLevelError)
    }
}

/// The move that a bot of this level plays, by `seed` one of the best it sees; `None` once there is
/// an outcome.
#[must_use]
pub fn choose<P: Evaluate>(
    pos: &P,
    level: Level,
    seed: u64,
    limits: &Limits,
    stop: &Stop,
) -> Option<(P::Move, Report<P::Move>)> {
    let depth = limits.depth.unwrap_or(u32::MAX).min(level.depth());
    let Findings { report, close } = deepen(
        pos,
        Some(0),
        &Limits {
            depth: Some(depth),
            ..*limits
        },
        stop,
    )?;
    let count = u64::try_from(close.len()).expect("no more moves than memory");
    let index = usize::try_from(seed % count).expect("less than the number of moves");
    Some((close[index].0, report))
}
