//! Tournaments: how strong the levels are, measured by letting them play each other.
//!
//! Every player meets every other from the same openings, each played twice with the sides
//! swapped. Everything follows from a seed: who draws what is told by the game's place in the
//! tournament, so threads change how long it takes and nothing else. No clock is read.

mod bradley_terry;
mod command;
pub(crate) mod elo_interval;
mod player;
pub(crate) mod random_openings;
mod tally;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

pub use bradley_terry::Ratings;
pub use command::Args;
pub use elo_interval::EloEstimate;
pub use player::Player;
pub use random_openings::{TooFewOpenings, default_opening_plies};
pub use tally::Tally;

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_engine::search::seeded_rng::SeededRng;
use plyhouse_engine::search::{Limits, TranspositionTable};

/// What is played.
#[derive(Clone, Debug)]
pub struct TournamentPlan {
    /// The game.
    pub game: &'static GameEntry,
    /// Who plays, each named once.
    pub players: Vec<Player>,
    /// How many different openings there are; each pair plays each of them twice.
    pub opening_count: usize,
    /// How many random plies make an opening.
    pub opening_plies: u32,
    /// What a bot may spend on a move. A limit of time would let the machine decide games.
    pub limits: Limits,
    /// What all chance is drawn from.
    pub seed: u64,
}

/// What two players scored against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// The two, as indices of the plan's players; the smaller comes first.
    pub players: [usize; 2],
    /// How their games ended, as seen by the first of them.
    pub tally: Tally,
}

/// The openings of a plan, and who meets from them.
#[derive(Debug)]
pub struct Tournament {
    plan: TournamentPlan,
    openings: Vec<Box<dyn AnyPosition>>,
    pairs: Vec<[usize; 2]>,
}

/// What a search remembers. Few nodes fill no more, and as much again is forgotten every move.
const TABLE_BYTES: usize = 8 << 20;

impl Tournament {
    /// Draws the openings.
    ///
    /// # Errors
    ///
    /// The game has fewer different openings of that many plies than the plan asks for.
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

    /// How many games are played in all.
    #[must_use]
    pub fn game_count(&self) -> usize {
        self.pairs.len() * self.openings.len() * 2
    }

    /// Plays all games on that many threads, and tells of each that has ended by `on_game_end`.
    #[must_use]
    pub fn play(&self, threads: NonZeroUsize, on_game_end: impl Fn() + Sync) -> Vec<Pairing> {
        let next = AtomicUsize::new(0);
        let tallies = Mutex::new(vec![Tally::default(); self.pairs.len()]);
        let work = || {
            let mut table = TranspositionTable::new(TABLE_BYTES);
            loop {
                // Only the number itself is shared, so no order with other memory is needed.
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

    /// The game of this number, from 0. Neighbours are of different pairs, so that slow pairs are
    /// spread over the tournament.
    fn scheduled_game(&self, number: usize) -> ScheduledGame<'_> {
        let (round, pair) = (number / self.pairs.len(), number % self.pairs.len());
        let (opening, first) = (round / 2, Seat::ALL[round % 2]);
        let [one, other] = self.pairs[pair].map(|index| self.plan.players[index]);
        let players = match first {
            Seat::First => [one, other],
            Seat::Second => [other, one],
        };
        // By name, so that a game is the same whoever else takes part in the tournament.
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

/// One game of a tournament.
#[derive(Debug)]
struct ScheduledGame<'a> {
    /// Whose game it is, as an index of the tournament's pairs.
    pair_index: usize,
    /// The seat of the first of the pair.
    first_seat: Seat,
    opening: &'a dyn AnyPosition,
    /// The players and what they draw from, by seat.
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
