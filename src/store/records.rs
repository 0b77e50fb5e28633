//! Records of a store: matches, players, analyses and the history of ended matches.

pub(crate) mod analysis;
pub(crate) mod ended_match;
pub(crate) mod match_record;
pub(crate) mod past_matches;
pub(crate) mod player_identity;

/// Serializes a record for storage.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(record: &T) -> String {
    serde_json::to_string(record).expect("records are serializable")
}
