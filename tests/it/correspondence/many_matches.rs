//! A store with more correspondence matches than a server should hold in memory.

use std::sync::Arc;

use plyhouse_engine::catalog;
use plyhouse_matches::{Creation, Match, Occupant, Terms};
use plyhouse_protocol::{ClockControl, MatchCode, MatchId, PlayerId, PlayerKind};
use plyhouse_store::{IdentityStore, JournalStore, MatchRecord, MemoryStore, NodeId, PlayerRecord};
use serde_json::json;
use uuid::Uuid;

use super::{
    SECONDS_PER_DAY, SECONDS_PER_HOUR, START_MS, metric_value, settings_started_at,
    start_server_with_store, watch_match,
};
use crate::support::advance_time;

const MATCH_COUNT: u64 = 2000;

/// Number of matches that are overdue when the server starts. The number is below 64, the default
/// limit of followed matches per connection. One spectator can therefore follow all of them.
const OVERDUE_COUNT: u64 = 60;

fn match_id(number: u64) -> MatchId {
    MatchId(Uuid::from_u128(u128::from(number) + 1))
}

/// Creates a match that started `age_s` seconds before the server starts.
fn match_record(number: u64, age_s: u64) -> MatchRecord {
    let players = [2 * number, 2 * number + 1].map(player_record);
    let creation = Creation {
        id: match_id(number),
        code: MatchCode::from_number(number),
        game: catalog::find_game("chess").expect("a known game"),
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
    let events = Match::initial_events(&creation.terms, seats, START_MS - age_s * 1000);
    MatchRecord { creation, events }
}

fn player_record(number: u64) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(u128::from(number) + 1)),
        name: format!("player {number}"),
        kind: PlayerKind::Guest,
    }
}

/// The server loads no match at startup. The overdue matches end in the order of their deadlines,
/// and the others stay in the store. `cargo bench --bench store -- --days 100000` measures the cost
/// of 100,000 matches on a disk.
#[tokio::test(start_paused = true)]
async fn overdue_matches_end_in_order_while_others_hibernate() {
    let store = Arc::new(MemoryStore::default());
    // Match ids are in the order of creation. The deadlines are deliberately in a different order.
    let age_s = |number: u64| match number {
        number if number < OVERDUE_COUNT => {
            SECONDS_PER_DAY + 60 + (number * 37 % OVERDUE_COUNT) * 60
        }
        number => number % (SECONDS_PER_DAY / 2),
    };
    for number in 0..MATCH_COUNT {
        for number in [2 * number, 2 * number + 1] {
            store
                .add_player(player_record(number), vec![])
                .await
                .expect("the player is stored");
        }
        let record = match_record(number, age_s(number));
        let created = store.create(NodeId(Uuid::nil()), record).await;
        created.expect("the match is stored");
    }
    let server = start_server_with_store(settings_started_at(0), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (0, MATCH_COUNT));
    assert_eq!(metric_value(&server, "players"), 0);
    let mut cat = server.connect_player("cat").await;
    let mut overdue: Vec<u64> = (0..OVERDUE_COUNT).collect();
    for number in &overdue {
        let snapshot = watch_match(&mut cat, &match_id(*number).to_string()).await;
        assert_eq!(snapshot["status"], "running");
        // Waits one second after each `watch` request, so that the spectator stays within the
        // request rate limit.
        advance_time(1).await;
    }
    overdue.sort_by_key(|number| std::cmp::Reverse(age_s(*number)));
    advance_time(SECONDS_PER_HOUR).await;
    for number in overdue {
        let ended = cat.expect_event("ended").await;
        assert_eq!(ended["match"], json!(match_id(number).to_string()));
    }
    assert_eq!(
        metric_value(&server, "matches_dormant"),
        MATCH_COUNT - OVERDUE_COUNT
    );
}
