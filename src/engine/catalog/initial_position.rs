//! Initial positions other than the standard one, such as a problem, a handicap or a position from
//! another game.

use super::{AnyPosition, GameEntry};
use crate::game::ParsePositionError;

/// Error returned when a game cannot start from a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InitialPositionError {
    /// The text is not a position of the game.
    #[error(transparent)]
    InvalidPosition(#[from] ParsePositionError),
    /// The game is over in this position: there is no legal move.
    #[error("the game is over in the initial position")]
    GameOver,
}

impl GameEntry {
    /// Parses `text` as the initial position of a game. The earlier positions are unknown, so the
    /// repetition rule counts only from this position on.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a position of the game, or if the game is over in that
    /// position.
    pub fn parse_initial_position(
        &self,
        text: &str,
    ) -> Result<Box<dyn AnyPosition>, InitialPositionError> {
        let position = (self.parse_position)(text)?;
        let can_move = !position.legal_moves().is_empty();
        can_move
            .then_some(position)
            .ok_or(InitialPositionError::GameOver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{CATALOG, find_game};
    use crate::game::Seat;
    use crate::search::{Level, Limits, Stop, TranspositionTable};

    /// Test positions: each entry contains a game id, a position in that game, and a legal move in
    /// the position. In every position, the second seat is to move.
    const POSITIONS: [(&str, &str, &str); CATALOG.len()] = [
        ("tic-tac-toe", "x.o/.x./...", "c1"),
        (
            "connect-four",
            "......./......./......./......./...y.../..rry.r",
            "3",
        ),
        (
            "othello",
            "-------------------*-------**------*O--------------------------- O",
            "c5",
        ),
        ("draughts", "W:W18,K31:B5,K9:H3:F20", "18-15"),
        ("chess", "4k3/4p3/8/8/8/8/4P3/4K2R b K - 3 20", "e7e5"),
        (
            "gomoku",
            "15/15/15/15/15/15/15/6wbb6/15/15/15/15/15/15/15",
            "a1",
        ),
        (
            "go",
            "........./........./..b...b../........./....w..../........./........./........./......... w 0 0 0 3",
            "D5",
        ),
    ];

    #[test]
    fn game_is_playable_from_any_position_with_legal_moves() {
        for (id, text, m) in POSITIONS {
            let entry = find_game(id).expect(id);
            let mut position = entry.parse_initial_position(text).expect(text);
            assert_eq!(position.to_string(), text);
            assert_eq!(position.turn(), Seat::Second, "{id}");
            let (limits, mut table) = (Limits::nodes(50), TranspositionTable::new(1 << 16));
            let choice = position.choose_move(Level::Max, 1, &limits, &Stop::new(), &mut table);
            let choice = choice.expect("a legal move exists").m;
            assert!(position.legal_moves().contains(&choice), "{id}: {choice}");
            assert_eq!(
                position
                    .moves_to_record_notation(&[m.to_owned()])
                    .map(|all| all.len()),
                Ok(1)
            );
            assert_eq!(position.play(m), Ok(m.to_owned()), "{id}");
            assert_eq!(position.turn(), Seat::First, "{id}");
        }
    }

    #[test]
    fn finished_or_invalid_position_is_rejected_as_initial() {
        let cases = [
            ("tic-tac-toe", "xo./xo./x..", "is over"),
            ("tic-tac-toe", "xxo/oox/xox", "is over"),
            ("tic-tac-toe", "b2", "three ranks"),
            (
                "connect-four",
                "......./......./r....../ry...../ry...../ry.....",
                "is over",
            ),
            ("othello", &format!("{}*--- O", "*".repeat(60)), "is over"),
            ("othello", "", "64 squares"),
            ("draughts", "W:WK31:B", "no pieces"),
            ("draughts", "B:W18,K31:B", "is over"),
            ("draughts", "B:W9,14:B5", "is over"),
            ("chess", "7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "is over"),
            ("chess", "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1", "is over"),
            ("chess", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "is over"),
            ("chess", "4k3/4p3/8/8/8/8/4P3/4K2R b K - 100 80", "is over"),
            ("chess", "4k3/4p3/8/8/8/8/4P3/4K2R b K - 131 80", "is over"),
            ("draughts", "B:WK32:BK1:H93:F70", "is over"),
            ("chess", "4k3/8/8/8/8/8/8/8 w - - 0 1", "one king"),
            ("chess", "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "in check"),
            (
                "gomoku",
                "bbbbb10/wwww11/15/15/15/15/15/15/15/15/15/15/15/15/15",
                "is over",
            ),
            (
                "gomoku",
                "b14/15/15/15/15/15/15/15/15/15/15/15/15/15",
                "fifteen ranks",
            ),
        ];
        for (id, text, reason) in cases {
            let error = find_game(id)
                .expect(id)
                .parse_initial_position(text)
                .expect_err(text);
            assert!(error.to_string().contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn finished_or_invalid_go_position_is_rejected_as_initial() {
        let go = find_game("go").expect("the game is in the catalog");
        let empty = ["........."; 9].join("/");
        let error = |text: &str| go.parse_initial_position(text).expect_err(text);
        assert_eq!(
            error(&format!("{empty} b 0 0 2 2")),
            InitialPositionError::GameOver
        );
        let at_ply_limit = empty.replacen(".........", "w........", 1) + " b 0 0 0 1000";
        assert_eq!(error(&at_ply_limit), InitialPositionError::GameOver);
        let after_one_pass = empty.replacen(".........", "b........", 1) + " b 0 0 1 2";
        assert!(go.parse_initial_position(&after_one_pass).is_ok());
        assert!(matches!(
            error("... b 0 0 0 0"),
            InitialPositionError::InvalidPosition(_)
        ));
    }

    #[test]
    fn repetition_does_not_count_the_initial_position_of_earlier_play() {
        let chess = find_game("chess").expect("the game is in the catalog");
        let mut position = chess
            .parse_initial_position("4k3/8/8/8/8/8/8/4K2R w - - 10 40")
            .expect("the position is valid");
        for (ply, m) in ["h1h2", "e8e7", "h2h1", "e7e8"]
            .repeat(2)
            .iter()
            .enumerate()
        {
            assert_eq!(position.outcome(), None, "{ply}");
            position.play(m).expect("the move is legal");
        }
        assert_eq!(
            position.ending().map(|ending| ending.detail),
            Some("repetition")
        );
    }
}
