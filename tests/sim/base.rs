//! What all who live in a world share.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plyhouse_protocol::{MatchId, PlayerId};

use super::history::{ConnectionId, Entry, History, What};

/// What all clients of a world share.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) seed: u64,
    /// When nothing bad happens any more.
    pub(crate) calm_at: Duration,
    /// For how long after that everybody still listens to what is told.
    pub(crate) stays: Duration,
    /// The hosts whom clients may connect to.
    pub(crate) servers: Vec<String>,
    /// How often each of them has died.
    deaths: Vec<Cell<u64>>,
    pub(crate) history: RefCell<History>,
    /// The matches that people have told each other of.
    pub(crate) board: RefCell<Vec<MatchId>>,
    /// Everybody whom anybody knows.
    pub(crate) people: RefCell<Vec<PlayerId>>,
    connections: Cell<u64>,
    /// The longest delay of a match of which anybody knows.
    delay: Cell<Duration>,
}

impl Base {
    pub(crate) fn new(
        seed: u64,
        (calm_at, stays): (Duration, Duration),
        servers: Vec<String>,
    ) -> Self {
        Self {
            seed,
            calm_at,
            stays,
            deaths: servers.iter().map(|_| Cell::default()).collect(),
            servers,
            history: RefCell::default(),
            board: RefCell::default(),
            people: RefCell::default(),
            connections: Cell::default(),
            delay: Cell::default(),
        }
    }

    /// How often the server at this place has died.
    pub(crate) fn deaths(&self, server: usize) -> u64 {
        self.deaths[server].get()
    }

    /// The server at this place dies.
    pub(crate) fn dies(&self, server: usize) {
        self.deaths[server].set(self.deaths(server) + 1);
    }

    /// Notes what happens, at this time.
    pub(crate) fn note_at(&self, at: Duration, what: What) {
        let at_us = at.as_micros();
        self.history
            .borrow_mut()
            .entries
            .push(Entry { at_us, what });
    }

    /// Notes what happens to a client now.
    pub(crate) fn note(&self, what: What) {
        let now = turmoil::sim_elapsed().expect("a client is a host of the world");
        self.note_at(now, what);
    }

    /// There is a match that strangers see so much later.
    pub(crate) fn delays(&self, delay: Duration) {
        self.delay.set(delay.max(self.delay.get()));
    }

    /// The longest delay of a match that is known.
    pub(crate) const fn delay(&self) -> Duration {
        self.delay.get()
    }

    /// Lets everybody know of a match.
    pub(crate) fn tell_of(&self, id: MatchId) {
        let mut board = self.board.borrow_mut();
        if !board.contains(&id) {
            board.push(id);
        }
    }

    /// Lets everybody know of a player.
    pub(crate) fn meet(&self, player: PlayerId) {
        let mut people = self.people.borrow_mut();
        if !people.contains(&player) {
            people.push(player);
        }
    }

    pub(crate) fn new_connection(&self) -> ConnectionId {
        self.connections.set(self.connections.get() + 1);
        ConnectionId(self.connections.get())
    }
}
