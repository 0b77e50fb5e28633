//! Renders the metrics page from the counters and from the current state of the server.

use plyhouse_engine::catalog::CATALOG;
use plyhouse_protocol::MatchStatus;
use prometheus_client::metrics::gauge::Gauge;

use super::server_context::ServerContext;
use crate::connection::outbox::Outbox;

/// All match statuses with their names in the protocol.
const STATUSES: [(MatchStatus, &str); 3] = [
    (MatchStatus::Open, "open"),
    (MatchStatus::Running, "running"),
    (MatchStatus::Ended, "ended"),
];

/// Samples the current state and returns all metrics as OpenMetrics text.
pub(crate) fn render_metrics(server: &ServerContext) -> String {
    let sampled = &server.infra.metrics.sampled;
    let set = |gauge: &Gauge, count: usize| gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
    let (players, lobby) = (&server.identity.players, &server.matches.lobby);
    set(&sampled.players, players.len());
    set(&sampled.seeks, server.matchmaking.seeks.len());
    set(&sampled.challenges, server.matchmaking.challenges.len());
    let list_subscriptions = lobby.with_subscriptions(|lists| lists.len());
    set(&sampled.list_subscriptions, list_subscriptions);
    let depths: Vec<_> = players.all_outboxes().iter().map(Outbox::depth).collect();
    let messages = depths.iter().map(|depth| depth.messages);
    set(&sampled.outbox_messages, messages.clone().sum());
    set(&sampled.outbox_messages_max, messages.max().unwrap_or(0));
    let bytes = depths.iter().map(|depth| depth.bytes).sum();
    set(&sampled.outbox_bytes, bytes);
    let counts = lobby.match_counts();
    for game in CATALOG.iter().map(|entry| entry.info.id) {
        for (status, name) in STATUSES {
            let count = counts.get(&(game, status)).copied().unwrap_or(0);
            let labels = [("game", game), ("status", name)];
            set(&sampled.matches.get_or_create(&labels), count);
        }
    }
    let is_healthy = server.infra.store.is_healthy();
    sampled.store_healthy.set(is_healthy.into());
    server.infra.metrics.to_text()
}
