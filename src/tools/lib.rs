//! The engine beside the server: what searches think, how strong the levels are, and the protocols by
//! which other programs play against them.
//!
//! Each module is a command of the binary; its arguments are its public face.

pub mod analyse;
pub mod common_args;
pub mod engine;
pub mod engine_match;
pub mod fit_win_probability;
mod line_reader;
pub mod perft;
mod stop_signals;
pub mod tournament;
