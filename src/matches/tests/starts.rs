//! Matches that begin with another position than the first of their game.

use super::*;

/// Black is to move, thirty moves into a game.
const ENDING: &str = "4k3/8/8/8/8/4p3/4P3/4K3 b - - 0 30";

fn begun(game: &str, start: &str) -> Script {
    let mut script = Script::with(game, |terms| terms.start = Some(start.to_owned()));
    script.ok(&join(ANN, None));
    script.ok(&join(BOB, None));
    script
}

#[test]
fn whoever_is_to_move_in_the_position_moves_first() {
    let mut script = begun("chess", ENDING);
    assert_eq!(script.state.position().to_string(), ENDING);
    assert_eq!(script.state.ply(), Ply(0));
    assert_eq!(script.state.turn(), Some(Seat::Second));
    script.refused(&play(ANN, 0, "e1d1"), Refusal::NotYourTurn);
    assert!(script.state.is_free());
    script.play(BOB, "e8e7");
    assert!(script.state.is_free());
    script.play(ANN, "e1d1");
    assert!(!script.state.is_free());
    assert_eq!(
        script.state.repeated(BOB, Ply(0), "Ke7"),
        Some(Seq(4)),
        "what a text means is read where the move was played"
    );
    let audited = Match::audit(script.state.creation().clone(), &script.events);
    assert_eq!(audited, Ok(()));
}

#[test]
fn moves_are_taken_back_to_the_start_and_no_further() {
    let mut script = begun("chess", ENDING);
    script.play(BOB, "e8e7");
    let ask = |to_ply| Action::OfferTakeback {
        player: BOB,
        ply: Ply(1),
        to_ply: Some(Ply(to_ply)),
    };
    let later = Timestamp::free(NOW_MS + 100_000);
    script.ok_at(&ask(0), later);
    let granted = Action::OfferTakeback {
        player: ANN,
        ply: Ply(1),
        to_ply: None,
    };
    script.ok_at(&granted, later);
    assert_eq!(script.state.position().to_string(), ENDING);
    assert_eq!(script.state.turn(), Some(Seat::Second));
    assert_eq!((script.state.ply(), script.state.takebacks()), (Ply(0), 1));
}

#[test]
fn a_rematch_begins_there_too() {
    let mut script = begun("chess", ENDING);
    script.ok(&Action::Resign { player: BOB });
    let (seats, terms) = script.state.rematch().expect("it was played");
    assert_eq!(seats[0].player(), Some(BOB));
    assert_eq!(terms.start.as_deref(), Some(ENDING));
}

#[test]
fn openings_are_not_counted_of_it() {
    let opening = |start: Option<&str>| {
        let mut script = Script::with("chess", |terms| terms.start = start.map(str::to_owned));
        script.ok(&join(ANN, None));
        script.ok(&join(BOB, None));
        script.ok(&Action::Resign { player: BOB });
        script.state.archived().expect("it has ended").opening
    };
    assert_eq!(opening(None).as_deref(), Some(""));
    assert_eq!(opening(Some(ENDING)), None);
}

#[test]
fn a_record_that_begins_with_no_position_is_damaged() {
    for start in ["", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "x.o/.../..."] {
        let mut creation = creation("chess");
        creation.terms.start = Some(start.to_owned());
        let damaged = Match::replay(creation.clone(), &[]);
        assert!(matches!(damaged, Err(ReplayError::Start(_))), "{start}");
        let unsound = Match::audit(creation, &[]).expect_err("nothing begins so");
        assert!(
            unsound.to_string().contains("cannot have begun"),
            "{unsound}"
        );
    }
}

/// Terms that were kept before there were such matches tell of none, and so do those of other matches.
#[test]
fn only_such_matches_keep_a_start() {
    let mut terms = Terms::plain(true, 0, 1);
    let text = serde_json::to_string(&terms).unwrap();
    assert!(!text.contains("start"), "{text}");
    terms.start = Some(ENDING.to_owned());
    let text = serde_json::to_string(&terms).unwrap();
    assert_eq!(serde_json::from_str::<Terms>(&text).unwrap(), terms);
}
