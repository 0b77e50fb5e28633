//! The command-line options of the server. Each option can also be set by an environment variable.

use std::net::SocketAddr;

use clap::{Command, Parser};
use plyhouse_cli::ProgramHelp;
use plyhouse_server::Settings;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::cluster_join::ClusterArgs;
use crate::logs::LogFormat;
use crate::store_location::StoreLocation;

/// Run a match server for two-player board games
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Address and port for clients; 0.0.0.0:7878 accepts connections from other machines
    ///
    /// Port 0 selects a free port. The server prints the address and port when it starts.
    #[arg(
        long,
        env = "PLYHOUSE_LISTEN",
        value_name = "ADDRESS:PORT",
        help_heading = NETWORK,
        default_value = "127.0.0.1:7878",
        value_parser = listen_address
    )]
    pub(crate) listen: String,

    #[command(flatten)]
    pub(crate) store_location: StoreLocation,

    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) cluster_args: ClusterArgs,

    /// Log level (error, warn, info, debug or trace) or a filter by module
    ///
    /// The log is written to stderr. Filters have the syntax of the crate `tracing-subscriber`, such as
    /// `info,plyhouse_server=debug`.
    #[arg(
        long,
        env = "PLYHOUSE_LOG",
        value_name = "FILTER",
        help_heading = LOGGING,
        default_value = "info", value_parser = log_filter
    )]
    pub(crate) log: String,

    /// Log format; auto selects text on a terminal and JSON otherwise
    #[arg(
        long,
        env = "PLYHOUSE_LOG_FORMAT",
        value_name = "FORMAT",
        help_heading = LOGGING,
        default_value = "auto",
        value_enum
    )]
    pub(crate) log_format: LogFormat,

    /// Address and port for metrics and health checks (plain HTTP)
    ///
    /// Serves `/metrics`, `/healthz`, `/readyz` and `/version`. The port for clients always serves the last
    /// three. Without this option, it also serves `/metrics`, but only to this machine.
    #[arg(long, env = "PLYHOUSE_ADMIN_LISTEN", value_name = "ADDRESS:PORT", help_heading = LOGGING,
          value_parser = listen_address)]
    pub(crate) admin_listen: Option<String>,
}

const NETWORK: &str = "Network";
const LOGGING: &str = "Logging and monitoring";

/// Layout of `plyhouse --help`.
pub(crate) const PROGRAM_HELP: ProgramHelp = ProgramHelp {
    usage: "plyhouse [OPTIONS]\n       plyhouse <COMMAND> [OPTIONS]",
    groups: &[
        ("Server", &["health", "completions", "manual"]),
        (
            "Administration (select the store with --data or --database)",
            &["account", "export", "verify", "move-store", "ratings"],
        ),
        (
            "Engine tools (no server needed)",
            &[
                "analyse",
                "match",
                "tournament",
                "engine",
                "perft",
                "chances",
            ],
        ),
    ],
    main_options: &[
        "listen", "tls_cert", "tls_key", "accounts", "search", "data", "database", "log", "help",
        "version",
    ],
};

const EXAMPLES: &str = "\
Examples:
  plyhouse                              serve this machine at http://127.0.0.1:7878
  plyhouse --listen 0.0.0.0:7878        serve the network
  PLYHOUSE_LISTEN=0.0.0.0:80 plyhouse   set an option by an environment variable

Play in a browser at the server's address, or in a terminal: ply play --bot easy

Each option can be set by an environment variable: --search-threads by
PLYHOUSE_SEARCH_THREADS. `plyhouse --help` lists all options, and
`plyhouse help COMMAND` describes a command. Exit status: 0 on success, 2 for
invalid options, 1 for other errors.";

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

/// Parses an address with a port, such as `127.0.0.1:7878`, `[::1]:0` or `localhost:80`.
fn listen_address(text: &str) -> Result<String, &'static str> {
    let is_host_and_port = |(host, port): (&str, &str)| {
        !host.is_empty() && !host.contains(':') && port.parse::<u16>().is_ok()
    };
    let is_valid =
        text.parse::<SocketAddr>().is_ok() || text.rsplit_once(':').is_some_and(is_host_and_port);
    match is_valid {
        true => Ok(text.to_owned()),
        false => Err("expected ADDRESS:PORT, such as 127.0.0.1:7878"),
    }
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
    use crate::store_location::Data;

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
            let name = name.unwrap_or_else(|| panic!("{argument} has no variable"));
            let long = argument.get_long().expect("options have a long name");
            let expected = match long {
                // The help of this option names its variable.
                "origin" => "PLYHOUSE_ORIGINS".to_owned(),
                _ => format!("PLYHOUSE_{}", long.to_uppercase().replace('-', "_")),
            };
            assert_eq!(name.to_string_lossy(), expected);
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
        assert_eq!(
            args.store_location.data().unwrap(),
            Data::Directory("/tmp".into())
        );
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
            "--listen=nonsense",
            "--listen=127.0.0.1",
            "--listen=127.0.0.1:99999",
            "--listen=::1",
            "--admin-listen=:80",
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
