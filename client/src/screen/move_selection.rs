//! Maps squares picked on the board to a legal move. The mapping uses only the list of legal moves,
//! not the rules of the game.

use crate::conventions::Conventions;
use crate::view::{Square, move_squares};

/// Result of picking a square.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The user must pick more squares to complete a move. Contains the squares picked so far.
    Partial(Vec<Square>),
    /// The picked squares identify this move.
    Move(String),
    /// The picked squares match these moves, such as the promotions of a pawn.
    Ambiguous(Vec<String>),
    /// No legal move continues with the picked square.
    NoMove,
}

/// Adds `square` to `picked_squares` and searches for matching legal moves. If only one square is
/// picked, picking it again deselects it.
pub(crate) fn select_square(
    conventions: Conventions,
    legal_moves: &[String],
    picked_squares: &[Square],
    square: Square,
) -> Selection {
    // In Connect Four, a move names only a file. In the move list, it therefore leads to the first
    // square of its file.
    let square = match conventions {
        Conventions::ConnectFour => (square.0, 0),
        _ => square,
    };
    if picked_squares.last() == Some(&square) && picked_squares.len() == 1 {
        return Selection::Partial(Vec::new());
    }
    let moves: Vec<(&String, Vec<Square>)> = legal_moves
        .iter()
        .filter_map(|m| Some((m, move_squares(conventions, m)?)))
        .collect();
    let extended = [picked_squares, &[square]].concat();
    match selection_for_squares(&moves, &extended) {
        Selection::NoMove if picked_squares.is_empty() => Selection::NoMove,
        // In a capture with several jumps, the user can pick the final square directly. The capture
        // is selected only if it is the only move that ends on that square.
        Selection::NoMove => match unique_move_ending_at(&moves, picked_squares, square) {
            Some(m) => Selection::Move(m),
            None => selection_for_squares(&moves, &[square]),
        },
        picked => picked,
    }
}

/// Returns the squares that can be picked next. Returns an empty list before the first square is
/// picked.
pub(crate) fn target_squares(
    conventions: Conventions,
    legal_moves: &[String],
    picked_squares: &[Square],
) -> Vec<Square> {
    if picked_squares.is_empty() {
        return Vec::new();
    }
    let moves = legal_moves
        .iter()
        .filter_map(|m| move_squares(conventions, m));
    let next = moves.filter(|squares| squares.starts_with(picked_squares));
    next.filter_map(|squares| squares.get(picked_squares.len()).copied())
        .collect()
}

fn selection_for_squares(moves: &[(&String, Vec<Square>)], picked_squares: &[Square]) -> Selection {
    let candidates: Vec<_> = moves
        .iter()
        .filter(|(_, squares)| squares.starts_with(picked_squares))
        .collect();
    let complete_moves: Vec<String> = candidates
        .iter()
        .filter(|(_, squares)| squares.len() == picked_squares.len())
        .map(|(m, _)| (*m).clone())
        .collect();
    match (candidates.as_slice(), complete_moves.as_slice()) {
        ([], _) => Selection::NoMove,
        (_, [m]) => Selection::Move(m.clone()),
        // Once two squares are picked, a single matching move is selected even if its path contains
        // more squares.
        ([(m, _)], []) if picked_squares.len() > 1 => Selection::Move((*m).clone()),
        (_, []) => Selection::Partial(picked_squares.to_vec()),
        _ => Selection::Ambiguous(complete_moves),
    }
}

/// Returns the move that begins with `picked_squares` and ends on `square`, if there is exactly
/// one.
fn unique_move_ending_at(
    moves: &[(&String, Vec<Square>)],
    picked_squares: &[Square],
    square: Square,
) -> Option<String> {
    let mut candidates = moves.iter().filter(|(_, squares)| {
        squares.starts_with(picked_squares) && squares.last() == Some(&square)
    });
    let (m, _) = candidates.next()?;
    candidates.next().is_none().then(|| (*m).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal_moves(moves: &str) -> Vec<String> {
        moves.split(' ').map(str::to_owned).collect()
    }

    fn selected_move(m: &str) -> Selection {
        Selection::Move(m.to_owned())
    }

    #[test]
    fn one_square_selects_move_in_placement_games() {
        for (conventions, moves, square, m) in [
            (Conventions::TicTacToe, "a1 b2", (1, 1), "b2"),
            (Conventions::ConnectFour, "1 4", (3, 5), "4"),
            (Conventions::Othello, "d3 c4", (3, 2), "d3"),
            (Conventions::Gomoku, "h8 a15", (0, 14), "a15"),
            (Conventions::Go, "pass J9", (8, 8), "J9"),
        ] {
            let picked = select_square(conventions, &legal_moves(moves), &[], square);
            assert_eq!(picked, selected_move(m), "{conventions:?}");
            let other_selection = select_square(conventions, &legal_moves(moves), &[], (6, 6));
            assert_eq!(other_selection, Selection::NoMove, "{conventions:?}");
        }
    }

    #[test]
    fn piece_can_be_picked_deselected_and_moved() {
        let moves = legal_moves("e2e3 e2e4 g1f3");
        let picked = select_square(Conventions::Chess, &moves, &[], (4, 1));
        assert_eq!(picked, Selection::Partial(vec![(4, 1)]));
        let targets = target_squares(Conventions::Chess, &moves, &[(4, 1)]);
        assert_eq!(targets, [(4, 2), (4, 3)]);
        let pick = |square| select_square(Conventions::Chess, &moves, &[(4, 1)], square);
        assert_eq!(pick((4, 3)), selected_move("e2e4"));
        assert_eq!(pick((4, 1)), Selection::Partial(Vec::new()));
        // If the user picks another of their own pieces, the first piece is deselected.
        assert_eq!(pick((6, 0)), Selection::Partial(vec![(6, 0)]));
        assert_eq!(pick((0, 6)), Selection::NoMove);
    }

    #[test]
    fn promotion_square_is_ambiguous() {
        let moves = legal_moves("e7e8q e7e8r e7e8b e7e8n");
        let picked = select_square(Conventions::Chess, &moves, &[(4, 6)], (4, 7));
        assert_eq!(picked, Selection::Ambiguous(moves));
    }

    /// The test uses the square numbers of draughts notation. Square 1 is g1, 6 is f2, 10 is e3 and
    /// 15 is d4.
    #[test]
    fn draughts_move_completes_once_unambiguous() {
        let moves = legal_moves("22x15x8 22x15x6 22x17x10 21x14");
        let (from, fifteen) = (move_squares(Conventions::Draughts, "22-15").unwrap()[0], 15);
        let at =
            |number: usize| move_squares(Conventions::Draughts, &number.to_string()).unwrap()[0];
        let pick =
            |path: &[Square], square| select_square(Conventions::Draughts, &moves, path, square);
        assert_eq!(pick(&[], from), Selection::Partial(vec![from]));
        // Two capture moves land on square 15, so the user must also pick the final square.
        let path = vec![from, at(fifteen)];
        assert_eq!(pick(&[from], at(fifteen)), Selection::Partial(path.clone()));
        assert_eq!(pick(&path, at(6)), selected_move("22x15x6"));
        // The picked squares match exactly one move, so the user need not pick any further squares.
        assert_eq!(pick(&[from], at(17)), selected_move("22x17x10"));
        assert_eq!(pick(&[from], at(8)), selected_move("22x15x8"));
        assert_eq!(pick(&[at(21)], at(14)), selected_move("21x14"));
    }
}
