//! Tests of stand-in bots, which play for absent players until the players rejoin.

use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, advance_time, settings, settings_without_pings};

/// Starts a match between Ann and Bob with stand-in bots for absent players.
async fn start_match_with_stand_in(server: &TestServer) -> (TestPlayer, TestPlayer, String) {
    let terms = json!({"game": "chess", "stand_in": "beginner", "pace_ms": 1000});
    server.start_match_with(terms).await
}

fn join_request(id: &str) -> Value {
    json!({"type": "join", "match": id})
}

#[tokio::test(start_paused = true)]
async fn bot_substitutes_until_player_rejoins() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = start_match_with_stand_in(&server).await;
    ann.play_move(&id, 0, "e2e4").await;
    ann.expect_event("moved").await;
    let (token, bob_id) = (bob.token(), bob.id().clone());
    drop(bob);
    let seated = ann.expect_event("seated").await;
    assert_eq!(
        json!([
            seated["seat"],
            seated["occupant"],
            seated["level"],
            seated["for"]
        ]),
        json!([1, "bot", "beginner", {"player": bob_id, "name": "bob"}])
    );
    assert_eq!(
        ann.expect_event("moved").await["seat"],
        1,
        "the bot continues the match"
    );
    let (mut bob, welcome) = server.resume_session(&token).await;
    assert_eq!(
        welcome["following"],
        json!([{"match": id, "you": null, "stood_in": 1}])
    );
    let shown = bob.expect_event("match").await;
    assert_eq!(
        json!([
            shown["you"],
            shown["stand_in"],
            shown["seats"][1]["for"]["name"]
        ]),
        json!([null, "beginner", "bob"])
    );
    // Bob gets his seat back only by a `join` request. Other players cannot take the seat.
    let play = json!({"type": "move", "match": id, "ply": 3, "move": "e7e5"});
    assert_eq!(bob.expect_error(play).await, "not_seated");
    let mut cat = server.connect_player("cat").await;
    assert_eq!(cat.expect_error(join_request(&id)).await, "seat_taken");
    ann.play_move(&id, 2, "g1f3").await;
    let back = bob.request(join_request(&id)).await;
    assert_eq!(back["you"], 1, "{back}");
    // The stand-in bot was about to move when Bob rejoined the match. It must not make this move.
    advance_time(10).await;
    let messages = ann.drain_messages().await;
    let kinds: Vec<_> = messages
        .iter()
        .map(|message| message["type"].as_str())
        .collect();
    assert!(kinds.contains(&Some("seated")), "{kinds:?}");
    let reply = back["legal"][0].as_str().expect("a legal move").to_owned();
    assert_eq!(bob.play_move(&id, 3, &reply).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn rejoining_player_gets_clock_from_start_of_turn() {
    let server = TestServer::start(settings_without_pings());
    let terms = json!({
        "game": "chess", "stand_in": "beginner", "pace_ms": 10_000,
        "clock": {"kind": "fischer", "main_ms": 600_000, "increment_ms": 0},
    });
    let (mut ann, mut bob, id) = server.start_match_with(terms).await;
    for (ply, m) in [(0, "e2e4"), (1, "e7e5"), (2, "g1f3")] {
        let mover = if ply == 1 { &mut bob } else { &mut ann };
        mover.play_move(&id, ply, m).await;
    }
    advance_time(4).await;
    let leave = json!({"type": "leave", "match": id});
    assert_eq!(bob.request(leave).await["type"], "ok");
    advance_time(4).await;
    let back = bob.request(join_request(&id)).await;
    let times = json!([
        back["you"],
        back["left_ms"],
        back["turn_ms"],
        back["stands"]
    ]);
    assert_eq!(times, json!([1, [600_000, 600_000], 0, false]));
    advance_time(7).await;
    bob.play_move(&id, 3, "b8c6").await;
    ann.drain_messages().await;
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["left_ms"], json!([600_000, 593_000]));
}

#[tokio::test(start_paused = true)]
async fn fourth_leave_is_refused_while_match_runs() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = start_match_with_stand_in(&server).await;
    let leave = json!({"type": "leave", "match": id});
    for _ in 0..3 {
        assert_eq!(bob.request(leave.clone()).await["type"], "ok");
        assert_eq!(ann.expect_event("seated").await["occupant"], "bot");
        let resign = json!({"type": "resign", "match": id});
        assert_eq!(bob.expect_error(resign).await, "not_seated");
        assert_eq!(bob.request(join_request(&id)).await["you"], 1);
        assert_eq!(ann.expect_event("seated").await["occupant"], "player");
        ann.drain_messages().await;
    }
    assert_eq!(bob.expect_error(leave.clone()).await, "match_running");
    // The server also refuses Bob's `leave` request while Ann is disconnected.
    drop(ann);
    advance_time(5).await;
    assert_eq!(bob.expect_error(leave).await, "match_running");
}

#[tokio::test(start_paused = true)]
async fn substituted_seat_survives_restart() {
    use std::sync::Arc;

    use plyhouse_store::{MemoryStore, Store};

    let store = Arc::new(MemoryStore::default());
    let first = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (_ann, mut bob, id) = start_match_with_stand_in(&first).await;
    let leave = json!({"type": "leave", "match": id});
    assert_eq!(bob.request(leave).await["type"], "ok");
    let token = bob.token();
    first.server.stop().await;
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    server
        .server
        .recover()
        .await
        .expect("the store is readable");
    let (mut bob, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["following"][0]["stood_in"], 1);
    assert_eq!(bob.request(join_request(&id)).await["you"], 1);
}
