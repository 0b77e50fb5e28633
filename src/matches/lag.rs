//! What a move gets back of the time that the network took: measured by the server alone, and bounded
//! by what a seat has saved up, so that nobody gains by a line that is slow on purpose.

use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;

/// For how many moves a match is reckoned to last.
const MOVES: u64 = 40;

/// What a move adds to what a seat may get back, at most.
const GAIN_MAX_MS: u64 = 300;

/// By how much that may be above the measured time, so that a line that gets worse is borne with.
const GAIN_OVER_RTT: Duration = Duration::from_millis(140);

/// A seat starts with what so many moves add, and never has more than so many.
const GAINS_AT_START: u32 = 3;
const GAINS_MAX: u32 = 7;

/// What the seats of a match may get back.
#[derive(Debug)]
pub(crate) struct Lag {
    gain: Duration,
    quotas: [Duration; 2],
}

impl Lag {
    /// What may be got back by this clock, `max` at most for each move.
    pub(crate) fn new(control: &ClockControl, max: Duration) -> Self {
        let gain = gain(control).min(max);
        Self {
            gain,
            quotas: [gain * GAINS_AT_START; 2],
        }
    }

    /// Whether anything is ever given back.
    pub(crate) const fn gives(&self) -> bool {
        !self.gain.is_zero()
    }

    /// What a move gets back that comes by a connection with this round-trip time and would be charged
    /// `spent` without.
    pub(crate) fn back(&self, seat: Seat, rtt: Option<Duration>, spent: Duration) -> Duration {
        let quota = self.quotas[seat.index()];
        rtt.map_or(Duration::ZERO, |rtt| rtt.min(quota).min(spent))
    }

    /// A move was played, which got so much back.
    pub(crate) fn moved(&mut self, seat: Seat, rtt: Option<Duration>, back: Duration) {
        let gain = rtt.map_or(self.gain, |rtt| self.gain.min(rtt + GAIN_OVER_RTT));
        let quota = &mut self.quotas[seat.index()];
        *quota = (*quota + gain).saturating_sub(back).min(gain * GAINS_MAX);
    }
}

/// What a move adds, by how long a match is: the shorter, the less.
fn gain(control: &ClockControl) -> Duration {
    let estimate_ms = match *control {
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        } => main_ms + MOVES * increment_ms,
        ClockControl::Delay { main_ms, delay_ms } => main_ms + MOVES * delay_ms,
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
    fn the_gain_follows_the_length_of_the_match() {
        assert_eq!(gain(&fischer(15_000, 0)), ms(210));
        assert_eq!(gain(&fischer(0, 100)), ms(166));
        assert_eq!(gain(&fischer(60_000, 0)), ms(300));
        let delay = ClockControl::Delay {
            main_ms: 1000,
            delay_ms: 500,
        };
        assert_eq!(gain(&delay), ms(234));
        let byo_yomi = ClockControl::ByoYomi {
            main_ms: 0,
            period_ms: 1000,
            periods: 1,
        };
        assert_eq!(gain(&byo_yomi), ms(250));
        assert_eq!(gain(&ClockControl::Move { move_ms: 60_000 }), ms(0));
    }

    #[test]
    fn nobody_gets_back_more_than_was_saved_up() {
        let mut lag = Lag::new(&fischer(300_000, 0), ms(1000));
        let (seat, slow) = (Seat::First, Some(ms(500)));
        let mut given = Vec::new();
        for _ in 0..6 {
            let back = lag.back(seat, slow, ms(10_000));
            lag.moved(seat, slow, back);
            given.push(back.as_millis());
        }
        // 900 at the start, and 300 more each move.
        assert_eq!(given, [500, 500, 500, 300, 300, 300]);
        assert_eq!(lag.back(Seat::Second, slow, ms(10_000)), ms(500));
        assert_eq!(
            lag.back(Seat::Second, slow, ms(80)),
            ms(80),
            "no more than it took"
        );
        assert_eq!(
            lag.back(Seat::Second, None, ms(80)),
            ms(0),
            "nothing is believed"
        );
    }

    #[test]
    fn what_is_saved_up_is_bounded() {
        let mut lag = Lag::new(&fischer(300_000, 0), ms(1000));
        for _ in 0..20 {
            lag.moved(Seat::First, None, ms(0));
        }
        assert_eq!(lag.back(Seat::First, Some(ms(9000)), ms(9000)), ms(2100));
        // Of a fast line's moves less is saved.
        for _ in 0..20 {
            lag.moved(Seat::Second, Some(ms(10)), ms(10));
        }
        assert_eq!(lag.back(Seat::Second, Some(ms(9000)), ms(9000)), ms(1050));
    }

    #[test]
    fn the_operator_has_the_last_word() {
        let capped = Lag::new(&fischer(300_000, 0), ms(100));
        assert_eq!(capped.back(Seat::First, Some(ms(900)), ms(900)), ms(300));
        let off = Lag::new(&fischer(300_000, 0), ms(0));
        assert_eq!(off.back(Seat::First, Some(ms(900)), ms(900)), ms(0));
    }
}
