//! Tests of the match history, player profiles and the opening explorer.

use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, advance_time, settings_without_pings};

/// Plays a match between Ann and Bob that Bob resigns. Waits one second first, so that each match
/// has a different time.
async fn play_resigned_match(
    ann: &mut TestPlayer,
    bob: &mut TestPlayer,
    create: Value,
    moves: &[&str],
) -> String {
    advance_time(1).await;
    let id = ann.create_match(create).await;
    bob.request(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(moves) {
        let player = if ply % 2 == 0 { &mut *ann } else { &mut *bob };
        assert_eq!(player.play_move(&id, ply, m).await["type"], "ok");
    }
    let resign = json!({"type": "resign", "match": id});
    assert_eq!(bob.request(resign).await["type"], "ok");
    for player in [ann, bob] {
        player.drain_messages().await;
    }
    id
}

/// Requests the match history. Returns the rows and the `more` flag.
async fn request_history(player: &mut TestPlayer, mut query: Value) -> (Vec<Value>, bool) {
    query["type"] = json!("history");
    let reply = player.request(query).await;
    let rows = reply["rows"].as_array().expect("a list").clone();
    (rows, reply["more"].as_bool().expect("a flag"))
}

async fn history_ids(player: &mut TestPlayer, query: Value) -> Vec<Value> {
    let (rows, _) = request_history(player, query).await;
    rows.iter().map(|row| row["match"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn history_lists_ended_matches_by_filter_and_visibility() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut cyd = server.connect_player("cyd").await;
    let listed = json!({"game": "tic-tac-toe"});
    let first = play_resigned_match(&mut ann, &mut bob, listed.clone(), &["b2"]).await;
    let private = json!({"game": "chess", "listed": false, "seats": ["open", "me"]});
    let hidden = play_resigned_match(&mut ann, &mut bob, private, &[]).await;
    let third = play_resigned_match(&mut ann, &mut bob, listed.clone(), &["a1", "b2"]).await;
    // Open matches and matches aborted before their start are not part of the history.
    ann.create_match(listed.clone()).await;
    let never = ann.create_match(listed).await;
    ann.request(json!({"type": "leave", "match": never})).await;

    let (rows, more) = request_history(&mut ann, json!({})).await;
    let ids: Vec<&Value> = rows.iter().map(|row| &row["match"]).collect();
    assert_eq!(
        (ids, more),
        (vec![&json!(third), &json!(hidden), &json!(first)], false)
    );
    assert_eq!(
        rows[0]["seats"],
        json!([
            {"side": "x", "occupant": "player", "player": ann.id(), "name": "ann", "connected": false},
            {"side": "o", "occupant": "player", "player": bob.id(), "name": "bob", "connected": false}
        ])
    );
    assert_eq!(
        rows[0]["outcome"],
        json!({"winner": 0, "reason": "resignation"})
    );
    let fields = ["plies", "rated", "you", "game"].map(|field| rows[0][field].clone());
    assert_eq!(
        fields,
        [json!(2), json!(false), json!(0), json!("tic-tac-toe")]
    );
    let shown = cyd.request(json!({"type": "watch", "match": third})).await;
    assert_eq!(
        (&shown["code"], &shown["outcome"]),
        (&rows[0]["code"], &rows[0]["outcome"])
    );
    assert!(rows[0].get("clock").is_none(), "{}", rows[0]);
    assert_eq!(rows[1]["you"], 1, "the seat of the queried player");

    let of_ann = |more: Value| {
        let mut query = json!({"player": ann.id()});
        query
            .as_object_mut()
            .expect("fields")
            .extend(more.as_object().expect("fields").clone());
        query
    };
    let all = [json!(third), json!(hidden), json!(first)];
    assert_eq!(history_ids(&mut bob, of_ann(json!({}))).await, all);
    assert_eq!(
        history_ids(&mut cyd, of_ann(json!({}))).await,
        [json!(third), json!(first)]
    );
    let page = request_history(&mut bob, of_ann(json!({"limit": 1}))).await;
    assert_eq!((page.0.len(), page.1), (1, true));
    let before = of_ann(json!({"before": hidden, "with": bob.id(), "result": "won"}));
    assert_eq!(history_ids(&mut bob, before).await, [json!(first)]);
    let lost = json!({"player": "me", "result": "lost", "game": "chess"});
    assert_eq!(history_ids(&mut bob, lost).await, [json!(hidden)]);
    assert_eq!(
        history_ids(&mut ann, json!({"with": "bot"})).await,
        [] as [Value; 0]
    );
    assert_eq!(history_ids(&mut cyd, json!({})).await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn history_with_unknown_reference_is_refused() {
    let server = TestServer::start(settings_without_pings());
    let mut cyd = server.connect_player("cyd").await;
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    for (query, code) in [
        (
            json!({"player": unknown_id, "game": "go-fish"}),
            "unknown_player",
        ),
        (json!({"player": "ann"}), "unknown_player"),
        (json!({"with": unknown_id}), "unknown_player"),
        (
            json!({"game": "go-fish", "before": unknown_id}),
            "unknown_game",
        ),
        (json!({"before": unknown_id}), "unknown_match"),
        (json!({"before": "nothing"}), "unknown_match"),
    ] {
        let mut request = query;
        request["type"] = json!("history");
        assert_eq!(cyd.expect_error(request).await, code);
    }
}

#[tokio::test(start_paused = true)]
async fn profile_counts_only_matches_visible_to_the_viewer() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut cyd = server.connect_player("cyd").await;
    let start_ms = cyd.request(json!({"type": "ping"})).await["now_ms"].clone();
    let listed = json!({"game": "tic-tac-toe"});
    let first = play_resigned_match(&mut ann, &mut bob, listed, &["b2"]).await;
    let private = json!({"game": "tic-tac-toe", "listed": false, "seats": ["open", "me"]});
    let hidden = play_resigned_match(&mut ann, &mut bob, private, &[]).await;
    let register = json!({"type": "register", "name": "Ada L"});
    assert_eq!(ann.request(register).await["type"], "ok");

    let named = json!({"type": "profile", "name": "ada-l"});
    let reply = cyd.request(named.clone()).await;
    let player = json!({"id": ann.id(), "name": "Ada L", "account": true});
    assert_eq!(reply["player"], player);
    assert_eq!(reply["ratings"], json!([]));
    let since_ms = reply["since_ms"].as_u64().expect("a time");
    assert!(start_ms.as_u64().is_some_and(|now_ms| since_ms <= now_ms));
    let counts = |profile: &Value| ["won", "lost", "drawn"].map(|field| profile[field].clone());
    assert_eq!(counts(&reply), [json!(1), json!(0), json!(0)]);
    let last = |profile: &Value| {
        let rows = profile["last"].as_array().expect("a list").iter();
        rows.map(|row| row["match"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(last(&reply), [json!(first)]);
    let reply = bob.request(named).await;
    assert_eq!(counts(&reply), [json!(2), json!(0), json!(0)]);
    assert_eq!(last(&reply), [json!(hidden), json!(first)]);
    let reply = bob.request(json!({"type": "profile"})).await;
    assert_eq!(counts(&reply), [json!(0), json!(2), json!(0)]);
    assert_eq!(reply["player"], json!({"id": bob.id(), "name": "bob"}));
    // A player without matches also has a profile.
    let reply = bob
        .request(json!({"type": "profile", "player": cyd.id()}))
        .await;
    assert_eq!(counts(&reply), [json!(0), json!(0), json!(0)]);
    assert!(reply["since_ms"].is_u64(), "{reply}");

    let rename = json!({"type": "rename", "name": "grace"});
    assert_eq!(ann.request(rename).await["type"], "ok");
    for unknown in [
        json!({"name": "Ada L"}), // Ann's former name is reserved, but no player has it.
        json!({"name": "bob"}),   // A guest cannot be found by name.
        json!({"name": "..."}),
        json!({"player": "ada"}),
        json!({"player": "00000000-0000-4000-8000-000000000000"}),
    ] {
        let mut request = unknown;
        request["type"] = json!("profile");
        assert_eq!(cyd.expect_error(request).await, "unknown_player");
    }
}

/// Requests opening statistics. Returns the number of matches with this opening, and the statistics
/// of each next move.
async fn explore_opening(
    player: &mut TestPlayer,
    game: &str,
    moves: &[&str],
) -> (Value, Vec<Value>) {
    let request = json!({"type": "explore", "game": game, "moves": moves});
    let reply = player.request(request).await;
    let moves = reply["moves"].as_array().expect("a list").clone();
    (reply["n"].clone(), moves)
}

#[tokio::test(start_paused = true)]
async fn opening_explorer_merges_symmetric_lines() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let listed = json!({"game": "othello"});
    play_resigned_match(&mut ann, &mut bob, listed.clone(), &["d3", "c5"]).await;
    play_resigned_match(&mut ann, &mut bob, listed.clone(), &["e6", "f4", "e3"]).await;
    let private = json!({"game": "othello", "listed": false});
    play_resigned_match(&mut ann, &mut bob, private, &["d3", "c5", "d6"]).await;
    let aborted = ann.create_match(listed).await;
    bob.request(json!({"type": "join", "match": aborted})).await;
    bob.request(json!({"type": "abort", "match": aborted}))
        .await;

    let two = |m: &str| json!({"move": m, "n": 2, "won": [2, 0], "drawn": 0});
    let one = |m: &str| json!({"move": m, "n": 1, "won": [1, 0], "drawn": 0});
    let check = async |asker: &mut TestPlayer, moves: &[&str], expected: (u64, Vec<Value>)| {
        let reply = explore_opening(asker, "othello", moves).await;
        assert_eq!(reply, (json!(expected.0), expected.1), "{moves:?}");
    };
    check(&mut ann, &[], (2, vec![two("c4")])).await;
    for (first, second, third) in [("d3", "c5", "d6"), ("E6", "f4", "e3"), ("f5", "d6", "c5")] {
        check(&mut ann, &[first], (2, vec![two(second)])).await;
        check(&mut ann, &[first, second], (2, vec![one(third)])).await;
    }
    check(&mut bob, &["d3", "e3"], (0, vec![])).await;
    assert_eq!(
        explore_opening(&mut bob, "chess", &["Nf3"]).await,
        (json!(0), vec![])
    );
    for (game, moves, code) in [
        ("go-fish", json!(["?"]), "unknown_game"),
        ("othello", json!(["?"]), "unreadable_move"),
        ("othello", json!(["a1", "?"]), "illegal_move"),
    ] {
        let request = json!({"type": "explore", "game": game, "moves": moves});
        assert_eq!(bob.expect_error(request).await, code);
    }
}
