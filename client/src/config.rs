//! What is always to be so: settings in a file, below what the command line and the environment say.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use serde::Deserialize;

use crate::args::{Arguments, When, player_name, server_url};
use crate::server::TrustedCa;

/// Names another file, or none if it is empty.
const FILE: &str = "PLY_CONFIG";

/// A file that is longer is not what somebody has written by hand.
const BYTES_MAX: u64 = 64 * 1024;

/// What the file may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    server: Option<String>,
    ca: Option<PathBuf>,
    name: Option<String>,
    ascii: Option<bool>,
    plain: Option<bool>,
    color: Option<When>,
}

/// Fills in what neither the command line nor the environment says. The text of the error is for the person
/// at the terminal.
pub(crate) fn fill(arguments: &mut Arguments, said: &ArgMatches) -> Result<(), String> {
    let Some(file) = file() else {
        return Ok(());
    };
    let wrong = |why: String| format!("{}: {}", file.display(), why.trim_end());
    let Some(text) = read(&file).map_err(|error| wrong(error.to_string()))? else {
        return Ok(());
    };
    let settings = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let is_open = |id: &str| !is_said(said, id);
    apply(arguments, settings, &file, &is_open).map_err(wrong)
}

fn is_said(said: &ArgMatches, id: &str) -> bool {
    let source = said.value_source(id);
    source.is_some_and(|source| source != ValueSource::DefaultValue)
}

/// Where the file lies, whether or not it is there.
fn file() -> Option<PathBuf> {
    match std::env::var_os(FILE) {
        Some(file) if file.is_empty() => None,
        Some(file) => Some(file.into()),
        None => Some(Xdg::new().ok()?.config_dir().join("ply/config.toml")),
    }
}

/// The file's text. None is needed, unless it is one that was named.
fn read(file: &Path) -> io::Result<Option<String>> {
    let opened = match File::open(file) {
        Err(error)
            if error.kind() == io::ErrorKind::NotFound && std::env::var_os(FILE).is_none() =>
        {
            return Ok(None);
        }
        opened => opened?,
    };
    let mut text = String::new();
    opened.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(io::Error::other(format!("more than {BYTES_MAX} bytes")));
    }
    Ok(Some(text))
}

fn apply(
    arguments: &mut Arguments,
    settings: Settings,
    file: &Path,
    is_open: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    // What is wrong is told also where another value holds: else it would be told some other day.
    if let Some(server) = settings.server {
        let url = server_url(&server).map_err(|why| format!("`server`: {why}"))?;
        if is_open("server") {
            arguments.server = url;
        }
    }
    if let Some(ca) = settings.ca {
        // A path is meant from where the file is.
        let ca = file.parent().unwrap_or(Path::new("")).join(ca);
        let read = TrustedCa::read_file(&ca.to_string_lossy());
        let authority = read.map_err(|why| format!("`ca`: {}: {why}", ca.display()))?;
        if is_open("ca") {
            arguments.ca = Some(authority);
        }
    }
    if let Some(name) = settings.name {
        let name = player_name(&name).map_err(|why| format!("`name`: {why}"))?;
        if is_open("name") {
            arguments.name = Some(name);
        }
    }
    if let Some(ascii) = settings.ascii.filter(|_| is_open("ascii")) {
        arguments.ascii = ascii;
    }
    if let Some(plain) = settings.plain.filter(|_| is_open("plain")) {
        arguments.plain = plain;
    }
    if let Some(color) = settings.color.filter(|_| is_open("color")) {
        arguments.color = color;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;

    /// What comes of this command line with this file.
    fn filled(line: &str, file: &str) -> Result<Arguments, String> {
        let said = Arguments::command().get_matches_from(line.split(' '));
        let mut arguments = Arguments::from_arg_matches(&said).unwrap();
        let settings: Settings = toml::from_str(file).map_err(|error| error.to_string())?;
        let is_open = |id: &str| !is_said(&said, id);
        apply(
            &mut arguments,
            settings,
            Path::new("/etc/config.toml"),
            &is_open,
        )?;
        Ok(arguments)
    }

    #[test]
    fn the_command_line_is_above_the_file() {
        let file = "server = \"games.example\"\nname = 'ada'\nascii = true\nplain = true\ncolor = \"never\"";
        let arguments = filled("ply list", file).unwrap();
        assert_eq!(arguments.server, "ws://games.example:7878/ws");
        assert_eq!(arguments.name.unwrap().as_str(), "ada");
        assert!(arguments.ascii);
        assert!(arguments.plain);
        assert_eq!(arguments.color, When::Never);
        let marked = filled("ply list", &format!("\u{feff}{file}")).unwrap();
        assert_eq!(marked.server, arguments.server);
        let line =
            "ply list --server other.example --name bob --ascii=false --plain=false --color always";
        let arguments = filled(line, file).unwrap();
        assert_eq!(arguments.server, "ws://other.example:7878/ws");
        assert_eq!(arguments.name.unwrap().as_str(), "bob");
        assert!(!arguments.ascii);
        assert!(!arguments.plain);
        assert_eq!(arguments.color, When::Always);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (file, parts) in [
            (
                "severs = 'h'",
                &["severs", "expected", "`server`", "line 1"][..],
            ),
            ("ascii = 'yes'", &["ascii", "expected a boolean"]),
            ("server = 'ftp://h'", &["`server`", "begins with ws://"]),
            ("name = ''", &["`name`"]),
            ("ca = 'none.pem'", &["`ca`", "/etc/none.pem"]),
            ("color = 'red'", &["`red`", "always"]),
            ("server", &["line 1"]),
        ] {
            let error = filled("ply list --server h", file).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{file}: {error}");
            }
        }
    }
}
