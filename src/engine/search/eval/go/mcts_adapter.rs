//! Go board for Monte Carlo tree search. The heuristics and weights follow michi (Baudiš, "Michi",
//! 2015), which took most of them from Pachi and MoGo.

use super::BoardAnalysis;
use super::move_priors::MovePriors;
use super::playout_policy::{choose_playout_move, is_eye};
use crate::game::go::bitboard::Bitboard;
use crate::game::go::incremental_board::{BIT_COUNT, Board, PASS};
use crate::game::go::{Go, KOMI, Move};
use crate::game::{GameHistory, Seat};
use crate::search::StoneFate;
use crate::search::mcts;
use crate::search::mcts::{Candidate, FirstPlays, PlayoutResult};
use crate::search::seeded_rng::SeededRng;

/// Maximum number of plies in a playout, divided by the number of points on the board. The limit
/// stops playouts in which a ko would go on forever.
const PLAYOUT_PLIES_PER_POINT: u32 = 3;

/// Weight of the point margin in a playout result. The margin gives the bot a goal even if the game
/// is already won or lost.
const POINTS_WEIGHT: f32 = 0.04;

impl<const N: u8> mcts::PlayoutBoard<Go<N>> for Board<N> {
    fn from_history(history: &GameHistory<Go<N>>) -> Self {
        Self::from_position(history.position(), history.last_move())
    }

    fn turn(&self) -> Seat {
        self.turn()
    }

    fn playout_result(&self) -> Option<PlayoutResult> {
        self.is_over().then(|| playout_result(self))
    }

    fn key(&self) -> u64 {
        self.repetition_key()
    }

    fn list_candidates(&self, previous_keys: &[u64], moves: &mut Vec<Candidate>) {
        let priors = MovePriors::from_board(self);
        let is_not_repetition = |bit: u8| !previous_keys.contains(&self.repetition_key_after(bit));
        let playable = (self.empty() & !safe_eyes(self))
            .filter(|bit| self.is_legal(*bit) && is_not_repetition(*bit));
        moves.extend(playable.map(|bit| priors.candidate_with_prior(self, bit)));
        if moves.is_empty() || !is_behind(self) {
            moves.push(MovePriors::<N>::PASS_PRIOR);
        }
    }

    fn filter_root_candidates(&self, history: &GameHistory<Go<N>>, moves: &mut Vec<Candidate>) {
        let pos = history.position();
        let useless_points = BoardAnalysis::from_position(pos).useless_points();
        moves.retain(|candidate| !useless_points.has(candidate.m));
        // If no play is better than a pass, the side to move must pass, even if the pass loses the
        // game.
        if moves.is_empty() {
            moves.push(MovePriors::<N>::PASS_PRIOR);
        }
    }

    fn game_ending_move(&self) -> Option<u8> {
        (!is_behind(self) && is_fully_owned(self)).then_some(PASS)
    }

    fn play(&mut self, m: u8) {
        if m == PASS {
            self.pass();
        } else {
            self.play(m);
        }
    }

    fn run_playout(&mut self, rng: &mut SeededRng, first_plays: &mut FirstPlays) -> PlayoutResult {
        let plies_max = PLAYOUT_PLIES_PER_POINT * Bitboard::<N>::ALL.len();
        for _ in 0..plies_max {
            if self.is_over() {
                break;
            }
            match choose_playout_move(self, rng) {
                Some(bit) => {
                    first_plays.record(self.turn(), bit);
                    self.play(bit);
                }
                None => self.pass(),
            }
        }
        playout_result(self)
    }

    fn move_from_index(m: u8) -> Move<N> {
        if m == PASS {
            Move::Pass
        } else {
            Move::from_bit_index(m)
        }
    }
}

/// Estimates the fate of each stone by playouts. The estimate is the share of playouts where the
/// stone's point ends in its owner's area.
pub(super) fn estimate_stone_fates<const N: u8>(
    history: &GameHistory<Go<N>>,
    playouts: u32,
) -> Vec<StoneFate> {
    let board = <Board<N> as mcts::PlayoutBoard<Go<N>>>::from_history(history);
    let mut rng = SeededRng::new(0, &history.position().to_string());
    let mut owned_counts = [0; BIT_COUNT];
    for _ in 0..playouts {
        let mut end = board;
        mcts::PlayoutBoard::<Go<N>>::run_playout(&mut end, &mut rng, &mut FirstPlays::default());
        for (stones, area) in Seat::ALL
            .map(|seat| board.stones(seat))
            .into_iter()
            .zip(end.areas())
        {
            for bit in stones & area {
                owned_counts[usize::from(bit)] += 1;
            }
        }
    }
    let fates = Seat::ALL.into_iter().flat_map(|seat| {
        board.stones(seat).map(move |bit| StoneFate {
            point: bit,
            seat,
            owned_per_mille: owned_counts[usize::from(bit)] * 1000 / playouts.max(1),
        })
    });
    fates.collect()
}

/// Returns Black's lead in points, after komi, if the board is scored now.
fn point_lead<const N: u8>(board: &Board<N>) -> i32 {
    let [black, white] = board.areas().map(|area| area.len().cast_signed());
    black - white - KOMI.cast_signed()
}

/// Scores the board and returns the result for Black.
fn playout_result<const N: u8>(board: &Board<N>) -> PlayoutResult {
    let (lead_of_black, points_max) = (point_lead(board), Bitboard::<N>::ALL.len() + KOMI);
    let game_result = match lead_of_black.signum() {
        1 => 1.0,
        0 => 0.5,
        _ => 0.0,
    };
    let points_share = 0.5 + lead_of_black as f32 / (2 * points_max) as f32;
    PlayoutResult {
        win_share: game_result + POINTS_WEIGHT * (points_share - game_result),
        point_margin: lead_of_black,
    }
}

/// Returns whether the side to move loses if the board is scored now. A losing side must not pass,
/// because the opponent could end the game by passing, too.
fn is_behind<const N: u8>(board: &Board<N>) -> bool {
    board.turn().sign() * point_lead(board) < 0
}

/// Returns whether every empty point belongs to the area of one side.
fn is_fully_owned<const N: u8>(board: &Board<N>) -> bool {
    let [black, white] = board.areas();
    board.empty() == board.empty() & (black | white)
}

/// Returns the eyes of the side to move that border no chain in atari. Filling such an eye is never
/// good.
fn safe_eyes<const N: u8>(board: &Board<N>) -> Bitboard<N> {
    let mut eyes = Bitboard::EMPTY;
    for bit in board.empty() {
        let is_safe = |bit: u8| !board.chain(bit).liberties.is_single();
        if is_eye(board, bit) && Board::<N>::neighbours(bit).all(is_safe) {
            eyes |= Bitboard::from_bit_index(bit);
        }
    }
    eyes
}

#[cfg(test)]
mod tests;
