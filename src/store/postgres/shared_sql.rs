//! Runs the shared statements on PostgreSQL.

use plyhouse_protocol::{MatchId, PlayerId};
use tokio_postgres::types::ToSql;

use super::reader::Reader;
use super::reconnecting_connection::{PgConnection, QueryError};
use super::writer::batch::{account_deletion, shared_writes};
use crate::sql::account_deletion::DeletePlayers;
use crate::sql::writes::SharedTransaction;
use crate::sql::{Column, InvalidColumn, Row, Sql, SqlWrite, Value};
use crate::{AnalysisQuotaRequest, ReadError};

impl Sql for PgConnection {
    type Error = QueryError;

    async fn query(&self, sql: &'static str, params: &[Value<'_>]) -> Result<Vec<Row>, QueryError> {
        Ok(to_rows(&Self::query(self, sql, &to_params(params)).await?))
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
        let Some(first) = rows.first() else {
            return Ok(());
        };
        let column = |index| rows.iter().map(|row| row[index]).collect();
        let columns: Vec<Vec<Value<'_>>> = (0..first.len()).map(column).collect();
        let arrays: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|column| column as _).collect();
        Self::insert_arrays(self, sql, &arrays).await
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

impl SharedTransaction for PgConnection {
    async fn count_analysis_request(
        &self,
        request: &AnalysisQuotaRequest,
    ) -> Result<bool, QueryError> {
        shared_writes::count_analysis_request(self, request).await
    }
}

impl Sql for Reader {
    type Error = ReadError;

    async fn query(&self, sql: &'static str, params: &[Value<'_>]) -> Result<Vec<Row>, ReadError> {
        Ok(to_rows(&Self::query(self, sql, &to_params(params)).await?))
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

pub(super) fn to_rows(rows: &[tokio_postgres::Row]) -> Vec<Row> {
    rows.iter().map(to_row).collect()
}

pub(super) fn to_row(row: &tokio_postgres::Row) -> Row {
    let columns = (0..row.len()).map(|index| row.get::<_, Column>(index));
    Row(columns.collect())
}
