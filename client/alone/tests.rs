use super::*;

fn told(question: &str) -> serde_json::Value {
    serde_json::from_str(&answer(question)).unwrap()
}

#[test]
fn the_games_are_told() {
    let games = told("");
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
fn it_is_told_how_a_match_stands() {
    let begun = told(r#"{"game":"tic-tac-toe","moves":[]}"#);
    assert_eq!(begun["turn"], 0);
    assert_eq!(begun["legal"].as_array().unwrap().len(), 9);
    assert!(begun.get("outcome").is_none());
    let won = told(r#"{"game":"tic-tac-toe","moves":["A1","b1","a2","b2","a3"]}"#);
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
fn a_question_without_an_answer_is_told_why() {
    let check = |question: &str, why: &str| {
        let told = told(question);
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
                let told = told(&question.to_string());
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
fn nothing_is_played_once_it_is_over() {
    let won = r#"{"game":"tic-tac-toe","moves":["a1","b1","a2","b2","a3"],"level":"max"}"#;
    assert_eq!(told(won)["moves"].as_array().unwrap().len(), 5);
}
