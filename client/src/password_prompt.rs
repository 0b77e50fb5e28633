//! Reads passwords and API keys from a terminal, a pipe, a file or the environment. Passwords and
//! keys are never command-line arguments, because other users of the machine can see command lines.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use plyhouse_protocol::Token;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::exit::Failure;

/// Environment variable with the player's password, for scripts.
const PASSWORD_VARIABLE: &str = "PLYHOUSE_PASSWORD";

/// Environment variable with an API key.
const API_KEY_VARIABLE: &str = "PLYHOUSE_KEY";

/// Prefix of API keys.
const API_KEY_PREFIX: &str = "ply_";

/// Maximum number of bytes that are read for a password or a key.
const LINE_BYTES_MAX: u64 = 1024;

/// Control keys that the password prompt handles itself. While input is hidden, the terminal passes
/// these keys on as ordinary bytes.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACE_KEYS: [u8; 2] = [8, 127];

/// Returns the player's password from the environment, or prompts for it with hidden input.
pub(crate) fn read_password(prompt: &str) -> Result<Token, Failure> {
    match std::env::var(PASSWORD_VARIABLE) {
        Ok(password) if !password.is_empty() => Ok(Token::new(password)),
        Ok(_) | Err(_) => prompt_hidden_line(prompt, "a password"),
    }
}

/// Reads an API key from the first line of `file`. If `file` is `None`, reads the key from the
/// environment, and returns `None` if no key is set.
pub(crate) fn read_api_key(file: Option<&Path>) -> Result<Option<Token>, Failure> {
    let key = match file {
        Some(file) => {
            let mut text = String::new();
            let read = File::open(file)
                .and_then(|file| file.take(LINE_BYTES_MAX).read_to_string(&mut text));
            read.map_err(|error| {
                Failure::Failed(format!(
                    "cannot read the key file {}: {error}",
                    file.display()
                ))
            })?;
            strip_byte_order_mark(&text).to_owned()
        }
        None => std::env::var(API_KEY_VARIABLE).unwrap_or_default(),
    };
    let key = key.lines().next().unwrap_or_default().trim();
    match key.starts_with(API_KEY_PREFIX) {
        true => Ok(Some(Token::new(key.to_owned()))),
        // An empty environment variable counts as unset.
        false if key.is_empty() && file.is_none() => Ok(None),
        false => Err(Failure::Failed(format!(
            "invalid API key: expected a key that begins with {API_KEY_PREFIX}"
        ))),
    }
}

/// Prompts for the invitation code that the operator of a server issues to new players.
pub(crate) fn read_invitation_code() -> Result<Token, Failure> {
    prompt_hidden_line("Invitation code: ", "an invitation code")
}

/// Prompts for a new password. At a terminal, the user types the password twice, because it is
/// hidden.
pub(crate) fn read_new_password() -> Result<Token, Failure> {
    let prompt = |text| prompt_hidden_line(text, "a password");
    let password = prompt("New password (at least 10 characters): ")?;
    if io::stdin().is_terminal() && prompt("Repeat the password: ")? != password {
        let why = "the passwords differ; nothing was changed";
        return Err(Failure::Refused(why.to_owned()));
    }
    Ok(password)
}

/// Removes the byte order mark that some editors write at the start of a text file.
fn strip_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Prompts for a line with hidden input. If standard input is not a terminal, reads its next line
/// instead. `what` names the expected text in the error at the end of the input.
fn prompt_hidden_line(prompt: &str, what: &str) -> Result<Token, Failure> {
    let input = io::stdin();
    let line = match tcgetattr(&input) {
        Ok(before) if input.is_terminal() => {
            let mut error = io::stderr().lock();
            let prompted = error.write_all(prompt.as_bytes());
            prompted.and_then(|()| error.flush()).map_err(read_error)?;
            let line = HiddenInput::start(before)?.read_line(what);
            let _ = error.write_all(b"\n");
            line?
        }
        _ => read_piped_line(input.lock(), what)?,
    };
    Ok(Token::new(line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Reads the next line of a pipe or a file, including the line break.
fn read_piped_line(input: impl io::BufRead, what: &str) -> Result<String, Failure> {
    let mut line = String::new();
    input
        .take(LINE_BYTES_MAX)
        .read_line(&mut line)
        .map_err(read_error)?;
    if line.is_empty() {
        return Err(end_of_input(what));
    }
    Ok(strip_byte_order_mark(&line).to_owned())
}

/// Terminal mode with hidden input. Dropping the value restores the previous mode.
struct HiddenInput(Termios);

impl HiddenInput {
    fn start(saved: Termios) -> Result<Self, Failure> {
        let mut hidden = saved.clone();
        // The keys that send signals are disabled too, because a signal would end the process
        // without restoring the terminal.
        hidden.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        let set = tcsetattr(io::stdin(), OptionalActions::Now, &hidden);
        set.map_err(|error| read_error(error.into()))?;
        Ok(Self(saved))
    }

    fn read_line(&self, what: &str) -> Result<String, Failure> {
        let mut line = Vec::new();
        let mut input = io::stdin().lock().take(LINE_BYTES_MAX);
        loop {
            let mut key = [0];
            let is_end = input.read(&mut key).map_err(read_error)? == 0;
            match key[0] {
                _ if is_end => return Err(end_of_input(what)),
                CTRL_C => return Err(Failure::Stopped),
                CTRL_D => return Err(end_of_input(what)),
                b'\r' | b'\n' => break,
                key if BACKSPACE_KEYS.contains(&key) => {
                    // A character may have several bytes. Remove the continuation bytes of the last
                    // character and then its first byte.
                    while let Some(last) = line.pop()
                        && last & 0b1100_0000 == 0b1000_0000
                    {}
                }
                key => line.push(key),
            }
        }
        let no_text = |_| Failure::Refused("the input is not valid UTF-8".to_owned());
        String::from_utf8(line).map_err(no_text)
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Returns the failure for an input that ended before `what` was entered.
pub(crate) fn end_of_input(what: &str) -> Failure {
    Failure::Failed(format!("the input ended where {what} was expected"))
}

fn read_error(error: io::Error) -> Failure {
    Failure::Failed(format!("cannot read from standard input: {error}"))
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
            let read = read_api_key(Some(&file)).ok().flatten();
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
            let read = read_piped_line(text.as_bytes(), "a password").ok();
            assert_eq!(read.as_deref(), Some(expected), "{text:?}");
        }
        let error = read_piped_line("".as_bytes(), "a password").unwrap_err();
        let expected = "the input ended where a password was expected";
        assert_eq!(error.to_string(), expected);
    }
}
