//! The full screen, on a terminal that is none: what is to be seen on it is what was written to it.

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
use vt100::Parser;

use crate::fake::Home;
use crate::real::Real;

const F1: &str = "\u{1b}OP";
const F5: &str = "\u{1b}[15~";
const F10: &str = "\u{1b}[21~";
const LEFT: &str = "\u{1b}[D";

/// How long what is waited for may take, even where much else runs: whoever waits for ever hides the others' results.
const PATIENCE: Timespec = Timespec {
    tv_sec: 60,
    tv_nsec: 0,
};

/// A terminal of its own, and `ply` in it.
pub(crate) struct Desk {
    terminal: File,
    shown: Parser,
    ply: Child,
}

impl Desk {
    fn at(home: &Home, server: &Real, arguments: &[&str], size: (u16, u16)) -> Self {
        Self::of(home.ply(&server.url, arguments), size)
    }

    /// Where this command runs.
    pub(crate) fn of(mut command: Command, size: (u16, u16)) -> Self {
        // No `ply` may hold the other end of its own terminal, or of another's: what std opens is closed there.
        let mut open = OpenOptions::new();
        let terminal = open.read(true).write(true).open("/dev/ptmx");
        let terminal = terminal.expect("a terminal");
        grantpt(&terminal).expect("granted");
        unlockpt(&terminal).expect("unlocked");
        tcsetwinsize(&terminal, winsize(size)).expect("resized");
        let name = ptsname(&terminal, Vec::new()).expect("a name");
        let seat = || {
            let mut open = OpenOptions::new();
            open.read(true)
                .write(true)
                .open(name.to_str().expect("plain letters"))
                .expect("opened")
        };
        command
            .env("TERM", "xterm")
            .stdin(seat())
            .stdout(seat())
            .stderr(seat());
        let ply = command.spawn().expect("started");
        Self {
            terminal,
            shown: Parser::new(side(size.1), side(size.0), 0),
            ply,
        }
    }

    fn types(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).expect("written");
    }

    /// Waits until this stands somewhere on the screen.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        while !self.shown.screen().contents().contains(text) {
            let more = self.read();
            assert!(more, "no {text:?} in\n{}", self.shown.screen().contents());
        }
    }

    #[track_caller]
    fn read(&mut self) -> bool {
        let mut written = [PollFd::new(&self.terminal, PollFlags::IN)];
        let count = poll(&mut written, Some(&PATIENCE)).expect("awaited");
        let seen = self.shown.screen().contents();
        assert!(count > 0, "nothing more is written after\n{seen}");
        let mut bytes = [0; 4096];
        // On Linux it is an error to read what nobody can write to any more.
        let count = self.terminal.read(&mut bytes).unwrap_or(0);
        self.shown.process(&bytes[..count]);
        count > 0
    }

    fn resize(&mut self, size: (u16, u16)) {
        tcsetwinsize(&self.terminal, winsize(size)).expect("resized");
        self.shown.screen_mut().set_size(side(size.1), side(size.0));
        // The terminal is nobody's own, so that the kernel tells nobody.
        self.signal(Signal::WINCH);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.ply);
        kill_process(pid, signal).expect("it runs");
    }

    /// Whether lines are edited by the terminal, and letters are shown.
    fn is_as_found(&self) -> bool {
        let modes = tcgetattr(&self.terminal).expect("modes").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    pub(crate) fn is_full_screen(&self) -> bool {
        self.shown.screen().alternate_screen()
    }

    /// Waits for the end: the terminal has to be as it was. Gives what is to be seen, and the exit code.
    #[track_caller]
    fn ends(mut self) -> (String, Option<i32>) {
        while self.read() {}
        let code = self.ply.wait().expect("ended").code();
        assert!(!self.is_full_screen());
        assert!(self.is_as_found());
        assert!(!self.shown.screen().hide_cursor());
        (self.shown.screen().contents(), code)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.ply.kill();
        let _ = self.ply.wait();
    }
}

fn side(count: u16) -> NonZero<u16> {
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

const PLAY: [&str; 3] = ["play", "--bot", "easy"];

#[test]
fn a_match_is_played_on_the_full_screen() {
    let (server, home) = (Real::start(), Home::new());
    let mut desk = Desk::at(&home, &server, &PLAY, (80, 24));
    desk.sees("Your turn.");
    assert!(desk.is_full_screen() && !desk.is_as_found());
    desk.sees("▸ x  ");
    desk.types("\r");
    desk.sees("You play b2.");
    desk.sees("bot (o) plays");
    desk.sees("Your turn.");
    desk.types(F1);
    desk.sees("ask for your last move back");
    desk.types("\r");
    desk.sees("│   │");
    desk.types(&format!("{F5}\r"));
    desk.sees("You lose.");
    desk.sees("F8 rematch");
    desk.types(F10);
    let (seen, code) = desk.ends();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("You lose."), "{seen}");
    assert!(seen.contains("Tic-tac-toe"), "{seen}");
    assert!(!seen.contains("F10"), "{seen}");
}

/// Nobody comes, so a bot is asked to; what is typed is read as people write it, and help goes by any key.
#[test]
fn who_waits_can_have_a_bot_come() {
    let (server, home) = (Real::start(), Home::new());
    let mut desk = Desk::at(&home, &server, &["play", "--open"], (80, 24));
    desk.sees(", casual");
    desk.sees("no bot comes by itself.");
    desk.types("bot easy\r");
    desk.sees("Your turn.");
    desk.types("help\r");
    desk.sees("Arrows move the cursor");
    desk.sees("Any key goes back");
    desk.types(" ");
    desk.sees("F10 quit");
    desk.types("B-2\r");
    desk.sees("You play b2.");
    desk.types(F10);
    assert_eq!(desk.ends().1, Some(1));
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let server = Real::start();
    for (end, signal) in [
        ("\u{3}", None),
        ("", Some(Signal::TERM)),
        ("", Some(Signal::INT)),
    ] {
        let home = Home::new();
        let mut desk = Desk::at(&home, &server, &PLAY, (80, 24));
        desk.sees("Your turn.");
        desk.types(end);
        if let Some(signal) = signal {
            desk.signal(signal);
        }
        let (seen, code) = desk.ends();
        assert_eq!(code, Some(1), "{signal:?}: {seen}");
        assert!(seen.contains("You leave the table."), "{signal:?}: {seen}");
        assert!(seen.contains("ply join "), "{signal:?}: {seen}");
    }
}

/// Where nobody looks on any more, nothing goes on.
#[test]
fn it_ends_with_its_terminal() {
    let server = Real::start();
    for is_heard in [true, false] {
        let home = Home::new();
        let command = home.ply(&server.url, &PLAY);
        let mut desk = match is_heard {
            true => Desk::of(command, (80, 24)),
            false => Desk::of(without_hangups(&command), (80, 24)),
        };
        desk.sees("Your turn.");
        desk.terminal = File::open("/dev/null").expect("opened");
        // By the signal, or because its keys have come to an end: whichever it hears first.
        let has_ended = (0..400).any(|_| {
            thread::park_timeout(Duration::from_millis(25));
            desk.ply.try_wait().expect("it was started").is_some()
        });
        assert!(has_ended);
    }
}

/// This command, ignoring SIGHUP as `nohup` has it.
fn without_hangups(command: &Command) -> Command {
    let mut without = Command::new("sh");
    without.args(["-c", r#"trap "" HUP; exec "$0" "$@""#]);
    without.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => without.env(name, value),
            None => without.env_remove(name),
        };
    }
    without
}

#[test]
fn a_window_that_shrinks_asks_to_be_enlarged() {
    let (server, home) = (Real::start(), Home::new());
    let mut desk = Desk::at(&home, &server, &PLAY, (80, 24));
    desk.sees("Your turn.");
    desk.resize((60, 10));
    desk.sees("now 60 x 10");
    desk.types(LEFT);
    desk.resize((120, 40));
    desk.sees("Your turn.");
    desk.types("\r");
    desk.sees("You play a2.");
    desk.types(F10);
    assert_eq!(desk.ends().1, Some(1));
}

/// A key and a change of the window that come together are both heard.
#[test]
fn a_key_is_heard_while_the_window_changes() {
    let (server, home) = (Real::start(), Home::new());
    let mut desk = Desk::at(&home, &server, &PLAY, (80, 24));
    desk.sees("Your turn.");
    for letter in 'a'..='e' {
        let mut typed = String::new();
        for _ in 0..30 {
            typed.push(letter);
            desk.types(&letter.to_string());
            desk.signal(Signal::WINCH);
            desk.sees(&typed);
        }
        desk.types("\u{15}");
    }
}

/// Whoever has pasted more than a line can hold goes on typing.
#[test]
fn a_long_text_that_is_pasted_holds_no_key_up() {
    let (server, home) = (Real::start(), Home::new());
    let mut desk = Desk::at(&home, &server, &PLAY, (80, 24));
    desk.sees("Your turn.");
    desk.types(&"x".repeat(3000));
    desk.sees("xxxxx");
    let name = ptsname(&desk.terminal, Vec::new()).expect("a name");
    let typed = File::open(name.to_str().expect("plain letters")).expect("opened");
    // The kernel hands over what was written bit by bit, so that nothing there may mean that more comes.
    let mut empty = 0;
    let is_read = (0..400).any(|_| {
        let rest = ioctl_fionread(&typed).expect("a number");
        empty = if rest == 0 { empty + 1 } else { 0 };
        thread::park_timeout(Duration::from_millis(50));
        empty == 5
    });
    assert!(is_read, "the rest of it is stuck");
    drop(typed);
    desk.types("\u{15}b2\r");
    desk.sees("You play b2.");
    desk.types(F10);
    assert_eq!(desk.ends().1, Some(1));
}

#[test]
fn two_bots_are_watched_to_the_end() {
    let (server, home) = (Real::start(), Home::new());
    let arguments = ["watch", "--bots", "max,max", "--pace", "0"];
    let mut desk = Desk::at(&home, &server, &arguments, (80, 24));
    desk.sees("A draw.");
    desk.sees("Enter leave");
    assert!(desk.is_full_screen());
    desk.types("\r");
    let (seen, code) = desk.ends();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("A draw."), "{seen}");
}

#[test]
fn lines_are_shown_where_they_are_wanted_or_there_is_no_room() {
    let (server, home) = (Real::start(), Home::new());
    let plain = ["play", "--bot", "easy", "--plain"];
    for (arguments, size) in [(&plain[..], (80, 24)), (&PLAY, (79, 24)), (&PLAY, (80, 23))] {
        let mut desk = Desk::at(&home, &server, arguments, size);
        desk.sees("`help` for more.");
        assert!(!desk.is_full_screen(), "{arguments:?}");
        desk.types("resign\r");
        desk.sees("You lose.");
        desk.types("quit\r");
        assert_eq!(desk.ends().1, Some(0), "{arguments:?}");
    }
}
