//! Progress and result of the analysis of one match.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::review::Review;
use plyhouse_protocol::{AnalysedPly, Analysis as Page, MatchId};
use plyhouse_store::StoredAnalysis;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::wire;
use crate::context::locks::{ANALYSIS_PROGRESS, Mutex};

/// Format version of the analyses that this server computes. Stored analyses of an older version
/// lack data and are computed again. Increase the version when an analysis gains data or becomes
/// more accurate.
const FORMAT_VERSION: u32 = 4;

/// Stored form of an analysis.
#[derive(Serialize, Deserialize)]
struct VersionedAnalysis<P> {
    /// Format version of this stored analysis. Analyses of the first format contain no version and
    /// are read as version 0.
    #[serde(default)]
    #[serde(rename = "kind")]
    format_version: u32,
    #[serde(flatten)]
    page: P,
}

/// Analysis of a match, complete or in progress.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// Number of nodes that the analysis searches per position.
    pub(crate) nodes: u64,
    page: Mutex<Page, ANALYSIS_PROGRESS>,
    /// Whether the analysis is still running. Receivers from [`subscribe`](Self::subscribe) are
    /// notified each time the analysis changes.
    is_running: watch::Sender<bool>,
}

impl Analysis {
    /// Creates an empty analysis of a match with `plies` plies.
    pub(crate) fn new(match_id: MatchId, nodes: u64, plies: usize) -> Self {
        let nothing = Page {
            match_id,
            plies_done: 0,
            plies_total: plies as u64,
            plies: Vec::new(),
            final_evaluation: None,
            accuracy: None,
        };
        Self {
            nodes,
            page: Mutex::new(nothing),
            is_running: watch::Sender::new(true),
        }
    }

    /// Parses a stored analysis. Returns `None` if its format version is too old.
    pub(crate) fn from_stored(stored: &StoredAnalysis) -> Result<Option<Self>, serde_json::Error> {
        let versioned: VersionedAnalysis<Page> = serde_json::from_str(&stored.text)?;
        Ok((versioned.format_version >= FORMAT_VERSION).then(|| Self {
            nodes: stored.nodes,
            page: Mutex::new(versioned.page),
            is_running: watch::Sender::new(false),
        }))
    }

    pub(crate) fn match_id(&self) -> MatchId {
        self.page.lock().match_id
    }

    /// Returns a receiver that is notified of every change to the analysis.
    pub(crate) fn subscribe(&self) -> watch::Receiver<bool> {
        self.is_running.subscribe()
    }

    pub(crate) fn is_running(&self) -> bool {
        *self.is_running.borrow()
    }

    /// Returns whether all plies and the final position are analysed. A complete analysis is not
    /// necessarily stored yet.
    pub(crate) fn is_complete(&self) -> bool {
        let page = self.page.lock();
        page.final_evaluation.is_some() && page.plies_done == page.plies_total
    }

    /// Marks the analysis as no longer running.
    pub(crate) fn finish(&self) {
        self.is_running.send_replace(false);
    }

    /// Returns the next page of at most `limit` plies. `sent` is the number of plies in the pages
    /// that were sent before, or `None` before the first page. Only the first page includes the
    /// evaluation of the final position. Returns `None` if there are no new results.
    pub(crate) fn page_after(&self, sent: Option<u64>, limit: usize) -> Option<Page> {
        let page = self.page.lock();
        let begin = usize::try_from(sent.unwrap_or(0)).unwrap_or(usize::MAX);
        let end = page.plies.len().min(begin.saturating_add(limit));
        let is_news = end > begin || (sent.is_none() && page.final_evaluation.is_some());
        is_news.then(|| {
            let done = end as u64;
            Page {
                match_id: page.match_id,
                plies_done: done,
                plies_total: page.plies_total,
                plies: page.plies[begin..end].to_vec(),
                final_evaluation: page.final_evaluation.filter(|_| sent.is_none()),
                accuracy: page.accuracy.filter(|_| done == page.plies_total),
            }
        })
    }

    /// Copies the new move reviews, the final evaluation and the accuracy from `review`.
    pub(super) fn append_review(&self, review: &Review, game: &GameEntry) {
        let mut page = self.page.lock();
        let known_plies = page.plies.len();
        let new_plies = review.move_reviews()[known_plies..].iter();
        let new_plies: Vec<AnalysedPly> = new_plies
            .map(|looked| wire::analysed_ply(game, looked))
            .collect();
        page.plies.extend(new_plies);
        page.plies_done = page.plies.len() as u64;
        page.final_evaluation = review.final_evaluation().map(wire::valuation);
        page.accuracy = review.accuracy();
        drop(page);
        self.is_running.send_modify(|_| {});
    }

    /// Returns the stored form of the analysis if it is complete.
    pub(super) fn to_json(&self) -> Option<String> {
        if !self.is_complete() {
            return None;
        }
        let versioned = VersionedAnalysis {
            format_version: FORMAT_VERSION,
            page: &*self.page.lock(),
        };
        Some(serde_json::to_string(&versioned).expect("an analysis serializes to JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::compat_fixtures::{assert_round_trip, stored_texts};

    #[test]
    fn stored_analyses_are_read() {
        for text in stored_texts("analyses.body") {
            let VersionedAnalysis {
                format_version,
                page,
            } = assert_round_trip::<VersionedAnalysis<Page>>(text);
            assert_eq!(
                (format_version, page.plies_done, page.plies_total),
                (FORMAT_VERSION, 5, 5)
            );
            assert!(page.final_evaluation.is_some() && page.accuracy.is_some());
            assert_eq!(page.plies.len(), 5);
        }
    }
}
