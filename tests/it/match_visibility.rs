//! Tests of match visibility: who can watch a match and who can find it.

use plyhouse_protocol::ErrorCode;
use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, json_string, settings, settings_without_pings};

fn match_request(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

/// Creates a match and returns its `watch` and `listed` fields.
async fn create_and_get_visibility(player: &mut TestPlayer, fields: Value) -> (Value, Value) {
    let mut create = json!({"type": "create", "game": "chess"});
    let fields = fields.as_object().expect("fields").clone();
    create.as_object_mut().expect("an object").extend(fields);
    let shown = player.request(create).await;
    (shown["watch"].clone(), shown["listed"].clone())
}

#[tokio::test(start_paused = true)]
async fn create_options_determine_visibility() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let bob = server.connect_player("bob").await;
    for (fields, watch, listed) in [
        (json!({}), "anyone", true),
        (json!({"listed": false}), "code", false),
        (json!({"listed": false, "watch": "anyone"}), "anyone", false),
        (json!({"watch": "code"}), "code", false),
        (json!({"listed": true, "watch": "nobody"}), "nobody", false),
        (json!({"for": bob.id()}), "code", false),
    ] {
        let visibility = create_and_get_visibility(&mut ann, fields.clone()).await;
        assert_eq!(visibility, (json!(watch), json!(listed)), "{fields}");
    }
    let listed = ann.request(json!({"type": "list"})).await;
    assert_eq!(listed["total"], 1, "{listed}");
    for (fields, field) in [
        (json!({"watch": "friends"}), "watch"),
        (json!({"rated": true, "watch": "code"}), "rated"),
    ] {
        let mut create = json!({"type": "create", "game": "chess"});
        let fields = fields.as_object().expect("fields").clone();
        create.as_object_mut().expect("an object").extend(fields);
        let refused = ann.request_unchecked(create).await;
        assert_eq!(
            (&refused["code"], &refused["field"]),
            (&json!("bad_field"), &json!(field))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn paired_match_is_visible_by_code() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    for player in [&mut ann, &mut bob] {
        player
            .request(json!({"type": "seek", "game": "chess"}))
            .await;
    }
    let shown = ann.expect_event("match").await;
    assert_eq!(shown["watch"], "code");
    let mut cat = server.connect_player("cat").await;
    let code = json_string(&shown["code"]);
    assert_eq!(
        cat.request(match_request("watch", &code)).await["watch"],
        "code"
    );
}

/// The server answers requests by other players as if the match did not exist.
#[tokio::test(start_paused = true)]
async fn private_match_is_unknown_to_others_once_started() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let id = (ann.create_match(json!({"game": "chess", "watch": "nobody"}))).await;
    let (mut bob, mut cat, mut dan) = (
        server.connect_player("bob").await,
        server.connect_player("cat").await,
        server.connect_player("dan").await,
    );
    let shown = cat.request(match_request("watch", &id)).await;
    let code = json_string(&shown["code"]);
    assert_eq!(shown["status"], "open");

    bob.request(match_request("join", &code)).await;
    let watch_over = cat.next_message().await;
    assert_eq!(watch_over, json!({"type": "watch_over", "match": id}));
    let seated = ann.expect_event("seated").await;
    assert_eq!((&seated["seq"], &seated["seat"]), (&json!(2), &json!(1)));
    ann.expect_event("started").await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;

    let mut visitor = server.connect_player("none").await;
    for ended in [false, true] {
        if ended {
            ann.request(match_request("resign", &id)).await;
            bob.expect_event("ended").await;
        }
        for stranger in [&mut cat, &mut dan] {
            for name in [&id, &code] {
                for request in [
                    match_request("watch", name),
                    match_request("join", name),
                    match_request("leave", name),
                    match_request("resign", name),
                    json!({"type": "resync", "match": name, "since": 0}),
                    json!({"type": "say", "match": name, "preset": "hello"}),
                    json!({"type": "move", "match": name, "ply": 1, "move": "e7e5"}),
                    json!({"type": "offer", "match": name, "offer": "rematch"}),
                    json!({"type": "decline", "match": name, "offer": "rematch"}),
                    json!({"type": "list", "after": name}),
                ] {
                    let refused = stranger.expect_error(request.clone()).await;
                    assert_eq!(refused, ErrorCode::UnknownMatch.as_str(), "{request}");
                    crate::support::advance_time(1).await;
                }
            }
            assert_eq!(stranger.drain_messages().await, Vec::<Value>::new());
        }
        let history_request = json!({"type": "history", "player": ann.id()});
        assert_eq!(visitor.request(history_request).await["rows"], json!([]));
        for name in [&id, &code] {
            let target = name.as_str().into();
            let record = server.server.game_record(target, "pgn", None).await;
            assert!(record.is_err(), "{record:?}");
        }
        assert_eq!(
            bob.request(match_request("watch", &code)).await["watch"],
            "nobody"
        );
    }
    let mine = ann.request(json!({"type": "history"})).await;
    assert_eq!(mine["rows"].as_array().map(Vec::len), Some(1), "{mine}");
    for player in [&mut ann, &mut bob] {
        player
            .request(json!({"type": "offer", "match": id, "offer": "rematch"}))
            .await;
    }
    let messages = ann.drain_messages().await;
    let next = messages.iter().find(|message| message["type"] == "match");
    assert_eq!(next.expect("a rematch")["watch"], "nobody");
}

/// The history that other players see omits matches whose `watch` field is `code`. A player who
/// knows the match id can still watch such a match.
#[tokio::test(start_paused = true)]
async fn only_public_matches_appear_in_history_for_others() {
    let server = TestServer::start(settings());
    for (watch, found) in [("anyone", 1), ("code", 0)] {
        let create = json!({"game": "chess", "listed": false, "watch": watch});
        let (mut ann, mut bob, id) = server.start_match_with(create).await;
        ann.play_move(&id, 0, "e2e4").await;
        bob.expect_event("moved").await;
        bob.request(match_request("resign", &id)).await;
        let mut cat = server.connect_player("cat").await;
        let history_request = json!({"type": "history", "player": ann.id()});
        let rows = cat.request(history_request).await["rows"].clone();
        assert_eq!(rows.as_array().map(Vec::len), Some(found), "{watch}");
        let explored = cat
            .request(json!({"type": "explore", "game": "chess", "moves": []}))
            .await;
        assert_eq!(explored["n"], 1, "{watch}");
        assert_eq!(
            cat.request(match_request("watch", &id)).await["status"],
            "ended"
        );
        let own = bob.request(json!({"type": "history"})).await;
        assert_eq!(own["rows"].as_array().map(Vec::len), Some(1), "{watch}");
    }
}
