//! Requests for the analysis of an ended match.

use std::sync::Arc;

use super::resync_from_store::load_stored_match;
use super::{Client, Player};
use crate::analysis::start_and_stream;
use crate::analysis::start_and_stream::{Analysis, AnalysisRequest};
use crate::connection::reply::Reply;
use crate::match_handle::MatchHandle;
use crate::wire::error_replies::retry_error;
use plyhouse_protocol::{AnalysisAccess, ErrorCode, MatchRef, MatchStatus, WireError};

impl Client {
    pub(super) async fn send_analysis(
        &self,
        player: &Player,
        target: MatchRef,
        nodes: Option<u64>,
        reply: Reply,
    ) {
        let lookup = self.find_or_start_analysis(player, target, nodes).await;
        if let Some((analysis, reply)) = reply.require(lookup) {
            let send_task =
                start_and_stream::send_analysis(&self.server, &self.connection.outbox, analysis);
            if let Some((send_task, reply)) =
                reply.require(send_task.ok_or_else(already_subscribed_error))
            {
                reply.ok(None);
                self.server.infra.spawn(send_task);
            }
        }
    }

    /// Returns the analysis of the match, and starts an analysis if none exists. The returned
    /// analysis may be unfinished.
    async fn find_or_start_analysis(
        &self,
        player: &Player,
        target: MatchRef,
        nodes: Option<u64>,
    ) -> Result<Arc<Analysis>, WireError> {
        let handle = self.find_match(player, target).await?;
        self.check_may_analyse(player, &handle)?;
        let (server, id) = (&self.server, handle.id());
        let refuse = |message| Err(WireError::new(ErrorCode::NotAllowed, message));
        if server.infra.settings.analysis == AnalysisAccess::Off {
            return refuse("analysis is off on this server");
        }
        let state = load_stored_match(server, id).await?;
        if state.moves().next().is_none() {
            return refuse("the match has no moves to analyse");
        }
        let queue = &server.matches.analysis_queue;
        if queue.is_subscribed(self.connection.id) {
            return Err(already_subscribed_error());
        }
        let request = AnalysisRequest {
            player: player.record.id,
            nodes,
        };
        start_and_stream::find_or_start(server, &state, request).await
    }

    /// Checks that this player may request the analysis of this match.
    fn check_may_analyse(&self, player: &Player, handle: &MatchHandle) -> Result<(), WireError> {
        let (summary, id) = (handle.summary(), player.record.id);
        let is_participant = summary.was_played_by(id);
        let is_follower = || self.connection.subscriptions.follows(handle.id());
        let refuse = |code, message| Err(WireError::new(code, message));
        match self.server.infra.settings.analysis {
            _ if is_participant => {}
            AnalysisAccess::Anyone if is_follower() => {}
            AnalysisAccess::Anyone => {
                return refuse(ErrorCode::NotFollowing, "watch the match first");
            }
            AnalysisAccess::Players | AnalysisAccess::Off => {
                return refuse(ErrorCode::NotSeated, "you did not play in this match");
            }
        }
        let status = if is_participant {
            summary.status()
        } else {
            summary.shown_status()
        };
        match status {
            MatchStatus::Open => refuse(ErrorCode::MatchNotStarted, "the match has not started"),
            MatchStatus::Running => {
                refuse(ErrorCode::MatchRunning, "the match is still in progress")
            }
            MatchStatus::Ended => Ok(()),
        }
    }
}

/// Error for a connection that already receives an analysis.
fn already_subscribed_error() -> WireError {
    let message = "this connection is already receiving an analysis";
    retry_error(ErrorCode::TooSoon, message, start_and_stream::RETRY_AFTER)
}
