//! A connection from outside to the database that servers use, for programs that do one thing after the other.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Row;

use super::reconnecting_connection::{Params, PgConnection, QueryError};
use super::{ConnectionUrl, OpenError, schema};

/// A connection with a runtime of its own. Not to be used within another.
#[derive(Debug)]
pub(super) struct OneOffConnection {
    runtime: Runtime,
    connection: PgConnection,
}

impl OneOffConnection {
    /// Connects, if the tables are those that this program knows.
    pub(super) fn open(url: &ConnectionUrl) -> Result<Self, OpenError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(OpenError::Runtime)?;
        let connection = runtime.block_on(async {
            let mut connection = PgConnection::connect(url).await?;
            schema::check_version(connection.client()).await?;
            Ok::<_, OpenError>(connection)
        })?;
        Ok(Self {
            runtime,
            connection,
        })
    }

    /// The rows that a statement gives.
    pub(super) fn query(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<Vec<Row>, QueryError> {
        self.runtime.block_on(self.connection.query(sql, params))
    }

    /// The only row that a statement gives, if there is one.
    pub(super) fn query_first(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<Option<Row>, QueryError> {
        Ok(self.query(sql, params)?.into_iter().next())
    }
}
