use super::*;
use crate::catalog::{self, CATALOG};
use crate::game::Position;
use crate::game::tic_tac_toe::TicTacToe;
use crate::search::Evaluate;
use crate::search::Level;
use crate::search::analysis::Method;
use crate::search::chance::Chance;
use crate::search::minimax::Scale;

/// Looks at the whole game, from the start of its game.
fn review(game: &str, moves: &str, nodes: u64) -> Review {
    let entry = catalog::find_game(game).expect(game);
    let moves = moves
        .split(' ')
        .filter(|m| !m.is_empty())
        .map(str::to_owned);
    let review = Review::new(entry, entry.initial_position(), moves.collect(), 1 << 20);
    finished(review.expect("the moves are legal"), nodes)
}

fn finished(mut review: Review, nodes: u64) -> Review {
    let mut steps = 0;
    while !review.is_done() {
        assert_eq!(review.accuracy(), None);
        review.step(&Limits::nodes(nodes), &Stop::new());
        steps += 1;
    }
    assert_eq!(steps, review.plies() + 1);
    assert_eq!(review.looked().len(), review.plies());
    review
}

fn random_moves(entry: &GameEntry, seed: u64, plies: usize) -> Vec<String> {
    let (mut position, mut chance) = (entry.initial_position(), Chance::new(seed, "review"));
    let mut moves = Vec::new();
    while position.outcome().is_none() && moves.len() < plies {
        let mut legal = position.legal_moves();
        let m = legal.swap_remove(chance.below(legal.len()));
        moves.push(position.play(&m).expect("it is legal"));
    }
    moves
}

fn judged(review: &Review, ply: usize) -> Option<&(Judgement, Why)> {
    let looked = review.looked().iter().find(|looked| looked.ply == ply);
    looked.and_then(|looked| looked.judged.as_ref())
}

/// In tic-tac-toe a move is judged if, and only if, plain minimax says that it gives a win or a draw away.
#[test]
fn what_gives_a_result_away_is_judged_and_nothing_else() {
    let entry = catalog::find_game("tic-tac-toe").expect("always hosted");
    let mut seen = std::collections::HashSet::new();
    for seed in 0..60 {
        let moves = random_moves(entry, seed, 9);
        let review =
            Review::new(entry, entry.initial_position(), moves.clone(), 1 << 16).expect("legal");
        let review = finished(review, 100_000);
        let mut analyst = entry.analysis_board(0);
        // Who wins, as a sign for the first seat.
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
                    let found = analyst.textbook_search(Method::Minimax, 9, Scale::Outcome);
                    sign * found.score.value().signum()
                }
            }
        };
        for looked in review.looked() {
            let (before, after) = (result(looked.ply), result(looked.ply + 1));
            assert!(looked.worth.known.is_some(), "{moves:?} {looked:?}");
            assert_eq!(
                looked.worth.chance,
                f64::from(before),
                "{moves:?} {looked:?}"
            );
            let kind = looked.judged.as_ref().map(|(judgement, why)| {
                assert_eq!(*judgement, Judgement::Blunder);
                why.kind
            });
            let loser = if looked.turn == Seat::First { -1 } else { 1 };
            let expected = match after {
                _ if before == after => None,
                after if after == loser => Some(Kind::AllowsWin),
                _ => Some(Kind::MissesWin),
            };
            assert_eq!(kind, expected, "{moves:?} {looked:?}");
            seen.insert(format!("{kind:?}"));
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

/// The move that is told to be the best, as a list of all plies from the first one on.
fn best_moves(review: &Review) -> Vec<String> {
    let looked = review.looked().iter().rev();
    looked.map(|looked| looked.line[0].clone()).collect()
}

/// All positions of tic-tac-toe up to symmetry, and all moves there, against plain minimax over the whole tree.
#[test]
fn played_move_of_tic_tac_toe_is_best_if_it_has_the_value_of_the_position() {
    let entry = catalog::find_game("tic-tac-toe").expect("always hosted");
    let mut analyst = entry.analysis_board(0);
    let mut keys = std::collections::HashSet::new();
    let (mut as_good, mut worse) = (0, 0);
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
        let plain = analyst.textbook_search(Method::Minimax, 9, Scale::Plies);
        for value in &plain.moves {
            let start = entry.parse_initial_position(&text).expect("legal");
            let moves = vec![value.m.clone()];
            let review = Review::new(entry, start, moves, 1 << 14).expect("legal");
            let review = finished(review, 100_000);
            let [looked] = review.looked() else {
                panic!("one move was played");
            };
            let told = (plain.moves.iter()).find(|other| other.m == looked.line[0]);
            let told = told.expect("it is legal").score;
            assert_eq!(told, plain.score, "{text} {looked:?}");
            let is_best = value.score == plain.score;
            assert_eq!(looked.line[0] == value.m, is_best, "{text} {looked:?}");
            *(if is_best { &mut as_good } else { &mut worse }) += 1;
        }
    }
    assert_eq!(keys.len(), 627);
    assert!(as_good > 500 && worse > 500, "{as_good} {worse}");
}

#[test]
fn played_move_of_tic_tac_toe_is_best_in_a_whole_game() {
    for moves in [
        "b2 a1 c1 a3 a2 c2 b3",
        "a1 b2 c3 b1",
        "c3 b2 a1 b3",
        "a3 b2",
    ] {
        let review = review("tic-tac-toe", moves, 100_000);
        let moves: Vec<&str> = moves.split(' ').collect();
        assert_eq!(
            best_moves(&review)[..3.min(moves.len())],
            moves[..3.min(moves.len())]
        );
    }
    for first in ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"] {
        assert_eq!(best_moves(&review("tic-tac-toe", first, 100_000)), [first]);
    }
}

/// The second half of random games, against the solver.
#[test]
fn played_move_of_connect_four_is_best_if_it_has_the_value_of_the_position() {
    let entry = catalog::find_game("connect-four").expect("always hosted");
    let (mut equal, mut others) = (0, 0);
    for seed in 0..12 {
        let moves = random_moves(entry, seed, 42);
        let begin = 20.min(moves.len());
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("it is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 20).expect("legal");
        let review = finished(review, 200_000);
        let mut analyst = entry.analysis_board(1 << 22);
        for looked in review.looked() {
            let so_far = moves[..begin + looked.ply].join(" ");
            analyst.set_up(&so_far).expect("legal");
            let solved = analyst.analyse(true, &Limits::default(), &Stop::new(), &mut |_| {});
            let solved = solved.expect("no limit");
            let value = |m: &str| {
                let of_move = solved.moves.iter().find(|value| value.m == m);
                of_move.expect("it is legal").score
            };
            assert_eq!(value(&looked.line[0]), solved.score, "{so_far} {looked:?}");
            let is_best = value(&looked.m) == solved.score;
            assert_eq!(looked.line[0] == looked.m, is_best, "{so_far} {looked:?}");
            equal += u32::from(is_best);
            others += u32::from(!is_best);
        }
    }
    assert!(equal > 20 && others > 20, "{equal} {others}");
}

/// The last moves of random games, in which points decide.
#[test]
fn played_move_of_othello_is_best_if_it_wins_by_as_many_points() {
    let entry = catalog::find_game("othello").expect("hosted");
    let mut equal = 0;
    for seed in 0..6 {
        let moves = random_moves(entry, seed, 70);
        let begin = moves.len().saturating_sub(8);
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("it is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 20).expect("legal");
        let review = finished(review, 200_000);
        let mut after = review.end().expect("it is done");
        for looked in review.looked() {
            assert!(looked.worth.exact, "{looked:?}");
            let is_best = looked.worth.known == after.known;
            assert_eq!(looked.line[0] == looked.m, is_best, "{looked:?}");
            assert!(looked.loss <= 0.0 || !is_best, "{looked:?}");
            equal += u32::from(is_best);
            after = looked.worth;
        }
    }
    assert!(equal > 10, "{equal}");
}

/// A search of limited depth estimates them differently on boards that are turned.
#[test]
fn equal_first_moves_are_best_and_worth_the_same() {
    let othello = ["d3", "c4", "f5", "e6"].as_slice();
    let gomoku = ["c3", "m3", "c13", "m13"].as_slice();
    let connect_four = ["3", "5"].as_slice();
    for (game, firsts) in [
        ("othello", othello),
        ("gomoku", gomoku),
        ("connect-four", connect_four),
    ] {
        for nodes in [500, 3000] {
            let reviews: Vec<Review> = (firsts.iter()).map(|m| review(game, m, nodes)).collect();
            for (review, first) in reviews.iter().zip(firsts) {
                let [looked] = review.looked() else {
                    panic!("one move was played");
                };
                assert_eq!(looked.m, *first);
                let of_first = &reviews[0].looked()[0];
                assert_eq!((looked.worth, looked.loss), (of_first.worth, of_first.loss));
                assert_eq!(review.accuracy(), reviews[0].accuracy(), "{game} {first}");
                assert_eq!(
                    looked.line[0] == looked.m,
                    of_first.line[0] == of_first.m,
                    "{game} {first}"
                );
            }
        }
    }
    // All first moves of Othello are the same up to symmetry.
    for first in othello {
        let review = review("othello", first, 3000);
        assert_eq!(best_moves(&review), [*first]);
        assert_eq!(review.accuracy(), Some([Some(100), None]));
    }
}

/// The position is symmetric although the line that leads to it is not: its stones came in another order.
#[test]
fn image_of_the_played_move_counts_as_played_in_a_symmetric_position() {
    for (game, moves, symmetries) in [
        ("gomoku", "g8 h8 i8 j9", 4),
        ("gomoku", "h8 h9 g8 b3", 1),
        ("tic-tac-toe", "a1 b2 c3 b1", 4),
        ("connect-four", "3 4 5 2", 2),
        ("othello", "f5 d6 c3 d3", 1),
    ] {
        let entry = catalog::find_game(game).expect("hosted");
        let moves: Vec<String> = moves.split(' ').map(str::to_owned).collect();
        let review = Review::new(entry, entry.initial_position(), moves, 1 << 14).expect("legal");
        let (before, last) = review.moves.split_at(3);
        let mut position = entry.initial_position();
        for m in before {
            position.play(m).expect("legal");
        }
        let worth = Worth::at_end(entry, position.as_ref());
        let images = (entry.symmetries().iter()).map(|by| entry.transform_move(&last[0], *by));
        let images: std::collections::HashSet<String> = images.collect();
        let symmetric = images.into_iter().filter(|image| {
            let found = (worth, vec![image.clone()]);
            let (_, line) = review.with_played_first(3, position.as_ref(), found);
            line == last
        });
        assert_eq!(symmetric.count(), symmetries, "{game} {:?}", review.moves);
    }
}

/// Games of Connect Four of full strength, which moves first, against random moves.
fn games_against_random_moves() -> Vec<String> {
    let entry = catalog::find_game("connect-four").expect("always hosted");
    let games = (0..8).map(|seed| {
        let (mut position, mut chance) = (entry.initial_position(), Chance::new(seed, "second"));
        let mut table = Table::new(1 << 20);
        let mut moves = Vec::new();
        while position.outcome().is_none() {
            let mut m = position.legal_moves();
            let m = match position.turn() {
                Seat::Second => m.swap_remove(chance.below(m.len())),
                Seat::First => {
                    let limits = Limits::nodes(20_000);
                    let choice =
                        position.choose_move(Level::Max, 0, &limits, &Stop::new(), &mut table);
                    choice.expect("it goes on").m
                }
            };
            moves.push(position.play(&m).expect("it is legal"));
        }
        moves.join(" ")
    });
    games.collect()
}

/// In the opening of Connect Four the book says which moves win, and not how soon. Every move is tried there, as full
/// strength plays those of the book.
#[test]
fn played_move_of_connect_four_is_best_if_no_win_is_known_to_be_sooner() {
    let entry = catalog::find_game("connect-four").expect("always hosted");
    let is_vague = |worth: Worth| {
        let known = worth.known.filter(|known| known.plies.is_none());
        known.is_some_and(|known| known.winner == Some(Seat::First))
    };
    let (mut kept, mut others) = (0, 0);
    for moves in games_against_random_moves() {
        let mut position = entry.initial_position();
        for played in moves.split(' ').take(12) {
            let text = position.to_string();
            let mut best = std::collections::HashSet::new();
            for m in position.legal_moves() {
                let start = entry.parse_initial_position(&text).expect("a position");
                let review = Review::new(entry, start, vec![m], 1 << 16).expect("legal");
                let review = finished(review, 2000);
                let (looked, end) = (&review.looked()[0], review.end().expect("it is done"));
                if looked.turn == Seat::First && is_vague(looked.worth) && is_vague(end) {
                    assert_eq!(looked.line[0], looked.m, "{text} {looked:?}");
                    best.insert(looked.m.clone());
                }
            }
            kept += best.len();
            others += best.len().saturating_sub(1);
            position.play(played).expect("legal");
        }
    }
    // In some positions several moves keep the win.
    assert!(kept > 10 && others > 3, "{kept} {others}");
}

/// The second player of Connect Four is lost from the first move on, and overlooks a threat.
#[test]
fn loss_of_connect_four_that_comes_much_sooner_is_a_mistake() {
    let entry = catalog::find_game("connect-four").expect("always hosted");
    let mut games = vec!["4 7 4 7 4 1 4".to_owned()];
    games.extend(games_against_random_moves());
    let mut judged = 0;
    for (number, moves) in games.into_iter().enumerate() {
        let review = review("connect-four", &moves, 100_000);
        let bad = review
            .looked()
            .iter()
            .find(|looked| looked.judged.is_some());
        assert!(number > 0 || bad.is_some(), "{moves} has no mistake");
        let Some(bad) = bad else { continue };
        judged += 1;
        let (judgement, why) = bad.judged.as_ref().expect("it is judged");
        assert_eq!(
            (bad.turn, *judgement, why.kind, why.keeps),
            (
                Seat::Second,
                Judgement::Mistake,
                Kind::AllowsWin,
                BetterOutcome::Loss
            ),
            "{moves}"
        );
        assert!(bad.loss > 0.0 && bad.worth.chance >= 1.0, "{bad:?}");
        let told = english(entry, bad).expect("it was bad");
        let end = format!("; {} holds out for longer.", why.better);
        assert!(told.contains("red wins ") && told.contains(&end), "{told}");
        let [first, second] = review.accuracy().expect("all was looked at");
        assert_eq!(first, Some(100), "{moves}");
        assert!(second < Some(100), "{moves} {second:?}");
    }
    assert!(judged >= 6, "{judged}");
}

/// Random games from a lost position on, against the solver: what is judged loses much sooner, and what loses within
/// two moves of the other side though it could hold out is judged.
#[test]
fn loss_of_connect_four_is_judged_by_how_much_sooner_it_comes() {
    let entry = catalog::find_game("connect-four").expect("always hosted");
    let (mut judged, mut held) = (0, 0);
    for seed in 0..40 {
        let moves = random_moves(entry, seed, 42);
        let begin = 14.min(moves.len());
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("it is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 18).expect("legal");
        let review = finished(review, 20_000);
        let mut analyst = entry.analysis_board(1 << 22);
        for looked in review.looked() {
            let winner = looked.turn.other();
            if looked
                .worth
                .known
                .is_none_or(|known| known.winner != Some(winner))
            {
                continue;
            }
            analyst
                .set_up(&moves[..begin + looked.ply].join(" "))
                .expect("legal");
            let solved = analyst.analyse(true, &Limits::default(), &Stop::new(), &mut |_| {});
            let solved = solved.expect("no limit");
            let plies = |m: &str| {
                let of_move = solved.moves.iter().find(|value| value.m == m);
                of_move
                    .and_then(|value| value.score.plies_to_end())
                    .expect("all moves lose")
            };
            let (best, played) = (
                solved.score.plies_to_end().expect("it is lost"),
                plies(&looked.m),
            );
            let is_much_sooner = best >= (played + SOONER).max(2 * played);
            assert!(
                is_much_sooner || looked.judged.is_none(),
                "{best} {played} {looked:?}"
            );
            if played <= 4 {
                assert_eq!(
                    looked.judged.is_some(),
                    is_much_sooner,
                    "{best} {played} {looked:?}"
                );
            }
            assert_eq!(looked.judged.is_some(), looked.loss > 0.0, "{looked:?}");
            if let Some((judgement, why)) = &looked.judged {
                assert_eq!(
                    (*judgement, why.kind),
                    (Judgement::Mistake, Kind::AllowsWin)
                );
                assert_eq!(why.plies, Some(played), "{looked:?}");
                let better = plies(&why.better);
                assert!(
                    better >= (played + SOONER).max(2 * played),
                    "{better} {looked:?}"
                );
                judged += 1;
            } else {
                held += 1;
            }
        }
    }
    assert!(judged >= 5 && held >= 20, "{judged} {held}");
}

/// In tic-tac-toe it is told how soon the game ends, as plain minimax counts it, and no line is longer.
#[test]
fn it_is_told_how_soon_a_game_ends_that_is_near_its_end() {
    let entry = catalog::find_game("tic-tac-toe").expect("always hosted");
    let mut analyst = entry.analysis_board(0);
    let mut seen = std::collections::HashSet::new();
    for seed in 0..60 {
        let moves = random_moves(entry, seed, 9);
        let review =
            Review::new(entry, entry.initial_position(), moves.clone(), 1 << 16).expect("legal");
        for looked in finished(review, 100_000).looked() {
            let known = looked.worth.known.expect("all of it is looked at");
            if known.winner.is_none() {
                continue;
            }
            let so_far = moves[..looked.ply].join(" ");
            analyst.set_up(&so_far).expect("legal");
            let plain = analyst.textbook_search(Method::Minimax, 9, Scale::Plies);
            let plies = plain.score.plies_to_end();
            assert_eq!(known.plies, plies, "{moves:?} {looked:?}");
            let is_short = plies.is_some_and(|plies| looked.line.len() <= plies as usize);
            assert!(is_short, "{moves:?} {looked:?}");
            seen.insert(plies);
        }
    }
    assert!(seen.len() >= 5, "{seen:?}");
}

/// What later positions have left in the table tells who wins, and not how soon.
#[test]
fn a_win_within_a_few_plies_of_connect_four_is_told_with_their_number() {
    let entry = catalog::find_game("connect-four").expect("always hosted");
    let mut analyst = entry.analysis_board(0);
    let mut seen = 0;
    for seed in 0..20 {
        let moves = random_moves(entry, seed, 42);
        let review =
            Review::new(entry, entry.initial_position(), moves.clone(), 1 << 20).expect("legal");
        for looked in finished(review, 100_000).looked() {
            analyst
                .set_up(&moves[..looked.ply].join(" "))
                .expect("legal");
            let plain = analyst.textbook_search(Method::AlphaBeta, 5, Scale::Plies);
            if let Some(plies) = plain.score.plies_to_end() {
                let known = looked.worth.known.expect("it is a few plies ahead");
                assert_eq!(known.plies, Some(plies), "{moves:?} {looked:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

/// A loss of which it is not known how soon it comes is no worse than one that comes at once.
#[test]
fn who_loses_is_not_told_to_lose_at_once() {
    let review = review("connect-four", "4 4 4 4 4 4 1 2 1 2 1 3 1", 20_000);
    let line = |ply: usize| review.looked()[12 - ply].line.clone();
    assert_eq!(line(11)[0], "1", "three in a row are stopped");
    assert_eq!(line(10)[..2], ["1", "1"]);
}

#[test]
fn a_mate_that_was_allowed_is_shown() {
    let review = review("chess", "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7", 20_000);
    let (judgement, why) = judged(&review, 5).expect("it loses at once");
    assert_eq!(
        (*judgement, why.kind),
        (Judgement::Blunder, Kind::AllowsWin)
    );
    assert_eq!(why.punished, ["h5f7"]);
    assert_eq!(why.san.as_deref(), Some(["Qxf7#".to_owned()].as_slice()));
    assert_eq!(why.plies, Some(2));
    let looked = &review.looked()[1];
    let told = english(catalog::find_game("chess").expect("hosted"), looked).expect("it was bad");
    let begin = format!(
        "After Nf6, white wins at once by Qxf7#; {} holds.",
        looked.san.as_ref().expect("it is chess")[0]
    );
    assert!(told.starts_with(&begin), "{told}");
    assert_eq!(
        review.end().map(|end| (end.chance, end.exact)),
        Some((1.0, true))
    );
    assert_eq!(judged(&review, 6), None);
}

/// A mate is left out, but the game stays won: that is no more than an inaccuracy, and the mate is told.
#[test]
fn a_mate_that_was_left_out_is_told() {
    let entry = catalog::find_game("chess").expect("hosted");
    let start = entry.parse_initial_position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1");
    let moves = ["a1b1", "h7h6", "b1b8"].map(str::to_owned).to_vec();
    let review = Review::new(entry, start.expect("a position"), moves, 1 << 20);
    let review = finished(review.expect("legal"), 20_000);
    let (judgement, why) = judged(&review, 0).expect("it is judged");
    assert_eq!(*judgement, Judgement::Inaccuracy);
    assert_eq!((why.kind, why.plies), (Kind::MissesWin, Some(1)));
    let looked = review.looked().last().expect("three");
    let said = english(entry, looked).expect("words");
    assert!(
        said.starts_with("Ra8# wins at once; Rb1 makes the win less sure, after "),
        "{said}"
    );
    assert_eq!(judged(&review, 2), None);
}

/// Who wins by a pass might win by more in another way.
#[test]
fn what_a_pass_wins_is_not_all_that_could_be_won() {
    let review = review("go", "pass pass", 100);
    let last = review.looked()[0].worth;
    assert_eq!(last.known.expect("it wins").winner, Some(Seat::Second));
    assert!(!last.exact && review.end().expect("over").exact);
}

#[test]
fn a_queen_that_was_lost_is_counted() {
    let review = review("chess", "e2e4 e7e5 d1g4 d7d6 g1f3 c8g4", 20_000);
    let (judgement, why) = judged(&review, 4).expect("it loses the queen");
    assert_eq!(
        (*judgement, why.kind),
        (Judgement::Blunder, Kind::LosesMaterial)
    );
    assert!(
        why.material.is_some_and(|lost| (5..=9).contains(&lost)),
        "{why:?}"
    );
    assert_eq!(why.punished.first().map(String::as_str), Some("c8g4"));
}

/// Who does not take a queen that stands there loses nothing, but wins nothing.
#[test]
fn a_queen_that_was_not_taken_is_no_loss() {
    let review = review("chess", "e2e4 e7e5 d1g4 d7d6 g1f3 a7a6 f3e5", 20_000);
    let (_, why) = judged(&review, 5).expect("it does not take the queen");
    assert_eq!(why.kind, Kind::MissesMaterial, "{why:?}");
    assert!(why.material >= Some(5), "{why:?}");
    assert_eq!(why.better, "c8g4");
    let looked = review.looked().iter().find(|looked| looked.ply == 5);
    let told = english(
        catalog::find_game("chess").expect("hosted"),
        looked.expect("it was played"),
    );
    let told = told.expect("it was bad");
    assert!(
        told.starts_with("a6 does not win") && told.contains("Bxg4"),
        "{told}"
    );
}

/// In Connect Four a first move is judged by heart. Afterwards all is lost, and nothing more is bad.
#[test]
fn a_first_move_that_loses_is_told() {
    let review = review("connect-four", "1 4 4", 1000);
    let (judgement, why) = judged(&review, 0).expect("it loses");
    assert_eq!(
        (*judgement, why.kind, why.keeps, why.better.as_str()),
        (Judgement::Blunder, Kind::AllowsWin, BetterOutcome::Win, "4")
    );
    assert_eq!((why.line.len(), why.punished.len()), (LINE_MAX, LINE_MAX));
    let looked = review.looked().last().expect("three were played");
    let told = english(review.game(), looked).expect("it was bad");
    let begin = "After 1, yellow wins by 4 4 4 4 4 4 6 3 …; 4 would have won.";
    assert!(told.starts_with(begin), "{told}");
    // Who loses stops three in a row, in whatever line.
    for first in ["1", "2", "6", "7"] {
        let review = self::review("connect-four", first, 1000);
        let (_, why) = judged(&review, 0).expect("it loses");
        let line = [&[first.to_owned()], &why.punished[..]].concat();
        let mut position = review.game().initial_position();
        for (ply, m) in line.iter().enumerate() {
            position.play(m).expect("it is legal");
            let is_lost_at_once = |position: &dyn AnyPosition| {
                position.legal_moves().iter().any(|m| {
                    let mut next = position.clone_box();
                    next.play(m).expect("it is legal");
                    next.outcome().is_some()
                })
            };
            assert!(!is_lost_at_once(position.as_ref()), "{line:?} after {ply}");
        }
    }
    assert_eq!((judged(&review, 1), judged(&review, 2)), (None, None));
    let sound = self::review("connect-four", "4 4 4 4", 1000);
    assert!(sound.looked().iter().all(|looked| looked.judged.is_none()));
}

/// Nobody knows who wins, but that three in a row are to be stopped, or made four, is plain.
#[test]
fn what_loses_at_once_in_connect_four_is_told() {
    let review = review("connect-four", "1 7 1 2 1 2 1", 3000);
    let (judgement, why) = judged(&review, 5).expect("it loses at once");
    assert_eq!(
        (*judgement, why.kind, why.keeps, why.better.as_str()),
        (
            Judgement::Blunder,
            Kind::AllowsWin,
            BetterOutcome::Game,
            "1"
        )
    );
    let looked = &review.looked()[1];
    let told = english(review.game(), looked).expect("it was bad");
    assert!(
        told.starts_with("After 2, red wins at once by 1; 1 holds."),
        "{told}"
    );
    let [_, loser] = review.accuracy().expect("all was looked at");
    assert!(loser.expect("three moves") < 60, "{loser:?}");

    let missed = self::review("connect-four", "1 7 1 2 1 2 3", 3000);
    let (judgement, why) = judged(&missed, 6).expect("it does not win");
    assert_eq!(
        (*judgement, why.kind, why.better.as_str(), why.plies),
        (Judgement::Blunder, Kind::MissesWin, "1", Some(1))
    );
}

/// Where a game is solved, however little is looked at: what is told of who wins is true, and nothing is judged
/// but what changes that, and what is won or lost at once.
#[test]
fn in_a_solved_game_nothing_is_judged_by_an_estimate() {
    let entry = catalog::find_game("connect-four").expect("always hosted");
    let (mut judged, mut unknown) = (0, 0);
    for seed in 0..6 {
        let moves = random_moves(entry, seed, 24);
        let mut start = entry.initial_position();
        let begin = 13.min(moves.len());
        for m in &moves[..begin] {
            start.play(m).expect("it is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 16).expect("legal");
        let review = finished(review, 500);
        let mut analyst = entry.analysis_board(1 << 22);
        // Who wins, as a sign for the first seat.
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
                    let found = analyst.solve(&Limits::default(), &Stop::new());
                    sign * found.expect("no limit").score.value().signum()
                }
            }
        };
        for looked in review.looked() {
            let ply = begin + looked.ply;
            let (before, after) = (result(ply), result(ply + 1));
            match looked.worth.known {
                Some(_) => assert_eq!(looked.worth.chance, f64::from(before), "{looked:?}"),
                None => unknown += 1,
            }
            if let Some((_, why)) = &looked.judged {
                judged += 1;
                let is_soon = why.plies.is_some_and(|plies| plies <= 4);
                assert!(before != after || is_soon, "{looked:?}");
            }
        }
    }
    assert!(judged > 3 && unknown > 3, "{judged} {unknown}");
}

/// In a long exchange what was taken is taken back after the line that is told is over.
#[test]
fn what_is_taken_back_later_is_not_lost() {
    let moves = "10-14 23-18 14x23 26x19 7-10 27-23 3-7 32-27 11-16 21-17 9-14 25-21 7-11 29-25 \
                 16-20 31-26 6-9 17-13 1-6 22-18 11-16";
    let review = review("draughts", moves, 20_000);
    let (_, why) = judged(&review, 20).expect("it is bad");
    assert!(why.material <= Some(1), "{why:?}");
}

/// Whoever has taken a man seldom stands better by quite as much.
#[test]
fn a_man_that_was_given_away_is_counted() {
    let moves = "9-13 24-19 6-9 19-16 12x19 23x16 11x20";
    let review = review("draughts", moves, 100_000);
    let (_, why) = judged(&review, 3).expect("it is bad");
    assert_eq!((why.kind, why.material), (Kind::LosesMaterial, Some(1)));
}

/// A game of Othello that is played out at random: what is given away is counted where the result is known.
#[test]
fn points_are_counted_where_they_are_known() {
    let entry = catalog::find_game("othello").expect("hosted");
    let mut seen = 0;
    for seed in 0..4 {
        let moves = random_moves(entry, seed, 70);
        let begin = moves.len().saturating_sub(9);
        let mut start = entry.initial_position();
        for m in &moves[..begin] {
            start.play(m).expect("it is legal");
        }
        let review = Review::new(entry, start, moves[begin..].to_vec(), 1 << 20).expect("legal");
        let review = finished(review, 200_000);
        for looked in review.looked() {
            assert!(looked.worth.exact, "{looked:?}");
            let Some((judgement, why)) = &looked.judged else {
                continue;
            };
            if why.kind == Kind::LosesPoints {
                seen += 1;
                assert!(why.points.is_some_and(|points| points >= 2), "{why:?}");
                let is_much = why.points >= Some(12);
                assert_eq!(*judgement == Judgement::Blunder, is_much, "{why:?}");
            }
        }
    }
    assert!(seen > 3, "{seen}");
}

/// In all games what is told can be played, is short, and is the same every time.
#[test]
fn lines_of_all_games_can_be_played() {
    for entry in &CATALOG {
        let moves = random_moves(entry, 7, 60);
        let begin = || {
            let review = Review::new(entry, entry.initial_position(), moves.clone(), 1 << 18);
            finished(
                review.expect("legal"),
                if entry.uses_playouts { 60 } else { 2000 },
            )
        };
        let review = begin();
        assert_eq!(review.looked(), begin().looked(), "{}", entry.info.id);
        let mut judged = 0;
        for looked in review.looked() {
            let mut position = entry.initial_position();
            for m in &moves[..looked.ply] {
                position.play(m).expect("it was played");
            }
            assert_eq!(
                (looked.turn, &looked.m),
                (position.turn(), &moves[looked.ply])
            );
            plays(position.as_ref(), &looked.line);
            assert!((-1.0..=1.0).contains(&looked.worth.chance));
            assert!(!looked.line.is_empty());
            let Some((_, why)) = &looked.judged else {
                continue;
            };
            judged += 1;
            assert_ne!(why.better, looked.m);
            assert_eq!(Some(&why.better), looked.line.first());
            assert_eq!(why.line, looked.line);
            position.play(&looked.m).expect("it was played");
            plays(position.as_ref(), &why.punished);
            let told = english(entry, looked).expect("it was bad");
            let m = why.played_san.as_ref().unwrap_or(&looked.m);
            assert!(told.len() < 400 && told.contains(m), "{told}");
            let is_chess = entry.info.id == "chess";
            assert_eq!(looked.san.is_some(), is_chess, "{looked:?}");
            assert_eq!(why.played_san.is_some(), is_chess, "{looked:?}");
        }
        // Where games are played out, so little thought judges nothing.
        let id = entry.info.id;
        assert!(
            judged > 0 || entry.uses_playouts,
            "{id} has no bad moves at random"
        );
        let accuracy = review.accuracy().expect("it is done");
        assert!(accuracy.iter().all(|of| of.is_some_and(|of| of <= 100)));
    }
}

/// In Go a search of a position favours whoever is to move, so that every move looks bad beside it; and what a
/// few thousand playouts find of a position is not the same when they are made again. The moves of this game are
/// those of 20,000 playouts each, but for the last, which is as good as a pass.
#[test]
fn sound_moves_of_go_are_good_and_a_wasted_one_is_not() {
    let moves = "G5 G3 D3 E4 E3 F4 D4 A1 E6";
    let review = review("go", moves, 1000);
    let wasted = 7;
    for looked in review.looked() {
        let is_loss = looked.ply == wasted;
        assert_eq!(looked.judged.is_some(), is_loss, "{looked:?}");
        assert_eq!(looked.loss > 0.0, is_loss, "{looked:?}");
    }
    let (judgement, why) = judged(&review, wasted).expect("it was judged");
    assert_eq!(
        (*judgement, why.kind),
        (Judgement::Blunder, Kind::LosesGround)
    );
    assert_eq!(why.signs, [Finding::Edge]);
    assert!(why.points > Some(3), "{why:?}");
    let entry = catalog::find_game("go").expect("hosted");
    let looked = review.looked().iter().find(|looked| looked.ply == wasted);
    let said = english(entry, looked.expect("it was looked at")).expect("words");
    assert!(said.starts_with("A1 costs white about "), "{said}");
    let mut position = entry.initial_position();
    for m in moves.split(' ').take(wasted + 1) {
        position.play(m).expect("legal");
    }
    plays(position.as_ref(), &why.punished);
    // Nobody who only played well is less than wholly accurate.
    let [first, second] = review.accuracy().expect("it is done");
    assert_eq!(first, Some(100));
    assert!(second < Some(90), "{second:?}");
    // The graph does not go up and down with the turn.
    let chances: Vec<f64> = review
        .looked()
        .iter()
        .rev()
        .map(|looked| looked.worth.chance)
        .collect();
    for (ply, pair) in chances.windows(2).enumerate().take(wasted) {
        assert!((pair[1] - pair[0]).abs() < 0.4, "{ply}: {chances:?}");
    }
}

/// Of what playouts have found, no more is judged than their number vouches for.
#[test]
fn few_playouts_judge_nothing_that_is_within_their_error() {
    let moves = "E5 D5 C3 G7";
    let review = review("go", moves, 100);
    for looked in review.looked() {
        assert!(looked.worth.doubt > 0.1, "{looked:?}");
        assert_eq!((&looked.judged, looked.loss), (&None, 0.0), "{looked:?}");
    }
    assert_eq!(review.accuracy(), Some([Some(100); 2]));
    let chess = self::review("chess", "e2e4 e7e5", 1000);
    assert!(
        chess
            .looked()
            .iter()
            .all(|looked| looked.worth.doubt == 0.0)
    );
}

fn plays(position: &dyn AnyPosition, line: &[String]) {
    assert!(line.len() <= LINE_MAX);
    let mut position = position.clone_box();
    for m in line {
        assert_eq!(position.play(m).as_ref(), Ok(m), "{line:?}");
    }
}

#[test]
fn nothing_is_found_once_it_is_stopped() {
    let entry = catalog::find_game("chess").expect("hosted");
    let moves = random_moves(entry, 1, 4);
    let mut review = Review::new(entry, entry.initial_position(), moves, 1 << 16).expect("legal");
    let stop = Stop::new();
    stop.stop();
    review.step(&Limits::nodes(1000), &stop);
    assert!(review.end().is_none() && !review.is_done());
    let none = Review::new(entry, entry.initial_position(), Vec::new(), 1 << 16).expect("legal");
    let none = finished(none, 1000);
    assert_eq!(none.accuracy(), Some([None, None]));
    let bad = vec!["e2e5".to_owned()];
    assert!(Review::new(entry, entry.initial_position(), bad, 1 << 16).is_err());
}
