//! One connection to the database, which is made anew when it is lost.
//!
//! A statement that is not answered in time counts as lost with its connection: one that has gone deaf
//! tells nothing of itself.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::iter::successors;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use super::connection_url::ConnectionUrl;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a statement may take.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(5);

/// How soon a connection that could not be made is tried again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// The values of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Why a statement was not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum QueryError {
    /// It was not sent.
    #[error("there is no connection to the database")]
    NotConnected,
    /// It may have been carried out or not.
    #[error("the connection to the database is lost")]
    ConnectionLost,
    /// The database would not.
    #[error(transparent)]
    Rejected(tokio_postgres::Error),
}

/// An error with its causes, for the log: what the database said is a cause alone.
pub(super) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |&error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

/// A connection.
pub(super) struct PgConnection {
    client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
    driver: JoinHandle<()>,
}

impl PgConnection {
    /// Connects.
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
            driver: task,
        })
    }

    /// The client, to bring tables up to date.
    pub(super) const fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    /// The rows that a statement gives.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<Vec<Row>, QueryError> {
        let query = async {
            let statement = self.prepare_cached(sql).await?;
            self.client.query(&statement, params).await
        };
        self.with_timeout(query).await
    }

    /// The only row that a statement gives, if there is one.
    pub(super) async fn query_opt(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<Option<Row>, QueryError> {
        Ok(self.query(sql, params).await?.pop())
    }

    /// Carries a command out that has no values.
    pub(super) async fn execute_batch(&self, sql: &str) -> Result<(), QueryError> {
        self.with_timeout(self.client.batch_execute(sql)).await
    }

    async fn with_timeout<T>(
        &self,
        query: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, QueryError> {
        match timeout(STATEMENT_TIMEOUT, query).await {
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

    async fn prepare_cached(&self, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        let cached = self.statements.lock().get(sql).cloned();
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.lock().insert(sql, statement.clone());
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

/// The way to the database: a session while it lasts, then another.
#[derive(Debug)]
pub(super) struct ReconnectingConnection {
    url: ConnectionUrl,
    connection: Option<Arc<PgConnection>>,
    retry_at: Option<Instant>,
}

impl ReconnectingConnection {
    /// A way that has this session.
    pub(super) fn new(url: ConnectionUrl, connection: PgConnection) -> Self {
        Self {
            url,
            connection: Some(Arc::new(connection)),
            retry_at: None,
        }
    }

    /// The session, which is made anew if it has ended.
    pub(super) async fn connection(&mut self) -> Result<Arc<PgConnection>, QueryError> {
        let open = self.connection.take().filter(|session| session.is_open());
        let connection = match open {
            Some(connection) => connection,
            None => Arc::new(self.connect().await?),
        };
        self.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// What this session says is no longer believed.
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
