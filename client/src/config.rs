//! Settings from the configuration file. The command line and the environment take precedence over
//! the file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use etcetera::base_strategy::{BaseStrategy as _, Xdg};
use serde::Deserialize;

use crate::args::{ColorMode, CommandContext, parse_player_name, parse_server_url};
use crate::server_address::TrustedCa;

/// Environment variable with the path of the configuration file. An empty value disables the file.
const CONFIG_PATH_VARIABLE: &str = "PLY_CONFIG";

/// Maximum size of the configuration file.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Contents of the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    server: Option<String>,
    ca: Option<PathBuf>,
    name: Option<String>,
    ascii: Option<bool>,
    plain: Option<bool>,
    color: Option<ColorMode>,
}

/// Applies the settings of the configuration file that neither the command line nor the environment
/// overrides. The error message is shown to the user.
pub(crate) fn apply_config_file(
    context: &mut CommandContext,
    matches: &ArgMatches,
) -> Result<(), String> {
    let Some(path) = config_path() else {
        return Ok(());
    };
    let with_path = |why: String| format!("{}: {}", path.display(), why.trim_end());
    let cannot_read = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let Some(text) = read_config(&path).map_err(cannot_read)? else {
        return Ok(());
    };
    let settings = toml::from_str(&text).map_err(|error| with_path(error.to_string()))?;
    let is_unset = |id: &str| !is_set(matches, id);
    apply_settings(context, settings, &path, &is_unset).map_err(with_path)
}

fn is_set(matches: &ArgMatches, id: &str) -> bool {
    let source = matches.value_source(id);
    source.is_some_and(|source| source != ValueSource::DefaultValue)
}

/// Returns the path of the configuration file, whether or not it exists.
fn config_path() -> Option<PathBuf> {
    match std::env::var_os(CONFIG_PATH_VARIABLE) {
        Some(file) if file.is_empty() => None,
        Some(file) => Some(file.into()),
        None => Some(Xdg::new().ok()?.config_dir().join("ply/config.toml")),
    }
}

/// Reads the configuration file. Returns `None` if the default file does not exist. A file named by
/// `PLY_CONFIG` must exist.
fn read_config(path: &Path) -> io::Result<Option<String>> {
    let opened = match File::open(path) {
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                && std::env::var_os(CONFIG_PATH_VARIABLE).is_none() =>
        {
            return Ok(None);
        }
        opened => opened?,
    };
    let mut text = String::new();
    opened.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!(
            "the file is larger than {FILE_BYTES_MAX} bytes"
        )));
    }
    Ok(Some(text))
}

fn apply_settings(
    context: &mut CommandContext,
    settings: Settings,
    path: &Path,
    is_unset: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    // Settings are validated even if the command line or the environment overrides them. Otherwise,
    // an invalid setting would go unnoticed until the override is removed.
    if let Some(server) = settings.server {
        let url = parse_server_url(&server).map_err(|why| format!("`server`: {why}"))?;
        if is_unset("server") {
            context.server.url = url;
        }
    }
    if let Some(ca) = settings.ca {
        // A relative path is resolved against the folder of the configuration file.
        let ca = path.parent().unwrap_or(Path::new("")).join(ca);
        let read = TrustedCa::read_file(&ca.to_string_lossy());
        let authority = read.map_err(|why| format!("`ca`: {}: {why}", ca.display()))?;
        if is_unset("ca") {
            context.server.trusted_ca = Some(authority);
        }
    }
    if let Some(name) = settings.name {
        let name = parse_player_name(&name).map_err(|why| format!("`name`: {why}"))?;
        if is_unset("name") {
            context.name = Some(name);
        }
    }
    if let Some(ascii) = settings.ascii.filter(|_| is_unset("ascii")) {
        context.ascii = ascii;
    }
    if let Some(plain) = settings.plain.filter(|_| is_unset("plain")) {
        context.plain = plain;
    }
    if let Some(color) = settings.color.filter(|_| is_unset("color")) {
        context.color = color;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};

    use super::*;
    use crate::args::Arguments;

    /// Parses a command line and applies the text of a configuration file to it.
    fn parse_with_config(line: &str, file: &str) -> Result<CommandContext, String> {
        let matches = Arguments::command().get_matches_from(line.split(' '));
        let mut arguments = Arguments::from_arg_matches(&matches).unwrap();
        let settings: Settings = toml::from_str(file).map_err(|error| error.to_string())?;
        let is_unset = |id: &str| !is_set(&matches, id);
        apply_settings(
            &mut arguments.context,
            settings,
            Path::new("/etc/config.toml"),
            &is_unset,
        )?;
        Ok(arguments.context)
    }

    #[test]
    fn command_line_overrides_config_file() {
        let file = "server = \"games.example\"\nname = 'ada'\nascii = true\nplain = true\ncolor = \"never\"";
        let context = parse_with_config("ply list", file).unwrap();
        assert_eq!(context.server.url, "ws://games.example:7878/ws");
        assert_eq!(context.name.unwrap(), "ada");
        assert!(context.ascii);
        assert!(context.plain);
        assert_eq!(context.color, ColorMode::Never);
        let with_byte_order_mark =
            parse_with_config("ply list", &format!("\u{feff}{file}")).unwrap();
        assert_eq!(with_byte_order_mark.server.url, context.server.url);
        let line =
            "ply list --server other.example --name bob --ascii=false --plain=false --color always";
        let context = parse_with_config(line, file).unwrap();
        assert_eq!(context.server.url, "ws://other.example:7878/ws");
        assert_eq!(context.name.unwrap(), "bob");
        assert!(!context.ascii);
        assert!(!context.plain);
        assert_eq!(context.color, ColorMode::Always);
    }

    #[test]
    fn config_error_names_the_invalid_setting() {
        for (file, parts) in [
            (
                "severs = 'h'",
                &["severs", "expected", "`server`", "line 1"][..],
            ),
            ("ascii = 'yes'", &["ascii", "expected a boolean"]),
            ("server = 'ftp://h'", &["`server`", "expected ws://"]),
            ("name = ''", &["`name`"]),
            ("ca = 'none.pem'", &["`ca`", "/etc/none.pem"]),
            ("color = 'red'", &["`red`", "always"]),
            ("server", &["line 1"]),
        ] {
            let error = parse_with_config("ply list --server h", file).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{file}: {error}");
            }
        }
    }
}
