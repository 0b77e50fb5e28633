//! Runs the analysis of one match on the search threads.

use std::time::Duration;

use plyhouse_engine::review::Review;
use plyhouse_engine::search::{Level, Limits, Stop};
use plyhouse_protocol::PlayerId;
use plyhouse_store::StoredAnalysis;

use super::progress::Analysis;
use crate::bots::{Priority, SearchClass};
use crate::context::server_context::ServerContext;

/// Maximum time for the analysis of one position, including the wait for a search thread. If a
/// position takes longer, the server aborts the analysis of the match.
const SEARCH_WAIT_MAX: Duration = Duration::from_secs(600);

/// Analyses a match position by position and stores the result.
pub(crate) async fn run_analysis(
    server: &ServerContext,
    player: PlayerId,
    mut review: Review,
    analysis: &Analysis,
) {
    let Ok(permit) = server.matches.analysis_queue.permits.acquire().await else {
        return;
    };
    let (id, game) = (analysis.match_id(), review.game());
    let stop = Stop::new();
    let limits = Limits {
        nodes: Some(analysis.nodes),
        time: Some(server.infra.settings.search_time),
        ..Limits::default()
    };
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
            biased; // The fixed poll order keeps simulated runs reproducible.
            () = server.infra.tasks.shutdown.cancelled() => None,
            looked = server.matches.bots.run_search(priority, SEARCH_WAIT_MAX, step) => looked,
        };
        let Some(looked) = looked else {
            stop.stop();
            server.infra.metrics.analyses.failed.inc();
            tracing::warn!(match_id = %id, "analysis aborted");
            return;
        };
        review = looked;
        analysis.append_review(&review, game);
        // If the server has no search threads, the search blocks this task. Yielding lets other
        // tasks run between two positions.
        tokio::task::yield_now().await;
    }
    // The analysis permit is released before the result is stored, so that the next analysis does
    // not wait for the store.
    drop((permit, review));
    server.infra.metrics.analyses.completed.inc();
    let Some(text) = analysis.to_json() else {
        return;
    };
    let stored = StoredAnalysis {
        nodes: analysis.nodes,
        text,
    };
    // The subscribers already have the result, so a failure to store it is only logged.
    match server.store().store_analysis(id, stored).await {
        Ok(true) => {}
        Ok(false) => tracing::debug!(match_id = %id, "match of a finished analysis was deleted"),
        Err(error) => tracing::error!(match_id = %id, %error, "cannot store an analysis"),
    }
}
