//! Whole evenings on the real server, in this process and on a free port.

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
    MemoryStore, RatingPost, RatingVersion, RatingsChange, Store as _, StoreMetrics,
};
use plyhouse_transport::{Tls, Transport};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::fake::{Home, Ran};

/// How long somebody waits for the next line before the test has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server for as long as this value lives.
pub(crate) struct Real {
    pub(crate) url: String,
    store: Arc<MemoryStore>,
    server: Server,
    runtime: Runtime,
}

impl Real {
    pub(crate) fn start() -> Self {
        Self::with("ws", Settings::default(), Transport::new)
    }

    pub(crate) fn start_with_tls(tls: Tls) -> Self {
        let transport = |server| Transport::with(server, Some(tls), true);
        Self::with("wss", Settings::default(), transport)
    }

    /// A server that registers only whom its operator has invited.
    pub(crate) fn start_by_invitation() -> Self {
        let settings = Settings {
            accounts: AccountPolicy::Invite,
            ..Settings::default()
        };
        Self::with("ws", settings, Transport::new)
    }

    fn with(scheme: &str, settings: Settings, transport: impl FnOnce(Server) -> Transport) -> Self {
        let runtime = Runtime::new().unwrap();
        let store = Arc::<MemoryStore>::default();
        let (server, address) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let metrics = StoreMetrics::default();
            let kept = Arc::<MemoryStore>::clone(&store);
            let server = Server::start(settings, kept, &metrics).unwrap();
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

    /// An invitation of the operator's.
    pub(crate) fn invitation(&self) -> String {
        let (code, hash) = new_one_time_secret();
        let order = self
            .server
            .run_admin_command(AdminCommand::Invite { code: hash });
        assert_eq!(self.runtime.block_on(order), AdminResult::Done);
        code.reveal().to_owned()
    }

    /// Has these books kept as if matches had come to them.
    pub(crate) fn rate(&self, books: RatingState) {
        let post = |fold: RatingVersion| RatingPost {
            version: fold.id,
            from_row: fold.cursor,
            to_row: fold.cursor,
            books: books.clone(),
            posted: Vec::new(),
        };
        // The server itself may post in between.
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

/// Somebody at a `ply` that goes on while the test does other things.
pub(crate) struct Somebody {
    child: Child,
    lines: Receiver<String>,
}

impl Somebody {
    pub(crate) fn start(home: &Home, server: &Real, arguments: &[&str]) -> Self {
        let mut child = home.start(&server.url, arguments);
        let seen = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        // Ends with the child, or when nobody waits for its lines any more.
        std::thread::spawn(move || {
            seen.lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Self { child, lines }
    }

    pub(crate) fn types(&mut self, lines: &str) {
        self.child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
    }

    /// The next line, or none at the end.
    fn line(&self, waiting_for: &str) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("waited too long for {waiting_for}"),
        }
    }

    /// Reads on to the line that contains this.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        loop {
            let line = self.line(text).unwrap_or_else(|| panic!("no {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// All lines to the end.
    fn rest(&self) -> String {
        let mut rest = String::new();
        while let Some(line) = self.line("the end") {
            rest += &line;
            rest.push('\n');
        }
        rest
    }

    /// What the run comes to, without what was seen of it before.
    pub(crate) fn ran(mut self) -> Ran {
        let stdout = self.rest().into_bytes();
        let mut stderr = Vec::new();
        let mut complaints = self.child.stderr.take().unwrap();
        complaints.read_to_end(&mut stderr).unwrap();
        let status = self.child.wait().unwrap();
        Ran::of(Output {
            status,
            stdout,
            stderr,
        })
    }

    /// Reads on to the end and gives the exit code.
    pub(crate) fn ends(mut self, text: &str) -> Option<i32> {
        let rest = self.rest();
        assert!(rest.contains(text), "no {text:?} in {rest}");
        self.child.wait().unwrap().code()
    }
}

/// Without its server `ply` would try for ever to reach it again.
impl Drop for Somebody {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two terminals of one machine: each is a player of its own, and the one that is killed finds its
/// seat and not the other's.
#[test]
fn two_people_play_by_code_and_one_of_them_is_killed() {
    let (server, home) = (Real::start(), Home::new());
    let mut ann = Somebody::start(&home, &server, &["play", "--open", "--name", "ann"]);
    let command = ann.sees("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();

    let mut bob = Somebody::start(&home, &server, &["join", &code]);
    bob.sees("ann (x) to move.");
    let mut eve = Somebody::start(&home, &server, &["watch", &code]);
    eve.sees("ann (x) to move.");
    ann.types("a1\n");
    bob.types("a2\n");
    bob.sees("You play a2.");

    bob.child.kill().unwrap();
    bob.child.wait().unwrap();
    ann.sees("has lost the connection");
    let mut bob = Somebody::start(&home, &server, &["join", &code]);
    bob.sees("Back at the match that was interrupted.");
    ann.sees("is back");

    ann.types("b1\n");
    bob.types("b2\n");
    ann.types("c1\n");
    assert_eq!(ann.ends("You win! The line is a1 b1 c1."), Some(0));
    assert_eq!(bob.ends("You lose. The line is a1 b1 c1."), Some(0));
    assert_eq!(eve.ends("ann (x) wins. The line is a1 b1 c1."), Some(0));
}

#[test]
fn two_people_play_by_the_clock_and_agree_on_a_draw() {
    let (server, home) = (Real::start(), Home::new());
    let arguments = ["play", "chess", "--open", "--clock", "5+3", "--name", "ann"];
    let mut ann = Somebody::start(&home, &server, &arguments);
    ann.sees("(5+3)");
    let command = ann.sees("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();
    let mut bob = Somebody::start(&home, &server, &["join", &code, "--name", "bob"]);
    bob.sees("ann  5:00");
    ann.types("e4\n");
    bob.types("e5\n");
    ann.sees("bob (black) plays e5.");
    ann.types("draw\nNf3\n");
    bob.sees("ann (white) offers a draw: type draw to accept, or decline.");
    bob.sees("Your turn.");
    bob.types("draw\n");
    assert_eq!(ann.ends("A draw. By agreement."), Some(0));
    assert_eq!(bob.ends("A draw. By agreement."), Some(0));
}

/// A digit drops a disc, and the line is seen on the board.
#[test]
fn two_people_play_connect_four() {
    let (server, home) = (Real::start(), Home::new());
    let arguments = ["play", "connect-four", "--open", "--name", "ann"];
    let mut ann = Somebody::start(&home, &server, &arguments);
    // What a browser would open will do as well, and names the server, too.
    let link = ann.sees("/m/").trim().to_owned();
    assert!(link.starts_with("http://"), "{link}");
    let mut bob = Somebody::start(&home, &server, &["join", &link]);
    bob.sees("ann (red) to move.");
    ann.types("4\n3\n5\n2\n");
    bob.types("4\n3\n5\n");
    ann.sees("   │   │   │ ○ │ ○ │[○]│");
    ann.sees("   │   │*●*│*●*│*●*│*●*│   │   │");
    assert_eq!(ann.ends("You win! Four in a row."), Some(0));
    assert_eq!(bob.ends("You lose. Four in a row."), Some(0));
}

/// Both terminals of one machine are killed, and come back in whatever order: each finds the match
/// that it asks for.
#[test]
fn each_of_two_killed_terminals_finds_its_own_match() {
    let (server, home) = (Real::start(), Home::new());
    let easy = &["play", "--bot", "easy"][..];
    let max = &["play", "--bot", "max"][..];
    let start = |arguments| {
        let mut one = Somebody::start(&home, &server, arguments);
        let title = one.sees("Tic-tac-toe ");
        one.sees("Your turn.");
        (one, title)
    };
    let kill = |mut one: Somebody| {
        one.child.kill().unwrap();
        one.child.wait().unwrap();
    };
    for order in [[0, 1], [1, 0]] {
        let (first, second) = (start(easy), start(max));
        let titles = [first.1, second.1];
        kill(first.0);
        kill(second.0);
        let again = order.map(|which| {
            let (one, title) = start([easy, max][which]);
            assert_eq!(title, titles[which], "{order:?}");
            one
        });
        again.into_iter().for_each(kill);
    }
    let (third, title) = start(&["play", "--bot", "beginner"]);
    kill(third);
    let (fourth, same) = start(&["play", "--bot", "beginner"]);
    kill(fourth);
    assert_eq!(title, same);
}

/// The example of the help, word by word.
#[test]
fn a_script_plays_a_bot() {
    let (server, home) = (Real::start(), Home::new());
    let ply = home.ply(&server.url, &[]);
    let folder = std::path::Path::new(ply.get_program()).parent().unwrap();
    let help = home.run(&server.url, &["--help"], "").out;
    let example = help.lines().find(|line| line.contains("yes \"")).unwrap();
    let mut shell = std::process::Command::new("sh");
    for (name, value) in ply.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    let path = std::env::var("PATH").unwrap();
    shell.env("PATH", format!("{}:{path}", folder.display()));
    let output = shell.args(["-c", example]).output().unwrap();
    let ran = Ran::of(output);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let ends = ["You win!", "You lose.", "A draw."];
    assert!(ends.iter().any(|end| ran.out.contains(end)), "{ran:#?}");
}

#[test]
fn two_bots_play_each_other_and_are_listed() {
    let (server, home) = (Real::start(), Home::new());
    let arguments = ["watch", "--bots", "max,easy", "--pace", "10000"];
    let mut slow = Somebody::start(&home, &server, &arguments);
    slow.sees("▸ x  ⚙ max bot");
    home.run(&server.url, &["list"], "")
        .expect(0, &["x ⚙ max bot, o ⚙ easy bot", "ply watch "]);
    slow.child.kill().unwrap();
    slow.child.wait().unwrap();
    let ran = home.run(
        &server.url,
        &["watch", "--bots", "max,max", "--pace", "0"],
        "",
    );
    ran.expect(0, &["A draw."]);
}

#[test]
fn what_the_real_server_refuses_is_told() {
    let (server, home) = (Real::start(), Home::new());
    home.run(&server.url, &["play", "--bot", "no-such-level"], "")
        .expect(4, &["easy"]);
    home.run(&server.url, &["play", "no-such-game"], "")
        .expect(4, &["tic-tac-toe"]);
    home.run(&server.url, &["join", "ZZZZZZ"], "")
        .expect(4, &["no match ZZZZZZ", "`ply list --server"]);
    home.run(&server.url, &["watch", "ZZZZZZ"], "")
        .expect(4, &["no match ZZZZZZ", "`ply list --server"]);
    let hello = r#"{"type":"hello","id":1,"protocol":2}"#;
    home.run(&server.url, &["raw"], hello)
        .expect(0, &["unsupported_protocol"]);
}
