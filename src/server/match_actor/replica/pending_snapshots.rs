//! Pending snapshots of a replica. Each one waits for the clock that the owning server reports.
//!
//! The store holds the events of a match, but not the elapsed time of the current turn. A replica
//! receives the elapsed time from the owner. A snapshot of a running timed match therefore waits
//! for the owner's clock.
//!
//! The wait is limited, and it is skipped while the owner is unreachable. In these cases, the
//! replica sends the snapshot without the clock. A `clock` message follows as soon as the clock is
//! known.

use std::time::Instant;

use plyhouse_matches::Stage;

use super::{CLOCK_WAIT_MAX, CLOCK_WAITERS_MAX, Replica};
use crate::context::clock_and_rng::now;
use crate::match_actor::MatchActor;
use crate::match_handle::Envelope;
use crate::match_handle::command::MatchRequest;

impl Replica {
    /// Returns the time at which the replica stops waiting for the owner's clock. Returns `None` if
    /// no message waits for the clock.
    pub(super) fn clock_deadline(&self) -> Option<Instant> {
        let has_waiters = self.snapshots_pending
            || !self.clock_waiters.is_empty()
            || !self.pending_answers.is_empty();
        let since = self.clock_unknown_since.filter(|_| has_waiters)?;
        let deadline = since + CLOCK_WAIT_MAX;
        (deadline > now()).then_some(deadline)
    }
}

impl MatchActor {
    /// Returns whether a snapshot sent now would lack the clock of the current turn.
    pub(super) fn lacks_clock(&self) -> bool {
        self.state.stage() == Stage::Running
            && self.state.clock().is_some()
            && self.turn_time().is_none()
    }

    /// Returns whether snapshots wait for the owner's clock.
    pub(super) fn waits_for_clock(&self) -> bool {
        let (Some(replica), Some(cluster)) = (&self.replica, &self.server.infra.cluster) else {
            return false;
        };
        let is_in_time = replica
            .clock_unknown_since
            .is_none_or(|since| now() < since + CLOCK_WAIT_MAX);
        self.lacks_clock()
            && is_in_time
            && replica
                .owner
                .is_some_and(|owner| cluster.is_node_reachable(owner))
    }

    /// Queues a snapshot request that must wait for the owner's clock. Returns any other request to
    /// the caller.
    pub(super) fn wait_for_clock(&mut self, envelope: Envelope) -> Option<Envelope> {
        let wants_snapshot = matches!(
            envelope.command.request,
            MatchRequest::Watch | MatchRequest::PushSnapshot | MatchRequest::Resync { .. }
        );
        let has_timed_out =
            now().saturating_duration_since(envelope.command.received_at) >= CLOCK_WAIT_MAX;
        let is_full = self.replica_mut().clock_waiters.len() >= CLOCK_WAITERS_MAX;
        // Spectators of a delayed match see an earlier turn, and the owner does not send the clock
        // of that turn.
        let is_delayed = self.delayed_view_for(envelope.command.player).is_some();
        if !wants_snapshot || has_timed_out || is_full || is_delayed || !self.waits_for_clock() {
            return Some(envelope);
        }
        self.replica_mut()
            .clock_waiters
            .push_back(Box::new(envelope));
        None
    }

    /// Returns whether snapshot requests wait for the owner's clock.
    pub(super) fn has_snapshot_waiters(&self) -> bool {
        let replica = self.replica.as_ref();
        replica.is_some_and(|replica| !replica.clock_waiters.is_empty())
    }

    /// Defers the requests that wait for the owner's clock, because the match is about to be
    /// reloaded.
    pub(crate) fn release_clock_waiters(&mut self) {
        if let Some(replica) = &mut self.replica {
            let waiters = std::mem::take(&mut replica.clock_waiters);
            self.defer(waiters);
        }
    }

    /// Schedules a snapshot for all followers and suppresses broadcasts until the snapshot is sent.
    pub(crate) fn schedule_snapshots(&mut self) {
        self.replica_mut().snapshots_pending = true;
        self.broadcaster.pause();
        self.update_clock_wait();
    }

    /// Sends the messages that wait for the owner's clock, once the clock is known or the wait is
    /// over.
    pub(super) fn update_clock_wait(&mut self) {
        let lacks_clock = self.lacks_clock();
        let replica = self.replica_mut();
        replica.clock_unknown_since = match lacks_clock {
            true => Some(replica.clock_unknown_since.unwrap_or_else(now)),
            false => None,
        };
        if self.waits_for_clock() {
            return;
        }
        let replica = self.replica_mut();
        let waiters = std::mem::take(&mut replica.clock_waiters);
        if std::mem::take(&mut replica.snapshots_pending) {
            let extras = self.snapshot_extras();
            self.broadcaster.broadcast_snapshots(&self.state, extras);
        }
        if !waiters.is_empty() {
            self.defer(waiters);
        }
        if !self.replica_mut().pending_answers.is_empty() {
            self.send_ready_answers();
        }
    }

    /// Records that a snapshot is sent without the clock, so that a `clock` message follows.
    pub(crate) fn mark_clock_pending(&mut self) {
        let lacks_clock = self.lacks_clock();
        if let Some(replica) = &mut self.replica {
            replica.clock_pending |= lacks_clock;
        }
    }
}
