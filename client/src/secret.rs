//! Passwords and keys, as they come from a person or a script: never as an argument, which everybody on the machine
//! could see.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use plyhouse_protocol::Token;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::failure::Failure;

/// Where a script may leave the password of the player.
const ENVIRONMENT: &str = "PLYHOUSE_PASSWORD";

/// Where a program may have the key by which it plays.
const KEY_ENVIRONMENT: &str = "PLYHOUSE_KEY";

/// How keys begin.
const KEY_MARK: &str = "ply_";

/// The longest line that is taken for a password, in bytes: more than any has.
const BYTES_MAX: u64 = 1024;

/// Ctrl-C, Ctrl-D, and what deletes a letter, where the terminal only hands keys on.
const INTERRUPT: u8 = 3;
const END: u8 = 4;
const DELETE: [u8; 2] = [8, 127];

/// The player's password: from the environment, or else the next line that is typed, which is not shown.
pub(crate) fn password(prompt: &str) -> Result<Token, Failure> {
    match std::env::var(ENVIRONMENT) {
        Ok(password) if !password.is_empty() => Ok(Token::new(password)),
        Ok(_) | Err(_) => asked(prompt),
    }
}

/// The key by which a program plays, if it has one: the first line of this file, or else what the environment
/// has.
pub(crate) fn key(file: Option<&Path>) -> Result<Option<Token>, Failure> {
    let key = match file {
        Some(file) => {
            let mut text = String::new();
            let read =
                File::open(file).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text));
            read.map_err(|error| {
                Failure::Failed(format!(
                    "the key in {} cannot be read: {error}",
                    file.display()
                ))
            })?;
            without_byte_order_mark(&text).to_owned()
        }
        None => std::env::var(KEY_ENVIRONMENT).unwrap_or_default(),
    };
    let key = key.lines().next().unwrap_or_default().trim();
    match key.starts_with(KEY_MARK) {
        true => Ok(Some(Token::new(key.to_owned()))),
        // PLYHOUSE_KEY= is as good as unset.
        false if key.is_empty() && file.is_none() => Ok(None),
        false => Err(Failure::Failed(format!("a key begins with {KEY_MARK}"))),
    }
}

/// What the operator of a server has given somebody who may register.
pub(crate) fn invitation() -> Result<Token, Failure> {
    asked("Invitation: ")
}

/// A new password: typed twice by a person, since nobody sees what is typed.
pub(crate) fn new_password() -> Result<Token, Failure> {
    let password = asked("New password, 10 letters or more: ")?;
    if io::stdin().is_terminal() && asked("Once more: ")? != password {
        let why = "that was another one; nothing has changed";
        return Err(Failure::Refused(why.to_owned()));
    }
    Ok(password)
}

/// Some editors begin a text file with this mark, which is no part of a password or key.
fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The next line of the input.
fn asked(prompt: &str) -> Result<Token, Failure> {
    let input = io::stdin();
    let line = match tcgetattr(&input) {
        Ok(before) if input.is_terminal() => {
            let mut error = io::stderr().lock();
            let prompted = error.write_all(prompt.as_bytes());
            prompted.and_then(|()| error.flush()).map_err(unread)?;
            let line = Quiet::begin(before)?.line();
            let _ = error.write_all(b"\n");
            line?
        }
        _ => piped(input.lock())?,
    };
    Ok(Token::new(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The next line of an input that is no terminal, with its line break.
fn piped(input: impl io::BufRead) -> Result<String, Failure> {
    let mut line = String::new();
    input.take(BYTES_MAX).read_line(&mut line).map_err(unread)?;
    if line.is_empty() {
        return Err(Failure::Stopped);
    }
    Ok(without_byte_order_mark(&line).to_owned())
}

/// A terminal that shows nothing of what is typed, until this is dropped.
struct Quiet(Termios);

impl Quiet {
    fn begin(before: Termios) -> Result<Self, Failure> {
        let mut quiet = before.clone();
        // Without signals, too: one would leave the terminal as it is now.
        quiet.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        let set = tcsetattr(io::stdin(), OptionalActions::Now, &quiet);
        set.map_err(|error| unread(error.into()))?;
        Ok(Self(before))
    }

    fn line(&self) -> Result<String, Failure> {
        let mut line = Vec::new();
        let mut keys = io::stdin().lock().take(BYTES_MAX);
        loop {
            let mut key = [0];
            let is_end = keys.read(&mut key).map_err(unread)? == 0;
            match key[0] {
                _ if is_end => return Err(Failure::Stopped),
                INTERRUPT | END => return Err(Failure::Stopped),
                b'\r' | b'\n' => break,
                key if DELETE.contains(&key) => {
                    // A letter may have several bytes, of which the first alone looks like one.
                    while let Some(last) = line.pop()
                        && last & 0b1100_0000 == 0b1000_0000
                    {}
                }
                key => line.push(key),
            }
        }
        let no_text = |_| Failure::Refused("the password is no UTF-8".to_owned());
        String::from_utf8(line).map_err(no_text)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

fn unread(error: io::Error) -> Failure {
    Failure::Failed(format!("the password cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_file_may_begin_with_a_byte_order_mark() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        for (text, expected) in [
            ("\u{feff}ply_abc\r\n", Some("ply_abc")),
            ("\u{feff}  ply_abc", Some("ply_abc")),
            ("ply_abc\nmore", Some("ply_abc")),
            ("\u{feff}", None),
            ("\u{feff}\nply_abc", None),
        ] {
            std::fs::write(&file, text).unwrap();
            let read = key(Some(&file)).ok().flatten();
            assert_eq!(
                read,
                expected.map(|key| Token::new(key.to_owned())),
                "{text:?}"
            );
        }
    }

    #[test]
    fn piped_password_may_begin_with_a_byte_order_mark() {
        for (text, expected) in [
            ("\u{feff}pass word\r\nnext", "pass word\r\n"),
            ("password", "password"),
            ("\u{feff}\n", "\n"),
        ] {
            let read = piped(text.as_bytes()).ok();
            assert_eq!(read.as_deref(), Some(expected), "{text:?}");
        }
        assert!(matches!(piped("".as_bytes()), Err(Failure::Stopped)));
    }
}
