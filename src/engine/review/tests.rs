use super::*;
use crate::catalog::{self, CATALOG};
use crate::game::Position;
use crate::game::tic_tac_toe::TicTacToe;
use crate::search::Evaluate;
use crate::search::Level;
use crate::search::analysis::TextbookMethod;
use crate::search::minimax::Scale;
use crate::search::seeded_rng::SeededRng;

/// Reviews a game from its initial position.
fn review_game(game_id: &str, moves: &str, nodes: u64) -> Review {
    let entry = catalog::find_game(game_id).expect(game_id);
    let moves = moves
        .split(' ')
        .filter(|m| !m.is_empty())
        .map(str::to_owned);
    let review = Review::new(entry, entry.initial_position(), moves.collect(), 1 << 20);
    finish_review(review.expect("the moves are legal"), nodes)
}

fn finish_review(mut review: Review, nodes: u64) -> Review {
    let mut steps = 0;
    while !review.is_complete() {
        assert_eq!(review.accuracy(), None);
        review.step(&Limits::nodes(nodes), &Stop::new());
        steps += 1;
    }
    assert_eq!(steps, review.plies() + 1);
    assert_eq!(review.move_reviews().len(), review.plies());
    review
}

fn random_moves(entry: &GameEntry, seed: u64, plies: usize) -> Vec<String> {
    let (mut position, mut rng) = (entry.initial_position(), SeededRng::new(seed, "review"));
    let mut moves = Vec::new();
    while position.outcome().is_none() && moves.len() < plies {
        let mut legal = position.legal_moves();
        let m = legal.swap_remove(rng.next_below(legal.len()));
        moves.push(position.play(&m).expect("the move is legal"));
    }
    moves
}

fn judgement_at(review: &Review, ply: usize) -> Option<&(Judgement, Explanation)> {
    let reviewed = review
        .move_reviews()
        .iter()
        .find(|looked| looked.ply == ply);
    reviewed.and_then(|looked| looked.judgement.as_ref())
}

/// The review must judge a move if and only if plain minimax shows that the move gives away a win
/// or a draw.
#[test]
fn only_moves_that_worsen_the_result_are_judged_in_tic_tac_toe() {
    let entry = catalog::find_game("tic-tac-toe").expect("the game is in the catalog");
    let mut kinds = std::collections::HashSet::new();
    for seed in 0..60 {
        let moves = random_moves(entry, seed, 9);
        let review =
            Review::new(entry, entry.initial_position(), moves.clone(), 1 << 16).expect("legal");
        let review = finish_review(review, 100_000);
        let mut analyst = entry.analysis_board(0);
        // Result with best play: 1 if the first seat wins, 0 for a draw, -1 if the second seat
        // wins.
        let mut result = |plies: usize| {
            analyst.set_up(&moves[..plies].join(" ")).expect("legal");
            let sign = if analyst.position().turn() == Seat::First {
                1
            } else {
                -1
            };
            match analyst.position().outcome() {
                Some(crate::game::Outcome::Draw) => 0,
                Some(crate::game::Outcome::Decisive { winner }) => {
                    if winner == Seat::First {
                        1
                    } else {
                        -1
                    }
                }
                None => {
                    let searched =
                        analyst.textbook_search(TextbookMethod::Minimax, 9, Scale::Outcome);
                    sign * searched.score.value().signum()
                }
            }
        };
        for reviewed in review.move_reviews() {
            let (before, after) = (result(reviewed.ply), result(reviewed.ply + 1));
            assert!(
                reviewed.evaluation.proven.is_some(),
                "{moves:?} {reviewed:?}"
            );
            assert_eq!(
                reviewed.evaluation.winning_chance,
                f64::from(before),
                "{moves:?} {reviewed:?}"
            );
            let kind = reviewed.judgement.as_ref().map(|(judgement, why)| {
                assert_eq!(*judgement, Judgement::Blunder);
                why.kind
            });
            let loser = if reviewed.turn == Seat::First { -1 } else { 1 };
            let expected = match after {
                _ if before == after => None,
                after if after == loser => Some(MistakeKind::AllowsWin),
                _ => Some(MistakeKind::MissesWin),
            };
            assert_eq!(kind, expected, "{moves:?} {reviewed:?}");
            kinds.insert(format!("{kind:?}"));
        }
    }
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

/// Returns the best move at each ply, in playing order.
fn best_moves(review: &Review) -> Vec<String> {
    let looked = review.move_reviews().iter().rev();
    looked.map(|looked| looked.best_line[0].clone()).collect()
}

/// Reviews every move in every position of tic-tac-toe, up to symmetry. Checks the reported best
/// moves against the values that plain minimax computes over the entire tree.
#[test]
fn tic_tac_toe_played_move_is_best_if_it_keeps_the_minimax_value() {
    let entry = catalog::find_game("tic-tac-toe").expect("the game is in the catalog");
    let mut analyst = entry.analysis_board(0);
    let mut keys = std::collections::HashSet::new();
    let (mut best_count, mut worse_count) = (0, 0);
    let mut positions = vec![TicTacToe::initial()];
    while let Some(position) = positions.pop() {
        if position.outcome().is_some() || !keys.insert(position.key()) {
            continue;
        }
        let mut legal = Vec::new();
        position.legal_moves(&mut legal);
        positions.extend(legal.into_iter().map(|m| position.after(m)));
        let text = position.to_string();
        analyst.set_up(&text).expect("legal");
        let minimax = analyst.textbook_search(TextbookMethod::Minimax, 9, Scale::Plies);
        for value in &minimax.moves {
            let start = entry.parse_initial_position(&text).expect("legal");
            let moves = vec![value.m.clone()];
            let review = Review::new(entry, start, moves, 1 << 14).expect("legal");
            let review = finish_review(review, 100_000);
            let [reviewed] = review.move_reviews() else {
                panic!("expected exactly one reviewed move");
            };
            let best_value = (minimax.moves.iter()).find(|other| other.m == reviewed.best_line[0]);
            let best_score = best_value.expect("the move is legal").score;
            assert_eq!(best_score, minimax.score, "{text} {reviewed:?}");
            let is_best = value.score == minimax.score;
            assert_eq!(
                reviewed.best_line[0] == value.m,
                is_best,
                "{text} {reviewed:?}"
            );
            *(if is_best {
                &mut best_count
            } else {
                &mut worse_count
            }) += 1;
        }
    }
    assert_eq!(keys.len(), 627);
    assert!(
        best_count > 500 && worse_count > 500,
        "{best_count} {worse_count}"
    );
}

#[test]
fn tic_tac_toe_played_moves_are_best_in_perfect_games() {
    for moves in [
        "b2 a1 c1 a3 a2 c2 b3",
        "a1 b2 c3 b1",
        "c3 b2 a1 b3",
        "a3 b2",
    ] {
        let review = review_game("tic-tac-toe", moves, 100_000);
        let moves: Vec<&str> = moves.split(' ').collect();
        assert_eq!(
            best_moves(&review)[..3.min(moves.len())],
            moves[..3.min(moves.len())]
        );
    }
    for first in ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"] {
        assert_eq!(
            best_moves(&review_game("tic-tac-toe", first, 100_000)),
            [first]
        );
    }
}

/// Reviews random games from ply 20 on and checks the reported best moves against the solver.
#[test]
fn connect_four_played_move_is_best_if_it_keeps_the_solved_value() {
    let entry = catalog::find_game("connect-four").expect("the game is in the catalog");
    let (mut equal, mut others) = (0, 0);
    for seed in 0..12 {
        let moves = random_moves(entry, seed, 42);
        let begin = 20.min(moves.len());
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("the move is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 20).expect("legal");
        let review = finish_review(review, 200_000);
        let mut analyst = entry.analysis_board(1 << 22);
        for reviewed in review.move_reviews() {
            let so_far = moves[..begin + reviewed.ply].join(" ");
            analyst.set_up(&so_far).expect("legal");
            let solved = analyst.analyse(true, &Limits::default(), &Stop::new(), &mut |_| {});
            let solved = solved.expect("the search has no limit");
            let value = |m: &str| {
                let move_value = solved.moves.iter().find(|value| value.m == m);
                move_value.expect("the move is legal").score
            };
            assert_eq!(
                value(&reviewed.best_line[0]),
                solved.score,
                "{so_far} {reviewed:?}"
            );
            let is_best = value(&reviewed.m) == solved.score;
            assert_eq!(
                reviewed.best_line[0] == reviewed.m,
                is_best,
                "{so_far} {reviewed:?}"
            );
            equal += u32::from(is_best);
            others += u32::from(!is_best);
        }
    }
    assert!(equal > 20 && others > 20, "{equal} {others}");
}

/// Reviews the last moves of random games, where the result in points is exact.
#[test]
fn othello_played_move_is_best_if_it_keeps_the_final_score() {
    let entry = catalog::find_game("othello").expect("the game is in the catalog");
    let mut equal = 0;
    for seed in 0..6 {
        let moves = random_moves(entry, seed, 70);
        let begin = moves.len().saturating_sub(8);
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("the move is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 20).expect("legal");
        let review = finish_review(review, 200_000);
        let mut evaluation_after = review.final_evaluation().expect("the review is complete");
        for reviewed in review.move_reviews() {
            assert!(reviewed.evaluation.exact, "{reviewed:?}");
            let is_best = reviewed.evaluation.proven == evaluation_after.proven;
            assert_eq!(reviewed.best_line[0] == reviewed.m, is_best, "{reviewed:?}");
            assert!(reviewed.loss <= 0.0 || !is_best, "{reviewed:?}");
            equal += u32::from(is_best);
            evaluation_after = reviewed.evaluation;
        }
    }
    assert!(equal > 10, "{equal}");
}

/// The review transforms games to a canonical form. Without this transformation, a search of
/// limited depth would estimate mirror images of a position differently.
#[test]
fn symmetric_first_moves_get_the_same_review() {
    let othello = ["d3", "c4", "f5", "e6"].as_slice();
    let gomoku = ["c3", "m3", "c13", "m13"].as_slice();
    let connect_four = ["3", "5"].as_slice();
    for (game, firsts) in [
        ("othello", othello),
        ("gomoku", gomoku),
        ("connect-four", connect_four),
    ] {
        for nodes in [500, 3000] {
            let reviews: Vec<Review> = (firsts.iter())
                .map(|m| review_game(game, m, nodes))
                .collect();
            for (review, first) in reviews.iter().zip(firsts) {
                let [reviewed] = review.move_reviews() else {
                    panic!("expected exactly one reviewed move");
                };
                assert_eq!(reviewed.m, *first);
                let of_first = &reviews[0].move_reviews()[0];
                assert_eq!(
                    (reviewed.evaluation, reviewed.loss),
                    (of_first.evaluation, of_first.loss)
                );
                assert_eq!(review.accuracy(), reviews[0].accuracy(), "{game} {first}");
                assert_eq!(
                    reviewed.best_line[0] == reviewed.m,
                    of_first.best_line[0] == of_first.m,
                    "{game} {first}"
                );
            }
        }
    }
    // All first moves of Othello are equivalent under a symmetry.
    for first in othello {
        let review = review_game("othello", first, 3000);
        assert_eq!(best_moves(&review), [*first]);
        assert_eq!(review.accuracy(), Some([Some(100), None]));
    }
}

/// The moves that lead to a symmetric position are not symmetric: mirroring them gives the same
/// moves in a different order. The positions without symmetry are controls.
#[test]
fn symmetric_image_of_played_move_is_replaced_by_played_move() {
    for (game, moves, symmetries) in [
        ("gomoku", "g8 h8 i8 j9", 4),
        ("gomoku", "h8 h9 g8 b3", 1),
        ("tic-tac-toe", "a1 b2 c3 b1", 4),
        ("connect-four", "3 4 5 2", 2),
        ("othello", "f5 d6 c3 d3", 1),
    ] {
        let entry = catalog::find_game(game).expect("the game is in the catalog");
        let moves: Vec<String> = moves.split(' ').map(str::to_owned).collect();
        let review = Review::new(entry, entry.initial_position(), moves, 1 << 14).expect("legal");
        let (before, last) = review.moves.split_at(3);
        let mut position = entry.initial_position();
        for m in before {
            position.play(m).expect("legal");
        }
        let evaluation = Evaluation::of_finished_game(entry, position.as_ref());
        let images =
            (entry.symmetries().iter()).map(|symmetry| entry.transform_move(&last[0], *symmetry));
        let images: std::collections::HashSet<String> = images.collect();
        let symmetric = images.into_iter().filter(|image| {
            let evaluated_line = (evaluation, vec![image.clone()]);
            let (_, line) = review.prefer_played_move(3, position.as_ref(), evaluated_line);
            line == last
        });
        assert_eq!(symmetric.count(), symmetries, "{game} {:?}", review.moves);
    }
}

/// Returns games of Connect Four. A bot at full strength moves first, and its opponent plays random
/// moves.
fn games_against_random_moves() -> Vec<String> {
    let entry = catalog::find_game("connect-four").expect("the game is in the catalog");
    let games = (0..8).map(|seed| {
        let (mut position, mut rng) = (entry.initial_position(), SeededRng::new(seed, "second"));
        let mut table = TranspositionTable::new(1 << 20);
        let mut moves = Vec::new();
        while position.outcome().is_none() {
            let mut m = position.legal_moves();
            let m = match position.turn() {
                Seat::Second => m.swap_remove(rng.next_below(m.len())),
                Seat::First => {
                    let limits = Limits::nodes(20_000);
                    let choice =
                        position.choose_move(Level::Max, 0, &limits, &Stop::new(), &mut table);
                    choice.expect("the game is not over").m
                }
            };
            moves.push(position.play(&m).expect("the move is legal"));
        }
        moves.join(" ")
    });
    games.collect()
}

/// In the opening of Connect Four, the opening book contains the winning moves, but not the number
/// of plies to the win. The test reviews every legal move, because a bot at full strength plays
/// only book moves.
#[test]
fn connect_four_played_move_is_best_among_wins_of_unknown_length() {
    let entry = catalog::find_game("connect-four").expect("the game is in the catalog");
    let is_win_of_unknown_length = |evaluation: Evaluation| {
        let known = evaluation.proven.filter(|known| known.plies.is_none());
        known.is_some_and(|known| known.winner == Some(Seat::First))
    };
    let (mut winning_moves, mut other_winning_moves) = (0, 0);
    for moves in games_against_random_moves() {
        let mut position = entry.initial_position();
        for played in moves.split(' ').take(12) {
            let text = position.to_string();
            let mut best = std::collections::HashSet::new();
            for m in position.legal_moves() {
                let start = entry
                    .parse_initial_position(&text)
                    .expect("the position is valid");
                let review = Review::new(entry, start, vec![m], 1 << 16).expect("legal");
                let review = finish_review(review, 2000);
                let (reviewed, end) = (
                    &review.move_reviews()[0],
                    review.final_evaluation().expect("the review is complete"),
                );
                if reviewed.turn == Seat::First
                    && is_win_of_unknown_length(reviewed.evaluation)
                    && is_win_of_unknown_length(end)
                {
                    assert_eq!(reviewed.best_line[0], reviewed.m, "{text} {reviewed:?}");
                    best.insert(reviewed.m.clone());
                }
            }
            winning_moves += best.len();
            other_winning_moves += best.len().saturating_sub(1);
            position.play(played).expect("legal");
        }
    }
    // In some positions of these games, several moves keep the win.
    assert!(
        winning_moves > 10 && other_winning_moves > 3,
        "{winning_moves} {other_winning_moves}"
    );
}

/// With best play, the second player of Connect Four loses from the first move on. In the first
/// game of this test, the second player also fails to block three in a row.
#[test]
fn connect_four_move_that_hastens_a_loss_is_a_mistake() {
    let entry = catalog::find_game("connect-four").expect("the game is in the catalog");
    let mut games = vec!["4 7 4 7 4 1 4".to_owned()];
    games.extend(games_against_random_moves());
    let mut judged = 0;
    for (number, moves) in games.into_iter().enumerate() {
        let review = review_game("connect-four", &moves, 100_000);
        let mistake = review
            .move_reviews()
            .iter()
            .find(|looked| looked.judgement.is_some());
        assert!(number > 0 || mistake.is_some(), "{moves} has no mistake");
        let Some(mistake) = mistake else { continue };
        judged += 1;
        let (judgement, why) = mistake.judgement.as_ref().expect("the move is judged");
        assert_eq!(
            (mistake.turn, *judgement, why.kind, why.better_outcome),
            (
                Seat::Second,
                Judgement::Mistake,
                MistakeKind::AllowsWin,
                BetterMoveOutcome::Loss
            ),
            "{moves}"
        );
        assert!(
            mistake.loss > 0.0 && mistake.evaluation.winning_chance >= 1.0,
            "{mistake:?}"
        );
        let text = english(entry, mistake).expect("the move is judged");
        let end = format!("; {} holds out for longer.", why.better_move);
        assert!(text.contains("red wins ") && text.contains(&end), "{text}");
        let [first, second] = review.accuracy().expect("the review is complete");
        assert_eq!(first, Some(100), "{moves}");
        assert!(second < Some(100), "{moves} {second:?}");
    }
    assert!(judged >= 6, "{judged}");
}

/// Checks the judgements of moves in lost positions against the solver, in random games. Every
/// judged move must lose much sooner than necessary. A move that loses within four plies must be
/// judged if a much longer defence exists.
#[test]
fn connect_four_losing_move_is_judged_by_plies_lost() {
    let entry = catalog::find_game("connect-four").expect("the game is in the catalog");
    let (mut judged, mut unjudged) = (0, 0);
    for seed in 0..40 {
        let moves = random_moves(entry, seed, 42);
        let begin = 14.min(moves.len());
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("the move is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 18).expect("legal");
        let review = finish_review(review, 20_000);
        let mut analyst = entry.analysis_board(1 << 22);
        for reviewed in review.move_reviews() {
            let winner = reviewed.turn.other();
            let proven = reviewed.evaluation.proven;
            if proven.is_none_or(|proven| proven.winner != Some(winner)) {
                continue;
            }
            analyst
                .set_up(&moves[..begin + reviewed.ply].join(" "))
                .expect("legal");
            let solved = analyst.analyse(true, &Limits::default(), &Stop::new(), &mut |_| {});
            let solved = solved.expect("the search has no limit");
            let plies = |m: &str| {
                let move_value = solved.moves.iter().find(|value| value.m == m);
                move_value
                    .and_then(|value| value.score.plies_to_end())
                    .expect("every move loses")
            };
            let (best, played) = (
                solved.score.plies_to_end().expect("the position is lost"),
                plies(&reviewed.m),
            );
            let is_much_sooner = best >= (played + RESISTANCE_PLIES_MIN).max(2 * played);
            assert!(
                is_much_sooner || reviewed.judgement.is_none(),
                "{best} {played} {reviewed:?}"
            );
            if played <= 4 {
                assert_eq!(
                    reviewed.judgement.is_some(),
                    is_much_sooner,
                    "{best} {played} {reviewed:?}"
                );
            }
            assert_eq!(
                reviewed.judgement.is_some(),
                reviewed.loss > 0.0,
                "{reviewed:?}"
            );
            if let Some((judgement, why)) = &reviewed.judgement {
                assert_eq!(
                    (*judgement, why.kind),
                    (Judgement::Mistake, MistakeKind::AllowsWin)
                );
                assert_eq!(why.plies, Some(played), "{reviewed:?}");
                let better = plies(&why.better_move);
                assert!(
                    better >= (played + RESISTANCE_PLIES_MIN).max(2 * played),
                    "{better} {reviewed:?}"
                );
                judged += 1;
            } else {
                unjudged += 1;
            }
        }
    }
    assert!(judged >= 5 && unjudged >= 20, "{judged} {unjudged}");
}

/// The reported number of plies to the end must equal the number that plain minimax computes. No
/// best line may be longer than this number of plies.
#[test]
fn tic_tac_toe_result_has_plies_to_the_end_as_minimax_counts() {
    let entry = catalog::find_game("tic-tac-toe").expect("the game is in the catalog");
    let mut analyst = entry.analysis_board(0);
    let mut plies_seen = std::collections::HashSet::new();
    for seed in 0..60 {
        let moves = random_moves(entry, seed, 9);
        let review =
            Review::new(entry, entry.initial_position(), moves.clone(), 1 << 16).expect("legal");
        for reviewed in finish_review(review, 100_000).move_reviews() {
            let proven = reviewed.evaluation.proven.expect("the result is proven");
            if proven.winner.is_none() {
                continue;
            }
            let so_far = moves[..reviewed.ply].join(" ");
            analyst.set_up(&so_far).expect("legal");
            let minimax = analyst.textbook_search(TextbookMethod::Minimax, 9, Scale::Plies);
            let plies = minimax.score.plies_to_end();
            assert_eq!(proven.plies, plies, "{moves:?} {reviewed:?}");
            let is_short = plies.is_some_and(|plies| reviewed.best_line.len() <= plies as usize);
            assert!(is_short, "{moves:?} {reviewed:?}");
            plies_seen.insert(plies);
        }
    }
    assert!(plies_seen.len() >= 5, "{plies_seen:?}");
}

/// Table entries from later positions prove who wins, but not in how many plies. The review must
/// still find the number of plies to the end.
#[test]
fn connect_four_result_within_five_plies_has_its_ply_count() {
    let entry = catalog::find_game("connect-four").expect("the game is in the catalog");
    let mut analyst = entry.analysis_board(0);
    let mut checked = 0;
    for seed in 0..20 {
        let moves = random_moves(entry, seed, 42);
        let review =
            Review::new(entry, entry.initial_position(), moves.clone(), 1 << 20).expect("legal");
        for reviewed in finish_review(review, 100_000).move_reviews() {
            analyst
                .set_up(&moves[..reviewed.ply].join(" "))
                .expect("legal");
            let alpha_beta = analyst.textbook_search(TextbookMethod::AlphaBeta, 5, Scale::Plies);
            if let Some(plies) = alpha_beta.score.plies_to_end() {
                let proven = reviewed.evaluation.proven.expect("the result is proven");
                assert_eq!(proven.plies, Some(plies), "{moves:?} {reviewed:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

/// The review must prefer a loss in an unknown number of plies to an immediate loss.
#[test]
fn best_line_of_lost_position_still_blocks_three_in_a_row() {
    let review = review_game("connect-four", "4 4 4 4 4 4 1 2 1 2 1 3 1", 20_000);
    let line = |ply: usize| review.move_reviews()[12 - ply].best_line.clone();
    assert_eq!(line(11)[0], "1", "three in a row are stopped");
    assert_eq!(line(10)[..2], ["1", "1"]);
}

#[test]
fn allowed_mate_is_a_blunder_with_the_mating_move() {
    let review = review_game("chess", "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7", 20_000);
    let (judgement, why) = judgement_at(&review, 5).expect("the move is judged as losing at once");
    assert_eq!(
        (*judgement, why.kind),
        (Judgement::Blunder, MistakeKind::AllowsWin)
    );
    assert_eq!(why.refutation, ["h5f7"]);
    assert_eq!(
        why.refutation_san.as_deref(),
        Some(["Qxf7#".to_owned()].as_slice())
    );
    assert_eq!(why.plies, Some(2));
    let reviewed = &review.move_reviews()[1];
    let text = english(
        catalog::find_game("chess").expect("the game is in the catalog"),
        reviewed,
    )
    .expect("the move is judged");
    let beginning = format!(
        "After Nf6, white wins at once by Qxf7#; {} holds.",
        reviewed
            .best_line_san
            .as_ref()
            .expect("chess moves have SAN")[0]
    );
    assert!(text.starts_with(&beginning), "{text}");
    assert_eq!(
        review
            .final_evaluation()
            .map(|end| (end.winning_chance, end.exact)),
        Some((1.0, true))
    );
    assert_eq!(judgement_at(&review, 6), None);
}

/// White misses a mate, but the game stays won. The explanation names the mate.
#[test]
fn missed_mate_in_a_won_game_is_an_inaccuracy() {
    let entry = catalog::find_game("chess").expect("the game is in the catalog");
    let start = entry.parse_initial_position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let moves = ["a1b1", "h7h6", "b1b8"].map(str::to_owned).to_vec();
    let review = Review::new(entry, start.expect("the position is valid"), moves, 1 << 20);
    let review = finish_review(review.expect("legal"), 20_000);
    let (judgement, why) = judgement_at(&review, 0).expect("the move is judged");
    assert_eq!(*judgement, Judgement::Inaccuracy);
    assert_eq!((why.kind, why.plies), (MistakeKind::MissesWin, Some(1)));
    let reviewed = review
        .move_reviews()
        .last()
        .expect("three moves were reviewed");
    let text = english(entry, reviewed).expect("the move has an explanation");
    assert!(
        text.starts_with("Ra8# wins at once; Rb1 makes the win less certain, after "),
        "{text}"
    );
    assert_eq!(judgement_at(&review, 2), None);
}

/// Games with passes can be won after an even number of plies.
#[test]
fn number_of_moves_to_a_win_is_singular_or_plural() {
    let review = review_game("tic-tac-toe", "a1 b1 a2 c1", 10_000);
    let mut reviews = review.move_reviews().iter();
    let judged = reviews.find(|looked| looked.judgement.is_some());
    let mut reviewed = judged.cloned().expect("a move was judged");
    let entry = catalog::find_game("tic-tac-toe").expect("the game is in the catalog");
    for (plies, expected) in [
        (1, " wins at once; "),
        (2, " wins in 1 move; "),
        (3, " wins in 2 moves; "),
    ] {
        let (_, why) = reviewed.judgement.as_mut().expect("the move was judged");
        (why.kind, why.plies, why.points) = (MistakeKind::MissesWin, Some(plies), None);
        let text = english(entry, &reviewed).expect("the move is judged");
        assert!(text.contains(expected), "{text}");
    }
}

/// The pass wins, but the result is not exact, because another move might win by more points.
#[test]
fn win_by_a_pass_is_proven_but_not_exact() {
    let review = review_game("go", "pass pass", 100);
    let last = review.move_reviews()[0].evaluation;
    assert_eq!(
        last.proven.expect("the position is proven won").winner,
        Some(Seat::Second)
    );
    assert!(!last.exact && review.final_evaluation().expect("the game is over").exact);
}

#[test]
fn lost_queen_counts_as_lost_material() {
    let review = review_game("chess", "e2e4 e7e5 d1g4 d7d6 g1f3 c8g4", 20_000);
    let (judgement, why) =
        judgement_at(&review, 4).expect("the move is judged as losing the queen");
    assert_eq!(
        (*judgement, why.kind),
        (Judgement::Blunder, MistakeKind::LosesMaterial)
    );
    assert!(
        why.material.is_some_and(|lost| (5..=9).contains(&lost)),
        "{why:?}"
    );
    assert_eq!(why.refutation.first().map(String::as_str), Some("c8g4"));
}

/// A player who does not take an undefended queen loses no material, but misses a chance to win
/// material.
#[test]
fn untaken_queen_counts_as_missed_material() {
    let review = review_game("chess", "e2e4 e7e5 d1g4 d7d6 g1f3 a7a6 f3e5", 20_000);
    let (_, why) = judgement_at(&review, 5).expect("the move is judged as not taking the queen");
    assert_eq!(why.kind, MistakeKind::MissesMaterial, "{why:?}");
    assert!(why.material >= Some(5), "{why:?}");
    assert_eq!(why.better_move, "c8g4");
    let reviewed = review.move_reviews().iter().find(|looked| looked.ply == 5);
    let text = english(
        catalog::find_game("chess").expect("the game is in the catalog"),
        reviewed.expect("the move was legal when played"),
    );
    let text = text.expect("the move is judged");
    assert!(
        text.starts_with("a6 does not win") && text.contains("Bxg4"),
        "{text}"
    );
}

/// According to the opening book, the first move loses the game. The later moves do not change the
/// result, so the review does not judge them.
#[test]
fn connect_four_losing_first_move_is_a_blunder_with_refutation() {
    let review = review_game("connect-four", "1 4 4", 1000);
    let (judgement, why) = judgement_at(&review, 0).expect("the move is judged as losing");
    assert_eq!(
        (
            *judgement,
            why.kind,
            why.better_outcome,
            why.better_move.as_str()
        ),
        (
            Judgement::Blunder,
            MistakeKind::AllowsWin,
            BetterMoveOutcome::Win,
            "4"
        )
    );
    assert_eq!(
        (why.better_line.len(), why.refutation.len()),
        (LINE_PLIES_MAX, LINE_PLIES_MAX)
    );
    let reviewed = review
        .move_reviews()
        .last()
        .expect("three moves were reviewed");
    let text = english(review.game(), reviewed).expect("the move is judged");
    let beginning = "After 1, yellow wins by 4 4 4 4 4 4 6 3 …; 4 would have won.";
    assert!(text.starts_with(beginning), "{text}");
    // In these lines, every move must prevent an immediate win of the opponent.
    for first in ["1", "2", "6", "7"] {
        let review = review_game("connect-four", first, 1000);
        let (_, why) = judgement_at(&review, 0).expect("the move is judged as losing");
        let line = [&[first.to_owned()], &why.refutation[..]].concat();
        let mut position = review.game().initial_position();
        for (ply, m) in line.iter().enumerate() {
            position.play(m).expect("the move is legal");
            let is_lost_at_once = |position: &dyn AnyPosition| {
                position.legal_moves().iter().any(|m| {
                    let mut next = position.clone_box();
                    next.play(m).expect("the move is legal");
                    next.outcome().is_some()
                })
            };
            assert!(!is_lost_at_once(position.as_ref()), "{line:?} after {ply}");
        }
    }
    assert_eq!(
        (judgement_at(&review, 1), judgement_at(&review, 2)),
        (None, None)
    );
    let sound = review_game("connect-four", "4 4 4 4", 1000);
    assert!(
        sound
            .move_reviews()
            .iter()
            .all(|looked| looked.judgement.is_none())
    );
}

/// Failing to block or complete three in a row is a blunder, even if the result of the position is
/// not proven.
#[test]
fn connect_four_immediate_loss_or_missed_win_is_a_blunder() {
    let review = review_game("connect-four", "1 7 1 2 1 2 1", 3000);
    let (judgement, why) = judgement_at(&review, 5).expect("the move is judged as losing at once");
    assert_eq!(
        (
            *judgement,
            why.kind,
            why.better_outcome,
            why.better_move.as_str()
        ),
        (
            Judgement::Blunder,
            MistakeKind::AllowsWin,
            BetterMoveOutcome::Undecided,
            "1"
        )
    );
    let reviewed = &review.move_reviews()[1];
    let text = english(review.game(), reviewed).expect("the move is judged");
    assert!(
        text.starts_with("After 2, red wins at once by 1; 1 holds."),
        "{text}"
    );
    let [_, loser] = review.accuracy().expect("the review is complete");
    assert!(loser.expect("the seat made three moves") < 60, "{loser:?}");

    let missed = review_game("connect-four", "1 7 1 2 1 2 3", 3000);
    let (judgement, why) = judgement_at(&missed, 6).expect("the move is judged as missing a win");
    assert_eq!(
        (*judgement, why.kind, why.better_move.as_str(), why.plies),
        (Judgement::Blunder, MistakeKind::MissesWin, "1", Some(1))
    );
}

/// In a review of a solved game, every proven result must be true, even with few nodes. A move may
/// be judged only if it changes the result, or if it misses or allows a win within four plies.
#[test]
fn solved_game_judges_only_changed_or_immediate_results() {
    let entry = catalog::find_game("connect-four").expect("the game is in the catalog");
    let (mut judged_count, mut unknown) = (0, 0);
    for seed in 0..6 {
        let moves = random_moves(entry, seed, 24);
        let mut start = entry.initial_position();
        let begin = 13.min(moves.len());
        for m in &moves[..begin] {
            start.play(m).expect("the move is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 16).expect("legal");
        let review = finish_review(review, 500);
        let mut analyst = entry.analysis_board(1 << 22);
        // Result with best play: 1 if the first seat wins, 0 for a draw, -1 if the second seat
        // wins.
        let mut result = |plies: usize| {
            analyst.set_up(&moves[..plies].join(" ")).expect("legal");
            let position = analyst.position();
            let sign = if position.turn() == Seat::First {
                1
            } else {
                -1
            };
            match position.outcome() {
                Some(crate::game::Outcome::Draw) => 0,
                Some(crate::game::Outcome::Decisive {
                    winner: Seat::First,
                }) => 1,
                Some(crate::game::Outcome::Decisive { .. }) => -1,
                None => {
                    let solved = analyst.solve(&Limits::default(), &Stop::new());
                    sign * solved
                        .expect("the search has no limit")
                        .score
                        .value()
                        .signum()
                }
            }
        };
        for reviewed in review.move_reviews() {
            let ply = begin + reviewed.ply;
            let (before, after) = (result(ply), result(ply + 1));
            match reviewed.evaluation.proven {
                Some(_) => assert_eq!(
                    reviewed.evaluation.winning_chance,
                    f64::from(before),
                    "{reviewed:?}"
                ),
                None => unknown += 1,
            }
            if let Some((_, why)) = &reviewed.judgement {
                judged_count += 1;
                let is_soon = why.plies.is_some_and(|plies| plies <= 4);
                assert!(before != after || is_soon, "{reviewed:?}");
            }
        }
    }
    assert!(judged_count > 3 && unknown > 3, "{judged_count} {unknown}");
}

/// In this game, an exchange continues after the end of the reported line. The pieces captured in
/// the line are recaptured later, so they must not count as lost material.
#[test]
fn material_recaptured_after_the_line_is_not_lost() {
    let moves = "10-14 23-18 14x23 26x19 7-10 27-23 3-7 32-27 11-16 21-17 9-14 25-21 7-11 29-25 \
                 16-20 31-26 6-9 17-13 1-6 22-18 11-16";
    let review = review_game("draughts", moves, 20_000);
    let (_, why) = judgement_at(&review, 20).expect("the move is judged");
    assert!(why.material <= Some(1), "{why:?}");
}

/// Losing a man usually lowers the evaluation by a little less than the value of a man.
#[test]
fn lost_man_counts_as_lost_material() {
    let moves = "9-13 24-19 6-9 19-16 12x19 23x16 11x20";
    let review = review_game("draughts", moves, 100_000);
    let (_, why) = judgement_at(&review, 3).expect("the move is judged");
    assert_eq!(
        (why.kind, why.material),
        (MistakeKind::LosesMaterial, Some(1))
    );
}

/// Reviews the last moves of random games, where the results are exact and lost points are counted.
#[test]
fn othello_points_lost_are_counted_near_the_end() {
    let entry = catalog::find_game("othello").expect("the game is in the catalog");
    let mut points_losses = 0;
    for seed in 0..4 {
        let moves = random_moves(entry, seed, 70);
        let begin = moves.len().saturating_sub(9);
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("the move is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 20).expect("legal");
        let review = finish_review(review, 200_000);
        for reviewed in review.move_reviews() {
            assert!(reviewed.evaluation.exact, "{reviewed:?}");
            let Some((judgement, why)) = &reviewed.judgement else {
                continue;
            };
            if why.kind == MistakeKind::LosesPoints {
                points_losses += 1;
                assert!(why.points.is_some_and(|points| points >= 2), "{why:?}");
                let is_large_loss = why.points >= Some(12);
                assert_eq!(*judgement == Judgement::Blunder, is_large_loss, "{why:?}");
            }
        }
    }
    assert!(points_losses > 3, "{points_losses}");
}

/// Checks in every game that the lines are legal and short, and that a second review gives the same
/// results.
#[test]
fn review_lines_are_legal_short_and_reproducible_in_all_games() {
    for entry in &CATALOG {
        let moves = random_moves(entry, 7, 60);
        let run_review = || {
            let review = Review::new(entry, entry.initial_position(), moves.clone(), 1 << 18);
            finish_review(
                review.expect("legal"),
                if entry.uses_playouts { 60 } else { 2000 },
            )
        };
        let review = run_review();
        assert_eq!(
            review.move_reviews(),
            run_review().move_reviews(),
            "{}",
            entry.info.id
        );
        let mut judged_count = 0;
        for reviewed in review.move_reviews() {
            let mut position = entry.initial_position();
            for m in &moves[..reviewed.ply] {
                position.play(m).expect("the move was legal when played");
            }
            assert_eq!(
                (reviewed.turn, &reviewed.m),
                (position.turn(), &moves[reviewed.ply])
            );
            assert_line_is_legal(position.as_ref(), &reviewed.best_line);
            assert!((-1.0..=1.0).contains(&reviewed.evaluation.winning_chance));
            assert!(!reviewed.best_line.is_empty());
            let Some((_, why)) = &reviewed.judgement else {
                continue;
            };
            judged_count += 1;
            assert_ne!(why.better_move, reviewed.m);
            assert_eq!(Some(&why.better_move), reviewed.best_line.first());
            assert_eq!(why.better_line, reviewed.best_line);
            position
                .play(&reviewed.m)
                .expect("the move was legal when played");
            assert_line_is_legal(position.as_ref(), &why.refutation);
            let text = english(entry, reviewed).expect("the move is judged");
            let m = why.played_san.as_ref().unwrap_or(&reviewed.m);
            assert!(text.len() < 400 && text.contains(m), "{text}");
            let is_chess = entry.info.id == "chess";
            assert_eq!(reviewed.best_line_san.is_some(), is_chess, "{reviewed:?}");
            assert_eq!(why.played_san.is_some(), is_chess, "{reviewed:?}");
        }
        // In games with playouts, 60 playouts are too few to justify a judgement.
        let id = entry.info.id;
        assert!(
            judged_count > 0 || entry.uses_playouts,
            "{id} has no bad moves at random"
        );
        let accuracy = review.accuracy().expect("the review is complete");
        assert!(accuracy.iter().all(|of| of.is_some_and(|of| of <= 100)));
    }
}

/// In Go, a search overestimates the chances of the side to move. Every move would therefore look
/// bad in comparison with the search of the position before it. A few thousand playouts also give
/// different results when the search is repeated.
///
/// Each move of this game was chosen with 20,000 playouts, except A1, which is no better than a
/// pass.
#[test]
fn go_review_judges_only_the_wasted_move() {
    let moves = "G5 G3 D3 E4 E3 F4 D4 A1 E6";
    let review = review_game("go", moves, 1000);
    let wasted = 7;
    for reviewed in review.move_reviews() {
        let is_loss = reviewed.ply == wasted;
        assert_eq!(reviewed.judgement.is_some(), is_loss, "{reviewed:?}");
        assert_eq!(reviewed.loss > 0.0, is_loss, "{reviewed:?}");
    }
    let (judgement, why) = judgement_at(&review, wasted).expect("the move is judged");
    assert_eq!(
        (*judgement, why.kind),
        (Judgement::Blunder, MistakeKind::WorsensPosition)
    );
    assert_eq!(why.findings, [Finding::Edge]);
    assert!(why.points > Some(3), "{why:?}");
    let entry = catalog::find_game("go").expect("the game is in the catalog");
    let looked = review
        .move_reviews()
        .iter()
        .find(|looked| looked.ply == wasted);
    let text = english(entry, looked.expect("the move was reviewed"))
        .expect("the move has an explanation");
    assert!(text.starts_with("A1 costs white about "), "{text}");
    let mut position = entry.initial_position();
    for m in moves.split(' ').take(wasted + 1) {
        position.play(m).expect("legal");
    }
    assert_line_is_legal(position.as_ref(), &why.refutation);
    // A seat that made only good moves has an accuracy of 100.
    let [first, second] = review.accuracy().expect("the review is complete");
    assert_eq!(first, Some(100));
    assert!(second < Some(90), "{second:?}");
    // The winning chance of the first seat must not depend strongly on the side to move, so it must
    // stay similar from ply to ply.
    let winning_chances: Vec<f64> = review
        .move_reviews()
        .iter()
        .rev()
        .map(|looked| looked.evaluation.winning_chance)
        .collect();
    for (ply, pair) in winning_chances.windows(2).enumerate().take(wasted) {
        assert!(
            (pair[1] - pair[0]).abs() < 0.4,
            "{ply}: {winning_chances:?}"
        );
    }
}

/// The review must not judge a difference within the statistical error of a few playouts.
#[test]
fn go_review_judges_nothing_within_the_error_of_few_playouts() {
    let moves = "E5 D5 C3 G7";
    let review = review_game("go", moves, 100);
    for reviewed in review.move_reviews() {
        assert!(reviewed.evaluation.standard_error > 0.1, "{reviewed:?}");
        assert_eq!(
            (&reviewed.judgement, reviewed.loss),
            (&None, 0.0),
            "{reviewed:?}"
        );
    }
    assert_eq!(review.accuracy(), Some([Some(100); 2]));
    let chess = review_game("chess", "e2e4 e7e5", 1000);
    assert!(
        chess
            .move_reviews()
            .iter()
            .all(|looked| looked.evaluation.standard_error == 0.0)
    );
}

fn assert_line_is_legal(position: &dyn AnyPosition, line: &[String]) {
    assert!(line.len() <= LINE_PLIES_MAX);
    let mut position = position.clone_box();
    for m in line {
        assert_eq!(position.play(m).as_ref(), Ok(m), "{line:?}");
    }
}

#[test]
fn stopped_step_finds_nothing_and_illegal_game_is_rejected() {
    let entry = catalog::find_game("chess").expect("the game is in the catalog");
    let moves = random_moves(entry, 1, 4);
    let mut review = Review::new(entry, entry.initial_position(), moves, 1 << 16).expect("legal");
    let stop = Stop::new();
    stop.stop();
    review.step(&Limits::nodes(1000), &stop);
    assert!(review.final_evaluation().is_none() && !review.is_complete());
    let empty = Review::new(entry, entry.initial_position(), Vec::new(), 1 << 16).expect("legal");
    let none = finish_review(empty, 1000);
    assert_eq!(none.accuracy(), Some([None, None]));
    let bad = vec!["e2e5".to_owned()];
    assert!(Review::new(entry, entry.initial_position(), bad, 1 << 16).is_err());
}
