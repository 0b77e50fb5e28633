//! One client connection: its outbox, limits, subscriptions and replies.

pub(crate) mod eviction;
pub(crate) mod handle;
pub(crate) mod id;
pub(crate) mod ip_limits;
pub(crate) mod outbox;
pub(crate) mod rate_limit;
pub(crate) mod registry;
pub(crate) mod reply;
pub(crate) mod subscriptions;
pub(crate) mod token_bucket;
