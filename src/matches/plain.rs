//! Seats and levels as plain data: the engine, which has them, does not know serde.

use plyhouse_engine::game::Seat;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

fn seat_of<E: Error>(index: usize) -> Result<Seat, E> {
    Seat::from_index(index).ok_or_else(|| E::custom("no match has that seat"))
}

/// A seat by its index.
pub(crate) mod seat {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(seat: &Seat, to: S) -> Result<S::Ok, S::Error> {
        seat.index().serialize(to)
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Seat, D::Error> {
        seat_of(usize::deserialize(from)?)
    }
}

/// A seat, or none.
pub(crate) mod any_seat {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(seat: &Option<Seat>, to: S) -> Result<S::Ok, S::Error> {
        seat.map(Seat::index).serialize(to)
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Option<Seat>, D::Error> {
        let index = Option::<usize>::deserialize(from)?;
        index.map(seat_of).transpose()
    }
}

/// A level by its id.
pub(crate) mod level {
    use plyhouse_engine::search::Level;

    use super::*;

    pub(crate) fn serialize<S: Serializer>(level: &Level, to: S) -> Result<S::Ok, S::Error> {
        level.id().serialize(to)
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Level, D::Error> {
        let id = String::deserialize(from)?;
        id.parse().map_err(D::Error::custom)
    }
}
