//! Pairs seeks.
//!
//! Two transactions that add compatible seeks at the same time would not see each other's seek.
//! Therefore only one server at a time pairs the seeks with a given key. A server that does not get
//! the lock for a key tries again later instead of waiting.

use super::account_deletion::deleted_players;
use super::match_creation::create_matches;
use super::{Batch, WriteTask};
use crate::port::cluster_directory::{PAIR_ATTEMPTS_MAX, PairOutcome, RatingRange, SeekRecord};
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::postgres::writer::SeekPairing;
use crate::sql::blocks::unpairable_players;
use crate::sql::{
    Columns, FromColumns, InvalidColumn, SqlWrite, Value, exists, query_first, to_values,
};
use crate::{NodeId, WriteError, conflict_unless};
use plyhouse_protocol::PlayerId;

/// Maximum number of pairing attempts in one transaction, so that the transaction releases its
/// locks soon. Further attempts in the batch fail with a conflict, and their callers try again.
const PAIRINGS_MAX: usize = 16;

/// First part of each advisory lock key for pairing. The second part is a hash of the seek key.
const PAIRING_LOCK: i64 = 0x706c_7968;

impl Batch<'_> {
    /// Executes the tasks of the batch that pair or end seeks.
    pub(super) async fn pair_seeks(&mut self, connection: &PgConnection) -> Result<(), QueryError> {
        let mut pairings = 0;
        for (index, task) in self.tasks.iter().enumerate() {
            self.results[index] = match task {
                WriteTask::PairSeek(_) if pairings >= PAIRINGS_MAX => Err(WriteError::Conflict),
                WriteTask::PairSeek(pairing) => {
                    pairings += 1;
                    let paired = pair_seek(connection, pairing).await?;
                    paired.map(|outcome| *pairing.outcome.lock() = Some(outcome))
                }
                WriteTask::EndSeek(player, node) => {
                    end_seek(connection, *player, Some(*node)).await?
                }
                _ => continue,
            };
        }
        Ok(())
    }
}

/// Ends a player's seek on `node`, or on any server if `node` is `None`. Returns a conflict if the
/// seek does not exist or another transaction has locked it.
async fn end_seek(
    connection: &PgConnection,
    player: PlayerId,
    node: Option<NodeId>,
) -> Result<Result<(), WriteError>, QueryError> {
    let sql = "DELETE FROM seeks WHERE player IN (
                   SELECT player FROM seeks WHERE player = $1 AND (node = $2 OR $2 IS NULL)
                   FOR UPDATE SKIP LOCKED)
               RETURNING player";
    let ended = exists(connection, sql, &[player.into(), node.into()]).await;
    ended.map(conflict_unless)
}

async fn pair_seek(
    connection: &PgConnection,
    pairing: &SeekPairing,
) -> Result<Result<PairOutcome, WriteError>, QueryError> {
    let SeekPairing { seek, .. } = pairing;
    let sql = "SELECT pg_try_advisory_xact_lock($1, hashtext($2))";
    let params = [PAIRING_LOCK.into(), (&seek.key).into()];
    if query_first(connection, sql, &params).await? != Some(true) {
        return Ok(Err(WriteError::Conflict));
    }
    let deleted = deleted_players(connection, [seek.player]).await?;
    if !deleted.is_empty() {
        return Ok(Err(WriteError::PlayerDeleted));
    }
    // If another transaction has locked the player's earlier seek, `end_seek` does not delete it. A
    // later check finds the earlier seek and returns a conflict.
    let ended = end_seek(connection, seek.player, None).await?;
    if seek.is_retry && ended.is_err() {
        let is_waiting = has_seek(connection, seek.player).await?;
        return Ok(conflict_unless(!is_waiting).map(|()| PairOutcome::SeekEnded));
    }
    let Some(other) = find_opponent(connection, seek).await? else {
        return enqueue_seek(connection, pairing).await;
    };
    create_pair_match(connection, pairing, other).await
}

/// Finds the waiting seek that fits and has waited longest, and locks it.
async fn find_opponent(
    connection: &PgConnection,
    seek: &SeekRecord,
) -> Result<Option<SeekRecord>, QueryError> {
    let unpairable = unpairable_players(connection, seek.player).await?;
    let excluded = seek.excluded.iter().chain(&unpairable);
    let excluded = to_values(excluded.copied());
    // The query widens the bounds of waiting seeks in the same way as `RatingRange::bounds`.
    let sql = "SELECT seeks.player, seeks.node, seeks.key, seeks.body,
                      seeks.rating, seeks.low, seeks.high
               FROM seeks JOIN node ON node.id = seeks.node AND node.expires > now()
               WHERE seeks.key = $1 AND seeks.player <> $2
                 AND seeks.player <> ALL ($6)
                 AND ($4::int8 IS NULL OR seeks.rating - $3 BETWEEN $4 AND $5)
                 AND (seeks.low IS NULL OR $3 - seeks.rating
                      BETWEEN seeks.low - 50 * floor(extract(epoch FROM now() - seeks.since) / 5)
                          AND seeks.high + 50 * floor(extract(epoch FROM now() - seeks.since) / 5))
               ORDER BY seeks.since, seeks.number LIMIT 1 FOR UPDATE OF seeks SKIP LOCKED";
    let bounds = seek.rating_range.bounds();
    let params = [
        (&seek.key).into(),
        seek.player.into(),
        i64::from(seek.rating_range.rating).into(),
        bounds.map(|[low, _]| low).into(),
        bounds.map(|[_, high]| high).into(),
        Value::Array(&excluded),
    ];
    query_first(connection, sql, &params).await
}

/// Creates the match between the players of the two seeks and deletes the waiting seek.
async fn create_pair_match(
    connection: &PgConnection,
    SeekPairing {
        seek, make_match, ..
    }: &SeekPairing,
    other: SeekRecord,
) -> Result<Result<PairOutcome, WriteError>, QueryError> {
    if has_seek(connection, seek.player).await? {
        return Ok(Err(WriteError::Conflict));
    }
    for _ in 0..PAIR_ATTEMPTS_MAX {
        let record = make_match(&other);
        if create_matches(connection, &[(seek.node, &record)]).await? == [Ok(())] {
            let sql = "DELETE FROM seeks WHERE player = $1";
            connection.execute(sql, &[other.player.into()]).await?;
            return Ok(Ok(PairOutcome::Paired(Box::new((other, record)))));
        }
    }
    Ok(Err(WriteError::Unavailable))
}

/// Adds a seek to the waiting seeks, unless the maximum number of seeks are already waiting.
async fn enqueue_seek(
    connection: &PgConnection,
    SeekPairing {
        seek, seeks_max, ..
    }: &SeekPairing,
) -> Result<Result<PairOutcome, WriteError>, QueryError> {
    let sql = "INSERT INTO seeks (player, node, key, body, rating, low, high, since)
               SELECT $1, $2, $3, $4, $6, $7, $8, now() - $9::int8 * interval '1 millisecond'
               WHERE (SELECT count(*) FROM seeks JOIN node
                      ON node.id = seeks.node AND node.expires > now()) < $5
               ON CONFLICT DO NOTHING RETURNING player";
    let RatingRange {
        rating,
        initial_offsets,
        waited_ms,
    } = seek.rating_range;
    let [low, high] = [0, 1].map(|end| initial_offsets.map(|range| i64::from(range[end])));
    let params = [
        seek.player.into(),
        seek.node.into(),
        (&seek.key).into(),
        (&seek.body).into(),
        (*seeks_max).into(),
        i64::from(rating).into(),
        low.into(),
        high.into(),
        waited_ms.into(),
    ];
    if exists(connection, sql, &params).await? {
        return Ok(Ok(PairOutcome::Waiting));
    }
    if has_seek(connection, seek.player).await? {
        return Ok(Err(WriteError::Conflict));
    }
    Ok(Ok(PairOutcome::LimitReached))
}

/// Returns whether the database contains a seek of the given player.
async fn has_seek(connection: &PgConnection, player: PlayerId) -> Result<bool, QueryError> {
    let sql = "SELECT player FROM seeks WHERE player = $1";
    exists(connection, sql, &[player.into()]).await
}

impl FromColumns for SeekRecord {
    fn from_columns(columns: &mut Columns<'_>) -> Result<Self, InvalidColumn> {
        Ok(Self {
            player: columns.next()?,
            node: columns.next()?,
            key: columns.next()?,
            body: columns.next()?,
            rating_range: RatingRange {
                rating: columns.next()?,
                initial_offsets: (columns.next::<Option<i32>>()?.zip(columns.next()?))
                    .map(|(low, high)| [low, high]),
                waited_ms: 0,
            },
            excluded: Vec::new(),
            is_retry: false,
        })
    }
}
