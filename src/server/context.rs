//! The server's shared state, and what all modules use: clock, locks, metrics.

pub(crate) mod admin_commands;
pub(crate) mod clock;
pub mod locks;
#[cfg(feature = "loom")]
pub mod loom_support;
pub(crate) mod metrics;
pub(crate) mod metrics_page;
pub(crate) mod poll_timer;
pub(crate) mod server_context;
