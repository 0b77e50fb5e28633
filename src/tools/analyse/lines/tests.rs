use plyhouse_engine::catalog;
use plyhouse_engine::search::Limits;

use super::*;

/// What is answered to the lines, and how many of them failed.
fn answers(game: &str, json: bool, input: &[u8]) -> (Vec<String>, u64) {
    let limits = Limits::default();
    answers_to(Question::Value { limits }, game, json, input)
}

fn answers_to(question: Question, game: &str, json: bool, input: &[u8]) -> (Vec<String>, u64) {
    let entry = catalog::find_game(game).expect("hosted");
    let lines = Lines {
        info: &entry.info,
        question,
        json,
    };
    let mut output = Vec::new();
    let failed = lines
        .answer_all(
            entry.analysis_board(1 << 20).as_mut(),
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

/// The positions of the answers to lines of a game.
fn positions(game: &str, lines: &str) -> Vec<String> {
    let question = Question::EveryMove {
        exact: false,
        limits: Limits::depth(1),
    };
    let (answers, failed) = answers_to(question, game, true, lines.as_bytes());
    assert_eq!(failed, 0, "{answers:?}");
    let position = |answer: &String| {
        let answer: serde_json::Value = serde_json::from_str(answer).expect("an object");
        answer["position"].as_str().expect("text").to_owned()
    };
    answers.iter().map(position).collect()
}

/// Records of other programs: a byte-order mark, SAN, move numbers, comments, and an omitted pass.
#[test]
fn records_are_read() {
    let chess = "\u{feff}1. c4 e5 2. Nc3 {English} Nf6 3. g3 d5 4. cxd5 Nxd5 5. Bg2 Nb6 *\r\n\
        c2c4e7e5b1c3g8f6g2g3d7d5c4d5f6d5f1g2d5b6\r\n\
        c4 e5 Nb1-c3 Nf6! g3 d5 c4xd5 Nxd5 Bg2 Nb6 ; even\r\n\
        rnbqkb1r/ppp2ppp/1n6/4p3/8/2N3P1/PP1PPPBP/R1BQK1NR w KQkq - 2 6;\r\n";
    let told = positions("chess", chess);
    assert_eq!(told, vec![told[3].clone(); 4]);
    let othello =
        "d3c3f5d2d1e1b2c1a3\nd3c3f5d2d1e1b2c1passa3\n1. D3 C3 2. F5 D2 3. D1 E1 4. B2 C1 5. a3\n";
    let told = positions("othello", othello);
    assert_eq!(told, vec![told[0].clone(); 3]);
    let repeated = "Nf3 Nf6 Ng1 Ng8 ".repeat(2);
    let told = positions("chess", &format!("{repeated}\n{repeated} d4\n"));
    assert!(told[1].contains("/3P4/"), "{told:?}");
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
