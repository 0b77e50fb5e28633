//! Read-only inspection of a PostgreSQL database, with or without a running server.

use std::collections::HashMap;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};
use tokio_postgres::Row;
use uuid::Uuid;

use super::journal_rows::{JournalEntries, to_u64};
use super::one_off_connection::OneOffConnection;
use super::reader::{
    SELECT_ACCOUNTS, SELECT_BLOCKS, SELECT_BOTS, SELECT_NAMES, SELECT_SESSIONS, accounts_from_rows,
    player_from_row, session_from_row,
};
use super::reconnecting_connection::{Params, QueryError, error_chain};
use super::shared_sql::to_row;
use super::{ConnectionUrl, OpenError};
use crate::port::inspection::{
    InspectedMatch, InspectedPlayer, PLAYERS_PAGE_SIZE, StoreAccessError, StoreInspector,
};
use crate::sql::matches::{CREATION_COLUMN_COUNT, creation_from_row, find_by_code};
use crate::{
    Account, CorruptRecord, MatchRecord, OneTimeToken, PlayerRecord, SessionRecord, TokenHash,
};

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

    fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>, QueryError> {
        self.0.query(sql, params)
    }

    fn query_first<T>(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<Option<T>, StoreAccessError>
    where
        T: for<'a> tokio_postgres::types::FromSql<'a>,
    {
        let rows = self.query(sql, params)?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    fn read_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, String> {
        let sql = "SELECT mt.m, mt.code, mt.game, mt.host, mt.terms, mt.ended_ms,
                          j.n, j.last, j.seq, j.epoch, j.body
                   FROM matches mt LEFT JOIN journal j ON j.m = mt.m
                   WHERE mt.m = $1 ORDER BY j.n";
        let rows = self.query(sql, &[&id.0]).map_err(read_failure)?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let entries = JournalEntries::from_rows(id, &rows, CREATION_COLUMN_COUNT + 1);
        let (events, _) = entries
            .map_err(|damage| damage.reason)?
            .into_events()
            .ok_or("the journal is missing")?;
        let record = MatchRecord {
            creation: creation_from_row(&to_row(first))?,
            events,
        };
        let players = self.read_players(&record).map_err(read_failure)?;
        Ok(Some(InspectedMatch {
            record,
            ended_ms: first.get(CREATION_COLUMN_COUNT),
            players,
        }))
    }

    /// Returns the names of the players in a match. Players who are not stored are omitted.
    fn read_players(&self, record: &MatchRecord) -> Result<Vec<(PlayerId, String)>, QueryError> {
        let player_ids: Vec<Uuid> = record.involved_players().map(|player| player.0).collect();
        let sql = "SELECT id, name FROM players WHERE id = ANY ($1) ORDER BY id";
        let rows = self.query(sql, &[&player_ids])?;
        let players = rows.iter().map(|row| (PlayerId(row.get(0)), row.get(1)));
        Ok(players.collect())
    }
}

/// Consistency checks. Each check consists of a query and a description. The query must return 0.
/// If a query returns another number, the inspector reports this number and the description of the
/// check.
const CONSISTENCY_CHECKS: [(&str, &str); 4] = [
    (
        "SELECT count(*) FROM matches mt LEFT JOIN ledger l ON l.m = mt.m
         LEFT JOIN ledger_waiting w ON w.m = mt.m
         WHERE mt.summary IS NOT NULL AND mt.terms::jsonb -> 'rated' = 'true'
           AND ((l.no IS NULL) <> (w.m IS NOT NULL) OR mt.ended_no IS DISTINCT FROM l.no)",
        "ended rated matches with a missing or wrong ledger row",
    ),
    (
        "SELECT (SELECT no FROM ledger_end) - count(*) FROM ledger",
        "missing ledger rows",
    ),
    (
        "SELECT count(*) FROM folds
         WHERE place <> 'stale' AND cursor > (SELECT no FROM ledger_end)",
        "rating versions with more rows than the ledger",
    ),
    (
        "SELECT count(*) FROM (
             SELECT player, result, count(*) FROM played GROUP BY player, result
             EXCEPT
             SELECT player, result, sum(n)::int8 FROM results
             WHERE seen_by IN ('00000000-0000-0000-0000-000000000000', player)
             GROUP BY player, result) AS uncounted",
        "result counts that do not match the game histories",
    ),
];

impl StoreInspector for PostgresInspector {
    fn next_match(&self, after: Option<MatchId>) -> Result<Option<MatchId>, StoreAccessError> {
        let sql = "SELECT m FROM matches WHERE m > $1 OR $1 IS NULL ORDER BY m LIMIT 1";
        let after = after.map(|id| id.0);
        Ok(self.query_first(sql, &[&after])?.map(MatchId))
    }

    fn find_match(&self, name: MatchRef) -> Result<Option<MatchId>, StoreAccessError> {
        let found = match name {
            MatchRef::Id(id) => self.query_first("SELECT m FROM matches WHERE m = $1", &[&id.0])?,
            MatchRef::Code(code) => {
                return Ok(self.0.run(async |db| find_by_code(db, code).await)?);
            }
            MatchRef::Invalid => None,
        };
        Ok(found.map(MatchId))
    }

    fn inspect_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, CorruptRecord> {
        self.read_match(id)
            .map_err(|reason| CorruptRecord { id, reason })
    }

    fn player_count(&self) -> Result<u64, StoreAccessError> {
        let count: Option<i64> = self.query_first("SELECT count(*) FROM players", &[])?;
        Ok(count
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or(0))
    }

    fn players_after(
        &self,
        after: Option<PlayerId>,
    ) -> Result<Vec<InspectedPlayer>, StoreAccessError> {
        let sql = "SELECT id, name, kind, gone FROM players WHERE id > $1 OR $1 IS NULL
             ORDER BY id LIMIT $2";
        let after = after.map(|id| id.0);
        let rows = self.query(sql, &[&after, &PLAYERS_PAGE_SIZE])?;
        let is_deleted = |row: &&Row| row.get::<_, bool>(3);
        let deleted: Vec<PlayerId> = rows
            .iter()
            .filter(is_deleted)
            .map(|row| PlayerId(row.get(0)))
            .collect();
        let players: Vec<PlayerRecord> = rows.iter().map(player_from_row).collect();
        let ids: Vec<Uuid> = players.iter().map(|player| player.id.0).collect();
        let rows = self.query(SELECT_SESSIONS, &[&ids])?;
        let read = |row| {
            session_from_row(row)
                .ok_or_else(|| StoreAccessError("a stored session is invalid".to_owned()))
        };
        let mut sessions = HashMap::<PlayerId, Vec<SessionRecord>>::new();
        for row in &rows {
            let session: SessionRecord = read(row)?;
            sessions.entry(session.player).or_default().push(session);
        }
        let sql = "SELECT player, key FROM recoveries WHERE player = ANY ($1)";
        let rows = self.query(sql, &[&ids])?;
        let key = |row: &Row| Some(TokenHash(row.get::<_, &[u8]>(1).try_into().ok()?));
        let keys = rows.iter().map(|row| (PlayerId(row.get(0)), key(row)));
        let mut keys: HashMap<PlayerId, Option<TokenHash>> = keys.collect();
        let accounts = accounts_from_rows(
            &self.query(SELECT_ACCOUNTS, &[&ids])?,
            &self.query(SELECT_NAMES, &[&ids])?,
            &self.query(SELECT_BOTS, &[&ids])?,
        );
        let mut accounts: HashMap<PlayerId, Account> = accounts;
        let mut blocks = HashMap::<PlayerId, Vec<(PlayerId, u64)>>::new();
        for row in &self.query(SELECT_BLOCKS, &[&ids])? {
            let player_blocks = blocks.entry(PlayerId(row.get(0))).or_default();
            player_blocks.push((PlayerId(row.get(1)), to_u64(row.get(2))));
        }
        let person = |player: PlayerRecord| InspectedPlayer {
            blocks: blocks.remove(&player.id).unwrap_or_default(),
            account: accounts.remove(&player.id),
            is_deleted: deleted.contains(&player.id),
            sessions: sessions.remove(&player.id).unwrap_or_default(),
            recovery_key: keys.remove(&player.id).flatten(),
            player,
        };
        Ok(players.into_iter().map(person).collect())
    }

    fn one_time_tokens(&self) -> Result<Vec<(TokenHash, OneTimeToken)>, StoreAccessError> {
        let sql = "SELECT code, player, expires_ms FROM passes ORDER BY code";
        let rows = self.query(sql, &[])?;
        let read = |row: &Row| {
            let code = row.get::<_, &[u8]>(0).try_into();
            let code = code
                .map_err(|_| StoreAccessError("a stored one-time token is invalid".to_owned()))?;
            let token = OneTimeToken {
                player: row.get::<_, Option<Uuid>>(1).map(PlayerId),
                expires_ms: to_u64(row.get(2)),
            };
            Ok((TokenHash(code), token))
        };
        rows.iter().map(read).collect()
    }

    /// Checks only whether the tables are consistent with each other. PostgreSQL itself detects
    /// damaged files.
    fn integrity_faults(&self) -> Vec<String> {
        let faults = CONSISTENCY_CHECKS.iter().filter_map(|(sql, meaning)| {
            let count = self.query(sql, &[]).map(|rows| rows[0].get::<_, i64>(0));
            match count {
                Ok(0) => None,
                Ok(count) => Some(format!("{meaning}: {count}")),
                Err(failure) => Some(read_failure(failure)),
            }
        });
        faults.collect()
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
