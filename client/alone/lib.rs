//! Offline play: small board games and bots that run in a browser without a server. The crate
//! exposes the rules and the search of [`plyhouse_engine`] through JSON requests and responses.
//!
//! Requests are stateless: each request contains all moves from the start of the game.
//! `client/alone/build` compiles the crate to `client/web/page/offline/engine.wasm`, the module that the
//! page loads.

mod exports;

use plyhouse_engine::catalog::{AnyPosition, GameEntry, PlayError};
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::tic_tac_toe::TicTacToe;
use plyhouse_engine::game::{GameInfo, Outcome};
use plyhouse_engine::search::{Level, Limits, ParseLevelError, Stop, TranspositionTable};
use serde::{Deserialize, Serialize};

/// Games that are available offline. In these games, a bot plays well with at most one second of
/// thinking time on a phone.
static GAMES: [GameEntry; 2] = [
    GameEntry::for_game::<TicTacToe>(),
    GameEntry::for_game::<ConnectFour>(),
];

/// Maximum number of nodes that a bot searches for a move. The limit is a node count because
/// WebAssembly has no clock.
const BOT_NODES_MAX: u64 = 3_000_000;

/// Size of the bot's transposition table, in bytes.
const TABLE_BYTES: usize = 16 << 20;

/// Request for the state of a match after the given moves. If `level` is set, a bot of this level
/// plays one move after the given moves.
#[derive(Debug, Deserialize)]
struct Request<'a> {
    game: &'a str,
    /// Moves in the notation of the game, from the start of the game.
    moves: Vec<&'a str>,
    /// Level of the bot that plays the next move. `None` if no bot plays.
    level: Option<&'a str>,
    /// Seed of the bot's random choices. The page sends the same seed throughout a game.
    #[serde(default)]
    seed: u64,
}

/// State of a match after the moves of a request.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct GameState {
    position: String,
    /// All moves in canonical notation, including the bot's move if the request set a level.
    moves: Vec<String>,
    /// Seat whose turn it is, or `None` if the game is over.
    turn: Option<usize>,
    legal: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<GameOver>,
}

/// Result of a finished game. A draw has no winner.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct GameOver {
    winner: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Vec<String>>,
}

/// Description of a game for the page.
#[derive(Debug, Serialize)]
struct OfflineGame {
    game: &'static str,
    title: &'static str,
    sides: [&'static str; 2],
    files: u8,
    ranks: u8,
}

/// Reason why a request failed.
#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error("not a question: {0}")]
    InvalidJson(#[from] serde_json::Error),
    #[error("not a game that is played here")]
    UnknownGame,
    #[error(transparent)]
    InvalidLevel(#[from] ParseLevelError),
    #[error(transparent)]
    InvalidMove(#[from] PlayError),
}

/// Handles a request and returns the response as JSON. The response is the state of the match, or
/// an object with the field `error`. The response to an empty request is the list of games.
fn handle_request(request: &str) -> String {
    let response = if request.is_empty() {
        serde_json::to_string(&list_games())
    } else {
        match play_request(request) {
            Ok(state) => serde_json::to_string(&state),
            Err(error) => serde_json::to_string(&serde_json::json!({ "error": error.to_string() })),
        }
    };
    response.expect("response serialises to JSON")
}

fn list_games() -> Vec<OfflineGame> {
    let to_offline_game = |entry: &GameEntry| {
        let GameInfo {
            id,
            title,
            sides,
            files,
            ranks,
            ..
        } = entry.info;
        OfflineGame {
            game: id,
            title,
            sides,
            files,
            ranks,
        }
    };
    GAMES.iter().map(to_offline_game).collect()
}

fn play_request(request_json: &str) -> Result<GameState, RequestError> {
    let request: Request<'_> = serde_json::from_str(request_json)?;
    let level = request.level.map(str::parse::<Level>).transpose()?;
    let mut games = GAMES.iter();
    let entry = games.find(|entry| entry.info.id == request.game);
    let mut position = entry.ok_or(RequestError::UnknownGame)?.initial_position();
    let mut moves = Vec::with_capacity(request.moves.len() + 1);
    for m in request.moves {
        moves.push(position.play(m)?);
    }
    if let Some(level) = level {
        let chosen = choose_bot_move(&*position, level, request.seed);
        if let Some(m) = chosen {
            moves.push(position.play(&m)?);
        }
    }
    let outcome = position.outcome().map(|outcome| GameOver {
        winner: match outcome {
            Outcome::Decisive { winner } => Some(winner.index()),
            Outcome::Draw => None,
        },
        line: position.winning_line(),
    });
    Ok(GameState {
        turn: outcome.is_none().then(|| position.turn().index()),
        legal: position.legal_moves(),
        position: position.to_string(),
        moves,
        outcome,
    })
}

/// Returns the bot's move, or `None` if the game is over.
fn choose_bot_move(position: &dyn AnyPosition, level: Level, seed: u64) -> Option<String> {
    let limits = Limits::nodes(BOT_NODES_MAX);
    let mut table = TranspositionTable::new(TABLE_BYTES);
    let choice = position.choose_move(level, seed, &limits, &Stop::new(), &mut table)?;
    Some(choice.m)
}

#[cfg(test)]
mod tests;
