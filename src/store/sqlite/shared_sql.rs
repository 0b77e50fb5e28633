//! Runs the shared statements on SQLite.

use std::future::{Future, ready};

use parking_lot::Mutex;
use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::types::Type;
use rusqlite::{Connection, params_from_iter};

use super::account_deletion;
use crate::sql::account_deletion::DeletePlayers;
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

    fn query_each(
        &self,
        sql: &'static str,
        params: &[Vec<Value<'_>>],
    ) -> impl Future<Output = rusqlite::Result<Vec<(usize, Row)>>> + Send {
        let mut found = Vec::new();
        let read = params.iter().enumerate().try_for_each(|(index, params)| {
            let rows = query(self, sql, params)?;
            found.extend(rows.into_iter().map(|row| (index, row)));
            Ok(())
        });
        ready(read.map(|()| found))
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

    fn query_each(
        &self,
        sql: &'static str,
        params: &[Vec<Value<'_>>],
    ) -> impl Future<Output = rusqlite::Result<Vec<(usize, Row)>>> + Send {
        ready(crate::sql::run_now(self.lock().query_each(sql, params)))
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

impl DeletePlayers for Connection {
    const OWN_DELETE_STATEMENTS: &'static [&'static str] = &[];

    fn remove_name(
        &self,
        matches: &[MatchId],
        player: PlayerId,
    ) -> impl Future<Output = rusqlite::Result<()>> + Send {
        let mut matches = matches.iter();
        ready(matches.try_for_each(|id| account_deletion::remove_name(self, *id, player)))
    }
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
