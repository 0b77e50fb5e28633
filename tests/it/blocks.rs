//! Two of whom one blocks the other do not meet.

use plyhouse_protocol::ChatMode;
use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::accounts::registered;
use crate::support::{TestPlayer, TestServer, settings_without_pings};

/// A program of this player's, with an account of its own.
pub(crate) async fn program(server: &TestServer, owner: &mut TestPlayer, name: &str) -> TestPlayer {
    let key = json!({"type": "create_key", "bot": name, "password": crate::accounts::PASSWORD});
    let key = owner.request(key).await;
    assert_eq!(key["type"], "key", "{key}");
    let mut program = server.connect().await;
    program.send_hello(json!({"token": key["key"]})).await;
    program
}

fn block(other: &TestPlayer, on: bool) -> Value {
    json!({"type": "block", "player": other.id(), "on": on})
}

async fn players(server: &TestServer) -> (TestPlayer, TestPlayer) {
    (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    )
}

#[tokio::test(start_paused = true)]
async fn a_player_is_told_whom_they_block() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = players(&server).await;
    let list = json!({"type": "block"});
    let none = ann.request(list.clone()).await;
    assert_eq!(
        (&none["type"], &none["players"]),
        (&json!("blocked"), &json!([]))
    );
    let row = json!([{"id": bob.id(), "name": "bob"}]);
    for _ in 0..2 {
        assert_eq!(ann.request(block(&bob, true)).await["players"], row);
    }
    assert_eq!(ann.request(list.clone()).await["players"], row);
    assert_eq!(bob.request(list.clone()).await["players"], json!([]));
    assert_eq!(
        bob.drain_messages().await,
        Vec::<Value>::new(),
        "the other is told nothing"
    );

    let (mut again, _) = server.resume_session(&ann.token()).await;
    assert_eq!(again.request(list).await["players"], row);
    assert_eq!(
        again.request(block(&bob, false)).await["players"],
        json!([])
    );

    let nobody = json!({"type": "block", "player": "01a20c3b-238c-7b71-be60-2f2534b9d236"});
    assert_eq!(again.expect_error(nobody).await, "unknown_player");
    let nonsense = json!({"type": "block", "player": "bob"});
    assert_eq!(again.expect_error(nonsense).await, "unknown_player");
    let oneself = json!({"type": "block", "player": again.id()});
    assert_eq!(again.expect_error(oneself).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn a_key_blocks_nobody() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, bob) = players(&server).await;
    let key = ann.request(json!({"type": "create_key"})).await["key"].clone();
    let mut program = server.connect().await;
    program.send_hello(json!({"token": key})).await;
    assert_eq!(program.expect_error(block(&bob, true)).await, "not_allowed");
    let list = program.request(json!({"type": "block"})).await;
    assert_eq!(list["players"], json!([]));
}

/// Whoever of the two it is that asks, and whoever of them has blocked the other.
#[tokio::test(start_paused = true)]
async fn who_is_blocked_is_not_met() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = players(&server).await;
    ann.request(block(&bob, true)).await;
    for _ in 0..2 {
        let id = ann.create_match(json!({})).await;
        let join = json!({"type": "join", "match": id});
        assert_eq!(bob.expect_error(join.clone()).await, "not_allowed");
        let watch = json!({"type": "watch", "match": id});
        assert_eq!(
            bob.request(watch).await["status"],
            "open",
            "it may be watched"
        );
        let bots = json!({"seats": [{"bot": "easy"}, "open"]});
        let hosted = ann.create_match(bots).await;
        let hosted = json!({"type": "join", "match": hosted});
        assert_eq!(bob.expect_error(hosted).await, "not_allowed");
        let challenge = json!({"type": "create", "game": "chess", "for": ann.id()});
        assert_eq!(bob.expect_error(challenge).await, "not_allowed");

        let seek = json!({"type": "seek", "game": "othello"});
        for player in [&mut ann, &mut bob] {
            assert_eq!(player.request(seek.clone()).await["type"], "ok");
            assert!(
                player
                    .drain_messages()
                    .await
                    .iter()
                    .all(|told| told["type"] != "match")
            );
        }
        let mut cat = server.connect_player("cat").await;
        assert_eq!(cat.request(seek.clone()).await["type"], "ok");
        let paired = ann.expect_event("match").await;
        assert_eq!(paired["game"], "othello");
        assert_eq!(bob.drain_messages().await, Vec::<Value>::new());
        bob.request(json!({"type": "unseek"})).await;

        let mut dan = server.connect_player("dan").await;
        assert_eq!(dan.request(join).await["status"], "running");
        std::mem::swap(&mut ann, &mut bob);
    }
}

/// Nor by a program of their own: not by one that was there, not by one that is made after that.
#[tokio::test(start_paused = true)]
async fn who_is_blocked_is_not_met_by_a_program_of_theirs() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    let mut randy = program(&server, &mut bob, "randy").await;
    ann.request(block(&bob, true)).await;
    let mut later = program(&server, &mut bob, "rita").await;
    let hosted = later.create_match(json!({})).await;
    let join = |id: &str| json!({"type": "join", "match": id});
    assert_eq!(ann.expect_error(join(&hosted)).await, "not_allowed");
    let id = ann.create_match(json!({})).await;
    let challenge = json!({"type": "create", "game": "chess", "for": ann.id()});
    let seek = json!({"type": "seek", "game": "othello"});
    ann.request(seek.clone()).await;
    for program in [&mut randy, &mut later] {
        assert_eq!(program.expect_error(join(&id)).await, "not_allowed");
        assert_eq!(program.expect_error(challenge.clone()).await, "not_allowed");
        assert_eq!(program.request(seek.clone()).await["type"], "ok");
        assert_eq!(ann.drain_messages().await, Vec::<Value>::new());
        program.request(json!({"type": "unseek"})).await;
    }
    // To block one's program is to block its owner.
    ann.request(block(&bob, false)).await;
    ann.request(block(&randy, true)).await;
    assert_eq!(bob.expect_error(join(&id)).await, "not_allowed");
    assert_eq!(later.expect_error(join(&id)).await, "not_allowed");
    ann.request(block(&randy, false)).await;
    assert_eq!(randy.request(join(&id)).await["type"], "match");
}

/// What is played goes on, and ends the series.
#[tokio::test(start_paused = true)]
async fn there_is_no_rematch_of_who_is_blocked() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match().await;
    bob.request(block(&ann, true)).await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    bob.request(json!({"type": "resign", "match": id})).await;
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.expect_error(offer.clone()).await, "not_allowed");
    }
    bob.request(block(&ann, false)).await;
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.request(offer.clone()).await["type"], "ok");
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_blocked_is_not_heard() {
    let server = TestServer::start(Settings {
        chat: ChatMode::Text,
        ..settings_without_pings()
    });
    let (mut ann, mut bob, id) = server.start_match().await;
    let say = |text: &str| json!({"type": "say", "match": id, "text": text});
    let watch = json!({"type": "watch", "match": id});
    ann.request(say("before")).await;
    assert_eq!(bob.expect_event("said").await["text"], "before");
    bob.request(block(&ann, true)).await;
    ann.request(say("to bob")).await;
    bob.request(say("to ann")).await;
    for (player, own) in [(&mut ann, 2), (&mut bob, 1)] {
        let heard = player.drain_messages().await;
        let said: Vec<&Value> = heard.iter().filter(|told| told["type"] == "said").collect();
        assert!(
            said.iter()
                .all(|told| told["name"] == player.welcome["player"]["name"])
        );
        let shown = player.request(watch.clone()).await;
        assert_eq!(shown["said"].as_array().map(Vec::len), Some(own), "{shown}");
    }
    // Whoever comes back does not hear of it either.
    let (mut again, _) = server.resume_session(&bob.token()).await;
    assert_eq!(
        again.expect_event("match").await["said"][0]["text"],
        "to ann"
    );
    again.request(block(&ann, false)).await;
    let shown = again.request(watch).await;
    assert_eq!(shown["said"].as_array().map(Vec::len), Some(3));
}
