//! Tournaments of the bot levels. The levels play each other to measure their strength.
//!
//! Every player plays every other player from the same openings, and each opening is played twice
//! with swapped sides. The random choices of a game depend only on the seed, the players and the
//! opening. The results therefore do not depend on the number of threads. The games are played
//! without clocks.

mod bradley_terry;
mod command;
pub(crate) mod elo_interval;
mod pair_tally;
mod player;
pub(crate) mod random_openings;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

pub use bradley_terry::Ratings;
pub use command::Args;
pub use elo_interval::EloEstimate;
pub use pair_tally::Tally;
pub use player::Player;
pub use random_openings::{TooFewOpenings, default_opening_plies};

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{Limits, TranspositionTable};

/// Configuration of a tournament.
#[derive(Clone, Debug)]
pub struct TournamentPlan {
    /// Game to play.
    pub game: &'static GameEntry,
    /// Players of the tournament, all different.
    pub players: Vec<Player>,
    /// Number of different openings. Each pair plays each opening twice.
    pub opening_count: usize,
    /// Number of random plies of an opening.
    pub opening_plies: u32,
    /// Search limits of a bot for each move. A time limit would make the results depend on the
    /// machine.
    pub limits: Limits,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Results of the games between two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// The two players, as indices into `TournamentPlan::players`. The smaller index is first.
    pub players: [usize; 2],
    /// Results of the games, from the first player's point of view.
    pub tally: Tally,
}

/// A tournament with its openings and pairs of players.
#[derive(Debug)]
pub struct Tournament {
    plan: TournamentPlan,
    openings: Vec<Box<dyn AnyPosition>>,
    pairs: Vec<[usize; 2]>,
}

/// Size of a transposition table in bytes. A search visits few nodes and would not fill a larger
/// table. The table is cleared before each move, and clearing a larger table would take longer.
const TABLE_BYTES: usize = 8 << 20;

impl Tournament {
    /// Creates a tournament and generates its random openings.
    ///
    /// # Errors
    ///
    /// Returns an error if the game has fewer different openings of this length than the plan
    /// requires.
    pub fn new(plan: TournamentPlan) -> Result<Self, TooFewOpenings> {
        let (opening_count, plies) = (plan.opening_count, plan.opening_plies);
        let openings =
            random_openings::generate_openings(plan.game, opening_count, plies, plan.seed, |_| {
                true
            })?;
        let openings = openings.into_iter().map(|opening| opening.pos).collect();
        let pairs = (0..plan.players.len())
            .flat_map(|second| (0..second).map(move |first| [first, second]))
            .collect();
        Ok(Self {
            plan,
            openings,
            pairs,
        })
    }

    /// Returns the total number of games.
    #[must_use]
    pub fn game_count(&self) -> usize {
        self.pairs.len() * self.openings.len() * 2
    }

    /// Plays all games on `threads` threads. Calls `on_game_end` after each game.
    #[must_use]
    pub fn play(&self, threads: NonZeroUsize, on_game_end: impl Fn() + Sync) -> Vec<Pairing> {
        let next = AtomicUsize::new(0);
        let tallies = Mutex::new(vec![Tally::default(); self.pairs.len()]);
        let work = || {
            let mut table = TranspositionTable::new(TABLE_BYTES);
            loop {
                // Relaxed ordering is sufficient, because the counter does not guard any data.
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.game_count() {
                    return;
                }
                let game = self.scheduled_game(number);
                let outcome = game.play(&self.plan.limits, &mut table);
                let mut tallies = tallies.lock();
                tallies[game.pair_index].record(outcome, game.first_seat);
                drop(tallies);
                on_game_end();
            }
        };
        thread::scope(|scope| {
            for _ in 0..threads.get() {
                scope.spawn(work);
            }
        });
        let tallies = tallies.into_inner();
        let pairings = self.pairs.iter().zip(tallies);
        pairings
            .map(|(&players, tally)| Pairing { players, tally })
            .collect()
    }

    /// Returns the game that has the given number, counted from 0. Consecutive games belong to
    /// different pairs of players, so that slow games are spread over the tournament.
    fn scheduled_game(&self, number: usize) -> ScheduledGame<'_> {
        let (round, pair) = (number / self.pairs.len(), number % self.pairs.len());
        let (opening, first) = (round / 2, Seat::ALL[round % 2]);
        let [one, other] = self.pairs[pair].map(|index| self.plan.players[index]);
        let players = match first {
            Seat::First => [one, other],
            Seat::Second => [other, one],
        };
        // The seed depends only on the plan's seed, the two players and the opening. The other
        // players of the tournament therefore do not affect a game.
        let name = format!("{} {} {opening}", players[0], players[1]);
        let mut rng = SeededRng::new(self.plan.seed, &name);
        ScheduledGame {
            pair_index: pair,
            first_seat: first,
            opening: self.openings[opening].as_ref(),
            players,
            seeds: [rng.next_u64(), rng.next_u64()],
        }
    }
}

/// A game of a tournament.
#[derive(Debug)]
struct ScheduledGame<'a> {
    /// Index of the pair of players in `Tournament::pairs`.
    pair_index: usize,
    /// Seat of the first player of the pair.
    first_seat: Seat,
    opening: &'a dyn AnyPosition,
    /// Players of the game, indexed by seat. The random seed of each player is in `seeds`.
    players: [Player; 2],
    seeds: [u64; 2],
}

impl ScheduledGame<'_> {
    fn play(&self, limits: &Limits, table: &mut TranspositionTable) -> Outcome {
        let mut pos = self.opening.clone_box();
        loop {
            if let Some(outcome) = pos.outcome() {
                return outcome;
            }
            let seat = pos.turn().index();
            let m = self.players[seat].choose_move(pos.as_ref(), self.seeds[seat], limits, table);
            pos.play(&m).expect("players choose legal moves");
        }
    }
}
