//! Creation, loading and listing of matches: the lobby, seeks, challenges and rematches.

pub(crate) mod challenges;
pub(crate) mod cluster_match_loading;
pub(crate) mod create_params;
pub(crate) mod list_broadcast;
pub(crate) mod list_subscriptions;
pub(crate) mod lobby;
pub(crate) mod match_creation;
pub(crate) mod match_loading;
pub(crate) mod paired_match_creation;
pub(crate) mod participant_subscriptions;
mod pending_match;
pub(crate) mod rematch_creation;
pub(crate) mod seek_list;
pub(crate) mod seek_list_broadcast;
pub(crate) mod seek_queue;
pub(crate) mod widened_seek_pairing;
