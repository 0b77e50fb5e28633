//! What is settled about a match before anything happens in it.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{ClockControl, MatchCode, MatchId, PlayerId, SpectatorAccess};
use serde::{Deserialize, Serialize};

/// What is settled about a match when it is created, and never changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Creation {
    /// The match's id.
    pub id: MatchId,
    /// The match's short name.
    pub code: MatchCode,
    /// What is played.
    pub game: &'static GameEntry,
    /// Who created it.
    pub host: PlayerId,
    /// How it is played.
    pub terms: Terms,
}

impl Creation {
    /// When the match was created, in milliseconds since 1970: its id begins with that.
    #[must_use]
    pub fn created_ms(&self) -> u64 {
        u64::try_from(self.id.0.as_u128() >> 80).expect("48 bits remain")
    }
}

/// The terms of a match: what no match is looked up by. Names are never changed, and a new field needs
/// a default: they are on disks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Whether it is shown in lists, as far as anyone may watch it.
    pub listed: bool,
    /// Who may watch it, where that was said: see [`spectator_access`](Self::spectator_access).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "watch")]
    pub spectator_access: Option<SpectatorAccess>,
    /// So much later those see all of it who have no seat in it, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "delay_ms")]
    pub spectator_delay_ms: u64,
    /// The least time that a bot lets pass before it moves, in milliseconds.
    #[serde(rename = "pace_ms")]
    pub bot_delay_ms: u64,
    /// Where the chance of this match's bots comes from. Written with a sign that means nothing, since
    /// the integers of many databases have one.
    #[serde(with = "signed")]
    pub seed: u64,
    /// How it is timed; untimed if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether moves may be taken back.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[serde(rename = "takeback")]
    pub takebacks_allowed: bool,
    /// How long a player may be absent. `None` in matches that know no absence, and in those from
    /// before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "patience")]
    pub absence_limits: Option<AbsenceLimits>,
    /// The level of the bot that takes the seat of whoever has gone, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<Level>,
    /// Whether it counts for ratings.
    #[serde(default, skip_serializing_if = "is_no")]
    pub rated: bool,
    /// Whether what its bots think is told while they think.
    #[serde(default, skip_serializing_if = "is_no")]
    #[serde(rename = "thinking")]
    pub shows_bot_thinking: bool,
    /// Whether it appears in histories and profiles once it has ended.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[serde(rename = "history")]
    pub in_histories: bool,
    /// The position with which it begins, in the game's notation, if that is not the first of its rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "start")]
    pub initial_position: Option<String>,
    /// The player who alone may take the open seat, if it is for one.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub invited: Option<PlayerId>,
    /// The match of which it is the rematch, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PreviousMatch>,
}

impl Terms {
    /// The terms of a match of which nothing is asked but that: listed or not, with this pace and this
    /// chance.
    #[must_use]
    pub const fn with_defaults(listed: bool, bot_delay_ms: u64, seed: u64) -> Self {
        Self {
            listed,
            spectator_access: None,
            spectator_delay_ms: 0,
            bot_delay_ms,
            seed,
            clock: None,
            takebacks_allowed: true,
            absence_limits: None,
            stand_in: None,
            rated: false,
            shows_bot_thinking: false,
            in_histories: true,
            initial_position: None,
            invited: None,
            previous: None,
        }
    }

    /// Whether those who have no part in the match find it.
    #[must_use]
    pub const fn is_public(&self) -> bool {
        matches!(self.spectator_access(), SpectatorAccess::Anyone)
    }

    /// Who may watch it beside those who play it. Where nobody has said so, that is anyone if it is listed
    /// or rated, and else whoever has its id or code.
    #[must_use]
    pub const fn spectator_access(&self) -> SpectatorAccess {
        match self.spectator_access {
            Some(access) => access,
            None if self.listed || self.rated => SpectatorAccess::Anyone,
            None => SpectatorAccess::Code,
        }
    }

    /// Whether it begins with another position than the first of its game.
    #[must_use]
    pub const fn is_from_position(&self) -> bool {
        self.initial_position.is_some()
    }

    /// Whether the match is played over days, and so knows no absence.
    #[must_use]
    pub fn is_correspondence(&self) -> bool {
        self.clock.is_some_and(|clock| clock.is_correspondence())
    }
}

/// The match of which another is the rematch, and how their series stood when that was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviousMatch {
    /// The match.
    #[serde(rename = "match")]
    pub id: MatchId,
    /// Its number in the series, from 1.
    pub game: u64,
    /// The half-points of the series up to it, by the seats of the rematch.
    pub points: [u64; 2],
}

/// How long a player may be absent from a running match before it is lost, in milliseconds. Which of
/// the two counts is settled when the match starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsenceLimits {
    /// Between people.
    #[serde(rename = "people_ms")]
    pub against_player_ms: u64,
    /// Against a bot.
    #[serde(rename = "bot_ms")]
    pub against_bot_ms: u64,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_yes(value: &bool) -> bool {
    *value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_no(value: &bool) -> bool {
    !*value
}

/// A number of 64 bits as one with a sign.
mod signed {
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(number.cast_signed())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        i64::deserialize(deserializer).map(i64::cast_unsigned)
    }
}
