//! Why a server closes a connection.

/// The code of a WebSocket close frame that a server may send (RFC 6455, section 7.4, and the
/// protocol's own from 4001 on).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseCode {
    /// The client wished it.
    Normal,
    /// The server is going away.
    GoingAway,
    /// The rules of WebSocket were broken.
    InvalidFrame,
    /// A binary frame.
    BinaryFrame,
    /// Text that is not UTF-8.
    InvalidUtf8,
    /// The rules of this protocol were broken, again and again.
    ProtocolViolation,
    /// A message over the limit.
    MessageTooLarge,
    /// No room for one more connection.
    ServerFull,
    /// The same session has connected anew.
    Replaced,
    /// The queue towards the client ran full.
    SlowConsumer,
    /// Too many requests for too long.
    RateLimited,
    /// Nothing was heard for too long.
    IdleTimeout,
    /// The session was ended.
    SessionEnded,
}

impl CloseCode {
    /// Every code.
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

    /// The number on the wire.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Normal => 1000,
            Self::GoingAway => 1001,
            Self::InvalidFrame => 1002,
            Self::BinaryFrame => 1003,
            Self::InvalidUtf8 => 1007,
            Self::ProtocolViolation => 1008,
            Self::MessageTooLarge => 1009,
            Self::ServerFull => 1013,
            Self::Replaced => 4001,
            Self::SlowConsumer => 4002,
            Self::RateLimited => 4003,
            Self::IdleTimeout => 4004,
            Self::SessionEnded => 4005,
        }
    }

    /// The code with this number, if it is one of ours.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.number() == number)
    }

    /// What a person may read in the close frame: at most 123 bytes.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Normal => "goodbye",
            Self::GoingAway => "the server is going away; connect again",
            Self::InvalidFrame => "the rules of WebSocket were broken",
            Self::BinaryFrame => "messages are text",
            Self::InvalidUtf8 => "text must be UTF-8",
            Self::ProtocolViolation => "the rules of the protocol were broken",
            Self::MessageTooLarge => "the message is too large",
            Self::ServerFull => "the server is full; try again later",
            Self::Replaced => "this session has a newer connection",
            Self::SlowConsumer => "messages were not read fast enough",
            Self::RateLimited => "too many requests for too long; wait a minute",
            Self::IdleTimeout => "nothing was heard for too long",
            Self::SessionEnded => "this session was ended: its token is void",
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
