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

use super::address::Address;

/// How long a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(3);

/// How long a statement may take.
const STATEMENT_MAX: Duration = Duration::from_secs(5);

/// How soon a connection that could not be made is tried again.
const CONNECT_AGAIN: Duration = Duration::from_secs(1);

/// The values of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Why a statement was not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// It was not sent.
    #[error("there is no connection to the database")]
    NotConnected,
    /// It may have been carried out or not.
    #[error("the connection to the database is lost")]
    Lost,
    /// The database would not.
    #[error(transparent)]
    Refused(tokio_postgres::Error),
}

/// An error with its causes, for the log: what the database said is a cause alone.
pub(super) fn because(error: &(dyn Error + 'static)) -> String {
    let causes = successors(Some(error), |&error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

/// A connection.
pub(super) struct Session {
    client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
    task: JoinHandle<()>,
}

impl Session {
    /// Connects.
    pub(super) async fn connect(address: &Address) -> Result<Self, tokio_postgres::Error> {
        let Address { config, tls } = address;
        let (client, connection) = config.connect(tls.clone()).await?;
        let carry = async move {
            if let Err(error) = connection.await {
                let error = because(&error);
                tracing::warn!(error, "a connection to the database has ended");
            }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with the session, which aborts it"
        )]
        let task = tokio::spawn(carry);
        Ok(Self {
            client,
            statements: Mutex::default(),
            task,
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
        values: Values<'_>,
    ) -> Result<Vec<Row>, Failure> {
        let asked = async {
            let statement = self.statement(sql).await?;
            self.client.query(&statement, values).await
        };
        self.answered(asked).await
    }

    /// The only row that a statement gives, if there is one.
    pub(super) async fn query_opt(
        &self,
        sql: &'static str,
        values: Values<'_>,
    ) -> Result<Option<Row>, Failure> {
        Ok(self.query(sql, values).await?.pop())
    }

    /// Carries a command out that has no values.
    pub(super) async fn command(&self, sql: &str) -> Result<(), Failure> {
        self.answered(self.client.batch_execute(sql)).await
    }

    async fn answered<T>(
        &self,
        asked: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        match timeout(STATEMENT_MAX, asked).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) if error.as_db_error().is_some() => Err(Failure::Refused(error)),
            Ok(Err(error)) => {
                let error = because(&error);
                tracing::warn!(error, "a statement was not answered");
                Err(Failure::Lost)
            }
            Err(_) => {
                tracing::warn!("a statement was not answered in time");
                Err(Failure::Lost)
            }
        }
    }

    async fn statement(&self, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        let known = self.statements.lock().get(sql).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.lock().insert(sql, statement.clone());
        Ok(statement)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The way to the database: a session while it lasts, then another.
#[derive(Debug)]
pub(super) struct Link {
    address: Address,
    session: Option<Arc<Session>>,
    again_at: Option<Instant>,
}

impl Link {
    /// A way that has this session.
    pub(super) fn new(address: Address, session: Session) -> Self {
        Self {
            address,
            session: Some(Arc::new(session)),
            again_at: None,
        }
    }

    /// The session, which is made anew if it has ended.
    pub(super) async fn session(&mut self) -> Result<Arc<Session>, Failure> {
        let open = self.session.take().filter(|session| session.is_open());
        let session = match open {
            Some(session) => session,
            None => Arc::new(self.connect().await?),
        };
        self.session = Some(Arc::clone(&session));
        Ok(session)
    }

    /// What this session says is no longer believed.
    pub(super) fn let_go(&mut self, session: &Arc<Session>) {
        self.session.take_if(|own| Arc::ptr_eq(own, session));
    }

    async fn connect(&mut self) -> Result<Session, Failure> {
        let now = Instant::now();
        if self.again_at.is_some_and(|at| now < at) {
            return Err(Failure::NotConnected);
        }
        let connected = timeout(CONNECT_MAX, Session::connect(&self.address)).await;
        match connected {
            Ok(Ok(session)) => {
                self.again_at = None;
                tracing::info!("connected to the database again");
                return Ok(session);
            }
            Ok(Err(error)) => {
                let error = because(&error);
                tracing::warn!(error, "no connection to the database");
            }
            Err(_) => tracing::warn!("no connection to the database in time"),
        }
        self.again_at = Some(Instant::now() + CONNECT_AGAIN);
        Err(Failure::NotConnected)
    }
}
