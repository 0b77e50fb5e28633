//! Parameters of a match that are fixed at its creation.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{ClockControl, MatchCode, MatchId, PlayerId, SpectatorAccess};
use serde::{Deserialize, Serialize};

/// Parameters of a match that are fixed at its creation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Creation {
    /// Id of the match.
    pub id: MatchId,
    /// Short code of the match.
    pub code: MatchCode,
    /// Game that is played.
    pub game: &'static GameEntry,
    /// Player who created the match.
    pub host: PlayerId,
    /// Terms of the match.
    pub terms: Terms,
}

impl Creation {
    /// Returns the creation time in milliseconds since 1970. The creation time is stored in the
    /// first 48 bits of the match id.
    #[must_use]
    pub fn created_ms(&self) -> u64 {
        u64::try_from(self.id.0.as_u128() >> 80).expect("48 bits remain")
    }
}

/// Terms of a match. The store holds terms in this serialised form. Serialised names must never
/// change, and new fields need a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Whether match lists show the match. Lists only show matches that anyone may watch.
    pub listed: bool,
    /// Users who may watch the match. `None` selects the default access.
    /// [`spectator_access`](Self::spectator_access) describes the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "watch")]
    pub spectator_access: Option<SpectatorAccess>,
    /// Delay before spectators see an event of the match, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "delay_ms")]
    pub spectator_delay_ms: u64,
    /// Minimum time before a bot moves, in milliseconds.
    #[serde(rename = "pace_ms")]
    pub bot_delay_ms: u64,
    /// Random seed of the match's bots. The seed is serialised as a signed integer, because many
    /// databases have no unsigned integers.
    #[serde(with = "signed")]
    pub seed: u64,
    /// Clock settings; `None` for an untimed match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether players may take back moves.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[serde(rename = "takeback")]
    pub takebacks_allowed: bool,
    /// Maximum absence of a player. `None` in matches without an absence limit, and in matches
    /// stored before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "patience")]
    pub absence_limits: Option<AbsenceLimits>,
    /// Level of the bot that replaces an absent player; `None` if absent players are not replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<Level>,
    /// Whether the match is rated.
    #[serde(default, skip_serializing_if = "is_no")]
    pub rated: bool,
    /// Whether followers of the match see what a bot is thinking while the bot searches for a move.
    #[serde(default, skip_serializing_if = "is_no")]
    #[serde(rename = "thinking")]
    pub shows_bot_thinking: bool,
    /// Whether histories and profiles show the match after its end.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[serde(rename = "history")]
    pub in_histories: bool,
    /// Initial position in the game's notation; `None` for the standard position of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "start")]
    pub initial_position: Option<String>,
    /// Player for whom the open seat is reserved; `None` if the seat is not reserved.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub invited: Option<PlayerId>,
    /// Previous match of the series, if this match is a rematch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PreviousMatch>,
}

impl Terms {
    /// Returns terms with the given values, and with default values for all other fields.
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

    /// Returns whether anyone may find and watch the match.
    #[must_use]
    pub const fn is_public(&self) -> bool {
        matches!(self.spectator_access(), SpectatorAccess::Anyone)
    }

    /// Returns which users besides the players may watch the match. By default, anyone may watch a
    /// listed or rated match. Any other match may be watched by players who have its id or code.
    #[must_use]
    pub const fn spectator_access(&self) -> SpectatorAccess {
        match self.spectator_access {
            Some(access) => access,
            None if self.listed || self.rated => SpectatorAccess::Anyone,
            None => SpectatorAccess::Code,
        }
    }

    /// Returns whether the match starts from a custom position.
    #[must_use]
    pub const fn is_from_position(&self) -> bool {
        self.initial_position.is_some()
    }

    /// Returns whether this is a correspondence match. In a correspondence match, players may be
    /// absent without consequences.
    #[must_use]
    pub fn is_correspondence(&self) -> bool {
        self.clock.is_some_and(|clock| clock.is_correspondence())
    }
}

/// Match that precedes a rematch in a series, with the score of the series after that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviousMatch {
    /// Id of the previous match.
    #[serde(rename = "match")]
    pub id: MatchId,
    /// Number of the previous match in the series, counted from 1.
    pub game: u64,
    /// Half-points that each player has scored in the series, including the previous match. The
    /// first value belongs to the player in the first seat of the rematch.
    pub points: [u64; 2],
}

/// Limits on the absence of a player from a running match, in milliseconds. When a player exceeds
/// the limit, a stand-in replaces the player or the match ends. When a match starts, it selects the
/// limit for the kind of opponent: player or bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbsenceLimits {
    /// Limit in a match between two players, in milliseconds.
    #[serde(rename = "people_ms")]
    pub against_player_ms: u64,
    /// Limit in a match against a bot, in milliseconds.
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

/// Serialises a `u64` as the `i64` with the same bits.
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
