//! Matches that begin with a position of their own.

use std::path::Path;
use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::archive::{Client, change, lines, run};
use crate::socket::start;
use crate::support::{Player, TestServer, calm, pass, text};

/// A position of each game in which seat 1 is to move, and a move there.
const STARTS: [(&str, &str, &str); 7] = [
    ("tic-tac-toe", "x.o/.../..x", "b2"),
    (
        "connect-four",
        "......./......./......./......./...y.../..rry.r",
        "3",
    ),
    (
        "othello",
        "-------------------*-------**------*O--------------------------- O",
        "c5",
    ),
    ("draughts", "W:W18,K31:B5,K9:H3:F20", "18-15"),
    ("chess", "4k3/4p3/8/8/8/8/4P3/4K2R b K - 3 20", "e7e5"),
    (
        "gomoku",
        "15/15/15/15/15/15/15/6wbb6/15/15/15/15/15/15/15",
        "a1",
    ),
    (
        "go",
        "........./........./..b...b../........./....w..../........./........./........./......... w 0 0 0 3",
        "D5",
    ),
];

/// Waits for this move, and for the bot's answer to it.
async fn answered(player: &mut Player, m: &str) {
    assert_eq!(player.event("moved").await["move"], m);
    let answer = player.event("moved").await;
    assert_eq!((&answer["seat"], &answer["ply"]), (&json!(0), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn every_game_is_played_from_there() {
    let store = Arc::new(MemoryStore::default());
    let mut server = TestServer::with_store(calm(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = server.player("ann").await;
    for (seed, (game, start, m)) in (8..).zip(STARTS) {
        let create = json!({"type": "create", "game": game, "position": format!(" {start} "),
            "seats": [{"bot": "easy"}, "me"]});
        let created = ann.ask(create).await;
        let id = text(&created["match"]);
        assert_eq!(
            (&created["start"], &created["position"]),
            (&json!(start), &json!(start))
        );
        assert_eq!((&created["turn"], &created["ply"]), (&json!(1), &json!(0)));
        assert_eq!(
            (&created["you"], &created["moves"]),
            (&json!(1), &json!([]))
        );
        let hint = ann
            .ask(json!({"type": "hint", "match": id, "ply": 0}))
            .await;
        assert!(
            created["legal"].as_array().unwrap().contains(&hint["move"]),
            "{hint}"
        );
        ann.event("hinted").await;
        let played = ann.play(&id, 0, m).await;
        assert_eq!(played["type"], "ok", "{played}");
        answered(&mut ann, m).await;
        taken_back(&mut ann, &id, start).await;
        assert_eq!(ann.play(&id, 0, m).await["type"], "ok");
        answered(&mut ann, m).await;
        let before = ann.ask(json!({"type": "watch", "match": id})).await;

        // As a server finds it that is started again.
        server.server.stop().await;
        let again = Settings {
            seed: Some(seed),
            ..calm()
        };
        server = TestServer::with_store(again, Arc::clone(&store) as Arc<dyn Store>);
        let recovered = server.server.recover().await.expect("readable");
        assert_eq!(recovered.corrupt, 0);
        (ann, _) = server.come_back(&ann.token()).await;
        let after = ann.event("match").await;
        for field in ["start", "position", "moves", "turn", "ply"] {
            assert_eq!(after[field], before[field], "{game}: {field}");
        }
        let events = ann
            .ask(json!({"type": "resync", "match": id, "since": 0}))
            .await;
        let started = &events["events"][2];
        assert_eq!(
            (&started["position"], &started["turn"]),
            (&json!(start), &json!(1))
        );

        let resigned = ann.ask(json!({"type": "resign", "match": id})).await;
        assert_eq!(resigned["type"], "ok");
        ann.event("ended").await;
        again_from(&mut ann, &id, start).await;
    }
    let mut bob = server.player("bob").await;
    let explored = bob
        .ask(json!({"type": "explore", "game": "chess", "moves": []}))
        .await;
    assert_eq!(explored["n"], 0, "{explored}");
    let history = ann.ask(json!({"type": "history"})).await;
    assert_eq!(
        history["rows"].as_array().map(Vec::len),
        Some(2 * STARTS.len())
    );
}

/// Nothing is taken back but what was played since.
async fn taken_back(ann: &mut Player, id: &str, start: &str) {
    let offer = json!({"type": "offer", "match": id, "offer": "takeback", "ply": 2, "to_ply": 0});
    pass(30).await;
    let granted = ann.ask(offer).await;
    assert_eq!(granted["type"], "ok", "{granted}");
    ann.event("offered").await;
    let back = ann.event("taken_back").await;
    assert_eq!(
        (&back["position"], &back["turn"]),
        (&json!(start), &json!(1))
    );
    let again = json!({"type": "offer", "match": id, "offer": "takeback", "ply": 0});
    assert_eq!(ann.ask(again).await["type"], "error");
}

/// A rematch, with sides changed, begins there, too; the bot is first now.
async fn again_from(ann: &mut Player, id: &str, start: &str) {
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    assert_eq!(ann.ask(offer).await["type"], "ok");
    let next = ann.event("match").await;
    assert_eq!((&next["start"], &next["you"]), (&json!(start), &json!(0)));
    assert_eq!(next["previous"], json!(id));
    // It may have moved by then.
    if next["ply"] == 0 {
        assert_eq!(ann.event("moved").await["seat"], 1);
    } else {
        assert_eq!((&next["ply"], &next["turn"]), (&json!(1), &json!(0)));
    }
    let next = text(&next["match"]);
    ann.ask(json!({"type": "abort", "match": next})).await;
    ann.drain().await;
}

#[tokio::test(start_paused = true)]
async fn a_position_from_which_nothing_goes_on_is_refused() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let mut refused = async |fields: Value| {
        let mut create = json!({"type": "create", "game": "chess"});
        for (name, value) in fields.as_object().expect("an object") {
            create[name] = value.clone();
        }
        let error = ann.ask_anything(create).await;
        (
            text(&error["code"]),
            error["field"].as_str().unwrap_or_default().to_owned(),
            text(&error["message"]),
        )
    };
    let ending = STARTS[4].1;
    for (fields, reason) in [
        (json!({"position": 3}), "at most 300 bytes"),
        (json!({"position": "8/".repeat(200)}), "at most 300 bytes"),
        (json!({"position": ""}), "not a position of this game"),
        (
            json!({"position": "x.o/.../..x"}),
            "not a position of this game",
        ),
        (
            json!({"position": "7k/5KQ1/8/8/8/8/8/8 b - - 0 1"}),
            "the game is over",
        ),
        (
            json!({"position": "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1"}),
            "the game is over",
        ),
        (
            json!({"game": "go", "position": ending}),
            "not a position of this game",
        ),
        (
            json!({"position": ending, "rated": true,
            "clock": {"kind": "fischer", "main_ms": 60000, "increment_ms": 0}}),
            "left out",
        ),
    ] {
        let (code, field, message) = refused(fields.clone()).await;
        assert_eq!(
            (code.as_str(), field.as_str()),
            ("bad_field", "position"),
            "{fields}"
        );
        assert!(message.contains(reason), "{fields}: {message}");
    }
    let unknown = refused(json!({"game": "ludo", "position": ending})).await;
    assert_eq!(unknown.0, "unknown_game");
    let id = ann.create(json!({"game": "chess", "position": null})).await;
    let plain = ann.ask(json!({"type": "watch", "match": id})).await;
    assert!(plain.get("start").is_none(), "{plain}");
}

/// Whoever reads of such a match in a row, of whatever list, reads that of it; and of no other.
#[tokio::test(start_paused = true)]
async fn rows_say_that_a_match_begins_from_a_position() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let watch = json!({"type": "watch_list", "game": "tic-tac-toe"});
    assert_eq!(bob.ask(watch).await["type"], "ok");
    let begun = async |ann: &mut Player, position: Option<&str>, invited: Option<&Value>| {
        let create = json!({"game": "tic-tac-toe", "position": position, "for": invited});
        ann.create(create).await
    };
    let told = |position: Option<&str>| match position {
        Some(_) => json!(true),
        None => Value::Null,
    };
    for position in [Some(STARTS[0].1), None] {
        let open = begun(&mut ann, position, None).await;
        let row = |list: &Value| list["matches"][0]["from_position"].clone();
        for status in ["open", "running"] {
            let list = bob.ask(json!({"type": "list", "status": status})).await;
            assert_eq!(row(&list), told(position), "{list}");
            let changed = bob.event("list_changed").await["changed"][0].clone();
            assert_eq!(
                (&changed["status"], &changed["from_position"]),
                (&json!(status), &told(position))
            );
            bob.ask(json!({"type": "join", "match": open})).await;
        }
        bob.ask(json!({"type": "resign", "match": open})).await;
        ann.drain().await;
        bob.drain().await;
        let history = bob.ask(json!({"type": "history"})).await;
        let profile = ann.ask(json!({"type": "profile"})).await;
        for rows in [&history["rows"], &profile["last"]] {
            assert_eq!(rows[0]["match"], json!(open));
            assert_eq!(rows[0]["from_position"], told(position), "{rows}");
        }

        let bob_id = bob.id().clone();
        let asked = begun(&mut ann, position, Some(&bob_id)).await;
        let challenge = bob.event("challenge").await;
        assert_eq!(challenge["from_position"], told(position), "{challenge}");
        let (again, welcome) = server.come_back(&bob.token()).await;
        assert_eq!(welcome["challenges"][0]["from_position"], told(position));
        bob = again;
        let watch = json!({"type": "watch_list", "game": "tic-tac-toe"});
        assert_eq!(bob.ask(watch).await["type"], "ok");
        let decline = json!({"type": "decline", "match": asked, "offer": "challenge"});
        assert_eq!(bob.ask(decline).await["type"], "ok");
        ann.drain().await;
    }
}

/// What was thought of it afterwards is thought of what was played.
#[tokio::test(start_paused = true)]
async fn such_a_match_is_analysed_from_its_start() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    // The middle is taken between two corners: whoever takes a third is lost.
    let start = "x../.o./..x";
    let create = json!({"game": "tic-tac-toe", "position": start, "seats": ["open", "me"]});
    let id = ann.create(create).await;
    let mut bob = server.player("bob").await;
    bob.ask(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(["a1", "c3"]) {
        let player = if ply % 2 == 0 { &mut ann } else { &mut bob };
        assert_eq!(player.play(&id, ply, m).await["type"], "ok");
    }
    ann.ask(json!({"type": "resign", "match": id})).await;
    ann.drain().await;
    assert_eq!(
        ann.ask(json!({"type": "analyse", "match": id})).await["type"],
        "ok"
    );
    let mut plies = Vec::new();
    loop {
        let part = ann.event("analysis").await;
        plies.extend(part["plies"].as_array().expect("a list").clone());
        if part["done"] == part["of"] {
            break;
        }
    }
    let seats: Vec<&Value> = plies.iter().map(|ply| &ply["seat"]).collect();
    assert_eq!(seats, [0, 1], "the last ply first");
    assert_eq!(plies[1]["judged"], "blunder", "{plies:?}");
}

/// What a command says of a store, and whether it succeeds.
fn says(directory: &Path, arguments: &[&str]) -> (bool, String) {
    let output = run(directory, arguments);
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8(said).expect("text"),
    )
}

/// What such a match begins with is kept with it, and whoever reads a store finds it.
#[tokio::test]
async fn it_outlives_the_server_and_is_written_down() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let data = directory.to_str().expect("text");
    let (mut process, address) = start(&["--data", data]).await;
    let mut ann = Client::connect(&address).await;
    let welcome = ann.ask(json!({"type": "hello", "name": "ann"})).await;
    let mut ids = Vec::new();
    for (game, position, m) in STARTS {
        let create = json!({"type": "create", "game": game, "position": position,
            "seats": [{"bot": "beginner"}, "me"]});
        let id = text(&ann.ask(create).await["match"]);
        let play = json!({"type": "move", "match": id, "ply": 0, "move": m});
        ann.ask(play).await;
        ids.push(id);
    }
    process.start_kill().expect("it runs");
    process.wait().await.expect("it ends");
    let (is_sound, said) = says(directory, &["verify"]);
    assert!(is_sound, "{said}");

    let (_process, address) = start(&["--data", data]).await;
    let mut ann = Client::connect(&address).await;
    ann.ask(json!({"type": "hello", "token": welcome["token"]}))
        .await;
    for ((game, position, _), id) in STARTS.iter().zip(&ids) {
        let shown = ann.ask(json!({"type": "watch", "match": id})).await;
        assert_eq!(
            (&shown["start"], &shown["you"]),
            (&json!(position), &json!(1)),
            "{game}"
        );
        let exported = lines(&run(directory, &["export", id]));
        assert_eq!(exported[0]["start"], json!(position), "{game}");
    }
    for (index, format, part) in [
        (0, "txt", "x.o/.../..x\nb2".to_owned()),
        (
            3,
            "pdn",
            format!("[SetUp \"1\"]\n[FEN \"{}\"]\n", STARTS[3].1),
        ),
        (
            4,
            "pgn",
            format!("[SetUp \"1\"]\n[FEN \"{}\"]\n", STARTS[4].1),
        ),
        (5, "sgf", "AB[hh][ih]AW[gh]PL[W]\n;W[ao]".to_owned()),
        (6, "sgf", "AB[cc][gc]AW[ee]PL[W]\n;W[de]".to_owned()),
    ] {
        let (_, record) = says(directory, &["export", "--format", format, &ids[index]]);
        assert!(record.contains(&part), "{part} in {record}");
    }
    // One of which nobody can tell how it began.
    let damage = "UPDATE matches SET terms = replace(terms, 'x.o/.../..x', 'xxx/oo./...')";
    change(directory, damage);
    let (is_sound, said) = says(directory, &["verify"]);
    assert!(!is_sound && said.contains("cannot have begun"), "{said}");
}
