//! Requests for a hint, which suggests the best move in a casual match against a bot.

use std::sync::Arc;

use super::resync_from_store::load_stored_match;
use super::{Client, Player};
use crate::analysis::start_and_stream::valuation;
use crate::bots::{Priority, SearchClass};
use crate::connection::reply::Reply;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::{Command, MatchRequest};
use crate::wire::to_protocol;
use plyhouse_engine::review::{Evaluation, LINE_PLIES_MAX};
use plyhouse_engine::search::{Level, Limits, Stop, TranspositionTable};
use plyhouse_matches::{Action, Match, Refusal, Timestamp};
use plyhouse_protocol::{ErrorCode, Hint, MatchRef, PlayerId, Ply, ServerMessage, WireError};
use tokio::sync::OwnedSemaphorePermit;

/// Maximum time that a hint waits for a search thread, as a multiple of the search time.
const QUEUE_WAIT_FACTOR: u32 = 10;

/// Maximum number of hints that a connection may request at the same time.
pub(super) const HINTS_MAX: usize = 4;

impl Client {
    /// Finds a hint, records it in the match and then sends it, so that a failed request changes
    /// nothing. The search runs in its own task and does not delay other requests of the client.
    /// The search stops when the match no longer allows the hint.
    pub(super) async fn send_hint(
        &self,
        player: &Player,
        target: MatchRef,
        ply: Ply,
        reply: Reply,
    ) {
        let job = self.prepare_hint(player, target, ply).await;
        if let Some((job, reply)) = reply.require(job) {
            self.server.spawn(|server| async move {
                let hint = job.run(&server).await;
                reply.respond(hint.map(|hint| ServerMessage::Hint(Box::new(hint))));
            });
        }
    }

    /// Checks the hint request and prepares the search.
    async fn prepare_hint(
        &self,
        player: &Player,
        target: MatchRef,
        ply: Ply,
    ) -> Result<HintJob, WireError> {
        let handle = self.find_match(player, target).await?;
        let server = &self.server;
        let action = Action::Hint {
            player: player.record.id,
            ply,
        };
        let state = load_stored_match(server, handle.id()).await?;
        // The match checks the action again when the hint is recorded.
        let now = Timestamp::uncharged(server.now_ms());
        if let Err(refusal) = state.apply(&action, now) {
            return Err(to_protocol::refusal_error(&refusal));
        }
        let Ok(permit) = Arc::clone(&self.hint_permits).try_acquire_owned() else {
            let message =
                format!("{HINTS_MAX} hints are already being computed; wait for one of them");
            return Err(WireError::new(ErrorCode::Overloaded, message));
        };
        Ok(HintJob {
            handle,
            state,
            command: self.new_command(player, MatchRequest::Act(action.clone())),
            action,
            _permit: permit,
        })
    }
}

/// A hint request whose search is in progress.
struct HintJob {
    handle: MatchHandle,
    state: Match,
    /// Command that records the hint in the match.
    command: Command,
    action: Action,
    _permit: OwnedSemaphorePermit,
}

impl HintJob {
    async fn run(self, server: &ServerContext) -> Result<Hint, WireError> {
        let stop = Stop::new();
        let search = search_hint(server, self.command.player, &self.state, &stop);
        let hint = tokio::select! {
            biased; // The fixed poll order keeps simulated runs reproducible.
            error = self.wait_until_refused(server) => {
                stop.stop();
                return Err(error);
            }
            hint = search => hint?,
        };
        let metrics = &server.infra.metrics;
        match self.handle.request_answer(self.command, metrics).await {
            Some(Ok(_)) => Ok(hint),
            Some(Err(error)) => Err(*error),
            None => Err(WireError::new(ErrorCode::Internal, "internal server error")),
        }
    }

    /// Waits until the match no longer allows the hint, and returns the reason.
    async fn wait_until_refused(&self, server: &ServerContext) -> WireError {
        let summary = self.handle.summary();
        let mut known_seq = self.state.seq();
        loop {
            summary.wait_for_seq_change(known_seq).await;
            known_seq = summary.seq();
            if let Some(error) = self.current_refusal(server).await {
                return error;
            }
        }
    }

    /// Returns the reason why the match no longer allows the hint. Returns `None` if the hint is
    /// still allowed or the match cannot be read. In both cases, the match decides after the
    /// search.
    async fn current_refusal(&self, server: &ServerContext) -> Option<WireError> {
        let state = load_stored_match(server, self.handle.id()).await.ok()?;
        let now = Timestamp::uncharged(server.now_ms());
        let refusal = match state.apply(&self.action, now) {
            Err(refusal) => refusal,
            // After a takeback, the position at the same ply may differ from the searched position.
            Ok(_) if state.takebacks() != self.state.takebacks() => Refusal::StalePly {
                expected: state.ply(),
                takebacks: state.takebacks(),
            },
            Ok(_) => return None,
        };
        Some(to_protocol::refusal_error(&refusal))
    }
}

async fn search_hint(
    server: &ServerContext,
    player: PlayerId,
    state: &Match,
    stop: &Stop,
) -> Result<Hint, WireError> {
    let time = server.infra.settings.search_time;
    let priority = Priority {
        host: player,
        class: SearchClass::Human,
        level: Level::Max,
    };
    let position = state.position().clone_box();
    let stop = stop.clone();
    let search = move |table: &mut TranspositionTable| {
        let limits = Limits::time(time);
        table.clear();
        position.analyse(&limits, &stop, table, &mut |_| {})
    };
    let (bots, timeout) = (&server.matches.bots, time * QUEUE_WAIT_FACTOR);
    let search_result = bots.run_search(priority, timeout, search).await;
    let Some(report) = search_result.flatten() else {
        let message = "the server is too busy to compute a hint; try again shortly";
        return Err(WireError::new(ErrorCode::Overloaded, message));
    };
    let (game, position) = (state.creation().game, state.position());
    let evaluation = valuation(Evaluation::from_report(game, position, &report));
    let pv: Vec<String> = report.pv.into_iter().take(LINE_PLIES_MAX).collect();
    Ok(Hint {
        re: None,
        match_id: state.id(),
        ply: state.ply(),
        m: pv.first().cloned().unwrap_or_default(),
        evaluation,
        san: position.moves_to_san(&pv),
        pv,
        ignored: Vec::new(),
    })
}
