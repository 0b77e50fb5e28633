//! Stand-ins for absent players, and matches with only one player left.

use super::*;

fn stand_in_action(seat: Seat) -> Action {
    Action::StandIn { seat }
}

/// Starts a match between Ann and Bob that allows a stand-in for an absent player.
fn with_stand_in_terms() -> Script {
    with_stand_in_terms_of("tic-tac-toe")
}

fn with_stand_in_terms_of(game: &str) -> Script {
    let mut script = Script::with_terms(game, |terms| {
        terms.stand_in = Some(Level::Easy);
        terms.absence_limits = Some(AbsenceLimits {
            against_player_ms: 60_000,
            against_bot_ms: 600_000,
        });
    });
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    script
}

#[test]
fn stand_in_takes_seat_until_player_joins_again() {
    let mut script = with_stand_in_terms();
    script.play_ok(ANN, "b2");
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
    assert_eq!(script.apply_ok(&stand_in_action(Seat::Second)), [seated]);
    let state = &script.state;
    assert_eq!(state.bot_to_move(), Some((Seat::Second, Level::Easy)));
    assert_eq!(state.seat_of(BOB), None);
    assert_eq!(state.substituted_seat(BOB), Some(Seat::Second));
    assert_eq!(state.substitution_count(Seat::Second), 1);
    assert_eq!(
        state.turn(),
        Some(Seat::Second),
        "the match is still running"
    );
    script.assert_refused(&play_action(BOB, 1, "a1"), Refusal::NotSeated);
    script.assert_refused(&Action::Resign { player: BOB }, Refusal::NotSeated);
    script.apply_ok(&Action::PlayAsBot {
        seat: Seat::Second,
        ply: Ply(1),
        m: "a1".to_owned(),
    });
    // Only Bob can take the seat of his stand-in. Bob cannot take the other seat.
    script.assert_refused(&join_action(CAT, None), Refusal::SeatTaken);
    script.assert_refused(&join_action(BOB, Some(Seat::First)), Refusal::SeatTaken);
    script.apply_ok(&join_action(BOB, None));
    assert_eq!(script.state.seat_of(BOB), Some(Seat::Second));
    assert_eq!(script.state.bot_to_move(), None);
    script.assert_refused(&join_action(BOB, None), Refusal::AlreadySeated);
    let audited = Match::audit(script.state.creation().clone(), &script.events);
    assert_eq!(audited, Ok(()));
}

#[test]
fn stand_in_is_refused_without_terms_or_twice() {
    let mut script = Script::running();
    assert!(matches!(
        script.apply(&stand_in_action(Seat::First)),
        Err(Refusal::NotAllowed(_))
    ));
    let mut script = with_stand_in_terms();
    script.apply_ok(&stand_in_action(Seat::First));
    script.assert_refused(&stand_in_action(Seat::First), Refusal::NotSeated);
}

#[test]
fn offers_of_replaced_player_are_dropped() {
    let mut script = with_stand_in_terms_of("chess");
    script.play_ok(ANN, "e2e4");
    script.play_ok(BOB, "e7e5");
    script.apply_ok(&Action::OfferDraw {
        player: BOB,
        ply: Ply(2),
    });
    script.apply_ok(&stand_in_action(Seat::Second));
    assert_eq!(script.state.pending_offers().count(), 0);
}

#[test]
fn stand_in_accepts_pending_takeback() {
    let mut script = with_stand_in_terms();
    script.play_ok(ANN, "b2");
    script.apply_ok(&Action::OfferTakeback {
        player: ANN,
        ply: Ply(1),
        to_ply: None,
    });
    script.apply_ok(&stand_in_action(Seat::Second));
    assert_eq!(script.state.ply(), Ply(0));
}

#[test]
fn match_of_stand_ins_only_is_aborted_after_ten_minutes() {
    let mut script = with_stand_in_terms();
    script.apply_ok(&stand_in_action(Seat::First));
    assert!(script.state.bot_to_move().is_some());
    script.apply_ok(&stand_in_action(Seat::Second));
    assert!(script.state.waits_for_players());
    assert_eq!(script.state.bot_to_move(), None);
    let mut absences = AbsenceScenario::new(script);
    absences.set_present(0, &[]);
    assert_eq!(absences.due_action(599), None);
    assert_eq!(absences.due_action(600), Some(Action::Abort));
    absences.script.apply_ok(&join_action(BOB, None));
    absences.set_present(590, &[BOB]);
    assert!(absences.script.state.bot_to_move().is_some());
    assert_eq!(absences.due_action(10_000), None);
}

#[test]
fn stand_in_replaces_absent_player_if_opponent_stays() {
    let mut absences = AbsenceScenario::new(with_stand_in_terms());
    absences.set_present(0, &[ANN, BOB]);
    absences.set_present(10, &[ANN]);
    let absence_remaining = |absences: &AbsenceScenario, at_s| {
        let now = absences.start + Duration::from_secs(at_s);
        Seat::ALL.map(|seat| {
            absences
                .timers
                .absence_remaining(&absences.script.state, seat, now)
        })
    };
    assert_eq!(
        absence_remaining(&absences, 27),
        [None, Some(Duration::from_secs(43))]
    );
    assert_eq!(absences.due_action(70), Some(stand_in_action(Seat::Second)));
    absences.script.apply_ok(&stand_in_action(Seat::Second));
    absences.set_present(70, &[ANN]);
    assert_eq!(absence_remaining(&absences, 71), [None, None]);
    // Bob's stand-in counts as an opponent who can continue the match.
    absences.set_present(100, &[]);
    assert_eq!(absences.due_action(160), Some(stand_in_action(Seat::First)));

    let mut absences = AbsenceScenario::new(with_stand_in_terms());
    absences.set_present(0, &[ANN, BOB]);
    absences.set_present(10, &[ANN]);
    absences.set_present(20, &[]);
    let abandoned = Some(Action::Abandon { seat: Seat::Second });
    assert_eq!(
        absences.due_action(70),
        abandoned,
        "no player is present to play on"
    );

    let mut absences = AbsenceScenario::new(with_stand_in_terms());
    absences.set_present(0, &[]);
    assert_eq!(absences.due_action(60), Some(Action::Abort));
}

#[test]
fn absence_limit_against_bot_is_ten_minutes() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    assert_eq!(script.state.absence_limit_ms(), Some(600_000));
    let mut absences = AbsenceScenario::new(script);
    absences.set_present(0, &[]);
    assert_eq!(absences.due_action(599), None);
    assert_eq!(
        absences.due_action(600),
        Some(Action::Abandon { seat: Seat::First })
    );
}

#[test]
fn challenge_is_joined_or_declined_by_invited_player_only() {
    let challenge = || {
        let mut script = Script::with_terms("tic-tac-toe", |terms| terms.invited = Some(BOB));
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
        for event in Match::initial_events(terms, seats, NOW_MS) {
            script.state.fold(&event).unwrap();
            script.events.push(event);
        }
        script
    };
    let mut script = challenge();
    script.assert_refused(&join_action(CAT, None), Refusal::SeatTaken);
    let decline = |player| Action::DeclineChallenge { player };
    script.assert_refused(&decline(ANN), Refusal::NothingOffered);
    script.assert_refused(&decline(CAT), Refusal::NothingOffered);
    let declined = EventKind::Ended {
        winner: None,
        reason: EndReason::Aborted,
        detail: Some(EndDetail::Declined),
        by: None,
        remaining: None,
    };
    assert_eq!(script.apply_ok(&decline(BOB)), [declined]);
    let mut script = challenge();
    script.apply_ok(&join_action(BOB, None));
    script.assert_refused(&decline(BOB), Refusal::NothingOffered);
}
