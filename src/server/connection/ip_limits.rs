//! Limits per client address: connections, handshakes, open matches, wrong guesses and wrong codes.
//!
//! Entries of addresses without connections, open matches or recent requests are evicted. Memory
//! use therefore grows only with the number of connections, open matches and recent requests.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::token_bucket::TokenBucket;
use crate::context::limit_reached::LimitReached;
use crate::context::locks::{IP_LIMITS, Mutex};
use crate::settings::Settings;

/// Maximum delay of the reply after a client has guessed a code, name or token wrongly. This delay
/// is shorter than the default idle timeout of a connection.
const GUESS_DELAY_MAX: Duration = Duration::from_secs(5);

/// Number of wrong guesses of a code, name or token that the server answers without delay. This
/// number leaves room for typing errors and for outdated match links.
const GUESSES_BURST: NonZeroU32 = NonZeroU32::new(20).expect("not zero");

/// Maximum number of wrong codes and keys that one address may enter within [`WRONG_CODES_WINDOW`].
const WRONG_CODES_MAX: u32 = 50;
const WRONG_CODES_WINDOW: Duration = Duration::from_mins(10);

/// Maximum number of wrong codes and keys from the loopback address within [`WRONG_CODES_WINDOW`].
/// The limit is high, because all clients behind a local proxy share it. With a low limit, one
/// client could lock out the others. The limit is finite, because unlimited attempts would
/// eventually find one of thousands of valid codes.
const LOOPBACK_WRONG_CODES_MAX: u32 = 1000;

/// Minimum number of entries in the usage table that triggers an eviction of unused entries. After
/// an eviction, the next one happens when the number of remaining entries has doubled.
const SWEEP_MIN: usize = 1024;

/// Client address for counting connections: an IPv4 address, or the /64 network of an IPv6 address.
/// A /64 is the smallest network that a provider assigns to a customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address(IpAddr);

impl Address {
    /// Returns the key for counting connections from `address`, or `None` for a loopback address.
    /// Loopback connections are not counted, because they belong to the operator or come through a
    /// proxy that does not name the client.
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

/// Tracks the usage of each client address. Clones share their state.
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
    /// Number of entries that triggers the next eviction of unused entries.
    sweep_at: usize,
    /// Wrong codes and keys from the loopback address. This is the only counter for the loopback
    /// address.
    loopback_wrong_codes: Option<WrongCodeCount>,
}

/// Counter of wrong codes and keys: the count, and the instant when counting began.
type WrongCodeCount = (u32, Instant);

#[derive(Debug)]
struct AddressUsage {
    connections: usize,
    open_matches: usize,
    handshakes: TokenBucket,
    guesses: TokenBucket,
    wrong_codes: WrongCodeCount,
}

/// Reason why a connection is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    /// The address has reached its connection limit.
    #[error("too many connections from your IP address")]
    Connections,
    /// The address connects too often. The duration is the time until the address may connect
    /// again.
    #[error("too many connection attempts from your IP address")]
    Handshakes(Duration),
}

/// Permit for one connection of an address. Dropping the permit lets the address open another
/// connection.
#[derive(Debug)]
pub struct ConnectionPermit {
    ip_limits: IpLimits,
    /// The address that the permit counts against; `None` for a loopback connection.
    pub(crate) address: Option<Address>,
}

/// Permit for one open match, charged to the address that created the match. Dropping the permit
/// lets the address create another match.
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

    /// Admits a connection, unless its address has reached a limit. A connection whose address is
    /// `None` is always admitted.
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
            let taken = usage.handshakes.take(1, now);
            taken.map_err(AdmissionError::Handshakes)?;
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

    /// Counts a failed look-up by a code, name or token that the client may have guessed. Returns
    /// how long to delay the reply. The address need not have a connection.
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

    /// Applies `change` to the usage entry of an address. The address must have an entry. An
    /// address that holds a permit always has an entry.
    fn update_usage<T>(&self, address: Address, change: impl FnOnce(&mut AddressUsage) -> T) -> T {
        let mut table = self.0.table.lock();
        let usage = table.usage.get_mut(&address);
        change(usage.expect("an address with usage has an entry"))
    }
}

impl UsageTable {
    /// Evicts the entries of unused addresses if the table holds at least `sweep_at` entries.
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

/// Counts a wrong code or key. If the limit of wrong attempts is reached, returns the time until
/// the next attempt is allowed.
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
    /// Acquires a permit for an open match.
    pub(crate) fn acquire_open_match(&self) -> Result<OpenMatchPermit, LimitReached> {
        let Some(address) = self.address else {
            return Ok(OpenMatchPermit(None));
        };
        let max = self.ip_limits.0.open_matches_max;
        self.ip_limits.update_usage(address, |used| {
            if used.open_matches >= max {
                return Err(LimitReached::OpenMatches);
            }
            used.open_matches += 1;
            Ok(())
        })?;
        Ok(OpenMatchPermit(Some((self.ip_limits.clone(), address))))
    }

    /// Charges the address for an attempt to enter a code or key. The attempt counts as wrong until
    /// it is [refunded](Self::refund_code_attempt). If the limit of wrong attempts is reached,
    /// returns the time until the next attempt is allowed.
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

    /// Removes an attempt from the count of wrong codes, because the client entered a correct code
    /// or key.
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

    /// Counts a failed look-up by a code, name or token that the client may have guessed. Returns
    /// how long to delay the reply. The delay makes guessing impractical.
    pub(crate) fn count_wrong_guess(&self, now: Instant) -> Duration {
        self.ip_limits.count_wrong_guess(self.address, now)
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
        assert_eq!(
            permit.acquire_open_match().unwrap_err(),
            LimitReached::OpenMatches
        );
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
        // The address keeps its count of wrong codes when it opens a new connection.
        drop(permit);
        limits.0.table.lock().sweep_at = 0;
        let permit = limits
            .admit_connection(address("192.0.2.1"), later)
            .unwrap();
        assert!(permit.charge_code_attempt(later).is_err());
        assert_eq!(permit.charge_code_attempt(now + WRONG_CODES_WINDOW), Ok(()));
    }

    #[test]
    fn loopback_has_a_higher_wrong_code_limit() {
        let (limits, now) = new_limits();
        let connect_from_loopback = || limits.admit_connection(None, now).unwrap();
        for _ in 0..LOOPBACK_WRONG_CODES_MAX {
            assert_eq!(connect_from_loopback().charge_code_attempt(now), Ok(()));
        }
        let permit = connect_from_loopback();
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
