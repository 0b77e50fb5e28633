//! Arguments, help, and what happens without a server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use crate::fake::{Home, Ran, nowhere};

fn run(arguments: &[&str]) -> Ran {
    Home::new().run(&nowhere(), arguments, "")
}

#[test]
fn help_teaches() {
    run(&["--help"]).expect(
        0,
        &[
            "Examples:",
            "ply join K7QM2P",
            "Exit codes:",
            "PLYHOUSE_SERVER",
        ],
    );
    run(&["play", "--help"]).expect(0, &["--bot <LEVEL>", "--seek", "first", "random"]);
    for teaches_levels in ["play", "watch"] {
        let levels = "beginner, easy, medium, hard, max";
        run(&[teaches_levels, "--help"]).expect(0, &[levels]);
    }
    let games = "tic-tac-toe, connect-four, othello, draughts, chess, gomoku, go";
    run(&["play", "--help"]).expect(0, &[games, "no bot comes by itself"]);
    for shows_how in ["play", "join", "watch", "list"] {
        let example = format!("Examples:\n  ply {shows_how}");
        run(&[shows_how, "--help"]).expect(0, &[&example, "Options of all commands:"]);
    }
    run(&["watch"]).expect(2, &["--bots <LEVEL,LEVEL>"]);
    run(&["--version"]).expect(0, &["ply 0."]);
}

#[test]
fn wrong_usage_is_told() {
    for wrong in [
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
        let ran = run(wrong);
        assert_eq!(ran.code, Some(2), "{wrong:?}: {ran:#?}");
        assert!(
            ran.err.contains("Usage") || ran.err.contains("error:"),
            "{ran:#?}"
        );
    }
}

const OTHELLO: &str = "---------------------------O*------*O--------------------------- *";

#[test]
fn without_a_server_there_is_no_connection() {
    for command in [
        &["list"][..],
        &["play"],
        // Positions of Othello look like options.
        &["play", "othello", "--position", OTHELLO, "--open"],
        &["join", "K7QM2P"],
        &["watch", "K7QM2P"],
        &["raw"],
        &["pair"],
        &["recovery"],
        &["login", "K7QM2PXR"],
    ] {
        let ran = run(command);
        let help = ["`plyhouse` starts one", "cargo run --release", "--server"];
        ran.expect(3, &["no connection to ws://127.0.0.1:"]);
        ran.expect(3, &help);
        assert_eq!(ran.out, "");
    }
}

/// Another server's page is not shown to whoever has mistaken the port.
#[test]
fn what_is_no_such_server_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/ws", listener.local_addr().unwrap());
    let other = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = BufReader::new(stream.try_clone().unwrap()).lines();
        while asked.next().is_some_and(|line| !line.unwrap().is_empty()) {}
        let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 15\r\n\r\n<!doctype html>";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let ran = Home::new().run(&url, &["list"], "");
    ran.expect(3, &["404 Not Found", "no Plyhouse server", "--server"]);
    assert!(!ran.err.contains("html"), "{ran:#?}");
    other.join().unwrap();
}

#[test]
fn completions_are_printed() {
    run(&["completions", "bash"]).expect(0, &["_ply()", "complete -F"]);
    run(&["completions", "no-shell"]).expect(2, &["zsh"]);
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let home = tempfile::tempdir().unwrap();
    let pages = home.path().join("man");
    run(&["manual", pages.to_str().unwrap()]).expect(0, &[]);
    let read = |page| std::fs::read_to_string(pages.join(page)).unwrap();
    assert!(read("ply.1").contains("PLYHOUSE_SERVER"));
    assert!(read("ply-play.1").contains("seek"));
}
