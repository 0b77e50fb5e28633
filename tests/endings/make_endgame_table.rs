//! Generates the endgame table of draughts by retrograde analysis. To run the generator: `cargo run
//! --release --example make_endings > FILE`. The program needs some minutes, and every run
//! generates the same table.
//!
//! The content of the table depends only on the rules of draughts. For each endgame with at most
//! four pieces, the table contains the result for the side to move: win, draw or loss. A win may
//! take any number of plies.
//!
//! For some lost endgames, the table also contains the approximate number of plies before a piece
//! is captured or a man is crowned. In the endgames with a number of plies, the side to move has a
//! king, or a king and a man, against two kings. `src/engine/search/eval/draughts/endgame_table.rs`
//! describes the format.

use std::collections::BTreeMap;
use std::io::Write;

use plyhouse_engine::game::draughts::Draughts;
use plyhouse_engine::game::{Position, Seat};

/// Numbers that encode an endgame's result in the table. Some endgame numbers represent no
/// position. The table contains `DRAW` for these numbers.
const DRAW: u8 = 0;
const LOSS: u8 = 1;
const WIN: u8 = 2;

/// Number of endgame results per byte. Each result is a digit in base 3, and the first result is
/// the lowest digit.
const OUTCOMES_PER_BYTE: usize = 5;

/// Number of plies per unit of distance in the table. For example, 12 plies are stored as 2 units.
const PLIES_PER_STEP: u32 = 5;

fn main() -> std::io::Result<()> {
    let mut families = BTreeMap::<_, Vec<u32>>::new();
    for number in 0..Draughts::ENDGAME_COUNT {
        if let Some(pos) = Draughts::from_endgame_number(number) {
            families
                .entry(material_class(&pos))
                .or_default()
                .push(number);
        }
    }
    // The material classes are sorted so that the endgames after a capture or a crowning are solved
    // first.
    let mut outcomes = vec![DRAW; Draughts::ENDGAME_COUNT as usize];
    let mut plies = vec![0; Draughts::ENDGAME_COUNT as usize];
    for (counts, unsolved) in families {
        let max_plies = solve_class(unsolved, &mut outcomes, &mut plies);
        eprintln!("{counts:?}: {max_plies} plies at most");
    }

    let mut out = std::io::stdout().lock();
    for digits in outcomes.chunks(OUTCOMES_PER_BYTE) {
        let byte = digits.iter().rev().fold(0, |byte, digit| byte * 3 + digit);
        out.write_all(&[byte])?;
    }
    for family in Draughts::LONG_ENDGAMES {
        let steps = family.map(|number| {
            let plies: u32 = plies[number as usize];
            u8::try_from((plies / PLIES_PER_STEP).min(15)).expect("at most 15")
        });
        let steps: Vec<_> = steps.collect();
        for pair in steps.chunks(2) {
            out.write_all(&[pair[0] | pair.get(1).unwrap_or(&0) << 4])?;
        }
    }
    out.flush()
}

/// Returns the material class of a position: the number of pieces, the number of men, and the
/// sorted piece counts of both sides. The class changes only if a piece is captured or a man is
/// crowned.
fn material_class(pos: &Draughts) -> (u32, u32, [[u32; 2]; 2]) {
    let mut sides = Seat::ALL.map(|seat| pos.piece_counts(seat));
    sides.sort_unstable();
    let [men, kings] = [0, 1].map(|kind| sides[0][kind] + sides[1][kind]);
    (men + kings, men, sides)
}

/// Solves the endgames of a material class. Every move leads to another endgame of the class, to a
/// solved endgame, or to the end of the game.
///
/// The function also stores the number of the round that solves each endgame. The round number
/// equals the number of plies before a capture, a crowning or the end of the game. Returns the
/// number of rounds.
fn solve_class(mut unsolved: Vec<u32>, outcomes: &mut [u8], plies: &mut [u32]) -> u32 {
    let mut moves = Vec::new();
    for round in 0.. {
        let mut solved = Vec::new();
        unsolved.retain(|number| {
            let value = outcome_of(*number, outcomes, &mut moves);
            if value != DRAW {
                solved.push((*number, value));
            }
            value == DRAW
        });
        if solved.is_empty() {
            return round;
        }
        for (number, value) in solved {
            outcomes[number as usize] = value;
            plies[number as usize] = round;
        }
    }
    unreachable!("every round solves an endgame")
}

/// Returns the result of an endgame. The function derives the result from the known results of the
/// positions after each legal move.
fn outcome_of(number: u32, outcomes: &[u8], moves: &mut Vec<<Draughts as Position>::Move>) -> u8 {
    let pos = Draughts::from_endgame_number(number).expect("valid endgame number");
    moves.clear();
    pos.legal_moves(moves);
    let mut outcome = LOSS;
    for m in moves.drain(..) {
        // A position has no endgame number if the side to move has lost all its pieces. Such a
        // position is a loss.
        let after = pos.after(m).endgame_number();
        match after.map_or(LOSS, |after| outcomes[after as usize]) {
            LOSS => return WIN,
            DRAW => outcome = DRAW,
            _ => {}
        }
    }
    outcome
}
