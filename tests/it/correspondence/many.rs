//! A store with more matches of days than anybody would want in memory.

use std::sync::Arc;

use plyhouse_engine::catalog;
use plyhouse_matches::{Creation, Match, Occupant, Terms};
use plyhouse_protocol::{ClockControl, MatchCode, MatchId, PlayerId, PlayerKind};
use plyhouse_store::{MatchRecord, MemoryStore, NodeId, PlayerRecord, Store};
use serde_json::json;
use uuid::Uuid;

use super::{
    SECONDS_PER_DAY, SECONDS_PER_HOUR, START_MS, metric_value, settings_started_at,
    start_server_with_store, watch_match,
};
use crate::support::advance_time;

const MATCHES: u64 = 2000;

/// How many of them are out of time when the server starts: as many as a connection may watch.
const DUE: u64 = 60;

fn id(number: u64) -> MatchId {
    MatchId(Uuid::from_u128(u128::from(number) + 1))
}

/// A match that began so many seconds before the server starts.
fn record(number: u64, ago_s: u64) -> MatchRecord {
    let players = [2 * number, 2 * number + 1].map(player);
    let creation = Creation {
        id: id(number),
        code: MatchCode::from_number(number),
        game: catalog::find_game("chess").expect("there is chess"),
        host: players[0].id,
        terms: Terms {
            clock: Some(ClockControl::Move {
                move_ms: SECONDS_PER_DAY * 1000,
            }),
            ..Terms::with_defaults(true, 0, number)
        },
    };
    let seats = players.map(|player| Occupant::Player {
        id: player.id,
        name: player.name,
        kind: PlayerKind::Guest,
        rating: None,
    });
    let events = Match::initial_events(&creation.terms, seats, START_MS - ago_s * 1000);
    MatchRecord { creation, events }
}

fn player(number: u64) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(u128::from(number) + 1)),
        name: format!("player {number}"),
        kind: PlayerKind::Guest,
    }
}

/// None is read at the start, all that are due end in their order, and the others go on waiting. What
/// 100,000 of them on a disk cost is measured by `cargo bench --bench store -- --days 100000`.
#[tokio::test(start_paused = true)]
async fn many_matches_wait_and_those_that_are_due_end_in_their_order() {
    let store = Arc::new(MemoryStore::default());
    // Neither in the order of their ids nor in that of their creation.
    let began_ago = |number: u64| match number {
        number if number < DUE => SECONDS_PER_DAY + 60 + (number * 37 % DUE) * 60,
        number => number % (SECONDS_PER_DAY / 2),
    };
    for number in 0..MATCHES {
        for number in [2 * number, 2 * number + 1] {
            store
                .add_player(player(number), vec![])
                .await
                .expect("kept");
        }
        let record = record(number, began_ago(number));
        let created = store.create(NodeId(Uuid::nil()), record).await;
        created.expect("kept");
    }
    let server = start_server_with_store(settings_started_at(0), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (0, MATCHES));
    assert_eq!(metric_value(&server, "players"), 0);
    let mut cat = server.connect_player("cat").await;
    let mut due: Vec<u64> = (0..DUE).collect();
    for number in &due {
        let shown = watch_match(&mut cat, &id(*number).to_string()).await;
        assert_eq!(shown["status"], "running");
        // No faster than anybody may ask.
        advance_time(1).await;
    }
    due.sort_by_key(|number| std::cmp::Reverse(began_ago(*number)));
    advance_time(SECONDS_PER_HOUR).await;
    for number in due {
        let ended = cat.expect_event("ended").await;
        assert_eq!(ended["match"], json!(id(number).to_string()));
    }
    assert_eq!(metric_value(&server, "matches_dormant"), MATCHES - DUE);
}
