//! What a store holds: matches, players, analyses and the history index.

pub(crate) mod analysis;
pub(crate) mod history;
pub(crate) mod identity;
pub(crate) mod match_record;
