//! Error replies to requests.

use serde::{Deserialize, Serialize};

use super::id::{MatchId, Ply, RequestId};
use super::wire_enum::{known_word, wire_enum};

wire_enum! {
    /// Machine-readable code of an error.
    ErrorCode {
    /// The message is not a single JSON object, or has no string field `type`.
    Malformed = "malformed",
    /// The server does not know this request type.
    UnknownType = "unknown_type",
    /// A field is missing, has the wrong type, or is out of range. The error's `field` names the
    /// invalid field.
    BadField = "bad_field",
    /// The server does not support the requested protocol version.
    UnsupportedProtocol = "unsupported_protocol",
    /// The server has already sent `welcome` on this connection, so `hello` is no longer allowed.
    AlreadyWelcomed = "already_welcomed",
    /// The name or label contains characters that cannot be shown, or has the wrong length.
    BadName = "bad_name",
    /// The name is reserved, or belongs to another player.
    NameTaken = "name_taken",
    /// The player already has an account.
    AlreadyRegistered = "already_registered",
    /// The request requires an account.
    NotRegistered = "not_registered",
    /// The password is wrong or missing, or no account has this name.
    WrongPassword = "wrong_password",
    /// The server does not have this game.
    UnknownGame = "unknown_game",
    /// The server does not have this bot level.
    UnknownLevel = "unknown_level",
    /// The match does not exist, or the requester may not see it.
    UnknownMatch = "unknown_match",
    /// The requested seat is not open to the player. If no seat was requested, no seat is open to
    /// the player.
    SeatTaken = "seat_taken",
    /// The player already has a seat in this match.
    AlreadySeated = "already_seated",
    /// The player does not have a seat in this match.
    NotSeated = "not_seated",
    /// Only the host of the match may send this request.
    NotHost = "not_host",
    /// The connection does not follow this match.
    NotFollowing = "not_following",
    /// The match has not started, because a seat is still open.
    MatchNotStarted = "match_not_started",
    /// The request is not possible while the match is running.
    MatchRunning = "match_running",
    /// The match has already ended.
    MatchEnded = "match_ended",
    /// It is the other player's turn.
    NotYourTurn = "not_your_turn",
    /// The ply or the takeback count in the request differs from the current value in the match.
    StalePly = "stale_ply",
    /// The text is not a move in the notation of this game.
    UnreadableMove = "unreadable_move",
    /// The move is not legal in the current position.
    IllegalMove = "illegal_move",
    /// The match terms, the game or the player's status do not allow the request.
    NotAllowed = "not_allowed",
    /// The request is not possible yet, but the client may repeat it later.
    TooSoon = "too_soon",
    /// No offer of this kind is pending.
    NothingOffered = "nothing_offered",
    /// The player does not exist.
    UnknownPlayer = "unknown_player",
    /// The pairing code, recovery key or API key does not exist or is no longer valid.
    BadCode = "bad_code",
    /// Registration requires an invitation from the operator.
    InviteNeeded = "invite_needed",
    /// The player, the connection or the client's address has reached its maximum number of
    /// matches.
    TooManyMatches = "too_many_matches",
    /// The client sent too many requests, so the server did not process this request.
    RateLimited = "rate_limited",
    /// The server is too busy at the moment.
    Overloaded = "overloaded",
    /// The server is shutting down.
    ShuttingDown = "shutting_down",
    /// An internal error occurred. The request may or may not have had an effect.
    Internal = "internal",
    }
}

impl ErrorCode {
    /// Returns whether the same request may succeed later.
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

/// Error reply to a request. Unless the code is `internal`, the request had no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WireError {
    /// The `id` of the request that failed. Absent if the request had no `id`, or if the `id` could
    /// not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// Id of the match that the error concerns. Present only if the error is not an answer to a
    /// request.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    // Boxed to keep the struct small, because few errors have a match id.
    pub match_id: Option<Box<MatchId>>,
    /// Machine-readable code of the error.
    // `None` if the code is unknown, because a newer server sent it. For an unknown code, clients
    // rely on `retryable`. Servers always set a code.
    #[serde(deserialize_with = "known_word")]
    #[cfg_attr(test, schemars(with = "ErrorCode"))]
    pub code: Option<ErrorCode>,
    /// Human-readable description of the error, in English.
    pub message: Box<str>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Time until the request may succeed, in milliseconds. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Name of the invalid request field. Present only with `bad_field`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Box<str>>,
    /// Ply at which the server would accept the request.
    ///
    /// With `stale_ply`, `expected` is the next ply of the match. With `too_soon`, `expected` is
    /// the first ply at which the request is allowed, or is absent if that ply is unknown. With
    /// other codes, `expected` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Ply>,
    /// Number of accepted takebacks in the match. Present only with `stale_ply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takebacks: Option<u64>,
    /// Protocol versions that the server supports. Present only with `unsupported_protocol`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported: Option<Box<[u64]>>,
    /// Names of request fields that the server ignored, at most eight. Absent if the server ignored
    /// no field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

impl WireError {
    /// Creates an error with a code and a message, and no optional fields.
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
