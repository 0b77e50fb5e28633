//! Command line of an engine program, with the settings `cmd=`, `arg=` and `dir=`. `dir=` is the
//! working directory.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf, absolute};

use plyhouse_engine_host::EngineCommand;

/// Parses `cmd=` and `dir=`, and appends the arguments of `arg=`.
///
/// If the whole value of `cmd=` is the path of an existing file, that file is the program.
/// Otherwise `cmd=` is split into words like a shell command. A relative program path is resolved
/// against `dir=`.
pub(crate) fn parse_command(
    command: &str,
    directory: Option<&str>,
    arguments: Vec<String>,
) -> Result<EngineCommand, String> {
    if let Some(directory) = directory
        && !Path::new(directory).is_dir()
    {
        return Err(format!("dir={directory} is not a directory"));
    }
    let base = Path::new(directory.unwrap_or("."));
    let command = command.trim();
    let mut words = if base.join(command).is_file() {
        vec![command.to_owned()]
    } else {
        if let Some(path) = find_ambiguous_path(base, command) {
            return Err(format!(
                "cmd={command} is ambiguous because {path:?} exists: put the program in quotes"
            ));
        }
        split_shell_words(command).map_err(|reason| format!("cmd={command}: {reason}"))?
    };
    let program = words.first_mut().ok_or("cmd= does not name a program")?;
    if program.is_empty() {
        return Err("cmd= does not name a program".to_owned());
    }
    let resolved = resolve_program(program, directory.is_some(), base);
    *program = resolved.map_err(|error| format!("cmd={command}: {error}"))?;
    Ok(EngineCommand {
        words: words
            .into_iter()
            .chain(arguments)
            .map(OsString::from)
            .collect(),
        directory: directory.map(PathBuf::from),
        inherits_stderr: false,
    })
}

/// Returns the name or path of the program to start.
///
/// A program name without a slash is usually returned unchanged, so that the operating system
/// searches `PATH` for the program. If the directory given by `dir=` contains a file with the
/// program's name, the function returns the path of this file. If the program's name contains
/// whitespace and the working directory contains a file with this name, the function also returns
/// the path of the file.
fn resolve_program(program: &str, has_directory: bool, base: &Path) -> io::Result<String> {
    let has_folder = program.contains('/');
    let is_file = || base.join(program).is_file();
    let is_here =
        has_folder || (has_directory || program.contains(char::is_whitespace)) && is_file();
    if !is_here {
        return Ok(program.to_owned());
    }
    // An absolute path is needed because the child process may start in another working directory.
    // Platforms differ in which directory they then use to resolve a relative program path.
    let path = match has_directory {
        true => absolute(base.join(program))?,
        false if has_folder => return Ok(program.to_owned()),
        false => base.join(program),
    };
    let path = path.into_os_string().into_string();
    path.map_err(|_| io::Error::other("the path is not valid UTF-8"))
}

/// Returns the first existing path at the beginning of an unquoted command, if the path contains
/// whitespace. Such a command is ambiguous, because the first word alone could also be the program.
/// Commands that contain quotes or backslashes are never ambiguous.
///
/// The function tries every prefix of the command that is longer than the first word and ends
/// before a slash or whitespace. Last, it tries the whole command as a path.
fn find_ambiguous_path<'a>(base: &Path, text: &'a str) -> Option<&'a str> {
    if text.contains(['\'', '"', '\\']) {
        return None;
    }
    let first = text.find(char::is_whitespace)?;
    let rest = text.char_indices().skip_while(|(at, _)| *at <= first);
    let ends = rest.filter(|(_, c)| *c == '/' || c.is_whitespace());
    let prefixes = ends.map(|(at, _)| &text[..at]).chain([text]);
    prefixes
        .filter(|prefix| !prefix.ends_with(char::is_whitespace))
        .find(|prefix| base.join(prefix).exists())
}

/// Splits text into words like a shell. Single or double quotes keep a word together. Outside
/// single quotes, a backslash escapes the next character.
fn split_shell_words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') => {
                let next = rest.next().ok_or("trailing backslash")?;
                let word = word.get_or_insert_default();
                // Inside double quotes, a backslash is literal unless it precedes a double quote, a
                // backslash, `$` or a backtick.
                if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push(c);
                }
                word.push(next);
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("unclosed quote");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn parse_words(command: &str) -> Result<Vec<OsString>, String> {
        parse_command(command, None, Vec::new()).map(|command| command.words)
    }

    #[test]
    fn words_are_split_as_in_a_shell() {
        for (text, words) in [
            ("stockfish", &["stockfish"][..]),
            ("  gnugo  --mode\tgtp ", &["gnugo", "--mode", "gtp"]),
            (r#""/opt/no such/x" --flag"#, &["/opt/no such/x", "--flag"]),
            ("'a b'c\"d e\" f", &["a bcd e", "f"]),
            (
                r#"x "say \"hi\"" 'a\b' c\ d"#,
                &["x", r#"say "hi""#, r"a\b", "c d"],
            ),
            (r#"x "a\b" '' #1"#, &["x", r"a\b", "", "#1"]),
        ] {
            let words: Vec<_> = words.iter().map(OsString::from).collect();
            assert_eq!(parse_words(text), Ok(words), "{text}");
        }
        for (text, expected) in [
            ("x 'a b", "unclosed quote"),
            ("\"x", "unclosed quote"),
            (r"x a\", "trailing backslash"),
            ("", "does not name a program"),
            (" \t", "does not name a program"),
            ("'' x", "does not name a program"),
        ] {
            let error = parse_words(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    /// Creates a temporary folder with test programs. The names of some files and directories
    /// contain spaces, and a file name is the beginning of a directory name.
    fn program_folder() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a temporary directory can be created");
        let root = folder.path();
        for name in ["d", "tool", "my engine", "two"] {
            fs::write(root.join(name), "").expect("writing succeeds");
        }
        fs::create_dir_all(root.join("d x/sub dir")).expect("the directory can be created");
        for name in ["d x/my engine", "d x/e", "d x/sub dir/e"] {
            fs::write(root.join(name), "").expect("writing succeeds");
        }
        let text = root.to_str().expect("UTF-8").to_owned();
        (folder, text)
    }

    #[test]
    fn unquoted_path_of_an_existing_file_is_the_program() {
        let (_folder, root) = program_folder();
        for name in ["d x/my engine", "d x/e", "d x/sub dir/e", "my engine", "d"] {
            let path = format!("{root}/{name}");
            assert_eq!(parse_words(&path), Ok(vec![OsString::from(path)]));
        }
        let quoted = format!("'{root}/d x/my engine' --flag");
        assert_eq!(
            parse_words(&quoted),
            Ok(vec![
                format!("{root}/d x/my engine").into(),
                "--flag".into()
            ])
        );
    }

    /// The test folder contains a file `d` and a directory `d x`. If an unquoted command begins
    /// with a path in `d x`, the parser must reject the command. The parser must not treat `d` as
    /// the program and the rest of the command as arguments.
    #[test]
    fn ambiguous_unquoted_path_is_refused() {
        let (_folder, root) = program_folder();
        for name in [
            "d x/my engine --flag",
            "d x/my engin",
            "d x/e -v",
            "d x/sub dir/none",
            "d x/sub dir",
        ] {
            let error = parse_words(&format!("{root}/{name}")).expect_err(name);
            assert!(error.contains("ambiguous"), "{name}: {error}");
        }
        for arguments in ["two /x/y", "-a /etc/passwd", "x / y"] {
            let words = parse_words(&format!("{root}/tool {arguments}")).expect(arguments);
            let expected: Vec<_> = arguments.split(' ').collect();
            assert_eq!(words[1..], expected);
        }
    }

    #[test]
    fn relative_program_is_resolved_against_dir() {
        let (_folder, root) = program_folder();
        let parse = |command: &str, directory: &str| {
            let arguments = vec!["last".to_owned()];
            parse_command(command, Some(directory), arguments)
        };
        for (command, directory, program) in [
            ("./d", &*root, format!("{root}/d")),
            ("tool", &root, format!("{root}/tool")),
            ("my engine", &root, format!("{root}/my engine")),
            ("'my engine'", &root, format!("{root}/my engine")),
            ("../d", &format!("{root}/d x"), format!("{root}/d x/../d")),
            ("no-such-file", &root, "no-such-file".to_owned()),
            ("/bin/sh", &root, "/bin/sh".to_owned()),
        ] {
            let read = parse(command, directory).expect(command);
            assert_eq!(read.words, [&*program, "last"]);
            assert_eq!(read.directory.as_deref(), Some(Path::new(directory)));
        }
        for directory in ["", "/nowhere/at/all", &format!("{root}/d")] {
            let error = parse("sh", directory).expect_err(directory);
            assert!(error.contains("is not a directory"), "{error}");
        }
    }
}
