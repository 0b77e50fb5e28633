//! What the servers of a world agree on, over the same wires.

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use plyhouse_store::cluster_directory::{
    ClusterDirectory, MatchFactory, MatchListPage, MatchListQuery, MatchListing, MatchRoute,
    PairOutcome, SeekRecord, SeekerPage,
};
use plyhouse_store::{NodeId, PlayerRecord, ReadError, WriteError};

use super::{Wire, Written, now};

impl ClusterDirectory for Wire {
    fn renew_lease(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<NodeId>, WriteError>> {
        self.write(move |shared| now(shared.kept.renew_lease(node)))
            .boxed()
    }

    fn withdraw_lease(&self, node: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| now(shared.kept.withdraw_lease(node)))
            .boxed()
    }

    fn find_route(&self, id: MatchId) -> BoxFuture<'_, Result<Option<MatchRoute>, ReadError>> {
        self.read(move |kept| kept.find_route(id)).boxed()
    }

    fn foreign_matches(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |kept| kept.foreign_matches(node, ids))
            .boxed()
    }

    fn take_over(
        &self,
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| {
            let is_taken = now(shared.kept.take_over(id, owner, from))?;
            shared.note_epoch(owner, id);
            Ok(is_taken)
        })
        .boxed()
    }

    fn abandoned_matches(&self, limit: usize) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |kept| kept.abandoned_matches(limit)).boxed()
    }

    fn involved_matches(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |kept| kept.involved_matches(player)).boxed()
    }

    fn hosted_match_count(&self, player: PlayerId) -> BoxFuture<'_, Result<usize, ReadError>> {
        self.read(move |kept| kept.hosted_match_count(player))
            .boxed()
    }

    fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> BoxFuture<'_, Result<Vec<SessionId>, ReadError>> {
        self.read(move |kept| kept.ended_sessions(sessions)).boxed()
    }

    fn deleted_players(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.read(move |kept| kept.deleted_players(players)).boxed()
    }

    fn current_players(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerRecord>, ReadError>> {
        self.read(move |kept| kept.current_players(players)).boxed()
    }

    fn next_connection_number(&self) -> BoxFuture<'_, Result<u64, WriteError>> {
        self.write(|shared| now(shared.kept.next_connection_number()))
            .boxed()
    }

    fn pair_seek(
        &self,
        seek: SeekRecord,
        max: usize,
        make: MatchFactory,
    ) -> BoxFuture<'_, Result<PairOutcome, WriteError>> {
        let (node, server) = (self.node, self.server.clone());
        let make: MatchFactory = Box::new(move |other| {
            let _entered = server.enter();
            make(other)
        });
        self.write(move |shared| {
            let paired = now(shared.kept.pair_seek(seek, max, make))?;
            if let PairOutcome::Paired(pair) = &paired {
                let (_, record) = &**pair;
                let events = record.events.len();
                shared.note(node, record.creation.id, Written::Created { events });
            }
            Ok(paired)
        })
        .boxed()
    }

    fn end_seek(&self, player: PlayerId, node: NodeId) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| now(shared.kept.end_seek(player, node)))
            .boxed()
    }

    fn seekers_on_node(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.read(move |kept| kept.seekers_on_node(node)).boxed()
    }

    fn list_seekers(
        &self,
        key_begin: Option<String>,
        limit: usize,
    ) -> BoxFuture<'_, Result<SeekerPage, ReadError>> {
        self.read(move |kept| kept.list_seekers(key_begin, limit))
            .boxed()
    }

    fn update_summaries(&self, cards: Vec<MatchListing>) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| now(shared.kept.update_summaries(cards)))
            .boxed()
    }

    fn list_matches(
        &self,
        wanted: MatchListQuery,
    ) -> BoxFuture<'_, Result<MatchListPage, ReadError>> {
        self.read(move |kept| kept.list_matches(wanted)).boxed()
    }
}
