//! Tests threat detection against checks of every square and every reply.

use std::fs;
use std::sync::LazyLock;

use super::line_windows::DirectionThreats;
use super::*;
use crate::game::conformance::pick_index;
use crate::game::{GameHistory, Outcome, Seat};
use crate::search::{Limits, Stop, TranspositionTable, choose_move, search};

/// Returns positions with clustered stones. They come from games with random moves near earlier
/// stones, starting at the centre of the board.
fn positions() -> impl Iterator<Item = Gomoku> {
    (0..150).flat_map(|seed| {
        let mut pos = Gomoku::initial();
        let mut all = Vec::new();
        while pos.outcome().is_none() && pos.plies() < 60 {
            all.push(pos);
            let ([own, other], free) = (pos.stones(), pos.empty_squares());
            let nearby: Vec<u8> = (squares_near(own | other) & free).into_iter().collect();
            let choices = if nearby.is_empty() {
                vec![Bitboard::bit_index(7, 7)]
            } else {
                nearby
            };
            let square = choices[pick_index((seed, pos.plies()), choices.len())];
            pos.play_unchecked(Move::from_bit_index(square));
        }
        all
    })
}

fn to_bitboard(squares: impl IntoIterator<Item = u8>) -> Bitboard {
    let sets = squares.into_iter().map(Bitboard::from_bit_index);
    sets.fold(Bitboard::EMPTY, |all, square| all | square)
}

/// All windows of five adjacent squares along a line.
static WINDOWS: LazyLock<Vec<Bitboard>> = LazyLock::new(|| {
    let squares = (0..15_i32).flat_map(|rank| (0..15_i32).map(move |file| (file, rank)));
    let lines = squares.flat_map(|(file, rank)| {
        let steps = [(1, 0), (0, 1), (1, 1), (-1, 1)].into_iter();
        steps.map(move |(right, up)| [0, 1, 2, 3, 4].map(|n| (file + n * right, rank + n * up)))
    });
    let is_on_board = |line: &[(i32, i32); 5]| {
        let mut places = line.iter();
        places.all(|(file, rank)| (0..15).contains(file) && (0..15).contains(rank))
    };
    let to_u8 = |n: i32| u8::try_from(n).expect("the coordinate is on the board");
    let to_bits = |line: [(i32, i32); 5]| {
        to_bitboard(line.map(|(file, rank)| Bitboard::bit_index(to_u8(file), to_u8(rank))))
    };
    lines.filter(is_on_board).map(to_bits).collect()
});

/// Finds the squares that complete five in a row by trying each free square.
fn fives_by_trial(own: Bitboard, free: Bitboard) -> Bitboard {
    let completes = |square: &u8| {
        let own = own | Bitboard::from_bit_index(*square);
        WINDOWS.iter().any(|window| *window & own == *window)
    };
    to_bitboard(free.into_iter().filter(completes))
}

/// Returns the windows without opposing stones that contain `count` stones of `own`.
fn windows_with_stones(own: Bitboard, free: Bitboard, count: u32) -> Vec<Bitboard> {
    let has_count = |window: &&Bitboard| {
        (**window & own).len() == count && (**window & !(own | free)).is_empty()
    };
    WINDOWS.iter().filter(has_count).copied().collect()
}

#[test]
fn window_counts_match_a_naive_count() {
    for pos in positions().step_by(40) {
        let free = pos.empty_squares();
        for own in pos.stones() {
            let naive_count = |count| windows_with_stones(own, free, count).len();
            let counts = [
                naive_count(1),
                naive_count(2),
                naive_count(3) + naive_count(4),
            ];
            let counted = line_windows::count_features(own, free);
            let counted = [counted[0], counted[1], counted[2]].map(|count| count as usize);
            assert_eq!(counted, counts, "{pos}");
        }
    }
}

#[test]
fn threat_map_matches_placing_the_stones() {
    let mut checked = [0; 3];
    for pos in positions().step_by(20) {
        let free = pos.empty_squares();
        for own in pos.stones() {
            let threats = ThreatMap::from_stones(own, free);
            let fours = windows_with_stones(own, free, 3);
            let fours = fours
                .into_iter()
                .fold(Bitboard::EMPTY, |all, window| all | window)
                & free;
            assert_eq!(threats.fives, fives_by_trial(own, free), "{pos}");
            assert_eq!(threats.fours_in_all_directions(), fours, "{pos}");
            assert_eq!(
                line_windows::fives_and_fours(own, free),
                [threats.fives, fours],
                "{pos}"
            );
            assert_eq!(line_windows::fives(own, free), threats.fives, "{pos}");
            assert_eq!(
                line_windows::has_open_four(own, free),
                line_windows::open_fours(own, free).next().is_some(),
                "{pos}"
            );
            let open_fours = |own, free| line_windows::open_fours(own, free).count();
            for square in free {
                let (own_after, free_after) = (
                    own | Bitboard::from_bit_index(square),
                    free & !Bitboard::from_bit_index(square),
                );
                let in_any_direction = |of: fn(&DirectionThreats) -> Bitboard| {
                    threats.by_direction.iter().any(|a| of(a).has(square))
                };
                if in_any_direction(|along| along.open_threes) {
                    assert!(open_fours(own_after, free_after) > 0, "{pos}: {square}");
                    checked[0] += 1;
                } else if !in_any_direction(|along| along.fours) && open_fours(own, free_after) == 0
                {
                    assert_eq!(open_fours(own_after, free_after), 0, "{pos}: {square}");
                    checked[1] += 1;
                }
                if in_any_direction(|along| along.threes) {
                    let mut twos = windows_with_stones(own, free, 2).into_iter();
                    assert!(twos.any(|window| window.has(square)), "{pos}: {square}");
                    checked[2] += 1;
                }
            }
        }
    }
    assert!(checked.iter().all(|count| *count > 100), "{checked:?}");
}

/// An open four can complete five in a row at both ends. An opposing stone on any of the defence
/// squares prevents the open four.
#[test]
fn open_fours_are_prevented_only_on_their_defence_squares() {
    let mut checked = 0;
    for pos in positions() {
        let ([own, other], free) = (pos.stones(), pos.empty_squares());
        if !line_windows::fives(own, free).is_empty() {
            continue;
        }
        for OpenFour {
            square, defences, ..
        } in line_windows::open_fours(own, free)
        {
            checked += 1;
            let fives = line_windows::fives(own | square, free & !square);
            assert_eq!(fives & defences, defences & !square, "{pos}");
            for defence in defences {
                let free = free & !Bitboard::from_bit_index(defence);
                let remains = line_windows::open_fours(own, free)
                    .any(|four| (four.square, four.defences) == (square, defences));
                assert!(!remains, "{pos}");
            }
            assert!((defences & other).is_empty(), "{pos}");
        }
    }
    assert!(checked > 100, "only {checked} open fours");
}

/// Returns whether the side to move can force a win within this number of plies.
fn wins_within(pos: &Gomoku, plies: u32) -> bool {
    let ([own, other], free) = (pos.stones(), pos.empty_squares());
    if plies == 0 || pos.outcome().is_some() {
        return false;
    }
    if !line_windows::fives(own, free).is_empty() {
        return true;
    }
    // If the opponent threatens to complete five in a row, the side to move can only block.
    let forced_squares = line_windows::fives(other, free);
    let moves = if forced_squares.is_empty() {
        free
    } else {
        forced_squares
    };
    plies > 2
        && moves.into_iter().any(|square| {
            let position_after = pos.after(Move::from_bit_index(square));
            let ([own, other], free) = (position_after.stones(), position_after.empty_squares());
            let forced_replies = line_windows::fives(other, free);
            let replies = if forced_replies.is_empty() {
                free
            } else {
                forced_replies
            };
            line_windows::fives(own, free).is_empty()
                && replies.into_iter().all(|reply| {
                    wins_within(
                        &position_after.after(Move::from_bit_index(reply)),
                        plies - 2,
                    )
                })
        })
}

#[test]
fn static_bounds_match_a_full_width_search() {
    let mut checked = [0; 4];
    for pos in positions().step_by(3) {
        let Bounds { lower, upper } = pos.static_bounds();
        if lower == Score::win_in(1) || lower == Score::win_in(3) {
            let plies = lower.plies_to_end().expect("the score is a win");
            assert!(
                wins_within(&pos, plies) && (plies == 1 || !wins_within(&pos, plies - 2)),
                "{pos}"
            );
            checked[usize::from(plies == 3)] += 1;
        } else if upper < Score::DRAW {
            assert_eq!(
                (lower, upper),
                (Score::loss_in(2), Score::loss_in(2)),
                "{pos}"
            );
            let is_lost = |square| wins_within(&pos.after(Move::from_bit_index(square)), 1);
            assert!(pos.empty_squares().into_iter().all(is_lost), "{pos}");
            checked[2] += 1;
        } else {
            assert!(!wins_within(&pos, 1), "{pos}");
            if let Some(plies) = lower.plies_to_end().filter(|_| lower > Score::DRAW) {
                assert!(plies >= 3, "{pos}");
                checked[3] += 1;
            }
        }
    }
    assert!(checked.iter().all(|count| *count > 10), "{checked:?}");
}

#[test]
fn omitted_moves_fail_to_prevent_an_open_four() {
    let mut restricted = 0;
    for pos in positions().step_by(5) {
        let ([own, other], free) = (pos.stones(), pos.empty_squares());
        let mut moves = MoveStack::new();
        moves.push_list();
        pos.list_candidates(&mut moves);
        let candidates: Vec<Move> = (0..moves.len()).map(|index| moves.pick(index).m).collect();
        assert!(!candidates.is_empty(), "{pos}");
        assert!(
            candidates.iter().all(|m| pos.check_legal(*m).is_ok()),
            "{pos}"
        );
        let is_quiet = line_windows::fives(own, free).is_empty()
            && find_win_by_fours(&pos, NODE_FOURS_MAX).is_none();
        if !is_quiet || line_windows::open_fours(other, free).next().is_none() {
            continue;
        }
        restricted += 1;
        for square in free {
            if !candidates.contains(&Move::from_bit_index(square)) {
                assert!(
                    wins_within(&pos.after(Move::from_bit_index(square)), 3),
                    "{pos}"
                );
            }
        }
    }
    assert!(restricted > 10, "only {restricted} positions");
}

/// Returns the win by fours of the side to move, if the solver finds it after trying at most
/// `fours_made_max` fours.
fn find_win_by_fours(pos: &Gomoku, fours_made_max: u32) -> Option<vcf_solver::VcfWin> {
    let [own, other] = pos.stones();
    let [_, fours] = line_windows::fives_and_fours(own, pos.empty_squares());
    vcf_solver::find_vcf(
        [own, other],
        fours,
        line_windows::fives(other, pos.empty_squares()),
        fours_made_max,
    )
}

/// Gomoku problem with a win by fours, parsed from one line of the problem file. It holds the
/// position after the listed moves, the side to move, and the minimum number of fours in a win.
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

/// The test plays out each win. It checks that every four except the last has exactly one reply,
/// and that the last four cannot be stopped.
#[test]
fn vcf_solver_finds_the_shortest_win_of_every_problem() {
    let problems = problems();
    assert_eq!(problems.len(), 187);
    for Problem { pos, seat, fours } in problems {
        let mut pos = pos;
        for fours_left in (1..=fours).rev() {
            let win = find_win_by_fours(&pos, ROOT_FOURS_MAX).expect("there is a win by fours");
            assert_eq!(win.four_count, fours_left, "{pos}");
            pos.play(Move::from_bit_index(win.first_square))
                .expect("the square is free");
            let replies = line_windows::fives(pos.stones()[1], pos.empty_squares());
            assert!(
                line_windows::fives(pos.stones()[0], pos.empty_squares()).is_empty(),
                "{pos}"
            );
            assert_eq!(replies.has_multiple(), fours_left == 1, "{pos}");
            pos.play(Move::from_bit_index(
                replies.first().expect("the four has a reply"),
            ))
            .expect("the square is free");
        }
        let five = line_windows::fives(pos.stones()[0], pos.empty_squares())
            .first()
            .expect("a square completes five");
        let end = pos.after(Move::from_bit_index(five));
        assert_eq!(end.outcome(), Some(Outcome::Decisive { winner: seat }));
    }
}

#[test]
fn search_plays_the_vcf_with_1000_nodes() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 16));
    for Problem { pos, fours, .. } in problems() {
        table.clear();
        let limits = Limits::nodes(1_000);
        let report =
            search(&GameHistory::from(pos), &limits, &stop, &table).expect("the game is not over");
        assert_eq!(
            report.score,
            Score::win_in(2 * fours + 1),
            "{pos}: {report:?}"
        );
        let pos = pos.after(report.pv[0]);
        let forced_squares = line_windows::fives(pos.stones()[1], pos.empty_squares());
        assert!(!forced_squares.is_empty(), "{pos}: not a four");
    }
}

/// Returns the move of a player who looks a single move ahead. The player completes five in a row,
/// blocks five in a row, or extends the longest line, in this order.
fn greedy_move(pos: &Gomoku, seed: u64) -> Move {
    let ([own, other], free) = (pos.stones(), pos.empty_squares());
    let mut completing = [own, other].map(|stones| line_windows::fives(stones, free).first());
    if let Some(square) = completing.iter_mut().find_map(Option::take) {
        return Move::from_bit_index(square);
    }
    let longest_line = |square: u8| {
        let stone = Bitboard::from_bit_index(square);
        let lines = WINDOWS.iter().filter(|&&line| !(line & stone).is_empty());
        let open = lines.filter(|&&line| (line & other).is_empty());
        open.map(|&line| (line & own).len()).max()
    };
    let longest_length = free.into_iter().map(longest_line).max().flatten();
    let squares: Vec<u8> = free
        .into_iter()
        .filter(|s| longest_line(*s) == longest_length)
        .collect();
    Move::from_bit_index(squares[pick_index((seed, pos.plies()), squares.len())])
}

/// Returns the number of games that a level wins against the greedy player, who looks a single move
/// ahead.
fn count_wins_against_greedy(level: Level, games: u64) -> u64 {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 16));
    let mut wins = 0;
    for seed in 0..games {
        let seat = [Seat::First, Seat::Second][usize::from(seed % 2 == 1)];
        let mut history = GameHistory::<Gomoku>::initial();
        while history.outcome().is_none() {
            let m = if history.position().turn() == seat {
                let limits = Limits::nodes(20_000);
                let chosen = choose_move(&history, level, seed, &limits, &stop, &mut table);
                chosen.expect("the game is not over").0
            } else {
                greedy_move(history.position(), seed)
            };
            history.play(m).expect("the move is legal");
        }
        wins += u64::from(history.outcome() == Some(Outcome::Decisive { winner: seat }));
    }
    wins
}

#[test]
fn beginner_wins_less_than_45_percent_against_greedy_player() {
    let wins = count_wins_against_greedy(Level::Beginner, 40);
    assert!(wins * 100 < 40 * 45, "won {wins} of 40");
}

/// In a run of 200 games against the greedy player, `Beginner` won 67 and `Easy` won 136.
#[test]
fn easy_wins_55_to_80_percent_against_greedy_player() {
    let wins = count_wins_against_greedy(Level::Easy, 40);
    assert!(
        (40 * 55..=40 * 80).contains(&(wins * 100)),
        "won {wins} of 40"
    );
}

/// Returns the moves that a level chooses in a position, one for each of `seeds` seeds.
fn moves_chosen_by(level: Level, pos: Gomoku, seeds: u64) -> Vec<Move> {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 16));
    let history = GameHistory::from(pos);
    let mut choose = |seed| {
        let limits = Limits::nodes(20_000);
        let chosen = choose_move(&history, level, seed, &limits, &stop, &mut table);
        chosen.expect("the game is not over").0
    };
    (0..seeds).map(&mut choose).collect()
}

/// The opponent has an open four and can complete five in a row at both ends. All levels above
/// `Beginner` still block one end.
#[test]
fn all_but_beginner_block_an_end_of_an_open_four() {
    let mut pos = Gomoku::initial();
    for m in ["f8", "a1", "g8", "o1", "h8", "a15", "i8"] {
        pos.play(m.parse().expect(m)).expect(m);
    }
    let ends = ["e8", "j8"].map(|m| m.parse().expect(m));
    for level in Level::ALL {
        let chosen = moves_chosen_by(level, pos, 8);
        let blocks_end = chosen.iter().all(|m| ends.contains(m));
        assert_eq!(blocks_end, level > Level::Beginner, "{level}: {chosen:?}");
    }
}

/// Bots must reply near the first stone, because a distant reply, such as in a corner, would look
/// foolish.
#[test]
fn medium_and_hard_reply_within_two_squares_of_the_first_stone() {
    let mut pos = Gomoku::initial();
    pos.play("h8".parse().expect("the text is a move"))
        .expect("the square is free");
    for level in [Level::Medium, Level::Hard] {
        for m in moves_chosen_by(level, pos, 8) {
            let text = m.to_string();
            let (file, rank) = text.split_at(1);
            let file = i32::from(file.as_bytes()[0]) - i32::from(b'h');
            let rank = rank.parse::<i32>().expect("the text is a number") - 8;
            assert!(file.abs().max(rank.abs()) <= 2, "{level}: {m}");
        }
    }
}

/// Without the limit to squares near stones, the margin of level `Easy` would allow nearly every
/// square of the board. Level `Easy` must play near the stones even if all moves lose.
#[test]
fn easy_plays_within_two_squares_of_a_stone() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 16));
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
        let mut history = GameHistory::<Gomoku>::initial();
        for m in moves.split(' ') {
            history.play(m.parse().expect(m)).expect(m);
        }
        let [own, other] = history.position().stones();
        for seed in 0..20 {
            let limits = Limits::nodes(20_000);
            let chosen = choose_move(&history, Level::Easy, seed, &limits, &stop, &mut table);
            let (m, _) = chosen.expect("the game is not over");
            let is_near = (own | other)
                .into_iter()
                .any(|stone| distance(stone, m.bit_index()) <= 2);
            assert!(is_near, "{m} after {moves}");
            choices.insert((moves, m.bit_index()));
        }
    }
    // The chosen moves must still vary among the squares near the stones.
    assert!(choices.len() > 40, "{}", choices.len());
}

#[test]
fn easy_plays_within_two_squares_of_a_stone_in_full_games() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 16));
    for seed in 0..6 {
        let mut history = GameHistory::<Gomoku>::initial();
        while history.outcome().is_none() {
            let pos = history.position();
            let stones = pos.stones()[0] | pos.stones()[1];
            let chosen = choose_move(
                &history,
                Level::Easy,
                seed,
                &Limits::default(),
                &stop,
                &mut table,
            );
            let (m, _) = chosen.expect("the game is not over");
            let is_near = stones
                .into_iter()
                .any(|stone| distance(stone, m.bit_index()) <= 2);
            assert!(is_near || stones.is_empty(), "{m} in {pos}");
            history.play(m).expect("the move is legal");
        }
    }
}

/// Returns the distance between two squares in king steps.
fn distance(a: u8, b: u8) -> u8 {
    let ((file, rank), (other_file, other_rank)) =
        (Bitboard::file_and_rank(a), Bitboard::file_and_rank(b));
    file.abs_diff(other_file).max(rank.abs_diff(other_rank))
}
