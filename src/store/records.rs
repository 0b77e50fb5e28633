//! Records of a store: matches, players, analyses and the history of ended matches.

pub(crate) mod analysis;
pub(crate) mod history;
pub(crate) mod identity;
pub(crate) mod match_record;
