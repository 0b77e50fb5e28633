//! Offers that a client makes, and its answers to the offers of opponents.

use plyhouse_protocol::{ClientMessage, MatchStatus, Offer, OfferKind, OfferState, Ply};

use super::Client;
use super::actions::ClientAction;
use crate::match_view::MatchView;

impl Client {
    /// Usually accepts or declines a pending offer of an opponent.
    pub(super) fn respond_to_offer(&mut self) -> Option<ClientAction> {
        if !self.rng.chance(60) {
            return None;
        }
        let has_pending_offer = |view: &MatchView| {
            view.opponent_offers().next().is_some() || opponent_rematch_offer(view) == Some(true)
        };
        let view = self.pick_view(has_pending_offer)?;
        let Some(offer) = view.opponent_offers().next() else {
            return Some(match self.rng.chance(75) {
                true => make_offer(&view, Offer::Rematch),
                false => decline_offer(&view, OfferKind::Rematch),
            });
        };
        Some(match self.rng.chance(75) {
            true => make_offer(&view, self.accept_offer(&view, offer)?),
            false => decline_offer(&view, offer.offer),
        })
    }

    /// Returns the offer that this client must make to accept the opponent's offer.
    fn accept_offer(&mut self, view: &MatchView, offer: &OfferState) -> Option<Offer> {
        let ply = view.ply;
        match offer.offer {
            OfferKind::Draw => Some(Offer::Draw { ply }),
            OfferKind::Takeback => Some(Offer::Takeback {
                ply,
                to_ply: offer.to_ply.filter(|_| self.rng.chance(50)),
            }),
            OfferKind::Rematch | OfferKind::Challenge => None,
        }
    }

    /// Accepts or declines a received challenge.
    pub(super) fn respond_to_challenge(&mut self) -> Option<ClientAction> {
        let target = (*self.rng.pick(&self.challenges)?).into();
        Some(ClientAction::Request(match self.rng.chance(70) {
            true => ClientMessage::Join { target, seat: None },
            false => ClientMessage::Decline {
                target,
                offer: OfferKind::Challenge,
            },
        }))
    }

    /// Makes or declines an offer, gives time, or leaves or aborts a match. Offers usually carry
    /// the current ply.
    pub(super) fn choose_offer(&mut self) -> ClientAction {
        if self.rng.chance(40)
            && let Some(view) = self.pick_view(|view| opponent_rematch_offer(view).is_some())
        {
            return self.maybe_send_twice(make_offer(&view, Offer::Rematch));
        }
        let Some(view) = self.pick_view(is_playing) else {
            return ClientAction::Request(ClientMessage::Ping);
        };
        let is_wrong_ply = self.rng.chance(5);
        let ply = Ply(view.ply.0 + u64::from(is_wrong_ply));
        let action = match self.rng.between(0..=99) {
            0..=44 => make_offer(&view, Offer::Draw { ply }),
            45..=74 => self.request_takeback(&view, ply),
            75..=79 => ClientAction::Request(ClientMessage::Leave {
                target: view.id.into(),
            }),
            80..=87 => ClientAction::Request(ClientMessage::GiveTime {
                target: view.id.into(),
                ms: 5000,
            }),
            88..=91 => ClientAction::Request(ClientMessage::Abort {
                target: view.id.into(),
            }),
            _ => {
                let offers = [OfferKind::Draw, OfferKind::Takeback, OfferKind::Rematch];
                let offer = *self.rng.pick(&offers).expect("the list is not empty");
                decline_offer(&view, offer)
            }
        };
        self.maybe_send_twice(action)
    }

    /// Requests a takeback after the client has been idle.
    pub(super) fn request_takeback_after_idle(&mut self) -> ClientAction {
        match self.pick_view(is_playing) {
            Some(view) => self.request_takeback(&view, view.ply),
            None => ClientAction::Request(ClientMessage::Ping),
        }
    }

    fn request_takeback(&mut self, view: &MatchView, ply: Ply) -> ClientAction {
        let plies = self.rng.between(1..=3);
        let to_ply = Ply(ply.0.saturating_sub(plies));
        let to_ply = self.rng.chance(40).then_some(to_ply);
        make_offer(view, Offer::Takeback { ply, to_ply })
    }

    fn maybe_send_twice(&mut self, action: ClientAction) -> ClientAction {
        match action {
            ClientAction::Request(message) if self.rng.chance(10) => {
                ClientAction::RequestTwice(message)
            }
            action => action,
        }
    }
}

/// Returns whether this client plays in the match and the match is running.
fn is_playing(view: &MatchView) -> bool {
    view.status == MatchStatus::Running && view.your_seat.is_some()
}

/// Returns whether the opponent has offered a rematch. Returns `None` if this client cannot offer
/// one.
fn opponent_rematch_offer(view: &MatchView) -> Option<bool> {
    let you = usize::from(view.your_seat?.0);
    let Some(rematch) = &view.rematch else {
        return (!view.is_live()).then_some(false);
    };
    let can_offer = rematch.next.is_none() && rematch.present == [true; 2] && !rematch.offers[you];
    can_offer.then_some(rematch.offers[1 - you])
}

fn make_offer(view: &MatchView, offer: Offer) -> ClientAction {
    ClientAction::Request(ClientMessage::Offer {
        target: view.id.into(),
        offer,
    })
}

fn decline_offer(view: &MatchView, offer: OfferKind) -> ClientAction {
    ClientAction::Request(ClientMessage::Decline {
        target: view.id.into(),
        offer,
    })
}
