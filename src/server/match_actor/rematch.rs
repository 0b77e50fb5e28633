//! Rematch offers after the end of a match. The offers are not stored, but the rematch itself is. A
//! match has at most one rematch.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Occupant, Stage};
use plyhouse_protocol::{ErrorCode, MatchRef, NextMatch, PlayerId, RematchState, WireError};
use plyhouse_store::RematchRecord;

use super::MatchActor;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::connection::reply::Reply;
use crate::context::clock_and_rng::now;
use crate::match_handle::command::Command;
use crate::match_handle::{MatchHandle, UNLOADING_MESSAGE};
use crate::matchmaking::create_params::CreateParams;
use crate::matchmaking::rematch_creation::create_rematch;
use crate::players::block_loading;

/// Time after the end of a match during which the players can agree on a rematch, in milliseconds.
const REMATCH_WINDOW_MS: u64 = 10 * 60 * 1000;

/// Maximum number of rematch offers per seat.
const OFFERS_MAX: u32 = 3;

/// Time before a seat may offer another rematch after its offer was declined.
const DECLINE_COOLDOWN: Duration = Duration::from_mins(1);

/// Rematch offers of an ended match.
#[derive(Debug, Default)]
pub(super) struct RematchOffers {
    seat_offers: [SeatOffer; 2],
    /// For each seat, whether its player is present; `None` until the match has ended.
    present: Option<[bool; 2]>,
    successor: Option<NextMatch>,
    /// Whether a rematch is being created because both seats have agreed to it.
    is_creating: bool,
    /// Time at which rematch offers expire; `None` until a seat has made an offer.
    expires_at: Option<Instant>,
}

/// A rematch that is about to be created.
pub(crate) struct PendingRematch {
    /// The match that has ended.
    pub(crate) previous: MatchHandle,
    pub(crate) params: CreateParams,
    /// Connections of the seat holders who follow the ended match on this server.
    pub(crate) connections: Vec<(PlayerId, Outbox)>,
    /// The seat holders, who may also follow the match on other servers.
    pub(crate) seat_holders: Vec<PlayerId>,
    /// Connection and player whose request completed the agreement on a rematch.
    pub(crate) requester: (ConnectionId, PlayerId),
}

/// Rematch offer of one seat.
#[derive(Clone, Copy, Debug, Default)]
struct SeatOffer {
    is_open: bool,
    /// Time at which the seat's last offer was declined; `None` if it was not declined.
    declined_at: Option<Instant>,
    /// Number of rematch offers that the seat has made.
    offer_count: u32,
}

/// Effect of a seat's rematch offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfferOutcome {
    /// The seat already has an open offer, or the rematch is being created.
    AlreadyOpen,
    /// The seat's offer becomes open.
    Opened,
    /// The other seat has offered a rematch or is a bot, so the rematch can be created.
    Agreed,
    /// The rematch already exists.
    AlreadyCreated,
}

impl RematchOffers {
    /// Creates the rematch offers for a match that was loaded from the store. If a rematch exists,
    /// the offers refer to it.
    pub(super) fn from_store(next: Option<RematchRecord>) -> Self {
        Self {
            successor: next.map(|next| NextMatch {
                match_id: next.id,
                code: next.code.to_string(),
            }),
            ..Self::default()
        }
    }

    /// Returns whether no seat has made an offer since the match was loaded, and no rematch is
    /// being created.
    pub(super) fn is_unused(&self) -> bool {
        !self.is_creating && self.seat_offers.iter().all(|offer| offer.offer_count == 0)
    }

    fn to_message(&self) -> RematchState {
        RematchState {
            offers: self.seat_offers.map(|offer| offer.is_open),
            declined: self.seat_offers.map(|offer| offer.declined_at.is_some()),
            present: self.present.unwrap_or_default(),
            next: self.successor.clone(),
        }
    }

    /// Updates the presence of the players, and withdraws the offers of absent players. Returns
    /// whether the presence changed.
    fn update_presence(&mut self, present: [bool; 2]) -> bool {
        let previous = self.present.replace(present);
        for (offer, is_present) in self.seat_offers.iter_mut().zip(present) {
            offer.is_open &= is_present;
        }
        previous.is_some_and(|before| before != present)
    }

    /// Checks a rematch offer of this seat and returns the result without applying the offer.
    fn evaluate_offer(
        &self,
        state: &Match,
        seat: Seat,
        now_ms: u64,
        is_blocked: bool,
    ) -> Result<OfferOutcome, WireError> {
        let refuse = |code, why| Err(WireError::new(code, why));
        match state.stage() {
            Stage::Open => {
                let why = "the match has not started: a seat is open";
                return refuse(ErrorCode::MatchNotStarted, why);
            }
            Stage::Running => {
                return refuse(ErrorCode::MatchRunning, "the match is still in progress");
            }
            Stage::Ended { .. } => {}
        }
        let own_offer = &self.seat_offers[seat.index()];
        let other_offer = &self.seat_offers[seat.other().index()];
        if self.successor.is_some() {
            return Ok(OfferOutcome::AlreadyCreated);
        }
        if own_offer.is_open || self.is_creating {
            return Ok(OfferOutcome::AlreadyOpen);
        }
        let ended_ms = state.ended_ms().unwrap_or_default();
        if state.rematch_params().is_none() || now_ms > ended_ms + REMATCH_WINDOW_MS {
            return refuse(
                ErrorCode::NotAllowed,
                "no rematch is available for this match",
            );
        }
        if is_blocked {
            return Err(block_loading::blocked_error());
        }
        if self.present != Some([true; 2]) {
            let why = "both players must be present for a rematch; send a challenge instead";
            return refuse(ErrorCode::TooSoon, why);
        }
        if other_offer.is_open {
            return Ok(OfferOutcome::Agreed);
        }
        if own_offer.offer_count >= OFFERS_MAX {
            return refuse(ErrorCode::TooSoon, "you have offered a rematch too often");
        }
        let next_offer_at = own_offer.declined_at.map(|at| at + DECLINE_COOLDOWN);
        if let Some(wait) = next_offer_at.and_then(|at| at.checked_duration_since(now()))
            && !wait.is_zero()
        {
            let why = "your last rematch offer was just declined";
            return Err(WireError {
                retry_after_ms: u64::try_from(wait.as_millis()).ok(),
                ..WireError::new(ErrorCode::TooSoon, why)
            });
        }
        Ok(match state.occupant(seat.other()) {
            Occupant::Bot(_) => OfferOutcome::Agreed,
            _ => OfferOutcome::Opened,
        })
    }

    /// Opens this seat's offer, which expires at `expires_at`.
    fn open_offer(&mut self, seat: Seat, expires_at: Instant) {
        self.expires_at = Some(expires_at);
        let offer = &mut self.seat_offers[seat.index()];
        offer.is_open = true;
        offer.offer_count += 1;
        offer.declined_at = None;
    }

    /// Declines the other seat's offer if it is open; otherwise withdraws this seat's own offer.
    /// Returns `false` if neither offer is open.
    fn decline_or_withdraw(&mut self, seat: Seat) -> bool {
        let other_offer = &mut self.seat_offers[seat.other().index()];
        if other_offer.is_open {
            other_offer.is_open = false;
            other_offer.declined_at = Some(now());
            return true;
        }
        std::mem::take(&mut self.seat_offers[seat.index()].is_open)
    }

    /// Returns the time at which open offers expire.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let has_open_offer = self.seat_offers.iter().any(|offer| offer.is_open);
        let is_open = self.successor.is_none() && !self.is_creating;
        self.expires_at.filter(|_| has_open_offer && is_open)
    }

    fn set_created(&mut self, next: &NextMatch) {
        for offer in &mut self.seat_offers {
            offer.is_open = true;
        }
        self.successor = Some(next.clone());
    }
}

impl MatchActor {
    /// Updates the presence of the players after the end of the match, and broadcasts any change.
    pub(super) fn update_rematch_presence(&mut self) {
        if !self.view.state.has_been_played() {
            return;
        }
        let is_present = |seat: Seat| {
            let holder = self.view.state.occupant(seat).holder();
            holder.is_none_or(|player| self.view.has_participant(player))
        };
        let is_changed = self
            .rematch_offers
            .update_presence(Seat::ALL.map(is_present));
        self.view.set_rematch(self.rematch_offers.to_message());
        if is_changed {
            self.view.broadcast_rematch();
        }
    }

    /// Withdraws open offers when the time for a rematch is over.
    pub(super) fn expire_rematch_offers(&mut self, now: Instant) {
        if self.rematch_offers.deadline().is_some_and(|at| at <= now) {
            for offer in &mut self.rematch_offers.seat_offers {
                offer.is_open = false;
            }
            self.broadcast_rematch_offers();
        }
    }

    fn broadcast_rematch_offers(&mut self) {
        self.view.set_rematch(self.rematch_offers.to_message());
        self.view.broadcast_rematch();
        self.view.flush();
    }

    /// Returns the player's seat in the ended match. Only seat holders may offer or decline a
    /// rematch.
    fn rematch_seat(&self, player: PlayerId) -> Result<Seat, WireError> {
        let seat = self.view.state.seat_held_by(player);
        seat.ok_or_else(|| WireError::new(ErrorCode::NotSeated, "you did not play in this match"))
    }

    /// Handles a player's rematch offer.
    pub(super) async fn offer_rematch(&mut self, command: &Command, reply: Reply) {
        let holders: Vec<PlayerId> = self.view.state.seat_holders().collect();
        let is_blocked = match holders.contains(&command.player)
            && self.view.state.has_been_played()
        {
            true => {
                block_loading::is_unpairable_with_any(&self.server, command.player, holders).await
            }
            false => Ok(false),
        };
        let Some((is_blocked, reply)) = reply.require(is_blocked) else {
            return;
        };
        let now_ms = self.server.infra.clock.now_ms();
        let outcome = self.rematch_seat(command.player).and_then(|seat| {
            let offers = &self.rematch_offers;
            let outcome = offers.evaluate_offer(&self.view.state, seat, now_ms, is_blocked)?;
            Ok((seat, outcome))
        });
        let Some(((seat, outcome), reply)) = reply.require(outcome) else {
            return;
        };
        match outcome {
            OfferOutcome::AlreadyOpen => reply.ok(None),
            OfferOutcome::AlreadyCreated => {
                self.view.send_rematch(reply.outbox());
                reply.ok(None);
            }
            OfferOutcome::Opened => {
                let expires_at_ms =
                    self.view.state.ended_ms().unwrap_or_default() + REMATCH_WINDOW_MS;
                let time_left = Duration::from_millis(expires_at_ms.saturating_sub(now_ms) + 1);
                self.rematch_offers.open_offer(seat, now() + time_left);
                self.broadcast_rematch_offers();
                reply.ok(None);
            }
            OfferOutcome::Agreed => self.start_rematch_creation(command, reply),
        }
    }

    /// Spawns a task that creates the rematch, because a match actor must not wait for another
    /// match.
    fn start_rematch_creation(&mut self, command: &Command, reply: Reply) {
        let id = self.view.state.id();
        let (Some((seats, terms)), Some(previous)) = (
            self.view.state.rematch_params(),
            self.server.matches.lobby.find(MatchRef::Id(id)),
        ) else {
            return reply.refuse(ErrorCode::Overloaded, UNLOADING_MESSAGE);
        };
        self.rematch_offers.is_creating = true;
        let creation = self.view.state.creation();
        let params = CreateParams {
            game: creation.game,
            host: creation.host,
            seats,
            terms,
            // With a spectator delay, the rematch gets a new match code. The old code must lead
            // spectators to the old match until they have seen its end.
            code: (creation.terms.spectator_delay_ms == 0).then_some(creation.code),
            hosted_max: self.server.infra.settings.live_matches_per_player,
            open_match_permit: None,
        };
        let mut connections = self.view.followers();
        connections.retain(|(player, _)| self.view.state.seat_held_by(*player).is_some());
        let pending_rematch = PendingRematch {
            previous,
            params,
            seat_holders: self.view.state.seat_holders().collect(),
            connections,
            requester: (command.connection, command.player),
        };
        self.server
            .spawn(|server| create_rematch(server, pending_rematch, reply));
    }

    /// Handles the result of creating the rematch.
    pub(super) fn on_rematch_created(&mut self, next: Option<&NextMatch>) {
        self.rematch_offers.is_creating = false;
        if let Some(next) = next {
            self.rematch_offers.set_created(next);
            self.broadcast_rematch_offers();
        }
    }

    /// Declines the other player's rematch offer, or withdraws the player's own offer.
    pub(super) fn decline_rematch(&mut self, command: &Command, reply: Reply) {
        let result = self.rematch_seat(command.player).and_then(|seat| {
            let is_open =
                self.rematch_offers.successor.is_none() && !self.rematch_offers.is_creating;
            if is_open && self.rematch_offers.decline_or_withdraw(seat) {
                return Ok(());
            }
            let message = "there is no open rematch offer";
            Err(WireError::new(ErrorCode::NothingOffered, message))
        });
        if let Some(((), reply)) = reply.require(result) {
            self.broadcast_rematch_offers();
            reply.ok(None);
        }
    }
}
