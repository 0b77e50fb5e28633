//! A match that cannot go on as it is begins again with what the store holds.

use tokio::time::sleep;

use super::commit::HISTORY;
use super::{MatchActor, RETRY};
use crate::clock::now;
use crate::encode;
use crate::match_handle::Message;
use crate::to_protocol;
use plyhouse_matches::{Attendance, Event, Match, Stage};
use plyhouse_protocol::ErrorCode;
use plyhouse_store::ReadError;

impl MatchActor {
    /// Begins again with what the store holds, as soon as it can be read. False if that makes no
    /// sense, or nobody is left to ask for the match.
    pub(super) async fn rebuild(&mut self) -> bool {
        let id = self.state.id();
        loop {
            match self.server.store.load(id).await {
                Ok(Some(record)) => match Match::replay(record.creation, &record.events) {
                    Ok(state) => {
                        self.begin_again(state, &record.events);
                        return true;
                    }
                    Err(damage) => tracing::error!(match_id = %id, %damage, "a match is set aside"),
                },
                Ok(None) => {
                    tracing::error!(match_id = %id, "a match is set aside: the store has lost it")
                }
                Err(error @ ReadError::Damaged(_)) => {
                    tracing::error!(match_id = %id, %error, "a match is set aside");
                }
                Err(ReadError::Unavailable) => {
                    if self.refuse_for_a_while().await {
                        continue;
                    }
                }
            }
            return false;
        }
    }

    /// Answers that the store cannot keep anything, until it is time to ask the store again. False
    /// when nobody is left to ask for the match.
    async fn refuse_for_a_while(&mut self) -> bool {
        let again = sleep(RETRY);
        tokio::pin!(again);
        loop {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                () = &mut again => return true,
                message = self.mailbox.recv() => match message {
                    Some(message) => self.refuse(*message),
                    None => return false,
                }
            }
        }
    }

    fn refuse(&mut self, message: Message) {
        match message {
            Message::Unfollow { peer } => {
                self.audience.dismiss(peer);
            }
            // Their connections have noted that they follow. They are shown the match with the others
            // once it can be shown.
            Message::Show { followers, done } => {
                for follower in followers.iter().filter(|f| !f.peer.is_closed()) {
                    self.audience.admit(follower);
                }
                // Whoever asked may be gone.
                let _ = done.send(true);
            }
            other => {
                if let Some(reply) = other.into_reply() {
                    reply.refuse(ErrorCode::Overloaded, "the store cannot be read now");
                }
            }
        }
    }

    /// Goes on from this state, and shows it to everybody who follows.
    fn begin_again(&mut self, state: Match, events: &[Event]) {
        tracing::warn!(match_id = %state.id(), seq = %state.seq(), "match rebuilt from the store");
        let before = std::mem::replace(&mut self.state, state);
        self.server.players.match_rebuilt(&before, &self.state);
        self.bot_turn = None;
        self.not_before = None;
        self.attendance = Attendance::new(self.server.settings.abandon_after);
        self.begin(events);
        for follower in self.audience.followers() {
            let outbox = &follower.peer.outbox;
            outbox.post(self.snapshot(follower.player, None));
            outbox.flush();
            let presence = self.presence();
            self.audience.has_snapshot(follower.peer.id, presence);
        }
    }

    /// Has the last of these events ready for those who ask for them.
    fn remember(&mut self, events: &[Event]) {
        let mut state = Match::new(self.state.creation().clone());
        let known_from = events.len().saturating_sub(HISTORY);
        self.history.clear();
        for (index, event) in events.iter().enumerate() {
            state
                .fold(event)
                .expect("the match was made of these events");
            if index >= known_from {
                let is_connected = |player| self.server.players.is_connected(player);
                let told = encode::event(&state, event, is_connected);
                self.history.push_back(told);
            }
        }
    }

    /// Notes who is in the match, which was live when the server before this one ended.
    pub(crate) fn has_come_back(&self) {
        self.server.players.match_begins(&self.state);
    }

    /// Brings everything in step with the state that the match begins with, which these events made.
    pub(crate) fn begin(&mut self, events: &[Event]) {
        self.remember(events);
        self.last_ply_at = now();
        self.card.set_ply(self.state.ply());
        self.audience.nothing_is_known();
        self.retires_at = matches!(self.state.stage(), Stage::Ended { .. })
            .then(|| now() + self.server.settings.linger);
        let status = to_protocol::status(self.state.stage());
        tracing::debug!(match_id = %self.state.id(), ?status, seq = %self.state.seq(), "match begins");
        self.roster_changed();
    }
}
