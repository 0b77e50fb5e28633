//! How long a message takes to a client and back, measured by pings that the server sends.

use std::time::{Duration, Instant};

/// A connection is asked at most so often.
const ASKED_EVERY: Duration = Duration::from_secs(1);

/// What is written into a ping, and comes back in its pong.
pub(super) type PingText = [u8; 4];

/// The pings of one connection.
#[derive(Debug, Default)]
pub(super) struct RttEstimator {
    /// A ping is to be written next.
    is_due: bool,
    asked_at: Option<Instant>,
    /// The last ping, and when it was written, until it has come back.
    under_way: Option<(PingText, Instant)>,
    count: u32,
}

impl RttEstimator {
    /// Has a ping written next, unless that was done a moment ago.
    pub(super) fn ask(&mut self, now: Instant) {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < ASKED_EVERY;
        if !self.asked_at.is_some_and(is_recent) {
            self.asked_at = Some(now);
            self.is_due = true;
        }
    }

    /// The ping that is written at this instant, if one is due.
    pub(super) fn begin(&mut self, now: Instant) -> Option<PingText> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        self.count = self.count.wrapping_add(1);
        let text = self.count.to_be_bytes();
        self.under_way = Some((text, now));
        Some(text)
    }

    /// How long the ping took that a pong answers; `None` if it answers none.
    pub(super) fn end(&mut self, text: &[u8], now: Instant) -> Option<Duration> {
        let (_, sent_at) = self.under_way.filter(|(sent, _)| sent == text)?;
        self.under_way = None;
        Some(now.saturating_duration_since(sent_at))
    }
}

/// The smoothed round-trip time, in microseconds, after one more was measured.
pub(super) fn smoothed(before_us: Option<u32>, measured: Duration) -> u32 {
    // A minute and more is as good as no line at all.
    let measured = u32::try_from(measured.as_micros()).unwrap_or(u32::MAX);
    before_us.map_or(measured, |before| before - before / 10 + measured / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_ping_is_measured_once() {
        let start = tokio::time::Instant::now().into_std();
        let mut trips = RttEstimator::default();
        assert_eq!(trips.begin(start), None);
        trips.ask(start);
        let text = trips.begin(start + ms(5)).unwrap();
        assert_eq!(trips.begin(start + ms(6)), None);
        assert_eq!(trips.end(b"", start + ms(50)), None, "another ping");
        assert_eq!(trips.end(&text, start + ms(85)), Some(ms(80)));
        assert_eq!(trips.end(&text, start + ms(90)), None, "only once");
        trips.ask(start + ms(999));
        assert_eq!(trips.begin(start + ms(999)), None, "once a second");
        trips.ask(start + ms(1000));
        let next = trips.begin(start + ms(1000)).unwrap();
        assert_eq!(
            trips.end(&text, start + ms(1100)),
            None,
            "that was the first"
        );
        assert_eq!(trips.end(&next, start + ms(1100)), Some(ms(100)));
    }

    #[test]
    fn what_was_measured_before_counts_for_nine_tenths() {
        assert_eq!(smoothed(None, ms(100)), 100_000);
        assert_eq!(smoothed(Some(100_000), ms(200)), 110_000);
        assert_eq!(smoothed(Some(u32::MAX), Duration::MAX), u32::MAX);
    }
}
