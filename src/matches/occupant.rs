//! Occupants of the seats in a match: players, bots and stand-ins.

use plyhouse_engine::search::Level;
use plyhouse_protocol::{PlayerId, PlayerKind, ShownRating};

/// Occupant of a seat in a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// The seat is empty.
    Open,
    /// A person, or a program that is connected as a client.
    Player {
        /// Public id of the player.
        id: PlayerId,
        /// Name of the player at the time of joining.
        name: String,
        /// Kind of the player (guest, account or bot account) at the time of joining.
        kind: PlayerKind,
        /// Rating of the player's account at the time of joining, if any.
        rating: Option<ShownRating>,
    },
    /// A bot that runs on the server, with its level.
    Bot(Level),
    /// A bot that plays until the player who holds the seat returns.
    StandIn {
        /// Level of the bot.
        level: Level,
        /// Public id of the player who holds the seat.
        player: PlayerId,
        /// Name of the player at the time of joining.
        name: String,
        /// Kind of the player (guest, account or bot account) at the time of joining.
        kind: PlayerKind,
        /// Rating of the player's account at the time of joining, if any.
        rating: Option<ShownRating>,
    },
}

impl Occupant {
    /// Returns the player who sits in the seat, if any.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player { id, .. } => Some(*id),
            Self::Open | Self::Bot(_) | Self::StandIn { .. } => None,
        }
    }

    /// Returns the player who holds the seat, including a player who is replaced by a stand-in.
    #[must_use]
    pub const fn holder(&self) -> Option<PlayerId> {
        match self {
            Self::Player { id, .. } | Self::StandIn { player: id, .. } => Some(*id),
            Self::Open | Self::Bot(_) => None,
        }
    }

    /// Returns the kind of the player who holds the seat, if any.
    #[must_use]
    pub const fn kind(&self) -> Option<PlayerKind> {
        match self {
            Self::Player { kind, .. } | Self::StandIn { kind, .. } => Some(*kind),
            Self::Open | Self::Bot(_) => None,
        }
    }

    /// Returns the level of the bot that sits in the seat, if any.
    #[must_use]
    pub const fn bot_level(&self) -> Option<Level> {
        match self {
            Self::Bot(level) | Self::StandIn { level, .. } => Some(*level),
            Self::Open | Self::Player { .. } => None,
        }
    }
}

/// Serialises a seat and its occupant as fields of one object. A player has the fields `player` and
/// `name`, and a bot has the field `bot`. A stand-in has all three fields, and an open seat has
/// none of them. If the player is not a guest, the field `kind` is also present. The field `rating`
/// contains the rating of the player's account. The field `provisional` tells whether that rating
/// is provisional.
pub(crate) mod seated {
    use std::borrow::Cow;

    use plyhouse_engine::game::Seat;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Level, Occupant, PlayerId, PlayerKind, ShownRating};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fields<'a> {
        seat: Seat,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        player: Option<PlayerId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bot: Option<Level>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<PlayerKind>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rating: Option<i32>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        provisional: bool,
    }

    pub(crate) fn serialize<S: Serializer>(
        seat: &Seat,
        occupant: &Occupant,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let (holder, bot) = match occupant {
            Occupant::Open => (None, None),
            Occupant::Player {
                id,
                name,
                kind,
                rating,
            } => (Some((id, name, kind, rating)), None),
            Occupant::Bot(level) => (None, Some(*level)),
            Occupant::StandIn {
                level,
                player,
                name,
                kind,
                rating,
            } => (Some((player, name, kind, rating)), Some(*level)),
        };
        let rating = holder.and_then(|(.., rating)| *rating);
        let fields = Fields {
            seat: *seat,
            player: holder.map(|(id, ..)| *id),
            name: holder.map(|(_, name, ..)| Cow::from(name)),
            bot,
            kind: holder
                .map(|(_, _, kind, _)| *kind)
                .filter(|kind| *kind != PlayerKind::Guest),
            rating: rating.map(|rating| rating.rating),
            provisional: rating.is_some_and(|rating| rating.provisional),
        };
        fields.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<(Seat, Occupant), D::Error> {
        let Fields {
            seat,
            player,
            name,
            bot,
            kind,
            rating,
            provisional,
        } = Fields::deserialize(deserializer)?;
        let kind = kind.unwrap_or(PlayerKind::Guest);
        let rating = rating.map(|rating| ShownRating {
            rating,
            provisional,
        });
        let occupant = match (player, name, bot) {
            (None, None, None) => Occupant::Open,
            (Some(id), Some(name), None) => Occupant::Player {
                id,
                name: name.into_owned(),
                kind,
                rating,
            },
            (None, None, Some(level)) => Occupant::Bot(level),
            (Some(player), Some(name), Some(level)) => Occupant::StandIn {
                level,
                player,
                name: name.into_owned(),
                kind,
                rating,
            },
            _ => {
                return Err(D::Error::custom(
                    "invalid combination of player, name and bot in a seat",
                ));
            }
        };
        Ok((seat, occupant))
    }
}
