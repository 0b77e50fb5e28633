//! Bot that plays Connect Four over a typed connection. The engine's search chooses the moves. To
//! run the bot: `cargo run --release --locked -p plyhouse-connection --example bot -- URL [LEVEL]`.
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

const GAME_ID: &str = "connect-four";
const THINKING_TIME: Duration = Duration::from_millis(100);

/// State of the match that the bot plays.
#[derive(Debug)]
struct Bot {
    match_id: MatchId,
    own_seat: SeatNumber,
    position: Box<dyn AnyPosition>,
    table: TranspositionTable,
}

impl Bot {
    /// Returns the request that plays the best move, or `None` if it is not the bot's turn.
    fn choose_move(&mut self, turn: Option<SeatNumber>, ply: Ply) -> Option<ClientMessage> {
        if turn != Some(self.own_seat) {
            return None;
        }
        let (limits, stop) = (Limits::time(THINKING_TIME), Stop::new());
        let analysis = self
            .position
            .analyse(&limits, &stop, &mut self.table, &mut |_| ())?;
        let best = analysis.moves.into_iter().next()?;
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
    let mut args = std::env::args().skip(1);
    let url = args.next().unwrap_or("ws://127.0.0.1:7878/ws".to_owned());
    let level = args.next().unwrap_or("beginner".to_owned());
    let mut connection = Connection::open(&url).await?;
    let create = ClientMessage::Create(Box::new(CreateRequest {
        game: GAME_ID.to_owned(),
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
        let reply = match (connection.receive().await?, &mut bot) {
            (ServerMessage::Match(snapshot), _) => {
                let mut position = catalog::find_game(GAME_ID)
                    .ok_or("no such game")?
                    .initial_position();
                for m in &snapshot.moves {
                    position.play(m)?;
                }
                let bot = bot.insert(Bot {
                    match_id: snapshot.match_id,
                    own_seat: snapshot.you.ok_or("no seat")?,
                    position,
                    table: TranspositionTable::new(1 << 20),
                });
                bot.choose_move(snapshot.turn, snapshot.ply)
            }
            (
                ServerMessage::Event(Event::Moved {
                    m, turn, next_ply, ..
                }),
                Some(bot),
            ) => {
                bot.position.play(&m)?;
                bot.choose_move(turn, next_ply)
            }
            (ServerMessage::Event(Event::Ended { outcome, .. }), Some(bot)) => {
                println!(
                    "{}",
                    match outcome.winner {
                        None => "drawn",
                        Some(winner) if winner == bot.own_seat => "won",
                        Some(_) => "lost",
                    }
                );
                return Ok(connection.close().await?);
            }
            (ServerMessage::Error(error), _) => return Err(error.message.into_string().into()),
            _ => None,
        };
        if let Some(message) = reply {
            connection.send(&Request { id: None, message }).await?;
        }
    }
}
