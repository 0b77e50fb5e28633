//! What may stand behind an option.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use http::Uri;
use tokio::sync::Semaphore;

use plyhouse_protocol::{AnalysisAccess, ChatMode, ClockControl, ParseClockError};

/// Who a connection comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddressSource {
    /// From the other end of the socket.
    SocketPeer,
    /// From whom the nearest proxy says that it comes: the last address of `X-Forwarded-For`. To be
    /// set only where every connection comes through a proxy that adds to that header.
    XForwardedFor,
}

/// Who may have a name of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountPolicy {
    /// Everybody.
    Open,
    /// Whom the operator invites.
    Invite,
    /// Nobody: there are only guests.
    Off,
}

impl AccountPolicy {
    /// What a welcome says of it; nothing where there are none.
    #[must_use]
    pub const fn wire_name(self) -> Option<&'static str> {
        match self {
            Self::Open => Some("open"),
            Self::Invite => Some("invite"),
            Self::Off => None,
        }
    }
}

/// Where bots think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// On this many threads of their own, at least one.
    Threads(usize),
    /// Wherever the match lives. For simulated worlds, in which a thread would be the one thing
    /// that time and chance do not govern.
    Inline,
}

/// A number of seconds: `60` or `0.5`.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    // A year: what is longer is a slip, and would overflow a clock.
    const SECONDS_MAX: f64 = 31_536_000.0;
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=SECONDS_MAX).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        Ok(_) | Err(_) => Err("a number of seconds from 0.001 to a year is needed".to_owned()),
    }
}

/// A number of milliseconds, up to a second.
pub(super) fn milliseconds(text: &str) -> Result<Duration, String> {
    let ms = text.parse().ok().filter(|ms| *ms <= 1000);
    let ms = ms.ok_or_else(|| "a number of milliseconds from 0 to 1000 is needed".to_owned());
    ms.map(Duration::from_millis)
}

/// A number of days, up to a hundred years.
pub(super) fn days() -> impl TypedValueParser<Value = Duration> {
    in_range(1, 36_500).map(|days| Duration::from_secs(days * 24 * 3600))
}

pub(super) fn at_least(min: u64) -> impl TypedValueParser<Value = usize> {
    // More than any machine has, and as many as tokio can count.
    in_range(min, Semaphore::MAX_PERMITS as u64).try_map(usize::try_from)
}

/// More threads than any machine has cores would only wait for each other.
pub(super) fn threads() -> impl TypedValueParser<Value = SearchMode> {
    let threads = in_range(1, 1024).try_map(usize::try_from);
    threads.map(SearchMode::Threads)
}

/// A number of MiB, in bytes. A table beyond a tebibyte is a slip.
pub(super) fn mebibytes() -> impl TypedValueParser<Value = usize> {
    in_range(1, 1 << 20).try_map(|mebibytes| usize::try_from(mebibytes << 20))
}

fn in_range(min: u64, max: u64) -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(min..=max)
}

pub(super) fn client_address() -> impl TypedValueParser<Value = ClientAddressSource> {
    PossibleValuesParser::new(["peer", "x-forwarded-for"]).map(|source| match &*source {
        "peer" => ClientAddressSource::SocketPeer,
        _ => ClientAddressSource::XForwardedFor,
    })
}

/// The name of a header (RFC 9110, section 5.1), in lower case.
pub(super) fn header_name(text: &str) -> Result<String, String> {
    let is_token_char = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    match !text.is_empty() && text.chars().all(is_token_char) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("that is no name of a header".to_owned()),
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

/// One of these, by its word.
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

/// A clock as people write it: `5+3`, `10m+3x30s`, `3d`.
pub(super) fn clock(text: &str) -> Result<ClockControl, String> {
    text.parse()
        .map_err(|error: ParseClockError| error.to_string())
}

/// An origin as browsers send it: a scheme, a host, a port unless it is the default, and no path.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let uri: Option<Uri> = text.parse().ok();
    let parts = uri.as_ref().and_then(|uri| {
        Some((
            uri.scheme_str()?.to_ascii_lowercase(),
            uri.authority()?,
            uri.path(),
        ))
    });
    match parts
        .as_ref()
        .map(|(scheme, authority, path)| (scheme.as_str(), authority, *path))
    {
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
