//! The tests use tic-tac-toe, because its games are short and its exact statistics are known.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::engine_match::{PairedGame, PlayerPool, Tally};
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::seeded_rng::SeededRng;

const THREE_PLAYERS: [Player; 3] = [
    Player::Random,
    Player::Bot(Level::Easy),
    Player::Bot(Level::Hard),
];

fn test_plan() -> TournamentPlan {
    TournamentPlan {
        game: catalog::find_game("tic-tac-toe").expect("the game is in the catalog"),
        players: THREE_PLAYERS.to_vec(),
        opening_count: 10,
        opening_plies: 2,
        limits: Limits::default(),
        seed: 1,
    }
}

fn new_tournament(plan: TournamentPlan) -> Tournament {
    Tournament::new(plan).expect("the game has enough openings")
}

fn play_pairings(plan: TournamentPlan, threads: usize) -> Vec<Pairing> {
    let threads = NonZeroUsize::new(threads).expect("the thread count is not zero");
    new_tournament(plan).play(threads, || {})
}

fn opening_texts(plan: TournamentPlan) -> Vec<String> {
    let openings = new_tournament(plan).0.openings;
    openings
        .iter()
        .map(|opening| opening.pos.to_string())
        .collect()
}

fn scheduled_games(tournament: &Tournament) -> impl Iterator<Item = PairedGame<'_>> {
    let games = (0..tournament.0.game_count()).map(|number| tournament.0.game_slot(number));
    games.map(|slot| tournament.0.paired_game(slot))
}

#[test]
fn openings_are_distinct_and_not_over() {
    let plan = test_plan();
    let openings = new_tournament(plan.clone()).0.openings;
    assert_eq!(openings.len(), plan.opening_count);
    let texts: HashSet<_> = opening_texts(plan.clone()).into_iter().collect();
    assert_eq!(texts.len(), plan.opening_count);
    for pos in openings.iter().map(|opening| &opening.pos) {
        assert_eq!(pos.outcome(), None);
        assert_eq!(pos.legal_moves().len(), 9 - 2, "{pos}");
    }
}

/// Tic-tac-toe has 9 positions after one ply, 72 after two plies and 252 after three. No game lasts
/// longer than nine plies.
#[test]
fn more_openings_than_exist_are_refused() {
    for (opening_plies, found) in [(0, 1), (1, 9), (2, 72), (3, 252), (9, 0)] {
        let plan = |openings| TournamentPlan {
            opening_count: openings,
            opening_plies,
            ..test_plan()
        };
        assert_eq!(new_tournament(plan(found)).0.openings.len(), found);
        let error = Tournament::new(plan(found + 1)).expect_err("the game has too few openings");
        let expected = TooFewOpenings {
            required: found + 1,
            found,
            plies: opening_plies,
        };
        assert_eq!(error, expected);
    }
}

#[test]
fn every_pair_plays_every_opening_once_with_either_side() {
    let tournament = new_tournament(test_plan());
    let games: Vec<_> = scheduled_games(&tournament).collect();
    let played: BTreeSet<_> = games
        .iter()
        .map(|game| (game.players, game.opening.pos.to_string()))
        .collect();

    let mut expected = BTreeSet::new();
    for opening in &tournament.0.openings {
        for players in [[0, 1], [0, 2], [1, 2], [1, 0], [2, 0], [2, 1]] {
            expected.insert((players, opening.pos.to_string()));
        }
    }
    assert_eq!(played, expected);
    assert_eq!(games.len(), expected.len(), "none is played twice");

    for (number, game) in games.iter().enumerate() {
        let slot = tournament.0.game_slot(number);
        let [first, _] = tournament.0.pairings[slot.pairing];
        assert_eq!(game.players[slot.seat.index()], first);
    }
}

#[test]
fn seeds_differ_for_every_player_and_game() {
    let tournament = new_tournament(test_plan());
    let seeds: HashSet<_> = scheduled_games(&tournament)
        .flat_map(|game| game.seeds)
        .collect();
    assert_eq!(seeds.len(), 2 * tournament.0.game_count());
}

#[test]
fn results_do_not_depend_on_the_thread_count() {
    let single_threaded = play_pairings(test_plan(), 1);
    assert_eq!(single_threaded, play_pairings(test_plan(), 4));
    for pairing in &single_threaded {
        assert_eq!(pairing.tally.game_count(), 20, "{pairing:?}");
    }
}

#[test]
fn results_and_openings_follow_from_the_seed() {
    let other_seed = TournamentPlan {
        seed: 2,
        ..test_plan()
    };
    assert_eq!(play_pairings(test_plan(), 2), play_pairings(test_plan(), 2));
    assert_ne!(
        play_pairings(test_plan(), 2),
        play_pairings(other_seed.clone(), 2)
    );
    assert_ne!(opening_texts(test_plan()), opening_texts(other_seed));
}

#[test]
fn pair_results_do_not_depend_on_other_players() {
    let players = vec![THREE_PLAYERS[0], THREE_PLAYERS[2]];
    let without_easy = play_pairings(
        TournamentPlan {
            players,
            ..test_plan()
        },
        2,
    );
    let is_same_pair = |pairing: &&Pairing| pairing.players == [0, 2];
    let with_easy = play_pairings(test_plan(), 2);
    let with_easy = with_easy
        .iter()
        .find(is_same_pair)
        .expect("every pair has a result");
    assert_eq!(without_easy[0].tally, with_easy.tally);
}

#[test]
fn callback_runs_once_per_game() {
    let (ended_games, tournament) = (AtomicUsize::new(0), new_tournament(test_plan()));
    let _ = tournament.play(NonZeroUsize::MIN, || {
        ended_games.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(ended_games.into_inner(), tournament.0.game_count());
}

/// Between two random players, the first player wins 737/1260 of the games, and 8/63 are drawn.
/// These are exact values from the full game tree.
#[test]
fn random_players_match_the_exact_win_and_draw_rates() {
    const GAMES: u32 = 5000;
    let tournament = new_tournament(TournamentPlan {
        players: vec![Player::Random; 2],
        opening_count: 1,
        opening_plies: 0,
        ..test_plan()
    });
    let (mut pool, mut tally) = (PlayerPool::new(&tournament.0), Tally::default());
    for number in 0..GAMES {
        let mut rng = SeededRng::new(1, &number.to_string());
        let game = PairedGame {
            players: [0, 1],
            opening: &tournament.0.openings[0],
            seeds: [rng.next_u64(), rng.next_u64()],
        };
        let played = pool.play_game(&game, &Stop::new()).expect("not stopped");
        tally.record(played.winner, Seat::First);
    }
    // The tolerance is four standard deviations of the success rate in 5000 trials that each
    // succeed with probability 1/2.
    let is_near = |count: u32, share: f64| {
        (f64::from(count) / f64::from(GAMES) - share).abs() < 4.0 * 0.5 / f64::from(GAMES).sqrt()
    };
    assert!(is_near(tally.wins, 737.0 / 1260.0), "{tally:?}");
    assert!(is_near(tally.draws, 8.0 / 63.0), "{tally:?}");
}
