//! Limits on the concurrent downloads of a player's game records.

use std::collections::HashSet;

use super::game_records::ArchiveError;
use crate::connection::ip_limits::Address;
use crate::context::locks::{DOWNLOADS, Mutex};

/// Maximum number of concurrent downloads on this server. Each download occupies a connection and
/// competes with other requests for the permits that are needed to replay matches.
const DOWNLOADS_MAX: usize = 32;

/// Addresses with a running download. All downloads from loopback addresses share the entry `None`.
#[derive(Debug)]
pub(crate) struct DownloadLimits(Mutex<HashSet<Option<Address>>, DOWNLOADS>);

impl DownloadLimits {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(HashSet::new()))
    }

    /// Registers a download for this address. Fails if the address already has a running download,
    /// or if [`DOWNLOADS_MAX`] downloads are running.
    pub(crate) fn acquire(&self, address: Option<Address>) -> Result<(), ArchiveError> {
        let mut addresses = self.0.lock();
        if addresses.contains(&address) {
            return Err(ArchiveError::AddressBusy);
        }
        if addresses.len() >= DOWNLOADS_MAX {
            return Err(ArchiveError::Busy);
        }
        addresses.insert(address);
        Ok(())
    }

    /// Unregisters the download of this address.
    pub(crate) fn release(&self, address: Option<Address>) {
        self.0.lock().remove(&address);
    }
}
