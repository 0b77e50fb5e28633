//! A child process that is controlled through its standard input and output.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::TIMEOUT;

/// A program with a line-based protocol. Dropping this value kills the process.
pub(crate) struct EngineProcess {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl EngineProcess {
    pub(crate) fn start_plyhouse(arguments: &[&str]) -> Self {
        Self::spawn(env!("CARGO_BIN_EXE_plyhouse"), arguments)
    }

    pub(crate) fn spawn(program: impl AsRef<OsStr>, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let output = child.stdout.take().expect("stdout is piped");
        let (line_sender, lines) = channel();
        thread::spawn(move || {
            // When the receiver is dropped, sending a line fails and this thread ends.
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let _ = lines
                .map(|line| line_sender.send(line))
                .find(Result::is_err);
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
        }
    }

    /// Writes text and a line break to the program's input.
    pub(crate) fn send_lines(&mut self, lines: &str) {
        self.send_bytes(format!("{lines}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the pipe is open");
        input.write_all(bytes).expect("the program reads its input");
    }

    /// Returns all lines up to and including the first one that contains `expected`.
    pub(crate) fn read_until(&mut self, expected: &str) -> String {
        let mut output = String::new();
        loop {
            let line = self.lines.recv_timeout(TIMEOUT);
            let line = line.unwrap_or_else(|error| panic!("{error}: no {expected:?} in {output}"));
            output += &line;
            if line.contains(expected) {
                return output;
            }
            output.push('\n');
        }
    }

    /// Closes the program's input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the program to exit and asserts that it succeeded.
    pub(crate) fn wait_for_success(mut self) {
        while self.lines.recv_timeout(TIMEOUT).is_ok() {}
        assert!(self.child.wait().expect("the process exits").success());
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // The process has already exited if the test succeeded.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Finds a program that a Debian package installs, in `PATH` or in `/usr/games`.
pub(crate) fn find_installed_program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push(PathBuf::from("/usr/games"));
    let files = folders.into_iter().map(|folder| folder.join(name));
    let program = files.into_iter().find(|file| file.is_file());
    program.unwrap_or_else(|| panic!("{name} is missing: tests/run installs the Debian package"))
}
