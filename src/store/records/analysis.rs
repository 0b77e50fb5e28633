//! Stored analyses of ended matches, and requests that count against the analysis quota of a
//! player.

use plyhouse_protocol::PlayerId;

/// Analysis of an ended match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnalysis {
    /// Maximum number of nodes that were searched per position.
    pub nodes: u64,
    /// Result of the analysis, in a format that the store does not interpret.
    pub text: String,
}

/// Analysis request that the store counts against the quota of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisQuotaRequest {
    pub player: PlayerId,
    /// Time of the request, as Unix time in milliseconds.
    pub at_ms: u64,
    /// Start of the quota period, as Unix time in milliseconds. Requests at or before this time no
    /// longer count.
    pub since_ms: u64,
    /// Maximum number of requests in the quota period, including this one.
    pub requests_max: u32,
}
