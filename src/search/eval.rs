//! What each game's positions are worth at a glance, one file a game.

mod tic_tac_toe;
