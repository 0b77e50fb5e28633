//! A database connection that reconnects after the connection was lost.
//!
//! If a statement gets no response in time, the connection counts as lost, because a broken
//! connection does not always report an error.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::iter::successors;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::connection_url::ConnectionUrl;
use crate::sql::{InvalidColumn, to_postgres, to_postgres_arrays};

/// Maximum time to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum duration of a statement.
pub(super) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);

/// Minimum delay between a failed attempt to connect and the next attempt.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Error returned by a statement.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueryError {
    /// The statement was not sent, because the database is not connected.
    #[error("not connected to the database")]
    NotConnected,
    /// The connection was lost. The statement may or may not have been executed.
    #[error("the connection to the database was lost")]
    ConnectionLost,
    /// The database rejected the statement.
    #[error(transparent)]
    Rejected(tokio_postgres::Error),
    /// A column has an unexpected value.
    #[error(transparent)]
    InvalidColumn(InvalidColumn),
}

/// Formats an error and its causes for the log. A `tokio_postgres` error does not print the message
/// that the database sent. One of the causes of the error prints this message.
pub(super) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |&error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

/// Form of the parameters of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ParamForm {
    Values,
    /// The statement is an `INSERT` of one row that is executed for several rows. The parameters are
    /// arrays with one element for each row.
    Arrays,
}

/// A database connection and its cache of prepared statements.
pub(super) struct PgConnection {
    client: Client,
    statements: Mutex<HashMap<(&'static str, ParamForm), Statement>>,
    statement_timeout: Duration,
    driver: JoinHandle<()>,
}

impl PgConnection {
    pub(super) async fn connect(url: &ConnectionUrl) -> Result<Self, tokio_postgres::Error> {
        let ConnectionUrl { config, tls } = url;
        let (client, connection) = config.connect(tls.clone()).await?;
        let drive = async move {
            if let Err(error) = connection.await {
                let error = error_chain(&error);
                tracing::warn!(error, "database connection closed");
            }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with the session, which aborts it"
        )]
        let task = tokio::spawn(drive);
        Ok(Self {
            client,
            statements: Mutex::default(),
            statement_timeout: STATEMENT_TIMEOUT,
            driver: task,
        })
    }

    /// Returns the database client.
    pub(super) const fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Sets the maximum duration of a statement.
    pub(super) const fn set_statement_timeout(&mut self, timeout: Duration) {
        self.statement_timeout = timeout;
    }

    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    /// Runs a statement and returns its rows.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<Vec<Row>, QueryError> {
        let query = async {
            let statement = self.prepare_cached(sql, ParamForm::Values).await?;
            self.client.query(&statement, params).await
        };
        self.with_timeout(query).await
    }

    /// Runs a statement and returns the number of rows that it has changed.
    pub(super) async fn execute_prepared(
        &self,
        sql: &'static str,
        form: ParamForm,
        params: Params<'_>,
    ) -> Result<u64, QueryError> {
        let execute = async {
            let statement = self.prepare_cached(sql, form).await?;
            self.client.execute(&statement, params).await
        };
        self.with_timeout(execute).await
    }

    /// Executes SQL without parameters.
    pub(super) async fn execute_batch(&self, sql: &str) -> Result<(), QueryError> {
        self.with_timeout(self.client.batch_execute(sql)).await
    }

    async fn with_timeout<T>(
        &self,
        query: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, QueryError> {
        match timeout(self.statement_timeout, query).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) if error.as_db_error().is_some() => Err(QueryError::Rejected(error)),
            Ok(Err(error)) => {
                let error = error_chain(&error);
                tracing::warn!(error, "statement failed, connection lost");
                Err(QueryError::ConnectionLost)
            }
            Err(_) => {
                tracing::warn!("statement timed out");
                Err(QueryError::ConnectionLost)
            }
        }
    }

    /// Prepares a statement, whose parameters may be written as `$1` or `?1`. The lock is held
    /// meanwhile, so that concurrent callers do not prepare the statement again.
    async fn prepare_cached(
        &self,
        sql: &'static str,
        form: ParamForm,
    ) -> Result<Statement, tokio_postgres::Error> {
        let mut statements = self.statements.lock().await;
        if let Some(cached) = statements.get(&(sql, form)) {
            return Ok(cached.clone());
        }
        let mut statement = self.client.prepare(&to_postgres(sql)).await?;
        if form == ParamForm::Arrays {
            let arrays_sql = to_postgres_arrays(sql, statement.params());
            statement = self.client.prepare(&arrays_sql).await?;
        }
        statements.insert((sql, form), statement.clone());
        Ok(statement)
    }
}

impl std::fmt::Debug for PgConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgConnection").finish_non_exhaustive()
    }
}

impl Drop for PgConnection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A connection to the database that is replaced when it closes or is discarded.
#[derive(Debug)]
pub(super) struct ReconnectingConnection {
    url: ConnectionUrl,
    connection: Option<Arc<PgConnection>>,
    retry_at: Option<Instant>,
}

impl ReconnectingConnection {
    pub(super) fn new(url: ConnectionUrl, connection: PgConnection) -> Self {
        Self {
            url,
            connection: Some(Arc::new(connection)),
            retry_at: None,
        }
    }

    /// Returns the open connection. Reconnects if no connection is open.
    pub(super) async fn connection(&mut self) -> Result<Arc<PgConnection>, QueryError> {
        let open = self.connection.take().filter(|session| session.is_open());
        let connection = match open {
            Some(connection) => connection,
            None => Arc::new(self.connect().await?),
        };
        self.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Discards a connection after an error, unless another connection has already replaced it.
    pub(super) fn discard(&mut self, connection: &Arc<PgConnection>) {
        self.connection.take_if(|own| Arc::ptr_eq(own, connection));
    }

    async fn connect(&mut self) -> Result<PgConnection, QueryError> {
        let now = Instant::now();
        if self.retry_at.is_some_and(|at| now < at) {
            return Err(QueryError::NotConnected);
        }
        let connected = timeout(CONNECT_TIMEOUT, PgConnection::connect(&self.url)).await;
        match connected {
            Ok(Ok(connection)) => {
                self.retry_at = None;
                tracing::info!("reconnected to the database");
                return Ok(connection);
            }
            Ok(Err(error)) => {
                let error = error_chain(&error);
                tracing::warn!(error, "cannot connect to the database");
            }
            Err(_) => tracing::warn!("connecting to the database timed out"),
        }
        self.retry_at = Some(Instant::now() + RECONNECT_DELAY);
        Err(QueryError::NotConnected)
    }
}
