//! Whether a match can have gone the way its record says. [`Match::replay`] takes what its fold takes;
//! this also holds each event against what the match would have decided.

use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_protocol::{Reason, Seq};

use crate::{Creation, Damaged, Event, EventKind, Match, Occupant, Stage};

/// What is wrong with the record of a match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// An event cannot have happened here at all.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// An event stands where another must be, which comes with the one before.
    #[error("event {seq} is {found:?}, but must be {owed:?}")]
    Unexpected {
        /// The number of the event.
        seq: Seq,
        /// What is there.
        found: EventKind,
        /// What must be there.
        owed: EventKind,
    },
    /// The record breaks off before an event that comes with its last.
    #[error("the last event must be followed by {owed:?}")]
    Incomplete {
        /// What is missing.
        owed: EventKind,
    },
    /// No match decides on such an event.
    #[error("event {seq}: {why}")]
    Undecidable {
        /// The number of the event.
        seq: Seq,
        /// Why not.
        why: &'static str,
    },
    /// A move is written in another way than a match writes it.
    #[error("event {seq}: {m:?} is not the move's proper name")]
    Misspelt {
        /// The number of the event.
        seq: Seq,
        /// The move as it is written.
        m: String,
    },
}

impl Match {
    /// Whether a match can have gone this way, by its rules and those of its game.
    ///
    /// # Errors
    ///
    /// Says what cannot have come from any match.
    pub fn audit(creation: Creation, events: &[Event]) -> Result<(), Unsound> {
        let mut state = Self::new(creation);
        for event in events {
            let seq = state.seq().next();
            let kind = &event.kind;
            match state.owed() {
                Some(owed) if owed != *kind => {
                    let found = kind.clone();
                    return Err(Unsound::Unexpected { seq, found, owed });
                }
                Some(_) | None => {}
            }
            (state.check_decided(kind)).map_err(|why| Unsound::Undecidable { seq, why })?;
            state.fold(event)?;
            if let EventKind::Moved { m, .. } = kind
                && state.moves().last() != Some(m)
            {
                let m = m.clone();
                return Err(Unsound::Misspelt { seq, m });
            }
        }
        match state.owed() {
            Some(owed) => Err(Unsound::Incomplete { owed }),
            None => Ok(()),
        }
    }

    /// The one event that can come next, because it is decided together with the one before.
    fn owed(&self) -> Option<EventKind> {
        match self.stage {
            Stage::Open => (!self.seats.contains(&Occupant::Open)).then_some(EventKind::Started),
            Stage::Running => self.position.outcome().map(ended_by_rules),
            Stage::Ended { .. } => None,
        }
    }

    /// Whether a match could decide on an event that its fold takes as it comes.
    fn check_decided(&self, event: &EventKind) -> Result<(), &'static str> {
        match event {
            EventKind::Seated { seat, occupant } => match occupant {
                Occupant::Open => Ok(()),
                _ if self.occupant(*seat) != &Occupant::Open => Err("the seat is taken"),
                Occupant::Player { id, .. } if self.seat_of(*id).is_some() => {
                    Err("the player has the other seat")
                }
                Occupant::Player { .. } | Occupant::Bot(_) => Ok(()),
            },
            EventKind::Started | EventKind::Moved { .. } => Ok(()),
            EventKind::Ended { winner, reason } => self.check_end(*winner, *reason),
        }
    }

    fn check_end(&self, winner: Option<Seat>, reason: Reason) -> Result<(), &'static str> {
        match reason {
            Reason::Rules if self.owed().is_none() => Err("by the rules it is not over"),
            Reason::Aborted if winner.is_some() => Err("without a result there is no winner"),
            Reason::Resignation | Reason::Abandonment if self.stage != Stage::Running => {
                Err("what has not begun cannot be lost")
            }
            Reason::Resignation | Reason::Abandonment if winner.is_none() => {
                Err("whoever is left has won")
            }
            Reason::Rules | Reason::Aborted | Reason::Resignation | Reason::Abandonment => Ok(()),
        }
    }
}

/// The end of a match whose game has come to this outcome.
pub(crate) const fn ended_by_rules(outcome: Outcome) -> EventKind {
    EventKind::Ended {
        winner: match outcome {
            Outcome::Draw => None,
            Outcome::Decisive { winner } => Some(winner),
        },
        reason: Reason::Rules,
    }
}
