//! Forwards requests to the owner of a match, and locates the owner.

use std::time::Duration;

use plyhouse_bus::RequestError;
use plyhouse_protocol::{MatchId, Seq, SessionId};
use plyhouse_store::{NodeId, ReadError, WriteError};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::Cluster;
use super::packet::Packet;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication_messages::Presence;

/// Delay before the next attempt to locate the owner of a match, if another server has just taken
/// over the match.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Maximum number of attempts to locate the owner of a match.
const LOCATE_ATTEMPTS_MAX: u32 = 20;

/// Response to a packet from another server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum PacketResponse {
    /// Answer of the match to a forwarded request. The server that forwarded the request first
    /// broadcasts all events up to `seq`, and then replies to its client.
    #[serde(rename = "Done")]
    MatchAnswer { answer: Answer, seq: Seq },
    /// The responding server owns the match and has accepted the request.
    #[serde(rename = "Here")]
    Accepted,
    /// The responding server is alive. `searches` is the number of bot searches in the responding
    /// server's queue.
    #[serde(rename = "Alive")]
    Pong { searches: u32 },
    /// Sessions of the player that are connected to the responding server.
    #[serde(rename = "Connected")]
    ConnectedSessions(Vec<SessionId>),
    /// The responding server does not own the match.
    #[serde(rename = "NotHere")]
    NotOwner,
}

/// Server that serves a match, as found by [`Cluster::locate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchLocation {
    /// This server owns the match.
    Local,
    /// Another server owns the match.
    Remote(NodeId),
    /// The match has ended and has no live owner.
    Ended,
    /// The store does not contain the match.
    Unknown,
}

/// Error when the owner of a match cannot be determined.
#[derive(Debug)]
pub(crate) struct LocateError;

impl From<ReadError> for LocateError {
    fn from(_: ReadError) -> Self {
        Self
    }
}

impl From<WriteError> for LocateError {
    fn from(_: WriteError) -> Self {
        Self
    }
}

impl Cluster {
    /// Forwards a command to the owner of a match. The request is queued on the bus before this
    /// method returns.
    pub(crate) fn relay(
        &self,
        owner: NodeId,
        match_id: MatchId,
        command: Command,
    ) -> impl Future<Output = Result<PacketResponse, RequestError>> + Send + use<> {
        let command = Box::new(command);
        self.request(owner, &Packet::Request { match_id, command })
    }

    /// Asks the owner of a match to send match updates to this server. `presence` contains the
    /// players and spectators on this server who follow the match. If it is `None`, the owner stops
    /// sending updates.
    pub(crate) fn follow_match(
        &self,
        owner: NodeId,
        match_id: MatchId,
        presence: Option<Presence>,
    ) -> impl Future<Output = Result<PacketResponse, RequestError>> + Send + use<> {
        let from = self.node;
        let follow = Packet::Follow {
            match_id,
            from,
            presence,
        };
        self.request(owner, &follow)
    }

    /// Makes this server the owner of a match, and announces the change to all servers. Returns
    /// `false` if the server `from` is not the current owner, or if the match was taken over only
    /// recently.
    pub(crate) async fn take_over(
        &self,
        id: MatchId,
        from: Option<NodeId>,
    ) -> Result<bool, WriteError> {
        let is_taken = self.directory.take_over(id, self.node, from).await?;
        if is_taken {
            let (match_id, by) = (id, self.node);
            self.broadcast(&Packet::OwnerChanged { match_id, by });
        }
        Ok(is_taken)
    }

    /// Determines the owner of a match. If the match has no live owner, this server takes it over.
    /// The method treats the server `suspected_owner` as gone, even if that server's lease is
    /// valid. An ended match is taken over only if `include_ended` is set.
    pub(crate) async fn locate(
        &self,
        id: MatchId,
        suspected_owner: Option<NodeId>,
        include_ended: bool,
    ) -> Result<MatchLocation, LocateError> {
        for _ in 0..LOCATE_ATTEMPTS_MAX {
            let Some(route) = self.directory.find_route(id).await? else {
                return Ok(MatchLocation::Unknown);
            };
            let owner = route.owner;
            let is_live_owner = |owner: &NodeId| {
                Some(*owner) != suspected_owner
                    && (route.is_lease_valid
                        || (self.lease.is_recent() && self.nodes.is_responding(*owner)))
            };
            match owner.filter(is_live_owner) {
                Some(at) if at == self.node => return Ok(MatchLocation::Local),
                Some(at) => return Ok(MatchLocation::Remote(at)),
                None if route.has_ended && !include_ended => return Ok(MatchLocation::Ended),
                None if !self.has_valid_lease() => return Err(LocateError),
                None => {}
            }
            if self.take_over(id, owner).await? {
                tracing::info!(match_id = %id, from = ?owner, "match taken over");
                return Ok(MatchLocation::Local);
            }
            sleep(RETRY_DELAY).await;
        }
        Err(LocateError)
    }

    /// Returns whether this server owns the match and no takeover has happened since the given
    /// epoch. Must be called after the match was read from the store, because another server may
    /// have taken it over shortly before.
    pub(crate) async fn is_owner(&self, id: MatchId, epoch: u64) -> Result<bool, LocateError> {
        let route = self.directory.find_route(id).await?;
        Ok(route.is_some_and(|route| route.owner == Some(self.node) && route.epoch == epoch))
    }
}
