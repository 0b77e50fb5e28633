//! The command line of the server, and the same in the environment.

#![allow(rustdoc::bare_urls, reason = "these comments are what --help prints")]

use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use axum::http::Uri;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{CommandFactory, Parser};
use plyhouse_server::{ClientAddress, Search, Settings};
use plyhouse_transport::{Tls, TlsError};
use tokio::sync::Semaphore;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::data::Data;
use crate::logs::LogFormat;

/// The defaults, which are the library's own.
static DEFAULT: LazyLock<Settings> = LazyLock::new(Settings::default);

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

    /// Where matches and players are kept. `:memory:` keeps them until the server ends. Without it:
    /// `$XDG_DATA_HOME/plyhouse`, or `~/.local/share/plyhouse`
    #[arg(long, env = "PLYHOUSE_DATA", value_name = "DIR")]
    data: Option<Data>,

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
    matches: MatchArgs,

    #[command(flatten)]
    connections: ConnectionArgs,

    #[command(flatten)]
    bots: BotArgs,
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

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Matches")]
struct MatchArgs {
    /// How long a player may be without a connection before a running match is lost
    #[arg(long, env = "PLYHOUSE_ABANDON_AFTER", value_name = "SECONDS",
          default_value_t = Seconds(DEFAULT.abandon_after))]
    abandon_after: Seconds,

    /// How long an ended match stays in memory. Then it is read from the store when it is asked for
    #[arg(long, env = "PLYHOUSE_LINGER", value_name = "SECONDS",
          default_value_t = Seconds(DEFAULT.linger))]
    linger: Seconds,

    /// After how many days an ended match is forgotten. Without it: never
    #[arg(long, env = "PLYHOUSE_KEEP_ENDED", value_name = "DAYS",
          value_parser = clap::value_parser!(u32).range(1..=36_500))]
    keep_ended: Option<u32>,

    /// How many live matches a player may host
    #[arg(long, env = "PLYHOUSE_LIVE_MATCHES", value_name = "N",
          default_value_t = DEFAULT.live_matches_per_player, value_parser = at_least(1))]
    live_matches: usize,

    /// How many matches are in memory, those ended in the last ten minutes included. Beyond, `create`
    /// is `overloaded`
    #[arg(long, env = "PLYHOUSE_MATCHES_MAX", value_name = "N",
          default_value_t = DEFAULT.matches_max, value_parser = at_least(1))]
    matches_max: usize,

    /// How many matches that wait for somebody, or in which only bots play, may have been created
    /// from one address. Beyond, `create` is `too_many_matches`
    #[arg(long, env = "PLYHOUSE_OPEN_MATCHES_PER_ADDRESS", value_name = "N",
          default_value_t = DEFAULT.open_matches_per_address, value_parser = at_least(1))]
    open_matches_per_address: usize,

    /// How many connections may follow one match. Beyond, `watch` is `overloaded`
    #[arg(long, env = "PLYHOUSE_FOLLOWERS_MAX", value_name = "N",
          default_value_t = DEFAULT.followers_max, value_parser = at_least(2))]
    followers_max: usize,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
struct ConnectionArgs {
    /// How many clients are served at once. One more is closed with 1013
    #[arg(long, env = "PLYHOUSE_CONNECTIONS_MAX", value_name = "N",
          default_value_t = DEFAULT.connections_max, value_parser = at_least(1))]
    connections_max: usize,

    /// How many of them may come from one address: an IPv4 address, or an IPv6 /64. One more gets 429.
    /// This machine's own connections are not counted
    #[arg(long, env = "PLYHOUSE_CONNECTIONS_PER_ADDRESS", value_name = "N",
          default_value_t = DEFAULT.connections_per_address, value_parser = at_least(1))]
    connections_per_address: usize,

    /// How many handshakes a second one address may make for long. Beyond, 429
    #[arg(long, env = "PLYHOUSE_HANDSHAKES_PER_SECOND", value_name = "N",
          default_value_t = DEFAULT.handshakes_per_s)]
    handshakes_per_second: NonZeroU32,

    /// How many handshakes one address may make at once
    #[arg(long, env = "PLYHOUSE_HANDSHAKES_BURST", value_name = "N",
          default_value_t = DEFAULT.handshakes_burst)]
    handshakes_burst: NonZeroU32,

    /// How many wrong guesses at a match or a token are answered a second, for one address. Beyond,
    /// the answers come later, up to five seconds
    #[arg(long, env = "PLYHOUSE_GUESSES_PER_SECOND", value_name = "N",
          default_value_t = DEFAULT.guesses_per_s)]
    guesses_per_second: NonZeroU32,

    /// Who a connection comes from: `peer` is the other end of the socket; `x-forwarded-for` the last
    /// address of that header, for servers that can be reached through a proxy only
    #[arg(long, env = "PLYHOUSE_CLIENT_ADDRESS", value_name = "SOURCE", default_value = "peer",
          value_parser = client_address())]
    client_address: ClientAddress,

    /// How many matches a connection may follow. Beyond, `too_many_matches`
    #[arg(long, env = "PLYHOUSE_FOLLOWING_MAX", value_name = "N",
          default_value_t = DEFAULT.following_max, value_parser = at_least(1))]
    following_max: usize,

    /// How many requests a second a connection may send for long. Beyond, `rate_limited`
    #[arg(long, env = "PLYHOUSE_REQUESTS_PER_SECOND", value_name = "N",
          default_value_t = DEFAULT.requests_per_s)]
    requests_per_second: NonZeroU32,

    /// How many requests a connection may send at once
    #[arg(long, env = "PLYHOUSE_BURST", value_name = "N", default_value_t = DEFAULT.burst)]
    burst: NonZeroU32,

    /// For how many requests one counts of somebody who only watches
    #[arg(long, env = "PLYHOUSE_WATCHING_COST", value_name = "N",
          default_value_t = DEFAULT.watching_cost)]
    watching_cost: NonZeroU32,

    /// How many bytes a request may have. Beyond, the connection is closed with 1009
    #[arg(long, env = "PLYHOUSE_MESSAGE_BYTES", value_name = "BYTES",
          default_value_t = DEFAULT.message_bytes, value_parser = at_least(1024))]
    message_bytes: usize,

    /// How many players may look for somebody to play. Beyond, `seek` is `overloaded`
    #[arg(long, env = "PLYHOUSE_SEEKS_MAX", value_name = "N",
          default_value_t = DEFAULT.seeks_max, value_parser = at_least(1))]
    seeks_max: usize,

    /// How many messages may wait for a client to read them. Beyond, it is closed with 4002
    #[arg(long, env = "PLYHOUSE_OUTBOX_MESSAGES", value_name = "N",
          default_value_t = DEFAULT.outbox_messages, value_parser = at_least(16))]
    outbox_messages: usize,

    /// How many bytes may wait for a client to read them. Beyond, it is closed with 4002
    #[arg(long, env = "PLYHOUSE_OUTBOX_BYTES", value_name = "BYTES",
          default_value_t = DEFAULT.outbox_bytes, value_parser = at_least(65_536))]
    outbox_bytes: usize,

    /// How long a connection may take to become a WebSocket, or to finish any other request
    #[arg(long, env = "PLYHOUSE_HANDSHAKE_TIMEOUT", value_name = "SECONDS",
          default_value_t = Seconds(DEFAULT.handshake_timeout))]
    handshake_timeout: Seconds,

    /// After how long without a sign of life a connection is pinged
    #[arg(long, env = "PLYHOUSE_PING_INTERVAL", value_name = "SECONDS",
          default_value_t = Seconds(DEFAULT.ping_interval))]
    ping_interval: Seconds,

    /// After how long without a sign of life a connection is closed with 4004
    #[arg(long, env = "PLYHOUSE_IDLE_TIMEOUT", value_name = "SECONDS",
          default_value_t = Seconds(DEFAULT.idle_timeout))]
    idle_timeout: Seconds,

    /// How long a connection that is being closed may take to say goodbye
    #[arg(long, env = "PLYHOUSE_CLOSE_TIMEOUT", value_name = "SECONDS",
          default_value_t = Seconds(DEFAULT.close_timeout))]
    close_timeout: Seconds,

    /// An origin, such as https://play.example.org, whose pages may connect beside the server's
    /// own. Can be given several times, and with commas in the environment
    #[arg(
        long = "origin",
        env = "PLYHOUSE_ORIGINS",
        value_name = "ORIGIN",
        value_delimiter = ',',
        value_parser = origin
    )]
    origins: Vec<String>,

    /// A chain of certificates in PEM, the server's own first. With it and --tls-key the port speaks
    /// TLS (https, wss) and nothing else. SIGHUP has both files read anew
    #[arg(
        long,
        env = "PLYHOUSE_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert, in PEM
    #[arg(
        long,
        env = "PLYHOUSE_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,

    /// Serves the page from this directory instead of the binary, so that a change of it is seen at
    /// once: `client/web/page`
    #[arg(long, env = "PLYHOUSE_WEB", value_name = "DIR")]
    web: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Bots")]
struct BotArgs {
    /// How many threads think for bots. Without it: the processor's cores less one, at least one
    #[arg(long, env = "PLYHOUSE_SEARCH_THREADS", value_name = "N", value_parser = threads())]
    search_threads: Option<usize>,

    /// How many bots may wait for a search thread: of those that play people, and as many of the
    /// others
    #[arg(long, env = "PLYHOUSE_SEARCH_QUEUE", value_name = "N",
          default_value_t = DEFAULT.search_queue, value_parser = at_least(1))]
    search_queue: usize,

    /// How many MiB of memory a search thread has to remember what it found
    #[arg(long, env = "PLYHOUSE_SEARCH_TABLE", value_name = "MIB",
          default_value_t = DEFAULT.search_table >> 20, value_parser = table_mib())]
    search_table: usize,

    /// How long a bot may think about one move
    #[arg(long, env = "PLYHOUSE_SEARCH_TIME", value_name = "SECONDS",
          default_value_t = Seconds(DEFAULT.search_time))]
    search_time: Seconds,

    /// How many bots may think at the same time in the matches of one player. Others wait
    #[arg(long, env = "PLYHOUSE_SEARCHES_PER_PLAYER", value_name = "N",
          default_value_t = DEFAULT.searches_per_player, value_parser = at_least(1))]
    searches_per_player: usize,
}

impl Args {
    /// Where the data lies.
    pub(crate) fn data(&self) -> anyhow::Result<Data> {
        match &self.data {
            Some(data) => Ok(data.clone()),
            None => Data::default_directory(),
        }
    }

    /// How long ended matches are kept, if not for ever.
    pub(crate) fn keep_ended(&self) -> Option<Duration> {
        let days = self.matches.keep_ended?;
        Some(Duration::from_secs(u64::from(days) * 24 * 3600))
    }

    /// What the server shows over TLS, if it is to speak it.
    pub(crate) fn tls(&self) -> Result<Option<Tls>, TlsError> {
        let files = &self.connections;
        match (&files.tls_cert, &files.tls_key) {
            (Some(certificate), Some(key)) => Tls::read(certificate.clone(), key.clone()).map(Some),
            // One alone does not pass the command line.
            (None, _) | (_, None) => Ok(None),
        }
    }

    /// How many connections there may be.
    pub(crate) const fn connections_max(&self) -> usize {
        self.connections.connections_max
    }

    /// The settings that were asked for.
    pub(crate) fn settings(self) -> Settings {
        let Self {
            matches,
            connections,
            bots,
            ..
        } = self;
        Settings {
            abandon_after: matches.abandon_after.0,
            linger: matches.linger.0,
            connections_max: connections.connections_max,
            connections_per_address: connections.connections_per_address,
            handshakes_per_s: connections.handshakes_per_second,
            handshakes_burst: connections.handshakes_burst,
            open_matches_per_address: matches.open_matches_per_address,
            guesses_per_s: connections.guesses_per_second,
            client_address: connections.client_address,
            live_matches_per_player: matches.live_matches,
            matches_max: matches.matches_max,
            followers_max: matches.followers_max,
            following_max: connections.following_max,
            requests_per_s: connections.requests_per_second,
            burst: connections.burst,
            watching_cost: connections.watching_cost,
            message_bytes: connections.message_bytes,
            seeks_max: connections.seeks_max,
            outbox_messages: connections.outbox_messages,
            outbox_bytes: connections.outbox_bytes,
            handshake_timeout: connections.handshake_timeout.0,
            ping_interval: connections.ping_interval.0,
            idle_timeout: connections.idle_timeout.0,
            close_timeout: connections.close_timeout.0,
            origins: connections.origins,
            web: connections.web,
            search: bots.search_threads.map_or(DEFAULT.search, Search::Threads),
            search_queue: bots.search_queue,
            search_table: bots.search_table << 20,
            search_time: bots.search_time.0,
            searches_per_player: bots.searches_per_player,
            seed: None,
            started_ms: None,
        }
    }
}

/// Those of these names in the environment that look like a setting of ours and are none.
pub(crate) fn unknown_settings(names: impl Iterator<Item = String>) -> Vec<String> {
    let command = Args::command();
    let is_known = |name: &str| {
        let mut settings = command.get_arguments().filter_map(clap::Arg::get_env);
        settings.any(|known| known == name)
    };
    names
        .filter(|name| name.starts_with("PLYHOUSE_") && !is_known(name))
        .collect()
}

fn client_address() -> impl clap::builder::TypedValueParser<Value = ClientAddress> {
    use clap::builder::TypedValueParser;
    PossibleValuesParser::new(["peer", "x-forwarded-for"]).map(|source| {
        if source == "peer" {
            ClientAddress::Peer
        } else {
            ClientAddress::XForwardedFor
        }
    })
}

/// A time on the command line, in seconds: `60` or `0.5`.
#[derive(Clone, Copy, Debug)]
struct Seconds(Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A year: what is longer is a slip, and would overflow a clock.
        const SECONDS_MAX: f64 = 31_536_000.0;
        match text.parse::<f64>() {
            Ok(seconds) if (0.001..=SECONDS_MAX).contains(&seconds) => {
                Ok(Self(Duration::from_secs_f64(seconds)))
            }
            Ok(_) | Err(_) => Err("a number of seconds from 0.001 to a year is needed".to_owned()),
        }
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_secs_f64().fmt(f)
    }
}

fn log_filter(text: &str) -> Result<String, ParseError> {
    EnvFilter::try_new(text).map(|_| text.to_owned())
}

/// An origin as browsers send it: a scheme, a host, a port unless it is the default, and no path.
fn origin(text: &str) -> Result<String, String> {
    let uri: Option<Uri> = text.parse().ok();
    let parts = uri
        .as_ref()
        .and_then(|uri| Some((uri.scheme_str()?, uri.authority()?, uri.path())));
    match parts {
        Some((scheme @ ("http" | "https"), authority, "" | "/")) => {
            let default_port = if scheme == "http" { ":80" } else { ":443" };
            let authority = authority.as_str();
            Ok(format!(
                "{scheme}://{}",
                authority.strip_suffix(default_port).unwrap_or(authority)
            ))
        }
        Some(_) | None => Err("an origin looks like https://play.example.org".to_owned()),
    }
}

/// More threads than any machine has cores would only wait for each other.
fn threads() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    RangedU64ValueParser::<u64>::new()
        .range(1..=1024)
        .try_map(usize::try_from)
}

/// A table beyond a tebibyte is a slip.
fn table_mib() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    RangedU64ValueParser::<u64>::new()
        .range(1..=1 << 20)
        .try_map(usize::try_from)
}

fn at_least(min: u64) -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    RangedU64ValueParser::<u64>::new()
        // More than any machine has, and as many as tokio can count.
        .range(min..=Semaphore::MAX_PERMITS as u64)
        .try_map(usize::try_from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn without_options_the_defaults_hold() {
        let args = Args::try_parse_from(["plyhouse"]).unwrap();
        assert_eq!(args.listen, "127.0.0.1:7878");
        assert_eq!(
            (args.log_format, &args.admin_listen),
            (LogFormat::Auto, &None)
        );
        assert_eq!(format!("{:?}", args.settings()), format!("{:?}", *DEFAULT));
    }

    #[test]
    fn options_are_taken() {
        let line = "plyhouse --abandon-after 0.5 --linger 7 --search-threads 3 --origin https://a:443/ --data /tmp";
        let args = Args::try_parse_from(line.split(' ')).unwrap();
        assert_eq!(args.data().unwrap(), Data::Directory("/tmp".into()));
        assert_eq!(args.keep_ended(), None);
        let settings = args.settings();
        assert_eq!(settings.abandon_after, Duration::from_millis(500));
        assert_eq!(settings.linger, Duration::from_secs(7));
        assert_eq!(settings.search, Search::Threads(3));
        assert_eq!(settings.origins, ["https://a"]);
    }

    #[test]
    fn a_setting_that_is_none_is_found() {
        let names = [
            "PATH",
            "PLYHOUSE_BURST",
            "PLYHOUSE_BURTS",
            "PLYHOUSE_LINGER",
        ];
        let unknown = unknown_settings(names.map(str::to_owned).into_iter());
        assert_eq!(unknown, ["PLYHOUSE_BURTS"]);
    }

    #[test]
    fn nonsense_is_refused() {
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
