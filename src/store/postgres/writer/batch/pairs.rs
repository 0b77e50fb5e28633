//! Who is paired with whom.
//!
//! Two who want the same and come at the same time would not see each other. So one server at a time
//! pairs those who want the same: the others do not wait for it, but try again.

use tokio_postgres::Row;
use uuid::Uuid;

use super::creations::create;
use super::forgetting::gone;
use super::{Batch, Task};
use crate::directory::{MAKE_TRIES, Paired, RatingRange, Waiting};
use crate::postgres::journal::integer;
use crate::postgres::link::{Failure, Session, Values};
use crate::postgres::reader::APART;
use crate::postgres::writer::Pairing;
use crate::{NodeId, WriteError};
use plyhouse_protocol::PlayerId;

/// How many are paired in one transaction, so that nobody else waits for long. The others try again.
const PAIRS_MAX: usize = 16;

/// The first part of the locks that are held while seeks are paired.
const PAIRING: i32 = 0x706c_7968;

impl Batch<'_> {
    /// Pairs seeks, and ends others.
    pub(super) async fn pair_all(&mut self, session: &Session) -> Result<(), Failure> {
        let mut pairs = 0;
        for (index, task) in self.tasks.iter().enumerate() {
            self.answers[index] = match task {
                Task::Pair(_) if pairs >= PAIRS_MAX => Err(WriteError::Conflict),
                Task::Pair(pairing) => {
                    pairs += 1;
                    match pair(session, pairing).await? {
                        Ok(paired) => {
                            *pairing.paired.lock() = Some(paired);
                            Ok(())
                        }
                        Err(why) => Err(why),
                    }
                }
                Task::EndSeek(player, node) => end(session, *player, Some(*node)).await?,
                _ => continue,
            };
        }
        Ok(())
    }
}

/// Ends a player's seek, on this server or on whichever it was made. Refused as a conflict if there is
/// none, or somebody else is at it.
async fn end(
    session: &Session,
    player: PlayerId,
    node: Option<NodeId>,
) -> Result<Result<(), WriteError>, Failure> {
    let sql = "DELETE FROM seeks WHERE player IN (
                   SELECT player FROM seeks WHERE player = $1 AND (node = $2 OR $2 IS NULL)
                   FOR UPDATE SKIP LOCKED)
               RETURNING player";
    let node = node.map(|node| node.0);
    let ended = session.query_opt(sql, &[&player.0, &node]).await?;
    Ok(ended.map(|_| ()).ok_or(WriteError::Conflict))
}

async fn pair(session: &Session, pairing: &Pairing) -> Result<Result<Paired, WriteError>, Failure> {
    let Pairing { seek, .. } = pairing;
    let sql = "SELECT pg_try_advisory_xact_lock($1, hashtext($2))";
    let locked = session.query_opt(sql, &[&PAIRING, &seek.key]).await?;
    if !locked.is_some_and(|row| row.get(0)) {
        return Ok(Err(WriteError::Conflict));
    }
    if !gone(session, &[seek.player]).await?.is_empty() {
        return Ok(Err(WriteError::Forgotten));
    }
    // If somebody else is at it, it is still there when it comes to that.
    let ended = end(session, seek.player, None).await?;
    if seek.again && ended.is_err() {
        let is_there = is_seeking(session, seek.player).await?;
        return Ok(if is_there {
            Err(WriteError::Conflict)
        } else {
            Ok(Paired::Over)
        });
    }
    let Some(other) = partner(session, seek).await? else {
        return wait(session, pairing).await;
    };
    pair_with(session, pairing, other).await
}

/// The seek that has waited longest of those that fit, locked.
async fn partner(session: &Session, seek: &Waiting) -> Result<Option<Waiting>, Failure> {
    let apart = session.query(APART, &[&seek.player.0]).await?;
    let apart = apart.iter().map(|row| row.get::<_, Uuid>(0));
    let not: Vec<Uuid> = seek
        .not
        .iter()
        .map(|player| player.0)
        .chain(apart)
        .collect();
    // How far apart both may be grows as [`RatingRange`](crate::directory::RatingRange) says.
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
    let rating = i64::from(seek.fit.rating);
    let bounds = seek.fit.bounds();
    let (low, high) = (bounds.map(|[low, _]| low), bounds.map(|[_, high]| high));
    let values: Values<'_> = &[&seek.key, &seek.player.0, &rating, &low, &high, &not];
    let found = session.query_opt(sql, values).await?;
    Ok(found.map(|row| waiting(&row)))
}

/// Creates the match of both, and ends the other's seek.
async fn pair_with(
    session: &Session,
    Pairing { seek, make, .. }: &Pairing,
    other: Waiting,
) -> Result<Result<Paired, WriteError>, Failure> {
    if is_seeking(session, seek.player).await? {
        return Ok(Err(WriteError::Conflict));
    }
    for _ in 0..MAKE_TRIES {
        let record = make(&other);
        if create(session, &[(seek.node, &record)]).await? == [Ok(())] {
            let sql = "DELETE FROM seeks WHERE player = $1";
            session.query(sql, &[&other.player.0]).await?;
            return Ok(Ok(Paired::With(Box::new((other, record)))));
        }
    }
    Ok(Err(WriteError::Unavailable))
}

/// Lets a seek wait, if there is room.
async fn wait(
    session: &Session,
    Pairing { seek, max, .. }: &Pairing,
) -> Result<Result<Paired, WriteError>, Failure> {
    let sql = "INSERT INTO seeks (player, node, key, body, rating, low, high, since)
               SELECT $1, $2, $3, $4, $6, $7, $8, now() - $9::float8 * interval '1 millisecond'
               WHERE (SELECT count(*) FROM seeks JOIN node
                      ON node.id = seeks.node AND node.expires > now()) < $5
               ON CONFLICT DO NOTHING RETURNING player";
    let max = integer(*max as u64);
    let RatingRange {
        rating,
        range,
        waited_ms,
    } = seek.fit;
    let rating = i64::from(rating);
    let [low, high] = [0, 1].map(|end| range.map(|range| i64::from(range[end])));
    #[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years")]
    let waited_ms = waited_ms as f64;
    let values: Values<'_> = &[
        &seek.player.0,
        &seek.node.0,
        &seek.key,
        &seek.body,
        &max,
        &rating,
        &low,
        &high,
        &waited_ms,
    ];
    let waits = session.query_opt(sql, values).await?;
    if waits.is_some() {
        return Ok(Ok(Paired::Waits));
    }
    if is_seeking(session, seek.player).await? {
        return Ok(Err(WriteError::Conflict));
    }
    Ok(Ok(Paired::Full))
}

/// Whether a seek of this player is there.
async fn is_seeking(session: &Session, player: PlayerId) -> Result<bool, Failure> {
    let sql = "SELECT player FROM seeks WHERE player = $1";
    let found = session.query_opt(sql, &[&player.0]).await?;
    Ok(found.is_some())
}

fn waiting(row: &Row) -> Waiting {
    Waiting {
        player: PlayerId(row.get(0)),
        node: NodeId(row.get::<_, Uuid>(1)),
        key: row.get(2),
        body: row.get(3),
        fit: RatingRange {
            rating: whole(row.get(4)),
            range: (row.get::<_, Option<i64>>(5).zip(row.get(6)))
                .map(|(low, high)| [low, high].map(whole)),
            waited_ms: 0,
        },
        not: Vec::new(),
        again: false,
    }
}

fn whole(number: i64) -> i32 {
    i32::try_from(number).unwrap_or_default()
}
