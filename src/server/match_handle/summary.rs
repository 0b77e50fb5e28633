//! What a list shows of a match.

use std::sync::atomic::{AtomicU64, Ordering};

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Occupant};
use plyhouse_protocol::{
    ClockControl, Listing, MatchCode, MatchId, PlayerId, Ply, SeatNumber, SeatState, Seq, Status,
    WatchedBy,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::context::locks::{CARD, Mutex};
use crate::wire::to_protocol;

/// What a list shows of a match. The match keeps it up to date before it tells anybody anything.
#[derive(Debug)]
pub(crate) struct MatchSummary {
    pub(crate) id: MatchId,
    pub(crate) game: &'static GameEntry,
    listed: bool,
    pub(crate) code: MatchCode,
    pub(crate) host: PlayerId,
    watch: WatchedBy,
    delayed: bool,
    clock: Option<ClockControl>,
    pub(crate) rated: bool,
    from_position: bool,
    ply: AtomicU64,
    /// The last event that was told.
    seq: AtomicU64,
    /// Notified when the last event changes.
    seq_changed: Notify,
    /// Since when a bot waits here for a player's move, in milliseconds since 1970; 0 if none does.
    bot_waits_ms: AtomicU64,
    changing: Mutex<Changing, CARD>,
}

/// The part of a card that changes with people.
#[derive(Debug)]
struct Changing {
    status: Status,
    seats: [Occupant; 2],
    presence: SeatPresence,
    /// What lists show in place of it all, where that is told with a delay.
    shown: Option<Box<Shown>>,
}

/// A match as lists show it, if not as it is.
#[derive(Debug)]
struct Shown {
    status: Status,
    seats: [Occupant; 2],
    presence: SeatPresence,
    ply: Ply,
    /// Whether lists show it at all.
    is_known: bool,
}

/// Who is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatPresence {
    /// Whether the player in each seat is connected; `None` for a seat without one.
    pub(crate) seats: [Option<bool>; 2],
    pub(crate) spectators: u64,
}

/// What is new about a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Update {
    /// The status, if that is another now.
    pub(crate) status: Option<Status>,
    /// Whether other people sit in it.
    pub(crate) seats: bool,
}

impl MatchSummary {
    pub(crate) fn new(state: &Match) -> Self {
        let creation = state.creation();
        Self {
            id: creation.id,
            game: creation.game,
            listed: creation.terms.listed,
            code: creation.code,
            host: creation.host,
            watch: creation.terms.watch(),
            delayed: creation.terms.delay_ms > 0,
            clock: creation.terms.clock,
            rated: creation.terms.rated,
            from_position: creation.terms.is_from_position(),
            ply: AtomicU64::new(state.ply().0),
            seq: AtomicU64::new(state.seq().0),
            seq_changed: Notify::new(),
            bot_waits_ms: AtomicU64::new(state.bot_waits_ms().unwrap_or(0)),
            changing: Mutex::new(Changing {
                status: to_protocol::status(state.stage()),
                seats: Seat::ALL.map(|seat| state.occupant(seat).clone()),
                presence: SeatPresence {
                    seats: [None; 2],
                    spectators: 0,
                },
                shown: None,
            }),
        }
    }

    /// From now on lists show the match as it was then, or not at all while nobody may know of it. Gives whether
    /// that is news to whoever watches one.
    pub(crate) fn show(&self, then: &Match, presence: SeatPresence, is_known: bool) -> bool {
        let shown = Shown {
            status: to_protocol::status(then.stage()),
            seats: Seat::ALL.map(|seat| then.occupant(seat).clone()),
            presence,
            ply: then.ply(),
            is_known,
        };
        let mut changing = self.changing.lock();
        let is_same = |known: &Shown| {
            (known.status, known.is_known) == (shown.status, shown.is_known)
                && known.seats == shown.seats
        };
        let is_news = !changing.shown.as_deref().is_some_and(is_same);
        changing.shown = Some(Box::new(shown));
        is_news
    }

    /// Whether lists show the match.
    pub(crate) fn is_listed(&self) -> bool {
        let is_known = || {
            let changing = self.changing.lock();
            let shown = changing.shown.as_ref();
            shown.is_none_or(|shown| shown.is_known)
        };
        self.listed && is_known()
    }

    /// Whether lists show the match with a delay.
    pub(crate) const fn is_delayed(&self) -> bool {
        self.delayed
    }

    /// The status by which lists show the match.
    pub(crate) fn shown_status(&self) -> Status {
        let changing = self.changing.lock();
        let shown = changing.shown.as_ref();
        shown.map_or(changing.status, |shown| shown.status)
    }

    /// Notes how far the match has come.
    pub(crate) fn got_on(&self, state: &Match) {
        self.ply.store(state.ply().0, Ordering::Release);
        let waits_ms = state.bot_waits_ms().unwrap_or(0);
        self.bot_waits_ms.store(waits_ms, Ordering::Release);
    }

    /// Notes which event was told last.
    pub(crate) fn told(&self, seq: Seq) {
        self.seq.store(seq.0, Ordering::Release);
        self.seq_changed.notify_waiters();
    }

    /// Waits until the last event is another one than this.
    pub(crate) async fn wait_for_change(&self, known: Seq) {
        loop {
            let changed = self.seq_changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if self.seq() != known {
                return;
            }
            changed.await;
        }
    }

    /// The event that was told last.
    pub(crate) fn seq(&self) -> Seq {
        Seq(self.seq.load(Ordering::Acquire))
    }

    /// Since when a bot waits here for a player's move, in milliseconds since 1970.
    pub(crate) fn bot_waits_ms(&self) -> Option<u64> {
        Some(self.bot_waits_ms.load(Ordering::Acquire)).filter(|ms| *ms > 0)
    }

    /// Whether the match is played over days.
    pub(crate) fn is_of_days(&self) -> bool {
        self.clock.is_some_and(|clock| clock.is_of_days())
    }

    /// Whether the match has started, as far as may be known, and is none of this player's business.
    pub(crate) fn is_closed_to(&self, id: PlayerId) -> bool {
        let has_started = || {
            let changing = self.changing.lock();
            let shown = changing.shown.as_ref().map(|shown| &shown.seats);
            !shown.unwrap_or(&changing.seats).contains(&Occupant::Open)
        };
        self.watch == WatchedBy::Nobody && has_started() && !self.is_of(id)
    }

    /// Whether this player hosts the match, sits in it, or has a bot stand in.
    pub(crate) fn is_of(&self, id: PlayerId) -> bool {
        self.host == id || self.seat_of(id).is_some() || self.stood_in(id).is_some()
    }

    /// Who sits in it or has a bot stand in, and how they are called.
    pub(crate) fn named(&self) -> Vec<(PlayerId, String)> {
        let changing = self.changing.lock();
        let named = changing.seats.iter().filter_map(|occupant| match occupant {
            Occupant::Player { id, name, .. } => Some((*id, name.clone())),
            Occupant::StandIn { player, name, .. } => Some((*player, name.clone())),
            Occupant::Open | Occupant::Bot(_) => None,
        });
        named.collect()
    }

    /// Whether this player has played the match; of one between bots that is whoever had them play.
    pub(crate) fn was_played_by(&self, id: PlayerId) -> bool {
        let is_seated = self.seat_of(id).is_some() || self.stood_in(id).is_some();
        let is_exhibition = || {
            let changing = self.changing.lock();
            changing.seats.iter().all(|seat| seat.holder().is_none())
        };
        is_seated || (self.host == id && is_exhibition())
    }

    /// Brings the card in step with the match, and tells what is new about it.
    pub(crate) fn update(&self, state: &Match, presence: SeatPresence) -> Update {
        let mut changing = self.changing.lock();
        changing.presence = presence;
        let mut seats = false;
        for seat in Seat::ALL {
            let (known, occupant) = (&mut changing.seats[seat.index()], state.occupant(seat));
            if known != occupant {
                known.clone_from(occupant);
                seats = true;
            }
        }
        let status = to_protocol::status(state.stage());
        let before = std::mem::replace(&mut changing.status, status);
        let status = (before != status).then_some(status);
        Update { status, seats }
    }

    pub(crate) fn status(&self) -> Status {
        self.changing.lock().status
    }

    /// The seat in which this player sits.
    pub(crate) fn seat_of(&self, id: PlayerId) -> Option<SeatNumber> {
        let changing = self.changing.lock();
        let is_theirs = |seat: &Seat| changing.seats[seat.index()].player() == Some(id);
        let seat = Seat::ALL.into_iter().find(is_theirs);
        seat.map(to_protocol::seat)
    }

    /// The seat of this player in which a bot stands in.
    pub(crate) fn stood_in(&self, id: PlayerId) -> Option<SeatNumber> {
        let changing = self.changing.lock();
        let is_theirs = |seat: &Seat| {
            let occupant = &changing.seats[seat.index()];
            occupant.bot().is_some() && occupant.holder() == Some(id)
        };
        let seat = Seat::ALL.into_iter().find(is_theirs);
        seat.map(to_protocol::seat)
    }

    pub(crate) fn listing(&self) -> Listing {
        let changing = self.changing.lock();
        let (status, seats, presence, ply) = match changing.shown.as_deref() {
            Some(shown) => (shown.status, &shown.seats, shown.presence, shown.ply),
            None => {
                let ply = Ply(self.ply.load(Ordering::Acquire));
                (changing.status, &changing.seats, changing.presence, ply)
            }
        };
        let seat = |seat: Seat| SeatState {
            side: self.game.info.sides[seat.index()].to_owned(),
            occupant: to_protocol::occupant(
                &seats[seat.index()],
                presence.seats[seat.index()] == Some(true),
            ),
        };
        Listing {
            match_id: self.id,
            code: self.code.to_string(),
            game: self.game.info.id.to_owned(),
            status,
            seats: Seat::ALL.map(seat),
            ply,
            spectators: presence.spectators,
            clock: self.clock,
            rated: self.rated,
            from_position: self.from_position,
        }
    }
}
