//! Tests of arguments, help texts and connection errors.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use crate::scripted_server::{CommandOutput, PlyHome, unreachable_url};

fn run(arguments: &[&str]) -> CommandOutput {
    PlyHome::new().run(&unreachable_url(), arguments, "")
}

#[test]
fn help_shows_examples_options_levels_and_games() {
    run(&["--help"]).assert_output(
        0,
        &[
            "Examples:",
            "ply join K7QM2P",
            "Exit codes:",
            "Account and devices:",
            "PLYHOUSE_SERVER",
        ],
    );
    run(&["play", "--help"]).assert_output(0, &["--bot <LEVEL>", "--seek", "first", "random"]);
    for command in ["play", "watch"] {
        let levels = "beginner, easy, medium, hard, max";
        run(&[command, "--help"]).assert_output(0, &[levels]);
    }
    let games = "tic-tac-toe, connect-four, othello, draughts, chess, gomoku, go";
    run(&["play", "--help"]).assert_output(0, &[games, "no bot joins"]);
    for command in ["play", "join", "watch", "list"] {
        let example = format!("Examples:\n  ply {command}");
        run(&[command, "--help"]).assert_output(
            0,
            &[
                &example,
                "Options of all commands are listed by `ply --help`.",
            ],
        );
    }
    run(&["watch"]).assert_output(2, &["--bots <LEVEL,LEVEL>"]);
    run(&["--version"]).assert_output(0, &["ply 0."]);
}

#[test]
fn invalid_arguments_are_usage_errors() {
    for arguments in [
        &[][..],
        &["ply"],
        &["play", "--bot"],
        &["play", "--open", "--bot", "max"],
        &["play", "--open", "--seek"],
        &["play", "--seek", "--as", "second"],
        &["play", "--as", "third"],
        &["join"],
        &["login", "a name of too many characters"],
        &["login", "K7QM2PXR", "--label", ""],
        &["play", "--position", " "],
        &["play", "--position", "x", "--seek"],
        &["play", "--position", "--open"],
        &["watch"],
        &["watch", "--bots", "max"],
        &["watch", "--bots", "max,easy", "--pace", "10001"],
        &["watch", "K7QM2P", "--pace", "5"],
        &["list", "--server", "ftp://127.0.0.1"],
        &["list", "--server", "ws://127.0.0.1:99999"],
        &["list", "--name", "a\u{202e}b"],
        &["list", "--name", ""],
    ] {
        let output = run(arguments);
        assert_eq!(output.exit_code, Some(2), "{arguments:?}: {output:#?}");
        assert!(
            output.stderr.contains("Usage") || output.stderr.contains("error:"),
            "{output:#?}"
        );
    }
}

const OTHELLO: &str = "---------------------------O*------*O--------------------------- *";

#[test]
fn commands_without_server_report_no_connection() {
    for command in [
        &["list"][..],
        &["play"],
        // The value of `--position` may begin with `-`, as in this Othello position, although
        // options begin with `-` too.
        &["play", "othello", "--position", OTHELLO, "--open"],
        &["join", "K7QM2P"],
        &["watch", "K7QM2P"],
        &["raw"],
        &["pair"],
        &["recovery"],
        &["login", "K7QM2PXR"],
    ] {
        let output = run(command);
        let help = [
            "Start one with `plyhouse`",
            "cargo run --release",
            "--server",
        ];
        output.assert_output(3, &["cannot connect to ws://127.0.0.1:"]);
        output.assert_output(3, &help);
        assert_eq!(output.stdout, "");
    }
}

#[test]
fn other_http_server_is_reported_without_its_page() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/ws", listener.local_addr().unwrap());
    let http_server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request_lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while request_lines
            .next()
            .is_some_and(|line| !line.unwrap().is_empty())
        {}
        let response = "HTTP/1.1 404 Not Found\r\ncontent-length: 15\r\n\r\n<!doctype html>";
        stream.write_all(response.as_bytes()).unwrap();
    });
    let output = PlyHome::new().run(&url, &["list"], "");
    output.assert_output(3, &["404 Not Found", "not a Plyhouse server", "--server"]);
    assert!(!output.stderr.contains("html"), "{output:#?}");
    http_server.join().unwrap();
}

#[test]
fn shell_completions_are_printed() {
    run(&["completions", "bash"]).assert_output(0, &["_ply()", "complete -F"]);
    run(&["completions", "no-shell"]).assert_output(2, &["zsh"]);
}

#[test]
fn manual_page_is_written_for_each_command() {
    let home = tempfile::tempdir().unwrap();
    let pages = home.path().join("man");
    run(&["manual", pages.to_str().unwrap()]).assert_output(0, &[]);
    let read = |page| std::fs::read_to_string(pages.join(page)).unwrap();
    assert!(read("ply.1").contains("PLYHOUSE_SERVER"));
    assert!(read("ply-play.1").contains("seek"));
}
