//! Tests of `plyhouse match` with external engines, including engines that misbehave.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Maximum time to wait for a result. Normal runs take much less time.
const TIMEOUT: Duration = Duration::from_secs(60);

const BINARY: &str = env!("CARGO_BIN_EXE_plyhouse");

fn run_match_command(arguments: &[&str]) -> Output {
    let output = Command::new(BINARY).arg("match").args(arguments).output();
    output.expect("the binary runs")
}

/// Runs a match between two players and returns the entry for this pair in the report.
fn play_match(arguments: &[&str]) -> Value {
    let output = run_match_command(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["pairs"][0].clone()
}

/// Plays games between `plyhouse engine` and the level `beginner`, over the default engine protocol
/// of the game. Asserts that the engine wins more games than it loses and that the report counts no
/// faults.
fn assert_engine_plays(game: &str, time_option: &str, extension: &str, record_start: &str) {
    let directory = tempfile::tempdir().expect("a folder");
    let file = directory.path().join(format!("games.{extension}"));
    let command = format!("cmd={BINARY} engine --game {game} --time 20 --table 8");
    let mut arguments = vec![game, "--engine", &command, time_option, "name=program"];
    arguments.extend([
        "--engine",
        "level=beginner",
        "--games",
        "4",
        "--concurrency",
        "2",
    ]);
    arguments.extend(["--each", "timemargin=60000", "--openings", "random:4"]);
    let path = file.to_str().expect("UTF-8");
    if !extension.is_empty() {
        arguments.extend(["--out", path]);
    }
    let row = play_match(&arguments);
    assert_eq!(row["games"], 4, "{row}");
    assert!(row["wins"].as_u64() > row["losses"].as_u64(), "{row}");
    for faults in row["faults"].as_array().expect("faults of both players") {
        let all = faults.as_object().expect("an object").values();
        assert!(all.clone().all(|count| count == 0), "{faults}");
    }
    if !extension.is_empty() {
        let games = fs::read_to_string(&file).expect("the file was written");
        assert_eq!(games.matches(record_start).count(), 4, "{games}");
        assert_eq!(games.matches("program").count() % 4, 0, "{games}");
    }
}

#[test]
fn uci_engine_plays_chess() {
    assert_engine_plays("chess", "nodes=300", "pgn", "[White ");
}

#[test]
fn uci_engine_plays_other_games() {
    assert_engine_plays("othello", "st=0.05", "sgf", "(;FF[4]");
    assert_engine_plays("draughts", "tc=9+0.05", "pdn", "[White ");
    assert_engine_plays("connect-four", "depth=6", "", "");
}

#[test]
fn gtp_engine_plays_go() {
    assert_engine_plays("go", "tc=inf", "sgf", "(;FF[4]");
}

#[test]
fn piskvork_engine_plays_gomoku() {
    assert_engine_plays("gomoku", "st=0.1", "sgf", "(;FF[4]");
}

/// Returns a shell script that acts as a UCI engine. On `go`, the script runs the command `answer`.
fn uci_script(answer: &str) -> String {
    format!(
        "while read -r line; do case $line in uci) echo uciok;; isready) echo readyok;; \
         go*) {answer};; esac; done"
    )
}

/// Plays two chess games against a UCI engine that runs the shell command `answer` on `go`. Asserts
/// that the engine loses both games, and returns its fault counts.
fn count_faults(answer: &str) -> Value {
    let script = format!("arg={}", uci_script(answer));
    let row = play_match(&[
        "chess",
        "--engine",
        "cmd=sh",
        "arg=-c",
        &script,
        "name=bad",
        "--engine",
        "level=beginner",
        "--each",
        "st=0.1",
        "--games",
        "2",
    ]);
    assert_eq!(
        (&row["games"], &row["losses"]),
        (&2.into(), &2.into()),
        "{row}"
    );
    row["faults"][0].clone()
}

/// An engine that crashes, makes an illegal move or exceeds its time loses the game. The engine
/// still plays the next game.
#[test]
fn engine_loses_by_crash_illegal_move_or_timeout() {
    assert_eq!(count_faults("exit 1")["crashes"], 2);
    assert_eq!(count_faults("echo bestmove a1a8")["illegal"], 2);
    assert_eq!(count_faults("echo nonsense")["time"], 2);
}

/// Engines silently ignore unknown options and values, so `plyhouse match` checks them.
#[test]
fn unknown_engine_option_or_value_is_refused() {
    let command = format!("cmd={BINARY} engine --game chess");
    let run_with_option = |option: &str| {
        let program = ["chess", "--engine", &command, "nodes=10", option];
        let others = ["--engine", "level=beginner", "--games", "2"];
        run_match_command(&[&program[..], &others].concat())
    };
    let output = run_with_option("option.Hsah=8");
    assert!(!output.status.success(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).expect("text");
    let expected = "unknown UCI option 'Hsah': expected one of Hash, Clear Hash, Threads, ";
    assert!(stderr.contains(expected), "{stderr}");
    let output = run_with_option("option.Level=grandmaster");
    assert!(!output.status.success(), "{output:?}");
    let stderr = String::from_utf8(output.stderr).expect("text");
    let expected = "invalid value 'grandmaster' for UCI option 'Level': \
        expected one of beginner, easy, medium, hard, full";
    assert!(stderr.contains(expected), "{stderr}");
    assert!(run_with_option("option.hash=8").status.success());
}

/// The engine's child process holds a pipe open for writing. If the test can read the pipe to its
/// end, the child process has been killed.
#[test]
fn child_processes_of_hanging_engine_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let status = Command::new("mkfifo").arg(&pipe).status();
    assert!(status.expect("mkfifo runs").success());
    let path = pipe.to_str().expect("UTF-8");
    let hang = format!("sleep 1000 > {path} & wait");
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(fs::read(pipe).expect("readable")));
    assert_eq!(count_faults(&hang)["time"], 2);
    assert_eq!(receiver.recv_timeout(TIMEOUT), Ok(Vec::new()));
}

const LEVEL_MATCH_ARGUMENTS: [&str; 8] = [
    "tic-tac-toe",
    "--engine",
    "level=max",
    "nodes=2000",
    "--engine",
    "level=beginner",
    "--openings",
    "random:2",
];

#[test]
fn level_match_is_reproducible_and_sprt_stops_it_early() {
    let all = play_match(
        &[
            &LEVEL_MATCH_ARGUMENTS[..],
            &["--games", "100", "--concurrency", "3"],
        ]
        .concat(),
    );
    assert_eq!(
        all,
        play_match(&[&LEVEL_MATCH_ARGUMENTS[..], &["--games", "100"]].concat())
    );
    let points = all["pentanomial"].as_array().expect("five counts");
    assert_eq!(points.iter().filter_map(Value::as_u64).sum::<u64>(), 50);
    assert!(all["low"].as_f64() > Some(0.0), "{all}");
    let decided = play_match(
        &[
            &LEVEL_MATCH_ARGUMENTS[..],
            &["--games", "100", "--sprt", "elo0=0", "elo1=50"],
        ]
        .concat(),
    );
    assert_eq!(decided["sprt"]["verdict"], "h1", "{decided}");
    assert!(decided["games"].as_u64() < Some(100), "{decided}");
}

#[test]
fn interrupted_match_prints_report_and_fails() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut command = Command::new(BINARY);
        // The match has so many games that it is still running when the test sends the signal.
        let games = ["--openings", "random:8", "--games", "2000"];
        command.args(["match", "connect-four", "--engine", "level=hard"]);
        command.args(["--engine", "level=beginner"]).args(games);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn().expect("the binary runs");
        let mut stderr = BufReader::new(process.stderr.take().expect("piped"));
        stderr.read_line(&mut String::new()).expect("text");
        kill_process(Pid::from_child(&process), signal).expect("the process is running");
        let output = process.wait_with_output().expect("the process exits");
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).expect("text");
        assert_eq!(output.status.code(), Some(1), "{rest}");
        assert!(rest.contains("plyhouse: match interrupted; "), "{rest}");
        let report = String::from_utf8(output.stdout).expect("text");
        assert!(report.contains("hard against beginner: "), "{report}");
    }
}

/// The engine's child process holds a pipe open for writing. If the test can read the pipe to its
/// end, the child process has been killed.
#[test]
fn terminated_match_kills_its_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let status = Command::new("mkfifo").arg(&pipe).status();
    assert!(status.expect("mkfifo runs").success());
    let path = pipe.to_str().expect("UTF-8");
    let script = uci_script(&format!("sleep 1000 > {path} & wait"));
    let mut command = Command::new(BINARY);
    command.args(["match", "chess", "--engine", "cmd=sh", "arg=-c"]);
    command.args([
        &format!("arg={script}"),
        "st=1000",
        "--engine",
        "level=beginner",
    ]);
    let mut process = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("the process is running");
    // Opening the pipe blocks until the engine's child process opens the pipe for writing. The
    // child process starts when the engine must search.
    let mut pipe_reader = fs::File::open(&pipe).expect("readable");
    kill_process(Pid::from_child(&process), Signal::TERM).expect("the process is running");
    let mut rest = Vec::new();
    pipe_reader
        .read_to_end(&mut rest)
        .expect("the pipe is closed");
    assert_eq!(process.wait().expect("the process exits").code(), Some(1));
}

/// Plays four games between an engine script and the level `beginner`. The folder
/// `engine_match_command/` contains the scripts.
fn assert_script_plays(game: &str, script: &str, time_option: &str) {
    let path = format!(
        "{}/tests/it/engine_match_command/{script}",
        env!("CARGO_MANIFEST_DIR")
    );
    let row = play_match(&[
        game,
        "--engine",
        "cmd=sh",
        &format!("arg={path}"),
        "name=script",
        time_option,
        "--engine",
        "level=beginner",
        "--games",
        "4",
        "--openings",
        "random:2",
        "--each",
        "timemargin=60000",
    ]);
    assert_eq!(row["games"], 4, "{row}");
    for faults in row["faults"].as_array().expect("faults of both players") {
        let mut all = faults.as_object().expect("an object").values();
        assert!(all.all(|count| count == 0), "{row}");
    }
}

#[test]
fn gtp_engine_without_time_commands_plays() {
    for pace in ["tc=60+1", "st=1", "tc=25/5:00"] {
        assert_script_plays("go", "gtp_without_time.sh", pace);
    }
}

#[test]
fn gomoku_engine_with_cr_line_ends_and_comments_plays() {
    for pace in ["tc=60+1", "st=1", "tc=inf"] {
        assert_script_plays("gomoku", "gomoku_from_specification.sh", pace);
    }
}

/// If an engine answers a command with an error, the report counts a refusal and not a crash.
#[test]
fn refused_command_is_reported_with_engine_message() {
    for (command, sent, engine_message) in [
        ("boardsize", "boardsize 9", "unacceptable size"),
        ("komi", "komi 7", "no komi here"),
        ("genmove", "genmove b", "I do not play black"),
    ] {
        let script = format!(
            "arg=while read -r line; do case $line in \
             {command}*) printf '? {engine_message}\\n\\n';; *) printf '=\\n\\n';; esac; done"
        );
        let arguments = ["go", "--engine", "cmd=sh", "arg=-c", &script, "name=bad"];
        let others = ["--engine", "level=beginner", "--openings", "random:2"];
        let row = play_match(&[&arguments[..], &others, &["--games", "2"]].concat());
        let faults = &row["faults"][0];
        assert_eq!(faults["crashes"], 0, "{row}");
        assert_eq!(
            faults["refusals"].as_u64().expect("a number"),
            row["losses"]
        );
        assert_eq!(
            faults["refused"],
            format!("{sent}: {engine_message}"),
            "{row}"
        );
    }
}

/// Plays two games and writes their records to a file with the given extension. Returns the entry
/// for this pair in the report, and the contents of the file.
fn play_to_file(extension: &str, arguments: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(format!("games.{extension}"));
    let out = ["--games", "2", "--out", file.to_str().expect("UTF-8")];
    let row = play_match(&[arguments, &out].concat());
    (
        row,
        fs::read_to_string(&file).expect("the file was written"),
    )
}

const RESIGN_OPTIONS: [&str; 3] = ["--resign", "movecount=1", "score=1"];

/// Tests adjudication by scores from UCI engines and by scores from built-in levels. Also checks
/// that game records mark adjudicated games.
#[test]
fn decisive_or_equal_scores_adjudicate_game() {
    let command = format!("cmd={BINARY} engine --game chess --table 8");
    let program = ["chess", "--engine", &command, "depth=1", "name=program"];
    let beginner = ["--engine", "level=beginner"];
    let termination_tag = "[Termination \"adjudication\"]";
    let (row, games) = play_to_file("pgn", &[&program[..], &beginner, &RESIGN_OPTIONS].concat());
    assert_eq!(
        (&row["adjudicated"], &row["draws"]),
        (&2.into(), &0.into()),
        "{row}"
    );
    assert_eq!(games.matches(termination_tag).count(), 2, "{games}");

    // In this position, the pawns block each other. A capture or pawn move would restart the move
    // count of `--draw`.
    let folder = tempfile::tempdir().expect("a folder");
    let openings = folder.path().join("openings");
    fs::write(&openings, "4k3/8/p1p1p3/P1P1P3/8/8/8/4K3 w - - 0 1\n")
        .expect("the file is writable");
    let openings = ["--openings", openings.to_str().expect("UTF-8")];
    let draw = ["--draw", "movenumber=2", "movecount=2", "score=100000"];
    let drawn = [&program[..], &beginner, &openings, &draw].concat();
    let (row, games) = play_to_file("pgn", &drawn);
    assert_eq!(
        (&row["adjudicated"], &row["draws"]),
        (&2.into(), &2.into()),
        "{row}"
    );
    for tag in [termination_tag, "[Result \"1/2-1/2\"]", "[PlyCount \"4\"]"] {
        assert_eq!(games.matches(tag).count(), 2, "{games}");
    }

    let levels = [
        "othello",
        "--engine",
        "level=easy",
        "--engine",
        "level=beginner",
    ];
    let (row, games) = play_to_file("sgf", &[&levels[..], &RESIGN_OPTIONS].concat());
    assert_eq!(row["adjudicated"], 2, "{row}");
    assert_eq!(games.matches("GC[Adjudicated").count(), 2, "{games}");
    let levels = [
        "draughts",
        "--engine",
        "level=hard",
        "--engine",
        "level=beginner",
    ];
    let (row, games) = play_to_file("pdn", &[&levels[..], &RESIGN_OPTIONS].concat());
    assert_eq!(row["adjudicated"], 2, "{row}");
    assert_eq!(games.matches(termination_tag).count(), 2, "{games}");
}

#[test]
fn engine_without_scores_prevents_adjudication() {
    let script = "tests/it/engine_match_command/gomoku_from_specification.sh";
    let script = format!("arg={}/{script}", env!("CARGO_MANIFEST_DIR"));
    let players = [
        "gomoku",
        "--engine",
        "cmd=sh",
        &script,
        "--engine",
        "level=easy",
    ];
    for options in [
        &[&RESIGN_OPTIONS[..], &["twosided=true"]].concat(),
        &vec!["--draw", "movenumber=0", "movecount=1", "score=100000"],
    ] {
        let row = play_match(&[&players[..], &["--games", "2"], options].concat());
        assert_eq!(
            (&row["games"], row.get("adjudicated")),
            (&2.into(), None),
            "{row}"
        );
    }
}

#[test]
fn games_are_appended_after_an_empty_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    let path = file.to_str().expect("UTF-8");
    for (before, separator) in [
        ("", ""),
        ("1. e4 1-0", "\n\n"),
        ("1. e4 1-0\n", "\n"),
        ("1. e4 1-0\r\n", "\n"),
        ("1. e4 1-0\n\n", ""),
        ("1. e4 1-0\r\n\r\n", ""),
        ("x", "\n\n"),
    ] {
        fs::write(&file, before).expect("the file is writable");
        let arguments = [
            "chess",
            "--engine",
            "level=easy",
            "--engine",
            "level=beginner",
        ];
        let options = [
            "--games",
            "2",
            "--resign",
            "movecount=1",
            "score=1",
            "--out",
            path,
        ];
        let output = run_match_command(&[&arguments[..], &options].concat());
        assert!(output.status.success(), "{output:?}");
        let games = fs::read_to_string(&file).expect("the file was written");
        let expected = format!("{before}{separator}[Event ");
        assert!(games.starts_with(&expected), "{before:?}: {games}");
        assert_eq!(
            games.matches("\n[Event ").count(),
            2 - usize::from(before.is_empty())
        );
    }
}

/// Options of the program cutechess begin with a single dash. If a user types a single dash here,
/// the error message suggests the correct option.
#[test]
fn single_dash_option_suggests_double_dash() {
    for (command_line, suggestion) in [
        ("chess -engine level=easy", "did you mean --engine?"),
        (
            "chess --engine level=easy -each st=1",
            "did you mean --each?",
        ),
        ("chess -concurrency 4", "did you mean --concurrency?"),
        ("chess -rounds 10", "did you mean --games"),
    ] {
        let arguments: Vec<&str> = command_line.split(' ').collect();
        let output = run_match_command(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(suggestion), "{arguments:?}: {error}");
    }
}

#[test]
fn engine_starts_in_its_directory_and_from_path_with_spaces() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("d x");
    fs::create_dir(&root).expect("the directory is created");
    let decoy = folder.path().join("d");
    let script = format!(
        "#!/bin/sh\npwd > seen\n{}\n",
        uci_script("echo bestmove resign")
    );
    for (file, script) in [
        (&decoy, "#!/bin/sh\nexit 1\n"),
        (&root.join("my engine"), &script),
    ] {
        fs::write(file, script).expect("the file is writable");
        let status = Command::new("chmod").arg("+x").arg(file).status();
        assert!(status.expect("chmod runs").success());
    }
    let root = fs::canonicalize(&root).expect("the directory exists");
    let directory = format!("dir={}", root.to_str().expect("UTF-8"));
    let absolute_command = format!("cmd={}/my engine", root.to_str().expect("UTF-8"));
    for command in [
        &*absolute_command,
        "cmd=my engine",
        "cmd='./my engine' --flag",
    ] {
        let players = ["chess", "--engine", command, &directory, "proto=uci"];
        let others = ["st=1", "--engine", "level=beginner", "--games", "2"];
        let row = play_match(&[&players[..], &others].concat());
        assert_eq!(row["faults"][0]["illegal"], 2, "{command}: {row}");
        let working_directory = fs::read_to_string(root.join("seen")).expect("the file exists");
        assert_eq!(working_directory.trim_end(), root.to_str().expect("UTF-8"));
        fs::remove_file(root.join("seen")).expect("the file exists");
    }
}

/// Checks which pairs of players meet in each tournament type, and that the standings list all
/// three players.
#[test]
fn round_robin_and_gauntlet_play_expected_pairs() {
    let play_pairings = |kind: &str| {
        let arguments = [
            &LEVEL_MATCH_ARGUMENTS[..],
            &["--engine", "level=hard", "--games", "4", "--json"],
        ]
        .concat();
        let output = run_match_command(&[&arguments[..], &["--tournament", kind]].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let pairs = report["pairs"].as_array().expect("pairs").iter();
        let pairs =
            pairs.map(|row| format!("{} {}", row["player"], row["opponent"]).replace('"', ""));
        assert_eq!(report["standing"].as_array().map(Vec::len), Some(3));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(
        play_pairings("round-robin"),
        ["max beginner", "max hard", "beginner hard"]
    );
    assert_eq!(play_pairings("gauntlet"), ["max beginner", "max hard"]);
}

#[test]
fn invalid_match_arguments_are_refused_before_play() {
    const ONE_PLAYER: &str = "chess --engine level=easy";
    const TWO_PLAYERS: &str = "chess --engine level=easy --engine level=hard";
    for (arguments, reason) in [
        (ONE_PLAYER.to_owned(), "two players"),
        (
            format!("{ONE_PLAYER} --engine level=easy"),
            "two players have the name 'easy'",
        ),
        (
            format!("{ONE_PLAYER} --engine cmd=/nowhere/at-all st=1"),
            "cannot start /nowhere/at-all",
        ),
        (
            format!("{ONE_PLAYER} --engine cmd=true st=1"),
            "did not become ready",
        ),
        (format!("{TWO_PLAYERS} --openings /nowhere"), "/nowhere"),
        (format!("{TWO_PLAYERS} --out games.sgf"), ".pgn"),
        (
            format!("{TWO_PLAYERS} --out games.pgn").replace("chess", "tic-tac-toe"),
            ".txt",
        ),
        (format!("{TWO_PLAYERS} --sprt elo0=5 elo1=5"), "elo0"),
        (
            format!("{TWO_PLAYERS} --resign movecount=3"),
            "--resign: score= is missing",
        ),
        (
            format!("{TWO_PLAYERS} --draw movecount=3 score=1"),
            "--draw: movenumber= is missing",
        ),
        (
            format!("{ONE_PLAYER} --engine level=hard option.Hash=1"),
            "a level has no options",
        ),
        (
            format!("{ONE_PLAYER} --engine cmd=true dir=/nowhere st=1"),
            "is not a directory",
        ),
        (format!("{ONE_PLAYER} --engine cmd=true tc=40/x"), "tc=40/x"),
    ] {
        let split_arguments: Vec<&str> = arguments.split(' ').collect();
        let output = run_match_command(&split_arguments);
        assert!(!output.status.success(), "{arguments}");
        assert!(output.stdout.is_empty(), "{arguments}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(reason), "{arguments}: {stderr}");
    }
}

/// For a game whose engines use UCI, the openings file can contain positions in the format of the
/// Plyhouse protocol.
#[test]
fn openings_file_may_contain_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("openings");
    let mut pos = plyhouse_engine::catalog::find_game("othello")
        .expect("a known game")
        .initial_position();
    pos.play("d3").expect("a legal move");
    fs::write(&file, format!("# one move\n{pos}\n")).expect("the file is writable");
    let path = file.to_str().expect("UTF-8");
    let command = format!("cmd={BINARY} engine --game othello");
    let row = play_match(&[
        "othello",
        "--engine",
        &command,
        "depth=2",
        "--engine",
        "level=beginner",
        "--games",
        "2",
        "--each",
        "timemargin=60000",
        "--openings",
        path,
    ]);
    assert_eq!(row["games"], 2, "{row}");
    assert_eq!(row["faults"][0]["illegal"], 0, "{row}");
}

#[test]
fn game_files_contain_initial_position() {
    let folder = tempfile::tempdir().expect("a folder");
    let ending = "4k3/8/8/8/8/8/4P3/4K2R b K - 3 20";
    // The first rank of the Othello board is at the top.
    let othello = format!("{}*-------**------*O{} O", "-".repeat(19), "-".repeat(27));
    for (game, opening, extension, position_tag) in [
        (
            "chess",
            ending,
            "pgn",
            format!("[SetUp \"1\"]\n[FEN \"{ending}\"]\n"),
        ),
        (
            "othello",
            &othello,
            "sgf",
            "\nAB[dc][dd][ed][de]AW[ee]PL[W]\n".to_owned(),
        ),
    ] {
        let openings = folder.path().join("openings");
        fs::write(&openings, format!("{opening}\n")).expect("the file is writable");
        let games = folder.path().join(format!("games.{extension}"));
        let paths = [&openings, &games].map(|path| path.to_str().expect("UTF-8"));
        let output = run_match_command(&[
            game,
            "--engine",
            "level=easy",
            "--engine",
            "level=beginner",
            "--games",
            "2",
            "--openings",
            paths[0],
            "--out",
            paths[1],
        ]);
        assert!(output.status.success(), "{output:?}");
        let games = fs::read_to_string(&games).expect("the file was written");
        assert_eq!(games.matches(&position_tag).count(), 2, "{games}");
    }
}
