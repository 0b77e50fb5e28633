//! Who wants a rematch of a match that has ended, and what comes of it. Wishes are not stored: the
//! rematch is, and a match has one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Occupant, Stage};
use plyhouse_protocol::{ErrorCode, MatchRef, PlayerId, Rematch, Successor, WireError};
use plyhouse_store::RematchRecord;

use super::MatchActor;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::MatchHandle;
use crate::match_handle::command::Command;
use crate::matchmaking::create_params::CreateParams;
use crate::players::block_check;

/// For how long after the end of a match a rematch can be agreed on, in milliseconds.
const WINDOW_MS: u64 = 10 * 60 * 1000;

/// How often one seat may offer a rematch.
const OFFERS_MAX: u32 = 3;

/// How long a seat whose offer was declined waits before it may offer again.
const DECLINED_FOR: Duration = Duration::from_mins(1);

/// What the seats of an ended match wish.
#[derive(Debug, Default)]
pub(super) struct RematchOffers {
    seats: [Wish; 2],
    /// Whose player is there; `None` until the match has ended.
    here: Option<[bool; 2]>,
    next: Option<Successor>,
    /// Both wish it, and it is being created.
    is_under_way: bool,
    /// When a rematch can be agreed on no more, once somebody has wished one.
    over_at: Option<Instant>,
}

/// A rematch that is to come into the world.
pub(crate) struct Birth {
    /// The match before.
    pub(crate) ended: MatchHandle,
    pub(crate) wanted: CreateParams,
    /// The connections of the two who play that follow the match before.
    pub(crate) players: Vec<(PlayerId, Outbox)>,
    /// The two who play. They may follow it on other servers, too.
    pub(crate) holders: Vec<PlayerId>,
    /// Who has agreed last.
    pub(crate) asks: (ConnectionId, PlayerId),
}

/// Creates a rematch, which a match cannot do itself: it comes into the world the same way.
pub(crate) type RematchFactory = fn(Arc<ServerContext>, Birth, Reply) -> BoxFuture<'static, ()>;

/// What one seat wishes.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    /// Its offer stands.
    stands: bool,
    /// When its last offer was declined, if that was.
    declined_at: Option<Instant>,
    /// How often it has offered.
    offered: u32,
}

/// What becomes of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offered {
    /// Nothing: it stands already.
    Again,
    /// It stands from now on.
    Stands,
    /// The other seat wishes it, too.
    Agreed,
    /// There is a rematch already.
    Over,
}

impl RematchOffers {
    /// Those of a match that came from the store with its rematch, if it has one.
    pub(super) fn known(next: Option<RematchRecord>) -> Self {
        let next = next.map(|next| Successor {
            match_id: next.id,
            code: next.code.to_string(),
        });
        Self {
            next,
            ..Self::default()
        }
    }

    /// How they are told.
    fn told(&self) -> Rematch {
        Rematch {
            offers: self.seats.map(|wish| wish.stands),
            declined: self.seats.map(|wish| wish.declined_at.is_some()),
            here: self.here.unwrap_or_default(),
            next: self.next.clone(),
        }
    }

    /// Takes note of who is there: whoever is gone does not wish anything any more. True if that is news.
    fn attend(&mut self, here: [bool; 2]) -> bool {
        let before = self.here.replace(here);
        for (wish, is_here) in self.seats.iter_mut().zip(here) {
            wish.stands &= is_here;
        }
        before.is_some_and(|before| before != here)
    }

    /// What would become of this seat's offer.
    fn judge(
        &self,
        state: &Match,
        seat: Seat,
        now_ms: u64,
        are_apart: bool,
    ) -> Result<Offered, WireError> {
        match state.stage() {
            Stage::Open => return Err(not_started()),
            Stage::Running => {
                let message = "the match is being played";
                return Err(WireError::new(ErrorCode::MatchRunning, message));
            }
            Stage::Ended { .. } => {}
        }
        let (own, other) = (&self.seats[seat.index()], &self.seats[seat.other().index()]);
        if self.next.is_some() {
            return Ok(Offered::Over);
        }
        if own.stands || self.is_under_way {
            return Ok(Offered::Again);
        }
        let ended_ms = state.ended_ms().unwrap_or_default();
        if state.rematch().is_none() || now_ms > ended_ms + WINDOW_MS {
            let message = "there is no rematch of this match";
            return Err(WireError::new(ErrorCode::NotAllowed, message));
        }
        if are_apart {
            return Err(block_check::refused());
        }
        if self.here != Some([true; 2]) {
            return Err(too_soon("not both of you are here: a challenge serves"));
        }
        if other.stands {
            return Ok(Offered::Agreed);
        }
        if own.offered >= OFFERS_MAX {
            return Err(too_soon("you have offered it often enough"));
        }
        let again_at = own.declined_at.map(|at| at + DECLINED_FOR);
        if let Some(wait) = again_at.and_then(|at| at.checked_duration_since(now()))
            && !wait.is_zero()
        {
            return Err(WireError {
                retry_after_ms: u64::try_from(wait.as_millis()).ok(),
                ..too_soon("your last offer has just been declined")
            });
        }
        let is_bot = matches!(state.occupant(seat.other()), Occupant::Bot(_));
        Ok(if is_bot {
            Offered::Agreed
        } else {
            Offered::Stands
        })
    }

    /// Has this seat's offer stand, until then at most.
    fn offer(&mut self, seat: Seat, over_at: Instant) {
        self.over_at = Some(over_at);
        let wish = &mut self.seats[seat.index()];
        wish.stands = true;
        wish.offered += 1;
        wish.declined_at = None;
    }

    /// Has this seat decline the other's offer, or else withdraw its own. False if neither stands.
    fn decline(&mut self, seat: Seat) -> bool {
        let other = &mut self.seats[seat.other().index()];
        if other.stands {
            other.stands = false;
            other.declined_at = Some(now());
            return true;
        }
        std::mem::take(&mut self.seats[seat.index()].stands)
    }

    /// When an offer that stands is over.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let stands = self.seats.iter().any(|wish| wish.stands);
        let is_open = self.next.is_none() && !self.is_under_way;
        self.over_at.filter(|_| stands && is_open)
    }

    /// There is a rematch.
    fn agreed(&mut self, next: &Successor) {
        self.seats.iter_mut().for_each(|wish| wish.stands = true);
        self.next = Some(next.clone());
    }
}

impl MatchActor {
    /// Takes note of who is there, once the match has ended, and tells if that is news.
    pub(super) fn attend_wishes(&mut self) {
        if !self.state.is_played_out() {
            return;
        }
        let is_here = |seat: Seat| {
            let holder = self.state.occupant(seat).holder();
            holder.is_none_or(|player| self.broadcaster.has_player(player))
        };
        let is_news = self.wishes.attend(Seat::ALL.map(is_here));
        self.broadcaster.keep_rematch(self.wishes.told());
        if is_news {
            self.broadcaster.tell_rematch(&self.state);
        }
    }

    /// Ends the offers that stand when a rematch can be agreed on no more.
    pub(super) fn end_wishes(&mut self, now: Instant) {
        if self.wishes.deadline().is_some_and(|at| at <= now) {
            self.wishes
                .seats
                .iter_mut()
                .for_each(|wish| wish.stands = false);
            self.tell_wishes();
        }
    }

    fn tell_wishes(&mut self) {
        self.broadcaster.keep_rematch(self.wishes.told());
        self.broadcaster.tell_rematch(&self.state);
        self.broadcaster.flush();
    }

    /// The seat for which this player may speak after the end.
    fn wishing_seat(&self, player: PlayerId) -> Result<Seat, WireError> {
        self.state
            .seat_held_by(player)
            .ok_or_else(|| WireError::new(ErrorCode::NotSeated, "you had no seat in this match"))
    }

    /// A player wishes a rematch.
    pub(super) async fn offer_rematch(&mut self, command: &Command, reply: Reply) {
        let holders: Vec<PlayerId> = self.state.holders().collect();
        let are_apart = match holders.contains(&command.player) && self.state.is_played_out() {
            true => block_check::are_apart(&self.server, command.player, holders).await,
            false => Ok(false),
        };
        let Some((are_apart, reply)) = reply.check(are_apart) else {
            return;
        };
        let now_ms = self.server.clock.now_ms();
        let judged = self.wishing_seat(command.player).and_then(|seat| {
            Ok((
                seat,
                self.wishes.judge(&self.state, seat, now_ms, are_apart)?,
            ))
        });
        let Some(((seat, offered), reply)) = reply.check(judged) else {
            return;
        };
        match offered {
            Offered::Again => reply.ok(None),
            Offered::Over => {
                self.broadcaster.show_rematch(&self.state, reply.outbox());
                reply.ok(None);
            }
            Offered::Stands => {
                let over_ms = self.state.ended_ms().unwrap_or_default() + WINDOW_MS;
                let left = Duration::from_millis(over_ms.saturating_sub(now_ms) + 1);
                self.wishes.offer(seat, now() + left);
                self.tell_wishes();
                reply.ok(None);
            }
            Offered::Agreed => self.begin_rematch(command, reply),
        }
    }

    /// Has the rematch brought into the world. That is done beside this match, since none waits for
    /// another.
    fn begin_rematch(&mut self, command: &Command, reply: Reply) {
        let id = self.state.id();
        let (Some((seats, terms)), Some(ended)) = (
            self.state.rematch(),
            self.server.lobby.find(MatchRef::Id(id)),
        ) else {
            return reply.refuse(ErrorCode::Overloaded, "that match is being put away");
        };
        self.wishes.is_under_way = true;
        let creation = self.state.creation();
        let wanted = CreateParams {
            game: creation.game,
            host: creation.host,
            seats,
            terms,
            // Where strangers do not know yet that the match is over, its code still leads them to it.
            code: (creation.terms.delay_ms == 0).then_some(creation.code),
            hosted_max: self.server.settings.live_matches_per_player,
            open_match_permit: None,
        };
        let mut players = self.broadcaster.followers();
        players.retain(|(player, _)| self.state.seat_held_by(*player).is_some());
        let birth = Birth {
            ended,
            wanted,
            holders: self.state.holders().collect(),
            players,
            asks: (command.connection, command.player),
        };
        let give = (self.give_rematch)(Arc::clone(&self.server), birth, reply);
        self.server.spawn(give);
    }

    /// The rematch has come into the world, or has not.
    pub(super) fn rematch_begins(&mut self, next: Option<&Successor>, reply: Reply) {
        self.wishes.is_under_way = false;
        if let Some(next) = next {
            self.wishes.agreed(next);
            self.tell_wishes();
        }
        reply.ok(None);
    }

    /// A player declines the other's wish, or withdraws their own.
    pub(super) fn decline_rematch(&mut self, command: &Command, reply: Reply) {
        let declined = self.wishing_seat(command.player).and_then(|seat| {
            let is_open = self.wishes.next.is_none() && !self.wishes.is_under_way;
            (is_open && self.wishes.decline(seat))
                .then_some(())
                .ok_or_else(|| {
                    WireError::new(ErrorCode::NothingOffered, "nobody has offered a rematch")
                })
        });
        if let Some(((), reply)) = reply.check(declined) {
            self.tell_wishes();
            reply.ok(None);
        }
    }
}

fn not_started() -> WireError {
    WireError::new(
        ErrorCode::MatchNotStarted,
        "the match has not started: a seat is open",
    )
}

fn too_soon(why: &str) -> WireError {
    WireError::new(ErrorCode::TooSoon, why)
}
