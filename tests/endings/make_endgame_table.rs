//! Makes the table of draughts' endings: `cargo run --release --example make_endings > FILE`, by retrograde
//! analysis, in some minutes. Each run makes the same table.
//!
//! What stands in it is defined without regard to how it is found: for each ending with at most four pieces,
//! whether the side to move wins, draws or loses, however long it takes; and for the endings of two kings
//! against a king, or a king and a man, who are to move and lose, how many plies they can hold out until a
//! piece is captured or a man is crowned. The engine's `draughts/endings.rs` says how that is written.

use std::collections::BTreeMap;
use std::io::Write;

use plyhouse_engine::game::draughts::Draughts;
use plyhouse_engine::game::{Position, Seat};

/// What is known of an ending. In the file a draw stands also where no ending has the number.
const DRAW: u8 = 0;
const LOSS: u8 = 1;
const WIN: u8 = 2;

/// How many endings share a byte, each a digit to the base of three, the first the lowest.
const OUTCOMES_PER_BYTE: usize = 5;

/// So many plies are told apart by one.
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
    // What captures and crowning lead to comes before.
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

/// How many pieces there are, how many of them men, and how many of either side: where play stays until a
/// piece is captured or a man is crowned.
fn material_class(pos: &Draughts) -> (u32, u32, [[u32; 2]; 2]) {
    let mut sides = Seat::ALL.map(|seat| pos.piece_counts(seat));
    sides.sort_unstable();
    let [men, kings] = [0, 1].map(|kind| sides[0][kind] + sides[1][kind]);
    (men + kings, men, sides)
}

/// Finds out about these endings, which lead to none that is not among them and not known; and after how
/// many plies what is won leaves them, if the loser holds out. Tells the most of them.
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

/// What follows of an ending from what is known of those a ply later.
fn outcome_of(number: u32, outcomes: &[u8], moves: &mut Vec<<Draughts as Position>::Move>) -> u8 {
    let pos = Draughts::from_endgame_number(number).expect("valid endgame number");
    moves.clear();
    pos.legal_moves(moves);
    let mut outcome = LOSS;
    for m in moves.drain(..) {
        // Without pieces the other side has lost.
        let after = pos.after(m).endgame_number();
        match after.map_or(LOSS, |after| outcomes[after as usize]) {
            LOSS => return WIN,
            DRAW => outcome = DRAW,
            _ => {}
        }
    }
    outcome
}
