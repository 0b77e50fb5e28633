//! Tests of the rules that are specific to Go. The perft tests cover superko, which depends on the
//! earlier positions of a game.

use std::collections::{BTreeSet, HashSet};

use super::*;
use crate::game::conformance;

type Go9 = Go<9>;

#[test]
fn passes_the_conformance_suite() {
    conformance::check_game::<Go9>();
    conformance::check_seats_alternate::<Go9>();
}

fn position_after<const N: u8>(moves: &str) -> Go<N> {
    let mut pos = Go::initial();
    for text in moves.split_whitespace() {
        pos.play(text.parse().expect(text)).expect(text);
    }
    pos
}

fn illegality_reason<const N: u8>(pos: &Go<N>, m: &str) -> &'static str {
    let result = pos.check_legal(m.parse().expect(m));
    result.expect_err(m).0
}

#[test]
fn stones_without_liberties_are_captured() {
    // Captures in the corner, on the edge, in the centre, and of two chains at once.
    let cases = [
        ("A1 B1 pass A2", ".../w../.w. b 0 1 0 4"),
        ("A2 A1 B2 B1 C2 pass C1", ".../bbb/..b w 2 0 0 7"),
        ("B3 B2 A2 pass C2 pass B1", ".b./b.b/.b. w 1 0 0 7"),
        ("B2 A1 B3 A3 B1 pass A2", ".b./bb./.b. w 2 0 0 7"),
    ];
    for (moves, position) in cases {
        assert_eq!(position_after::<3>(moves).to_string(), position, "{moves}");
    }
}

#[test]
fn capturing_move_without_other_liberties_is_legal() {
    let pos = position_after::<3>("B1 A1 A2 B2 pass A3 pass");
    assert_eq!(pos.to_string(), "w../bw./.b. w 1 0 1 7");
    // A white stone on A1 gains a liberty by capturing the stone on A2, so the move is legal.
    let pos = pos.after("A1".parse().expect("valid notation"));
    assert_eq!(pos.to_string(), "w../.w./wb. b 1 1 0 8");
}

#[test]
fn suicide_is_illegal() {
    let alone = position_after::<3>("B1 pass A2");
    assert_eq!(illegality_reason(&alone, "A1"), "would have no liberties");
    let together = position_after::<3>("A3 A1 B2 pass C1 pass");
    let before = together.check_legal("A2".parse().expect("valid notation"));
    assert_eq!(before, Ok(()), "black fills its own side");
    let together = position_after::<3>("A3 A1 B2 pass C1");
    let pos = together.after("A2".parse().expect("valid notation"));
    assert_eq!(
        illegality_reason(&pos.after(Move::Pass), "B1"),
        "would have no liberties"
    );
    assert_eq!(illegality_reason(&pos, "A2"), "is already taken");
}

#[test]
fn two_passes_end_the_game_with_area_scoring() {
    let cases = [
        ("pass pass", [0, 7], Seat::Second),
        ("B2 pass pass", [9, 7], Seat::First),
        // The empty point A1 borders stones of both sides, so it counts for neither side.
        ("B2 A2 B1 A3 B3 pass pass", [6, 9], Seat::Second),
        ("B2 A3 B1 pass B3 pass A2 pass pass", [9, 7], Seat::First),
    ];
    for (moves, scores, winner) in cases {
        let pos = position_after::<3>(moves);
        assert_eq!(pos.scores(), scores, "{moves}");
        assert_eq!(pos.outcome(), Some(Outcome::Decisive { winner }), "{moves}");
        assert_eq!(
            illegality_reason(&pos, "C1"),
            "cannot be played: the game is over"
        );
    }
    assert_eq!(position_after::<3>("pass B2 pass").outcome(), None);
}

#[test]
fn equal_scores_are_a_draw() {
    let pos: Go<5> = "b.bbb/bbb.b/bbbbb/bwwww/w.ww. w 0 0 1 41"
        .parse()
        .expect("the position is reachable");
    let pos = pos.after(Move::Pass);
    assert_eq!(pos.scores(), [16, 16]);
    assert_eq!(pos.outcome(), Some(Outcome::Draw));
}

#[test]
fn game_is_scored_at_the_ply_limit() {
    let pos: Go<3> = "b.b/.b./bb. w 490 490 0 999"
        .parse()
        .expect("the position is reachable");
    assert_eq!(pos.outcome(), None);
    let pos = pos.after(Move::Pass);
    assert_eq!(
        pos.outcome(),
        Some(Outcome::Decisive {
            winner: Seat::First
        })
    );
    assert_eq!(pos.to_string().parse(), Ok(pos));
}

fn check_rejected(text: &str, reason: &str) {
    let error = text.parse::<Go<3>>().expect_err(text);
    assert!(error.to_string().contains(reason), "{text}: {error}");
}

#[test]
fn unreachable_positions_are_rejected() {
    check_rejected("", "match the board size");
    check_rejected(".../... b 0 0 0 0", "match the board size");
    check_rejected(".../.../.../... b 0 0 0 0", "match the board size");
    check_rejected(".../..../.. b 0 0 0 0", "match the board size");
    check_rejected(".../.x./... b 0 0 0 0", "'b', 'w' or '.'");
    check_rejected(".../.../... b 0 0 0", "expected rows");
    check_rejected(".../.../... b 0 0 0 0 ", "expected rows");
    check_rejected(".../.../... b 0 0 +0 0", "must be numbers");
    check_rejected(".../.../... b 0 0 00 0", "must be numbers");
    check_rejected(".../.../... b 0 0 1 0", "passes is too high");
    check_rejected(".../.../... b 0 0 3 4", "passes is too high");
    check_rejected(".../.../... b 0 0 2 1002", "at most 1000");
    check_rejected(".../.../... w 0 0 0 0", "side to move does not match");
    check_rejected(".../.../... x 0 0 0 0", "side to move does not match");
    check_rejected(".../.b./w.. b 0 0 1 2", "do not match");
    check_rejected("wb./b../... w 0 0 0 3", "no liberties");
    check_rejected(".../bb./... w 0 0 0 1", "more stones");
    check_rejected(".../.../... b 0 1 0 0", "more stones");
    check_rejected(".../.b./... w 0 0 1 1", "do not match");
    check_rejected(".../.../... w 0 0 0 1", "do not match");
    check_rejected(".../.../... b 0 0 1 2", "do not match");
    check_rejected(".../.b./... b 0 0 2 2", "do not match");
}

#[test]
fn move_coordinates_skip_the_letter_i() {
    let read = |text: &str| text.parse::<Move<9>>().map(|m| m.to_string());
    assert_eq!(read(" j9 "), Ok("J9".to_owned()));
    assert_eq!(read("h1"), Ok("H1".to_owned()));
    assert_eq!(read("PASS"), Ok("pass".to_owned()));
    for text in ["", "I1", "K1", "A0", "A10", "4D", "D", "passes", "resign"] {
        assert!(read(text).is_err(), "{text}");
    }
    assert!("D1".parse::<Move<3>>().is_err(), "off the board");
}

/// Returns all boards where every chain has a liberty. This reference implementation enumerates all
/// boards and does not use the rules in [`Go`].
fn positions_legal_by_definition<const N: u8>() -> BTreeSet<String> {
    let size = usize::from(N);
    let count = 3_usize.pow(u32::from(N) * u32::from(N));
    let fillings = (0..count).map(|code| {
        let digits = (0..size * size).scan(code, |rest, _| {
            let digit = *rest % 3;
            *rest /= 3;
            Some(b".bw"[digit])
        });
        digits.collect::<Vec<u8>>()
    });
    let neighbours = |at: usize| {
        let (x, y) = (at % size, at / size);
        (0..size * size).filter(move |to| (to % size).abs_diff(x) + (to / size).abs_diff(y) == 1)
    };
    let is_legal = |board: &Vec<u8>| {
        (0..board.len()).all(|at| {
            let (mut chain, mut open) = (HashSet::from([at]), vec![at]);
            while let Some(from) = open.pop() {
                let same = |to: &usize| board[*to] == board[from];
                open.extend(neighbours(from).filter(same).filter(|to| chain.insert(*to)));
            }
            board[at] == b'.'
                || chain
                    .iter()
                    .any(|at| neighbours(*at).any(|to| board[to] == b'.'))
        })
    };
    let text = |board: Vec<u8>| {
        let rows: Vec<_> = board.chunks(size).map(String::from_utf8_lossy).collect();
        rows.join("/")
    };
    fillings.filter(is_legal).map(text).collect()
}

/// Returns all boards that can be reached by legal moves.
fn positions_reached_by_play<const N: u8>() -> BTreeSet<String> {
    let mut visited = HashSet::new();
    let mut open = vec![Go::<N>::initial()];
    while let Some(pos) = open.pop() {
        let board = pos.to_string().split(' ').next().map(str::to_owned);
        if visited.insert((board, pos.turn(), pos.passes)) {
            let mut moves = Vec::new();
            pos.legal_moves(&mut moves);
            // The number of plies is reduced to 0 or 1 with the same parity, so that the search
            // does not reach the ply limit.
            let with_plies_reduced = |mut pos: Go<N>| {
                (pos.plies, pos.captures) = (pos.plies % 2, [0; 2]);
                pos
            };
            open.extend(moves.into_iter().map(|m| with_plies_reduced(pos.after(m))));
        }
    }
    visited
        .into_iter()
        .filter_map(|(board, ..)| board)
        .collect()
}

/// The expected values are from Tromp and Farnebäck, "Combinatorics of Go", 2007.
#[test]
fn legal_position_counts_match_published_values() {
    assert_eq!(positions_legal_by_definition::<2>().len(), 57);
    assert_eq!(
        positions_reached_by_play::<2>(),
        positions_legal_by_definition::<2>()
    );
    assert_eq!(positions_legal_by_definition::<3>().len(), 12_675);
    assert_eq!(
        positions_reached_by_play::<3>(),
        positions_legal_by_definition::<3>()
    );
}
