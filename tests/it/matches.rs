//! A match from its creation to its end, as its players and spectators see it.

use serde_json::{Value, json};

use crate::support::{TestServer, pass, settings};

#[tokio::test(start_paused = true)]
#[allow(clippy::too_many_lines, reason = "a match, told in its order")]
async fn two_people_play_and_a_third_watches() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let created = ann
        .ask(json!({"type": "create", "game": "tic-tac-toe"}))
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

    let mut cat = server.player("cat").await;
    let watched = cat
        .ask(json!({"type": "watch", "match": code.to_lowercase()}))
        .await;
    assert_eq!(
        (&watched["you"], &watched["spectators"]),
        (&json!(null), &json!(1))
    );

    let mut bob = server.player("bob").await;
    let joined = bob.ask(json!({"type": "join", "match": code})).await;
    assert_eq!((&joined["you"], &joined["seq"]), (&json!(1), &json!(3)));
    assert_eq!(
        (&joined["status"], &joined["turn"]),
        (&json!("running"), &json!(0))
    );
    assert_eq!(joined["legal"].as_array().unwrap().len(), 9);
    for player in [&mut ann, &mut cat] {
        assert_eq!(
            player.event("seated").await,
            json!({"type": "seated", "match": id, "seq": 2, "seat": 1, "occupant": "player",
                   "player": bob.id(), "name": "bob", "connected": true})
        );
        assert_eq!(
            player.event("started").await,
            json!({"type": "started", "match": id, "seq": 3, "position": ".../.../...", "ply": 0,
                "turn": 0, "legal": ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"],
                "patience_ms": 60000})
        );
    }

    let game = ["a1", "a2", "b1", "b2", "c1"];
    for (ply, m) in game.iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        let answer = mover.play(id, ply as u64, m).await;
        assert_eq!(
            (&answer["type"], &answer["seq"]),
            (&json!("ok"), &json!(4 + ply))
        );
        let told = ann.event("moved").await;
        assert_eq!(
            (&told["ply"], &told["seat"], &told["move"]),
            (&json!(ply), &json!(ply % 2), &json!(m))
        );
        assert_eq!(bob.event("moved").await, told);
        assert_eq!(cat.event("moved").await, told);
        if ply == 4 {
            assert_eq!((&told["turn"], &told["legal"]), (&json!(null), &json!([])));
            assert_eq!(told["position"], ".../oo./xxx");
        }
    }
    let outcome = json!({"winner": 0, "reason": "rules", "line": ["a1", "b1", "c1"]});
    for player in [&mut ann, &mut bob, &mut cat] {
        let ended = player.event("ended").await;
        assert_eq!((&ended["seq"], &ended["outcome"]), (&json!(9), &outcome));
    }
    let after = cat.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        (&after["status"], &after["outcome"]),
        (&json!("ended"), &outcome)
    );
    assert_eq!(
        (&after["turn"], &after["moves"]),
        (&json!(null), &json!(game))
    );
}

/// A game whose moves are no squares: discs fall, and what is told of squares is the line.
#[tokio::test(start_paused = true)]
async fn two_people_play_connect_four() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let id = ann.create(json!({"game": "connect-four"})).await;
    let joined = bob.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(joined["seats"][0]["side"], "red");
    assert_eq!(joined["seats"][1]["side"], "yellow");
    assert_eq!(joined["legal"], json!(["1", "2", "3", "4", "5", "6", "7"]));

    let game = ["4", "4", "4", "4", "4", "4", "3", "3", "5", "5", "2"];
    for (ply, m) in game.iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        if ply == 6 {
            let full = json!({"type": "move", "match": id, "ply": ply, "move": "4"});
            let full = mover.ask(full).await;
            assert_eq!(full["code"], "illegal_move");
            assert_eq!(full["message"], "4 is full");
            for unreadable in ["0", "8", "d1", "d", "44"] {
                let m = json!({"type": "move", "match": id, "ply": ply, "move": unreadable});
                assert_eq!(mover.refused(m).await, "unreadable_move", "{unreadable}");
            }
        }
        assert_eq!(mover.play(&id, ply as u64, m).await["type"], "ok");
        let told = bob.event("moved").await;
        let legal = match ply {
            0..5 => json!(["1", "2", "3", "4", "5", "6", "7"]),
            5..10 => json!(["1", "2", "3", "5", "6", "7"]),
            _ => json!([]),
        };
        assert_eq!((&told["move"], &told["legal"]), (&json!(m), &legal));
    }
    let ended = bob.event("ended").await;
    let outcome = json!({"winner": 0, "reason": "rules", "line": ["b1", "c1", "d1", "e1"]});
    assert_eq!(ended["outcome"], outcome);
    let after = ann.ask(json!({"type": "watch", "match": id})).await;
    let position = "...y.../...r.../...y.../...r.../..yyy../.rrrr..";
    assert_eq!(after["position"], position);
    assert_eq!(
        (&after["moves"], &after["outcome"]),
        (&json!(game), &outcome)
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_request_causes_comes_before_its_answer() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.pair().await;
    for (ply, m) in ["a1", "a2", "b1", "b2"].iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play(&id, ply as u64, m).await;
    }
    let mut kinds: Vec<Value> = ann
        .drain()
        .await
        .iter()
        .map(|m| m["type"].clone())
        .collect();
    kinds.retain(|kind| kind != "presence");
    assert_eq!(kinds, ["moved"; 4]);
    ann.send(&json!({"type": "move", "id": 99, "match": id, "ply": 4, "move": "c1"}).to_string())
        .await;
    let told = [ann.next().await, ann.next().await, ann.next().await];
    assert_eq!(told.map(|m| m["type"].clone()), ["moved", "ended", "ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_move_sent_again_is_answered_again_and_played_once() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.pair().await;
    assert_eq!(ann.play(&id, 0, "b2").await["seq"], 4);
    assert_eq!(ann.play(&id, 0, " B2 ").await["seq"], 4);
    bob.play(&id, 1, "a1").await;
    assert_eq!(ann.play(&id, 0, "b2").await["seq"], 4);
    ann.ask(json!({"type": "resign", "match": id})).await;
    assert_eq!(ann.play(&id, 0, "b2").await["seq"], 4);
    let refused = |m| json!({"type": "move", "match": id, "ply": 0, "move": m});
    assert_eq!(ann.refused(refused("c3")).await, "match_ended");
    assert_eq!(bob.refused(refused("b2")).await, "match_ended");
    let moves = bob.drain().await;
    assert_eq!(moves.iter().filter(|m| m["type"] == "moved").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_move_says_why_in_order_and_changes_nothing() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let open = ann.create(json!({})).await;
    let m =
        |id: &str, ply: u64, m: &str| json!({"type": "move", "match": id, "ply": ply, "move": m});
    assert_eq!(ann.refused(m("K7QM2P", 7, "zz")).await, "unknown_match");
    assert_eq!(ann.refused(m(&open, 7, "zz")).await, "match_not_started");
    let (mut ann, mut bob, id) = server.pair().await;
    let mut cat = server.player("cat").await;
    assert_eq!(cat.refused(m(&id, 7, "zz")).await, "not_seated");
    let stale = bob.ask(m(&id, 7, "zz")).await;
    assert_eq!(
        (&stale["code"], &stale["expected"]),
        (&json!("stale_ply"), &json!(0))
    );
    assert_eq!(bob.refused(m(&id, 0, "zz")).await, "not_your_turn");
    for unreadable in ["zz", "d4", "", "b2b2", "\u{1f600}", &"b".repeat(5000)] {
        assert_eq!(ann.refused(m(&id, 0, unreadable)).await, "unreadable_move");
    }
    ann.play(&id, 0, "b2").await;
    let illegal = bob.ask(m(&id, 1, "b2")).await;
    assert_eq!(
        (&illegal["code"], &illegal["retryable"]),
        (&json!("illegal_move"), &json!(false))
    );
    assert_eq!(illegal["message"], "b2 is already taken");
    let snapshot = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        (&snapshot["seq"], &snapshot["moves"]),
        (&json!(4), &json!(["b2"]))
    );
}

#[tokio::test(start_paused = true)]
async fn resigning_gives_the_other_seat_the_win() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let resign = |id: &str| json!({"type": "resign", "match": id});
    let open = ann.create(json!({})).await;
    assert_eq!(ann.refused(resign(&open)).await, "match_not_started");
    assert_eq!(ann.refused(resign("no such match")).await, "unknown_match");
    let (mut ann, mut bob, id) = server.pair().await;
    assert_eq!(
        server.player("cat").await.refused(resign(&id)).await,
        "not_seated"
    );
    assert_eq!(ann.ask(resign(&id)).await["type"], "ok");
    let outcome = json!({"winner": 1, "reason": "resignation"});
    assert_eq!(bob.event("ended").await["outcome"], outcome);
    assert_eq!(bob.refused(resign(&id)).await, "match_ended");
}

#[tokio::test(start_paused = true)]
async fn seats_are_taken_as_asked() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut bob = server.player("bob").await;
    let join = |id: &str, seat: Value| json!({"type": "join", "match": id, "seat": seat});
    let id = ann.create(json!({"seats": ["open", "open"]})).await;
    let joined = ann.ask(join(&id, json!(1))).await;
    assert_eq!(
        (&joined["you"], &joined["status"]),
        (&json!(1), &json!("open"))
    );
    // The host followed already, so its own seat was told as an event before the answer.
    assert_eq!(ann.event("seated").await["seat"], 1);
    assert_eq!(ann.refused(join(&id, json!(null))).await, "already_seated");
    assert_eq!(bob.refused(join(&id, json!(1))).await, "seat_taken");
    assert_eq!(bob.ask(join(&id, json!(null))).await["you"], 0);
    assert_eq!(
        server
            .player("cat")
            .await
            .refused(join(&id, json!(null)))
            .await,
        "seat_taken"
    );
    assert_eq!(bob.refused(join("2", json!(null))).await, "unknown_match");
    ann.ask(json!({"type": "resign", "match": id})).await;
    assert_eq!(
        server
            .player("dan")
            .await
            .refused(join(&id, json!(null)))
            .await,
        "match_ended"
    );
}

#[tokio::test(start_paused = true)]
async fn shuffled_seats_differ() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut seats = Vec::new();
    for _ in 0..12 {
        let id = ann
            .create(json!({"seats": ["me", "open"], "shuffle": true}))
            .await;
        let snapshot = ann.ask(json!({"type": "watch", "match": id})).await;
        seats.push(snapshot["you"].as_u64().unwrap());
        ann.ask(json!({"type": "leave", "match": id})).await;
    }
    assert!(seats.contains(&0) && seats.contains(&1), "{seats:?}");
}

#[tokio::test(start_paused = true)]
async fn leaving() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut bob = server.player("bob").await;
    let leave = |id: &str| json!({"type": "leave", "match": id});
    assert_eq!(ann.refused(leave("no such match")).await, "unknown_match");

    // A player vacates the seat of an open match; it is the last that the leaver hears of it.
    let id = ann.create(json!({"seats": ["open", "open"]})).await;
    bob.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(bob.ask(leave(&id)).await["type"], "ok");
    assert_eq!(bob.event("seated").await["occupant"], "open");
    assert_eq!(ann.event("seated").await["occupant"], "player");
    let vacated = ann.event("seated").await;
    assert_eq!(
        vacated,
        json!({"type": "seated", "match": id, "seq": 2, "seat": 0, "occupant": "open"})
    );
    assert_eq!(
        bob.ask(leave(&id)).await["type"],
        "ok",
        "who does not follow may leave"
    );

    // The host ends an open match, by one event.
    assert_eq!(ann.ask(leave(&id)).await["type"], "ok");
    let ended = ann.event("ended").await;
    assert_eq!(
        (&ended["seq"], &ended["outcome"]["reason"]),
        (&json!(3), &json!("aborted"))
    );
    assert_eq!(ended["outcome"]["winner"], json!(null));
    assert!(
        bob.drain()
            .await
            .iter()
            .all(|message| message["type"] == "presence")
    );

    // Nobody leaves a running match from a seat; after its end anybody does.
    let (mut ann, mut bob, id) = server.pair().await;
    assert_eq!(ann.refused(leave(&id)).await, "match_running");
    ann.ask(json!({"type": "resign", "match": id})).await;
    assert_eq!(bob.ask(leave(&id)).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn the_host_seats_and_removes_bots() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut bob = server.player("bob").await;
    let seat = |id: &str, seat: u64, occupant: Value| json!({"type": "seat", "match": id, "seat": seat, "occupant": occupant});
    let hard = || json!({"bot": "hard"});
    let id = ann.create(json!({"seats": ["open", "open"]})).await;
    assert_eq!(ann.refused(seat("x", 0, hard())).await, "unknown_match");
    assert_eq!(
        bob.refused(seat(&id, 0, json!({"bot": "godlike"}))).await,
        "unknown_level"
    );
    assert_eq!(bob.refused(seat(&id, 0, hard())).await, "not_host");
    assert_eq!(ann.ask(seat(&id, 0, hard())).await["type"], "ok");
    let seated = ann.event("seated").await;
    assert_eq!(
        (&seated["occupant"], &seated["level"]),
        (&json!("bot"), &json!("hard"))
    );
    assert_eq!(ann.refused(seat(&id, 0, hard())).await, "seat_taken");
    assert_eq!(ann.ask(seat(&id, 0, json!("open"))).await["type"], "ok");
    assert_eq!(ann.event("seated").await["occupant"], "open");
    bob.ask(json!({"type": "join", "match": id, "seat": 0}))
        .await;
    assert_eq!(ann.refused(seat(&id, 0, json!("open"))).await, "seat_taken");
    assert_eq!(ann.ask(seat(&id, 1, hard())).await["type"], "ok");
    assert_eq!(ann.refused(seat(&id, 1, hard())).await, "match_running");
    bob.ask(json!({"type": "resign", "match": id})).await;
    assert_eq!(ann.refused(seat(&id, 1, hard())).await, "match_ended");
}

#[tokio::test(start_paused = true)]
async fn presence_tells_who_is_there() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = server.pair().await;
    let mut cat = server.player("cat").await;
    cat.ask(json!({"type": "watch", "match": id})).await;
    ann.presence(json!([true, true]), 1).await;
    let token = bob.token();
    drop(bob);
    ann.presence(json!([true, false]), 1).await;
    cat.presence(json!([true, false]), 1).await;
    let (_bob, _) = server.come_back(&token).await;
    ann.presence(json!([true, true]), 1).await;
    cat.ask(json!({"type": "leave", "match": id})).await;
    ann.presence(json!([true, true]), 0).await;
}

/// A snapshot that was given while somebody was away for a moment is set right.
#[tokio::test(start_paused = true)]
async fn whoever_was_told_of_an_absence_is_told_of_its_end() {
    let server = TestServer::start(settings());
    let (_ann, bob, id) = server.pair().await;
    let mut cat = server.player("cat").await;
    cat.ask(json!({"type": "watch", "match": id})).await;
    pass(1).await;
    cat.drain().await;
    let token = bob.token();
    drop(bob);
    let away = loop {
        let snapshot = cat.ask(json!({"type": "watch", "match": id})).await;
        if snapshot["seats"][1]["connected"] == false {
            break cat.drain().await;
        }
    };
    assert_eq!(
        away,
        [] as [Value; 0],
        "the absence itself was not told yet"
    );
    let (_bob, _) = server.come_back(&token).await;
    cat.presence(json!([true, true]), 1).await;
}

/// What a change of seats has told of who is there is set right as well.
#[tokio::test(start_paused = true)]
async fn who_sits_down_and_goes_at_once_is_told_to_be_away() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut bob = server.player("bob").await;
    let id = ann.create(json!({"seats": ["open", "open"]})).await;
    let join = json!({"type": "join", "match": id, "seat": 1});
    bob.ask(join.clone()).await;
    ann.event("seated").await;
    let token = bob.token();
    drop(bob);
    ann.presence(json!([null, false]), 1).await;
    let (mut bob, _) = server.come_back(&token).await;
    bob.ask(json!({"type": "leave", "match": id})).await;
    bob.ask(join).await;
    drop(bob);
    assert_eq!(ann.event("seated").await["occupant"], "open");
    assert_eq!(ann.event("seated").await["connected"], true);
    ann.presence(json!([null, false]), 1).await;
}

/// An ended match can be asked for while the server has it in memory, and then as long as the store has it.
#[tokio::test(start_paused = true)]
async fn an_ended_match_can_be_asked_for() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.pair().await;
    let code = ann.ask(json!({"type": "watch", "match": id})).await["code"].clone();
    ann.ask(json!({"type": "resign", "match": id})).await;
    for seconds in [599, 2] {
        pass(seconds).await;
        let mut cat = server.player("cat").await;
        for name in [json!(id), code.clone()] {
            let ended = cat.ask(json!({"type": "watch", "match": name})).await;
            assert_eq!(ended["status"], "ended");
        }
    }
}
