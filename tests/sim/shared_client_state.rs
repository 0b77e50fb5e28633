//! State that all clients of a simulated world share.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plyhouse_protocol::{MatchId, PlayerId};

use super::history::{ConnectionId, History, HistoryEntry, HistoryEvent};

#[derive(Debug)]
pub(crate) struct SimContext {
    pub(crate) seed: u64,
    /// End of fault injection, in simulated time.
    pub(crate) faults_end: Duration,
    /// How long clients keep receiving after `faults_end`, before the final check.
    pub(crate) observation_time: Duration,
    /// Host names of the servers.
    pub(crate) servers: Vec<String>,
    /// Number of crashes of each server.
    crash_counts: Vec<Cell<u64>>,
    pub(crate) history: RefCell<History>,
    /// Matches that any client has seen.
    pub(crate) known_matches: RefCell<Vec<MatchId>>,
    /// Players that have logged in.
    pub(crate) known_players: RefCell<Vec<PlayerId>>,
    last_connection_id: Cell<u64>,
    /// Longest spectator delay of the matches that any client has seen.
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

    /// Returns how often the server with this index has crashed.
    pub(crate) fn crash_count(&self, server: usize) -> u64 {
        self.crash_counts[server].get()
    }

    /// Counts a crash of the server with this index.
    pub(crate) fn record_crash(&self, server: usize) {
        self.crash_counts[server].set(self.crash_count(server) + 1);
    }

    /// Records an event in the history at the given simulated time.
    pub(crate) fn record_at(&self, at: Duration, event: HistoryEvent) {
        let at_us = at.as_micros();
        self.history
            .borrow_mut()
            .entries
            .push(HistoryEntry { at_us, event });
    }

    /// Records an event in the history at the current simulated time of the host.
    pub(crate) fn record(&self, event: HistoryEvent) {
        let now = turmoil::sim_elapsed().expect("must be called within a simulated host");
        self.record_at(now, event);
    }

    /// Raises the longest known spectator delay to `delay`.
    pub(crate) fn record_spectator_delay(&self, delay: Duration) {
        self.max_spectator_delay
            .set(delay.max(self.max_spectator_delay.get()));
    }

    /// Returns the longest spectator delay of the known matches.
    pub(crate) const fn max_spectator_delay(&self) -> Duration {
        self.max_spectator_delay.get()
    }

    /// Makes a match known to all clients.
    pub(crate) fn add_match(&self, id: MatchId) {
        let mut known_matches = self.known_matches.borrow_mut();
        if !known_matches.contains(&id) {
            known_matches.push(id);
        }
    }

    /// Makes a player known to all clients.
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
