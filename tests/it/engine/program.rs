//! A program at the other end of two pipes.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::PATIENCE;

/// A program that is spoken to by lines. It is killed at the latest when this is dropped.
pub(super) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Program {
    pub(super) fn plyhouse(arguments: &[&str]) -> Self {
        Self::start(env!("CARGO_BIN_EXE_plyhouse"), arguments)
    }

    pub(super) fn start(program: impl AsRef<OsStr>, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let output = child.stdout.take().expect("it is piped");
        let (tell, lines) = channel();
        thread::spawn(move || {
            // Nobody may be listening any more.
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let _ = lines.map(|line| tell.send(line)).find(Result::is_err);
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
        }
    }

    /// Sends lines.
    pub(super) fn say(&mut self, lines: &str) {
        self.say_bytes(format!("{lines}\n").as_bytes());
    }

    pub(super) fn say_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).expect("it reads");
    }

    /// All lines to the first that contains this, and that one.
    pub(super) fn hear(&mut self, wanted: &str) -> String {
        let mut heard = String::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("{error}: no {wanted:?} in {heard}"));
            heard += &line;
            if line.contains(wanted) {
                return heard;
            }
            heard.push('\n');
        }
    }

    /// Ends its input.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// It comes to its end by itself, and well.
    pub(super) fn ends(mut self) {
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        assert!(self.child.wait().expect("it has ended").success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has ended already, where all is well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program of Debian's: on the path, or where its games lie.
pub(super) fn installed(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push(PathBuf::from("/usr/games"));
    let files = folders.into_iter().map(|folder| folder.join(name));
    let found = files.into_iter().find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{name} is missing: tests/run installs it, as Debian's package"))
}
