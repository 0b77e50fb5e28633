//! Board games for two, minimax search over them, and bots at five levels.
//!
//! - [`game`]: the rules. Positions are values; a game is a type that implements
//!   [`Position`](game::Position).
//! - [`search`]: minimax in its forms, evaluation, levels. Generic over a game that implements
//!   [`Evaluate`](search::Evaluate), of which a new game must write one function.
//! - [`catalog`]: the list of games, behind one face that speaks text.
//! - [`review`]: a game looked at again once it is over: which moves were mistakes, and why.
//!
//! Nothing here does I/O or needs a runtime. A search runs on its caller's thread until a limit is
//! reached or it is told to stop.
//!
//! # A bot
//!
//! Code that works for any game takes games from the catalog:
//!
//! ```
//! use plyhouse_engine::catalog;
//! use plyhouse_engine::search::{Level, Limits, Stop, TranspositionTable};
//!
//! let game = catalog::find_game("connect-four").expect("the game is in the catalog");
//! let mut position = game.initial_position();
//! position.play("4")?;
//!
//! // Limits of nodes give the same move on every machine, limits of time do not.
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
//! Code for one game uses its types, without text in between:
//!
//! ```
//! use plyhouse_engine::game::GameHistory;
//! use plyhouse_engine::game::tic_tac_toe::TicTacToe;
//! use plyhouse_engine::search::{Limits, Score, Stop, TranspositionTable, search};
//!
//! let position: TicTacToe = "xox/oox/...".parse()?;
//! // A `GameHistory` is a position and those before it, for games with a repetition rule.
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
//! The crate builds for `wasm32-unknown-unknown`. There is no clock there, so limits of time do not
//! hold and reports tell no time, and no threads: limit depth or nodes, and search with one thread.

#![warn(missing_docs)]

pub mod catalog;
pub mod game;
pub mod review;
pub mod search;
#[cfg(feature = "serde")]
mod serde_impls;
