//! With which position a match begins: the first of its game, or one that was wished for.

use plyhouse_engine::catalog::{AnyPosition, GameEntry, InitialPositionError};

use super::{Creation, Match};

/// With which position a match begins.
#[derive(Debug)]
pub(super) enum Start {
    /// The first of the game.
    OfGame(&'static GameEntry),
    /// Another.
    At(Box<dyn AnyPosition>),
}

impl Start {
    /// That of a match that was created so.
    pub(super) fn of(creation: &Creation) -> Result<Self, InitialPositionError> {
        let game = creation.game;
        match &creation.terms.start {
            None => Ok(Self::OfGame(game)),
            Some(text) => game.parse_initial_position(text).map(Self::At),
        }
    }

    /// The position.
    pub(super) fn position(&self) -> Box<dyn AnyPosition> {
        match self {
            Self::OfGame(game) => game.initial_position(),
            Self::At(position) => position.clone_box(),
        }
    }
}

impl Clone for Start {
    fn clone(&self) -> Self {
        match self {
            Self::OfGame(game) => Self::OfGame(game),
            Self::At(position) => Self::At(position.clone_box()),
        }
    }
}

impl Match {
    /// The position before the first move.
    #[must_use]
    pub fn start(&self) -> Box<dyn AnyPosition> {
        self.start.position()
    }

    /// The position before the first move, if that is not the first of the game.
    #[must_use]
    pub fn start_apart(&self) -> Option<&dyn AnyPosition> {
        match &self.start {
            Start::OfGame(_) => None,
            Start::At(position) => Some(position.as_ref()),
        }
    }

    /// The position after the first so many of the moves that stand; `None` if there are fewer.
    pub(super) fn position_at(&self, plies: usize) -> Option<Box<dyn AnyPosition>> {
        let mut position = self.start();
        for played in self.played.get(..plies)? {
            position
                .play(&played.m)
                .expect("it has been played here before");
        }
        Some(position)
    }
}
