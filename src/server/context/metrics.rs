//! Metrics of the server for its operator. Metrics are write-only: no server logic reads them.
//!
//! All time series are created at startup, so clients cannot cause new ones. Code that counts
//! events holds the counter itself or finds it by index. This avoids a look-up in a `Family`, which
//! would take a lock and search a map. Values that can be read from the server's state, such as the
//! number of matches, are sampled when the metrics page is requested.

mod drop_reason;

use std::sync::Arc;
use std::time::Instant;

use super::clock_and_rng::now;
use crate::cluster::ClusterMetrics;
use plyhouse_engine::catalog::{CATALOG, GameEntry};
use plyhouse_protocol::{ClientMessage, CloseCode, EndReason, ErrorCode};
use plyhouse_store::{StoreMetrics, duration_histogram};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

pub use self::drop_reason::DropReason;

/// Metrics of the server. Times are in seconds.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) sampled: SampledMetrics,

    /// Open WebSocket connections.
    pub(crate) connections: Gauge,
    /// WebSocket connections that were opened.
    pub(crate) opened_connections: Counter,
    /// Closed WebSocket connections by close code. The last element of `closed_connections` counts
    /// the connections that the client closed.
    closed_connections: Vec<Counter>,
    dropped_connections: Vec<Counter>,

    /// Client messages by type. The last element of `requests` counts the messages that could not
    /// be decoded.
    requests: Vec<Counter>,
    errors: Vec<Counter>,
    /// Players who logged in with the token of an existing session.
    pub(crate) resumes: Counter,
    /// Guests who registered a name.
    pub(crate) registrations: Counter,
    /// Messages that were discarded because their client read too slowly.
    pub(crate) discarded_messages: Counter,

    games: Vec<Arc<GameMetrics>>,
    /// Time from reading a player's move to storing it durably.
    pub(crate) move_durable: Histogram,
    /// Time from storing a move durably to writing it to the followers.
    pub(crate) move_written: Histogram,

    /// Number of bots that are waiting for a search thread.
    pub(crate) searches_waiting: Gauge,
    /// Number of searches that are running.
    pub(crate) searches_running: Gauge,
    /// Bot moves that were made without a search.
    pub(crate) searches_missed: Counter,
    /// Duration of searches.
    pub(crate) search_time: Histogram,
    /// Positions that searches visited.
    pub(crate) search_nodes: Counter,

    pub(crate) analyses: AnalysisMetrics,

    /// Duration of task polls that took a millisecond or longer.
    pub(crate) long_polls: Histogram,
    /// Panics in matches and searches.
    pub(crate) panics: Counter,
    /// Matches that were created as rematches.
    pub(crate) rematches: Counter,
    /// Ended rated matches that this server has added to the ratings.
    pub(crate) matches_rated: Counter,
    /// Rows of the rating ledger that were not posted yet when this server last checked.
    pub(crate) rating_backlog: Gauge,
    /// Chat messages.
    pub(crate) chat_messages: Counter,
    /// Live matches that were unloaded from memory and exist only in the store.
    pub(crate) hibernating_matches: Gauge,
    /// Hibernating matches that were loaded again.
    pub(crate) woken_matches: Counter,
    /// Time from the scheduled wake time of a hibernating match until the match is checked.
    pub(crate) wake_lateness: Histogram,
    pub(crate) cluster: ClusterMetrics,
}

/// Metrics of one game.
#[derive(Debug)]
pub(crate) struct GameMetrics {
    /// Matches that were created.
    pub(crate) created: Counter,
    /// Moves of players and bots.
    pub(crate) moves: Counter,
    ended: Vec<Counter>,
}

/// Metrics of the analysis of ended matches.
#[derive(Debug)]
pub(crate) struct AnalysisMetrics {
    /// Analyses that are running or waiting.
    pub(crate) waiting: Gauge,
    /// Analyses that were completed.
    pub(crate) completed: Counter,
    /// Analyses that were aborted.
    pub(crate) failed: Counter,
    /// Requests that were answered with a stored analysis.
    pub(crate) served_from_store: Counter,
}

/// Metrics that are sampled when the metrics page is requested.
#[derive(Debug)]
pub(crate) struct SampledMetrics {
    pub(crate) players: Gauge,
    pub(crate) seeks: Gauge,
    pub(crate) challenges: Gauge,
    pub(crate) list_subscriptions: Gauge,
    pub(crate) outbox_messages: Gauge,
    pub(crate) outbox_messages_max: Gauge,
    pub(crate) outbox_bytes: Gauge,
    /// Matches in memory by game and status.
    pub(crate) matches: Family<[(&'static str, &'static str); 2], Gauge>,
    pub(crate) store_healthy: Gauge,
}

/// Increments a gauge, and decrements it again when dropped.
#[derive(Debug)]
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    pub(crate) fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Records the time since `begin`.
pub(crate) fn observe_since(histogram: &Histogram, begin: Instant) {
    histogram.observe(now().saturating_duration_since(begin).as_secs_f64());
}

/// Builder of the metrics page.
pub(crate) struct MetricsPage(Registry);

impl MetricsPage {
    /// Creates a page with the version of the server and the metrics of the store.
    fn new(store: &StoreMetrics) -> Self {
        let mut registry = Registry::with_prefix("plyhouse");
        registry.register(
            "build",
            "Version of the server",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        store.register(&mut registry);
        Self(registry)
    }

    pub(crate) fn add<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        let metric = M::default();
        self.0.register(name, help, metric.clone());
        metric
    }

    pub(crate) fn add_histogram(&mut self, name: &str, help: &str) -> Histogram {
        let times = duration_histogram();
        self.0
            .register_with_unit(name, help, Unit::Seconds, times.clone());
        times
    }

    /// Adds a counter for each value of a label.
    fn add_counters(
        &mut self,
        name: &str,
        help: &str,
        label: &'static str,
        values: impl IntoIterator<Item = impl ToString>,
    ) -> Vec<Counter> {
        let family: Family<[(&'static str, String); 1], Counter> = self.add(name, help);
        let values = values.into_iter().map(|value| [(label, value.to_string())]);
        values
            .map(|labels| family.get_or_create_owned(&labels))
            .collect()
    }
}

#[cfg(any(test, feature = "loom"))]
impl Default for Metrics {
    fn default() -> Self {
        Self::new(&StoreMetrics::default())
    }
}

/// Adds the counters of closed connections.
fn closed_counters(page: &mut MetricsPage) -> Vec<Counter> {
    let close_codes = CloseCode::ALL.iter().map(|code| code.number().to_string());
    page.add_counters(
        "connections_closed",
        "Closed WebSocket connections, by close code (left: closed by the client)",
        "code",
        close_codes.chain(["left".to_owned()]),
    )
}

fn request_counters(page: &mut MetricsPage) -> Vec<Counter> {
    page.add_counters(
        "requests",
        "Messages from clients, by type",
        "type",
        ClientMessage::TYPES.into_iter().chain(["unreadable"]),
    )
}

impl Metrics {
    /// Creates all metrics with value zero, on a page that includes the metrics of the store.
    pub(crate) fn new(store: &StoreMetrics) -> Self {
        let mut page = MetricsPage::new(store);
        Self {
            connections: page.add("connections", "Open WebSocket connections"),
            opened_connections: page.add("connections_opened", "WebSocket connections opened"),
            closed_connections: closed_counters(&mut page),
            dropped_connections: page.add_counters(
                "connections_dropped",
                "Connections dropped before they became WebSockets, by cause",
                "cause",
                DropReason::ALL.map(DropReason::as_str),
            ),
            requests: request_counters(&mut page),
            errors: page.add_counters(
                "errors",
                "Errors sent to clients, by code",
                "code",
                ErrorCode::ALL,
            ),
            hibernating_matches: page.add(
                "matches_dormant",
                "Live matches kept only in the store until they are due or requested",
            ),
            woken_matches: page.add("matches_woken", "Dormant matches loaded again"),
            wake_lateness: page
                .add_histogram("wake_lateness", "Delay of scheduled wake-ups of matches"),
            cluster: ClusterMetrics::new(&mut page),
            chat_messages: page.add("said", "Chat messages sent"),
            matches_rated: page.add(
                "matches_rated",
                "Rated matches that this server added to the ratings",
            ),
            rating_backlog: page.add(
                "ratings_behind",
                "Rating ledger rows not yet posted when this server last checked",
            ),
            rematches: page.add("rematches", "Matches created as rematches"),
            resumes: page.add("resumes", "Logins and reconnections of existing players"),
            registrations: page.add("registrations", "Accounts registered"),
            discarded_messages: page.add(
                "outbox_unread",
                "Messages discarded because their client read too slowly",
            ),
            games: game_counters(&mut page),
            move_durable: page.add_histogram(
                "move_durable",
                "Time from reading a player's move to storing it durably",
            ),
            move_written: page.add_histogram(
                "move_written",
                "Time from storing a move durably to sending it to the followers",
            ),
            searches_waiting: page.add("searches_waiting", "Searches waiting for a search thread"),
            searches_running: page.add("searches_running", "Searches in progress"),
            searches_missed: page.add(
                "searches_missed",
                "Bot moves made without a search, because of a timeout or a panic",
            ),
            search_time: page.add_histogram("search", "Duration of searches"),
            search_nodes: page.add("search_nodes", "Positions visited by searches"),
            analyses: AnalysisMetrics::new(&mut page),
            long_polls: page.add_histogram(
                "long_poll",
                "Duration of task polls that took a millisecond or longer",
            ),
            panics: page.add("panics", "Panics in matches and searches"),
            sampled: SampledMetrics::new(&mut page),
            registry: page.0,
        }
    }

    /// Returns the page as OpenMetrics text.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string does not fail");
        text
    }

    /// Counts a message from a client; `None` means that the message could not be decoded.
    pub(crate) fn count_request(&self, message: Option<&ClientMessage>) {
        let unreadable = ClientMessage::TYPES.len();
        self.requests[message.map_or(unreadable, ClientMessage::type_index)].inc();
    }

    /// Counts an error sent to a client.
    pub(crate) fn count_error(&self, code: ErrorCode) {
        self.errors[code as usize].inc();
    }

    /// Counts a closed WebSocket connection; `None` means that the client closed it.
    pub(crate) fn count_closed(&self, code: Option<CloseCode>) {
        let left = CloseCode::ALL.len();
        self.closed_connections[code.map_or(left, |code| code as usize)].inc();
    }

    /// Counts a connection that was dropped before it became a WebSocket.
    pub(crate) fn count_dropped(&self, cause: DropReason) {
        self.dropped_connections[cause as usize].inc();
    }

    /// Returns the metrics of a game. A match actor stores the returned metrics, because each call
    /// searches the catalog.
    pub(crate) fn game(&self, game: &'static GameEntry) -> &Arc<GameMetrics> {
        let index = CATALOG.iter().position(|entry| std::ptr::eq(entry, game));
        &self.games[index.expect("every game is in the catalog")]
    }
}

impl GameMetrics {
    /// Counts the end of a match.
    pub(crate) fn count_ended(&self, reason: EndReason) {
        self.ended[reason as usize].inc();
    }
}

impl AnalysisMetrics {
    fn new(page: &mut MetricsPage) -> Self {
        Self {
            waiting: page.add("analyses_waiting", "Analyses that are running or waiting"),
            completed: page.add("analyses", "Completed analyses"),
            failed: page.add(
                "analyses_failed",
                "Analyses aborted by a timeout, a panic or a shutdown",
            ),
            served_from_store: page
                .add("analyses_kept", "Requests answered with a stored analysis"),
        }
    }
}

impl SampledMetrics {
    fn new(page: &mut MetricsPage) -> Self {
        let outbox_bytes = Gauge::default();
        let help = "Bytes waiting to be sent to clients";
        page.0
            .register_with_unit("outbox", help, Unit::Bytes, outbox_bytes.clone());
        Self {
            players: page.add("players", "Players who are connected or in a live match"),
            seeks: page.add("seeks", "Players waiting for an opponent"),
            challenges: page.add("challenges", "Open challenges to a specific player"),
            list_subscriptions: page
                .add("watched_lists", "Connections that watch a list of matches"),
            outbox_messages: page.add("outbox_messages", "Messages waiting to be sent to clients"),
            outbox_messages_max: page.add(
                "outbox_messages_max",
                "Largest number of messages waiting for one client",
            ),
            outbox_bytes,
            matches: page.add("matches", "Matches in memory, by game and status"),
            store_healthy: page.add(
                "store_well",
                "1 if the store is healthy, 0 if writes are likely to fail",
            ),
        }
    }
}

/// Adds the metrics of each game to the metrics page. Returns these metrics in the order of the
/// game catalog.
fn game_counters(page: &mut MetricsPage) -> Vec<Arc<GameMetrics>> {
    let games = || CATALOG.iter().map(|entry| entry.info.id);
    let created = page.add_counters(
        "matches_created",
        "Matches created, by game",
        "game",
        games(),
    );
    let moves = page.add_counters(
        "moves",
        "Moves of players and bots, by game",
        "game",
        games(),
    );
    let ended: Family<[(&str, &str); 2], Counter> =
        page.add("matches_ended", "Ended matches, by game and reason");
    let of_game = |((game, created), moves)| {
        let ended = |reason: &EndReason| {
            ended.get_or_create_owned(&[("game", game), ("reason", reason.as_str())])
        };
        Arc::new(GameMetrics {
            created,
            moves,
            ended: EndReason::ALL.iter().map(ended).collect(),
        })
    };
    games().zip(created).zip(moves).map(of_game).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_lists_follow_enum_discriminants() {
        for (index, code) in CloseCode::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, index);
        }
        for (index, code) in ErrorCode::ALL.iter().enumerate() {
            assert_eq!(*code as usize, index);
        }
        for (index, cause) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
        }
        for (index, reason) in EndReason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, index);
        }
    }
}
