//! Read-only inspection of a PostgreSQL database, with or without a running server.

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};

use super::journal_rows::read_journal;
use super::one_off_connection::OneOffConnection;
use super::reconnecting_connection::{QueryError, error_chain};
use super::shared_sql::to_row;
use super::{ConnectionUrl, OpenError};
use crate::port::inspection::{InspectedMatch, InspectedPlayer, StoreAccessError, StoreInspector};
use crate::sql::inspection::{self, CONSISTENCY_CHECKS, find_faults};
use crate::sql::matches::{CREATION_COLUMN_COUNT, creation_from_row, find_match};
use crate::sql::query_first;
use crate::sql::tokens_and_admin_commands::one_time_tokens;
use crate::{CorruptRecord, MatchRecord, OneTimeToken, TokenHash};

/// Reads a PostgreSQL database. Must not be used within an async runtime.
#[derive(Debug)]
pub struct PostgresInspector(OneOffConnection);

impl PostgresInspector {
    /// Opens a read-only connection to the database at this URL (`postgres://…`).
    ///
    /// # Errors
    ///
    /// See [`OpenPostgresError`](super::OpenPostgresError).
    pub fn open(url: &str) -> Result<Self, OpenError> {
        let url = url.parse::<ConnectionUrl>()?.into_read_only();
        Ok(Self(OneOffConnection::open(&url)?))
    }

    fn read_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, String> {
        let sql = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms, mt.ended_ms,
                          j.n, j.last, j.seq, j.epoch, j.body
                   FROM matches mt LEFT JOIN journal j ON j.m = mt.m
                   WHERE mt.m = $1 ORDER BY j.n";
        let rows = (self.0).run(async |db| db.query(sql, &[&id.0]).await);
        let rows = rows.map_err(read_failure)?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let (events, _) =
            read_journal(&rows, CREATION_COLUMN_COUNT + 1)?.ok_or("the journal is missing")?;
        let record = MatchRecord {
            creation: creation_from_row(&to_row(first))?,
            events,
        };
        let players = (self.0).run(async |db| inspection::involved_players(db, &record).await);
        Ok(Some(InspectedMatch {
            record,
            ended_ms: first.get(CREATION_COLUMN_COUNT),
            players: players.map_err(read_failure)?,
        }))
    }
}

impl StoreInspector for PostgresInspector {
    fn next_match(&self, after: Option<MatchId>) -> Result<Option<MatchId>, StoreAccessError> {
        let sql = "SELECT m FROM matches WHERE m > $1 OR $1 IS NULL ORDER BY m LIMIT 1";
        let next = (self.0).run(async |db| query_first(db, sql, &[after.into()]).await);
        Ok(next?)
    }

    fn find_match(&self, name: MatchRef) -> Result<Option<MatchId>, StoreAccessError> {
        Ok(self.0.run(async |db| find_match(db, name).await)?)
    }

    fn inspect_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, CorruptRecord> {
        self.read_match(id)
            .map_err(|reason| CorruptRecord { id, reason })
    }

    fn player_count(&self) -> Result<u64, StoreAccessError> {
        Ok(self.0.run(inspection::player_count)?)
    }

    fn players_after(
        &self,
        after: Option<PlayerId>,
    ) -> Result<Vec<InspectedPlayer>, StoreAccessError> {
        let players = (self.0).run(async |db| inspection::players_after(db, after).await);
        Ok(players?)
    }

    fn one_time_tokens(&self) -> Result<Vec<(TokenHash, OneTimeToken)>, StoreAccessError> {
        Ok(self.0.run(one_time_tokens)?)
    }

    /// Checks only whether the tables are consistent with each other. PostgreSQL itself detects
    /// damaged files.
    fn integrity_faults(&self) -> Vec<String> {
        self.0
            .run(async |db| find_faults(db, &CONSISTENCY_CHECKS).await)
    }
}

impl From<QueryError> for StoreAccessError {
    fn from(failure: QueryError) -> Self {
        Self(error_chain(&failure))
    }
}

fn read_failure(failure: QueryError) -> String {
    format!("it cannot be read: {}", error_chain(&failure))
}
