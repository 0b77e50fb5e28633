//! What every part of the server uses: settings, store, cluster, time, randomness, metrics and
//! tasks.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_store::{NodeId, Store};

use super::clock_and_rng::{Clock, SeededRng};
use super::metrics::Metrics;
use super::poll_timer::PollTimer;
use super::task_supervisor::TaskSupervisor;
use crate::auth::guest_only_store::GuestOnlyStore;
use crate::cluster::{Cluster, Notification};
use crate::schedule::store_health::StoreHealth;
use crate::settings::{AccountPolicy, Settings};

/// Settings, store, cluster, time, randomness, metrics and tasks of one server.
#[derive(Debug)]
pub(crate) struct Infrastructure {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    /// Store that returns all accounts, even on a server without accounts. The operator's commands
    /// use this store. On a server without accounts, `store` hides the stored accounts.
    pub(crate) full_store: Arc<dyn Store>,
    pub(crate) store_health: StoreHealth,
    /// Id that identifies this run of the server in the store.
    pub(crate) node: NodeId,
    /// Cluster of servers that share the store, if this server belongs to one.
    pub(crate) cluster: Option<Arc<Cluster>>,
    pub(crate) clock: Clock,
    /// Time of the server's start, in milliseconds since 1970.
    pub(crate) started_ms: u64,
    pub(crate) rng: SeededRng,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tasks: TaskSupervisor,
}

impl Infrastructure {
    pub(super) fn new(
        settings: Settings,
        store: Arc<dyn Store>,
        metrics: Arc<Metrics>,
        cluster: Option<Cluster>,
    ) -> Self {
        let clock = Clock::new(settings.started_ms);
        Self {
            store: match settings.accounts {
                AccountPolicy::Off => Arc::new(GuestOnlyStore(Arc::clone(&store))),
                AccountPolicy::Open | AccountPolicy::Invite => Arc::clone(&store),
            },
            full_store: store,
            store_health: StoreHealth::default(),
            // The node id must differ between runs, even if the settings contain a fixed seed.
            node: match &cluster {
                Some(cluster) => cluster.node,
                None => NodeId(Uuid::from_bytes(SeededRng::new(None).random_bytes())),
            },
            cluster: cluster.map(Arc::new),
            started_ms: clock.now_ms(),
            clock,
            rng: SeededRng::new(settings.seed),
            metrics,
            tasks: TaskSupervisor::new(),
            settings,
        }
    }

    /// Returns whether this server may store events. A server of a cluster needs a valid lease,
    /// because other servers may have taken over its matches.
    pub(crate) fn may_store_events(&self) -> bool {
        (self.cluster.as_ref()).is_none_or(|cluster| cluster.has_valid_lease())
    }

    /// Spawns a task. When the server stops, it waits for the task to end.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = PollTimer::new(task, self.metrics.long_polls.clone());
        self.tasks.spawn(task);
    }

    /// Sleeps, but returns early if the server is stopping.
    pub(crate) async fn sleep_unless_stopping(&self, delay: Duration) {
        if !delay.is_zero() {
            let shutdown = &self.tasks.shutdown;
            shutdown.run_until_cancelled(sleep(delay)).await;
        }
    }

    /// Notifies the player's connections on other servers that the player takes part in a match or
    /// is invited to it. If `before` is given, only the connections that follow the match with the
    /// id `before` are notified.
    pub(crate) fn broadcast_participation(
        &self,
        player: PlayerId,
        match_id: MatchId,
        before: Option<MatchId>,
    ) {
        if let Some(cluster) = &self.cluster {
            let notification = Notification::ParticipationAdded { match_id, before };
            cluster.notify_player(player, notification);
        }
    }
}
