//! A blocking connection to the database, for command-line tools that run alongside the servers.

use tokio::runtime::{Builder, Runtime};

use super::reconnecting_connection::PgConnection;
use super::{ConnectionUrl, OpenError, schema};

/// A connection with its own async runtime. Must not be used within another runtime.
#[derive(Debug)]
pub(super) struct OneOffConnection {
    runtime: Runtime,
    connection: PgConnection,
}

impl OneOffConnection {
    /// Connects to a database and checks that its schema has the version that this program expects.
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

    /// Runs a query with this connection and returns its result.
    pub(super) fn run<T>(&self, query: impl AsyncFnOnce(&PgConnection) -> T) -> T {
        self.runtime.block_on(query(&self.connection))
    }
}
