//! Tests of game records: files that clients download over HTTP or that `plyhouse export` writes.

use std::path::Path;

use plyhouse_protocol::MatchCode;
use serde_json::{Value, json};

use crate::export_command::{Client, run_on_store};
use crate::real_sockets::{exchange_until_close, start_server};

/// Sends a GET request. Returns the response head in lower case and the body.
async fn get(address: &str, path: &str) -> (String, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
    let answer = exchange_until_close(address, &request).await;
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_lowercase(), body.to_owned())
}

/// Plays `moves` in a match of `game` between Ann and Bob. Returns the snapshot that Ann received
/// when she created the match.
async fn play_moves(address: &str, game: &str, moves: &[&str]) -> Value {
    let (mut ann, mut bob) = (
        Client::connect(address).await,
        Client::connect(address).await,
    );
    ann.request(json!({"type": "hello", "name": "ann"})).await;
    bob.request(json!({"type": "hello", "name": "bob"})).await;
    let created = ann.request(json!({"type": "create", "game": game})).await;
    bob.request(json!({"type": "join", "match": created["match"]}))
        .await;
    for (ply, m) in moves.iter().enumerate() {
        let player = if ply.is_multiple_of(2) {
            &mut ann
        } else {
            &mut bob
        };
        let play = json!({"type": "move", "match": created["match"], "ply": ply, "move": m});
        player.request(play).await;
    }
    created
}

fn run_export(directory: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run_on_store(directory, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[tokio::test]
async fn game_records_are_downloadable_and_match_the_export() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().to_str().expect("text");
    let (_process, address) = start_server(&["--data", data]).await;
    let mate = ["f2f3", "e7e5", "g2g4", "d8h4"];
    let chess = play_moves(&address, "chess", &mate).await;
    let go = play_moves(&address, "go", &["D4"]).await;
    let connect_four = play_moves(&address, "connect-four", &["4"]).await;
    play_moves(&address, "draughts", &[]).await;
    let name = |created: &Value, key: &str| created[key].as_str().expect("text").to_owned();
    let (id, code) = (name(&chess, "match"), name(&chess, "code"));

    let (head, pgn) = get(&address, &format!("/record/{id}.pgn")).await;
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    let file = format!("attachment; filename=\"plyhouse-{code}.pgn\"").to_lowercase();
    for part in ["application/vnd.chess-pgn", &file, "no-store", "nosniff"] {
        assert!(head.contains(part), "{part}: {head}");
    }
    for line in [
        "[White \"ann\"]\n[Black \"bob\"]\n[Result \"0-1\"]\n",
        "\n\n1. f3 e5 2. g4 Qh4# 0-1\n",
    ] {
        assert!(pgn.contains(line), "{line} in {pgn}");
    }
    let by_code = get(&address, &format!("/record/{}.pgn", code.to_lowercase())).await;
    assert_eq!(by_code.1, pgn);
    let (head, sgf) = get(&address, &format!("/record/{}.sgf", name(&go, "code"))).await;
    assert!(head.contains("application/x-go-sgf"), "{head}");
    assert!(sgf.ends_with("\n;B[df])\n"), "{sgf}");
    let path = format!("/record/{}.txt", name(&connect_four, "code"));
    let (head, txt) = get(&address, &path).await;
    assert!(head.contains("text/plain; charset=utf-8"), "{head}");
    assert_eq!(txt, "4\n*\n");
    for path in [
        format!("/record/{id}.sgf"),
        format!("/record/{id}"),
        format!("/record/{}.pgn", name(&connect_four, "code")),
        format!("/record/{}.pgn", MatchCode::from_number(1)),
        "/record/.pgn".to_owned(),
        "/record/nonsense".to_owned(),
    ] {
        let (head, _) = get(&address, &path).await;
        assert!(head.starts_with("http/1.1 404 "), "{path}: {head}");
    }

    let directory = directory.path();
    let all = run_export(directory, &["export", "--format", "pgn"]);
    assert_eq!(all, (Some(0), pgn.clone(), String::new()));
    let one = run_export(
        directory,
        &["export", "--format", "sgf", &name(&go, "match")],
    );
    assert_eq!(one, (Some(0), sgf, String::new()));
    let twice = run_export(directory, &["export", "--format", "pgn", &id, &code]);
    assert_eq!(twice.1, format!("{pgn}\n{pgn}"));
    let (status, out, stderr) = run_export(directory, &["export", "--format", "sgf", &id]);
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(
        stderr.contains("Chess games cannot be exported as sgf"),
        "{stderr}"
    );
}

#[tokio::test]
async fn welcome_lists_record_format_of_each_game() {
    let (_process, address) = start_server(&[]).await;
    let mut ann = Client::connect(&address).await;
    let welcome = ann.request(json!({"type": "hello"})).await;
    let record = |id: &str| {
        let games = welcome["games"].as_array().expect("games");
        let game = games.iter().find(|game| game["game"] == id);
        game.expect("a known game").get("record").cloned()
    };
    assert_eq!(record("chess"), Some(json!("pgn")));
    assert_eq!(record("draughts"), Some(json!("pdn")));
    for game in ["go", "gomoku", "othello"] {
        assert_eq!(record(game), Some(json!("sgf")), "{game}");
    }
    for game in ["connect-four", "tic-tac-toe"] {
        assert_eq!(record(game), Some(json!("txt")), "{game}");
    }
}

/// An account name can look like a file name, such as `kim.sgf`. A path that ends with such a name
/// refers to the account's page.
#[tokio::test]
async fn account_name_with_file_extension_has_profile_page() {
    let (_process, address) = start_server(&[]).await;
    for name in ["kim", "kim.sgf", "lee.pgn", "ann.b.txt"] {
        let mut client = Client::connect(&address).await;
        client.request(json!({"type": "hello"})).await;
        client
            .request(json!({"type": "register", "name": name}))
            .await;
    }
    for (path, content) in [
        ("/player/kim.sgf", "text/html"),
        ("/player/lee.pgn", "text/html"),
        ("/player/ann.b.txt", "text/html"),
        ("/player/kim", "text/html"),
        ("/player/kim.sgf.sgf", "application/x-go-sgf"),
        ("/player/kim.pgn", "application/vnd.chess-pgn"),
        ("/player/lee.pgn.pdn", "text/plain"),
    ] {
        let (head, _) = get(&address, path).await;
        assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
        let content = format!("content-type: {content}");
        assert!(head.contains(&content), "{path}: {head}");
    }
    let (head, _) = get(&address, "/player/lee.sgf").await;
    assert!(head.starts_with("http/1.1 404"), "{head}");
}
