//! Bots that take the seats of players who have gone, and give them back.

use serde_json::{Value, json};

use crate::support::{Player, TestServer, calm, pass, settings};

/// Ann and Bob at a game in which a bot takes the place of whoever goes.
async fn guarded(server: &TestServer) -> (Player, Player, String) {
    let terms = json!({"game": "chess", "stand_in": "beginner", "pace_ms": 1000});
    server.pair_with(terms).await
}

fn join(id: &str) -> Value {
    json!({"type": "join", "match": id})
}

#[tokio::test(start_paused = true)]
async fn a_bot_stands_in_until_the_player_comes_back() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = guarded(&server).await;
    ann.play(&id, 0, "e2e4").await;
    ann.event("moved").await;
    let (token, bob_id) = (bob.token(), bob.id().clone());
    drop(bob);
    let seated = ann.event("seated").await;
    assert_eq!(
        json!([
            seated["seat"],
            seated["occupant"],
            seated["level"],
            seated["for"]
        ]),
        json!([1, "bot", "beginner", {"player": bob_id, "name": "bob"}])
    );
    assert_eq!(ann.event("moved").await["seat"], 1, "the bot plays on");
    let (mut bob, welcome) = server.come_back(&token).await;
    assert_eq!(
        welcome["following"],
        json!([{"match": id, "you": null, "stood_in": 1}])
    );
    let shown = bob.event("match").await;
    assert_eq!(
        json!([
            shown["you"],
            shown["stand_in"],
            shown["seats"][1]["for"]["name"]
        ]),
        json!([null, "beginner", "bob"])
    );
    // Being there takes nothing back, and nobody else can.
    let play = json!({"type": "move", "match": id, "ply": 3, "move": "e7e5"});
    assert_eq!(bob.refused(play).await, "not_seated");
    let mut cat = server.player("cat").await;
    assert_eq!(cat.refused(join(&id)).await, "seat_taken");
    ann.play(&id, 2, "g1f3").await;
    let back = bob.ask(join(&id)).await;
    assert_eq!(back["you"], 1, "{back}");
    // What the bot was about to play is dropped.
    pass(10).await;
    let told = ann.drain().await;
    let kinds: Vec<_> = told.iter().map(|told| told["type"].as_str()).collect();
    assert!(kinds.contains(&Some("seated")), "{kinds:?}");
    let reply = back["legal"][0]
        .as_str()
        .expect("it is his turn")
        .to_owned();
    assert_eq!(bob.play(&id, 3, &reply).await["type"], "ok");
}

/// Whoever takes a seat back has the time of the turn again, as it was left at its begin.
#[tokio::test(start_paused = true)]
async fn the_turn_begins_anew_with_the_player() {
    let server = TestServer::start(calm());
    let terms = json!({
        "game": "chess", "stand_in": "beginner", "pace_ms": 10_000,
        "clock": {"kind": "fischer", "main_ms": 600_000, "increment_ms": 0},
    });
    let (mut ann, mut bob, id) = server.pair_with(terms).await;
    for (ply, m) in [(0, "e2e4"), (1, "e7e5"), (2, "g1f3")] {
        let mover = if ply == 1 { &mut bob } else { &mut ann };
        mover.play(&id, ply, m).await;
    }
    pass(4).await;
    let leave = json!({"type": "leave", "match": id});
    assert_eq!(bob.ask(leave).await["type"], "ok");
    pass(4).await;
    let back = bob.ask(join(&id)).await;
    let times = json!([
        back["you"],
        back["left_ms"],
        back["turn_ms"],
        back["stands"]
    ]);
    assert_eq!(times, json!([1, [600_000, 600_000], 0, false]));
    pass(7).await;
    bob.play(&id, 3, "b8c6").await;
    ann.drain().await;
    let shown = ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["left_ms"], json!([600_000, 593_000]));
}

#[tokio::test(start_paused = true)]
async fn who_leaves_three_times_stays_the_fourth() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = guarded(&server).await;
    let leave = json!({"type": "leave", "match": id});
    for _ in 0..3 {
        assert_eq!(bob.ask(leave.clone()).await["type"], "ok");
        assert_eq!(ann.event("seated").await["occupant"], "bot");
        let resign = json!({"type": "resign", "match": id});
        assert_eq!(bob.refused(resign).await, "not_seated");
        assert_eq!(bob.ask(join(&id)).await["you"], 1);
        assert_eq!(ann.event("seated").await["occupant"], "player");
        ann.drain().await;
    }
    assert_eq!(bob.refused(leave.clone()).await, "match_running");
    // Without anybody to play on, nobody stands in.
    drop(ann);
    pass(5).await;
    assert_eq!(bob.refused(leave).await, "match_running");
}

#[tokio::test(start_paused = true)]
async fn stand_ins_wait_for_people() {
    let server = TestServer::start(calm());
    let terms = json!({
        "game": "chess", "stand_in": "beginner",
        "clock": {"kind": "fischer", "main_ms": 600_000, "increment_ms": 0},
    });
    let (mut ann, mut bob, id) = server.pair_with(terms).await;
    let mut cat = server.player("cat").await;
    let leave = json!({"type": "leave", "match": id});
    cat.ask(json!({"type": "watch", "match": id})).await;
    ann.play(&id, 0, "e2e4").await;
    assert_eq!(bob.ask(leave.clone()).await["type"], "ok");
    assert_eq!(ann.ask(leave).await["type"], "ok");
    let mut clock = cat.next().await;
    while clock["type"] != "clock" {
        clock = cat.next().await;
    }
    assert_eq!(clock["stands"], true);
    pass(599).await;
    let told = cat.drain().await;
    let is_presence = |told: &Value| told["type"] == "presence";
    assert!(told.iter().all(is_presence), "{told:?}");
    let ended = cat.event("ended").await;
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "aborted"})
    );
}

#[tokio::test(start_paused = true)]
async fn a_seat_that_is_stood_in_for_outlives_a_restart() {
    use std::sync::Arc;

    use plyhouse_store::{MemoryStore, Store};

    let store = Arc::new(MemoryStore::default());
    let first = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (_ann, mut bob, id) = guarded(&first).await;
    let leave = json!({"type": "leave", "match": id});
    assert_eq!(bob.ask(leave).await["type"], "ok");
    let token = bob.token();
    first.server.stop().await;
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    server.server.recover().await.expect("it can be read");
    let (mut bob, welcome) = server.come_back(&token).await;
    assert_eq!(welcome["following"][0]["stood_in"], 1);
    assert_eq!(bob.ask(join(&id)).await["you"], 1);
}
