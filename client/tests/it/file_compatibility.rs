//! Tests that `ply` reads the files that an earlier version has written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;

use plyhouse_transport::Tls;
use serde_json::Value;

use crate::full_screen::PtyTerminal;
use crate::real_server::{PlyProcess, RealServer};
use crate::scripted_server::{ClientConnection, CommandOutput, PlyHome, ScriptedServer};

/// WebSocket close code for a replaced connection. After a close with this code, `ply` does not
/// reconnect.
const REPLACED_CLOSE_CODE: u16 = 4001;

/// Files recorded by `tests/data/fixtures/client/make.mjs`.
struct RecordedFiles(Value);

impl RecordedFiles {
    fn read() -> Self {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/fixtures/client/ply.json");
        Self(serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    }

    /// Returns the recorded configuration file, with the server's address replaced by `address`.
    fn config_for(&self, address: &str) -> String {
        let recorded = self.0["address"].as_str().unwrap();
        self.0["config"]
            .as_str()
            .unwrap()
            .replace(recorded, address)
    }

    /// Returns the names and contents of the recorded player files. The server's address in the
    /// names is replaced by the address in `url`.
    fn player_files(&self, url: &str) -> Vec<(String, String)> {
        let address = url.strip_prefix("ws://").unwrap().strip_suffix("/ws");
        let recorded = self.0["address"].as_str().unwrap();
        let files = self.0["state"].as_object().unwrap().iter();
        files
            .map(|(name, text)| {
                let name = name.replace(recorded, address.unwrap());
                (name, text.as_str().unwrap().to_owned())
            })
            .collect()
    }

    /// Returns the first recorded player that fulfils the condition.
    fn find_player(&self, matches: impl Fn(&Value) -> bool) -> Value {
        let files = self.0["state"].as_object().unwrap().values();
        let mut players = files.map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap());
        players.find(matches).expect("a recorded player")
    }

    fn ada(&self) -> Value {
        self.find_player(|player| player["name"] == "ada")
    }

    fn guest(&self) -> Value {
        self.find_player(|player| player["named"] == false)
    }
}

/// Runs `ply` in a home with some of the recorded files, and returns its first `hello`.
fn recorded_hello(is_present: impl Fn(&str) -> bool, arguments: &[&str]) -> Value {
    let (sender, hellos) = mpsc::channel();
    let server = ScriptedServer::start(move |listener| {
        // `ply` may first look up its matches on a separate connection.
        loop {
            let mut connection = ClientConnection::accept(listener);
            if sender.send(connection.expect_request("hello")).is_err() {
                return;
            }
            connection.close(REPLACED_CLOSE_CODE, "");
        }
    });
    let home = PlyHome::new();
    fs::create_dir(home.state_dir()).unwrap();
    // The numbers in the names of the player files must have no gap. If only some of the recorded
    // files are used, they are therefore renumbered.
    let players = RecordedFiles::read().player_files(&server.url);
    let names = players.iter().map(|(name, _)| name);
    let texts = players.iter().map(|(_, text)| text);
    for (name, text) in names.zip(texts.filter(|text| is_present(text))) {
        fs::write(home.state_dir().join(name), text).unwrap();
    }
    home.run(&server.url, arguments, "");
    hellos.try_recv().expect("a hello")
}

#[test]
fn recorded_guest_is_resumed_by_token() {
    let guest = RecordedFiles::read().guest();
    let hello = recorded_hello(|_| true, &["play", "--bot", "easy"]);
    assert_eq!(hello["token"], guest["token"]);
    assert_eq!(hello["name"], guest["name"]);
}

#[test]
fn recorded_name_resumes_its_player() {
    let ada = RecordedFiles::read().ada();
    let hello = recorded_hello(|_| true, &["play", "--bot", "easy", "--name", "ada"]);
    assert_eq!(hello["token"], ada["token"]);
}

#[test]
fn recorded_name_is_not_used_without_name() {
    let hello = recorded_hello(|text| text.contains("\"ada\""), &["play", "--bot", "easy"]);
    assert_eq!(hello["token"], Value::Null);
}

#[test]
fn recorded_seats_are_found_by_code_and_by_id() {
    let ada = RecordedFiles::read().ada();
    let seats = ada["seats"].as_array().unwrap();
    assert_eq!(seats.len(), 2, "{ada}");
    for seat in seats {
        for key in ["code", "id"] {
            let target = seat[key].as_str().unwrap();
            let hello = recorded_hello(|_| true, &["join", target]);
            assert_eq!(hello["token"], ada["token"], "{seat}");
        }
    }
}

#[test]
fn recorded_logout_file_holds_no_player() {
    let state = RecordedFiles::read().0["state"].clone();
    let files = state.as_object().unwrap();
    assert!(files.values().any(|text| text == "null"), "{state}");
    let hello = recorded_hello(|_| true, &["play", "--bot", "easy", "--name", "eve"]);
    assert_eq!(hello["token"], Value::Null);
    assert_eq!(hello["name"], "eve");
}

/// Fails if `ply` writes a field that the fixture does not contain.
#[test]
fn recorded_player_has_every_field() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let mut ply = PlyProcess::spawn(&home, &server, &["play", "tic-tac-toe", "--bot", "easy"]);
    ply.wait_for_line("Your turn.");
    let written_player = fs::read_dir(home.state_dir()).unwrap().find_map(|file| {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        serde_json::from_str::<Value>(&text).ok()
    });
    let written_player = written_player.expect("a player's file");
    let fields =
        |of: &Value| -> BTreeSet<String> { of.as_object().unwrap().keys().cloned().collect() };
    let guest = RecordedFiles::read().guest();
    assert_eq!(fields(&guest), fields(&written_player));
    assert_eq!(
        fields(&guest["seats"][0]),
        fields(&written_player["seats"][0])
    );
}

/// Returns a home directory with the recorded configuration, and the TLS server at the configured
/// address.
fn home_with_recorded_settings() -> (PlyHome, RealServer) {
    let home = PlyHome::new();
    let directory = home.path().join("ply");
    fs::create_dir(&directory).unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    // The recorded configuration contains this file name as a relative path.
    let certificate = directory.join("own-authority.pem");
    let key = home.path().join("key.pem");
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = RealServer::start_with_tls(Tls::read(certificate, key).unwrap());
    let address = server.url.strip_prefix("wss://").unwrap();
    let address = address.strip_suffix("/ws").unwrap();
    let config = RecordedFiles::read().config_for(address);
    fs::write(directory.join("config.toml"), config).unwrap();
    (home, server)
}

#[test]
fn recorded_settings_take_effect() {
    let (home, _real) = home_with_recorded_settings();
    let mut ply = home.ply_command("", &["play", "tic-tac-toe", "--bot", "easy"]);
    // `ply` can connect only with the recorded `server` and `ca` settings.
    ply.env_remove("PLYHOUSE_SERVER").stdin(Stdio::null());
    let output = CommandOutput::from_output(ply.output().unwrap());
    // These texts show the effect of the settings `ascii`, `name` and `color`. Colours are enabled
    // although the output is not a terminal.
    for text in ["+---+", "ada", "\u{1b}["] {
        assert!(output.stdout.contains(text), "{text:?}: {output:#?}");
    }
    assert!(output.stdout.is_ascii(), "{output:#?}");
}

#[test]
fn recorded_plain_setting_disables_full_screen() {
    let (home, _real) = home_with_recorded_settings();
    let mut ply = home.ply_command("", &["play", "tic-tac-toe", "--bot", "easy"]);
    ply.env_remove("PLYHOUSE_SERVER");
    let mut terminal = PtyTerminal::spawn(ply, (100, 30));
    terminal.wait_for_text("Your turn.");
    assert!(!terminal.is_full_screen());
}

/// Fails if `ply` documents a setting that the fixture does not contain.
#[test]
fn recorded_settings_include_every_documented_setting() {
    let help = PlyHome::new().run("", &["--help"], "").stdout;
    let (_, settings) = help.split_once("Settings:").expect("a settings section");
    let (settings, _) = settings
        .split_once("Exit codes:")
        .expect("an exit codes section");
    let keys = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().filter_map(|line| line.split_once(" = "));
        lines.map(|(key, _)| key.trim().to_owned()).collect()
    };
    assert_eq!(keys(&RecordedFiles::read().config_for("")), keys(settings));
}
