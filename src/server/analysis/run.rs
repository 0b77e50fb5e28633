//! Runs the analysis of one match on the search threads.

use std::time::Duration;

use plyhouse_engine::review::Review;
use plyhouse_engine::search::{Level, Limits, Stop};
use plyhouse_protocol::PlayerId;
use plyhouse_store::StoredAnalysis;

use super::progress::Analysis;
use crate::bots::{Priority, SearchClass};
use crate::context::server_context::ServerContext;

/// For how long one position may wait for a search thread. A server that has no time for so long has none
/// for this.
const SEARCH_WAIT_MAX: Duration = Duration::from_secs(600);

/// Looks at a match, position by position, and has kept what was found.
pub(crate) async fn run_analysis(
    server: &ServerContext,
    player: PlayerId,
    mut review: Review,
    analysis: &Analysis,
) {
    let Ok(permit) = server.analysis_queue.permits.acquire().await else {
        return;
    };
    let (id, game) = (analysis.match_id(), review.game());
    let (stop, limits) = (Stop::new(), limits(server, analysis.nodes()));
    let priority = Priority {
        host: player,
        class: SearchClass::Analysis,
        level: Level::Max,
    };
    while !review.is_complete() {
        let stopped = stop.clone();
        let step = move |_: &mut _| {
            review.step(&limits, &stopped);
            review
        };
        let looked = tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            () = server.shutdown.cancelled() => None,
            looked = server.bots.run_search(priority, SEARCH_WAIT_MAX, step) => looked,
        };
        let Some(looked) = looked else {
            stop.stop();
            server.metrics.analyses.failed.inc();
            tracing::warn!(match_id = %id, "analysis aborted");
            return;
        };
        review = looked;
        analysis.append_review(&review, game);
        // Where there are no search threads, others go on in between.
        tokio::task::yield_now().await;
    }
    // What is only being kept holds nobody up.
    drop((permit, review));
    server.metrics.analyses.completed.inc();
    let Some(text) = analysis.to_json() else {
        return;
    };
    let stored = StoredAnalysis {
        nodes: analysis.nodes(),
        text,
    };
    // Whoever asked has been told.
    match server.store.store_analysis(id, stored).await {
        Ok(true) => {}
        Ok(false) => tracing::debug!(match_id = %id, "match of a finished analysis was deleted"),
        Err(error) => tracing::error!(match_id = %id, %error, "cannot store an analysis"),
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
