//! What is read. A match's record is read by one statement: so it is what was there at one moment.

mod accounts;
mod analyses;
mod blocks;
mod directory;
mod history;
mod people;
mod ratings;

use std::sync::Arc;

use futures::future::join_all;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{DaysTurn, Event, Part, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId};
use tokio::sync::Mutex;
use tokio_postgres::Row;
use uuid::Uuid;

pub(super) use self::accounts::{ACCOUNTS, BOTS, NAMES, accounts};
pub(super) use self::blocks::{APART, BLOCKS};
pub(super) use self::people::{SESSIONS, player, session};
use super::journal::{CREATION_COLUMNS, Entries, Place, creation, integer, natural};
use super::link::{Failure, Link, Session, Values, because};
use crate::{
    CorruptRecord, JournalPosition, Live, Loaded, NodeId, ReadError, Record, RematchRecord, Tail,
};

/// How many matches are read at once when a server starts.
const LOAD_AT_ONCE: usize = 64;

/// The latest match with a code, a live one before all others.
pub(super) const BY_CODE: &str = "SELECT m FROM matches WHERE code = $1
                                  ORDER BY ended_ms IS NULL DESC, m DESC LIMIT 1";

/// The way to read.
#[derive(Debug)]
pub(super) struct Reader {
    link: Mutex<Link>,
}

impl Reader {
    pub(super) fn new(link: Link) -> Self {
        Self {
            link: Mutex::new(link),
        }
    }

    async fn query(&self, sql: &'static str, values: Values<'_>) -> Result<Vec<Row>, ReadError> {
        // Whoever reads waits for the answer of nobody else: the link is held only to have a session.
        let session = self.link.lock().await.session().await;
        let session = session.map_err(|_| ReadError::Unavailable)?;
        let found = session.query(sql, values).await;
        if let Err(failure) = &found {
            self.failed(failure, &session).await;
        }
        found.map_err(|_| ReadError::Unavailable)
    }

    async fn failed(&self, failure: &Failure, session: &Arc<Session>) {
        match failure {
            Failure::Lost => self.link.lock().await.let_go(session),
            Failure::Refused(error) => {
                let error = because(error);
                tracing::error!(error, "the database could not be read");
            }
            Failure::NotConnected => {}
        }
    }

    /// The record of a match.
    pub(super) async fn load(&self, id: MatchId) -> Result<Option<Loaded>, ReadError> {
        let sql = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms, nx.m, nx.code, mt.wake_ms,
                          j.n, j.last, j.seq, j.epoch, j.body
                   FROM matches mt
                   LEFT JOIN matches nx ON nx.previous = mt.m AND mt.ended_ms IS NOT NULL
                   LEFT JOIN journal j ON j.m = mt.m
                   WHERE mt.m = $1 ORDER BY j.n";
        let rows = self.query(sql, &[&id.0]).await?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let damaged = |why| ReadError::Damaged(CorruptRecord { id, why });
        let creation = creation(first).map_err(damaged)?;
        let next = next(first).map_err(|error| damaged(error.to_string()))?;
        let wake_ms: Option<i64> = first.get(CREATION_COLUMNS + 2);
        let (events, mark) = entries(id, &rows, CREATION_COLUMNS + 3)?
            .ok_or_else(|| damaged("it has no journal".to_owned()))?;
        let reminder = match wake_ms {
            Some(wake_ms) => Some(self.reminder(id, natural(wake_ms)).await?),
            None => None,
        };
        let record = Record { creation, events };
        let changes = match record.has_ended() && record.creation.terms.rated {
            true => self.changes_of(id).await?,
            false => None,
        };
        Ok(Some(Loaded {
            record,
            mark,
            next,
            reminder,
            changes,
        }))
    }

    /// The reminder of a match that is to be woken then.
    async fn reminder(&self, id: MatchId, wake_ms: u64) -> Result<Reminder, ReadError> {
        let sql = "SELECT m, seat, stood_in, is_days, turn, due_ms, absent_ms, player FROM parts
                   WHERE m = $1 ORDER BY player";
        let rows = self.query(sql, &[&id.0]).await?;
        Ok(Reminder {
            wake_ms: Some(wake_ms),
            parts: rows.iter().map(part).collect(),
        })
    }

    /// What has happened in a match since a mark; `None` if it has not got that far.
    pub(super) async fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> Result<Option<Tail>, ReadError> {
        // From the entry on that is known, which shows that the match has got that far.
        let sql = "SELECT n, last, seq, epoch, body FROM journal
                   WHERE m = $1 AND last >= $2 ORDER BY n";
        let place = Place::from(after);
        let rows = self.query(sql, &[&id.0, &place.n]).await?;
        let Some((mut events, mark)) = entries(id, &rows, 0)? else {
            return Ok(None);
        };
        if after == JournalPosition::after(0) {
            return Ok(Some(Tail { events, mark }));
        }
        let known = Entries::read(id, &rows[..1], 0).map_err(ReadError::Damaged)?;
        let Some((known, _)) = known.finish().filter(|(_, mark)| *mark == after) else {
            return Ok(None);
        };
        events.drain(..known.len());
        Ok(Some(Tail { events, mark }))
    }

    /// The latest match with this code, a live one before all others.
    pub(super) async fn by_code(&self, code: MatchCode) -> Result<Option<MatchId>, ReadError> {
        let rows = self.query(BY_CODE, &[&code.to_string()]).await?;
        Ok(ids(&rows).next())
    }

    /// The live matches that are served all the time, and whose owner is neither this one nor another
    /// that holds a lease.
    pub(super) async fn orphans(&self, asking: NodeId) -> Result<Vec<MatchId>, ReadError> {
        let sql = "SELECT m FROM matches mt
                   WHERE ended_ms IS NULL AND wake_ms IS NULL AND node IS DISTINCT FROM $1
                     AND NOT EXISTS (SELECT FROM node
                                     WHERE node.id = mt.node AND node.expires > now())
                   ORDER BY m";
        let rows = self.query(sql, &[&asking.0]).await?;
        Ok(ids(&rows).collect())
    }

    /// The live matches of an owner that are served all the time, and the players in them.
    pub(super) async fn live(&self, owner: NodeId) -> Result<Live, ReadError> {
        let sql = "SELECT m FROM matches
                   WHERE ended_ms IS NULL AND wake_ms IS NULL AND node = $1 ORDER BY m";
        let rows = self.query(sql, &[&owner.0]).await?;
        let ids: Vec<MatchId> = ids(&rows).collect();
        let mut matches = Vec::with_capacity(ids.len());
        for some in ids.chunks(LOAD_AT_ONCE) {
            let loaded = some.iter().map(|id| self.load(*id));
            for loaded in join_all(loaded).await {
                match loaded {
                    Ok(loaded) => matches.extend(loaded.map(Ok)),
                    Err(ReadError::Damaged(damage)) => matches.push(Err(damage)),
                    Err(ReadError::Unavailable) => return Err(ReadError::Unavailable),
                }
            }
        }
        let mut involved: Vec<_> = matches
            .iter()
            .flatten()
            .flat_map(|loaded: &Loaded| loaded.record.involved())
            .map(|player| player.0)
            .collect();
        involved.sort_unstable();
        involved.dedup();
        let sql = "SELECT id, name, kind FROM players WHERE id = ANY ($1)";
        let rows = self.query(sql, &[&involved]).await?;
        let players = rows.iter().map(player).collect();
        Ok(Live { matches, players })
    }

    /// The matches that are to be woken after this time and this match, at most so many.
    pub(super) async fn due(
        &self,
        (after_ms, after): (u64, MatchId),
        limit: usize,
    ) -> Result<Vec<(u64, MatchId)>, ReadError> {
        let sql = "SELECT m, wake_ms FROM matches
                   WHERE wake_ms IS NOT NULL AND (wake_ms, m) > ($1, $2)
                   ORDER BY wake_ms, m LIMIT $3";
        let limit = integer(limit as u64);
        let values: Values<'_> = &[&integer(after_ms), &after.0, &limit];
        let rows = self.query(sql, values).await?;
        let due = rows.iter().zip(ids(&rows));
        Ok(due.map(|(row, id)| (natural(row.get(1)), id)).collect())
    }

    /// How many matches are to be woken at some time.
    pub(super) async fn due_count(&self) -> Result<u64, ReadError> {
        let sql = "SELECT count(*) FROM matches WHERE wake_ms IS NOT NULL";
        let rows = self.query(sql, &[]).await?;
        Ok(rows.first().map_or(0, |row| natural(row.get(0))))
    }

    /// The matches in which this player has a part.
    pub(super) async fn parts(&self, id: PlayerId) -> Result<Vec<(MatchId, Part)>, ReadError> {
        let sql = "SELECT m, seat, stood_in, is_days, turn, due_ms, absent_ms, player FROM parts
                   WHERE player = $1 ORDER BY m";
        let rows = self.query(sql, &[&id.0]).await?;
        Ok(ids(&rows).zip(rows.iter().map(part)).collect())
    }
}

fn entries(
    id: MatchId,
    rows: &[Row],
    first: usize,
) -> Result<Option<(Vec<Event>, JournalPosition)>, ReadError> {
    let read = Entries::read(id, rows, first).map_err(ReadError::Damaged)?;
    Ok(read.finish())
}

/// The ids in the first column.
fn ids(rows: &[Row]) -> impl Iterator<Item = MatchId> {
    rows.iter().map(|row| MatchId(row.get(0)))
}

/// The rematch that the columns after those of the creation tell.
fn next(row: &Row) -> Result<Option<RematchRecord>, tokio_postgres::Error> {
    let id: Option<Uuid> = row.try_get(CREATION_COLUMNS)?;
    let code: Option<&str> = row.try_get(CREATION_COLUMNS + 1)?;
    Ok(id.zip(code).and_then(|(id, code)| {
        Some(RematchRecord {
            id: MatchId(id),
            code: code.parse().ok()?,
        })
    }))
}

/// The part of a row whose first column is not looked at.
fn part(row: &Row) -> Part {
    let seat = |column| {
        let number: Option<i16> = row.get(column);
        number.and_then(|number| Seat::from_number(u8::try_from(number).ok()?))
    };
    let time = |column| row.get::<_, Option<i64>>(column).map(natural);
    let days = DaysTurn {
        turn: seat(4),
        due_ms: time(5),
    };
    Part {
        player: PlayerId(row.get(7)),
        seat: seat(1),
        stood_in: seat(2),
        days: row.get::<_, bool>(3).then_some(days),
        absent_ms: time(6),
    }
}
