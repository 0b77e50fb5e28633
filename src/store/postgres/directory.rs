//! What servers that share the database agree on.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use tokio::time::{Instant, sleep};

use super::PostgresStore;
use super::writer::{Pairing, Task};
use crate::directory::{Directory, Listed, Make, Paired, Route, Seeking, Shown, Waiting, Wanted};
use crate::{NodeId, PlayerRecord, ReadError, WriteError, unless_refused};

/// How soon a seek is tried again that somebody else is at.
const AGAIN: Duration = Duration::from_millis(3);

/// For how long it is tried. Whoever has stopped in the midst of it has lost its locks by then.
const TRIES_MAX: Duration = Duration::from_secs(4);

/// Tries again what was refused as a conflict: gives `None` if it is to be.
async fn until_free<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, WriteError>
where
    F: Future<Output = Result<Option<T>, WriteError>>,
{
    let began = Instant::now();
    loop {
        if let Some(done) = attempt().await? {
            return Ok(done);
        }
        if began.elapsed() > TRIES_MAX {
            return Err(WriteError::Unavailable);
        }
        sleep(AGAIN).await;
    }
}

impl PostgresStore {
    async fn renew(&self, node: NodeId) -> Result<Vec<NodeId>, WriteError> {
        self.writer.write(Task::Renew(node)).await?;
        let alive = self.reader.alive().await;
        alive.map_err(|_| WriteError::Unavailable)
    }

    async fn pair(&self, pairing: &Arc<Pairing>) -> Result<Paired, WriteError> {
        let attempt = async || {
            let written = self.writer.write(Task::Pair(Arc::clone(pairing))).await;
            Ok(if unless_refused(written)? {
                pairing.paired()
            } else {
                None
            })
        };
        until_free(attempt).await
    }

    async fn end_seek(&self, player: PlayerId, node: NodeId) -> Result<bool, WriteError> {
        let attempt = async || {
            let ended = self.writer.write(Task::EndSeek(player, node)).await;
            if unless_refused(ended)? {
                return Ok(Some(true));
            }
            let waits = self.reader.is_seeking(player, node).await;
            let waits = waits.map_err(|_| WriteError::Unavailable)?;
            Ok((!waits).then_some(false))
        };
        until_free(attempt).await
    }
}

impl Directory for PostgresStore {
    fn renew(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<NodeId>, WriteError>> {
        Self::renew(self, node).boxed()
    }

    fn withdraw(&self, node: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.writer.write(Task::Withdraw(node)).boxed()
    }

    fn route(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Route>, ReadError>> {
        self.reader.route(id).boxed()
    }

    fn foreign(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.reader.foreign(node, ids).boxed()
    }

    fn take(
        &self,
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        let taken = self.writer.write(Task::Take { id, owner, from });
        taken.map(unless_refused).boxed()
    }

    fn abandoned(&self, limit: usize) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.reader.abandoned(limit).boxed()
    }

    fn involved(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.reader.involved(player).boxed()
    }

    fn hosted(&self, player: PlayerId) -> BoxFuture<'_, Result<usize, ReadError>> {
        self.reader.hosted(player).boxed()
    }

    fn ended(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> BoxFuture<'_, Result<Vec<SessionId>, ReadError>> {
        self.reader.ended(sessions).boxed()
    }

    fn forgotten(&self, players: Vec<PlayerId>) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.reader.forgotten(players).boxed()
    }

    fn called(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerRecord>, ReadError>> {
        self.reader.called(players).boxed()
    }

    fn connection(&self) -> BoxFuture<'_, Result<u64, WriteError>> {
        let number = self.reader.next_connection();
        let given = number.map(|number| number.map_err(|_| WriteError::Unavailable));
        given.boxed()
    }

    fn pair(
        &self,
        seek: Waiting,
        max: usize,
        make: Make,
    ) -> BoxFuture<'_, Result<Paired, WriteError>> {
        let pairing = Arc::new(Pairing::new(seek, max, make));
        async move { Self::pair(self, &pairing).await }.boxed()
    }

    fn end_seek(&self, player: PlayerId, node: NodeId) -> BoxFuture<'_, Result<bool, WriteError>> {
        Self::end_seek(self, player, node).boxed()
    }

    fn waiting(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.reader.waiting(node).boxed()
    }

    fn seekers(
        &self,
        key_begin: Option<String>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seeking, ReadError>> {
        async move { self.reader.seekers(key_begin.as_deref(), limit).await }.boxed()
    }

    fn show(&self, cards: Vec<Shown>) -> BoxFuture<'_, Result<(), WriteError>> {
        self.writer.write(Task::Show(cards)).boxed()
    }

    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Listed, ReadError>> {
        async move { self.reader.list(&wanted).await }.boxed()
    }
}
