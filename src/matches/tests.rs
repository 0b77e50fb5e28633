//! A match by scripts, and by random play against its laws.

mod hints;
mod offers;
mod stand_ins;
mod starts;

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
/// When it happens, unless a script says otherwise.
pub(crate) const NOW_MS: u64 = 1_700_000_000_000;

pub(crate) const CAT: PlayerId = PlayerId(Uuid::from_u128(3));

fn creation(game: &str) -> Creation {
    Creation {
        id: MatchId(Uuid::from_u128(7)),
        code: MatchCode::from_number(7),
        game: catalog::find_game(game).unwrap(),
        host: ANN,
        terms: Terms {
            patience: Some(AbsenceLimits {
                people_ms: 60_000,
                bot_ms: 600_000,
            }),
            ..Terms::plain(true, 0, 1)
        },
    }
}

/// A match and all that has happened in it.
pub(crate) struct Script {
    pub(crate) state: Match,
    pub(crate) events: Vec<Event>,
}

impl Script {
    pub(crate) fn new(game: &str) -> Self {
        Self::with(game, |_| {})
    }

    /// A match of this game, with other terms than usual.
    pub(crate) fn with(game: &str, change: impl FnOnce(&mut Terms)) -> Self {
        let mut creation = creation(game);
        change(&mut creation.terms);
        Self {
            state: Match::new(creation).expect("it can begin"),
            events: Vec::new(),
        }
    }

    /// A match of this game by this clock.
    pub(crate) fn timed(game: &str, control: ClockControl) -> Self {
        Self::with(game, |terms| terms.clock = Some(control))
    }

    /// Ann in the first seat, Bob in the second, and the match running.
    fn ann_and_bob() -> Self {
        let mut script = Self::new("tic-tac-toe");
        script.ok(&join(ANN, None));
        script.ok(&join(BOB, None));
        script
    }

    /// Does what is asked, and checks the laws that hold for every action.
    fn act(&mut self, action: &Action) -> Result<Vec<EventKind>, Refusal> {
        self.act_at(action, Timestamp::free(NOW_MS))
    }

    fn act_at(&mut self, action: &Action, now: Timestamp) -> Result<Vec<EventKind>, Refusal> {
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
    pub(crate) fn ok(&mut self, action: &Action) -> Vec<EventKind> {
        self.ok_at(action, Timestamp::free(NOW_MS))
    }

    #[track_caller]
    pub(crate) fn ok_at(&mut self, action: &Action, now: Timestamp) -> Vec<EventKind> {
        self.act_at(action, now)
            .unwrap_or_else(|refusal| panic!("{action:?}: {refusal}"))
    }

    #[track_caller]
    fn refused(&mut self, action: &Action, expect: Refusal) {
        assert_eq!(self.act(action), Err(expect), "{action:?}");
    }

    pub(crate) fn play(&mut self, player: PlayerId, m: &str) -> Vec<EventKind> {
        let ply = self.state.ply();
        self.ok(&play(player, ply.0, m))
    }
}

pub(crate) fn join(player: PlayerId, seat: Option<Seat>) -> Action {
    Action::Join {
        player,
        name: format!("player {}", player.0.as_u128()),
        kind: PlayerKind::Guest,
        seat,
        rating: None,
    }
}

/// As somebody with an account, as rated matches want it.
pub(crate) fn join_as_account(player: PlayerId) -> Action {
    match join(player, None) {
        Action::Join {
            player, name, seat, ..
        } => Action::Join {
            player,
            name,
            kind: PlayerKind::Account,
            seat,
            rating: None,
        },
        other => other,
    }
}

pub(crate) fn play(player: PlayerId, ply: u64, m: &str) -> Action {
    Action::Play {
        player,
        ply: Ply(ply),
        m: m.to_owned(),
        takebacks: None,
    }
}

fn ended(winner: Option<Seat>, reason: Reason) -> EventKind {
    EventKind::Ended {
        winner,
        reason,
        detail: None,
        by: None,
        left: None,
    }
}

fn moved(seat: Seat, m: &str) -> EventKind {
    EventKind::Moved {
        seat,
        m: m.to_owned(),
        spent_ms: None,
        left: None,
    }
}

const STARTED: EventKind = EventKind::Started { left: None };

fn stale(expected: u64, takebacks: u64) -> Refusal {
    Refusal::StalePly {
        expected: Ply(expected),
        takebacks,
    }
}

#[test]
fn a_match_starts_when_both_seats_are_filled_and_ends_by_the_rules() {
    let mut script = Script::new("tic-tac-toe");
    assert_eq!(script.ok(&join(ANN, Some(Seat::Second))).len(), 1);
    assert_eq!(script.ok(&join(BOB, None)).last(), Some(&STARTED));
    assert_eq!(script.state.turn(), Some(Seat::First));
    for (player, m) in [(BOB, "a1"), (ANN, "a2"), (BOB, "b1"), (ANN, "b2")] {
        script.play(player, m);
    }
    let last = script.play(BOB, " C1 ");
    assert_eq!(last[0], moved(Seat::First, "c1"));
    assert_eq!(last[1], ended(Some(Seat::First), Reason::Rules));
    assert_eq!(
        script.state.moves().collect::<Vec<_>>(),
        ["a1", "a2", "b1", "b2", "c1"]
    );
    script.refused(&play(ANN, 5, "c2"), Refusal::MatchEnded);
    script.refused(&join(CAT, None), Refusal::MatchEnded);
    assert_eq!(script.ok(&Action::Leave { player: ANN }), []);
}

#[test]
fn a_seat_is_taken_once() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, None));
    script.refused(&join(ANN, None), Refusal::AlreadySeated);
    script.refused(&join(BOB, Some(Seat::First)), Refusal::SeatTaken);
    script.ok(&join(BOB, None));
    script.refused(&join(CAT, None), Refusal::SeatTaken);
}

#[test]
fn refusals_of_a_move_come_in_order() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, None));
    script.refused(&play(CAT, 9, "zz"), Refusal::NotSeated);
    script.refused(&play(ANN, 9, "zz"), Refusal::MatchNotStarted);
    script.ok(&join(BOB, None));
    script.refused(&play(BOB, 9, "zz"), stale(0, 0));
    script.refused(&play(BOB, 0, "zz"), Refusal::NotYourTurn);
    assert!(matches!(
        script.act(&play(ANN, 0, "zz")),
        Err(Refusal::Unreadable(_))
    ));
    script.play(ANN, "b2");
    let refusal = script.act(&play(BOB, 1, "b2")).unwrap_err();
    assert_eq!(refusal.to_string(), "b2 is already taken");
}

#[test]
fn a_move_sent_again_is_known() {
    let mut script = Script::ann_and_bob();
    script.play(ANN, "b2");
    script.play(BOB, "a1");
    let state = &script.state;
    assert_eq!(state.repeated(ANN, Ply(0), " B2"), Some(Seq(4)));
    assert_eq!(state.repeated(BOB, Ply(1), "a1"), Some(Seq(5)));
    assert_eq!(
        state.repeated(BOB, Ply(0), "b2"),
        None,
        "the other seat's move"
    );
    assert_eq!(state.repeated(ANN, Ply(0), "c3"), None, "another move");
    assert_eq!(state.repeated(ANN, Ply(2), "b2"), None, "not played yet");
    assert_eq!(state.repeated(ANN, Ply(u64::MAX), "b2"), None);
}

#[test]
fn a_resignation_gives_the_other_seat_the_win() {
    let mut script = Script::ann_and_bob();
    script.refused(&Action::Resign { player: CAT }, Refusal::NotSeated);
    let events = script.ok(&Action::Resign { player: ANN });
    assert_eq!(events, [ended(Some(Seat::Second), Reason::Resignation)]);
    script.refused(&Action::Resign { player: BOB }, Refusal::MatchEnded);
}

#[test]
fn leaving_vacates_an_open_seat_and_a_leaving_host_ends_an_open_match() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(BOB, None));
    let vacated = EventKind::Seated {
        seat: Seat::First,
        occupant: Occupant::Open,
    };
    assert_eq!(script.ok(&Action::Leave { player: BOB }), [vacated]);
    assert_eq!(script.ok(&Action::Leave { player: CAT }), []);
    let aborted = ended(None, Reason::Aborted);
    assert_eq!(script.ok(&Action::Leave { player: ANN }), [aborted]);

    let mut script = Script::ann_and_bob();
    script.refused(&Action::Leave { player: ANN }, Refusal::MatchRunning);
    assert_eq!(script.ok(&Action::Leave { player: CAT }), []);
}

#[test]
fn the_host_seats_bots_while_the_match_is_open() {
    let mut script = Script::new("tic-tac-toe");
    let bot = |by, seat| Action::SeatBot {
        by,
        seat,
        level: Level::Hard,
    };
    let remove = |seat| Action::RemoveBot { by: ANN, seat };
    script.refused(&bot(BOB, Seat::First), Refusal::NotHost);
    script.ok(&bot(ANN, Seat::First));
    script.refused(&bot(ANN, Seat::First), Refusal::SeatTaken);
    script.ok(&remove(Seat::First));
    assert_eq!(script.ok(&remove(Seat::First)), []);
    script.ok(&join(BOB, Some(Seat::First)));
    script.refused(&remove(Seat::First), Refusal::SeatTaken);
    assert_eq!(script.state.bot_to_move(), None);
    assert_eq!(script.ok(&bot(ANN, Seat::Second)).last(), Some(&STARTED));
    script.refused(&bot(ANN, Seat::Second), Refusal::MatchRunning);
    script.play(BOB, "b2");
    assert_eq!(
        script.state.bot_to_move(),
        Some((Seat::Second, Level::Hard))
    );
}

#[test]
fn seats_do_not_change_hands_for_ever() {
    let mut script = Script::new("tic-tac-toe");
    let now = Timestamp::free(NOW_MS);
    let mut changes = 0;
    while script.state.stage() == Stage::Open {
        for action in [join(BOB, None), Action::Leave { player: BOB }] {
            for event in script.state.apply(&action, now).unwrap() {
                script.state.fold(&event).unwrap();
            }
            changes += 1;
        }
        assert!(changes < 2000);
    }
    // It ends, and does not stay open without anybody being able to sit down.
    assert_eq!(changes, 1002);
    let aborted = Stage::Ended {
        winner: None,
        reason: Reason::Aborted,
        detail: None,
        by: None,
    };
    assert_eq!(script.state.stage(), aborted);
}

#[test]
fn a_bot_plays_its_own_seat_at_its_own_ply() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, None));
    script.ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Max,
    });
    let bot = |seat, ply| Action::PlayAsBot {
        seat,
        ply: Ply(ply),
        m: "a1".to_owned(),
    };
    script.refused(&bot(Seat::First, 0), Refusal::NotSeated);
    script.refused(&bot(Seat::Second, 0), Refusal::NotYourTurn);
    script.play(ANN, "b2");
    script.refused(&bot(Seat::Second, 0), stale(1, 0));
    script.ok(&bot(Seat::Second, 1));
}

#[test]
fn a_damaged_record_is_found() {
    let mut script = Script::ann_and_bob();
    script.play(ANN, "b2");
    let damaged = |change: &dyn Fn(&mut Vec<Event>)| {
        let mut events = script.events.clone();
        change(&mut events);
        match Match::replay(creation("tic-tac-toe"), &events) {
            Err(ReplayError::Event { seq }) => seq,
            other => panic!("{other:?}"),
        }
    };
    let taken = moved(Seat::Second, "b2");
    let out_of_turn = moved(Seat::First, "a1");
    assert_eq!(
        damaged(&|events| events.push(taken.clone().at(NOW_MS))),
        Seq(5)
    );
    assert_eq!(
        damaged(&|events| events.push(out_of_turn.clone().at(NOW_MS))),
        Seq(5)
    );
    assert_eq!(damaged(&|events| events.push(STARTED.at(NOW_MS))), Seq(5));
    assert_eq!(damaged(&|events| drop(events.remove(2))), Seq(3));
    assert_eq!(damaged(&|events| drop(events.remove(1))), Seq(2));
}

/// Random players ask for random things, sensible or not, in every game, with a clock and without.
#[test]
fn whatever_is_asked_the_laws_hold() {
    let mut ends = std::collections::HashSet::new();
    let mut taken_back = 0;
    for entry in &catalog::CATALOG {
        for seed in 0..200 {
            let mut chance = StdRng::seed_from_u64(seed);
            let mut script = Script::with(entry.info.id, |terms| {
                terms.clock = any_clock(&mut chance);
                terms.stand_in = chance.random_bool(0.3).then_some(Level::Easy);
                terms.takeback = chance.random_bool(0.9);
                terms.start = any_start(entry, &mut chance);
            });
            let mut has_ended = false;
            let mut at_ms = NOW_MS;
            for _ in 0..80 {
                let action = any_action(&script.state, &mut chance);
                at_ms += chance.random_range(0..3000);
                let spent_ms = any_charge(&script.state, &mut chance);
                let now = Timestamp { at_ms, spent_ms };
                let result = script.act_at(&action, now);
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
            taken_back += script.state.takebacks();
            let audited = Match::audit(script.state.creation().clone(), &script.events);
            assert_eq!(audited, Ok(()));
        }
    }
    assert_eq!(ends.len(), Reason::ALL.len(), "{ends:?}");
    assert!(taken_back > 100, "{taken_back}");
}

/// A position that play has come to, most often none.
fn any_start(game: &catalog::GameEntry, chance: &mut StdRng) -> Option<String> {
    if chance.random_bool(0.7) {
        return None;
    }
    let mut position = game.initial_position();
    for _ in 0..chance.random_range(0..12) {
        let moves = position.legal_moves();
        position.play(moves.choose(chance)?).unwrap();
    }
    position.outcome().is_none().then(|| position.to_string())
}

fn any_clock(chance: &mut StdRng) -> Option<ClockControl> {
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
    let is_timed = chance.random_bool(0.7);
    clocks.choose(chance).copied().filter(|_| is_timed)
}

/// What a move now is charged, in time.
fn any_charge(state: &Match, chance: &mut StdRng) -> u64 {
    let Some((clock, left)) = state.clock().zip(state.left()) else {
        return 0;
    };
    let allowance = left.allowance_ms(&clock, state.position().turn());
    chance.random_range(0..allowance.clamp(1, 2000))
}

fn any_action(state: &Match, chance: &mut StdRng) -> Action {
    let player = *[ANN, BOB, CAT].choose(chance).unwrap();
    let seat = *Seat::ALL.choose(chance).unwrap();
    let legal = state.position().legal_moves();
    let m = legal
        .choose(chance)
        .cloned()
        .unwrap_or_else(|| "a1".to_owned());
    let ply = if chance.random_bool(0.9) {
        state.ply()
    } else {
        Ply(chance.random_range(0..9))
    };
    let offer = *[Offer::Draw, Offer::Takeback].choose(chance).unwrap();
    let takebacks = chance.random_bool(0.3).then(|| state.takebacks());
    match chance.random_range(0..60) {
        0..4 => join(player, chance.random_bool(0.5).then_some(seat)),
        4 => Action::Leave { player },
        5 => Action::SeatBot {
            by: player,
            seat,
            level: Level::Easy,
        },
        6 => Action::RemoveBot { by: player, seat },
        7 if chance.random_bool(0.3) => Action::Resign { player },
        8 if chance.random_bool(0.3) => Action::Abandon { seat },
        9 if chance.random_bool(0.1) => Action::Abort,
        10 if chance.random_bool(0.2) => Action::Flag,
        11 if chance.random_bool(0.1) => Action::NoFirstMove,
        12 if chance.random_bool(0.1) => Action::AbortByPlayer { player },
        13 if chance.random_bool(0.1) => Action::ResignAsBot { seat },
        14 => Action::StandIn { seat },
        15 => Action::AnswerDrawAsBot {
            seat,
            accepts: chance.random_bool(0.3),
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
            to_ply: Some(Ply(ply.0.saturating_sub(chance.random_range(1..3)))),
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

/// Who is away, and for how long, in seconds.
struct Absences {
    script: Script,
    attendance: Attendance,
    start: Instant,
}

impl Absences {
    fn new(script: Script) -> Self {
        let start = tokio::time::Instant::now().into_std();
        Self {
            script,
            attendance: Attendance::new(Duration::from_secs(60)),
            start,
        }
    }

    fn present(&mut self, at_s: u64, present: &[PlayerId]) {
        let now = self.start + Duration::from_secs(at_s);
        self.attendance
            .update(&self.script.state, |player| present.contains(&player), now);
    }

    fn due(&self, at_s: u64) -> Option<Action> {
        let now = self.start + Duration::from_secs(at_s);
        let deadline = self.attendance.next_deadline(&self.script.state);
        let due = self.attendance.due(&self.script.state, now);
        assert_eq!(
            due.is_some(),
            deadline.is_some_and(|deadline| deadline <= now)
        );
        due
    }
}

#[test]
fn a_running_match_is_lost_by_who_stays_away() {
    let mut absences = Absences::new(Script::ann_and_bob());
    absences.present(0, &[ANN, BOB]);
    absences.present(10, &[BOB]);
    absences.present(20, &[BOB]);
    assert_eq!(absences.due(69), None);
    assert_eq!(
        absences.due(70),
        Some(Action::Abandon { seat: Seat::First })
    );
    absences.present(69, &[ANN, BOB]);
    assert_eq!(absences.due(1000), None);
}

#[test]
fn who_went_first_loses_and_together_there_is_no_loser() {
    let mut absences = Absences::new(Script::ann_and_bob());
    absences.present(0, &[ANN, BOB]);
    absences.present(10, &[ANN]);
    absences.present(11, &[]);
    assert_eq!(
        absences.due(71),
        Some(Action::Abandon { seat: Seat::Second })
    );

    let mut absences = Absences::new(Script::ann_and_bob());
    absences.present(0, &[]);
    assert_eq!(absences.due(60), Some(Action::Abort));
}

#[test]
fn an_open_match_waits_for_its_host_and_its_seats_for_their_players() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(BOB, None));
    let mut absences = Absences::new(script);
    absences.present(0, &[BOB]);
    absences.present(5, &[]);
    assert_eq!(absences.due(60), Some(Action::Leave { player: ANN }));
    absences.present(30, &[ANN]);
    assert_eq!(absences.due(64), None);
    assert_eq!(absences.due(65), Some(Action::Leave { player: BOB }));
}

#[test]
fn the_time_counts_anew_from_the_start() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, None));
    let mut absences = Absences::new(script);
    absences.present(0, &[]);
    absences.script.ok(&join(BOB, None));
    absences.present(50, &[BOB]);
    assert_eq!(absences.due(109), None);
    assert_eq!(
        absences.due(110),
        Some(Action::Abandon { seat: Seat::First })
    );
}

#[test]
fn nobody_is_missed_in_an_exhibition_or_after_the_end() {
    let mut script = Script::new("tic-tac-toe");
    for seat in Seat::ALL {
        script.ok(&Action::SeatBot {
            by: ANN,
            seat,
            level: Level::Easy,
        });
    }
    let mut absences = Absences::new(script);
    absences.present(0, &[]);
    assert_eq!(absences.due(1000), None);

    let mut absences = Absences::new(Script::ann_and_bob());
    absences.present(0, &[]);
    absences.script.ok(&Action::Abort);
    absences.present(1, &[]);
    assert_eq!(absences.due(1000), None);
}
