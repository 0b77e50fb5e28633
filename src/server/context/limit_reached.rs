//! Limits on matches, seeks and challenges. A request that would exceed one fails.

use plyhouse_protocol::{ErrorCode, WireError};

/// Limit that a request would exceed. The text is the message to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LimitReached {
    /// Matches in the memory of this server.
    #[error("the server has too many matches; try again later")]
    Matches,
    /// Seeks that wait for an opponent.
    #[error("too many players are looking for an opponent; try again shortly")]
    Seeks,
    /// Live matches of one host.
    #[error("you are hosting too many live matches; finish or cancel one first")]
    HostedMatches,
    /// Live correspondence matches of one player.
    #[error("you have too many correspondence matches; finish or cancel one first")]
    CorrespondenceMatches,
    /// Live matches that one connection follows. Also used for a connection that has ended.
    #[error("you are following too many matches; leave one first")]
    FollowedMatches,
    /// Open and bot-only matches from one address.
    #[error("there are too many open or bot-only matches from your IP address")]
    OpenMatches,
    /// Challenges that one player has sent or received.
    #[error("you have sent too many challenges, or that player has received too many")]
    Challenges,
}

impl From<LimitReached> for WireError {
    fn from(limit: LimitReached) -> Self {
        let code = match limit {
            LimitReached::Matches | LimitReached::Seeks => ErrorCode::Overloaded,
            LimitReached::HostedMatches
            | LimitReached::CorrespondenceMatches
            | LimitReached::FollowedMatches
            | LimitReached::OpenMatches
            | LimitReached::Challenges => ErrorCode::TooManyMatches,
        };
        Self::new(code, limit.to_string())
    }
}
