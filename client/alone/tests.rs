use super::*;

fn handle_request_json(request: &str) -> serde_json::Value {
    serde_json::from_str(&handle_request(request)).unwrap()
}

#[test]
fn empty_request_lists_games() {
    let games = handle_request_json("");
    let ids: Vec<_> = games
        .as_array()
        .unwrap()
        .iter()
        .map(|game| &game["game"])
        .collect();
    assert_eq!(ids, ["tic-tac-toe", "connect-four"]);
    assert_eq!(games[1]["sides"], serde_json::json!(["red", "yellow"]));
    assert_eq!(games[1]["files"], 7);
}

#[test]
fn response_contains_turn_legal_moves_and_outcome() {
    let initial = handle_request_json(r#"{"game":"tic-tac-toe","moves":[]}"#);
    assert_eq!(initial["turn"], 0);
    assert_eq!(initial["legal"].as_array().unwrap().len(), 9);
    assert!(initial.get("outcome").is_none());
    let won = handle_request_json(r#"{"game":"tic-tac-toe","moves":["A1","b1","a2","b2","a3"]}"#);
    assert_eq!(won["turn"], serde_json::Value::Null);
    assert_eq!(won["moves"][0], "a1");
    assert_eq!(won["outcome"]["winner"], 0);
    assert_eq!(
        won["outcome"]["line"],
        serde_json::json!(["a1", "a2", "a3"])
    );
    assert_eq!(won["legal"], serde_json::json!([]));
}

#[test]
fn invalid_request_gets_error_with_reason() {
    let check = |request: &str, reason: &str| {
        let response = handle_request_json(request);
        let error = response["error"].as_str().unwrap();
        assert!(error.contains(reason), "{request}: {error}");
    };
    check("{", "not a question");
    check(r#"{"game":"chess","moves":[]}"#, "not a game");
    check(
        r#"{"game":"tic-tac-toe","moves":["b2","b2"]}"#,
        "already taken",
    );
    check(r#"{"game":"tic-tac-toe","moves":["d4"]}"#, "not a move");
    check(
        r#"{"game":"tic-tac-toe","moves":[],"level":"best"}"#,
        "not a level",
    );
}

#[test]
fn every_bot_level_plays_every_game_to_the_end() {
    for entry in &GAMES {
        let game = entry.info.id;
        for level in Level::ALL {
            let mut moves: Vec<String> = Vec::new();
            loop {
                let request = serde_json::json!({
                    "game": game, "moves": moves, "level": level.id(), "seed": 7,
                });
                let response = handle_request_json(&request.to_string());
                let after = response["moves"].as_array().unwrap();
                assert_eq!(after.len(), moves.len() + 1, "{game} {level:?}");
                moves = after
                    .iter()
                    .map(|m| m.as_str().unwrap().to_owned())
                    .collect();
                if response["turn"].is_null() {
                    break;
                }
            }
        }
    }
}

#[test]
fn no_bot_move_is_played_after_game_over() {
    let won = r#"{"game":"tic-tac-toe","moves":["a1","b1","a2","b2","a3"],"level":"max"}"#;
    assert_eq!(
        handle_request_json(won)["moves"].as_array().unwrap().len(),
        5
    );
}
