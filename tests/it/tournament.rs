//! The order of the levels, in small.

use std::num::NonZeroUsize;

use plyhouse::catalog;
use plyhouse::search::{Level, Limits};
use plyhouse::tournament::{Plan, Player, Ratings, Tournament};

/// Every level is stronger than the one below it, and the lowest than a random mover. The games are
/// few, so a step of less than some 50 Elo may not show: whoever tunes levels plays more.
fn check_order(game: &str, openings: usize, opening_plies: u32, nodes: u64) {
    let bots = Level::ALL.map(Player::Bot);
    let plan = Plan {
        game: catalog::find(game).expect("hosted"),
        players: [&[Player::Random], &bots[..]].concat(),
        openings,
        opening_plies,
        limits: Limits {
            nodes: Some(nodes),
            ..Limits::default()
        },
        seed: 1,
    };
    let players = plan.players.clone();
    let tournament = Tournament::new(plan).expect("there are so many openings");
    let threads = NonZeroUsize::new(2).expect("two");
    let ratings = Ratings::fit(players.len(), &tournament.play(threads, || {}));
    for index in 1..players.len() {
        let step = ratings.difference(index, index - 1);
        let [player, below] = [players[index], players[index - 1]];
        assert!(step.elo > 0.0, "{game}: {player} above {below}: {step:?}");
    }
}

/// All the openings of two plies. Longer ones leave full strength little to be better at.
#[test]
fn the_levels_of_tic_tac_toe_rise() {
    check_order("tic-tac-toe", 72, 2, 10_000);
}

#[test]
fn the_levels_of_connect_four_rise() {
    check_order("connect-four", 10, 4, 5000);
}
