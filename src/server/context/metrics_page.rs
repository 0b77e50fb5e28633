//! Renders the metrics page from the counters and from the current state of the server.

use plyhouse_engine::catalog::CATALOG;
use plyhouse_protocol::MatchStatus;

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
    sampled
        .players
        .set(to_gauge_value(server.identity.players.len()));
    sampled
        .seeks
        .set(to_gauge_value(server.matchmaking.seeks.len()));
    sampled
        .challenges
        .set(to_gauge_value(server.matchmaking.challenges.len()));
    sampled.list_subscriptions.set(to_gauge_value(
        server.matches.lobby.with_subscriptions(|lists| lists.len()),
    ));
    let depths: Vec<_> = (server.identity.players.all_outboxes().iter())
        .map(Outbox::depth)
        .collect();
    let messages = depths.iter().map(|depth| depth.messages);
    sampled
        .outbox_messages
        .set(to_gauge_value(messages.clone().sum()));
    let most = messages.max().unwrap_or(0);
    sampled.outbox_messages_max.set(to_gauge_value(most));
    let bytes = depths.iter().map(|depth| depth.bytes).sum();
    sampled.outbox_bytes.set(to_gauge_value(bytes));
    let counts = server.matches.lobby.match_counts();
    for game in CATALOG.iter().map(|entry| entry.info.id) {
        for (status, name) in STATUSES {
            let count = counts.get(&(game, status)).copied().unwrap_or(0);
            let labels = [("game", game), ("status", name)];
            sampled
                .matches
                .get_or_create(&labels)
                .set(to_gauge_value(count));
        }
    }
    sampled
        .store_healthy
        .set(server.infra.store.is_healthy().into());
    server.infra.metrics.to_text()
}

fn to_gauge_value(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
