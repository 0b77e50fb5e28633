//! Tokens, passwords and names of players.

pub(crate) mod guest_only_store;
pub(crate) mod names;
pub(crate) mod passwords;
pub(crate) mod tokens;
