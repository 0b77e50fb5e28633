//! Bot levels.

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
