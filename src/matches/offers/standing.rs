//! The offers of a match that stand, and what counts against those who make them.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{Ply, Seq};

use crate::event::Offer;

/// An offer that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whose it is.
    pub seat: Seat,
    /// What it is.
    pub offer: Offer,
    /// At which ply it was made.
    pub ply: Ply,
    /// With a takeback: the ply that would be played anew.
    pub to_ply: Option<Ply>,
    /// The number of its event.
    pub seq: Seq,
}

/// What stands, and what counts against those who offer.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    /// Of each kind one can stand: the other's of that kind is an answer.
    pub(super) draw: Option<Standing>,
    pub(super) takeback: Option<Standing>,
    /// The last draw that each seat has offered: at which ply, and by which event.
    pub(super) last_draws: [Option<(Ply, Seq)>; 2],
    /// The last takeback that each seat has asked for: at which ply, and when, in milliseconds since 1970.
    pub(super) last_takebacks: [Option<(Ply, u64)>; 2],
    /// How many takebacks of each seat were turned down, withdrawn or passed over.
    pub(super) refused: [u8; 2],
    /// The plies at which each seat gave time, in order.
    pub(super) gave_at: [Vec<Ply>; 2],
}

impl Offers {
    const fn slot(&mut self, offer: Offer) -> &mut Option<Standing> {
        match offer {
            Offer::Draw => &mut self.draw,
            Offer::Takeback => &mut self.takeback,
        }
    }

    pub(super) const fn get(&self, offer: Offer) -> Option<Standing> {
        match offer {
            Offer::Draw => self.draw,
            Offer::Takeback => self.takeback,
        }
    }

    /// Notes that a takeback has come to nothing.
    fn refuse_takeback(&mut self, seat: Seat) {
        let refused = &mut self.refused[seat.index()];
        *refused = refused.saturating_add(1);
    }

    /// Records an offer that was made at `at_ms`, in milliseconds since 1970.
    pub(crate) fn offered(&mut self, standing: Standing, at_ms: u64) {
        match standing.offer {
            Offer::Draw => {
                self.last_draws[standing.seat.index()] = Some((standing.ply, standing.seq));
            }
            // Whoever asks for something else has withdrawn what they asked for.
            Offer::Takeback => {
                self.last_takebacks[standing.seat.index()] = Some((standing.ply, at_ms));
                if let Some(before) = self.takeback {
                    self.refuse_takeback(before.seat);
                }
            }
        }
        *self.slot(standing.offer) = Some(standing);
    }

    /// Ends an offer of this seat. False if none stands.
    pub(crate) fn declined(&mut self, seat: Seat, offer: Offer) -> bool {
        let slot = self.slot(offer);
        if slot.is_none_or(|standing| standing.seat != seat) {
            return false;
        }
        *slot = None;
        if offer == Offer::Takeback {
            self.refuse_takeback(seat);
        }
        true
    }

    /// A seat has moved, which answers a draw of the other, and any takeback.
    pub(crate) fn moved(&mut self, seat: Seat) {
        if self.draw.is_some_and(|standing| standing.seat != seat) {
            self.draw = None;
        }
        if let Some(standing) = self.takeback.take() {
            self.refuse_takeback(standing.seat);
        }
    }

    /// The match goes on from an earlier ply. What was offered after it counts as offered then.
    pub(crate) fn taken_back(&mut self, to_ply: Ply) {
        self.end_all();
        for (ply, _) in self.last_draws.iter_mut().flatten() {
            *ply = to_ply.min(*ply);
        }
        for gave_at in &mut self.gave_at {
            gave_at.retain(|ply| *ply <= to_ply);
        }
    }

    /// A seat has another occupant, who has offered nothing.
    pub(crate) fn seated(&mut self, seat: Seat) {
        for offer in [Offer::Draw, Offer::Takeback] {
            let slot = self.slot(offer);
            *slot = slot.filter(|standing| standing.seat != seat);
        }
    }

    pub(crate) const fn end_all(&mut self) {
        self.draw = None;
        self.takeback = None;
    }

    pub(crate) fn time_given(&mut self, by: Seat, at: Ply) {
        self.gave_at[by.index()].push(at);
    }
}
