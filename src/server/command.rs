//! What is asked of a match and what it answers: plain data, which may come from another machine.

use std::time::Instant;

use plyhouse_matches::Action;
use plyhouse_protocol::{PlayerId, Seq, WireError};

use super::clock::now;
use super::connection_id::ConnectionId;

/// What one connection asks of one match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The connection that asks.
    pub(super) connection: ConnectionId,
    /// The number of the request on its connection, counted from 1; 0 for what no client has asked for.
    pub(super) cmd: u64,
    /// The player whose connection it is.
    pub(super) player: PlayerId,
    pub(super) request: MatchRequest,
    /// When the request was read.
    pub(super) received_at: Instant,
}

impl Command {
    /// What no client has asked for.
    pub(super) fn unasked(
        connection: ConnectionId,
        player: PlayerId,
        request: MatchRequest,
    ) -> Self {
        Self {
            connection,
            cmd: 0,
            player,
            request,
            received_at: now(),
        }
    }
}

/// What can be asked of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MatchRequest {
    /// An action. Who joins follows the match from then on, and who leaves does not any more.
    Act(Action),
    /// To follow the match, and to be shown it.
    Watch,
    /// To show the match to a player who has a part in it and did not ask. The connection has noted
    /// that it follows.
    Show,
    /// What happened after this event.
    Resync { since: Seq },
    /// To stop following.
    Unfollow,
}

/// What a match answers: the event that a move has become, or why nothing was done.
pub(super) type Answer = Result<Option<Seq>, Box<WireError>>;
