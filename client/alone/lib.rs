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
const NODES_MAX: u64 = 3_000_000;

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
    Unreadable(#[from] serde_json::Error),
    #[error("not a game that is played here")]
    Game,
    #[error(transparent)]
    Level(#[from] ParseLevelError),
    #[error(transparent)]
    Move(#[from] PlayError),
}

/// The answer to a question, as JSON: how the match stands, or an `error`. An empty question asks for the games.
fn answer(question: &str) -> String {
    let answer = if question.is_empty() {
        serde_json::to_string(&games())
    } else {
        match game_state(question) {
            Ok(standing) => serde_json::to_string(&standing),
            Err(why) => serde_json::to_string(&serde_json::json!({ "error": why.to_string() })),
        }
    };
    answer.expect("plain data")
}

fn games() -> Vec<OfflineGame> {
    let offered = |entry: &GameEntry| {
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
    GAMES.iter().map(offered).collect()
}

fn game_state(question: &str) -> Result<GameState, RequestError> {
    let question: Request<'_> = serde_json::from_str(question)?;
    let level = question.level.map(str::parse::<Level>).transpose()?;
    let mut games = GAMES.iter();
    let entry = games.find(|entry| entry.info.id == question.game);
    let mut position = entry.ok_or(RequestError::Game)?.initial_position();
    let mut moves = Vec::with_capacity(question.moves.len() + 1);
    for m in question.moves {
        moves.push(position.play(m)?);
    }
    if let Some(level) = level {
        let chosen = chosen_move(&*position, level, question.seed);
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
fn chosen_move(position: &dyn AnyPosition, level: Level, seed: u64) -> Option<String> {
    let limits = Limits::nodes(NODES_MAX);
    let mut table = TranspositionTable::new(TABLE_BYTES);
    let choice = position.choose_move(level, seed, &limits, &Stop::new(), &mut table)?;
    Some(choice.m)
}

#[cfg(test)]
mod tests;
