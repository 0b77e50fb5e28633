//! Locks a data directory, so that only one server uses it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::OpenError;

/// Name of the lock file. The file is not deleted when the lock is released, because an unlocked
/// lock file has no effect.
const LOCK_FILE: &str = "plyhouse.lock";

/// Exclusive lock on a directory. The lock is released when this value is dropped or the process
/// ends.
#[derive(Debug)]
pub(super) struct DirectoryLock(
    #[expect(dead_code, reason = "the lock is held while the file is open")] File,
);

impl DirectoryLock {
    /// Locks a directory. Creates the directory if it is missing, with access for its owner only.
    pub(super) fn acquire(directory: &Path) -> Result<Self, OpenError> {
        let failed = |error| OpenError::Directory(directory.to_owned(), error);
        create_directory(directory).map_err(failed)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(directory.join(LOCK_FILE))
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse(directory.to_owned())),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Creates a directory and its missing parent directories, and syncs their directory entries. If
/// the directory entries were not synced, a power failure could remove the directory with all
/// synced data in it.
fn create_directory(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .collect();
    if directory.is_file() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    for created in missing {
        let parent = created
            .parent()
            .filter(|above| !above.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
