//! Test server that follows a script, and helpers that run `ply`.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::server::{
    Callback, ErrorResponse, Request, Response,
};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept_hdr};

/// Time that a script waits for a message from `ply` before the test fails.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) const MATCH_ID: &str = "0b9e0000-0000-7000-8000-000000000001";
const ADA_ID: &str = "5f0c0000-0000-4000-8000-000000000001";

/// Returns the URL of a port that no server uses.
pub(crate) fn unreachable_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("ws://{}/ws", listener.local_addr().unwrap())
}

/// Server that follows the script of a test.
pub(crate) struct ScriptedServer {
    pub(crate) url: String,
    script: JoinHandle<()>,
}

impl ScriptedServer {
    /// Starts a server on a free port and runs its script on a new thread.
    pub(crate) fn start(script: impl FnOnce(&TcpListener) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/ws", listener.local_addr().unwrap());
        let script = std::thread::spawn(move || script(&listener));
        Self { url, script }
    }

    /// Waits for the end of the script. Panics if the script has failed.
    pub(crate) fn join_script(self) {
        self.script.join().expect("server script panicked");
    }
}

/// Server side of a WebSocket connection from `ply`.
pub(crate) struct ClientConnection(WebSocket<TcpStream>);

/// Handshake callback that selects the subprotocol of `ply`.
struct SelectSubprotocol;

impl Callback for SelectSubprotocol {
    fn on_request(self, _: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
        let protocol = HeaderValue::from_static("plyhouse.v1");
        response
            .headers_mut()
            .insert("Sec-WebSocket-Protocol", protocol);
        Ok(response)
    }
}

impl ClientConnection {
    pub(crate) fn accept(listener: &TcpListener) -> Self {
        let (stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        Self(accept_hdr(stream, SelectSubprotocol).unwrap())
    }

    /// Accepts a connection and replies to its `hello`. If `resumed` is true, the `hello` must
    /// contain a token. Otherwise the `hello` must not contain a token.
    pub(crate) fn accept_and_welcome(
        listener: &TcpListener,
        resumed: bool,
        following: &Value,
    ) -> Self {
        let mut connection = Self::accept(listener);
        let hello = connection.expect_request("hello");
        assert_eq!(hello["token"].is_string(), resumed, "{hello}");
        connection.reply(&hello, welcome_message(resumed, following));
        connection
    }

    /// Reads the next message and checks that it is a request of this type.
    pub(crate) fn expect_request(&mut self, kind: &str) -> Value {
        let text = self.read_text();
        let request: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(request["type"], kind, "{text}");
        request
    }

    /// Reads the next text message.
    pub(crate) fn read_text(&mut self) -> String {
        loop {
            if let Message::Text(text) = self.0.read().expect("a message") {
                return text.as_str().to_owned();
            }
        }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    /// Sends a message as the reply to a request.
    pub(crate) fn reply(&mut self, request: &Value, mut message: Value) {
        message["re"] = request["id"].clone();
        self.send(&message);
    }

    /// Closes the connection with a code, and waits for the client to confirm.
    pub(crate) fn close(mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame {
            code: code.into(),
            reason: reason.into(),
        };
        self.0.close(Some(frame)).unwrap();
        while self.0.read().is_ok() {}
    }

    /// Waits until `ply` closes the connection.
    pub(crate) fn wait_for_close(mut self) {
        while self.0.read().is_ok() {}
    }
}

pub(crate) fn welcome_message(resumed: bool, following: &Value) -> Value {
    json!({"type": "welcome", "protocol": 1, "server": "fake/1",
        "player": {"id": ADA_ID, "name": "ada"}, "token": "secret", "resumed": resumed,
        "games": [{"game": "tic-tac-toe", "title": "Tic-tac-toe", "sides": ["x", "o"],
                   "files": 3, "ranks": 3}],
        "levels": [{"level": "easy", "title": "Easy"}, {"level": "medium", "title": "Medium"},
                   {"level": "max", "title": "Full strength"}],
        "limits": {"message_bytes": 8192, "requests_per_s": 20, "burst": 40, "live_matches": 16,
                   "following": 64, "idle_ms": 60000, "abandon_after_ms": 60000},
        "following": following})
}

/// Returns the snapshot of a running match between ada (x) and a bot after the given moves.
pub(crate) fn match_snapshot(you: &Value, moves: &[&str]) -> Value {
    let ply = moves.len();
    json!({"type": "match", "match": MATCH_ID, "code": "K7QM2P", "seq": 3 + ply,
        "game": "tic-tac-toe", "status": "running", "host": ADA_ID, "listed": true, "you": you,
        "seats": [{"side": "x", "occupant": "player", "player": ADA_ID, "name": "ada",
                   "connected": true},
                  {"side": "o", "occupant": "bot", "level": "easy"}],
        "position": position(moves), "ply": ply, "turn": ply % 2, "moves": moves,
        "legal": ["c3"], "spectators": 0})
}

/// Returns the `moved` event for the last move in `moves`.
pub(crate) fn moved_event(moves: &[&str], is_over: bool) -> Value {
    let ply = moves.len() - 1;
    let turn = if is_over {
        Value::Null
    } else {
        json!((ply + 1) % 2)
    };
    json!({"type": "moved", "match": MATCH_ID, "seq": 4 + ply, "ply": ply, "seat": ply % 2,
        "move": moves[ply], "position": position(moves), "turn": turn, "legal": ["c3"]})
}

pub(crate) fn ended_event(moves: &[&str], outcome: &Value) -> Value {
    json!({"type": "ended", "match": MATCH_ID, "seq": 4 + moves.len(), "outcome": outcome})
}

fn position(moves: &[&str]) -> String {
    let mut ranks = [['.'; 3]; 3];
    for (m, mark) in moves.iter().zip(['x', 'o'].into_iter().cycle()) {
        let (file, rank) = (m.as_bytes()[0] - b'a', m.as_bytes()[1] - b'1');
        ranks[usize::from(2 - rank)][usize::from(file)] = mark;
    }
    ranks.map(|rank| rank.iter().collect::<String>()).join("/")
}

/// Temporary directory for the state and the configuration of `ply`.
pub(crate) struct PlyHome(tempfile::TempDir);

impl PlyHome {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    pub(crate) fn state_dir(&self) -> std::path::PathBuf {
        self.0.path().join("plyhouse")
    }

    pub(crate) fn ply_command(&self, url: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ply"));
        command.args(arguments);
        command.env_remove("NO_COLOR").env("PLYHOUSE_SERVER", url);
        command.env("XDG_STATE_HOME", self.0.path());
        command.env("XDG_CONFIG_HOME", self.0.path());
        command.env("LC_ALL", "C.UTF-8");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts `ply` with piped input and output. The input stays open.
    pub(crate) fn spawn(&self, url: &str, arguments: &[&str]) -> Child {
        self.ply_command(url, arguments).spawn().unwrap()
    }

    /// Runs `ply` until it exits, while its input stays open and empty.
    pub(crate) fn run_with_open_stdin(&self, url: &str, arguments: &[&str]) -> CommandOutput {
        let mut child = self.spawn(url, arguments);
        let stdin = child.stdin.take();
        let output = CommandOutput::from_output(child.wait_with_output().unwrap());
        drop(stdin);
        output
    }

    /// Runs `ply` with this input until it exits.
    pub(crate) fn run(&self, url: &str, arguments: &[&str], input: &str) -> CommandOutput {
        let mut child = self.spawn(url, arguments);
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        CommandOutput::from_output(child.wait_with_output().unwrap())
    }
}

/// Exit code and output of a finished `ply` process.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    pub(crate) fn from_output(output: Output) -> Self {
        Self {
            exit_code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Checks the exit code, and that each text occurs in the standard output or the standard
    /// error.
    #[track_caller]
    pub(crate) fn assert_output(&self, exit_code: i32, texts: &[&str]) {
        assert_eq!(self.exit_code, Some(exit_code), "{self:#?}");
        for text in texts {
            assert!(
                self.stdout.contains(text) || self.stderr.contains(text),
                "{text:?}: {self:#?}"
            );
        }
    }
}
