//! How strong a bot plays, in one table.

use std::fmt;
use std::str::FromStr;

/// Rises whenever a level plays differently than it did, so that records of games can tell.
pub const LEVELS_VERSION: u32 = 13;

/// How strong a bot plays, from a beginner to the best the engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Takes a win that is offered and sees nothing else; a careful child beats it.
    Beginner,
    /// Likes good squares, and overlooks what threatens.
    Easy,
    /// Sees what threatens next, and no farther.
    Medium,
    /// Looks ahead, and errs in quiet positions.
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

    /// What makes the level: the one table of difficulty.
    ///
    /// Depth alone makes few levels and uneven ones: tic-tac-toe has but four against a perfect
    /// opponent. The margins make up for it. They are chosen so that each level scores between 62%
    /// and 71% against the one below it, and rise evenly against perfect play: .06, .13, .27, .40,
    /// .50. A change of a row raises `LEVELS_VERSION`.
    #[rustfmt::skip] // A table is read by columns.
    pub(super) const fn strength(self) -> Strength {
        match self {
            Self::Beginner => Strength { depth: 1,        margin: Some(200), avoids_loss_in_one: false },
            Self::Easy     => Strength { depth: 1,        margin: Some(30),  avoids_loss_in_one: false },
            Self::Medium   => Strength { depth: 2,        margin: Some(60),  avoids_loss_in_one: true },
            Self::Hard     => Strength { depth: 4,        margin: Some(30),  avoids_loss_in_one: true },
            Self::Max      => Strength { depth: u32::MAX, margin: None,      avoids_loss_in_one: true },
        }
    }
}

/// What a level's player sees and minds.
#[derive(Clone, Copy, Debug)]
pub struct Strength {
    /// How many plies it looks ahead. All levels see a win in one.
    pub depth: u32,
    /// How much worse than the best a move may seem to it and still be played, a hundred being an
    /// advantage that a careful player feels. Without a margin it plays the best.
    pub margin: Option<u32>,
    /// Whether it never leaves the opponent a win in one that it could have prevented, even when
    /// it has no time to think.
    pub avoids_loss_in_one: bool,
}

/// What a level's player sees and minds that thinks by playouts.
#[derive(Clone, Copy, Debug)]
pub struct MctsStrength {
    /// How many games it plays out for a move; as many as the limits allow, if nothing is said.
    pub playouts: Option<u64>,
    /// Whether it plays any move that it has tried, each as likely as it was tried often. Else that which
    /// it has tried most.
    pub samples_by_visits: bool,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_parse_from_their_ids() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("Max".parse::<Level>(), Err(ParseLevelError));
        assert!(Level::ALL.is_sorted());
    }
}
