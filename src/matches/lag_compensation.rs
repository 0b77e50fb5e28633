//! Lag compensation: the server does not charge a player's clock for part of the network time. The
//! server measures the network time itself. A quota for each seat bounds the compensation, so that
//! a deliberately slow connection gains nothing.

use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;

/// Number of moves assumed in the estimate of a match's length.
const ESTIMATED_MOVES: u64 = 40;

/// Maximum increase of a seat's quota per move, in milliseconds.
const GAIN_MAX_MS: u64 = 300;

/// Tolerance for an increase of the round-trip time. A move increases the quota by at most the
/// measured round-trip time plus this value.
const GAIN_OVER_RTT: Duration = Duration::from_millis(140);

/// A seat's initial quota is this many times the quota increase per move. The maximum quota is
/// [`QUOTA_GAINS_MAX`] times the quota increase per move.
const START_QUOTA_GAINS: u32 = 3;
const QUOTA_GAINS_MAX: u32 = 7;

/// Quotas for the lag compensation of both seats.
#[derive(Debug)]
pub(crate) struct LagCompensation {
    gain: Duration,
    quotas: [Duration; 2],
}

impl LagCompensation {
    /// Creates the initial quotas for a match that uses the given clock. Each move increases the
    /// moving seat's quota by at most `max_per_move`.
    pub(crate) fn new(control: &ClockControl, max_per_move: Duration) -> Self {
        let gain = gain_per_move(control).min(max_per_move);
        Self {
            gain,
            quotas: [gain * START_QUOTA_GAINS; 2],
        }
    }

    /// Returns whether moves receive any lag compensation.
    pub(crate) const fn is_enabled(&self) -> bool {
        !self.gain.is_zero()
    }

    /// Returns the lag compensation for a move. `spent` is the time that the move took, including
    /// network time. `rtt` is the measured round-trip time of the connection that sent the move.
    pub(crate) fn compensation(
        &self,
        seat: Seat,
        rtt: Option<Duration>,
        spent: Duration,
    ) -> Duration {
        let quota = self.quotas[seat.index()];
        rtt.map_or(Duration::ZERO, |rtt| rtt.min(quota).min(spent))
    }

    /// Updates the quota of `seat` after a move. `compensated` is the lag compensation that the
    /// move received.
    pub(crate) fn record_move(&mut self, seat: Seat, rtt: Option<Duration>, compensated: Duration) {
        let gain = rtt.map_or(self.gain, |rtt| self.gain.min(rtt + GAIN_OVER_RTT));
        let quota = &mut self.quotas[seat.index()];
        *quota = (*quota + gain)
            .saturating_sub(compensated)
            .min(gain * QUOTA_GAINS_MAX);
    }
}

/// Returns the maximum increase of the quota per move. The increase is smaller in shorter matches.
/// It is zero if the clock has a fixed time per move.
fn gain_per_move(control: &ClockControl) -> Duration {
    let estimate_ms = match *control {
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        } => main_ms + ESTIMATED_MOVES * increment_ms,
        ClockControl::Delay { main_ms, delay_ms } => main_ms + ESTIMATED_MOVES * delay_ms,
        ClockControl::ByoYomi {
            main_ms,
            period_ms,
            periods,
        } => main_ms + 25 * periods * period_ms,
        ClockControl::Move { .. } => return Duration::ZERO,
    };
    Duration::from_millis((4 * estimate_ms / 1000 + 150).min(GAIN_MAX_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    const fn fischer(main_ms: u64, increment_ms: u64) -> ClockControl {
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        }
    }

    #[test]
    fn gain_grows_with_estimated_match_length() {
        assert_eq!(gain_per_move(&fischer(15_000, 0)), ms(210));
        assert_eq!(gain_per_move(&fischer(0, 100)), ms(166));
        assert_eq!(gain_per_move(&fischer(60_000, 0)), ms(300));
        let delay = ClockControl::Delay {
            main_ms: 1000,
            delay_ms: 500,
        };
        assert_eq!(gain_per_move(&delay), ms(234));
        let byo_yomi = ClockControl::ByoYomi {
            main_ms: 0,
            period_ms: 1000,
            periods: 1,
        };
        assert_eq!(gain_per_move(&byo_yomi), ms(250));
        assert_eq!(
            gain_per_move(&ClockControl::Move { move_ms: 60_000 }),
            ms(0)
        );
    }

    #[test]
    fn compensation_is_limited_by_quota_and_charge() {
        let mut lag = LagCompensation::new(&fischer(300_000, 0), ms(1000));
        let (seat, slow) = (Seat::First, Some(ms(500)));
        let mut compensations = Vec::new();
        for _ in 0..6 {
            let compensated = lag.compensation(seat, slow, ms(10_000));
            lag.record_move(seat, slow, compensated);
            compensations.push(compensated.as_millis());
        }
        // The quota is 900 ms at the start and grows by 300 ms with each move.
        assert_eq!(compensations, [500, 500, 500, 300, 300, 300]);
        assert_eq!(lag.compensation(Seat::Second, slow, ms(10_000)), ms(500));
        assert_eq!(
            lag.compensation(Seat::Second, slow, ms(80)),
            ms(80),
            "never more than the move took"
        );
        assert_eq!(
            lag.compensation(Seat::Second, None, ms(80)),
            ms(0),
            "no compensation without a measured time"
        );
    }

    #[test]
    fn quota_is_bounded() {
        let mut lag = LagCompensation::new(&fischer(300_000, 0), ms(1000));
        for _ in 0..20 {
            lag.record_move(Seat::First, None, ms(0));
        }
        assert_eq!(
            lag.compensation(Seat::First, Some(ms(9000)), ms(9000)),
            ms(2100)
        );
        // Moves over a fast connection increase the quota by smaller amounts, so the maximum quota
        // is also smaller.
        for _ in 0..20 {
            lag.record_move(Seat::Second, Some(ms(10)), ms(10));
        }
        assert_eq!(
            lag.compensation(Seat::Second, Some(ms(9000)), ms(9000)),
            ms(1050)
        );
    }

    #[test]
    fn operator_maximum_limits_compensation() {
        let capped = LagCompensation::new(&fischer(300_000, 0), ms(100));
        assert_eq!(
            capped.compensation(Seat::First, Some(ms(900)), ms(900)),
            ms(300)
        );
        let off = LagCompensation::new(&fischer(300_000, 0), ms(0));
        assert_eq!(off.compensation(Seat::First, Some(ms(900)), ms(900)), ms(0));
    }
}
