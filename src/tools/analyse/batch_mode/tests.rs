use plyhouse_engine::catalog;
use plyhouse_engine::search::Limits;

use super::*;

/// Analyses each line of `input`. Returns the answers and the number of lines that failed.
fn analyse_input(game: &str, json: bool, input: &[u8]) -> (Vec<String>, u64) {
    let limits = Limits::default();
    analyse_input_with(SearchRequest::ExactValue { limits }, game, json, input)
}

fn analyse_input_with(
    request: SearchRequest,
    game: &str,
    json: bool,
    input: &[u8],
) -> (Vec<String>, u64) {
    let entry = catalog::find_game(game).expect("the game is in the catalog");
    let batch = BatchAnalysis {
        info: &entry.info,
        request,
        json,
    };
    let mut output = Vec::new();
    let failed = batch
        .analyse_lines(
            entry.analysis_board(1 << 20).as_mut(),
            BufReader::new(input),
            &mut output,
        )
        .expect("writing to memory succeeds");
    let text = String::from_utf8(output).expect("the output is UTF-8");
    (text.lines().map(str::to_owned).collect(), failed)
}

#[test]
fn equivalent_notations_give_the_same_position() {
    let input = b"a1b2c3\na1 b2 c3\r\nA1,b2, c3\n\ta1,b2 c3\n..x/.o./x..\n";
    let (answers, failed) = analyse_input("tic-tac-toe", true, input);
    assert_eq!((answers.len(), failed), (5, 0));
    for answer in &answers[..4] {
        assert!(
            answer.starts_with(r#"{"position":"..x/.o./x..","turn":"o","#),
            "{answer}"
        );
    }
}

#[test]
fn each_line_gets_one_answer_or_error() {
    let long = "1".repeat(LINE_BYTES_MAX);
    let input = format!("112233\n8\n1111111\n{long}\nr\n");
    let input = [input.as_bytes(), b"\xff\n112233"].concat();
    let (answers, failed) = analyse_input("connect-four", false, &input);
    let parse_error = "\"r\" is not a move (such as 4) and not a position: expected six ranks of \
        seven squares";
    assert_eq!(answers[0], "win in 1, score 18, best 4, nodes 0");
    assert!(
        answers[1].starts_with("error: \"8\" is not a move"),
        "{answers:?}"
    );
    assert_eq!(answers[2], "error: ply 6: 1 is full");
    assert_eq!(answers[3], "error: line longer than 64 KiB");
    assert_eq!(answers[4], format!("error: {parse_error}"));
    assert_eq!(answers[5], "error: line is not valid UTF-8");
    assert_eq!(answers[6], answers[0], "without an end of the line");
    assert_eq!((answers.len(), failed), (7, 5));
}

/// Returns the `position` field of each JSON answer.
fn analysed_positions(game: &str, lines: &str) -> Vec<String> {
    let request = SearchRequest::AllMoves {
        exact: false,
        limits: Limits::depth(1),
    };
    let (answers, failed) = analyse_input_with(request, game, true, lines.as_bytes());
    assert_eq!(failed, 0, "{answers:?}");
    let position = |answer: &String| {
        let answer: serde_json::Value = serde_json::from_str(answer).expect("an object");
        answer["position"]
            .as_str()
            .expect("the output is UTF-8")
            .to_owned()
    };
    answers.iter().map(position).collect()
}

/// The parser must accept records that contain a byte-order mark, SAN moves, move numbers and
/// comments. It must also accept an Othello record that omits a pass.
#[test]
fn game_records_of_other_programs_are_parsed() {
    let chess = "\u{feff}1. c4 e5 2. Nc3 {English} Nf6 3. g3 d5 4. cxd5 Nxd5 5. Bg2 Nb6 *\r\n\
        c2c4e7e5b1c3g8f6g2g3d7d5c4d5f6d5f1g2d5b6\r\n\
        c4 e5 Nb1-c3 Nf6! g3 d5 c4xd5 Nxd5 Bg2 Nb6 ; even\r\n\
        rnbqkb1r/ppp2ppp/1n6/4p3/8/2N3P1/PP1PPPBP/R1BQK1NR w KQkq - 2 6;\r\n";
    let positions = analysed_positions("chess", chess);
    assert_eq!(positions, vec![positions[3].clone(); 4]);
    let othello =
        "d3c3f5d2d1e1b2c1a3\nd3c3f5d2d1e1b2c1passa3\n1. D3 C3 2. F5 D2 3. D1 E1 4. B2 C1 5. a3\n";
    let positions = analysed_positions("othello", othello);
    assert_eq!(positions, vec![positions[0].clone(); 3]);
    let repeated = "Nf3 Nf6 Ng1 Ng8 ".repeat(2);
    let positions = analysed_positions("chess", &format!("{repeated}\n{repeated} d4\n"));
    assert!(positions[1].contains("/3P4/"), "{positions:?}");
}

#[test]
fn finished_game_is_reported_with_its_outcome() {
    let (answers, failed) = analyse_input("tic-tac-toe", true, b"a1b1a2b2a3\nxox/xox/oxo\n");
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

/// With a node limit, the search of a Go position uses playouts, and the answer must report them.
/// With a depth limit, the search uses no playouts.
#[test]
fn playouts_are_reported_only_by_playout_searches() {
    let analyse = |limits| {
        let request = SearchRequest::AllMoves {
            exact: false,
            limits,
        };
        let (answers, failed) = analyse_input_with(request, "go", true, b"E5 C3\n");
        assert_eq!(failed, 0, "{answers:?}");
        serde_json::from_str::<serde_json::Value>(&answers[0]).expect("an object")
    };
    let answer = analyse(Limits::nodes(150));
    assert_eq!(
        (&answer["playouts"], &answer["nodes"]),
        (&150.into(), &150.into())
    );
    let rate = |value: &serde_json::Value| value["win_rate"].as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&rate(&answer)));
    let moves = answer["moves"].as_array().expect("moves");
    assert_eq!(moves[0]["move"], answer["best"]);
    let playouts = |value: &serde_json::Value| value["playouts"].as_u64().expect("a number");
    assert_eq!(moves.iter().map(playouts).sum::<u64>(), 150);
    assert!(moves.iter().all(|value| (0.0..=1.0).contains(&rate(value))));

    let answer = analyse(Limits::depth(1));
    assert_eq!(
        (&answer["playouts"], &answer["depth"]),
        (&serde_json::Value::Null, &1.into())
    );
    assert_eq!(answer["moves"][0].get("playouts"), None);
}
