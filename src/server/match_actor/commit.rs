//! From a decision to what everybody knows: stored first, then folded, then told.

use std::time::Instant;

use super::MatchActor;
use crate::clock::now;
use crate::encode;
use plyhouse_matches::Event;
use plyhouse_protocol::Seq;
use plyhouse_store::WriteError;

/// How many events can be asked for again; who has missed more gets a snapshot.
pub(super) const HISTORY: usize = 256;

/// Why the events of an action did not come about.
pub(super) enum NotStored {
    /// Nothing was written, and the same may succeed later.
    Unavailable,
    /// What the store holds is not what this match believes, or cannot be told.
    Lost,
}

impl MatchActor {
    /// Stores events, and once they are safe makes them part of the match and tells everybody.
    pub(super) async fn commit(&mut self, events: Vec<Event>) -> Result<(), NotStored> {
        if events.is_empty() {
            return Ok(());
        }
        let after = self.state.seq();
        let written = self
            .server
            .store
            .append(self.state.id(), after, events.clone())
            .await;
        if let Err(error) = written {
            tracing::error!(match_id = %self.state.id(), seq = %after, %error, "events not stored");
            self.read_back(after, &events, &error).await?;
        }
        self.happen(&events);
        Ok(())
    }

    /// Finds out what a failed write has left behind. Fine if the events are there after all.
    async fn read_back(
        &mut self,
        after: Seq,
        events: &[Event],
        error: &WriteError,
    ) -> Result<(), NotStored> {
        if matches!(error, WriteError::Unavailable) {
            return Err(NotStored::Unavailable);
        }
        let record = self.server.store.load(self.state.id()).await;
        let Ok(Some(record)) = record else {
            return Err(NotStored::Lost);
        };
        let known = usize::try_from(after.0)
            .ok()
            .and_then(|known| record.events.get(known..));
        match known {
            Some([]) => Err(NotStored::Unavailable),
            Some(written) if written == events => Ok(()),
            Some(_) | None => Err(NotStored::Lost),
        }
    }

    /// Makes stored events part of the match, and then tells everybody.
    pub(crate) fn happen(&mut self, events: &[Event]) {
        self.panicked = 0;
        let durable_at = now();
        for event in events {
            self.take_in(event, durable_at);
            let is_connected = |player| self.server.players.is_connected(player);
            let told = encode::event(&self.state, event, is_connected);
            if self.history.len() == HISTORY {
                self.history.pop_front();
            }
            self.history.push_back(told);
        }
        let is_move = |event: &Event| matches!(event, Event::Moved { .. });
        if !events.iter().all(is_move) {
            self.roster_changed();
        }
        let known = self.history.len() - events.len().min(HISTORY);
        for told in self.history.range(known..) {
            self.audience.tell(told);
        }
    }

    /// Makes an event part of the match, which was durable at this instant, and whatever depends on
    /// the match follow.
    fn take_in(&mut self, event: &Event, durable_at: Instant) {
        let before = match event {
            Event::Seated { seat, .. } => self.state.occupant(*seat).player(),
            Event::Started | Event::Moved { .. } | Event::Ended { .. } => None,
        };
        self.state
            .fold(event)
            .expect("the match allows what it has decided on");
        let id = self.state.id();
        match event {
            Event::Seated { occupant, .. } => {
                if let Some(player) = before {
                    self.server.players.stood_up(player, id);
                }
                if let Some(player) = occupant.player() {
                    self.server.players.sat_down(player, id);
                }
                self.audience.nothing_is_known();
            }
            Event::Started => {
                if self.state.players().next().is_some() {
                    self.open = None;
                }
                self.last_ply_at = durable_at;
            }
            Event::Moved { .. } => {
                self.last_ply_at = durable_at;
                self.is_move_unwritten = true;
                self.game.moves.inc();
                self.card.set_ply(self.state.ply());
            }
            Event::Ended {
                winner,
                termination,
            } => {
                self.game.ended(*termination);
                tracing::debug!(match_id = %id, ?winner, ?termination, ply = %self.state.ply(), "match ended");
                self.open = None;
                self.retires_at = Some(durable_at + self.server.settings.linger);
                self.server.players.match_ended(&self.state);
            }
        }
    }
}
