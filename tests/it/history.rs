//! What is found of matches that have ended.

use serde_json::{Value, json};

use crate::support::{Player, TestServer, calm, pass};

/// Ann and Bob play a match of tic-tac-toe until one of them resigns, a second after all before.
async fn resigned(ann: &mut Player, bob: &mut Player, create: Value, moves: &[&str]) -> String {
    pass(1).await;
    let id = ann.create(create).await;
    bob.ask(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(moves) {
        let player = if ply % 2 == 0 { &mut *ann } else { &mut *bob };
        assert_eq!(player.play(&id, ply, m).await["type"], "ok");
    }
    let resign = json!({"type": "resign", "match": id});
    assert_eq!(bob.ask(resign).await["type"], "ok");
    for player in [ann, bob] {
        player.drain().await;
    }
    id
}

/// The matches that a player finds, and whether there are more.
async fn history(player: &mut Player, mut wanted: Value) -> (Vec<Value>, bool) {
    wanted["type"] = json!("history");
    let told = player.ask(wanted).await;
    let rows = told["rows"].as_array().expect("a list").clone();
    (rows, told["more"].as_bool().expect("a flag"))
}

async fn found(player: &mut Player, wanted: Value) -> Vec<Value> {
    let (rows, _) = history(player, wanted).await;
    rows.iter().map(|row| row["match"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn ended_matches_are_found_by_their_players() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let mut cyd = server.player("cyd").await;
    let listed = json!({"game": "tic-tac-toe"});
    let first = resigned(&mut ann, &mut bob, listed.clone(), &["b2"]).await;
    let private = json!({"game": "chess", "listed": false, "seats": ["open", "me"]});
    let hidden = resigned(&mut ann, &mut bob, private, &[]).await;
    let third = resigned(&mut ann, &mut bob, listed.clone(), &["a1", "b2"]).await;
    // One that goes on, and one that never begins, are no past.
    ann.create(listed.clone()).await;
    let never = ann.create(listed).await;
    ann.ask(json!({"type": "leave", "match": never})).await;

    let (rows, more) = history(&mut ann, json!({})).await;
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
    let told = ["plies", "rated", "you", "game"].map(|field| rows[0][field].clone());
    assert_eq!(
        told,
        [json!(2), json!(false), json!(0), json!("tic-tac-toe")]
    );
    let shown = cyd.ask(json!({"type": "watch", "match": third})).await;
    assert_eq!(
        (&shown["code"], &shown["outcome"]),
        (&rows[0]["code"], &rows[0]["outcome"])
    );
    assert!(rows[0].get("clock").is_none(), "{}", rows[0]);
    assert_eq!(rows[1]["you"], 1, "by the seat of whoever is asked about");

    let of_ann = |more: Value| {
        let mut wanted = json!({"player": ann.id()});
        wanted
            .as_object_mut()
            .expect("fields")
            .extend(more.as_object().expect("fields").clone());
        wanted
    };
    let all = [json!(third), json!(hidden), json!(first)];
    assert_eq!(found(&mut bob, of_ann(json!({}))).await, all);
    assert_eq!(
        found(&mut cyd, of_ann(json!({}))).await,
        [json!(third), json!(first)]
    );
    let page = history(&mut bob, of_ann(json!({"limit": 1}))).await;
    assert_eq!((page.0.len(), page.1), (1, true));
    let before = of_ann(json!({"before": hidden, "with": bob.id(), "result": "won"}));
    assert_eq!(found(&mut bob, before).await, [json!(first)]);
    let lost = json!({"player": "me", "result": "lost", "game": "chess"});
    assert_eq!(found(&mut bob, lost).await, [json!(hidden)]);
    assert_eq!(
        found(&mut ann, json!({"with": "bot"})).await,
        [] as [Value; 0]
    );
    assert_eq!(found(&mut cyd, json!({})).await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_of_the_past_is_there() {
    let server = TestServer::start(calm());
    let mut cyd = server.player("cyd").await;
    let nobody = "00000000-0000-4000-8000-000000000000";
    for (wanted, code) in [
        (
            json!({"player": nobody, "game": "go-fish"}),
            "unknown_player",
        ),
        (json!({"player": "ann"}), "unknown_player"),
        (json!({"with": nobody}), "unknown_player"),
        (json!({"game": "go-fish", "before": nobody}), "unknown_game"),
        (json!({"before": nobody}), "unknown_match"),
        (json!({"before": "nothing"}), "unknown_match"),
    ] {
        let mut request = wanted;
        request["type"] = json!("history");
        assert_eq!(cyd.refused(request).await, code);
    }
}

#[tokio::test(start_paused = true)]
async fn a_player_is_known_by_what_others_may_see() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let mut cyd = server.player("cyd").await;
    let began = cyd.ask(json!({"type": "ping"})).await["now_ms"].clone();
    let listed = json!({"game": "tic-tac-toe"});
    let first = resigned(&mut ann, &mut bob, listed, &["b2"]).await;
    let private = json!({"game": "tic-tac-toe", "listed": false, "seats": ["open", "me"]});
    let hidden = resigned(&mut ann, &mut bob, private, &[]).await;
    let register = json!({"type": "register", "name": "Ada L"});
    assert_eq!(ann.ask(register).await["type"], "ok");

    let named = json!({"type": "profile", "name": "ada-l"});
    let told = cyd.ask(named.clone()).await;
    let player = json!({"id": ann.id(), "name": "Ada L", "account": true});
    assert_eq!(told["player"], player);
    assert_eq!(told["ratings"], json!([]));
    let since_ms = told["since_ms"].as_u64().expect("a time");
    assert!(began.as_u64().is_some_and(|now_ms| since_ms <= now_ms));
    let counts = |told: &Value| ["won", "lost", "drawn"].map(|field| told[field].clone());
    assert_eq!(counts(&told), [json!(1), json!(0), json!(0)]);
    let last = |told: &Value| {
        let rows = told["last"].as_array().expect("a list").iter();
        rows.map(|row| row["match"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(last(&told), [json!(first)]);
    let told = bob.ask(named).await;
    assert_eq!(counts(&told), [json!(2), json!(0), json!(0)]);
    assert_eq!(last(&told), [json!(hidden), json!(first)]);
    let told = bob.ask(json!({"type": "profile"})).await;
    assert_eq!(counts(&told), [json!(0), json!(2), json!(0)]);
    assert_eq!(told["player"], json!({"id": bob.id(), "name": "bob"}));
    // Who has done nothing is somebody, too.
    let told = bob
        .ask(json!({"type": "profile", "player": cyd.id()}))
        .await;
    assert_eq!(counts(&told), [json!(0), json!(0), json!(0)]);
    assert!(told["since_ms"].is_u64(), "{told}");

    let rename = json!({"type": "rename", "name": "grace"});
    assert_eq!(ann.ask(rename).await["type"], "ok");
    for unknown in [
        json!({"name": "Ada L"}), // Kept for her, and not hers.
        json!({"name": "bob"}),   // A guest's.
        json!({"name": "..."}),
        json!({"player": "ada"}),
        json!({"player": "00000000-0000-4000-8000-000000000000"}),
    ] {
        let mut request = unknown;
        request["type"] = json!("profile");
        assert_eq!(cyd.refused(request).await, "unknown_player");
    }
}

/// How many matches began so, and what their next moves came to.
async fn explored(player: &mut Player, game: &str, moves: &[&str]) -> (Value, Vec<Value>) {
    let request = json!({"type": "explore", "game": game, "moves": moves});
    let told = player.ask(request).await;
    let moves = told["moves"].as_array().expect("a list").clone();
    (told["n"].clone(), moves)
}

#[tokio::test(start_paused = true)]
async fn openings_are_told_as_they_are_asked_for() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let listed = json!({"game": "othello"});
    resigned(&mut ann, &mut bob, listed.clone(), &["d3", "c5"]).await;
    resigned(&mut ann, &mut bob, listed.clone(), &["e6", "f4", "e3"]).await;
    let private = json!({"game": "othello", "listed": false});
    resigned(&mut ann, &mut bob, private, &["d3", "c5", "d6"]).await;
    let aborted = ann.create(listed).await;
    bob.ask(json!({"type": "join", "match": aborted})).await;
    bob.ask(json!({"type": "abort", "match": aborted})).await;

    let two = |m: &str| json!({"move": m, "n": 2, "won": [2, 0], "drawn": 0});
    let one = |m: &str| json!({"move": m, "n": 1, "won": [1, 0], "drawn": 0});
    let check = async |asker: &mut Player, moves: &[&str], expected: (u64, Vec<Value>)| {
        let told = explored(asker, "othello", moves).await;
        assert_eq!(told, (json!(expected.0), expected.1), "{moves:?}");
    };
    check(&mut ann, &[], (2, vec![two("c4")])).await;
    for (first, second, third) in [("d3", "c5", "d6"), ("E6", "f4", "e3"), ("f5", "d6", "c5")] {
        check(&mut ann, &[first], (2, vec![two(second)])).await;
        check(&mut ann, &[first, second], (2, vec![one(third)])).await;
    }
    check(&mut bob, &["d3", "e3"], (0, vec![])).await;
    assert_eq!(
        explored(&mut bob, "chess", &["Nf3"]).await,
        (json!(0), vec![])
    );
    for (game, moves, code) in [
        ("go-fish", json!(["?"]), "unknown_game"),
        ("othello", json!(["?"]), "unreadable_move"),
        ("othello", json!(["a1", "?"]), "illegal_move"),
    ] {
        let request = json!({"type": "explore", "game": game, "moves": moves});
        assert_eq!(bob.refused(request).await, code);
    }
}
