use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::ClockControl;

use crate::tests::{ANN, BOB, Script, join, join_as_account};
use crate::{Action, Match};

/// The line of a rated match that ended after these moves.
fn line(moves: [&str; 2]) -> String {
    let mut script = Script::with("tic-tac-toe", |terms| {
        terms.rated = true;
        terms.clock = Some(ClockControl::Move { move_ms: 60_000 });
    });
    for player in [ANN, BOB] {
        script.ok(&join_as_account(player));
    }
    for (player, m) in [ANN, BOB].into_iter().zip(moves) {
        script.play(player, m);
    }
    script.ok(&Action::Resign { player: ANN });
    script.state.rated_game().expect("rated").line
}

/// Two boards that are mirrored are two games: only the very same plies are the same once more.
#[test]
fn a_line_is_told_as_it_was_played() {
    assert_eq!(line(["a1", "b2"]), "a1 b2");
    assert_eq!(line(["c1", "b2"]), "c1 b2");
}

/// A server without accounts takes a rated match for a casual one.
#[test]
fn a_match_with_a_guest_or_a_level_is_not_numbered() {
    let level = Action::SeatBot {
        by: ANN,
        seat: Seat::Second,
        level: Level::Easy,
    };
    for (other, is_numbered) in [
        (join_as_account(BOB), true),
        (join(BOB, None), false),
        (level, false),
    ] {
        let mut script = Script::new("tic-tac-toe");
        script.ok(&join_as_account(ANN));
        script.ok(&other);
        script.ok(&Action::Resign { player: ANN });
        let mut creation = script.state.creation().clone();
        creation.terms.rated = true;
        let rated = Match::replay(creation, &script.events).expect("it has happened");
        assert_eq!(rated.rated_game().is_some(), is_numbered, "{other:?}");
    }
}
