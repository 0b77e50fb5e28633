//! A connection from outside to the database that servers use, for programs that do one thing after the other.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Row;

use super::link::{Failure, Session, Values};
use super::{Address, OpenError, schema};

/// A connection with a runtime of its own. Not to be used within another.
#[derive(Debug)]
pub(super) struct Outside {
    runtime: Runtime,
    session: Session,
}

impl Outside {
    /// Connects, if the tables are those that this program knows.
    pub(super) fn open(address: &Address) -> Result<Self, OpenError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(OpenError::Runtime)?;
        let session = runtime.block_on(async {
            let mut session = Session::connect(address).await?;
            schema::check(session.client()).await?;
            Ok::<_, OpenError>(session)
        })?;
        Ok(Self { runtime, session })
    }

    /// The rows that a statement gives.
    pub(super) fn query(&self, sql: &'static str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        self.runtime.block_on(self.session.query(sql, values))
    }

    /// The only row that a statement gives, if there is one.
    pub(super) fn first(
        &self,
        sql: &'static str,
        values: Values<'_>,
    ) -> Result<Option<Row>, Failure> {
        Ok(self.query(sql, values)?.into_iter().next())
    }
}
