//! Shapes of nine points in whose middle a stone is often good: to bend around a stone, to cut, to
//! prevent a cut, and their like on the edge. They are those of MoGo (Gelly, Wang, Munos and Teytaud,
//! "Modification of UCT with patterns in Monte-Carlo Go", 2006), with those that michi added (Baudiš,
//! 2015).

use std::sync::LazyLock;

use crate::game::go::board::OFF_BOARD;

/// A row each, from the top, without regard to how the shape is turned, mirrored or coloured: X and O
/// are the two sides, x and o anything but theirs, ? anything, # what is beyond the edge.
const PATTERNS: [[&[u8; 3]; 3]; 13] = [
    [b"XOX", b"...", b"???"], // bend, closed
    [b"XO.", b"...", b"?.?"], // bend, open
    [b"XO?", b"X..", b"x.?"], // bend in front of a wall
    [b".O.", b"X..", b"..."], // diagonal contact
    [b"XO?", b"O.o", b"?o?"], // cut
    [b"XO?", b"O.X", b"???"], // cut, peeped at
    [b"?X?", b"O.O", b"ooo"], // cut between two
    [b"OX?", b"o.O", b"???"], // cut a knight's move
    [b"X.?", b"O.?", b"##?"], // chase along the edge
    [b"OX?", b"X.O", b"###"], // prevent a cut on the edge
    [b"?X?", b"x.O", b"###"], // prevent a connection on the edge
    [b"?XO", b"x.x", b"###"], // descend to the edge
    [b"?OX", b"X.O", b"###"], // cut on the edge
];

/// Whether the surroundings of an empty point, as a board tells them, are one of the shapes.
pub(super) fn matches_pattern(surroundings: u16) -> bool {
    let (word, bit) = (usize::from(surroundings) / 64, surroundings % 64);
    PATTERN_SET[word] >> bit & 1 != 0
}

/// A bit for all surroundings that there may be.
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

/// The points around the middle.
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

/// What may lie on a point of a shape.
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

/// Adds all surroundings of the shape that begin so, up to this place.
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
    use crate::game::go::board::Board;
    use crate::game::go::{Go, Move};

    /// The points that are the middle of a shape, as moves.
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
        // Diagonal contact: both may bend, and neither elsewhere.
        let contact = pattern_points("..... ..... .bw.. ..... .....", 2);
        assert_eq!(contact, ["B2", "C2", "B4", "C4"]);
        let rotated_contact = pattern_points("..... ..b.. ..w.. ..... .....", 2);
        assert_eq!(rotated_contact, ["B3", "D3", "B4", "D4"]);
        let swapped = pattern_points("..... .wb.. ..... ..... .....", 2);
        assert_eq!(swapped, ["B3", "C3", "B5", "C5"]);
        assert!(pattern_points("..... ..... ..b.. ..... .....", 1).is_empty());
    }
}
