//! Tests of blocks between players.

use plyhouse_protocol::ChatMode;
use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::accounts::connect_registered_player;
use crate::support::{TestPlayer, TestServer, settings_without_pings};

/// Creates a bot account of `owner` and connects as the bot.
pub(crate) async fn connect_bot_account(
    server: &TestServer,
    owner: &mut TestPlayer,
    name: &str,
) -> TestPlayer {
    let key = json!({"type": "create_key", "bot": name, "password": crate::accounts::PASSWORD});
    let key = owner.request(key).await;
    assert_eq!(key["type"], "key", "{key}");
    let mut program = server.connect().await;
    program.send_hello(json!({"token": key["key"]})).await;
    program
}

fn block_request(other: &TestPlayer, on: bool) -> Value {
    json!({"type": "block", "player": other.id(), "on": on})
}

async fn connect_two_players(server: &TestServer) -> (TestPlayer, TestPlayer) {
    (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    )
}

#[tokio::test(start_paused = true)]
async fn block_list_is_visible_only_to_blocking_player() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = connect_two_players(&server).await;
    let list = json!({"type": "block"});
    let none = ann.request(list.clone()).await;
    assert_eq!(
        (&none["type"], &none["players"]),
        (&json!("blocked"), &json!([]))
    );
    let row = json!([{"id": bob.id(), "name": "bob"}]);
    for _ in 0..2 {
        assert_eq!(ann.request(block_request(&bob, true)).await["players"], row);
    }
    assert_eq!(ann.request(list.clone()).await["players"], row);
    assert_eq!(bob.request(list.clone()).await["players"], json!([]));
    assert_eq!(
        bob.drain_messages().await,
        Vec::<Value>::new(),
        "the blocked player is not notified"
    );

    let (mut resumed, _) = server.resume_session(&ann.token()).await;
    assert_eq!(resumed.request(list).await["players"], row);
    assert_eq!(
        resumed.request(block_request(&bob, false)).await["players"],
        json!([])
    );

    let unknown = json!({"type": "block", "player": "01a20c3b-238c-7b71-be60-2f2534b9d236"});
    assert_eq!(resumed.expect_error(unknown).await, "unknown_player");
    let malformed = json!({"type": "block", "player": "bob"});
    assert_eq!(resumed.expect_error(malformed).await, "unknown_player");
    let self_block = json!({"type": "block", "player": resumed.id()});
    assert_eq!(resumed.expect_error(self_block).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn api_key_cannot_block() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, bob) = connect_two_players(&server).await;
    let key = ann.request(json!({"type": "create_key"})).await["key"].clone();
    let mut program = server.connect().await;
    program.send_hello(json!({"token": key})).await;
    assert_eq!(
        program.expect_error(block_request(&bob, true)).await,
        "not_allowed"
    );
    let list = program.request(json!({"type": "block"})).await;
    assert_eq!(list["players"], json!([]));
}

/// A block works in both directions: neither player can join the other's match, challenge the other
/// or be paired with the other.
#[tokio::test(start_paused = true)]
async fn blocked_players_cannot_join_challenge_or_be_paired() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = connect_two_players(&server).await;
    ann.request(block_request(&bob, true)).await;
    for _ in 0..2 {
        let id = ann.create_match(json!({})).await;
        let join = json!({"type": "join", "match": id});
        assert_eq!(bob.expect_error(join.clone()).await, "not_allowed");
        let watch = json!({"type": "watch", "match": id});
        assert_eq!(
            bob.request(watch).await["status"],
            "open",
            "a blocked player may watch"
        );
        let bots = json!({"seats": [{"bot": "easy"}, "open"]});
        let bot_match = ann.create_match(bots).await;
        let hosted = json!({"type": "join", "match": bot_match});
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
                    .all(|message| message["type"] != "match")
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

/// Covers bot accounts that the blocked player creates before and after the block.
#[tokio::test(start_paused = true)]
async fn block_applies_to_bot_accounts_of_blocked_player() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    let mut randy = connect_bot_account(&server, &mut bob, "randy").await;
    ann.request(block_request(&bob, true)).await;
    let mut rita = connect_bot_account(&server, &mut bob, "rita").await;
    let hosted = rita.create_match(json!({})).await;
    let join = |id: &str| json!({"type": "join", "match": id});
    assert_eq!(ann.expect_error(join(&hosted)).await, "not_allowed");
    let id = ann.create_match(json!({})).await;
    let challenge = json!({"type": "create", "game": "chess", "for": ann.id()});
    let seek = json!({"type": "seek", "game": "othello"});
    ann.request(seek.clone()).await;
    for program in [&mut randy, &mut rita] {
        assert_eq!(program.expect_error(join(&id)).await, "not_allowed");
        assert_eq!(program.expect_error(challenge.clone()).await, "not_allowed");
        assert_eq!(program.request(seek.clone()).await["type"], "ok");
        assert_eq!(ann.drain_messages().await, Vec::<Value>::new());
        program.request(json!({"type": "unseek"})).await;
    }
    // Blocking a bot account also blocks its owner and the owner's other bots.
    ann.request(block_request(&bob, false)).await;
    ann.request(block_request(&randy, true)).await;
    assert_eq!(bob.expect_error(join(&id)).await, "not_allowed");
    assert_eq!(rita.expect_error(join(&id)).await, "not_allowed");
    ann.request(block_request(&randy, false)).await;
    assert_eq!(randy.request(join(&id)).await["type"], "match");
}

#[tokio::test(start_paused = true)]
async fn block_prevents_rematch_but_not_current_match() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match().await;
    bob.request(block_request(&ann, true)).await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    bob.request(json!({"type": "resign", "match": id})).await;
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.expect_error(offer.clone()).await, "not_allowed");
    }
    bob.request(block_request(&ann, false)).await;
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.request(offer.clone()).await["type"], "ok");
    }
}

#[tokio::test(start_paused = true)]
async fn chat_of_blocked_player_is_hidden() {
    let server = TestServer::start(Settings {
        chat: ChatMode::Text,
        ..settings_without_pings()
    });
    let (mut ann, mut bob, id) = server.start_match().await;
    let say = |text: &str| json!({"type": "say", "match": id, "text": text});
    let watch = json!({"type": "watch", "match": id});
    ann.request(say("before")).await;
    assert_eq!(bob.expect_event("said").await["text"], "before");
    bob.request(block_request(&ann, true)).await;
    ann.request(say("to bob")).await;
    bob.request(say("to ann")).await;
    for (player, visible_count) in [(&mut ann, 2), (&mut bob, 1)] {
        let messages = player.drain_messages().await;
        let chat: Vec<&Value> = messages
            .iter()
            .filter(|message| message["type"] == "said")
            .collect();
        assert!(
            chat.iter()
                .all(|message| message["name"] == player.welcome["player"]["name"])
        );
        let snapshot = player.request(watch.clone()).await;
        assert_eq!(
            snapshot["said"].as_array().map(Vec::len),
            Some(visible_count),
            "{snapshot}"
        );
    }
    // When Bob resumes his session, the snapshot still omits the chat messages of the blocked
    // player.
    let (mut resumed, _) = server.resume_session(&bob.token()).await;
    assert_eq!(
        resumed.expect_event("match").await["said"][0]["text"],
        "to ann"
    );
    resumed.request(block_request(&ann, false)).await;
    let snapshot = resumed.request(watch).await;
    assert_eq!(snapshot["said"].as_array().map(Vec::len), Some(3));
}
