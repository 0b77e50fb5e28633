//! What was thought of an ended match, so that nobody need think again, and for whom.

use plyhouse_protocol::PlayerId;

/// What was thought of an ended match. A store takes the text as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnalysis {
    /// How many positions were visited to value one of the match, at most.
    pub nodes: u64,
    /// What came of it.
    pub text: String,
}

/// A player has a match looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisQuotaRequest {
    /// Who.
    pub player: PlayerId,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What was asked for no later than this counts no more.
    pub since_ms: u64,
    /// How many a player may ask for since then.
    pub requests_max: u32,
}
