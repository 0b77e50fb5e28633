//! How a server asks the owner of a match, and finds out who that is.

use std::time::Duration;

use plyhouse_bus::RequestError;
use plyhouse_protocol::{MatchId, Seq, SessionId};
use plyhouse_store::cluster_directory::MatchRoute;
use plyhouse_store::{NodeId, ReadError, WriteError};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::Cluster;
use super::packet::Packet;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication::Presence;

/// After how long it is looked anew who owns a match that two servers want.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// How often that is done.
const LOCATE_ATTEMPTS_MAX: u32 = 20;

/// What a server answers another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum PacketResponse {
    /// What the match has answered, which counts once this event has been told.
    #[serde(rename = "Done")]
    MatchAnswer { answer: Answer, seq: Seq },
    /// It is here, and does as it was asked.
    #[serde(rename = "Here")]
    Accepted,
    /// The server is there, and so many searches of its bots wait.
    #[serde(rename = "Alive")]
    Pong { searches: u32 },
    /// These sessions have connections there.
    #[serde(rename = "Connected")]
    ConnectedSessions(Vec<SessionId>),
    /// It is not this server's match.
    #[serde(rename = "NotHere")]
    NotOwner,
}

/// Whose a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchLocation {
    /// This server's.
    Local,
    /// Another server's.
    Remote(NodeId),
    /// It has ended, and nobody serves it.
    Ended,
    /// It is not kept.
    Unknown,
}

/// It cannot be found out whose a match is.
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
    /// Asks the owner of a match. The request is on its way by the time this returns.
    pub(crate) fn relay(
        &self,
        owner: NodeId,
        match_id: MatchId,
        command: Command,
    ) -> impl Future<Output = Result<PacketResponse, RequestError>> + Send + use<> {
        let command = Box::new(command);
        self.request(owner, &Packet::Request { match_id, command })
    }

    /// Has the owner of a match feed this server, or not any more.
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

    /// Makes this server the owner of a match that is `from`'s, and tells its former owner, if that lives, and
    /// those that have copies. False if it is not `from`'s, or was taken just now.
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

    /// Finds out whose a match is. One that has no owner, or whose owner is gone or `suspected_owner` to be,
    /// is this server's from now on; one that has ended only if it is `include_ended` all the same.
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
            let MatchRoute {
                owner,
                is_lease_valid,
                has_ended,
                ..
            } = route;
            let is_live_owner = |owner| {
                is_lease_valid || (self.lease.is_recent() && self.nodes.is_responding(owner))
            };
            let live_owner =
                owner.filter(|owner| is_live_owner(*owner) && Some(*owner) != suspected_owner);
            match live_owner {
                Some(at) if at == self.node => return Ok(MatchLocation::Local),
                Some(at) => return Ok(MatchLocation::Remote(at)),
                None if has_ended && !include_ended => return Ok(MatchLocation::Ended),
                None if !self.has_valid_lease() => return Err(LocateError),
                None => {}
            }
            if self.take_over(id, owner).await? {
                tracing::info!(match_id = %id, from = ?owner, "took over a match");
                return Ok(MatchLocation::Local);
            }
            sleep(RETRY_DELAY).await;
        }
        Err(LocateError)
    }

    /// Whether a match that was read at this epoch is this server's. To be asked after it was read: another may
    /// have taken it over just before, and what was read is that one's to write on.
    pub(crate) async fn is_owner(&self, id: MatchId, epoch: u64) -> Result<bool, LocateError> {
        let route = self.directory.find_route(id).await?;
        Ok(route.is_some_and(|route| route.owner == Some(self.node) && route.epoch == epoch))
    }
}
