use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::ClockControl;

use super::{TurnClock, TurnTime};
use crate::tests::{ANN, BOB, NOW_MS, Script, join_action, play_action};
use crate::{Action, Timestamp};

const BLITZ: ClockControl = ClockControl::Fischer {
    main_ms: 60_000,
    increment_ms: 1000,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A running match with its turn clock. Times are milliseconds since the start event was sent.
struct ClockScenario {
    script: Script,
    clock: TurnClock,
    start: Instant,
}

impl ClockScenario {
    fn new(control: ClockControl) -> Self {
        let mut script = Script::with_terms("tic-tac-toe", |terms| {
            terms.clock = Some(control);
            terms.stand_in = Some(Level::Easy);
        });
        script.apply_ok(&join_action(ANN, None));
        script.apply_ok(&join_action(BOB, None));
        let start = tokio::time::Instant::now().into_std();
        let mut clock = TurnClock::new(&script.state, ms(1000)).unwrap();
        clock.start_turn(start);
        Self {
            script,
            clock,
            start,
        }
    }

    /// Plays the free first ply of each seat at once, so that all further moves are charged.
    fn after_first_moves(control: ClockControl) -> Self {
        let mut scenario = Self::new(control);
        assert_eq!(scenario.play_at(0, "a1", None), 0);
        assert_eq!(scenario.play_at(0, "b2", None), 0);
        scenario
    }

    fn at(&self, at_ms: u64) -> Instant {
        self.start + ms(at_ms)
    }

    /// Plays a move that the server reads at `at_ms` and broadcasts at once. Returns the charge for
    /// the move.
    fn play_at(&mut self, at_ms: u64, m: &str, rtt: Option<Duration>) -> u64 {
        let seat = self.script.state.turn().unwrap();
        let at = self.at(at_ms);
        let was_free = self.script.state.is_free_ply();
        let charge = self.clock.charge(&self.script.state, seat, at, rtt);
        let player = if seat == Seat::First { ANN } else { BOB };
        let action = play_action(player, self.script.state.ply().0, m);
        let now = Timestamp {
            at_ms: NOW_MS + at_ms,
            spent_ms: charge.ms,
        };
        self.script.apply_ok_at(&action, now);
        self.clock.record_move(seat, charge, was_free, rtt);
        self.clock.start_turn(at);
        if was_free { 0 } else { charge.ms }
    }

    fn deadline_ms(&self, rtt: Option<Duration>) -> Option<u64> {
        let deadline = self.clock.deadline(&self.script.state, rtt)?;
        Some(u64::try_from((deadline - self.start).as_millis()).unwrap())
    }

    fn turn_time_at(&self, at_ms: u64) -> (u64, bool, Option<u64>) {
        let now = self.at(at_ms);
        let TurnTime {
            turn_ms,
            paused,
            first_move_ms,
        } = self.clock.turn_time(&self.script.state, now).unwrap();
        (turn_ms, paused, first_move_ms)
    }

    fn update_presence_at(&mut self, at_ms: u64, present: &[crate::PlayerId]) -> bool {
        let now = self.at(at_ms);
        let is_present = |player| present.contains(&player);
        self.clock
            .update_presence(&self.script.state, is_present, now)
    }
}

#[test]
fn first_ply_is_free_for_thirty_seconds() {
    let mut scenario = ClockScenario::new(BLITZ);
    assert_eq!(scenario.turn_time_at(1480), (0, false, Some(28_520)));
    assert_eq!(scenario.deadline_ms(None), Some(30_000));
    assert_eq!(
        TurnClock::timeout_action(&scenario.script.state),
        Action::NoFirstMove
    );
    assert_eq!(scenario.play_at(29_999, "a1", None), 0);
    assert_eq!(
        scenario
            .script
            .state
            .remaining_time()
            .unwrap()
            .remaining_ms(),
        [60_000; 2]
    );
    assert_eq!(scenario.deadline_ms(None), Some(59_999));
    assert_eq!(scenario.play_at(30_000, "b2", None), 0);
    assert_eq!(scenario.deadline_ms(None), Some(90_000));
    assert_eq!(scenario.turn_time_at(31_480), (1480, false, None));
    assert_eq!(
        TurnClock::timeout_action(&scenario.script.state),
        Action::Flag
    );
    assert_eq!(scenario.play_at(43_000, "c3", None), 13_000);
    assert_eq!(
        scenario
            .script
            .state
            .remaining_time()
            .unwrap()
            .remaining_ms(),
        [48_000, 60_000]
    );
}

#[test]
fn first_ply_has_move_time_with_fixed_time_per_move() {
    let scenario = ClockScenario::new(ClockControl::Move { move_ms: 5000 });
    assert_eq!(scenario.turn_time_at(1000), (0, false, Some(4000)));
    assert_eq!(scenario.deadline_ms(None), Some(5000));
}

#[test]
fn connection_with_high_rtt_is_compensated() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    let high_rtt = Some(ms(400));
    assert_eq!(scenario.deadline_ms(None), Some(60_000));
    assert_eq!(
        scenario.deadline_ms(high_rtt),
        Some(60_400),
        "the flag waits for as long"
    );
    assert_eq!(scenario.play_at(60_399, "c3", high_rtt), 59_999);
    assert_eq!(
        scenario.play_at(60_500, "a3", high_rtt),
        0,
        "at least nothing is charged"
    );
    // The charge is truncated to whole milliseconds.
    let charge = scenario.clock.charge(
        &scenario.script.state,
        Seat::First,
        scenario.at(61_000),
        Some(Duration::from_micros(1)),
    );
    assert_eq!(charge.ms, 499);
}

#[test]
fn move_before_flag_never_uses_all_time() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    assert_eq!(scenario.deadline_ms(Some(ms(400))), Some(60_400));
    // A move over a second connection with a short round-trip time must leave the player 1 ms.
    assert_eq!(scenario.play_at(60_399, "c3", Some(ms(1))), 59_999);
}

#[test]
fn free_ply_adds_to_lag_quota() {
    let scenario = ClockScenario::after_first_moves(BLITZ);
    // The seat starts with a lag quota of three times 300 ms, and its free first ply adds 300 ms.
    assert_eq!(scenario.deadline_ms(Some(ms(5000))), Some(61_200));
}

#[test]
fn stand_in_is_charged_time_used_by_its_player() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    scenario.clock.record_substitution(scenario.at(10_000));
    assert_eq!(scenario.clock.used_before_substitution(), ms(10_000));
    let state = &scenario.script.state;
    assert_eq!(
        scenario.clock.charge_bot(state, Seat::First, ms(2000)),
        12_000
    );
}

#[test]
fn clock_pauses_while_store_is_down() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    assert!(scenario.clock.pause_for_store(scenario.at(10_000)));
    assert!(!scenario.clock.pause_for_store(scenario.at(11_000)));
    assert_eq!(scenario.deadline_ms(None), None);
    assert_eq!(scenario.turn_time_at(40_000), (10_000, true, None));
    assert!(scenario.clock.resume_after_store(scenario.at(100_000)));
    assert_eq!(scenario.deadline_ms(None), Some(150_000));
    assert_eq!(scenario.play_at(101_000, "c3", None), 11_000);
}

#[test]
fn late_wake_up_shifts_deadline() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    let deadline = scenario
        .clock
        .deadline(&scenario.script.state, None)
        .unwrap();
    assert!(!scenario.clock.shift_if_late(deadline, scenario.at(62_000)));
    assert_eq!(scenario.deadline_ms(None), Some(60_000));
    assert!(scenario.clock.shift_if_late(deadline, scenario.at(65_000)));
    // The new deadline leaves one second for reading commands that have arrived.
    assert_eq!(scenario.deadline_ms(None), Some(66_000));
    assert_eq!(scenario.play_at(65_500, "c3", None), 59_500);
}

#[test]
fn reloaded_match_is_paused_until_player_to_move_connects() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    let (state, now) = (&scenario.script.state, scenario.start + ms(500_000));
    scenario.clock = TurnClock::new(state, ms(1000)).unwrap();
    scenario
        .clock
        .restart_turn(state, |_| false, now, NOW_MS + 500_000);
    assert_eq!(scenario.turn_time_at(510_000), (0, true, None));
    assert_eq!(scenario.deadline_ms(None), None);
    assert!(
        !scenario.update_presence_at(510_000, &[BOB]),
        "it is Ann's turn"
    );
    assert!(scenario.update_presence_at(520_000, &[ANN, BOB]));
    assert!(
        !scenario.update_presence_at(530_000, &[BOB]),
        "once there, it runs"
    );
    assert_eq!(scenario.deadline_ms(None), Some(580_000));
    assert_eq!(scenario.play_at(521_000, "c3", None), 1000);
}

#[test]
fn first_ply_is_paused_until_its_player_connects() {
    let mut scenario = ClockScenario::new(BLITZ);
    let now = scenario.at(40_000);
    scenario
        .clock
        .restart_turn(&scenario.script.state, |_| false, now, NOW_MS);
    assert_eq!(scenario.turn_time_at(50_000), (0, true, Some(30_000)));
    assert!(scenario.update_presence_at(60_000, &[ANN]));
    assert_eq!(scenario.deadline_ms(None), Some(90_000));
}

#[test]
fn fixed_move_time_restarts_unpaused_after_reload() {
    let mut scenario = ClockScenario::after_first_moves(ClockControl::Move { move_ms: 60_000 });
    let now = scenario.at(100_000);
    scenario
        .clock
        .restart_turn(&scenario.script.state, |_| false, now, NOW_MS);
    assert_eq!(scenario.turn_time_at(101_000), (1000, false, None));
    assert_eq!(
        scenario.deadline_ms(Some(ms(900))),
        Some(160_000),
        "and nothing is given back"
    );
}

#[test]
fn correspondence_clock_follows_wall_clock() {
    const DAY: u64 = 86_400_000;
    let mut scenario = ClockScenario::after_first_moves(ClockControl::Move { move_ms: DAY });
    assert_eq!(
        TurnClock::correspondence_deadline_ms(&scenario.script.state),
        Some(NOW_MS + DAY)
    );
    // The server was down for half a day, and its monotonic clock restarted.
    let now = scenario.at(0);
    scenario
        .clock
        .restart_turn(&scenario.script.state, |_| false, now, NOW_MS + DAY / 2);
    assert_eq!(scenario.turn_time_at(0), (DAY / 2, false, None));
    assert_eq!(scenario.deadline_ms(None), Some(DAY / 2));
    assert!(
        !scenario.clock.pause_for_store(scenario.at(0)),
        "it never stands"
    );
    let deadline = scenario
        .clock
        .deadline(&scenario.script.state, None)
        .unwrap();
    assert!(
        !scenario
            .clock
            .shift_if_late(deadline, deadline + ms(10_000)),
        "nor moves on"
    );
}

#[test]
fn bot_is_charged_search_time_but_never_flagged() {
    let mut script = Script::timed("tic-tac-toe", BLITZ);
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    script.play_ok(ANN, "a1");
    let state = &script.state;
    let mut clock = TurnClock::new(state, ms(1000)).unwrap();
    let start = tokio::time::Instant::now().into_std();
    clock.start_turn(start);
    assert_eq!(clock.deadline(state, None), None);
    assert_eq!(clock.charge_bot(state, Seat::Second, ms(2000)), 2000);
    assert_eq!(clock.charge_bot(state, Seat::Second, ms(70_000)), 59_999);
    let turn_time = clock.turn_time(state, start + ms(70_000)).unwrap();
    assert_eq!((turn_time.turn_ms, turn_time.first_move_ms), (0, None));
}

#[test]
fn clock_of_unreachable_player_stays_paused() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    assert!(
        scenario
            .clock
            .pause_for_unreachable_player(scenario.at(10_000))
    );
    assert!(!scenario.clock.pause_for_store(scenario.at(11_000)));
    assert!(!scenario.clock.resume_after_store(scenario.at(12_000)));
    assert_eq!(scenario.deadline_ms(None), None);
    assert!(
        scenario
            .clock
            .resume_for_reachable_player(scenario.at(100_000))
    );
    assert_eq!(scenario.deadline_ms(None), Some(150_000));
}

#[test]
fn clock_pauses_while_only_stand_ins_play() {
    let mut scenario = ClockScenario::after_first_moves(BLITZ);
    for seat in Seat::ALL {
        scenario.script.apply_ok(&Action::StandIn { seat });
    }
    assert!(scenario.update_presence_at(10_000, &[]));
    assert_eq!(scenario.turn_time_at(40_000), (10_000, true, None));
    scenario.script.apply_ok(&join_action(ANN, None));
    assert!(scenario.update_presence_at(50_000, &[ANN]));
    assert_eq!(scenario.deadline_ms(None), Some(100_000));
}
