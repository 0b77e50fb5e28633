//! This server as one of several over one store.
//!
//! Any server takes any client. A match is decided by one of them, its owner; every other server that has
//! followers of it keeps a copy, which the owner feeds, and hands what is asked of the match on to the
//! owner (`table/afar.rs`). What keeps two owners of one match apart is the journal; all that is told here
//! is a hint.

mod hearing;
mod lease;
mod lists;
mod metrics;
mod nodes;
mod owning;
mod packet;
mod relay;
mod seeking;

use std::sync::Arc;
use std::time::Duration;

use plyhouse_bus::{Bus, Listener, Unanswered};
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, WireError};
use plyhouse_store::directory::Directory;
use plyhouse_store::{NodeId, PlayerRecord, WriteError};

pub(super) use self::hearing::hear;
pub(super) use self::lease::keep as keep_lease;
pub(super) use self::lists::show as show_lists;
pub(super) use self::metrics::ClusterMetrics;
pub(super) use self::nodes::watch as watch_nodes;
pub(super) use self::owning::watch as watch_owned;
pub(super) use self::packet::{Bulletin, Notice, Packet, Standing};
pub(super) use self::relay::{Answered, Found};
pub(super) use self::seeking::watch as watch_seeks;

use self::lease::Lease;
use self::lists::Lists;
use self::nodes::Nodes;
use super::peer::Peer;
use super::shared::Shared;

/// How long a request to another server may take before it is asked again.
const ASK_MAX: Duration = Duration::from_secs(2);

/// How this server reaches the others.
#[derive(Debug)]
pub struct Links {
    /// This server, under the name by which the bus knows it.
    pub node: NodeId,
    /// What all agree on.
    pub directory: Arc<dyn Directory>,
    /// The way to the others.
    pub bus: Arc<dyn Bus>,
    /// What comes from them.
    pub heard: Listener,
}

/// This server as one of several.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) node: NodeId,
    pub(super) directory: Arc<dyn Directory>,
    bus: Arc<dyn Bus>,
    lease: Lease,
    nodes: Nodes,
    lists: Lists,
}

impl Cluster {
    pub(super) fn new(links: Links) -> (Self, Listener) {
        let Links {
            node,
            directory,
            bus,
            heard,
        } = links;
        let cluster = Self {
            node,
            directory,
            bus,
            lease: Lease::default(),
            nodes: Nodes::default(),
            lists: Lists::default(),
        };
        (cluster, heard)
    }

    /// Whether this server may do anything: its lease holds.
    pub(super) fn may_act(&self) -> bool {
        self.lease.holds()
    }

    /// Whether the others can be reached.
    pub(super) fn is_up(&self) -> bool {
        self.bus.is_up() && !self.nodes.are_silent()
    }

    /// How long a message takes to that server and back, if that is known.
    pub(super) fn rtt(&self, node: NodeId) -> Option<Duration> {
        self.nodes.rtt(node)
    }

    /// Whether that server answers at the moment.
    pub(super) fn hears(&self, node: NodeId) -> bool {
        self.bus.is_up() && self.nodes.answers(node)
    }

    fn send(&self, to: NodeId, packet: &Packet) {
        self.bus.send(to.0, packet.write());
    }

    /// Sends a copy of a match what is new.
    pub(super) fn feed(&self, to: NodeId, match_id: MatchId, bulletin: Bulletin) {
        let bulletin = Box::new(bulletin);
        self.send(to, &Packet::Fed { match_id, bulletin });
    }

    /// Has whichever server a player is connected to do something.
    pub(super) fn notify(&self, player: PlayerId, notice: Notice) {
        let notice = Packet::Notice { player, notice };
        self.bus.send_all(notice.write());
    }

    /// Begins a session of a player, whom the store knows from then on: other servers learn from it who
    /// somebody is.
    pub(super) async fn begin_session(
        &self,
        server: &Shared,
        peer: &Peer,
        player: &PlayerRecord,
        is_stored: bool,
    ) -> Result<(), WireError> {
        let refused = |error: WriteError| {
            tracing::error!(player = %player.id, %error, "no session is begun");
            WireError::new(ErrorCode::Overloaded, "the store cannot keep this now")
        };
        if !is_stored {
            server
                .store
                .add_player(player.clone())
                .await
                .map_err(refused)?;
        }
        peer.set_session(self.directory.session().await.map_err(refused)?);
        Ok(())
    }

    /// Tells all that a player has this session.
    pub(super) fn tell_session(&self, player: PlayerId, number: u64) {
        self.bus
            .send_all(Packet::Session { player, number }.write());
    }

    /// Ends this server's part in the cluster: its matches are anybody's from now on.
    pub(super) async fn leave(&self) {
        self.lease.end();
        let withdrawn = tokio::time::timeout(ASK_MAX, self.directory.withdraw(self.node)).await;
        if !matches!(withdrawn, Ok(Ok(()))) {
            tracing::error!("this server's lease could not be withdrawn: it runs out by itself");
        }
        self.bus
            .send_all(Packet::Leaving { node: self.node }.write());
        self.bus.close();
    }

    fn ask(
        &self,
        to: NodeId,
        packet: &Packet,
    ) -> impl Future<Output = Result<Answered, Unanswered>> + Send + use<> {
        let asked = self.bus.ask(to.0, packet.write(), ASK_MAX);
        async move {
            let answer = asked.await?;
            serde_json::from_slice(&answer).map_err(|error| {
                tracing::error!(%error, "another server's answer makes no sense");
                Unanswered::InTime
            })
        }
    }
}
