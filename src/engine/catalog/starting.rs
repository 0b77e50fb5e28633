//! Games that do not begin with the first position of their rules, but with any other: a problem, a
//! handicap, a moment of another game.

use super::{AnyPosition, Entry};
use crate::game::ParsePositionError;

/// No game can begin so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// That is no position of the game.
    #[error(transparent)]
    NoPosition(#[from] ParsePositionError),
    /// Nobody can move in it.
    #[error("in this position the game is over")]
    Over,
}

impl Entry {
    /// The position that `text` tells in the game's notation, as the first of a game. What was before it is
    /// not known: no rule of repetition looks farther back.
    ///
    /// # Errors
    ///
    /// The text tells no position of the game, or one in which it is over.
    pub fn start_at(&self, text: &str) -> Result<Box<dyn AnyPosition>, StartError> {
        let start = (self.start_at)(text)?;
        let mut can_move = false;
        start.each_legal_move(&mut |_| can_move = true);
        can_move.then_some(start).ok_or(StartError::Over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{CATALOG, find};
    use crate::game::Seat;
    use crate::search::{Level, Limits, Stop, Table};

    /// A position of each game in which the second seat is to move, and a move there.
    const STARTS: [(&str, &str, &str); CATALOG.len()] = [
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
    fn a_game_is_played_from_any_position_in_which_somebody_can_move() {
        for (id, text, m) in STARTS {
            let entry = find(id).expect(id);
            let mut position = entry.start_at(text).expect(text);
            assert_eq!(position.to_string(), text);
            assert_eq!(position.turn(), Seat::Second, "{id}");
            let (limits, mut table) = (Limits::nodes(50), Table::new(1 << 16));
            let choice = position.choose(Level::Max, 1, &limits, &Stop::new(), &mut table);
            let choice = choice.expect("it can move").m;
            assert!(position.legal_moves().contains(&choice), "{id}: {choice}");
            assert_eq!(
                position.recorded(&[m.to_owned()]).map(|all| all.len()),
                Ok(1)
            );
            assert_eq!(position.play(m), Ok(m.to_owned()), "{id}");
            assert_eq!(position.turn(), Seat::First, "{id}");
        }
    }

    #[test]
    fn what_is_over_or_no_position_begins_no_game() {
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
            ("chess", "4k3/8/8/8/8/8/8/8 w - - 0 1", "the board"),
            ("chess", "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "the board"),
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
            let refused = find(id).expect(id).start_at(text).expect_err(text);
            assert!(refused.to_string().contains(reason), "{text}: {refused}");
        }
        let empty = ["........."; 9].join("/");
        let go = |fields: &str| {
            find("go")
                .expect("hosted")
                .start_at(&format!("{empty} {fields}"))
        };
        assert_eq!(go("b 0 0 2 2").expect_err("two passes"), StartError::Over);
        let played_out = empty.replacen(".........", "w........", 1) + " b 0 0 0 1000";
        let too_long = find("go").expect("hosted").start_at(&played_out);
        assert_eq!(too_long.expect_err("too long"), StartError::Over);
        let one = empty.replacen(".........", "b........", 1) + " b 0 0 1 2";
        assert!(find("go").expect("hosted").start_at(&one).is_ok());
        let smaller = find("go").expect("hosted").start_at("... b 0 0 0 0");
        assert!(matches!(smaller, Err(StartError::NoPosition(_))));
    }

    /// A position that has come once before the game began, as far as anybody can tell, has not come.
    #[test]
    fn what_was_before_the_start_is_not_repeated() {
        let chess = find("chess").expect("hosted");
        let mut position = chess
            .start_at("4k3/8/8/8/8/8/8/4K2R w - - 10 40")
            .expect("it is fine");
        for (ply, m) in ["h1h2", "e8e7", "h2h1", "e7e8"]
            .repeat(2)
            .iter()
            .enumerate()
        {
            assert_eq!(position.outcome(), None, "{ply}");
            position.play(m).expect("it is legal");
        }
        assert_eq!(
            position.ending().map(|ending| ending.detail),
            Some("repetition")
        );
    }
}
