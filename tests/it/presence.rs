//! Tests that the fields `seats` and `gone_ms` in `presence` messages are consistent and do not
//! become stale.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_store::Store;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::fault_injecting_store::{FailingStore, PANIC_ONCE};
use crate::support::{TestPlayer, TestServer, settings_without_pings};

/// Asserts that a `presence` message contains the remaining absence time of every absent player and
/// of no other player. The match must be running and have no open seats.
pub(crate) fn assert_presence_consistent(message: &Value) {
    if message["type"] != "presence" {
        return;
    }
    for seat in [0, 1] {
        let is_connected = message["seats"][seat] == true;
        assert_eq!(
            is_connected,
            message["gone_ms"][seat].is_null(),
            "{message}"
        );
    }
}

/// Collects the `presence` messages that a player receives within two seconds.
async fn collect_presence(player: &mut TestPlayer) -> Vec<Value> {
    sleep(Duration::from_secs(2)).await;
    let mut updates = player.drain_messages().await;
    updates.retain(|message| message["type"] == "presence");
    updates.iter().for_each(assert_presence_consistent);
    updates
}

/// Starts a match between Ann and Bob on a server that uses `store`.
async fn start_match(
    store: &Arc<FailingStore>,
    create: Value,
) -> (TestServer, TestPlayer, TestPlayer, String) {
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(store) as Arc<dyn Store>,
    );
    let (mut ann, bob, id) = server.start_match_with(create).await;
    sleep(Duration::from_secs(1)).await;
    ann.drain_messages().await;
    (server, ann, bob, id)
}

fn create_params() -> [Value; 3] {
    [
        json!({"game": "tic-tac-toe", "patience_ms": 60_000}),
        json!({"game": "chess", "clock": {"kind": "fischer", "main_ms": 60_000, "increment_ms": 0}}),
        json!({"game": "othello"}),
    ]
}

fn first_move(create: &Value) -> &'static str {
    match create["game"].as_str() {
        Some("chess") => "e2e4",
        Some("othello") => "d3",
        _ => "a1",
    }
}

async fn send_move(player: &mut TestPlayer, id: &str, m: &str) {
    let play = json!({"type": "move", "match": id, "ply": 0, "move": m});
    player.send_text(&play.to_string()).await;
}

/// While the match actor waits for the store, it does not process other messages, such as the
/// return of a player.
#[tokio::test(start_paused = true)]
async fn reconnect_during_pending_presence_update_is_sent() {
    for create in create_params() {
        let store = Arc::new(FailingStore::default());
        let (server, mut ann, bob, id) = start_match(&store, create.clone()).await;
        let token = bob.token();
        drop(bob);
        sleep(Duration::from_millis(100)).await;
        let writes_blocked = store.write_gate.lock().await;
        send_move(&mut ann, &id, first_move(&create)).await;
        sleep(Duration::from_millis(50)).await;
        let (_bob, _) = server.resume_session(&token).await;
        sleep(Duration::from_millis(500)).await;
        drop(writes_blocked);
        let updates = collect_presence(&mut ann).await;
        if let Some(last) = updates.last() {
            assert_eq!(last["seats"], json!([true, true]), "{last}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn disconnect_during_pending_presence_update_is_sent() {
    for create in create_params() {
        let store = Arc::new(FailingStore::default());
        let (server, mut ann, bob, id) = start_match(&store, create.clone()).await;
        let mut cat = server.connect_player("cat").await;
        cat.request(json!({"type": "watch", "match": id})).await;
        let writes_blocked = store.write_gate.lock().await;
        send_move(&mut ann, &id, first_move(&create)).await;
        sleep(Duration::from_millis(50)).await;
        drop(bob);
        sleep(Duration::from_millis(500)).await;
        drop(writes_blocked);
        for player in [&mut ann, &mut cat] {
            let updates = collect_presence(player).await;
            let last = updates.last().expect("a presence update");
            assert_eq!(last["seats"], json!([true, false]), "{last}");
            assert!(last["gone_ms"][1].is_u64(), "{last}");
        }
    }
}

/// When the server reloads a match, the followers receive a snapshot without the remaining absence
/// time. A `presence` message must follow the snapshot.
#[tokio::test(start_paused = true)]
async fn absence_time_left_is_sent_after_match_reload() {
    for create in create_params() {
        let store = Arc::new(FailingStore::default());
        let (_server, mut ann, bob, id) = start_match(&store, create.clone()).await;
        drop(bob);
        assert_eq!(collect_presence(&mut ann).await.len(), 1);
        store.set_mode(PANIC_ONCE);
        send_move(&mut ann, &id, first_move(&create)).await;
        let snapshot = loop {
            let message = ann.next_message().await;
            if message["type"] == "match" {
                break message;
            }
        };
        assert_eq!(snapshot["seats"][1]["connected"], false, "{snapshot}");
        let updates = collect_presence(&mut ann).await;
        let last = updates.last().expect("a presence update");
        assert!(last["gone_ms"][1].is_u64(), "{last}");
    }
}
