//! The closed list of errors that a request may be answered with.

use serde::{Deserialize, Serialize};

use super::id::{Ply, RequestId};
use super::words::words;

words! {
    /// What was wrong with a request, for programs.
    ErrorCode {
    /// Not one JSON object, or no text `type`.
    Malformed = "malformed",
    /// No such request.
    UnknownType = "unknown_type",
    /// A field is missing, of the wrong type or out of its range.
    BadField = "bad_field",
    /// The server does not speak this version.
    UnsupportedProtocol = "unsupported_protocol",
    /// `hello` was said already.
    AlreadyWelcomed = "already_welcomed",
    /// The name cannot be shown.
    BadName = "bad_name",
    /// No such game.
    UnknownGame = "unknown_game",
    /// No such level.
    UnknownLevel = "unknown_level",
    /// No such match.
    UnknownMatch = "unknown_match",
    /// That seat, or every seat, is filled.
    SeatTaken = "seat_taken",
    /// The player sits in this match.
    AlreadySeated = "already_seated",
    /// The player does not sit in this match.
    NotSeated = "not_seated",
    /// Only the match's host may do this.
    NotHost = "not_host",
    /// The connection does not follow this match.
    NotFollowing = "not_following",
    /// A seat is still open.
    MatchNotStarted = "match_not_started",
    /// The match is being played.
    MatchRunning = "match_running",
    /// The match is over.
    MatchEnded = "match_ended",
    /// The other seat moves next.
    NotYourTurn = "not_your_turn",
    /// Another ply is next.
    StalePly = "stale_ply",
    /// The text is no move of this game.
    UnreadableMove = "unreadable_move",
    /// The move cannot be played in this position.
    IllegalMove = "illegal_move",
    /// The player hosts, or the connection follows, as many matches as the server allows.
    TooManyMatches = "too_many_matches",
    /// Too many requests; this one was not looked at.
    RateLimited = "rate_limited",
    /// The server has more to do than it can.
    Overloaded = "overloaded",
    /// The server is about to stop.
    ShuttingDown = "shutting_down",
    /// The server failed.
    Internal = "internal",
    }
}

impl ErrorCode {
    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::TooManyMatches
                | Self::RateLimited
                | Self::Overloaded
                | Self::ShuttingDown
                | Self::Internal
        )
    }
}

/// The answer to a request that changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireError {
    /// The request's number, if it had a readable one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// What was wrong, for programs.
    pub code: ErrorCode,
    /// What was wrong, for people.
    pub message: Box<str>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// After how many milliseconds it may, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// With `bad_field`: the request's field that was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Box<str>>,
    /// With `stale_ply`: the ply that is next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Ply>,
    /// With `unsupported_protocol`: the versions that the server speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported: Option<Box<[u64]>>,
}

impl WireError {
    /// An error with nothing beside its code and message.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<Box<str>>) -> Self {
        Self {
            re: None,
            code,
            message: message.into(),
            retryable: code.retryable(),
            retry_after_ms: None,
            field: None,
            expected: None,
            supported: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_serialised_by_its_name() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
