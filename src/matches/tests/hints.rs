use super::*;

fn hint_action(player: PlayerId, ply: u64) -> Action {
    Action::Hint {
        player,
        ply: Ply(ply),
    }
}

/// Starts a match between Ann and a bot.
fn against_bot() -> Script {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, Some(Seat::First)));
    script.apply_ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    script
}

#[test]
fn first_hint_of_a_ply_is_recorded() {
    let mut script = against_bot();
    let hinted_event = |ply: u64| EventKind::Hinted {
        seat: Seat::First,
        ply: Ply(ply),
    };
    assert_eq!(script.apply_ok(&hint_action(ANN, 0)), [hinted_event(0)]);
    assert_eq!(
        script.apply_ok(&hint_action(ANN, 0)),
        [],
        "already hinted at this ply"
    );
    script.assert_refused(&hint_action(BOB, 0), Refusal::NotSeated);
    let stale = Refusal::StalePly {
        expected: Ply(0),
        takebacks: 0,
    };
    script.assert_refused(&hint_action(ANN, 1), stale);
    script.apply_ok(&play_action(ANN, 0, "a1"));
    script.assert_refused(&hint_action(ANN, 1), Refusal::NotYourTurn);
    script.apply_ok(&Action::PlayAsBot {
        seat: Seat::Second,
        ply: Ply(1),
        m: "b2".to_owned(),
    });
    assert_eq!(script.apply_ok(&hint_action(ANN, 2)), [hinted_event(2)]);
    let audited = Match::audit(script.state.creation().clone(), &script.events);
    assert_eq!(audited, Ok(()));
    // A hint for another ply or another seat is invalid.
    for wrong in [
        hinted_event(1),
        EventKind::Hinted {
            seat: Seat::Second,
            ply: Ply(2),
        },
    ] {
        let mut events = script.events.clone();
        events.push(wrong.at(NOW_MS));
        assert!(Match::replay(script.state.creation().clone(), &events).is_err());
    }
    script.apply_ok(&Action::Resign { player: ANN });
    script.assert_refused(&hint_action(ANN, 2), Refusal::MatchEnded);
}

#[test]
fn hint_against_player_is_refused() {
    let mut script = Script::new("tic-tac-toe");
    script.apply_ok(&join_action(ANN, Some(Seat::First)));
    script.assert_refused(&hint_action(ANN, 0), Refusal::MatchNotStarted);
    script.apply_ok(&join_action(BOB, Some(Seat::Second)));
    let refusal = Refusal::NotAllowed("hints are available only against bots");
    script.assert_refused(&hint_action(ANN, 0), refusal);
    script.assert_refused(&hint_action(BOB, 0), Refusal::NotYourTurn);
}
