//! What the server counts, for its operator. It counts and never decides: nothing in the server asks
//! what was counted.
//!
//! Everything here has a fixed place, found by an index and never by a text, so that what a client
//! sends can neither add a series nor make counting slow. What can be told by looking, such as the
//! number of matches, is not counted but looked at when somebody asks.

mod page;

use std::array;

use plyhouse_engine::catalog::{CATALOG, Entry};
use plyhouse_matches::Termination;
use plyhouse_protocol::{ClientMessage, CloseCode, ErrorCode};
use plyhouse_store::tally::{Counter, Gauge, Timings};

pub(super) use page::page;

/// What the server counts.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// Sessions that stand.
    pub(super) connections: Gauge,
    /// Sessions that were begun.
    pub(super) opened: Counter,
    closed: Each<{ CloseCode::ALL.len() }>,
    left: Counter,
    dropped: Each<{ Dropped::ALL.len() }>,

    requests: Each<{ ClientMessage::TYPES.len() }>,
    unreadable: Counter,
    errors: Each<{ ErrorCode::ALL.len() }>,
    /// Players who came back by their token.
    pub(super) resumes: Counter,
    /// Messages that were thrown away with the connection of a client that did not read.
    pub(super) unread: Counter,

    games: [OfGame; CATALOG.len()],
    /// From a player's move being read to its being durable.
    pub(super) move_durable: Timings,
    /// From a move being durable to its being written.
    pub(super) move_written: Timings,

    /// Bots that wait for a search thread.
    pub(super) searches_waiting: Gauge,
    /// Searches under way.
    pub(super) searches_running: Gauge,
    /// Bots that had to move without a search.
    pub(super) searches_missed: Counter,
    /// How long searches took.
    pub(super) search_time: Timings,
    /// Positions that searches visited.
    pub(super) search_nodes: Counter,
}

/// What is counted of each game.
#[derive(Debug, Default)]
pub(super) struct OfGame {
    /// Matches that were created.
    pub(super) created: Counter,
    /// Moves that were played, by players and bots.
    pub(super) moves: Counter,
    ended: Each<{ TERMINATIONS.len() }>,
}

/// The place of a game among those that are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameIndex(usize);

/// A counter for each of a closed list of things.
#[derive(Debug)]
struct Each<const N: usize>([Counter; N]);

impl<const N: usize> Default for Each<N> {
    fn default() -> Self {
        Self(array::from_fn(|_| Counter::default()))
    }
}

/// Every reason for which a match ends, with its name on the wire.
const TERMINATIONS: [(Termination, &str); 4] = [
    (Termination::Rules, "rules"),
    (Termination::Resignation, "resignation"),
    (Termination::Abandonment, "abandonment"),
    (Termination::Aborted, "aborted"),
];

/// Why a connection came to nothing before it was a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The operating system could not accept it: most often there are no descriptors left.
    NotAccepted,
    /// TLS did not come about, or nobody tried.
    NoTls,
    /// It was no HTTP, or ended in the middle of a request.
    BrokenRequest,
    /// It took too long over its request.
    SlowRequest,
    /// It gave way to a newer one, since there were too many.
    Displaced,
    /// It came from the page of a stranger.
    Origin,
    /// Its address had taken its share.
    Address,
}

impl Dropped {
    /// Every cause.
    pub const ALL: [Self; 7] = [
        Self::NotAccepted,
        Self::NoTls,
        Self::BrokenRequest,
        Self::SlowRequest,
        Self::Displaced,
        Self::Origin,
        Self::Address,
    ];

    /// Its name among the metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotAccepted => "not_accepted",
            Self::NoTls => "no_tls",
            Self::BrokenRequest => "broken_request",
            Self::SlowRequest => "slow_request",
            Self::Displaced => "displaced",
            Self::Origin => "origin",
            Self::Address => "address",
        }
    }
}

impl Metrics {
    /// A message came; `None` stands for one that is no request.
    pub(super) fn request(&self, message: Option<&ClientMessage>) {
        match message {
            Some(message) => self.requests.0[message.type_index()].one(),
            None => self.unreadable.one(),
        }
    }

    /// A request was answered with an error.
    pub(super) fn error(&self, code: ErrorCode) {
        self.errors.0[code as usize].one();
    }

    /// A WebSocket was closed for this reason; `None` if the client went by itself.
    pub(super) fn closed(&self, code: Option<CloseCode>) {
        match code {
            Some(code) => self.closed.0[code as usize].one(),
            None => self.left.one(),
        }
    }

    /// A connection came to nothing before it was a WebSocket.
    pub(super) fn dropped(&self, cause: Dropped) {
        self.dropped.0[cause as usize].one();
    }

    /// Where a game is counted.
    pub(super) fn game(&self, index: GameIndex) -> &OfGame {
        &self.games[index.0]
    }
}

impl OfGame {
    /// A match has ended for this reason.
    pub(super) fn ended(&self, termination: Termination) {
        let index = TERMINATIONS
            .iter()
            .position(|(each, _)| *each == termination);
        self.ended.0[index.expect("every reason is listed")].one();
    }
}

impl GameIndex {
    /// The place of this game. To be looked up once for each match.
    pub(super) fn of(game: &'static Entry) -> Self {
        let index = CATALOG.iter().position(|entry| std::ptr::eq(entry, game));
        Self(index.expect("every game is in the catalog"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each is counted where the page looks for it.
    #[test]
    fn the_lists_are_in_the_order_of_their_numbers() {
        for (index, code) in CloseCode::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, index);
        }
        for (index, code) in ErrorCode::ALL.iter().enumerate() {
            assert_eq!(*code as usize, index);
        }
        for (index, cause) in Dropped::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
        }
        for (index, game) in CATALOG.iter().enumerate() {
            assert_eq!(GameIndex::of(game).0, index);
        }
    }
}
