//! Tests the Go evaluation in minimax search: captures, eyes, life, and passes at the end of the
//! game.

use super::*;
use crate::game::GameHistory;
use crate::search::{Limits, Stop, TranspositionTable, search};

fn parse_position(rows: &str, rest: &str) -> Go<9> {
    let text = format!("{} {rest}", rows.replace(' ', "/"));
    text.parse().expect(&text)
}

fn best_move(pos: &Go<9>) -> String {
    let limits = Limits::depth(3);
    let report = search(
        &GameHistory::from(*pos),
        &limits,
        &Stop::new(),
        &TranspositionTable::new(1 << 20),
    )
    .expect("the game is not over");
    report.pv[0].to_string()
}

fn candidate_moves(pos: &Go<9>) -> Vec<String> {
    let mut moves = MoveStack::new();
    moves.push_list();
    pos.list_candidates(&mut moves);
    (0..moves.len())
        .map(|index| moves.pick(index).m.to_string())
        .collect()
}

/// Five white stones in atari. A stone on their last liberty connects them to other white stones.
const CAUGHT_STONES: &str =
    ".b.b.bbw. bbbbbbbw. .bbbbb.w. bwwwww.w. .bbbbb.w. bbbbbbbw. .b.b.bbw. bbbbbbbw. .b.b.bbw.";

#[test]
fn search_captures_stones_in_atari() {
    assert_eq!(
        best_move(&parse_position(CAUGHT_STONES, "b 0 0 0 120")),
        "G6"
    );
}

#[test]
fn search_saves_stones_in_atari() {
    assert_eq!(
        best_move(&parse_position(CAUGHT_STONES, "w 0 0 0 121")),
        "G6"
    );
}

const TWO_EYES: &str =
    ".b.bw.... bbbbw.... wwwww.... ......... ......... ......... bbbbbbb.. wwwwwwb.. .w.w.wb..";

#[test]
fn groups_with_two_eyes_are_unconditionally_alive() {
    let pos = parse_position(TWO_EYES, "b 0 0 0 120");
    let black = unconditional_life::unconditional_life(pos.stones(Seat::First), pos.empty());
    assert_eq!(black.stones.len(), 6, "the corner, not the wall");
    assert_eq!(black.regions.len(), 2);
    let white = unconditional_life::unconditional_life(pos.stones(Seat::Second), pos.empty());
    assert_eq!(white.stones.len(), 9, "the three eyes below");
    assert_eq!(white.regions.len(), 3);
    let one_eye =
        ".bbw..... bbbw..... wwww..... ......... ......... ......... ......... ......... .........";
    let pos = parse_position(one_eye, "b 0 0 0 120");
    assert!(
        unconditional_life::unconditional_life(pos.stones(Seat::First), pos.empty())
            .stones
            .is_empty()
    );
}

#[test]
fn candidates_exclude_true_eyes() {
    for (turn, plies) in [("b", 60), ("w", 61)] {
        let pos = parse_position(TWO_EYES, &format!("{turn} 0 0 0 {plies}"));
        let candidates = candidate_moves(&pos);
        for eye in ["A9", "C9", "A1", "C1", "E1"] {
            assert!(!candidates.contains(&eye.to_owned()), "{turn} {eye}");
        }
        assert!(candidates.contains(&"pass".to_owned()));
        assert!(candidates.len() > 20);
    }
}

const SETTLED: &str =
    "b.b.bw.w. bbbbbwwww ....bw... bbbbbwwww b.b.bw.w. bbbbbwwww .b.bbw.ww bbbbbww.w .b.bbwww.";

/// Only territory is left to fill, so both sides should pass.
#[test]
fn search_passes_when_all_points_are_settled() {
    let pos = parse_position(SETTLED, "w 0 0 0 201");
    assert_eq!(best_move(&pos), "pass");
    let pos = parse_position(SETTLED, "b 0 0 1 202");
    assert_eq!(best_move(&pos), "pass");
}

#[test]
fn side_behind_does_not_pass_while_stones_can_be_saved() {
    assert_ne!(
        best_move(&parse_position(CAUGHT_STONES, "w 0 0 1 121")),
        "pass"
    );
}

/// After the opponent's pass, a side that is ahead wins by passing. A side that is behind plays on.
#[test]
fn search_passes_after_a_pass_only_when_ahead() {
    let rows =
        "......... ......... ......... ......... bbbbbbbbb ......... ......... ......... .........";
    let ahead = parse_position(rows, "b 0 0 1 40");
    assert_eq!(best_move(&ahead), "pass");
    let rows =
        "......... ......... ......... wwwwwwwww bbbbbbbbb ......... ......... ......... .........";
    let behind = parse_position(rows, "w 0 0 1 41");
    assert_eq!(behind.scores(), [45, 43]);
    assert_ne!(best_move(&behind), "pass");
}

fn mirror(pos: &Go<9>) -> Go<9> {
    let text = pos.to_string();
    let (rows, rest) = text.split_once(' ').expect("the text has two fields");
    let rows: Vec<String> = rows
        .split('/')
        .map(|row| row.chars().rev().collect())
        .collect();
    let text = format!("{} {rest}", rows.join("/"));
    text.parse().expect("the mirrored position is valid")
}

#[test]
fn mirrored_positions_have_the_same_evaluation() {
    for seed in 0..20 {
        for pos in crate::game::conformance::random_game::<Go<9>>(seed)
            .0
            .iter()
            .take(120)
        {
            assert_eq!(pos.evaluate(), mirror(pos).evaluate(), "{pos}");
        }
    }
}
