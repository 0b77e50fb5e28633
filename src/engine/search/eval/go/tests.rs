//! The basics: captures, eyes, life, and knowing when the game is over.

use super::*;
use crate::game::GameHistory;
use crate::search::{Limits, Stop, Table, search};

fn position(rows: &str, rest: &str) -> Go<9> {
    let text = format!("{} {rest}", rows.replace(' ', "/"));
    text.parse().expect(&text)
}

fn best(pos: &Go<9>) -> String {
    let limits = Limits::depth(3);
    let report = search(
        &GameHistory::from(*pos),
        &limits,
        &Stop::new(),
        &Table::new(1 << 20),
    )
    .expect("goes on");
    report.pv[0].to_string()
}

fn considered(pos: &Go<9>) -> Vec<String> {
    let mut moves = Moves::new();
    moves.begin();
    pos.consider(&mut moves);
    (0..moves.len())
        .map(|index| moves.pick(index).m.to_string())
        .collect()
}

/// Five white stones with one liberty, by which they could be connected with others.
const CAUGHT: &str =
    ".b.b.bbw. bbbbbbbw. .bbbbb.w. bwwwww.w. .bbbbb.w. bbbbbbbw. .b.b.bbw. bbbbbbbw. .b.b.bbw.";

#[test]
fn stones_in_atari_are_taken() {
    assert_eq!(best(&position(CAUGHT, "b 0 0 0 120")), "G6");
}

#[test]
fn stones_in_atari_are_saved() {
    assert_eq!(best(&position(CAUGHT, "w 0 0 0 121")), "G6");
}

const TWO_EYES: &str =
    ".b.bw.... bbbbw.... wwwww.... ......... ......... ......... bbbbbbb.. wwwwwwb.. .w.w.wb..";

#[test]
fn two_eyes_are_alive() {
    let pos = position(TWO_EYES, "b 0 0 0 120");
    let black = life::alive(pos.stones(Seat::First), pos.empty());
    assert_eq!(black.stones.len(), 6, "the corner, not the wall");
    assert_eq!(black.regions.len(), 2);
    let white = life::alive(pos.stones(Seat::Second), pos.empty());
    assert_eq!(white.stones.len(), 9, "the three eyes below");
    assert_eq!(white.regions.len(), 3);
    let one_eye =
        ".bbw..... bbbw..... wwww..... ......... ......... ......... ......... ......... .........";
    let pos = position(one_eye, "b 0 0 0 120");
    assert!(
        life::alive(pos.stones(Seat::First), pos.empty())
            .stones
            .is_empty()
    );
}

#[test]
fn nobody_plays_into_eyes() {
    for (turn, plies) in [("b", 60), ("w", 61)] {
        let pos = position(TWO_EYES, &format!("{turn} 0 0 0 {plies}"));
        let listed = considered(&pos);
        for eye in ["A9", "C9", "A1", "C1", "E1"] {
            assert!(!listed.contains(&eye.to_owned()), "{turn} {eye}");
        }
        assert!(listed.contains(&"pass".to_owned()));
        assert!(listed.len() > 20);
    }
}

const SETTLED: &str =
    "b.b.bw.w. bbbbbwwww ....bw... bbbbbwwww b.b.bw.w. bbbbbwwww .b.bbw.ww bbbbbww.w .b.bbwww.";

/// All that is left is to fill territory, so the game is over, whoever is ahead.
#[test]
fn the_game_is_over_when_nothing_is_left_to_play_for() {
    let pos = position(SETTLED, "w 0 0 0 201");
    assert_eq!(best(&pos), "pass");
    let pos = position(SETTLED, "b 0 0 1 202");
    assert_eq!(best(&pos), "pass");
}

/// Who is behind does not end the game by a pass as long as there is something to win.
#[test]
fn a_pass_does_not_lose_what_can_be_saved() {
    assert_ne!(best(&position(CAUGHT, "w 0 0 1 121")), "pass");
}

/// Who is ahead on the board when the other side passes has won by passing.
#[test]
fn a_pass_is_answered_by_one_that_wins() {
    let rows =
        "......... ......... ......... ......... bbbbbbbbb ......... ......... ......... .........";
    let ahead = position(rows, "b 0 0 1 40");
    assert_eq!(best(&ahead), "pass");
    let rows =
        "......... ......... ......... wwwwwwwww bbbbbbbbb ......... ......... ......... .........";
    let behind = position(rows, "w 0 0 1 41");
    assert_eq!(behind.scores(), [45, 43]);
    assert_ne!(best(&behind), "pass");
}

fn mirrored(pos: &Go<9>) -> Go<9> {
    let text = pos.to_string();
    let (rows, rest) = text.split_once(' ').expect("two fields");
    let rows: Vec<String> = rows
        .split('/')
        .map(|row| row.chars().rev().collect())
        .collect();
    let text = format!("{} {rest}", rows.join("/"));
    text.parse().expect("as good as the other")
}

/// A position and its mirror image are worth the same.
#[test]
fn estimates_know_no_left_and_right() {
    for seed in 0..20 {
        for pos in crate::game::conformance::random_game::<Go<9>>(seed)
            .0
            .iter()
            .take(120)
        {
            assert_eq!(pos.evaluate(), mirrored(pos).evaluate(), "{pos}");
        }
    }
}
