//! Messages of the Plyhouse wire protocol, version 1, and their JSON encoding.
//!
//! `PROTOCOL.md` in this directory is the specification. This crate contains no game rules. Names
//! of games, moves and positions are plain strings.

#![warn(missing_docs)]

mod analysis;
mod archive;
mod chat;
mod close_code;
mod decode;
mod error;
mod event;
mod id;
mod named_player;
mod player_sessions;
mod ratings;
mod request;
#[cfg(test)]
mod schema_tests;
mod seek_list;
mod server_message;
mod snapshot;
mod time_control;
mod validated_text;
mod welcome;
mod wire_enum;

pub use analysis::{
    AnalysedPly, Analysis, AnalysisAccess, BetterMoveOutcome, Explanation, Finding, FindingKind,
    Hint, MistakeKind, MoveJudgement, PositionEvaluation, Probability, Thinking,
};
pub use archive::{ExploredMove, HistoryRequest, HistoryRow, MatchResult, PoolRating, Profile};
pub use chat::{BlockedPlayer, ChatContent, ChatEntry, ChatMode, ChatPreset, ChatPresetText};
pub use close_code::CloseCode;
pub use decode::{AuthMode, DecodeError, Decoded};
pub use error::{ErrorCode, WireError};
pub use event::{
    EndDetail, EndReason, Ending, Event, Occupant, OfferKind, OfferState, SeatState, TimeLeft,
};
pub use id::{MatchId, PlayerId, Ply, RequestId, SeatNumber, Seq, SessionId};
pub use named_player::NamedPlayer;
pub use player_sessions::{PlayerKind, SessionKind, SessionSummary};
pub use ratings::{
    LeaderboardRequest, LeaderboardRow, RatingChange, RatingPool, ShownRating, UnratedReason,
};
pub use request::{
    ClientMessage, CreateRequest, Hello, MatchStatus, Offer, ReauthProof, Request, SeatFill,
    SeatRequest, SeekRequest, SpectatorAccess,
};
pub use seek_list::{SeekList, Seeker};
pub use server_message::ServerMessage;
pub use snapshot::{ClockState, ListedMatch, NextMatch, RematchState, Series, Snapshot};
pub use time_control::{ClockControl, ParseClockError};
pub use validated_text::{
    ChatText, InvalidNameError, MatchCode, MatchRef, PlayerName, Token, is_displayable,
    is_password_same_as_name, strip_byte_order_mark,
};
pub use welcome::{
    Challenge, ClockPreset, CorrespondenceState, FollowedMatch, GameSummary, LevelSummary, Limits,
    PlayerSummary, Welcome,
};
pub use wire_enum::UnknownWordError;

/// Protocol version that this build supports.
pub const VERSION: u64 = 1;

/// Name of the WebSocket subprotocol for this protocol version.
pub const SUBPROTOCOL: &str = "plyhouse.v1";

/// Default maximum size of a client message, in bytes of UTF-8.
pub const MESSAGE_BYTES_MAX: usize = 8192;

/// Largest integer (2^53 - 1) that JSON implementations with double-precision numbers represent
/// exactly.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;
