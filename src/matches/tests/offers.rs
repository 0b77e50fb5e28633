//! Draw offers, takebacks, gifts of time, and aborted matches.

use super::*;

const DRAW: Offer = Offer::Draw;
const TAKEBACK: Offer = Offer::Takeback;

fn draw_action(player: PlayerId, ply: u64) -> Action {
    let ply = Ply(ply);
    Action::OfferDraw { player, ply }
}

fn takeback_action(player: PlayerId, ply: u64, to_ply: Option<u64>) -> Action {
    Action::OfferTakeback {
        player,
        ply: Ply(ply),
        to_ply: to_ply.map(Ply),
    }
}

const fn decline_action(player: PlayerId, offer: Offer) -> Action {
    Action::Decline { player, offer }
}

fn offered_event(seat: Seat, offer: Offer, ply: u64, to_ply: Option<u64>) -> EventKind {
    EventKind::Offered {
        seat,
        offer,
        ply: Ply(ply),
        to_ply: to_ply.map(Ply),
    }
}

fn expect_too_soon(result: Result<Vec<EventKind>, Refusal>) -> (Option<Ply>, Option<u64>) {
    match result {
        Err(Refusal::TooSoon {
            expected,
            retry_after_ms,
            ..
        }) => (expected, retry_after_ms),
        other => panic!("{other:?}"),
    }
}

/// Starts a match of Gomoku and plays `plies` plies, one second apart.
fn gomoku_after_plies(plies: u64) -> Script {
    let mut script = Script::new("gomoku");
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    play_plies(&mut script, plies);
    script
}

/// Plays `plies` more plies. The stones never form five in a row.
fn play_plies(script: &mut Script, plies: u64) {
    for _ in 0..plies {
        let ply = script.state.ply().0;
        let player = if ply.is_multiple_of(2) { ANN } else { BOB };
        let file = char::from(b'a' + u8::try_from(ply % 15).unwrap());
        let m = format!("{file}{}", 1 + ply / 15);
        let at_ms = NOW_MS + 1000 * script.state.seq().0;
        script.apply_ok_at(&play_action(player, ply, &m), Timestamp::uncharged(at_ms));
    }
}

/// Applies an action at a time long after all earlier actions.
fn apply_later(script: &mut Script, action: &Action) -> Result<Vec<EventKind>, Refusal> {
    let at_ms = NOW_MS + 100_000_000 + 2000 * script.state.seq().0;
    script.apply_at(action, Timestamp::uncharged(at_ms))
}

#[test]
fn draw_offer_accepted_by_opponent_ends_match() {
    let mut script = gomoku_after_plies(4);
    let first = offered_event(Seat::First, DRAW, 4, None);
    assert_eq!(script.apply_ok(&draw_action(ANN, 4)), [first]);
    let standing: Vec<_> = script.state.pending_offers().collect();
    assert_eq!(standing.len(), 1);
    let seq = standing[0].seq;
    assert_eq!(
        script.state.find_repeated_offer(ANN, DRAW, Ply(4), None),
        Some(seq)
    );
    assert_eq!(
        script.state.find_repeated_offer(BOB, DRAW, Ply(4), None),
        None
    );
    assert_eq!(
        expect_too_soon(script.apply(&draw_action(ANN, 4))),
        (Some(Ply(24)), None),
        "players cannot accept their own offers"
    );
    // A draw offer stays pending after a move of the player who made it.
    play_plies(&mut script, 1);
    assert_eq!(
        script.state.find_repeated_offer(ANN, DRAW, Ply(4), None),
        Some(seq)
    );
    assert_eq!(
        script.apply_ok(&draw_action(BOB, 5)),
        [ended_event(None, EndReason::Agreement)]
    );
    assert_eq!(script.state.pending_offers().count(), 0);
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}

#[test]
fn draw_offer_is_declined_explicitly_or_by_a_move() {
    let mut script = gomoku_after_plies(4);
    script.apply_ok(&draw_action(BOB, 4));
    let declined = EventKind::Declined {
        seat: Seat::Second,
        offer: DRAW,
        by: Seat::First,
    };
    assert_eq!(script.apply_ok(&decline_action(ANN, DRAW)), [declined]);
    script.assert_refused(&decline_action(ANN, DRAW), Refusal::NothingOffered);
    script.apply_ok(&draw_action(ANN, 4));
    let withdrawn = EventKind::Declined {
        seat: Seat::First,
        offer: DRAW,
        by: Seat::First,
    };
    assert_eq!(script.apply_ok(&decline_action(ANN, DRAW)), [withdrawn]);
    // Bob may offer a draw again at once, because Ann has offered a draw since Bob's last offer.
    // Ann's move then declines Bob's offer.
    script.apply_ok(&draw_action(BOB, 4));
    play_plies(&mut script, 1);
    assert_eq!(script.state.pending_offers().count(), 0);
}

#[test]
fn draw_offers_of_a_seat_are_twenty_plies_apart() {
    let mut script = gomoku_after_plies(0);
    assert_eq!(
        expect_too_soon(script.apply(&draw_action(ANN, 0))),
        (Some(Ply(2)), None)
    );
    play_plies(&mut script, 1);
    assert_eq!(
        expect_too_soon(script.apply(&draw_action(ANN, 1))),
        (Some(Ply(2)), None)
    );
    play_plies(&mut script, 1);
    script.apply_ok(&draw_action(ANN, 2));
    play_plies(&mut script, 19);
    assert_eq!(
        expect_too_soon(script.apply(&draw_action(ANN, 21))),
        (Some(Ply(22)), None)
    );
    play_plies(&mut script, 1);
    script.apply_ok(&draw_action(ANN, 22));
    // After a takeback to an earlier ply, the match treats a later draw offer as made at that ply.
    apply_later(&mut script, &takeback_action(ANN, 22, None)).unwrap();
    apply_later(&mut script, &takeback_action(BOB, 22, None)).unwrap();
    assert_eq!(script.state.ply(), Ply(20));
    assert_eq!(
        expect_too_soon(script.apply(&draw_action(ANN, 20))),
        (Some(Ply(40)), None)
    );
}

#[test]
fn offer_is_refused_for_first_failing_check() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, None));
    for action in [
        draw_action(CAT, 9),
        takeback_action(CAT, 9, None),
        decline_action(CAT, DRAW),
        Action::AbortByPlayer { player: CAT },
        Action::GiveTime {
            player: CAT,
            ms: 5000,
        },
    ] {
        script.assert_refused(&action, Refusal::NotSeated);
    }
    for action in [
        draw_action(ANN, 9),
        takeback_action(ANN, 9, None),
        decline_action(ANN, TAKEBACK),
    ] {
        script.assert_refused(&action, Refusal::MatchNotStarted);
    }
    script.apply_ok(&join_action(BOB, None));
    script.assert_refused(&draw_action(ANN, 9), stale_ply(0, 0));
    script.assert_refused(&takeback_action(ANN, 9, None), stale_ply(0, 0));
    assert_not_allowed(script.apply(&draw_action(ANN, 0)));
    assert_eq!(
        expect_too_soon(script.apply(&takeback_action(ANN, 0, None))),
        (None, None)
    );
    script.assert_refused(&decline_action(ANN, TAKEBACK), Refusal::NothingOffered);
    script.apply_ok(&Action::Resign { player: ANN });
    for action in [
        draw_action(ANN, 0),
        takeback_action(ANN, 0, None),
        decline_action(ANN, DRAW),
    ] {
        script.assert_refused(&action, Refusal::MatchEnded);
    }
}

#[test]
fn accepted_takeback_restores_earlier_ply() {
    let mut script = gomoku_after_plies(3);
    let before = script.state.position().to_string();
    play_plies(&mut script, 2);
    // Bob requests to take back his last move and Ann's move after it.
    let request = offered_event(Seat::Second, TAKEBACK, 5, Some(3));
    assert_eq!(
        apply_later(&mut script, &takeback_action(BOB, 5, None)),
        Ok(vec![request])
    );
    let other = apply_later(&mut script, &takeback_action(ANN, 5, Some(4)));
    assert_eq!(other, Err(Refusal::NothingOffered));
    let taken_back = EventKind::TakenBack {
        ply: Ply(3),
        remaining: None,
    };
    assert_eq!(
        script.apply_ok(&takeback_action(ANN, 5, None)),
        [taken_back]
    );
    let state = &script.state;
    assert_eq!((state.ply(), state.takebacks()), (Ply(3), 1));
    assert_eq!(state.position().to_string(), before);
    assert_eq!(state.turn(), Some(Seat::Second));
    assert_eq!(state.moves().count(), 3);
    // If a player repeats a move that a takeback removed, the match must not treat the move as a
    // repeated request.
    assert_eq!(state.find_repeated_move(BOB, Ply(3), "d1"), None);
    let stale_move = Action::Play {
        player: BOB,
        ply: Ply(3),
        m: "d1".to_owned(),
        takebacks: Some(0),
    };
    script.assert_refused(&stale_move, stale_ply(3, 1));
    play_plies(&mut script, 1);
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}

#[test]
fn takeback_needs_a_ply_of_the_requester() {
    let mut script = gomoku_after_plies(1);
    assert_eq!(
        expect_too_soon(script.apply(&takeback_action(BOB, 1, None))),
        (None, None)
    );
    play_plies(&mut script, 1);
    assert_eq!(
        expect_too_soon(apply_later(&mut script, &takeback_action(ANN, 2, Some(1)))),
        (None, None)
    );
    apply_later(&mut script, &takeback_action(ANN, 2, Some(0))).unwrap();
}

/// The first takeback request at a ply is never too soon. A second request at the same ply is
/// refused for one second.
#[test]
fn second_takeback_in_same_ply_is_refused_within_a_second() {
    let mut script = gomoku_after_plies(2);
    let at = |ms: u64| Timestamp::uncharged(NOW_MS + 2000 + ms);
    script
        .apply_at(&takeback_action(ANN, 2, Some(0)), at(0))
        .unwrap();
    script
        .apply_at(&decline_action(BOB, TAKEBACK), at(1))
        .unwrap();
    for (ms, wait) in [(1, 999), (400, 600), (999, 1)] {
        let again = script.apply_at(&takeback_action(ANN, 2, Some(0)), at(ms));
        assert_eq!(expect_too_soon(again), (None, Some(wait)), "{ms}");
    }
    // The minimum time between takeback requests applies to each seat separately.
    script
        .apply_at(&takeback_action(BOB, 2, Some(1)), at(500))
        .unwrap();
    script
        .apply_at(&decline_action(ANN, TAKEBACK), at(501))
        .unwrap();
    script
        .apply_at(&takeback_action(ANN, 2, Some(0)), at(1000))
        .unwrap();
    // At another ply, a takeback request is allowed at once.
    play_plies(&mut script, 1);
    script
        .apply_at(&takeback_action(ANN, 3, Some(2)), at(1001))
        .unwrap();
}

/// An accepted takeback can return the match to the same ply. The minimum time between takeback
/// requests at that ply still applies.
#[test]
fn takeback_after_granted_takeback_is_refused_within_a_second() {
    let mut script = Script::new("gomoku");
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    play_plies(&mut script, 2);
    let at = |ms: u64| Timestamp::uncharged(NOW_MS + 2000 + ms);
    script
        .apply_at(&takeback_action(ANN, 2, Some(0)), at(0))
        .unwrap();
    script
        .apply_at(&takeback_action(BOB, 2, None), at(1))
        .unwrap();
    assert_eq!(script.state.ply(), Ply(0), "accepted");
    play_plies(&mut script, 2);
    let again = script.apply_at(&takeback_action(ANN, 2, Some(0)), at(300));
    assert_eq!(expect_too_soon(again), (None, Some(700)));
    script
        .apply_at(&takeback_action(ANN, 2, Some(0)), at(1000))
        .unwrap();
}

#[test]
fn takeback_is_refused_after_three_unsuccessful_ones() {
    let mut script = gomoku_after_plies(2);
    apply_later(&mut script, &takeback_action(BOB, 2, None)).unwrap();
    script.apply_ok(&decline_action(ANN, TAKEBACK));
    apply_later(&mut script, &takeback_action(BOB, 2, None)).unwrap();
    play_plies(&mut script, 1);
    assert_eq!(
        script.state.pending_offers().count(),
        0,
        "the move declined it"
    );
    apply_later(&mut script, &takeback_action(BOB, 3, None)).unwrap();
    script.apply_ok(&decline_action(BOB, TAKEBACK));
    assert_not_allowed(apply_later(&mut script, &takeback_action(BOB, 3, None)));
    // The limit applies to each seat separately, so the opponent may still request takebacks.
    apply_later(&mut script, &takeback_action(ANN, 3, None)).unwrap();
    script.apply_ok(&takeback_action(BOB, 3, None));
    assert_eq!(script.state.ply(), Ply(2));
}

#[test]
fn new_takeback_replaces_own_pending_one() {
    let mut script = gomoku_after_plies(4);
    apply_later(&mut script, &takeback_action(BOB, 4, Some(3))).unwrap();
    apply_later(&mut script, &takeback_action(BOB, 4, Some(2))).unwrap();
    let standing: Vec<_> = script
        .state
        .pending_offers()
        .map(|standing| standing.to_ply)
        .collect();
    assert_eq!(standing, [Some(Ply(2))]);
    assert_eq!(
        script
            .state
            .find_repeated_offer(BOB, TAKEBACK, Ply(4), None),
        None
    );
    let again = script
        .state
        .find_repeated_offer(BOB, TAKEBACK, Ply(4), Some(Ply(2)));
    assert_eq!(again, Some(script.state.seq()));
    apply_later(&mut script, &takeback_action(BOB, 4, Some(3))).unwrap();
    apply_later(&mut script, &takeback_action(BOB, 4, Some(2))).unwrap();
    assert_not_allowed(apply_later(&mut script, &takeback_action(BOB, 4, Some(3))));
}

#[test]
fn takebacks_can_be_disallowed_by_terms() {
    type Change = fn(&mut Terms);
    let disallowing_changes: [Change; 2] = [
        |terms| terms.takebacks_allowed = false,
        |terms| terms.rated = true,
    ];
    for change in disallowing_changes {
        let mut script = Script::with_terms("chess", change);
        script.apply_ok(&join_as_account_action(ANN));
        script.apply_ok(&join_as_account_action(BOB));
        script.play_ok(ANN, "e2e4");
        assert_not_allowed(apply_later(&mut script, &takeback_action(ANN, 1, None)));
    }
}

#[test]
fn bot_grants_takeback_at_once() {
    let mut script = Script::new("gomoku");
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    script.play_ok(ANN, "a1");
    let events = apply_later(&mut script, &takeback_action(ANN, 1, None)).unwrap();
    let taken_back = EventKind::TakenBack {
        ply: Ply(0),
        remaining: None,
    };
    assert_eq!(
        events,
        [offered_event(Seat::First, TAKEBACK, 1, Some(0)), taken_back]
    );
    assert_eq!(script.state.takebacks(), 1);
    let mut truncated = script.events.clone();
    truncated.pop();
    let audited = Match::audit(script.state.creation().clone(), &truncated);
    assert!(
        matches!(audited, Err(AuditError::Incomplete { .. })),
        "{audited:?}"
    );
}

#[test]
fn bot_answers_pending_draw_offer() {
    let mut script = Script::new("gomoku");
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    script.play_ok(ANN, "a1");
    script.apply_ok(&Action::PlayAsBot {
        seat: Seat::Second,
        ply: Ply(1),
        m: "b1".to_owned(),
    });
    let answer = |accepts| Action::AnswerDrawAsBot {
        seat: Seat::Second,
        accepts,
    };
    script.assert_refused(&answer(true), Refusal::NothingOffered);
    script.apply_ok(&draw_action(ANN, 2));
    assert_eq!(script.state.bot_to_answer_draw(), Some(Seat::Second));
    script.apply_ok(&answer(false));
    assert_eq!(script.state.bot_to_answer_draw(), None);
}

/// After a takeback, both clocks return to their state at the start of the ply that is played
/// again.
#[test]
fn takeback_restores_clocks() {
    let clock = ClockControl::ByoYomi {
        main_ms: 10_000,
        period_ms: 5000,
        periods: 3,
    };
    let mut script = Script::timed("gomoku", clock);
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    let mut remaining_by_ply = vec![script.state.remaining_time()];
    for (ply, spent_ms) in [0, 0, 4000, 12_000, 7000, 1000].into_iter().enumerate() {
        let player = if ply % 2 == 0 { ANN } else { BOB };
        let m = format!("{}1", char::from(b'a' + u8::try_from(ply).unwrap()));
        let at_ms = NOW_MS + 20_000 * ply as u64;
        script.apply_ok_at(
            &play_action(player, ply as u64, &m),
            Timestamp { at_ms, spent_ms },
        );
        remaining_by_ply.push(script.state.remaining_time());
    }
    // Ann gives time, and may do so only once per ply.
    let gift = Action::GiveTime {
        player: ANN,
        ms: 5000,
    };
    script.apply_ok(&gift);
    assert_eq!(expect_too_soon(script.apply(&gift)), (Some(Ply(7)), None));
    let remaining_ms = |script: &Script| script.state.remaining_time().unwrap().remaining_ms();
    assert_eq!(remaining_ms(&script), [0, 5000]);
    assert_eq!(
        script.state.remaining_time().unwrap().periods(),
        Some([3, 3])
    );
    for (requester, granter, to_ply) in [(BOB, ANN, 5), (ANN, BOB, 4), (ANN, BOB, 2)] {
        let ply = script.state.ply().0;
        apply_later(&mut script, &takeback_action(requester, ply, Some(to_ply))).unwrap();
        script.apply_ok(&takeback_action(granter, ply, None));
        let to_ply = usize::try_from(to_ply).unwrap();
        assert_eq!(
            script.state.remaining_time(),
            remaining_by_ply[to_ply],
            "at ply {to_ply}"
        );
    }
    // The takebacks removed the gift, so Ann can give time again. After a further takeback, the
    // next ply is again the first of its seat and therefore free.
    script.apply_ok(&gift);
    assert_eq!(remaining_ms(&script), [10_000, 15_000]);
    assert!(!script.state.is_free_ply());
    apply_later(&mut script, &takeback_action(BOB, 2, None)).unwrap();
    script.apply_ok(&takeback_action(ANN, 2, None));
    assert!(script.state.is_free_ply());
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}

/// A player who gave time at a ply cannot give time again when that ply is replayed, even after
/// later gifts.
#[test]
fn time_is_given_once_per_ply_even_after_takeback() {
    let clock = ClockControl::Fischer {
        main_ms: 60_000,
        increment_ms: 0,
    };
    let mut script = Script::timed("gomoku", clock);
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    let gift = Action::GiveTime {
        player: ANN,
        ms: 5000,
    };
    for (ply, m) in ["a1", "b1", "c1", "d1"].into_iter().enumerate() {
        if ply == 3 {
            script.apply_ok(&gift);
        }
        let player = if ply % 2 == 0 { ANN } else { BOB };
        script.apply_ok(&play_action(player, ply as u64, m));
    }
    script.apply_ok(&gift);
    apply_later(&mut script, &takeback_action(BOB, 4, Some(3))).unwrap();
    script.apply_ok(&takeback_action(ANN, 4, None));
    assert_eq!(expect_too_soon(script.apply(&gift)), (Some(Ply(4)), None));
}

#[test]
fn giving_time_is_refused_where_terms_exclude_it() {
    let blitz = ClockControl::Fischer {
        main_ms: 7_190_000,
        increment_ms: 0,
    };
    let gift = |ms| Action::GiveTime { player: ANN, ms };
    let running_match = |change: &dyn Fn(&mut Terms), bot: bool| {
        let mut script = Script::with_terms("chess", change);
        script.apply_ok(&join_as_account_action(ANN));
        if bot {
            script.apply_ok(&Action::SeatBot {
                by: ANN,
                seat: Seat::Second,
                level: Level::Easy,
            });
        } else {
            script.assert_refused(&gift(5000), Refusal::MatchNotStarted);
            script.apply_ok(&join_as_account_action(BOB));
        }
        script
    };
    let timed = |terms: &mut Terms| terms.clock = Some(blitz);
    assert_not_allowed(running_match(&|_| {}, false).apply(&gift(5000)));
    assert_not_allowed(running_match(&timed, true).apply(&gift(5000)));
    let by_move = |terms: &mut Terms| terms.clock = Some(ClockControl::Move { move_ms: 5000 });
    assert_not_allowed(running_match(&by_move, false).apply(&gift(5000)));
    let rated = |terms: &mut Terms| (terms.clock, terms.rated) = (Some(blitz), true);
    assert_not_allowed(running_match(&rated, false).apply(&gift(5000)));
    let mut script = running_match(&timed, false);
    assert_not_allowed(script.apply(&gift(10_001)));
    script.apply_ok(&gift(10_000));
    assert_eq!(
        script.state.remaining_time().unwrap().remaining_ms(),
        [7_190_000, 7_200_000]
    );
    // Each seat may give time once per ply.
    script.apply_ok(&Action::GiveTime {
        player: BOB,
        ms: 5000,
    });
}

#[test]
fn player_can_abort_before_second_ply_only() {
    let abort = |player| Action::AbortByPlayer { player };
    let mut script = gomoku_after_plies(1);
    let aborted = EventKind::Ended {
        winner: None,
        reason: EndReason::Aborted,
        detail: None,
        by: Some(Seat::Second),
        remaining: None,
    };
    assert_eq!(script.apply_ok(&abort(BOB)), [aborted]);
    let mut script = gomoku_after_plies(2);
    assert_not_allowed(script.apply(&abort(ANN)));
    apply_later(&mut script, &takeback_action(ANN, 2, None)).unwrap();
    apply_later(&mut script, &takeback_action(BOB, 2, None)).unwrap();
    assert_eq!(script.state.ply(), Ply(0));
    assert_not_allowed(script.apply(&abort(ANN)));
}

#[test]
fn offers_are_refused_after_event_limit() {
    let mut script = gomoku_after_plies(2);
    let mut count = 0;
    loop {
        let (player, other) = if count % 2 == 0 {
            (ANN, BOB)
        } else {
            (BOB, ANN)
        };
        match script
            .state
            .apply(&draw_action(player, 2), Timestamp::uncharged(NOW_MS))
        {
            Ok(events) => script.state.fold(&events[0]).unwrap(),
            Err(refusal) => {
                assert_eq!(refusal, Refusal::TooManyEvents);
                break;
            }
        }
        let declined = script
            .state
            .apply(&decline_action(other, DRAW), Timestamp::uncharged(NOW_MS));
        script.state.fold(&declined.unwrap()[0]).unwrap();
        count += 1;
        assert!(count < 1000, "the match has no limit on events");
    }
    assert!(script.state.seq() >= Seq(1008), "{}", script.state.seq());
    // A move is allowed even if the match has reached its limit on events.
    let moved = script
        .state
        .apply(&play_action(ANN, 2, "a9"), Timestamp::uncharged(NOW_MS));
    assert!(moved.is_ok());
}

#[test]
fn flag_fall_and_missing_first_move_end_match() {
    let clock = ClockControl::Fischer {
        main_ms: 60_000,
        increment_ms: 0,
    };
    let timed = |game: &str, moves: &str| {
        let mut script = Script::timed(game, clock);
        script.apply_ok(&join_action(ANN, None));
        script.apply_ok(&join_action(BOB, None));
        for (ply, m) in moves.split_whitespace().enumerate() {
            script.play_ok(if ply % 2 == 0 { ANN } else { BOB }, m);
        }
        script
    };
    let outcome = |mut script: Script, action: &Action| match script.apply_ok(action).pop() {
        Some(EventKind::Ended {
            winner,
            reason,
            detail,
            by,
            remaining,
        }) => (
            winner,
            reason,
            detail,
            by,
            remaining.unwrap().remaining_ms(),
        ),
        other => panic!("{other:?}"),
    };
    let (winner, full) = (Some(Seat::Second), [0, 60_000]);
    let lost = outcome(timed("chess", "e2e4 e7e5"), &Action::Flag);
    assert_eq!(lost, (winner, EndReason::Timeout, None, None, full));
    // Ann has a mark on every possible line, so Bob cannot win.
    let drawn = timed("tic-tac-toe", "a3 a2 c3 a1 b1 b2 c2 c1");
    let drawn = outcome(drawn, &Action::Flag);
    let cannot_win = Some(EndDetail::CannotWin);
    assert_eq!(drawn, (None, EndReason::Timeout, cannot_win, None, full));
    let mut agreed = timed("chess", "e2e4 e7e5");
    agreed.apply_ok(&draw_action(BOB, 2));
    let agreed = outcome(agreed, &Action::Flag);
    let flag = Some(EndDetail::Flag);
    assert_eq!(agreed, (None, EndReason::Agreement, flag, None, full));
    let late = outcome(timed("chess", "e2e4"), &Action::NoFirstMove);
    let detail = Some(EndDetail::NoFirstMove);
    let by = Some(Seat::Second);
    assert_eq!(late, (None, EndReason::Aborted, detail, by, [60_000; 2]));
    let mut script = Script::running();
    assert_not_allowed(script.apply(&Action::Flag));
}

/// The event that ends a match charges the time used in the current turn, but adds no increment.
#[test]
fn end_event_has_remaining_time() {
    let clock = ClockControl::Fischer {
        main_ms: 60_000,
        increment_ms: 2000,
    };
    let mut script = Script::timed("chess", clock);
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    script.play_ok(ANN, "e2e4");
    script.play_ok(BOB, "e7e5");
    let now = Timestamp {
        at_ms: NOW_MS,
        spent_ms: 7000,
    };
    script.apply_ok_at(&Action::Resign { player: BOB }, now);
    assert_eq!(
        script.state.remaining_time().unwrap().remaining_ms(),
        [53_000, 60_000]
    );
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}
