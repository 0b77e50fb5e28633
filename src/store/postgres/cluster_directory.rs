//! What servers that share the database agree on.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use tokio::time::{Instant, sleep};

use super::PostgresStore;
use super::writer::{SeekPairing, WriteTask};
use crate::directory::{Directory, Listed, Make, Paired, Route, Seeking, Shown, Waiting, Wanted};
use crate::{NodeId, PlayerRecord, ReadError, WriteError, unless_refused};

/// How soon a seek is tried again that somebody else is at.
const RETRY_DELAY: Duration = Duration::from_millis(3);

/// For how long it is tried. Whoever has stopped in the midst of it has lost its locks by then.
const RETRY_TIMEOUT: Duration = Duration::from_secs(4);

/// Tries again what was refused as a conflict: gives `None` if it is to be.
async fn retry_on_conflict<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, WriteError>
where
    F: Future<Output = Result<Option<T>, WriteError>>,
{
    let began = Instant::now();
    loop {
        if let Some(value) = attempt().await? {
            return Ok(value);
        }
        if began.elapsed() > RETRY_TIMEOUT {
            return Err(WriteError::Unavailable);
        }
        sleep(RETRY_DELAY).await;
    }
}

impl PostgresStore {
    async fn renew_lease_and_list_nodes(&self, node: NodeId) -> Result<Vec<NodeId>, WriteError> {
        self.writer.write(WriteTask::RenewLease(node)).await?;
        let nodes = self.reader.live_nodes().await;
        nodes.map_err(|_| WriteError::Unavailable)
    }

    async fn pair_with_retries(&self, pairing: &Arc<SeekPairing>) -> Result<Paired, WriteError> {
        let attempt = async || {
            let written = self
                .writer
                .write(WriteTask::PairSeek(Arc::clone(pairing)))
                .await;
            Ok(if unless_refused(written)? {
                pairing.take_outcome()
            } else {
                None
            })
        };
        retry_on_conflict(attempt).await
    }

    async fn end_seek_with_retries(
        &self,
        player: PlayerId,
        node: NodeId,
    ) -> Result<bool, WriteError> {
        let attempt = async || {
            let ended = self.writer.write(WriteTask::EndSeek(player, node)).await;
            if unless_refused(ended)? {
                return Ok(Some(true));
            }
            let is_waiting = self.reader.is_seeking(player, node).await;
            let is_waiting = is_waiting.map_err(|_| WriteError::Unavailable)?;
            Ok((!is_waiting).then_some(false))
        };
        retry_on_conflict(attempt).await
    }
}

impl Directory for PostgresStore {
    fn renew(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<NodeId>, WriteError>> {
        Self::renew_lease_and_list_nodes(self, node).boxed()
    }

    fn withdraw(&self, node: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.writer.write(WriteTask::WithdrawLease(node)).boxed()
    }

    fn route(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Route>, ReadError>> {
        self.reader.find_route(id).boxed()
    }

    fn foreign(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.reader.foreign_matches(node, ids).boxed()
    }

    fn take(
        &self,
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        let taken = self.writer.write(WriteTask::TakeOver { id, owner, from });
        taken.map(unless_refused).boxed()
    }

    fn abandoned(&self, limit: usize) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.reader.abandoned_matches(limit).boxed()
    }

    fn involved(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.reader.involved_matches(player).boxed()
    }

    fn hosted(&self, player: PlayerId) -> BoxFuture<'_, Result<usize, ReadError>> {
        self.reader.hosted_match_count(player).boxed()
    }

    fn ended(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> BoxFuture<'_, Result<Vec<SessionId>, ReadError>> {
        self.reader.ended_sessions(sessions).boxed()
    }

    fn forgotten(&self, players: Vec<PlayerId>) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.reader.deleted_players(players).boxed()
    }

    fn called(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerRecord>, ReadError>> {
        self.reader.current_players(players).boxed()
    }

    fn connection(&self) -> BoxFuture<'_, Result<u64, WriteError>> {
        let number = self.reader.next_connection_number();
        let connection = number.map(|number| number.map_err(|_| WriteError::Unavailable));
        connection.boxed()
    }

    fn pair(
        &self,
        seek: Waiting,
        max: usize,
        make_match: Make,
    ) -> BoxFuture<'_, Result<Paired, WriteError>> {
        let pairing = Arc::new(SeekPairing::new(seek, max, make_match));
        async move { Self::pair_with_retries(self, &pairing).await }.boxed()
    }

    fn end_seek(&self, player: PlayerId, node: NodeId) -> BoxFuture<'_, Result<bool, WriteError>> {
        Self::end_seek_with_retries(self, player, node).boxed()
    }

    fn waiting(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.reader.seekers_on_node(node).boxed()
    }

    fn seekers(
        &self,
        key_begin: Option<String>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seeking, ReadError>> {
        async move { self.reader.list_seekers(key_begin.as_deref(), limit).await }.boxed()
    }

    fn show(&self, summaries: Vec<Shown>) -> BoxFuture<'_, Result<(), WriteError>> {
        self.writer
            .write(WriteTask::UpdateSummaries(summaries))
            .boxed()
    }

    fn list(&self, query: Wanted) -> BoxFuture<'_, Result<Listed, ReadError>> {
        async move { self.reader.list_matches(&query).await }.boxed()
    }
}
