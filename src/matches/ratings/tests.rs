//! Compares the rating algorithm with published results and another implementation. A simulation
//! also checks the ratings of players with known strength.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{MatchId, PlayerId, RatingPool, UnratedReason};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2};
use uuid::Uuid;

use super::glicko::compute;
use super::{
    Contender, LedgerRow, PostOutcome, RatedGame, Rating, RatingExclusions, RatingState, rate_game,
};

const fn rating(rating: f64, deviation: f64, volatility: f64) -> Rating {
    Rating {
        rating,
        deviation,
        volatility,
    }
}

fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not {expected}"
    );
}

/// Example in the Glicko-2 paper: a player wins against the first of three opponents and loses to
/// the others. The paper uses a different system constant, but the results agree at the precision
/// of this test.
#[test]
fn paper_example_is_reproduced() {
    let player = rating(1500.0, 200.0, 0.06);
    let others = [
        (1400.0, 30.0, 1.0),
        (1550.0, 100.0, 0.0),
        (1700.0, 300.0, 0.0),
    ];
    let results = others.map(|(r, deviation, score)| (rating(r, deviation, 0.06), score));
    let after = compute(&player, &results, 1.0);
    assert_close(after.rating, 1464.06, 0.01);
    assert_close(after.deviation, 151.52, 0.01);
    assert_close(after.volatility, 0.05999, 0.00001);
}

/// The `skillratings` crate treats each game as one rating period. This test therefore sets
/// `periods` to 1.
#[test]
fn results_match_skillratings_crate() {
    let config = Glicko2Config {
        tau: 0.75,
        convergence_tolerance: 0.000_001,
    };
    let mut rng = StdRng::seed_from_u64(1);
    for _ in 0..2000 {
        let mut draw = || {
            rating(
                rng.random_range(600.0..2600.0),
                rng.random_range(45.0..500.0),
                rng.random_range(0.03..0.1),
            )
        };
        let (one, other) = (draw(), draw());
        for (score, outcome) in [
            (1.0, Outcomes::WIN),
            (0.5, Outcomes::DRAW),
            (0.0, Outcomes::LOSS),
        ] {
            let to_skillratings = |rating: &Rating| Glicko2Rating {
                rating: rating.rating,
                deviation: rating.deviation,
                volatility: rating.volatility,
            };
            let (expected, _) = glicko2(
                &to_skillratings(&one),
                &to_skillratings(&other),
                &outcome,
                &config,
            );
            let got = compute(&one, &[(other, score)], 1.0);
            assert_close(got.rating, expected.rating, 1e-6);
            assert_close(got.deviation, expected.deviation, 1e-6);
            assert_close(got.volatility, expected.volatility, 1e-9);
        }
    }
}

#[test]
fn deviation_grows_with_elapsed_time_only() {
    let (own, other) = (rating(1500.0, 60.0, 0.06), rating(1500.0, 60.0, 0.06));
    let after = |since_ms| rate_game(&own, &other, 0.5, since_ms).deviation;
    assert_close(after(None), after(Some(0)), 0.0);
    assert!(after(Some(0)) < 60.0);
    let month = 30 * super::DAY_MS;
    assert!(after(Some(month)) > after(Some(0)));
    assert!(after(Some(12 * month)) > after(Some(month)));
}

#[test]
fn rating_change_of_one_game_is_bounded() {
    let worst = rating(400.0, 500.0, 0.1);
    let best = rating(4000.0, 45.0, 0.1);
    let up = rate_game(&worst, &best, 1.0, None);
    assert_close(up.rating, 1100.0, 0.0);
    let down = rate_game(&worst, &best, 0.0, Some(u64::MAX));
    assert!(down.rating >= 400.0 && down.deviation <= 500.0 && down.volatility <= 0.1);
    let top = rate_game(&best, &best, 1.0, None);
    assert!(top.rating <= 4000.0 && top.deviation >= 45.0);
}

pub(super) fn player(number: u128) -> PlayerId {
    PlayerId(Uuid::from_u128(number))
}

/// Returns a game between two players that ended at minute `number`. The opening line contains the
/// number, so that every game has a different one.
fn game(number: u64, players: [u128; 2], winner: Option<Seat>) -> RatedGame {
    RatedGame {
        match_id: MatchId(Uuid::from_u128(number.into())),
        game: "chess".to_owned(),
        pool: RatingPool::Live,
        at_ms: number * 60_000,
        seats: players.map(|number| Contender::Player {
            player: player(number),
        }),
        winner,
        changes_ratings: true,
        abandoned_by: None,
        opening_line: number.to_string(),
    }
}

fn post(state: &mut RatingState, no: u64, game: RatedGame) -> PostOutcome {
    state.post(
        no,
        &LedgerRow::Game(Box::new(game)),
        &RatingExclusions::new(),
    )
}

#[test]
fn uncounted_games_change_no_ratings() {
    let mut state = RatingState::default();
    let won = game(1, [1, 2], Some(Seat::First));
    let repeated = RatedGame {
        at_ms: 70_000,
        ..won.clone()
    };
    assert_eq!(post(&mut state, 1, won).changes.len(), 2);
    let farmed = post(&mut state, 2, repeated);
    assert_eq!(
        (farmed.changes.len(), farmed.reason),
        (0, Some(UnratedReason::Farming))
    );
    let aborted = RatedGame {
        changes_ratings: false,
        ..game(3, [1, 2], None)
    };
    assert_eq!(post(&mut state, 3, aborted).changes, []);
    let level = Contender::Level {
        level: plyhouse_engine::search::Level::Max,
        rating: 2000,
    };
    let mut bots = game(4, [1, 2], Some(Seat::First));
    bots.pool = RatingPool::Bots;
    bots.seats[1] = level;
    let changed = post(&mut state, 4, bots).changes;
    assert_eq!(changed.len(), 1);
    assert!(changed[0].after.rating > 1800.0, "{changed:?}");
}

#[test]
fn aborts_after_server_start_are_not_penalised() {
    let bans_after_abort_at = |at_ms| {
        let mut state = RatingState::default();
        state.post(
            1,
            &LedgerRow::ServerStarted { at_ms: 1000 },
            &RatingExclusions::new(),
        );
        for no in 2..5 {
            let aborted = RatedGame {
                at_ms,
                abandoned_by: Some(Seat::First),
                ..game(no, [1, 2], Some(Seat::Second))
            };
            post(&mut state, no, aborted);
        }
        [1, 2].map(|number| state.abort_penalties[&player(number)].rated_ban_until_ms())
    };
    assert_eq!(bans_after_abort_at(600_999), [0, 0]);
    assert_eq!(bans_after_abort_at(601_000), [1_201_000, 0]);
}

/// The matches of an excluded player change no ratings. The ledger rows of these matches still
/// update the stored time of the last row.
#[test]
fn games_of_excluded_player_have_no_effect() {
    let rows: Vec<RatedGame> = (1..60)
        .map(|no| {
            let players =
                [[1, 2], [2, 3], [3, 1]][usize::try_from(no % 3).expect("index fits usize")];
            game(no, players, Some(Seat::ALL[usize::from(no % 2 == 0)]))
        })
        .collect();
    let (mut all, mut without) = (RatingState::default(), RatingState::default());
    let exclusions = vec![(player(3), 100)];
    for (no, row) in (1..).zip(&rows) {
        let row = LedgerRow::Game(Box::new(row.clone()));
        let posted = all.post(no, &row, &exclusions);
        let LedgerRow::Game(game) = &row else {
            unreachable!("every row is a game")
        };
        let is_excluded = game
            .seats
            .iter()
            .any(|seat| seat.player() == Some(player(3)));
        assert_eq!(
            posted.reason == Some(UnratedReason::PlayerExcluded),
            is_excluded
        );
        if !is_excluded {
            without.post(no, &row, &RatingExclusions::new());
        }
    }
    without.last_ms = all.last_ms;
    assert_eq!(all, without);
}

/// 200 players of known strength play 20,000 games in 30 days. The ratings rank the players by
/// strength, and the mean rating hardly changes.
#[test]
fn ratings_rank_players_by_strength() {
    let mut rng = StdRng::seed_from_u64(7);
    let strengths: Vec<f64> = (0..200)
        .map(|number| 1000.0 + f64::from(number) * 5.0)
        .collect();
    let mut state = RatingState::default();
    for no in 1..=20_000_u64 {
        let one = rng.random_range(0..200);
        // Pairs players of similar strength, as matchmaking does.
        let other = loop {
            let other = rng.random_range(0..200_usize);
            if other != one && other.abs_diff(one) <= 60 {
                break other;
            }
        };
        let expected = 1.0 / (1.0 + 10.0_f64.powf((strengths[other] - strengths[one]) / 400.0));
        let winner = if rng.random_bool(0.1) {
            None
        } else {
            Some(Seat::ALL[usize::from(!rng.random_bool(expected))])
        };
        let players = [one, other].map(|number| number as u128 + 1);
        let game_played = RatedGame {
            at_ms: no * 30 * super::DAY_MS / 20_000,
            ..game(no, players, winner)
        };
        post(&mut state, no, game_played);
    }
    let ratings: Vec<f64> = (1..=200)
        .map(|number| {
            let mut all = state.ratings.iter();
            all.find(|(record, _)| record.player == player(number))
                .expect("player has a rating")
                .1
                .rating
                .rating
        })
        .collect();
    let rho = spearman(&ratings);
    assert!(rho > 0.95, "{rho}");
    let mean = ratings.iter().sum::<f64>() / 200.0;
    assert_close(mean, 1500.0, 20.0);
}

/// Returns Spearman's rank correlation between the values and their indices in the slice.
fn spearman(values: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let squares: f64 = (order.iter().enumerate())
        .map(|(rank, place)| (rank.abs_diff(*place) as f64).powi(2))
        .sum();
    let n = values.len() as f64;
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}
