//! What the tree search makes of Go: by the side of the rules, it plays what a proof shows to be right.

use super::*;
use crate::game::{Outcome, Position};
use crate::search::eval::go::Shape;
use crate::search::{Limits, Stop, Table, choose};

fn bot<const N: u8>(course: &GameHistory<Go<N>>, playouts: u64) -> Move<N> {
    let limits = Limits::nodes(playouts);
    let mut table = Table::new(1 << 20);
    let level = Level::Max;
    let choice = choose(course, level, 0, &limits, &Stop::new(), &mut table);
    choice.expect("the game goes on").0
}

fn position<const N: u8>(rows: &str, rest: &str) -> GameHistory<Go<N>> {
    let text = format!("{} {rest}", rows.replace(' ', "/"));
    GameHistory::from(text.parse::<Go<N>>().expect(&text))
}

/// Five white stones with one liberty, by which they could be connected with others.
const CAUGHT: &str =
    ".b.b.bbw. bbbbbbbw. .bbbbb.w. bwwwww.w. .bbbbb.w. bbbbbbbw. .b.b.bbw. bbbbbbbw. .b.b.bbw.";

#[test]
fn stones_in_atari_are_taken_and_saved() {
    for turn in ["b 0 0 0 120", "w 0 0 0 121", "w 0 0 1 121"] {
        assert_eq!(
            bot::<9>(&position(CAUGHT, turn), 500).to_string(),
            "G6",
            "{turn}"
        );
    }
}

/// Who is ahead on the board when the other side passes has won by passing; who is behind goes on.
#[test]
fn a_pass_is_answered_by_one_that_wins() {
    let rows =
        "......... ......... ......... ......... bbbbbbbbb ......... ......... ......... .........";
    assert_eq!(bot::<9>(&position(rows, "b 0 0 1 40"), 0), Move::Pass);
    let rows =
        "......... ......... ......... wwwwwwwww bbbbbbbbb ......... ......... ......... .........";
    assert_ne!(bot::<9>(&position(rows, "w 0 0 1 41"), 200), Move::Pass);
}

/// Black is ahead as soon as the white stones in its corner are gone, which cannot be saved. As they stand
/// they count.
const DEAD: &str =
    "w.wbbw... .wwbbw... bbbbbw... bbbbww... bbbbw.... bbbbw.... bbbbw.... bbbbbw... .b.bbw...";

#[test]
fn what_is_dead_is_captured_before_the_game_ends() {
    let mut course = position::<9>(DEAD, "b 0 0 1 80");
    assert!(course.position().scores()[0] < course.position().scores()[1]);
    let mut passes = 0;
    for _ in 0..60 {
        if course.outcome().is_some() {
            break;
        }
        // White has nothing to play there, and passes.
        let m = match course.position().turn() {
            Seat::First => bot(&course, 400),
            Seat::Second => Move::Pass,
        };
        passes += u32::from(m == Move::Pass);
        course.play(m).expect("it is legal");
    }
    let won = Outcome::Decisive {
        winner: Seat::First,
    };
    assert_eq!(
        course.outcome(),
        Some(won),
        "{} {passes}",
        course.position()
    );
}

/// All that is left is to fill territory: whoever is behind passes, too.
#[test]
fn the_game_is_over_when_nothing_is_left_to_play_for() {
    let settled =
        "b.b.bw.w. bbbbbwwww ....bw... bbbbbwwww b.b.bw.w. bbbbbwwww .b.bbw.ww bbbbbww.w .b.bbwww.";
    for turn in ["w 0 0 0 201", "b 0 0 1 202"] {
        assert_eq!(
            bot::<9>(&position(settled, turn), 200),
            Move::Pass,
            "{turn}"
        );
    }
}

/// The moves of a seat by which it has won in so many plies whatever the other does: by the rules, with
/// superko, and by nothing else but that a play which is worse than a pass need not be tried.
fn winning(course: &GameHistory<Go<5>>, plies: u32) -> Vec<Move<5>> {
    let mut moves = worth(course);
    moves.retain(|m| is_won_after(course, *m, plies));
    moves
}

fn is_won_after(course: &GameHistory<Go<5>>, m: Move<5>, plies: u32) -> bool {
    let mut after = course.clone();
    after.play(m).expect("it is legal");
    is_lost(&after, plies - 1)
}

/// Whether the seat to move has lost in so many plies whatever it plays.
fn is_lost(course: &GameHistory<Go<5>>, plies: u32) -> bool {
    if let Some(outcome) = course.outcome() {
        let winner = course.position().turn().other();
        return outcome == Outcome::Decisive { winner };
    }
    let can_be_won = |m: &Move<5>| {
        let mut after = course.clone();
        after.play(*m).expect("it is legal");
        match after.outcome() {
            Some(_) => is_lost_by_other(&after),
            None => {
                plies > 1
                    && worth(&after)
                        .iter()
                        .any(|m| is_won_after(&after, *m, plies - 1))
            }
        }
    };
    plies > 0 && worth(course).iter().all(can_be_won)
}

/// Whether the game is over, and the seat that moved last has lost it.
fn is_lost_by_other(course: &GameHistory<Go<5>>) -> bool {
    let winner = course.position().turn();
    course.outcome() == Some(Outcome::Decisive { winner })
}

/// A pass first, since that is how games end.
fn worth(course: &GameHistory<Go<5>>) -> Vec<Move<5>> {
    let useless = Shape::of(course.position()).useless();
    let mut moves = Vec::new();
    course.legal_moves(&mut moves);
    moves.retain(|m| !matches!(m, Move::Play(point) if useless.has(point.bit_index())));
    moves.rotate_right(1);
    moves
}

/// Among moves of which some win and others do not, with up to eight free points, it plays one that wins:
/// at once as far as plain minimax sees within seven plies, or a few plies later.
#[test]
fn in_endgames_on_a_small_board_it_plays_what_minimax_shows_to_win() {
    let (mut tried, mut undecided) = ([0; 9], 0);
    for seed in 0..80 {
        for course in endgames(seed) {
            let won = winning(&course, 7);
            if won.is_empty() || won.len() == worth(&course).len() {
                continue;
            }
            let pos = course.position();
            tried[pos.empty().len() as usize] += 1;
            let m = bot(&course, 1000);
            let keeps = |plies| is_won_after(&course, m, plies);
            if !won.contains(&m) && !keeps(9) && !keeps(11) {
                // As where it captures nearly everything, and has to fill the board anew.
                undecided += 1;
                let mut after = course.clone();
                after.play(m).expect("it is legal");
                assert_eq!(winning(&after, 7), [], "{m} in {pos}");
            }
        }
    }
    assert!(tried[3..].iter().all(|count| *count > 2), "{tried:?}");
    assert!(undecided <= 2, "{undecided} of {tried:?}");
}

/// The positions of a playout with three to eight free points.
fn endgames(seed: u64) -> Vec<GameHistory<Go<5>>> {
    let mut chance = Chance::new(seed, "endgame");
    let mut course = GameHistory::<Go<5>>::initial();
    let mut found = Vec::new();
    while course.outcome().is_none() && course.position().plies() < 40 {
        if (3..=8).contains(&course.position().empty().len()) {
            found.push(course.clone());
        }
        let board = Board::from_position(course.position(), course.last_move());
        let m = drawn(&board, &mut chance).map_or(Move::Pass, Move::from_bit_index);
        if course.play(m).is_err() {
            course.play(Move::Pass).expect("always legal");
        }
    }
    found
}
