//! Players: the registry of connected players, profiles, ratings, blocks and account deletion.

pub(crate) mod account_deletion;
pub(crate) mod block_cache;
pub(crate) mod block_loading;
pub(crate) mod data_export;
pub(crate) mod export_rate_limit;
pub(crate) mod pending_removals;
pub(crate) mod player_lookup;
pub(crate) mod profile;
pub(crate) mod rating_update_message;
pub(crate) mod ratings;
pub(crate) mod registry;
