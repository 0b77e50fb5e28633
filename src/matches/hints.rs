//! Hints: the server suggests the best move to a player of a casual match against a bot. The match
//! records each hint as an event.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{PlayerId, Ply};

use super::{Decision, EventKind, Match, NO_EVENTS, Occupant, Refusal};

/// Ply where a player received a hint. A ply number can occur again after a takeback, so the number
/// of takebacks is also stored to tell the plies apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HintedPly {
    ply: Ply,
    takebacks: u64,
}

impl Match {
    /// Returns the event which records that a player receives a hint. A repeated request at the
    /// same ply produces no event.
    pub(super) fn request_hint(&self, player: PlayerId, ply: Ply) -> Result<Decision, Refusal> {
        let seat = self.seat_in_running_match(player)?;
        self.check_ply(ply)?;
        if self.turn() != Some(seat) {
            return Err(Refusal::NotYourTurn);
        }
        self.check_hint(seat)?;
        if self.last_hinted_ply == Some(self.current_hinted_ply()) {
            return Ok(NO_EVENTS);
        }
        self.check_event_limit()?;
        Ok([Some(EventKind::Hinted { seat, ply }), None])
    }

    /// Checks whether `seat` may receive a hint.
    pub(super) fn check_hint(&self, seat: Seat) -> Result<(), Refusal> {
        if self.creation.terms.rated {
            return Err(Refusal::NotAllowed(
                "hints are not available in rated matches",
            ));
        }
        if !matches!(self.occupant(seat.other()), Occupant::Bot(_)) {
            return Err(Refusal::NotAllowed("hints are available only against bots"));
        }
        Ok(())
    }

    pub(super) fn fold_hint(&mut self, seat: Seat, ply: Ply) -> Option<()> {
        let fits = ply == self.ply() && self.turn() == Some(seat);
        fits.then(|| self.last_hinted_ply = Some(self.current_hinted_ply()))
    }

    fn current_hinted_ply(&self) -> HintedPly {
        HintedPly {
            ply: self.ply(),
            takebacks: self.takebacks,
        }
    }
}
