//! `plyhouse match`: other programs at the board, and what becomes of those that do something wrong.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// How long anything may take; far longer than it does.
const PATIENCE: Duration = Duration::from_secs(60);

const BINARY: &str = env!("CARGO_BIN_EXE_plyhouse");

fn run(arguments: &[&str]) -> Output {
    let output = Command::new(BINARY).arg("match").args(arguments).output();
    output.expect("the binary runs")
}

/// The one pair of a contest.
fn row(arguments: &[&str]) -> Value {
    let output = run(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["pairs"][0].clone()
}

/// `plyhouse engine` plays for the game's protocol, and nobody does anything wrong.
fn check_plays(game: &str, pace: &str, extension: &str, begins: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(format!("games.{extension}"));
    let command = format!("cmd={BINARY} engine --game {game} --time 20 --table 8");
    let mut arguments = vec![game, "--engine", &command, pace, "name=program"];
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
    let row = row(&arguments);
    assert_eq!(row["games"], 4, "{row}");
    assert!(row["wins"].as_u64() > row["losses"].as_u64(), "{row}");
    for faults in row["faults"].as_array().expect("both") {
        let all = faults.as_object().expect("an object").values();
        assert!(all.clone().all(|count| count == 0), "{faults}");
    }
    if !extension.is_empty() {
        let games = fs::read_to_string(&file).expect("it was written");
        assert_eq!(games.matches(begins).count(), 4, "{games}");
        assert_eq!(games.matches("program").count() % 4, 0, "{games}");
    }
}

#[test]
fn programs_play_by_uci() {
    check_plays("chess", "nodes=300", "pgn", "[White ");
}

#[test]
fn programs_play_by_uci_what_is_not_chess() {
    check_plays("othello", "st=0.05", "sgf", "(;FF[4]");
    check_plays("draughts", "tc=9+0.05", "pdn", "[White ");
    check_plays("connect-four", "depth=6", "", "");
}

#[test]
fn programs_play_by_gtp() {
    check_plays("go", "tc=inf", "sgf", "(;FF[4]");
}

#[test]
fn programs_play_by_piskvork() {
    check_plays("gomoku", "st=0.1", "sgf", "(;FF[4]");
}

/// A program that is ready, and does this when it is asked for a move.
fn with_answer(answer: &str) -> String {
    format!(
        "while read -r line; do case $line in uci) echo uciok;; isready) echo readyok;; \
         go*) {answer};; esac; done"
    )
}

/// What such a program has lost by, in two games of chess.
fn faults_of(answer: &str) -> Value {
    let script = format!("arg={}", with_answer(answer));
    let row = row(&[
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

/// Each costs the game, and the program is there again for the next.
#[test]
fn who_plays_what_cannot_be_played_or_ends_or_hangs_loses() {
    assert_eq!(faults_of("exit 1")["crashes"], 2);
    assert_eq!(faults_of("echo bestmove a1a8")["illegal"], 2);
    assert_eq!(faults_of("echo nonsense")["time"], 2);
}

/// An option that a program does not have, or a value that it does not take, would be passed over in silence.
#[test]
fn an_option_that_a_program_has_not_is_refused() {
    let command = format!("cmd={BINARY} engine --game chess");
    let contest = |option: &str| {
        let program = ["chess", "--engine", &command, "nodes=10", option];
        let others = ["--engine", "level=beginner", "--games", "2"];
        run(&[&program[..], &others].concat())
    };
    let output = contest("option.Hsah=8");
    assert!(!output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).expect("text");
    let expected = "it has no option Hsah: it has Hash, Clear Hash, Threads, ";
    assert!(told.contains(expected), "{told}");
    let output = contest("option.Level=grandmaster");
    assert!(!output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).expect("text");
    let expected =
        "its option Level takes one of beginner, easy, medium, hard, full, not \"grandmaster\"";
    assert!(told.contains(expected), "{told}");
    assert!(contest("option.hash=8").status.success());
}

/// Whatever a program has started ends with it: a pipe that it writes to is closed.
#[test]
fn nothing_is_left_of_a_program_that_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let path = pipe.to_str().expect("UTF-8");
    let hang = format!("sleep 1000 > {path} & wait");
    let (tell, closed) = channel();
    thread::spawn(move || tell.send(fs::read(pipe).expect("it can be read")));
    assert_eq!(faults_of(&hang)["time"], 2);
    assert_eq!(closed.recv_timeout(PATIENCE), Ok(Vec::new()));
}

const LEVELS: [&str; 8] = [
    "tic-tac-toe",
    "--engine",
    "level=max",
    "nodes=2000",
    "--engine",
    "level=beginner",
    "--openings",
    "random:2",
];

/// Levels of this binary: the same games every time, and a test that is over before all are played.
#[test]
fn a_contest_repeats_and_ends_when_it_is_decided() {
    let all = row(&[&LEVELS[..], &["--games", "100", "--concurrency", "3"]].concat());
    assert_eq!(all, row(&[&LEVELS[..], &["--games", "100"]].concat()));
    let points = all["pentanomial"].as_array().expect("five");
    assert_eq!(points.iter().filter_map(Value::as_u64).sum::<u64>(), 50);
    assert!(all["low"].as_f64() > Some(0.0), "{all}");
    let decided = row(&[
        &LEVELS[..],
        &["--games", "100", "--sprt", "elo0=0", "elo1=50"],
    ]
    .concat());
    assert_eq!(decided["sprt"]["verdict"], "h1", "{decided}");
    assert!(decided["games"].as_u64() < Some(100), "{decided}");
}

/// Ctrl-C and SIGTERM break a contest off: the report of the games so far is printed, and that they are not all.
#[test]
fn a_contest_that_is_broken_off_prints_its_report_and_fails() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut started = Command::new(BINARY);
        // So many that it could not be over before it is told to stop.
        let games = ["--openings", "random:8", "--games", "2000"];
        started.args(["match", "connect-four", "--engine", "level=hard"]);
        started.args(["--engine", "level=beginner"]).args(games);
        let piped = started.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut contest = piped.spawn().expect("the binary runs");
        let mut told = BufReader::new(contest.stderr.take().expect("piped"));
        told.read_line(&mut String::new()).expect("text");
        kill_process(Pid::from_child(&contest), signal).expect("it runs");
        let output = contest.wait_with_output().expect("it ends");
        let mut rest = String::new();
        told.read_to_string(&mut rest).expect("text");
        assert_eq!(output.status.code(), Some(1), "{rest}");
        assert!(rest.contains("plyhouse: broken off: "), "{rest}");
        let report = String::from_utf8(output.stdout).expect("text");
        assert!(report.contains("hard against beginner: "), "{report}");
    }
}

/// Programs end with a contest that SIGTERM ends: a pipe that they write to is closed.
#[test]
fn programs_end_with_a_contest_that_is_terminated() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let path = pipe.to_str().expect("UTF-8");
    let script = with_answer(&format!("sleep 1000 > {path} & wait"));
    let mut started = Command::new(BINARY);
    started.args(["match", "chess", "--engine", "cmd=sh", "arg=-c"]);
    started.args([
        &format!("arg={script}"),
        "st=1000",
        "--engine",
        "level=beginner",
    ]);
    let mut contest = started.stdout(Stdio::piped()).spawn().expect("it runs");
    // Opens only once the program thinks.
    let mut hangs = fs::File::open(&pipe).expect("it can be read");
    kill_process(Pid::from_child(&contest), Signal::TERM).expect("it runs");
    let mut rest = Vec::new();
    hangs.read_to_end(&mut rest).expect("it is closed");
    assert_eq!(contest.wait().expect("it ends").code(), Some(1));
}

/// A contest of four games against a beginner, of a program in a file beside this one.
fn check_script_plays(game: &str, script: &str, pace: &str) {
    let path = format!("{}/tests/it/contests/{script}", env!("CARGO_MANIFEST_DIR"));
    let row = row(&[
        game,
        "--engine",
        "cmd=sh",
        &format!("arg={path}"),
        "name=script",
        pace,
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
    for faults in row["faults"].as_array().expect("both") {
        let mut all = faults.as_object().expect("an object").values();
        assert!(all.all(|count| count == 0), "{row}");
    }
}

#[test]
fn gtp_program_without_commands_about_time_plays() {
    for pace in ["tc=60+1", "st=1", "tc=25/5:00"] {
        check_script_plays("go", "gtp_without_time.sh", pace);
    }
}

#[test]
fn gomoku_program_with_cr_alone_and_texts_of_its_own_plays() {
    for pace in ["tc=60+1", "st=1", "tc=inf"] {
        check_script_plays("gomoku", "gomoku_from_specification.sh", pace);
    }
}

/// A refused command that GTP requires is no crash, and is told with the program's words.
#[test]
fn refused_command_is_reported_with_the_words_of_the_program() {
    for (command, sent, words) in [
        ("boardsize", "boardsize 9", "unacceptable size"),
        ("komi", "komi 7", "no komi here"),
        ("genmove", "genmove b", "I do not play black"),
    ] {
        let script = format!(
            "arg=while read -r line; do case $line in \
             {command}*) printf '? {words}\\n\\n';; *) printf '=\\n\\n';; esac; done"
        );
        let arguments = ["go", "--engine", "cmd=sh", "arg=-c", &script, "name=bad"];
        let others = ["--engine", "level=beginner", "--openings", "random:2"];
        let row = row(&[&arguments[..], &others, &["--games", "2"]].concat());
        let faults = &row["faults"][0];
        assert_eq!(faults["crashes"], 0, "{row}");
        assert_eq!(
            faults["refusals"].as_u64().expect("a number"),
            row["losses"]
        );
        assert_eq!(faults["refused"], format!("{sent}: {words}"), "{row}");
    }
}

/// Plays two games that are kept in a file of this kind. Gives what came of them, and the file.
fn play_and_keep(extension: &str, arguments: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(format!("games.{extension}"));
    let out = ["--games", "2", "--out", file.to_str().expect("UTF-8")];
    let row = row(&[arguments, &out].concat());
    (row, fs::read_to_string(&file).expect("it was written"))
}

const RESIGN: [&str; 3] = ["--resign", "movecount=1", "score=1"];

/// Scores of UCI and of levels end games, and what is kept of them says so.
#[test]
fn games_that_the_scores_have_decided_are_adjudicated() {
    let command = format!("cmd={BINARY} engine --game chess --table 8");
    let program = ["chess", "--engine", &command, "depth=1", "name=program"];
    let beginner = ["--engine", "level=beginner"];
    let told = "[Termination \"adjudication\"]";
    let (row, games) = play_and_keep("pgn", &[&program[..], &beginner, &RESIGN].concat());
    assert_eq!(
        (&row["adjudicated"], &row["draws"]),
        (&2.into(), &0.into()),
        "{row}"
    );
    assert_eq!(games.matches(told).count(), 2, "{games}");

    // Pawns that are locked, so that no move starts the count again.
    let folder = tempfile::tempdir().expect("a folder");
    let openings = folder.path().join("openings");
    fs::write(&openings, "4k3/8/p1p1p3/P1P1P3/8/8/8/4K3 w - - 0 1\n").expect("it can be written");
    let openings = ["--openings", openings.to_str().expect("UTF-8")];
    let draw = ["--draw", "movenumber=2", "movecount=2", "score=100000"];
    let drawn = [&program[..], &beginner, &openings, &draw].concat();
    let (row, games) = play_and_keep("pgn", &drawn);
    assert_eq!(
        (&row["adjudicated"], &row["draws"]),
        (&2.into(), &2.into()),
        "{row}"
    );
    for tag in [told, "[Result \"1/2-1/2\"]", "[PlyCount \"4\"]"] {
        assert_eq!(games.matches(tag).count(), 2, "{games}");
    }

    let levels = [
        "othello",
        "--engine",
        "level=easy",
        "--engine",
        "level=beginner",
    ];
    let (row, games) = play_and_keep("sgf", &[&levels[..], &RESIGN].concat());
    assert_eq!(row["adjudicated"], 2, "{row}");
    assert_eq!(games.matches("GC[Adjudicated").count(), 2, "{games}");
    let levels = [
        "draughts",
        "--engine",
        "level=hard",
        "--engine",
        "level=beginner",
    ];
    let (row, games) = play_and_keep("pdn", &[&levels[..], &RESIGN].concat());
    assert_eq!(row["adjudicated"], 2, "{row}");
    assert_eq!(games.matches(told).count(), 2, "{games}");
}

/// A program that reports no score never agrees to the end of a game.
#[test]
fn games_with_a_player_that_reports_no_score_are_played_to_the_end() {
    let script = "tests/it/contests/gomoku_from_specification.sh";
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
        &[&RESIGN[..], &["twosided=true"]].concat(),
        &vec!["--draw", "movenumber=0", "movecount=1", "score=100000"],
    ] {
        let row = row(&[&players[..], &["--games", "2"], options].concat());
        assert_eq!(
            (&row["games"], row.get("adjudicated")),
            (&2.into(), None),
            "{row}"
        );
    }
}

/// The games of a contest come after what a file holds, and after an empty line.
#[test]
fn games_are_written_after_the_last_line_of_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    let path = file.to_str().expect("UTF-8");
    for (before, between) in [
        ("", ""),
        ("1. e4 1-0", "\n\n"),
        ("1. e4 1-0\n", "\n"),
        ("1. e4 1-0\r\n", "\n"),
        ("1. e4 1-0\n\n", ""),
        ("1. e4 1-0\r\n\r\n", ""),
        ("x", "\n\n"),
    ] {
        fs::write(&file, before).expect("it can be written");
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
        let output = run(&[&arguments[..], &options].concat());
        assert!(output.status.success(), "{output:?}");
        let games = fs::read_to_string(&file).expect("it was written");
        let expected = format!("{before}{between}[Event ");
        assert!(games.starts_with(&expected), "{before:?}: {games}");
        assert_eq!(
            games.matches("\n[Event ").count(),
            2 - usize::from(before.is_empty())
        );
    }
}

/// Options with one dash, as in cutechess, are refused with a hint.
#[test]
fn options_with_one_dash_are_named_with_two() {
    for (words, told) in [
        ("chess -engine level=easy", "did you mean --engine?"),
        (
            "chess --engine level=easy -each st=1",
            "did you mean --each?",
        ),
        ("chess -concurrency 4", "did you mean --concurrency?"),
        ("chess -rounds 10", "did you mean --games"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(told), "{words:?}: {error}");
    }
}

/// A program starts in its working directory, and by a path with spaces.
#[test]
fn programs_start_in_their_directory_and_by_paths_with_spaces() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("d x");
    fs::create_dir(&root).expect("it can be made");
    let decoy = folder.path().join("d");
    let script = format!(
        "#!/bin/sh\npwd > seen\n{}\n",
        with_answer("echo bestmove resign")
    );
    for (file, script) in [
        (&decoy, "#!/bin/sh\nexit 1\n"),
        (&root.join("my engine"), &script),
    ] {
        fs::write(file, script).expect("it can be written");
        let status = Command::new("chmod").arg("+x").arg(file).status();
        assert!(status.expect("chmod runs").success());
    }
    let root = fs::canonicalize(&root).expect("it is there");
    let directory = format!("dir={}", root.to_str().expect("UTF-8"));
    let whole = format!("cmd={}/my engine", root.to_str().expect("UTF-8"));
    for command in [&*whole, "cmd=my engine", "cmd='./my engine' --flag"] {
        let players = ["chess", "--engine", command, &directory, "proto=uci"];
        let others = ["st=1", "--engine", "level=beginner", "--games", "2"];
        let row = row(&[&players[..], &others].concat());
        assert_eq!(row["faults"][0]["illegal"], 2, "{command}: {row}");
        let seen = fs::read_to_string(root.join("seen")).expect("it was there");
        assert_eq!(seen.trim_end(), root.to_str().expect("UTF-8"));
        fs::remove_file(root.join("seen")).expect("it was there");
    }
}

/// Three players: who meets whom, and how they stand.
#[test]
fn more_than_two_meet_in_turn() {
    let play = |kind: &str| {
        let three = [
            &LEVELS[..],
            &["--engine", "level=hard", "--games", "4", "--json"],
        ]
        .concat();
        let output = run(&[&three[..], &["--tournament", kind]].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let pairs = report["pairs"].as_array().expect("pairs").iter();
        let pairs =
            pairs.map(|row| format!("{} {}", row["player"], row["opponent"]).replace('"', ""));
        assert_eq!(report["standing"].as_array().map(Vec::len), Some(3));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(
        play("round-robin"),
        ["max beginner", "max hard", "beginner hard"]
    );
    assert_eq!(play("gauntlet"), ["max beginner", "max hard"]);
}

#[test]
fn what_cannot_be_is_said_before_anything_is_played() {
    const EASY: &str = "chess --engine level=easy";
    const TWO: &str = "chess --engine level=easy --engine level=hard";
    for (arguments, why) in [
        (EASY.to_owned(), "two players"),
        (
            format!("{EASY} --engine level=easy"),
            "two players are called easy",
        ),
        (
            format!("{EASY} --engine cmd=/nowhere/at-all st=1"),
            "cannot be started",
        ),
        (
            format!("{EASY} --engine cmd=true st=1"),
            "does not say that it is ready",
        ),
        (format!("{TWO} --openings /nowhere"), "/nowhere"),
        (format!("{TWO} --out games.sgf"), ".pgn"),
        (
            format!("{TWO} --out games.pgn").replace("chess", "tic-tac-toe"),
            ".txt",
        ),
        (format!("{TWO} --sprt elo0=5 elo1=5"), "elo0"),
        (
            format!("{TWO} --resign movecount=3"),
            "--resign: score= is missing",
        ),
        (
            format!("{TWO} --draw movecount=3 score=1"),
            "--draw: movenumber= is missing",
        ),
        (
            format!("{EASY} --engine level=hard option.Hash=1"),
            "a level has no options",
        ),
        (
            format!("{EASY} --engine cmd=true dir=/nowhere st=1"),
            "is not a directory",
        ),
        (format!("{EASY} --engine cmd=true tc=40/x"), "tc=40/x"),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let output = run(&words);
        assert!(!output.status.success(), "{arguments}");
        assert!(output.stdout.is_empty(), "{arguments}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(why), "{arguments}: {told}");
    }
}

/// An opening may be a position of the wire, in any game that is spoken of by UCI.
#[test]
fn games_begin_with_the_positions_of_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("openings");
    let mut pos = plyhouse_engine::catalog::find_game("othello")
        .expect("hosted")
        .initial_position();
    pos.play("d3").expect("it is legal");
    fs::write(&file, format!("# one move\n{pos}\n")).expect("it can be written");
    let path = file.to_str().expect("UTF-8");
    let command = format!("cmd={BINARY} engine --game othello");
    let row = row(&[
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

/// What is kept of games that begin with positions says so, as PGN and SGF have it.
#[test]
fn games_are_kept_with_the_positions_with_which_they_begin() {
    let folder = tempfile::tempdir().expect("a folder");
    let ending = "4k3/8/8/8/8/8/4P3/4K2R b K - 3 20";
    // Of Othello the first rank is on top.
    let othello = format!("{}*-------**------*O{} O", "-".repeat(19), "-".repeat(27));
    for (game, opening, extension, told) in [
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
        fs::write(&openings, format!("{opening}\n")).expect("it can be written");
        let games = folder.path().join(format!("games.{extension}"));
        let paths = [&openings, &games].map(|path| path.to_str().expect("UTF-8"));
        let output = run(&[
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
        let games = fs::read_to_string(&games).expect("it was written");
        assert_eq!(games.matches(&told).count(), 2, "{games}");
    }
}
