//! Which move is meant by the squares that were picked on the board. Knows the legal moves, no rules.

use crate::customs::Customs;
use crate::view::{Square, move_squares};

/// What picking one more square comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// These squares are picked now, and it takes more of them.
    Path(Vec<Square>),
    /// That is this move.
    Move(String),
    /// That is one of these moves: a pawn becomes one piece or another.
    OneOf(Vec<String>),
    /// No move goes there.
    Nothing,
}

/// Picks one more square after those of `path`.
pub(crate) fn pick(
    customs: Customs,
    legal: &[String],
    path: &[Square],
    square: Square,
) -> Selection {
    let square = named(customs, square);
    if path.last() == Some(&square) && path.len() == 1 {
        return Selection::Path(Vec::new());
    }
    let moves: Vec<(&String, Vec<Square>)> = legal
        .iter()
        .filter_map(|m| Some((m, move_squares(customs, m)?)))
        .collect();
    let longer = [path, &[square]].concat();
    match among(&moves, &longer) {
        Selection::Nothing if path.is_empty() => Selection::Nothing,
        // Where a capture ends is enough, if only one ends there.
        Selection::Nothing => match leap(&moves, path, square) {
            Some(m) => Selection::Move(m),
            None => among(&moves, &[square]),
        },
        picked => picked,
    }
}

/// Where the next square may be, after those of `path`; nothing before the first.
pub(crate) fn targets(customs: Customs, legal: &[String], path: &[Square]) -> Vec<Square> {
    if path.is_empty() {
        return Vec::new();
    }
    let moves = legal.iter().filter_map(|m| move_squares(customs, m));
    let next = moves.filter(|squares| squares.starts_with(path));
    next.filter_map(|squares| squares.get(path.len()).copied())
        .collect()
}

fn among(moves: &[(&String, Vec<Square>)], path: &[Square]) -> Selection {
    let begin: Vec<_> = moves
        .iter()
        .filter(|(_, squares)| squares.starts_with(path))
        .collect();
    let whole: Vec<String> = begin
        .iter()
        .filter(|(_, squares)| squares.len() == path.len())
        .map(|(m, _)| (*m).clone())
        .collect();
    match (begin.as_slice(), whole.as_slice()) {
        ([], _) => Selection::Nothing,
        (_, [m]) => Selection::Move(m.clone()),
        // With two squares picked the rest is known, if there is one way only.
        ([(m, _)], []) if path.len() > 1 => Selection::Move((*m).clone()),
        (_, []) => Selection::Path(path.to_vec()),
        _ => Selection::OneOf(whole),
    }
}

/// The one move that goes on from `path` and ends on this square.
fn leap(moves: &[(&String, Vec<Square>)], path: &[Square], square: Square) -> Option<String> {
    let mut ends = moves
        .iter()
        .filter(|(_, squares)| squares.starts_with(path) && squares.last() == Some(&square));
    let (m, _) = ends.next()?;
    ends.next().is_none().then(|| (*m).clone())
}

/// The square by which moves name what was picked: in a game of files any square of one.
const fn named(customs: Customs, (file, rank): Square) -> Square {
    match customs {
        Customs::ConnectFour => (file, 0),
        Customs::TicTacToe
        | Customs::Othello
        | Customs::Draughts
        | Customs::Chess
        | Customs::Gomoku
        | Customs::Go
        | Customs::Other => (file, rank),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal(moves: &str) -> Vec<String> {
        moves.split(' ').map(str::to_owned).collect()
    }

    fn played(m: &str) -> Selection {
        Selection::Move(m.to_owned())
    }

    #[test]
    fn one_square_is_a_move_where_pieces_are_put() {
        for (customs, moves, square, m) in [
            (Customs::TicTacToe, "a1 b2", (1, 1), "b2"),
            (Customs::ConnectFour, "1 4", (3, 5), "4"),
            (Customs::Othello, "d3 c4", (3, 2), "d3"),
            (Customs::Gomoku, "h8 a15", (0, 14), "a15"),
            (Customs::Go, "pass J9", (8, 8), "J9"),
        ] {
            let picked = pick(customs, &legal(moves), &[], square);
            assert_eq!(picked, played(m), "{customs:?}");
            let elsewhere = pick(customs, &legal(moves), &[], (6, 6));
            assert_eq!(elsewhere, Selection::Nothing, "{customs:?}");
        }
    }

    #[test]
    fn a_piece_is_picked_up_put_back_and_put_down() {
        let moves = legal("e2e3 e2e4 g1f3");
        let up = pick(Customs::Chess, &moves, &[], (4, 1));
        assert_eq!(up, Selection::Path(vec![(4, 1)]));
        let targets = targets(Customs::Chess, &moves, &[(4, 1)]);
        assert_eq!(targets, [(4, 2), (4, 3)]);
        let pick = |square| pick(Customs::Chess, &moves, &[(4, 1)], square);
        assert_eq!(pick((4, 3)), played("e2e4"));
        assert_eq!(pick((4, 1)), Selection::Path(Vec::new()));
        // Another piece of one's own instead.
        assert_eq!(pick((6, 0)), Selection::Path(vec![(6, 0)]));
        assert_eq!(pick((0, 6)), Selection::Nothing);
    }

    #[test]
    fn what_a_pawn_becomes_is_asked() {
        let moves = legal("e7e8q e7e8r e7e8b e7e8n");
        let picked = pick(Customs::Chess, &moves, &[(4, 6)], (4, 7));
        assert_eq!(picked, Selection::OneOf(moves));
    }

    /// 1 is g1, 6 is f2, 10 is e3, 15 is d4.
    #[test]
    fn draughts_are_moved_by_their_squares() {
        let moves = legal("22x15x8 22x15x6 22x17x10 21x14");
        let (from, fifteen) = (move_squares(Customs::Draughts, "22-15").unwrap()[0], 15);
        let at = |number: usize| move_squares(Customs::Draughts, &number.to_string()).unwrap()[0];
        let pick = |path: &[Square], square| pick(Customs::Draughts, &moves, path, square);
        assert_eq!(pick(&[], from), Selection::Path(vec![from]));
        // Two captures go this way, so the last square is wanted, too.
        let way = vec![from, at(fifteen)];
        assert_eq!(pick(&[from], at(fifteen)), Selection::Path(way.clone()));
        assert_eq!(pick(&way, at(6)), played("22x15x6"));
        // Where only one goes this way, or ends there, that is enough.
        assert_eq!(pick(&[from], at(17)), played("22x17x10"));
        assert_eq!(pick(&[from], at(8)), played("22x15x8"));
        assert_eq!(pick(&[at(21)], at(14)), played("21x14"));
    }
}
