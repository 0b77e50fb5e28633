//! Determines where the server stores its data, and opens the store at this location.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use etcetera::base_strategy::{BaseStrategy, Xdg};
use plyhouse_store::{
    AdminQueue, MemoryStore, OpenError, OpenPostgresError, PostgresAdminQueue, PostgresInspector,
    PostgresStore, SqliteAdminQueue, SqliteInspector, SqliteStore, Store, StoreInspector,
    StoreMetrics,
};
use plyhouse_tools::common_args::exit_with_usage_error;

/// Heading of the options in `--help`.
const STORAGE: &str = "Storage";

/// Value of `--data` that selects the in-memory store.
const MEMORY: &str = ":memory:";

/// Location where the server stores its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// The data is in memory and is lost when the process ends.
    Memory,
    /// The data is in a SQLite database in this directory.
    Directory(PathBuf),
    /// The data is in the PostgreSQL database at this address.
    Database(Address),
}

/// Address of a PostgreSQL database. Its `Display` and `Debug` output omits the password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address(String);

/// Options that select the location of the data.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreLocation {
    /// Data directory, or :memory: (without this option: ~/.local/share/plyhouse)
    ///
    /// The directory holds an SQLite database with matches and accounts. With `:memory:`, the data is lost
    /// when the server ends. The default directory is `$XDG_DATA_HOME/plyhouse` if that variable is set.
    #[arg(long, env = "PLYHOUSE_DATA", value_name = "DIR", help_heading = STORAGE)]
    data: Option<Data>,

    /// PostgreSQL database to use instead of --data, such as postgres://user:password@host/name
    #[arg(
        long,
        env = "PLYHOUSE_DATABASE",
        value_name = "URL",
        help_heading = STORAGE,
        hide_env_values = true,
        value_parser = Secret(Address::from_str)
    )]
    database: Option<Address>,
}

impl StoreLocation {
    /// Returns the location that the options select.
    pub(crate) fn data(self) -> anyhow::Result<Data> {
        match (self.database, self.data) {
            (Some(address), _) => Ok(Data::Database(address)),
            (None, Some(data)) => Ok(data),
            (None, None) => Data::default_directory(),
        }
    }
}

impl Data {
    /// Returns the default location, `$XDG_DATA_HOME/plyhouse` or `~/.local/share/plyhouse`.
    fn default_directory() -> anyhow::Result<Self> {
        let base = Xdg::new()
            .context("cannot find the home directory; set the data directory with --data DIR")?;
        Ok(Self::Directory(base.data_dir().join("plyhouse")))
    }

    /// Opens the store for a single server. Returns the store and its metrics.
    pub(crate) async fn open(
        &self,
        keep_ended: Option<Duration>,
    ) -> anyhow::Result<(Box<dyn Store>, StoreMetrics)> {
        Ok(match self {
            Self::Memory => (Box::new(MemoryStore::default()), StoreMetrics::default()),
            Self::Directory(directory) => {
                let store = SqliteStore::open(directory, keep_ended)?;
                let metrics = store.metrics();
                (Box::new(store), metrics)
            }
            Self::Database(address) => {
                let store = PostgresStore::open_exclusive(&address.0, keep_ended).await?;
                let metrics = store.metrics();
                (Box::new(store), metrics)
            }
        })
    }

    /// Logs a warning if other users of the machine have permission to open the database.
    pub(crate) fn warn_about_permissions(&self) {
        let Self::Directory(directory) = self else {
            return;
        };
        if let Some(mode) = SqliteStore::loose_permissions(directory) {
            let (directory, mode) = (directory.display(), format!("{mode:o}"));
            tracing::warn!(%directory, mode, "other users of this machine have permission to open the database");
        }
    }

    /// Parses a location such as `sqlite:DIR` or `postgres://…`, which is the form that
    /// `move-store` takes.
    pub(crate) fn from_url(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some((scheme, directory)) if scheme.eq_ignore_ascii_case("sqlite") => match directory {
                "" => Err("expected a directory after sqlite:".to_owned()),
                directory => Ok(Self::Directory(directory.into())),
            },
            Some(_) | None => text
                .parse()
                .map(Self::Database)
                .map_err(|_| "expected sqlite:DIR or postgres://…".to_owned()),
        }
    }

    /// Opens the store. Fails if another process uses it.
    pub(crate) async fn open_exclusive(&self) -> anyhow::Result<Box<dyn Store>> {
        if *self == Self::Memory {
            exit_with_usage_error("data in memory cannot be moved; use a directory or a database");
        }
        let (store, _) = self.open(None).await?;
        Ok(store)
    }

    /// Opens the store. Returns `None` if another process uses it.
    pub(crate) async fn open_if_unused(&self) -> anyhow::Result<Option<Box<dyn Store>>> {
        match self.open_exclusive().await {
            Ok(store) => Ok(Some(store)),
            Err(error) => {
                let is_used = matches!(error.downcast_ref(), Some(OpenError::InUse(_)))
                    || matches!(error.downcast_ref(), Some(OpenPostgresError::InUse));
                if is_used { Ok(None) } else { Err(error) }
            }
        }
    }

    /// Opens the queue that passes operator commands to the server that uses the store.
    pub(crate) fn admin_queue(&self) -> anyhow::Result<Box<dyn AdminQueue>> {
        match self {
            Self::Memory => exit_with_usage_error(
                "this command cannot reach data in memory; use a directory or a database",
            ),
            Self::Directory(directory) => Ok(Box::new(SqliteAdminQueue::open(directory)?)),
            Self::Database(address) => Ok(Box::new(PostgresAdminQueue::open(&address.0)?)),
        }
    }

    /// Opens the store for maintenance. The servers of a cluster may use a PostgreSQL database at
    /// the same time, but no server may use a directory.
    pub(crate) async fn open_for_maintenance(&self) -> anyhow::Result<Box<dyn Store>> {
        match self {
            Self::Memory | Self::Directory(_) => self.open_exclusive().await,
            Self::Database(address) => Ok(Box::new(address.open_shared(None).await?)),
        }
    }

    /// Opens the store for read-only inspection.
    pub(crate) fn inspect(&self) -> anyhow::Result<Box<dyn StoreInspector>> {
        match self {
            Self::Memory => exit_with_usage_error(
                "this command cannot read data in memory; use a directory or a database",
            ),
            Self::Directory(directory) => Ok(Box::new(SqliteInspector::open(directory)?)),
            Self::Database(address) => Ok(Box::new(PostgresInspector::open(&address.0)?)),
        }
    }
}

impl Address {
    /// Opens the store of a server that shares the database with other servers.
    pub(crate) async fn open_shared(
        &self,
        keep_ended: Option<Duration>,
    ) -> anyhow::Result<PostgresStore> {
        Ok(PostgresStore::open(&self.0, keep_ended).await?)
    }

    /// Returns the hosts and the database name of the address, without user, password and settings.
    /// Returns `None` if the result might contain part of a password.
    fn redact(&self) -> Option<String> {
        let (_, rest) = self.0.split_once("://")?;
        let (place, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, name) = place.split_at(place.find('/').unwrap_or(place.len()));
        // An `@` in the settings or in the database name may end a password that contains an
        // unescaped `/` or `?`.
        if settings.contains('@') || name.contains('@') {
            return None;
        }
        let (_, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        // If the text after a colon is not a port number, it may be the password of an address
        // without a host.
        let is_host = |host: &str| {
            let after_brackets = host.rsplit(']').next().unwrap_or_default();
            let port = after_brackets.split_once(':').map_or("", |(_, port)| port);
            port.bytes().all(|byte| byte.is_ascii_digit())
        };
        (hosts.split(',').all(is_host)).then(|| format!("{hosts}{name}"))
    }
}

impl FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("expected a directory or :memory:".to_owned()),
            MEMORY => Ok(Self::Memory),
            path => Ok(Self::Directory(path.into())),
        }
    }
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str(MEMORY),
            Self::Directory(directory) => directory.display().fmt(f),
            Self::Database(address) => address.fmt(f),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once("://") {
            // tokio-postgres accepts the scheme only in lower case.
            Some((scheme, rest))
                if matches!(&*scheme.to_ascii_lowercase(), "postgres" | "postgresql") =>
            {
                Ok(Self(format!("postgres://{rest}")))
            }
            Some(_) | None => Err("expected postgres://…".to_owned()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.redact();
        write!(f, "postgres://{}", place.as_deref().unwrap_or("…"))
    }
}

/// Parser for a command-line value that may contain a password. Unlike clap's own errors, the
/// errors of this parser do not repeat the value.
#[derive(Clone, Debug)]
pub(crate) struct Secret<T>(pub(crate) fn(&str) -> Result<T, String>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Secret<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let text = value
            .to_str()
            .ok_or_else(|| "expected UTF-8 text".to_owned());
        text.and_then(self.0).map_err(|why| {
            let arg = arg.map(ToString::to_string).unwrap_or_default();
            let message = format!("invalid value for '{arg}': {why}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn data_is_a_directory_or_memory() {
        assert_eq!(":memory:".parse(), Ok(Data::Memory));
        assert_eq!("/a/b".parse(), Ok(Data::Directory("/a/b".into())));
        assert!("".parse::<Data>().is_err());
    }

    #[test]
    fn store_address_names_its_kind() {
        let directory = Data::from_url("sqlite:/a/b");
        assert_eq!(directory, Ok(Data::Directory("/a/b".into())));
        let database = Data::from_url("postgres://db/p").unwrap();
        assert_eq!(database.to_string(), "postgres://db/p");
        for neither in ["", "sqlite:", "/a/b", ":memory:", "mysql://db"] {
            assert!(Data::from_url(neither).is_err(), "{neither}");
        }
    }

    #[test]
    fn password_is_redacted() {
        for (address, shown) in [
            (
                "postgres://ann:s3cret@db.example/plyhouse",
                "postgres://db.example/plyhouse",
            ),
            ("postgres://ann:s3@cret@a:1,b:2/p", "postgres://a:1,b:2/p"),
            ("postgresql://db/p?password=s3cret", "postgres://db/p"),
            ("postgres://db", "postgres://db"),
            ("postgres://[::1]:5432/p", "postgres://[::1]:5432/p"),
            ("POSTGRES://ann:s3cret@db/p", "postgres://db/p"),
            // In these addresses, a password may be in an unexpected place, for example because a
            // character is not escaped.
            ("postgres://ann:s3/cret@db/p", "postgres://…"),
            ("postgres://ann:s3?cret@db/p", "postgres://…"),
            ("postgres://db/p?password=s3@cret", "postgres://…"),
            ("postgres://ann:s3cret", "postgres://…"),
            ("postgres://ann:s3cret/p", "postgres://…"),
            ("postgres://:s3cret", "postgres://…"),
        ] {
            let address: Address = address.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), format!("Address({shown})"));
        }
        assert!("mysql://db".parse::<Address>().is_err());
    }

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        place: StoreLocation,
    }

    #[test]
    fn invalid_address_is_not_printed() {
        for address in [
            "postgre://ann:s3cret@db/p",
            "ann:s3cret@db/p",
            "host=db password=s3cret",
            "mysql://ann:s3cret@db/p",
            "s3cret",
        ] {
            let refused = Line::try_parse_from(["plyhouse", "--database", address]);
            let message = refused.expect_err(address).to_string();
            assert!(message.contains("--database <URL>"), "{message}");
            assert!(message.contains("expected postgres://…"), "{message}");
            assert!(!message.contains("s3cret"), "{message}");
        }
    }

    #[test]
    fn url_schemes_ignore_case() {
        let directory = Data::from_url("SQLite:/a/B");
        assert_eq!(directory, Ok(Data::Directory("/a/B".into())));
        for address in ["Postgres://db/P", "POSTGRESQL://db/P"] {
            let database = Data::from_url(address).unwrap();
            assert_eq!(database.to_string(), "postgres://db/P");
        }
    }
}
