//! Matches with a custom initial position.

use super::*;

/// Chess endgame at move 30, with Black to move.
const ENDGAME_FEN: &str = "4k3/8/8/8/8/4p3/4P3/4K3 b - - 0 30";

fn running_from(game: &str, start: &str) -> Script {
    let mut script = Script::with_terms(game, |terms| {
        terms.initial_position = Some(start.to_owned())
    });
    script.apply_ok(&join_action(ANN, None));
    script.apply_ok(&join_action(BOB, None));
    script
}

#[test]
fn side_to_move_of_initial_position_moves_first() {
    let mut script = running_from("chess", ENDGAME_FEN);
    assert_eq!(script.state.position().to_string(), ENDGAME_FEN);
    assert_eq!(script.state.ply(), Ply(0));
    assert_eq!(script.state.turn(), Some(Seat::Second));
    script.assert_refused(&play_action(ANN, 0, "e1d1"), Refusal::NotYourTurn);
    assert!(script.state.is_free_ply());
    script.play_ok(BOB, "e8e7");
    assert!(script.state.is_free_ply());
    script.play_ok(ANN, "e1d1");
    assert!(!script.state.is_free_ply());
    assert_eq!(
        script.state.find_repeated_move(BOB, Ply(0), "Ke7"),
        Some(Seq(4)),
        "what a text means is read where the move was played"
    );
    let audited = Match::audit(script.state.creation().clone(), &script.events);
    assert_eq!(audited, Ok(()));
}

#[test]
fn takeback_restores_custom_initial_position() {
    let mut script = running_from("chess", ENDGAME_FEN);
    script.play_ok(BOB, "e8e7");
    let takeback_to = |to_ply| Action::OfferTakeback {
        player: BOB,
        ply: Ply(1),
        to_ply: Some(Ply(to_ply)),
    };
    let later = Timestamp::uncharged(NOW_MS + 100_000);
    script.apply_ok_at(&takeback_to(0), later);
    let granted = Action::OfferTakeback {
        player: ANN,
        ply: Ply(1),
        to_ply: None,
    };
    script.apply_ok_at(&granted, later);
    assert_eq!(script.state.position().to_string(), ENDGAME_FEN);
    assert_eq!(script.state.turn(), Some(Seat::Second));
    assert_eq!((script.state.ply(), script.state.takebacks()), (Ply(0), 1));
}

#[test]
fn rematch_has_same_initial_position() {
    let mut script = running_from("chess", ENDGAME_FEN);
    script.apply_ok(&Action::Resign { player: BOB });
    let (seats, terms) = script.state.rematch_params().expect("finished match");
    assert_eq!(seats[0].player(), Some(BOB));
    assert_eq!(terms.initial_position.as_deref(), Some(ENDGAME_FEN));
}

#[test]
fn match_from_custom_position_has_no_opening() {
    let opening = |start: Option<&str>| {
        let mut script = Script::with_terms("chess", |terms| {
            terms.initial_position = start.map(str::to_owned)
        });
        script.apply_ok(&join_action(ANN, None));
        script.apply_ok(&join_action(BOB, None));
        script.apply_ok(&Action::Resign { player: BOB });
        script
            .state
            .ended_summary()
            .expect("match has ended")
            .opening
    };
    assert_eq!(opening(None).as_deref(), Some(""));
    assert_eq!(opening(Some(ENDGAME_FEN)), None);
}

#[test]
fn invalid_initial_position_fails_replay_and_audit() {
    for (start, reason) in [
        ("", "invalid position"),
        (
            "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
            "over in the initial position",
        ),
        ("x.o/.../...", "invalid position"),
    ] {
        let mut creation = creation("chess");
        creation.terms.initial_position = Some(start.to_owned());
        let damaged = Match::replay(creation.clone(), &[]);
        assert!(
            matches!(damaged, Err(ReplayError::InitialPosition(_))),
            "{start}"
        );
        let error = Match::audit(creation, &[]).expect_err("invalid initial position");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// Serialised terms without a custom position have no `start` field. Terms stored by earlier
/// versions do not have this field either.
#[test]
fn initial_position_is_serialised_only_if_custom() {
    let mut terms = Terms::with_defaults(true, 0, 1);
    let text = serde_json::to_string(&terms).unwrap();
    assert!(!text.contains("start"), "{text}");
    terms.initial_position = Some(ENDGAME_FEN.to_owned());
    let text = serde_json::to_string(&terms).unwrap();
    assert_eq!(serde_json::from_str::<Terms>(&text).unwrap(), terms);
}
