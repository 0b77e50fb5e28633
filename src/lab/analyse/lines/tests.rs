use plyhouse_engine::catalog;
use plyhouse_engine::search::Limits;

use super::*;

/// What is answered to the lines, and how many of them failed.
fn answers(game: &str, json: bool, input: &[u8]) -> (Vec<String>, u64) {
    let limits = Limits::default();
    answers_to(Question::Value { limits }, game, json, input)
}

fn answers_to(question: Question, game: &str, json: bool, input: &[u8]) -> (Vec<String>, u64) {
    let entry = catalog::find(game).expect("hosted");
    let lines = Lines {
        info: &entry.info,
        question,
        json,
    };
    let mut output = Vec::new();
    let failed = lines
        .answer_all(
            entry.analyst(1 << 20).as_mut(),
            BufReader::new(input),
            &mut output,
        )
        .expect("written to memory");
    let text = String::from_utf8(output).expect("text");
    (text.lines().map(str::to_owned).collect(), failed)
}

#[test]
fn positions_and_moves_are_read() {
    let same = b"a1b2c3\na1 b2 c3\r\nA1,b2, c3\n\ta1,b2 c3\n..x/.o./x..\n";
    let (answers, failed) = answers("tic-tac-toe", true, same);
    assert_eq!((answers.len(), failed), (5, 0));
    for answer in &answers[..4] {
        assert!(
            answer.starts_with(r#"{"position":"..x/.o./x..","turn":"o","#),
            "{answer}"
        );
    }
}

#[test]
fn every_line_has_its_answer() {
    let long = "1".repeat(LINE_BYTES_MAX);
    let input = format!("112233\n8\n1111111\n{long}\nr\n");
    let input = [input.as_bytes(), b"\xff\n112233"].concat();
    let (answers, failed) = answers("connect-four", false, &input);
    let reading = "\"r\" is not a move of this game, which looks like 4, and not a position of this \
        game: six ranks of seven squares are needed";
    assert_eq!(answers[0], "win in 1, score 18, best 4, nodes 0");
    assert!(
        answers[1].starts_with("error: \"8\" is not a move"),
        "{answers:?}"
    );
    assert_eq!(answers[2], "error: ply 6: 1 is full");
    assert_eq!(answers[3], "error: the line is too long");
    assert_eq!(answers[4], format!("error: {reading}"));
    assert_eq!(answers[5], "error: the line is not text");
    assert_eq!(answers[6], answers[0], "without an end of the line");
    assert_eq!((answers.len(), failed), (7, 5));
}

#[test]
fn the_end_of_a_game_is_told() {
    let (answers, failed) = answers("tic-tac-toe", true, b"a1b1a2b2a3\nxox/xox/oxo\n");
    assert_eq!(failed, 0);
    assert!(
        answers[0].contains(r#""outcome":{"winner":0,"reason":"rules","line":["a1","a2","a3"]},"score":-10,"result":"loss","plies":0,"exact":true"#),
        "{}",
        answers[0]
    );
    assert!(
        answers[1]
            .contains(r#""outcome":{"winner":null,"reason":"rules"},"score":0,"result":"draw""#),
        "{}",
        answers[1]
    );
}

/// Where games are played out, that is told of the position and of every move; with a depth none is.
#[test]
fn playouts_are_told() {
    let told = |limits| {
        let question = Question::EveryMove {
            exact: false,
            limits,
        };
        let (answers, failed) = answers_to(question, "go", true, b"E5 C3\n");
        assert_eq!(failed, 0, "{answers:?}");
        serde_json::from_str::<serde_json::Value>(&answers[0]).expect("an object")
    };
    let answer = told(Limits::nodes(150));
    assert_eq!(
        (&answer["playouts"], &answer["nodes"]),
        (&150.into(), &150.into())
    );
    let rate = |value: &serde_json::Value| value["win_rate"].as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&rate(&answer)));
    let moves = answer["moves"].as_array().expect("moves");
    assert_eq!(moves[0]["move"], answer["best"]);
    let tried = |value: &serde_json::Value| value["playouts"].as_u64().expect("a number");
    assert_eq!(moves.iter().map(tried).sum::<u64>(), 150);
    assert!(moves.iter().all(|value| (0.0..=1.0).contains(&rate(value))));

    let answer = told(Limits::depth(1));
    assert_eq!(
        (&answer["playouts"], &answer["depth"]),
        (&serde_json::Value::Null, &1.into())
    );
    assert_eq!(answer["moves"][0].get("playouts"), None);
}
