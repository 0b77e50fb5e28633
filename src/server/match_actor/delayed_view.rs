//! Delayed view of a match for connections without a seat.
//!
//! These connections are followers of a separate [`View`]. The match state of the delayed view
//! contains only events that are older than the spectator delay. Later events wait in a queue with
//! the time at which they become visible. Snapshots, replies and lists for spectators use the
//! delayed view.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Action, Creation, Match, ReplayError, Stage};
use plyhouse_protocol::{ErrorCode, PlayerId, SpectatorAccess, WireError};
use plyhouse_store::MatchRecord;

use super::MatchActor;
use super::view::{DelayedFollowers, RemotePresence, SnapshotExtras, View};
use crate::context::clock_and_rng::{earliest, now};
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication_messages::{
    Changes, ChatMessage, PublishedEvents, ReceivedState, TransientState,
};
use crate::match_handle::summary::SeatPresence;

/// Queue length at which the queue accepts only updates that contain events or chat messages. A
/// match produces fewer other updates in ten minutes, because presence changes are batched. At the
/// limit, changes wait until the queue has room and are then sent together.
const QUEUED_UPDATES_MAX: usize = 4096;

/// A match as spectators see it.
#[derive(Debug)]
pub(super) struct DelayedView {
    delay: Duration,
    /// The match state that spectators see, and the spectators.
    pub(super) view: View,
    /// Updates that are not visible to spectators yet, oldest first.
    queue: VecDeque<QueuedUpdate>,
    /// Changes of the match since the last queued update.
    pub(super) changes: Changes,
    /// Transient state in the last queued update: clock, presence, absence times and rematch
    /// offers.
    last_queued_state: Option<TransientState>,
    /// Transient state that spectators see.
    transient_state: ReceivedState,
    /// Whether a player has taken or left a seat since the followers were last checked.
    pub(super) seats_changed: bool,
}

/// An update with the time at which it becomes visible.
#[derive(Debug)]
struct QueuedUpdate {
    visible_at: Instant,
    changes: Changes,
    transient_state: Option<TransientState>,
}

/// Returns a copy of `creation` without the reference to the previous match and without the series
/// score. Spectators may not have seen the end of the previous match yet.
fn redact_creation(creation: &Creation) -> Creation {
    let mut redacted = creation.clone();
    redacted.terms.previous = None;
    redacted
}

impl DelayedView {
    /// Creates the delayed view of the recorded match. Returns `None` if the match has no spectator
    /// delay.
    pub(super) fn from_record(
        server: &Arc<ServerContext>,
        record: &MatchRecord,
    ) -> Result<Option<Box<Self>>, ReplayError> {
        let delay_ms = record.creation.terms.spectator_delay_ms;
        if delay_ms == 0 {
            return Ok(None);
        }
        let without_events = MatchRecord {
            creation: redact_creation(&record.creation),
            events: Vec::new(),
        };
        let mut view = Box::new(Self {
            delay: Duration::from_millis(delay_ms),
            view: View::from_record(server, without_events, true)?,
            queue: VecDeque::new(),
            changes: Changes::default(),
            last_queued_state: None,
            transient_state: ReceivedState::default(),
            seats_changed: false,
        });
        view.reset(record, server.infra.clock.now_ms())?;
        Ok(Some(view))
    }

    /// Rebuilds the view from the stored record. The followers of the view stay. The next snapshot
    /// shows the events that spectators may already see.
    fn reset(&mut self, record: &MatchRecord, now_ms: u64) -> Result<(), ReplayError> {
        let visible_count = record.visible_to_spectators(now_ms).len();
        let visible_record = MatchRecord {
            creation: redact_creation(&record.creation),
            events: record.events[..visible_count].to_vec(),
        };
        self.view.reload(visible_record)?;
        self.changes = Changes::default();
        self.last_queued_state = None;
        self.transient_state = ReceivedState::default();
        self.seats_changed = true;
        let seats = Seat::ALL.map(|seat| self.view.state.occupant(seat).player().map(|_| false));
        let spectators = 0;
        let empty = SeatPresence { seats, spectators };
        self.view
            .set_remote_presence(Some(RemotePresence::Total(empty)));
        let (at, delay_ms) = (now(), record.creation.terms.spectator_delay_ms);
        let mut last_visible_at = at;
        let updates = record.events[visible_count..].iter().map(|event| {
            let visible_at_ms = event.at_ms.saturating_add(delay_ms);
            last_visible_at = last_visible_at
                .max(at + Duration::from_millis(visible_at_ms.saturating_sub(now_ms)));
            let events = vec![event.clone()];
            QueuedUpdate {
                visible_at: last_visible_at,
                changes: Changes {
                    events,
                    ..Changes::default()
                },
                transient_state: None,
            }
        });
        self.queue = updates.collect();
        Ok(())
    }

    /// Adds a chat message. A spectator's message is sent to the spectators at once, because
    /// spectators may write only after they have seen the end of the match.
    pub(super) fn add_chat(&mut self, message: &ChatMessage) {
        match message.chat.seat {
            None => self.view.broadcast_chat(message),
            Some(_) => self.changes.chat_messages.push(message.clone()),
        }
    }

    /// Queues the collected changes.
    fn enqueue_changes(&mut self, transient_state: TransientState) {
        let is_unchanged = |queued: &TransientState| queued.equals_except_time(&transient_state);
        let changes = &self.changes;
        let must_enqueue = !changes.events.is_empty() || !changes.chat_messages.is_empty();
        let is_changed =
            changes.is_clock_changed || !self.last_queued_state.as_ref().is_some_and(is_unchanged);
        if must_enqueue || (is_changed && self.queue.len() < QUEUED_UPDATES_MAX) {
            self.queue.push_back(QueuedUpdate {
                visible_at: now() + self.delay,
                changes: std::mem::take(&mut self.changes),
                transient_state: Some(transient_state.clone()),
            });
            self.last_queued_state = Some(transient_state);
        }
    }

    /// Returns the time at which the next update or `presence` message is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let first_visible_at = self.queue.front().map(|later| later.visible_at);
        earliest([first_visible_at, self.view.deadline()])
    }

    /// Enqueues the updates that are due; the next flush sends them. Returns whether any updates
    /// were due.
    fn broadcast_due(&mut self, now: Instant) -> bool {
        let mut has_sent = false;
        while let Some(update) = self.queue.pop_front_if(|later| later.visible_at <= now) {
            self.broadcast_update(update);
            has_sent = true;
        }
        let absence_left_ms = self.transient_state.absence_left_ms();
        self.view.on_timer(now, absence_left_ms);
        has_sent
    }

    fn broadcast_update(&mut self, update: QueuedUpdate) {
        let changes = update.changes;
        let after = self.view.state.seq();
        // Each event contains the clock state. If the update has no events, spectators who have not
        // received the clock yet need a `clock` message.
        let is_clock_changed = changes.is_clock_changed
            || (changes.events.is_empty() && self.transient_state.turn_time().is_none());
        for event in &changes.events {
            self.view.apply_delayed_event(event);
        }
        self.view.remove_spectator();
        self.view.broadcast(&PublishedEvents {
            after,
            events: changes.events,
        });
        if let Some(transient_state) = update.transient_state {
            self.view.apply_transient_state(&transient_state);
            self.transient_state = ReceivedState::new(transient_state);
        }
        if is_clock_changed && let Some(time) = self.transient_state.turn_time() {
            self.view.broadcast_clock(time);
        }
        for message in &changes.chat_messages {
            self.view.broadcast_chat(message);
        }
        self.view.broadcast_rating_update();
    }

    /// Returns the clock and the absences as spectators see them.
    pub(super) fn snapshot_extras(&self) -> SnapshotExtras {
        SnapshotExtras {
            turn_time: self.transient_state.turn_time(),
            absent: (self.transient_state.absence_left_ms()).map(|left_ms| left_ms.is_some()),
        }
    }

    /// Replaces an error that would reveal events that are not visible to spectators yet.
    fn redact_answer(
        &self,
        state: &Match,
        command: &Command,
        action: &Action,
        answer: Answer,
    ) -> Answer {
        let has_ended = |state: &Match| matches!(state.stage(), Stage::Ended { .. });
        let code = answer.as_ref().err().and_then(|error| error.code);
        let is_hidden = match code {
            Some(ErrorCode::MatchEnded) => !has_ended(&self.view.state),
            Some(ErrorCode::MatchRunning) => self.view.state.stage() == Stage::Open,
            _ => false,
        };
        if !is_hidden {
            return answer;
        }
        let is_host = state.creation().host == command.player;
        let (code, why) = match action {
            Action::Join { .. } => (ErrorCode::SeatTaken, "no seat is open for you"),
            _ if is_host => (ErrorCode::MatchRunning, "the match has already started"),
            _ => (ErrorCode::NotHost, "only the host can do this"),
        };
        Err(Box::new(WireError::new(code, why)))
    }
}

impl MatchActor {
    /// Returns the delayed view if this player sees the match with a delay.
    pub(super) fn delayed_view_for(&self, player: PlayerId) -> Option<&DelayedView> {
        let delayed = self.delayed_view.as_deref();
        delayed.filter(|_| self.view.state.seat_held_by(player).is_none())
    }

    /// Removes from the answer to a command all information that the player may not see yet.
    pub(super) fn redact_answer(
        &self,
        command: &Command,
        action: &Action,
        answer: Answer,
    ) -> Answer {
        match self.delayed_view_for(command.player) {
            Some(delayed) => delayed.redact_answer(&self.view.state, command, action, answer),
            None => answer,
        }
    }

    /// Tells the current view who follows the delayed view, because the current view counts these
    /// followers as spectators.
    pub(super) fn update_delayed_followers(&mut self) {
        if let Some(delayed) = &self.delayed_view {
            let host = self.view.state.creation().host;
            self.view.delayed_followers = DelayedFollowers {
                count: delayed.view.follower_count(),
                host: delayed.view.has_participant(host).then_some(host),
            };
        }
    }

    /// Moves each connection to the view that its player may see: the current state or the delayed
    /// view. Then queues new changes for the spectators.
    pub(super) fn update_delayed_view(&mut self) {
        if self.delayed_view.is_none() {
            return;
        }
        self.move_followers_between_views();
        let transient_state = self.transient_state();
        if let Some(delayed) = &mut self.delayed_view {
            delayed.enqueue_changes(transient_state);
        }
    }

    /// Moves the connections of players who have taken a seat to the current view. Removes
    /// the connections of players who have left a seat, because these players have seen events that
    /// spectators may not see yet.
    fn move_followers_between_views(&mut self) {
        let delayed = self.delayed_view.as_mut();
        if !delayed.is_some_and(|delayed| std::mem::take(&mut delayed.seats_changed)) {
            return;
        }
        let extras = self.snapshot_extras();
        let Some(delayed) = &mut self.delayed_view else {
            return;
        };
        let state = &self.view.state;
        let is_seated = |player| state.seat_held_by(player).is_some();
        let seated_followers = delayed.view.take_followers(is_seated);
        for (player, outbox) in seated_followers {
            self.view.admit_delayed_follower(player, &outbox, extras);
        }
        let has_no_seat = |state: &Match, player| state.seat_held_by(player).is_none();
        self.view.remove_followers_if(has_no_seat);
        self.on_presence_changed();
    }

    /// Broadcasts the due updates to the spectators, and updates the match's entry in lists.
    pub(super) fn broadcast_delayed(&mut self, now: Instant) {
        let Some(delayed) = &mut self.delayed_view else {
            return;
        };
        if delayed.broadcast_due(now) {
            self.update_delayed_listing();
            if self.view.state.creation().terms.spectator_access() == SpectatorAccess::Nobody {
                self.on_presence_changed();
            }
        }
    }

    /// Updates the match's entry in lists to the state that spectators see.
    pub(super) fn update_delayed_listing(&self) {
        if let Some(delayed) = &self.delayed_view {
            let presence = delayed.view.seat_presence();
            let summary = &self.leader.summary;
            // If the match list contained the rematch, spectators would learn that the previous
            // match has ended.
            let is_rematch = self.view.state.creation().terms.previous.is_some();
            let is_visible = !is_rematch || delayed.view.state.stage() != Stage::Open;
            if summary.set_delayed_listing(&delayed.view.state, presence, is_visible) {
                self.server.matches.lobby.update_shown_status(summary);
                if let Some(cluster) = &self.server.infra.cluster {
                    cluster
                        .changed_listings
                        .mark_changed(summary.is_listed().then_some(summary.id));
                }
            }
        }
    }

    /// Rebuilds the delayed view from the store's record.
    pub(super) fn reset_delayed_view(&mut self, record: &MatchRecord) -> Result<(), ReplayError> {
        let now_ms = self.server.infra.clock.now_ms();
        if let Some(delayed) = &mut self.delayed_view {
            delayed.reset(record, now_ms)?;
        }
        Ok(())
    }

    /// Sends a new snapshot to all spectators.
    pub(super) fn broadcast_delayed_snapshots(&mut self, epoch: u64) {
        if let Some(delayed) = &mut self.delayed_view {
            delayed.view.epoch = epoch;
            let extras = delayed.snapshot_extras();
            delayed.view.broadcast_snapshots(extras);
        }
        self.update_delayed_listing();
    }
}
