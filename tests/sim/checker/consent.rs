//! Checks that an event was requested by the player whose consent it requires.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Offer as MatchOffer, PendingOffer, Stage};
use plyhouse_protocol::{
    ClientMessage, ClockControl, EndDetail, EndReason, MatchId, Offer, OfferKind, PlayerId, Ply,
};

use super::ViolationKind;
use super::move_requests::RequestResult;

/// Request that can be a player's consent to an event, such as an offer or a resignation.
#[derive(Clone, Debug)]
pub(super) struct ConsentRequest {
    /// Position of the request in the history.
    pub(super) index: usize,
    /// Player that was logged in on the connection.
    pub(super) player: Option<PlayerId>,
    pub(super) id: MatchId,
    pub(super) message: ClientMessage,
    pub(super) result: RequestResult,
}

/// State of a match before an event.
#[derive(Debug)]
pub(super) struct StateBefore {
    offers: Vec<PendingOffer>,
    turn: Option<Seat>,
    ply: Ply,
    clock: Option<ClockControl>,
    occupants: [Occupant; 2],
    invited: Option<PlayerId>,
}

/// Request that must precede an event.
#[derive(Debug)]
pub(super) enum RequiredConsent {
    NotRequired,
    /// The event requires a request from the given player. The predicate decides which requests
    /// count as consent to the event.
    Request(
        PlayerId,
        fn(&ClientMessage, &StateBefore, &EventKind) -> bool,
    ),
    /// The event is invalid because no request can have caused it.
    Impossible,
}

impl ConsentRequest {
    /// Returns whether the checker tracks this request as consent to an event.
    pub(super) const fn requires_consent(message: &ClientMessage) -> bool {
        matches!(
            message,
            ClientMessage::Offer { .. }
                | ClientMessage::Decline { .. }
                | ClientMessage::GiveTime { .. }
                | ClientMessage::Hint { .. }
                | ClientMessage::Abort { .. }
                | ClientMessage::Resign { .. }
        )
    }
}

impl StateBefore {
    /// Returns whether this player held a seat before the event.
    pub(super) fn has_seat(&self, player: PlayerId) -> bool {
        let mut occupants = self.occupants.iter();
        occupants.any(|occupant| occupant.holder() == Some(player))
    }

    pub(super) fn new(state: &Match) -> Self {
        Self {
            offers: state.pending_offers().collect(),
            turn: state.turn(),
            ply: state.ply(),
            clock: state.clock(),
            occupants: Seat::ALL.map(|seat| state.occupant(seat).clone()),
            invited: state.creation().terms.invited,
        }
    }

    fn pending_offer(&self, offer: MatchOffer) -> Option<&PendingOffer> {
        self.offers.iter().find(|standing| standing.offer == offer)
    }

    /// Requires a request that satisfies `fits` from the player in the given seat. If no player
    /// sits in the seat, no request is required.
    fn require_from(
        &self,
        seat: Seat,
        fits: fn(&ClientMessage, &Self, &EventKind) -> bool,
    ) -> RequiredConsent {
        match self.occupants[seat.index()].player() {
            Some(player) => RequiredConsent::Request(player, fits),
            None => RequiredConsent::NotRequired,
        }
    }

    /// Returns the request that must precede this event.
    pub(super) fn required_consent(&self, state: &Match, event: &EventKind) -> RequiredConsent {
        match event {
            EventKind::Offered { seat, .. } => self.require_from(*seat, offer_fits),
            EventKind::Declined { by, .. } => self.require_from(*by, decline_fits),
            EventKind::TimeGiven { seat, .. } => self.require_from(seat.other(), time_gift_fits),
            EventKind::Hinted { seat, .. } => self.require_from(*seat, hint_fits),
            EventKind::TakenBack { ply, .. } => match self.pending_offer(MatchOffer::Takeback) {
                Some(pending) if pending.to_ply == Some(*ply) => {
                    self.require_from(pending.seat.other(), takeback_fits)
                }
                Some(_) | None => RequiredConsent::Impossible,
            },
            EventKind::Ended { .. } => self.required_for_end(state),
            EventKind::Seated { .. } | EventKind::Started { .. } | EventKind::Moved { .. } => {
                RequiredConsent::NotRequired
            }
        }
    }

    fn required_for_end(&self, state: &Match) -> RequiredConsent {
        let Stage::Ended {
            winner,
            reason,
            detail,
            by,
        } = state.stage()
        else {
            return RequiredConsent::NotRequired;
        };
        match (reason, winner, detail, by) {
            (EndReason::Agreement, ..) => match self.pending_offer(MatchOffer::Draw) {
                // A player who runs out of time while the opponent's draw offer is pending gets a
                // draw. This draw requires no further request.
                Some(standing) if self.has_flagged(state, standing.seat.other()) => {
                    RequiredConsent::NotRequired
                }
                Some(standing) => self.require_from(standing.seat.other(), draw_agreement_fits),
                None => RequiredConsent::Impossible,
            },
            (EndReason::Resignation, Some(winner), ..) => {
                self.require_from(winner.other(), resignation_fits)
            }
            (EndReason::Aborted, _, None, Some(by)) => self.require_from(by, abort_fits),
            (EndReason::Aborted, _, Some(EndDetail::Declined), _) => match self.invited {
                Some(invited) => RequiredConsent::Request(invited, challenge_decline_fits),
                None => RequiredConsent::Impossible,
            },
            _ => RequiredConsent::NotRequired,
        }
    }

    fn has_flagged(&self, state: &Match, loser: Seat) -> bool {
        let left = state.remaining_time().zip(self.clock);
        let has_left = left.is_none_or(|(left, control)| match control {
            ClockControl::ByoYomi { .. } => left
                .periods()
                .is_some_and(|periods| periods[loser.index()] > 0),
            _ => left.remaining_ms()[loser.index()] > 0,
        });
        self.turn == Some(loser) && !has_left
    }
}

/// Returns the violation if `player` sent no request in `fitting`, or if the server refused all
/// requests that `player` sent.
pub(super) fn missing_consent<'a>(
    fitting: impl Iterator<Item = (Option<PlayerId>, &'a RequestResult)>,
    player: PlayerId,
) -> Option<ViolationKind> {
    let (own, others): (Vec<_>, Vec<_>) = fitting.partition(|(by, _)| *by == Some(player));
    if own.is_empty() {
        let is_asked = !others.is_empty();
        return Some(if is_asked {
            ViolationKind::MoveWithoutSeat
        } else {
            ViolationKind::UnrequestedEvent
        });
    }
    let is_refused = |(_, result): &(_, &RequestResult)| **result == RequestResult::Refused;
    own.iter()
        .all(is_refused)
        .then_some(ViolationKind::AppliedRejectedRequest)
}

fn offer_fits(message: &ClientMessage, before: &StateBefore, event: &EventKind) -> bool {
    let EventKind::Offered { offer, to_ply, .. } = event else {
        return false;
    };
    match message {
        ClientMessage::Offer {
            offer: Offer::Draw { ply },
            ..
        } => *offer == MatchOffer::Draw && *ply == before.ply,
        ClientMessage::Offer {
            offer: Offer::Takeback { ply, to_ply: back },
            ..
        } => {
            let is_same = back.is_none() || back == to_ply;
            *offer == MatchOffer::Takeback && *ply == before.ply && is_same
        }
        _ => false,
    }
}

fn decline_fits(message: &ClientMessage, _: &StateBefore, event: &EventKind) -> bool {
    let EventKind::Declined { offer, .. } = event else {
        return false;
    };
    let ClientMessage::Decline {
        offer: requested, ..
    } = message
    else {
        return false;
    };
    match offer {
        MatchOffer::Draw => *requested == OfferKind::Draw,
        MatchOffer::Takeback => *requested == OfferKind::Takeback,
    }
}

fn time_gift_fits(message: &ClientMessage, _: &StateBefore, event: &EventKind) -> bool {
    match (message, event) {
        (
            ClientMessage::GiveTime {
                ms: requested_ms, ..
            },
            EventKind::TimeGiven { ms, .. },
        ) => requested_ms == ms,
        _ => false,
    }
}

fn hint_fits(message: &ClientMessage, _: &StateBefore, event: &EventKind) -> bool {
    match (message, event) {
        (ClientMessage::Hint { ply: asked, .. }, EventKind::Hinted { ply, .. }) => asked == ply,
        _ => false,
    }
}

fn takeback_fits(message: &ClientMessage, before: &StateBefore, event: &EventKind) -> bool {
    match (message, event) {
        (
            ClientMessage::Offer {
                offer: Offer::Takeback { ply, to_ply },
                ..
            },
            EventKind::TakenBack { ply: back, .. },
        ) => *ply == before.ply && to_ply.is_none_or(|to_ply| to_ply == *back),
        _ => false,
    }
}

fn draw_agreement_fits(message: &ClientMessage, before: &StateBefore, _: &EventKind) -> bool {
    let draw = Offer::Draw { ply: before.ply };
    matches!(message, ClientMessage::Offer { offer, .. } if *offer == draw)
}

const fn resignation_fits(message: &ClientMessage, _: &StateBefore, _: &EventKind) -> bool {
    matches!(message, ClientMessage::Resign { .. })
}

const fn abort_fits(message: &ClientMessage, _: &StateBefore, _: &EventKind) -> bool {
    matches!(message, ClientMessage::Abort { .. })
}

fn challenge_decline_fits(message: &ClientMessage, _: &StateBefore, _: &EventKind) -> bool {
    matches!(message, ClientMessage::Decline { offer, .. } if *offer == OfferKind::Challenge)
}
