//! What somebody offers, and what they say to offers of others.

use plyhouse_protocol::{ClientMessage, MatchStatus, Offer, OfferKind, OfferState, Ply};

use super::Client;
use super::choice::ClientAction;
use crate::view::View;

impl Client {
    /// Says something to what somebody else has offered, most of the time.
    pub(super) fn answer_offer(&mut self) -> Option<ClientAction> {
        if !self.dice.percent(60) {
            return None;
        }
        let is_asked = |view: &View| view.asked().next().is_some() || wishes(view) == Some(true);
        let view = self.some_view(is_asked)?;
        let Some(offer) = view.asked().next() else {
            return Some(match self.dice.percent(75) {
                true => ask(&view, Offer::Rematch),
                false => decline(&view, OfferKind::Rematch),
            });
        };
        Some(match self.dice.percent(75) {
            true => ask(&view, self.accepting(&view, offer)?),
            false => decline(&view, offer.offer),
        })
    }

    /// What accepts an offer of the other.
    fn accepting(&mut self, view: &View, offer: &OfferState) -> Option<Offer> {
        let ply = view.ply;
        match offer.offer {
            OfferKind::Draw => Some(Offer::Draw { ply }),
            OfferKind::Takeback => Some(Offer::Takeback {
                ply,
                to_ply: offer.to_ply.filter(|_| self.dice.percent(50)),
            }),
            OfferKind::Rematch | OfferKind::Challenge => None,
        }
    }

    /// Comes to the match to which somebody has asked this client, or does not want to.
    pub(super) fn answer_challenge(&mut self) -> Option<ClientAction> {
        let target = (*self.dice.pick(&self.challenges)?).into();
        Some(ClientAction::Ask(match self.dice.percent(70) {
            true => ClientMessage::Join { target, seat: None },
            false => ClientMessage::Decline {
                target,
                offer: OfferKind::Challenge,
            },
        }))
    }

    /// Offers somebody something, mostly at the right ply.
    pub(super) fn negotiate(&mut self) -> ClientAction {
        if self.dice.percent(40)
            && let Some(view) = self.some_view(|view| wishes(view).is_some())
        {
            return self.twice_at_times(ask(&view, Offer::Rematch));
        }
        let Some(view) = self.some_view(is_mine) else {
            return ClientAction::Ask(ClientMessage::Ping);
        };
        let late = self.dice.percent(5);
        let ply = Ply(view.ply.0 + u64::from(late));
        let deed = match self.dice.between(0..=99) {
            0..=44 => ask(&view, Offer::Draw { ply }),
            45..=74 => self.ask_back(&view, ply),
            75..=79 => ClientAction::Ask(ClientMessage::Leave {
                target: view.id.into(),
            }),
            80..=87 => ClientAction::Ask(ClientMessage::GiveTime {
                target: view.id.into(),
                ms: 5000,
            }),
            88..=91 => ClientAction::Ask(ClientMessage::Abort {
                target: view.id.into(),
            }),
            _ => {
                let offers = [OfferKind::Draw, OfferKind::Takeback, OfferKind::Rematch];
                let offer = *self.dice.pick(&offers).expect("there are some");
                decline(&view, offer)
            }
        };
        self.twice_at_times(deed)
    }

    /// Wants to take back what was played before a long thought.
    pub(super) fn regret(&mut self) -> ClientAction {
        match self.some_view(is_mine) {
            Some(view) => self.ask_back(&view, view.ply),
            None => ClientAction::Ask(ClientMessage::Ping),
        }
    }

    fn ask_back(&mut self, view: &View, ply: Ply) -> ClientAction {
        let back = self.dice.between(1..=3);
        let to_ply = Ply(ply.0.saturating_sub(back));
        let to_ply = self.dice.percent(40).then_some(to_ply);
        ask(view, Offer::Takeback { ply, to_ply })
    }

    fn twice_at_times(&mut self, deed: ClientAction) -> ClientAction {
        match deed {
            ClientAction::Ask(message) if self.dice.percent(10) => ClientAction::AskTwice(message),
            deed => deed,
        }
    }
}

/// Whether this client plays there.
fn is_mine(view: &View) -> bool {
    view.status == MatchStatus::Running && view.you.is_some()
}

/// Whether the other wishes a rematch that can still come about; nothing if none can.
fn wishes(view: &View) -> Option<bool> {
    let you = usize::from(view.you?.0);
    let Some(rematch) = &view.rematch else {
        return (!view.is_live()).then_some(false);
    };
    let can_be = rematch.next.is_none() && rematch.present == [true; 2] && !rematch.offers[you];
    can_be.then_some(rematch.offers[1 - you])
}

fn ask(view: &View, offer: Offer) -> ClientAction {
    ClientAction::Ask(ClientMessage::Offer {
        target: view.id.into(),
        offer,
    })
}

fn decline(view: &View, offer: OfferKind) -> ClientAction {
    ClientAction::Ask(ClientMessage::Decline {
        target: view.id.into(),
        offer,
    })
}
