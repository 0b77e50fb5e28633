//! What two players may offer each other while they play: a draw, to take moves back, more time.

mod standing;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{ClockControl, PlayerId, Ply, Seq};

pub(crate) use self::standing::Offers;
pub use self::standing::Standing;
use super::event::Offer;
use super::play::End;
use super::{Decided, EventKind, Match, Occupant, Refusal, Timestamp};

/// From this ply on a draw may be offered.
const DRAW_FROM: Ply = Ply(2);

/// So many plies lie between two offers of a draw by one seat, unless the other has offered since.
const DRAW_EVERY: u64 = 20;

/// Of a seat of which so many were turned down, withdrawn or passed over, no takeback is heard any more.
const TAKEBACKS_REFUSED_MAX: u8 = 3;

/// Milliseconds between two takebacks that a seat asks for in the same ply. The first one is never too soon: a fast bot
/// has answered within a second of the move that is to be taken back.
const TAKEBACK_AGAIN_MS: u64 = 1000;

/// Beyond so many events, and so many more for each ply, nothing is added but what ends or plays the
/// match.
const EVENTS_FREE: u64 = 1000;
const EVENTS_A_PLY: u64 = 4;

/// Nobody is given so much that there is more than this.
const GIVEN_UP_TO_MS: u64 = 2 * 3600 * 1000;

impl Match {
    /// The offers that stand, in the order in which they were made.
    pub fn offers(&self) -> impl Iterator<Item = Standing> {
        let mut standing = [self.offers.draw, self.offers.takeback];
        standing.sort_unstable_by_key(|offer| offer.map(|standing| standing.seq));
        standing.into_iter().flatten()
    }

    /// The event by which this player has made the very offer that stands, so that a request sent
    /// again is recognised.
    #[must_use]
    pub fn offered_already(
        &self,
        player: PlayerId,
        offer: Offer,
        ply: Ply,
        to_ply: Option<Ply>,
    ) -> Option<Seq> {
        let seat = self.seat_of(player)?;
        let standing = self.offers.get(offer)?;
        let to_ply = match offer {
            Offer::Draw => None,
            Offer::Takeback => to_ply.or_else(|| self.own_last_ply(seat)),
        };
        let is_same = standing.seat == seat && standing.ply == ply && standing.to_ply == to_ply;
        is_same.then_some(standing.seq)
    }

    pub(super) const fn has_offered_draw(&self, seat: Seat) -> bool {
        match self.offers.draw {
            Some(standing) => standing.seat.index() == seat.index(),
            None => false,
        }
    }

    /// Whether a bot is to say if it takes a draw, and which.
    #[must_use]
    pub fn bot_to_answer_draw(&self) -> Option<Seat> {
        let asked = self.offers.draw?.seat.other();
        self.occupant(asked).bot().map(|_| asked)
    }

    pub(super) fn offer_draw(
        &self,
        player: PlayerId,
        ply: Ply,
        now: Timestamp,
    ) -> Result<Decided, Refusal> {
        let seat = self.seat_of(player).ok_or(Refusal::NotSeated)?;
        self.check_running()?;
        self.check_ply(ply)?;
        if self.has_offered_draw(seat.other()) {
            return self.end_now(End::AGREED, now);
        }
        self.check_draw(seat)?;
        Ok([Some(self.offered(seat, Offer::Draw, None)), None])
    }

    /// Whether a seat may offer a draw now.
    pub(super) fn check_draw(&self, seat: Seat) -> Result<(), Refusal> {
        if !self.creation.game.allows_draw_offers {
            return Err(Refusal::NotAllowed("in this game no draw is offered"));
        }
        let too_soon = |expected| Refusal::TooSoon {
            why: "it is too soon to offer a draw",
            expected: Some(expected),
            retry_after_ms: None,
        };
        if self.ply() < DRAW_FROM {
            return Err(too_soon(DRAW_FROM));
        }
        let [own, other] = [seat, seat.other()].map(|of| self.offers.last_draws[of.index()]);
        if let Some((last, seq)) = own {
            let has_other_since = other.is_some_and(|(_, theirs)| theirs > seq);
            let again = Ply(last.0 + DRAW_EVERY);
            if !has_other_since && self.ply() < again {
                return Err(too_soon(again));
            }
        }
        self.check_eventful()
    }

    pub(super) fn offer_takeback(
        &self,
        player: PlayerId,
        ply: Ply,
        wanted: Option<Ply>,
        now: Timestamp,
    ) -> Result<Decided, Refusal> {
        let seat = self.seat_of(player).ok_or(Refusal::NotSeated)?;
        self.check_running()?;
        self.check_ply(ply)?;
        let theirs = self
            .offers
            .takeback
            .filter(|standing| standing.seat != seat);
        if let Some(standing) = theirs
            && wanted.is_none_or(|wanted| standing.to_ply == Some(wanted))
        {
            return Ok([self.taken_back(standing.to_ply), None]);
        }
        let to_ply = wanted.or_else(|| self.own_last_ply(seat));
        self.check_takeback(seat, to_ply)?;
        self.check_takeback_pause(seat, now.at_ms)?;
        if theirs.is_some() {
            return Err(Refusal::NothingOffered);
        }
        self.check_eventful()?;
        // A bot grants what it is asked.
        let granted = self.occupant(seat.other()).bot().is_some();
        let taken_back = if granted {
            self.taken_back(to_ply)
        } else {
            None
        };
        Ok([
            Some(self.offered(seat, Offer::Takeback, to_ply)),
            taken_back,
        ])
    }

    /// Whether a seat may ask to go back to this ply.
    pub(super) fn check_takeback(&self, seat: Seat, to_ply: Option<Ply>) -> Result<(), Refusal> {
        if !self.may_take_back() {
            return Err(Refusal::NotAllowed("in this match no move is taken back"));
        }
        if self.offers.refused[seat.index()] >= TAKEBACKS_REFUSED_MAX {
            let why = "too many of your takebacks came to nothing";
            return Err(Refusal::NotAllowed(why));
        }
        let plies = to_ply.and_then(|ply| self.played.get(usize::try_from(ply.0).ok()?..));
        let plies = plies.filter(|plies| plies.iter().any(|played| played.seat == seat));
        if plies.is_none() {
            return Err(Refusal::TooSoon {
                why: "there is nothing of yours to take back",
                expected: None,
                retry_after_ms: None,
            });
        }
        Ok(())
    }

    /// Whether enough time has passed since the last takeback that a seat asked for in this ply.
    fn check_takeback_pause(&self, seat: Seat, now_ms: u64) -> Result<(), Refusal> {
        let last = self.offers.last_takebacks[seat.index()];
        let last = last.filter(|(ply, _)| *ply == self.ply());
        let pause = last.and_then(|(_, at_ms)| {
            let since_ms = now_ms.saturating_sub(at_ms);
            TAKEBACK_AGAIN_MS.checked_sub(since_ms).filter(|ms| *ms > 0)
        });
        match pause {
            None => Ok(()),
            retry_after_ms => Err(Refusal::TooSoon {
                why: "you have just asked for a takeback in this ply",
                expected: None,
                retry_after_ms,
            }),
        }
    }

    /// Whether moves of this match may be taken back at all.
    #[must_use]
    pub const fn may_take_back(&self) -> bool {
        self.creation.terms.takeback && !self.creation.terms.rated
    }

    /// The last ply of this seat, if it is one of the last two.
    fn own_last_ply(&self, seat: Seat) -> Option<Ply> {
        let mut last = self.played.iter().enumerate().rev().take(2);
        let own = last.find(|(_, played)| played.seat == seat);
        own.map(|(ply, _)| Ply(ply as u64))
    }

    /// The event by which the plies from here on go off the board.
    pub(super) fn taken_back(&self, to_ply: Option<Ply>) -> Option<EventKind> {
        let ply = to_ply?;
        let first = self.played.get(usize::try_from(ply.0).ok()?)?;
        let left = self.creation.terms.clock.map(|_| first.left);
        Some(EventKind::TakenBack { ply, left })
    }

    fn offered(&self, seat: Seat, offer: Offer, to_ply: Option<Ply>) -> EventKind {
        EventKind::Offered {
            seat,
            offer,
            ply: self.ply(),
            to_ply,
        }
    }

    /// Whether there is room for what does not bring the match on.
    pub(super) fn check_eventful(&self) -> Result<(), Refusal> {
        let max = EVENTS_A_PLY * self.ply().0 + EVENTS_FREE;
        if self.seq.0 >= max {
            return Err(Refusal::TooEventful);
        }
        Ok(())
    }

    pub(super) fn decline(&self, player: PlayerId, offer: Offer) -> Result<Decided, Refusal> {
        let by = self.seat_of(player).ok_or(Refusal::NotSeated)?;
        self.check_running()?;
        let standing = self.offers.get(offer).ok_or(Refusal::NothingOffered)?;
        let seat = standing.seat;
        Ok([Some(EventKind::Declined { seat, offer, by }), None])
    }

    pub(super) fn answer_draw_as_bot(
        &self,
        by: Seat,
        accepts: bool,
        now: Timestamp,
    ) -> Result<Decided, Refusal> {
        self.check_running()?;
        if self.bot_to_answer_draw() != Some(by) {
            return Err(Refusal::NothingOffered);
        }
        if accepts {
            return self.end_now(End::AGREED, now);
        }
        let (seat, offer) = (by.other(), Offer::Draw);
        Ok([Some(EventKind::Declined { seat, offer, by }), None])
    }

    pub(super) fn give_time(&self, player: PlayerId, ms: u64) -> Result<Decided, Refusal> {
        let by = self.seat_of(player).ok_or(Refusal::NotSeated)?;
        self.check_running()?;
        if self.creation.terms.rated {
            return Err(Refusal::NotAllowed("no time is given in rated matches"));
        }
        self.check_gift(by.other(), ms)?;
        self.check_eventful()?;
        let seat = by.other();
        let left = self.left.given(seat, ms);
        Ok([Some(EventKind::TimeGiven { seat, ms, left }), None])
    }

    /// Whether a seat may be given so much by the other now.
    pub(super) fn check_gift(&self, to: Seat, ms: u64) -> Result<(), Refusal> {
        match self.creation.terms.clock {
            None => return Err(Refusal::NotAllowed("there is no clock")),
            Some(ClockControl::Move { .. }) => {
                return Err(Refusal::NotAllowed("every move has a time of its own"));
            }
            Some(
                ClockControl::Fischer { .. }
                | ClockControl::Delay { .. }
                | ClockControl::ByoYomi { .. },
            ) => {}
        }
        if self.creation.terms.rated {
            return Err(Refusal::NotAllowed("the match is rated"));
        }
        if !matches!(self.occupant(to), Occupant::Player { .. }) {
            return Err(Refusal::NotAllowed("a bot needs no time"));
        }
        if self.left.left_ms()[to.index()].saturating_add(ms) > GIVEN_UP_TO_MS {
            return Err(Refusal::NotAllowed("that is more than two hours"));
        }
        if self.offers.gave_at[to.other().index()].last() == Some(&self.ply()) {
            return Err(Refusal::TooSoon {
                why: "time is given once in a ply",
                expected: Some(Ply(self.ply().0 + 1)),
                retry_after_ms: None,
            });
        }
        Ok(())
    }
}
