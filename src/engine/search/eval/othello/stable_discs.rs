//! Finds discs that can never be flipped.

const A_FILE: u64 = 0x0101_0101_0101_0101;
const SIDES: u64 = A_FILE | A_FILE << 7;
const ENDS: u64 = 0xff00_0000_0000_00ff;

/// Direction of lines on the board: along ranks, files, or one of the two diagonals.
struct Line {
    /// Difference between the bit indices of adjacent squares.
    bit_step: u32,
    /// First and last squares of all lines in this direction.
    edge: u64,
    /// Squares from which a step to a higher bit index along the line does not wrap around a side
    /// of the board. The three sets are for steps of length one, two and four.
    up: [u64; 3],
    /// Squares from which a step to a lower bit index along the line does not wrap around a side of
    /// the board. The three sets are for steps of length one, two and four.
    down: [u64; 3],
}

/// Squares where a step to the right stays on the board, for steps of length one, two and four.
const RIGHTWARDS: [u64; 3] = [A_FILE * 0x7f, A_FILE * 0x3f, A_FILE * 0x0f];

/// Squares where a step to the left stays on the board, for steps of length one, two and four.
const LEFTWARDS: [u64; 3] = [A_FILE * 0xfe, A_FILE * 0xfc, A_FILE * 0xf0];

const LINES: [Line; 4] = [
    Line::new(1, SIDES, RIGHTWARDS, LEFTWARDS),
    Line::new(8, ENDS, [u64::MAX; 3], [u64::MAX; 3]),
    Line::new(9, SIDES | ENDS, RIGHTWARDS, LEFTWARDS),
    Line::new(7, SIDES | ENDS, LEFTWARDS, RIGHTWARDS),
];

/// Returns discs of `own` that can never be flipped. Every line through such a disc is full, or has
/// the edge or another such disc on one side of it. The function may miss some stable discs.
///
/// Shifts wrap around the sides of the board. Wrapped bits are harmless: they fall on edge squares,
/// which already count as safe along that line.
pub(super) fn stable_discs(own: u64, other: u64) -> u64 {
    let safe_squares = LINES.map(|line| line.edge | line.squares_on_full_lines(own | other));
    let mut stable = 0;
    loop {
        let lines = LINES.iter().zip(safe_squares);
        let safe = lines.fold(own, |safe, (line, edge)| {
            safe & (edge | stable << line.bit_step | stable >> line.bit_step)
        });
        if safe == stable {
            return stable;
        }
        stable = safe;
    }
}

impl Line {
    const fn new(bit_step: u32, edge: u64, up: [u64; 3], down: [u64; 3]) -> Self {
        Self {
            bit_step,
            edge,
            up,
            down,
        }
    }

    /// Returns the squares on lines of this direction that have no empty square.
    fn squares_on_full_lines(&self, discs: u64) -> u64 {
        // Spreads each empty square along its line in steps of one, two and four.
        let mut gaps = !discs;
        for (steps, from) in [1, 2, 4].into_iter().zip(self.up) {
            gaps |= (gaps & from) << (self.bit_step * steps);
        }
        for (steps, from) in [1, 2, 4].into_iter().zip(self.down) {
            gaps |= (gaps & from) >> (self.bit_step * steps);
        }
        !gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Position;
    use crate::game::conformance::random_game;
    use crate::game::othello::Othello;

    #[test]
    fn corners_and_full_lines_make_discs_stable() {
        assert_eq!(stable_discs(0, 0), 0);
        // Three adjacent discs extend from the corner, so they are stable. The fourth disc is not
        // stable, because an empty square separates it from these three discs.
        assert_eq!(stable_discs(0b1_0111, 0), 0b0111);
        // On a full board, all discs are stable.
        assert_eq!(stable_discs(0x00ff_ff00, !0x00ff_ff00), 0x00ff_ff00);
        // Only one corner of the board is empty. The own disc on the long diagonal of that corner
        // can be flipped, so only the other own disc is stable.
        let own = 1 << 35 | 1 << 27;
        let stable = stable_discs(own, !(own | 1 << 63));
        assert_eq!(stable, 1 << 35);
    }

    #[test]
    fn stable_discs_are_never_flipped() {
        let mut checked = 0;
        for seed in 0..300 {
            let positions = random_game::<Othello>(seed).0;
            let mut stable_before = [0; 2];
            for pos in &positions {
                let (own, other) = (pos.turn().index(), pos.turn().other().index());
                let discs = pos.discs();
                assert_eq!(stable_before[own] & !discs[0], 0, "{pos}");
                assert_eq!(stable_before[other] & !discs[1], 0, "{pos}");
                stable_before[own] |= stable_discs(discs[0], discs[1]);
                stable_before[other] |= stable_discs(discs[1], discs[0]);
                checked += stable_before[own].count_ones();
            }
        }
        assert!(checked > 10_000, "{checked}");
    }
}
