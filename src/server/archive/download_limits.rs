//! For which addresses files of many matches are being written.

use std::collections::HashSet;

use crate::connection::ip_limits::Address;
use crate::context::locks::{DOWNLOADS, Mutex};

/// How many such files are written at the same time, for as many addresses. Each keeps a connection, and
/// takes turns with all others that read.
const DOWNLOADS_MAX: usize = 32;

/// The addresses for which such files are written. One that is nobody's is one, too.
#[derive(Debug)]
pub(crate) struct DownloadLimits(Mutex<HashSet<Option<Address>>, DOWNLOADS>);

/// No more can be written: for this address, or at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DownloadLimitReached {
    PerAddress,
    Total,
}

impl DownloadLimits {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(HashSet::new()))
    }

    /// Lets one more be written for this address.
    pub(crate) fn acquire(&self, address: Option<Address>) -> Result<(), DownloadLimitReached> {
        let mut addresses = self.0.lock();
        if addresses.contains(&address) {
            return Err(DownloadLimitReached::PerAddress);
        }
        if addresses.len() >= DOWNLOADS_MAX {
            return Err(DownloadLimitReached::Total);
        }
        addresses.insert(address);
        Ok(())
    }

    /// The one for this address has come to its end.
    pub(crate) fn release(&self, address: Option<Address>) {
        self.0.lock().remove(&address);
    }
}
