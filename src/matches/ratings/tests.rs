//! The algorithm beside what others have reckoned, and the fold over many games of players of known strength.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{MatchId, PlayerId, Pool, RatingWhy};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use skillratings::Outcomes;
use skillratings::glicko2::{Glicko2Config, Glicko2Rating, glicko2};
use uuid::Uuid;

use super::glicko::compute;
use super::{Books, Contender, LedgerRow, Posted, RatedGame, Rating, Unrated, rated};

const fn rating(rating: f64, deviation: f64, volatility: f64) -> Rating {
    Rating {
        rating,
        deviation,
        volatility,
    }
}

fn is_near(one: f64, other: f64, by: f64) {
    assert!((one - other).abs() <= by, "{one} is not {other}");
}

/// What the paper works out: a player who wins against the first of three and loses against the others. Its
/// volatility changes more slowly than ours, which is not seen in so many digits.
#[test]
fn the_example_of_the_paper_comes_out() {
    let player = rating(1500.0, 200.0, 0.06);
    let others = [
        (1400.0, 30.0, 1.0),
        (1550.0, 100.0, 0.0),
        (1700.0, 300.0, 0.0),
    ];
    let results = others.map(|(r, deviation, score)| (rating(r, deviation, 0.06), score));
    let after = compute(&player, &results, 1.0);
    is_near(after.rating, 1464.06, 0.01);
    is_near(after.deviation, 151.52, 0.01);
    is_near(after.volatility, 0.05999, 0.00001);
}

/// With one period for every game it is what the crate reckons, whose period always is one.
#[test]
fn it_is_what_another_program_reckons() {
    let config = Glicko2Config {
        tau: 0.75,
        convergence_tolerance: 0.000_001,
    };
    let mut chance = StdRng::seed_from_u64(1);
    for _ in 0..2000 {
        let mut draw = || {
            rating(
                chance.random_range(600.0..2600.0),
                chance.random_range(45.0..500.0),
                chance.random_range(0.03..0.1),
            )
        };
        let (one, other) = (draw(), draw());
        for (score, outcome) in [
            (1.0, Outcomes::WIN),
            (0.5, Outcomes::DRAW),
            (0.0, Outcomes::LOSS),
        ] {
            let theirs = |rating: &Rating| Glicko2Rating {
                rating: rating.rating,
                deviation: rating.deviation,
                volatility: rating.volatility,
            };
            let (expected, _) = glicko2(&theirs(&one), &theirs(&other), &outcome, &config);
            let got = compute(&one, &[(other, score)], 1.0);
            is_near(got.rating, expected.rating, 1e-6);
            is_near(got.deviation, expected.deviation, 1e-6);
            is_near(got.volatility, expected.volatility, 1e-9);
        }
    }
}

#[test]
fn a_deviation_grows_by_time_alone() {
    let (own, other) = (rating(1500.0, 60.0, 0.06), rating(1500.0, 60.0, 0.06));
    let after = |since_ms| rated(&own, &other, 0.5, since_ms).deviation;
    is_near(after(None), after(Some(0)), 0.0);
    assert!(after(Some(0)) < 60.0);
    let month = 30 * super::DAY_MS;
    assert!(after(Some(month)) > after(Some(0)));
    assert!(after(Some(12 * month)) > after(Some(month)));
}

#[test]
fn what_a_game_may_do_is_bounded() {
    let worst = rating(400.0, 500.0, 0.1);
    let best = rating(4000.0, 45.0, 0.1);
    let up = rated(&worst, &best, 1.0, None);
    is_near(up.rating, 1100.0, 0.0);
    let down = rated(&worst, &best, 0.0, Some(u64::MAX));
    assert!(down.rating >= 400.0 && down.deviation <= 500.0 && down.volatility <= 0.1);
    let top = rated(&best, &best, 1.0, None);
    assert!(top.rating <= 4000.0 && top.deviation >= 45.0);
}

pub(super) fn player(number: u128) -> PlayerId {
    PlayerId(Uuid::from_u128(number))
}

/// A game of two players that ended so many minutes after the first, unlike all others by its number.
fn game(number: u64, players: [u128; 2], winner: Option<Seat>) -> RatedGame {
    RatedGame {
        match_id: MatchId(Uuid::from_u128(number.into())),
        game: "chess".to_owned(),
        pool: Pool::Live,
        at_ms: number * 60_000,
        seats: players.map(|number| Contender::Player {
            player: player(number),
        }),
        winner,
        counts: true,
        left: None,
        line: number.to_string(),
    }
}

fn post(books: &mut Books, no: u64, game: RatedGame) -> Posted {
    books.post(no, &LedgerRow::Game(Box::new(game)), &Unrated::new())
}

#[test]
fn what_does_not_count_changes_nothing() {
    let mut books = Books::default();
    let won = game(1, [1, 2], Some(Seat::First));
    let again = RatedGame {
        at_ms: 70_000,
        ..won.clone()
    };
    assert_eq!(post(&mut books, 1, won).changes.len(), 2);
    let farmed = post(&mut books, 2, again);
    assert_eq!(
        (farmed.changes.len(), farmed.why),
        (0, Some(RatingWhy::Farming))
    );
    let aborted = RatedGame {
        counts: false,
        ..game(3, [1, 2], None)
    };
    assert_eq!(post(&mut books, 3, aborted).changes, []);
    let level = Contender::Level {
        level: plyhouse_engine::search::Level::Max,
        rating: 2000,
    };
    let mut bots = game(4, [1, 2], Some(Seat::First));
    bots.pool = Pool::Bots;
    bots.seats[1] = level;
    let changed = post(&mut books, 4, bots).changes;
    assert_eq!(changed.len(), 1);
    assert!(changed[0].after.rating > 1800.0, "{changed:?}");
}

#[test]
fn nobody_is_blamed_after_a_start() {
    let left = |at_ms| {
        let mut books = Books::default();
        books.post(1, &LedgerRow::Started { at_ms: 1000 }, &Unrated::new());
        for no in 2..5 {
            let left = RatedGame {
                at_ms,
                left: Some(Seat::First),
                ..game(no, [1, 2], Some(Seat::Second))
            };
            post(&mut books, no, left);
        }
        [1, 2].map(|number| books.conduct[&player(number)].until_ms())
    };
    assert_eq!(left(600_999), [0, 0]);
    assert_eq!(left(601_000), [1_201_000, 0]);
}

/// Time never runs back, and the matches of somebody who does not count are as if they had not been.
#[test]
fn matches_that_do_not_count_are_as_if_they_had_not_been() {
    let rows: Vec<RatedGame> = (1..60)
        .map(|no| {
            let players = [[1, 2], [2, 3], [3, 1]][usize::try_from(no % 3).expect("small")];
            game(no, players, Some(Seat::ALL[usize::from(no % 2 == 0)]))
        })
        .collect();
    let (mut all, mut without) = (Books::default(), Books::default());
    let unrated = vec![(player(3), 100)];
    for (no, row) in (1..).zip(&rows) {
        let row = LedgerRow::Game(Box::new(row.clone()));
        let posted = all.post(no, &row, &unrated);
        let LedgerRow::Game(game) = &row else {
            unreachable!("it is one")
        };
        let is_out = game
            .seats
            .iter()
            .any(|seat| seat.player() == Some(player(3)));
        assert_eq!(posted.why == Some(RatingWhy::Unrated), is_out);
        if !is_out {
            without.post(no, &row, &Unrated::new());
        }
    }
    without.last_ms = all.last_ms;
    assert_eq!(all, without);
}

/// 200 players whose strength is known play 20,000 games in 30 days: the ratings put them in their order,
/// and points are neither made nor lost.
#[test]
fn ratings_tell_who_is_stronger() {
    let mut chance = StdRng::seed_from_u64(7);
    let strengths: Vec<f64> = (0..200)
        .map(|number| 1000.0 + f64::from(number) * 5.0)
        .collect();
    let mut books = Books::default();
    for no in 1..=20_000_u64 {
        let one = chance.random_range(0..200);
        // As seeks pair: with somebody who is not too far away.
        let other = loop {
            let other = chance.random_range(0..200_usize);
            if other != one && other.abs_diff(one) <= 60 {
                break other;
            }
        };
        let expected = 1.0 / (1.0 + 10.0_f64.powf((strengths[other] - strengths[one]) / 400.0));
        let winner = if chance.random_bool(0.1) {
            None
        } else {
            Some(Seat::ALL[usize::from(!chance.random_bool(expected))])
        };
        let players = [one, other].map(|number| number as u128 + 1);
        let played = RatedGame {
            at_ms: no * 30 * super::DAY_MS / 20_000,
            ..game(no, players, winner)
        };
        post(&mut books, no, played);
    }
    let ratings: Vec<f64> = (1..=200)
        .map(|number| {
            let mut all = books.ratings.iter();
            all.find(|(record, _)| record.player == player(number))
                .expect("has played")
                .1
                .rating
                .rating
        })
        .collect();
    let rho = spearman(&ratings);
    assert!(rho > 0.95, "{rho}");
    let mean = ratings.iter().sum::<f64>() / 200.0;
    is_near(mean, 1500.0, 20.0);
}

/// How well these are in their order: the correlation of ranks.
fn spearman(values: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let squares: f64 = (order.iter().enumerate())
        .map(|(rank, place)| (rank.abs_diff(*place) as f64).powi(2))
        .sum();
    let n = values.len() as f64;
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

#[test]
fn days_have_dates() {
    for (day, text) in [
        (0, "1970-01-01"),
        (59, "1970-03-01"),
        (11_016, "2000-02-29"),
        (11_017, "2000-03-01"),
        (20_779, "2026-11-22"),
    ] {
        assert_eq!(super::day_text(day), text);
    }
}
