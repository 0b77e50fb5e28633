//! The engine beside the server: what searches think, how strong the levels are, and the protocols by
//! which other programs play against them.
//!
//! Each module is a command of the binary; its arguments are its public face.

pub mod analyse;
pub mod arguments;
pub mod chances;
pub mod contest;
pub mod engine;
mod interrupt;
mod line_reader;
pub mod perft;
pub mod tournament;
