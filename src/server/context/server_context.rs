//! State shared by all tasks of one server.

use std::sync::Arc;

use uuid::Uuid;

use plyhouse_protocol::{MatchId, MatchRef};
use plyhouse_store::{Store, StoreMetrics};

use super::identity::Identity;
use super::infrastructure::Infrastructure;
use super::limits::Limits;
use super::matches::Matches;
use super::matchmaking::Matchmaking;
use super::metrics::Metrics;
use crate::cluster::{Cluster, Packet};
use crate::settings::Settings;

/// State shared by all tasks of one server. A function that needs only one part takes that part.
#[derive(Debug)]
pub(crate) struct ServerContext {
    pub(crate) identity: Identity,
    pub(crate) matchmaking: Matchmaking,
    pub(crate) matches: Matches,
    pub(crate) limits: Limits,
    pub(crate) infra: Infrastructure,
}

impl ServerContext {
    pub(crate) fn new(
        settings: Settings,
        store: Arc<dyn Store>,
        store_metrics: &StoreMetrics,
        cluster: Option<Cluster>,
    ) -> std::io::Result<Arc<Self>> {
        let metrics = Arc::new(Metrics::new(store_metrics));
        let infra = Infrastructure::new(settings, store, metrics, cluster);
        Ok(Arc::new(Self {
            identity: Identity::new(&infra),
            matchmaking: Matchmaking::new(&infra.settings),
            matches: Matches::new(&infra)?,
            limits: Limits::new(&infra.settings),
            infra,
        }))
    }

    /// Spawns a task that uses the server. When the server stops, it waits for the task to end.
    pub(crate) fn spawn<F>(self: &Arc<Self>, task: impl FnOnce(Arc<Self>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.infra.spawn(task(Arc::clone(self)));
    }

    /// Spawns a task that uses the server. The task is dropped when the server stops.
    pub(crate) fn spawn_until_stopped<F>(self: &Arc<Self>, task: impl FnOnce(Arc<Self>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let shutdown = self.infra.tasks.shutdown.clone();
        let task = task(Arc::clone(self));
        self.infra.spawn(async move {
            tokio::select! {
                biased; // The fixed poll order keeps simulated runs reproducible.
                () = shutdown.cancelled() => {}
                () = task => {}
            }
        });
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.infra.store
    }

    /// Returns the current Unix time in milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        self.infra.clock.now_ms()
    }

    /// Sends a packet to all other servers, if this server belongs to a cluster.
    pub(crate) fn broadcast(&self, packet: &Packet) {
        if let Some(cluster) = &self.infra.cluster {
            cluster.broadcast(packet);
        }
    }

    /// Signals all tasks to end and waits for them.
    pub(crate) async fn stop(&self) {
        let tasks = &self.infra.tasks;
        tasks.begin_stop();
        if let Some(cluster) = &self.infra.cluster {
            cluster.leave().await;
        }
        tasks.shutdown.cancel();
        self.identity.connection_registry.close_all();
        self.matches.lobby.close();
        tasks.wait().await;
    }

    /// Queries the lobby and the store for a match that does not exist, to check that both respond.
    pub(crate) async fn probe(&self) {
        let _ = self.matches.lobby.find(MatchRef::Invalid);
        let none = MatchId(Uuid::nil());
        // The result is ignored, because even an error shows that the store responds.
        let _ = self.store().load(none).await;
    }
}
