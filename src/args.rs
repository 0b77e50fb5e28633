//! The command-line options of the server. Each option can also be set by an environment variable.

use std::ffi::OsStr;

use clap::builder::Resettable;
use clap::{Command, Parser};
use plyhouse_server::Settings;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::cluster_join::ClusterArgs;
use crate::logs::LogFormat;
use crate::store_location::{Data, StoreLocation};

/// A match server for two-player board games: people and minimax bots, over WebSocket.
///
/// Without any option it serves this machine on port 7878, keeps its matches under
/// `~/.local/share/plyhouse`, and gives bots every processor core but one.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where to listen. Port 0 takes any free port; the line `listening on …` tells which
    #[arg(
        long,
        env = "PLYHOUSE_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:7878"
    )]
    pub(crate) listen: String,

    #[command(flatten)]
    store_location: StoreLocation,

    #[command(flatten)]
    pub(crate) cluster_args: ClusterArgs,

    /// What is logged to stderr: error, warn, info, debug, trace, or a filter by module
    #[arg(
        long,
        env = "PLYHOUSE_LOG",
        value_name = "FILTER",
        default_value = "info", value_parser = log_filter
    )]
    pub(crate) log: String,

    /// How a line of the log looks
    #[arg(
        long,
        env = "PLYHOUSE_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "auto",
        value_enum
    )]
    pub(crate) log_format: LogFormat,

    /// Where the operator asks for `/metrics`, `/healthz`, `/readyz` and `/version`, by plain HTTP.
    /// Without it metrics are shown on the port of the server, to clients on this machine; the other
    /// three are on that port in any case
    #[arg(long, env = "PLYHOUSE_ADMIN_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) admin_listen: Option<String>,

    #[command(flatten)]
    pub(crate) settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse                              serve this machine on port 7878
  plyhouse --listen 0.0.0.0:80          serve the network
  PLYHOUSE_SEARCH_THREADS=4 plyhouse    every option can be set in the environment, too

Then play in a browser, at the address it listens on, or in a terminal:
  ply play tic-tac-toe --bot hard

SIGTERM and SIGINT close every connection with 1001 and end the server within ten seconds.
SIGHUP has the files of --tls-cert and --tls-key read anew, if they are given.";

impl Args {
    /// Returns the data location that the command-line options select.
    pub(crate) fn data(&self) -> anyhow::Result<Data> {
        self.store_location.clone().data()
    }
}

/// Environment variables that only the client `ply` reads. Their names also begin with `PLYHOUSE_`.
const READ_BY_CLIENT: [&str; 3] = ["PLYHOUSE_SERVER", "PLYHOUSE_KEY", "PLYHOUSE_PASSWORD"];

/// Returns the environment variables with the prefix `PLYHOUSE_` that no command reads, such as
/// misspelt ones. `command` must be the root command, so that the variables of all subcommands are
/// known.
pub(crate) fn unknown_settings(
    command: &Command,
    names: impl Iterator<Item = String>,
) -> Vec<String> {
    names
        .filter(|name| name.starts_with("PLYHOUSE_"))
        .filter(|name| !READ_BY_CLIENT.contains(&name.as_str()) && !is_setting_of(command, name))
        .collect()
}

fn is_setting_of(command: &Command, name: &str) -> bool {
    let mut read = command.get_arguments().filter_map(clap::Arg::get_env);
    read.any(|known| known == name)
        || command
            .get_subcommands()
            .any(|command| is_setting_of(command, name))
}

/// Makes the command treat empty environment variables as not set.
pub(crate) fn without_empty_variables(command: Command) -> Command {
    let is_empty = |name: &OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    command
        .mut_args(|arg| match arg.get_env().is_some_and(is_empty) {
            true => arg.env(Resettable::Reset),
            false => arg,
        })
        .mut_subcommands(without_empty_variables)
}

fn log_filter(text: &str) -> Result<String, ParseError> {
    EnvFilter::try_new(text).map(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::CommandFactory;
    use plyhouse_server::SearchMode;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_option_has_an_environment_variable() {
        let command = Args::command();
        let named: Vec<_> = command.get_arguments().map(clap::Arg::get_env).collect();
        assert!(named.len() > 50, "{named:?}");
        for (argument, name) in command.get_arguments().zip(named) {
            let name = name.unwrap_or_else(|| panic!("{argument} has no name there"));
            assert!(
                name.to_string_lossy().starts_with("PLYHOUSE_"),
                "{argument}"
            );
        }
    }

    #[test]
    fn missing_options_have_defaults() {
        let args = Args::try_parse_from(["plyhouse"]).unwrap();
        assert_eq!(args.listen, "127.0.0.1:7878");
        assert_eq!(
            (args.log_format, &args.admin_listen),
            (LogFormat::Auto, &None)
        );
        let settings = format!("{:?}", args.settings);
        assert_eq!(settings, format!("{:?}", Settings::default()));
    }

    #[test]
    fn options_override_defaults() {
        let line = "plyhouse --abandon-after 0.5 --linger 7 --search-threads 3 --keep-ended 2 --search-table 2 --origin https://a:443/,HTTPS://B:443 --data /tmp";
        let args = Args::try_parse_from(line.split(' ')).unwrap();
        assert_eq!(args.data().unwrap(), Data::Directory("/tmp".into()));
        let settings = args.settings;
        assert_eq!(
            settings.keep_ended,
            Some(Duration::from_secs(2 * 24 * 3600))
        );
        assert_eq!(settings.abandon_after, Some(Duration::from_millis(500)));
        assert_eq!(settings.linger, Duration::from_secs(7));
        assert_eq!(settings.search, SearchMode::Threads(3));
        assert_eq!(settings.search_table, 2 << 20);
        assert_eq!(settings.origins, ["https://a", "https://B"]);
    }

    #[test]
    fn variables_of_other_commands_are_not_reported() {
        let names = [
            "PATH",
            "PLYHOUSE_BURST",
            "PLYHOUSE_BURTS",
            "PLYHOUSE_LINGER",
            "PLYHOUSE_KEY",
            "PLYHOUSE_PASSWORD",
            "PLYHOUSE_SERVER",
            "PLYHOUSE_HEALTH_URL",
            "PLYHOUSE_FROM",
            "PLYHOUSE_TO",
            "PLYHOUSE_URL",
            "PLYHOUSE_URI",
        ];
        let command = crate::CommandLine::command();
        let unknown = unknown_settings(&command, names.map(str::to_owned).into_iter());
        assert_eq!(unknown, ["PLYHOUSE_BURTS", "PLYHOUSE_URI"]);
    }

    #[test]
    fn invalid_values_are_refused() {
        for option in [
            "--abandon-after=-1",
            "--connections-max=18446744073709551615",
            "--abandon-after=x",
            "--keep-ended=0",
            "--keep-ended=never",
            "--data=",
            "--burst=0",
            "--client-address=anybody",
            "--log-format=xml",
            "--origin=nonsense",
            "--origin=https://a/page",
            "--search-threads=1000000",
            "--tls-cert=/cert.pem",
            "--tls-key=/key.pem",
        ] {
            assert!(
                Args::try_parse_from(["plyhouse", option]).is_err(),
                "{option}"
            );
        }
    }
}
