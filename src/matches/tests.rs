//! Tests of matches with scripted actions, and with random actions that must preserve the
//! invariants of a match.

mod hints;
mod initial_positions;
mod offers;
mod stand_in_bots;

use std::time::{Duration, Instant};

use plyhouse_protocol::{MatchCode, PlayerKind};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use uuid::Uuid;

use super::*;
use plyhouse_engine::catalog;

pub(crate) const ANN: PlayerId = PlayerId(Uuid::from_u128(1));
pub(crate) const BOB: PlayerId = PlayerId(Uuid::from_u128(2));
/// Default time of scripted actions, in milliseconds since 1970.
pub(crate) const NOW_MS: u64 = 1_700_000_000_000;

pub(crate) const CAT: PlayerId = PlayerId(Uuid::from_u128(3));

fn creation(game: &str) -> Creation {
    Creation {
        id: MatchId(Uuid::from_u128(7)),
        code: MatchCode::from_number(7),
        game: catalog::find_game(game).unwrap(),
        host: ANN,
        terms: Terms {
            absence_limits: Some(AbsenceLimits {
                against_player_ms: 60_000,
                against_bot_ms: 600_000,
            }),
            ..Terms::with_defaults(true, 0, 1)
        },
    }
}

/// A match and all of its events.
pub(crate) struct Script {
    pub(crate) state: Match,
    pub(crate) events: Vec<Event>,
}

impl Script {
    pub(crate) fn new(game: &str) -> Self {
        Self::with_terms(game, |_| {})
    }

    /// Creates a match of this game with modified terms.
    pub(crate) fn with_terms(game: &str, edit_terms: impl FnOnce(&mut Terms)) -> Self {
        let mut creation = creation(game);
        edit_terms(&mut creation.terms);
        Self {
            state: Match::new(creation).expect("valid creation"),
            events: Vec::new(),
        }
    }

    /// Creates a match of this game with this clock.
    pub(crate) fn timed(game: &str, control: ClockControl) -> Self {
        Self::with_terms(game, |terms| terms.clock = Some(control))
    }

    /// Creates a running match with Ann in the first seat and Bob in the second.
    fn running() -> Self {
        let mut script = Self::new("tic-tac-toe");
        script.apply_ok(&join_action(ANN, None));
        script.apply_ok(&join_action(BOB, None));
        script
    }

    /// Applies an action and checks the invariants that hold for every action.
    fn apply(&mut self, action: &Action) -> Result<Vec<EventKind>, Refusal> {
        self.apply_at(action, Timestamp::uncharged(NOW_MS))
    }

    fn apply_at(&mut self, action: &Action, now: Timestamp) -> Result<Vec<EventKind>, Refusal> {
        let before = format!("{:?}", self.state);
        let result = self.state.apply(action, now);
        assert_eq!(
            format!("{:?}", self.state),
            before,
            "deciding on {action:?} changed the match"
        );
        let reminder = (result.as_ref().ok())
            .and_then(|events| self.state.reminder_after(events))
            .or_else(|| self.state.reminder());
        for event in result.iter().flatten() {
            assert_eq!(event.at_ms, now.at_ms);
            let seq = self.state.seq();
            self.state.fold(event).unwrap();
            self.events.push(event.clone());
            assert_eq!(self.state.seq(), seq.next());
            let replayed = Match::replay(self.state.creation().clone(), &self.events).unwrap();
            assert_eq!(
                format!("{replayed:?}"),
                format!("{:?}", self.state),
                "after {event:?}"
            );
        }
        let is_live = !matches!(self.state.stage(), Stage::Ended { .. });
        assert_eq!(self.state.reminder(), reminder.filter(|_| is_live));
        result.map(|events| events.into_iter().map(|event| event.kind).collect())
    }

    #[track_caller]
    pub(crate) fn apply_ok(&mut self, action: &Action) -> Vec<EventKind> {
        self.apply_ok_at(action, Timestamp::uncharged(NOW_MS))
    }

    #[track_caller]
    pub(crate) fn apply_ok_at(&mut self, action: &Action, now: Timestamp) -> Vec<EventKind> {
        self.apply_at(action, now)
            .unwrap_or_else(|refusal| panic!("{action:?}: {refusal}"))
    }

    #[track_caller]
    fn assert_refused(&mut self, action: &Action, expected: Refusal) {
        assert_eq!(self.apply(action), Err(expected), "{action:?}");
    }

    pub(crate) fn play_ok(&mut self, player: PlayerId, m: &str) -> Vec<EventKind> {
        let ply = self.state.ply();
        self.apply_ok(&play_action(player, ply.0, m))
    }
}

pub(crate) fn join_action(player: PlayerId, seat: Option<Seat>) -> Action {
    join_as_action(player, PlayerKind::Guest, seat)
}

/// Returns a join action of a player with an account, as rated matches require.
pub(crate) fn join_as_account_action(player: PlayerId) -> Action {
    join_as_action(player, PlayerKind::Account, None)
}

fn join_as_action(player: PlayerId, kind: PlayerKind, seat: Option<Seat>) -> Action {
    Action::Join {
        player,
        name: format!("player {}", player.0.as_u128()),
        kind,
        seat,
        rating: None,
    }
}

pub(crate) fn play_action(player: PlayerId, ply: u64, m: &str) -> Action {
    Action::Play {
        player,
        ply: Ply(ply),
        m: m.to_owned(),
        takebacks: None,
    }
}

fn ended_event(winner: Option<Seat>, reason: EndReason) -> EventKind {
    EventKind::Ended {
        winner,
        reason,
        detail: None,
        by: None,
        remaining: None,
    }
}

fn moved_event(seat: Seat, m: &str) -> EventKind {
    EventKind::Moved {
        seat,
        m: m.to_owned(),
        spent_ms: None,
        remaining: None,
    }
}

const UNTIMED_START: EventKind = EventKind::Started { remaining: None };

fn assert_not_allowed(result: Result<Vec<EventKind>, Refusal>) {
    assert!(matches!(result, Err(Refusal::NotAllowed(_))), "{result:?}");
}

fn stale_ply(expected: u64, takebacks: u64) -> Refusal {
    Refusal::StalePly {
        expected: Ply(expected),
        takebacks,
    }
}

#[test]
fn match_starts_when_full_and_ends_by_the_rules() {
    let mut script = Script::new("tic-tac-toe");
    assert_eq!(
        script.apply_ok(&join_action(ANN, Some(Seat::Second))).len(),
        1
    );
    assert_eq!(
        script.apply_ok(&join_action(BOB, None)).last(),
        Some(&UNTIMED_START)
    );
    assert_eq!(script.state.turn(), Some(Seat::First));
    for (player, m) in [(BOB, "a1"), (ANN, "a2"), (BOB, "b1"), (ANN, "b2")] {
        script.play_ok(player, m);
    }
    let last = script.play_ok(BOB, " C1 ");
    assert_eq!(last[0], moved_event(Seat::First, "c1"));
    assert_eq!(last[1], ended_event(Some(Seat::First), EndReason::Rules));
    assert_eq!(
        script.state.moves().collect::<Vec<_>>(),
        ["a1", "a2", "b1", "b2", "c1"]
    );
    script.assert_refused(&play_action(ANN, 5, "c2"), Refusal::MatchEnded);
    script.assert_refused(&join_action(CAT, None), Refusal::MatchEnded);
    assert_eq!(script.apply_ok(&Action::Leave { player: ANN }), []);
}

#[test]
fn filled_seat_cannot_be_joined() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, None));
    script.assert_refused(&join_action(ANN, None), Refusal::AlreadySeated);
    script.assert_refused(&join_action(BOB, Some(Seat::First)), Refusal::SeatTaken);
    script.apply_ok(&join_action(BOB, None));
    script.assert_refused(&join_action(CAT, None), Refusal::SeatTaken);
}

#[test]
fn rated_match_refuses_guests_and_mixed_players() {
    let rated_match_of = |kind| {
        let mut script = Script::with_terms("chess", |terms| terms.rated = true);
        script.apply_ok(&join_as_action(ANN, kind, None));
        script
    };
    let join_as = |kind| join_as_action(BOB, kind, None);
    let seat_bot = Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    };
    let mut script = rated_match_of(PlayerKind::Account);
    script.assert_refused(&join_as(PlayerKind::Guest), Refusal::NotRegistered);
    assert_not_allowed(script.apply(&join_as(PlayerKind::Bot)));
    assert_not_allowed(script.apply(&seat_bot));
    script.apply_ok(&join_as(PlayerKind::Account));
    let mut script = rated_match_of(PlayerKind::Bot);
    assert_not_allowed(script.apply(&join_as(PlayerKind::Account)));
    script.apply_ok(&seat_bot);
}

#[test]
fn move_is_refused_for_first_failing_check() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, None));
    script.assert_refused(&play_action(CAT, 9, "zz"), Refusal::NotSeated);
    script.assert_refused(&play_action(ANN, 9, "zz"), Refusal::MatchNotStarted);
    script.apply_ok(&join_action(BOB, None));
    script.assert_refused(&play_action(BOB, 9, "zz"), stale_ply(0, 0));
    script.assert_refused(&play_action(BOB, 0, "zz"), Refusal::NotYourTurn);
    assert!(matches!(
        script.apply(&play_action(ANN, 0, "zz")),
        Err(Refusal::Unreadable(_))
    ));
    script.play_ok(ANN, "b2");
    let refusal = script.apply(&play_action(BOB, 1, "b2")).unwrap_err();
    assert_eq!(refusal.to_string(), "b2 is already taken");
}

#[test]
fn repeated_move_request_finds_its_event() {
    let mut script = Script::running();
    script.play_ok(ANN, "b2");
    script.play_ok(BOB, "a1");
    let state = &script.state;
    assert_eq!(state.find_repeated_move(ANN, Ply(0), " B2"), Some(Seq(4)));
    assert_eq!(state.find_repeated_move(BOB, Ply(1), "a1"), Some(Seq(5)));
    assert_eq!(
        state.find_repeated_move(BOB, Ply(0), "b2"),
        None,
        "the other seat's move"
    );
    assert_eq!(
        state.find_repeated_move(ANN, Ply(0), "c3"),
        None,
        "another move"
    );
    assert_eq!(
        state.find_repeated_move(ANN, Ply(2), "b2"),
        None,
        "not played yet"
    );
    assert_eq!(state.find_repeated_move(ANN, Ply(u64::MAX), "b2"), None);
}

#[test]
fn resignation_makes_opponent_win() {
    let mut script = Script::running();
    script.assert_refused(&Action::Resign { player: CAT }, Refusal::NotSeated);
    let events = script.apply_ok(&Action::Resign { player: ANN });
    assert_eq!(
        events,
        [ended_event(Some(Seat::Second), EndReason::Resignation)]
    );
    script.assert_refused(&Action::Resign { player: BOB }, Refusal::MatchEnded);
}

#[test]
fn leaving_open_match_vacates_seat_or_aborts_it_for_host() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(BOB, None));
    let vacated = EventKind::Seated {
        seat: Seat::First,
        occupant: Occupant::Open,
    };
    assert_eq!(script.apply_ok(&Action::Leave { player: BOB }), [vacated]);
    assert_eq!(script.apply_ok(&Action::Leave { player: CAT }), []);
    let aborted = ended_event(None, EndReason::Aborted);
    assert_eq!(script.apply_ok(&Action::Leave { player: ANN }), [aborted]);

    let mut script = Script::running();
    script.assert_refused(&Action::Leave { player: ANN }, Refusal::MatchRunning);
    assert_eq!(script.apply_ok(&Action::Leave { player: CAT }), []);
}

#[test]
fn host_seats_and_removes_bots_only_while_match_is_open() {
    let mut script = Script::new("tic-tac-toe");
    let bot = |by, seat| Action::SeatBot {
        by,
        seat,
        level: Level::Hard,
    };
    let remove = |seat| Action::RemoveBot { by: ANN, seat };
    script.assert_refused(&bot(BOB, Seat::First), Refusal::NotHost);
    script.apply_ok(&bot(ANN, Seat::First));
    script.assert_refused(&bot(ANN, Seat::First), Refusal::SeatTaken);
    script.apply_ok(&remove(Seat::First));
    assert_eq!(script.apply_ok(&remove(Seat::First)), []);
    script.apply_ok(&join_action(BOB, Some(Seat::First)));
    script.assert_refused(&remove(Seat::First), Refusal::SeatTaken);
    assert_eq!(script.state.bot_to_move(), None);
    assert_eq!(
        script.apply_ok(&bot(ANN, Seat::Second)).last(),
        Some(&UNTIMED_START)
    );
    script.assert_refused(&bot(ANN, Seat::Second), Refusal::MatchRunning);
    script.play_ok(BOB, "b2");
    assert_eq!(
        script.state.bot_to_move(),
        Some((Seat::Second, Level::Hard))
    );
}

#[test]
fn open_match_is_aborted_after_too_many_seat_changes() {
    let mut script = Script::new("tic-tac-toe");
    let now = Timestamp::uncharged(NOW_MS);
    let mut changes = 0;
    while script.state.stage() == Stage::Open {
        for action in [join_action(BOB, None), Action::Leave { player: BOB }] {
            for event in script.state.apply(&action, now).unwrap() {
                script.state.fold(&event).unwrap();
            }
            changes += 1;
        }
        assert!(changes < 2000);
    }
    // At the limit on seat changes, the match ends. It must not stay open with a seat that no
    // player can take.
    assert_eq!(changes, 1002);
    let aborted = Stage::Ended {
        winner: None,
        reason: EndReason::Aborted,
        detail: None,
        by: None,
    };
    assert_eq!(script.state.stage(), aborted);
}

#[test]
fn bot_plays_only_its_own_seat_at_current_ply() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Max,
    });
    let bot = |seat, ply| Action::PlayAsBot {
        seat,
        ply: Ply(ply),
        m: "a1".to_owned(),
    };
    script.assert_refused(&bot(Seat::First, 0), Refusal::NotSeated);
    script.assert_refused(&bot(Seat::Second, 0), Refusal::NotYourTurn);
    script.play_ok(ANN, "b2");
    script.assert_refused(&bot(Seat::Second, 0), stale_ply(1, 0));
    script.apply_ok(&bot(Seat::Second, 1));
}

#[test]
fn replay_reports_first_invalid_event() {
    let mut script = Script::running();
    script.play_ok(ANN, "b2");
    let damaged = |change: &dyn Fn(&mut Vec<Event>)| {
        let mut events = script.events.clone();
        change(&mut events);
        match Match::replay(creation("tic-tac-toe"), &events) {
            Err(ReplayError::Event { seq }) => seq,
            other => panic!("{other:?}"),
        }
    };
    let occupied_square = moved_event(Seat::Second, "b2");
    let out_of_turn = moved_event(Seat::First, "a1");
    assert_eq!(
        damaged(&|events| events.push(occupied_square.clone().at(NOW_MS))),
        Seq(5)
    );
    assert_eq!(
        damaged(&|events| events.push(out_of_turn.clone().at(NOW_MS))),
        Seq(5)
    );
    assert_eq!(
        damaged(&|events| events.push(UNTIMED_START.at(NOW_MS))),
        Seq(5)
    );
    assert_eq!(damaged(&|events| drop(events.remove(2))), Seq(3));
    assert_eq!(damaged(&|events| drop(events.remove(1))), Seq(2));
}

/// Random players send valid and invalid actions in every game, with and without a clock.
#[test]
fn invariants_hold_for_random_actions() {
    let mut ends = std::collections::HashSet::new();
    let mut takebacks = 0;
    for entry in &catalog::CATALOG {
        for seed in 0..200 {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut script = Script::with_terms(entry.info.id, |terms| {
                terms.clock = random_clock(&mut rng);
                terms.stand_in = rng.random_bool(0.3).then_some(Level::Easy);
                terms.takebacks_allowed = rng.random_bool(0.9);
                terms.initial_position = random_initial_position(entry, &mut rng);
            });
            let mut has_ended = false;
            let mut at_ms = NOW_MS;
            for _ in 0..80 {
                let action = random_action(&script.state, &mut rng);
                at_ms += rng.random_range(0..3000);
                let spent_ms = random_charge_ms(&script.state, &mut rng);
                let now = Timestamp { at_ms, spent_ms };
                let result = script.apply_at(&action, now);
                assert!(
                    !has_ended || result.iter().flatten().next().is_none(),
                    "{action:?}"
                );
                has_ended = matches!(script.state.stage(), Stage::Ended { .. });
                let is_full = !script.state.seats.contains(&Occupant::Open);
                assert!(script.state.stage() != Stage::Running || is_full);
                assert!(script.state.stage() != Stage::Open || !is_full);
            }
            if let Stage::Ended { reason, .. } = script.state.stage() {
                ends.insert(reason);
            }
            takebacks += script.state.takebacks();
            let audited = Match::audit(script.state.creation().clone(), &script.events);
            assert_eq!(audited, Ok(()));
        }
    }
    assert_eq!(ends.len(), EndReason::ALL.len(), "{ends:?}");
    assert!(takebacks > 100, "{takebacks}");
}

/// Returns a random position that occurs in play, or `None` in most cases.
fn random_initial_position(game: &catalog::GameEntry, rng: &mut StdRng) -> Option<String> {
    if rng.random_bool(0.7) {
        return None;
    }
    let mut position = game.initial_position();
    for _ in 0..rng.random_range(0..12) {
        let moves = position.legal_moves();
        position.play(moves.choose(rng)?).unwrap();
    }
    position.outcome().is_none().then(|| position.to_string())
}

fn random_clock(rng: &mut StdRng) -> Option<ClockControl> {
    let clocks = [
        ClockControl::Fischer {
            main_ms: 10_000,
            increment_ms: 100,
        },
        ClockControl::Delay {
            main_ms: 5000,
            delay_ms: 500,
        },
        ClockControl::ByoYomi {
            main_ms: 3000,
            period_ms: 1000,
            periods: 3,
        },
        ClockControl::Move { move_ms: 5000 },
    ];
    let is_timed = rng.random_bool(0.7);
    clocks.choose(rng).copied().filter(|_| is_timed)
}

/// Returns a random time to charge for a move, within the time that the player may use.
fn random_charge_ms(state: &Match, rng: &mut StdRng) -> u64 {
    let Some((clock, remaining)) = state.clock().zip(state.remaining_time()) else {
        return 0;
    };
    let allowance = remaining.allowance_ms(&clock, state.position().turn());
    rng.random_range(0..allowance.clamp(1, 2000))
}

fn random_action(state: &Match, rng: &mut StdRng) -> Action {
    let player = *[ANN, BOB, CAT].choose(rng).unwrap();
    let seat = *Seat::ALL.choose(rng).unwrap();
    let legal = state.position().legal_moves();
    let m = legal
        .choose(rng)
        .cloned()
        .unwrap_or_else(|| "a1".to_owned());
    let ply = if rng.random_bool(0.9) {
        state.ply()
    } else {
        Ply(rng.random_range(0..9))
    };
    let offer = *[Offer::Draw, Offer::Takeback].choose(rng).unwrap();
    let takebacks = rng.random_bool(0.3).then(|| state.takebacks());
    match rng.random_range(0..60) {
        0..4 => join_action(player, rng.random_bool(0.5).then_some(seat)),
        4 => Action::Leave { player },
        5 => Action::SeatBot {
            by: player,
            seat,
            level: Level::Easy,
        },
        6 => Action::RemoveBot { by: player, seat },
        7 if rng.random_bool(0.3) => Action::Resign { player },
        8 if rng.random_bool(0.3) => Action::Abandon { seat },
        9 if rng.random_bool(0.1) => Action::Abort,
        10 if rng.random_bool(0.2) => Action::Flag,
        11 if rng.random_bool(0.1) => Action::NoFirstMove,
        12 if rng.random_bool(0.1) => Action::AbortByPlayer { player },
        13 if rng.random_bool(0.1) => Action::ResignAsBot { seat },
        14 => Action::StandIn { seat },
        15 => Action::AnswerDrawAsBot {
            seat,
            accepts: rng.random_bool(0.3),
        },
        16..19 => Action::OfferDraw { player, ply },
        19..23 => Action::OfferTakeback {
            player,
            ply,
            to_ply: None,
        },
        23 => Action::OfferTakeback {
            player,
            ply,
            to_ply: Some(Ply(ply.0.saturating_sub(rng.random_range(1..3)))),
        },
        24..26 => Action::Decline { player, offer },
        26 => Action::GiveTime { player, ms: 5000 },
        27 => Action::Hint { player, ply },
        28..38 => Action::PlayAsBot { seat, ply, m },
        _ => Action::Play {
            player,
            ply,
            m,
            takebacks,
        },
    }
}

/// A match with its absence timers. Times are seconds since the start of the scenario.
struct AbsenceScenario {
    script: Script,
    timers: AbsenceTimers,
    start: Instant,
}

impl AbsenceScenario {
    fn new(script: Script) -> Self {
        let start = tokio::time::Instant::now().into_std();
        Self {
            script,
            timers: AbsenceTimers::new(Duration::from_secs(60)),
            start,
        }
    }

    fn set_present(&mut self, at_s: u64, present: &[PlayerId]) {
        let now = self.start + Duration::from_secs(at_s);
        self.timers
            .update(&self.script.state, |player| present.contains(&player), now);
    }

    fn due_action(&self, at_s: u64) -> Option<Action> {
        let now = self.start + Duration::from_secs(at_s);
        let deadline = self.timers.next_deadline(&self.script.state);
        let action = self.timers.due_action(&self.script.state, now);
        assert_eq!(
            action.is_some(),
            deadline.is_some_and(|deadline| deadline <= now)
        );
        action
    }
}

#[test]
fn absent_player_abandons_running_match() {
    let mut absences = AbsenceScenario::new(Script::running());
    absences.set_present(0, &[ANN, BOB]);
    absences.set_present(10, &[BOB]);
    absences.set_present(20, &[BOB]);
    assert_eq!(absences.due_action(69), None);
    assert_eq!(
        absences.due_action(70),
        Some(Action::Abandon { seat: Seat::First })
    );
    absences.set_present(69, &[ANN, BOB]);
    assert_eq!(absences.due_action(1000), None);
}

#[test]
fn first_to_leave_loses_and_simultaneous_absence_aborts() {
    let mut absences = AbsenceScenario::new(Script::running());
    absences.set_present(0, &[ANN, BOB]);
    absences.set_present(10, &[ANN]);
    absences.set_present(11, &[]);
    assert_eq!(
        absences.due_action(71),
        Some(Action::Abandon { seat: Seat::Second })
    );

    let mut absences = AbsenceScenario::new(Script::running());
    absences.set_present(0, &[]);
    assert_eq!(absences.due_action(60), Some(Action::Abort));
}

#[test]
fn absent_host_and_seated_player_leave_open_match() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(BOB, None));
    let mut absences = AbsenceScenario::new(script);
    absences.set_present(0, &[BOB]);
    absences.set_present(5, &[]);
    assert_eq!(absences.due_action(60), Some(Action::Leave { player: ANN }));
    absences.set_present(30, &[ANN]);
    assert_eq!(absences.due_action(64), None);
    assert_eq!(absences.due_action(65), Some(Action::Leave { player: BOB }));
}

#[test]
fn absence_is_counted_again_from_match_start() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, None));
    let mut absences = AbsenceScenario::new(script);
    absences.set_present(0, &[]);
    absences.script.apply_ok(&join_action(BOB, None));
    absences.set_present(50, &[BOB]);
    assert_eq!(absences.due_action(109), None);
    assert_eq!(
        absences.due_action(110),
        Some(Action::Abandon { seat: Seat::First })
    );
}

#[test]
fn absence_is_ignored_in_bot_matches_and_after_the_end() {
    let mut script = Script::new("tic-tac-toe");
    for seat in Seat::ALL {
        script.apply_ok(&Action::SeatBot {
            by: ANN,
            seat,
            level: Level::Easy,
        });
    }
    let mut absences = AbsenceScenario::new(script);
    absences.set_present(0, &[]);
    assert_eq!(absences.due_action(1000), None);

    let mut absences = AbsenceScenario::new(Script::running());
    absences.set_present(0, &[]);
    absences.script.apply_ok(&Action::Abort);
    absences.set_present(1, &[]);
    assert_eq!(absences.due_action(1000), None);
}
