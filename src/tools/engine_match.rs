//! Contests: engines play each other, each opening with both sides, and what that says of their
//! strength is told with its interval. Players are this binary's levels and programs that speak UCI, GTP
//! or Piskvork.
//!
//! A tournament of the levels repeats everywhere, and knows no clock; a contest is by the clock where it
//! is to be. A move that cannot be played, an answer that comes too late and a program that ends or
//! refuses lose their game, and are counted. Games that both players' scores have decided can be adjudicated.

mod adjudication;
mod args;
mod command_line;
mod engine_process;
mod engine_spec;
mod forfeit_reason;
mod match_report;
mod openings;
mod paired_game;
mod pairing_score;
mod pentanomial;
mod player;
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
pub use forfeit_reason::ForfeitReason;
pub use paired_game::{GameEnd, PlayedGame};
pub use pentanomial::{EloDifference, Pentanomial};
pub use sprt::{Sprt, Verdict};

use self::adjudication::AdjudicationRules;
use self::engine_spec::EngineSpec;
use self::openings::Opening;
use self::paired_game::{PairedGame, PlayerPool};
use self::pairing_score::PairingScore;

/// What is played, and by whom.
#[derive(Debug)]
struct EngineMatch {
    game: &'static GameEntry,
    engines: Vec<EngineSpec>,
    /// Who meets whom.
    pairings: Vec<[usize; 2]>,
    openings: Vec<Opening>,
    /// How many openings each pairing plays, each twice.
    rounds: usize,
    seed: u64,
    adjudication: AdjudicationRules,
}

/// The place of a game in a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GameSlot {
    pairing: usize,
    round: usize,
    /// The seat of the pairing's first player.
    seat: Seat,
}

/// A game that is over, and where it belongs.
#[derive(Debug)]
struct FinishedGame {
    slot: GameSlot,
    game: PlayedGame,
}

impl EngineMatch {
    /// How many games are to be played.
    fn game_count(&self) -> usize {
        self.pairings.len() * self.rounds * 2
    }

    /// The game of this number: the two of a pair follow each other, then another pairing has the
    /// opening.
    fn game_slot(&self, number: usize) -> GameSlot {
        let (pair, seat) = (number / 2, Seat::ALL[number % 2]);
        GameSlot {
            pairing: pair % self.pairings.len(),
            round: pair / self.pairings.len(),
            seat,
        }
    }

    fn paired_game(&self, slot: GameSlot) -> PairedGame<'_> {
        let [one, other] = self.pairings[slot.pairing];
        let players = match slot.seat {
            Seat::First => [one, other],
            Seat::Second => [other, one],
        };
        let names = players.map(|player| self.engines[player].name.as_str());
        let name = format!("{} {} {}", names[0], names[1], slot.round);
        let mut rng = SeededRng::new(self.seed, &name);
        PairedGame {
            players,
            opening: &self.openings[slot.round % self.openings.len()],
            seeds: [rng.next_u64(), rng.next_u64()],
        }
    }

    /// Plays so many games at a time, and tells of each that has ended until that is enough. Games that
    /// are going on then are broken off.
    fn play(
        &self,
        threads: NonZeroUsize,
        stop: &Stop,
        mut on_finished: impl FnMut(FinishedGame) -> anyhow::Result<ControlFlow<()>>,
    ) -> anyhow::Result<()> {
        let next = AtomicUsize::new(0);
        let (sender, finished) = sync_channel(threads.get());
        let work = |sender: std::sync::mpsc::SyncSender<FinishedGame>| {
            let mut pool = PlayerPool::new(self.game, &self.engines, self.adjudication);
            while !stop.is_stopped() {
                // Only the number itself is shared, so no order with other memory is needed.
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.game_count() {
                    return;
                }
                let slot = self.game_slot(number);
                let Some(played) = pool.play_game(&self.paired_game(slot), stop) else {
                    return;
                };
                if sender.send(FinishedGame { slot, game: played }).is_err() {
                    return;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..threads.get() {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            let mut flow = Ok(ControlFlow::Continue(()));
            while matches!(flow, Ok(ControlFlow::Continue(()))) {
                let Ok(game) = finished.recv() else {
                    break;
                };
                flow = on_finished(game);
            }
            stop.stop();
            drop(finished);
            flow.map(|_| ())
        })
    }
}
