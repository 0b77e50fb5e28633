//! Implements [`ClusterDirectory`] on PostgreSQL.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use plyhouse_protocol::{MatchId, PlayerId, SessionId};
use tokio::time::{Instant, sleep};

use super::PostgresStore;
use super::writer::{SeekPairing, WriteTask};
use crate::port::cluster_directory::{
    ClusterDirectory, MatchFactory, MatchListPage, MatchListQuery, MatchListing, MatchRoute,
    PairOutcome, SeekRecord, SeekerPage,
};
use crate::{NodeId, PlayerRecord, ReadFuture, WriteError, WriteFuture, conflict_to_false};

/// Delay before another attempt to change a seek that another server has locked.
const RETRY_DELAY: Duration = Duration::from_millis(3);

/// Maximum time for which an operation is retried after conflicts. If a server stops during a
/// transaction, the database releases the transaction's locks within this time.
const RETRY_TIMEOUT: Duration = Duration::from_secs(4);

/// Calls `attempt` until it returns a value or [`RETRY_TIMEOUT`] has passed. An attempt returns
/// `None` after a conflict.
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

    async fn pair_with_retries(
        &self,
        pairing: &Arc<SeekPairing>,
    ) -> Result<PairOutcome, WriteError> {
        let attempt = async || {
            let written = self
                .writer
                .write(WriteTask::PairSeek(Arc::clone(pairing)))
                .await;
            Ok(if conflict_to_false(written)? {
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
            if conflict_to_false(ended)? {
                return Ok(Some(true));
            }
            let is_waiting = self.reader.is_seeking(player, node).await;
            let is_waiting = is_waiting.map_err(|_| WriteError::Unavailable)?;
            Ok((!is_waiting).then_some(false))
        };
        retry_on_conflict(attempt).await
    }
}

impl ClusterDirectory for PostgresStore {
    fn renew_lease(&self, node: NodeId) -> WriteFuture<'_, Vec<NodeId>> {
        Self::renew_lease_and_list_nodes(self, node).boxed()
    }

    fn withdraw_lease(&self, node: NodeId) -> WriteFuture<'_, ()> {
        self.writer.write(WriteTask::WithdrawLease(node)).boxed()
    }

    fn find_route(&self, id: MatchId) -> ReadFuture<'_, Option<MatchRoute>> {
        self.reader.find_route(id).boxed()
    }

    fn foreign_matches(&self, node: NodeId, ids: Vec<MatchId>) -> ReadFuture<'_, Vec<MatchId>> {
        self.reader.foreign_matches(node, ids).boxed()
    }

    fn take_over(&self, id: MatchId, owner: NodeId, from: Option<NodeId>) -> WriteFuture<'_, bool> {
        let taken = self.writer.write(WriteTask::TakeOver { id, owner, from });
        taken.map(conflict_to_false).boxed()
    }

    fn abandoned_matches(&self, limit: usize) -> ReadFuture<'_, Vec<MatchId>> {
        self.reader.abandoned_matches(limit).boxed()
    }

    fn involved_matches(&self, player: PlayerId) -> ReadFuture<'_, Vec<MatchId>> {
        self.reader.involved_matches(player).boxed()
    }

    fn hosted_match_count(&self, player: PlayerId) -> ReadFuture<'_, usize> {
        self.reader.hosted_match_count(player).boxed()
    }

    fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> ReadFuture<'_, Vec<SessionId>> {
        self.reader.ended_sessions(sessions).boxed()
    }

    fn deleted_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerId>> {
        self.reader.deleted_players(players).boxed()
    }

    fn current_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerRecord>> {
        self.reader.current_players(players).boxed()
    }

    fn next_connection_number(&self) -> WriteFuture<'_, u64> {
        let number = self.reader.next_connection_number();
        let connection = number.map(|number| number.map_err(|_| WriteError::Unavailable));
        connection.boxed()
    }

    fn pair_seek(
        &self,
        seek: SeekRecord,
        max: usize,
        make_match: MatchFactory,
    ) -> WriteFuture<'_, PairOutcome> {
        let pairing = Arc::new(SeekPairing::new(seek, max, make_match));
        async move { Self::pair_with_retries(self, &pairing).await }.boxed()
    }

    fn end_seek(&self, player: PlayerId, node: NodeId) -> WriteFuture<'_, bool> {
        Self::end_seek_with_retries(self, player, node).boxed()
    }

    fn seekers_on_node(&self, node: NodeId) -> ReadFuture<'_, Vec<PlayerId>> {
        self.reader.seekers_on_node(node).boxed()
    }

    fn list_seekers(&self, key_begin: Option<String>, limit: usize) -> ReadFuture<'_, SeekerPage> {
        async move { self.reader.list_seekers(key_begin.as_deref(), limit).await }.boxed()
    }

    fn update_summaries(&self, summaries: Vec<MatchListing>) -> WriteFuture<'_, ()> {
        self.writer
            .write(WriteTask::UpdateSummaries(summaries))
            .boxed()
    }

    fn list_matches(&self, query: MatchListQuery) -> ReadFuture<'_, MatchListPage> {
        async move { self.reader.list_matches(&query).await }.boxed()
    }
}
