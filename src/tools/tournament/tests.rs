//! Tic-tac-toe is quick, and its numbers are known.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::AtomicUsize;

use super::*;
use plyhouse_engine::catalog;
use plyhouse_engine::search::Level;

const THREE: [Player; 3] = [
    Player::Random,
    Player::Bot(Level::Easy),
    Player::Bot(Level::Hard),
];

fn plan() -> Plan {
    Plan {
        game: catalog::find_game("tic-tac-toe").expect("always hosted"),
        players: THREE.to_vec(),
        openings: 10,
        opening_plies: 2,
        limits: Limits::default(),
        seed: 1,
    }
}

fn tournament(plan: Plan) -> Tournament {
    Tournament::new(plan).expect("there are so many openings")
}

fn pairings(plan: Plan, threads: usize) -> Vec<Pairing> {
    let threads = NonZeroUsize::new(threads).expect("some");
    tournament(plan).play(threads, || {})
}

fn openings(plan: Plan) -> Vec<String> {
    let tournament = tournament(plan);
    tournament
        .openings
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn openings_differ_and_go_on() {
    let plan = plan();
    let openings = tournament(plan.clone()).openings;
    assert_eq!(openings.len(), plan.openings);
    let texts: HashSet<_> = openings.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), plan.openings);
    for pos in &openings {
        assert_eq!(pos.outcome(), None);
        assert_eq!(pos.legal_moves().len(), 9 - 2, "{pos}");
    }
}

/// Nine squares, and 252 ways to fill three; no game is going on after nine plies.
#[test]
fn there_are_only_so_many_openings() {
    for (opening_plies, found) in [(0, 1), (1, 9), (2, 72), (3, 252), (9, 0)] {
        let plan = |openings| Plan {
            openings,
            opening_plies,
            ..plan()
        };
        assert_eq!(tournament(plan(found)).openings.len(), found);
        let error = Tournament::new(plan(found + 1)).expect_err("one more than there are");
        let expected = TooFewOpenings {
            wanted: found + 1,
            found,
            plies: opening_plies,
        };
        assert_eq!(error, expected);
    }
}

#[test]
fn every_pair_plays_every_opening_once_with_either_side() {
    let tournament = tournament(plan());
    let games: Vec<_> = (0..tournament.games())
        .map(|n| tournament.game(n))
        .collect();
    let played: BTreeSet<_> = games
        .iter()
        .map(|game| (game.players, game.opening.to_string()))
        .collect();

    let mut expected = BTreeSet::new();
    for opening in &tournament.openings {
        for (first, second) in [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)] {
            expected.insert(([THREE[first], THREE[second]], opening.to_string()));
        }
    }
    assert_eq!(played, expected);
    assert_eq!(games.len(), expected.len(), "none is played twice");

    for game in &games {
        let [first, _] = tournament.pairs[game.pair];
        assert_eq!(game.players[game.first.index()], THREE[first]);
    }
}

#[test]
fn every_player_of_every_game_draws_something_else() {
    let tournament = tournament(plan());
    let seeds = (0..tournament.games()).flat_map(|number| tournament.game(number).seeds);
    assert_eq!(seeds.collect::<HashSet<_>>().len(), 2 * tournament.games());
}

#[test]
fn threads_change_nothing() {
    let alone = pairings(plan(), 1);
    assert_eq!(alone, pairings(plan(), 4));
    for pairing in &alone {
        assert_eq!(pairing.tally.games(), 20, "{pairing:?}");
    }
}

#[test]
fn the_seed_decides_everything() {
    let other = Plan { seed: 2, ..plan() };
    assert_eq!(pairings(plan(), 2), pairings(plan(), 2));
    assert_ne!(pairings(plan(), 2), pairings(other.clone(), 2));
    assert_ne!(openings(plan()), openings(other));
}

#[test]
fn a_pair_plays_the_same_whoever_else_takes_part() {
    let players = vec![THREE[0], THREE[2]];
    let without_easy = pairings(Plan { players, ..plan() }, 2);
    let of_the_two = |pairing: &&Pairing| pairing.players == [0, 2];
    let with_easy = pairings(plan(), 2);
    let with_easy = with_easy.iter().find(of_the_two).expect("all pairs play");
    assert_eq!(without_easy[0].tally, with_easy.tally);
}

#[test]
fn every_game_is_told_of() {
    let (told, tournament) = (AtomicUsize::new(0), tournament(plan()));
    let _ = tournament.play(NonZeroUsize::MIN, || {
        told.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(told.into_inner(), tournament.games());
}

/// Of the games between players who move at random the first wins 737/1260 and 8/63 are drawn,
/// counted exactly over the whole tree.
#[test]
fn random_players_play_at_random() {
    const GAMES: u32 = 5000;
    let opening = plan().game.initial_position();
    let mut tally = Tally::default();
    for number in 0..GAMES {
        let mut chance = SeededRng::new(1, &number.to_string());
        let game = Game {
            pair: 0,
            first: Seat::First,
            opening: opening.as_ref(),
            players: [Player::Random; 2],
            seeds: [chance.next_u64(), chance.next_u64()],
        };
        tally.record(
            game.play(&Limits::default(), &mut TranspositionTable::new(1 << 14)),
            Seat::First,
        );
    }
    // Four standard deviations of 5000 trials at one half.
    let is_near = |count: u32, share: f64| {
        (f64::from(count) / f64::from(GAMES) - share).abs() < 4.0 * 0.5 / f64::from(GAMES).sqrt()
    };
    assert!(is_near(tally.wins, 737.0 / 1260.0), "{tally:?}");
    assert!(is_near(tally.draws, 8.0 / 63.0), "{tally:?}");
}
