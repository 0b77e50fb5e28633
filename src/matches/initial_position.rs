//! With which position a match begins: the first of its game, or one that was wished for.

use plyhouse_engine::catalog::{AnyPosition, GameEntry, InitialPositionError};

use super::{Creation, Match};

/// With which position a match begins.
#[derive(Debug)]
pub(super) enum InitialPosition {
    /// The first of the game.
    Standard(&'static GameEntry),
    /// Another.
    Custom(Box<dyn AnyPosition>),
}

impl InitialPosition {
    /// That of a match that was created so.
    pub(super) fn from_creation(creation: &Creation) -> Result<Self, InitialPositionError> {
        let game = creation.game;
        match &creation.terms.initial_position {
            None => Ok(Self::Standard(game)),
            Some(text) => game.parse_initial_position(text).map(Self::Custom),
        }
    }

    /// The position.
    pub(super) fn to_position(&self) -> Box<dyn AnyPosition> {
        match self {
            Self::Standard(game) => game.initial_position(),
            Self::Custom(position) => position.clone_box(),
        }
    }
}

impl Clone for InitialPosition {
    fn clone(&self) -> Self {
        match self {
            Self::Standard(game) => Self::Standard(game),
            Self::Custom(position) => Self::Custom(position.clone_box()),
        }
    }
}

impl Match {
    /// The position before the first move.
    #[must_use]
    pub fn initial_position(&self) -> Box<dyn AnyPosition> {
        self.initial_position.to_position()
    }

    /// The position before the first move, if that is not the first of the game.
    #[must_use]
    pub fn custom_initial_position(&self) -> Option<&dyn AnyPosition> {
        match &self.initial_position {
            InitialPosition::Standard(_) => None,
            InitialPosition::Custom(position) => Some(position.as_ref()),
        }
    }

    /// The position after the first so many of the moves that stand; `None` if there are fewer.
    pub(super) fn position_at(&self, plies: usize) -> Option<Box<dyn AnyPosition>> {
        let mut position = self.initial_position();
        for played in self.played_moves.get(..plies)? {
            position.play(&played.m).expect("move was legal before");
        }
        Some(position)
    }
}
