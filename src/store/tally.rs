//! Counting that nobody waits for: to count costs an atomic addition or two, and nothing here takes
//! a lock, looks anything up or knows what it counts.
//!
//! What is counted is read while others go on counting, so numbers that are read one after the other
//! may be a moment apart.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// How often something has happened.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// It has happened.
    pub fn one(&self) {
        self.add(1);
    }

    /// It has happened so many times.
    pub fn add(&self, times: u64) {
        self.0.fetch_add(times, Ordering::Relaxed);
    }

    /// How often it has happened.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How many there are at present.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// There is one more.
    pub fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// There is one less.
    pub fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many there are.
    #[must_use]
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The bounds are the powers of two of a microsecond up to this one, which is 33 seconds: nothing
/// that is timed here may take longer.
const POWER_MAX: u32 = 25;

/// How many classes there are: up to each bound, and beyond the last.
const CLASSES: usize = POWER_MAX as usize + 2;

/// How long something took, each time: a histogram in powers of two.
#[derive(Debug, Default)]
pub struct Timings {
    classes: [AtomicU64; CLASSES],
    nanos: AtomicU64,
}

/// What a [`Timings`] has counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The sum of all times, in seconds.
    pub seconds: f64,
    /// How often it was timed.
    pub count: u64,
    /// How many took longer than the bound before and no longer than this one, in seconds. The last
    /// bound is infinity.
    pub classes: [(f64, u64); CLASSES],
}

impl Timings {
    /// It took so long.
    pub fn took(&self, time: Duration) {
        const NANOS_PER_S: u64 = 1_000_000_000;
        let whole = time.as_secs().saturating_mul(NANOS_PER_S);
        let nanos = whole.saturating_add(time.subsec_nanos().into());
        self.classes[class(nanos)].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// What has been counted.
    #[must_use]
    pub fn read(&self) -> Timed {
        let mut power = 0;
        let classes = self.classes.each_ref().map(|class| {
            let bound = if power > POWER_MAX {
                f64::INFINITY
            } else {
                f64::from(1_u32 << power) / 1e6
            };
            power += 1;
            (bound, class.load(Ordering::Relaxed))
        });
        let nanos = Duration::from_nanos(self.nanos.load(Ordering::Relaxed));
        Timed {
            seconds: nanos.as_secs_f64(),
            count: classes.iter().map(|(_, count)| count).sum(),
            classes,
        }
    }
}

/// The class of a time: that of the least power of two, in microseconds, which is not below it.
fn class(nanos: u64) -> usize {
    let micros = nanos.div_ceil(1000);
    let power = micros
        .saturating_sub(1)
        .checked_ilog2()
        .map_or(0, |log| log + 1);
    power.min(POWER_MAX + 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_gauges_count() {
        let counter = Counter::default();
        counter.one();
        counter.add(41);
        assert_eq!(counter.get(), 42);
        let gauge = Gauge::default();
        gauge.up();
        gauge.up();
        gauge.down();
        assert_eq!(gauge.get(), 1);
    }

    /// A bound belongs to the times up to it, as the format of the field has it (`le`).
    #[test]
    fn a_time_is_in_the_class_of_the_bound_above_it() {
        let check = |nanos, bound| {
            let timings = Timings::default();
            timings.took(Duration::from_nanos(nanos));
            let timed = timings.read();
            let of_class = timed.classes.iter().find(|(_, count)| *count == 1);
            assert_eq!(of_class.map(|class| class.0), Some(bound), "{nanos} ns");
            assert_eq!(timed.count, 1);
        };
        check(0, 1e-6);
        check(1_000, 1e-6);
        check(1_001, 2e-6);
        check(2_000, 2e-6);
        check(2_001, 4e-6);
        check(1_000_000, 1024e-6);
        check(33_554_432_000, 33.554_432);
        check(33_554_432_001, f64::INFINITY);
        check(u64::MAX, f64::INFINITY);
    }

    #[test]
    fn times_add_up() {
        let timings = Timings::default();
        for millis in [1, 2, 3] {
            timings.took(Duration::from_millis(millis));
        }
        let timed = timings.read();
        assert_eq!(timed.count, 3);
        assert!((timed.seconds - 0.006).abs() < 1e-12, "{timed:?}");
    }
}
