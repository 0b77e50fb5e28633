//! The offers of a match that stand, and what counts against those who make them.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{Ply, Seq};

use crate::event::Offer;

/// An offer that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingOffer {
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
    pub(super) draw: Option<PendingOffer>,
    pub(super) takeback: Option<PendingOffer>,
    /// The last draw that each seat has offered: at which ply, and by which event.
    pub(super) last_draw_offers: [Option<(Ply, Seq)>; 2],
    /// The last takeback that each seat has asked for: at which ply, and when, in milliseconds since 1970.
    pub(super) last_takeback_offers: [Option<(Ply, u64)>; 2],
    /// How many takebacks of each seat were turned down, withdrawn or passed over.
    pub(super) refused_takebacks: [u8; 2],
    /// The plies at which each seat gave time, in order.
    pub(super) time_gift_plies: [Vec<Ply>; 2],
}

impl Offers {
    const fn slot_mut(&mut self, offer: Offer) -> &mut Option<PendingOffer> {
        match offer {
            Offer::Draw => &mut self.draw,
            Offer::Takeback => &mut self.takeback,
        }
    }

    pub(super) const fn get(&self, offer: Offer) -> Option<PendingOffer> {
        match offer {
            Offer::Draw => self.draw,
            Offer::Takeback => self.takeback,
        }
    }

    /// Notes that a takeback has come to nothing.
    fn count_refused_takeback(&mut self, seat: Seat) {
        let count = &mut self.refused_takebacks[seat.index()];
        *count = count.saturating_add(1);
    }

    /// Records an offer that was made at `at_ms`, in milliseconds since 1970.
    pub(crate) fn record_offer(&mut self, pending: PendingOffer, at_ms: u64) {
        match pending.offer {
            Offer::Draw => {
                self.last_draw_offers[pending.seat.index()] = Some((pending.ply, pending.seq));
            }
            // Whoever asks for something else has withdrawn what they asked for.
            Offer::Takeback => {
                self.last_takeback_offers[pending.seat.index()] = Some((pending.ply, at_ms));
                if let Some(previous) = self.takeback {
                    self.count_refused_takeback(previous.seat);
                }
            }
        }
        *self.slot_mut(pending.offer) = Some(pending);
    }

    /// Ends an offer of this seat. False if none stands.
    pub(crate) fn withdraw(&mut self, seat: Seat, offer: Offer) -> bool {
        let slot = self.slot_mut(offer);
        if slot.is_none_or(|standing| standing.seat != seat) {
            return false;
        }
        *slot = None;
        if offer == Offer::Takeback {
            self.count_refused_takeback(seat);
        }
        true
    }

    /// A seat has moved, which answers a draw of the other, and any takeback.
    pub(crate) fn record_move(&mut self, seat: Seat) {
        if self.draw.is_some_and(|standing| standing.seat != seat) {
            self.draw = None;
        }
        if let Some(pending) = self.takeback.take() {
            self.count_refused_takeback(pending.seat);
        }
    }

    /// The match goes on from an earlier ply. What was offered after it counts as offered then.
    pub(crate) fn record_takeback(&mut self, to_ply: Ply) {
        self.clear();
        for (ply, _) in self.last_draw_offers.iter_mut().flatten() {
            *ply = to_ply.min(*ply);
        }
        for plies in &mut self.time_gift_plies {
            plies.retain(|ply| *ply <= to_ply);
        }
    }

    /// A seat has another occupant, who has offered nothing.
    pub(crate) fn record_occupant_change(&mut self, seat: Seat) {
        for offer in [Offer::Draw, Offer::Takeback] {
            let slot = self.slot_mut(offer);
            *slot = slot.filter(|standing| standing.seat != seat);
        }
    }

    pub(crate) const fn clear(&mut self) {
        self.draw = None;
        self.takeback = None;
    }

    pub(crate) fn record_time_gift(&mut self, by: Seat, ply: Ply) {
        self.time_gift_plies[by.index()].push(ply);
    }
}
