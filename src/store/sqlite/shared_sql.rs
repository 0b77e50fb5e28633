//! Runs the shared statements on SQLite.

use std::future::{Future, ready};

use parking_lot::Mutex;
use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::types::Type;
use rusqlite::{Connection, params_from_iter};

use super::account_deletion;
use crate::AnalysisQuotaRequest;
use crate::sql::writes::SharedTransaction;
use crate::sql::{Column, InvalidColumn, Row, Sql, SqlWrite, Value};

impl Sql for Connection {
    type Error = rusqlite::Error;

    fn query(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> impl Future<Output = rusqlite::Result<Vec<Row>>> + Send {
        ready(query(self, sql, params))
    }
}

/// Connection of a thread that reads. The mutex lets queries be futures that can be sent between
/// threads, as those on PostgreSQL.
impl Sql for Mutex<Connection> {
    type Error = rusqlite::Error;

    fn query(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> impl Future<Output = rusqlite::Result<Vec<Row>>> + Send {
        ready(query(&self.lock(), sql, params))
    }
}

impl SqlWrite for Connection {
    fn execute(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> impl Future<Output = rusqlite::Result<u64>> + Send {
        let changed = self
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params_from_iter(params)));
        ready(changed.map(|rows| rows as u64))
    }

    fn insert_all(
        &self,
        sql: &'static str,
        rows: &[Vec<Value<'_>>],
    ) -> impl Future<Output = rusqlite::Result<()>> + Send {
        let inserted = self.prepare_cached(sql).and_then(|mut insert| {
            let mut rows = rows.iter();
            rows.try_for_each(|row| insert.execute(params_from_iter(row)).map(drop))
        });
        ready(inserted)
    }

    fn lock(&self, _: &'static str) -> impl Future<Output = rusqlite::Result<()>> + Send {
        ready(Ok(()))
    }
}

impl SharedTransaction for Connection {
    const OWN_DELETE_STATEMENTS: &'static [&'static str] = &[];

    fn remove_name(
        &self,
        matches: &[MatchId],
        player: PlayerId,
    ) -> impl Future<Output = rusqlite::Result<()>> + Send {
        let mut matches = matches.iter();
        ready(matches.try_for_each(|id| account_deletion::remove_name(self, *id, player)))
    }

    fn count_analysis_request(
        &self,
        request: &AnalysisQuotaRequest,
    ) -> impl Future<Output = rusqlite::Result<bool>> + Send {
        ready(count_analysis_request(self, request))
    }
}

fn count_analysis_request(
    connection: &Connection,
    request: &AnalysisQuotaRequest,
) -> rusqlite::Result<bool> {
    let AnalysisQuotaRequest {
        player,
        at_ms,
        since_ms,
        requests_max,
    } = request;
    let sql = "DELETE FROM analyses_asked WHERE asked_ms <= ?1";
    connection.prepare_cached(sql)?.execute([since_ms])?;
    let sql = "INSERT INTO analyses_asked (player, asked_ms)
               SELECT ?1, ?2 WHERE (SELECT count(*) FROM analyses_asked WHERE player = ?1) < ?3";
    let mut insert = connection.prepare_cached(sql)?;
    Ok(insert.execute((player.0.as_bytes(), at_ms, requests_max))? > 0)
}

fn query(
    connection: &Connection,
    sql: &'static str,
    params: &[Value<'_>],
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(sql)?;
    let column_count = statement.column_count();
    let rows = statement.query_map(params_from_iter(params), |row| {
        let columns = (0..column_count).map(|index| row.get_ref(index).map(Column::from));
        columns.collect::<rusqlite::Result<_>>().map(Row)
    })?;
    rows.collect()
}

impl From<InvalidColumn> for rusqlite::Error {
    fn from(invalid: InvalidColumn) -> Self {
        Self::FromSqlConversionFailure(invalid.0, Type::Null, Box::new(invalid))
    }
}
