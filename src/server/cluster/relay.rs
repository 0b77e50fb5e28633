//! How a server asks the owner of a match, and finds out who that is.

use std::time::Duration;

use plyhouse_bus::RequestError;
use plyhouse_protocol::{MatchId, Seq, SessionId};
use plyhouse_store::directory::Route;
use plyhouse_store::{NodeId, ReadError, WriteError};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::Cluster;
use super::packet::Packet;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication::Presence;

/// After how long it is looked anew who owns a match that two servers want.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How often that is done.
const LOOKS_MAX: u32 = 20;

/// What a server answers another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answered {
    /// What the match has answered, which counts once this event has been told.
    Done { answer: Answer, seq: Seq },
    /// It is here, and does as it was asked.
    Here,
    /// The server is there, and so many searches of its bots wait.
    Alive { searches: u32 },
    /// These sessions have connections there.
    Connected(Vec<SessionId>),
    /// It is not this server's match.
    NotHere,
}

/// Whose a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// This server's.
    Here,
    /// Another server's.
    At(NodeId),
    /// It has ended, and nobody serves it.
    Over,
    /// It is not kept.
    Unknown,
}

/// It cannot be found out whose a match is.
#[derive(Debug)]
pub(crate) struct NotFound;

impl From<ReadError> for NotFound {
    fn from(_: ReadError) -> Self {
        Self
    }
}

impl From<WriteError> for NotFound {
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
    ) -> impl Future<Output = Result<Answered, RequestError>> + Send + use<> {
        let command = Box::new(command);
        self.ask(owner, &Packet::Ask { match_id, command })
    }

    /// Has the owner of a match feed this server, or not any more.
    pub(crate) fn follow(
        &self,
        owner: NodeId,
        match_id: MatchId,
        roster: Option<Presence>,
    ) -> impl Future<Output = Result<Answered, RequestError>> + Send + use<> {
        let from = self.node;
        let follow = Packet::Follow {
            match_id,
            from,
            roster,
        };
        self.ask(owner, &follow)
    }

    /// Makes this server the owner of a match that is `from`'s, and tells its former owner, if that lives, and
    /// those that have copies. False if it is not `from`'s, or was taken just now.
    pub(crate) async fn take(&self, id: MatchId, from: Option<NodeId>) -> Result<bool, WriteError> {
        let is_taken = self.directory.take(id, self.node, from).await?;
        if is_taken {
            let (match_id, by) = (id, self.node);
            self.send_all(&Packet::OwnerChanged { match_id, by });
        }
        Ok(is_taken)
    }

    /// Finds out whose a match is. One that has no owner, or whose owner is gone or `suspected` to be,
    /// is this server's from now on; one that has ended only if it is `wanted` all the same.
    pub(crate) async fn locate(
        &self,
        id: MatchId,
        suspected: Option<NodeId>,
        wanted: bool,
    ) -> Result<Found, NotFound> {
        for _ in 0..LOOKS_MAX {
            let Some(route) = self.directory.route(id).await? else {
                return Ok(Found::Unknown);
            };
            let Route {
                owner,
                is_alive,
                has_ended,
                ..
            } = route;
            let is_there = |owner| is_alive || (self.lease.is_young() && self.nodes.answers(owner));
            let at = owner.filter(|owner| is_there(*owner) && Some(*owner) != suspected);
            match at {
                Some(at) if at == self.node => return Ok(Found::Here),
                Some(at) => return Ok(Found::At(at)),
                None if has_ended && !wanted => return Ok(Found::Over),
                None if !self.may_act() => return Err(NotFound),
                None => {}
            }
            if self.take(id, owner).await? {
                tracing::info!(match_id = %id, from = ?owner, "a match is taken over");
                return Ok(Found::Here);
            }
            sleep(LOOK_AGAIN).await;
        }
        Err(NotFound)
    }

    /// Whether a match that was read at this epoch is this server's. To be asked after it was read: another may
    /// have taken it over just before, and what was read is that one's to write on.
    pub(crate) async fn owns(&self, id: MatchId, epoch: u64) -> Result<bool, NotFound> {
        let route = self.directory.route(id).await?;
        Ok(route.is_some_and(|route| route.owner == Some(self.node) && route.epoch == epoch))
    }
}
