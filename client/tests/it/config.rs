//! Settings from a file, and what shells propose.

use std::fs;

use serde_json::Value;

use crate::fake::{Home, nowhere};
use crate::real::Real;

/// A home in which this is the file.
fn home_with(file: &str) -> Home {
    let home = Home::new();
    fs::create_dir(home.path().join("ply")).unwrap();
    fs::write(home.path().join("ply/config.toml"), file).unwrap();
    home
}

#[test]
fn a_file_says_where_the_server_is_and_who_plays() {
    let real = Real::start();
    let home = home_with(&format!("server = '{}'\nname = 'ada'\n", real.url));
    let mut ply = home.ply("", &["play", "--bot", "easy", "--json"]);
    ply.env_remove("PLYHOUSE_SERVER").env("PLY_ASCII", "true");
    let output = ply.stdin(std::process::Stdio::null()).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("\"name\":\"ada\""), "{out}");
    // Where the environment names another, that is taken.
    let elsewhere = home.run(&nowhere(), &["list"], "");
    elsewhere.expect(3, &["no connection to ws://127.0.0.1:"]);
}

#[test]
fn what_is_wrong_in_the_file_is_told() {
    let wrong = home_with("# mine\nservr = 'h'\n").run(&nowhere(), &["list"], "");
    wrong.expect(2, &["ply/config.toml", "line 2", "servr", "`server`"]);
    let home = Home::new();
    let mut named = home.ply(&nowhere(), &["list"]);
    let named = named
        .env("PLY_CONFIG", "/nowhere/ply.toml")
        .output()
        .unwrap();
    assert_eq!(named.status.code(), Some(2));
    let mut none = home.ply(&nowhere(), &["list"]);
    let none = none.env("PLY_CONFIG", "").output().unwrap();
    assert_eq!(none.status.code(), Some(3));
}

#[test]
fn empty_environment_variables_count_as_absent() {
    let home = Home::new();
    let mut ply = home.ply(&nowhere(), &["list"]);
    for name in ["PLY_ASCII", "PLY_PLAIN", "PLY_COLOR", "PLY_NAME", "PLY_CA"] {
        ply.env(name, "");
    }
    let output = ply.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    // An empty variable does not hide what the file says either.
    let url = nowhere();
    let home = home_with(&format!("server = '{url}'\n"));
    let output = home.ply("", &["list"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains(&url), "{said}");
}

/// Whoever has written something wrong may look it up, and shells go on completing.
#[test]
fn what_is_only_printed_needs_no_settings() {
    let home = home_with("servr = 'h'\n");
    home.run(&nowhere(), &["completions", "bash"], "")
        .expect(0, &["_ply()"]);
    let pages = home.path().join("man");
    home.run(&nowhere(), &["manual", pages.to_str().unwrap()], "")
        .expect(0, &[]);
    assert!(pages.join("ply.1").exists());
}

#[test]
fn colours_are_used_when_they_are_wanted() {
    let real = Real::start();
    let home = Home::new();
    let shown = |arguments: &[&str]| {
        let watch = ["watch", "--bots", "easy,easy", "--pace", "0"];
        let ran = home.run(&real.url, &[&watch, arguments].concat(), "");
        ran.expect(0, &[]);
        ran.out.contains('\u{1b}')
    };
    assert!(!shown(&[]));
    assert!(shown(&["--color", "always"]));
    assert!(!shown(&["--color", "never"]));
}

#[test]
fn shells_propose_every_game_and_level_of_the_server() {
    let real = Real::start();
    let home = Home::new();
    let script = home.run(&nowhere(), &["completions", "bash"], "").out;
    let hello = home.run(&real.url, &["raw"], "{\"type\":\"hello\"}\n").out;
    let welcome: Value = serde_json::from_str(hello.lines().next().unwrap()).unwrap();
    let ids = |list: &str, key: &str| -> Vec<String> {
        let list = welcome[list].as_array().unwrap().iter();
        list.map(|one| one[key].as_str().unwrap().to_owned())
            .collect()
    };
    let (games, levels) = (ids("games", "game"), ids("levels", "level"));
    assert!(!games.is_empty() && !levels.is_empty());
    // As one list, so that nothing is there that the server does not offer.
    for list in [games.join(" "), levels.join(" ")] {
        assert!(script.contains(&list), "{list}");
    }
    // They are proposed, not demanded: the server says what it does not have.
    home.run(&real.url, &["play", "ludo", "--bot", "easy"], "")
        .expect(4, &["does not host that game"]);
}
