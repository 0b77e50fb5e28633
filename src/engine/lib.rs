//! Board games for two, and minimax bots that play them.
//!
//! - [`game`]: the rules; positions as values, moves, notation.
//! - [`search`]: minimax in its forms, evaluation, levels; generic over a game.
//! - [`catalog`]: the list of games; generic below, boxed above.
//!
//! Nothing here needs a runtime, reads a clock unasked or does I/O: it builds for wasm32.

pub mod catalog;
pub mod game;
pub mod search;
