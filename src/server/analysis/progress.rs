//! Progress and result of the analysis of one match.

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::review::Review;
use plyhouse_protocol::{AnalysedPly, Analysis as Page, MatchId};
use plyhouse_store::StoredAnalysis;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::wire;
use crate::context::locks::{ANALYSIS_PROGRESS, Mutex};

/// Of which kind the analyses are that are made here. One that was kept of an older kind lacks what is told now,
/// and is made again. To be raised whenever more is told, or is found in a better way.
const FORMAT_VERSION: u32 = 4;

/// What is kept of a match.
#[derive(Serialize, Deserialize)]
struct VersionedAnalysis<P> {
    /// Of which kind it is. The first had no number.
    #[serde(default)]
    #[serde(rename = "kind")]
    format_version: u32,
    #[serde(flatten)]
    page: P,
}

/// What was found of a match.
#[derive(Debug)]
pub(crate) struct Analysis {
    nodes: u64,
    page: Mutex<Page, ANALYSIS_PROGRESS>,
    /// Whether more is to come; tells whenever something has.
    is_running: watch::Sender<bool>,
}

impl Analysis {
    /// Nothing is known yet of a match of so many plies.
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

    /// What was found before; `None` if it was kept by an older server, which told less.
    pub(crate) fn from_stored(kept: &StoredAnalysis) -> Result<Option<Self>, serde_json::Error> {
        let VersionedAnalysis {
            format_version,
            page,
        } = serde_json::from_str::<VersionedAnalysis<Page>>(&kept.text)?;
        Ok((format_version >= FORMAT_VERSION).then(|| Self {
            nodes: kept.nodes,
            page: Mutex::new(page),
            is_running: watch::Sender::new(false),
        }))
    }

    /// The match.
    pub(crate) fn match_id(&self) -> MatchId {
        self.page.lock().match_id
    }

    /// How many positions are visited to value one.
    pub(crate) const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Tells whenever something has been found.
    pub(crate) fn subscribe(&self) -> watch::Receiver<bool> {
        self.is_running.subscribe()
    }

    /// Whether more is to come.
    pub(crate) fn is_running(&self) -> bool {
        *self.is_running.borrow()
    }

    /// Whether all has been found, and it is kept at most.
    pub(crate) fn is_complete(&self) -> bool {
        let page = self.page.lock();
        page.final_evaluation.is_some() && page.plies_done == page.plies_total
    }

    /// Nothing more will come.
    pub(crate) fn finish(&self) {
        self.is_running.send_replace(false);
    }

    /// What comes after the first so many plies that were told, the end of the match being the first of all;
    /// `None` if nothing does yet.
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

    /// Takes over what a review has found more.
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

    /// All of it as text, once it is whole.
    pub(super) fn to_json(&self) -> Option<String> {
        let is_whole = self.is_complete();
        let found = self.page.lock();
        let (kind, page) = (FORMAT_VERSION, &*found);
        is_whole.then(|| {
            serde_json::to_string(&VersionedAnalysis {
                format_version: kind,
                page,
            })
            .expect("an analysis serializes to JSON")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fixtures::{assert_round_trip, stored_texts};

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
