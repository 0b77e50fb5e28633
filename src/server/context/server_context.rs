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
use crate::cluster::Cluster;
use crate::settings::Settings;

/// State shared by all tasks of one server. A function that needs only one part takes that part.
#[derive(Debug)]
pub(crate) struct ServerContext {
    pub(crate) identity: Identity,
    pub(crate) matchmaking: Matchmaking,
    pub(crate) matches: Matches,
    pub(crate) limits: Limits,
    pub(crate) infrastructure: Infrastructure,
}

impl ServerContext {
    pub(crate) fn new(
        settings: Settings,
        store: Arc<dyn Store>,
        store_metrics: &StoreMetrics,
        cluster: Option<Cluster>,
    ) -> std::io::Result<Arc<Self>> {
        let metrics = Arc::new(Metrics::new(store_metrics));
        let infrastructure = Infrastructure::new(settings, store, metrics, cluster);
        Ok(Arc::new(Self {
            identity: Identity::new(&infrastructure),
            matchmaking: Matchmaking::new(&infrastructure.settings),
            matches: Matches::new(&infrastructure)?,
            limits: Limits::new(&infrastructure.settings),
            infrastructure,
        }))
    }

    /// Signals all tasks to end and waits for them.
    pub(crate) async fn stop(&self) {
        let tasks = &self.infrastructure.tasks;
        tasks.begin_stop();
        if let Some(cluster) = &self.infrastructure.cluster {
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
        let _ = self.infrastructure.store.load(none).await;
    }
}
