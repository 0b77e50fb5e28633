//! Limits that protect the server from clients that request too much.

use tokio::sync::Semaphore;

use crate::archive::download_limits::DownloadLimits;
use crate::connection::ip_limits::IpLimits;
use crate::players::export_rate_limit::ExportRateLimit;
use crate::settings::Settings;

/// Maximum number of concurrent store reads for game records and link previews. Reads beyond the
/// maximum are refused, so that they do not delay running matches.
const GAME_RECORD_READS_MAX: usize = 4;

/// Maximum number of concurrent store reads for clients that request long matches or many matches.
/// These reads do not count toward [`GAME_RECORD_READS_MAX`]. Reads beyond the maximum wait for a
/// permit.
const REPLAY_READS_MAX: usize = 2;

/// Limits that protect the server from clients that request too much.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) ip_limits: IpLimits,
    pub(crate) export_rate_limit: ExportRateLimit,
    /// Permits for store reads for game records and link previews. A read that gets no permit is
    /// refused.
    pub(crate) game_record_permits: Semaphore,
    /// Permits for store reads of long matches or many matches. A read waits until a permit is
    /// available.
    pub(crate) replay_permits: Semaphore,
    pub(crate) download_limits: DownloadLimits,
}

impl Limits {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            ip_limits: IpLimits::new(settings),
            export_rate_limit: ExportRateLimit::default(),
            game_record_permits: Semaphore::new(GAME_RECORD_READS_MAX),
            replay_permits: Semaphore::new(REPLAY_READS_MAX),
            download_limits: DownloadLimits::new(),
        }
    }
}
