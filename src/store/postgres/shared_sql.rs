//! Runs the shared statements on PostgreSQL.

use std::collections::HashSet;

use plyhouse_protocol::{MatchId, PlayerId};
use tokio_postgres::types::ToSql;

use super::reader::Reader;
use super::reconnecting_connection::{ParamForm, PgConnection, QueryError};
use super::writer::batch::{account_deletion, shared_writes};
use crate::sql::writes::SharedTransaction;
use crate::sql::{Column, InvalidColumn, Row, Sql, SqlWrite, Value, query_all};
use crate::{AnalysisQuotaRequest, ReadError};

impl Sql for PgConnection {
    type Error = QueryError;

    async fn query(&self, sql: &'static str, params: &[Value<'_>]) -> Result<Vec<Row>, QueryError> {
        Ok(to_rows(&Self::query(self, sql, &to_params(params)).await?))
    }
}

impl SqlWrite for PgConnection {
    async fn execute(&self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, QueryError> {
        let params = to_params(params);
        self.execute_prepared(sql, ParamForm::Values, &params).await
    }

    async fn insert_all(
        &self,
        sql: &'static str,
        rows: &[Vec<Value<'_>>],
    ) -> Result<(), QueryError> {
        if rows.is_empty() {
            return Ok(());
        }
        let arrays = to_columns(rows);
        let params: Vec<&(dyn ToSql + Sync)> = arrays.iter().map(|array| array as _).collect();
        let inserted = self.execute_prepared(sql, ParamForm::Arrays, &params);
        inserted.await.map(drop)
    }

    async fn lock(&self, postgres_sql: &'static str) -> Result<(), QueryError> {
        self.execute(postgres_sql, &[]).await.map(drop)
    }
}

impl PgConnection {
    /// Executes a statement whose parameters are arrays with one element for each row. Does nothing
    /// if there are no rows.
    pub(super) async fn execute_arrays(
        &self,
        sql: &'static str,
        rows: Vec<Vec<Value<'_>>>,
    ) -> Result<(), QueryError> {
        if !rows.is_empty() {
            self.execute(sql, &to_arrays(&to_columns(&rows))).await?;
        }
        Ok(())
    }

    /// Runs a query that returns match ids, and whose parameters are arrays with one element for
    /// each row. Does nothing if there are no rows.
    pub(super) async fn query_match_ids(
        &self,
        sql: &'static str,
        rows: Vec<Vec<Value<'_>>>,
    ) -> Result<HashSet<MatchId>, QueryError> {
        if rows.is_empty() {
            return Ok(HashSet::new());
        }
        let ids = query_all(self, sql, &to_arrays(&to_columns(&rows))).await?;
        Ok(ids.into_iter().collect())
    }
}

/// Returns the columns of a table that is given by its rows.
pub(super) fn to_columns<'a>(rows: &[Vec<Value<'a>>]) -> Vec<Vec<Value<'a>>> {
    let column_count = rows.first().map_or(0, Vec::len);
    let column = |index| rows.iter().map(|row| row[index]).collect();
    (0..column_count).map(column).collect()
}

pub(super) fn to_arrays<'a>(columns: &'a [Vec<Value<'a>>]) -> Vec<Value<'a>> {
    columns.iter().map(|column| Value::Array(column)).collect()
}

impl SharedTransaction for PgConnection {
    const OWN_DELETE_STATEMENTS: &'static [&'static str] = &["DELETE FROM seeks WHERE player = ?1"];

    async fn remove_name(&self, matches: &[MatchId], player: PlayerId) -> Result<(), QueryError> {
        account_deletion::remove_name(self, matches, player).await
    }

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
