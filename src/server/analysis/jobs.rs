//! Ended matches that are looked at again: one position after the other by the search threads, when these
//! have nothing better to do. What is found is told at once, and kept at the end.
//!
//! It is told before it is kept, as nothing else is: nothing depends on it, and it can be found again.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_engine::review::{Review, TABLE_BYTES};
use plyhouse_matches::Match;
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, ServerMessage, WireError};
use plyhouse_store::AnalysisAsked;

pub(crate) use super::progress::Analysis;
pub(crate) use crate::analysis::wire::worth;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::context::metrics::Counted;
use crate::context::server_context::ServerContext;
use crate::wire::encode::encode;
use crate::wire::error_replies::{unkept, unread};

/// How many a player may have looked at within a day, on all servers over a store together.
const PER_DAY: u32 = 20;

const DAY_MS: u64 = 24 * 3600 * 1000;

/// How many may be looked at or wait for that.
const LINE_MAX: usize = 64;

/// How many positions are visited to value one, where nobody says: about a tenth of a second. A node of a
/// game that is played out is a playout, which takes far longer; with fewer, only blunders would exceed
/// their error.
const NODES: u64 = 100_000;
const PLAYOUTS: u64 = 3000;

/// What is found within this time is told together.
const GATHERED: Duration = Duration::from_millis(250);

/// How many plies one message tells of, at most.
const PAGE: usize = 16;

/// After how long it may be worth asking again, where one is looked at already, in milliseconds.
pub(crate) const RETRY_MS: u64 = 1000;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) by: PlayerId,
    /// How many positions may be visited to value one.
    pub(crate) nodes: Option<u64>,
}

/// A connection that is told of a match, until this is dropped.
struct Told {
    server: Arc<ServerContext>,
    connection: ConnectionId,
}

impl Drop for Told {
    fn drop(&mut self) {
        let mut now = self.server.analysis_queue.now.lock();
        now.told.remove(&self.connection);
    }
}

/// Whether a connection is being told of a match.
pub(crate) fn is_told(server: &ServerContext, connection: ConnectionId) -> bool {
    server.analysis_queue.now.lock().told.contains(&connection)
}

/// What is known of this match already, or is being found, or else is from now on.
pub(crate) async fn of(
    server: &Arc<ServerContext>,
    state: &Match,
    wanted: Wanted,
) -> Result<Arc<Analysis>, WireError> {
    let id = state.id();
    let is_enough = |nodes: u64| wanted.nodes.is_none_or(|wanted| wanted <= nodes);
    let made = server.analysis_queue.now.lock().made.get(&id).cloned();
    if let Some((_, made)) = made.filter(|(_, made)| is_enough(made.nodes())) {
        return Ok(made);
    }
    let kept = server.store.analysis(id).await.map_err(|error| {
        tracing::error!(match_id = %id, %error, "an analysis is not read");
        unread(&error)
    })?;
    let Some(kept) = kept.filter(|kept| is_enough(kept.nodes)) else {
        return begin(server, state, wanted, 0).await;
    };
    match Analysis::kept(&kept) {
        Ok(Some(kept)) => {
            server.metrics.analyses.kept.inc();
            return Ok(Arc::new(kept));
        }
        Ok(None) => {}
        // It can be found again.
        Err(error) => tracing::error!(match_id = %id, %error, "an analysis makes no sense"),
    }
    // A store keeps what took the most, so this has to take as much.
    begin(server, state, wanted, kept.nodes).await
}

/// Has a match looked at, each position with so many visited or more.
async fn begin(
    server: &Arc<ServerContext>,
    state: &Match,
    wanted: Wanted,
    nodes_min: u64,
) -> Result<Arc<Analysis>, WireError> {
    let (id, game) = (state.id(), state.creation().game);
    let usual = if game.plays_out { PLAYOUTS } else { NODES };
    let nodes = wanted.nodes.unwrap_or(usual).max(nodes_min);
    let moves: Vec<String> = state.moves().map(str::to_owned).collect();
    let analysis = Arc::new(Analysis::new(id, nodes, moves.len()));
    let entered = enter(server, wanted.by, &analysis)?;
    let review = Review::new(game, state.start(), moves, TABLE_BYTES);
    let review = review.map_err(|error| {
        tracing::error!(match_id = %id, %error, "a match cannot be played through");
        WireError::new(ErrorCode::Internal, "the match cannot be read")
    })?;
    count(server, wanted.by).await?;
    let (by, found) = (wanted.by, Arc::clone(&analysis));
    server.spawn(async move {
        super::run::make(&entered.server, by, review, &found).await;
        drop(entered);
    });
    Ok(analysis)
}

/// Takes a place in the line, if there is one.
fn enter(
    server: &Arc<ServerContext>,
    by: PlayerId,
    analysis: &Arc<Analysis>,
) -> Result<Entered, WireError> {
    let id = analysis.match_id();
    let mut now = server.analysis_queue.now.lock();
    // What is only being kept keeps nobody from the next, of which may have been asked upon its last part.
    let is_for = |(other, made): &(PlayerId, Arc<Analysis>)| *other == by && !made.is_whole();
    if now.made.contains_key(&id) || now.made.values().any(is_for) {
        return Err(WireError {
            retry_after_ms: Some(RETRY_MS),
            ..WireError::new(
                ErrorCode::TooSoon,
                "one match is looked at for you, or this one, already",
            )
        });
    }
    if now.made.len() >= LINE_MAX {
        let message = "too many matches wait to be looked at";
        return Err(WireError::new(ErrorCode::Overloaded, message));
    }
    now.made.insert(id, (by, Arc::clone(analysis)));
    drop(now);
    Ok(Entered {
        server: Arc::clone(server),
        id,
        _waiting: Counted::new(&server.metrics.analyses.waiting),
    })
}

/// Counts one more for this player, if that is allowed.
async fn count(server: &ServerContext, by: PlayerId) -> Result<(), WireError> {
    let at_ms = server.clock.now_ms();
    let asked = AnalysisAsked {
        by,
        at_ms,
        since_ms: at_ms.saturating_sub(DAY_MS),
        most: PER_DAY,
    };
    if server.store.ask_analysis(asked).await.map_err(unkept)? {
        return Ok(());
    }
    let first = server.store.analysis_asked(by, asked.since_ms).await;
    let first = first.map_err(|error| unread(&error))?;
    let message = "you have had as many matches looked at in 24 hours as you may";
    Err(WireError {
        // Another server's clock may go before this one's.
        retry_after_ms: first.map(|first_ms| (first_ms + DAY_MS).saturating_sub(at_ms).min(DAY_MS)),
        ..WireError::new(ErrorCode::TooSoon, message)
    })
}

/// A place in the line, until this is dropped.
struct Entered {
    server: Arc<ServerContext>,
    id: MatchId,
    _waiting: Counted,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut now = self.server.analysis_queue.now.lock();
        let made = now.made.remove(&self.id);
        drop(now);
        if let Some((_, analysis)) = made {
            analysis.ends();
        }
    }
}

/// Tells a connection what is found, as long as it lasts. `None` if it is told of a match already.
pub(crate) fn tell(
    server: &Arc<ServerContext>,
    outbox: &Outbox,
    analysis: Arc<Analysis>,
) -> Option<impl Future<Output = ()> + Send + use<>> {
    let connection = outbox.connection();
    if !server.analysis_queue.now.lock().told.insert(connection) {
        return None;
    }
    let told = Told {
        server: Arc::clone(server),
        connection,
    };
    let outbox = outbox.clone();
    Some(async move {
        let server = &told.server;
        let (mut done, mut news) = (None, analysis.news());
        while !outbox.is_closing() && !server.is_stopping() {
            // Before it is looked at: what comes after that is told of again.
            news.mark_unchanged();
            if !outbox.is_half_free() {
                server.sleep_unless_stopping(GATHERED).await;
                continue;
            }
            match analysis.page(done, PAGE) {
                Some(page) => {
                    done = Some(page.done);
                    let is_last = page.done == page.of;
                    let message = encode(&ServerMessage::Analysis(Box::new(page)));
                    if is_last {
                        // Upon this another may be asked of at once.
                        drop(told);
                        outbox.send(message);
                        return;
                    }
                    outbox.send(message);
                    if analysis.is_under_way() {
                        server.sleep_unless_stopping(GATHERED).await;
                    }
                }
                None if analysis.is_under_way() => {
                    tokio::select! {
                        biased; // Nothing is left to a chance that no seed governs.
                        () = server.shutdown.cancelled() => return,
                        _ = news.changed() => {}
                        // So that a connection that has gone is not kept for as long as it takes.
                        () = tokio::time::sleep(GATHERED * 40) => {}
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
