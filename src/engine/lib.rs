//! Two-player board games, minimax search for them, and bots at five levels.
//!
//! - [`game`]: the rules. A position is a plain value. Each game is a type that implements
//!   [`Position`](game::Position).
//! - [`search`]: variants of minimax, static evaluation and bot levels. The search is generic over
//!   games that implement [`Evaluate`](search::Evaluate). A new game only needs to implement its
//!   `evaluate` function.
//! - [`catalog`]: the list of games, with a uniform text interface.
//! - [`review`]: analysis of finished games, which finds the mistakes and explains them.
//!
//! The crate does no I/O and needs no async runtime. By default, a search runs on the thread of its
//! caller until it is complete, a limit is reached or the caller stops the search.
//!
//! # A bot
//!
//! Code that works with any game takes the game from the catalog:
//!
//! ```
//! use plyhouse_engine::catalog;
//! use plyhouse_engine::search::{Level, Limits, Stop, TranspositionTable};
//!
//! let game = catalog::find_game("connect-four").expect("the game is in the catalog");
//! let mut position = game.initial_position();
//! position.play("4")?;
//!
//! // A node limit gives the same move on every machine. A time limit does not.
//! let limits = Limits::nodes(10_000);
//! let (seed, stop, mut table) = (7, Stop::new(), TranspositionTable::new(1 << 20));
//! let choice = position
//!     .choose_move(Level::Hard, seed, &limits, &stop, &mut table)
//!     .expect("the game is not over");
//! position.play(&choice.m)?;
//! # Ok::<(), catalog::PlayError>(())
//! ```
//!
//! # A search
//!
//! Code for a single game uses the types of that game directly, without conversion to text:
//!
//! ```
//! use plyhouse_engine::game::GameHistory;
//! use plyhouse_engine::game::tic_tac_toe::TicTacToe;
//! use plyhouse_engine::search::{Limits, Score, Stop, TranspositionTable, search};
//!
//! let position: TicTacToe = "xox/oox/...".parse()?;
//! // A `GameHistory` also holds the earlier positions, for games with a repetition rule.
//! let history = GameHistory::from(position);
//! let report = search(&history, &Limits::default(), &Stop::new(), &TranspositionTable::new(1 << 16))
//!     .expect("the game is not over");
//! assert_eq!(report.score, Score::win_in(1));
//! assert_eq!(report.pv[0].to_string(), "c1");
//! # Ok::<(), plyhouse_engine::game::ParsePositionError>(())
//! ```
//!
//! # WebAssembly
//!
//! The crate builds for `wasm32-unknown-unknown`. That target has neither a clock nor threads. Time
//! limits therefore have no effect there, and reports contain a duration of zero. Limit the depth
//! or the number of nodes instead, and search with one thread.

#![warn(missing_docs)]

pub mod catalog;
pub mod game;
pub mod review;
pub mod search;
#[cfg(feature = "serde")]
mod serde_impls;
