//! The best move, for a player who plays for fun against a bot.

use super::replay::stored;
use super::{Client, Player};
use crate::analyses::worth;
use crate::bots::{Class, Place};
use crate::command::MatchRequest;
use crate::reply::Reply;
use crate::to_protocol;
use plyhouse_engine::review::{LINE_MAX, Worth};
use plyhouse_engine::search::{Level, Limits, Stop, Table};
use plyhouse_matches::{Action, Match, Moment};
use plyhouse_protocol::{ErrorCode, Hint, MatchRef, Ply, ServerMessage, WireError};

/// A hint waits for a search thread for at most this many times what it may think.
const PATIENCE: u32 = 10;

impl Client {
    /// First it is found, then it becomes part of the match that it was asked for, and then it is told: so an
    /// error has changed nothing.
    pub(super) async fn hint(&self, player: &Player, target: MatchRef, ply: Ply, reply: Reply) {
        if let Some((hint, reply)) = reply.check(self.best_move(player, target, ply).await) {
            reply.tell(|re| ServerMessage::Hint(Box::new(Hint { re, ..hint })));
        }
    }

    async fn best_move(
        &self,
        player: &Player,
        target: MatchRef,
        ply: Ply,
    ) -> Result<Hint, WireError> {
        let handle = self.find(player, target).await?;
        let (server, id) = (&self.server, handle.id());
        let action = Action::Hint {
            player: player.record.id,
            ply,
        };
        let state = stored(server, id).await?;
        // Told or refused as the match itself would, which has the last word.
        let now = Moment::free(server.clock.now_ms());
        if let Err(refusal) = state.apply(&action, now) {
            return Err(to_protocol::refusal(&refusal));
        }
        let hint = self.searched(player, &state).await?;
        let hinted = self.command(player, MatchRequest::Act(action));
        match handle.ask_for(hinted, &server.metrics).await {
            Some(Ok(_)) => Ok(hint),
            Some(Err(error)) => Err(*error),
            None => Err(WireError::new(
                ErrorCode::Internal,
                "the server failed; it was not you",
            )),
        }
    }

    async fn searched(&self, player: &Player, state: &Match) -> Result<Hint, WireError> {
        let server = &self.server;
        let time = server.settings.search_time;
        let place = Place {
            host: player.record.id,
            class: Class::People,
            level: Level::Max,
        };
        let position = state.position().clone_box();
        let search = move |table: &mut Table| {
            let (limits, stop) = (Limits::time(time), Stop::new());
            table.forget();
            position.look(&limits, &stop, table, &mut |_| {})
        };
        let found = server.bots.lend(place, time * PATIENCE, search).await;
        let Some(report) = found.flatten() else {
            let message = "no time was found to look for a move";
            return Err(WireError::new(ErrorCode::Overloaded, message));
        };
        let (game, position) = (state.creation().game, state.position());
        let worth = worth(Worth::of(game, position, &report));
        let pv: Vec<String> = report.pv.into_iter().take(LINE_MAX).collect();
        Ok(Hint {
            re: None,
            match_id: state.id(),
            ply: state.ply(),
            m: pv.first().cloned().unwrap_or_default(),
            worth,
            pv,
            ignored: Vec::new(),
        })
    }
}
