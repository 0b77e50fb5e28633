//! Tests of the configuration file and of shell completions.

use std::fs;

use serde_json::Value;

use crate::real_server::RealServer;
use crate::scripted_server::{PlyHome, unreachable_url};

/// Returns a home directory with this configuration file.
fn home_with_config(file: &str) -> PlyHome {
    let home = PlyHome::new();
    fs::create_dir(home.path().join("ply")).unwrap();
    fs::write(home.path().join("ply/config.toml"), file).unwrap();
    home
}

#[test]
fn config_file_sets_server_and_name() {
    let server = RealServer::start();
    let home = home_with_config(&format!("server = '{}'\nname = 'ada'\n", server.url));
    let mut ply = home.ply_command("", &["play", "--bot", "easy", "--json"]);
    ply.env_remove("PLYHOUSE_SERVER").env("PLY_ASCII", "true");
    let output = ply.stdin(std::process::Stdio::null()).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("\"name\":\"ada\""), "{out}");
    // The environment variable overrides the file.
    let other_server = home.run(&unreachable_url(), &["list"], "");
    other_server.assert_output(3, &["cannot connect to ws://127.0.0.1:"]);
}

#[test]
fn invalid_or_missing_config_file_is_reported() {
    let unknown_setting =
        home_with_config("# mine\nservr = 'h'\n").run(&unreachable_url(), &["list"], "");
    unknown_setting.assert_output(2, &["ply/config.toml", "line 2", "servr", "`server`"]);
    let home = PlyHome::new();
    let mut missing_file = home.ply_command(&unreachable_url(), &["list"]);
    let missing_file = missing_file
        .env("PLY_CONFIG", "/nowhere/ply.toml")
        .output()
        .unwrap();
    assert_eq!(missing_file.status.code(), Some(2));
    let mut empty_path = home.ply_command(&unreachable_url(), &["list"]);
    let empty_path = empty_path.env("PLY_CONFIG", "").output().unwrap();
    assert_eq!(empty_path.status.code(), Some(3));
}

#[test]
fn empty_environment_variables_count_as_absent() {
    let home = PlyHome::new();
    let mut ply = home.ply_command(&unreachable_url(), &["list"]);
    for name in ["PLY_ASCII", "PLY_PLAIN", "PLY_COLOR", "PLY_NAME", "PLY_CA"] {
        ply.env(name, "");
    }
    let output = ply.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    // An empty variable does not override the file.
    let url = unreachable_url();
    let home = home_with_config(&format!("server = '{url}'\n"));
    let output = home.ply_command("", &["list"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains(&url), "{stderr}");
}

/// With an invalid configuration, users can still read the manual and shells can complete commands.
#[test]
fn completions_and_manual_ignore_invalid_config() {
    let home = home_with_config("servr = 'h'\n");
    home.run(&unreachable_url(), &["completions", "bash"], "")
        .assert_output(0, &["_ply()"]);
    let pages = home.path().join("man");
    home.run(&unreachable_url(), &["manual", pages.to_str().unwrap()], "")
        .assert_output(0, &[]);
    assert!(pages.join("ply.1").exists());
}

#[test]
fn color_option_enables_or_disables_colors() {
    let server = RealServer::start();
    let home = PlyHome::new();
    let has_colors = |arguments: &[&str]| {
        let watch = ["watch", "--bots", "easy,easy", "--pace", "0"];
        let output = home.run(&server.url, &[&watch, arguments].concat(), "");
        output.assert_output(0, &[]);
        output.stdout.contains('\u{1b}')
    };
    assert!(!has_colors(&[]));
    assert!(has_colors(&["--color", "always"]));
    assert!(!has_colors(&["--color", "never"]));
}

#[test]
fn completions_include_every_game_and_level_of_server() {
    let server = RealServer::start();
    let home = PlyHome::new();
    let script = home
        .run(&unreachable_url(), &["completions", "bash"], "")
        .stdout;
    let hello = home
        .run(&server.url, &["raw"], "{\"type\":\"hello\"}\n")
        .stdout;
    let welcome: Value = serde_json::from_str(hello.lines().next().unwrap()).unwrap();
    let ids = |list: &str, key: &str| -> Vec<String> {
        let list = welcome[list].as_array().unwrap().iter();
        list.map(|one| one[key].as_str().unwrap().to_owned())
            .collect()
    };
    let (games, levels) = (ids("games", "game"), ids("levels", "level"));
    assert!(!games.is_empty() && !levels.is_empty());
    // The completion script must contain all games and all levels, each list in the server's order.
    for list in [games.join(" "), levels.join(" ")] {
        assert!(script.contains(&list), "{list}");
    }
    // `ply` also accepts values that the completions do not propose. The server rejects values that
    // it does not know.
    home.run(&server.url, &["play", "ludo", "--bot", "easy"], "")
        .assert_output(4, &["unknown game"]);
}
