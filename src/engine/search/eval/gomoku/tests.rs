//! What is seen at a glance is compared with what is seen by looking at every square and reply.

use std::fs;
use std::sync::LazyLock;

use super::windows::Along;
use super::*;
use crate::game::conformance::pick_index;
use crate::game::{GameHistory, Outcome, Seat};
use crate::search::{Limits, Stop, Table, choose, search};

/// Positions with some order in them: a few stones near the middle, and then random moves among
/// the more promising.
fn positions() -> impl Iterator<Item = Gomoku> {
    (0..150).flat_map(|seed| {
        let mut pos = Gomoku::initial();
        let mut all = Vec::new();
        while pos.outcome().is_none() && pos.plies() < 60 {
            all.push(pos);
            let ([own, other], free) = (pos.stones(), pos.empty_squares());
            let near: Vec<u8> = (near(own | other) & free).into_iter().collect();
            let choices = if near.is_empty() {
                vec![Bitboard::bit_index(7, 7)]
            } else {
                near
            };
            let square = choices[pick_index((seed, pos.plies()), choices.len())];
            pos.play_unchecked(Move::from_bit_index(square));
        }
        all
    })
}

fn set(squares: impl IntoIterator<Item = u8>) -> Bitboard {
    let sets = squares.into_iter().map(Bitboard::from_bit_index);
    sets.fold(Bitboard::EMPTY, |all, square| all | square)
}

/// Every window of five squares in a row.
static WINDOWS: LazyLock<Vec<Bitboard>> = LazyLock::new(|| {
    let squares = (0..15_i32).flat_map(|rank| (0..15_i32).map(move |file| (file, rank)));
    let lines = squares.flat_map(|(file, rank)| {
        let steps = [(1, 0), (0, 1), (1, 1), (-1, 1)].into_iter();
        steps.map(move |(right, up)| [0, 1, 2, 3, 4].map(|n| (file + n * right, rank + n * up)))
    });
    let on_board = |line: &[(i32, i32); 5]| {
        let mut places = line.iter();
        places.all(|(file, rank)| (0..15).contains(file) && (0..15).contains(rank))
    };
    let number = |n: i32| u8::try_from(n).expect("on the board");
    let bits = |line: [(i32, i32); 5]| {
        set(line.map(|(file, rank)| Bitboard::bit_index(number(file), number(rank))))
    };
    lines.filter(on_board).map(bits).collect()
});

/// The squares on which a side with these stones completes a five, by trying each.
fn fives_by_trial(own: Bitboard, free: Bitboard) -> Bitboard {
    let completes = |square: &u8| {
        let own = own | Bitboard::from_bit_index(*square);
        WINDOWS.iter().any(|window| *window & own == *window)
    };
    set(free.into_iter().filter(completes))
}

/// The windows of five squares of `free` and `own` that have so many stones of `own`.
fn windows_by_hand(own: Bitboard, free: Bitboard, count: u32) -> Vec<Bitboard> {
    let is_one = |window: &&Bitboard| {
        (**window & own).len() == count && (**window & !(own | free)).is_empty()
    };
    WINDOWS.iter().filter(is_one).copied().collect()
}

/// The windows of five squares by how many stones of a side they have, if none of the other.
#[test]
fn windows_are_counted_right() {
    for pos in positions().step_by(40) {
        let free = pos.empty_squares();
        for own in pos.stones() {
            let by_hand = |count| windows_by_hand(own, free, count).len();
            let counts = [by_hand(1), by_hand(2), by_hand(3) + by_hand(4)];
            let seen = windows::features(own, free);
            let seen = [seen[0], seen[1], seen[2]].map(|count| count as usize);
            assert_eq!(seen, counts, "{pos}");
        }
    }
}

/// What a stone makes is seen by putting it there.
#[test]
fn prospects_are_what_comes_true() {
    let mut found = [0; 3];
    for pos in positions().step_by(20) {
        let free = pos.empty_squares();
        for own in pos.stones() {
            let seen = Prospects::of(own, free);
            let fours = windows_by_hand(own, free, 3);
            let fours = fours
                .into_iter()
                .fold(Bitboard::EMPTY, |all, window| all | window)
                & free;
            assert_eq!(seen.fives, fives_by_trial(own, free), "{pos}");
            assert_eq!(seen.fours(), fours, "{pos}");
            assert_eq!(
                windows::fives_and_fours(own, free),
                [seen.fives, fours],
                "{pos}"
            );
            assert_eq!(windows::fives(own, free), seen.fives, "{pos}");
            assert_eq!(
                windows::has_open_four(own, free),
                windows::open_fours(own, free).next().is_some(),
                "{pos}"
            );
            let open_fours = |own, free| windows::open_fours(own, free).count();
            for square in free {
                let (then, left) = (
                    own | Bitboard::from_bit_index(square),
                    free & !Bitboard::from_bit_index(square),
                );
                let along =
                    |of: fn(&Along) -> Bitboard| seen.along.iter().any(|a| of(a).has(square));
                if along(|along| along.open_threes) {
                    assert!(open_fours(then, left) > 0, "{pos}: {square}");
                    found[0] += 1;
                } else if !along(|along| along.fours) && open_fours(own, left) == 0 {
                    assert_eq!(open_fours(then, left), 0, "{pos}: {square}");
                    found[1] += 1;
                }
                if along(|along| along.threes) {
                    let mut twos = windows_by_hand(own, free, 2).into_iter();
                    assert!(twos.any(|window| window.has(square)), "{pos}: {square}");
                    found[2] += 1;
                }
            }
        }
    }
    assert!(found.iter().all(|count| *count > 100), "{found:?}");
}

/// An open four makes two fives on the ends of a row of four, and on each of its defences a stone
/// of the other side prevents that.
#[test]
fn open_fours_cannot_be_stopped_but_before() {
    let mut found = 0;
    for pos in positions() {
        let ([own, other], free) = (pos.stones(), pos.empty_squares());
        if !windows::fives(own, free).is_empty() {
            continue;
        }
        for OpenFour {
            square, defences, ..
        } in windows::open_fours(own, free)
        {
            found += 1;
            let fives = windows::fives(own | square, free & !square);
            assert_eq!(fives & defences, defences & !square, "{pos}");
            for defence in defences {
                let free = free & !Bitboard::from_bit_index(defence);
                let still = windows::open_fours(own, free)
                    .any(|four| (four.square, four.defences) == (square, defences));
                assert!(!still, "{pos}");
            }
            assert!((defences & other).is_empty(), "{pos}");
        }
    }
    assert!(found > 100, "only {found} open fours");
}

/// Whether the side to move wins whatever the other does, looking so many plies ahead at all.
fn wins(pos: &Gomoku, plies: u32) -> bool {
    let ([own, other], free) = (pos.stones(), pos.empty_squares());
    if plies == 0 || pos.outcome().is_some() {
        return false;
    }
    if !windows::fives(own, free).is_empty() {
        return true;
    }
    // Whoever can be beaten at once can do nothing but prevent that.
    let forced = windows::fives(other, free);
    let moves = if forced.is_empty() { free } else { forced };
    plies > 2
        && moves.into_iter().any(|square| {
            let after = pos.after(Move::from_bit_index(square));
            let ([own, other], free) = (after.stones(), after.empty_squares());
            let forced = windows::fives(other, free);
            let replies = if forced.is_empty() { free } else { forced };
            windows::fives(own, free).is_empty()
                && replies
                    .into_iter()
                    .all(|reply| wins(&after.after(Move::from_bit_index(reply)), plies - 2))
        })
}

/// What is told of a position without looking is so.
#[test]
fn bounds_are_true() {
    let mut seen = [0; 4];
    for pos in positions().step_by(3) {
        let Bounds { lower, upper } = pos.bounds();
        if lower == Score::win_in(1) || lower == Score::win_in(3) {
            let plies = lower.plies_to_end().expect("a win");
            assert!(
                wins(&pos, plies) && (plies == 1 || !wins(&pos, plies - 2)),
                "{pos}"
            );
            seen[usize::from(plies == 3)] += 1;
        } else if upper < Score::DRAW {
            assert_eq!(
                (lower, upper),
                (Score::loss_in(2), Score::loss_in(2)),
                "{pos}"
            );
            let lost = |square| wins(&pos.after(Move::from_bit_index(square)), 1);
            assert!(pos.empty_squares().into_iter().all(lost), "{pos}");
            seen[2] += 1;
        } else {
            assert!(!wins(&pos, 1), "{pos}");
            if let Some(plies) = lower.plies_to_end().filter(|_| lower > Score::DRAW) {
                assert!(plies >= 3, "{pos}");
                seen[3] += 1;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
}

/// Where the choice is forced, what is left out loses at once.
#[test]
fn what_is_left_out_does_not_prevent_an_open_four() {
    let mut restricted = 0;
    for pos in positions().step_by(5) {
        let ([own, other], free) = (pos.stones(), pos.empty_squares());
        let mut moves = Moves::new();
        moves.begin();
        pos.consider(&mut moves);
        let listed: Vec<Move> = (0..moves.len()).map(|index| moves.pick(index).m).collect();
        assert!(!listed.is_empty(), "{pos}");
        assert!(listed.iter().all(|m| pos.check_legal(*m).is_ok()), "{pos}");
        let quiet =
            windows::fives(own, free).is_empty() && win_by_fours(&pos, FOURS_WITHIN).is_none();
        if !quiet || windows::open_fours(other, free).next().is_none() {
            continue;
        }
        restricted += 1;
        for square in free {
            if !listed.contains(&Move::from_bit_index(square)) {
                assert!(wins(&pos.after(Move::from_bit_index(square)), 3), "{pos}");
            }
        }
    }
    assert!(restricted > 10, "only {restricted} positions");
}

/// The win by fours of the side to move, if it is found by making so many fours.
fn win_by_fours(pos: &Gomoku, fours_made_max: u32) -> Option<fours::Win> {
    let [own, other] = pos.stones();
    let [_, fours] = windows::fives_and_fours(own, pos.empty_squares());
    fours::find(
        [own, other],
        fours,
        windows::fives(other, pos.empty_squares()),
        fours_made_max,
    )
}

/// A line of the file of wins by fours: the moves that lead to the position, who is to move, how
/// many fours it takes at least, and a line of them with the replies.
struct Problem {
    pos: Gomoku,
    seat: Seat,
    fours: u32,
}

fn problems() -> Vec<Problem> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/gomoku.fours");
    let text = fs::read_to_string(path).expect(path);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let problem = |line: &str| {
        let (moves, fours) = line.split_once(" | ").expect(line);
        let mut pos = Gomoku::initial();
        for m in moves.split(' ') {
            pos.play(m.parse().expect(m)).expect(line);
        }
        Problem {
            pos,
            seat: pos.turn(),
            fours: fours.parse().expect(line),
        }
    };
    lines.map(problem).collect()
}

/// Every win of the file is found, and no shorter one, since there is none. The moves are played
/// out: every four is answered, and the last cannot be.
#[test]
fn wins_by_fours_are_found() {
    let problems = problems();
    assert_eq!(problems.len(), 187);
    for Problem { pos, seat, fours } in problems {
        let mut pos = pos;
        for left in (1..=fours).rev() {
            let win = win_by_fours(&pos, FOURS_AT_ROOT).expect("there is a win by fours");
            assert_eq!(win.fours, left, "{pos}");
            pos.play(Move::from_bit_index(win.first))
                .expect("it is free");
            let replies = windows::fives(pos.stones()[1], pos.empty_squares());
            assert!(
                windows::fives(pos.stones()[0], pos.empty_squares()).is_empty(),
                "{pos}"
            );
            assert_eq!(replies.has_multiple(), left == 1, "{pos}");
            pos.play(Move::from_bit_index(replies.first().expect("it is a four")))
                .expect("it is free");
        }
        let five = windows::fives(pos.stones()[0], pos.empty_squares())
            .first()
            .expect("a five");
        let end = pos.after(Move::from_bit_index(five));
        assert_eq!(end.outcome(), Some(Outcome::Decisive { winner: seat }));
    }
}

/// Where there is such a win, the search plays it, however little it may look at.
#[test]
fn the_search_wins_by_fours() {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 16));
    for Problem { pos, fours, .. } in problems() {
        table.forget();
        let limits = Limits::nodes(1_000);
        let report = search(&GameHistory::from(pos), &limits, &stop, &table).expect("goes on");
        assert_eq!(
            report.score,
            Score::win_in(2 * fours + 1),
            "{pos}: {report:?}"
        );
        let pos = pos.after(report.pv[0]);
        let forced = windows::fives(pos.stones()[1], pos.empty_squares());
        assert!(!forced.is_empty(), "{pos}: not a four");
    }
}

/// What somebody plays who sees one move ahead: the five, or else what prevents one, or else the longest line.
fn one_move_ahead(pos: &Gomoku, seed: u64) -> Move {
    let ([own, other], free) = (pos.stones(), pos.empty_squares());
    let mut five = [own, other].map(|stones| windows::fives(stones, free).first());
    if let Some(square) = five.iter_mut().find_map(Option::take) {
        return Move::from_bit_index(square);
    }
    let longest = |square: u8| {
        let stone = Bitboard::from_bit_index(square);
        let lines = WINDOWS.iter().filter(|&&line| !(line & stone).is_empty());
        let open = lines.filter(|&&line| (line & other).is_empty());
        open.map(|&line| (line & own).len()).max()
    };
    let most = free.into_iter().map(longest).max().flatten();
    let squares: Vec<u8> = free.into_iter().filter(|s| longest(*s) == most).collect();
    Move::from_bit_index(squares[pick_index((seed, pos.plies()), squares.len())])
}

/// How many of so many games a level wins against somebody who sees one move ahead.
fn won_against_one_move_ahead(level: Level, games: u64) -> u64 {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 16));
    let mut won = 0;
    for seed in 0..games {
        let seat = [Seat::First, Seat::Second][usize::from(seed % 2 == 1)];
        let mut course = GameHistory::<Gomoku>::initial();
        while course.outcome().is_none() {
            let m = if course.position().turn() == seat {
                let limits = Limits::nodes(20_000);
                let chosen = choose(&course, level, seed, &limits, &stop, &mut table);
                chosen.expect("the game goes on").0
            } else {
                one_move_ahead(course.position(), seed)
            };
            course.play(m).expect("a legal move");
        }
        won += u64::from(course.outcome() == Some(Outcome::Decisive { winner: seat }));
    }
    won
}

#[test]
fn a_beginner_loses_to_whoever_sees_one_move_ahead() {
    let won = won_against_one_move_ahead(Level::Beginner, 40);
    assert!(won * 100 < 40 * 45, "won {won} of 40");
}

/// Of 200 games `beginner` wins 67 and `easy` 136.
#[test]
fn easy_is_a_match_for_whoever_sees_one_move_ahead() {
    let won = won_against_one_move_ahead(Level::Easy, 40);
    assert!(
        (40 * 55..=40 * 80).contains(&(won * 100)),
        "won {won} of 40"
    );
}

/// What a level plays in a position, by so many seeds.
fn chosen_by(level: Level, pos: Gomoku, seeds: u64) -> Vec<Move> {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 16));
    let course = GameHistory::from(pos);
    let mut choose = |seed| {
        let limits = Limits::nodes(20_000);
        let chosen = choose(&course, level, seed, &limits, &stop, &mut table);
        chosen.expect("the game goes on").0
    };
    (0..seeds).map(&mut choose).collect()
}

/// The other side completes a five on either end. To take one away is what everybody does.
#[test]
fn who_cannot_stop_an_open_four_blocks_an_end_of_it() {
    let mut pos = Gomoku::initial();
    for m in ["f8", "a1", "g8", "o1", "h8", "a15", "i8"] {
        pos.play(m.parse().expect(m)).expect(m);
    }
    let ends = ["e8", "j8"].map(|m| m.parse().expect(m));
    for level in Level::ALL {
        let chosen = chosen_by(level, pos, 8);
        let tries = chosen.iter().all(|m| ends.contains(m));
        assert_eq!(tries, level > Level::Beginner, "{level}: {chosen:?}");
    }
}

/// A stone in a corner, where nothing is, is what a person would call silly.
#[test]
fn from_medium_up_an_answer_is_near_the_first_stone() {
    let mut pos = Gomoku::initial();
    pos.play("h8".parse().expect("a move")).expect("it is free");
    for level in [Level::Medium, Level::Hard] {
        for m in chosen_by(level, pos, 8) {
            let text = m.to_string();
            let (file, rank) = text.split_at(1);
            let file = i32::from(file.as_bytes()[0]) - i32::from(b'h');
            let rank = rank.parse::<i32>().expect("a number") - 8;
            assert!(file.abs().max(rank.abs()) <= 2, "{level}: {m}");
        }
    }
}

/// Its margin would allow nearly every square of the board. Where all moves lose, too, it defends near the stones.
#[test]
fn easy_plays_near_the_stones() {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 16));
    let mut choices = std::collections::HashSet::new();
    for moves in [
        "h8",
        "h8 h9",
        "a1",
        "o15 a1",
        "h8 h9 c14",
        "d4 d5 e4 e5 f4",
        "d4 o15 e4 o13 f4 o11 g4",
    ] {
        let mut course = GameHistory::<Gomoku>::initial();
        for m in moves.split(' ') {
            course.play(m.parse().expect(m)).expect(m);
        }
        let [own, other] = course.position().stones();
        for seed in 0..20 {
            let limits = Limits::nodes(20_000);
            let chosen = choose(&course, Level::Easy, seed, &limits, &stop, &mut table);
            let (m, _) = chosen.expect("the game goes on");
            let is_near = (own | other)
                .into_iter()
                .any(|stone| distance(stone, m.bit_index()) <= 2);
            assert!(is_near, "{m} after {moves}");
            choices.insert((moves, m.bit_index()));
        }
    }
    // It still chooses freely among these.
    assert!(choices.len() > 40, "{}", choices.len());
}

#[test]
fn easy_plays_near_the_stones_in_whole_games() {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 16));
    for seed in 0..6 {
        let mut course = GameHistory::<Gomoku>::initial();
        while course.outcome().is_none() {
            let pos = course.position();
            let stones = pos.stones()[0] | pos.stones()[1];
            let chosen = choose(
                &course,
                Level::Easy,
                seed,
                &Limits::default(),
                &stop,
                &mut table,
            );
            let (m, _) = chosen.expect("the game goes on");
            let is_near = stones
                .into_iter()
                .any(|stone| distance(stone, m.bit_index()) <= 2);
            assert!(is_near || stones.is_empty(), "{m} in {pos}");
            course.play(m).expect("it is legal");
        }
    }
}

/// By how many steps of a king two squares are apart.
fn distance(a: u8, b: u8) -> u8 {
    let ((file, rank), (other_file, other_rank)) =
        (Bitboard::file_and_rank(a), Bitboard::file_and_rank(b));
    file.abs_diff(other_file).max(rank.abs_diff(other_rank))
}
