//! What a list shows of a match.

use std::sync::atomic::{AtomicU64, Ordering};

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Occupant};
use plyhouse_protocol::{
    ClockControl, ListedMatch, MatchCode, MatchId, MatchStatus, PlayerId, Ply, SeatNumber,
    SeatState, Seq, SpectatorAccess,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::context::locks::{MATCH_SUMMARY, Mutex};
use crate::wire::to_protocol;

/// What a list shows of a match. The match keeps it up to date before it tells anybody anything.
#[derive(Debug)]
pub(crate) struct MatchSummary {
    pub(crate) id: MatchId,
    pub(crate) game: &'static GameEntry,
    listed: bool,
    pub(crate) code: MatchCode,
    pub(crate) host: PlayerId,
    watch: SpectatorAccess,
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
    bot_waiting_since_ms: AtomicU64,
    live: Mutex<LiveState, MATCH_SUMMARY>,
}

/// The part of a card that changes with people.
#[derive(Debug)]
struct LiveState {
    status: MatchStatus,
    seats: [Occupant; 2],
    presence: SeatPresence,
    /// What lists show in place of it all, where that is told with a delay.
    delayed_listing: Option<Box<DelayedListing>>,
}

/// A match as lists show it, if not as it is.
#[derive(Debug)]
struct DelayedListing {
    status: MatchStatus,
    seats: [Occupant; 2],
    presence: SeatPresence,
    ply: Ply,
    /// Whether lists show it at all.
    is_visible: bool,
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
pub(crate) struct SummaryChange {
    /// The status, if that is another now.
    pub(crate) status: Option<MatchStatus>,
    /// Whether other people sit in it.
    pub(crate) seats_changed: bool,
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
            watch: creation.terms.spectator_access(),
            delayed: creation.terms.spectator_delay_ms > 0,
            clock: creation.terms.clock,
            rated: creation.terms.rated,
            from_position: creation.terms.is_from_position(),
            ply: AtomicU64::new(state.ply().0),
            seq: AtomicU64::new(state.seq().0),
            seq_changed: Notify::new(),
            bot_waiting_since_ms: AtomicU64::new(state.bot_waiting_since_ms().unwrap_or(0)),
            live: Mutex::new(LiveState {
                status: to_protocol::status(state.stage()),
                seats: Seat::ALL.map(|seat| state.occupant(seat).clone()),
                presence: SeatPresence {
                    seats: [None; 2],
                    spectators: 0,
                },
                delayed_listing: None,
            }),
        }
    }

    /// From now on lists show the match as it was then, or not at all while nobody may know of it. Gives whether
    /// that is news to whoever watches one.
    pub(crate) fn set_delayed_listing(
        &self,
        delayed_state: &Match,
        presence: SeatPresence,
        is_visible: bool,
    ) -> bool {
        let listing = DelayedListing {
            status: to_protocol::status(delayed_state.stage()),
            seats: Seat::ALL.map(|seat| delayed_state.occupant(seat).clone()),
            presence,
            ply: delayed_state.ply(),
            is_visible,
        };
        let mut live = self.live.lock();
        let is_unchanged = |current: &DelayedListing| {
            (current.status, current.is_visible) == (listing.status, listing.is_visible)
                && current.seats == listing.seats
        };
        let is_changed = !live.delayed_listing.as_deref().is_some_and(is_unchanged);
        live.delayed_listing = Some(Box::new(listing));
        is_changed
    }

    /// Whether lists show the match.
    pub(crate) fn is_listed(&self) -> bool {
        let is_visible = || {
            let live = self.live.lock();
            let delayed_listing = live.delayed_listing.as_ref();
            delayed_listing.is_none_or(|shown| shown.is_visible)
        };
        self.listed && is_visible()
    }

    /// Whether lists show the match with a delay.
    pub(crate) const fn is_delayed(&self) -> bool {
        self.delayed
    }

    /// The status by which lists show the match.
    pub(crate) fn shown_status(&self) -> MatchStatus {
        let live = self.live.lock();
        let delayed_listing = live.delayed_listing.as_ref();
        delayed_listing.map_or(live.status, |shown| shown.status)
    }

    /// Notes how far the match has come.
    pub(crate) fn update_progress(&self, state: &Match) {
        self.ply.store(state.ply().0, Ordering::Release);
        let waiting_since_ms = state.bot_waiting_since_ms().unwrap_or(0);
        self.bot_waiting_since_ms
            .store(waiting_since_ms, Ordering::Release);
    }

    /// Notes which event was told last.
    pub(crate) fn set_seq(&self, seq: Seq) {
        self.seq.store(seq.0, Ordering::Release);
        self.seq_changed.notify_waiters();
    }

    /// Waits until the last event is another one than this.
    pub(crate) async fn wait_for_seq_change(&self, known_seq: Seq) {
        loop {
            let changed = self.seq_changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if self.seq() != known_seq {
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
    pub(crate) fn bot_waiting_since_ms(&self) -> Option<u64> {
        Some(self.bot_waiting_since_ms.load(Ordering::Acquire)).filter(|ms| *ms > 0)
    }

    /// Whether the match is played over days.
    pub(crate) fn is_correspondence(&self) -> bool {
        self.clock.is_some_and(|clock| clock.is_correspondence())
    }

    /// Whether the match has started, as far as may be known, and is none of this player's business.
    pub(crate) fn is_hidden_from(&self, id: PlayerId) -> bool {
        let has_started = || {
            let live = self.live.lock();
            let delayed_seats = live.delayed_listing.as_ref().map(|shown| &shown.seats);
            !delayed_seats
                .unwrap_or(&live.seats)
                .contains(&Occupant::Open)
        };
        self.watch == SpectatorAccess::Nobody && has_started() && !self.involves(id)
    }

    /// Whether this player hosts the match, sits in it, or has a bot stand in.
    pub(crate) fn involves(&self, id: PlayerId) -> bool {
        self.host == id || self.seat_of(id).is_some() || self.substituted_seat(id).is_some()
    }

    /// Who sits in it or has a bot stand in, and how they are called.
    pub(crate) fn participant_names(&self) -> Vec<(PlayerId, String)> {
        let live = self.live.lock();
        let names = live.seats.iter().filter_map(|occupant| match occupant {
            Occupant::Player { id, name, .. } => Some((*id, name.clone())),
            Occupant::StandIn { player, name, .. } => Some((*player, name.clone())),
            Occupant::Open | Occupant::Bot(_) => None,
        });
        names.collect()
    }

    /// Whether this player has played the match; of one between bots that is whoever had them play.
    pub(crate) fn was_played_by(&self, id: PlayerId) -> bool {
        let is_seated = self.seat_of(id).is_some() || self.substituted_seat(id).is_some();
        let is_exhibition = || {
            let live = self.live.lock();
            live.seats.iter().all(|seat| seat.holder().is_none())
        };
        is_seated || (self.host == id && is_exhibition())
    }

    /// Brings the card in step with the match, and tells what is new about it.
    pub(crate) fn update(&self, state: &Match, presence: SeatPresence) -> SummaryChange {
        let mut live = self.live.lock();
        live.presence = presence;
        let mut seats_changed = false;
        for seat in Seat::ALL {
            let (current, occupant) = (&mut live.seats[seat.index()], state.occupant(seat));
            if current != occupant {
                current.clone_from(occupant);
                seats_changed = true;
            }
        }
        let status = to_protocol::status(state.stage());
        let old_status = std::mem::replace(&mut live.status, status);
        let status = (old_status != status).then_some(status);
        SummaryChange {
            status,
            seats_changed,
        }
    }

    pub(crate) fn status(&self) -> MatchStatus {
        self.live.lock().status
    }

    /// The seat in which this player sits.
    pub(crate) fn seat_of(&self, id: PlayerId) -> Option<SeatNumber> {
        let live = self.live.lock();
        let is_player_seat = |seat: &Seat| live.seats[seat.index()].player() == Some(id);
        let seat = Seat::ALL.into_iter().find(is_player_seat);
        seat.map(to_protocol::seat)
    }

    /// The seat of this player in which a bot stands in.
    pub(crate) fn substituted_seat(&self, id: PlayerId) -> Option<SeatNumber> {
        let live = self.live.lock();
        let is_substituted = |seat: &Seat| {
            let occupant = &live.seats[seat.index()];
            occupant.bot_level().is_some() && occupant.holder() == Some(id)
        };
        let seat = Seat::ALL.into_iter().find(is_substituted);
        seat.map(to_protocol::seat)
    }

    pub(crate) fn listing(&self) -> ListedMatch {
        let live = self.live.lock();
        let (status, seats, presence, ply) = match live.delayed_listing.as_deref() {
            Some(shown) => (shown.status, &shown.seats, shown.presence, shown.ply),
            None => {
                let ply = Ply(self.ply.load(Ordering::Acquire));
                (live.status, &live.seats, live.presence, ply)
            }
        };
        let seat_state = |seat: Seat| SeatState {
            side: self.game.info.sides[seat.index()].to_owned(),
            occupant: to_protocol::occupant(
                &seats[seat.index()],
                presence.seats[seat.index()] == Some(true),
            ),
        };
        ListedMatch {
            match_id: self.id,
            code: self.code.to_string(),
            game: self.game.info.id.to_owned(),
            status,
            seats: Seat::ALL.map(seat_state),
            ply,
            spectators: presence.spectators,
            clock: self.clock,
            rated: self.rated,
            from_position: self.from_position,
        }
    }
}
