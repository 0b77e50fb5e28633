//! Who sits in a seat.

use plyhouse_engine::search::Level;
use plyhouse_protocol::{PlayerId, PlayerKind, ShownRating};

/// Who sits in a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Nobody.
    Open,
    /// A person, or a program that plays for one.
    Player {
        /// The player's public id.
        id: PlayerId,
        /// The player's name at the time of sitting down.
        name: String,
        /// What the player was then.
        kind: PlayerKind,
        /// How the account was rated then.
        rating: Option<ShownRating>,
    },
    /// A bot of this level.
    Bot(Level),
    /// A bot of this level, until the player whose seat it is comes back.
    StandIn {
        /// How strong it is.
        level: Level,
        /// The player's public id.
        player: PlayerId,
        /// The player's name at the time of sitting down.
        name: String,
        /// What the player was then.
        kind: PlayerKind,
        /// How the account was rated then.
        rating: Option<ShownRating>,
    },
}

impl Occupant {
    /// The player who sits here, if it is one.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player { id, .. } => Some(*id),
            Self::Open | Self::Bot(_) | Self::StandIn { .. } => None,
        }
    }

    /// The player whose seat this is: who sits here, or will when they come back.
    #[must_use]
    pub const fn holder(&self) -> Option<PlayerId> {
        match self {
            Self::Player { id, .. } | Self::StandIn { player: id, .. } => Some(*id),
            Self::Open | Self::Bot(_) => None,
        }
    }

    /// What the player is whose seat this is.
    #[must_use]
    pub const fn kind(&self) -> Option<PlayerKind> {
        match self {
            Self::Player { kind, .. } | Self::StandIn { kind, .. } => Some(*kind),
            Self::Open | Self::Bot(_) => None,
        }
    }

    /// The level of the bot that sits here, if one does.
    #[must_use]
    pub const fn bot_level(&self) -> Option<Level> {
        match self {
            Self::Bot(level) | Self::StandIn { level, .. } => Some(*level),
            Self::Open | Self::Player { .. } => None,
        }
    }
}

/// A seat and its occupant as fields side by side: `player` and `name`, or `bot`, or all three for a bot
/// that stands in, or none. With a player who is no guest, `kind` tells what that is, and `rating` and
/// `provisional` how the account was rated.
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
            _ => return Err(D::Error::custom("a seat has one occupant")),
        };
        Ok((seat, occupant))
    }
}
