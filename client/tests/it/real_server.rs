//! Tests that play complete matches on a Plyhouse server, which runs in the test process on a free
//! port.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Output};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use plyhouse_matches::ratings::RatingState;
use plyhouse_server::{
    AccountPolicy, AdminCommand, AdminResult, Server, Settings, new_one_time_secret,
};
use plyhouse_store::{
    MemoryStore, RatingPost, RatingStore, RatingVersion, RatingsChange, StoreMetrics,
};
use plyhouse_transport::{Tls, Transport};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::scripted_server::{CommandOutput, PlyHome};

/// Time that a test waits for the next line of output before it fails.
const LINE_TIMEOUT: Duration = Duration::from_secs(60);

/// Plyhouse server that runs until this value is dropped.
pub(crate) struct RealServer {
    pub(crate) url: String,
    store: Arc<MemoryStore>,
    server: Server,
    runtime: Runtime,
}

impl RealServer {
    pub(crate) fn start() -> Self {
        Self::start_with("ws", Settings::default(), Transport::new)
    }

    pub(crate) fn start_with_tls(tls: Tls) -> Self {
        let transport = |server| Transport::with(server, Some(tls), true);
        Self::start_with("wss", Settings::default(), transport)
    }

    /// Starts a server that requires an invitation for registration.
    pub(crate) fn start_invite_only() -> Self {
        let settings = Settings {
            accounts: AccountPolicy::Invite,
            ..Settings::default()
        };
        Self::start_with("ws", settings, Transport::new)
    }

    fn start_with(
        scheme: &str,
        settings: Settings,
        transport: impl FnOnce(Server) -> Transport,
    ) -> Self {
        let runtime = Runtime::new().unwrap();
        let store = Arc::<MemoryStore>::default();
        let (server, address) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let metrics = StoreMetrics::default();
            let shared_store = Arc::<MemoryStore>::clone(&store);
            let server = Server::start(settings, shared_store, &metrics).unwrap();
            let transport = transport(server.clone());
            runtime.spawn(async move { transport.serve(listener).await });
            (server, address)
        });
        let url = format!("{scheme}://{address}/ws");
        Self {
            url,
            store,
            server,
            runtime,
        }
    }

    /// Creates an invitation as the operator.
    pub(crate) fn create_invitation(&self) -> String {
        let (code, hash) = new_one_time_secret();
        let command = self
            .server
            .run_admin_command(AdminCommand::Invite { code: hash });
        assert_eq!(self.runtime.block_on(command), AdminResult::Done);
        code.reveal().to_owned()
    }

    /// Stores these ratings as if they were the result of matches.
    pub(crate) fn post_ratings(&self, ratings: RatingState) {
        let post = |fold: RatingVersion| RatingPost {
            version: fold.id,
            from_row: fold.cursor,
            to_row: fold.cursor,
            books: ratings.clone(),
            posted: Vec::new(),
        };
        // The server may change the ratings at the same time, so the test retries until its own
        // change succeeds.
        self.runtime.block_on(async {
            loop {
                let state = self.store.rating_progress().await.unwrap();
                let post = RatingsChange::Post(Box::new(post(state.live)));
                if self.store.change_ratings(post).await.unwrap() {
                    return;
                }
            }
        });
    }
}

/// Running `ply` process that a test controls.
pub(crate) struct PlyProcess {
    child: Child,
    lines: Receiver<String>,
}

impl PlyProcess {
    pub(crate) fn spawn(home: &PlyHome, server: &RealServer, arguments: &[&str]) -> Self {
        let mut child = home.spawn(&server.url, arguments);
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        // The reader thread ends when the child process closes its output or the receiver is
        // dropped.
        std::thread::spawn(move || {
            stdout
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    pub(crate) fn type_lines(&mut self, lines: &str) {
        self.child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
    }

    /// Returns the next line, or `None` at the end of the output.
    fn next_line(&self, waiting_for: &str) -> Option<String> {
        match self.lines.recv_timeout(LINE_TIMEOUT) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("waited too long for {waiting_for}"),
        }
    }

    /// Reads lines until one of them contains `text`, and returns that line.
    pub(crate) fn wait_for_line(&mut self, text: &str) -> String {
        loop {
            let line = self
                .next_line(text)
                .unwrap_or_else(|| panic!("no {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Returns all lines up to the end of the output.
    fn remaining_lines(&self) -> String {
        let mut lines = String::new();
        while let Some(line) = self.next_line("the end") {
            lines += &line;
            lines.push('\n');
        }
        lines
    }

    /// Waits for the process to exit. Returns the exit code and the output that was not read
    /// before.
    pub(crate) fn wait_for_output(mut self) -> CommandOutput {
        let stdout = self.remaining_lines().into_bytes();
        let mut stderr = Vec::new();
        let mut stderr_pipe = self.child.stderr.take().unwrap();
        stderr_pipe.read_to_end(&mut stderr).unwrap();
        let status = self.child.wait().unwrap();
        CommandOutput::from_output(Output {
            status,
            stdout,
            stderr,
        })
    }

    /// Waits for the process to exit and returns the exit code. The remaining output must contain
    /// `text`.
    pub(crate) fn wait_for_exit(mut self, text: &str) -> Option<i32> {
        let lines = self.remaining_lines();
        assert!(lines.contains(text), "no {text:?} in {lines}");
        self.child.wait().unwrap().code()
    }
}

/// Kills the process, because `ply` would otherwise try forever to reconnect to the stopped server.
impl Drop for PlyProcess {
    fn drop(&mut self) {
        // An error is ignored, because the process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two `ply` processes in different terminals of one machine are two different players. A restarted
/// process must find the seat of the player that it controlled before.
#[test]
fn killed_player_resumes_own_seat_in_match_joined_by_code() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let mut ann = PlyProcess::spawn(&home, &server, &["play", "--open", "--name", "ann"]);
    let command = ann.wait_for_line("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();

    let mut bob = PlyProcess::spawn(&home, &server, &["join", &code]);
    bob.wait_for_line("ann (x) to move.");
    let mut eve = PlyProcess::spawn(&home, &server, &["watch", &code]);
    eve.wait_for_line("ann (x) to move.");
    ann.type_lines("a1\n");
    bob.type_lines("a2\n");
    bob.wait_for_line("You play a2.");

    bob.child.kill().unwrap();
    bob.child.wait().unwrap();
    ann.wait_for_line("disconnected");
    let mut bob = PlyProcess::spawn(&home, &server, &["join", &code]);
    bob.wait_for_line("Resuming your match.");
    ann.wait_for_line("is back");

    ann.type_lines("b1\n");
    bob.type_lines("b2\n");
    ann.type_lines("c1\n");
    assert_eq!(
        ann.wait_for_exit("You win! Winning line: a1 b1 c1."),
        Some(0)
    );
    assert_eq!(
        bob.wait_for_exit("You lose. Winning line: a1 b1 c1."),
        Some(0)
    );
    assert_eq!(
        eve.wait_for_exit("ann (x) wins. Winning line: a1 b1 c1."),
        Some(0)
    );
}

#[test]
fn two_players_with_clock_agree_on_draw() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let arguments = ["play", "chess", "--open", "--clock", "5+3", "--name", "ann"];
    let mut ann = PlyProcess::spawn(&home, &server, &arguments);
    ann.wait_for_line("(5+3)");
    let command = ann.wait_for_line("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();
    let mut bob = PlyProcess::spawn(&home, &server, &["join", &code, "--name", "bob"]);
    bob.wait_for_line("ann  5:00");
    ann.type_lines("e4\n");
    bob.type_lines("e5\n");
    ann.wait_for_line("bob (black) plays e5.");
    ann.type_lines("draw\nNf3\n");
    bob.wait_for_line("ann (white) offers a draw: type draw to accept, or decline.");
    bob.wait_for_line("Your turn.");
    bob.type_lines("draw\n");
    assert_eq!(ann.wait_for_exit("Draw by mutual agreement."), Some(0));
    assert_eq!(bob.wait_for_exit("Draw by mutual agreement."), Some(0));
}

/// In Connect Four, typing a digit drops a disc. The board marks the winning line.
#[test]
fn two_players_play_connect_four_by_link() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let arguments = ["play", "connect-four", "--open", "--name", "ann"];
    let mut ann = PlyProcess::spawn(&home, &server, &arguments);
    // `ply join` also accepts the link for browsers, which names the server.
    let link = ann.wait_for_line("/m/").trim().to_owned();
    assert!(link.starts_with("http://"), "{link}");
    let mut bob = PlyProcess::spawn(&home, &server, &["join", &link]);
    bob.wait_for_line("ann (red) to move.");
    ann.type_lines("4\n3\n5\n2\n");
    bob.type_lines("4\n3\n5\n");
    ann.wait_for_line("   │   │   │ ○ │ ○ │[○]│");
    ann.wait_for_line("   │   │*●*│*●*│*●*│*●*│   │   │");
    assert_eq!(ann.wait_for_exit("You win! Four in a row."), Some(0));
    assert_eq!(bob.wait_for_exit("You lose. Four in a row."), Some(0));
}

/// Two terminals on the same machine are killed and restarted in either order.
#[test]
fn each_restarted_terminal_resumes_its_own_match() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let easy = &["play", "--bot", "easy"][..];
    let max = &["play", "--bot", "max"][..];
    let start_match = |arguments| {
        let mut ply = PlyProcess::spawn(&home, &server, arguments);
        let title = ply.wait_for_line("Tic-tac-toe ");
        ply.wait_for_line("Your turn.");
        (ply, title)
    };
    let kill = |mut ply: PlyProcess| {
        ply.child.kill().unwrap();
        ply.child.wait().unwrap();
    };
    for order in [[0, 1], [1, 0]] {
        let (first, second) = (start_match(easy), start_match(max));
        let titles = [first.1, second.1];
        kill(first.0);
        kill(second.0);
        let restarted = order.map(|which| {
            let (ply, title) = start_match([easy, max][which]);
            assert_eq!(title, titles[which], "{order:?}");
            ply
        });
        restarted.into_iter().for_each(kill);
    }
    let (third, title) = start_match(&["play", "--bot", "beginner"]);
    kill(third);
    let (fourth, same) = start_match(&["play", "--bot", "beginner"]);
    kill(fourth);
    assert_eq!(title, same);
}

/// Runs the example script from the help text unchanged.
#[test]
fn script_from_help_plays_bot_match() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let ply = home.ply_command(&server.url, &[]);
    let folder = std::path::Path::new(ply.get_program()).parent().unwrap();
    let help = home.run(&server.url, &["--help"], "").stdout;
    let example = help.lines().find(|line| line.contains("yes \"")).unwrap();
    let mut shell = std::process::Command::new("sh");
    for (name, value) in ply.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    let path = std::env::var("PATH").unwrap();
    shell.env("PATH", format!("{}:{path}", folder.display()));
    let output = shell.args(["-c", example]).output().unwrap();
    let output = CommandOutput::from_output(output);
    assert_eq!(output.exit_code, Some(0), "{output:#?}");
    let results = ["You win!", "You lose.", "Draw."];
    assert!(
        results.iter().any(|end| output.stdout.contains(end)),
        "{output:#?}"
    );
}

#[test]
fn bot_match_is_listed_and_watched() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let arguments = ["watch", "--bots", "max,easy", "--pace", "10000"];
    let mut slow_match = PlyProcess::spawn(&home, &server, &arguments);
    slow_match.wait_for_line("▸ x  ⚙ max bot");
    home.run(&server.url, &["list"], "")
        .assert_output(0, &["x ⚙ max bot, o ⚙ easy bot", "ply watch "]);
    slow_match.child.kill().unwrap();
    slow_match.child.wait().unwrap();
    let output = home.run(
        &server.url,
        &["watch", "--bots", "max,max", "--pace", "0"],
        "",
    );
    output.assert_output(0, &["Draw."]);
}

#[test]
fn request_errors_of_server_are_reported() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    home.run(&server.url, &["play", "--bot", "no-such-level"], "")
        .assert_output(4, &["easy"]);
    home.run(&server.url, &["play", "no-such-game"], "")
        .assert_output(4, &["tic-tac-toe"]);
    home.run(&server.url, &["join", "ZZZZZZ"], "")
        .assert_output(4, &["no match ZZZZZZ", "`ply list --server"]);
    home.run(&server.url, &["watch", "ZZZZZZ"], "")
        .assert_output(4, &["no match ZZZZZZ", "`ply list --server"]);
    let hello = r#"{"type":"hello","id":1,"protocol":2}"#;
    home.run(&server.url, &["raw"], hello)
        .assert_output(0, &["unsupported_protocol"]);
}
