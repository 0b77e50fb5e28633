//! What one address may take of the server: connections, handshakes, open matches, and guesses.
//!
//! Addresses are counted while there is something to count, so their number is bounded by that of
//! connections and matches, and by how many came within the last seconds.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyhouse_protocol::{ErrorCode, WireError};

use super::token_bucket::TokenBucket;
use crate::context::locks::{IP_LIMITS, Mutex};
use crate::settings::Settings;

/// A guess too many is answered after this long at most. It is less than what a client may be silent
/// for, and than what the end of the server waits for.
const GUESS_DELAY_MAX: Duration = Duration::from_secs(5);

/// So many wrong guesses are answered at once: a few slips of the hand, and links to old matches.
const GUESSES_BURST: NonZeroU32 = NonZeroU32::new(20).expect("not zero");

/// So many wrong codes and keys may be tried in such a time.
const WRONG_CODES_MAX: u32 = 50;
const WRONG_CODES_WINDOW: Duration = Duration::from_mins(10);

/// So many this machine itself may try: others may stand behind its address, whom nobody is to lock out so easily.
/// Yet as many as one likes would find a code in the end, where thousands are good.
const LOOPBACK_WRONG_CODES_MAX: u32 = 1000;

/// Addresses that are not in use any more are looked for when there are twice as many as there were
/// then, and not below this number.
const SWEEP_MIN: usize = 1024;

/// Whom a connection is counted to: an IPv4 address, or the /64 of an IPv6 address, which is the
/// least that one customer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address(IpAddr);

impl Address {
    /// Whom this address is counted to. `None` for this machine itself: its connections are the
    /// operator's own, or come through a proxy that does not say for whom.
    #[must_use]
    pub fn from_ip(address: IpAddr) -> Option<Self> {
        let counted = match address.to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => {
                let network = address.to_bits() & !u128::from(u64::MAX);
                Ipv6Addr::from_bits(network).into()
            }
        };
        (!address.to_canonical().is_loopback()).then_some(Self(counted))
    }
}

/// What every address takes. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct IpLimits(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connections_max: usize,
    open_matches_max: usize,
    handshakes_per_s: NonZeroU32,
    handshakes_burst: NonZeroU32,
    guesses_per_s: NonZeroU32,
    table: Mutex<UsageTable, IP_LIMITS>,
}

#[derive(Debug)]
struct UsageTable {
    usage: HashMap<Address, AddressUsage>,
    /// With so many, those that are not in use any more are looked for.
    sweep_at: usize,
    /// What was tried from this machine, which takes nothing else that is counted.
    loopback_wrong_codes: Option<WrongCodeCount>,
}

/// How many wrong codes and keys were tried, and since when.
type WrongCodeCount = (u32, Instant);

/// What one address takes.
#[derive(Debug)]
struct AddressUsage {
    connections: usize,
    open_matches: usize,
    handshakes: TokenBucket,
    guesses: TokenBucket,
    wrong_codes: WrongCodeCount,
}

/// Why an address gets no more connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// It has as many as it may have.
    #[error("your address has too many connections")]
    Connections,
    /// It connects too often. After this time one would be let in.
    #[error("your address connects too often")]
    Handshakes(Duration),
}

/// The address has as many open matches as it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyOpenMatches;

impl From<TooManyOpenMatches> for WireError {
    fn from(TooManyOpenMatches: TooManyOpenMatches) -> Self {
        let message = "too many matches of your address wait for somebody, or are of bots alone";
        Self::new(ErrorCode::TooManyMatches, message)
    }
}

/// A connection that its address is charged for until this is dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    ip_limits: IpLimits,
    /// None for this machine itself.
    address: Option<Address>,
}

/// An open match that the address it was created from is charged for until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenMatchPermit(Option<(IpLimits, Address)>);

impl IpLimits {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self(Arc::new(Inner {
            connections_max: settings.connections_per_address,
            open_matches_max: settings.open_matches_per_address,
            handshakes_per_s: settings.handshakes_per_s,
            handshakes_burst: settings.handshakes_burst,
            guesses_per_s: settings.guesses_per_s,
            table: Mutex::new(UsageTable {
                usage: HashMap::new(),
                sweep_at: SWEEP_MIN,
                loopback_wrong_codes: None,
            }),
        }))
    }

    /// Lets a connection in. Nobody's address is not counted.
    pub(crate) fn admit_connection(
        &self,
        address: Option<Address>,
        now: Instant,
    ) -> Result<ConnectionPermit, AdmissionError> {
        if let Some(address) = address {
            let mut table = self.0.table.lock();
            table.sweep(now);
            let usage = table.usage.entry(address);
            let usage = usage.or_insert_with(|| self.new_usage(now));
            usage
                .handshakes
                .take(1, now)
                .map_err(AdmissionError::Handshakes)?;
            if usage.connections >= self.0.connections_max {
                return Err(AdmissionError::Connections);
            }
            usage.connections += 1;
        }
        Ok(ConnectionPermit {
            ip_limits: self.clone(),
            address,
        })
    }

    /// Notes that this address, which need not have a connection, asked for what there is not under a
    /// name that it may have guessed. Tells how long the answer has to wait.
    pub(crate) fn count_wrong_guess(&self, address: Option<Address>, now: Instant) -> Duration {
        let Some(address) = address else {
            return Duration::ZERO;
        };
        let mut table = self.0.table.lock();
        table.sweep(now);
        let usage = table.usage.entry(address);
        let usage = usage.or_insert_with(|| self.new_usage(now));
        usage.guesses.borrow(now, GUESS_DELAY_MAX)
    }

    fn new_usage(&self, now: Instant) -> AddressUsage {
        AddressUsage {
            connections: 0,
            open_matches: 0,
            handshakes: TokenBucket::new(self.0.handshakes_per_s, self.0.handshakes_burst, now),
            guesses: TokenBucket::new(self.0.guesses_per_s, GUESSES_BURST, now),
            wrong_codes: (0, now),
        }
    }

    /// Changes what is known of an address that has something.
    fn update_usage<T>(&self, address: Address, change: impl FnOnce(&mut AddressUsage) -> T) -> T {
        let mut table = self.0.table.lock();
        let usage = table.usage.get_mut(&address);
        change(usage.expect("an address with usage has an entry"))
    }
}

impl UsageTable {
    /// Evicts the addresses that use nothing any more, once there are enough to make a look worth it.
    fn sweep(&mut self, now: Instant) {
        if self.usage.len() < self.sweep_at {
            return;
        }
        self.usage.retain(|_, used| !used.is_unused(now));
        self.usage.shrink_to(2 * self.usage.len());
        self.sweep_at = SWEEP_MIN.max(2 * self.usage.len());
    }
}

impl AddressUsage {
    fn is_unused(&self, now: Instant) -> bool {
        self.connections == 0
            && self.open_matches == 0
            && self.handshakes.is_full(now)
            && self.guesses.is_full(now)
            && (self.wrong_codes.0 == 0
                || now.duration_since(self.wrong_codes.1) >= WRONG_CODES_WINDOW)
    }
}

/// Counts one more wrong code or key, if so many are allowed; else tells after how long one may be tried again.
fn count_wrong_code(
    (count, since): &mut WrongCodeCount,
    max: u32,
    now: Instant,
) -> Result<(), Duration> {
    let elapsed = now.duration_since(*since);
    if elapsed >= WRONG_CODES_WINDOW {
        (*count, *since) = (0, now);
    } else if *count >= max {
        return Err(WRONG_CODES_WINDOW - elapsed);
    }
    *count += 1;
    Ok(())
}

impl ConnectionPermit {
    /// Takes the place of an open match.
    pub(crate) fn acquire_open_match(&self) -> Result<OpenMatchPermit, TooManyOpenMatches> {
        let Some(address) = self.address else {
            return Ok(OpenMatchPermit(None));
        };
        let max = self.ip_limits.0.open_matches_max;
        self.ip_limits.update_usage(address, |used| {
            if used.open_matches >= max {
                return Err(TooManyOpenMatches);
            }
            used.open_matches += 1;
            Ok(())
        })?;
        Ok(OpenMatchPermit(Some((self.ip_limits.clone(), address))))
    }

    /// Lets a code or a key be tried, which counts as a wrong one until it is known to be [right](Self::refund_code_attempt).
    /// Else tells after how long one may be tried again.
    pub(crate) fn charge_code_attempt(&self, now: Instant) -> Result<(), Duration> {
        match self.address {
            Some(address) => self.ip_limits.update_usage(address, |used| {
                count_wrong_code(&mut used.wrong_codes, WRONG_CODES_MAX, now)
            }),
            None => {
                let mut table = self.ip_limits.0.table.lock();
                let wrong_codes = table.loopback_wrong_codes.get_or_insert((0, now));
                count_wrong_code(wrong_codes, LOOPBACK_WRONG_CODES_MAX, now)
            }
        }
    }

    /// Where the connection comes from, if that is counted.
    pub(crate) const fn address(&self) -> Option<Address> {
        self.address
    }

    /// The code or the key was right.
    pub(crate) fn refund_code_attempt(&self) {
        let decrement = |wrong: &mut WrongCodeCount| wrong.0 = wrong.0.saturating_sub(1);
        match self.address {
            Some(address) => self
                .ip_limits
                .update_usage(address, |used| decrement(&mut used.wrong_codes)),
            None => {
                let mut table = self.ip_limits.0.table.lock();
                table.loopback_wrong_codes.iter_mut().for_each(decrement);
            }
        }
    }

    /// Notes that something was asked for that is known by its name alone, and that there is nothing
    /// of that name. Tells how long the answer has to wait, which makes guessing useless.
    pub(crate) fn count_wrong_guess(&self, now: Instant) -> Duration {
        self.address.map_or(Duration::ZERO, |address| {
            let borrow = |used: &mut AddressUsage| used.guesses.borrow(now, GUESS_DELAY_MAX);
            self.ip_limits.update_usage(address, borrow)
        })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        if let Some(address) = self.address {
            self.ip_limits
                .update_usage(address, |used| used.connections -= 1);
        }
    }
}

impl Drop for OpenMatchPermit {
    fn drop(&mut self) {
        if let Some((ip_limits, address)) = &self.0 {
            ip_limits.update_usage(*address, |used| used.open_matches -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn new_limits() -> (IpLimits, Instant) {
        let settings = Settings {
            connections_per_address: 2,
            open_matches_per_address: 1,
            handshakes_per_s: NonZeroU32::MIN,
            handshakes_burst: NonZeroU32::new(4).unwrap(),
            guesses_per_s: NonZeroU32::MIN,
            ..Settings::default()
        };
        let now = tokio::time::Instant::now().into_std();
        (IpLimits::new(&settings), now)
    }

    fn address(text: &str) -> Option<Address> {
        Address::from_ip(text.parse().unwrap())
    }

    #[test]
    fn ipv6_counts_by_64_prefix_and_loopback_is_not_counted() {
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:1"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_ne!(address("192.0.2.2"), address("192.0.2.1"));
        for own in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(address(own), None, "{own}");
        }
    }

    #[test]
    fn connection_limit_applies_per_address() {
        let (limits, now) = new_limits();
        let [ann, bob] = ["192.0.2.1", "192.0.2.2"].map(address);
        let first = limits.admit_connection(ann, now).unwrap();
        let _second = limits.admit_connection(ann, now).unwrap();
        assert_eq!(
            limits.admit_connection(ann, now).unwrap_err(),
            AdmissionError::Connections
        );
        assert!(limits.admit_connection(bob, now).is_ok());
        drop(first);
        assert!(limits.admit_connection(ann, now).is_ok());
        assert_eq!(
            limits.admit_connection(ann, now).unwrap_err(),
            AdmissionError::Handshakes(SECOND)
        );
        assert!(limits.admit_connection(ann, now + SECOND).is_ok());
        assert!((0..9).all(|_| limits.admit_connection(None, now).is_ok()));
    }

    #[test]
    fn open_match_limit_applies_per_address() {
        let (limits, now) = new_limits();
        let permit = limits.admit_connection(address("192.0.2.1"), now).unwrap();
        let open_match = permit.acquire_open_match().unwrap();
        assert_eq!(permit.acquire_open_match().unwrap_err(), TooManyOpenMatches);
        drop(open_match);
        assert!(permit.acquire_open_match().is_ok());
    }

    #[test]
    fn wrong_guesses_are_delayed_increasingly() {
        let (limits, now) = new_limits();
        let permit = limits.admit_connection(address("192.0.2.1"), now).unwrap();
        let delays: Vec<Duration> = (0..40).map(|_| permit.count_wrong_guess(now)).collect();
        assert_eq!(delays[19], Duration::ZERO);
        assert_eq!(delays[20], SECOND);
        assert_eq!(delays[39], GUESS_DELAY_MAX);
    }

    #[test]
    fn wrong_code_limit_applies_per_address_across_reconnects() {
        let (limits, now) = new_limits();
        let permit = limits.admit_connection(address("192.0.2.1"), now).unwrap();
        for _ in 0..WRONG_CODES_MAX {
            assert_eq!(permit.charge_code_attempt(now), Ok(()));
            permit.refund_code_attempt();
        }
        for _ in 0..WRONG_CODES_MAX {
            assert_eq!(permit.charge_code_attempt(now), Ok(()));
        }
        let later = now + SECOND;
        assert_eq!(
            permit.charge_code_attempt(later),
            Err(WRONG_CODES_WINDOW - SECOND)
        );
        let other = limits.admit_connection(address("192.0.2.2"), now).unwrap();
        assert_eq!(other.charge_code_attempt(later), Ok(()));
        // It is not forgotten by connecting anew.
        drop(permit);
        limits.0.table.lock().sweep_at = 0;
        let permit = limits
            .admit_connection(address("192.0.2.1"), later)
            .unwrap();
        assert!(permit.charge_code_attempt(later).is_err());
        assert_eq!(permit.charge_code_attempt(now + WRONG_CODES_WINDOW), Ok(()));
    }

    /// From this machine more may be tried, and not as many as one likes.
    #[test]
    fn loopback_has_a_higher_wrong_code_limit() {
        let (limits, now) = new_limits();
        let proxied = || limits.admit_connection(None, now).unwrap();
        for _ in 0..LOOPBACK_WRONG_CODES_MAX {
            assert_eq!(proxied().charge_code_attempt(now), Ok(()));
        }
        let permit = proxied();
        assert_eq!(
            permit.charge_code_attempt(now + SECOND),
            Err(WRONG_CODES_WINDOW - SECOND)
        );
        permit.refund_code_attempt();
        assert_eq!(permit.charge_code_attempt(now), Ok(()));
        assert_eq!(permit.charge_code_attempt(now + WRONG_CODES_WINDOW), Ok(()));
        let other = limits.admit_connection(address("192.0.2.2"), now).unwrap();
        assert_eq!(other.charge_code_attempt(now), Ok(()));
    }

    #[test]
    fn unused_addresses_are_evicted() {
        let (limits, now) = new_limits();
        let numbered_address = |n: u32| Address::from_ip(IpAddr::V4((0x0a00_0000 + n).into()));
        let count = u32::try_from(SWEEP_MIN).unwrap();
        let open_connection = limits.admit_connection(numbered_address(0), now).unwrap();
        let open_match = limits
            .admit_connection(numbered_address(1), now)
            .unwrap()
            .acquire_open_match();
        for n in 2..count {
            drop(limits.admit_connection(numbered_address(n), now).unwrap());
        }
        assert_eq!(limits.0.table.lock().usage.len(), SWEEP_MIN);
        let later = now + 60 * SECOND;
        drop(
            limits
                .admit_connection(numbered_address(count), later)
                .unwrap(),
        );
        assert_eq!(limits.0.table.lock().usage.len(), 3);
        drop((open_connection, open_match));
    }
}
