//! Plays Connect Four with the engine's own search, over a typed connection:
//! `cargo run --release --locked -p plyhouse-connection --example bot -- URL [LEVEL]`.
#![allow(clippy::print_stdout, reason = "it tells how it went")]

use std::error::Error;
use std::time::Duration;

use plyhouse_connection::Connection;
use plyhouse_engine::catalog::{self, AnyPosition};
use plyhouse_engine::search::{Limits, Stop, TranspositionTable};
use plyhouse_protocol::{
    ClientMessage, CreateRequest, Event, MatchId, Ply, Request, SeatNumber, SeatRequest,
    ServerMessage,
};

const GAME: &str = "connect-four";
const THINK: Duration = Duration::from_millis(100);

/// What it knows of its match.
#[derive(Debug)]
struct Bot {
    match_id: MatchId,
    own: SeatNumber,
    position: Box<dyn AnyPosition>,
    table: TranspositionTable,
}

impl Bot {
    /// Its move, if it has the turn.
    fn choose(&mut self, turn: Option<SeatNumber>, ply: Ply) -> Option<ClientMessage> {
        if turn != Some(self.own) {
            return None;
        }
        let (limits, stop) = (Limits::time(THINK), Stop::new());
        let found = self
            .position
            .analyse(&limits, &stop, &mut self.table, &mut |_| ())?;
        let best = found.moves.into_iter().next()?;
        Some(ClientMessage::Move {
            target: self.match_id.into(),
            ply,
            m: best.m,
            takebacks: None,
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let url = words.next().unwrap_or("ws://127.0.0.1:7878/ws".to_owned());
    let level = words.next().unwrap_or("beginner".to_owned());
    let mut connection = Connection::open(&url).await?;
    let create = ClientMessage::Create(Box::new(CreateRequest {
        game: GAME.to_owned(),
        seats: Some([SeatRequest::Me, SeatRequest::Bot(level)]),
        ..CreateRequest::default()
    }));
    connection
        .send(&Request {
            id: None,
            message: create,
        })
        .await?;
    let mut bot: Option<Bot> = None;
    loop {
        let answer = match (connection.receive().await?, &mut bot) {
            (ServerMessage::Match(snapshot), _) => {
                let mut position = catalog::find_game(GAME)
                    .ok_or("no such game")?
                    .initial_position();
                for m in &snapshot.moves {
                    position.play(m)?;
                }
                let bot = bot.insert(Bot {
                    match_id: snapshot.match_id,
                    own: snapshot.you.ok_or("no seat")?,
                    position,
                    table: TranspositionTable::new(1 << 20),
                });
                bot.choose(snapshot.turn, snapshot.ply)
            }
            (
                ServerMessage::Event(Event::Moved {
                    m, turn, next_ply, ..
                }),
                Some(bot),
            ) => {
                bot.position.play(&m)?;
                bot.choose(turn, next_ply)
            }
            (ServerMessage::Event(Event::Ended { outcome, .. }), Some(bot)) => {
                println!(
                    "{}",
                    match outcome.winner {
                        None => "drawn",
                        Some(winner) if winner == bot.own => "won",
                        Some(_) => "lost",
                    }
                );
                return Ok(connection.close().await?);
            }
            (ServerMessage::Error(error), _) => return Err(error.message.into_string().into()),
            _ => None,
        };
        if let Some(message) = answer {
            connection.send(&Request { id: None, message }).await?;
        }
    }
}
