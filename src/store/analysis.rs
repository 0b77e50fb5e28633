//! What was thought of an ended match, so that nobody need think again.

/// What was thought of an ended match. A store takes the text as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAnalysis {
    /// How many positions were visited to value one of the match, at most.
    pub nodes: u64,
    /// What came of it.
    pub text: String,
}
