//! The server's clock and random number generator. The server gets all time and randomness from
//! this module.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};

use super::locks::{Mutex, RNG};

/// Wall clock that advances with tokio's clock. A test that pauses tokio's clock also pauses this
/// clock.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    started_ms: u64,
}

impl Clock {
    /// Creates a clock that starts at `started_ms`. If `started_ms` is `None`, the clock starts at
    /// the operating system's time.
    pub(crate) fn new(started_ms: Option<u64>) -> Self {
        Self {
            started: now(),
            started_ms: started_ms.unwrap_or_else(wall_ms),
        }
    }

    /// Returns the time in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> u64 {
        self.started_ms
            .saturating_add(to_millis(now() - self.started))
    }
}

fn wall_ms() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the wall clock"
    )]
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    to_millis(since_1970)
}

/// Returns the duration in milliseconds, or `u64::MAX` if it is longer than that.
pub(crate) fn to_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the current instant of tokio's clock.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Returns the earliest of the given instants, or `None` if there is none.
pub(crate) fn earliest<const N: usize>(instants: [Option<Instant>; N]) -> Option<Instant> {
    instants.into_iter().flatten().min()
}

/// The server's random number generator, which is cryptographically secure (ChaCha12). The
/// operating system provides the seed, unless a fixed seed is set to reproduce a simulated run.
#[derive(Debug)]
pub(crate) struct SeededRng(Mutex<StdRng, RNG>);

impl SeededRng {
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Self(Mutex::new(match seed {
            Some(seed) => StdRng::seed_from_u64(seed),
            None => StdRng::try_from_rng(&mut SysRng)
                .expect("the operating system provides random numbers"),
        }))
    }

    pub(crate) fn random_bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().fill_bytes(&mut bytes);
        bytes
    }

    pub(crate) fn random_u64(&self) -> u64 {
        u64::from_le_bytes(self.random_bytes())
    }

    pub(crate) fn random_bool(&self) -> bool {
        self.random_u64() & 1 == 1
    }
}
