//! Matches between engines. Each opening is played twice with swapped sides. The report gives the
//! difference in strength and a confidence interval. The players are bot levels of this binary and
//! external programs that speak UCI, GTP or Piskvork. The games of `plyhouse tournament` are played
//! by the same code.
//!
//! An engine match can use clocks. In contrast, a tournament between levels uses no clock and is
//! reproducible on every machine. A player loses a game by an illegal move, a timeout, a crash or a
//! refused command, and the report counts these losses. A game can be adjudicated when the scores
//! of both players agree that the game is decided.

mod adjudication;
mod args;
mod bradley_terry;
pub(crate) mod elo_interval;
mod engine_command_line;
pub(crate) mod engine_spec;
mod forfeit_reason;
mod head_to_head_score;
pub(crate) mod match_report;
mod openings;
mod pair_tally;
mod paired_game;
mod pentanomial;
mod player;
mod program_player;
pub(crate) mod random_openings;
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
pub(crate) use args::parse_game_count;
pub use bradley_terry::{Pairing, Ratings};
pub use elo_interval::{EloEstimate, EloInterval};
pub use forfeit_reason::ForfeitReason;
pub use pair_tally::Tally;
pub use paired_game::{GameEnd, PlayedGame};
pub use pentanomial::Pentanomial;
pub use random_openings::TooFewOpenings;
pub use sprt::{Sprt, Verdict};

pub(crate) use self::adjudication::{AdjudicationRules, to_hundredths};
use self::engine_spec::EngineSpec;
use self::head_to_head_score::PairingScore;
use self::openings::Opening;
pub(crate) use self::paired_game::{PairedGame, PlayerPool};

/// Configuration of an engine match.
#[derive(Debug)]
pub(crate) struct EngineMatch {
    pub(crate) game: &'static GameEntry,
    pub(crate) engines: Vec<EngineSpec>,
    /// Pairs of players that play each other, as indices into `engines`.
    pub(crate) pairings: Vec<[usize; 2]>,
    pub(crate) openings: Vec<Opening>,
    /// Number of rounds of each pairing. A round is two games from one opening, with swapped sides.
    pub(crate) rounds: usize,
    pub(crate) seed: u64,
    pub(crate) adjudication: AdjudicationRules,
    /// Size of the transposition table of each built-in player, in bytes.
    pub(crate) table_bytes: usize,
}

/// Place of a game in the schedule of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GameSlot {
    pub(crate) pairing: usize,
    round: usize,
    /// Seat of the first player of the pairing.
    pub(crate) seat: Seat,
}

/// A finished game and its place in the schedule.
#[derive(Debug)]
pub(crate) struct FinishedGame {
    slot: GameSlot,
    game: PlayedGame,
}

/// Returns all pairs of `players` players, as indices.
pub(crate) fn round_robin_pairings(players: usize) -> Vec<[usize; 2]> {
    (0..players)
        .flat_map(|second| (0..second).map(move |first| [first, second]))
        .collect()
}

impl EngineMatch {
    /// Returns the total number of games.
    pub(crate) fn game_count(&self) -> usize {
        self.pairings.len() * self.rounds * 2
    }

    /// Returns the schedule slot of the game that has the given number. The two games of a round
    /// are consecutive. All pairings play one round from the same opening before the next round
    /// begins.
    pub(crate) fn game_slot(&self, number: usize) -> GameSlot {
        let (pair, seat) = (number / 2, Seat::ALL[number % 2]);
        GameSlot {
            pairing: pair % self.pairings.len(),
            round: pair / self.pairings.len(),
            seat,
        }
    }

    pub(crate) fn paired_game(&self, slot: GameSlot) -> PairedGame<'_> {
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

    /// Plays `threads` games in parallel and returns the score of each pairing. Calls `on_finished`
    /// with each finished game and the scores so far. If `on_finished` returns `Break` or an error,
    /// the running games are aborted.
    pub(crate) fn play(
        &self,
        threads: NonZeroUsize,
        stop: &Stop,
        mut on_finished: impl FnMut(FinishedGame, &[PairingScore]) -> anyhow::Result<ControlFlow<()>>,
    ) -> anyhow::Result<Vec<PairingScore>> {
        let next = AtomicUsize::new(0);
        let (sender, finished) = sync_channel(threads.get());
        let work = |sender: std::sync::mpsc::SyncSender<FinishedGame>| {
            let mut pool = PlayerPool::new(self);
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
            let mut scores = vec![PairingScore::default(); self.pairings.len()];
            let mut flow = Ok(ControlFlow::Continue(()));
            while matches!(flow, Ok(ControlFlow::Continue(()))) {
                let Ok(finished_game) = finished.recv() else {
                    break;
                };
                let FinishedGame { slot, game } = &finished_game;
                scores[slot.pairing].record_game(slot.round, slot.seat, game);
                flow = on_finished(finished_game, &scores);
            }
            stop.stop();
            drop(finished);
            flow.map(|_| scores)
        })
    }

    /// Returns the results of each pairing, to which ratings can be fitted.
    pub(crate) fn pairing_results(&self, scores: &[PairingScore]) -> Vec<Pairing> {
        let pairings = self.pairings.iter().zip(scores);
        pairings
            .map(|(&players, score)| Pairing {
                players,
                tally: score.tally,
            })
            .collect()
    }
}
