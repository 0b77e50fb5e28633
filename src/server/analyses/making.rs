//! One match that is looked at: what was found, and how.

use std::time::Duration;

use plyhouse_engine::catalog::Entry;
use plyhouse_engine::review::Review;
use plyhouse_engine::search::{Level, Limits, Stop};
use plyhouse_protocol::{AnalysedPly, Analysis as Page, MatchId, PlayerId};
use plyhouse_store::KeptAnalysis;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::wire;
use crate::bots::{Class, Priority};
use crate::locks::{ANALYSIS, Mutex};
use crate::shared::ServerContext;

/// For how long one position may wait for a search thread. A server that has no time for so long has none
/// for this.
const PATIENCE: Duration = Duration::from_secs(600);

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
    pub(super) fn new(match_id: MatchId, nodes: u64, plies: usize) -> Self {
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
    pub(super) fn kept(kept: &KeptAnalysis) -> Result<Option<Self>, serde_json::Error> {
        let Kept { kind, page } = serde_json::from_str::<Kept<Page>>(&kept.text)?;
        Ok((kind >= KIND).then(|| Self {
            nodes: kept.nodes,
            found: Mutex::new(page),
            under_way: watch::Sender::new(false),
        }))
    }

    /// The match.
    pub(super) fn match_id(&self) -> MatchId {
        self.found.lock().match_id
    }

    /// How many positions are visited to value one.
    pub(super) const fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Tells whenever something has been found.
    pub(super) fn news(&self) -> watch::Receiver<bool> {
        self.under_way.subscribe()
    }

    /// Whether more is to come.
    pub(super) fn is_under_way(&self) -> bool {
        *self.under_way.borrow()
    }

    /// Whether all has been found, and it is kept at most.
    pub(super) fn is_whole(&self) -> bool {
        let found = self.found.lock();
        found.end.is_some() && found.done == found.of
    }

    /// Nothing more will come.
    pub(super) fn ends(&self) {
        self.under_way.send_replace(false);
    }

    /// What comes after the first so many plies that were told, the end of the match being the first of all;
    /// `None` if nothing does yet.
    pub(super) fn page(&self, told: Option<u64>, most: usize) -> Option<Page> {
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
    fn add(&self, review: &Review, game: &Entry) {
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
    fn text(&self) -> Option<String> {
        let is_whole = self.is_whole();
        let found = self.found.lock();
        let (kind, page) = (KIND, &*found);
        is_whole
            .then(|| serde_json::to_string(&Kept { kind, page }).expect("it has text keys only"))
    }
}

/// Looks at a match, position by position, and has kept what was found.
pub(super) async fn make(
    server: &ServerContext,
    by: PlayerId,
    mut review: Review,
    found: &Analysis,
) {
    let Ok(permit) = server.analysis_queue.places.acquire().await else {
        return;
    };
    let (id, game) = (found.match_id(), review.game());
    let (stop, limits) = (Stop::new(), limits(server, found.nodes));
    let place = Priority {
        host: by,
        class: Class::Past,
        level: Level::Max,
    };
    while !review.is_done() {
        let stopped = stop.clone();
        let look = move |_: &mut _| {
            review.step(&limits, &stopped);
            review
        };
        let looked = tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            () = server.shutdown.cancelled() => None,
            looked = server.bots.lend(place, PATIENCE, look) => looked,
        };
        let Some(looked) = looked else {
            stop.stop();
            server.metrics.analyses.failed.inc();
            tracing::warn!(match_id = %id, "a match was not looked at to the end");
            return;
        };
        review = looked;
        found.add(&review, game);
        // Where there are no search threads, others go on in between.
        tokio::task::yield_now().await;
    }
    // What is only being kept holds nobody up.
    drop((permit, review));
    server.metrics.analyses.made.inc();
    let Some(text) = found.text() else { return };
    let analysis = KeptAnalysis {
        nodes: found.nodes,
        text,
    };
    // Whoever asked has been told.
    match server.store.keep_analysis(id, analysis).await {
        Ok(true) => {}
        Ok(false) => tracing::debug!(match_id = %id, "the match of an analysis is gone"),
        Err(error) => tracing::error!(match_id = %id, %error, "an analysis is not kept"),
    }
}

/// What may be spent on one position.
fn limits(server: &ServerContext, nodes: u64) -> Limits {
    Limits {
        nodes: Some(nodes),
        time: Some(server.settings.search_time),
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{check, texts};

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
