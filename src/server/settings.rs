//! Settings of a server. Each field defines its default, its command-line option, its environment
//! variable and its text in `--help`.

#![allow(rustdoc::bare_urls, reason = "these comments are what --help prints")]

mod cidr;
mod values;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::Resettable;
use clap::{Args, Command, FromArgMatches};
use plyhouse_matches::{AbsenceLimits, Terms};
use plyhouse_protocol::{AnalysisAccess, ChatMode, ClockControl, MESSAGE_BYTES_MAX};

pub use self::cidr::Network;
pub use self::values::{AccountPolicy, ClientAddressSource, SearchMode};
use self::values::{
    accounts, analysts, at_least, chat, client_address, clock, days, header_name, mebibytes,
    milliseconds, origin, positive, seconds, threads,
};

const NETWORK: &str = "Network";
const ACCOUNTS: &str = "Accounts";
const MATCHES: &str = "Matches";
const BOTS: &str = "Bots";
const LIMITS: &str = "Limits";
const TIMEOUTS: &str = "Timeouts";
const STORAGE: &str = "Storage";

/// Default number of search threads. On a machine with several cores, one core stays free for the
/// network threads.
static SEARCH_THREADS: LazyLock<String> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.saturating_sub(1).max(1).to_string()
});

/// Settings of a server.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// TLS certificate chain in PEM, the server's own certificate first
    ///
    /// With --tls-cert and --tls-key, the port speaks only TLS (https and wss). SIGHUP reloads both
    /// files.
    #[arg(long, env = "PLYHOUSE_TLS_CERT", help_heading = NETWORK, value_name = "FILE",
          requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// Private key of --tls-cert in PEM
    #[arg(long, env = "PLYHOUSE_TLS_KEY", help_heading = NETWORK, value_name = "FILE",
          requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// Other website whose pages may connect, such as https://play.example.org (environment
    /// variable: PLYHOUSE_ORIGINS)
    ///
    /// Pages that this server serves may always connect. The option can be given several times. The
    /// variable takes several origins separated by commas.
    #[arg(long = "origin", env = "PLYHOUSE_ORIGINS", help_heading = NETWORK,
          value_name = "ORIGIN", value_delimiter = ',', value_parser = origin)]
    pub origins: Vec<String>,

    /// Where to read a client's IP address; use x-forwarded-for only behind a proxy
    ///
    /// `peer` is the address of the connection. `x-forwarded-for` is the last address in that
    /// header. Clients could forge the header if they could reach the server without the proxy.
    #[arg(long, env = "PLYHOUSE_CLIENT_ADDRESS", help_heading = NETWORK, value_name = "SOURCE",
          default_value = "peer", value_parser = client_address())]
    pub client_address: ClientAddressSource,

    /// Serve the web client from this directory instead of the built-in one
    ///
    /// For development of the web client, with `client/web/built`: the output of a new build is
    /// visible after a reload.
    #[arg(long, env = "PLYHOUSE_WEB", help_heading = NETWORK, value_name = "DIR")]
    pub web: Option<PathBuf>,

    /// Who may register an account: anyone, invited people or no one (guests may always play)
    ///
    /// `plyhouse account invite` prints an invitation. With `off`, everyone plays as a guest;
    /// existing accounts are kept but cannot be used.
    #[arg(long, env = "PLYHOUSE_ACCOUNTS", help_heading = ACCOUNTS, value_name = "WHO",
          default_value = "open", value_parser = accounts())]
    pub accounts: AccountPolicy,

    /// HTTP header with the user name from a login proxy, such as Remote-User
    ///
    /// The server creates an account at the user's first visit. It ignores the header unless the
    /// connection comes from --trusted-proxy. The proxy must remove the header from the requests of
    /// its clients.
    #[arg(long, env = "PLYHOUSE_TRUSTED_USER_HEADER", help_heading = ACCOUNTS, value_name = "NAME",
          requires = "trusted_proxy", value_parser = header_name)]
    pub trusted_user_header: Option<String>,

    /// IP addresses or networks of the login proxy, such as 192.0.2.0/24, separated by commas
    #[arg(long, env = "PLYHOUSE_TRUSTED_PROXY", help_heading = ACCOUNTS, value_name = "CIDR",
          value_delimiter = ',')]
    pub trusted_proxy: Vec<Network>,

    /// Clocks offered to players, separated by commas, such as 5+3, 5d3, 10m+3x30s or 3d
    #[arg(long = "clocks", env = "PLYHOUSE_CLOCKS", help_heading = MATCHES, value_name = "CLOCK",
          default_value = "1+0,3+2,5+3,10+5,30+20,5m+3x30s,1d,3d,7d", value_delimiter = ',',
          value_parser = clock)]
    pub clocks: Vec<ClockControl>,

    /// Chat during a match: preset phrases, free text or none
    #[arg(long, env = "PLYHOUSE_CHAT", help_heading = MATCHES, value_name = "MODE",
          default_value = "presets", value_parser = chat())]
    pub chat: ChatMode,

    /// Who may request an analysis of a finished match: its players, anyone or no one
    #[arg(long, env = "PLYHOUSE_ANALYSIS", help_heading = MATCHES, value_name = "WHO",
          default_value = "players", value_parser = analysts())]
    pub analysis: AnalysisAccess,

    /// Time that a player may be disconnected before losing the match, in seconds
    ///
    /// Without this option: 300 seconds, 60 in matches with a clock, and one day against a bot. In
    /// matches with a clock, values above 60 count as 60. Correspondence games have no limit.
    #[arg(long, env = "PLYHOUSE_ABANDON_AFTER", help_heading = MATCHES, value_name = "SECONDS",
          value_parser = seconds)]
    pub abandon_after: Option<Duration>,

    /// Maximum average lag compensation per move, in milliseconds
    ///
    /// 0 disables the compensation.
    #[arg(long = "lag-compensation-ms", env = "PLYHOUSE_LAG_COMPENSATION_MS", help_heading = MATCHES,
          value_name = "MS", default_value = "300", value_parser = milliseconds)]
    pub lag_compensation: Duration,

    /// Grace period for correspondence games after a restart, in seconds
    ///
    /// During this period, correspondence games cannot be lost on time. It protects players whose
    /// time ran out while the server was down. Afterwards, these games end in the order in which
    /// their times ran out.
    #[arg(long, env = "PLYHOUSE_RESTART_GRACE", help_heading = MATCHES, value_name = "SECONDS",
          default_value = "3600", value_parser = seconds)]
    pub restart_grace: Duration,

    /// Time that a finished match stays in memory, in seconds
    ///
    /// Afterwards, the server reads the match from the store when it is requested. An unlisted
    /// match that nobody follows may leave memory earlier.
    // The default is ten minutes, because the protocol promises that an ended match stays
    // addressable for at least that long.
    #[arg(long, env = "PLYHOUSE_LINGER", help_heading = MATCHES, value_name = "SECONDS",
          default_value = "600", value_parser = seconds)]
    pub linger: Duration,

    /// Number of bot threads (without this option: all CPU cores but one)
    #[arg(long = "search-threads", env = "PLYHOUSE_SEARCH_THREADS", help_heading = BOTS,
          value_name = "N", default_value = SEARCH_THREADS.as_str(), hide_default_value = true,
          value_parser = threads())]
    pub search: SearchMode,

    /// Maximum time that a bot thinks about a move, in seconds
    #[arg(long, env = "PLYHOUSE_SEARCH_TIME", help_heading = BOTS, value_name = "SECONDS",
          default_value = "2", value_parser = seconds)]
    pub search_time: Duration,

    /// Size of each bot thread's transposition table, in MiB
    // The value parser converts the value from MiB to bytes.
    #[arg(long, env = "PLYHOUSE_SEARCH_TABLE", help_heading = BOTS, value_name = "MIB",
          default_value = "64", value_parser = mebibytes())]
    pub search_table: usize,

    /// Maximum number of bots waiting for a thread
    ///
    /// Matches with and without people have separate queues of this length.
    // If the queue is full, the bot waits for a place. After a timeout, the bot plays without a
    // search.
    #[arg(long, env = "PLYHOUSE_SEARCH_QUEUE", help_heading = BOTS, value_name = "N",
          default_value = "1024", value_parser = at_least(1))]
    pub search_queue: usize,

    /// Maximum number of bots that think at once in the matches of one player
    #[arg(long, env = "PLYHOUSE_SEARCHES_PER_PLAYER", help_heading = BOTS, value_name = "N",
          default_value = "4", value_parser = at_least(1))]
    pub searches_per_player: usize,

    /// Let bots resign when their position has been hopeless for three moves
    #[arg(long, env = "PLYHOUSE_BOTS_RESIGN", help_heading = BOTS)]
    pub bots_resign: bool,

    /// Maximum number of connections
    ///
    /// The server closes further connections with code 1013.
    // The limit bounds resource usage: each client needs a file descriptor and about 8 KiB of
    // memory.
    #[arg(long, env = "PLYHOUSE_CONNECTIONS_MAX", help_heading = LIMITS, value_name = "N",
          default_value = "20000", value_parser = at_least(1))]
    pub connections_max: usize,

    /// Maximum number of connections from one IPv4 address or IPv6 /64 network
    ///
    /// The server answers further connections with HTTP status 429. Connections from this machine
    /// are not limited.
    #[arg(long, env = "PLYHOUSE_CONNECTIONS_PER_ADDRESS", help_heading = LIMITS,
          value_name = "N", default_value = "256", value_parser = at_least(1))]
    pub connections_per_address: usize,

    /// Maximum rate of new connections from one IP address, per second
    ///
    /// The server answers further handshakes with HTTP status 429.
    #[arg(long = "handshakes-per-second", env = "PLYHOUSE_HANDSHAKES_PER_SECOND",
          help_heading = LIMITS, value_name = "N", default_value = "20", value_parser = positive())]
    pub handshakes_per_s: NonZeroU32,

    /// Maximum burst of new connections from one IP address
    #[arg(long, env = "PLYHOUSE_HANDSHAKES_BURST", help_heading = LIMITS, value_name = "N",
          default_value = "200", value_parser = positive())]
    pub handshakes_burst: NonZeroU32,

    /// Maximum rate of requests on one connection, per second
    ///
    /// Further requests fail with error `rate_limited`.
    #[arg(long = "requests-per-second", env = "PLYHOUSE_REQUESTS_PER_SECOND",
          help_heading = LIMITS, value_name = "N", default_value = "20", value_parser = positive())]
    pub requests_per_s: NonZeroU32,

    /// Maximum burst of requests on one connection
    #[arg(long, env = "PLYHOUSE_BURST", help_heading = LIMITS, value_name = "N",
          default_value = "40", value_parser = positive())]
    pub burst: NonZeroU32,

    /// Rate-limit cost of a spectator's request; a player's request costs 1
    #[arg(long, env = "PLYHOUSE_WATCHING_COST", help_heading = LIMITS, value_name = "N",
          default_value = "1", value_parser = positive())]
    pub watching_cost: NonZeroU32,

    /// Maximum rate of failed code and token look-ups from one IP address, per second
    ///
    /// The server delays further answers by up to five seconds.
    #[arg(long = "guesses-per-second", env = "PLYHOUSE_GUESSES_PER_SECOND",
          help_heading = LIMITS, value_name = "N", default_value = "1", value_parser = positive())]
    pub guesses_per_s: NonZeroU32,

    /// Maximum size of a request, in bytes
    ///
    /// The server closes a connection with code 1009 if a request is larger.
    #[arg(long, env = "PLYHOUSE_MESSAGE_BYTES", help_heading = LIMITS, value_name = "BYTES",
          default_value_t = MESSAGE_BYTES_MAX, value_parser = at_least(1024))]
    pub message_bytes: usize,

    /// Maximum number of messages waiting for a slow client
    ///
    /// Beyond it, the server closes the connection with code 4002.
    #[arg(long, env = "PLYHOUSE_OUTBOX_MESSAGES", help_heading = LIMITS, value_name = "N",
          default_value = "256", value_parser = at_least(16))]
    pub outbox_messages: usize,

    /// Maximum size of the messages waiting for a slow client, in bytes
    ///
    /// Beyond it, the server closes the connection with code 4002.
    #[arg(long, env = "PLYHOUSE_OUTBOX_BYTES", help_heading = LIMITS, value_name = "BYTES",
          default_value = "1048576", value_parser = at_least(65_536))]
    pub outbox_bytes: usize,

    /// Maximum number of matches in memory, including recently finished ones
    ///
    /// Beyond it, `create` fails with error `overloaded`.
    #[arg(long, env = "PLYHOUSE_MATCHES_MAX", help_heading = LIMITS, value_name = "N",
          default_value = "100000", value_parser = at_least(1))]
    pub matches_max: usize,

    /// Maximum number of unfinished matches that one player may host
    #[arg(long = "live-matches", env = "PLYHOUSE_LIVE_MATCHES", help_heading = LIMITS,
          value_name = "N", default_value = "16", value_parser = at_least(1))]
    pub live_matches_per_player: usize,

    /// Maximum number of unfinished correspondence games of one player
    ///
    /// A correspondence game allows at least one hour for a move. Beyond the limit, `create` and
    /// `join` fail with error `too_many_matches`.
    #[arg(long = "days-matches", env = "PLYHOUSE_DAYS_MATCHES", help_heading = LIMITS,
          value_name = "N", default_value = "20", value_parser = at_least(1))]
    pub correspondence_matches_per_player: usize,

    /// Maximum number of open and bot-only matches created from one IP address
    ///
    /// Beyond it, `create` fails with error `too_many_matches`.
    #[arg(long, env = "PLYHOUSE_OPEN_MATCHES_PER_ADDRESS", help_heading = LIMITS, value_name = "N",
          default_value = "128", value_parser = at_least(1))]
    pub open_matches_per_address: usize,

    /// Maximum number of connections that may follow one match
    ///
    /// Beyond it, `watch` fails with error `overloaded`.
    #[arg(long, env = "PLYHOUSE_FOLLOWERS_MAX", help_heading = LIMITS, value_name = "N",
          default_value = "10000", value_parser = at_least(2))]
    pub followers_max: usize,

    /// Maximum number of matches that one connection may follow
    ///
    /// Beyond it, requests fail with error `too_many_matches`.
    #[arg(long, env = "PLYHOUSE_FOLLOWING_MAX", help_heading = LIMITS, value_name = "N",
          default_value = "64", value_parser = at_least(1))]
    pub following_max: usize,

    /// Maximum number of players waiting for an opponent
    ///
    /// Beyond it, `seek` fails with error `overloaded`.
    #[arg(long, env = "PLYHOUSE_SEEKS_MAX", help_heading = LIMITS, value_name = "N",
          default_value = "10000", value_parser = at_least(1))]
    pub seeks_max: usize,

    /// Time limit for a WebSocket handshake or an HTTP request, in seconds
    #[arg(long, env = "PLYHOUSE_HANDSHAKE_TIMEOUT", help_heading = TIMEOUTS,
          value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub handshake_timeout: Duration,

    /// Time without messages before the server pings a client, in seconds
    #[arg(long, env = "PLYHOUSE_PING_INTERVAL", help_heading = TIMEOUTS, value_name = "SECONDS",
          default_value = "20", value_parser = seconds)]
    pub ping_interval: Duration,

    /// Time without messages before the server disconnects a client, in seconds
    ///
    /// The server closes the connection with code 4004.
    #[arg(long, env = "PLYHOUSE_IDLE_TIMEOUT", help_heading = TIMEOUTS, value_name = "SECONDS",
          default_value = "60", value_parser = seconds)]
    pub idle_timeout: Duration,

    /// Time limit for closing a connection, in seconds
    #[arg(long, env = "PLYHOUSE_CLOSE_TIMEOUT", help_heading = TIMEOUTS, value_name = "SECONDS",
          default_value = "1", value_parser = seconds)]
    pub close_timeout: Duration,

    /// Delete finished unrated matches after this many days (without this option: never)
    #[arg(long, env = "PLYHOUSE_KEEP_ENDED", help_heading = STORAGE, value_name = "DAYS",
          value_parser = days())]
    pub keep_ended: Option<Duration>,

    /// Seed of the random number generator. `None` seeds it from the operating system. The
    /// simulator sets it, so that a run can be repeated.
    #[arg(skip)]
    pub seed: Option<u64>,

    /// Start time of the server in milliseconds since 1970. `None` reads the system clock. The
    /// simulator sets it, so that a run can be repeated.
    #[arg(skip)]
    pub started_ms: Option<u64>,
}

/// Default limits on a player's absence. Separate limits apply to matches without a clock, to
/// matches with a clock and to matches against a bot.
const ABSENCE_LIMIT: Duration = Duration::from_secs(300);
const ABSENCE_LIMIT_WITH_CLOCK: Duration = Duration::from_secs(60);
const ABSENCE_LIMIT_WITH_BOT: Duration = Duration::from_secs(24 * 3600);

impl Settings {
    /// Returns how long the host or a player of an open match may be absent.
    #[must_use]
    pub fn open_match_absence_limit(&self) -> Duration {
        self.abandon_after.unwrap_or(ABSENCE_LIMIT)
    }

    /// Sets the absence limits of a match whose terms contain no limits, because an earlier version
    /// of the server created it.
    pub(crate) fn fill_absence_limits(&self, terms: &mut Terms) {
        if terms.absence_limits.is_none() {
            terms.absence_limits = self.absence_limits(terms.clock, None);
        }
    }

    /// Returns the absence limits of a match with this clock. If `requested_ms` is `None`, the
    /// settings determine the limits. Returns `None` for correspondence matches, which have no
    /// absence limit.
    #[must_use]
    pub fn absence_limits(
        &self,
        clock: Option<ClockControl>,
        requested_ms: Option<u64>,
    ) -> Option<AbsenceLimits> {
        if clock.is_some_and(|clock| clock.is_correspondence()) {
            return None;
        }
        if let Some(limit_ms) = requested_ms {
            return Some(AbsenceLimits {
                against_player_ms: limit_ms,
                against_bot_ms: limit_ms,
            });
        }
        let [player_limit, bot_limit] = match (self.abandon_after, clock) {
            (Some(set), Some(_)) => [set.min(ABSENCE_LIMIT_WITH_CLOCK); 2],
            (Some(set), None) => [set; 2],
            (None, Some(_)) => [ABSENCE_LIMIT_WITH_CLOCK, ABSENCE_LIMIT_WITH_BOT],
            (None, None) => [ABSENCE_LIMIT, ABSENCE_LIMIT_WITH_BOT],
        };
        let ms = |patience: Duration| u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        Some(AbsenceLimits {
            against_player_ms: ms(player_limit),
            against_bot_ms: ms(bot_limit),
        })
    }
}

/// Settings with the default value of every option. Environment variables are ignored.
static DEFAULT_SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let command = Settings::augment_args(Command::new("plyhouse"));
    let command = command.mut_args(|arg| arg.env(Resettable::Reset));
    let nothing = command.try_get_matches_from(["plyhouse"]);
    nothing
        .and_then(|nothing| Settings::from_arg_matches(&nothing))
        .expect("every default parses")
});

impl Default for Settings {
    fn default() -> Self {
        DEFAULT_SETTINGS.clone()
    }
}
