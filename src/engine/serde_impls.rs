//! Serialisation of seats, levels and games. A seat is serialised as its number, and a level or a
//! game as its id.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::catalog;
use crate::catalog::GameEntry;
use crate::game::Seat;
use crate::search::Level;

impl Serialize for Seat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl<'de> Deserialize<'de> for Seat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Self::from_number(number)
            .ok_or_else(|| D::Error::custom(format_args!("invalid seat number {number}")))
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Cow::<str>::deserialize(deserializer)?;
        id.parse()
            .map_err(|_| D::Error::custom(format_args!("unknown level {id:?}")))
    }
}

impl Serialize for GameEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.info.id)
    }
}

impl<'de> Deserialize<'de> for &'static GameEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Cow::<str>::deserialize(deserializer)?;
        catalog::find_game(&id).ok_or_else(|| D::Error::custom(format_args!("unknown game {id:?}")))
    }
}
