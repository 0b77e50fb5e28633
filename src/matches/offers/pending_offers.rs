//! Pending offers of a match, and the past offers that restrict new ones.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{Ply, Seq};

use crate::event::Offer;

/// Offer that has not been answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingOffer {
    /// Seat that made the offer.
    pub seat: Seat,
    /// Kind of the offer.
    pub offer: Offer,
    /// Number of the ply that was to be played next when the offer was made.
    pub ply: Ply,
    /// Ply to which a requested takeback returns the match; `None` for a draw offer.
    pub to_ply: Option<Ply>,
    /// Sequence number of the offer's event.
    pub seq: Seq,
}

/// Pending offers, and the past offers that restrict new ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offers {
    /// Pending draw offer. At most one offer of each kind is pending. The opponent can only accept
    /// or decline the offer. A new offer by the same player replaces the pending one.
    pub(super) draw: Option<PendingOffer>,
    pub(super) takeback: Option<PendingOffer>,
    /// For each seat, the ply at which it last offered a draw, and the sequence number of that
    /// event.
    pub(super) last_draw_offers: [Option<(Ply, Seq)>; 2],
    /// For each seat, the ply at which it last requested a takeback, and the request time in
    /// milliseconds since 1970.
    pub(super) last_takeback_offers: [Option<(Ply, u64)>; 2],
    /// Number of unsuccessful takeback requests of each seat. A request is unsuccessful if it was
    /// declined, withdrawn or replaced, or if a move was played instead of an answer.
    pub(super) refused_takebacks: [u8; 2],
    /// Plies at which each seat gave time, in ascending order.
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

    /// Counts an unsuccessful takeback request of `seat`.
    fn count_refused_takeback(&mut self, seat: Seat) {
        let count = &mut self.refused_takebacks[seat.index()];
        *count = count.saturating_add(1);
    }

    /// Records an offer made at `at_ms`, in milliseconds since 1970.
    pub(crate) fn record_offer(&mut self, pending: PendingOffer, at_ms: u64) {
        match pending.offer {
            Offer::Draw => {
                self.last_draw_offers[pending.seat.index()] = Some((pending.ply, pending.seq));
            }
            // A new takeback request withdraws the previous one.
            Offer::Takeback => {
                self.last_takeback_offers[pending.seat.index()] = Some((pending.ply, at_ms));
                if let Some(previous) = self.takeback {
                    self.count_refused_takeback(previous.seat);
                }
            }
        }
        *self.slot_mut(pending.offer) = Some(pending);
    }

    /// Ends a pending offer of `seat`. Returns `false` if `seat` has no pending offer of this kind.
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

    /// Records a move of `seat`. The move declines a draw offer of the opponent and any takeback
    /// request.
    pub(crate) fn record_move(&mut self, seat: Seat) {
        if self.draw.is_some_and(|standing| standing.seat != seat) {
            self.draw = None;
        }
        if let Some(pending) = self.takeback.take() {
            self.count_refused_takeback(pending.seat);
        }
    }

    /// Records that the match continues from `to_ply` after a takeback. A draw offer from a later
    /// ply is treated as if it had been made at `to_ply`. Gifts of time at later plies are removed.
    pub(crate) fn record_takeback(&mut self, to_ply: Ply) {
        self.clear();
        for (ply, _) in self.last_draw_offers.iter_mut().flatten() {
            *ply = to_ply.min(*ply);
        }
        for plies in &mut self.time_gift_plies {
            plies.retain(|ply| *ply <= to_ply);
        }
    }

    /// Drops the offers of a seat whose occupant has changed.
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
