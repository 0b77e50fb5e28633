//! Tests of matches from creation to end, as players and spectators see them.

use serde_json::{Value, json};

use crate::support::{TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
#[allow(clippy::too_many_lines, reason = "a match, told in its order")]
async fn players_and_spectator_receive_complete_match() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let created = ann
        .request(json!({"type": "create", "game": "tic-tac-toe"}))
        .await;
    let (id, code) = (
        created["match"].as_str().unwrap(),
        created["code"].as_str().unwrap(),
    );
    assert_eq!(
        created,
        json!({"type": "match", "re": created["re"], "match": id, "code": code, "seq": 1,
            "game": "tic-tac-toe", "status": "open", "host": ann.id(), "listed": true, "watch": "anyone", "you": 0,
            "seats": [{"side": "x", "occupant": "player", "player": ann.id(), "name": "ann",
                       "connected": true},
                      {"side": "o", "occupant": "open"}],
            "position": ".../.../...", "ply": 0, "turn": null, "moves": [], "legal": [],
            "spectators": 0, "offers": [], "takeback": true, "takebacks": 0, "said": []})
    );

    let mut cat = server.connect_player("cat").await;
    let watched = cat
        .request(json!({"type": "watch", "match": code.to_lowercase()}))
        .await;
    assert_eq!(
        (&watched["you"], &watched["spectators"]),
        (&json!(null), &json!(1))
    );

    let mut bob = server.connect_player("bob").await;
    let joined = bob.request(json!({"type": "join", "match": code})).await;
    assert_eq!((&joined["you"], &joined["seq"]), (&json!(1), &json!(3)));
    assert_eq!(
        (&joined["status"], &joined["turn"]),
        (&json!("running"), &json!(0))
    );
    assert_eq!(joined["legal"].as_array().unwrap().len(), 9);
    for player in [&mut ann, &mut cat] {
        assert_eq!(
            player.expect_event("seated").await,
            json!({"type": "seated", "match": id, "seq": 2, "seat": 1, "occupant": "player",
                   "player": bob.id(), "name": "bob", "connected": true})
        );
        assert_eq!(
            player.expect_event("started").await,
            json!({"type": "started", "match": id, "seq": 3, "position": ".../.../...", "ply": 0,
                "turn": 0, "legal": ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"],
                "patience_ms": 60000})
        );
    }

    let game = ["a1", "a2", "b1", "b2", "c1"];
    for (ply, m) in game.iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        let answer = mover.play_move(id, ply as u64, m).await;
        assert_eq!(
            (&answer["type"], &answer["seq"]),
            (&json!("ok"), &json!(4 + ply))
        );
        let moved = ann.expect_event("moved").await;
        assert_eq!(
            (&moved["ply"], &moved["seat"], &moved["move"]),
            (&json!(ply), &json!(ply % 2), &json!(m))
        );
        assert_eq!(bob.expect_event("moved").await, moved);
        assert_eq!(cat.expect_event("moved").await, moved);
        if ply == 4 {
            assert_eq!(
                (&moved["turn"], &moved["legal"]),
                (&json!(null), &json!([]))
            );
            assert_eq!(moved["position"], ".../oo./xxx");
        }
    }
    let outcome = json!({"winner": 0, "reason": "rules", "line": ["a1", "b1", "c1"]});
    for player in [&mut ann, &mut bob, &mut cat] {
        let ended = player.expect_event("ended").await;
        assert_eq!((&ended["seq"], &ended["outcome"]), (&json!(9), &outcome));
    }
    let after = cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        (&after["status"], &after["outcome"]),
        (&json!("ended"), &outcome)
    );
    assert_eq!(
        (&after["turn"], &after["moves"]),
        (&json!(null), &json!(game))
    );
}

/// In Connect Four, a move is a column number, but the winning line is a list of squares.
#[tokio::test(start_paused = true)]
async fn connect_four_match_ends_with_winning_line() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = ann.create_match(json!({"game": "connect-four"})).await;
    let joined = bob.request(json!({"type": "join", "match": id})).await;
    assert_eq!(joined["seats"][0]["side"], "red");
    assert_eq!(joined["seats"][1]["side"], "yellow");
    assert_eq!(joined["legal"], json!(["1", "2", "3", "4", "5", "6", "7"]));

    let game = ["4", "4", "4", "4", "4", "4", "3", "3", "5", "5", "2"];
    for (ply, m) in game.iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        if ply == 6 {
            let full = json!({"type": "move", "match": id, "ply": ply, "move": "4"});
            let full = mover.request(full).await;
            assert_eq!(full["code"], "illegal_move");
            assert_eq!(full["message"], "4 is full");
            for unreadable in ["0", "8", "d1", "d", "44"] {
                let m = json!({"type": "move", "match": id, "ply": ply, "move": unreadable});
                assert_eq!(
                    mover.expect_error(m).await,
                    "unreadable_move",
                    "{unreadable}"
                );
            }
        }
        assert_eq!(mover.play_move(&id, ply as u64, m).await["type"], "ok");
        let moved = bob.expect_event("moved").await;
        let legal = match ply {
            0..5 => json!(["1", "2", "3", "4", "5", "6", "7"]),
            5..10 => json!(["1", "2", "3", "5", "6", "7"]),
            _ => json!([]),
        };
        assert_eq!((&moved["move"], &moved["legal"]), (&json!(m), &legal));
    }
    let ended = bob.expect_event("ended").await;
    let outcome = json!({"winner": 0, "reason": "rules", "line": ["b1", "c1", "d1", "e1"]});
    assert_eq!(ended["outcome"], outcome);
    let after = ann.request(json!({"type": "watch", "match": id})).await;
    let position = "...y.../...r.../...y.../...r.../..yyy../.rrrr..";
    assert_eq!(after["position"], position);
    assert_eq!(
        (&after["moves"], &after["outcome"]),
        (&json!(game), &outcome)
    );
}

#[tokio::test(start_paused = true)]
async fn events_precede_answer_of_their_request() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    for (ply, m) in ["a1", "a2", "b1", "b2"].iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play_move(&id, ply as u64, m).await;
    }
    let mut kinds: Vec<Value> = ann
        .drain_messages()
        .await
        .iter()
        .map(|m| m["type"].clone())
        .collect();
    kinds.retain(|kind| kind != "presence");
    assert_eq!(kinds, ["moved"; 4]);
    ann.send_text(
        &json!({"type": "move", "id": 99, "match": id, "ply": 4, "move": "c1"}).to_string(),
    )
    .await;
    let messages = [
        ann.next_message().await,
        ann.next_message().await,
        ann.next_message().await,
    ];
    assert_eq!(
        messages.map(|m| m["type"].clone()),
        ["moved", "ended", "ok"]
    );
}

#[tokio::test(start_paused = true)]
async fn repeated_move_is_answered_but_played_once() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    assert_eq!(ann.play_move(&id, 0, " B2 ").await["seq"], 4);
    bob.play_move(&id, 1, "a1").await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    ann.request(json!({"type": "resign", "match": id})).await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    let refused = |m| json!({"type": "move", "match": id, "ply": 0, "move": m});
    assert_eq!(ann.expect_error(refused("c3")).await, "match_ended");
    assert_eq!(bob.expect_error(refused("b2")).await, "match_ended");
    let moves = bob.drain_messages().await;
    assert_eq!(moves.iter().filter(|m| m["type"] == "moved").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn refused_move_reports_first_error_and_changes_nothing() {
    let server = TestServer::start(settings());
    let m =
        |id: &str, ply: u64, m: &str| json!({"type": "move", "match": id, "ply": ply, "move": m});
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut cat = server.connect_player("cat").await;
    assert_eq!(
        cat.expect_error(m("K7QM2P", 7, "zz")).await,
        "unknown_match"
    );
    assert_eq!(cat.expect_error(m(&id, 7, "zz")).await, "not_seated");
    let stale = bob.request(m(&id, 7, "zz")).await;
    assert_eq!(
        (&stale["code"], &stale["expected"]),
        (&json!("stale_ply"), &json!(0))
    );
    for unreadable in ["zz", "", "\u{1f600}", &"b".repeat(5000)] {
        assert_eq!(
            ann.expect_error(m(&id, 0, unreadable)).await,
            "unreadable_move"
        );
    }
    ann.play_move(&id, 0, "b2").await;
    let illegal = bob.request(m(&id, 1, "b2")).await;
    assert_eq!(
        (&illegal["code"], &illegal["retryable"]),
        (&json!("illegal_move"), &json!(false))
    );
    assert_eq!(illegal["message"], "b2 is already taken");
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        (&snapshot["seq"], &snapshot["moves"]),
        (&json!(4), &json!(["b2"]))
    );
}

#[tokio::test(start_paused = true)]
async fn resignation_gives_win_to_opponent() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    let resign = json!({"type": "resign", "match": id});
    assert_eq!(ann.request(resign).await["type"], "ok");
    let outcome = json!({"winner": 1, "reason": "resignation"});
    assert_eq!(bob.expect_event("ended").await["outcome"], outcome);
}

#[tokio::test(start_paused = true)]
async fn join_takes_requested_or_first_open_seat() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let join = |id: &str, seat: Value| json!({"type": "join", "match": id, "seat": seat});
    let id = ann.create_match(json!({"seats": ["open", "open"]})).await;
    let joined = ann.request(join(&id, json!(1))).await;
    assert_eq!(
        (&joined["you"], &joined["status"]),
        (&json!(1), &json!("open"))
    );
    // The host Ann follows the match from its creation, so she receives the `seated` event before
    // the answer to `join`.
    assert_eq!(ann.expect_event("seated").await["seat"], 1);
    assert_eq!(bob.expect_error(join(&id, json!(1))).await, "seat_taken");
    assert_eq!(bob.request(join(&id, json!(null))).await["you"], 0);
    assert_eq!(
        bob.expect_error(join("2", json!(null))).await,
        "unknown_match"
    );
}

#[tokio::test(start_paused = true)]
async fn shuffle_varies_the_creators_seat() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut seats = Vec::new();
    for _ in 0..12 {
        let id = ann
            .create_match(json!({"seats": ["me", "open"], "shuffle": true}))
            .await;
        let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
        seats.push(snapshot["you"].as_u64().unwrap());
        ann.request(json!({"type": "leave", "match": id})).await;
    }
    assert!(seats.contains(&0) && seats.contains(&1), "{seats:?}");
}

#[tokio::test(start_paused = true)]
async fn leave_vacates_seat_or_aborts_but_is_refused_while_running() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let leave = |id: &str| json!({"type": "leave", "match": id});
    assert_eq!(
        ann.expect_error(leave("no such match")).await,
        "unknown_match"
    );

    // A player who leaves an open match vacates the seat and receives no further events.
    let id = ann.create_match(json!({"seats": ["open", "open"]})).await;
    bob.request(json!({"type": "join", "match": id})).await;
    assert_eq!(bob.request(leave(&id)).await["type"], "ok");
    assert_eq!(bob.expect_event("seated").await["occupant"], "open");
    assert_eq!(ann.expect_event("seated").await["occupant"], "player");
    let vacated = ann.expect_event("seated").await;
    assert_eq!(
        vacated,
        json!({"type": "seated", "match": id, "seq": 2, "seat": 0, "occupant": "open"})
    );
    assert_eq!(
        bob.request(leave(&id)).await["type"],
        "ok",
        "leaving without following is allowed"
    );
    let (mut bob, welcome) = server.resume_session(&bob.token()).await;
    assert_eq!(welcome["following"], json!([]));

    // When the host leaves an open match, a single event ends it.
    assert_eq!(ann.request(leave(&id)).await["type"], "ok");
    let ended = ann.expect_event("ended").await;
    assert_eq!(
        (&ended["seq"], &ended["outcome"]["reason"]),
        (&json!(3), &json!("aborted"))
    );
    assert_eq!(ended["outcome"]["winner"], json!(null));
    assert!(
        bob.drain_messages()
            .await
            .iter()
            .all(|message| message["type"] == "presence")
    );

    let (mut ann, _bob, id) = server.start_match().await;
    assert_eq!(ann.expect_error(leave(&id)).await, "match_running");
}

#[tokio::test(start_paused = true)]
async fn host_can_seat_and_remove_bots() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let seat = |id: &str, seat: u64, occupant: Value| json!({"type": "seat", "match": id, "seat": seat, "occupant": occupant});
    let hard = || json!({"bot": "hard"});
    let id = ann.create_match(json!({"seats": ["open", "open"]})).await;
    assert_eq!(
        ann.expect_error(seat("x", 0, hard())).await,
        "unknown_match"
    );
    assert_eq!(
        bob.expect_error(seat(&id, 0, json!({"bot": "godlike"})))
            .await,
        "unknown_level"
    );
    assert_eq!(bob.expect_error(seat(&id, 0, hard())).await, "not_host");
    assert_eq!(ann.request(seat(&id, 0, hard())).await["type"], "ok");
    let seated = ann.expect_event("seated").await;
    assert_eq!(
        (&seated["occupant"], &seated["level"]),
        (&json!("bot"), &json!("hard"))
    );
    assert_eq!(ann.request(seat(&id, 0, json!("open"))).await["type"], "ok");
    assert_eq!(ann.expect_event("seated").await["occupant"], "open");
}

#[tokio::test(start_paused = true)]
async fn presence_reports_connected_players_and_spectators() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = server.start_match().await;
    let mut cat = server.connect_player("cat").await;
    cat.request(json!({"type": "watch", "match": id})).await;
    ann.wait_for_presence(json!([true, true]), 1).await;
    let token = bob.token();
    drop(bob);
    ann.wait_for_presence(json!([true, false]), 1).await;
    cat.wait_for_presence(json!([true, false]), 1).await;
    let (_bob, _) = server.resume_session(&token).await;
    ann.wait_for_presence(json!([true, true]), 1).await;
    cat.request(json!({"type": "leave", "match": id})).await;
    ann.wait_for_presence(json!([true, true]), 0).await;
}

#[tokio::test(start_paused = true)]
async fn snapshot_during_brief_absence_is_corrected_on_return() {
    let server = TestServer::start(settings());
    let (_ann, bob, id) = server.start_match().await;
    let mut cat = server.connect_player("cat").await;
    cat.request(json!({"type": "watch", "match": id})).await;
    advance_time(1).await;
    cat.drain_messages().await;
    let token = bob.token();
    drop(bob);
    let events = loop {
        let snapshot = cat.request(json!({"type": "watch", "match": id})).await;
        if snapshot["seats"][1]["connected"] == false {
            break cat.drain_messages().await;
        }
    };
    assert_eq!(
        events,
        [] as [Value; 0],
        "the absence was not broadcast yet"
    );
    let (_bob, _) = server.resume_session(&token).await;
    cat.wait_for_presence(json!([true, true]), 1).await;
}

/// The `seated` event shows the player as connected. The `presence` event that follows shows the
/// player as absent.
#[tokio::test(start_paused = true)]
async fn player_who_joins_and_disconnects_is_shown_as_absent() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let id = ann.create_match(json!({"seats": ["open", "open"]})).await;
    let join = json!({"type": "join", "match": id, "seat": 1});
    bob.request(join.clone()).await;
    ann.expect_event("seated").await;
    let token = bob.token();
    drop(bob);
    ann.wait_for_presence(json!([null, false]), 1).await;
    let (mut bob, _) = server.resume_session(&token).await;
    bob.request(json!({"type": "leave", "match": id})).await;
    bob.request(join).await;
    drop(bob);
    assert_eq!(ann.expect_event("seated").await["occupant"], "open");
    assert_eq!(ann.expect_event("seated").await["connected"], true);
    ann.wait_for_presence(json!([null, false]), 1).await;
}

#[tokio::test(start_paused = true)]
async fn ended_match_can_be_watched_before_and_after_eviction() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.start_match().await;
    let code = ann.request(json!({"type": "watch", "match": id})).await["code"].clone();
    ann.request(json!({"type": "resign", "match": id})).await;
    for seconds in [599, 2] {
        advance_time(seconds).await;
        let mut cat = server.connect_player("cat").await;
        for name in [json!(id), code.clone()] {
            let ended = cat.request(json!({"type": "watch", "match": name})).await;
            assert_eq!(ended["status"], "ended");
        }
    }
}
