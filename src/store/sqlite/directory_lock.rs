//! One server a directory.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::OpenError;

/// The file that is locked. It stays when the lock is let go of, and means nothing then.
const LOCK_FILE: &str = "plyhouse.lock";

/// Keeps others out of a directory for as long as it lives, or the process does.
#[derive(Debug)]
pub(super) struct DirectoryLock(
    #[expect(dead_code, reason = "the lock is held while the file is open")] File,
);

impl DirectoryLock {
    /// Makes the directory, for its owner alone, if it is not there, and locks it.
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

/// Makes a directory and those above it, as far as they are missing, and has the disk know of them:
/// else a power cut could take the directory with all that was synced in it.
fn create_directory(directory: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
        .collect();
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
