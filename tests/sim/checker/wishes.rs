//! What was asked for that needs somebody's will, and whether what came about was asked for.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Offer as Kept, PendingOffer, Stage};
use plyhouse_protocol::{
    ClientMessage, ClockControl, EndDetail, EndReason, MatchId, Offer, OfferKind, PlayerId, Ply,
};

use super::Kind;
use super::moves::Verdict;

/// One request that offers, declines, gives or ends something.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// Where in the history it was sent.
    pub(super) place: usize,
    /// Who the server took the sender for.
    pub(super) player: Option<PlayerId>,
    pub(super) id: MatchId,
    pub(super) message: ClientMessage,
    pub(super) verdict: Verdict,
}

/// A match as it was before an event.
#[derive(Debug)]
pub(super) struct Before {
    offers: Vec<PendingOffer>,
    turn: Option<Seat>,
    ply: Ply,
    clock: Option<ClockControl>,
    occupants: [Occupant; 2],
    invited: Option<PlayerId>,
}

/// What an event needs somebody to have asked for.
#[derive(Debug)]
pub(super) enum Needs {
    Nothing,
    /// This player, by a request of which that is so.
    Wish(PlayerId, fn(&ClientMessage, &Before, &EventKind) -> bool),
    /// There is nobody who could.
    Impossible,
}

impl Wish {
    /// Whether a request is a wish.
    pub(super) const fn is_one(message: &ClientMessage) -> bool {
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

impl Before {
    /// Whether this player had a seat.
    pub(super) fn held_by(&self, player: PlayerId) -> bool {
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

    fn offer(&self, offer: Kept) -> Option<&PendingOffer> {
        self.offers.iter().find(|standing| standing.offer == offer)
    }

    /// What it needs that whoever sits here does something; a bot needs no request.
    fn of(&self, seat: Seat, fits: fn(&ClientMessage, &Self, &EventKind) -> bool) -> Needs {
        match self.occupants[seat.index()].player() {
            Some(player) => Needs::Wish(player, fits),
            None => Needs::Nothing,
        }
    }

    /// What has to have been asked for before this event came about.
    pub(super) fn needs(&self, state: &Match, event: &EventKind) -> Needs {
        match event {
            EventKind::Offered { seat, .. } => self.of(*seat, is_offered),
            EventKind::Declined { by, .. } => self.of(*by, is_declined),
            EventKind::TimeGiven { seat, .. } => self.of(seat.other(), is_given),
            EventKind::Hinted { seat, .. } => self.of(*seat, is_hinted),
            EventKind::TakenBack { ply, .. } => match self.offer(Kept::Takeback) {
                Some(standing) if standing.to_ply == Some(*ply) => {
                    self.of(standing.seat.other(), is_taken_back)
                }
                Some(_) | None => Needs::Impossible,
            },
            EventKind::Ended { .. } => self.needs_for_end(state),
            EventKind::Seated { .. } | EventKind::Started { .. } | EventKind::Moved { .. } => {
                Needs::Nothing
            }
        }
    }

    fn needs_for_end(&self, state: &Match) -> Needs {
        let Stage::Ended {
            winner,
            reason,
            detail,
            by,
        } = state.stage()
        else {
            return Needs::Nothing;
        };
        match (reason, winner, detail, by) {
            (EndReason::Agreement, ..) => match self.offer(Kept::Draw) {
                // Whoever runs out of time while the other offers a draw has one.
                Some(standing) if self.has_flagged(state, standing.seat.other()) => Needs::Nothing,
                Some(standing) => self.of(standing.seat.other(), is_agreed),
                None => Needs::Impossible,
            },
            (EndReason::Resignation, Some(winner), ..) => self.of(winner.other(), is_resigned),
            (EndReason::Aborted, _, None, Some(by)) => self.of(by, is_aborted),
            (EndReason::Aborted, _, Some(EndDetail::Declined), _) => match self.invited {
                Some(invited) => Needs::Wish(invited, is_challenge_declined),
                None => Needs::Impossible,
            },
            _ => Needs::Nothing,
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

/// Whether enough of these wishes, which fit, are the player's and were not turned down.
pub(super) fn unbacked<'a>(
    fitting: impl Iterator<Item = (Option<PlayerId>, &'a Verdict)>,
    player: PlayerId,
) -> Option<Kind> {
    let (own, others): (Vec<_>, Vec<_>) = fitting.partition(|(by, _)| *by == Some(player));
    if own.is_empty() {
        let is_asked = !others.is_empty();
        return Some(if is_asked {
            Kind::WithoutSeat
        } else {
            Kind::FromNowhere
        });
    }
    let is_refused = |(_, verdict): &(_, &Verdict)| **verdict == Verdict::Refused;
    own.iter().all(is_refused).then_some(Kind::Refused)
}

fn is_offered(message: &ClientMessage, before: &Before, event: &EventKind) -> bool {
    let EventKind::Offered { offer, to_ply, .. } = event else {
        return false;
    };
    match message {
        ClientMessage::Offer {
            offer: Offer::Draw { ply },
            ..
        } => *offer == Kept::Draw && *ply == before.ply,
        ClientMessage::Offer {
            offer: Offer::Takeback { ply, to_ply: back },
            ..
        } => {
            let is_same = back.is_none() || back == to_ply;
            *offer == Kept::Takeback && *ply == before.ply && is_same
        }
        _ => false,
    }
}

fn is_declined(message: &ClientMessage, _: &Before, event: &EventKind) -> bool {
    let EventKind::Declined { offer, .. } = event else {
        return false;
    };
    let ClientMessage::Decline { offer: asked, .. } = message else {
        return false;
    };
    match offer {
        Kept::Draw => *asked == OfferKind::Draw,
        Kept::Takeback => *asked == OfferKind::Takeback,
    }
}

fn is_given(message: &ClientMessage, _: &Before, event: &EventKind) -> bool {
    match (message, event) {
        (ClientMessage::GiveTime { ms: asked, .. }, EventKind::TimeGiven { ms, .. }) => asked == ms,
        _ => false,
    }
}

fn is_hinted(message: &ClientMessage, _: &Before, event: &EventKind) -> bool {
    match (message, event) {
        (ClientMessage::Hint { ply: asked, .. }, EventKind::Hinted { ply, .. }) => asked == ply,
        _ => false,
    }
}

fn is_taken_back(message: &ClientMessage, before: &Before, event: &EventKind) -> bool {
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

fn is_agreed(message: &ClientMessage, before: &Before, _: &EventKind) -> bool {
    let draw = Offer::Draw { ply: before.ply };
    matches!(message, ClientMessage::Offer { offer, .. } if *offer == draw)
}

const fn is_resigned(message: &ClientMessage, _: &Before, _: &EventKind) -> bool {
    matches!(message, ClientMessage::Resign { .. })
}

const fn is_aborted(message: &ClientMessage, _: &Before, _: &EventKind) -> bool {
    matches!(message, ClientMessage::Abort { .. })
}

fn is_challenge_declined(message: &ClientMessage, _: &Before, _: &EventKind) -> bool {
    matches!(message, ClientMessage::Decline { offer, .. } if *offer == OfferKind::Challenge)
}
