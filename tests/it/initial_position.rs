//! Tests of matches that start from a custom position.

use std::path::Path;
use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::export_command::{Client, execute_sql, json_lines, run_on_store};
use crate::real_sockets::start_server;
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

/// Custom initial position for each game, with seat 1 to move. Each entry contains the game, the
/// position and a legal move.
const INITIAL_POSITIONS: [(&str, &str, &str); 7] = [
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

/// Waits for two `moved` events: the move `m` and the bot's reply.
async fn expect_move_and_reply(player: &mut TestPlayer, m: &str) {
    assert_eq!(player.expect_event("moved").await["move"], m);
    let answer = player.expect_event("moved").await;
    assert_eq!((&answer["seat"], &answer["ply"]), (&json!(0), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn every_game_can_start_from_a_given_position() {
    let store = Arc::new(MemoryStore::default());
    let mut server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = server.connect_player("ann").await;
    for (seed, (game, start, m)) in (8..).zip(INITIAL_POSITIONS) {
        let create = json!({"type": "create", "game": game, "position": format!(" {start} "),
            "seats": [{"bot": "easy"}, "me"]});
        let created = ann.request(create).await;
        let id = json_string(&created["match"]);
        assert_eq!(
            (&created["start"], &created["position"]),
            (&json!(start), &json!(start))
        );
        assert_eq!((&created["turn"], &created["ply"]), (&json!(1), &json!(0)));
        assert_eq!(
            (&created["you"], &created["moves"]),
            (&json!(1), &json!([]))
        );
        let hint = json!({"type": "hint", "match": id, "ply": 0});
        let hint = ann.request(hint).await;
        assert!(
            created["legal"].as_array().unwrap().contains(&hint["move"]),
            "{hint}"
        );
        ann.expect_event("hinted").await;
        let played = ann.play_move(&id, 0, m).await;
        assert_eq!(played["type"], "ok", "{played}");
        expect_move_and_reply(&mut ann, m).await;
        check_takeback(&mut ann, &id, start).await;
        assert_eq!(ann.play_move(&id, 0, m).await["type"], "ok");
        expect_move_and_reply(&mut ann, m).await;
        let before = ann.request(json!({"type": "watch", "match": id})).await;

        // Restarts the server, which loads the match from the store.
        server.server.stop().await;
        let again = Settings {
            seed: Some(seed),
            ..settings_without_pings()
        };
        server = TestServer::with_store(again, Arc::clone(&store) as Arc<dyn Store>);
        let recovered = server.server.recover().await.expect("readable");
        assert_eq!(recovered.corrupt, 0);
        (ann, _) = server.resume_session(&ann.token()).await;
        let after = ann.expect_event("match").await;
        for field in ["start", "position", "moves", "turn", "ply"] {
            assert_eq!(after[field], before[field], "{game}: {field}");
        }
        let events = ann
            .request(json!({"type": "resync", "match": id, "since": 0}))
            .await;
        let started = &events["events"][2];
        assert_eq!(
            (&started["position"], &started["turn"]),
            (&json!(start), &json!(1))
        );

        let resigned = ann.request(json!({"type": "resign", "match": id})).await;
        assert_eq!(resigned["type"], "ok");
        ann.expect_event("ended").await;
        check_rematch(&mut ann, &id, start).await;
    }
    let mut bob = server.connect_player("bob").await;
    let explored = bob
        .request(json!({"type": "explore", "game": "chess", "moves": []}))
        .await;
    assert_eq!(explored["n"], 0, "{explored}");
    let history = ann.request(json!({"type": "history"})).await;
    assert_eq!(
        history["rows"].as_array().map(Vec::len),
        Some(2 * INITIAL_POSITIONS.len())
    );
}

/// A takeback cannot go further back than the initial position.
async fn check_takeback(ann: &mut TestPlayer, id: &str, start: &str) {
    let offer = json!({"type": "offer", "match": id, "offer": "takeback", "ply": 2, "to_ply": 0});
    advance_time(30).await;
    let granted = ann.request(offer).await;
    assert_eq!(granted["type"], "ok", "{granted}");
    ann.expect_event("offered").await;
    let back = ann.expect_event("taken_back").await;
    assert_eq!(
        (&back["position"], &back["turn"]),
        (&json!(start), &json!(1))
    );
    let again = json!({"type": "offer", "match": id, "offer": "takeback", "ply": 0});
    assert_eq!(ann.request(again).await["type"], "error");
}

/// Checks that a rematch starts from the same position with swapped seats. The bot therefore moves
/// first.
async fn check_rematch(ann: &mut TestPlayer, id: &str, start: &str) {
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    assert_eq!(ann.request(offer).await["type"], "ok");
    let next = ann.expect_event("match").await;
    assert_eq!((&next["start"], &next["you"]), (&json!(start), &json!(0)));
    assert_eq!(next["previous"], json!(id));
    // The snapshot may already contain the bot's first move.
    if next["ply"] == 0 {
        assert_eq!(ann.expect_event("moved").await["seat"], 1);
    } else {
        assert_eq!((&next["ply"], &next["turn"]), (&json!(1), &json!(0)));
    }
    let next = json_string(&next["match"]);
    ann.request(json!({"type": "abort", "match": next})).await;
    ann.drain_messages().await;
}

#[tokio::test(start_paused = true)]
async fn invalid_or_finished_initial_position_is_refused() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let mut refused = async |fields: Value| {
        let mut create = json!({"type": "create", "game": "chess"});
        for (name, value) in fields.as_object().expect("an object") {
            create[name] = value.clone();
        }
        let error = ann.request_unchecked(create).await;
        (
            json_string(&error["code"]),
            error["field"].as_str().unwrap_or_default().to_owned(),
            json_string(&error["message"]),
        )
    };
    let ending = INITIAL_POSITIONS[4].1;
    for (fields, reason) in [
        (json!({"position": 3}), "at most 300 bytes"),
        (json!({"position": "8/".repeat(200)}), "at most 300 bytes"),
        (json!({"position": ""}), "invalid position"),
        (json!({"position": "x.o/.../..x"}), "invalid position"),
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
            "invalid position",
        ),
        (
            json!({"position": ending, "rated": true,
            "clock": {"kind": "fischer", "main_ms": 60000, "increment_ms": 0}}),
            "rated matches start from the standard position",
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
    let id = ann
        .create_match(json!({"game": "chess", "position": null}))
        .await;
    let plain = ann.request(json!({"type": "watch", "match": id})).await;
    assert!(plain.get("start").is_none(), "{plain}");
}

/// In match lists, the history and profiles, only matches with a custom initial position have the
/// flag `from_position`.
#[tokio::test(start_paused = true)]
async fn match_rows_flag_custom_initial_position() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let watch = json!({"type": "watch_list", "game": "tic-tac-toe"});
    assert_eq!(bob.request(watch).await["type"], "ok");
    let create_match =
        async |ann: &mut TestPlayer, position: Option<&str>, invited: Option<&Value>| {
            let create = json!({"game": "tic-tac-toe", "position": position, "for": invited});
            ann.create_match(create).await
        };
    let expected_flag = |position: Option<&str>| match position {
        Some(_) => json!(true),
        None => Value::Null,
    };
    for position in [Some(INITIAL_POSITIONS[0].1), None] {
        let open = create_match(&mut ann, position, None).await;
        let row = |list: &Value| list["matches"][0]["from_position"].clone();
        for status in ["open", "running"] {
            let list = bob.request(json!({"type": "list", "status": status})).await;
            assert_eq!(row(&list), expected_flag(position), "{list}");
            let changed = bob.expect_event("list_changed").await["changed"][0].clone();
            assert_eq!(
                (&changed["status"], &changed["from_position"]),
                (&json!(status), &expected_flag(position))
            );
            bob.request(json!({"type": "join", "match": open})).await;
        }
        bob.request(json!({"type": "resign", "match": open})).await;
        ann.drain_messages().await;
        bob.drain_messages().await;
        let history = bob.request(json!({"type": "history"})).await;
        let profile = ann.request(json!({"type": "profile"})).await;
        for rows in [&history["rows"], &profile["last"]] {
            assert_eq!(rows[0]["match"], json!(open));
            assert_eq!(rows[0]["from_position"], expected_flag(position), "{rows}");
        }

        let bob_id = bob.id().clone();
        let challenge_id = create_match(&mut ann, position, Some(&bob_id)).await;
        let challenge = bob.expect_event("challenge").await;
        assert_eq!(
            challenge["from_position"],
            expected_flag(position),
            "{challenge}"
        );
        let (again, welcome) = server.resume_session(&bob.token()).await;
        assert_eq!(
            welcome["challenges"][0]["from_position"],
            expected_flag(position)
        );
        bob = again;
        let watch = json!({"type": "watch_list", "game": "tic-tac-toe"});
        assert_eq!(bob.request(watch).await["type"], "ok");
        let decline = json!({"type": "decline", "match": challenge_id, "offer": "challenge"});
        assert_eq!(bob.request(decline).await["type"], "ok");
        ann.drain_messages().await;
    }
}

#[tokio::test(start_paused = true)]
async fn analysis_starts_from_custom_position() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    // Player o holds the centre between two opposite corners held by x. If o moves to a third
    // corner, x wins.
    let start = "x../.o./..x";
    let create = json!({"game": "tic-tac-toe", "position": start, "seats": ["open", "me"]});
    let id = ann.create_match(create).await;
    let mut bob = server.connect_player("bob").await;
    bob.request(json!({"type": "join", "match": id})).await;
    for (ply, m) in (0..).zip(["a1", "c3"]) {
        let player = if ply % 2 == 0 { &mut ann } else { &mut bob };
        assert_eq!(player.play_move(&id, ply, m).await["type"], "ok");
    }
    ann.request(json!({"type": "resign", "match": id})).await;
    ann.drain_messages().await;
    assert_eq!(
        ann.request(json!({"type": "analyse", "match": id})).await["type"],
        "ok"
    );
    let mut plies = Vec::new();
    loop {
        let part = ann.expect_event("analysis").await;
        plies.extend(part["plies"].as_array().expect("a list").clone());
        if part["done"] == part["of"] {
            break;
        }
    }
    let seats: Vec<&Value> = plies.iter().map(|ply| &ply["seat"]).collect();
    assert_eq!(seats, [0, 1], "the last ply first");
    assert_eq!(plies[1]["judged"], "blunder", "{plies:?}");
}

/// Runs a command on the store. Returns whether the command succeeded, and its output.
fn run_command(directory: &Path, arguments: &[&str]) -> (bool, String) {
    let output = run_on_store(directory, arguments);
    let bytes = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8(bytes).expect("text"),
    )
}

#[tokio::test]
async fn custom_position_survives_restart_and_is_exported() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let data = directory.to_str().expect("text");
    let (mut process, address) = start_server(&["--data", data]).await;
    let mut ann = Client::connect(&address).await;
    let welcome = ann.request(json!({"type": "hello", "name": "ann"})).await;
    let mut ids = Vec::new();
    for (game, position, m) in INITIAL_POSITIONS {
        let create = json!({"type": "create", "game": game, "position": position,
            "seats": [{"bot": "beginner"}, "me"]});
        let id = json_string(&ann.request(create).await["match"]);
        let play = json!({"type": "move", "match": id, "ply": 0, "move": m});
        ann.request(play).await;
        ids.push(id);
    }
    process.start_kill().expect("the process is running");
    process.wait().await.expect("the process exits");
    let (is_valid, output) = run_command(directory, &["verify"]);
    assert!(is_valid, "{output}");

    let (_process, address) = start_server(&["--data", data]).await;
    let mut ann = Client::connect(&address).await;
    ann.request(json!({"type": "hello", "token": welcome["token"]}))
        .await;
    for ((game, position, _), id) in INITIAL_POSITIONS.iter().zip(&ids) {
        let shown = ann.request(json!({"type": "watch", "match": id})).await;
        assert_eq!(
            (&shown["start"], &shown["you"]),
            (&json!(position), &json!(1)),
            "{game}"
        );
        let exported = json_lines(&run_on_store(directory, &["export", id]));
        assert_eq!(exported[0]["start"], json!(position), "{game}");
    }
    for (index, format, part) in [
        (0, "txt", "x.o/.../..x\nb2".to_owned()),
        (
            3,
            "pdn",
            format!("[SetUp \"1\"]\n[FEN \"{}\"]\n", INITIAL_POSITIONS[3].1),
        ),
        (
            4,
            "pgn",
            format!("[SetUp \"1\"]\n[FEN \"{}\"]\n", INITIAL_POSITIONS[4].1),
        ),
        (5, "sgf", "AB[hh][ih]AW[gh]PL[W]\n;W[ao]".to_owned()),
        (6, "sgf", "AB[cc][gc]AW[ee]PL[W]\n;W[de]".to_owned()),
    ] {
        let (_, record) = run_command(directory, &["export", "--format", format, &ids[index]]);
        assert!(record.contains(&part), "{part} in {record}");
    }
    // The SQL statement replaces the initial position with a position where the game is already
    // over.
    let damage = "UPDATE matches SET terms = replace(terms, 'x.o/.../..x', 'xxx/oo./...')";
    execute_sql(directory, damage);
    let (is_valid, output) = run_command(directory, &["verify"]);
    assert!(
        !is_valid && output.contains("over in the initial position"),
        "{output}"
    );
}
