//! Tests of the commands `plyhouse analyse` and `plyhouse perft`.

use std::process::Output;

use plyhouse_engine::game::Position;
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::search::Evaluate;
use plyhouse_engine::search::minimax::{Scale, minimax};
use serde_json::Value;

use crate::game_file_corpus;

/// Runs the binary with the space-separated `options` and with `input` on stdin.
fn run_command(options: &str, input: &str) -> Output {
    let options: Vec<&str> = options.split_whitespace().collect();
    game_file_corpus::run_plyhouse(&options, input)
}

fn run_to_stdout(options: &str) -> String {
    let output = run_command(options, "");
    assert!(output.status.success(), "{options}: {output:?}");
    assert!(output.stderr.is_empty(), "no progress without a terminal");
    String::from_utf8(output.stdout).expect("text")
}

fn run_to_json(options: &str) -> Value {
    serde_json::from_str(&run_to_stdout(options)).expect("one object")
}

/// Searches the empty tic-tac-toe board with each search method.
#[test]
fn search_methods_visit_textbook_node_counts() {
    for (options, nodes, pruned) in [
        ("--method minimax", 549_946, 0),
        ("--method minimax --scale outcome", 549_946, 0),
        ("--method alpha-beta", 20_866, 7_788),
        ("--method alpha-beta --scale outcome", 18_297, 6_930),
    ] {
        let answer = run_to_json(&format!("analyse --game tic-tac-toe --json {options}"));
        assert_eq!(answer["nodes"], nodes, "{options}");
        assert_eq!(answer["pruned"], pruned, "{options}");
        assert_eq!(answer["result"], "draw", "{options}");
        assert_eq!(answer["moves"].as_array().expect("moves").len(), 9);
    }
    let engine = run_to_json("analyse tic-tac-toe --json");
    assert!(engine["nodes"].as_u64() < Some(18_297), "{engine}");
    assert_eq!(engine["exact"], true);
}

#[test]
fn text_report_lists_moves_with_values_and_pv() {
    let report = run_to_stdout("analyse --game tic-tac-toe xox/oox/... --moves c1");
    let expected = "xox/oox/..x\no has lost, score -10\n";
    assert_eq!(report, expected);

    let report =
        run_to_stdout("analyse --game tic-tac-toe --moves a1,b2,c3,a3,c1 --method alpha-beta");
    let lines: Vec<_> = report.lines().collect();
    assert_eq!(
        lines[..7],
        [
            "o.x/.o./x.x",
            "o to move: loss in 2",
            "",
            "move  value               score",
            "b1    loss in 2              -8",
            "a2    at most loss in 2      -8",
            "c2    at most loss in 2      -8",
        ]
    );
    assert!(
        lines.iter().any(|line| line.starts_with("pv b1 c2")),
        "{report}"
    );
    assert!(report.contains("moves pruned"), "{report}");
}

#[test]
fn json_report_contains_every_field() {
    // Red has three discs in column 4 and wins by playing there. After any other move by red,
    // yellow can block the column.
    let answer = run_to_json("analyse --game connect-four --json --depth 3 414141");
    for (field, expected) in [
        (
            "position",
            Value::from("......./......./......./y..r.../y..r.../y..r..."),
        ),
        ("turn", "red".into()),
        ("outcome", Value::Null),
        ("score", 18.into()),
        ("result", "win".into()),
        ("plies", 1.into()),
        ("exact", true.into()),
        ("pruned", Value::Null),
        ("best", "4".into()),
        ("pv", vec!["4"].into()),
    ] {
        assert_eq!(answer[field], expected, "{field}: {answer}");
    }
    let moves = answer["moves"].as_array().expect("moves");
    assert_eq!(moves.len(), 7);
    assert_eq!(
        moves[0].to_string(),
        serde_json::json!({"move": "4", "score": 18, "result": "win", "plies": 1, "known": "exact"})
            .to_string()
    );
    assert_eq!(moves[6]["result"], "loss");
    assert_eq!(moves[6]["plies"], 2);
    for field in [
        "nodes",
        "nodes_per_second",
        "time_us",
        "depth",
        "table_hits",
        "table_use",
    ] {
        assert!(answer[field].is_u64(), "{field}: {answer}");
    }
}

/// Returns late Connect Four positions from drawn games. Each position is paired with the column
/// numbers of the moves that lead to it.
fn late_connect_four_positions() -> Vec<(String, ConnectFour)> {
    // Each of these games fills the board without four discs in a row.
    const DRAWN_GAMES: [&str; 3] = [
        "656173566152215676422337377473141445425321",
        "333233475547221356727721556624566416474111",
        "475347612621137563725651155664722724334341",
    ];
    let all = DRAWN_GAMES
        .iter()
        .flat_map(|game| (34..42).map(|plies| &game[..plies]));
    all.map(|columns| {
        let mut pos = ConnectFour::initial();
        for index in 0..columns.len() {
            let m = columns[index..=index].parse().expect("a column");
            pos.play(m).expect("the game is not over");
        }
        (columns.to_owned(), pos)
    })
    .collect()
}

/// The input contains valid positions and an illegal sequence of moves: seven discs do not fit into
/// one column.
#[test]
fn positions_on_stdin_are_answered_line_by_line() {
    let positions = late_connect_four_positions();
    let mut input = String::new();
    for (columns, pos) in &positions {
        input += &format!("{columns}\n4444444\n{pos}\n");
    }
    for extra_options in ["", "--every-move", "--threads 2"] {
        let options = format!("analyse --game connect-four --exact --json {extra_options} -");
        let output = run_command(&options, &input);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let answers: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("an object"))
            .collect();
        assert_eq!(answers.len(), 3 * positions.len());
        for ((_, pos), answers) in positions.iter().zip(answers.chunks(3)) {
            let reference = minimax(pos, pos.remaining_plies_max(), Scale::Plies);
            let best: Vec<_> = (reference.moves.iter())
                .filter(|(_, score)| *score == reference.score)
                .map(|(m, _)| m.to_string())
                .collect();
            for answer in [&answers[0], &answers[2]] {
                assert_eq!(
                    answer["score"],
                    pos.conventional_score(reference.score),
                    "{answer}"
                );
                assert_eq!(answer["position"], pos.to_string());
                let best_move = answer["best"].as_str().expect("a move");
                assert!(
                    best.iter().any(|m| m == best_move),
                    "{answer}, best are {best:?}"
                );
                let moves = answer["moves"].as_array().expect("a list").len();
                let expected = if extra_options == "--every-move" {
                    reference.moves.len()
                } else {
                    0
                };
                assert_eq!(moves, expected, "{answer}");
            }
            assert_eq!(answers[1], serde_json::json!({"error": "ply 6: 4 is full"}));
        }
    }
}

#[test]
fn text_answer_to_stdin_line_is_one_line() {
    let options = "analyse --game tic-tac-toe --exact -";
    let output = run_command(options, "a1 b1 a2 b2\n");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("win in 1, score 9, best a3, "), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn perft_counts_nodes_by_ply() {
    let table = run_to_stdout("perft tic-tac-toe --depth 20");
    let last: Vec<_> = table
        .lines()
        .last()
        .expect("rows")
        .split_whitespace()
        .collect();
    assert_eq!(last[..5], ["9", "127872", "81792", "0", "46080"]);
    let rows = run_to_stdout("perft connect-four --depth 3 --json 4444");
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    let nodes = rows
        .iter()
        .map(|row| row["nodes"].as_u64().expect("a number"));
    assert!(nodes.eq([1, 7, 49, 342]), "{rows:?}");
}

/// Moves on the command line can use any notation that the `move` request accepts.
#[test]
fn move_arguments_accept_san_with_move_numbers() {
    let report = run_to_json(
        "analyse --game chess --json --depth 1 c4,e5,Nc3,Nf6,Nb1 --moves Bc5,Nf3,Bxf2+",
    );
    assert_eq!(
        report["position"],
        "rnbqk2r/pppp1ppp/5n2/4p3/2P5/5N2/PP1PPbPP/RNBQKB1R w KQkq - 0 5"
    );
    let rows = run_to_stdout(
        "perft --game chess --depth 1 --json 1.d4,d5,2.Nc3,Nc6,3.Bf4,Bf5,4.Qd3,Qd7,5.O-O-O,0-0-0",
    );
    let last: Value = serde_json::from_str(rows.lines().last().expect("rows")).expect("an object");
    assert_eq!(last["ply"], 1);
    let repeated = "Nf3,Nf6,Ng1,Ng8,".repeat(2);
    let rows = run_to_stdout(&format!("perft --game chess --depth 1 --json {repeated}e4"));
    let last: Value = serde_json::from_str(rows.lines().last().expect("rows")).expect("an object");
    assert_eq!(last["nodes"], 20);
}

#[test]
fn invalid_arguments_are_refused_with_reason() {
    for (options, reason) in [
        ("analyse", "<GAME>"),
        ("analyse whist", "tic-tac-toe"),
        ("analyse --game whist", "tic-tac-toe"),
        (
            "analyse --game connect-four --moves 4,4,4,4,4,4,4",
            "ply 6: 4 is full",
        ),
        (
            "analyse --game connect-four --moves 9",
            "\"9\" is not a move",
        ),
        ("analyse --game connect-four rrr", "not a position"),
        ("analyse --game connect-four --method minimax", "--depth"),
        ("analyse --game tic-tac-toe --scale outcome", "--method"),
        ("analyse --game tic-tac-toe --depth 3 --time 3", "--time"),
        ("analyse --game tic-tac-toe --depth 3 --exact", "--exact"),
        ("analyse --game tic-tac-toe --every-move", "--exact"),
        ("analyse --game tic-tac-toe --moves b2 -", "--moves"),
        ("perft --game tic-tac-toe", "--depth"),
        (
            "perft --game tic-tac-toe --depth 2 nowhere",
            "not a position",
        ),
    ] {
        let output = run_command(options, "");
        assert_eq!(output.status.code(), Some(2), "{options}: {output:?}");
        assert!(output.stdout.is_empty(), "{options}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(reason), "{options}: {stderr}");
    }
}

#[test]
fn unfinished_exact_search_prints_only_an_error() {
    let options = "analyse --game connect-four --exact --time 0";
    let output = run_command(options, "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let reason = "the search ended before the exact value was known";
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(reason), "{stderr}");

    let output = run_command(&format!("{options} --json"), "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(answer, serde_json::json!({"error": reason}));
}
