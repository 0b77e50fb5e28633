//! Tests of the bot levels. Tic-tac-toe is small enough to check every position. The tests compute
//! the expected score between two players over the whole game tree and do not sample games.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::*;
use crate::game::conformance::random_game;
use crate::game::connect_four::ConnectFour;
use crate::game::tic_tac_toe::{Move, TicTacToe};
use crate::search::Score;
use crate::search::minimax::{Scale, minimax};
use crate::search::minimax_comparison_tests::{VALUES, all_positions, children};

/// Policy of a player. The policy maps each position to the positions that the player may reach
/// with the next move. All of them have equal probability.
type PlayerPolicy = HashMap<TicTacToe, Vec<TicTacToe>>;

fn new_table() -> TranspositionTable {
    TranspositionTable::new(1 << 14)
}

fn build_policy(moves: impl Fn(&TicTacToe) -> Option<Vec<Move>>) -> PlayerPolicy {
    let positions_after =
        |pos: TicTacToe, moves: Vec<Move>| moves.into_iter().map(|m| pos.after(m)).collect();
    all_positions()
        .into_iter()
        .filter_map(|pos| Some((pos, positions_after(pos, moves(&pos)?))))
        .collect()
}

/// Returns the candidate moves of a bot that starts with an empty table.
fn fresh_candidates<P: Evaluate>(
    history: &GameHistory<P>,
    level: Level,
    limits: &Limits,
    stop: &Stop,
    table: &mut TranspositionTable,
) -> Option<Candidates<P::Move>> {
    table.clear();
    candidates(history, level, limits, stop, table, &mut |_| {})
}

fn bot_policy(level: Level) -> PlayerPolicy {
    build_policy(|pos| {
        Some(
            fresh_candidates(
                &GameHistory::from(*pos),
                level,
                &Limits::default(),
                &Stop::new(),
                &mut new_table(),
            )?
            .moves,
        )
    })
}

/// Returns the policy of perfect play. A perfect player picks one of the fastest wins. If no move
/// wins, the player picks a move that draws. If every move loses, the player picks one of the
/// slowest losses.
fn perfect_policy() -> PlayerPolicy {
    build_policy(|pos| {
        let result = search_within_margin(
            &GameHistory::from(*pos),
            0,
            9,
            SearchOptions::EXACT,
            &Limits::default(),
            &Stop::new(),
            &new_table(),
        )?;
        Some(result.moves.into_iter().map(|value| value.m).collect())
    })
}

/// Returns the average score of `player` against `opponent` over both seats, with 1 for a win and
/// 1/2 for a draw.
fn expected_score(player: &PlayerPolicy, opponent: &PlayerPolicy) -> f64 {
    let score = |seat| {
        let players = match seat {
            Seat::First => [player, opponent],
            Seat::Second => [opponent, player],
        };
        expected_value(&TicTacToe::initial(), seat, players, &mut HashMap::new())
    };
    (score(Seat::First) + score(Seat::Second)) / 2.0
}

fn expected_value(
    pos: &TicTacToe,
    seat: Seat,
    players: [&PlayerPolicy; 2],
    cache: &mut HashMap<TicTacToe, f64>,
) -> f64 {
    if let Some(value) = cache.get(pos) {
        return *value;
    }
    let value = match pos.outcome() {
        Some(Outcome::Draw) => 0.5,
        Some(Outcome::Decisive { winner }) => f64::from(u8::from(winner == seat)),
        None => {
            let successors = &players[pos.turn().index()][pos];
            let sum: f64 = successors
                .iter()
                .map(|pos| expected_value(pos, seat, players, cache))
                .sum();
            sum / successors.len() as f64
        }
    };
    cache.insert(*pos, value);
    value
}

/// Each level must be stronger than the level below it, both in direct play and against a perfect
/// opponent. The scores are exact. Any change to the moves that a level plays changes the scores
/// and requires a new `LEVELS_VERSION`.
#[test]
fn each_level_beats_the_one_below_by_the_recorded_score() {
    let (bots, perfect) = (Level::ALL.map(bot_policy), perfect_policy());
    let rounded = |score: f64| (score * 1000.0).round() / 1000.0;

    let against_perfect = bots
        .each_ref()
        .map(|bot| rounded(expected_score(bot, &perfect)));
    assert_eq!(against_perfect, [0.064, 0.131, 0.268, 0.399, 0.5]);

    let against_weaker: Vec<_> = bots
        .windows(2)
        .map(|pair| rounded(expected_score(&pair[1], &pair[0])))
        .collect();
    assert_eq!(against_weaker, [0.711, 0.671, 0.707, 0.625]);
}

/// Checks the moves of the levels in every position, with an unlimited search and with a search
/// that is stopped from the start.
fn for_each_position(levels: &[Level], check: impl Fn(&TicTacToe, &[Move])) {
    let (unstopped, stopped) = (Stop::new(), Stop::new());
    stopped.stop();
    for level in levels {
        for stop in [&unstopped, &stopped] {
            for pos in all_positions() {
                if let Some(Candidates { moves, .. }) = fresh_candidates(
                    &GameHistory::from(pos),
                    *level,
                    &Limits::default(),
                    stop,
                    &mut new_table(),
                ) {
                    check(&pos, &moves);
                }
            }
        }
    }
}

#[test]
fn every_level_takes_a_win_in_one() {
    for_each_position(&Level::ALL, |pos, moves| {
        let is_win = |pos: &TicTacToe| is_won_by(pos, pos.turn().other());
        if children(pos).iter().any(|(_, child)| is_win(child)) {
            assert!(
                moves.iter().all(|m| is_win(&pos.after(*m))),
                "{pos}: {moves:?}"
            );
        }
    });
}

#[test]
fn medium_and_above_prevent_a_loss_in_one() {
    for_each_position(&[Level::Medium, Level::Hard, Level::Max], |pos, moves| {
        let is_safe = |child: &TicTacToe| minimax(child, 1, Scale::Plies).score != Score::win_in(1);
        if children(pos).iter().any(|(_, child)| is_safe(child)) {
            assert!(
                moves.iter().all(|m| is_safe(&pos.after(*m))),
                "{pos}: {moves:?}"
            );
        }
    });
}

/// A bot cannot block two threats at once, but it can block one of them.
#[test]
fn all_but_beginner_block_as_many_threats_as_possible() {
    for_each_position(&Level::ALL[1..], |pos, moves| {
        let threats = |child: &TicTacToe| {
            let replies = children(child);
            let winning = replies
                .iter()
                .filter(|(_, pos)| is_won_by(pos, child.turn()));
            winning.count()
        };
        let fewest = children(pos).iter().map(|(_, child)| threats(child)).min();
        if fewest > Some(0) {
            let leaves_fewest = |m: &Move| Some(threats(&pos.after(*m))) == fewest;
            assert!(moves.iter().all(leaves_fewest), "{pos}: {moves:?}");
        }
    });
}

/// Returns unfinished positions from all stages of random Connect Four games.
fn connect_four_positions() -> impl Iterator<Item = ConnectFour> {
    (0..80).flat_map(|seed| {
        let positions = random_game::<ConnectFour>(seed).0;
        positions.into_iter().filter(|pos| pos.outcome().is_none())
    })
}

#[test]
fn connect_four_bots_take_wins_in_one_and_prevent_losses_in_one() {
    let (unstopped, stopped) = (Stop::new(), Stop::new());
    stopped.stop();
    let limits = Limits::nodes(2_000);
    let (mut table, mut wins_checked, mut threats_checked) = (new_table(), 0, 0);
    for pos in connect_four_positions() {
        let is_win = |m: &_| is_won_by(&pos.after(*m), pos.turn());
        let is_safe = |m: &_| !loses_in_one(&pos, *m);
        let mut legal = Vec::new();
        pos.legal_moves(&mut legal);
        for (level, stop) in Level::ALL
            .iter()
            .flat_map(|level| [(*level, &unstopped), (*level, &stopped)])
        {
            let chosen =
                fresh_candidates(&GameHistory::from(pos), level, &limits, stop, &mut table)
                    .expect("the game is not over")
                    .moves;
            if legal.iter().any(is_win) {
                assert!(chosen.iter().all(is_win), "{level} in {pos}: {chosen:?}");
                wins_checked += 1;
            } else if level >= Level::Medium && legal.iter().any(is_safe) {
                assert!(chosen.iter().all(is_safe), "{level} in {pos}: {chosen:?}");
                threats_checked += u32::from(!legal.iter().all(is_safe));
            }
        }
    }
    assert!(
        wins_checked > 1000 && threats_checked > 1000,
        "{wins_checked}, {threats_checked}"
    );
}

/// The positions are close enough to the end that the test can try every reply of the opponent.
#[test]
fn connect_four_full_strength_never_worsens_the_result() {
    let mut table = new_table();
    for seed in 0..40 {
        let positions = random_game::<ConnectFour>(seed).0;
        if let Some(pos) = positions.get(29).filter(|pos| pos.outcome().is_none()) {
            let value = search(
                &GameHistory::from(*pos),
                &Limits::default(),
                &Stop::new(),
                &table,
            )
            .expect("the game is not over")
            .score;
            assert_result_is_kept(pos, pos.turn(), value.cmp(&Score::DRAW), &mut table);
        }
    }
}

/// Lets the full-strength bot play in `seat` against every reply of the opponent. Checks that the
/// final result is at least `promised_result`.
fn assert_result_is_kept(
    pos: &ConnectFour,
    seat: Seat,
    promised_result: Ordering,
    table: &mut TranspositionTable,
) {
    if let Some(outcome) = pos.outcome() {
        let result = Score::from_outcome(outcome, seat, 0).cmp(&Score::DRAW);
        assert!(result >= promised_result, "{pos}");
    } else if pos.turn() == seat {
        let chosen = choose_move(
            &GameHistory::from(*pos),
            Level::Max,
            0,
            &Limits::default(),
            &Stop::new(),
            table,
        );
        assert_result_is_kept(
            &pos.after(chosen.expect("the game is not over").0),
            seat,
            promised_result,
            table,
        );
    } else {
        children(pos)
            .iter()
            .for_each(|(_, after)| assert_result_is_kept(after, seat, promised_result, table));
    }
}

/// Beginner and easy bots must overlook some threats, so that weak players can beat them.
#[test]
fn beginner_and_easy_overlook_some_threats() {
    for level in [Level::Beginner, Level::Easy] {
        let overlooks_threat = |(pos, after): (&TicTacToe, &Vec<TicTacToe>)| {
            let is_safe =
                |child: &TicTacToe| minimax(child, 1, Scale::Plies).score != Score::win_in(1);
            children(pos).iter().any(|(_, child)| is_safe(child)) && !after.iter().all(is_safe)
        };
        assert!(bot_policy(level).iter().any(overlooks_threat), "{level}");
    }
}

/// Checks every line of play, with the bot in either seat.
#[test]
fn full_strength_never_loses_and_wins_as_fast_as_possible() {
    let max = bot_policy(Level::Max);
    for (pos, after) in &max {
        let value_before = VALUES[pos];
        for child in after {
            let value_after = -VALUES[child];
            let plies = |score: Score| score.plies_to_end();
            assert_eq!(
                value_after.cmp(&Score::DRAW),
                value_before.cmp(&Score::DRAW),
                "{pos} {child}"
            );
            assert_eq!(
                plies(value_after).map(|plies| plies + 1),
                plies(value_before),
                "{pos} {child}"
            );
        }
    }
    for seat in Seat::ALL {
        assert_never_loses(&TicTacToe::initial(), seat, &max);
    }
}

fn assert_never_loses(pos: &TicTacToe, seat: Seat, max: &PlayerPolicy) {
    assert!(!is_won_by(pos, seat.other()), "{pos}");
    if pos.outcome().is_none() && pos.turn() == seat {
        max[pos]
            .iter()
            .for_each(|after| assert_never_loses(after, seat, max));
    } else {
        children(pos)
            .iter()
            .for_each(|(_, after)| assert_never_loses(after, seat, max));
    }
}

#[test]
fn full_strength_plays_first_pv_move_under_any_node_limit() {
    for pos in all_positions().into_iter().step_by(20) {
        for nodes in (0..400).step_by(9) {
            let limits = Limits::nodes(nodes);
            if let Some((m, report)) = choose_move(
                &GameHistory::from(pos),
                Level::Max,
                0,
                &limits,
                &Stop::new(),
                &mut new_table(),
            ) {
                assert!(
                    m == report.pv[0] || loses_in_one(&pos, report.pv[0]),
                    "{pos} {nodes}"
                );
            }
        }
    }
}

#[test]
fn depth_limits_never_exceed_the_depth_of_the_level() {
    for (level, level_depth) in Level::ALL.into_iter().zip([1, 1, 2, 4, 9]) {
        for depth in [0, 1, 3, 99] {
            let limits = Limits::depth(depth);
            let chosen = choose_move(
                &GameHistory::<TicTacToe>::initial(),
                level,
                0,
                &limits,
                &Stop::new(),
                &mut new_table(),
            );
            let (_, report) = chosen.expect("the game is not over");
            assert_eq!(report.depth, depth.clamp(1, level_depth), "{level}");
        }
    }
}

#[test]
fn seed_determines_the_move_among_all_candidates() {
    let limits = Limits::nodes(300);
    for pos in all_positions().into_iter().step_by(150) {
        for level in Level::ALL {
            let Some(Candidates { mut moves, .. }) = fresh_candidates(
                &GameHistory::from(pos),
                level,
                &limits,
                &Stop::new(),
                &mut new_table(),
            ) else {
                continue;
            };
            let chosen = |seed| {
                choose_move(
                    &GameHistory::from(pos),
                    level,
                    seed,
                    &limits,
                    &Stop::new(),
                    &mut new_table(),
                )
                .expect("the game is not over")
            };
            for seed in 0..100 {
                let m = chosen(seed).0;
                assert_eq!(m, chosen(seed).0, "{level} in {pos}");
                moves.retain(|other| *other != m);
            }
            assert!(moves.is_empty(), "{level} never plays {moves:?} in {pos}");
        }
    }
}

/// A different program computed the expected indices. The indices must not change, because the
/// bots' moves in stored matches depend on them.
#[test]
fn draw_index_of_stored_seeds_is_unchanged() {
    let indices: Vec<_> = (0..8)
        .map(|seed| draw_index(&"x../.o./...", seed, 7))
        .collect();
    assert_eq!(indices, [4, 2, 0, 6, 2, 4, 0, 4]);
}
