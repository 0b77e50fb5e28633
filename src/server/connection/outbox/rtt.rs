//! Measures the round-trip time of a connection with pings from the server.

use std::time::{Duration, Instant};

/// Minimum interval between two pings of a connection.
const PING_INTERVAL_MIN: Duration = Duration::from_secs(1);

/// Payload of a ping. The client's pong repeats this payload.
pub(super) type PingText = [u8; 4];

/// Tracks the pings of one connection.
#[derive(Debug, Default)]
pub(super) struct RttEstimator {
    /// Whether a ping has been requested but not written.
    is_ping_pending: bool,
    requested_at: Option<Instant>,
    /// The last ping and its send time; `None` if no ping waits for its pong.
    in_flight: Option<(PingText, Instant)>,
    ping_count: u32,
}

impl RttEstimator {
    /// Requests a ping, unless another one was requested within the last second.
    pub(super) fn request_ping(&mut self, now: Instant) {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < PING_INTERVAL_MIN;
        if !self.requested_at.is_some_and(is_recent) {
            self.requested_at = Some(now);
            self.is_ping_pending = true;
        }
    }

    /// Returns the text of the ping to write now, if one was requested.
    pub(super) fn start_ping(&mut self, now: Instant) -> Option<PingText> {
        if !std::mem::take(&mut self.is_ping_pending) {
            return None;
        }
        self.ping_count = self.ping_count.wrapping_add(1);
        let text = self.ping_count.to_be_bytes();
        self.in_flight = Some((text, now));
        Some(text)
    }

    /// Returns the round-trip time of the ping that this pong answers; `None` if the pong does not
    /// answer the last ping.
    pub(super) fn finish_ping(&mut self, text: &[u8], now: Instant) -> Option<Duration> {
        let (_, sent_at) = self.in_flight.filter(|(sent, _)| sent == text)?;
        self.in_flight = None;
        Some(now.saturating_duration_since(sent_at))
    }
}

/// Returns the smoothed round-trip time in microseconds, updated with a new measurement.
pub(super) fn smooth_rtt(previous_us: Option<u32>, measured: Duration) -> u32 {
    // Round-trip times above about 71 minutes are capped, because a `u32` holds no more
    // microseconds.
    let measured = u32::try_from(measured.as_micros()).unwrap_or(u32::MAX);
    previous_us.map_or(measured, |before| before - before / 10 + measured / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn each_ping_is_measured_once() {
        let start = tokio::time::Instant::now().into_std();
        let mut estimator = RttEstimator::default();
        assert_eq!(estimator.start_ping(start), None);
        estimator.request_ping(start);
        let text = estimator.start_ping(start + ms(5)).unwrap();
        assert_eq!(estimator.start_ping(start + ms(6)), None);
        assert_eq!(
            estimator.finish_ping(b"", start + ms(50)),
            None,
            "another ping"
        );
        assert_eq!(estimator.finish_ping(&text, start + ms(85)), Some(ms(80)));
        assert_eq!(
            estimator.finish_ping(&text, start + ms(90)),
            None,
            "only once"
        );
        estimator.request_ping(start + ms(999));
        assert_eq!(estimator.start_ping(start + ms(999)), None, "once a second");
        estimator.request_ping(start + ms(1000));
        let next = estimator.start_ping(start + ms(1000)).unwrap();
        assert_eq!(
            estimator.finish_ping(&text, start + ms(1100)),
            None,
            "that was the first"
        );
        assert_eq!(
            estimator.finish_ping(&next, start + ms(1100)),
            Some(ms(100))
        );
    }

    #[test]
    fn smoothed_rtt_weighs_the_previous_value_nine_tenths() {
        assert_eq!(smooth_rtt(None, ms(100)), 100_000);
        assert_eq!(smooth_rtt(Some(100_000), ms(200)), 110_000);
        assert_eq!(smooth_rtt(Some(u32::MAX), Duration::MAX), u32::MAX);
    }
}
