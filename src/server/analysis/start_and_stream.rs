//! Analysis of ended matches. Search threads analyse a match position by position while no bot
//! waits for a search.
//!
//! The server sends results to subscribers before it stores them. No other data depends on a stored
//! analysis, and a lost analysis can be computed again.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_engine::review::{Review, TABLE_BYTES};
use plyhouse_matches::Match;
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, ServerMessage, WireError};
use plyhouse_store::AnalysisQuotaRequest;

pub(crate) use super::progress::Analysis;
pub(crate) use crate::analysis::wire::valuation;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::context::metrics::GaugeGuard;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;
use crate::wire::error_replies::{
    damaged_match_error, retry_error, store_read_error, store_write_error,
};

/// Maximum number of analyses that a player may request within 24 hours. The limit applies across
/// all servers that share a store.
const ANALYSES_PER_DAY: u32 = 20;

const DAY_MS: u64 = 24 * 3600 * 1000;

/// Maximum number of analyses that are running or queued.
const QUEUE_MAX: usize = 64;

/// Default number of nodes per position. The search of one position takes about a tenth of a
/// second. In games that use playouts, each playout counts as one node and takes much longer. With
/// fewer than `DEFAULT_PLAYOUTS` playouts per position, the evaluations would be too inaccurate to
/// detect any mistakes except blunders.
const DEFAULT_NODES: u64 = 100_000;
const DEFAULT_PLAYOUTS: u64 = 3000;

/// Minimum interval between two analysis messages to a subscriber. Results that become available
/// within the interval are sent in one message.
const BATCH_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum number of plies in one message.
const PLIES_PER_MESSAGE: usize = 16;

/// Delay before a client may repeat a request that was refused because another analysis is in
/// progress.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Request for the analysis of a match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnalysisRequest {
    pub(crate) player: PlayerId,
    /// Number of nodes per position. If this field is `None`, the server chooses the number.
    pub(crate) nodes: Option<u64>,
}

/// Guard that marks a connection as a subscriber of an analysis. Dropping the guard ends the
/// subscription.
struct Subscription {
    server: Arc<ServerContext>,
    connection: ConnectionId,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut state = self.server.matches.analysis_queue.lock();
        state.subscribers.remove(&self.connection);
    }
}

/// Returns the running or stored analysis of a match, or starts a new analysis. An existing
/// analysis is returned only if it used at least the requested number of nodes.
pub(crate) async fn find_or_start(
    server: &Arc<ServerContext>,
    state: &Match,
    request: AnalysisRequest,
) -> Result<Arc<Analysis>, WireError> {
    let id = state.id();
    let is_enough = |nodes: u64| request.nodes.is_none_or(|requested| requested <= nodes);
    let job = server.matches.analysis_queue.lock().jobs.get(&id).cloned();
    if let Some((_, analysis)) = job.filter(|(_, made)| is_enough(made.nodes)) {
        return Ok(analysis);
    }
    let stored = server.store().analysis(id).await.map_err(|error| {
        tracing::error!(match_id = %id, %error, "cannot read an analysis");
        store_read_error(error)
    })?;
    let Some(stored) = stored.filter(|stored| is_enough(stored.nodes)) else {
        return start(server, state, request, 0).await;
    };
    match Analysis::from_stored(&stored) {
        Ok(Some(analysis)) => {
            server.infra.metrics.analyses.served_from_store.inc();
            return Ok(Arc::new(analysis));
        }
        Ok(None) => {}
        // The stored analysis cannot be parsed, so a new analysis replaces it.
        Err(error) => tracing::error!(match_id = %id, %error, "stored analysis is invalid"),
    }
    // The store keeps only the analysis with the most nodes, so the new analysis must use at least
    // as many nodes as the stored one.
    start(server, state, request, stored.nodes).await
}

/// Starts an analysis with at least `nodes_min` nodes per position.
async fn start(
    server: &Arc<ServerContext>,
    state: &Match,
    request: AnalysisRequest,
    nodes_min: u64,
) -> Result<Arc<Analysis>, WireError> {
    let (id, game) = (state.id(), state.creation().game);
    let default_nodes = match game.uses_playouts {
        true => DEFAULT_PLAYOUTS,
        false => DEFAULT_NODES,
    };
    let nodes = request.nodes.unwrap_or(default_nodes).max(nodes_min);
    let moves: Vec<String> = state.moves().map(str::to_owned).collect();
    let analysis = Arc::new(Analysis::new(id, nodes, moves.len()));
    let entry = enqueue(server, request.player, &analysis)?;
    let review = Review::new(game, state.initial_position(), moves, TABLE_BYTES);
    let review = review.map_err(|error| {
        tracing::error!(match_id = %id, %error, "cannot replay a match for analysis");
        damaged_match_error()
    })?;
    charge_quota(server, request.player).await?;
    let (by, found) = (request.player, Arc::clone(&analysis));
    server.infra.spawn(async move {
        super::run::run_analysis(&entry.server, by, review, &found).await;
        drop(entry);
    });
    Ok(analysis)
}

/// Adds an analysis to the queue. Fails if the queue is full, the match is already queued, or the
/// player has an unfinished analysis.
fn enqueue(
    server: &Arc<ServerContext>,
    player: PlayerId,
    analysis: &Arc<Analysis>,
) -> Result<QueueEntry, WireError> {
    let id = analysis.match_id();
    let mut state = server.matches.analysis_queue.lock();
    // A complete analysis remains in the queue while it is being stored. It is not counted as the
    // player's unfinished analysis, because the player may request another analysis as soon as the
    // last result has arrived.
    let is_for =
        |(other, analysis): &(PlayerId, Arc<Analysis>)| *other == player && !analysis.is_complete();
    if state.jobs.contains_key(&id) || state.jobs.values().any(is_for) {
        let message = "this match or another one that you requested is already being analysed";
        return Err(retry_error(ErrorCode::TooSoon, message, RETRY_AFTER));
    }
    if state.jobs.len() >= QUEUE_MAX {
        let message = "the analysis queue is full; try again later";
        return Err(WireError::new(ErrorCode::Overloaded, message));
    }
    state.jobs.insert(id, (player, Arc::clone(analysis)));
    drop(state);
    Ok(QueueEntry {
        server: Arc::clone(server),
        id,
        _waiting: GaugeGuard::new(&server.infra.metrics.analyses.waiting),
    })
}

/// Counts a request against the player's daily quota of analyses. Returns an error if this quota is
/// used up.
async fn charge_quota(server: &ServerContext, player: PlayerId) -> Result<(), WireError> {
    let at_ms = server.now_ms();
    let quota_request = AnalysisQuotaRequest {
        player,
        at_ms,
        since_ms: at_ms.saturating_sub(DAY_MS),
        requests_max: ANALYSES_PER_DAY,
    };
    let since_ms = quota_request.since_ms;
    let counted = server.store().count_analysis_request(quota_request).await;
    if counted.map_err(store_write_error)? {
        return Ok(());
    }
    let first = server.store().first_analysis_request_ms(player, since_ms);
    let first = first.await.map_err(store_read_error)?;
    let message = format!("you have reached the limit of {ANALYSES_PER_DAY} analyses in 24 hours");
    Err(WireError {
        // The delay is capped at a day, because the player's first analysis request may have been
        // timed by another server whose clock is ahead.
        retry_after_ms: first.map(|first_ms| (first_ms + DAY_MS).saturating_sub(at_ms).min(DAY_MS)),
        ..WireError::new(ErrorCode::TooSoon, message)
    })
}

/// Guard of an entry in the analysis queue. Dropping the guard removes the entry.
struct QueueEntry {
    server: Arc<ServerContext>,
    id: MatchId,
    _waiting: GaugeGuard,
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        let mut state = self.server.matches.analysis_queue.lock();
        let job = state.jobs.remove(&self.id);
        drop(state);
        if let Some((_, analysis)) = job {
            analysis.finish();
        }
    }
}

/// Returns a future that sends the results of an analysis to a connection until the analysis ends.
/// Returns `None` if the connection already receives an analysis.
pub(crate) fn send_analysis(
    server: &Arc<ServerContext>,
    outbox: &Outbox,
    analysis: Arc<Analysis>,
) -> Option<impl Future<Output = ()> + Send + use<>> {
    let connection = outbox.connection();
    let queue = &server.matches.analysis_queue;
    if !queue.lock().subscribers.insert(connection) {
        return None;
    }
    let subscription = Subscription {
        server: Arc::clone(server),
        connection,
    };
    let outbox = outbox.clone();
    Some(async move {
        let server = &subscription.server;
        let (mut sent, mut changes) = (None, analysis.subscribe());
        while !outbox.is_closing() && !server.infra.tasks.is_stopping() {
            // Marks the current state of the analysis as seen before its results are read, so that
            // any later change wakes this task.
            changes.mark_unchanged();
            if !outbox.is_half_free() {
                server.infra.sleep_unless_stopping(BATCH_INTERVAL).await;
                continue;
            }
            match analysis.page_after(sent, PLIES_PER_MESSAGE) {
                Some(page) => {
                    sent = Some(page.plies_done);
                    let is_last = page.plies_done == page.plies_total;
                    let message = encode(&ServerMessage::Analysis(Box::new(page)));
                    if is_last {
                        // The subscription must end before the last message is sent, because the
                        // client may request another analysis as soon as it receives that message.
                        drop(subscription);
                        outbox.send(message);
                        return;
                    }
                    outbox.send(message);
                    if analysis.is_running() {
                        server.infra.sleep_unless_stopping(BATCH_INTERVAL).await;
                    }
                }
                None if analysis.is_running() => {
                    tokio::select! {
                        biased; // The fixed poll order keeps simulated runs reproducible.
                        () = server.infra.tasks.shutdown.cancelled() => return,
                        _ = changes.changed() => {}
                        // A slow analysis may produce no results for a long time, so this timer
                        // wakes the task regularly to check whether the connection has closed.
                        () = tokio::time::sleep(BATCH_INTERVAL * 40) => {}
                    }
                }
                None => {
                    let message = "the analysis was aborted; request it again";
                    let error = WireError {
                        match_id: Some(Box::new(analysis.match_id())),
                        ..WireError::new(ErrorCode::Overloaded, message)
                    };
                    outbox.send(encode(&ServerMessage::Error(Box::new(error))));
                    return;
                }
            }
        }
    })
}
