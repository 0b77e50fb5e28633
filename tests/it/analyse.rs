//! `plyhouse analyse` and `plyhouse perft`, as a person or a script uses them.

use std::process::Output;

use plyhouse_engine::game::Position;
use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::search::Evaluate;
use plyhouse_engine::search::minimax::{Scale, minimax};
use serde_json::Value;

use crate::corpus;

/// Runs the binary with these options, separated by spaces, and this on stdin.
fn run(options: &str, input: &str) -> Output {
    let options: Vec<&str> = options.split_whitespace().collect();
    corpus::run(&options, input)
}

fn stdout(options: &str) -> String {
    let output = run(options, "");
    assert!(output.status.success(), "{options}: {output:?}");
    assert!(output.stderr.is_empty(), "no progress without a terminal");
    String::from_utf8(output.stdout).expect("text")
}

fn json(options: &str) -> Value {
    serde_json::from_str(&stdout(options)).expect("one object")
}

/// What each idea saves, as the textbooks count it on the empty board.
#[test]
fn the_counts_of_the_textbook() {
    for (options, nodes, pruned) in [
        ("--method minimax", 549_946, 0),
        ("--method minimax --scale outcome", 549_946, 0),
        ("--method alpha-beta", 20_866, 7_788),
        ("--method alpha-beta --scale outcome", 18_297, 6_930),
    ] {
        let answer = json(&format!("analyse --game tic-tac-toe --json {options}"));
        assert_eq!(answer["nodes"], nodes, "{options}");
        assert_eq!(answer["pruned"], pruned, "{options}");
        assert_eq!(answer["result"], "draw", "{options}");
        assert_eq!(answer["moves"].as_array().expect("moves").len(), 9);
    }
    let engine = json("analyse tic-tac-toe --json");
    assert!(engine["nodes"].as_u64() < Some(18_297), "{engine}");
    assert_eq!(engine["exact"], true);
}

#[test]
fn a_page_for_people() {
    let page = stdout("analyse --game tic-tac-toe xox/oox/... --moves c1");
    let over = "xox/oox/..x\no has lost, score -10\n";
    assert_eq!(page, over);

    let page = stdout("analyse --game tic-tac-toe --moves a1,b2,c3,a3,c1 --method alpha-beta");
    let lines: Vec<_> = page.lines().collect();
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
        "{page}"
    );
    assert!(page.contains("moves pruned"), "{page}");
}

#[test]
fn what_the_fields_say() {
    // Three discs are over each other: the fourth wins, anything else lets the other side block.
    let answer = json("analyse --game connect-four --json --depth 3 414141");
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

/// Late positions of Connect Four, by the columns that lead to them.
fn late_positions() -> Vec<(String, ConnectFour)> {
    // Each fills the board without a line.
    const GAMES: [&str; 3] = [
        "656173566152215676422337377473141445425321",
        "333233475547221356727721556624566416474111",
        "475347612621137563725651155664722724334341",
    ];
    let all = GAMES
        .iter()
        .flat_map(|game| (34..42).map(|plies| &game[..plies]));
    all.map(|columns| {
        let mut pos = ConnectFour::initial();
        for index in 0..columns.len() {
            let m = columns[index..=index].parse().expect("a column");
            pos.play(m).expect("nobody has won yet");
        }
        (columns.to_owned(), pos)
    })
    .collect()
}

/// The values of a test set, with lines in between that cannot be answered.
#[test]
fn a_test_set_is_answered_line_by_line() {
    let positions = late_positions();
    let mut input = String::new();
    for (columns, pos) in &positions {
        input += &format!("{columns}\n4444444\n{pos}\n");
    }
    for more in ["", "--every-move", "--threads 2"] {
        let options = format!("analyse --game connect-four --exact --json {more} -");
        let output = run(&options, &input);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let answers: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("an object"))
            .collect();
        assert_eq!(answers.len(), 3 * positions.len());
        for ((_, pos), answers) in positions.iter().zip(answers.chunks(3)) {
            let truth = minimax(pos, pos.remaining_plies_max(), Scale::Plies);
            let best: Vec<_> = (truth.moves.iter())
                .filter(|(_, score)| *score == truth.score)
                .map(|(m, _)| m.to_string())
                .collect();
            for answer in [&answers[0], &answers[2]] {
                assert_eq!(
                    answer["score"],
                    pos.conventional_score(truth.score),
                    "{answer}"
                );
                assert_eq!(answer["position"], pos.to_string());
                let told = answer["best"].as_str().expect("a move");
                assert!(
                    best.iter().any(|m| m == told),
                    "{answer}, best are {best:?}"
                );
                let moves = answer["moves"].as_array().expect("a list").len();
                let expected = if more == "--every-move" {
                    truth.moves.len()
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
fn a_line_is_a_line_as_text_too() {
    let options = "analyse --game tic-tac-toe --exact -";
    let output = run(options, "a1 b1 a2 b2\n");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("win in 1, score 9, best a3, "), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn lines_of_play_are_counted() {
    let table = stdout("perft tic-tac-toe --depth 20");
    let last: Vec<_> = table
        .lines()
        .last()
        .expect("rows")
        .split_whitespace()
        .collect();
    assert_eq!(last[..5], ["9", "127872", "81792", "0", "46080"]);
    let rows = stdout("perft connect-four --depth 3 --json 4444");
    let rows: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    let nodes = rows
        .iter()
        .map(|row| row["nodes"].as_u64().expect("a number"));
    assert!(nodes.eq([1, 7, 49, 342]), "{rows:?}");
}

/// Arguments take what a `move` request takes.
#[test]
fn arguments_are_read_as_players_write_moves() {
    let told =
        json("analyse --game chess --json --depth 1 c4,e5,Nc3,Nf6,Nb1 --moves Bc5,Nf3,Bxf2+");
    assert_eq!(
        told["position"],
        "rnbqk2r/pppp1ppp/5n2/4p3/2P5/5N2/PP1PPbPP/RNBQKB1R w KQkq - 0 5"
    );
    let rows = stdout(
        "perft --game chess --depth 1 --json 1.d4,d5,2.Nc3,Nc6,3.Bf4,Bf5,4.Qd3,Qd7,5.O-O-O,0-0-0",
    );
    let last: Value = serde_json::from_str(rows.lines().last().expect("rows")).expect("an object");
    assert_eq!(last["ply"], 1);
    let repeated = "Nf3,Nf6,Ng1,Ng8,".repeat(2);
    let rows = stdout(&format!("perft --game chess --depth 1 --json {repeated}e4"));
    let last: Value = serde_json::from_str(rows.lines().last().expect("rows")).expect("an object");
    assert_eq!(last["nodes"], 20);
}

#[test]
fn what_cannot_be_done_is_said() {
    for (options, why) in [
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
        let output = run(options, "");
        assert_eq!(output.status.code(), Some(2), "{options}: {output:?}");
        assert!(output.stdout.is_empty(), "{options}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(why), "{options}: {said}");
    }
}

/// Without time there is no exact value of the empty board, and no other is told.
#[test]
fn exact_is_all_or_nothing() {
    let options = "analyse --game connect-four --exact --time 0";
    let output = run(options, "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let why = "the search ended before the exact value was known";
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(why), "{said}");

    let output = run(&format!("{options} --json"), "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(told, serde_json::json!({"error": why}));
}
