//! Timers and deadlines: wake-ups of stored matches, correspondence deadlines and paused clocks.

pub(crate) mod clock_pause;
pub(crate) mod correspondence_matches;
pub(crate) mod store_health;
pub(crate) mod wake_scheduler;
pub(crate) mod wake_times;
