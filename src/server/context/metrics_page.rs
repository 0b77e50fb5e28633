//! The page of metrics: what was counted, and what there is to see at the moment.

use plyhouse_engine::catalog::CATALOG;
use plyhouse_protocol::Status;

use super::server_context::ServerContext;
use crate::connection::outbox::Outbox;

/// Every status, with its name on the wire.
const STATUSES: [(Status, &str); 3] = [
    (Status::Open, "open"),
    (Status::Running, "running"),
    (Status::Ended, "ended"),
];

/// The metrics of a server as OpenMetrics text.
pub(crate) fn page(shared: &ServerContext) -> String {
    let seen = &shared.metrics.seen;
    seen.players.set(number(shared.players.len()));
    seen.seeks.set(number(shared.seeks.len()));
    seen.challenges.set(number(shared.challenges.len()));
    seen.watched_lists
        .set(number(shared.lobby.watched(|lists| lists.len())));
    let depths: Vec<_> = (shared.players.outboxes().iter())
        .map(Outbox::depth)
        .collect();
    let messages = depths.iter().map(|depth| depth.messages);
    seen.outbox_messages.set(number(messages.clone().sum()));
    let most = messages.max().unwrap_or(0);
    seen.outbox_messages_max.set(number(most));
    let bytes = depths.iter().map(|depth| depth.bytes).sum();
    seen.outbox_bytes.set(number(bytes));
    let counts = shared.lobby.counts();
    for game in CATALOG.iter().map(|entry| entry.info.id) {
        for (status, name) in STATUSES {
            let there = counts.get(&(game, status)).copied().unwrap_or(0);
            let labels = [("game", game), ("status", name)];
            seen.matches.get_or_create(&labels).set(number(there));
        }
    }
    seen.store_well.set(shared.store.is_healthy().into());
    shared.metrics.text()
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
