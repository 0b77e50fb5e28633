//! Two of whom one blocks the other do not meet.

use plyhouse_protocol::ChatMode;
use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::accounts::registered;
use crate::support::{Player, TestServer, calm};

/// A program of this player's, with an account of its own.
pub(crate) async fn program(server: &TestServer, owner: &mut Player, name: &str) -> Player {
    let key = json!({"type": "create_key", "bot": name, "password": crate::accounts::PASSWORD});
    let key = owner.ask(key).await;
    assert_eq!(key["type"], "key", "{key}");
    let mut program = server.connect().await;
    program.hello(json!({"token": key["key"]})).await;
    program
}

fn block(other: &Player, on: bool) -> Value {
    json!({"type": "block", "player": other.id(), "on": on})
}

async fn players(server: &TestServer) -> (Player, Player) {
    (server.player("ann").await, server.player("bob").await)
}

#[tokio::test(start_paused = true)]
async fn a_player_is_told_whom_they_block() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = players(&server).await;
    let list = json!({"type": "block"});
    let none = ann.ask(list.clone()).await;
    assert_eq!(
        (&none["type"], &none["players"]),
        (&json!("blocked"), &json!([]))
    );
    let row = json!([{"id": bob.id(), "name": "bob"}]);
    for _ in 0..2 {
        assert_eq!(ann.ask(block(&bob, true)).await["players"], row);
    }
    assert_eq!(ann.ask(list.clone()).await["players"], row);
    assert_eq!(bob.ask(list.clone()).await["players"], json!([]));
    assert_eq!(
        bob.drain().await,
        Vec::<Value>::new(),
        "the other is told nothing"
    );

    let (mut again, _) = server.come_back(&ann.token()).await;
    assert_eq!(again.ask(list).await["players"], row);
    assert_eq!(again.ask(block(&bob, false)).await["players"], json!([]));

    let nobody = json!({"type": "block", "player": "01a20c3b-238c-7b71-be60-2f2534b9d236"});
    assert_eq!(again.refused(nobody).await, "unknown_player");
    let nonsense = json!({"type": "block", "player": "bob"});
    assert_eq!(again.refused(nonsense).await, "unknown_player");
    let oneself = json!({"type": "block", "player": again.id()});
    assert_eq!(again.refused(oneself).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn a_key_blocks_nobody() {
    let server = TestServer::start(calm());
    let (mut ann, bob) = players(&server).await;
    let key = ann.ask(json!({"type": "create_key"})).await["key"].clone();
    let mut program = server.connect().await;
    program.hello(json!({"token": key})).await;
    assert_eq!(program.refused(block(&bob, true)).await, "not_allowed");
    let list = program.ask(json!({"type": "block"})).await;
    assert_eq!(list["players"], json!([]));
}

/// Whoever of the two it is that asks, and whoever of them has blocked the other.
#[tokio::test(start_paused = true)]
async fn who_is_blocked_is_not_met() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = players(&server).await;
    ann.ask(block(&bob, true)).await;
    for _ in 0..2 {
        let id = ann.create(json!({})).await;
        let join = json!({"type": "join", "match": id});
        assert_eq!(bob.refused(join.clone()).await, "not_allowed");
        let watch = json!({"type": "watch", "match": id});
        assert_eq!(bob.ask(watch).await["status"], "open", "it may be watched");
        let bots = json!({"seats": [{"bot": "easy"}, "open"]});
        let hosted = ann.create(bots).await;
        let hosted = json!({"type": "join", "match": hosted});
        assert_eq!(bob.refused(hosted).await, "not_allowed");
        let challenge = json!({"type": "create", "game": "chess", "for": ann.id()});
        assert_eq!(bob.refused(challenge).await, "not_allowed");

        let seek = json!({"type": "seek", "game": "othello"});
        for player in [&mut ann, &mut bob] {
            assert_eq!(player.ask(seek.clone()).await["type"], "ok");
            assert!(
                player
                    .drain()
                    .await
                    .iter()
                    .all(|told| told["type"] != "match")
            );
        }
        let mut cat = server.player("cat").await;
        assert_eq!(cat.ask(seek.clone()).await["type"], "ok");
        let paired = ann.event("match").await;
        assert_eq!(paired["game"], "othello");
        assert_eq!(bob.drain().await, Vec::<Value>::new());
        bob.ask(json!({"type": "unseek"})).await;

        let mut dan = server.player("dan").await;
        assert_eq!(dan.ask(join).await["status"], "running");
        std::mem::swap(&mut ann, &mut bob);
    }
}

/// Nor by a program of their own: not by one that was there, not by one that is made after that.
#[tokio::test(start_paused = true)]
async fn who_is_blocked_is_not_met_by_a_program_of_theirs() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    let mut randy = program(&server, &mut bob, "randy").await;
    ann.ask(block(&bob, true)).await;
    let mut later = program(&server, &mut bob, "rita").await;
    let hosted = later.create(json!({})).await;
    let join = |id: &str| json!({"type": "join", "match": id});
    assert_eq!(ann.refused(join(&hosted)).await, "not_allowed");
    let id = ann.create(json!({})).await;
    let challenge = json!({"type": "create", "game": "chess", "for": ann.id()});
    let seek = json!({"type": "seek", "game": "othello"});
    ann.ask(seek.clone()).await;
    for program in [&mut randy, &mut later] {
        assert_eq!(program.refused(join(&id)).await, "not_allowed");
        assert_eq!(program.refused(challenge.clone()).await, "not_allowed");
        assert_eq!(program.ask(seek.clone()).await["type"], "ok");
        assert_eq!(ann.drain().await, Vec::<Value>::new());
        program.ask(json!({"type": "unseek"})).await;
    }
    // To block one's program is to block its owner.
    ann.ask(block(&bob, false)).await;
    ann.ask(block(&randy, true)).await;
    assert_eq!(bob.refused(join(&id)).await, "not_allowed");
    assert_eq!(later.refused(join(&id)).await, "not_allowed");
    ann.ask(block(&randy, false)).await;
    assert_eq!(randy.ask(join(&id)).await["type"], "match");
}

/// What is played goes on, and ends the series.
#[tokio::test(start_paused = true)]
async fn there_is_no_rematch_of_who_is_blocked() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob, id) = server.pair().await;
    bob.ask(block(&ann, true)).await;
    assert_eq!(ann.play(&id, 0, "b2").await["type"], "ok");
    bob.ask(json!({"type": "resign", "match": id})).await;
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.refused(offer.clone()).await, "not_allowed");
    }
    bob.ask(block(&ann, false)).await;
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.ask(offer.clone()).await["type"], "ok");
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_blocked_is_not_heard() {
    let server = TestServer::start(Settings {
        chat: ChatMode::Text,
        ..calm()
    });
    let (mut ann, mut bob, id) = server.pair().await;
    let say = |text: &str| json!({"type": "say", "match": id, "text": text});
    let watch = json!({"type": "watch", "match": id});
    ann.ask(say("before")).await;
    assert_eq!(bob.event("said").await["text"], "before");
    bob.ask(block(&ann, true)).await;
    ann.ask(say("to bob")).await;
    bob.ask(say("to ann")).await;
    for (player, own) in [(&mut ann, 2), (&mut bob, 1)] {
        let heard = player.drain().await;
        let said: Vec<&Value> = heard.iter().filter(|told| told["type"] == "said").collect();
        assert!(
            said.iter()
                .all(|told| told["name"] == player.welcome["player"]["name"])
        );
        let shown = player.ask(watch.clone()).await;
        assert_eq!(shown["said"].as_array().map(Vec::len), Some(own), "{shown}");
    }
    // Whoever comes back does not hear of it either.
    let (mut again, _) = server.come_back(&bob.token()).await;
    assert_eq!(again.event("match").await["said"][0]["text"], "to ann");
    again.ask(block(&ann, false)).await;
    let shown = again.ask(watch).await;
    assert_eq!(shown["said"].as_array().map(Vec::len), Some(3));
}
