//! Initial position of a match: the standard position of the game or a custom one.

use plyhouse_engine::catalog::{AnyPosition, GameEntry, InitialPositionError};

use super::{Creation, Match};

/// Initial position of a match.
#[derive(Clone, Debug)]
pub(super) enum InitialPosition {
    /// The standard initial position of the game.
    Standard(&'static GameEntry),
    /// A custom position.
    Custom(Box<dyn AnyPosition>),
}

impl InitialPosition {
    /// Returns the initial position of a match created with these parameters.
    pub(super) fn from_creation(creation: &Creation) -> Result<Self, InitialPositionError> {
        let game = creation.game;
        match &creation.terms.initial_position {
            None => Ok(Self::Standard(game)),
            Some(text) => game.parse_initial_position(text).map(Self::Custom),
        }
    }

    pub(super) fn to_position(&self) -> Box<dyn AnyPosition> {
        match self {
            Self::Standard(game) => game.initial_position(),
            Self::Custom(position) => position.clone(),
        }
    }
}

impl Match {
    /// Returns the position before the first move.
    #[must_use]
    pub fn initial_position(&self) -> Box<dyn AnyPosition> {
        self.initial_position.to_position()
    }

    /// Returns the custom initial position, or `None` if the match starts from the standard
    /// position.
    #[must_use]
    pub fn custom_initial_position(&self) -> Option<&dyn AnyPosition> {
        match &self.initial_position {
            InitialPosition::Standard(_) => None,
            InitialPosition::Custom(position) => Some(position.as_ref()),
        }
    }

    /// Returns the position after the first `plies` moves, or `None` if fewer moves were played.
    pub(super) fn position_at(&self, plies: usize) -> Option<Box<dyn AnyPosition>> {
        let mut position = self.initial_position();
        for played in self.played_moves.get(..plies)? {
            position.play(&played.m).expect("move was legal before");
        }
        Some(position)
    }
}
