//! Cluster directory on the shared store, over the simulated connection of a server.

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use plyhouse_store::cluster_directory::{
    ClusterDirectory, MatchFactory, MatchListPage, MatchListQuery, MatchListing, MatchRoute,
    PairOutcome, SeekRecord, SeekerPage,
};
use plyhouse_store::{NodeId, PlayerRecord, ReadError, WriteError};

use super::{JournalWrite, StoreConnection, resolve_now};

impl ClusterDirectory for StoreConnection {
    fn renew_lease(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<NodeId>, WriteError>> {
        self.write(move |shared| resolve_now(shared.memory.renew_lease(node)))
            .boxed()
    }

    fn withdraw_lease(&self, node: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| resolve_now(shared.memory.withdraw_lease(node)))
            .boxed()
    }

    fn find_route(&self, id: MatchId) -> BoxFuture<'_, Result<Option<MatchRoute>, ReadError>> {
        self.read(move |memory| memory.find_route(id)).boxed()
    }

    fn foreign_matches(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |memory| memory.foreign_matches(node, ids))
            .boxed()
    }

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

    fn abandoned_matches(&self, limit: usize) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |memory| memory.abandoned_matches(limit))
            .boxed()
    }

    fn involved_matches(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |memory| memory.involved_matches(player))
            .boxed()
    }

    fn hosted_match_count(&self, player: PlayerId) -> BoxFuture<'_, Result<usize, ReadError>> {
        self.read(move |memory| memory.hosted_match_count(player))
            .boxed()
    }

    fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> BoxFuture<'_, Result<Vec<SessionId>, ReadError>> {
        self.read(move |memory| memory.ended_sessions(sessions))
            .boxed()
    }

    fn deleted_players(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.read(move |memory| memory.deleted_players(players))
            .boxed()
    }

    fn current_players(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerRecord>, ReadError>> {
        self.read(move |memory| memory.current_players(players))
            .boxed()
    }

    fn next_connection_number(&self) -> BoxFuture<'_, Result<u64, WriteError>> {
        self.write(|shared| resolve_now(shared.memory.next_connection_number()))
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

    fn end_seek(&self, player: PlayerId, node: NodeId) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| resolve_now(shared.memory.end_seek(player, node)))
            .boxed()
    }

    fn seekers_on_node(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.read(move |memory| memory.seekers_on_node(node))
            .boxed()
    }

    fn list_seekers(
        &self,
        key_begin: Option<String>,
        limit: usize,
    ) -> BoxFuture<'_, Result<SeekerPage, ReadError>> {
        self.read(move |memory| memory.list_seekers(key_begin, limit))
            .boxed()
    }

    fn update_summaries(
        &self,
        summaries: Vec<MatchListing>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| resolve_now(shared.memory.update_summaries(summaries)))
            .boxed()
    }

    fn list_matches(
        &self,
        query: MatchListQuery,
    ) -> BoxFuture<'_, Result<MatchListPage, ReadError>> {
        self.read(move |memory| memory.list_matches(query)).boxed()
    }
}
