//! What all who live in a world share.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plyhouse_protocol::{MatchId, PlayerId};

use super::history::{ConnectionId, History, HistoryEntry, HistoryEvent};

/// What all clients of a world share.
#[derive(Debug)]
pub(crate) struct SimContext {
    pub(crate) seed: u64,
    /// When nothing bad happens any more.
    pub(crate) faults_end: Duration,
    /// For how long after that everybody still listens to what is told.
    pub(crate) observation_time: Duration,
    /// The hosts whom clients may connect to.
    pub(crate) servers: Vec<String>,
    /// How often each of them has died.
    crash_counts: Vec<Cell<u64>>,
    pub(crate) history: RefCell<History>,
    /// The matches that people have told each other of.
    pub(crate) known_matches: RefCell<Vec<MatchId>>,
    /// Everybody whom anybody knows.
    pub(crate) known_players: RefCell<Vec<PlayerId>>,
    last_connection_id: Cell<u64>,
    /// The longest delay of a match of which anybody knows.
    max_spectator_delay: Cell<Duration>,
}

impl SimContext {
    pub(crate) fn new(
        seed: u64,
        (faults_end, observation_time): (Duration, Duration),
        servers: Vec<String>,
    ) -> Self {
        Self {
            seed,
            faults_end,
            observation_time,
            crash_counts: servers.iter().map(|_| Cell::default()).collect(),
            servers,
            history: RefCell::default(),
            known_matches: RefCell::default(),
            known_players: RefCell::default(),
            last_connection_id: Cell::default(),
            max_spectator_delay: Cell::default(),
        }
    }

    /// How often the server at this place has died.
    pub(crate) fn crash_count(&self, server: usize) -> u64 {
        self.crash_counts[server].get()
    }

    /// The server at this place dies.
    pub(crate) fn record_crash(&self, server: usize) {
        self.crash_counts[server].set(self.crash_count(server) + 1);
    }

    /// Notes what happens, at this time.
    pub(crate) fn record_at(&self, at: Duration, event: HistoryEvent) {
        let at_us = at.as_micros();
        self.history
            .borrow_mut()
            .entries
            .push(HistoryEntry { at_us, event });
    }

    /// Notes what happens to a client now.
    pub(crate) fn record(&self, event: HistoryEvent) {
        let now = turmoil::sim_elapsed().expect("must be called within a simulated host");
        self.record_at(now, event);
    }

    /// There is a match that strangers see so much later.
    pub(crate) fn record_spectator_delay(&self, delay: Duration) {
        self.max_spectator_delay
            .set(delay.max(self.max_spectator_delay.get()));
    }

    /// The longest delay of a match that is known.
    pub(crate) const fn max_spectator_delay(&self) -> Duration {
        self.max_spectator_delay.get()
    }

    /// Lets everybody know of a match.
    pub(crate) fn add_match(&self, id: MatchId) {
        let mut known_matches = self.known_matches.borrow_mut();
        if !known_matches.contains(&id) {
            known_matches.push(id);
        }
    }

    /// Lets everybody know of a player.
    pub(crate) fn add_player(&self, player: PlayerId) {
        let mut known_players = self.known_players.borrow_mut();
        if !known_players.contains(&player) {
            known_players.push(player);
        }
    }

    pub(crate) fn new_connection(&self) -> ConnectionId {
        self.last_connection_id
            .set(self.last_connection_id.get() + 1);
        ConnectionId(self.last_connection_id.get())
    }
}
