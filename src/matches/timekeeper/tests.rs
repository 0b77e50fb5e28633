use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;

use super::{Timekeeper, TurnTime};
use crate::tests::{ANN, BOB, NOW_MS, Script, join, play};
use crate::{Action, Timestamp};

const BLITZ: ClockControl = ClockControl::Fischer {
    main_ms: 60_000,
    increment_ms: 1000,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A running match with its timekeeper, by the milliseconds since its start was told.
struct Timed {
    script: Script,
    keeper: Timekeeper,
    start: Instant,
}

impl Timed {
    fn new(control: ClockControl) -> Self {
        let mut script = Script::timed("tic-tac-toe", control);
        script.ok(&join(ANN, None));
        script.ok(&join(BOB, None));
        let start = tokio::time::Instant::now().into_std();
        let mut keeper = Timekeeper::new(&script.state, ms(1000)).unwrap();
        keeper.turn_told(start);
        Self {
            script,
            keeper,
            start,
        }
    }

    /// Both free plies are played at once, so that what follows is charged.
    fn begun(control: ClockControl) -> Self {
        let mut timed = Self::new(control);
        assert_eq!(timed.play_at(0, "a1", None), 0);
        assert_eq!(timed.play_at(0, "b2", None), 0);
        timed
    }

    fn at(&self, at_ms: u64) -> Instant {
        self.start + ms(at_ms)
    }

    /// Plays a move that is read then, and told at once. Gives what it was charged.
    fn play_at(&mut self, at_ms: u64, m: &str, rtt: Option<Duration>) -> u64 {
        let seat = self.script.state.turn().unwrap();
        let at = self.at(at_ms);
        let was_free = self.script.state.is_free();
        let charge = self.keeper.charge(&self.script.state, seat, at, rtt);
        let player = if seat == Seat::First { ANN } else { BOB };
        let action = play(player, self.script.state.ply().0, m);
        let now = Timestamp {
            at_ms: NOW_MS + at_ms,
            spent_ms: charge.ms,
        };
        self.script.ok_at(&action, now);
        self.keeper.moved(seat, charge, was_free, rtt);
        self.keeper.turn_told(at);
        if was_free { 0 } else { charge.ms }
    }

    fn due(&self, rtt: Option<Duration>) -> Option<u64> {
        let due = self.keeper.due(&self.script.state, rtt)?;
        Some(u64::try_from((due - self.start).as_millis()).unwrap())
    }

    fn told(&self, at_ms: u64) -> (u64, bool, Option<u64>) {
        let now = self.at(at_ms);
        let TurnTime {
            turn_ms,
            stands,
            first_move_ms,
        } = self.keeper.told(&self.script.state, now).unwrap();
        (turn_ms, stands, first_move_ms)
    }

    fn attend_at(&mut self, at_ms: u64, present: &[crate::PlayerId]) -> bool {
        let now = self.at(at_ms);
        let is_present = |player| present.contains(&player);
        self.keeper.attend(&self.script.state, is_present, now)
    }
}

#[test]
fn a_first_ply_is_free_and_has_thirty_seconds() {
    let mut timed = Timed::new(BLITZ);
    assert_eq!(timed.told(1480), (0, false, Some(28_520)));
    assert_eq!(timed.due(None), Some(30_000));
    assert_eq!(Timekeeper::action(&timed.script.state), Action::NoFirstMove);
    assert_eq!(timed.play_at(29_999, "a1", None), 0);
    assert_eq!(timed.script.state.left().unwrap().left_ms(), [60_000; 2]);
    assert_eq!(timed.due(None), Some(59_999));
    assert_eq!(timed.play_at(30_000, "b2", None), 0);
    assert_eq!(timed.due(None), Some(90_000));
    assert_eq!(timed.told(31_480), (1480, false, None));
    assert_eq!(Timekeeper::action(&timed.script.state), Action::Flag);
    assert_eq!(timed.play_at(43_000, "c3", None), 13_000);
    assert_eq!(
        timed.script.state.left().unwrap().left_ms(),
        [48_000, 60_000]
    );
}

#[test]
fn with_a_time_for_every_move_the_first_has_that() {
    let timed = Timed::new(ClockControl::Move { move_ms: 5000 });
    assert_eq!(timed.told(1000), (0, false, Some(4000)));
    assert_eq!(timed.due(None), Some(5000));
}

#[test]
fn a_connection_that_is_far_away_gets_its_time_back() {
    let mut timed = Timed::begun(BLITZ);
    let far = Some(ms(400));
    assert_eq!(timed.due(None), Some(60_000));
    assert_eq!(timed.due(far), Some(60_400), "the flag waits for as long");
    assert_eq!(timed.play_at(60_399, "c3", far), 59_999);
    assert_eq!(
        timed.play_at(60_500, "a3", far),
        0,
        "at least nothing is charged"
    );
    // Whole milliseconds are told, and cut before anything is reckoned with them.
    let charge = timed.keeper.charge(
        &timed.script.state,
        Seat::First,
        timed.at(61_000),
        Some(Duration::from_micros(1)),
    );
    assert_eq!(charge.ms, 499);
}

#[test]
fn a_move_before_the_flag_leaves_something() {
    let mut timed = Timed::begun(BLITZ);
    assert_eq!(timed.due(Some(ms(400))), Some(60_400));
    // The player has a second connection, which is near.
    assert_eq!(timed.play_at(60_399, "c3", Some(ms(1))), 59_999);
}

#[test]
fn a_free_ply_saves_up_as_others_do() {
    let timed = Timed::begun(BLITZ);
    // 300 ms three times at the start, and 300 more for the free ply.
    assert_eq!(timed.due(Some(ms(5000))), Some(61_200));
}

#[test]
fn a_stand_in_is_charged_what_its_player_has_used_up() {
    let mut timed = Timed::begun(BLITZ);
    timed.keeper.bot_took_over(timed.at(10_000));
    assert_eq!(timed.keeper.before_bot(), ms(10_000));
    let state = &timed.script.state;
    assert_eq!(
        timed.keeper.charge_bot(state, Seat::First, ms(2000)),
        12_000
    );
}

#[test]
fn while_the_store_refuses_nothing_is_charged() {
    let mut timed = Timed::begun(BLITZ);
    assert!(timed.keeper.store_refuses(timed.at(10_000)));
    assert!(!timed.keeper.store_refuses(timed.at(11_000)));
    assert_eq!(timed.due(None), None);
    assert_eq!(timed.told(40_000), (10_000, true, None));
    assert!(timed.keeper.store_accepts(timed.at(100_000)));
    assert_eq!(timed.due(None), Some(150_000));
    assert_eq!(timed.play_at(101_000, "c3", None), 11_000);
}

#[test]
fn a_process_that_stood_still_flags_nobody() {
    let mut timed = Timed::begun(BLITZ);
    let due = timed.keeper.due(&timed.script.state, None).unwrap();
    assert!(!timed.keeper.is_late(due, timed.at(62_000)));
    assert_eq!(timed.due(None), Some(60_000));
    assert!(timed.keeper.is_late(due, timed.at(65_000)));
    // It is looked at again after a moment, in which what has come is read.
    assert_eq!(timed.due(None), Some(66_000));
    assert_eq!(timed.play_at(65_500, "c3", None), 59_500);
}

#[test]
fn a_match_that_is_read_anew_waits_for_whoever_is_to_move() {
    let mut timed = Timed::begun(BLITZ);
    let (state, now) = (&timed.script.state, timed.start + ms(500_000));
    timed.keeper = Timekeeper::new(state, ms(1000)).unwrap();
    timed
        .keeper
        .begin_anew(state, |_| false, now, NOW_MS + 500_000);
    assert_eq!(timed.told(510_000), (0, true, None));
    assert_eq!(timed.due(None), None);
    assert!(!timed.attend_at(510_000, &[BOB]), "it is Ann's turn");
    assert!(timed.attend_at(520_000, &[ANN, BOB]));
    assert!(!timed.attend_at(530_000, &[BOB]), "once there, it runs");
    assert_eq!(timed.due(None), Some(580_000));
    assert_eq!(timed.play_at(521_000, "c3", None), 1000);
}

#[test]
fn a_first_ply_waits_for_its_player_too() {
    let mut timed = Timed::new(BLITZ);
    let now = timed.at(40_000);
    timed
        .keeper
        .begin_anew(&timed.script.state, |_| false, now, NOW_MS);
    assert_eq!(timed.told(50_000), (0, true, Some(30_000)));
    assert!(timed.attend_at(60_000, &[ANN]));
    assert_eq!(timed.due(None), Some(90_000));
}

#[test]
fn a_short_time_for_every_move_begins_anew_and_runs() {
    let mut timed = Timed::begun(ClockControl::Move { move_ms: 60_000 });
    let now = timed.at(100_000);
    timed
        .keeper
        .begin_anew(&timed.script.state, |_| false, now, NOW_MS);
    assert_eq!(timed.told(101_000), (1000, false, None));
    assert_eq!(
        timed.due(Some(ms(900))),
        Some(160_000),
        "and nothing is given back"
    );
}

#[test]
fn days_go_by_the_wall_clock() {
    const DAY: u64 = 86_400_000;
    let mut timed = Timed::begun(ClockControl::Move { move_ms: DAY });
    assert_eq!(
        Timekeeper::days_due_ms(&timed.script.state),
        Some(NOW_MS + DAY)
    );
    // The server was down for half a day, and its own clock began anew.
    let now = timed.at(0);
    timed
        .keeper
        .begin_anew(&timed.script.state, |_| false, now, NOW_MS + DAY / 2);
    assert_eq!(timed.told(0), (DAY / 2, false, None));
    assert_eq!(timed.due(None), Some(DAY / 2));
    assert!(!timed.keeper.store_refuses(timed.at(0)), "it never stands");
    let due = timed.keeper.due(&timed.script.state, None).unwrap();
    assert!(!timed.keeper.is_late(due, due + ms(10_000)), "nor moves on");
}

#[test]
fn a_bot_is_charged_its_search_and_never_runs_out() {
    let mut script = Script::timed("tic-tac-toe", BLITZ);
    script.ok(&join(ANN, None));
    script.ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: plyhouse_engine::search::Level::Easy,
    });
    script.play(ANN, "a1");
    let state = &script.state;
    let mut keeper = Timekeeper::new(state, ms(1000)).unwrap();
    let start = tokio::time::Instant::now().into_std();
    keeper.turn_told(start);
    assert_eq!(keeper.due(state, None), None);
    assert_eq!(keeper.charge_bot(state, Seat::Second, ms(2000)), 2000);
    assert_eq!(keeper.charge_bot(state, Seat::Second, ms(70_000)), 59_999);
    let told = keeper.told(state, start + ms(70_000)).unwrap();
    assert_eq!((told.turn_ms, told.first_move_ms), (0, None));
}

#[test]
fn whom_nobody_hears_is_charged_nothing_whatever_the_store_does() {
    let mut timed = Timed::begun(BLITZ);
    assert!(timed.keeper.is_unheard(timed.at(10_000)));
    assert!(!timed.keeper.store_refuses(timed.at(11_000)));
    assert!(!timed.keeper.store_accepts(timed.at(12_000)));
    assert_eq!(timed.due(None), None);
    assert!(timed.keeper.is_heard(timed.at(100_000)));
    assert_eq!(timed.due(None), Some(150_000));
}
