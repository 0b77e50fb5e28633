//! Executes the store's read queries. One statement reads both the creation data and the journal of
//! a match, so that they are consistent with each other.

use std::sync::Arc;

use futures::future::join_all;
use plyhouse_protocol::MatchId;
use tokio::sync::Mutex;
use tokio_postgres::Row;

use super::journal_rows::read_journal;
use super::reconnecting_connection::{
    Params, PgConnection, QueryError, ReconnectingConnection, error_chain,
};
use super::shared_sql::to_row;
use crate::sql::matches::{CREATION_COLUMN_COUNT, creation_from_row, to_rematch};
use crate::sql::ratings::changes_of_match;
use crate::sql::{Value, query_all, reminders, to_values};
use crate::{
    CorruptRecord, JournalPosition, JournalTail, LiveMatches, LoadedMatch, MatchRecord, NodeId,
    ReadError,
};

/// Maximum number of matches that a server loads concurrently when it starts.
const LOAD_BATCH_SIZE: usize = 64;

/// Runs the queries of the store on a shared connection.
#[derive(Debug)]
pub struct Reader {
    connection: Mutex<ReconnectingConnection>,
}

impl Reader {
    pub(super) fn new(connection: ReconnectingConnection) -> Self {
        Self {
            connection: Mutex::new(connection),
        }
    }

    pub(super) async fn query(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<Vec<Row>, ReadError> {
        // The mutex is locked only while the task gets the connection, so queries run concurrently.
        let connection = self.connection.lock().await.connection().await;
        let connection = connection.map_err(|_| ReadError::Unavailable)?;
        let result = connection.query(sql, params).await;
        if let Err(failure) = &result {
            self.handle_failure(failure, &connection).await;
        }
        result.map_err(|_| ReadError::Unavailable)
    }

    async fn handle_failure(&self, failure: &QueryError, connection: &Arc<PgConnection>) {
        match failure {
            QueryError::ConnectionLost => self.connection.lock().await.discard(connection),
            QueryError::Rejected(error) => {
                let error = error_chain(error);
                tracing::error!(error, "cannot read from the database");
            }
            QueryError::NotConnected | QueryError::InvalidColumn(_) => {}
        }
    }

    /// Loads a match with its rematch, reminder and rating changes.
    pub(super) async fn load(&self, id: MatchId) -> Result<Option<LoadedMatch>, ReadError> {
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
        let first = to_row(first);
        let corrupt = |reason| ReadError::Corrupt(CorruptRecord { id, reason });
        let creation = creation_from_row(&first).map_err(corrupt)?;
        let next_id: Option<MatchId> = first.get(CREATION_COLUMN_COUNT)?;
        let next_code: Option<String> = first.get(CREATION_COLUMN_COUNT + 1)?;
        let rematch = next_id.zip(next_code).and_then(to_rematch);
        let wake_ms = first.get(CREATION_COLUMN_COUNT + 2)?;
        let (events, position) = read_journal(&rows, CREATION_COLUMN_COUNT + 3)
            .and_then(|read| read.ok_or_else(|| "the journal is missing".to_owned()))
            .map_err(corrupt)?;
        let reminder = reminders::load_reminder(self, id, wake_ms).await?;
        let record = MatchRecord { creation, events };
        let rating_changes = match record.has_ended() && record.creation.terms.rated {
            true => changes_of_match(self, id).await?,
            false => None,
        };
        Ok(Some(LoadedMatch {
            record,
            position,
            rematch,
            reminder,
            rating_changes,
        }))
    }

    /// Returns the events after a journal position. Returns `None` if the journal does not contain
    /// the position.
    pub(super) async fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> Result<Option<JournalTail>, ReadError> {
        // If the journal contains the position `after`, the query's first row is the journal row
        // that ends at this position.
        let sql = "SELECT n, last, seq, epoch, body FROM journal
                   WHERE m = $1 AND last >= $2 ORDER BY n";
        let entry_no = Value::from(after.entry_no);
        let rows = self.query(sql, &[&id.0, &entry_no]).await?;
        let read = |rows| {
            let journal = read_journal(rows, 0);
            journal.map_err(|reason| ReadError::Corrupt(CorruptRecord { id, reason }))
        };
        let Some((mut events, position)) = read(&rows)? else {
            return Ok(None);
        };
        if after == JournalPosition::after_events(0) {
            return Ok(Some(JournalTail { events, position }));
        }
        let known = read(&rows[..1])?.filter(|(_, position)| *position == after);
        let Some((known_events, _)) = known else {
            return Ok(None);
        };
        events.drain(..known_events.len());
        Ok(Some(JournalTail { events, position }))
    }

    /// Returns the live matches that the server `node` may claim. Matches with a wake time, matches
    /// of `node` itself and matches of servers with valid leases are omitted.
    pub(super) async fn unowned(&self, node: NodeId) -> Result<Vec<MatchId>, ReadError> {
        let sql = "SELECT m FROM matches mt
                   WHERE ended_ms IS NULL AND wake_ms IS NULL AND node IS DISTINCT FROM $1
                     AND NOT EXISTS (SELECT FROM node
                                     WHERE node.id = mt.node AND node.expires > now())
                   ORDER BY m";
        query_all(self, sql, &[node.into()]).await
    }

    /// Loads the live matches of an owner that have no wake time, and their players.
    pub(super) async fn live_matches(&self, owner: NodeId) -> Result<LiveMatches, ReadError> {
        let sql = "SELECT m FROM matches
                   WHERE ended_ms IS NULL AND wake_ms IS NULL AND node = $1 ORDER BY m";
        let ids: Vec<MatchId> = query_all(self, sql, &[owner.into()]).await?;
        let mut matches = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(LOAD_BATCH_SIZE) {
            let loaded = chunk.iter().map(|id| self.load(*id));
            for loaded in join_all(loaded).await {
                match loaded {
                    Ok(loaded) => matches.extend(loaded.map(Ok)),
                    Err(ReadError::Corrupt(corrupt)) => matches.push(Err(corrupt)),
                    Err(ReadError::Unavailable) => return Err(ReadError::Unavailable),
                }
            }
        }
        let mut involved: Vec<_> = matches
            .iter()
            .flatten()
            .flat_map(|loaded: &LoadedMatch| loaded.record.involved_players())
            .collect();
        involved.sort_unstable();
        involved.dedup();
        let involved = to_values(involved);
        let sql = "SELECT id, name, kind FROM players WHERE id = ANY ($1)";
        let players = query_all(self, sql, &[Value::Array(&involved)]).await?;
        Ok(LiveMatches { matches, players })
    }
}
