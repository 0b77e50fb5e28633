//! Cluster directory on the shared store, over the simulated connection of a server.

use futures::FutureExt;
use plyhouse_store::cluster_directory::ClusterDirectory;
use plyhouse_store::delegate_cluster_directory;
use plyhouse_store::port_types::*;

use super::{JournalWrite, StoreConnection, resolve_now};

impl ClusterDirectory for StoreConnection {
    delegate_cluster_directory!(
        self.read_memory():
        find_route, foreign_matches, abandoned_matches, involved_matches, hosted_match_count,
        ended_sessions, deleted_players, current_players, seekers_on_node, list_seekers,
        list_matches
    );
    delegate_cluster_directory!(
        self.write_memory():
        renew_lease, withdraw_lease, next_connection_number, end_seek, update_summaries
    );

    fn take_over(
        &self,
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| {
            let is_taken_over = resolve_now(shared.memory.take_over(id, owner, from))?;
            shared.record_takeover(owner, id);
            Ok(is_taken_over)
        })
        .boxed()
    }

    fn pair_seek(
        &self,
        seek: SeekRecord,
        max: usize,
        make: MatchFactory,
    ) -> BoxFuture<'_, Result<PairOutcome, WriteError>> {
        let (node, server) = (self.node, self.server_runtime.clone());
        let make: MatchFactory = Box::new(move |other| {
            let _entered = server.enter();
            make(other)
        });
        self.write(move |shared| {
            let paired = resolve_now(shared.memory.pair_seek(seek, max, make))?;
            if let PairOutcome::Paired(pair) = &paired {
                let (_, record) = &**pair;
                let events = record.events.len();
                shared.record_write(node, record.creation.id, JournalWrite::Created { events });
            }
            Ok(paired)
        })
        .boxed()
    }
}
