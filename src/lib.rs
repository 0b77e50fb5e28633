//! Plyhouse: a match server for two-player board games with nothing hidden and no dice.
//!
//! The modules in reading order; each names only those above it. `src/ARCHITECTURE.md` gives the
//! bird's-eye view.

pub mod game;
pub mod protocol;

#[cfg(feature = "server")]
pub mod tally;

pub mod search;

pub mod catalog;

pub mod matches;

#[cfg(feature = "server")]
pub mod tournament;

#[cfg(feature = "server")]
pub mod scoresheet;

#[cfg(feature = "server")]
pub mod store;

#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "server")]
pub mod transport;

#[cfg(feature = "client")]
pub mod client;
