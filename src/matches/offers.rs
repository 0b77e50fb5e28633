//! Draw offers, takebacks and gifts of time between the players.

mod pending_offers;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{ClockControl, PlayerId, Ply, Seq};

pub(crate) use self::pending_offers::Offers;
pub use self::pending_offers::PendingOffer;
use super::event::Offer;
use super::moves_and_endings::MatchEnd;
use super::{Decision, EventKind, Match, Occupant, Refusal, Timestamp};

/// First ply at which a seat may offer a draw.
const DRAW_OFFER_PLY_MIN: Ply = Ply(2);

/// Minimum number of plies between two draw offers of the same seat. The minimum does not apply if
/// the opponent has offered a draw in between.
const DRAW_OFFER_INTERVAL_PLIES: u64 = 20;

/// Maximum number of unsuccessful takeback requests per seat.
const REFUSED_TAKEBACKS_MAX: u8 = 3;

/// Minimum time in milliseconds between two takeback requests of a seat at the same ply. A seat may
/// make its first request at a ply at once. A fast bot may reply to a mistaken move within a
/// second. The player must then be able to take the move back at once.
const TAKEBACK_INTERVAL_MS: u64 = 1000;

/// Maximum number of events in a match before the first ply. Each ply raises this limit by
/// [`EVENTS_PER_PLY_MAX`]. At the limit, the match refuses new offers, gifts of time and hints, but
/// still accepts moves.
const EVENTS_BASE_MAX: u64 = 1000;
const EVENTS_PER_PLY_MAX: u64 = 4;

/// Maximum remaining time after a gift of time, in milliseconds.
const TIME_WITH_GIFT_MAX_MS: u64 = 2 * 3600 * 1000;

impl Match {
    /// Returns the pending offers in the order of their creation.
    pub fn pending_offers(&self) -> impl Iterator<Item = PendingOffer> {
        let mut pending = [self.offers.draw, self.offers.takeback];
        pending.sort_unstable_by_key(|offer| offer.map(|standing| standing.seq));
        pending.into_iter().flatten()
    }

    /// If the player has already made this offer and the offer is still pending, returns the
    /// sequence number of its event. The server uses this method to recognise a repeated request.
    #[must_use]
    pub fn find_repeated_offer(
        &self,
        player: PlayerId,
        offer: Offer,
        ply: Ply,
        to_ply: Option<Ply>,
    ) -> Option<Seq> {
        let seat = self.seat_of(player)?;
        let pending = self.offers.get(offer)?;
        let to_ply = match offer {
            Offer::Draw => None,
            Offer::Takeback => to_ply.or_else(|| self.last_own_ply(seat)),
        };
        let is_same = pending.seat == seat && pending.ply == ply && pending.to_ply == to_ply;
        is_same.then_some(pending.seq)
    }

    pub(super) const fn has_offered_draw(&self, seat: Seat) -> bool {
        match self.offers.draw {
            Some(standing) => standing.seat.index() == seat.index(),
            None => false,
        }
    }

    /// Returns the seat of the bot that must answer a draw offer, if any.
    #[must_use]
    pub fn bot_to_answer_draw(&self) -> Option<Seat> {
        let answering_seat = self.offers.draw?.seat.other();
        let bot = self.occupant(answering_seat).bot_level();
        bot.map(|_| answering_seat)
    }

    pub(super) fn offer_draw(
        &self,
        player: PlayerId,
        ply: Ply,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        let seat = self.seat_in_running_match(player)?;
        self.check_ply(ply)?;
        if self.has_offered_draw(seat.other()) {
            return self.end_now(MatchEnd::BY_AGREEMENT, now);
        }
        self.check_draw_offer(seat)?;
        Ok([Some(self.offer_event(seat, Offer::Draw, None)), None])
    }

    /// Checks whether `seat` may offer a draw now.
    pub(super) fn check_draw_offer(&self, seat: Seat) -> Result<(), Refusal> {
        if !self.creation.game.allows_draw_offers {
            return Err(Refusal::NotAllowed("draws cannot be offered in this game"));
        }
        let too_soon = |expected| Refusal::TooSoon {
            reason: "it is too soon to offer a draw",
            expected: Some(expected),
            retry_after_ms: None,
        };
        if self.ply() < DRAW_OFFER_PLY_MIN {
            return Err(too_soon(DRAW_OFFER_PLY_MIN));
        }
        let [own, other] = [seat, seat.other()].map(|of| self.offers.last_draw_offers[of.index()]);
        if let Some((last, seq)) = own {
            let has_opponent_offered_since = other.is_some_and(|(_, theirs)| theirs > seq);
            let next_ply = Ply(last.0 + DRAW_OFFER_INTERVAL_PLIES);
            if !has_opponent_offered_since && self.ply() < next_ply {
                return Err(too_soon(next_ply));
            }
        }
        self.check_event_limit()
    }

    pub(super) fn offer_takeback(
        &self,
        player: PlayerId,
        ply: Ply,
        requested: Option<Ply>,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        let seat = self.seat_in_running_match(player)?;
        self.check_ply(ply)?;
        let is_of_opponent = |pending: &PendingOffer| pending.seat != seat;
        let opponent_offer = self.offers.takeback.filter(is_of_opponent);
        if let Some(opponent_offer) = opponent_offer
            && requested.is_none_or(|requested_ply| opponent_offer.to_ply == Some(requested_ply))
        {
            return Ok([self.takeback_event(opponent_offer.to_ply), None]);
        }
        let to_ply = requested.or_else(|| self.last_own_ply(seat));
        self.check_takeback(seat, to_ply)?;
        self.check_takeback_interval(seat, now.at_ms)?;
        if opponent_offer.is_some() {
            return Err(Refusal::NothingOffered);
        }
        self.check_event_limit()?;
        // A bot accepts every takeback request.
        let bot = self.occupant(seat.other()).bot_level();
        let taken_back = bot.and_then(|_| self.takeback_event(to_ply));
        let offered = self.offer_event(seat, Offer::Takeback, to_ply);
        Ok([Some(offered), taken_back])
    }

    /// Checks whether `seat` may request a takeback to `to_ply`.
    pub(super) fn check_takeback(&self, seat: Seat, to_ply: Option<Ply>) -> Result<(), Refusal> {
        if !self.allows_takebacks() {
            return Err(Refusal::NotAllowed("takebacks are off in this match"));
        }
        if self.offers.refused_takebacks[seat.index()] >= REFUSED_TAKEBACKS_MAX {
            let why = "you have made too many unsuccessful takeback requests";
            return Err(Refusal::NotAllowed(why));
        }
        let plies = to_ply.and_then(|ply| self.played_moves.get(usize::try_from(ply.0).ok()?..));
        let plies = plies.filter(|plies| plies.iter().any(|played| played.seat == seat));
        if plies.is_none() {
            return Err(Refusal::TooSoon {
                reason: "you have no move to take back",
                expected: None,
                retry_after_ms: None,
            });
        }
        Ok(())
    }

    /// Checks whether enough time has passed since the last takeback request of `seat` at this ply.
    fn check_takeback_interval(&self, seat: Seat, now_ms: u64) -> Result<(), Refusal> {
        let last = self.offers.last_takeback_offers[seat.index()];
        let last = last.filter(|(ply, _)| *ply == self.ply());
        let remaining_ms = last.and_then(|(_, at_ms)| {
            let elapsed_ms = now_ms.saturating_sub(at_ms);
            let remaining_ms = TAKEBACK_INTERVAL_MS.saturating_sub(elapsed_ms);
            (remaining_ms > 0).then_some(remaining_ms)
        });
        match remaining_ms {
            None => Ok(()),
            retry_after_ms => Err(Refusal::TooSoon {
                reason: "you have just requested a takeback",
                expected: None,
                retry_after_ms,
            }),
        }
    }

    /// Returns whether the match allows takebacks. Rated matches never allow takebacks.
    #[must_use]
    pub const fn allows_takebacks(&self) -> bool {
        self.creation.terms.takebacks_allowed && !self.creation.terms.rated
    }

    /// Returns the most recent ply that `seat` played. Only the last two plies of the match are
    /// searched.
    fn last_own_ply(&self, seat: Seat) -> Option<Ply> {
        let mut last = self.played_moves.iter().enumerate().rev().take(2);
        let own = last.find(|(_, played)| played.seat == seat);
        own.map(|(ply, _)| Ply(ply as u64))
    }

    /// Returns the event that takes back all moves from `to_ply` on.
    pub(super) fn takeback_event(&self, to_ply: Option<Ply>) -> Option<EventKind> {
        let ply = to_ply?;
        let first = self.played_moves.get(usize::try_from(ply.0).ok()?)?;
        let remaining = self.creation.terms.clock.map(|_| first.remaining);
        Some(EventKind::TakenBack { ply, remaining })
    }

    fn offer_event(&self, seat: Seat, offer: Offer, to_ply: Option<Ply>) -> EventKind {
        EventKind::Offered {
            seat,
            offer,
            ply: self.ply(),
            to_ply,
        }
    }

    /// Checks that the number of events is below the limit for new offers, gifts of time and hints.
    pub(super) fn check_event_limit(&self) -> Result<(), Refusal> {
        let max = EVENTS_PER_PLY_MAX * self.ply().0 + EVENTS_BASE_MAX;
        if self.seq.0 >= max {
            return Err(Refusal::TooManyEvents);
        }
        Ok(())
    }

    pub(super) fn decline(&self, player: PlayerId, offer: Offer) -> Result<Decision, Refusal> {
        let by = self.seat_in_running_match(player)?;
        let pending = self.offers.get(offer).ok_or(Refusal::NothingOffered)?;
        let seat = pending.seat;
        Ok([Some(EventKind::Declined { seat, offer, by }), None])
    }

    pub(super) fn answer_draw_as_bot(
        &self,
        by: Seat,
        accepts: bool,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        self.check_running()?;
        if self.bot_to_answer_draw() != Some(by) {
            return Err(Refusal::NothingOffered);
        }
        if accepts {
            return self.end_now(MatchEnd::BY_AGREEMENT, now);
        }
        let (seat, offer) = (by.other(), Offer::Draw);
        Ok([Some(EventKind::Declined { seat, offer, by }), None])
    }

    pub(super) fn give_time(&self, player: PlayerId, ms: u64) -> Result<Decision, Refusal> {
        let by = self.seat_in_running_match(player)?;
        let seat = by.other();
        self.check_time_gift(seat, ms)?;
        self.check_event_limit()?;
        let remaining = self.remaining.with_added_time(seat, ms);
        let given = EventKind::TimeGiven {
            seat,
            ms,
            remaining,
        };
        Ok([Some(given), None])
    }

    /// Checks whether the player in `to` may receive `ms` milliseconds from the opponent now.
    pub(super) fn check_time_gift(&self, to: Seat, ms: u64) -> Result<(), Refusal> {
        if self.creation.terms.rated {
            return Err(Refusal::NotAllowed("time cannot be given in rated matches"));
        }
        let clock = self.creation.terms.clock;
        let clock = clock.ok_or(Refusal::NotAllowed("this match has no clock"))?;
        if matches!(clock, ClockControl::Move { .. }) {
            let why = "time cannot be added to a fixed time per move";
            return Err(Refusal::NotAllowed(why));
        }
        if !matches!(self.occupant(to), Occupant::Player { .. }) {
            return Err(Refusal::NotAllowed("time cannot be given to a bot"));
        }
        if self.remaining.remaining_ms()[to.index()].saturating_add(ms) > TIME_WITH_GIFT_MAX_MS {
            let why = "a player cannot have more than two hours on the clock";
            return Err(Refusal::NotAllowed(why));
        }
        if self.offers.time_gift_plies[to.other().index()].last() == Some(&self.ply()) {
            return Err(Refusal::TooSoon {
                reason: "time can be given only once per move",
                expected: Some(Ply(self.ply().0 + 1)),
                retry_after_ms: None,
            });
        }
        Ok(())
    }
}
