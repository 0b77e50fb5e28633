//! Tests of full-screen mode in a pseudoterminal. A terminal emulator interprets the output of
//! `ply`.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{grantpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::time::Instant;
use vt100::Parser;

use crate::real_server::RealServer;
use crate::scripted_server::PlyHome;

const F1: &str = "\u{1b}OP";
const F5: &str = "\u{1b}[15~";
const F10: &str = "\u{1b}[21~";
const LEFT: &str = "\u{1b}[D";

/// Timeout for expected output. The timeout is long, because other tests run at the same time.
/// Without a timeout, a test that hangs would hide the results of the other tests.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(60);

/// Pseudoterminal with a running `ply`.
pub(crate) struct PtyTerminal {
    pty: File,
    parser: Parser,
    child: Child,
}

impl PtyTerminal {
    fn start(home: &PlyHome, server: &RealServer, arguments: &[&str], size: (u16, u16)) -> Self {
        Self::spawn(home.ply_command(&server.url, arguments), size)
    }

    /// Runs a command in a new pseudoterminal.
    pub(crate) fn spawn(mut command: Command, size: (u16, u16)) -> Self {
        // `std` opens files with close-on-exec, so that `ply` does not inherit the test's side of
        // the pseudoterminal. If `ply` inherited it, the pseudoterminal would stay open.
        let mut open = OpenOptions::new();
        let pty = open.read(true).write(true).open("/dev/ptmx");
        let pty = pty.expect("open /dev/ptmx");
        grantpt(&pty).expect("grantpt succeeds");
        unlockpt(&pty).expect("unlockpt succeeds");
        tcsetwinsize(&pty, winsize(size)).expect("set window size");
        let name = ptsname(&pty, Vec::new()).expect("terminal name");
        let open_terminal = || {
            let mut open = OpenOptions::new();
            open.read(true)
                .write(true)
                .open(name.to_str().expect("UTF-8 terminal name"))
                .expect("open terminal")
        };
        command
            .env("TERM", "xterm")
            .stdin(open_terminal())
            .stdout(open_terminal())
            .stderr(open_terminal());
        let child = command.spawn().expect("spawn ply");
        Self {
            pty,
            parser: Parser::new(nonzero(size.1), nonzero(size.0), 0),
            child,
        }
    }

    fn send_keys(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).expect("write keys");
    }

    /// Waits until the screen contains `text`.
    #[track_caller]
    pub(crate) fn wait_for_text(&mut self, text: &str) {
        let deadline = Instant::now() + OUTPUT_TIMEOUT;
        while !self.parser.screen().contents().contains(text) {
            let has_more = self.read_output(deadline);
            assert!(
                has_more,
                "no {text:?} in\n{}",
                self.parser.screen().contents()
            );
        }
    }

    /// Reads output. Panics if none arrives before the deadline. `ply` may write something every
    /// second, so the deadline applies to all calls for one text. Returns whether there was output.
    #[track_caller]
    fn read_output(&mut self, deadline: Instant) -> bool {
        let remaining = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(remaining).expect("short");
        let mut readable = [PollFd::new(&self.pty, PollFlags::IN)];
        let count = poll(&mut readable, Some(&timeout)).expect("poll terminal");
        let contents = self.parser.screen().contents();
        assert!(
            count > 0 && !remaining.is_zero(),
            "expected output is missing after\n{contents}"
        );
        let mut bytes = [0; 4096];
        // On Linux, this read fails once no process has the terminal open.
        let count = self.pty.read(&mut bytes).unwrap_or(0);
        self.parser.process(&bytes[..count]);
        count > 0
    }

    fn resize(&mut self, size: (u16, u16)) {
        tcsetwinsize(&self.pty, winsize(size)).expect("set window size");
        self.parser
            .screen_mut()
            .set_size(nonzero(size.1), nonzero(size.0));
        // The pseudoterminal is not a controlling terminal. The kernel therefore does not send
        // SIGWINCH, and the test sends it instead.
        self.signal(Signal::WINCH);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("ply is running");
    }

    /// Returns whether the terminal is in its normal mode: it edits lines, echoes characters and
    /// generates signals.
    fn is_in_line_mode(&self) -> bool {
        let modes = tcgetattr(&self.pty).expect("terminal modes").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    pub(crate) fn is_full_screen(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Waits for `ply` to exit and checks that the terminal is restored. Returns the contents of
    /// the screen and the exit code.
    #[track_caller]
    fn wait_for_exit(mut self) -> (String, Option<i32>) {
        let deadline = Instant::now() + OUTPUT_TIMEOUT;
        while self.read_output(deadline) {}
        let code = self.child.wait().expect("wait for ply").code();
        assert!(!self.is_full_screen());
        assert!(self.is_in_line_mode());
        assert!(!self.parser.screen().hide_cursor());
        (self.parser.screen().contents(), code)
    }
}

impl Drop for PtyTerminal {
    fn drop(&mut self) {
        // Errors are ignored, because the process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn nonzero(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("not zero")
}

const fn winsize((columns, rows): (u16, u16)) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

const PLAY_ARGUMENTS: [&str; 3] = ["play", "--bot", "easy"];

#[test]
fn match_is_played_on_full_screen() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let mut terminal = PtyTerminal::start(&home, &server, &PLAY_ARGUMENTS, (80, 24));
    terminal.wait_for_text("Your turn.");
    assert!(terminal.is_full_screen() && !terminal.is_in_line_mode());
    terminal.wait_for_text("▸ x  ");
    terminal.send_keys("\r");
    terminal.wait_for_text("You play b2.");
    terminal.wait_for_text("bot (o) plays");
    terminal.wait_for_text("Your turn.");
    terminal.send_keys(F1);
    terminal.wait_for_text("propose or accept a takeback");
    terminal.send_keys("\r");
    terminal.wait_for_text("│   │");
    terminal.send_keys(&format!("{F5}\r"));
    terminal.wait_for_text("You lose.");
    terminal.wait_for_text("F8 rematch");
    terminal.send_keys(F10);
    let (contents, code) = terminal.wait_for_exit();
    assert_eq!(code, Some(0), "{contents}");
    assert!(contents.contains("You lose."), "{contents}");
    assert!(contents.contains("Tic-tac-toe"), "{contents}");
    assert!(!contents.contains("F10"), "{contents}");
}

/// The test also closes the help with a key and types a move in informal notation.
#[test]
fn bot_command_fills_open_seat() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let mut terminal = PtyTerminal::start(&home, &server, &["play", "--open"], (80, 24));
    terminal.wait_for_text(", casual");
    terminal.wait_for_text("no bot joins");
    terminal.send_keys("bot easy\r");
    terminal.wait_for_text("Your turn.");
    terminal.send_keys("help\r");
    terminal.wait_for_text("Arrow keys move the cursor");
    terminal.wait_for_text("Press any key to return");
    terminal.send_keys(" ");
    terminal.wait_for_text("F10 quit");
    terminal.send_keys("B-2\r");
    terminal.wait_for_text("You play b2.");
    terminal.send_keys(F10);
    assert_eq!(terminal.wait_for_exit().1, Some(1));
}

#[test]
fn terminal_is_restored_after_interrupt_or_signal() {
    let server = RealServer::start();
    for (keys, signal) in [
        ("\u{3}", None),
        ("", Some(Signal::TERM)),
        ("", Some(Signal::INT)),
    ] {
        let home = PlyHome::new();
        let mut terminal = PtyTerminal::start(&home, &server, &PLAY_ARGUMENTS, (80, 24));
        terminal.wait_for_text("Your turn.");
        terminal.send_keys(keys);
        if let Some(signal) = signal {
            terminal.signal(signal);
        }
        let (contents, code) = terminal.wait_for_exit();
        assert_eq!(code, Some(1), "{signal:?}: {contents}");
        assert!(
            contents.contains("You left the match."),
            "{signal:?}: {contents}"
        );
        assert!(contents.contains("ply join "), "{signal:?}: {contents}");
    }
}

#[test]
fn ply_exits_when_terminal_closes() {
    let server = RealServer::start();
    for receives_hangup in [true, false] {
        let home = PlyHome::new();
        let command = home.ply_command(&server.url, &PLAY_ARGUMENTS);
        let mut terminal = match receives_hangup {
            true => PtyTerminal::spawn(command, (80, 24)),
            false => PtyTerminal::spawn(ignoring_hangups(&command), (80, 24)),
        };
        terminal.wait_for_text("Your turn.");
        terminal.pty = File::open("/dev/null").expect("open /dev/null");
        // `ply` must exit when its terminal closes, even if it ignores SIGHUP.
        let has_ended = (0..400).any(|_| {
            thread::park_timeout(Duration::from_millis(25));
            terminal
                .child
                .try_wait()
                .expect("ply was spawned")
                .is_some()
        });
        assert!(has_ended);
    }
}

/// Wraps the command in a shell that ignores SIGHUP, as `nohup` does.
fn ignoring_hangups(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" HUP; exec "$0" "$@""#]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

#[test]
fn too_small_window_asks_to_enlarge_it() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let mut terminal = PtyTerminal::start(&home, &server, &PLAY_ARGUMENTS, (80, 24));
    terminal.wait_for_text("Your turn.");
    terminal.resize((60, 10));
    terminal.wait_for_text("now 60 x 10");
    terminal.send_keys(LEFT);
    terminal.resize((120, 40));
    terminal.wait_for_text("Your turn.");
    terminal.send_keys("\r");
    terminal.wait_for_text("You play a2.");
    terminal.send_keys(F10);
    assert_eq!(terminal.wait_for_exit().1, Some(1));
}

/// If a key and a size change arrive at the same time, `ply` must process both.
#[test]
fn keys_are_read_during_window_changes() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let mut terminal = PtyTerminal::start(&home, &server, &PLAY_ARGUMENTS, (80, 24));
    terminal.wait_for_text("Your turn.");
    for letter in 'a'..='e' {
        let mut typed = String::new();
        for _ in 0..30 {
            typed.push(letter);
            terminal.send_keys(&letter.to_string());
            terminal.signal(Signal::WINCH);
            terminal.wait_for_text(&typed);
        }
        terminal.send_keys("\u{15}");
    }
}

/// The pasted text is longer than the input line.
#[test]
fn long_pasted_text_does_not_block_later_keys() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let mut terminal = PtyTerminal::start(&home, &server, &PLAY_ARGUMENTS, (80, 24));
    terminal.wait_for_text("Your turn.");
    terminal.send_keys(&"x".repeat(3000));
    terminal.wait_for_text("xxxxx");
    let name = ptsname(&terminal.pty, Vec::new()).expect("terminal name");
    let input = File::open(name.to_str().expect("UTF-8 terminal name")).expect("open terminal");
    // The kernel delivers the pasted text in pieces, so the terminal can be empty for a moment. The
    // test waits until five consecutive checks find no unread input.
    let mut empty = 0;
    let is_drained = (0..400).any(|_| {
        let unread_bytes = ioctl_fionread(&input).expect("unread byte count");
        empty = if unread_bytes == 0 { empty + 1 } else { 0 };
        thread::park_timeout(Duration::from_millis(50));
        empty == 5
    });
    assert!(is_drained, "the pasted text was not read completely");
    drop(input);
    terminal.send_keys("\u{15}b2\r");
    terminal.wait_for_text("You play b2.");
    terminal.send_keys(F10);
    assert_eq!(terminal.wait_for_exit().1, Some(1));
}

#[test]
fn bot_match_is_watched_to_its_end() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let arguments = ["watch", "--bots", "max,max", "--pace", "0"];
    let mut terminal = PtyTerminal::start(&home, &server, &arguments, (80, 24));
    terminal.wait_for_text("Draw.");
    terminal.wait_for_text("Enter leave");
    assert!(terminal.is_full_screen());
    terminal.send_keys("\r");
    let (contents, code) = terminal.wait_for_exit();
    assert_eq!(code, Some(0), "{contents}");
    assert!(contents.contains("Draw."), "{contents}");
}

#[test]
fn plain_option_or_small_terminal_uses_line_mode() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let plain = ["play", "--bot", "easy", "--plain"];
    for (arguments, size) in [
        (&plain[..], (80, 24)),
        (&PLAY_ARGUMENTS, (79, 24)),
        (&PLAY_ARGUMENTS, (80, 23)),
    ] {
        let mut terminal = PtyTerminal::start(&home, &server, arguments, size);
        terminal.wait_for_text("`help` for more.");
        assert!(!terminal.is_full_screen(), "{arguments:?}");
        terminal.send_keys("resign\r");
        terminal.wait_for_text("You lose.");
        terminal.send_keys("quit\r");
        assert_eq!(terminal.wait_for_exit().1, Some(0), "{arguments:?}");
    }
}
