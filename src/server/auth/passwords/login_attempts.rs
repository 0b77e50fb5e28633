//! How many wrong passwords are tried, which is judged before anything is hashed.
//!
//! Names that nobody has are counted as others are. What is counted is bounded, since each try takes a core
//! for a while.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::connection::ip_limits::Address;
use crate::context::locks::{LOGIN_ATTEMPTS, Mutex};

/// For how long a wrong try counts, from the first of several on.
const WITHIN: Duration = Duration::from_mins(10);

/// How many may be wrong in that time: of one name from one address, of one name, and from one address.
const NAME_HERE_MAX: u32 = 10;
const NAME_MAX: u32 = 100;
const ADDRESS_MAX: u32 = 200;

/// What is over is looked for when there are twice as many as there were then, and not below this number.
const SWEEP_MIN: usize = 1024;

/// What was tried lately.
#[derive(Debug, Default)]
pub(crate) struct Tries(Mutex<Table, LOGIN_ATTEMPTS>);

#[derive(Debug, Default)]
struct Table {
    /// How many were wrong, and since when.
    counts: HashMap<Key, (u32, Instant)>,
    sweep_at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    NameHere(String, Option<Address>),
    Name(String),
    Address(Address),
}

impl Tries {
    /// Lets a password be tried of the name with this likeness, which counts as a wrong one until it is known
    /// to be [right](Self::right). Else tells after how long one may be tried again.
    pub(crate) fn begin(
        &self,
        likeness: &str,
        from: Option<Address>,
        now: Instant,
    ) -> Result<(), Duration> {
        let mut table = self.0.lock();
        table.sweep(now);
        for (key, max) in keys(likeness, from) {
            if let Some((count, since)) = table.counts.get(&key) {
                let passed = now.duration_since(*since);
                if *count >= max && passed < WITHIN {
                    return Err(WITHIN - passed);
                }
            }
        }
        for (key, _) in keys(likeness, from) {
            let (count, since) = table.counts.entry(key).or_insert((0, now));
            if now.duration_since(*since) >= WITHIN {
                (*count, *since) = (0, now);
            }
            *count += 1;
        }
        Ok(())
    }

    /// The password was right, or not looked at.
    pub(crate) fn right(&self, likeness: &str, from: Option<Address>) {
        let mut table = self.0.lock();
        for (key, _) in keys(likeness, from) {
            if let Some((count, _)) = table.counts.get_mut(&key) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

impl Table {
    fn sweep(&mut self, now: Instant) {
        if self.counts.len() < self.sweep_at.max(SWEEP_MIN) {
            return;
        }
        self.counts
            .retain(|_, (count, since)| *count > 0 && now.duration_since(*since) < WITHIN);
        self.sweep_at = 2 * self.counts.len();
    }
}

/// As what a try counts, and how many there may be. This machine's own address is none to be counted alone:
/// others may stand behind it.
fn keys(likeness: &str, from: Option<Address>) -> impl Iterator<Item = (Key, u32)> {
    let here = (Key::NameHere(likeness.to_owned(), from), NAME_HERE_MAX);
    let name = (Key::Name(likeness.to_owned()), NAME_MAX);
    let address = from.map(|address| (Key::Address(address), ADDRESS_MAX));
    [here, name].into_iter().chain(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> Option<Address> {
        Address::of([192, 0, 2, number].into())
    }

    fn start() -> (Tries, Instant) {
        (Tries::default(), tokio::time::Instant::now().into_std())
    }

    #[test]
    fn one_address_tries_a_name_ten_times() {
        let (tries, now) = start();
        for from in [address(1), None] {
            for _ in 0..10 {
                assert_eq!(tries.begin("ann", from, now), Ok(()));
            }
            let later = now + Duration::from_secs(60);
            let left = Duration::from_secs(540);
            assert_eq!(tries.begin("ann", from, later), Err(left));
            assert_eq!(tries.begin("bob", from, later), Ok(()));
            assert_eq!(tries.begin("ann", address(2), later), Ok(()));
            assert_eq!(tries.begin("ann", from, now + WITHIN), Ok(()));
        }
    }

    #[test]
    fn a_name_is_tried_a_hundred_times() {
        let (tries, now) = start();
        for number in 0..100 {
            assert_eq!(tries.begin("ann", address(number), now), Ok(()));
        }
        assert_eq!(tries.begin("ann", address(100), now), Err(WITHIN));
        assert_eq!(tries.begin("bob", address(100), now), Ok(()));
    }

    #[test]
    fn an_address_tries_two_hundred_times() {
        let (tries, now) = start();
        let name = |number: u32| format!("player {number}");
        for number in 0..200 {
            assert_eq!(tries.begin(&name(number), address(1), now), Ok(()));
        }
        assert_eq!(tries.begin(&name(200), address(1), now), Err(WITHIN));
        assert_eq!(tries.begin(&name(200), address(2), now), Ok(()));
    }

    #[test]
    fn what_is_right_does_not_count() {
        let (tries, now) = start();
        for _ in 0..1000 {
            assert_eq!(tries.begin("ann", address(1), now), Ok(()));
            tries.right("ann", address(1));
        }
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let (tries, now) = start();
        for number in 0..u32::try_from(SWEEP_MIN).unwrap() {
            let from = Address::of(std::net::Ipv4Addr::from_bits(0x0a00_0000 + number).into());
            tries.begin("ann", from, now).unwrap_or_default();
            tries
                .begin(&number.to_string(), from, now)
                .unwrap_or_default();
        }
        let mut table = tries.0.lock();
        table.sweep_at = 0;
        table.sweep(now + Duration::from_secs(599));
        assert!(table.counts.len() > SWEEP_MIN);
        table.sweep_at = 0;
        table.sweep(now + WITHIN);
        assert_eq!(table.counts.len(), 0);
    }
}
