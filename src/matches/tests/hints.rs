use super::*;

fn hint(player: PlayerId, ply: u64) -> Action {
    Action::Hint {
        player,
        ply: Ply(ply),
    }
}

/// Ann plays a bot.
fn against_a_bot() -> Script {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, Some(Seat::First)));
    script.ok(&Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    });
    script
}

#[test]
fn a_hint_is_part_of_the_match() {
    let mut script = against_a_bot();
    let hinted = |ply: u64| EventKind::Hinted {
        seat: Seat::First,
        ply: Ply(ply),
    };
    assert_eq!(script.ok(&hint(ANN, 0)), [hinted(0)]);
    assert_eq!(script.ok(&hint(ANN, 0)), [], "it is known already");
    script.refused(&hint(BOB, 0), Refusal::NotSeated);
    let stale = Refusal::StalePly {
        expected: Ply(0),
        takebacks: 0,
    };
    script.refused(&hint(ANN, 1), stale);
    script.ok(&play(ANN, 0, "a1"));
    script.refused(&hint(ANN, 1), Refusal::NotYourTurn);
    script.ok(&Action::PlayAsBot {
        seat: Seat::Second,
        ply: Ply(1),
        m: "b2".to_owned(),
    });
    assert_eq!(script.ok(&hint(ANN, 2)), [hinted(2)]);
    let audited = Match::audit(script.state.creation().clone(), &script.events);
    assert_eq!(audited, Ok(()));
    // Another seat's, or another ply's, cannot have been.
    for wrong in [
        hinted(1),
        EventKind::Hinted {
            seat: Seat::Second,
            ply: Ply(2),
        },
    ] {
        let mut events = script.events.clone();
        events.push(wrong.at(NOW_MS));
        assert!(Match::replay(script.state.creation().clone(), &events).is_err());
    }
    script.ok(&Action::Resign { player: ANN });
    script.refused(&hint(ANN, 2), Refusal::MatchEnded);
}

#[test]
fn people_play_without_hints() {
    let mut script = Script::new("tic-tac-toe");
    script.ok(&join(ANN, Some(Seat::First)));
    script.refused(&hint(ANN, 0), Refusal::MatchNotStarted);
    script.ok(&join(BOB, Some(Seat::Second)));
    let why = Refusal::NotAllowed("there are hints against bots alone");
    script.refused(&hint(ANN, 0), why);
    script.refused(&hint(BOB, 0), Refusal::NotYourTurn);
}
