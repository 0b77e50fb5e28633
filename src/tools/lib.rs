//! Command-line tools that use the engine. They analyse positions, run tournaments between engines,
//! and implement the protocols through which other programs play against the engine.
//!
//! Most modules are subcommands of the binary, and their public interface is the `Args` of the
//! subcommand.

pub mod analyse;
pub mod common_args;
pub mod engine;
pub mod engine_match;
pub mod fit_win_probability;
mod line_reader;
mod output;
pub mod perft;
mod stop_signals;
pub mod tournament;
