//! Shared state of the server, and utilities for all modules: clock, locks and metrics.

pub(crate) mod admin_commands;
pub(crate) mod clock_and_rng;
pub(crate) mod identity;
pub(crate) mod infrastructure;
pub(crate) mod limit_reached;
pub(crate) mod limits;
pub mod locks;
#[cfg(feature = "loom")]
pub mod loom_test_helpers;
pub(crate) mod matches;
pub(crate) mod matchmaking;
pub(crate) mod metrics;
pub(crate) mod metrics_page;
pub(crate) mod poll_timer;
pub(crate) mod server_context;
pub(crate) mod task_supervisor;
