use super::*;
use crate::game::GameHistory;
use crate::game::conformance::random_game;
use crate::search::minimax::{Scale, minimax};
use crate::search::{Limits, Stop, Table, search, solve};

/// The test positions of the field with the scores that every program finds: by how many discs the side
/// to move wins, and with which move.
fn check_file(file: &str, count: usize) {
    let (limits, stop, mut table) = (Limits::default(), Stop::new(), Table::new(64 << 20));
    let lines = file.lines().filter(|line| !line.starts_with('%'));
    let mut solved = 0;
    for line in lines {
        let (position, best) = line.split_once(';').expect(line);
        let (_, score) = best.trim_end_matches(';').split_once(':').expect(line);
        let score: i32 = score.parse().expect(line);
        let pos: Othello = position.replace('X', "*").parse().expect(line);
        table.forget();
        let report = solve(&GameHistory::from(pos), &limits, &stop, &table).expect(line);
        assert_eq!(report.score, Score::won_by(score), "{line}");
        let after = GameHistory::from(pos.after(report.pv[0]));
        let reply = solve(&after, &limits, &stop, &table).expect(line);
        assert_eq!(-reply.score, report.score, "{line}");
        solved += 1;
    }
    assert_eq!(solved, count);
}

#[test]
fn the_end_is_played_out_by_discs() {
    check_file(include_str!("../../../../../tests/data/othello.obf"), 19);
}

/// Whatever the window, the last squares are worth what plain minimax says, or a bound of it.
#[test]
fn the_last_squares_are_worth_what_minimax_says() {
    let mut seen = 0;
    for seed in 0..200 {
        for pos in random_game::<Othello>(seed).0 {
            if pos.empties() > SQUARES_MAX || pos.outcome().is_some() {
                continue;
            }
            let truth = minimax(&pos, pos.plies_left(), Scale::Plies).score;
            let value = |alpha: i32, beta: i32| {
                let (alpha, beta) = (Score::won_by(alpha), Score::won_by(beta));
                pos.finish(alpha, beta, &mut 0).expect("few are left")
            };
            assert_eq!(value(-65, 65), truth, "{pos}");
            for alpha in (-64..64).step_by(7) {
                let (alpha_score, found) = (Score::won_by(alpha), value(alpha, alpha + 1));
                assert_eq!(found > alpha_score, truth > alpha_score, "{pos}, {alpha}");
                let is_bound = if found > alpha_score {
                    found <= truth
                } else {
                    found >= truth
                };
                assert!(is_bound, "{pos}, {alpha}: {found}, truly {truth}");
            }
            seen += 1;
        }
    }
    assert!(seen > 1000, "{seen}");
}

/// With a table, an order and all that is cut, the value is that of playing on without any of these.
#[test]
fn solving_finds_what_playing_on_finds() {
    let mut seen = 0;
    for seed in 0..40 {
        for pos in random_game::<Othello>(seed).0 {
            let is_near = (SQUARES_MAX + 1..=10).contains(&pos.empties());
            if !is_near || pos.outcome().is_some() {
                continue;
            }
            let truth =
                last_squares::margin(pos.discs(), pos.playable_squares(), [-64, 64], &mut 0);
            let (limits, stop, table) = (Limits::default(), Stop::new(), Table::new(1 << 20));
            let report =
                solve(&GameHistory::from(pos), &limits, &stop, &table).expect("it goes on");
            assert_eq!(report.score, Score::won_by(truth), "{pos}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Once who wins is known, full strength plays for discs.
#[test]
fn full_strength_wins_by_as_much_as_can_be() {
    let pos: Othello = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X"
        .replace('X', "*")
        .parse()
        .expect("a position");
    let (limits, stop, table) = (Limits::default(), Stop::new(), Table::new(16 << 20));
    let report = search(&GameHistory::from(pos), &limits, &stop, &table).expect("it goes on");
    assert_eq!((report.score, report.exact), (Score::won_by(18), true));
    assert_eq!(report.pv[0].to_string(), "g8");
}

/// What is not played out yet is told in discs, too, and there are no more of them than squares.
#[test]
fn estimates_are_told_in_discs() {
    let pos = Othello::initial();
    let estimates = [0, 5, 6, -6, 77, -77, 900].map(Score::estimate);
    let told = estimates.map(|score| pos.customary(score));
    assert_eq!(told, [0, 0, 1, -1, 6, -6, 64]);
    assert_eq!(pos.customary(Score::won_by(-18)), -18);
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
