use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::ClockControl;

use crate::tests::{ANN, BOB, Script, join_action, join_as_account_action};
use crate::{Action, Match};

/// Returns the opening line of a rated match that ended after these moves.
fn opening_line_after(moves: [&str; 2]) -> String {
    let mut script = Script::with_terms("tic-tac-toe", |terms| {
        terms.rated = true;
        terms.clock = Some(ClockControl::Move { move_ms: 60_000 });
    });
    for player in [ANN, BOB] {
        script.apply_ok(&join_as_account_action(player));
    }
    for (player, m) in [ANN, BOB].into_iter().zip(moves) {
        script.play_ok(player, m);
    }
    script.apply_ok(&Action::Resign { player: ANN });
    script.state.rated_game().expect("rated").opening_line
}

/// Two matches have the same opening line only if their plies are identical. Matches that mirror
/// each other on the board have different lines.
#[test]
fn opening_line_is_not_mirrored() {
    assert_eq!(opening_line_after(["a1", "b2"]), "a1 b2");
    assert_eq!(opening_line_after(["c1", "b2"]), "c1 b2");
}

/// A server without accounts treats a rated match as casual.
#[test]
fn match_with_guest_or_level_has_no_rated_game() {
    let level = Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    };
    for (other, is_rated) in [
        (join_as_account_action(BOB), true),
        (join_action(BOB, None), false),
        (level, false),
    ] {
        let mut script = Script::new("tic-tac-toe");
        script.apply_ok(&join_as_account_action(ANN));
        script.apply_ok(&other);
        script.apply_ok(&Action::Resign { player: ANN });
        let mut creation = script.state.creation().clone();
        creation.terms.rated = true;
        let rated = Match::replay(creation, &script.events).expect("valid events");
        assert_eq!(rated.rated_game().is_some(), is_rated, "{other:?}");
    }
}
