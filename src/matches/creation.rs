//! What is settled about a match before anything happens in it.

use plyhouse_engine::catalog::Entry;
use plyhouse_protocol::{MatchCode, MatchId, PlayerId};
use serde::{Deserialize, Serialize};

/// What is settled about a match when it is created, and never changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Creation {
    /// The match's id.
    pub id: MatchId,
    /// The match's short name.
    pub code: MatchCode,
    /// What is played.
    pub game: &'static Entry,
    /// Who created it.
    pub host: PlayerId,
    /// How it is played.
    pub terms: Terms,
}

/// The terms of a match: what no match is looked up by. Names are never changed, and a new field needs
/// a default: they are on disks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Whether it is shown in lists.
    pub listed: bool,
    /// The least time that a bot lets pass before it moves, in milliseconds.
    pub pace_ms: u64,
    /// Where the chance of this match's bots comes from. Written with a sign that means nothing, since
    /// the integers of many databases have one.
    #[serde(with = "signed")]
    pub seed: u64,
}

/// A number of 64 bits as one with a sign.
mod signed {
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(number.cast_signed())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        i64::deserialize(from).map(i64::cast_unsigned)
    }
}
