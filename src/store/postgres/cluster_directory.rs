//! Implements [`ClusterDirectory`] on PostgreSQL.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, TryFutureExt};
use parking_lot::Mutex;
use plyhouse_protocol::{MatchId, MatchStatus, PlayerId, SessionId};
use tokio::time::{Instant, sleep};

use super::PostgresStore;
use super::reader::Reader;
use super::writer::batch::account_deletion::deleted_players;
use super::writer::{SeekPairing, WriteTask};
use crate::port::cluster_directory::{
    ClusterDirectory, MatchFactory, MatchListPage, MatchListQuery, MatchListing, MatchRoute,
    PairOutcome, SeekRecord, SeekerPage,
};
use crate::sql::{Value, exists, query_all, query_first, to_values};
use crate::{
    NodeId, PlayerRecord, ReadError, ReadFuture, WriteError, WriteFuture, conflict_to_false,
};

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

/// Selects the live matches in the match list. Live and ended matches are selected by separate
/// queries, because each has its own index.
macro_rules! live_matches_sql {
    () => {
        "matches WHERE listed AND ended_ms IS NULL
         AND (game = $1 OR $1 IS NULL) AND (status = $2::text OR $2 IS NULL)"
    };
}
/// Selects the ended matches in the match list. If a match has a spectator delay, its end may still
/// be secret. For a match with a spectator delay, the query uses the status that the match owner
/// last published.
macro_rules! ended_matches_sql {
    () => {
        r#"matches WHERE listed AND ended_ms >= $3
         AND (game = $1 OR $1 IS NULL)
         AND ($2::text IS NULL
              OR $2 = CASE WHEN terms LIKE '%"delay_ms":%' THEN status ELSE 'ended' END)"#
    };
}

fn unavailable(_: ReadError) -> WriteError {
    WriteError::Unavailable
}

impl PostgresStore {
    async fn try_pair_seek(
        &self,
        pairing: &Arc<SeekPairing>,
    ) -> Result<Option<PairOutcome>, WriteError> {
        let task = WriteTask::PairSeek(Arc::clone(pairing));
        let is_applied = conflict_to_false(self.writer.write(task).await)?;
        // The outcome must be used only after the batch has been committed.
        let outcome = is_applied.then(|| pairing.outcome.lock().take());
        Ok(outcome.flatten())
    }

    async fn try_end_seek(
        &self,
        player: PlayerId,
        node: NodeId,
    ) -> Result<Option<bool>, WriteError> {
        let ended = self.writer.write(WriteTask::EndSeek(player, node)).await;
        if conflict_to_false(ended)? {
            return Ok(Some(true));
        }
        let sql = "SELECT player FROM seeks WHERE player = $1 AND node = $2";
        let is_waiting = exists(&self.reader, sql, &[player.into(), node.into()]).await;
        let is_waiting = is_waiting.map_err(unavailable)?;
        Ok((!is_waiting).then_some(false))
    }
}

impl ClusterDirectory for PostgresStore {
    fn renew_lease(&self, node: NodeId) -> WriteFuture<'_, Vec<NodeId>> {
        let renew = async move {
            self.writer.write(WriteTask::RenewLease(node)).await?;
            let sql = "SELECT id FROM node WHERE expires > now()";
            let nodes = query_all(&self.reader, sql, &[]).await;
            nodes.map_err(unavailable)
        };
        renew.boxed()
    }

    fn withdraw_lease(&self, node: NodeId) -> WriteFuture<'_, ()> {
        self.writer.write(WriteTask::WithdrawLease(node)).boxed()
    }

    fn find_route(&self, id: MatchId) -> ReadFuture<'_, Option<MatchRoute>> {
        let sql = "SELECT node, EXISTS (SELECT FROM node WHERE id = mt.node AND expires > now()),
                          epoch, ended_ms IS NOT NULL
                   FROM matches mt WHERE m = $1";
        async move { query_first(&self.reader, sql, &[id.into()]).await }.boxed()
    }

    fn foreign_matches(&self, node: NodeId, ids: Vec<MatchId>) -> ReadFuture<'_, Vec<MatchId>> {
        let sql = "SELECT m FROM matches WHERE m = ANY($1) AND node IS DISTINCT FROM $2";
        let query = async move {
            let ids = to_values(ids);
            query_all(&self.reader, sql, &[Value::Array(&ids), node.into()]).await
        };
        query.boxed()
    }

    fn take_over(&self, id: MatchId, owner: NodeId, from: Option<NodeId>) -> WriteFuture<'_, bool> {
        let taken = self.writer.write(WriteTask::TakeOver { id, owner, from });
        taken.map(conflict_to_false).boxed()
    }

    fn abandoned_matches(&self, limit: usize) -> ReadFuture<'_, Vec<MatchId>> {
        // The query checks leases per server instead of per match. Only a few servers own matches,
        // and nearly all of these servers have valid leases.
        let sql = "WITH RECURSIVE owner AS (
                       (SELECT node FROM matches
                        WHERE ended_ms IS NULL AND wake_ms IS NULL AND node IS NOT NULL
                        ORDER BY node LIMIT 1)
                       UNION ALL
                       SELECT (SELECT node FROM matches
                               WHERE ended_ms IS NULL AND wake_ms IS NULL AND node > owner.node
                               ORDER BY node LIMIT 1)
                       FROM owner WHERE owner.node IS NOT NULL)
                   SELECT m FROM (
                       SELECT m FROM matches
                       WHERE ended_ms IS NULL AND wake_ms IS NULL AND node IS NULL
                       UNION ALL
                       SELECT m FROM owner JOIN matches USING (node)
                       WHERE ended_ms IS NULL AND wake_ms IS NULL AND NOT EXISTS (
                           SELECT FROM node WHERE id = owner.node AND expires > now())) AS found
                   ORDER BY random() LIMIT $1";
        async move { query_all(&self.reader, sql, &[limit.into()]).await }.boxed()
    }

    fn involved_matches(&self, player: PlayerId) -> ReadFuture<'_, Vec<MatchId>> {
        let sql = "SELECT DISTINCT m FROM involved WHERE player = $1 ORDER BY m";
        async move { query_all(&self.reader, sql, &[player.into()]).await }.boxed()
    }

    fn hosted_match_count(&self, player: PlayerId) -> ReadFuture<'_, usize> {
        let sql = "SELECT count(*) FROM involved WHERE player = $1 AND place = 2";
        let count = async move { query_first(&self.reader, sql, &[player.into()]).await };
        count.map_ok(Option::unwrap_or_default).boxed()
    }

    fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> ReadFuture<'_, Vec<SessionId>> {
        let sql = "SELECT u.id FROM UNNEST($1::uuid[], $2::uuid[]) AS u (player, id)
                   WHERE NOT EXISTS (SELECT FROM sessions s
                                     WHERE s.player = u.player AND s.id = u.id)";
        let query = async move {
            let players = to_values(sessions.iter().map(|(player, _)| *player));
            let ids = to_values(sessions.iter().map(|(_, id)| *id));
            let params = [Value::Array(&players), Value::Array(&ids)];
            query_all(&self.reader, sql, &params).await
        };
        query.boxed()
    }

    fn deleted_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerId>> {
        let deleted = deleted_players(&self.reader, players);
        deleted.map_ok(Vec::from_iter).boxed()
    }

    fn current_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerRecord>> {
        let sql = "SELECT id, name, kind FROM players WHERE id = ANY ($1) AND NOT gone";
        let query = async move {
            let players = to_values(players);
            query_all(&self.reader, sql, &[Value::Array(&players)]).await
        };
        query.boxed()
    }

    fn next_connection_number(&self) -> WriteFuture<'_, u64> {
        let sql = "SELECT nextval('connection_numbers')";
        let query = async move {
            let number = query_first(&self.reader, sql, &[]).await;
            number.map_err(unavailable)?.ok_or(WriteError::Unavailable)
        };
        query.boxed()
    }

    fn pair_seek(
        &self,
        seek: SeekRecord,
        seeks_max: usize,
        make_match: MatchFactory,
    ) -> WriteFuture<'_, PairOutcome> {
        let pairing = Arc::new(SeekPairing {
            seek,
            seeks_max,
            make_match,
            outcome: Mutex::default(),
        });
        async move { retry_on_conflict(|| self.try_pair_seek(&pairing)).await }.boxed()
    }

    fn end_seek(&self, player: PlayerId, node: NodeId) -> WriteFuture<'_, bool> {
        retry_on_conflict(move || self.try_end_seek(player, node)).boxed()
    }

    fn seekers_on_node(&self, node: NodeId) -> ReadFuture<'_, Vec<PlayerId>> {
        let sql = "SELECT player FROM seeks WHERE node = $1";
        async move { query_all(&self.reader, sql, &[node.into()]).await }.boxed()
    }

    fn list_seekers(&self, key_prefix: Option<String>, limit: usize) -> ReadFuture<'_, SeekerPage> {
        let sql = "SELECT seeks.body, count(*) OVER ()
                   FROM seeks JOIN node ON node.id = seeks.node AND node.expires > now()
                   WHERE $1::text IS NULL OR starts_with(seeks.key, $1)
                   ORDER BY seeks.since, seeks.number LIMIT $2";
        let query = async move {
            let params = [key_prefix.as_ref().into(), limit.into()];
            let seekers: Vec<(String, u64)> = query_all(&self.reader, sql, &params).await?;
            Ok(SeekerPage {
                total: seekers.first().map_or(0, |(_, total)| *total),
                bodies: seekers.into_iter().map(|(body, _)| body).collect(),
            })
        };
        query.boxed()
    }

    fn update_summaries(&self, summaries: Vec<MatchListing>) -> WriteFuture<'_, ()> {
        let task = WriteTask::UpdateSummaries(summaries);
        self.writer.write(task).boxed()
    }

    fn list_matches(&self, query: MatchListQuery) -> ReadFuture<'_, MatchListPage> {
        async move { list_matches(&self.reader, &query).await }.boxed()
    }
}

/// Returns one page of the matches that fit the query, and the total number of these matches.
async fn list_matches(db: &Reader, query: &MatchListQuery) -> Result<MatchListPage, ReadError> {
    let status = query.status.map(MatchStatus::as_str).into();
    let mut params = vec![
        query.game.as_ref().into(),
        status,
        query.ended_since_ms.into(),
    ];
    let sql = concat!(
        "SELECT (SELECT count(*) FROM ",
        live_matches_sql!(),
        ") + (SELECT count(*) FROM ",
        ended_matches_sql!(),
        ")"
    );
    let total = query_first(db, sql, &params).await?;
    let sql = concat!(
        "(SELECT m, card FROM ",
        live_matches_sql!(),
        " AND (m < $4 OR $4 IS NULL) ORDER BY m DESC LIMIT $5)
         UNION ALL (SELECT m, card FROM ",
        ended_matches_sql!(),
        " AND (m < $4 OR $4 IS NULL) ORDER BY m DESC LIMIT $5)
         ORDER BY m DESC LIMIT $5"
    );
    params.extend_from_slice(&[query.after.into(), query.limit.into()]);
    let matches: Vec<(MatchId, String)> = query_all(db, sql, &params).await?;
    Ok(MatchListPage {
        total: total.unwrap_or(0),
        summaries: matches.into_iter().map(|(_, summary)| summary).collect(),
    })
}
