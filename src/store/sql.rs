//! SQL that SQLite and PostgreSQL share. The journals of matches have separate code for each
//! database.
//!
//! Statements are written for SQLite, with parameters such as `?1`. For PostgreSQL, the parameters
//! become `$1`, and a comment such as `/*pg:FOR UPDATE*/` becomes `FOR UPDATE`.

pub(crate) mod accounts;
pub(crate) mod archive;
pub(crate) mod blocks;
pub(crate) mod identity_changes;
pub(crate) mod players;
pub(crate) mod ratings;
pub(crate) mod sessions;
pub(crate) mod tokens_and_admin_commands;
mod value;

use std::fmt;

use futures::FutureExt;

pub(crate) use self::value::{Column, Row, Value};

/// A database connection, or a transaction on it.
///
/// A query on SQLite completes at once; [`run_now`] returns its result.
pub(crate) trait Sql {
    type Error: From<InvalidColumn> + Send;

    /// Runs a statement and returns its rows.
    fn query(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, Self::Error>> + Send;

    /// Runs a statement and returns the number of rows that it has changed.
    fn execute(
        &self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> impl Future<Output = Result<u64, Self::Error>> + Send;
}

/// Returns the first row of a query.
pub(crate) async fn query_first<S: Sql>(
    db: &S,
    sql: &'static str,
    params: &[Value<'_>],
) -> Result<Option<Row>, S::Error> {
    Ok(db.query(sql, params).await?.into_iter().next())
}

/// Returns whether a query has a row.
pub(crate) async fn exists<S: Sql>(
    db: &S,
    sql: &'static str,
    params: &[Value<'_>],
) -> Result<bool, S::Error> {
    Ok(!db.query(sql, params).await?.is_empty())
}

/// Returns the result of a future that never waits, such as a query on SQLite.
pub(crate) fn run_now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("SQLite completes at once")
}

/// Returns a statement in the syntax of PostgreSQL.
pub(crate) fn to_postgres(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut rest = sql;
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

/// Error for a column whose value does not have the expected type. The number of the column starts
/// at 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InvalidColumn(pub(crate) usize);

impl fmt::Display for InvalidColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {} has an unexpected value", self.0)
    }
}

impl std::error::Error for InvalidColumn {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_marked_comments_are_rewritten() {
        for (sql, expected) in [
            ("SELECT ?1, ?12", "SELECT $1, $12"),
            ("a /*pg:FOR UPDATE*/)", "a FOR UPDATE)"),
            ("SELECT ?1/*pg:::uuid*/ / 2", "SELECT $1::uuid / 2"),
            ("SELECT /* a comment */ 1", "SELECT /* a comment */ 1"),
        ] {
            assert_eq!(to_postgres(sql), expected);
        }
    }
}
