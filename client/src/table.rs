//! A match as this side knows it: the last snapshot, and the events since.

use plyhouse_protocol::{Event, Occupant, Ply, SeatNumber, Snapshot, Status};

/// A match as this side knows it.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// How it stands.
    pub(crate) now: Snapshot,
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
        Self { now: snapshot }
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
            }
            Event::Started {
                position,
                ply,
                turn,
                legal,
                ..
            } => {
                self.now.status = Status::Running;
                position.clone_into(&mut self.now.position);
                self.now.ply = *ply;
                self.now.turn = Some(*turn);
                legal.clone_into(&mut self.now.legal);
            }
            Event::Moved {
                ply,
                m,
                position,
                turn,
                legal,
                ..
            } => {
                position.clone_into(&mut self.now.position);
                self.now.ply = Ply(ply.0.saturating_add(1));
                self.now.turn = *turn;
                self.now.moves.push(m.clone());
                legal.clone_into(&mut self.now.legal);
            }
            Event::Ended { outcome, .. } => {
                self.now.status = Status::Ended;
                self.now.turn = None;
                self.now.legal.clear();
                self.now.outcome = Some(outcome.clone());
            }
        }
        Applied::Next
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
