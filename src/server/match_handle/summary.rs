//! Summary of a match, as shown in match lists.

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

/// Summary of a match, as shown in match lists. The match actor updates the summary before it
/// broadcasts a change.
#[derive(Debug)]
pub(crate) struct MatchSummary {
    pub(crate) id: MatchId,
    pub(crate) game: &'static GameEntry,
    listed: bool,
    pub(crate) code: MatchCode,
    pub(crate) host: PlayerId,
    watch: SpectatorAccess,
    /// Whether spectators see the match with a delay.
    pub(crate) delayed: bool,
    clock: Option<ClockControl>,
    pub(crate) rated: bool,
    from_position: bool,
    ply: AtomicU64,
    /// Sequence number of the last broadcast event.
    seq: AtomicU64,
    /// Notified when `seq` changes.
    seq_changed: Notify,
    /// Time when a bot began to wait for a player's move, in milliseconds since 1970; 0 if no bot
    /// waits.
    bot_waiting_since_ms: AtomicU64,
    live: Mutex<LiveState, MATCH_SUMMARY>,
}

/// The mutable part of a summary that requires a lock.
#[derive(Debug)]
struct LiveState {
    status: MatchStatus,
    seats: [Occupant; 2],
    presence: SeatPresence,
    /// Delayed state of the match, which lists show instead of the current state. It exists if
    /// spectators see the match with a delay.
    delayed_listing: Option<Box<DelayedListing>>,
}

/// Delayed state of a match, as shown in match lists.
#[derive(Debug)]
struct DelayedListing {
    status: MatchStatus,
    seats: [Occupant; 2],
    presence: SeatPresence,
    ply: Ply,
    /// Whether match lists show the match.
    is_visible: bool,
}

/// Connection status of the seated players, and the number of spectators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatPresence {
    /// Whether the player in each seat is connected; `None` for a seat without a player.
    pub(crate) seats: [Option<bool>; 2],
    pub(crate) spectators: u64,
}

/// Describes what an update has changed in a match summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SummaryChange {
    /// The new status, if it has changed.
    pub(crate) status: Option<MatchStatus>,
    /// Whether the occupant of a seat has changed.
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

    /// Sets the delayed state, which match lists show instead of the current state. Lists show the
    /// match only if `is_visible` is set. Returns whether the status, the visibility or the seats
    /// have changed.
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

    /// Returns whether lists show the match.
    pub(crate) fn is_listed(&self) -> bool {
        let is_visible = || {
            let live = self.live.lock();
            let delayed_listing = live.delayed_listing.as_ref();
            delayed_listing.is_none_or(|shown| shown.is_visible)
        };
        self.listed && is_visible()
    }

    /// Returns the status that lists show.
    pub(crate) fn shown_status(&self) -> MatchStatus {
        let live = self.live.lock();
        let delayed_listing = live.delayed_listing.as_ref();
        delayed_listing.map_or(live.status, |shown| shown.status)
    }

    /// Updates the match's ply and the time when a bot began to wait for a player's move.
    pub(crate) fn update_progress(&self, state: &Match) {
        self.ply.store(state.ply().0, Ordering::Release);
        let waiting_since_ms = state.bot_waiting_since_ms().unwrap_or(0);
        self.bot_waiting_since_ms
            .store(waiting_since_ms, Ordering::Release);
    }

    /// Sets the sequence number of the last broadcast event.
    pub(crate) fn set_seq(&self, seq: Seq) {
        self.seq.store(seq.0, Ordering::Release);
        self.seq_changed.notify_waiters();
    }

    /// Waits until the last broadcast event has a sequence number other than `known_seq`.
    pub(crate) async fn wait_for_seq_change(&self, known_seq: Seq) {
        loop {
            let changed = self.seq_changed.notified();
            tokio::pin!(changed);
            // `enable` registers for notifications before the check, so no change between the check
            // and the wait is lost.
            changed.as_mut().enable();
            if self.seq() != known_seq {
                return;
            }
            changed.await;
        }
    }

    /// Returns the sequence number of the last broadcast event.
    pub(crate) fn seq(&self) -> Seq {
        Seq(self.seq.load(Ordering::Acquire))
    }

    /// Returns the time when a bot began to wait for a player's move, in milliseconds since 1970;
    /// `None` if no bot waits.
    pub(crate) fn bot_waiting_since_ms(&self) -> Option<u64> {
        Some(self.bot_waiting_since_ms.load(Ordering::Acquire)).filter(|ms| *ms > 0)
    }

    /// Returns whether this is a correspondence match.
    pub(crate) fn is_correspondence(&self) -> bool {
        self.clock.is_some_and(|clock| clock.is_correspondence())
    }

    /// Returns whether the match is hidden from this player. A match is hidden if it does not allow
    /// spectators, has started, and does not involve the player. If the match has a delayed state,
    /// that state determines whether the match has started.
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

    /// Returns whether this player hosts the match, has a seat, or has been replaced by a stand-in
    /// bot.
    pub(crate) fn involves(&self, id: PlayerId) -> bool {
        self.host == id || self.holds_seat(id)
    }

    /// Returns whether this player has a seat or has been replaced by a stand-in bot.
    pub(crate) fn holds_seat(&self, id: PlayerId) -> bool {
        self.seat_of(id).is_some() || self.substituted_seat(id).is_some()
    }

    /// Returns the players who sit in the match or are replaced by a stand-in bot, with their
    /// names.
    pub(crate) fn participant_names(&self) -> Vec<(PlayerId, String)> {
        let live = self.live.lock();
        let names = live.seats.iter().filter_map(|occupant| match occupant {
            Occupant::Player { id, name, .. } => Some((*id, name.clone())),
            Occupant::StandIn { player, name, .. } => Some((*player, name.clone())),
            Occupant::Open | Occupant::Bot(_) => None,
        });
        names.collect()
    }

    /// Returns whether this player played the match. A match between two bots counts as played by
    /// its host.
    pub(crate) fn was_played_by(&self, id: PlayerId) -> bool {
        let is_exhibition = || {
            let live = self.live.lock();
            live.seats.iter().all(|seat| seat.holder().is_none())
        };
        self.holds_seat(id) || (self.host == id && is_exhibition())
    }

    /// Updates the summary from the match and returns the changes.
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

    /// Returns the seat of this player.
    pub(crate) fn seat_of(&self, id: PlayerId) -> Option<SeatNumber> {
        self.find_seat(|occupant| occupant.player() == Some(id))
    }

    /// Returns the seat where a stand-in bot replaces this player.
    pub(crate) fn substituted_seat(&self, id: PlayerId) -> Option<SeatNumber> {
        self.find_seat(|occupant| occupant.bot_level().is_some() && occupant.holder() == Some(id))
    }

    fn find_seat(&self, is_it: impl Fn(&Occupant) -> bool) -> Option<SeatNumber> {
        let live = self.live.lock();
        let mut seats = live.seats.iter().zip(Seat::ALL);
        let seat = seats.find(|(occupant, _)| is_it(occupant));
        seat.map(|(_, seat)| to_protocol::seat(seat))
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
