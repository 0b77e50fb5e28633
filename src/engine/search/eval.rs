//! Implements `Evaluate` for each game, with one module per game.

mod chess;
mod connect_four;
mod draughts;
mod go;
mod gomoku;
mod othello;
mod tic_tac_toe;

pub use chess::Features as ChessFeatures;
pub use draughts::Features as DraughtsFeatures;
pub use gomoku::Features as GomokuFeatures;
pub use othello::Features as OthelloFeatures;
