//! What the servers of a world agree on, over the same wires.

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use plyhouse_store::directory::{
    Directory, Listed, Make, Paired, Route, Seeking, Shown, Waiting, Wanted,
};
use plyhouse_store::{NodeId, PlayerRecord, ReadError, WriteError};

use super::{Wire, Written, now};

impl Directory for Wire {
    fn renew(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<NodeId>, WriteError>> {
        self.write(move |shared| now(shared.kept.renew(node)))
            .boxed()
    }

    fn withdraw(&self, node: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| now(shared.kept.withdraw(node)))
            .boxed()
    }

    fn route(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Route>, ReadError>> {
        self.read(move |kept| kept.route(id)).boxed()
    }

    fn foreign(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |kept| kept.foreign(node, ids)).boxed()
    }

    fn take(
        &self,
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| {
            let is_taken = now(shared.kept.take(id, owner, from))?;
            shared.note_epoch(owner, id);
            Ok(is_taken)
        })
        .boxed()
    }

    fn abandoned(&self, limit: usize) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |kept| kept.abandoned(limit)).boxed()
    }

    fn involved(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |kept| kept.involved(player)).boxed()
    }

    fn hosted(&self, player: PlayerId) -> BoxFuture<'_, Result<usize, ReadError>> {
        self.read(move |kept| kept.hosted(player)).boxed()
    }

    fn ended(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> BoxFuture<'_, Result<Vec<SessionId>, ReadError>> {
        self.read(move |kept| kept.ended(sessions)).boxed()
    }

    fn forgotten(&self, players: Vec<PlayerId>) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.read(move |kept| kept.forgotten(players)).boxed()
    }

    fn called(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerRecord>, ReadError>> {
        self.read(move |kept| kept.called(players)).boxed()
    }

    fn connection(&self) -> BoxFuture<'_, Result<u64, WriteError>> {
        self.write(|shared| now(shared.kept.connection())).boxed()
    }

    fn pair(
        &self,
        seek: Waiting,
        max: usize,
        make: Make,
    ) -> BoxFuture<'_, Result<Paired, WriteError>> {
        let (node, server) = (self.node, self.server.clone());
        let make: Make = Box::new(move |other| {
            let _entered = server.enter();
            make(other)
        });
        self.write(move |shared| {
            let paired = now(shared.kept.pair(seek, max, make))?;
            if let Paired::With(pair) = &paired {
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

    fn waiting(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.read(move |kept| kept.waiting(node)).boxed()
    }

    fn seekers(
        &self,
        key_begin: Option<String>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seeking, ReadError>> {
        self.read(move |kept| kept.seekers(key_begin, limit))
            .boxed()
    }

    fn show(&self, cards: Vec<Shown>) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| now(shared.kept.show(cards)))
            .boxed()
    }

    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Listed, ReadError>> {
        self.read(move |kept| kept.list(wanted)).boxed()
    }
}
