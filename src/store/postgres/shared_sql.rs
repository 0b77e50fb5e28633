//! Runs the shared statements on PostgreSQL.

use plyhouse_protocol::{MatchId, PlayerId};
use tokio_postgres::types::ToSql;

use super::reader::Reader;
use super::reconnecting_connection::{PgConnection, QueryError};
use super::writer::batch::account_deletion;
use crate::ReadError;
use crate::sql::account_deletion::DeletePlayers;
use crate::sql::{Column, InvalidColumn, Row, Sql, SqlWrite, Value};

impl Sql for PgConnection {
    type Error = QueryError;

    async fn query(&self, sql: &'static str, params: &[Value<'_>]) -> Result<Vec<Row>, QueryError> {
        Ok(to_rows(&Self::query(self, sql, &to_params(params)).await?))
    }

    async fn query_each(
        &self,
        sql: &'static str,
        params: &[Vec<Value<'_>>],
    ) -> Result<Vec<(usize, Row)>, QueryError> {
        if params.is_empty() {
            return Ok(Vec::new());
        }
        let columns = to_columns(params);
        let rows = self.query_arrays(sql, &to_arrays(&columns)).await?;
        Ok(numbered_rows(&rows)?)
    }
}

impl SqlWrite for PgConnection {
    async fn execute(&self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, QueryError> {
        Self::execute(self, sql, &to_params(params)).await
    }

    async fn insert_all(
        &self,
        sql: &'static str,
        rows: &[Vec<Value<'_>>],
    ) -> Result<(), QueryError> {
        if rows.is_empty() {
            return Ok(());
        }
        let columns = to_columns(rows);
        let inserted = self.query_arrays(sql, &to_arrays(&columns)).await;
        inserted.map(drop)
    }

    async fn lock(&self, postgres_sql: &'static str) -> Result<(), QueryError> {
        Self::execute(self, postgres_sql, &[]).await.map(drop)
    }
}

impl DeletePlayers for PgConnection {
    const OWN_DELETE_STATEMENTS: &'static [&'static str] = &["DELETE FROM seeks WHERE player = ?1"];

    async fn remove_name(&self, matches: &[MatchId], player: PlayerId) -> Result<(), QueryError> {
        account_deletion::remove_name(self, matches, player).await
    }
}

impl Sql for Reader {
    type Error = ReadError;

    async fn query(&self, sql: &'static str, params: &[Value<'_>]) -> Result<Vec<Row>, ReadError> {
        Ok(to_rows(&Self::query(self, sql, &to_params(params)).await?))
    }

    async fn query_each(
        &self,
        sql: &'static str,
        params: &[Vec<Value<'_>>],
    ) -> Result<Vec<(usize, Row)>, ReadError> {
        self.run(async |connection| connection.query_each(sql, params).await)
            .await
    }
}

impl From<InvalidColumn> for QueryError {
    fn from(invalid: InvalidColumn) -> Self {
        Self::InvalidColumn(invalid)
    }
}

impl From<InvalidColumn> for ReadError {
    fn from(error: InvalidColumn) -> Self {
        tracing::error!(%error, "cannot read from the database");
        Self::Unavailable
    }
}

fn to_params<'a>(params: &'a [Value<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|value| value as _).collect()
}

/// Returns the columns of rows that all have the same length.
fn to_columns<'a>(rows: &[Vec<Value<'a>>]) -> Vec<Vec<Value<'a>>> {
    let column = |index| rows.iter().map(|row| row[index]).collect();
    let count = rows.first().map_or(0, Vec::len);
    (0..count).map(column).collect()
}

fn to_arrays<'a>(columns: &'a [Vec<Value<'_>>]) -> Vec<&'a (dyn ToSql + Sync)> {
    columns.iter().map(|column| column as _).collect()
}

/// Returns rows whose last column is a number that starts at 1, with this number as an index.
fn numbered_rows(rows: &[tokio_postgres::Row]) -> Result<Vec<(usize, Row)>, InvalidColumn> {
    let numbered = to_rows(rows).into_iter().map(|row| {
        let last_column = row.0.len() - 1;
        let number = row.get::<u64>(last_column)? - 1;
        let index = usize::try_from(number).map_err(|_| InvalidColumn(last_column))?;
        Ok((index, row))
    });
    numbered.collect()
}

pub(super) fn to_rows(rows: &[tokio_postgres::Row]) -> Vec<Row> {
    rows.iter().map(to_row).collect()
}

pub(super) fn to_row(row: &tokio_postgres::Row) -> Row {
    let columns = (0..row.len()).map(|index| row.get::<_, Column>(index));
    Row(columns.collect())
}
