//! Points of fixed handicap stones on a 9x9 board, as the GTP specification defines them.

/// Corner points, in the order in which they receive handicap stones. The first two corners are
/// diagonally opposite.
const CORNERS: [&str; 4] = ["C3", "G7", "C7", "G3"];
const SIDE_MIDDLES: [&str; 4] = ["C5", "G5", "E3", "E7"];
const CENTRE: &str = "E5";

/// Returns the points for `count` stones, or `None` if `count` is not in 2..=9.
pub(super) fn handicap_points(count: usize) -> Option<Vec<&'static str>> {
    if !(2..=9).contains(&count) {
        return None;
    }
    let mut points = CORNERS[..count.min(4)].to_vec();
    // Six or seven stones include the middle points of two opposite sides. Eight or nine stones
    // include the middle points of all four sides.
    let sides = count.saturating_sub(4) / 2 * 2;
    points.extend(&SIDE_MIDDLES[..sides]);
    if count > 4 && !count.is_multiple_of(2) {
        points.push(CENTRE);
    }
    Some(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// GNU Go uses the same points, in a different order.
    #[test]
    fn fixed_handicap_points_match_the_protocol() {
        for (count, expected) in [
            (2, "C3 G7"),
            (3, "C3 C7 G7"),
            (4, "C3 C7 G3 G7"),
            (5, "C3 C7 E5 G3 G7"),
            (6, "C3 C5 C7 G3 G5 G7"),
            (7, "C3 C5 C7 E5 G3 G5 G7"),
            (8, "C3 C5 C7 E3 E7 G3 G5 G7"),
            (9, "C3 C5 C7 E3 E5 E7 G3 G5 G7"),
        ] {
            let mut points = handicap_points(count).expect("a handicap");
            points.sort_unstable();
            assert_eq!(points.join(" "), expected);
        }
        assert_eq!((handicap_points(1), handicap_points(10)), (None, None));
    }
}
