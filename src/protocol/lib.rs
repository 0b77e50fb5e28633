//! The wire protocol, version 1: what clients may ask, what the server answers and tells, and the
//! JSON of both.
//!
//! `PROTOCOL.md` beside this file is the contract; these types are its letter. They know no game
//! and no match: moves, positions and games are opaque text here.

mod close;
mod decode;
mod error;
mod event;
mod id;
mod message;
mod request;
#[cfg(test)]
mod schema;
mod text;
mod words;

pub use close::CloseCode;
pub use decode::Refused;
pub use error::{ErrorCode, WireError};
pub use event::{Ending, Event, Occupant, Reason, SeatState};
pub use id::{MatchId, PlayerId, Ply, RequestId, SeatNumber, Seq};
pub use message::{
    FollowedMatch, GameSummary, LevelSummary, Limits, Listing, PlayerSummary, ServerMessage,
    Snapshot, Welcome,
};
pub use request::{ClientMessage, HostedOccupant, Request, SeatRequest, Status};
pub use text::{BadName, MatchCode, MatchRef, PlayerName, Token, can_be_shown};

/// The version of the protocol that this build speaks.
pub const VERSION: u64 = 1;

/// The WebSocket subprotocol that stands for it.
pub const SUBPROTOCOL: &str = "plyhouse.v1";

/// The largest message that a client may send, in bytes of UTF-8.
pub const MESSAGE_BYTES_MAX: usize = 8192;

/// The largest integer that JSON carries exactly in every language: 2^53 - 1.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;
