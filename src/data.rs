//! Where the data is kept, and the store that is opened there.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use etcetera::base_strategy::{BaseStrategy, Xdg};
use plyhouse_store::{MemoryStore, SqliteStore, Store, StoreMetrics};

/// Stands for no directory.
const MEMORY: &str = ":memory:";

/// Where the data is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// In memory, and lost with the process.
    Memory,
    /// In this directory.
    Directory(PathBuf),
}

impl Data {
    /// The default: `$XDG_DATA_HOME/plyhouse` or `~/.local/share/plyhouse`.
    pub(crate) fn default_directory() -> anyhow::Result<Self> {
        let base = Xdg::new().context("there is no home directory: --data DIR is needed")?;
        Ok(Self::Directory(base.data_dir().join("plyhouse")))
    }

    /// Opens the store, and gives what it counts, too.
    pub(crate) fn open(
        &self,
        keep_ended: Option<Duration>,
    ) -> anyhow::Result<(Arc<dyn Store>, StoreMetrics)> {
        Ok(match self {
            Self::Memory => (Arc::new(MemoryStore::default()), StoreMetrics::default()),
            Self::Directory(directory) => {
                let store = SqliteStore::open(directory, keep_ended)?;
                let metrics = store.metrics();
                (Arc::new(store), metrics)
            }
        })
    }
}

impl FromStr for Data {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("a directory is needed, or :memory:".to_owned()),
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_or_memory() {
        assert_eq!(":memory:".parse(), Ok(Data::Memory));
        assert_eq!("/a/b".parse(), Ok(Data::Directory("/a/b".into())));
        assert!("".parse::<Data>().is_err());
    }
}
