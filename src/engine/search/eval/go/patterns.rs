//! Patterns of three by three points with a good move in the centre. Examples are bending around a
//! stone (hane), cutting, and preventing a cut. The patterns come from MoGo (Gelly, Wang, Munos and
//! Teytaud, "Modification of UCT with patterns in Monte-Carlo Go", 2006), with additions from michi
//! (Baudiš, 2015).

use std::sync::LazyLock;

use crate::game::go::incremental_board::OFF_BOARD;

/// Patterns, each given by its three rows from top to bottom. A pattern also matches when it is
/// rotated, mirrored, or has its colours exchanged. X and O are the two sides, x is anything but X,
/// and o is anything but O. A dot is an empty point, ? is anything, and # is a point beyond the
/// edge.
const PATTERNS: [[&[u8; 3]; 3]; 13] = [
    [b"XOX", b"...", b"???"], // Enclosing hane.
    [b"XO.", b"...", b"?.?"], // Open hane.
    [b"XO?", b"X..", b"x.?"], // Hane in front of a wall.
    [b".O.", b"X..", b"..."], // Diagonal contact.
    [b"XO?", b"O.o", b"?o?"], // Unprotected cut.
    [b"XO?", b"O.X", b"???"], // Cut at a point where a stone already threatens to cut (peep).
    [b"?X?", b"O.O", b"ooo"], // Cut between two stones.
    [b"OX?", b"o.O", b"???"], // Cut through a knight's move.
    [b"X.?", b"O.?", b"##?"], // Chase along the edge.
    [b"OX?", b"X.O", b"###"], // Prevention of a cut on the edge.
    [b"?X?", b"x.O", b"###"], // Prevention of a connection on the edge.
    [b"?XO", b"x.x", b"###"], // Descent to the edge.
    [b"?OX", b"X.O", b"###"], // Cut on the edge.
];

/// Returns whether the surroundings of an empty point match a pattern. `surroundings` is encoded as
/// in `Board::neighbourhood`.
pub(super) fn matches_pattern(surroundings: u16) -> bool {
    let (word, bit) = (usize::from(surroundings) / 64, surroundings % 64);
    PATTERN_SET[word] >> bit & 1 != 0
}

/// Set of all encoded surroundings that match a pattern, stored as one bit for each possible
/// encoding.
static PATTERN_SET: LazyLock<Box<[u64]>> = LazyLock::new(|| {
    let mut set = vec![0; (1 << 16) / 64].into_boxed_slice();
    for shape in PATTERNS {
        let mut oriented = outer_cells(shape);
        for _ in 0..2 {
            for _ in 0..4 {
                add_matches(&mut set, &oriented, 0, 0);
                add_matches(&mut set, &oriented.map(swap_colors), 0, 0);
                oriented = rotate(oriented);
            }
            oriented = mirror(oriented);
        }
    }
    set
});

/// Returns the cells of a pattern without its centre, in row order.
fn outer_cells(shape: [&[u8; 3]; 3]) -> [u8; 8] {
    let [[a, b, c], [d, _, e], [f, g, h]] = shape.map(|row| *row);
    [a, b, c, d, e, f, g, h]
}

const fn rotate([a, b, c, d, e, f, g, h]: [u8; 8]) -> [u8; 8] {
    [f, d, a, g, b, h, e, c]
}

const fn mirror([a, b, c, d, e, f, g, h]: [u8; 8]) -> [u8; 8] {
    [c, b, a, e, d, h, g, f]
}

const fn swap_colors(cell: u8) -> u8 {
    match cell {
        b'X' => b'O',
        b'O' => b'X',
        b'x' => b'o',
        b'o' => b'x',
        other => other,
    }
}

/// Returns all encoded contents of a board point that match a cell of a pattern.
const fn allowed_contents(cell: u8) -> &'static [u16] {
    const BLACK: u16 = 1;
    const WHITE: u16 = 2;
    match cell {
        b'.' => &[0],
        b'X' => &[BLACK],
        b'O' => &[WHITE],
        b'x' => &[0, WHITE, OFF_BOARD],
        b'o' => &[0, BLACK, OFF_BOARD],
        b'#' => &[OFF_BOARD],
        _ => &[0, BLACK, WHITE, OFF_BOARD],
    }
}

/// Adds the encodings that match the pattern and start with `prefix` to `set`. `prefix` encodes the
/// cells before `index`.
fn add_matches(set: &mut [u64], shape: &[u8; 8], index: usize, prefix: u16) {
    let Some(cell) = shape.get(index) else {
        set[usize::from(prefix) / 64] |= 1 << (prefix % 64);
        return;
    };
    for content in allowed_contents(*cell) {
        add_matches(set, shape, index + 1, prefix | content << (2 * index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::go::bitboard::Bitboard;
    use crate::game::go::incremental_board::Board;
    use crate::game::go::{Go, Move};

    /// Returns the points where a pattern matches, as moves in text form.
    fn pattern_points(rows: &str, plies: u32) -> Vec<String> {
        let turn = if plies.is_multiple_of(2) { 'b' } else { 'w' };
        let text = format!("{} {turn} 0 0 0 {plies}", rows.replace(' ', "/"));
        let pos: Go<5> = text.parse().expect(&text);
        let board = Board::from_position(&pos, None);
        let empty: Bitboard<5> = board.empty();
        let matching = empty.filter(|bit| matches_pattern(board.neighbourhood(*bit)));
        matching
            .map(|bit| Move::<5>::from_bit_index(bit).to_string())
            .collect()
    }

    #[test]
    fn patterns_match_in_any_orientation_and_color() {
        // If two stones of opposite colours are adjacent, the four hane points match.
        let contact = pattern_points("..... ..... .bw.. ..... .....", 2);
        assert_eq!(contact, ["B2", "C2", "B4", "C4"]);
        let rotated_contact = pattern_points("..... ..b.. ..w.. ..... .....", 2);
        assert_eq!(rotated_contact, ["B3", "D3", "B4", "D4"]);
        let swapped = pattern_points("..... .wb.. ..... ..... .....", 2);
        assert_eq!(swapped, ["B3", "C3", "B5", "C5"]);
        assert!(pattern_points("..... ..... ..b.. ..... .....", 1).is_empty());
    }
}
