//! What is known by heart of endings with at most four pieces: who wins, and how a win that takes long comes
//! nearer.
//!
//! The file beside this one is made by `tests/endings/make_endgame_table.rs`, by retrograde analysis (Thompson,
//! "Retrograde analysis of certain endgames", 1986; Schaeffer et al., "A world championship caliber checkers
//! program", 1992, on draughts). It begins with a digit to the base of three for each number of an ending,
//! five in a byte, the first the lowest: 0 for a draw, and where no ending has the number, 1 for a loss of the
//! side to move and 2 for a win. After them comes for each long ending how many plies a loser can hold out
//! until a piece is captured or a man is crowned, in steps of five plies, at most 15 of them: two in a byte,
//! the first the lower. Nothing of it minds draws by forty moves or by repetition.

use std::cmp::Ordering;

use crate::game::draughts::Draughts;

static ENDGAME_TABLE: &[u8] = include_bytes!("endings.table");

/// How many endings share a byte.
const OUTCOMES_PER_BYTE: u32 = 5;

/// How the game ends with best play, for the side to move, if there are few enough pieces.
pub(super) fn probe_outcome(pos: &Draughts) -> Option<Ordering> {
    let number = pos.endgame_number()?;
    let byte = ENDGAME_TABLE[(number / OUTCOMES_PER_BYTE) as usize];
    Some(match byte / 3_u8.pow(number % OUTCOMES_PER_BYTE) % 3 {
        0 => Ordering::Equal,
        1 => Ordering::Less,
        _ => Ordering::Greater,
    })
}

/// For how long the side to move, which loses, can hold out in an ending that takes long; else 0.
pub(super) fn resistance_steps(pos: &Draughts) -> u8 {
    let Some(number) = pos.endgame_number() else {
        return 0;
    };
    let mut first_byte = Draughts::ENDGAME_COUNT.div_ceil(OUTCOMES_PER_BYTE);
    for numbers in Draughts::LONG_ENDGAMES {
        if numbers.contains(&number) {
            let index = number - numbers.start;
            return ENDGAME_TABLE[(first_byte + index / 2) as usize] >> (4 * (index % 2)) & 15;
        }
        first_byte += (numbers.end - numbers.start).div_ceil(2);
    }
    0
}
