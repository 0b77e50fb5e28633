//! Tests of `ply bot` against a complete Plyhouse server. The engines are shell scripts, Stockfish
//! and GNU Go.

use std::path::PathBuf;

use crate::real_server::RealServer;
use crate::scripted_server::{CommandOutput, PlyHome};

/// Returns a shell script that acts as a UCI engine. The script runs the shell code `when_asked` on
/// each `go` command. The shell variable `$plies` holds the number of moves in the last `position`
/// command.
fn uci_script(when_asked: &str) -> String {
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

/// Returns the path of a program from a Debian package, found in `PATH` or `/usr/games`.
fn installed_program(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
    let found = folders
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    let found = found
        .unwrap_or_else(|| panic!("{name} is missing: tests/run installs it as a Debian package"));
    found.to_str().unwrap().to_owned()
}

/// Runs two engines against each other, each with its own arguments. The first engine creates the
/// match, and the second one joins it.
fn play_engines(
    server: &RealServer,
    game: &str,
    white: &[&str],
    black: &[&str],
) -> [CommandOutput; 2] {
    let home = PlyHome::new();
    let create = [&["bot", "--create", "--game", game], white].concat();
    let mut first = crate::real_server::PlyProcess::spawn(&home, server, &create);
    let line = first.wait_for_line(" match ");
    let code = line.split([' ', ',']).nth(2).unwrap().to_owned();
    let join = [&["bot", "--join", &code], black].concat();
    let second = home.ply_command(&server.url, &join).output().unwrap();
    [first.wait_for_output(), CommandOutput::from_output(second)]
}

#[test]
fn two_uci_engines_play_to_checkmate() {
    let server = RealServer::start();
    let white = uci_script("case $plies in 0) echo bestmove f2f3;; *) echo bestmove g2g4;; esac");
    let black = uci_script("case $plies in 1) echo bestmove e7e5;; *) echo bestmove d8h4;; esac");
    let [white, black] = play_engines(
        &server,
        "chess",
        &["--", "sh", "-c", &white],
        &["--game", "chess", "--", "sh", "-c", &black],
    );
    white.assert_output(0, &["lost after 4 plies: checkmate"]);
    black.assert_output(0, &["playing black", "won after 4 plies: checkmate"]);
}

/// A program with an API key plays as the bot account of that key.
#[test]
fn api_key_plays_as_bot_account_in_several_processes() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["register", "ada"], "correct horse\n").assert_output(0, &["Account ada created"]);
    let key_output = run(&["key", "create", "--bot", "randy"], "correct horse\n");
    key_output.assert_output(0, &["ply_", "plays as your bot randy"]);
    run(&["devices"], "").assert_output(0, &["program of randy (key)"]);
    let file = home.path().join("randy.key");
    std::fs::write(&file, &key_output.stdout).unwrap();
    let file = file.to_str().unwrap();
    let mating_script = |line: &str| uci_script(&format!("case $plies in {line} esac"));
    let engines = [
        mating_script("0) echo bestmove f2f3;; *) echo bestmove g2g4;;"),
        mating_script("1) echo bestmove e7e5;; *) echo bestmove d8h4;;"),
    ];
    let create = ["bot", "--key-file", file, "--create", "--game", "chess"];
    let program = ["--", "sh", "-c", &engines[0]];
    let waiting_program = ["--", "sh", "-c", &engines[1]];
    let mut waiting_bot = crate::real_server::PlyProcess::spawn(
        &home,
        &server,
        &[&create[..], &waiting_program].concat(),
    );
    waiting_bot.wait_for_line(" match ");
    let mut first =
        crate::real_server::PlyProcess::spawn(&home, &server, &[&create[..], &program].concat());
    let code = first
        .wait_for_line(" match ")
        .split([' ', ','])
        .nth(2)
        .unwrap()
        .to_owned();
    let join = ["bot", "--join", &code, "--", "sh", "-c", &engines[1]];
    let second = CommandOutput::from_output(home.ply_command(&server.url, &join).output().unwrap());
    second.assert_output(0, &["won after 4 plies: checkmate"]);
    first
        .wait_for_output()
        .assert_output(0, &["lost after 4 plies: checkmate"]);

    let mut unknown_key = home.ply_command(
        &server.url,
        &[&create[..1], &create[3..], &program].concat(),
    );
    let unknown_key = unknown_key
        .env("PLYHOUSE_KEY", "ply_none")
        .output()
        .unwrap();
    CommandOutput::from_output(unknown_key).assert_output(4, &["invalid or expired code or key"]);
}

/// The first move of each engine does not use clock time. On later turns, the script replies with a
/// legal move only if its `go` command contains the clock times.
#[test]
fn uci_engines_receive_clock_times() {
    let server = RealServer::start();
    let clock_script = |m: &str| {
        format!(
            r#"case "$line" in "go wtime "*" btime "*" winc 1000 binc 1000") echo bestmove {m};;
            *) echo bestmove 0000;; esac"#
        )
    };
    let script = |first: &str, second: &str| {
        let second = clock_script(second);
        // The first move of each side does not use clock time but has a short time limit.
        uci_script(&format!(
            r#"case $plies in 0|1) case "$line" in "go movetime "*) echo bestmove {first};; esac;;
            *) {second};; esac"#
        ))
    };
    let (white, black) = (script("f2f3", "g2g4"), script("e7e5", "d8h4"));
    let [white, black] = play_engines(
        &server,
        "chess",
        &["--clock", "5+1", "--", "sh", "-c", &white],
        &["--", "sh", "-c", &black],
    );
    white.assert_output(0, &["lost after 4 plies: checkmate"]);
    black.assert_output(0, &["won after 4 plies: checkmate"]);
}

#[test]
fn illegal_move_resigns_match() {
    let server = RealServer::start();
    let script = uci_script("echo bestmove e2e5");
    let home = PlyHome::new();
    let create = ["bot", "--create", "--game", "chess", "--against", "easy"];
    let arguments = [&create[..], &["--", "sh", "-c", &script]].concat();
    let output = home.run_with_open_stdin(&server.url, &arguments);
    output.assert_output(
        1,
        &[
            "lost after 0 plies: resignation",
            "resigned: the engine played e2e5",
        ],
    );
}

/// The engine and the level change sides after each match. Each of them mates in one move.
#[test]
fn rematches_are_played_against_level() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let engine = uci_script("echo bestmove f7g7");
    let create = [
        "bot",
        "--create",
        "--game",
        "chess",
        "--against",
        "hard",
        "--as",
        "first",
        "--position",
        "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1",
        "--games",
        "3",
    ];
    let arguments = [&create[..], &["--", "sh", "-c", &engine]].concat();
    let output = home.run_with_open_stdin(&server.url, &arguments);
    output.assert_output(0, &["playing white", "playing black", "lost after 1 ply"]);
    assert_eq!(output.stdout.matches("won after 1 ply").count(), 2);
}

/// The first script crashes once and then plays an illegal move. The second script crashes on every
/// move.
#[test]
fn crashed_program_is_restarted_up_to_limit() {
    let server = RealServer::start();
    let (home, flag_dir) = (PlyHome::new(), tempfile::tempdir().unwrap());
    let flag = flag_dir.path().join("crashed");
    let flag = flag.to_str().unwrap();
    let crash_once =
        format!("if [ -e {flag} ]; then echo bestmove e2e5; else touch {flag}; exit; fi");
    let create = ["bot", "--create", "--game", "chess", "--against", "easy"];
    let run = |script: &str| {
        let arguments = [&create[..], &["--", "sh", "-c", script]].concat();
        home.run_with_open_stdin(&server.url, &arguments)
    };
    let output = run(&uci_script(&crash_once));
    output.assert_output(1, &["restarting it (1 of 3)", "the engine played e2e5"]);
    let output = run(&uci_script("exit"));
    output.assert_output(
        1,
        &["restarting it (3 of 3)", "resigned: the engine exited"],
    );
}

#[test]
fn unusable_program_or_match_fails_without_taking_seat() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let create = [
        "bot",
        "--create",
        "--game",
        "chess",
        "--",
        "/nowhere/at/all",
    ];
    home.run_with_open_stdin(&server.url, &create)
        .assert_output(1, &["cannot start /nowhere/at/all"]);
    let tic_tac_toe = ["bot", "--create", "--game", "tic-tac-toe", "--", "true"];
    home.run_with_open_stdin(&server.url, &tic_tac_toe)
        .assert_output(1, &["no default engine protocol for tic-tac-toe"]);
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
    home.run_with_open_stdin(&server.url, &gtp)
        .assert_output(1, &["unsupported --protocol for chess"]);
    let unknown_match = ["bot", "--join", "K7QM2P", "--", "true"];
    home.run_with_open_stdin(&server.url, &unknown_match)
        .assert_output(4, &["there is no such match"]);
    home.run_with_open_stdin(&server.url, &["bot", "--join", "K7QM2P"])
        .assert_output(2, &["PROGRAM"]);
}

#[test]
fn stockfish_beats_beginner_bot() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let create = [
        "bot",
        "--create",
        "--game",
        "chess",
        "--against",
        "beginner",
    ];
    let stockfish = installed_program("stockfish");
    let options = ["--think", "20", "--option", "Hash=16", "--", &stockfish];
    let output = home.run_with_open_stdin(&server.url, &[&create[..], &options].concat());
    output.assert_output(0, &["won after ", "plies: checkmate"]);
}

/// The opponent always passes, so that the game is scored soon.
#[test]
fn gnu_go_wins_against_passing_engine() {
    let server = RealServer::start();
    let gnugo = installed_program("gnugo");
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
    let [black, white] = play_engines(
        &server,
        "go",
        &[&["--", gnugo.as_str()], &options[..]].concat(),
        &["--protocol", "gtp", "--", "sh", "-c", white],
    );
    black.assert_output(0, &["won after ", "plies: score"]);
    white.assert_output(0, &["playing white", "lost after "]);
}

/// One engine places all its stones on one file of the board, and the other engine on another file.
/// The first player therefore gets five in a row.
#[test]
fn piskvork_engines_play_gomoku_to_five() {
    let server = RealServer::start();
    let column_script = |x: u32| {
        format!(
            r#"y=0; while read line; do case "$line" in
                START*) echo OK;;
                INFO*) ;;
                BEGIN|TURN*|DONE) echo {x},$y; y=$((y + 1));;
                END) exit;;
            esac; done"#
        )
    };
    let [black, white] = play_engines(
        &server,
        "gomoku",
        &["--", "sh", "-c", &column_script(3)],
        &["--", "sh", "-c", &column_script(9)],
    );
    black.assert_output(0, &["won after 9 plies: five"]);
    white.assert_output(0, &["lost after 9 plies: five"]);
}
