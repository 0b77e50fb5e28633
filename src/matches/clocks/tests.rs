use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::RemainingTime;

const fn fischer(main_ms: u64, increment_ms: u64) -> ClockControl {
    ClockControl::Fischer {
        main_ms,
        increment_ms,
    }
}

const fn delay(main_ms: u64, delay_ms: u64) -> ClockControl {
    ClockControl::Delay { main_ms, delay_ms }
}

const fn byo_yomi(main_ms: u64, period_ms: u64, periods: u64) -> ClockControl {
    ClockControl::ByoYomi {
        main_ms,
        period_ms,
        periods,
    }
}

const fn time_per_move(move_ms: u64) -> ClockControl {
    ClockControl::Move { move_ms }
}

/// Returns the remaining milliseconds and byo-yomi periods of the player in `seat`.
fn seat_time(remaining: RemainingTime, seat: Seat) -> (u64, u64) {
    let periods = remaining.periods().unwrap_or_default();
    (
        remaining.remaining_ms()[seat.index()],
        periods[seat.index()],
    )
}

/// Test case: a clock, the milliseconds spent on each move, and the expected remaining time. The
/// remaining time consists of milliseconds and byo-yomi periods. The expected time is `None` if the
/// flag falls before the last move.
type Case = (ClockControl, &'static [u64], Option<(u64, u64)>);

const CASES: &[Case] = &[
    // Fischer: a move subtracts the time spent and adds the increment.
    (fischer(300_000, 3000), &[], Some((300_000, 0))),
    (fischer(300_000, 3000), &[0], Some((303_000, 0))),
    (fischer(300_000, 3000), &[1], Some((302_999, 0))),
    (fischer(300_000, 3000), &[3000], Some((300_000, 0))),
    (fischer(300_000, 3000), &[13_000], Some((290_000, 0))),
    (fischer(300_000, 3000), &[13_000, 7000], Some((286_000, 0))),
    (fischer(300_000, 3000), &[299_999], Some((3001, 0))),
    (fischer(300_000, 3000), &[300_000], None),
    (fischer(300_000, 3000), &[299_999, 3000], Some((3001, 0))),
    (fischer(300_000, 3000), &[299_999, 3001], None),
    (fischer(60_000, 0), &[0, 0, 0], Some((60_000, 0))),
    (fischer(60_000, 0), &[59_999], Some((1, 0))),
    (fischer(60_000, 0), &[60_000], None),
    (fischer(60_000, 0), &[30_000, 30_000], None),
    (fischer(60_000, 0), &[30_000, 29_999], Some((1, 0))),
    (fischer(1000, 180_000), &[999], Some((180_001, 0))),
    (fischer(1000, 0), &[1000], None),
    // Fischer clock without main time: the initial time is the increment or three seconds,
    // whichever is longer.
    (fischer(0, 5000), &[], Some((5000, 0))),
    (fischer(0, 5000), &[4999], Some((5001, 0))),
    (fischer(0, 5000), &[5000], None),
    (fischer(0, 1), &[], Some((3000, 0))),
    (fischer(0, 1), &[2999], Some((2, 0))),
    (fischer(0, 1), &[3000], None),
    (fischer(0, 3000), &[2999, 3000], Some((3001, 0))),
    // Delay: a move subtracts only the time spent beyond the delay.
    (delay(60_000, 5000), &[], Some((60_000, 0))),
    (delay(60_000, 5000), &[0], Some((60_000, 0))),
    (delay(60_000, 5000), &[4999], Some((60_000, 0))),
    (delay(60_000, 5000), &[5000], Some((60_000, 0))),
    (delay(60_000, 5000), &[5001], Some((59_999, 0))),
    (delay(60_000, 5000), &[64_999], Some((1, 0))),
    (delay(60_000, 5000), &[65_000], None),
    (delay(60_000, 5000), &[64_999, 5000], Some((1, 0))),
    (delay(60_000, 5000), &[64_999, 5001], None),
    (delay(60_000, 5000), &[10_000, 10_000], Some((50_000, 0))),
    (delay(1000, 500), &[1499], Some((1, 0))),
    (delay(1000, 500), &[1500], None),
    // Byo-yomi: a move uses the main time first, then one period for each full period that passes.
    (byo_yomi(60_000, 30_000, 3), &[], Some((60_000, 3))),
    (byo_yomi(60_000, 30_000, 3), &[1], Some((59_999, 3))),
    (byo_yomi(60_000, 30_000, 3), &[60_000], Some((0, 3))),
    (byo_yomi(60_000, 30_000, 3), &[60_001], Some((0, 3))),
    (byo_yomi(60_000, 30_000, 3), &[89_999], Some((0, 3))),
    (byo_yomi(60_000, 30_000, 3), &[90_000], Some((0, 2))),
    (byo_yomi(60_000, 30_000, 3), &[119_999], Some((0, 2))),
    (byo_yomi(60_000, 30_000, 3), &[120_000], Some((0, 1))),
    (byo_yomi(60_000, 30_000, 3), &[149_999], Some((0, 1))),
    (byo_yomi(60_000, 30_000, 3), &[150_000], None),
    (byo_yomi(60_000, 30_000, 3), &[60_000, 29_999], Some((0, 3))),
    (byo_yomi(60_000, 30_000, 3), &[60_000, 30_000], Some((0, 2))),
    (byo_yomi(60_000, 30_000, 3), &[60_000, 90_000], None),
    (
        byo_yomi(60_000, 30_000, 3),
        &[60_000, 60_000, 29_999],
        Some((0, 1)),
    ),
    (byo_yomi(60_000, 30_000, 3), &[60_000, 60_000, 30_000], None),
    (byo_yomi(0, 1000, 1), &[], Some((0, 1))),
    (byo_yomi(0, 1000, 1), &[999, 999, 999], Some((0, 1))),
    (byo_yomi(0, 1000, 1), &[1000], None),
    (byo_yomi(0, 600_000, 25), &[14_999_999], Some((0, 1))),
    (byo_yomi(0, 600_000, 25), &[15_000_000], None),
    (
        byo_yomi(10_800_000, 600_000, 25),
        &[10_800_000],
        Some((0, 25)),
    ),
    // Fixed time per move: the full time is available again after each move.
    (time_per_move(86_400_000), &[], Some((86_400_000, 0))),
    (time_per_move(86_400_000), &[1], Some((86_400_000, 0))),
    (
        time_per_move(86_400_000),
        &[86_399_999],
        Some((86_400_000, 0)),
    ),
    (time_per_move(86_400_000), &[86_400_000], None),
    (time_per_move(5000), &[4999, 4999, 4999], Some((5000, 0))),
    (time_per_move(5000), &[4999, 5000], None),
    (
        time_per_move(1_209_600_000),
        &[1_209_599_999],
        Some((1_209_600_000, 0)),
    ),
    (time_per_move(1_209_600_000), &[1_209_600_000], None),
];

#[test]
fn each_charge_matches_its_case() {
    assert!(CASES.len() >= 60);
    for (control, moves, expected) in CASES {
        for seat in Seat::ALL {
            let mut remaining = RemainingTime::at_start(control);
            let mut is_in_time = true;
            for spent in *moves {
                assert!(is_in_time, "only the last move of a case comes too late");
                is_in_time = *spent < remaining.allowance_ms(control, seat);
                remaining = remaining.after_move(control, seat, *spent);
            }
            let case = format!("{control:?} {moves:?}");
            assert_eq!(
                is_in_time.then(|| seat_time(remaining, seat)),
                *expected,
                "{case}"
            );
            let other = seat.other();
            assert_eq!(
                seat_time(remaining, other),
                seat_time(RemainingTime::at_start(control), other),
                "{case}"
            );
        }
    }
}

#[test]
fn flagged_seat_has_no_time_left() {
    for (control, moves, _) in CASES.iter().filter(|(.., expected)| expected.is_none()) {
        let (last, before) = moves.split_last().unwrap();
        let mut remaining = RemainingTime::at_start(control);
        for spent in before {
            remaining = remaining.after_move(control, Seat::First, *spent);
        }
        let flagged = remaining.after_charge(control, Seat::First, *last);
        assert_eq!(
            seat_time(flagged, Seat::First),
            (0, 0),
            "{control:?} {moves:?}"
        );
    }
}

fn random_control(rng: &mut StdRng) -> ClockControl {
    loop {
        let control = match rng.random_range(0..4) {
            0 => fischer(rng.random_range(0..20_000), rng.random_range(0..5000)),
            1 => delay(rng.random_range(1000..20_000), rng.random_range(500..5000)),
            2 => byo_yomi(
                rng.random_range(0..20_000),
                rng.random_range(1000..5000),
                rng.random_range(1..26),
            ),
            _ => time_per_move(rng.random_range(5000..20_000)),
        };
        if control.is_within_bounds() {
            return control;
        }
    }
}

/// The sum of spent and remaining time must equal the sum of initial and added time, to the
/// millisecond.
#[test]
fn spent_remaining_and_added_time_balance() {
    let mut rng = StdRng::seed_from_u64(19);
    let mut flagged = 0;
    for _ in 0..2000 {
        let control = random_control(&mut rng);
        let mut remaining = RemainingTime::at_start(&control);
        for ply in 0..60 {
            let seat = Seat::ALL[ply % 2];
            if rng.random_bool(0.05) {
                let (before, added_ms) =
                    (seat_time(remaining, seat).0, rng.random_range(5000..60_000));
                remaining = remaining.with_added_time(seat, added_ms);
                assert_eq!(seat_time(remaining, seat).0, before + added_ms);
            }
            let allowance = remaining.allowance_ms(&control, seat);
            assert!(allowance > 0, "{control:?}");
            let spent = match rng.random_range(0..10) {
                0 => allowance - 1,
                1 => allowance.min(rng.random_range(0..100_000)),
                _ => rng.random_range(0..allowance.min(2000)),
            };
            let (ms, periods) = seat_time(remaining, seat);
            let (after_ms, after_periods) =
                seat_time(remaining.after_move(&control, seat, spent), seat);
            if spent == allowance {
                assert_eq!(
                    seat_time(remaining.after_charge(&control, seat, spent), seat),
                    (0, 0)
                );
                flagged += 1;
                break;
            }
            match control {
                ClockControl::Fischer { increment_ms, .. } => {
                    assert_eq!(spent + after_ms, ms + increment_ms);
                }
                ClockControl::Delay { delay_ms, .. } => {
                    assert_eq!(spent.saturating_sub(delay_ms) + after_ms, ms);
                }
                ClockControl::ByoYomi { period_ms, .. } => {
                    let main_ms = spent.min(ms);
                    let overtime_ms = spent - main_ms;
                    assert_eq!(main_ms + after_ms, ms);
                    assert_eq!(overtime_ms / period_ms + after_periods, periods);
                    assert!(after_periods >= 1);
                }
                ClockControl::Move { move_ms } => assert_eq!(after_ms, move_ms),
            }
            remaining = remaining.after_move(&control, seat, spent);
            let text = serde_json::to_string(&remaining).unwrap();
            assert_eq!(
                serde_json::from_str::<RemainingTime>(&text).unwrap(),
                remaining
            );
        }
    }
    assert!(flagged > 100, "only {flagged} ran out of time");
}

#[test]
fn serialised_form_of_remaining_time_is_stable() {
    let text = |left| serde_json::to_string(&left).unwrap();
    let plain = RemainingTime::at_start(&fischer(300_000, 0));
    assert_eq!(text(plain), r#"{"ms":[300000,300000]}"#);
    let periods = RemainingTime::at_start(&byo_yomi(0, 30_000, 3));
    let periods = periods.after_move(&byo_yomi(0, 30_000, 3), Seat::Second, 31_000);
    assert_eq!(text(periods), r#"{"ms":[0,0],"periods":[3,2]}"#);
}
