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
    milliseconds, origin, seconds, threads,
};

const MATCHES: &str = "Matches";
const CONNECTIONS: &str = "Connections";
const BOTS: &str = "Bots";

/// Default number of search threads. On a machine with several cores, one core stays free for the
/// network threads.
static SEARCH_THREADS: LazyLock<String> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.saturating_sub(1).max(1).to_string()
});

/// How a server is set up.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// How long a player may be without a connection before a match is lost; by a clock, 60 at most.
    /// Without it: 300, by a clock 60, and against a bot a day
    #[arg(long, env = "PLYHOUSE_ABANDON_AFTER", help_heading = MATCHES, value_name = "SECONDS",
          value_parser = seconds)]
    pub abandon_after: Option<Duration>,

    /// How much a move by a clock gets back at most, on average, for the time that the network takes, in
    /// milliseconds. 0: nothing
    #[arg(long = "lag-compensation-ms", env = "PLYHOUSE_LAG_COMPENSATION_MS", help_heading = MATCHES,
          value_name = "MS", default_value = "300", value_parser = milliseconds)]
    pub lag_compensation: Duration,

    /// How long after the start matches with an hour or more for a move go on whose time ran out while
    /// the server was down, or does meanwhile. Then they end, in the order in which that was so
    #[arg(long, env = "PLYHOUSE_RESTART_GRACE", help_heading = MATCHES, value_name = "SECONDS",
          default_value = "3600", value_parser = seconds)]
    pub restart_grace: Duration,

    /// How long an ended match stays in memory. Then it is read from the store when it is asked for
    // The default is ten minutes, because the protocol promises that an ended match stays
    // addressable for at least that long.
    #[arg(long, env = "PLYHOUSE_LINGER", help_heading = MATCHES, value_name = "SECONDS",
          default_value = "600", value_parser = seconds)]
    pub linger: Duration,

    /// After how many days an ended match is forgotten. Without it: never
    #[arg(long, env = "PLYHOUSE_KEEP_ENDED", help_heading = MATCHES, value_name = "DAYS",
          value_parser = days())]
    pub keep_ended: Option<Duration>,

    /// How many live matches a player may host
    #[arg(long = "live-matches", env = "PLYHOUSE_LIVE_MATCHES", help_heading = MATCHES,
          value_name = "N", default_value = "16", value_parser = at_least(1))]
    pub live_matches_per_player: usize,

    /// How many live matches with an hour or more for a move a player may sit in or host. Beyond,
    /// `create` and `join` are `too_many_matches`
    #[arg(long = "days-matches", env = "PLYHOUSE_DAYS_MATCHES", help_heading = MATCHES,
          value_name = "N", default_value = "20", value_parser = at_least(1))]
    pub correspondence_matches_per_player: usize,

    /// A clock that players are proposed, such as 5+3, 5d3, 10m+3x30s or 3d. Can be given several times,
    /// and with commas
    #[arg(long = "clocks", env = "PLYHOUSE_CLOCKS", help_heading = MATCHES, value_name = "CLOCK",
          default_value = "1+0,3+2,5+3,10+5,30+20,5m+3x30s,1d,3d,7d", value_delimiter = ',',
          value_parser = clock)]
    pub clocks: Vec<ClockControl>,

    /// What people may say to each other at a match: `presets` such as "Good game", `text` of their own,
    /// too, or nothing (`off`)
    #[arg(long, env = "PLYHOUSE_CHAT", help_heading = MATCHES, value_name = "MODE",
          default_value = "presets", value_parser = chat())]
    pub chat: ChatMode,

    /// Who may have an ended match looked at again by the search: who played it (`players`), whoever follows
    /// it (`anyone`), or nobody (`off`)
    #[arg(long, env = "PLYHOUSE_ANALYSIS", help_heading = MATCHES, value_name = "WHO",
          default_value = "players", value_parser = analysts())]
    pub analysis: AnalysisAccess,

    /// How many matches are in memory, those ended in the last ten minutes included. Beyond, `create`
    /// is `overloaded`
    #[arg(long, env = "PLYHOUSE_MATCHES_MAX", help_heading = MATCHES, value_name = "N",
          default_value = "100000", value_parser = at_least(1))]
    pub matches_max: usize,

    /// How many matches that wait for somebody, or in which only bots play, may have been created
    /// from one address. Beyond, `create` is `too_many_matches`
    #[arg(long, env = "PLYHOUSE_OPEN_MATCHES_PER_ADDRESS", help_heading = MATCHES, value_name = "N",
          default_value = "128", value_parser = at_least(1))]
    pub open_matches_per_address: usize,

    /// How many connections may follow one match. Beyond, `watch` is `overloaded`
    #[arg(long, env = "PLYHOUSE_FOLLOWERS_MAX", help_heading = MATCHES, value_name = "N",
          default_value = "10000", value_parser = at_least(2))]
    pub followers_max: usize,

    /// How many clients are served at once. One more is closed with 1013
    // The limit bounds resource usage: each client needs a file descriptor and about 8 KiB of
    // memory.
    #[arg(long, env = "PLYHOUSE_CONNECTIONS_MAX", help_heading = CONNECTIONS, value_name = "N",
          default_value = "20000", value_parser = at_least(1))]
    pub connections_max: usize,

    /// How many of them may come from one address: an IPv4 address, or an IPv6 /64. One more gets 429.
    /// This machine's own connections are not counted
    #[arg(long, env = "PLYHOUSE_CONNECTIONS_PER_ADDRESS", help_heading = CONNECTIONS,
          value_name = "N", default_value = "256", value_parser = at_least(1))]
    pub connections_per_address: usize,

    /// How many handshakes a second one address may make for long. Beyond, 429
    #[arg(long = "handshakes-per-second", env = "PLYHOUSE_HANDSHAKES_PER_SECOND",
          help_heading = CONNECTIONS, value_name = "N", default_value = "20")]
    pub handshakes_per_s: NonZeroU32,

    /// How many handshakes one address may make at once
    #[arg(long, env = "PLYHOUSE_HANDSHAKES_BURST", help_heading = CONNECTIONS, value_name = "N",
          default_value = "200")]
    pub handshakes_burst: NonZeroU32,

    /// How many wrong guesses at a match or a token are answered a second, for one address. Beyond,
    /// the answers come later, up to five seconds
    #[arg(long = "guesses-per-second", env = "PLYHOUSE_GUESSES_PER_SECOND",
          help_heading = CONNECTIONS, value_name = "N", default_value = "1")]
    pub guesses_per_s: NonZeroU32,

    /// Who a connection comes from: `peer` is the other end of the socket; `x-forwarded-for` the last
    /// address of that header, for servers that can be reached through a proxy only
    #[arg(long, env = "PLYHOUSE_CLIENT_ADDRESS", help_heading = CONNECTIONS, value_name = "SOURCE",
          default_value = "peer", value_parser = client_address())]
    pub client_address: ClientAddressSource,

    /// The header in which a proxy tells who somebody is that it has let in: `Remote-User`, for one. Whoever
    /// it names has an account, made when they come first, and needs nothing else; the header of others than
    /// `--trusted-proxy` is ignored. That proxy must not let clients send it
    #[arg(long, env = "PLYHOUSE_TRUSTED_USER_HEADER", help_heading = CONNECTIONS, value_name = "NAME",
          requires = "trusted_proxy", value_parser = header_name)]
    pub trusted_user_header: Option<String>,

    /// Where that proxy connects from, by the other end of the socket: an address or a network, as
    /// 192.0.2.0/24; several with commas between them
    #[arg(long, env = "PLYHOUSE_TRUSTED_PROXY", help_heading = CONNECTIONS, value_name = "CIDR",
          value_delimiter = ',')]
    pub trusted_proxy: Vec<Network>,

    /// Who may have a name of their own, and a password: with `open` everybody; with `invite` whom you give
    /// what `plyhouse account invite` prints; with `off` there are only guests, and what
    /// accounts there were is kept for when there are some again
    #[arg(long, env = "PLYHOUSE_ACCOUNTS", help_heading = CONNECTIONS, value_name = "WHO",
          default_value = "open", value_parser = accounts())]
    pub accounts: AccountPolicy,

    /// How many matches a connection may follow. Beyond, `too_many_matches`
    #[arg(long, env = "PLYHOUSE_FOLLOWING_MAX", help_heading = CONNECTIONS, value_name = "N",
          default_value = "64", value_parser = at_least(1))]
    pub following_max: usize,

    /// How many requests a second a connection may send for long. Beyond, `rate_limited`
    #[arg(long = "requests-per-second", env = "PLYHOUSE_REQUESTS_PER_SECOND",
          help_heading = CONNECTIONS, value_name = "N", default_value = "20")]
    pub requests_per_s: NonZeroU32,

    /// How many requests a connection may send at once
    #[arg(long, env = "PLYHOUSE_BURST", help_heading = CONNECTIONS, value_name = "N",
          default_value = "40")]
    pub burst: NonZeroU32,

    /// For how many requests one counts of somebody who only watches. Clients are told
    #[arg(long, env = "PLYHOUSE_WATCHING_COST", help_heading = CONNECTIONS, value_name = "N",
          default_value = "1")]
    pub watching_cost: NonZeroU32,

    /// How many bytes a request may have. Beyond, the connection is closed with 1009
    #[arg(long, env = "PLYHOUSE_MESSAGE_BYTES", help_heading = CONNECTIONS, value_name = "BYTES",
          default_value_t = MESSAGE_BYTES_MAX, value_parser = at_least(1024))]
    pub message_bytes: usize,

    /// How many players may look for somebody to play. Beyond, `seek` is `overloaded`
    #[arg(long, env = "PLYHOUSE_SEEKS_MAX", help_heading = CONNECTIONS, value_name = "N",
          default_value = "10000", value_parser = at_least(1))]
    pub seeks_max: usize,

    /// How many messages may wait for a client to read them. Beyond, it is closed with 4002
    #[arg(long, env = "PLYHOUSE_OUTBOX_MESSAGES", help_heading = CONNECTIONS, value_name = "N",
          default_value = "256", value_parser = at_least(16))]
    pub outbox_messages: usize,

    /// How many bytes may wait for a client to read them. Beyond, it is closed with 4002
    #[arg(long, env = "PLYHOUSE_OUTBOX_BYTES", help_heading = CONNECTIONS, value_name = "BYTES",
          default_value = "1048576", value_parser = at_least(65_536))]
    pub outbox_bytes: usize,

    /// How long a connection may take to become a WebSocket, or to finish any other request
    #[arg(long, env = "PLYHOUSE_HANDSHAKE_TIMEOUT", help_heading = CONNECTIONS,
          value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub handshake_timeout: Duration,

    /// After how long without a sign of life a connection is pinged
    #[arg(long, env = "PLYHOUSE_PING_INTERVAL", help_heading = CONNECTIONS, value_name = "SECONDS",
          default_value = "20", value_parser = seconds)]
    pub ping_interval: Duration,

    /// After how long without a sign of life a connection is closed with 4004
    #[arg(long, env = "PLYHOUSE_IDLE_TIMEOUT", help_heading = CONNECTIONS, value_name = "SECONDS",
          default_value = "60", value_parser = seconds)]
    pub idle_timeout: Duration,

    /// How long a connection that is being closed may take to say goodbye
    #[arg(long, env = "PLYHOUSE_CLOSE_TIMEOUT", help_heading = CONNECTIONS, value_name = "SECONDS",
          default_value = "1", value_parser = seconds)]
    pub close_timeout: Duration,

    /// An origin, such as https://play.example.org, whose pages may connect beside the server's
    /// own. Can be given several times, and with commas in the environment
    #[arg(long = "origin", env = "PLYHOUSE_ORIGINS", help_heading = CONNECTIONS,
          value_name = "ORIGIN", value_delimiter = ',', value_parser = origin)]
    pub origins: Vec<String>,

    /// A chain of certificates in PEM, the server's own first. With it and --tls-key the port speaks
    /// TLS (https, wss) and nothing else. SIGHUP has both files read anew
    #[arg(long, env = "PLYHOUSE_TLS_CERT", help_heading = CONNECTIONS, value_name = "FILE",
          requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The private key of --tls-cert, in PEM
    #[arg(long, env = "PLYHOUSE_TLS_KEY", help_heading = CONNECTIONS, value_name = "FILE",
          requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// Serves the page from this directory instead of the binary, so that a change of it is seen at
    /// once: `client/web/page`
    #[arg(long, env = "PLYHOUSE_WEB", help_heading = CONNECTIONS, value_name = "DIR")]
    pub web: Option<PathBuf>,

    /// How many threads think for bots. Without it: the processor's cores less one, at least one
    #[arg(long = "search-threads", env = "PLYHOUSE_SEARCH_THREADS", help_heading = BOTS,
          value_name = "N", default_value = SEARCH_THREADS.as_str(), hide_default_value = true,
          value_parser = threads())]
    pub search: SearchMode,

    /// How many bots may wait for a search thread: of those that play people, and as many of the
    /// others
    // If the queue is full, the bot waits for a place. After a timeout, the bot plays without a
    // search.
    #[arg(long, env = "PLYHOUSE_SEARCH_QUEUE", help_heading = BOTS, value_name = "N",
          default_value = "1024", value_parser = at_least(1))]
    pub search_queue: usize,

    /// How many MiB of memory a search thread has to remember what it found
    // The value parser converts the value from MiB to bytes.
    #[arg(long, env = "PLYHOUSE_SEARCH_TABLE", help_heading = BOTS, value_name = "MIB",
          default_value = "64", value_parser = mebibytes())]
    pub search_table: usize,

    /// How long a bot may think about one move
    #[arg(long, env = "PLYHOUSE_SEARCH_TIME", help_heading = BOTS, value_name = "SECONDS",
          default_value = "2", value_parser = seconds)]
    pub search_time: Duration,

    /// Bots give up when they have seen no hope for three moves running
    #[arg(long, env = "PLYHOUSE_BOTS_RESIGN", help_heading = BOTS)]
    pub bots_resign: bool,

    /// How many bots may think at the same time in the matches of one player. Others wait
    #[arg(long, env = "PLYHOUSE_SEARCHES_PER_PLAYER", help_heading = BOTS, value_name = "N",
          default_value = "4", value_parser = at_least(1))]
    pub searches_per_player: usize,

    /// Where chance comes from: the operating system, or a number for a world that can be replayed.
    #[arg(skip)]
    pub seed: Option<u64>,

    /// When the server starts, in milliseconds since 1970: by the operating system's clock, or by
    /// that of a world that can be replayed.
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
