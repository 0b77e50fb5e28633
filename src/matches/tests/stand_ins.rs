//! Bots that stand in for players who have gone, and matches for one player alone.

use super::*;

fn stand_in(seat: Seat) -> Action {
    Action::StandIn { seat }
}

/// Ann and Bob, and a bot for whoever goes.
fn guarded() -> Script {
    let mut script = Script::with("tic-tac-toe", |terms| {
        terms.stand_in = Some(Level::Easy);
        terms.patience = Some(AbsenceLimits {
            people_ms: 60_000,
            bot_ms: 600_000,
        });
    });
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    script
}

#[test]
fn a_bot_takes_the_seat_and_gives_it_back() {
    let mut script = guarded();
    script.play(ANN, "b2");
    let occupant = Occupant::StandIn {
        level: Level::Easy,
        player: BOB,
        name: "player 2".to_owned(),
        kind: PlayerKind::Guest,
        rating: None,
    };
    let seated = EventKind::Seated {
        seat: Seat::Second,
        occupant,
    };
    assert_eq!(script.ok(&stand_in(Seat::Second)), [seated]);
    let state = &script.state;
    assert_eq!(state.bot_to_move(), Some((Seat::Second, Level::Easy)));
    assert_eq!(state.seat_of(BOB), None);
    assert_eq!(state.stood_in(BOB), Some(Seat::Second));
    assert_eq!(state.times_stood_in(Seat::Second), 1);
    assert_eq!(state.turn(), Some(Seat::Second), "the match goes on");
    script.refused(&play(BOB, 1, "a1"), Refusal::NotSeated);
    script.refused(&Action::Resign { player: BOB }, Refusal::NotSeated);
    script.ok(&Action::PlayAsBot {
        seat: Seat::Second,
        ply: Ply(1),
        m: "a1".to_owned(),
    });
    // Nobody else takes it, and he takes no other.
    script.refused(&join(CAT, None), Refusal::SeatTaken);
    script.refused(&join(BOB, Some(Seat::First)), Refusal::SeatTaken);
    script.ok(&join(BOB, None));
    assert_eq!(script.state.seat_of(BOB), Some(Seat::Second));
    assert_eq!(script.state.bot_to_move(), None);
    script.refused(&join(BOB, None), Refusal::AlreadySeated);
    let audited = Match::audit(script.state.creation().clone(), &script.events);
    assert_eq!(audited, Ok(()));
}

#[test]
fn nobody_stands_in_where_that_was_not_asked_for() {
    let mut script = Script::ann_and_bob();
    assert!(matches!(
        script.act(&stand_in(Seat::First)),
        Err(Refusal::NotAllowed(_))
    ));
    let mut script = guarded();
    script.ok(&stand_in(Seat::First));
    script.refused(&stand_in(Seat::First), Refusal::NotSeated);
}

#[test]
fn stand_ins_wait_for_people() {
    let mut script = guarded();
    script.ok(&stand_in(Seat::First));
    assert!(script.state.bot_to_move().is_some());
    script.ok(&stand_in(Seat::Second));
    assert!(script.state.waits_for_people());
    assert_eq!(script.state.bot_to_move(), None);
    let mut absences = Absences::new(script);
    absences.present(0, &[]);
    assert_eq!(absences.due(599), None);
    assert_eq!(absences.due(600), Some(Action::Abort));
    absences.script.ok(&join(BOB, None));
    absences.present(590, &[BOB]);
    assert!(absences.script.state.bot_to_move().is_some());
    assert_eq!(absences.due(10_000), None);
}

#[test]
fn a_bot_comes_for_whoever_is_gone_if_the_other_is_there() {
    let mut absences = Absences::new(guarded());
    absences.present(0, &[ANN, BOB]);
    absences.present(10, &[ANN]);
    let gone = |absences: &Absences, at_s| {
        let now = absences.start + Duration::from_secs(at_s);
        Seat::ALL.map(|seat| absences.attendance.gone(&absences.script.state, seat, now))
    };
    assert_eq!(gone(&absences, 27), [None, Some(Duration::from_secs(43))]);
    assert_eq!(absences.due(70), Some(stand_in(Seat::Second)));
    absences.script.ok(&stand_in(Seat::Second));
    absences.present(70, &[ANN]);
    assert_eq!(gone(&absences, 71), [None, None]);
    // Bob's bot is somebody who plays on.
    absences.present(100, &[]);
    assert_eq!(absences.due(160), Some(stand_in(Seat::First)));

    let mut absences = Absences::new(guarded());
    absences.present(0, &[ANN, BOB]);
    absences.present(10, &[ANN]);
    absences.present(20, &[]);
    let abandoned = Some(Action::Abandon { seat: Seat::Second });
    assert_eq!(absences.due(70), abandoned, "nobody is there to play on");

    let mut absences = Absences::new(guarded());
    absences.present(0, &[]);
    assert_eq!(absences.due(60), Some(Action::Abort));
}

#[test]
fn against_a_bot_one_may_be_gone_for_long() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, None));
    script.ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    assert_eq!(script.state.patience_ms(), Some(600_000));
    let mut absences = Absences::new(script);
    absences.present(0, &[]);
    assert_eq!(absences.due(599), None);
    assert_eq!(
        absences.due(600),
        Some(Action::Abandon { seat: Seat::First })
    );
}

#[test]
fn a_match_for_one_player_is_taken_by_no_other() {
    let challenge = || {
        let mut script = Script::with("tic-tac-toe", |terms| terms.invited = Some(BOB));
        let seats = [
            Occupant::Player {
                id: ANN,
                name: "ann".to_owned(),
                kind: PlayerKind::Guest,
                rating: None,
            },
            Occupant::Open,
        ];
        let terms = &script.state.creation().terms;
        for event in Match::opening(terms, seats, NOW_MS) {
            script.state.fold(&event).unwrap();
            script.events.push(event);
        }
        script
    };
    let mut script = challenge();
    script.refused(&join(CAT, None), Refusal::SeatTaken);
    let decline = |player| Action::DeclineChallenge { player };
    script.refused(&decline(ANN), Refusal::NothingOffered);
    script.refused(&decline(CAT), Refusal::NothingOffered);
    let declined = EventKind::Ended {
        winner: None,
        reason: Reason::Aborted,
        detail: Some(Detail::Declined),
        by: None,
        left: None,
    };
    assert_eq!(script.ok(&decline(BOB)), [declined]);
    let mut script = challenge();
    script.ok(&join(BOB, None));
    script.refused(&decline(BOB), Refusal::NothingOffered);
}
