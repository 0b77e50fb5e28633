//! State of a match on the client: the last snapshot, updated by later events.

use std::time::Duration;

use plyhouse_protocol::{
    ClockState, Ending, Event, MatchStatus, Occupant, OfferKind, OfferState, Ply, RematchState,
    SeatNumber, Snapshot, TimeLeft,
};

#[derive(Clone, Debug)]
pub(crate) struct MatchState {
    /// Last snapshot with all later events applied.
    pub(crate) snapshot: Snapshot,
    /// Time at which the clocks of the match were last updated, as measured by the caller.
    pub(crate) clock_updated_at: Duration,
    /// Whether the game has begun.
    pub(crate) has_begun: bool,
    /// Countdowns for absent players to return, by seat. Each countdown holds the time left, as
    /// last reported by the server, and the time at which the client received this report.
    absences: [Option<(Duration, Duration)>; 2],
}

/// Result of applying an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApplyResult {
    /// The event immediately followed the last applied event and has been applied.
    Applied,
    /// The event had already been applied.
    Duplicate,
    /// Earlier events are missing.
    Gap,
}

impl MatchState {
    /// Creates the state from a snapshot, and sets the time of the last clock update to zero.
    pub(crate) const fn new(snapshot: Snapshot) -> Self {
        Self::received_at(snapshot, Duration::ZERO)
    }

    /// Creates the state from a snapshot that was received at `clock_updated_at`.
    pub(crate) const fn received_at(snapshot: Snapshot, clock_updated_at: Duration) -> Self {
        Self {
            has_begun: matches!(snapshot.status, MatchStatus::Running)
                || snapshot.rematch.is_some(),
            snapshot,
            clock_updated_at,
            absences: [None, None],
        }
    }

    /// Applies an event of this match that was received at `now`.
    pub(crate) fn apply_at(&mut self, event: &Event, now: Duration) -> ApplyResult {
        let result = self.apply(event);
        let updates_clock = !matches!(
            event,
            Event::Seated { .. }
                | Event::Offered { .. }
                | Event::Declined { .. }
                | Event::TimeGiven { .. }
        );
        if result == ApplyResult::Applied && updates_clock {
            self.clock_updated_at = now;
        }
        result
    }

    /// Applies an event of this match if it is the next event in the sequence. Duplicates, and
    /// events after a missing event, are not applied.
    pub(crate) fn apply(&mut self, event: &Event) -> ApplyResult {
        if event.seq() <= self.snapshot.seq {
            return ApplyResult::Duplicate;
        }
        if event.seq() != self.snapshot.seq.next() {
            return ApplyResult::Gap;
        }
        self.snapshot.seq = event.seq();
        match event {
            Event::Seated { seat, occupant, .. } => {
                if let Some(state) = self.snapshot.seats.get_mut(seat.index()) {
                    state.occupant = occupant.clone();
                }
                if let Some(absence) = self.absences.get_mut(seat.index()) {
                    *absence = None;
                }
                self.snapshot.offers.retain(|offer| offer.seat != *seat);
            }
            Event::Started {
                position,
                check,
                ply,
                turn,
                legal,
                time_left,
                first_move_ms,
                absence_limit_ms,
                ..
            } => {
                self.snapshot.status = MatchStatus::Running;
                self.has_begun = true;
                self.snapshot.absence_limit_ms = *absence_limit_ms;
                self.set_position(*ply, (position, *check), Some(*turn), legal);
                self.begin_turn(*time_left, *first_move_ms);
            }
            Event::Moved {
                ply,
                seat,
                m,
                san,
                position,
                check,
                turn,
                legal,
                time_left: left,
                first_move_ms,
                ..
            } => {
                let offers = &mut self.snapshot.offers;
                offers.retain(|offer| !is_ended_by_move(offer, *seat));
                self.snapshot.moves.push(m.clone());
                if let (Some(sans), Some(san)) = (&mut self.snapshot.san, san) {
                    sans.push(san.clone());
                }
                let next = Ply(ply.0.saturating_add(1));
                self.set_position(next, (position, *check), *turn, legal);
                self.begin_turn(*left, *first_move_ms);
            }
            Event::Ended {
                outcome, time_left, ..
            } => {
                self.begin_turn(*time_left, None);
                self.set_ended(outcome);
            }
            _ => self.apply_offer_event(event),
        }
        ApplyResult::Applied
    }

    /// Applies an event about an offer, a takeback or added time.
    fn apply_offer_event(&mut self, event: &Event) {
        match event {
            Event::TakenBack {
                ply,
                position,
                check,
                turn,
                legal,
                time_left: left,
                first_move_ms,
                takebacks,
                ..
            } => {
                self.snapshot.offers.clear();
                let move_count = usize::try_from(ply.0).unwrap_or(usize::MAX);
                self.snapshot.moves.truncate(move_count);
                if let Some(sans) = &mut self.snapshot.san {
                    sans.truncate(move_count);
                }
                self.snapshot.takebacks = *takebacks;
                self.set_position(*ply, (position, *check), Some(*turn), legal);
                self.begin_turn(*left, *first_move_ms);
            }
            Event::Offered { offer, .. } => {
                self.remove_offer(offer.seat, offer.offer);
                self.snapshot.offers.push(*offer);
            }
            Event::Declined { seat, offer, .. } => self.remove_offer(*seat, *offer),
            Event::TimeGiven {
                time_left: left, ..
            } => self.snapshot.time_left = Some(*left),
            _ => {}
        }
    }

    fn remove_offer(&mut self, seat: SeatNumber, kind: OfferKind) {
        let offers = &mut self.snapshot.offers;
        offers.retain(|offer| (offer.seat, offer.offer) != (seat, kind));
    }

    /// Sets the current position, including the ply, the seat to move and its legal moves.
    fn set_position(
        &mut self,
        ply: Ply,
        (position, check): (&str, bool),
        turn: Option<SeatNumber>,
        legal: &[String],
    ) {
        position.clone_into(&mut self.snapshot.position);
        self.snapshot.check = check;
        self.snapshot.ply = ply;
        self.snapshot.turn = turn;
        legal.clone_into(&mut self.snapshot.legal);
    }

    fn set_ended(&mut self, outcome: &Ending) {
        self.snapshot.offers.clear();
        self.absences = [None, None];
        self.snapshot.status = MatchStatus::Ended;
        self.snapshot.turn = None;
        self.snapshot.legal.clear();
        self.snapshot.outcome = Some(outcome.clone());
    }

    /// Sets the remaining times for a new turn. If the match has a clock, this method also starts
    /// the clock. A later message from the server may pause the clock.
    const fn begin_turn(&mut self, left: Option<TimeLeft>, first_move_ms: Option<u64>) {
        self.snapshot.time_left = left;
        self.snapshot.first_move_ms = first_move_ms;
        if left.is_some() {
            self.snapshot.turn_ms = Some(0);
            self.snapshot.paused = Some(false);
        }
    }

    /// Updates the clock with a state that was received at `now`. A clock state for another ply is
    /// outdated, so it is ignored.
    pub(crate) fn update_clock(&mut self, reported: ClockState, now: Duration) {
        if reported.ply == self.snapshot.ply {
            self.snapshot.time_left = Some(reported.time_left);
            self.snapshot.turn_ms = Some(reported.turn_ms);
            self.snapshot.paused = Some(reported.paused);
            self.snapshot.first_move_ms = reported.first_move_ms;
            self.clock_updated_at = now;
        }
    }

    /// Sets how much time each absent player has left to return, counted from `now`.
    pub(crate) fn set_absences(&mut self, remaining_ms: [Option<u64>; 2], now: Duration) {
        self.absences = remaining_ms.map(|ms| Some((Duration::from_millis(ms?), now)));
    }

    /// Returns how much time each absent player has left to return.
    pub(crate) fn remaining_absences(&self, now: Duration) -> [Option<Duration>; 2] {
        let remaining = |(rest, reported_at): (Duration, Duration)| {
            rest.saturating_sub(now.saturating_sub(reported_at))
        };
        self.absences.map(|absence| absence.map(remaining))
    }

    /// Replaces the rematch state of the match, and returns the previous state.
    pub(crate) const fn replace_rematch(&mut self, rematch: RematchState) -> Option<RematchState> {
        self.snapshot.rematch.replace(rematch)
    }

    /// Updates which players are connected and the number of spectators. Returns the seats whose
    /// players have just connected or disconnected.
    pub(crate) fn update_presence(
        &mut self,
        seats: [Option<bool>; 2],
        spectators: u64,
    ) -> Vec<SeatNumber> {
        self.snapshot.spectators = spectators;
        let mut changed = Vec::new();
        for (seat, is_connected) in (0..).map(SeatNumber).zip(seats) {
            let occupant = &mut self.snapshot.seats[seat.index()].occupant;
            if let (Some(here), Occupant::Player { connected, .. }) = (is_connected, occupant)
                && *connected != here
            {
                *connected = here;
                changed.push(seat);
            }
        }
        changed
    }

    pub(crate) fn is_my_turn(&self) -> bool {
        self.snapshot.turn.is_some() && self.snapshot.turn == self.snapshot.you
    }
}

/// Returns whether the offer expires when the seat `mover` plays a move. A takeback offer expires
/// with any move. A draw offer expires when the player who received it moves.
fn is_ended_by_move(offer: &OfferState, mover: SeatNumber) -> bool {
    match offer.offer {
        OfferKind::Draw => offer.seat != mover,
        OfferKind::Takeback => true,
        OfferKind::Rematch | OfferKind::Challenge => false,
    }
}
