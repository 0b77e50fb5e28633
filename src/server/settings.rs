//! Everything about a server that can be set, with its default. Every bound is here.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use plyhouse_protocol::MESSAGE_BYTES_MAX;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a player may be without a connection before a match is lost.
    pub abandon_after: Duration,
    /// How long an ended match stays in memory. The protocol promises that it can be asked for
    /// during ten minutes; a store that keeps it longer has it read again.
    pub linger: Duration,

    /// How many connections are served at once. One more is told that the server is full.
    pub connections_max: usize,
    /// How many of them may come from one address. Beyond, 429 before the upgrade.
    pub connections_per_address: usize,
    /// How many handshakes a second one address may make for long. Beyond, 429.
    pub handshakes_per_s: NonZeroU32,
    /// How many handshakes one address may make at once.
    pub handshakes_burst: NonZeroU32,
    /// How many matches that wait for somebody may have been created from one address. Beyond,
    /// `too_many_matches`.
    pub open_matches_per_address: usize,
    /// How many wrong guesses at a match or a token are answered a second, for one address. Beyond,
    /// the answers come later, up to five seconds.
    pub guesses_per_s: NonZeroU32,
    /// Who a connection comes from.
    pub client_address: ClientAddress,
    /// How many live matches a player may host.
    pub live_matches_per_player: usize,
    /// How many matches are kept in all, ended ones included. Beyond, `create` is `overloaded`.
    pub matches_max: usize,
    /// How many connections may follow one match. Beyond, `watch` and `join` are `overloaded`.
    pub followers_max: usize,
    /// How many matches a connection may follow.
    pub following_max: usize,
    /// How many requests a second a connection may send for long.
    pub requests_per_s: NonZeroU32,
    /// How many requests a connection may send at once.
    pub burst: NonZeroU32,
    /// For how many requests one counts of somebody who only watches.
    pub watching_cost: NonZeroU32,
    /// How many bytes a request may have. Beyond, the connection is closed with 1009.
    pub message_bytes: usize,
    /// How many players may look for somebody to play. Beyond, `seek` is `overloaded`.
    pub seeks_max: usize,

    /// How many messages may wait for a client to read them. Beyond, it is closed with 4002.
    pub outbox_messages: usize,
    /// How many bytes may wait for a client to read them. Beyond, it is closed with 4002.
    pub outbox_bytes: usize,
    /// How long a connection may take to become a WebSocket, or to finish any other request.
    pub handshake_timeout: Duration,
    /// After how long without a sign of life a connection is pinged.
    pub ping_interval: Duration,
    /// After how long without a sign of life a connection is closed with 4004.
    pub idle_timeout: Duration,
    /// How long a connection that is being closed may take to say goodbye.
    pub close_timeout: Duration,
    /// Origins, such as `https://play.example.org`, whose pages may connect beside our own.
    pub origins: Vec<String>,
    /// Where the files of the page are read from, each time anew. Without it the page is the one in
    /// the binary.
    pub web: Option<PathBuf>,

    /// Where bots think.
    pub search: Search,
    /// How many bots may wait for a search thread: of those that play people, and as many of the
    /// others. A bot that finds no room in time plays without thinking.
    pub search_queue: usize,
    /// How many bytes of memory a search thread has to remember what it found.
    pub search_table: usize,
    /// How long a bot may think about one move.
    pub search_time: Duration,
    /// How many bots may think at the same time in the matches of one player. Others wait.
    pub searches_per_player: usize,

    /// Where chance comes from: the operating system, or a number for a world that can be replayed.
    pub seed: Option<u64>,
    /// When the server starts, in milliseconds since 1970: by the operating system's clock, or by
    /// that of a world that can be replayed.
    pub started_ms: Option<u64>,
}

/// Who a connection comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddress {
    /// From the other end of the socket.
    Peer,
    /// From whom the nearest proxy says that it comes: the last address of `X-Forwarded-For`. To be
    /// set only where every connection comes through a proxy that adds to that header.
    XForwardedFor,
}

/// Where bots think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// On this many threads of their own, at least one.
    Threads(usize),
    /// Wherever the match lives. For simulated worlds, in which a thread would be the one thing
    /// that time and chance do not govern.
    Inline,
}

impl Default for Settings {
    fn default() -> Self {
        // One core is left to the network, which never waits for a search.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            abandon_after: Duration::from_secs(60),
            linger: Duration::from_secs(600),
            // Each needs a file descriptor and about 8 KiB.
            connections_max: 20_000,
            connections_per_address: 256,
            handshakes_per_s: NonZeroU32::new(20).expect("not zero"),
            handshakes_burst: NonZeroU32::new(200).expect("not zero"),
            open_matches_per_address: 128,
            guesses_per_s: NonZeroU32::MIN,
            client_address: ClientAddress::Peer,
            live_matches_per_player: 16,
            matches_max: 100_000,
            followers_max: 10_000,
            following_max: 64,
            requests_per_s: NonZeroU32::new(20).expect("not zero"),
            burst: NonZeroU32::new(40).expect("not zero"),
            watching_cost: NonZeroU32::new(2).expect("not zero"),
            message_bytes: MESSAGE_BYTES_MAX,
            seeks_max: 10_000,
            outbox_messages: 256,
            outbox_bytes: 1 << 20,
            handshake_timeout: Duration::from_secs(10),
            ping_interval: Duration::from_secs(20),
            idle_timeout: Duration::from_secs(60),
            close_timeout: Duration::from_secs(1),
            origins: Vec::new(),
            web: None,
            search: Search::Threads(cores.saturating_sub(1).max(1)),
            search_queue: 1024,
            search_table: 64 << 20,
            search_time: Duration::from_secs(2),
            searches_per_player: 4,
            seed: None,
            started_ms: None,
        }
    }
}
