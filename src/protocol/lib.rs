//! The wire protocol, version 1: what clients may ask, what the server answers and tells, and the
//! JSON of both.
//!
//! `PROTOCOL.md` beside this file is the contract; these types are its letter. They know no game
//! and no match: moves, positions and games are opaque text here.

mod analysis;
mod archive;
mod clock;
mod close;
mod decode;
mod error;
mod event;
mod id;
mod message;
mod person;
mod ratings;
mod request;
mod said;
#[cfg(test)]
mod schema;
mod seekers;
mod session;
mod snapshot;
mod text;
mod welcome;
mod words;

pub use analysis::{
    AnalysedPly, Analysis, Analysts, Hint, Judged, Keeps, Share, Sign, SignKind, Thinking,
    Valuation, Why, WhyKind,
};
pub use archive::{ExploredMove, History, HistoryRow, MatchResult, PoolRating, Profile};
pub use clock::{ClockControl, NotAClock};
pub use close::CloseCode;
pub use decode::{AuthMode, DecodeError, Decoded};
pub use error::{ErrorCode, WireError};
pub use event::{
    Detail, Ending, Event, Occupant, OfferKind, Reason, SeatState, StandingOffer, TimeLeft,
};
pub use id::{MatchId, PlayerId, Ply, RequestId, SeatNumber, Seq, SessionId};
pub use message::ServerMessage;
pub use person::Person;
pub use ratings::{LeaderRow, Leaders, Pool, RatingChange, RatingWhy, ShownRating};
pub use request::{
    ClientMessage, Create, Hello, Offer, Proof, Request, SeatFill, SeatRequest, Seek, Status,
    WatchedBy,
};
pub use said::{BlockedPlayer, ChatContent, ChatMode, Preset, PresetText, Said};
pub use seekers::{Seeker, Seekers};
pub use session::{PlayerKind, SessionKind, SessionSummary};
pub use snapshot::{ClockState, Listing, Rematch, Series, Snapshot, Successor};
pub use text::{
    BadName, MatchCode, MatchRef, PlayerName, Remark, Token, can_be_shown, is_same,
    without_byte_order_mark,
};
pub use welcome::{
    Challenge, ClockPreset, DaysMatch, FollowedMatch, GameSummary, LevelSummary, Limits,
    PlayerSummary, Welcome,
};

/// The version of the protocol that this build speaks.
pub const VERSION: u64 = 1;

/// The WebSocket subprotocol that stands for it.
pub const SUBPROTOCOL: &str = "plyhouse.v1";

/// The largest message that a client may send, in bytes of UTF-8.
pub const MESSAGE_BYTES_MAX: usize = 8192;

/// The largest integer that JSON carries exactly in every language: 2^53 - 1.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;
