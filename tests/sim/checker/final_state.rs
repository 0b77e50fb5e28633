//! Compares the messages that clients received with the final contents of the store.

mod blocked_opponents;
mod cluster_journal;
mod correspondence_notifications;
mod engine_output;
mod match_lists;
mod ratings;
mod rematches_and_challenges;
mod spectator_views;

use std::collections::BTreeMap;
use std::ops::Bound;

use plyhouse_matches::{Event, EventKind, Match, Occupant};
use plyhouse_protocol::{EndReason, MatchId, PlayerId, Ply};
use plyhouse_store::MatchRecord;

use self::correspondence_notifications::CorrespondenceState;
use self::match_lists::ListState;
use super::clocks::{ExpectedClock, ReportedTurn, Turn};
use super::consent::{RequiredConsent, StateBefore, missing_consent};
use super::expected_events::{expected_event, snapshot_matches, time_left};
use super::move_requests::{MoveRequest, RequestResult};
use super::observations::{Observations, ObservedMatch, ObservedSnapshot, contradiction_kind};
use super::{Tally, Violation, ViolationKind};
use crate::store::FinalState;

/// Ply, player and notation of a stored move.
type StoredMove = (Ply, Option<PlayerId>, String);

/// Compares the observations with the final state of the store.
#[derive(Debug)]
pub(super) struct FinalStateCheck<'a> {
    observations: &'a Observations,
    stored: &'a FinalState,
    /// End of the run, in microseconds.
    end_us: u128,
    violations: Vec<Violation>,
    tally: Tally,
    /// Stored moves, keyed by match and event number.
    stored_moves: BTreeMap<(MatchId, u64), StoredMove>,
    /// Target plies of the stored takebacks, keyed by match and event number.
    stored_takebacks: BTreeMap<(MatchId, u64), Ply>,
    /// States of the correspondence matches after each event.
    correspondence_states: Vec<CorrespondenceState>,
    /// States of the publicly listed matches after each event.
    list_states: Vec<ListState>,
    /// Number of stored matches per host, counted separately for publicly listed and unlisted
    /// matches.
    hosted_counts: BTreeMap<(PlayerId, bool), usize>,
}

impl<'a> FinalStateCheck<'a> {
    pub(super) fn new(
        observations: &'a Observations,
        stored: &'a FinalState,
        end_us: u128,
    ) -> Self {
        Self {
            observations,
            stored,
            end_us,
            violations: Vec::new(),
            tally: Tally::default(),
            stored_moves: BTreeMap::new(),
            stored_takebacks: BTreeMap::new(),
            correspondence_states: Vec::new(),
            list_states: Vec::new(),
            hosted_counts: BTreeMap::new(),
        }
    }

    /// Returns whether the world has one server. In a cluster, a fault of any server can pause a
    /// clock at a time that the checker does not know.
    fn is_single_server(&self) -> bool {
        self.stored.cluster.is_none()
    }

    /// Returns whether a write to the match failed or had an unknown outcome.
    fn has_write_failures(&self, id: MatchId) -> bool {
        let failures = self.stored.write_failures.get(&id);
        failures.is_some_and(|failures| !failures.is_empty())
    }

    fn report(&mut self, kind: ViolationKind, about: String) {
        self.violations.push(Violation {
            kind,
            description: about,
        });
    }

    /// Checks the stored events of a match.
    pub(super) fn check_match(&mut self, id: MatchId, record: &MatchRecord) {
        let unobserved = ObservedMatch::default();
        let observed = self.observations.matches.get(&id).unwrap_or(&unobserved);
        // The host of a rematch is the host of the previous match, not the player who requested the
        // rematch.
        if record.creation.terms.previous.is_none() {
            let host = (record.creation.host, record.creation.terms.listed);
            *self.hosted_counts.entry(host).or_default() += 1;
        }
        let begun = Match::new(record.creation.clone());
        let mut state = begun.expect("the server validated the initial position");
        let mut clock = ExpectedClock::new(&state, self.observations, observed, self.stored);
        self.record_correspondence_state(&state, &clock, false);
        self.record_list_state(&state, 0);
        self.check_snapshots(observed, &state, &clock);
        let mut previous_event = None;
        for event in &record.events {
            let (state_before, turn) = (StateBefore::new(&state), Turn::from_state(&state));
            if state.fold(event).is_err() {
                let about = format!("{id}: {event:?} after {} events", state.seq());
                return self.report(impossible_event_kind(&state, previous_event, event), about);
            }
            previous_event = Some(event);
            self.check_blocked_opponents(&state, &state_before, event);
            let received = observed.events.get(&state.seq().0);
            if let Some((_, known)) = received {
                self.check_event(&state, event, known);
            }
            let received_index = received.map(|(place, _)| *place);
            self.check_requested(&state, event, received_index);
            self.check_consent(&state, &state_before, event, received_index);
            if let Some(wrong) = clock
                .apply_event(turn, &state, event)
                .filter(|_| self.is_single_server())
            {
                self.report(ViolationKind::WrongClock, wrong);
            }
            self.record_correspondence_state(&state, &clock, event.kind.begins_turn());
            self.record_list_state(&state, event.at_ms);
            self.check_snapshots(observed, &state, &clock);
        }
        let wrong = clock.check_unfinished_turn(Turn::from_state(&state), self.end_us);
        if let Some(wrong) = wrong.filter(|_| self.is_single_server()) {
            self.report(ViolationKind::WrongClock, wrong);
        }
        self.count_events(record);
        let last = state.seq().0;
        let snapshot_seqs = observed.snapshots.iter().map(|shown| shown.snapshot.seq.0);
        let latest_received = observed.events.keys().copied().chain(snapshot_seqs).max();
        if let Some(seq) = latest_received.filter(|seq| *seq > last) {
            self.report(
                ViolationKind::LostWrite,
                format!("{id}: {seq} was sent to a client, {last} is the last stored"),
            );
        }
    }

    /// Counts the events of a match.
    fn count_events(&mut self, record: &MatchRecord) {
        let terms = &record.creation.terms;
        self.tally.rematches += usize::from(terms.previous.is_some());
        for event in &record.events {
            let counted = match &event.kind {
                EventKind::Seated {
                    occupant: Occupant::StandIn { .. },
                    ..
                } => &mut self.tally.stand_ins,
                EventKind::Started { .. } if terms.invited.is_some() => {
                    &mut self.tally.accepted_challenges
                }
                EventKind::Moved {
                    spent_ms: Some(1..),
                    ..
                } => &mut self.tally.charged_moves,
                EventKind::TakenBack { .. } => &mut self.tally.takebacks,
                EventKind::Ended { reason, .. } => {
                    let is_flag = usize::from(*reason == EndReason::Timeout);
                    self.tally.flags += is_flag;
                    self.tally.correspondence_flags +=
                        is_flag * usize::from(terms.is_correspondence());
                    self.tally.agreed_draws += usize::from(*reason == EndReason::Agreement);
                    &mut self.tally.ended_matches
                }
                EventKind::Seated { .. }
                | EventKind::Started { .. }
                | EventKind::Moved { .. }
                | EventKind::Offered { .. }
                | EventKind::Declined { .. }
                | EventKind::TimeGiven { .. }
                | EventKind::Hinted { .. } => continue,
            };
            *counted += 1;
        }
    }

    /// Compares a received event with the stored one.
    fn check_event(&mut self, state: &Match, event: &Event, received: &plyhouse_protocol::Event) {
        let expected = expected_event(state, &event.kind);
        if expected != *received {
            let about = format!("{received:?} was sent, {expected:?} is expected from the store");
            self.report(contradiction_kind(&expected, received), about);
        }
    }

    /// Checks the snapshots and clock messages that clients received for this state.
    fn check_snapshots(
        &mut self,
        observed: &ObservedMatch,
        state: &Match,
        clock: &ExpectedClock<'_>,
    ) {
        let turn = Turn::from_state(state);
        for ObservedSnapshot {
            is_delayed: is_late,
            player,
            times,
            snapshot,
        } in &observed.snapshots
        {
            if snapshot.seq != state.seq() {
                continue;
            }
            // A delayed snapshot must not report a seat of the client. The snapshot shows an old
            // state, and the client may have left the seat since.
            let has_seat = player.filter(|_| !is_late);
            if !snapshot_matches(snapshot, state, has_seat) {
                let about = format!("{snapshot:?} was sent to {player:?} for {state:?}");
                self.report(ViolationKind::WrongSnapshot, about);
            }
            // The clock of a delayed snapshot is not checked, because the exact age of the snapshot
            // is unknown.
            let wrong = clock.check_reported(turn, &ReportedTurn::from_snapshot(*times, snapshot));
            if let Some(wrong) = wrong.filter(|_| self.is_single_server() && !is_late) {
                self.report(ViolationKind::WrongClock, wrong);
            }
        }
        for (seq, times, update) in &observed.clocks {
            if *seq != state.seq().0 {
                continue;
            }
            let is_left = state.remaining_time().map(time_left) == Some(update.time_left);
            if update.ply != state.ply() || !is_left {
                let about = format!("{update:?} was sent for {state:?}");
                self.report(ViolationKind::WrongClock, about);
            }
            let wrong = clock.check_reported(turn, &ReportedTurn::from_clock(*times, update));
            if let Some(wrong) = wrong.filter(|_| self.is_single_server()) {
                self.report(ViolationKind::WrongClock, wrong);
            }
        }
    }

    /// Checks that the player whose consent the event requires has requested it.
    fn check_consent(
        &mut self,
        state: &Match,
        before: &StateBefore,
        event: &Event,
        received_index: Option<usize>,
    ) {
        let about = || format!("{}: {event:?}, number {}", state.id(), state.seq());
        match before.required_consent(state, &event.kind) {
            RequiredConsent::NotRequired => {}
            RequiredConsent::Impossible => self.report(ViolationKind::UnrequestedEvent, about()),
            RequiredConsent::Request(player, fits) => {
                let fitting = self.observations.consent_requests.iter().filter(|request| {
                    (request.id == state.id() && fits(&request.message, before, &event.kind))
                        && received_index.is_none_or(|received| request.index < received)
                });
                let fitting = fitting.map(|request| (request.player, &request.result));
                if let Some(kind) = missing_consent(fitting, player) {
                    self.report(kind, about());
                }
            }
        }
    }

    /// Checks that a player who takes a seat or plays a move has sent a request for it. The request
    /// for a move must precede `received_index`, the position at which a client first received the
    /// move.
    fn check_requested(&mut self, state: &Match, event: &Event, received_index: Option<usize>) {
        let about = format!("{}: {event:?}, number {}", state.id(), state.seq());
        match &event.kind {
            EventKind::Seated {
                occupant: Occupant::Player { id, .. },
                ..
            } if !self.observations.seat_requesters.contains(id) => {
                self.report(ViolationKind::UnrequestedEvent, about)
            }
            EventKind::Moved { seat, m, .. } => {
                let player = state.occupant(*seat).player();
                let ply = Ply(state.ply().0 - 1);
                let key = (state.id(), state.seq().0);
                self.stored_moves.insert(key, (ply, player, m.clone()));
                // Bots move without a request.
                if let Some(player) = player {
                    let fits = |request: &&MoveRequest| {
                        (request.id == state.id() && request.ply == ply && request.m == *m)
                            && request
                                .takebacks
                                .is_none_or(|known| known == state.takebacks())
                            && received_index.is_none_or(|received| request.index < received)
                    };
                    let requests = self.observations.move_requests.iter().filter(fits);
                    let requests = requests.map(|request| (request.player, &request.result));
                    if let Some(kind) = missing_consent(requests, player) {
                        self.report(kind, about);
                    }
                }
            }
            EventKind::TakenBack { ply, .. } => {
                self.stored_takebacks
                    .insert((state.id(), state.seq().0), *ply);
            }
            EventKind::Seated { .. }
            | EventKind::Started { .. }
            | EventKind::Offered { .. }
            | EventKind::Declined { .. }
            | EventKind::TimeGiven { .. }
            | EventKind::Hinted { .. }
            | EventKind::Ended { .. } => {}
        }
    }

    /// Runs the checks that require the data of all matches. Returns the violations and the
    /// activity counts.
    pub(super) fn finish(mut self) -> (Vec<Violation>, Tally) {
        let stored = self.stored;
        for id in self.observations.matches.keys() {
            if !stored.matches.contains_key(id) {
                self.report(ViolationKind::LostWrite, format!("the complete match {id}"));
            }
        }
        for (host, stored_count) in std::mem::take(&mut self.hosted_counts) {
            let requested_count = self
                .observations
                .host_requests
                .get(&host)
                .copied()
                .unwrap_or(0);
            if stored_count > requested_count {
                let about = format!(
                    "{stored_count} matches of {host:?} with a request count of {requested_count}"
                );
                self.report(ViolationKind::AppliedRejectedRequest, about);
            }
        }
        for id in &self.observations.resigned_matches {
            let last = stored
                .matches
                .get(id)
                .and_then(|record| record.events.last());
            if !last.is_some_and(Event::is_end) {
                self.report(ViolationKind::LostWrite, format!("the resignation in {id}"));
            }
        }
        self.check_accepted_moves();
        self.check_rematches();
        self.check_challenges();
        self.check_engine_output();
        match self.stored.cluster.as_ref() {
            None => {
                self.check_turn_notifications();
                self.check_lists();
                self.check_ratings();
                self.check_spectator_views();
            }
            Some(cluster) => {
                self.check_journal(cluster);
                self.check_move_order();
                self.check_complete_views();
            }
        }
        (self.violations, self.tally)
    }

    /// Checks that every accepted move is stored. Also checks that the server answered repeated
    /// requests for the same move with the same event number.
    fn check_accepted_moves(&mut self) {
        let mut accepted = BTreeMap::new();
        let mut request_counts = BTreeMap::new();
        for request in &self.observations.move_requests {
            let MoveRequest {
                id, ply, takebacks, ..
            } = request;
            let key = (*id, ply.0, *takebacks, request.player, request.m.as_str());
            let count: &mut usize = request_counts.entry(key).or_default();
            *count += 1;
            let RequestResult::Accepted(Some(seq)) = request.result else {
                continue;
            };
            self.tally.repeated_moves += usize::from(*count > 1);
            let first = *accepted.entry(key).or_insert(seq);
            let since = (
                Bound::Excluded((*id, first.0)),
                Bound::Excluded((*id, seq.0)),
            );
            // If a request has no takeback count and the client repeats it after a takeback, the
            // server plays the move again.
            let is_replayed =
                first < seq && self.stored_takebacks.range(since).any(|at| at.1 <= ply);
            if first != seq && (takebacks.is_some() || !is_replayed) {
                self.report(
                    ViolationKind::DuplicateMove,
                    format!("{request:?} was accepted as event {first} before"),
                );
            }
            match self.stored_moves.get(&(request.id, seq.0)) {
                None => self.report(ViolationKind::LostWrite, format!("{request:?}")),
                Some(kept) if *kept != (request.ply, request.player, request.m.clone()) => {
                    let about = format!("{request:?} was acknowledged as {kept:?}");
                    self.report(ViolationKind::Contradiction, about);
                }
                Some(_) => {}
            }
        }
        self.tally.moves = accepted.len();
    }
}

/// Returns the kind of violation for an event that cannot follow the event before it.
fn impossible_event_kind(state: &Match, before: Option<&Event>, event: &Event) -> ViolationKind {
    match (before.map(|before| &before.kind), &event.kind) {
        (Some(EventKind::Moved { .. }), EventKind::Moved { seat, .. })
            if state.turn() == Some(seat.other()) =>
        {
            ViolationKind::DuplicateMove
        }
        (Some(EventKind::Ended { .. }), EventKind::Ended { .. }) => {
            ViolationKind::ConflictingResults
        }
        (Some(before @ EventKind::Moved { .. }), event) if before == event => {
            ViolationKind::DuplicateMove
        }
        _ => ViolationKind::ImpossibleEvent,
    }
}
