//! Ended matches that are looked at again: one position after the other by the search threads, when these
//! have nothing better to do. What is found is told at once, and kept at the end.
//!
//! It is told before it is kept, as nothing else is: nothing depends on it, and it can be found again.

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
use crate::wire::error_replies::{store_read_error, store_write_error};

/// How many a player may have looked at within a day, on all servers over a store together.
const ANALYSES_PER_DAY: u32 = 20;

const DAY_MS: u64 = 24 * 3600 * 1000;

/// How many may be looked at or wait for that.
const QUEUE_MAX: usize = 64;

/// How many positions are visited to value one, where nobody says: about a tenth of a second. A node of a
/// game that is played out is a playout, which takes far longer; with fewer, only blunders would exceed
/// their error.
const DEFAULT_NODES: u64 = 100_000;
const DEFAULT_PLAYOUTS: u64 = 3000;

/// What is found within this time is told together.
const BATCH_INTERVAL: Duration = Duration::from_millis(250);

/// How many plies one message tells of, at most.
const PLIES_PER_MESSAGE: usize = 16;

/// After how long it may be worth asking again, where one is looked at already, in milliseconds.
pub(crate) const RETRY_AFTER_MS: u64 = 1000;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnalysisRequest {
    pub(crate) player: PlayerId,
    /// How many positions may be visited to value one.
    pub(crate) nodes: Option<u64>,
}

/// A connection that is told of a match, until this is dropped.
struct Subscription {
    server: Arc<ServerContext>,
    connection: ConnectionId,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut state = self.server.analysis_queue.state.lock();
        state.subscribers.remove(&self.connection);
    }
}

/// Whether a connection is being told of a match.
pub(crate) fn is_subscribed(server: &ServerContext, connection: ConnectionId) -> bool {
    server
        .analysis_queue
        .state
        .lock()
        .subscribers
        .contains(&connection)
}

/// What is known of this match already, or is being found, or else is from now on.
pub(crate) async fn find_or_start(
    server: &Arc<ServerContext>,
    state: &Match,
    request: AnalysisRequest,
) -> Result<Arc<Analysis>, WireError> {
    let id = state.id();
    let is_enough = |nodes: u64| request.nodes.is_none_or(|wanted| wanted <= nodes);
    let job = server.analysis_queue.state.lock().jobs.get(&id).cloned();
    if let Some((_, analysis)) = job.filter(|(_, made)| is_enough(made.nodes())) {
        return Ok(analysis);
    }
    let stored = server.store.analysis(id).await.map_err(|error| {
        tracing::error!(match_id = %id, %error, "cannot read an analysis");
        store_read_error(&error)
    })?;
    let Some(stored) = stored.filter(|kept| is_enough(kept.nodes)) else {
        return start(server, state, request, 0).await;
    };
    match Analysis::from_stored(&stored) {
        Ok(Some(analysis)) => {
            server.metrics.analyses.served_from_store.inc();
            return Ok(Arc::new(analysis));
        }
        Ok(None) => {}
        // It can be found again.
        Err(error) => tracing::error!(match_id = %id, %error, "stored analysis is invalid"),
    }
    // A store keeps what took the most, so this has to take as much.
    start(server, state, request, stored.nodes).await
}

/// Has a match looked at, each position with so many visited or more.
async fn start(
    server: &Arc<ServerContext>,
    state: &Match,
    request: AnalysisRequest,
    nodes_min: u64,
) -> Result<Arc<Analysis>, WireError> {
    let (id, game) = (state.id(), state.creation().game);
    let default_nodes = if game.uses_playouts {
        DEFAULT_PLAYOUTS
    } else {
        DEFAULT_NODES
    };
    let nodes = request.nodes.unwrap_or(default_nodes).max(nodes_min);
    let moves: Vec<String> = state.moves().map(str::to_owned).collect();
    let analysis = Arc::new(Analysis::new(id, nodes, moves.len()));
    let entry = enqueue(server, request.player, &analysis)?;
    let review = Review::new(game, state.initial_position(), moves, TABLE_BYTES);
    let review = review.map_err(|error| {
        tracing::error!(match_id = %id, %error, "cannot replay a match for analysis");
        WireError::new(ErrorCode::Internal, "the match cannot be read")
    })?;
    charge_quota(server, request.player).await?;
    let (by, found) = (request.player, Arc::clone(&analysis));
    server.spawn(async move {
        super::run::run_analysis(&entry.server, by, review, &found).await;
        drop(entry);
    });
    Ok(analysis)
}

/// Takes a place in the line, if there is one.
fn enqueue(
    server: &Arc<ServerContext>,
    player: PlayerId,
    analysis: &Arc<Analysis>,
) -> Result<QueueEntry, WireError> {
    let id = analysis.match_id();
    let mut state = server.analysis_queue.state.lock();
    // What is only being kept keeps nobody from the next, of which may have been asked upon its last part.
    let is_for =
        |(other, analysis): &(PlayerId, Arc<Analysis>)| *other == player && !analysis.is_complete();
    if state.jobs.contains_key(&id) || state.jobs.values().any(is_for) {
        return Err(WireError {
            retry_after_ms: Some(RETRY_AFTER_MS),
            ..WireError::new(
                ErrorCode::TooSoon,
                "one match is looked at for you, or this one, already",
            )
        });
    }
    if state.jobs.len() >= QUEUE_MAX {
        let message = "too many matches wait to be looked at";
        return Err(WireError::new(ErrorCode::Overloaded, message));
    }
    state.jobs.insert(id, (player, Arc::clone(analysis)));
    drop(state);
    Ok(QueueEntry {
        server: Arc::clone(server),
        id,
        _waiting: GaugeGuard::new(&server.metrics.analyses.waiting),
    })
}

/// Counts one more for this player, if that is allowed.
async fn charge_quota(server: &ServerContext, player: PlayerId) -> Result<(), WireError> {
    let at_ms = server.clock.now_ms();
    let quota_request = AnalysisQuotaRequest {
        player,
        at_ms,
        since_ms: at_ms.saturating_sub(DAY_MS),
        requests_max: ANALYSES_PER_DAY,
    };
    if server
        .store
        .count_analysis_request(quota_request)
        .await
        .map_err(store_write_error)?
    {
        return Ok(());
    }
    let first = server
        .store
        .first_analysis_request_ms(player, quota_request.since_ms)
        .await;
    let first = first.map_err(|error| store_read_error(&error))?;
    let message = "you have had as many matches looked at in 24 hours as you may";
    Err(WireError {
        // Another server's clock may go before this one's.
        retry_after_ms: first.map(|first_ms| (first_ms + DAY_MS).saturating_sub(at_ms).min(DAY_MS)),
        ..WireError::new(ErrorCode::TooSoon, message)
    })
}

/// A place in the line, until this is dropped.
struct QueueEntry {
    server: Arc<ServerContext>,
    id: MatchId,
    _waiting: GaugeGuard,
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        let mut state = self.server.analysis_queue.state.lock();
        let job = state.jobs.remove(&self.id);
        drop(state);
        if let Some((_, analysis)) = job {
            analysis.finish();
        }
    }
}

/// Tells a connection what is found, as long as it lasts. `None` if it is told of a match already.
pub(crate) fn send_analysis(
    server: &Arc<ServerContext>,
    outbox: &Outbox,
    analysis: Arc<Analysis>,
) -> Option<impl Future<Output = ()> + Send + use<>> {
    let connection = outbox.connection();
    if !server
        .analysis_queue
        .state
        .lock()
        .subscribers
        .insert(connection)
    {
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
        while !outbox.is_closing() && !server.is_stopping() {
            // Before it is looked at: what comes after that is told of again.
            changes.mark_unchanged();
            if !outbox.is_half_free() {
                server.sleep_unless_stopping(BATCH_INTERVAL).await;
                continue;
            }
            match analysis.page_after(sent, PLIES_PER_MESSAGE) {
                Some(page) => {
                    sent = Some(page.plies_done);
                    let is_last = page.plies_done == page.plies_total;
                    let message = encode(&ServerMessage::Analysis(Box::new(page)));
                    if is_last {
                        // Upon this another may be asked of at once.
                        drop(subscription);
                        outbox.send(message);
                        return;
                    }
                    outbox.send(message);
                    if analysis.is_running() {
                        server.sleep_unless_stopping(BATCH_INTERVAL).await;
                    }
                }
                None if analysis.is_running() => {
                    tokio::select! {
                        biased; // Nothing is left to a chance that no seed governs.
                        () = server.shutdown.cancelled() => return,
                        _ = changes.changed() => {}
                        // So that a connection that has gone is not kept for as long as it takes.
                        () = tokio::time::sleep(BATCH_INTERVAL * 40) => {}
                    }
                }
                None => {
                    let message = "the match was not looked at to the end; ask again";
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
