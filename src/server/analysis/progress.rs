//! Progress and result of the analysis of one match.

use plyhouse_engine::catalog::Entry;
use plyhouse_engine::review::Review;
use plyhouse_protocol::{AnalysedPly, Analysis as Page, MatchId};
use plyhouse_store::KeptAnalysis;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::wire;
use crate::context::locks::{ANALYSIS, Mutex};

/// Of which kind the analyses are that are made here. One that was kept of an older kind lacks what is told now,
/// and is made again. To be raised whenever more is told, or is found in a better way.
const KIND: u32 = 4;

/// What is kept of a match.
#[derive(Serialize, Deserialize)]
struct Kept<P> {
    /// Of which kind it is. The first had no number.
    #[serde(default)]
    kind: u32,
    #[serde(flatten)]
    page: P,
}

/// What was found of a match.
#[derive(Debug)]
pub(crate) struct Analysis {
    nodes: u64,
    found: Mutex<Page, ANALYSIS>,
    /// Whether more is to come; tells whenever something has.
    under_way: watch::Sender<bool>,
}

impl Analysis {
    /// Nothing is known yet of a match of so many plies.
    pub(crate) fn new(match_id: MatchId, nodes: u64, plies: usize) -> Self {
        let nothing = Page {
            match_id,
            done: 0,
            of: plies as u64,
            plies: Vec::new(),
            end: None,
            accuracy: None,
        };
        Self {
            nodes,
            found: Mutex::new(nothing),
            under_way: watch::Sender::new(true),
        }
    }

    /// What was found before; `None` if it was kept by an older server, which told less.
    pub(crate) fn kept(kept: &KeptAnalysis) -> Result<Option<Self>, serde_json::Error> {
        let Kept { kind, page } = serde_json::from_str::<Kept<Page>>(&kept.text)?;
        Ok((kind >= KIND).then(|| Self {
            nodes: kept.nodes,
            found: Mutex::new(page),
            under_way: watch::Sender::new(false),
        }))
    }

    /// The match.
    pub(crate) fn match_id(&self) -> MatchId {
        self.found.lock().match_id
    }

    /// How many positions are visited to value one.
    pub(crate) const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Tells whenever something has been found.
    pub(crate) fn news(&self) -> watch::Receiver<bool> {
        self.under_way.subscribe()
    }

    /// Whether more is to come.
    pub(crate) fn is_under_way(&self) -> bool {
        *self.under_way.borrow()
    }

    /// Whether all has been found, and it is kept at most.
    pub(crate) fn is_whole(&self) -> bool {
        let found = self.found.lock();
        found.end.is_some() && found.done == found.of
    }

    /// Nothing more will come.
    pub(crate) fn ends(&self) {
        self.under_way.send_replace(false);
    }

    /// What comes after the first so many plies that were told, the end of the match being the first of all;
    /// `None` if nothing does yet.
    pub(crate) fn page(&self, told: Option<u64>, most: usize) -> Option<Page> {
        let found = self.found.lock();
        let begin = usize::try_from(told.unwrap_or(0)).unwrap_or(usize::MAX);
        let end = found.plies.len().min(begin.saturating_add(most));
        let is_news = end > begin || (told.is_none() && found.end.is_some());
        is_news.then(|| {
            let done = end as u64;
            Page {
                match_id: found.match_id,
                done,
                of: found.of,
                plies: found.plies[begin..end].to_vec(),
                end: found.end.filter(|_| told.is_none()),
                accuracy: found.accuracy.filter(|_| done == found.of),
            }
        })
    }

    /// Takes over what a review has found more.
    pub(super) fn add(&self, review: &Review, game: &Entry) {
        let mut found = self.found.lock();
        let known = found.plies.len();
        let more = review.looked()[known..].iter();
        let more: Vec<AnalysedPly> = more.map(|looked| wire::ply(game, looked)).collect();
        found.plies.extend(more);
        found.done = found.plies.len() as u64;
        found.end = review.end().map(wire::worth);
        found.accuracy = review.accuracy();
        drop(found);
        self.under_way.send_modify(|_| {});
    }

    /// All of it as text, once it is whole.
    pub(super) fn text(&self) -> Option<String> {
        let is_whole = self.is_whole();
        let found = self.found.lock();
        let (kind, page) = (KIND, &*found);
        is_whole
            .then(|| serde_json::to_string(&Kept { kind, page }).expect("it has text keys only"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fixtures::{check, texts};

    #[test]
    fn stored_analyses_are_read() {
        for text in texts("analyses.body") {
            let Kept { kind, page } = check::<Kept<Page>>(text);
            assert_eq!((kind, page.done, page.of), (KIND, 5, 5));
            assert!(page.end.is_some() && page.accuracy.is_some());
            assert_eq!(page.plies.len(), 5);
        }
    }
}
