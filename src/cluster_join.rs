//! Connects the server to the other servers of a cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use plyhouse_bus::NatsBus;
use plyhouse_server::ClusterLinks;
use plyhouse_store::{NodeId, Store, StoreMetrics};
use plyhouse_tools::common_args::exit_with_usage_error;
use uuid::Uuid;

use crate::store_location::Data;

/// Heading of the options in `--help`.
const CLUSTER: &str = "Cluster";

/// Options that make the server a node of a cluster.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ClusterArgs {
    /// Run as a node of a cluster; implied by --nats
    ///
    /// All nodes of a cluster use the same --database and --nats.
    #[arg(long, env = "PLYHOUSE_CLUSTER", requires = "nats", help_heading = CLUSTER)]
    cluster: bool,

    /// NATS servers of the cluster, separated by commas, such as nats://user:password@host:4222
    #[arg(
        long,
        env = "PLYHOUSE_NATS",
        value_name = "URLS",
        help_heading = CLUSTER,
        requires = "database",
        hide_env_values = true
    )]
    nats: Option<String>,
}

/// Result of opening the store: the store, its metrics and, in a cluster, the links to the other
/// servers.
pub(crate) type OpenedStore = (Arc<dyn Store>, StoreMetrics, Option<ClusterLinks>);

impl ClusterArgs {
    /// Opens the store. If a NATS address is given, also connects to the other servers of the
    /// cluster.
    pub(crate) async fn open(
        &self,
        data: &Data,
        keep_ended: Option<Duration>,
    ) -> anyhow::Result<OpenedStore> {
        let Some(nats) = &self.nats else {
            let (store, metrics) = data.open(keep_ended).await?;
            return Ok((store.into(), metrics, None));
        };
        let Data::Database(address) = data else {
            exit_with_usage_error("a cluster needs a shared database: set --database")
        };
        let store = Arc::new(address.open_shared(keep_ended).await?);
        // The server gets a new id each time it starts.
        let node = NodeId(Uuid::new_v4());
        let joined = NatsBus::connect(nats, node.0).await;
        let (bus, inbox) = joined.context("cannot join the cluster")?;
        let metrics = store.metrics();
        let links = ClusterLinks {
            node,
            directory: Arc::clone(&store) as _,
            bus: Arc::new(bus),
            inbox,
        };
        Ok((store, metrics, Some(links)))
    }
}
