//! Who may watch a match beside its players, and who finds it.

use plyhouse_protocol::ErrorCode;
use serde_json::{Value, json};

use crate::support::{Player, TestServer, calm, settings, text};

fn to(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

/// What a new match says of who may watch it.
async fn created(player: &mut Player, fields: Value) -> (Value, Value) {
    let mut create = json!({"type": "create", "game": "chess"});
    let fields = fields.as_object().expect("fields").clone();
    create.as_object_mut().expect("an object").extend(fields);
    let shown = player.ask(create).await;
    (shown["watch"].clone(), shown["listed"].clone())
}

#[tokio::test(start_paused = true)]
async fn a_match_tells_who_may_watch_it() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let bob = server.player("bob").await;
    for (fields, watch, listed) in [
        (json!({}), "anyone", true),
        (json!({"listed": false}), "code", false),
        (json!({"listed": false, "watch": "anyone"}), "anyone", false),
        (json!({"watch": "code"}), "code", false),
        (json!({"listed": true, "watch": "nobody"}), "nobody", false),
        (json!({"for": bob.id()}), "code", false),
    ] {
        let told = created(&mut ann, fields.clone()).await;
        assert_eq!(told, (json!(watch), json!(listed)), "{fields}");
    }
    let listed = ann.ask(json!({"type": "list"})).await;
    assert_eq!(listed["total"], 1, "{listed}");
    for (fields, field) in [
        (json!({"watch": "friends"}), "watch"),
        (json!({"rated": true, "watch": "code"}), "rated"),
    ] {
        let mut create = json!({"type": "create", "game": "chess"});
        let fields = fields.as_object().expect("fields").clone();
        create.as_object_mut().expect("an object").extend(fields);
        let refused = ann.ask_anything(create).await;
        assert_eq!(
            (&refused["code"], &refused["field"]),
            (&json!("bad_field"), &json!(field))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_sought_match_is_of_whoever_has_its_code() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    for player in [&mut ann, &mut bob] {
        player.ask(json!({"type": "seek", "game": "chess"})).await;
    }
    let shown = ann.event("match").await;
    assert_eq!(shown["watch"], "code");
    let mut cat = server.player("cat").await;
    let code = text(&shown["code"]);
    assert_eq!(cat.ask(to("watch", &code)).await["watch"], "code");
}

/// All that names a match which is none of one's business says that there is none, and so it is for ever.
#[tokio::test(start_paused = true)]
async fn a_match_that_nobody_may_watch_is_not_there_once_it_has_started() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let id = (ann.create(json!({"game": "chess", "watch": "nobody"}))).await;
    let (mut bob, mut cat, mut dan) = (
        server.player("bob").await,
        server.player("cat").await,
        server.player("dan").await,
    );
    let shown = cat.ask(to("watch", &id)).await;
    let code = text(&shown["code"]);
    assert_eq!(shown["status"], "open");

    bob.ask(to("join", &code)).await;
    let told = cat.next().await;
    assert_eq!(told, json!({"type": "watch_over", "match": id}));
    let seated = ann.event("seated").await;
    assert_eq!((&seated["seq"], &seated["seat"]), (&json!(2), &json!(1)));
    ann.event("started").await;
    ann.play(&id, 0, "e2e4").await;
    bob.event("moved").await;

    let mut none = server.player("none").await;
    for ended in [false, true] {
        if ended {
            ann.ask(to("resign", &id)).await;
            bob.event("ended").await;
        }
        for stranger in [&mut cat, &mut dan] {
            for name in [&id, &code] {
                for request in [
                    to("watch", name),
                    to("join", name),
                    to("leave", name),
                    to("resign", name),
                    json!({"type": "resync", "match": name, "since": 0}),
                    json!({"type": "say", "match": name, "preset": "hello"}),
                    json!({"type": "move", "match": name, "ply": 1, "move": "e7e5"}),
                    json!({"type": "offer", "match": name, "offer": "rematch"}),
                    json!({"type": "decline", "match": name, "offer": "rematch"}),
                    json!({"type": "list", "after": name}),
                ] {
                    let refused = stranger.refused(request.clone()).await;
                    assert_eq!(refused, ErrorCode::UnknownMatch.as_str(), "{request}");
                    crate::support::pass(1).await;
                }
            }
            assert_eq!(stranger.drain().await, Vec::<Value>::new());
        }
        let asked = json!({"type": "history", "player": ann.id()});
        assert_eq!(none.ask(asked).await["rows"], json!([]));
        for name in [&id, &code] {
            let target = name.as_str().into();
            let record = server.server.game_record(target, "pgn", None).await;
            assert!(record.is_err(), "{record:?}");
        }
        assert_eq!(bob.ask(to("watch", &code)).await["watch"], "nobody");
    }
    let mine = ann.ask(json!({"type": "history"})).await;
    assert_eq!(mine["rows"].as_array().map(Vec::len), Some(1), "{mine}");
    for player in [&mut ann, &mut bob] {
        player
            .ask(json!({"type": "offer", "match": id, "offer": "rematch"}))
            .await;
    }
    let heard = ann.drain().await;
    let next = heard.iter().find(|told| told["type"] == "match");
    assert_eq!(next.expect("a rematch")["watch"], "nobody");
}

/// What is not public is found by nobody but its players, though they may all watch it who have its id.
#[tokio::test(start_paused = true)]
async fn others_do_not_find_what_is_not_public() {
    let server = TestServer::start(settings());
    for (watch, found) in [("anyone", 1), ("code", 0)] {
        let create = json!({"game": "chess", "listed": false, "watch": watch});
        let (mut ann, mut bob, id) = server.pair_with(create).await;
        ann.play(&id, 0, "e2e4").await;
        bob.event("moved").await;
        bob.ask(to("resign", &id)).await;
        let mut cat = server.player("cat").await;
        let asked = json!({"type": "history", "player": ann.id()});
        let rows = cat.ask(asked).await["rows"].clone();
        assert_eq!(rows.as_array().map(Vec::len), Some(found), "{watch}");
        let explored = cat
            .ask(json!({"type": "explore", "game": "chess", "moves": []}))
            .await;
        assert_eq!(explored["n"], 1, "{watch}");
        assert_eq!(cat.ask(to("watch", &id)).await["status"], "ended");
        let own = bob.ask(json!({"type": "history"})).await;
        assert_eq!(own["rows"].as_array().map(Vec::len), Some(1), "{watch}");
    }
}
