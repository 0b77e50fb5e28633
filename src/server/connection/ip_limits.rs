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
const DELAY_MAX: Duration = Duration::from_secs(5);

/// So many wrong guesses are answered at once: a few slips of the hand, and links to old matches.
const GUESSES: NonZeroU32 = NonZeroU32::new(20).expect("not zero");

/// So many wrong codes and keys may be tried in such a time.
const WRONG_MAX: u32 = 50;
const WRONG_WITHIN: Duration = Duration::from_mins(10);

/// So many this machine itself may try: others may stand behind its address, whom nobody is to lock out so easily.
/// Yet as many as one likes would find a code in the end, where thousands are good.
const WRONG_HERE_MAX: u32 = 1000;

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
    pub fn of(address: IpAddr) -> Option<Self> {
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
    table: Mutex<UseTable, IP_LIMITS>,
}

#[derive(Debug)]
struct UseTable {
    uses: HashMap<Address, Use>,
    /// With so many, those that are not in use any more are looked for.
    sweep_at: usize,
    /// What was tried from this machine, which takes nothing else that is counted.
    wrong_here: Option<Wrong>,
}

/// How many wrong codes and keys were tried, and since when.
type Wrong = (u32, Instant);

/// What one address takes.
#[derive(Debug)]
struct Use {
    connections: usize,
    open_matches: usize,
    handshakes: TokenBucket,
    guesses: TokenBucket,
    wrong: Wrong,
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
pub(crate) struct TooManyOpen;

impl From<TooManyOpen> for WireError {
    fn from(TooManyOpen: TooManyOpen) -> Self {
        let message = "too many matches of your address wait for somebody, or are of bots alone";
        Self::new(ErrorCode::TooManyMatches, message)
    }
}

/// A connection that its address is charged for until this is dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    addresses: IpLimits,
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
            table: Mutex::new(UseTable {
                uses: HashMap::new(),
                sweep_at: SWEEP_MIN,
                wrong_here: None,
            }),
        }))
    }

    /// Lets a connection in. Nobody's address is not counted.
    pub(crate) fn enter(
        &self,
        address: Option<Address>,
        now: Instant,
    ) -> Result<ConnectionPermit, AdmissionError> {
        if let Some(address) = address {
            let mut table = self.0.table.lock();
            table.sweep(now);
            let used = table.uses.entry(address);
            let used = used.or_insert_with(|| self.unused(now));
            used.handshakes
                .take(1, now)
                .map_err(AdmissionError::Handshakes)?;
            if used.connections >= self.0.connections_max {
                return Err(AdmissionError::Connections);
            }
            used.connections += 1;
        }
        Ok(ConnectionPermit {
            addresses: self.clone(),
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
        let used = table.uses.entry(address);
        let used = used.or_insert_with(|| self.unused(now));
        used.guesses.borrow(now, DELAY_MAX)
    }

    fn unused(&self, now: Instant) -> Use {
        Use {
            connections: 0,
            open_matches: 0,
            handshakes: TokenBucket::new(self.0.handshakes_per_s, self.0.handshakes_burst, now),
            guesses: TokenBucket::new(self.0.guesses_per_s, GUESSES, now),
            wrong: (0, now),
        }
    }

    /// Changes what is known of an address that has something.
    fn change<T>(&self, address: Address, change: impl FnOnce(&mut Use) -> T) -> T {
        let mut table = self.0.table.lock();
        let used = table.uses.get_mut(&address);
        change(used.expect("an address is kept while it has something"))
    }
}

impl UseTable {
    /// Evicts the addresses that use nothing any more, once there are enough to make a look worth it.
    fn sweep(&mut self, now: Instant) {
        if self.uses.len() < self.sweep_at {
            return;
        }
        self.uses.retain(|_, used| !used.is_nothing(now));
        self.uses.shrink_to(2 * self.uses.len());
        self.sweep_at = SWEEP_MIN.max(2 * self.uses.len());
    }
}

impl Use {
    fn is_nothing(&self, now: Instant) -> bool {
        self.connections == 0
            && self.open_matches == 0
            && self.handshakes.is_full(now)
            && self.guesses.is_full(now)
            && (self.wrong.0 == 0 || now.duration_since(self.wrong.1) >= WRONG_WITHIN)
    }
}

/// Counts one more wrong code or key, if so many are allowed; else tells after how long one may be tried again.
fn count_wrong((count, since): &mut Wrong, max: u32, now: Instant) -> Result<(), Duration> {
    let passed = now.duration_since(*since);
    if passed >= WRONG_WITHIN {
        (*count, *since) = (0, now);
    } else if *count >= max {
        return Err(WRONG_WITHIN - passed);
    }
    *count += 1;
    Ok(())
}

impl ConnectionPermit {
    /// Takes the place of an open match.
    pub(crate) fn open_match(&self) -> Result<OpenMatchPermit, TooManyOpen> {
        let Some(address) = self.address else {
            return Ok(OpenMatchPermit(None));
        };
        let max = self.addresses.0.open_matches_max;
        self.addresses.change(address, |used| {
            if used.open_matches >= max {
                return Err(TooManyOpen);
            }
            used.open_matches += 1;
            Ok(())
        })?;
        Ok(OpenMatchPermit(Some((self.addresses.clone(), address))))
    }

    /// Lets a code or a key be tried, which counts as a wrong one until it is known to be [right](Self::right).
    /// Else tells after how long one may be tried again.
    pub(crate) fn try_code(&self, now: Instant) -> Result<(), Duration> {
        match self.address {
            Some(address) => self
                .addresses
                .change(address, |used| count_wrong(&mut used.wrong, WRONG_MAX, now)),
            None => {
                let mut table = self.addresses.0.table.lock();
                let wrong = table.wrong_here.get_or_insert((0, now));
                count_wrong(wrong, WRONG_HERE_MAX, now)
            }
        }
    }

    /// Where the connection comes from, if that is counted.
    pub(crate) const fn address(&self) -> Option<Address> {
        self.address
    }

    /// The code or the key was right.
    pub(crate) fn right(&self) {
        let less = |wrong: &mut Wrong| wrong.0 = wrong.0.saturating_sub(1);
        match self.address {
            Some(address) => self.addresses.change(address, |used| less(&mut used.wrong)),
            None => {
                let mut table = self.addresses.0.table.lock();
                table.wrong_here.iter_mut().for_each(less);
            }
        }
    }

    /// Notes that something was asked for that is known by its name alone, and that there is nothing
    /// of that name. Tells how long the answer has to wait, which makes guessing useless.
    pub(crate) fn guessed(&self, now: Instant) -> Duration {
        self.address.map_or(Duration::ZERO, |address| {
            let borrow = |used: &mut Use| used.guesses.borrow(now, DELAY_MAX);
            self.addresses.change(address, borrow)
        })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        if let Some(address) = self.address {
            self.addresses.change(address, |used| used.connections -= 1);
        }
    }
}

impl Drop for OpenMatchPermit {
    fn drop(&mut self) {
        if let Some((addresses, address)) = &self.0 {
            addresses.change(*address, |used| used.open_matches -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn start() -> (IpLimits, Instant) {
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
        Address::of(text.parse().unwrap())
    }

    #[test]
    fn one_customer_is_one_address() {
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:1"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:192.0.2.1"), address("192.0.2.1"));
        assert_ne!(address("192.0.2.2"), address("192.0.2.1"));
        for own in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(address(own), None, "{own}");
        }
    }

    #[test]
    fn connections_of_an_address_have_a_bound_and_others_do_not_notice() {
        let (addresses, now) = start();
        let [ann, bob] = ["192.0.2.1", "192.0.2.2"].map(address);
        let first = addresses.enter(ann, now).unwrap();
        let _second = addresses.enter(ann, now).unwrap();
        assert_eq!(
            addresses.enter(ann, now).unwrap_err(),
            AdmissionError::Connections
        );
        assert!(addresses.enter(bob, now).is_ok());
        drop(first);
        assert!(addresses.enter(ann, now).is_ok());
        assert_eq!(
            addresses.enter(ann, now).unwrap_err(),
            AdmissionError::Handshakes(SECOND)
        );
        assert!(addresses.enter(ann, now + SECOND).is_ok());
        assert!((0..9).all(|_| addresses.enter(None, now).is_ok()));
    }

    #[test]
    fn open_matches_of_an_address_have_a_bound() {
        let (addresses, now) = start();
        let guest = addresses.enter(address("192.0.2.1"), now).unwrap();
        let open = guest.open_match().unwrap();
        assert_eq!(guest.open_match().unwrap_err(), TooManyOpen);
        drop(open);
        assert!(guest.open_match().is_ok());
    }

    #[test]
    fn guesses_are_answered_more_and_more_slowly() {
        let (addresses, now) = start();
        let guest = addresses.enter(address("192.0.2.1"), now).unwrap();
        let delays: Vec<Duration> = (0..40).map(|_| guest.guessed(now)).collect();
        assert_eq!(delays[19], Duration::ZERO);
        assert_eq!(delays[20], SECOND);
        assert_eq!(delays[39], DELAY_MAX);
    }

    #[test]
    fn wrong_codes_of_an_address_have_a_bound() {
        let (addresses, now) = start();
        let guest = addresses.enter(address("192.0.2.1"), now).unwrap();
        for _ in 0..WRONG_MAX {
            assert_eq!(guest.try_code(now), Ok(()));
            guest.right();
        }
        for _ in 0..WRONG_MAX {
            assert_eq!(guest.try_code(now), Ok(()));
        }
        let later = now + SECOND;
        assert_eq!(guest.try_code(later), Err(WRONG_WITHIN - SECOND));
        let other = addresses.enter(address("192.0.2.2"), now).unwrap();
        assert_eq!(other.try_code(later), Ok(()));
        // It is not forgotten by connecting anew.
        drop(guest);
        addresses.0.table.lock().sweep_at = 0;
        let guest = addresses.enter(address("192.0.2.1"), later).unwrap();
        assert!(guest.try_code(later).is_err());
        assert_eq!(guest.try_code(now + WRONG_WITHIN), Ok(()));
    }

    /// From this machine more may be tried, and not as many as one likes.
    #[test]
    fn wrong_codes_of_this_machine_have_a_bound() {
        let (addresses, now) = start();
        let proxied = || addresses.enter(None, now).unwrap();
        for _ in 0..WRONG_HERE_MAX {
            assert_eq!(proxied().try_code(now), Ok(()));
        }
        let permit = proxied();
        assert_eq!(permit.try_code(now + SECOND), Err(WRONG_WITHIN - SECOND));
        permit.right();
        assert_eq!(permit.try_code(now), Ok(()));
        assert_eq!(permit.try_code(now + WRONG_WITHIN), Ok(()));
        let other = addresses.enter(address("192.0.2.2"), now).unwrap();
        assert_eq!(other.try_code(now), Ok(()));
    }

    #[test]
    fn addresses_are_forgotten() {
        let (addresses, now) = start();
        let of = |n: u32| Address::of(IpAddr::V4((0x0a00_0000 + n).into()));
        let count = u32::try_from(SWEEP_MIN).unwrap();
        let stays = addresses.enter(of(0), now).unwrap();
        let open = addresses.enter(of(1), now).unwrap().open_match();
        for n in 2..count {
            drop(addresses.enter(of(n), now).unwrap());
        }
        assert_eq!(addresses.0.table.lock().uses.len(), SWEEP_MIN);
        let later = now + 60 * SECOND;
        drop(addresses.enter(of(count), later).unwrap());
        assert_eq!(addresses.0.table.lock().uses.len(), 3);
        drop((stays, open));
    }
}
