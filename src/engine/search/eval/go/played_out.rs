//! Go as the tree search plays it. What it knows, and how much that weighs, is what michi knows (Baudiš,
//! "Michi", 2015), which has most of it from Pachi and MoGo.

use super::Shape;
use super::playout::{drawn, is_eye};
use super::thoughts::Thoughts;
use crate::game::go::bitboard::Bitboard;
use crate::game::go::board::{BIT_COUNT, Board, PASS};
use crate::game::go::{Go, KOMI, Move};
use crate::game::{GameHistory, Seat};
use crate::search::chance::Chance;
use crate::search::tree::{self, Candidate, First, Played};
use crate::search::{Fate, Level, TreeStrength};

/// A playout is given up after so many plies a point: then there is a ko that nobody wins.
const PLIES_A_POINT: u32 = 3;

/// How much the points count beside the result, so that also who has won or lost already plays for them.
const POINTS: f32 = 0.04;

/// What makes a level.
#[rustfmt::skip] // A table is read by columns.
pub(super) const fn strength(level: Level) -> TreeStrength {
    match level {
        Level::Beginner => TreeStrength { playouts: Some(50),   varies: true },
        Level::Easy     => TreeStrength { playouts: Some(200),  varies: false },
        Level::Medium   => TreeStrength { playouts: Some(800),  varies: false },
        Level::Hard     => TreeStrength { playouts: Some(3000), varies: false },
        Level::Max      => TreeStrength { playouts: None,       varies: false },
    }
}

impl<const N: u8> tree::Board<Go<N>> for Board<N> {
    fn set_up(course: &GameHistory<Go<N>>) -> Self {
        Self::from_position(course.position(), course.last_move())
    }

    fn turn(&self) -> Seat {
        self.turn()
    }

    fn result(&self) -> Option<Played> {
        self.is_over().then(|| played(self))
    }

    fn key(&self) -> u64 {
        self.repetition_key()
    }

    fn candidates(&self, seen: &[u64], moves: &mut Vec<Candidate>) {
        let thoughts = Thoughts::of(self);
        let may_follow = |bit: u8| !seen.contains(&self.repetition_key_after(bit));
        let playable =
            (self.empty() & !safe_eyes(self)).filter(|bit| self.is_legal(*bit) && may_follow(*bit));
        moves.extend(playable.map(|bit| thoughts.candidate(self, bit)));
        if moves.is_empty() || !is_behind(self) {
            moves.push(Thoughts::<N>::OF_A_PASS);
        }
    }

    fn sift(&self, course: &GameHistory<Go<N>>, moves: &mut Vec<Candidate>) {
        let pos = course.position();
        let useless = Shape::of(pos).useless();
        moves.retain(|candidate| !useless.has(candidate.m));
        // Who has nothing better to do passes, even if that loses.
        if moves.is_empty() {
            moves.push(Thoughts::<N>::OF_A_PASS);
        }
    }

    fn last_move(&self) -> Option<u8> {
        (!is_behind(self) && is_divided(self)).then_some(PASS)
    }

    fn play(&mut self, m: u8) {
        if m == PASS {
            self.pass();
        } else {
            self.play(m);
        }
    }

    fn play_out(&mut self, chance: &mut Chance, first: &mut First) -> Played {
        let most = PLIES_A_POINT * Bitboard::<N>::ALL.len();
        for _ in 0..most {
            if self.is_over() {
                break;
            }
            match drawn(self, chance) {
                Some(bit) => {
                    first.note(self.turn(), bit);
                    self.play(bit);
                }
                None => self.pass(),
            }
        }
        played(self)
    }

    fn named(m: u8) -> Move<N> {
        if m == PASS {
            Move::Pass
        } else {
            Move::from_bit_index(m)
        }
    }
}

/// What becomes of the stones on the board.
pub(super) fn fates<const N: u8>(course: &GameHistory<Go<N>>, playouts: u32) -> Vec<Fate> {
    let board = <Board<N> as tree::Board<Go<N>>>::set_up(course);
    let mut chance = Chance::new(0, &course.position().to_string());
    let mut kept = [0; BIT_COUNT];
    for _ in 0..playouts {
        let mut end = board;
        tree::Board::<Go<N>>::play_out(&mut end, &mut chance, &mut First::default());
        for (stones, area) in Seat::ALL
            .map(|seat| board.stones(seat))
            .into_iter()
            .zip(end.areas())
        {
            for bit in stones & area {
                kept[usize::from(bit)] += 1;
            }
        }
    }
    let fates = Seat::ALL.into_iter().flat_map(|seat| {
        board.stones(seat).map(move |bit| Fate {
            point: bit,
            seat,
            kept: kept[usize::from(bit)] * 1000 / playouts.max(1),
        })
    });
    fates.collect()
}

/// By how many points black is ahead if the game is scored as it stands.
fn lead<const N: u8>(board: &Board<N>) -> i32 {
    let [black, white] = board.areas().map(|area| area.len().cast_signed());
    black - white - KOMI.cast_signed()
}

/// What black has come to in a game that is over.
fn played<const N: u8>(board: &Board<N>) -> Played {
    let (lead, most) = (lead(board), Bitboard::<N>::ALL.len() + KOMI);
    let won = match lead.signum() {
        1 => 1.0,
        0 => 0.5,
        _ => 0.0,
    };
    let points = 0.5 + lead as f32 / (2 * most) as f32;
    Played {
        won: won + POINTS * (points - won),
        points: lead,
    }
}

/// Whether the side to move loses if the game is scored as it stands. Then a pass cannot help it: the
/// other side would pass, too.
fn is_behind<const N: u8>(board: &Board<N>) -> bool {
    match board.turn() {
        Seat::First => lead(board) < 0,
        Seat::Second => lead(board) > 0,
    }
}

/// Whether every empty point is one side's.
fn is_divided<const N: u8>(board: &Board<N>) -> bool {
    let [black, white] = board.areas();
    board.empty() == board.empty() & (black | white)
}

/// The eyes of the side to move none of whose chains is in atari: to fill one is never good.
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
