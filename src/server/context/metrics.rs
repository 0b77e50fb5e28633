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

/// Declares a group of metrics in the order of the metrics page. The doc comment of a metric is
/// also its description on the page. After `=` comes the method of [`MetricsPage`] that adds the
/// metric, with the metric's name on the page.
macro_rules! metrics {
    ($(#[$attribute:meta])* $group:ident {
        $($(#[doc = $help:literal])+ $field:ident: $kind:ty = $add:ident($($argument:expr),*),)+
    }) => {
        $(#[$attribute])*
        #[derive(Debug)]
        pub(crate) struct $group {
            $($(#[doc = $help])+ pub(crate) $field: $kind,)+
        }

        impl $group {
            /// Creates the metrics with value zero and adds them to the page.
            pub(crate) fn add_to(page: &mut MetricsPage) -> Self {
                Self {
                    $($field: page.$add(concat!($($help),+), $($argument),*),)+
                }
            }
        }
    };
}
pub(crate) use metrics;

metrics! {
    /// Metrics of the server. Times are in seconds.
    Metrics {
        /// Open WebSocket connections.
        connections: Gauge = add("connections"),
        /// WebSocket connections opened.
        opened_connections: Counter = add("connections_opened"),
        /// Closed WebSocket connections, by close code (left: closed by the client).
        closed_connections: Vec<Counter> =
            add_counters("connections_closed", "code", close_labels()),
        /// Connections dropped before they became WebSockets, by cause.
        dropped_connections: Vec<Counter> =
            add_counters("connections_dropped", "cause", DropReason::ALL.map(DropReason::as_str)),
        /// Messages from clients, by type.
        requests: Vec<Counter> = add_counters("requests", "type", request_labels()),
        /// Errors sent to clients, by code.
        errors: Vec<Counter> = add_counters("errors", "code", ErrorCode::ALL),
        /// Live matches kept only in the store until they are due or requested.
        hibernating_matches: Gauge = add("matches_dormant"),
        /// Dormant matches loaded again.
        woken_matches: Counter = add("matches_woken"),
        /// Delay of scheduled wake-ups of matches.
        wake_lateness: Histogram = add_histogram("wake_lateness"),
        /// Metrics of a server in a cluster.
        cluster: ClusterMetrics = add_group(ClusterMetrics::add_to),
        /// Chat messages sent.
        chat_messages: Counter = add("said"),
        /// Rated matches that this server added to the ratings.
        matches_rated: Counter = add("matches_rated"),
        /// Rating ledger rows not yet posted when this server last checked.
        rating_backlog: Gauge = add("ratings_behind"),
        /// Matches created as rematches.
        rematches: Counter = add("rematches"),
        /// Logins and reconnections of existing players.
        resumes: Counter = add("resumes"),
        /// Accounts registered.
        registrations: Counter = add("registrations"),
        /// Messages discarded because their client read too slowly.
        discarded_messages: Counter = add("outbox_unread"),
        /// Metrics of each game, in the order of the catalog.
        games: Vec<Arc<GameMetrics>> = add_group(game_counters),
        /// Time from reading a player's move to storing it durably.
        move_durable: Histogram = add_histogram("move_durable"),
        /// Time from storing a move durably to sending it to the followers.
        move_written: Histogram = add_histogram("move_written"),
        /// Searches waiting for a search thread.
        searches_waiting: Gauge = add("searches_waiting"),
        /// Searches in progress.
        searches_running: Gauge = add("searches_running"),
        /// Bot moves made without a search, because of a timeout or a panic.
        searches_missed: Counter = add("searches_missed"),
        /// Duration of searches.
        search_time: Histogram = add_histogram("search"),
        /// Positions visited by searches.
        search_nodes: Counter = add("search_nodes"),
        /// Metrics of the analysis of ended matches.
        analyses: AnalysisMetrics = add_group(AnalysisMetrics::add_to),
        /// Duration of task polls that took a millisecond or longer.
        long_polls: Histogram = add_histogram("long_poll"),
        /// Panics in matches and searches.
        panics: Counter = add("panics"),
        /// Metrics that are sampled when the metrics page is requested.
        sampled: SampledMetrics = add_group(SampledMetrics::add_to),
        /// All metrics above, as added to the page.
        registry: Registry = take_registry(),
    }
}

metrics! {
    /// Metrics of the analysis of ended matches.
    AnalysisMetrics {
        /// Analyses that are running or waiting.
        waiting: Gauge = add("analyses_waiting"),
        /// Completed analyses.
        completed: Counter = add("analyses"),
        /// Analyses aborted by a timeout, a panic or a shutdown.
        failed: Counter = add("analyses_failed"),
        /// Requests answered with a stored analysis.
        served_from_store: Counter = add("analyses_kept"),
    }
}

metrics! {
    /// Metrics that are sampled when the metrics page is requested.
    SampledMetrics {
        /// Bytes waiting to be sent to clients.
        outbox_bytes: Gauge = add_bytes("outbox"),
        /// Players who are connected or in a live match.
        players: Gauge = add("players"),
        /// Players waiting for an opponent.
        seeks: Gauge = add("seeks"),
        /// Open challenges to a specific player.
        challenges: Gauge = add("challenges"),
        /// Connections that watch a list of matches.
        list_subscriptions: Gauge = add("watched_lists"),
        /// Messages waiting to be sent to clients.
        outbox_messages: Gauge = add("outbox_messages"),
        /// Largest number of messages waiting for one client.
        outbox_messages_max: Gauge = add("outbox_messages_max"),
        /// Matches in memory, by game and status.
        matches: Family<[(&'static str, &'static str); 2], Gauge> = add("matches"),
        /// 1 if the store is healthy, 0 if writes are likely to fail.
        store_healthy: Gauge = add("store_well"),
    }
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

    pub(crate) fn add<M: Metric + Clone + Default>(&mut self, help: &str, name: &str) -> M {
        let metric = M::default();
        self.0.register(name, description(help), metric.clone());
        metric
    }

    pub(crate) fn add_histogram(&mut self, help: &str, name: &str) -> Histogram {
        let times = duration_histogram();
        let (help, unit) = (description(help), Unit::Seconds);
        self.0.register_with_unit(name, help, unit, times.clone());
        times
    }

    fn add_bytes(&mut self, help: &str, name: &str) -> Gauge {
        let bytes = Gauge::default();
        let (help, unit) = (description(help), Unit::Bytes);
        self.0.register_with_unit(name, help, unit, bytes.clone());
        bytes
    }

    /// Adds a counter for each value of a label.
    fn add_counters(
        &mut self,
        help: &str,
        name: &str,
        label: &'static str,
        values: impl IntoIterator<Item = impl ToString>,
    ) -> Vec<Counter> {
        let family: Family<[(&'static str, String); 1], Counter> = self.add(help, name);
        let values = values.into_iter().map(|value| [(label, value.to_string())]);
        values
            .map(|labels| family.get_or_create_owned(&labels))
            .collect()
    }

    /// Adds several metrics. The description of the group is not on the page.
    fn add_group<G>(&mut self, _help: &str, add: impl FnOnce(&mut Self) -> G) -> G {
        add(self)
    }

    fn take_registry(&mut self, _help: &str) -> Registry {
        std::mem::take(&mut self.0)
    }
}

/// Returns the description of a metric, without the full stop that the page adds.
fn description(doc_comment: &str) -> &str {
    doc_comment.trim().trim_end_matches('.')
}

#[cfg(any(test, feature = "loom"))]
impl Default for Metrics {
    fn default() -> Self {
        Self::new(&StoreMetrics::default())
    }
}

fn close_labels() -> impl Iterator<Item = String> {
    let codes = CloseCode::ALL.iter().map(|code| code.number().to_string());
    codes.chain(["left".to_owned()])
}

fn request_labels() -> impl Iterator<Item = &'static str> {
    ClientMessage::TYPES.into_iter().chain(["unreadable"])
}

impl Metrics {
    /// Creates all metrics with value zero, on a page that includes the metrics of the store.
    pub(crate) fn new(store: &StoreMetrics) -> Self {
        Self::add_to(&mut MetricsPage::new(store))
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
        let index = CloseCode::ALL.iter().position(|known| Some(*known) == code);
        self.closed_connections[index.unwrap_or(CloseCode::ALL.len())].inc();
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

/// Adds the metrics of each game to the metrics page. Returns these metrics in the order of the
/// game catalog.
fn game_counters(page: &mut MetricsPage) -> Vec<Arc<GameMetrics>> {
    let games = || CATALOG.iter().map(|entry| entry.info.id);
    let help = "Matches created, by game";
    let created = page.add_counters(help, "matches_created", "game", games());
    let help = "Moves of players and bots, by game";
    let moves = page.add_counters(help, "moves", "game", games());
    let ended: Family<[(&str, &str); 2], Counter> =
        page.add("Ended matches, by game and reason", "matches_ended");
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
