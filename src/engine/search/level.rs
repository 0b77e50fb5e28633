//! Bot levels and their default search parameters.

use std::fmt;
use std::str::FromStr;

/// Version number of the bot levels, included in tournament reports. Any change to the moves that a
/// level plays requires a new version.
pub const LEVELS_VERSION: u32 = 13;

/// Playing strength of a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Takes an immediate win and sees nothing else. A careful child can beat this level.
    Beginner,
    /// Prefers good squares, but overlooks threats.
    Easy,
    /// Sees the next threat, but nothing beyond it.
    Medium,
    /// Looks ahead, but makes mistakes in quiet positions.
    Hard,
    /// Plays the best move the engine can find.
    Max,
}

/// Error returned when a string is not the id of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a level: expected beginner, easy, medium, hard or max")]
pub struct ParseLevelError;

impl Level {
    /// All levels, weakest first.
    pub const ALL: [Self; 5] = [
        Self::Beginner,
        Self::Easy,
        Self::Medium,
        Self::Hard,
        Self::Max,
    ];

    /// Returns the name of the level in the protocol.
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

    /// Returns the display name of the level.
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

    /// Returns the default search parameters of the level.
    ///
    /// Search depth alone would allow only a few levels, and the steps in strength between them
    /// would be uneven. In tic-tac-toe, only four depths give different scores against a perfect
    /// opponent. Choosing at random within a score margin makes the differences between levels more
    /// even.
    ///
    /// In tic-tac-toe, each level scores between 62% and 71% against the level below it. Against a
    /// perfect opponent, the five levels score 6%, 13%, 27%, 40% and 50%.
    ///
    /// Any change to a row of the table requires a new `LEVELS_VERSION`.
    #[rustfmt::skip] // Keeps the columns of the table aligned.
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

/// Search parameters of a level.
#[derive(Clone, Copy, Debug)]
pub struct Strength {
    /// Search depth in plies. The depth is at least 1, so every level finds a win in one ply.
    pub depth: u32,
    /// Maximum score difference between the best move and a move that the bot may play. A score
    /// difference of 100 is large enough for a careful player to notice. If `None`, the bot plays
    /// the best move.
    pub margin: Option<u32>,
    /// Whether the bot prevents every avoidable loss in one ply, even if it has no time to search.
    pub avoids_loss_in_one: bool,
}

/// Search parameters of a level for bots that use Monte-Carlo tree search.
#[derive(Clone, Copy, Debug)]
pub struct MctsStrength {
    /// Number of playouts per move. If `None`, the search runs as many playouts as the limits
    /// allow.
    pub playouts: Option<u64>,
    /// Whether the bot picks a move with a probability proportional to its number of visits.
    /// Otherwise it plays the best move.
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
