//! A match as this side knows it: the last snapshot, and the events since.

use std::time::Duration;

use plyhouse_protocol::{
    ClockState, Ending, Event, MatchStatus, Occupant, OfferKind, OfferState, Ply, RematchState,
    SeatNumber, Snapshot, TimeLeft,
};

/// A match as this side knows it.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// How it stands.
    pub(crate) now: Snapshot,
    /// When its clocks were told last, by whatever clock its holder keeps.
    pub(crate) told_at: Duration,
    /// Whether its game has begun at all.
    pub(crate) has_begun: bool,
    /// For how long who is gone may still be gone, and when that was told.
    gone: [Option<(Duration, Duration)>; 2],
}

/// What an event was to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// The next one: the table has changed.
    Next,
    /// Known already.
    Known,
    /// One from later on: something in between is missing.
    Gap,
}

impl Table {
    /// A match as a snapshot tells it.
    pub(crate) const fn new(snapshot: Snapshot) -> Self {
        Self::told_at(snapshot, Duration::ZERO)
    }

    /// A match as a snapshot tells it that has come now.
    pub(crate) const fn told_at(snapshot: Snapshot, told_at: Duration) -> Self {
        Self {
            has_begun: matches!(snapshot.status, MatchStatus::Running)
                || snapshot.rematch.is_some(),
            now: snapshot,
            told_at,
            gone: [None, None],
        }
    }

    /// Takes one event of this match in, which has come now.
    pub(crate) fn apply_at(&mut self, event: &Event, at: Duration) -> Applied {
        let applied = self.apply(event);
        let tells_clocks = !matches!(
            event,
            Event::Seated { .. } | Event::Offered { .. } | Event::Declined { .. }
        );
        if applied == Applied::Next && tells_clocks && !matches!(event, Event::TimeGiven { .. }) {
            self.told_at = at;
        }
        applied
    }

    /// Takes one event of this match in.
    pub(crate) fn apply(&mut self, event: &Event) -> Applied {
        if event.seq() <= self.now.seq {
            return Applied::Known;
        }
        if event.seq() != self.now.seq.next() {
            return Applied::Gap;
        }
        self.now.seq = event.seq();
        match event {
            Event::Seated { seat, occupant, .. } => {
                if let Some(state) = self.now.seats.get_mut(seat.index()) {
                    state.occupant = occupant.clone();
                }
                if let Some(gone) = self.gone.get_mut(seat.index()) {
                    *gone = None;
                }
                self.now.offers.retain(|offer| offer.seat != *seat);
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
                self.now.status = MatchStatus::Running;
                self.has_begun = true;
                self.now.absence_limit_ms = *absence_limit_ms;
                self.set_up(*ply, (position, *check), Some(*turn), legal);
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
                let offers = &mut self.now.offers;
                offers.retain(|offer| !is_ended_by_move(offer, *seat));
                self.now.moves.push(m.clone());
                if let (Some(sans), Some(san)) = (&mut self.now.san, san) {
                    sans.push(san.clone());
                }
                let next = Ply(ply.0.saturating_add(1));
                self.set_up(next, (position, *check), *turn, legal);
                self.begin_turn(*left, *first_move_ms);
            }
            Event::TakenBack { .. }
            | Event::Offered { .. }
            | Event::Declined { .. }
            | Event::TimeGiven { .. } => self.apply_agreement(event),
            Event::Hinted { .. } => {}
            Event::Ended {
                outcome, time_left, ..
            } => {
                self.begin_turn(*time_left, None);
                self.end(outcome);
            }
        }
        Applied::Next
    }

    /// Takes in what the players offer and grant each other.
    fn apply_agreement(&mut self, event: &Event) {
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
                self.now.offers.clear();
                let stand = usize::try_from(ply.0).unwrap_or(usize::MAX);
                self.now.moves.truncate(stand);
                if let Some(sans) = &mut self.now.san {
                    sans.truncate(stand);
                }
                self.now.takebacks = *takebacks;
                self.set_up(*ply, (position, *check), Some(*turn), legal);
                self.begin_turn(*left, *first_move_ms);
            }
            Event::Offered { offer, .. } => {
                let same =
                    |other: &OfferState| (other.seat, other.offer) == (offer.seat, offer.offer);
                self.now.offers.retain(|other| !same(other));
                self.now.offers.push(*offer);
            }
            Event::Declined { seat, offer, .. } => {
                let declined = |other: &OfferState| (other.seat, other.offer) == (*seat, *offer);
                self.now.offers.retain(|other| !declined(other));
            }
            Event::TimeGiven {
                time_left: left, ..
            } => self.now.time_left = Some(*left),
            Event::Seated { .. }
            | Event::Started { .. }
            | Event::Moved { .. }
            | Event::Hinted { .. }
            | Event::Ended { .. } => {}
        }
    }

    /// This position stands on the board, which may be a check, and this seat is to move.
    fn set_up(
        &mut self,
        ply: Ply,
        (position, check): (&str, bool),
        turn: Option<SeatNumber>,
        legal: &[String],
    ) {
        position.clone_into(&mut self.now.position);
        self.now.check = check;
        self.now.ply = ply;
        self.now.turn = turn;
        legal.clone_into(&mut self.now.legal);
    }

    fn end(&mut self, outcome: &Ending) {
        self.now.offers.clear();
        self.gone = [None, None];
        self.now.status = MatchStatus::Ended;
        self.now.turn = None;
        self.now.legal.clear();
        self.now.outcome = Some(outcome.clone());
    }

    /// A turn begins, with so much time, which runs unless a message says otherwise.
    const fn begin_turn(&mut self, left: Option<TimeLeft>, first_move_ms: Option<u64>) {
        self.now.time_left = left;
        self.now.first_move_ms = first_move_ms;
        if left.is_some() {
            self.now.turn_ms = Some(0);
            self.now.paused = Some(false);
        }
    }

    /// Takes in what is said of the clocks now. Of a ply that is over it means nothing.
    pub(crate) fn clock(&mut self, told: ClockState, at: Duration) {
        if told.ply == self.now.ply {
            self.now.time_left = Some(told.time_left);
            self.now.turn_ms = Some(told.turn_ms);
            self.now.paused = Some(told.paused);
            self.now.first_move_ms = told.first_move_ms;
            self.told_at = at;
        }
    }

    /// Takes in for how long who is gone may still be gone.
    pub(crate) fn absence(&mut self, gone_ms: [Option<u64>; 2], at: Duration) {
        self.gone = gone_ms.map(|ms| Some((Duration::from_millis(ms?), at)));
    }

    /// For how long who is gone may still be gone, as of now.
    pub(crate) fn gone(&self, at: Duration) -> [Option<Duration>; 2] {
        let rest =
            |(rest, told): (Duration, Duration)| rest.saturating_sub(at.saturating_sub(told));
        self.gone.map(|gone| gone.map(rest))
    }

    /// Takes in who wants a rematch; gives what was known before.
    pub(crate) const fn rematch(&mut self, rematch: RematchState) -> Option<RematchState> {
        self.now.rematch.replace(rematch)
    }

    /// Takes in who is there; gives the seats whose player has just come or gone.
    pub(crate) fn presence(
        &mut self,
        seats: [Option<bool>; 2],
        spectators: u64,
    ) -> Vec<SeatNumber> {
        self.now.spectators = spectators;
        let mut changed = Vec::new();
        for (seat, here) in (0..).map(SeatNumber).zip(seats) {
            let occupant = &mut self.now.seats[seat.index()].occupant;
            if let (Some(here), Occupant::Player { connected, .. }) = (here, occupant)
                && *connected != here
            {
                *connected = here;
                changed.push(seat);
            }
        }
        changed
    }

    /// Whether it is this client's turn to move.
    pub(crate) fn my_turn(&self) -> bool {
        self.now.turn.is_some() && self.now.turn == self.now.you
    }
}

/// Whether a move of this seat ends an offer.
fn is_ended_by_move(offer: &OfferState, mover: SeatNumber) -> bool {
    match offer.offer {
        OfferKind::Draw => offer.seat != mover,
        OfferKind::Takeback => true,
        OfferKind::Rematch | OfferKind::Challenge => false,
    }
}
