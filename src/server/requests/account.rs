//! Handlers of requests about accounts and sessions.

pub(crate) mod api_keys;
pub(crate) mod delete;
pub(crate) mod login;
pub(crate) mod proxy_auth;
pub(crate) mod reauthenticate;
pub(crate) mod register;
pub(crate) mod sessions;
