//! Matches between engines. Each opening is played twice with swapped sides. The report gives the
//! difference in strength and a confidence interval. The players are bot levels of this binary and
//! external programs that speak UCI, GTP or Piskvork.
//!
//! An engine match can use clocks. In contrast, a tournament between levels uses no clock and is
//! reproducible on every machine. A player loses a game by an illegal move, a timeout, a crash or a
//! refused command, and the report counts these losses. A game can be adjudicated when the scores
//! of both players agree that the game is decided.

mod adjudication;
mod args;
mod engine_command_line;
mod engine_spec;
mod forfeit_reason;
mod head_to_head_score;
mod match_report;
mod openings;
mod paired_game;
mod pentanomial;
mod player;
mod program_player;
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
use self::head_to_head_score::PairingScore;
use self::openings::Opening;
use self::paired_game::{PairedGame, PlayerPool};

/// Configuration of an engine match.
#[derive(Debug)]
struct EngineMatch {
    game: &'static GameEntry,
    engines: Vec<EngineSpec>,
    /// Pairs of players that play each other, as indices into `engines`.
    pairings: Vec<[usize; 2]>,
    openings: Vec<Opening>,
    /// Number of rounds of each pairing. A round is two games from one opening, with swapped sides.
    rounds: usize,
    seed: u64,
    adjudication: AdjudicationRules,
}

/// Place of a game in the schedule of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GameSlot {
    pairing: usize,
    round: usize,
    /// Seat of the first player of the pairing.
    seat: Seat,
}

/// A finished game and its place in the schedule.
#[derive(Debug)]
struct FinishedGame {
    slot: GameSlot,
    game: PlayedGame,
}

impl EngineMatch {
    /// Returns the total number of games.
    fn game_count(&self) -> usize {
        self.pairings.len() * self.rounds * 2
    }

    /// Returns the schedule slot of the game that has the given number. The two games of a round
    /// are consecutive. All pairings play one round from the same opening before the next round
    /// begins.
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

    /// Plays `threads` games in parallel and calls `on_finished` for each finished game. If
    /// `on_finished` returns `Break` or an error, the running games are aborted.
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
                // Relaxed ordering is sufficient, because the counter does not guard any data.
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
