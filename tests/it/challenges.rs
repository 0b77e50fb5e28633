//! Tests of challenges: who receives them, who can accept them and how they end.

use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::support::{
    TestPlayer, TestServer, advance_time, json_string, settings, settings_without_limits,
};

/// Sends a challenge from Ann to Bob. Returns Ann's snapshot of the match.
async fn create_challenge(ann: &mut TestPlayer, bob: &TestPlayer) -> Value {
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let create = json!({"type": "create", "game": "chess", "for": bob.id(), "clock": clock,
        "seats": ["open", "me"], "listed": true});
    let snapshot = ann.request(create).await;
    assert_eq!(snapshot["type"], "match", "{snapshot}");
    snapshot
}

#[tokio::test(start_paused = true)]
async fn challenged_player_is_notified_and_can_join() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let snapshot = create_challenge(&mut ann, &bob).await;
    assert_eq!(snapshot["listed"], false);
    let challenge = bob.expect_event("challenge").await;
    let expected = json!({"type": "challenge", "match": snapshot["match"], "code": snapshot["code"],
        "game": "chess", "clock": {"kind": "fischer", "main_ms": 60000, "increment_ms": 0},
        "rated": false, "seat": 0, "from": {"player": ann.id(), "name": "ann"}});
    assert_eq!(challenge, expected);

    // Only Bob can take the open seat. When he reconnects, the `welcome` message contains the
    // challenge again.
    let join = json!({"type": "join", "match": snapshot["match"]});
    let mut eve = server.connect_player("eve").await;
    assert_eq!(eve.expect_error(join.clone()).await, "seat_taken");
    let (mut bob, welcome) = server.resume_session(&bob.token()).await;
    let mut listed = expected;
    listed.as_object_mut().expect("an object").remove("type");
    assert_eq!(welcome["challenges"], json!([listed]));
    assert!(
        server
            .server
            .metrics_text()
            .contains("plyhouse_challenges 1\n")
    );

    assert_eq!(bob.request(join).await["you"], 0);
    // Bob accepted the challenge himself, so he receives no `challenge_over` message.
    assert_eq!(bob.drain_messages().await, [] as [Value; 0]);
    assert!(
        server
            .server
            .metrics_text()
            .contains("plyhouse_challenges 0\n")
    );
    let (_, welcome) = server.resume_session(&bob.token()).await;
    assert_eq!(welcome["challenges"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn declined_challenge_aborts_match() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let id = json_string(&create_challenge(&mut ann, &bob).await["match"]);
    bob.expect_event("challenge").await;
    let decline = json!({"type": "decline", "match": id, "offer": "challenge"});
    assert_eq!(bob.request(decline.clone()).await["type"], "ok");
    let outcome = ann.expect_event("ended").await["outcome"].clone();
    assert_eq!(
        (&outcome["winner"], &outcome["reason"], &outcome["detail"]),
        (&json!(null), &json!("aborted"), &json!("declined"))
    );
    assert_eq!(bob.drain_messages().await, [] as [Value; 0]);
    assert_eq!(bob.expect_error(decline).await, "nothing_offered");
    let unknown = json!({"type": "decline", "match": "AAAAAA", "offer": "challenge"});
    assert_eq!(bob.expect_error(unknown).await, "unknown_match");
}

#[tokio::test(start_paused = true)]
async fn challenge_ends_when_host_leaves_or_seats_bot() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let left_match = json_string(&create_challenge(&mut ann, &bob).await["match"]);
    let bot_match = json_string(&create_challenge(&mut ann, &bob).await["match"]);
    for _ in 0..2 {
        bob.expect_event("challenge").await;
    }
    ann.request(json!({"type": "leave", "match": left_match}))
        .await;
    assert_eq!(
        bob.expect_event("challenge_over").await["match"],
        left_match
    );
    let bot = json!({"type": "seat", "match": bot_match, "seat": 0, "occupant": {"bot": "easy"}});
    assert_eq!(ann.request(bot).await["type"], "ok");
    assert_eq!(bob.expect_event("challenge_over").await["match"], bot_match);
    // A challenge ends when the player who created it disconnects.
    let abandoned_match = json_string(&create_challenge(&mut ann, &bob).await["match"]);
    bob.expect_event("challenge").await;
    drop(ann);
    assert_eq!(
        bob.expect_event("challenge_over").await["match"],
        abandoned_match
    );
}

#[tokio::test(start_paused = true)]
async fn invalid_challenge_is_refused_with_reason() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let bob = server.connect_player("bob").await;
    let create = |fields: Value| {
        let mut request = json!({"type": "create", "game": "go"});
        for (name, value) in fields.as_object().expect("an object") {
            request[name] = value.clone();
        }
        request
    };
    let unknown_player = json!({"for": "0b9e0000-0000-4000-8000-000000000000"});
    assert_eq!(
        ann.expect_error(create(unknown_player)).await,
        "unknown_player"
    );
    let malformed_id = json!({"for": "bob"});
    assert_eq!(
        ann.expect_error(create(malformed_id)).await,
        "unknown_player"
    );
    let unknown_game = json!({"for": "bob", "game": "ludo"});
    assert_eq!(ann.expect_error(create(unknown_game)).await, "unknown_game");
    let clock = json!({"kind": "move", "move_ms": 60_000});
    let rated = json!({"for": bob.id(), "rated": true, "clock": clock});
    assert_eq!(ann.expect_error(create(rated)).await, "not_registered");
    let self_challenge = json!({"for": ann.id(), "game": "ludo"});
    let answer = ann.request(create(self_challenge)).await;
    assert_eq!(
        (&answer["code"], &answer["field"]),
        (&json!("bad_field"), &json!("for"))
    );
    let seats = json!({"for": bob.id(), "seats": ["open", "open"]});
    assert_eq!(ann.request(create(seats)).await["field"], "for");
}

#[tokio::test(start_paused = true)]
async fn disconnected_guest_receives_challenge_on_return() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let bob = server.connect_player("bob").await;
    let (id, token) = (bob.id().clone(), bob.token());
    drop(bob);
    advance_time(1).await;
    let create = json!({"type": "create", "game": "go", "for": id});
    let snapshot = ann.request(create).await;
    assert_eq!(snapshot["type"], "match");
    let (_, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["resumed"], true);
    let challenge = &welcome["challenges"][0];
    assert_eq!(
        (&challenge["match"], &challenge["clock"]),
        (&snapshot["match"], &json!(null))
    );
}

#[tokio::test(start_paused = true)]
async fn challenges_to_one_player_are_limited_to_twenty() {
    let server = TestServer::start(Settings {
        live_matches_per_player: 100,
        ..settings_without_limits()
    });
    let mut ann = server.connect_player("ann").await;
    let bob = server.connect_player("bob").await;
    for _ in 0..20 {
        create_challenge(&mut ann, &bob).await;
    }
    let create = json!({"type": "create", "game": "go", "for": bob.id()});
    assert_eq!(ann.expect_error(create.clone()).await, "too_many_matches");
    let mut cat = server.connect_player("cat").await;
    assert_eq!(cat.request(create).await["type"], "match");
}
