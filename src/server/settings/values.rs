//! Types and parsers for the values of command-line options.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use http::Uri;
use plyhouse_cli::number_in;
use tokio::sync::Semaphore;

use plyhouse_protocol::{AnalysisAccess, ChatMode, ClockControl, ParseClockError};

/// Where the server reads the client address of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddressSource {
    /// The remote address of the socket.
    SocketPeer,
    /// The last address in `X-Forwarded-For`, which the nearest proxy adds. Select this only if
    /// every connection comes through a proxy that adds to that header.
    XForwardedFor,
}

/// Who may register an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountPolicy {
    /// Every player.
    Open,
    /// Players with an invitation from the operator.
    Invite,
    /// Registration is disabled, so all players are guests.
    Off,
}

impl AccountPolicy {
    /// Returns the policy's name for the `welcome` message; `None` on a server without accounts.
    #[must_use]
    pub const fn wire_name(self) -> Option<&'static str> {
        match self {
            Self::Open => Some("open"),
            Self::Invite => Some("invite"),
            Self::Off => None,
        }
    }
}

/// Where the searches of bots run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// Searches run on this number of separate threads, at least one.
    Threads(usize),
    /// Searches run in the task of the match. Simulations use this mode, because separate threads
    /// would make their runs nondeterministic.
    Inline,
}

/// Parses a number of seconds, such as `60` or `0.5`.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    // One year. A longer duration is probably a mistake, and could overflow a clock.
    const SECONDS_MAX: f64 = 31_536_000.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=SECONDS_MAX).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        Ok(_) | Err(_) => {
            Err("expected a number of seconds from 0.001 to 31536000, such as 0.5".to_owned())
        }
    }
}

/// Parses a number of milliseconds, from 0 to 1000.
pub(super) fn milliseconds(text: &str) -> Result<Duration, String> {
    let ms = text.parse().ok().filter(|ms| *ms <= 1000);
    let ms = ms.ok_or_else(|| "expected a whole number of milliseconds from 0 to 1000".to_owned());
    ms.map(Duration::from_millis)
}

/// Parses a duration in days. The maximum is about a hundred years.
pub(super) fn days() -> impl TypedValueParser<Value = Duration> {
    number_in::<u64>(1..=36_500).map(|days| Duration::from_secs(days * 24 * 3600))
}

pub(super) fn at_least(min: u64) -> impl TypedValueParser<Value = usize> {
    // The maximum is the largest number of permits that a tokio semaphore supports.
    number_in::<u64>(min..=Semaphore::MAX_PERMITS as u64).try_map(usize::try_from)
}

/// Parses a number from 1 to 4294967295.
pub(super) fn positive() -> impl TypedValueParser<Value = NonZeroU32> {
    number_in::<u32>(1..=u64::from(u32::MAX)).try_map(NonZeroU32::try_from)
}

/// Parses a number of threads, up to 1024. Threads beyond the number of cores are of no use,
/// because they only wait for each other.
pub(super) fn threads() -> impl TypedValueParser<Value = SearchMode> {
    let threads = number_in::<u64>(1..=1024).try_map(usize::try_from);
    threads.map(SearchMode::Threads)
}

/// Parses a size in MiB, up to 1 TiB, and returns it in bytes.
pub(super) fn mebibytes() -> impl TypedValueParser<Value = usize> {
    number_in::<u64>(1..=1 << 20).try_map(|mebibytes| usize::try_from(mebibytes << 20))
}

pub(super) fn client_address() -> impl TypedValueParser<Value = ClientAddressSource> {
    PossibleValuesParser::new(["peer", "x-forwarded-for"]).map(|source| match &*source {
        "peer" => ClientAddressSource::SocketPeer,
        _ => ClientAddressSource::XForwardedFor,
    })
}

/// Parses the name of an HTTP header (RFC 9110, section 5.1) and converts it to lower case.
pub(super) fn header_name(text: &str) -> Result<String, String> {
    let is_token_char = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    match !text.is_empty() && text.chars().all(is_token_char) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("expected the name of an HTTP header, such as Remote-User".to_owned()),
    }
}

pub(super) fn accounts() -> impl TypedValueParser<Value = AccountPolicy> {
    PossibleValuesParser::new(["open", "invite", "off"]).map(|who| match &*who {
        "open" => AccountPolicy::Open,
        "invite" => AccountPolicy::Invite,
        _ => AccountPolicy::Off,
    })
}

pub(super) fn chat() -> impl TypedValueParser<Value = ChatMode> {
    one_of(ChatMode::ALL, ChatMode::as_str)
}

pub(super) fn analysts() -> impl TypedValueParser<Value = AnalysisAccess> {
    one_of(AnalysisAccess::ALL, AnalysisAccess::as_str)
}

/// Creates a parser that converts a name to the value in `all` that has this name. `name` returns
/// the name of a value.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let words = all.iter().map(move |one| name(*one));
    PossibleValuesParser::new(words).map(move |given| {
        let value = all.iter().find(|one| name(**one) == given);
        *value.expect("clap accepts only the possible values")
    })
}

/// Parses a clock setting such as `5+3`, `10m+3x30s` or `3d`.
pub(super) fn clock(text: &str) -> Result<ClockControl, String> {
    text.parse()
        .map_err(|error: ParseClockError| error.to_string())
}

/// Parses an origin and returns it as browsers send it: the scheme, the host, and the port unless
/// it is the default one.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let syntax_error = || "expected an origin, such as https://play.example.org".to_owned();
    let uri: Uri = text.parse().map_err(|_| syntax_error())?;
    let (Some(scheme), Some(authority), "" | "/") = (uri.scheme_str(), uri.authority(), uri.path())
    else {
        return Err(syntax_error());
    };
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match &*scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Err(syntax_error()),
    };
    let authority = authority.as_str();
    let authority = authority.strip_suffix(default_port).unwrap_or(authority);
    Ok(format!("{scheme}://{authority}"))
}
