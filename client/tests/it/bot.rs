//! `ply bot` on the real server: programs of a few lines of shell, and the field's own.

use std::path::PathBuf;

use crate::fake::{Home, Ran};
use crate::real::Real;

/// A UCI engine in shell. It does this when it is to think; `$plies` is the number of moves told.
fn uci(when_asked: &str) -> String {
    format!(
        r#"while read line; do case "$line" in
            uci) echo uciok;;
            isready) echo readyok;;
            position*) set -- $line; plies=$(($# > 3 ? $# - 3 : 0));;
            go*) {when_asked};;
            quit) exit;;
        esac; done"#
    )
}

/// A program of Debian's: on the path, or where its games lie.
fn installed(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
    let found = folders
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    let found = found
        .unwrap_or_else(|| panic!("{name} is missing: tests/run installs it, as Debian's package"));
    found.to_str().unwrap().to_owned()
}

/// Two engines at one match, each given by its arguments; White creates it.
fn play(server: &Real, game: &str, white: &[&str], black: &[&str]) -> [Ran; 2] {
    let home = Home::new();
    let create = [&["bot", "--create", "--game", game], white].concat();
    let mut first = crate::real::Somebody::start(&home, server, &create);
    let line = first.sees(" in ");
    let code = line.split([' ', ',']).nth(2).unwrap().to_owned();
    let join = [&["bot", "--join", &code], black].concat();
    let second = home.ply(&server.url, &join).output().unwrap();
    [first.ran(), Ran::of(second)]
}

#[test]
fn two_engines_play_to_mate() {
    let server = Real::start();
    let white = uci("case $plies in 0) echo bestmove f2f3;; *) echo bestmove g2g4;; esac");
    let black = uci("case $plies in 1) echo bestmove e7e5;; *) echo bestmove d8h4;; esac");
    let [white, black] = play(
        &server,
        "chess",
        &["--", "sh", "-c", &white],
        &["--game", "chess", "--", "sh", "-c", &black],
    );
    white.expect(0, &["lost after 4 plies: checkmate"]);
    black.expect(0, &["playing black", "won after 4 plies: checkmate"]);
}

/// A program with a key plays as its own account, in several processes at once.
#[test]
fn a_program_plays_by_its_key() {
    let (server, home) = (Real::start(), Home::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["register", "ada"], "correct horse\n").expect(0, &["ada is your name"]);
    let made = run(&["key", "create", "--bot", "randy"], "correct horse\n");
    made.expect(0, &["ply_", "plays as randy, who is yours"]);
    run(&["devices"], "").expect(0, &["program of randy (key)"]);
    let file = home.path().join("randy.key");
    std::fs::write(&file, &made.out).unwrap();
    let file = file.to_str().unwrap();
    let mate = |line: &str| uci(&format!("case $plies in {line} esac"));
    let engines = [
        mate("0) echo bestmove f2f3;; *) echo bestmove g2g4;;"),
        mate("1) echo bestmove e7e5;; *) echo bestmove d8h4;;"),
    ];
    let create = ["bot", "--key-file", file, "--create", "--game", "chess"];
    let program = ["--", "sh", "-c", &engines[0]];
    let waiting = ["--", "sh", "-c", &engines[1]];
    let mut other = crate::real::Somebody::start(&home, &server, &[&create[..], &waiting].concat());
    other.sees(" in ");
    let mut first = crate::real::Somebody::start(&home, &server, &[&create[..], &program].concat());
    let code = first
        .sees(" in ")
        .split([' ', ','])
        .nth(2)
        .unwrap()
        .to_owned();
    let join = ["bot", "--join", &code, "--", "sh", "-c", &engines[1]];
    let second = Ran::of(home.ply(&server.url, &join).output().unwrap());
    second.expect(0, &["won after 4 plies: checkmate"]);
    first.ran().expect(0, &["lost after 4 plies: checkmate"]);

    let mut void = home.ply(
        &server.url,
        &[&create[..1], &create[3..], &program].concat(),
    );
    let void = void.env("PLYHOUSE_KEY", "ply_none").output().unwrap();
    Ran::of(void).expect(4, &["no such code or key"]);
}

/// By a clock engines are told what is left. One that is not has no move here.
#[test]
fn engines_are_told_the_clock() {
    let server = Real::start();
    let by_clock = |m: &str| {
        format!(
            r#"case "$line" in "go wtime "*" btime "*" winc 1000 binc 1000") echo bestmove {m};;
            *) echo bestmove 0000;; esac"#
        )
    };
    let script = |first: &str, second: &str| {
        let second = by_clock(second);
        // The first move of each is free, and must come soon.
        uci(&format!(
            r#"case $plies in 0|1) case "$line" in "go movetime "*) echo bestmove {first};; esac;;
            *) {second};; esac"#
        ))
    };
    let (white, black) = (script("f2f3", "g2g4"), script("e7e5", "d8h4"));
    let [white, black] = play(
        &server,
        "chess",
        &["--clock", "5+1", "--", "sh", "-c", &white],
        &["--", "sh", "-c", &black],
    );
    white.expect(0, &["lost after 4 plies: checkmate"]);
    black.expect(0, &["won after 4 plies: checkmate"]);
}

#[test]
fn an_illegal_move_resigns_the_match() {
    let server = Real::start();
    let script = uci("echo bestmove e2e5");
    let home = Home::new();
    let create = ["bot", "--create", "--game", "chess", "--against", "easy"];
    let arguments = [&create[..], &["--", "sh", "-c", &script]].concat();
    let ran = home.run_unasked(&server.url, &arguments);
    ran.expect(
        1,
        &[
            "lost after 0 plies: resignation",
            "resigned: the program plays e2e5",
        ],
    );
}

/// It crashes on the first move of every run; the match goes on until it has crashed too often.
#[test]
fn a_program_that_crashes_is_started_anew() {
    let server = Real::start();
    let (home, memory) = (Home::new(), tempfile::tempdir().unwrap());
    let flag = memory.path().join("crashed");
    let flag = flag.to_str().unwrap();
    let once = format!("if [ -e {flag} ]; then echo bestmove e2e5; else touch {flag}; exit; fi");
    let create = ["bot", "--create", "--game", "chess", "--against", "easy"];
    let run = |script: &str| {
        let arguments = [&create[..], &["--", "sh", "-c", script]].concat();
        home.run_unasked(&server.url, &arguments)
    };
    let ran = run(&uci(&once));
    ran.expect(1, &["started anew (1 of 3)", "the program plays e2e5"]);
    let ran = run(&uci("exit"));
    ran.expect(
        1,
        &["started anew (3 of 3)", "resigned: the program has ended"],
    );
}

#[test]
fn a_program_that_cannot_be_started_takes_no_seat() {
    let (server, home) = (Real::start(), Home::new());
    let create = [
        "bot",
        "--create",
        "--game",
        "chess",
        "--",
        "/nowhere/at/all",
    ];
    home.run_unasked(&server.url, &create)
        .expect(1, &["/nowhere/at/all cannot be started"]);
    let tic_tac_toe = ["bot", "--create", "--game", "tic-tac-toe", "--", "true"];
    home.run_unasked(&server.url, &tic_tac_toe)
        .expect(1, &["no protocol of engines is known for tic-tac-toe"]);
    let gtp = [
        "bot",
        "--create",
        "--game",
        "chess",
        "--protocol",
        "gtp",
        "--",
        "true",
    ];
    home.run_unasked(&server.url, &gtp).expect(
        1,
        &["that is not the --protocol that engines of chess speak"],
    );
    let nothing = ["bot", "--join", "K7QM2P", "--", "true"];
    home.run_unasked(&server.url, &nothing)
        .expect(4, &["there is no such match"]);
    home.run_unasked(&server.url, &["bot", "--join", "K7QM2P"])
        .expect(2, &["PROGRAM"]);
}

/// Stockfish, which finds what a beginner leaves it.
#[test]
fn stockfish_takes_a_seat() {
    let (server, home) = (Real::start(), Home::new());
    let create = [
        "bot",
        "--create",
        "--game",
        "chess",
        "--against",
        "beginner",
    ];
    let stockfish = installed("stockfish");
    let options = ["--think", "20", "--option", "Hash=16", "--", &stockfish];
    let ran = home.run_unasked(&server.url, &[&create[..], &options].concat());
    ran.expect(0, &["won after ", "plies: checkmate"]);
}

/// GNU Go against an engine that passes, so that the board is counted soon.
#[test]
fn gnu_go_takes_a_seat() {
    let server = Real::start();
    let gnugo = installed("gnugo");
    let white = r#"while read line; do case "$line" in
            genmove*) printf '= pass\n\n';;
            quit) printf '=\n\n'; exit;;
            *) printf '=\n\n';;
        esac; done"#;
    let options = [
        "--mode",
        "gtp",
        "--level",
        "1",
        "--chinese-rules",
        "--positional-superko",
    ];
    let [black, white] = play(
        &server,
        "go",
        &[&["--", gnugo.as_str()], &options[..]].concat(),
        &["--protocol", "gtp", "--", "sh", "-c", white],
    );
    black.expect(0, &["won after ", "plies: score"]);
    white.expect(0, &["playing white", "lost after "]);
}

/// A brain of Gomocup's kind that builds a column, against one that builds another.
#[test]
fn gomoku_is_played_by_points() {
    let server = Real::start();
    let column = |x: u32| {
        format!(
            r#"y=0; while read line; do case "$line" in
                START*) echo OK;;
                INFO*) ;;
                BEGIN|TURN*|DONE) echo {x},$y; y=$((y + 1));;
                END) exit;;
            esac; done"#
        )
    };
    let [black, white] = play(
        &server,
        "gomoku",
        &["--", "sh", "-c", &column(3)],
        &["--", "sh", "-c", &column(9)],
    );
    black.expect(0, &["won after 9 plies: five"]);
    white.expect(0, &["lost after 9 plies: five"]);
}
