//! Draws, takebacks, gifts of time, and matches that are called off.

use super::*;

const DRAW: Offer = Offer::Draw;
const TAKEBACK: Offer = Offer::Takeback;

fn draw(player: PlayerId, ply: u64) -> Action {
    let ply = Ply(ply);
    Action::OfferDraw { player, ply }
}

fn takeback(player: PlayerId, ply: u64, to_ply: Option<u64>) -> Action {
    Action::OfferTakeback {
        player,
        ply: Ply(ply),
        to_ply: to_ply.map(Ply),
    }
}

const fn decline(player: PlayerId, offer: Offer) -> Action {
    Action::Decline { player, offer }
}

fn offered(seat: Seat, offer: Offer, ply: u64, to_ply: Option<u64>) -> EventKind {
    EventKind::Offered {
        seat,
        offer,
        ply: Ply(ply),
        to_ply: to_ply.map(Ply),
    }
}

fn too_soon(result: Result<Vec<EventKind>, Refusal>) -> (Option<Ply>, Option<u64>) {
    match result {
        Err(Refusal::TooSoon {
            expected,
            retry_after_ms,
            ..
        }) => (expected, retry_after_ms),
        other => panic!("{other:?}"),
    }
}

fn not_allowed(result: Result<Vec<EventKind>, Refusal>) {
    assert!(matches!(result, Err(Refusal::NotAllowed(_))), "{result:?}");
}

/// A running match of Gomoku after so many plies, each begun a second after the one before.
fn gomoku(plies: u64) -> Script {
    let mut script = Script::new("gomoku");
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    play_on(&mut script, plies);
    script
}

/// Plays so many more plies, in lines that never make five.
fn play_on(script: &mut Script, plies: u64) {
    for _ in 0..plies {
        let ply = script.state.ply().0;
        let player = if ply.is_multiple_of(2) { ANN } else { BOB };
        let file = char::from(b'a' + u8::try_from(ply % 15).unwrap());
        let m = format!("{file}{}", 1 + ply / 15);
        let at_ms = NOW_MS + 1000 * script.state.seq().0;
        script.ok_at(&play(player, ply, &m), Timestamp::free(at_ms));
    }
}

/// Acts long after whatever happened before.
fn later(script: &mut Script, action: &Action) -> Result<Vec<EventKind>, Refusal> {
    let at_ms = NOW_MS + 100_000_000 + 2000 * script.state.seq().0;
    script.act_at(action, Timestamp::free(at_ms))
}

#[test]
fn two_players_agree_on_a_draw() {
    let mut script = gomoku(4);
    let first = offered(Seat::First, DRAW, 4, None);
    assert_eq!(script.ok(&draw(ANN, 4)), [first]);
    let standing: Vec<_> = script.state.offers().collect();
    assert_eq!(standing.len(), 1);
    let seq = standing[0].seq;
    assert_eq!(
        script.state.offered_already(ANN, DRAW, Ply(4), None),
        Some(seq)
    );
    assert_eq!(script.state.offered_already(BOB, DRAW, Ply(4), None), None);
    // One's own move keeps it.
    play_on(&mut script, 1);
    assert_eq!(
        script.state.offered_already(ANN, DRAW, Ply(4), None),
        Some(seq)
    );
    assert_eq!(script.ok(&draw(BOB, 5)), [ended(None, Reason::Agreement)]);
    assert_eq!(script.state.offers().count(), 0);
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}

#[test]
fn a_draw_is_declined_by_word_or_by_a_move() {
    let mut script = gomoku(4);
    script.ok(&draw(BOB, 4));
    let declined = EventKind::Declined {
        seat: Seat::Second,
        offer: DRAW,
        by: Seat::First,
    };
    assert_eq!(script.ok(&decline(ANN, DRAW)), [declined]);
    script.refused(&decline(ANN, DRAW), Refusal::NothingOffered);
    script.ok(&draw(ANN, 4));
    let withdrawn = EventKind::Declined {
        seat: Seat::First,
        offer: DRAW,
        by: Seat::First,
    };
    assert_eq!(script.ok(&decline(ANN, DRAW)), [withdrawn]);
    // Since Ann has offered after him, Bob may again; and her move answers.
    script.ok(&draw(BOB, 4));
    play_on(&mut script, 1);
    assert_eq!(script.state.offers().count(), 0);
}

#[test]
fn draws_are_offered_seldom() {
    let mut script = gomoku(0);
    assert_eq!(too_soon(script.act(&draw(ANN, 0))), (Some(Ply(2)), None));
    play_on(&mut script, 1);
    assert_eq!(too_soon(script.act(&draw(ANN, 1))), (Some(Ply(2)), None));
    play_on(&mut script, 1);
    script.ok(&draw(ANN, 2));
    play_on(&mut script, 19);
    assert_eq!(too_soon(script.act(&draw(ANN, 21))), (Some(Ply(22)), None));
    play_on(&mut script, 1);
    script.ok(&draw(ANN, 22));
    // Taken back to before it, it counts as offered there.
    later(&mut script, &takeback(ANN, 22, None)).unwrap();
    later(&mut script, &takeback(BOB, 22, None)).unwrap();
    assert_eq!(script.state.ply(), Ply(20));
    assert_eq!(too_soon(script.act(&draw(ANN, 20))), (Some(Ply(40)), None));
}

#[test]
fn refusals_of_an_offer_come_in_order() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, None));
    for action in [
        draw(CAT, 9),
        takeback(CAT, 9, None),
        decline(CAT, DRAW),
        Action::AbortByPlayer { player: CAT },
        Action::GiveTime {
            player: CAT,
            ms: 5000,
        },
    ] {
        script.refused(&action, Refusal::NotSeated);
    }
    for action in [draw(ANN, 9), takeback(ANN, 9, None), decline(ANN, TAKEBACK)] {
        script.refused(&action, Refusal::MatchNotStarted);
    }
    script.ok(&join(BOB, None));
    script.refused(&draw(ANN, 9), stale(0, 0));
    script.refused(&takeback(ANN, 9, None), stale(0, 0));
    not_allowed(script.act(&draw(ANN, 0)));
    assert_eq!(too_soon(script.act(&takeback(ANN, 0, None))), (None, None));
    script.refused(&decline(ANN, TAKEBACK), Refusal::NothingOffered);
    script.ok(&Action::Resign { player: ANN });
    for action in [draw(ANN, 0), takeback(ANN, 0, None), decline(ANN, DRAW)] {
        script.refused(&action, Refusal::MatchEnded);
    }
}

#[test]
fn a_move_is_taken_back() {
    let mut script = gomoku(3);
    let before = script.state.position().to_string();
    play_on(&mut script, 2);
    // Bob asks for his own last ply, and Ann's after it.
    let asked = offered(Seat::Second, TAKEBACK, 5, Some(3));
    assert_eq!(later(&mut script, &takeback(BOB, 5, None)), Ok(vec![asked]));
    let other = later(&mut script, &takeback(ANN, 5, Some(4)));
    assert_eq!(other, Err(Refusal::NothingOffered));
    let taken = EventKind::TakenBack {
        ply: Ply(3),
        left: None,
    };
    assert_eq!(script.ok(&takeback(ANN, 5, None)), [taken]);
    let state = &script.state;
    assert_eq!((state.ply(), state.takebacks()), (Ply(3), 1));
    assert_eq!(state.position().to_string(), before);
    assert_eq!(state.turn(), Some(Seat::Second));
    assert_eq!(state.moves().count(), 3);
    // A move that was taken back is no move that was played.
    assert_eq!(state.repeated(BOB, Ply(3), "d1"), None);
    let stale_move = Action::Play {
        player: BOB,
        ply: Ply(3),
        m: "d1".to_owned(),
        takebacks: Some(0),
    };
    script.refused(&stale_move, stale(3, 1));
    play_on(&mut script, 1);
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}

#[test]
fn only_ones_own_moves_are_asked_back() {
    let mut script = gomoku(1);
    assert_eq!(too_soon(script.act(&takeback(BOB, 1, None))), (None, None));
    play_on(&mut script, 1);
    assert_eq!(
        too_soon(later(&mut script, &takeback(ANN, 2, Some(1)))),
        (None, None)
    );
    later(&mut script, &takeback(ANN, 2, Some(0))).unwrap();
}

/// The first request in a ply is never too soon, however quickly it comes; a second one has to wait for a second.
#[test]
fn a_second_takeback_in_the_same_ply_waits_for_a_second() {
    let mut script = gomoku(2);
    let at = |ms: u64| Timestamp::free(NOW_MS + 2000 + ms);
    script.act_at(&takeback(ANN, 2, Some(0)), at(0)).unwrap();
    script.act_at(&decline(BOB, TAKEBACK), at(1)).unwrap();
    for (ms, wait) in [(1, 999), (400, 600), (999, 1)] {
        let again = script.act_at(&takeback(ANN, 2, Some(0)), at(ms));
        assert_eq!(too_soon(again), (None, Some(wait)), "{ms}");
    }
    // The other seat has a pause of its own.
    script.act_at(&takeback(BOB, 2, Some(1)), at(500)).unwrap();
    script.act_at(&decline(ANN, TAKEBACK), at(501)).unwrap();
    script.act_at(&takeback(ANN, 2, Some(0)), at(1000)).unwrap();
    // In another ply at once.
    play_on(&mut script, 1);
    script.act_at(&takeback(ANN, 3, Some(2)), at(1001)).unwrap();
}

/// Also against a bot, which grants it at once, and after the ply has come again.
#[test]
fn takebacks_are_not_repeated_without_end_within_a_second() {
    let mut script = Script::new("gomoku");
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    play_on(&mut script, 2);
    let at = |ms: u64| Timestamp::free(NOW_MS + 2000 + ms);
    script.act_at(&takeback(ANN, 2, Some(0)), at(0)).unwrap();
    script.act_at(&takeback(BOB, 2, None), at(1)).unwrap();
    assert_eq!(script.state.ply(), Ply(0), "accepted");
    play_on(&mut script, 2);
    let again = script.act_at(&takeback(ANN, 2, Some(0)), at(300));
    assert_eq!(too_soon(again), (None, Some(700)));
    script.act_at(&takeback(ANN, 2, Some(0)), at(1000)).unwrap();
}

#[test]
fn three_takebacks_that_came_to_nothing_are_the_last() {
    let mut script = gomoku(2);
    later(&mut script, &takeback(BOB, 2, None)).unwrap();
    script.ok(&decline(ANN, TAKEBACK));
    later(&mut script, &takeback(BOB, 2, None)).unwrap();
    play_on(&mut script, 1);
    assert_eq!(script.state.offers().count(), 0, "a move has answered it");
    later(&mut script, &takeback(BOB, 3, None)).unwrap();
    script.ok(&decline(BOB, TAKEBACK));
    not_allowed(later(&mut script, &takeback(BOB, 3, None)));
    // What the other asks for is allowed as ever.
    later(&mut script, &takeback(ANN, 3, None)).unwrap();
    script.ok(&takeback(BOB, 3, None));
    assert_eq!(script.state.ply(), Ply(2));
}

#[test]
fn another_takeback_takes_the_place_of_ones_own() {
    let mut script = gomoku(4);
    later(&mut script, &takeback(BOB, 4, Some(3))).unwrap();
    later(&mut script, &takeback(BOB, 4, Some(2))).unwrap();
    let standing: Vec<_> = script
        .state
        .offers()
        .map(|standing| standing.to_ply)
        .collect();
    assert_eq!(standing, [Some(Ply(2))]);
    assert_eq!(
        script.state.offered_already(BOB, TAKEBACK, Ply(4), None),
        None
    );
    let again = script
        .state
        .offered_already(BOB, TAKEBACK, Ply(4), Some(Ply(2)));
    assert_eq!(again, Some(script.state.seq()));
    later(&mut script, &takeback(BOB, 4, Some(3))).unwrap();
    later(&mut script, &takeback(BOB, 4, Some(2))).unwrap();
    not_allowed(later(&mut script, &takeback(BOB, 4, Some(3))));
}

#[test]
fn terms_may_exclude_takebacks() {
    type Change = fn(&mut Terms);
    let excludes: [Change; 2] = [|terms| terms.takeback = false, |terms| terms.rated = true];
    for change in excludes {
        let mut script = Script::with("chess", change);
        script.ok(&join_as_account(ANN));
        script.ok(&join_as_account(BOB));
        script.play(ANN, "e2e4");
        not_allowed(later(&mut script, &takeback(ANN, 1, None)));
    }
}

#[test]
fn a_bot_gives_back_what_it_is_asked() {
    let mut script = Script::new("gomoku");
    script.ok(&join(ANN, None));
    script.ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    script.play(ANN, "a1");
    let given = later(&mut script, &takeback(ANN, 1, None)).unwrap();
    let taken = EventKind::TakenBack {
        ply: Ply(0),
        left: None,
    };
    assert_eq!(given, [offered(Seat::First, TAKEBACK, 1, Some(0)), taken]);
    assert_eq!(script.state.takebacks(), 1);
    let mut broken_off = script.events.clone();
    broken_off.pop();
    let audited = Match::audit(script.state.creation().clone(), &broken_off);
    assert!(
        matches!(audited, Err(AuditError::Incomplete { .. })),
        "{audited:?}"
    );
}

#[test]
fn a_bot_answers_a_draw() {
    let mut script = Script::new("gomoku");
    script.ok(&join(ANN, None));
    script.ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    script.play(ANN, "a1");
    script.ok(&Action::PlayAsBot {
        seat: Seat::Second,
        ply: Ply(1),
        m: "b1".to_owned(),
    });
    let answer = |accepts| Action::AnswerDrawAsBot {
        seat: Seat::Second,
        accepts,
    };
    script.refused(&answer(true), Refusal::NothingOffered);
    script.ok(&draw(ANN, 2));
    assert_eq!(script.state.bot_to_answer_draw(), Some(Seat::Second));
    script.ok(&answer(false));
    assert_eq!(script.state.bot_to_answer_draw(), None);
}

/// By the clock, both have what they had when the ply began that is played anew.
#[test]
fn clocks_go_back_with_the_moves() {
    let clock = ClockControl::ByoYomi {
        main_ms: 10_000,
        period_ms: 5000,
        periods: 3,
    };
    let mut script = Script::timed("gomoku", clock);
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    let mut lefts = vec![script.state.left()];
    for (ply, spent_ms) in [0, 0, 4000, 12_000, 7000, 1000].into_iter().enumerate() {
        let player = if ply % 2 == 0 { ANN } else { BOB };
        let m = format!("{}1", char::from(b'a' + u8::try_from(ply).unwrap()));
        let at_ms = NOW_MS + 20_000 * ply as u64;
        script.ok_at(&play(player, ply as u64, &m), Timestamp { at_ms, spent_ms });
        lefts.push(script.state.left());
    }
    // Time given in a ply stays, if that ply is the one that is played anew.
    let gift = Action::GiveTime {
        player: ANN,
        ms: 5000,
    };
    script.ok(&gift);
    assert_eq!(too_soon(script.act(&gift)), (Some(Ply(7)), None));
    let left = |script: &Script| script.state.left().unwrap().left_ms();
    assert_eq!(left(&script), [0, 5000]);
    assert_eq!(script.state.left().unwrap().periods(), Some([3, 3]));
    for (asks, grants, to_ply) in [(BOB, ANN, 5), (ANN, BOB, 4), (ANN, BOB, 2)] {
        let ply = script.state.ply().0;
        later(&mut script, &takeback(asks, ply, Some(to_ply))).unwrap();
        script.ok(&takeback(grants, ply, None));
        let to_ply = usize::try_from(to_ply).unwrap();
        assert_eq!(script.state.left(), lefts[to_ply], "at ply {to_ply}");
    }
    // The gift is gone, so another can be given; and the first plies are free again.
    script.ok(&gift);
    assert_eq!(left(&script), [10_000, 15_000]);
    assert!(!script.state.is_free());
    later(&mut script, &takeback(BOB, 2, None)).unwrap();
    script.ok(&takeback(ANN, 2, None));
    assert!(script.state.is_free());
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}

/// Whoever has given time in a ply does not give it anew when that ply is played anew, whatever was given
/// later.
#[test]
fn a_gift_is_given_once_in_a_ply() {
    let clock = ClockControl::Fischer {
        main_ms: 60_000,
        increment_ms: 0,
    };
    let mut script = Script::timed("gomoku", clock);
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    let gift = Action::GiveTime {
        player: ANN,
        ms: 5000,
    };
    for (ply, m) in ["a1", "b1", "c1", "d1"].into_iter().enumerate() {
        if ply == 3 {
            script.ok(&gift);
        }
        let player = if ply % 2 == 0 { ANN } else { BOB };
        script.ok(&play(player, ply as u64, m));
    }
    script.ok(&gift);
    later(&mut script, &takeback(BOB, 4, Some(3))).unwrap();
    script.ok(&takeback(ANN, 4, None));
    assert_eq!(too_soon(script.act(&gift)), (Some(Ply(4)), None));
}

#[test]
fn time_is_given_where_it_may_be() {
    let blitz = ClockControl::Fischer {
        main_ms: 7_190_000,
        increment_ms: 0,
    };
    let gift = |ms| Action::GiveTime { player: ANN, ms };
    let with = |change: &dyn Fn(&mut Terms), bot: bool| {
        let mut script = Script::with("chess", change);
        script.ok(&join_as_account(ANN));
        if bot {
            script.ok(&Action::SeatBot {
                by: ANN,
                seat: Seat::Second,
                level: Level::Easy,
            });
        } else {
            script.refused(&gift(5000), Refusal::MatchNotStarted);
            script.ok(&join_as_account(BOB));
        }
        script
    };
    let timed = |terms: &mut Terms| terms.clock = Some(blitz);
    not_allowed(with(&|_| {}, false).act(&gift(5000)));
    not_allowed(with(&timed, true).act(&gift(5000)));
    let by_move = |terms: &mut Terms| terms.clock = Some(ClockControl::Move { move_ms: 5000 });
    not_allowed(with(&by_move, false).act(&gift(5000)));
    let rated = |terms: &mut Terms| (terms.clock, terms.rated) = (Some(blitz), true);
    not_allowed(with(&rated, false).act(&gift(5000)));
    let mut script = with(&timed, false);
    not_allowed(script.act(&gift(10_001)));
    script.ok(&gift(10_000));
    assert_eq!(
        script.state.left().unwrap().left_ms(),
        [7_190_000, 7_200_000]
    );
    // Each seat gives once in a ply.
    script.ok(&Action::GiveTime {
        player: BOB,
        ms: 5000,
    });
}

#[test]
fn a_match_is_called_off_before_it_has_begun() {
    let call_off = |player| Action::AbortByPlayer { player };
    let mut script = gomoku(1);
    let aborted = EventKind::Ended {
        winner: None,
        reason: Reason::Aborted,
        detail: None,
        by: Some(Seat::Second),
        left: None,
    };
    assert_eq!(script.ok(&call_off(BOB)), [aborted]);
    let mut script = gomoku(2);
    not_allowed(script.act(&call_off(ANN)));
    later(&mut script, &takeback(ANN, 2, None)).unwrap();
    later(&mut script, &takeback(BOB, 2, None)).unwrap();
    assert_eq!(script.state.ply(), Ply(0));
    not_allowed(script.act(&call_off(ANN)));
}

#[test]
fn offers_have_an_end() {
    let mut script = gomoku(2);
    let mut count = 0;
    loop {
        let (player, other) = if count % 2 == 0 {
            (ANN, BOB)
        } else {
            (BOB, ANN)
        };
        match script
            .state
            .apply(&draw(player, 2), Timestamp::free(NOW_MS))
        {
            Ok(events) => script.state.fold(&events[0]).unwrap(),
            Err(refusal) => {
                assert_eq!(refusal, Refusal::TooEventful);
                break;
            }
        }
        let declined = script
            .state
            .apply(&decline(other, DRAW), Timestamp::free(NOW_MS));
        script.state.fold(&declined.unwrap()[0]).unwrap();
        count += 1;
    }
    assert!(script.state.seq() >= Seq(1008), "{}", script.state.seq());
    // A move is played however much has been said.
    let moved = script
        .state
        .apply(&play(ANN, 2, "a9"), Timestamp::free(NOW_MS));
    assert!(moved.is_ok());
}

#[test]
fn time_ends_a_match() {
    let clock = ClockControl::Fischer {
        main_ms: 60_000,
        increment_ms: 0,
    };
    let timed = |game: &str, moves: &str| {
        let mut script = Script::timed(game, clock);
        script.ok(&join(ANN, None));
        script.ok(&join(BOB, None));
        for (ply, m) in moves.split_whitespace().enumerate() {
            script.play(if ply % 2 == 0 { ANN } else { BOB }, m);
        }
        script
    };
    let outcome = |mut script: Script, action: &Action| match script.ok(action).pop() {
        Some(EventKind::Ended {
            winner,
            reason,
            detail,
            by,
            left,
        }) => (winner, reason, detail, by, left.unwrap().left_ms()),
        other => panic!("{other:?}"),
    };
    let (winner, full) = (Some(Seat::Second), [0, 60_000]);
    let lost = outcome(timed("chess", "e2e4 e7e5"), &Action::Flag);
    assert_eq!(lost, (winner, Reason::Timeout, None, None, full));
    // Every line has a mark of Ann's.
    let drawn = timed("tic-tac-toe", "a3 a2 c3 a1 b1 b2 c2 c1");
    let drawn = outcome(drawn, &Action::Flag);
    let cannot_win = Some(Detail::CannotWin);
    assert_eq!(drawn, (None, Reason::Timeout, cannot_win, None, full));
    let mut agreed = timed("chess", "e2e4 e7e5");
    agreed.ok(&draw(BOB, 2));
    let agreed = outcome(agreed, &Action::Flag);
    let flag = Some(Detail::Flag);
    assert_eq!(agreed, (None, Reason::Agreement, flag, None, full));
    let late = outcome(timed("chess", "e2e4"), &Action::NoFirstMove);
    let detail = Some(Detail::NoFirstMove);
    let by = Some(Seat::Second);
    assert_eq!(late, (None, Reason::Aborted, detail, by, [60_000; 2]));
    let mut script = Script::ann_and_bob();
    not_allowed(script.act(&Action::Flag));
}

/// At the end the clocks stand as after a move at that instant, but nothing is added.
#[test]
fn an_end_tells_what_was_left() {
    let clock = ClockControl::Fischer {
        main_ms: 60_000,
        increment_ms: 2000,
    };
    let mut script = Script::timed("chess", clock);
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    script.play(ANN, "e2e4");
    script.play(BOB, "e7e5");
    let now = Timestamp {
        at_ms: NOW_MS,
        spent_ms: 7000,
    };
    script.ok_at(&Action::Resign { player: BOB }, now);
    assert_eq!(script.state.left().unwrap().left_ms(), [53_000, 60_000]);
    assert_eq!(
        Match::audit(script.state.creation().clone(), &script.events),
        Ok(())
    );
}
