//! `seats` and `gone_ms` of `presence` never contradict each other, and neither stays out of date.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_store::Store;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::failing::{FailingStore, PANICS};
use crate::support::{Player, TestServer, calm};

/// Asserts that of a running match without open seats a player is there exactly if there is no time left to be gone.
pub(crate) fn assert_consistent(told: &Value) {
    if told["type"] != "presence" {
        return;
    }
    for seat in [0, 1] {
        let is_there = told["seats"][seat] == true;
        assert_eq!(is_there, told["gone_ms"][seat].is_null(), "{told}");
    }
}

/// All presence that a player gets within two seconds.
async fn presence_of(player: &mut Player) -> Vec<Value> {
    sleep(Duration::from_secs(2)).await;
    let mut told = player.drain().await;
    told.retain(|told| told["type"] == "presence");
    told.iter().for_each(assert_consistent);
    told
}

/// Ann, Bob and their match, on a server whose writes the test holds up.
async fn begin(store: &Arc<FailingStore>, create: Value) -> (TestServer, Player, Player, String) {
    let server = TestServer::with_store(calm(), Arc::clone(store) as Arc<dyn Store>);
    let (mut ann, bob, id) = server.pair_with(create).await;
    sleep(Duration::from_secs(1)).await;
    ann.drain().await;
    (server, ann, bob, id)
}

fn creations() -> [Value; 3] {
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

async fn send_move(player: &mut Player, id: &str, m: &str) {
    let play = json!({"type": "move", "match": id, "ply": 0, "move": m});
    player.send(&play.to_string()).await;
}

/// The match handles neither the return of a player nor anything else while it waits for the store.
#[tokio::test(start_paused = true)]
async fn return_while_presence_is_due_is_told() {
    for create in creations() {
        let store = Arc::new(FailingStore::default());
        let (server, mut ann, bob, id) = begin(&store, create.clone()).await;
        let token = bob.token();
        drop(bob);
        sleep(Duration::from_millis(100)).await;
        let closed = store.gate.lock().await;
        send_move(&mut ann, &id, first_move(&create)).await;
        sleep(Duration::from_millis(50)).await;
        let (_bob, _) = server.come_back(&token).await;
        sleep(Duration::from_millis(500)).await;
        drop(closed);
        let told = presence_of(&mut ann).await;
        if let Some(last) = told.last() {
            assert_eq!(last["seats"], json!([true, true]), "{last}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn departure_while_presence_is_due_is_told() {
    for create in creations() {
        let store = Arc::new(FailingStore::default());
        let (server, mut ann, bob, id) = begin(&store, create.clone()).await;
        let mut cat = server.player("cat").await;
        cat.ask(json!({"type": "watch", "match": id})).await;
        let closed = store.gate.lock().await;
        send_move(&mut ann, &id, first_move(&create)).await;
        sleep(Duration::from_millis(50)).await;
        drop(bob);
        sleep(Duration::from_millis(500)).await;
        drop(closed);
        for player in [&mut ann, &mut cat] {
            let told = presence_of(player).await;
            let last = told.last().expect("he is gone");
            assert_eq!(last["seats"], json!([true, false]), "{last}");
            assert!(last["gone_ms"][1].is_u64(), "{last}");
        }
    }
}

/// After the match was read again its followers get a snapshot, which does not say how long somebody may be gone.
#[tokio::test(start_paused = true)]
async fn time_left_is_told_after_the_match_was_read_again() {
    for create in creations() {
        let store = Arc::new(FailingStore::default());
        let (_server, mut ann, bob, id) = begin(&store, create.clone()).await;
        drop(bob);
        assert_eq!(presence_of(&mut ann).await.len(), 1);
        store.set(PANICS);
        send_move(&mut ann, &id, first_move(&create)).await;
        let told = loop {
            let told = ann.next().await;
            if told["type"] == "match" {
                break told;
            }
        };
        assert_eq!(told["seats"][1]["connected"], false, "{told}");
        let told = presence_of(&mut ann).await;
        let last = told.last().expect("he is gone");
        assert!(last["gone_ms"][1].is_u64(), "{last}");
    }
}
