//! Endgame table for positions with at most four pieces. The table holds the outcome of each
//! endgame. For long endgames, it also holds how long the loser can resist.
//!
//! `tests/endings/make_endgame_table.rs` creates the table file by retrograde analysis (Thompson,
//! "Retrograde analysis of certain endgames", 1986; Schaeffer et al., "A world championship caliber
//! checkers program", 1992, on draughts). The file begins with the outcomes, one ternary digit for
//! each endgame number. An endgame number identifies a position. Each byte holds five digits, the
//! first digit lowest. A digit is 1 for a loss of the side to move and 2 for a win. A digit is 0
//! for a draw. It is also 0 if no position has this endgame number.
//!
//! After the outcomes, the file holds the resistance values of the long endgames. Each byte holds
//! two resistance values, the first one in the lower four bits. The resistance is the number of
//! plies by which the loser can delay the next capture or promotion. Resistance is stored in steps
//! of five plies, at most 15 steps. The table ignores draws by the forty-move rule and by
//! repetition.

use std::cmp::Ordering;

use crate::game::draughts::Draughts;

static ENDGAME_TABLE: &[u8] = include_bytes!("endings.table");

/// Number of outcomes stored in a byte.
const OUTCOMES_PER_BYTE: u32 = 5;

/// Returns the outcome with best play for the side to move. Returns `None` if the table does not
/// cover the position.
pub(super) fn probe_outcome(pos: &Draughts) -> Option<Ordering> {
    let number = pos.endgame_number()?;
    let byte = ENDGAME_TABLE[(number / OUTCOMES_PER_BYTE) as usize];
    Some(match byte / 3_u8.pow(number % OUTCOMES_PER_BYTE) % 3 {
        0 => Ordering::Equal,
        1 => Ordering::Less,
        _ => Ordering::Greater,
    })
}

/// Returns how long the losing side to move can resist in a long endgame, in steps of five plies.
/// Returns 0 for all other positions.
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
