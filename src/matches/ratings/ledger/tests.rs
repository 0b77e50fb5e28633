use plyhouse_protocol::ClockControl;

use crate::Action;
use crate::tests::{ANN, BOB, Script, join_as_account};

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
