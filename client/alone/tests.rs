use super::*;

fn answer_json(question: &str) -> serde_json::Value {
    serde_json::from_str(&answer(question)).unwrap()
}

#[test]
fn games_are_listed() {
    let games = answer_json("");
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
fn answer_contains_position_and_legal_moves() {
    let begun = answer_json(r#"{"game":"tic-tac-toe","moves":[]}"#);
    assert_eq!(begun["turn"], 0);
    assert_eq!(begun["legal"].as_array().unwrap().len(), 9);
    assert!(begun.get("outcome").is_none());
    let won = answer_json(r#"{"game":"tic-tac-toe","moves":["A1","b1","a2","b2","a3"]}"#);
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
fn invalid_request_is_answered_with_a_reason() {
    let check = |question: &str, why: &str| {
        let told = answer_json(question);
        let error = told["error"].as_str().unwrap();
        assert!(error.contains(why), "{question}: {error}");
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
fn every_level_plays_every_game_to_its_end() {
    for entry in &GAMES {
        let game = entry.info.id;
        for level in Level::ALL {
            let mut moves: Vec<String> = Vec::new();
            loop {
                let question = serde_json::json!({
                    "game": game, "moves": moves, "level": level.id(), "seed": 7,
                });
                let told = answer_json(&question.to_string());
                let after = told["moves"].as_array().unwrap();
                assert_eq!(after.len(), moves.len() + 1, "{game} {level:?}");
                moves = after
                    .iter()
                    .map(|m| m.as_str().unwrap().to_owned())
                    .collect();
                if told["turn"].is_null() {
                    break;
                }
            }
        }
    }
}

#[test]
fn no_move_is_played_after_the_end() {
    let won = r#"{"game":"tic-tac-toe","moves":["a1","b1","a2","b2","a3"],"level":"max"}"#;
    assert_eq!(answer_json(won)["moves"].as_array().unwrap().len(), 5);
}
