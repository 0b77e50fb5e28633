//! WebSocket close codes that the server sends.

/// Close code that the server may send in a WebSocket close frame.
///
/// Codes below 4000 are defined in the IANA registry of WebSocket close codes. Codes from 4001 are
/// specific to this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum CloseCode {
    /// Normal closure.
    Normal = 1000,
    /// The server is shutting down. The client should reconnect with backoff.
    GoingAway = 1001,
    /// The client violated the WebSocket protocol.
    InvalidFrame = 1002,
    /// The client sent a binary frame. All messages of this protocol are text.
    BinaryFrame = 1003,
    /// The client sent text that is not valid UTF-8.
    InvalidUtf8 = 1007,
    /// The client sent too many malformed messages.
    ProtocolViolation = 1008,
    /// The client sent a message that is larger than the limit.
    MessageTooLarge = 1009,
    /// The server has reached its maximum number of connections.
    ServerFull = 1013,
    /// The server closed this connection in favour of a newer connection of the same session or
    /// player.
    Replaced = 4001,
    /// The client reads too slowly, so the queue of messages to the client is full.
    SlowConsumer = 4002,
    /// The client exceeded the request rate for too long.
    RateLimited = 4003,
    /// The server received nothing from the client for longer than the idle limit.
    IdleTimeout = 4004,
    /// The session was ended, and its token is no longer valid.
    SessionEnded = 4005,
}

impl CloseCode {
    /// All close codes.
    pub const ALL: [Self; 13] = [
        Self::Normal,
        Self::GoingAway,
        Self::InvalidFrame,
        Self::BinaryFrame,
        Self::InvalidUtf8,
        Self::ProtocolViolation,
        Self::MessageTooLarge,
        Self::ServerFull,
        Self::Replaced,
        Self::SlowConsumer,
        Self::RateLimited,
        Self::IdleTimeout,
        Self::SessionEnded,
    ];

    /// Returns the numeric close code.
    #[must_use]
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// Returns the close code that has the given number. Returns `None` if the protocol does not
    /// use the number.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.number() == number)
    }

    /// Returns the reason text of the close frame, in English and at most 123 bytes long.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Normal => "goodbye",
            Self::GoingAway => "the server is shutting down; connect again",
            Self::InvalidFrame => "WebSocket protocol error",
            Self::BinaryFrame => "binary messages are not supported",
            Self::InvalidUtf8 => "the message is not valid UTF-8",
            Self::ProtocolViolation => "too many malformed messages",
            Self::MessageTooLarge => "the message is too large",
            Self::ServerFull => "the server is full; try again later",
            Self::Replaced => "replaced by a newer connection",
            Self::SlowConsumer => "messages were not read fast enough",
            Self::RateLimited => "too many requests; wait a minute",
            Self::IdleTimeout => "the connection was idle for too long",
            Self::SessionEnded => "the session has ended; its token is no longer valid",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_reasons_fit_a_close_frame() {
        for code in CloseCode::ALL {
            assert_eq!(CloseCode::from_number(code.number()), Some(code));
            assert!(code.reason().len() <= 123);
        }
        assert_eq!(CloseCode::from_number(1006), None);
    }
}
