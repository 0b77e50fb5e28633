//! Contests: engines play each other, each opening with both sides, and what that says of their
//! strength is told with its interval. Players are this binary's levels and programs that speak UCI, GTP
//! or Piskvork.
//!
//! A tournament of the levels repeats everywhere, and knows no clock; a contest is by the clock where it
//! is to be. A move that cannot be played, an answer that comes too late and a program that ends or
//! refuses lose their game, and are counted. Games that both players' scores have decided can be adjudicated.

mod adjudication;
mod args;
mod command;
mod entrant;
mod fault;
mod game;
mod openings;
mod pentanomial;
mod player;
mod program;
mod report;
mod score;
mod sprt;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Stop;
use plyhouse_engine::search::seeded_rng::SeededRng;

pub use args::Args;
pub use fault::Fault;
pub use game::{End, Played};
pub use pentanomial::{Difference, Pentanomial};
pub use sprt::{Sprt, Verdict};

use self::adjudication::Adjudication;
use self::entrant::Entrant;
use self::game::{Bench, PairedGame};
use self::openings::Opening;
use self::score::Score;

/// What is played, and by whom.
#[derive(Debug)]
struct Contest {
    game: &'static GameEntry,
    entrants: Vec<Entrant>,
    /// Who meets whom.
    pairings: Vec<[usize; 2]>,
    openings: Vec<Opening>,
    /// How many openings each pairing plays, each twice.
    rounds: usize,
    seed: u64,
    adjudication: Adjudication,
}

/// The place of a game in a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    pairing: usize,
    round: usize,
    /// The seat of the pairing's first player.
    seat: Seat,
}

/// A game that is over, and where it belongs.
#[derive(Debug)]
struct Finished {
    place: Place,
    played: Played,
}

impl Contest {
    /// How many games are to be played.
    fn games(&self) -> usize {
        self.pairings.len() * self.rounds * 2
    }

    /// The game of this number: the two of a pair follow each other, then another pairing has the
    /// opening.
    fn place(&self, number: usize) -> Place {
        let (pair, seat) = (number / 2, Seat::ALL[number % 2]);
        Place {
            pairing: pair % self.pairings.len(),
            round: pair / self.pairings.len(),
            seat,
        }
    }

    fn fixture(&self, place: Place) -> PairedGame<'_> {
        let [one, other] = self.pairings[place.pairing];
        let players = match place.seat {
            Seat::First => [one, other],
            Seat::Second => [other, one],
        };
        let names = players.map(|player| self.entrants[player].name.as_str());
        let name = format!("{} {} {}", names[0], names[1], place.round);
        let mut chance = SeededRng::new(self.seed, &name);
        PairedGame {
            players,
            opening: &self.openings[place.round % self.openings.len()],
            seeds: [chance.next_u64(), chance.next_u64()],
        }
    }

    /// Plays so many games at a time, and tells of each that has ended until that is enough. Games that
    /// are going on then are broken off.
    fn play(
        &self,
        threads: NonZeroUsize,
        stop: &Stop,
        mut ended: impl FnMut(Finished) -> anyhow::Result<ControlFlow<()>>,
    ) -> anyhow::Result<()> {
        let next = AtomicUsize::new(0);
        let (tell, finished) = sync_channel(threads.get());
        let work = |tell: std::sync::mpsc::SyncSender<Finished>| {
            let mut bench = Bench::new(self.game, &self.entrants, self.adjudication);
            while !stop.is_stopped() {
                // Only the number itself is shared, so no order with other memory is needed.
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.games() {
                    return;
                }
                let place = self.place(number);
                let Some(played) = bench.play(&self.fixture(place), stop) else {
                    return;
                };
                if tell.send(Finished { place, played }).is_err() {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..threads.get() {
                let tell = tell.clone();
                scope.spawn(|| work(tell));
            }
            drop(tell);
            let mut told = Ok(ControlFlow::Continue(()));
            while matches!(told, Ok(ControlFlow::Continue(()))) {
                let Ok(game) = finished.recv() else {
                    break;
                };
                told = ended(game);
            }
            stop.stop();
            drop(finished);
            told.map(|_| ())
        })
    }
}
