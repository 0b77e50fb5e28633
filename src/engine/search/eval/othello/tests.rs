use super::*;
use crate::game::laws::random_game;
use crate::search::{Limits, Stop, Table, reaches};

/// The test positions of the field, of 14 to 16 free squares: who wins is what the search proves.
#[test]
fn the_end_is_played_out() {
    let file = include_str!("../../../../../tests/data/othello.obf");
    let mut solved = 0;
    for line in file.lines().filter(|line| !line.starts_with('%')) {
        let (position, best) = line.split_once(';').expect(line);
        let (_, score) = best.trim_end_matches(';').split_once(':').expect(line);
        let score: i32 = score.parse().expect(line);
        let pos: Othello = position.replace('X', "*").parse().expect(line);
        let (limits, stop, table) = (Limits::default(), Stop::new(), Table::new(1 << 22));
        let reaches = |least| reaches(&pos, least, &limits, &stop, &table);
        assert_eq!(reaches(Score::win_in(u32::MAX)), Some(score > 0), "{line}");
        assert_eq!(reaches(Score::DRAW), Some(score >= 0), "{line}");
        solved += 1;
    }
    assert_eq!(solved, 19);
}

/// A move is followed by what the rules say, though the search keeps what it knows of it.
#[test]
fn what_is_considered_is_what_is_legal() {
    for pos in (0..50).flat_map(|seed| random_game::<Othello>(seed).0) {
        let (mut legal, mut considered) = (Vec::new(), Moves::new());
        pos.legal_moves(&mut legal);
        if pos.outcome().is_some() {
            continue;
        }
        considered.begin();
        pos.consider(&mut considered);
        let listed: Vec<_> = considered.list().iter().map(|ranked| ranked.m).collect();
        assert_eq!(listed, legal, "{pos}");
        for ranked in considered.list() {
            assert_eq!(
                pos.follow(ranked.m, ranked.note),
                pos.after(ranked.m),
                "{pos}"
            );
        }
    }
}

fn check_estimate(better: &str, worse: &str) {
    let value = |text: &str| {
        let pos: Othello = text.parse().expect(text);
        pos.evaluate()
    };
    assert!(value(better) > value(worse), "{better} over {worse}");
}

/// The same board with a corner, without it, and with the square before it instead.
#[test]
fn corners_are_good_and_squares_before_them_bad() {
    check_estimate(
        "*--------*-------***O-----**OO----*OO*---**OO------------------- *",
        "O--------O-------***O-----**OO----*OO*---**OO------------------- *",
    );
    check_estimate(
        "------------------**O-----**OO----*OO*---**OO------------------- *",
        "---------*-------***O-----**OO----*OO*---**OO------------------- *",
    );
}
