//! The page of metrics: what was counted, and what there is to see at the moment, as OpenMetrics.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::{Dropped, Metrics, OfGame, TERMINATIONS};
use crate::outbox::Depth;
use crate::shared::Shared;
use plyhouse_engine::catalog::CATALOG;
use plyhouse_protocol::{ClientMessage, CloseCode, ErrorCode, Status};
use plyhouse_store::StoreTally;
use plyhouse_store::tally::{Counter, Timings};

/// The metrics of a server as text.
pub(crate) fn page(shared: &Arc<Shared>) -> String {
    let mut registry = Registry::with_prefix("plyhouse");
    registry.register_collector(Box::new(Sight(Arc::clone(shared))));
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes everything");
    text
}

/// What is seen of a server.
#[derive(Debug)]
struct Sight(Arc<Shared>);

impl Collector for Sight {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page(encoder);
        let metrics = &self.0.metrics;
        page.version()?;
        page.connections(metrics)?;
        page.messages(metrics)?;
        page.people(&self.0)?;
        page.matches(&self.0)?;
        page.searches(metrics)?;
        page.store(&self.0)?;
        page.count(
            "panics",
            "Panics, each of which harmed one match alone",
            self.0.panics.get(),
        )
    }
}

/// A page that is being written.
struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn version(&mut self) -> fmt::Result {
        let help = "The version of the server";
        let kind = MetricType::Info;
        let mut metric = self.0.encode_descriptor("build", help, None, kind)?;
        metric.encode_info(&[("version", env!("CARGO_PKG_VERSION"))])
    }

    fn connections(&mut self, metrics: &Metrics) -> fmt::Result {
        let there = metrics.connections.get();
        self.level("connections", "WebSockets that stand", there)?;
        let opened = metrics.opened.get();
        self.count("connections_opened", "WebSockets that were opened", opened)?;
        let left = ("left".to_owned(), metrics.left.get());
        let closed = CloseCode::ALL.iter().zip(&metrics.closed.0);
        let closed = closed.map(|(code, count)| (code.number().to_string(), count.get()));
        self.family(
            "connections_closed",
            "WebSockets that have ended, by close code, or left by their clients",
            "code",
            closed.chain([left]),
        )?;
        let dropped = Dropped::ALL.iter().zip(&metrics.dropped.0);
        self.family(
            "connections_dropped",
            "Connections that came to nothing before they were WebSockets, by cause",
            "cause",
            dropped.map(|(cause, count)| (cause.as_str(), count.get())),
        )
    }

    fn messages(&mut self, metrics: &Metrics) -> fmt::Result {
        let unreadable = ("unreadable", metrics.unreadable.get());
        let requests = named(&ClientMessage::TYPES, &metrics.requests.0);
        self.family(
            "requests",
            "Messages of clients, by type",
            "type",
            requests.chain([unreadable]),
        )?;
        let errors = ErrorCode::ALL.iter().zip(&metrics.errors.0);
        self.family(
            "errors",
            "Errors that were sent, by code",
            "code",
            errors.map(|(code, count)| (code.as_str(), count.get())),
        )
    }

    fn people(&mut self, shared: &Shared) -> fmt::Result {
        let metrics = &shared.metrics;
        let resumes = metrics.resumes.get();
        self.count("resumes", "Players who came back by their token", resumes)?;
        let players = number(shared.players.len());
        let help = "Players who are connected or in a live match";
        self.level("players", help, players)?;
        let seeks = number(shared.seeks.len());
        self.level("seeks", "Players who wait for an opponent", seeks)?;
        let depths = shared.players.outboxes().into_iter();
        let depths: Vec<Depth> = depths.map(|outbox| outbox.depth()).collect();
        let messages = depths.iter().map(|depth| depth.messages);
        let sum = number(messages.clone().sum());
        self.level("outbox_messages", "Messages that wait to be read", sum)?;
        let most = number(messages.max().unwrap_or(0));
        let help = "Messages that wait for the client that is farthest behind";
        self.level("outbox_messages_max", help, most)?;
        let bytes = number(depths.iter().map(|depth| depth.bytes).sum());
        let help = "Bytes that wait to be read";
        self.0
            .encode_descriptor("outbox", help, Some(&Unit::Bytes), MetricType::Gauge)?
            .encode_gauge(&bytes)?;
        let unread = metrics.unread.get();
        let help = "Messages thrown away with the connection of a client that did not read";
        self.count("outbox_unread", help, unread)
    }

    fn matches(&mut self, shared: &Shared) -> fmt::Result {
        let metrics = &shared.metrics;
        let help = "Matches in memory, by game and status";
        let kind = MetricType::Gauge;
        let counts = shared.lobby.counts();
        let mut metric = self.0.encode_descriptor("matches", help, None, kind)?;
        for entry in &CATALOG {
            for (status, name) in STATUSES {
                let there = counts.get(&(entry.info.id, status)).copied();
                let labels = [("game", entry.info.id), ("status", name)];
                ConstGauge::new(number(there.unwrap_or(0)))
                    .encode(metric.encode_family(&labels)?)?;
            }
        }
        let of_games = |count: fn(&OfGame) -> &Counter| {
            let games = CATALOG.iter().zip(&metrics.games);
            games.map(move |(entry, game)| (entry.info.id, count(game).get()))
        };
        let created = of_games(|game| &game.created);
        self.family(
            "matches_created",
            "Matches that were created, by game",
            "game",
            created,
        )?;
        let help = "Matches that have ended, by game and reason";
        let kind = MetricType::Counter;
        let mut metric = self
            .0
            .encode_descriptor("matches_ended", help, None, kind)?;
        for (entry, game) in CATALOG.iter().zip(&metrics.games) {
            for ((_, reason), count) in TERMINATIONS.iter().zip(&game.ended.0) {
                let labels = [("game", entry.info.id), ("reason", *reason)];
                ConstCounter::new(count.get()).encode(metric.encode_family(&labels)?)?;
            }
        }
        let moves = of_games(|game| &game.moves);
        self.family("moves", "Moves of players and bots, by game", "game", moves)?;
        let help = "From a player's move being read to its being durable";
        self.times("move_durable", help, &metrics.move_durable)?;
        let help = "From a move being durable to its being written to its followers";
        self.times("move_written", help, &metrics.move_written)
    }

    fn searches(&mut self, metrics: &Metrics) -> fmt::Result {
        let waiting = metrics.searches_waiting.get();
        let help = "Bots that wait for a search thread";
        self.level("searches_waiting", help, waiting)?;
        let running = metrics.searches_running.get();
        self.level("searches_running", "Searches under way", running)?;
        let missed = metrics.searches_missed.get();
        let help = "Bots that moved without a search: no room, no time, or a panic";
        self.count("searches_missed", help, missed)?;
        self.times("search", "How long searches took", &metrics.search_time)?;
        let nodes = metrics.search_nodes.get();
        self.count("search_nodes", "Positions that searches visited", nodes)
    }

    fn store(&mut self, shared: &Shared) -> fmt::Result {
        let is_well = i64::from(shared.store.is_well());
        let help = "1 if what is written now is likely to be kept, else 0";
        self.level("store_well", help, is_well)?;
        let none = StoreTally::default();
        let tally = shared.store.tally().unwrap_or(&none);
        let batches = tally.batches.get();
        let help = "Batches that were made durable, each by one sync";
        self.count("store_batches", help, batches)?;
        let help = "Writes that were in them";
        self.count("store_writes", help, tally.writes.get())?;
        let help = "Batches that could not be written, or may not have been";
        self.count("store_failures", help, tally.failures.get())?;
        self.times(
            "store_sync",
            "How long it took to make a batch durable",
            &tally.sync,
        )
    }

    fn level(&mut self, name: &str, help: &str, value: i64) -> fmt::Result {
        let kind = MetricType::Gauge;
        self.0
            .encode_descriptor(name, help, None, kind)?
            .encode_gauge(&value)
    }

    fn count(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        let kind = MetricType::Counter;
        let metric = self.0.encode_descriptor(name, help, None, kind)?;
        ConstCounter::new(value).encode(metric)
    }

    fn family(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        counts: impl Iterator<Item = (impl AsRef<str>, u64)>,
    ) -> fmt::Result {
        let kind = MetricType::Counter;
        let mut metric = self.0.encode_descriptor(name, help, None, kind)?;
        for (value, count) in counts {
            let labels = [(label, value.as_ref())];
            ConstCounter::new(count).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn times(&mut self, name: &str, help: &str, timings: &Timings) -> fmt::Result {
        let kind = MetricType::Histogram;
        let unit = Some(&Unit::Seconds);
        let timed = timings.read();
        let mut metric = self.0.encode_descriptor(name, help, unit, kind)?;
        metric.encode_histogram::<NoLabelSet>(timed.seconds, timed.count, &timed.classes, None)
    }
}

/// Every status, with its name on the wire.
const STATUSES: [(Status, &str); 3] = [
    (Status::Open, "open"),
    (Status::Running, "running"),
    (Status::Ended, "ended"),
];

fn named<'a>(
    names: &'a [&'static str],
    counters: &'a [Counter],
) -> impl Iterator<Item = (&'static str, u64)> + 'a {
    let counts = counters.iter().map(Counter::get);
    names.iter().copied().zip(counts)
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
