//! The errors that a request may be answered with.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use super::id::{MatchId, Ply, RequestId};
use super::wire_enum::wire_enum;

wire_enum! {
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
    /// The name is nobody's, or another's.
    NameTaken = "name_taken",
    /// The player is an account already.
    AlreadyRegistered = "already_registered",
    /// Only an account may do this.
    NotRegistered = "not_registered",
    /// The password is wrong or missing, or there is no such name.
    WrongPassword = "wrong_password",
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
    /// The terms, the game or the player's standing exclude it.
    NotAllowed = "not_allowed",
    /// It may be asked for later.
    TooSoon = "too_soon",
    /// No such offer stands.
    NothingOffered = "nothing_offered",
    /// No such player.
    UnknownPlayer = "unknown_player",
    /// No such pairing code or recovery key, or no longer.
    BadCode = "bad_code",
    /// Nobody registers here without an invitation.
    InviteNeeded = "invite_needed",
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
            Self::TooSoon
                | Self::TooManyMatches
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
    /// In an error that answers no request: the match that it is about, where it is about one.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    // Boxed, as few have one.
    pub match_id: Option<Box<MatchId>>,
    /// What was wrong, for programs.
    // `None` if of a later server: it is judged by `retryable`. No server sends that.
    #[serde(deserialize_with = "known_code")]
    #[cfg_attr(test, schemars(with = "ErrorCode"))]
    pub code: Option<ErrorCode>,
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
    /// With `stale_ply`: the ply that is next. With `too_soon`: the ply from which on it may be asked,
    /// where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Ply>,
    /// With `stale_ply`: how often moves have been taken back in this match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takebacks: Option<u64>,
    /// With `unsupported_protocol`: the versions that the server speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported: Option<Box<[u64]>>,
    /// The request's fields that mean nothing in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

impl WireError {
    /// An error with nothing beside its code and message.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<Box<str>>) -> Self {
        Self {
            re: None,
            match_id: None,
            code: Some(code),
            message: message.into(),
            retryable: code.retryable(),
            retry_after_ms: None,
            field: None,
            expected: None,
            takebacks: None,
            supported: None,
            ignored: Vec::new(),
        }
    }
}

/// Reads a code; one that this build does not know is none.
fn known_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ErrorCode>, D::Error> {
    let word = Cow::<str>::deserialize(deserializer)?;
    let matches_word = |code: &ErrorCode| code.as_str() == word;
    Ok(ErrorCode::ALL.iter().copied().find(matches_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_serialised_as_its_name() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn unknown_code_of_newer_server_is_accepted() {
        let decode = |text| serde_json::from_str::<WireError>(text);
        let newer_error = r#"{"code":"too_late","message":"no","retryable":true}"#;
        let later = decode(newer_error).unwrap();
        assert_eq!((later.code, later.retryable), (None, true));
        let known_error = r#"{"code":"too_soon","message":"no","retryable":true,"expected":2}"#;
        assert_eq!(decode(known_error).unwrap().code, Some(ErrorCode::TooSoon));
        assert!(decode(r#"{"message":"no","retryable":true}"#).is_err());
    }
}
