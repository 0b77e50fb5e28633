//! Limits the number of login attempts with a wrong password. The server checks the limits before
//! it hashes a password, which saves CPU time.
//!
//! Attempts for names that do not exist are counted as well.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::connection::ip_limits::Address;
use crate::context::locks::{LOGIN_ATTEMPTS, Mutex};

/// Duration of the window for counting wrong attempts. The window begins with the first attempt.
const ATTEMPT_WINDOW: Duration = Duration::from_mins(10);

/// Maximum numbers of wrong attempts in a window. One limit applies to each name, one to each
/// address, and one to each combination of name and address.
const NAME_AND_ADDRESS_ATTEMPTS_MAX: u32 = 10;
const NAME_ATTEMPTS_MAX: u32 = 100;
const ADDRESS_ATTEMPTS_MAX: u32 = 200;

/// Expired entries are removed from the attempt table only if the table has at least this many
/// entries. A larger table is swept when it has doubled in size since the last sweep.
const SWEEP_MIN: usize = 1024;

/// Recent login attempts.
#[derive(Debug, Default)]
pub(crate) struct LoginAttempts(Mutex<AttemptTable, LOGIN_ATTEMPTS>);

#[derive(Debug, Default)]
struct AttemptTable {
    /// Number of attempts and start time of the window, for each name, each address, and each
    /// combination of name and address.
    counts: HashMap<AttemptKey, (u32, Instant)>,
    sweep_at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum AttemptKey {
    NameAndAddress(String, Option<Address>),
    Name(String),
    Address(Address),
}

impl LoginAttempts {
    /// Counts an attempt as wrong until [`refund`](Self::refund) is called. Fails if a limit is
    /// reached. The error is the time until another attempt is permitted.
    pub(crate) fn charge(
        &self,
        skeleton: &str,
        source: Option<Address>,
        now: Instant,
    ) -> Result<(), Duration> {
        let mut table = self.0.lock();
        table.sweep(now);
        for (key, max) in attempt_keys(skeleton, source) {
            if let Some((count, since)) = table.counts.get(&key) {
                let elapsed = now.duration_since(*since);
                if *count >= max && elapsed < ATTEMPT_WINDOW {
                    return Err(ATTEMPT_WINDOW - elapsed);
                }
            }
        }
        for (key, _) in attempt_keys(skeleton, source) {
            let (count, since) = table.counts.entry(key).or_insert((0, now));
            if now.duration_since(*since) >= ATTEMPT_WINDOW {
                (*count, *since) = (0, now);
            }
            *count += 1;
        }
        Ok(())
    }

    /// Removes an attempt from the counts, because the password was correct or was not checked.
    pub(crate) fn refund(&self, skeleton: &str, source: Option<Address>) {
        let mut table = self.0.lock();
        for (key, _) in attempt_keys(skeleton, source) {
            if let Some((count, _)) = table.counts.get_mut(&key) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

impl AttemptTable {
    fn sweep(&mut self, now: Instant) {
        if self.counts.len() < self.sweep_at.max(SWEEP_MIN) {
            return;
        }
        self.counts
            .retain(|_, (count, since)| *count > 0 && now.duration_since(*since) < ATTEMPT_WINDOW);
        self.sweep_at = 2 * self.counts.len();
    }
}

/// Returns the key and the limit of each counter that a login attempt increments. Attempts from
/// loopback addresses (`None`) do not count against a per-address limit, because a local proxy may
/// connect for many users.
fn attempt_keys(
    skeleton: &str,
    source: Option<Address>,
) -> impl Iterator<Item = (AttemptKey, u32)> {
    let name_and_address = (
        AttemptKey::NameAndAddress(skeleton.to_owned(), source),
        NAME_AND_ADDRESS_ATTEMPTS_MAX,
    );
    let name = (AttemptKey::Name(skeleton.to_owned()), NAME_ATTEMPTS_MAX);
    let address = source.map(|address| (AttemptKey::Address(address), ADDRESS_ATTEMPTS_MAX));
    [name_and_address, name].into_iter().chain(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> Option<Address> {
        Address::from_ip([192, 0, 2, number].into())
    }

    fn new_attempts() -> (LoginAttempts, Instant) {
        (
            LoginAttempts::default(),
            tokio::time::Instant::now().into_std(),
        )
    }

    #[test]
    fn ten_attempts_per_name_and_address_are_allowed() {
        let (attempts, now) = new_attempts();
        for source in [address(1), None] {
            for _ in 0..10 {
                assert_eq!(attempts.charge("ann", source, now), Ok(()));
            }
            let later = now + Duration::from_secs(60);
            let retry_after = Duration::from_secs(540);
            assert_eq!(attempts.charge("ann", source, later), Err(retry_after));
            assert_eq!(attempts.charge("bob", source, later), Ok(()));
            assert_eq!(attempts.charge("ann", address(2), later), Ok(()));
            assert_eq!(attempts.charge("ann", source, now + ATTEMPT_WINDOW), Ok(()));
        }
    }

    #[test]
    fn hundred_attempts_per_name_are_allowed() {
        let (attempts, now) = new_attempts();
        for number in 0..100 {
            assert_eq!(attempts.charge("ann", address(number), now), Ok(()));
        }
        assert_eq!(
            attempts.charge("ann", address(100), now),
            Err(ATTEMPT_WINDOW)
        );
        assert_eq!(attempts.charge("bob", address(100), now), Ok(()));
    }

    #[test]
    fn two_hundred_attempts_per_address_are_allowed() {
        let (attempts, now) = new_attempts();
        let name = |number: u32| format!("player {number}");
        for number in 0..200 {
            assert_eq!(attempts.charge(&name(number), address(1), now), Ok(()));
        }
        assert_eq!(
            attempts.charge(&name(200), address(1), now),
            Err(ATTEMPT_WINDOW)
        );
        assert_eq!(attempts.charge(&name(200), address(2), now), Ok(()));
    }

    #[test]
    fn refunded_attempts_do_not_count() {
        let (attempts, now) = new_attempts();
        for _ in 0..1000 {
            assert_eq!(attempts.charge("ann", address(1), now), Ok(()));
            attempts.refund("ann", address(1));
        }
    }

    #[test]
    fn expired_attempts_are_evicted() {
        let (attempts, now) = new_attempts();
        for number in 0..u32::try_from(SWEEP_MIN).unwrap() {
            let source =
                Address::from_ip(std::net::Ipv4Addr::from_bits(0x0a00_0000 + number).into());
            attempts.charge("ann", source, now).unwrap_or_default();
            attempts
                .charge(&number.to_string(), source, now)
                .unwrap_or_default();
        }
        let mut table = attempts.0.lock();
        table.sweep_at = 0;
        table.sweep(now + Duration::from_secs(599));
        assert!(table.counts.len() > SWEEP_MIN);
        table.sweep_at = 0;
        table.sweep(now + ATTEMPT_WINDOW);
        assert_eq!(table.counts.len(), 0);
    }
}
