//! Small board games and their bots for a browser that reaches no server: the rules and the search of
//! [`plyhouse_engine`], asked by JSON text and answered by it.
//!
//! Nothing is remembered between questions: each brings the moves from the start. `client/alone/build` writes
//! the module that the page carries, `client/web/page/alone.wasm`.

mod exports;

use plyhouse_engine::catalog::{AnyPosition, GameEntry, PlayError};
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::tic_tac_toe::TicTacToe;
use plyhouse_engine::game::{GameInfo, Outcome};
use plyhouse_engine::search::{Level, Limits, ParseLevelError, Stop, TranspositionTable};
use serde::{Deserialize, Serialize};

/// The games: those that a bot plays well within a second of a telephone.
static GAMES: [GameEntry; 2] = [
    GameEntry::for_game::<TicTacToe>(),
    GameEntry::for_game::<ConnectFour>(),
];

/// What a bot may look at before it moves. There is no clock in WebAssembly, so it is counted.
const BOT_NODES_MAX: u64 = 3_000_000;

/// How large the bot's table is, in bytes.
const TABLE_BYTES: usize = 16 << 20;

/// A question: how a match stands after these moves, or what a bot plays there.
#[derive(Debug, Deserialize)]
struct Request<'a> {
    game: &'a str,
    /// In the game's notation, from the start.
    moves: Vec<&'a str>,
    /// The level of the bot that is asked for a move, which is played.
    level: Option<&'a str>,
    /// What the bot draws from: a whole game long the same.
    #[serde(default)]
    seed: u64,
}

/// How a match stands.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct GameState {
    position: String,
    /// All moves in canonical form, with the bot's if one was asked for.
    moves: Vec<String>,
    /// Whose turn it is; nobody's once it is over.
    turn: Option<usize>,
    legal: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<GameOver>,
}

/// How it ended; nobody wins a draw.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct GameOver {
    winner: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<Vec<String>>,
}

/// A game as the page is told of it.
#[derive(Debug, Serialize)]
struct OfflineGame {
    game: &'static str,
    title: &'static str,
    sides: [&'static str; 2],
    files: u8,
    ranks: u8,
}

/// Why a question has no answer.
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

/// The answer to a question, as JSON: how the match stands, or an `error`. An empty question asks for the games.
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

/// What a bot plays; nothing once it is over.
fn choose_bot_move(position: &dyn AnyPosition, level: Level, seed: u64) -> Option<String> {
    let limits = Limits::nodes(BOT_NODES_MAX);
    let mut table = TranspositionTable::new(TABLE_BYTES);
    let choice = position.choose_move(level, seed, &limits, &Stop::new(), &mut table)?;
    Some(choice.m)
}

#[cfg(test)]
mod tests;
