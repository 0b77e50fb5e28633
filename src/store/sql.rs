//! SQL that SQLite and PostgreSQL share. The journals of matches have separate code for each
//! database.
//!
//! Statements are written for SQLite, with parameters such as `?1`. For PostgreSQL, the parameters
//! become `$1`, and a comment such as `/*pg:FOR UPDATE*/` becomes `FOR UPDATE`. Match ids are in the
//! columns `matches.id` and `match` in SQLite, and in columns named `m` in PostgreSQL. The column
//! `orders.asked_ms` is named `asked` in PostgreSQL.

pub(crate) mod account_deletion;
pub(crate) mod accounts;
pub(crate) mod analyses;
pub(crate) mod archive;
pub(crate) mod archive_store;
pub(crate) mod blocks;
pub(crate) mod history;
pub(crate) mod identity_changes;
pub(crate) mod inspection;
pub(crate) mod matches;
pub(crate) mod name_skeletons;
pub(crate) mod players;
pub(crate) mod rating_ledger;
pub(crate) mod rating_versions;
pub(crate) mod ratings;
pub(crate) mod ratings_changes;
pub(crate) mod reminders;
pub(crate) mod sessions;
pub(crate) mod store;
pub(crate) mod tokens_and_admin_commands;
mod value;
pub(crate) mod writes;

use std::collections::BTreeMap;
use std::fmt;

use futures::FutureExt;
use futures::future::try_join_all;
use tokio_postgres::types::Type;

pub(crate) use self::value::{Column, Columns, FromColumns, Row, Value, to_values};

/// A database connection that reads, or a transaction on it.
///
/// A query on SQLite completes at once; [`run_now`] returns its result.
pub trait Sql {
    /// Error of a statement.
    type Error: From<InvalidColumn> + Send;

    /// Runs a statement and returns its rows.
    fn query(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, Self::Error>> + Send;
}

/// A transaction that writes.
pub(crate) trait SqlWrite: Sql {
    /// Runs a statement and returns the number of rows that it has changed.
    fn execute(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;

    /// Inserts several rows. The statement inserts one row, and has the parameters `?1`, `?2`, … as
    /// its only values: `INSERT … VALUES (?1, ?2)`, perhaps with a clause `ON CONFLICT`. No two rows
    /// may have the same key.
    ///
    /// PostgreSQL inserts all rows by one statement. The rows must be in the same order on all
    /// servers, or two servers could wait for each other.
    fn insert_all(
        &self,
        sql: &'static str,
        rows: &[Vec<Value<'_>>],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Takes a lock on PostgreSQL by running the given statement. Does nothing on SQLite, where only
    /// one transaction at a time can write.
    fn lock(
        &self,
        postgres_sql: &'static str,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Returns all rows of a query.
pub(crate) async fn query_all<S: Sql, T: FromColumns>(
    db: &S,
    sql: &'static str,
    params: &[Value<'_>],
) -> Result<Vec<T>, S::Error> {
    let rows = db.query(sql, params).await?;
    let rows = rows.iter().map(Row::read);
    Ok(rows.collect::<Result<_, InvalidColumn>>()?)
}

/// Returns the first row of a query.
pub(crate) async fn query_first<S: Sql, T: FromColumns>(
    db: &S,
    sql: &'static str,
    params: &[Value<'_>],
) -> Result<Option<T>, S::Error> {
    let rows = db.query(sql, params).await?;
    Ok(rows.first().map(Row::read).transpose()?)
}

/// Returns whether a query has a row.
pub(crate) async fn exists<S: Sql>(
    db: &S,
    sql: &'static str,
    params: &[Value<'_>],
) -> Result<bool, S::Error> {
    Ok(!db.query(sql, params).await?.is_empty())
}

/// Maximum number of statements that are sent to PostgreSQL before it responds to the first one.
const PIPELINE_MAX: usize = 256;

/// Runs a query once for each key with its parameters, and returns the first row that each query
/// finds. PostgreSQL receives several queries before it responds to the first one.
pub(crate) async fn query_by_key<S: Sql, K: Ord, T: FromColumns>(
    db: &S,
    sql: &'static str,
    keys: Vec<(K, Vec<Value<'_>>)>,
) -> Result<BTreeMap<K, T>, S::Error> {
    let (keys, params): (Vec<K>, Vec<Vec<Value<'_>>>) = keys.into_iter().unzip();
    let mut rows = Vec::with_capacity(params.len());
    for params in params.chunks(PIPELINE_MAX) {
        let queries = params.iter().map(|params| query_first(db, sql, params));
        rows.extend(try_join_all(queries).await?);
    }
    let found = keys.into_iter().zip(rows);
    Ok(found.filter_map(|(key, row)| Some((key, row?))).collect())
}

/// Executes a statement once for each list of parameters. PostgreSQL receives several statements
/// before it responds to the first one.
pub(crate) async fn execute_each<S: SqlWrite>(
    db: &S,
    sql: &'static str,
    params: &[Vec<Value<'_>>],
) -> Result<(), S::Error> {
    for params in params.chunks(PIPELINE_MAX) {
        let statements = params.iter().map(|params| db.execute(sql, params));
        try_join_all(statements).await?;
    }
    Ok(())
}

/// Returns the result of a future that never waits, such as a query on SQLite.
pub(crate) fn run_now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("SQLite completes at once")
}

/// Returns a statement in the syntax of PostgreSQL.
pub(crate) fn to_postgres(sql: &str) -> String {
    let sql = with_postgres_columns(sql);
    let mut text = String::with_capacity(sql.len());
    let mut rest = sql.as_str();
    while let Some(at) = rest.find(['?', '/']) {
        let (before, special) = rest.split_at(at);
        text.push_str(before);
        let replaced = match special.strip_prefix("/*pg:") {
            Some(comment) => comment.split_once("*/"),
            None => special.strip_prefix('?').map(|number| ("$", number)),
        };
        let (replacement, after) = replaced.unwrap_or_else(|| special.split_at(1));
        text.push_str(replacement);
        rest = after;
    }
    text + rest
}

/// Returns an `INSERT` in the syntax of PostgreSQL whose parameters are arrays, with one element for
/// each row. `types` contains the types of the columns.
pub(crate) fn to_postgres_arrays(sql: &str, types: &[Type]) -> String {
    let sql = to_postgres(sql);
    let (insert, rest) = sql.split_once("VALUES (").expect("an INSERT with VALUES");
    let (_, conflict) = rest.split_once(')').expect("a list of parameters");
    let arrays = (1..)
        .zip(types)
        .map(|(number, ty)| format!("${number}::{ty}[]"));
    let arrays: Vec<String> = arrays.collect();
    format!(
        "{insert}SELECT * FROM UNNEST({}){conflict}",
        arrays.join(", ")
    )
}

/// Renames the columns with match ids, which are `matches.id` and `match` in SQLite, and the column
/// `orders.asked_ms`.
fn with_postgres_columns(sql: &str) -> String {
    let is_separator = |c: char| !(c.is_alphanumeric() || c == '_' || c == '.');
    let words = sql.split_inclusive(is_separator).map(|word| {
        let name = word.trim_end_matches(is_separator);
        let column = match name.strip_suffix("match") {
            Some(table) if table.is_empty() || table.ends_with('.') => format!("{table}m"),
            _ if name == "matches.id" => "matches.m".to_owned(),
            _ if name == "orders.asked_ms" => "orders.asked".to_owned(),
            _ => return word.to_owned(),
        };
        word.replacen(name, &column, 1)
    });
    words.collect()
}

/// Error for a column whose value does not have the expected type. The number of the column starts
/// at 0.
#[derive(Clone, Copy, Debug)]
pub struct InvalidColumn(pub(crate) usize);

impl fmt::Display for InvalidColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {} has an unexpected value", self.0)
    }
}

impl std::error::Error for InvalidColumn {}

/// Describes the fault of a record that contains the column.
impl From<InvalidColumn> for String {
    fn from(invalid: InvalidColumn) -> Self {
        format!("it cannot be read: {invalid}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_arrays() {
        assert_eq!(
            to_postgres_arrays(
                "INSERT INTO t (a, b) VALUES (?1, ?2) ON CONFLICT (a) DO NOTHING",
                &[Type::UUID, Type::INT8]
            ),
            "INSERT INTO t (a, b) SELECT * FROM UNNEST($1::uuid[], $2::int8[]) \
             ON CONFLICT (a) DO NOTHING"
        );
    }

    #[test]
    fn parameters_and_marked_comments_are_rewritten() {
        for (sql, expected) in [
            ("SELECT ?1, ?12", "SELECT $1, $12"),
            ("a /*pg:FOR UPDATE*/)", "a FOR UPDATE)"),
            ("SELECT ?1/*pg:::uuid*/ / 2", "SELECT $1::uuid / 2"),
            ("SELECT /* a comment */ 1", "SELECT /* a comment */ 1"),
            ("ORDER BY orders.asked_ms, id", "ORDER BY orders.asked, id"),
            (
                "SELECT p.match, match FROM played p JOIN matches ON matches.id = match",
                "SELECT p.m, m FROM played p JOIN matches ON matches.m = m",
            ),
        ] {
            assert_eq!(to_postgres(sql), expected);
        }
    }
}
