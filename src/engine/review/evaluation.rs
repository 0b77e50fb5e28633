//! Evaluation of a position from the point of view of the first seat, regardless of the seat to
//! move.

use super::STANDARD_ERRORS;
use super::win_probability::win_probability;
use crate::catalog::{AnyPosition, GameEntry};
use crate::game::{Outcome, Seat};
use crate::search::{Playouts, Report, Score, mcts};

/// Lower limit of the standard error of a winning chance that was estimated by many playouts.
/// Searches with different seeds prefer different moves, so their estimates differ even with many
/// playouts.
///
/// The value was measured on eight opening positions of Go with six seeds each. The standard
/// deviation was 0.082, 0.072, 0.049 and 0.039 with 1,000, 3,000, 10,000 and 30,000 playouts.
const RESIDUAL_ERROR: f64 = 0.04;

/// Maximum number of plies to a win that counts as quick. Players can be expected to see a quick
/// win.
const QUICK_WIN_PLIES: u32 = 4;

/// Evaluation of a position from the point of view of the first seat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Value on the conventional scale of the game: points in games decided by points, and
    /// otherwise hundredths of a pawn or of a comparable advantage.
    pub value: i32,
    /// Winning chance, from -1 (certain loss) to 1 (certain win).
    pub winning_chance: f64,
    /// Standard error of a winning chance that was estimated by playouts. For all other
    /// evaluations, the value is 0.
    pub standard_error: f64,
    /// Whether `value` is the exact value with best play and not an estimate.
    pub exact: bool,
    /// Result of the game with best play, if it is proven.
    pub proven: Option<ProvenResult>,
}

/// Result of a game with best play by both seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenResult {
    /// Seat that wins, or `None` for a draw.
    pub winner: Option<Seat>,
    /// Number of plies to the end of the game. `None` if the number is unknown, or if it does not
    /// affect the value of a win in this game.
    pub plies: Option<u32>,
    /// Point margin of the win, if it is known and points decide the game.
    pub points: Option<u32>,
}

impl Evaluation {
    /// Creates an evaluation from the report of a search.
    #[must_use]
    pub fn from_report(
        game: &GameEntry,
        position: &dyn AnyPosition,
        report: &Report<String>,
    ) -> Self {
        let scored = (report.score, report.exact);
        let evaluation = Self::from_score(game, position, scored, report.playouts);
        let Some(playouts) = report.playouts.filter(|_| evaluation.proven.is_none()) else {
            return evaluation;
        };
        let to_chance = |score: Score| win_probability(game.info.id).winning_chance(score.value());
        let error_score = Score::estimate(mcts::standard_error(playouts.count));
        let sign = f64::from(position.turn().sign());
        Self {
            winning_chance: sign
                * to_chance(mcts::score_from_wins_per_mille(playouts.wins_per_mille)),
            standard_error: to_chance(error_score).hypot(RESIDUAL_ERROR),
            ..evaluation
        }
    }

    /// Creates the evaluation of the final position of a finished game.
    pub(super) fn of_finished_game(game: &GameEntry, position: &dyn AnyPosition) -> Self {
        let outcome = position.outcome().unwrap_or(Outcome::Draw);
        let (turn, ending) = (position.turn(), position.ending());
        Self::from_score(
            game,
            position,
            (Score::from_game_end(outcome, ending, turn, 0), true),
            None,
        )
    }

    fn from_score(
        game: &GameEntry,
        position: &dyn AnyPosition,
        (score, exact): (Score, bool),
        playouts: Option<Playouts>,
    ) -> Self {
        let turn = position.turn();
        let is_ahead = score > Score::DRAW;
        let proven = match score.is_decided() {
            true => Some(ProvenResult {
                winner: Some(if is_ahead { turn } else { turn.other() }),
                plies: score.plies_to_end().filter(|_| exact),
                points: score.points().map(i32::unsigned_abs).filter(|_| exact),
            }),
            false => exact.then_some(ProvenResult {
                winner: None,
                plies: None,
                points: None,
            }),
        };
        let chance = match proven.map(|known| known.winner) {
            Some(Some(winner)) if winner == turn => 1.0,
            Some(Some(_)) => -1.0,
            Some(None) => 0.0,
            None => win_probability(game.info.id).winning_chance(score.value()),
        };
        let sign = turn.sign();
        Self {
            value: sign * position.conventional_score(score, playouts),
            winning_chance: f64::from(sign) * chance,
            standard_error: 0.0,
            exact,
            proven,
        }
    }

    /// Returns the winning chance of a seat, from -1 to 1.
    #[must_use]
    pub fn chance_for_seat(&self, seat: Seat) -> f64 {
        f64::from(seat.sign()) * self.winning_chance
    }

    /// Returns whether a win of this seat is proven.
    pub(super) fn is_won_by(&self, seat: Seat) -> bool {
        self.proven.is_some_and(|known| known.winner == Some(seat))
    }

    /// Returns whether a win of this seat within a few moves is proven.
    pub(super) fn is_quick_win_for(&self, seat: Seat) -> bool {
        let plies = self.proven.and_then(|known| known.plies);
        self.is_won_by(seat) && plies.is_some_and(|plies| plies <= QUICK_WIN_PLIES)
    }

    /// Returns the winning chance that `seat` loses from this evaluation to the evaluation `after`,
    /// minus the statistical error. The result is negative if the loss is smaller than the
    /// statistical error.
    pub(super) fn chance_lost(&self, after: Self, seat: Seat) -> f64 {
        let error = STANDARD_ERRORS * self.standard_error.hypot(after.standard_error);
        self.chance_for_seat(seat) - after.chance_for_seat(seat) - error
    }

    /// Converts the evaluation of the position after a move to an evaluation of the position before
    /// the move. The number of plies to the end of the game increases by one, because it now
    /// includes the move.
    pub(super) fn one_ply_earlier(mut self) -> Self {
        if let Some(proven) = &mut self.proven {
            proven.plies = proven.plies.map(|plies| plies + 1);
        }
        self
    }

    /// Returns the average of this evaluation and `other`. The two evaluations come from positions
    /// with different seats to move. Each search overestimates the seat to move, so the errors
    /// partly cancel out. Returns this evaluation unchanged if its result is proven.
    pub(super) fn average_with(self, other: Self) -> Self {
        match self.proven {
            Some(_) => self,
            None => Self {
                value: i32::midpoint(self.value, other.value),
                winning_chance: f64::midpoint(self.winning_chance, other.winning_chance),
                ..self
            },
        }
    }

    /// Converts the evaluation after a move of `seat` to an evaluation before the move, in games
    /// decided by points.
    ///
    /// A winning move proves that the seat wins, but another move may win by more points. A move
    /// that does not win proves nothing about the position, because another move may be better.
    /// After a move that does not win, the function uses the proven result of `own_evaluation`, if
    /// there is one. The evaluation `own_evaluation` comes from the search of the position before
    /// the move.
    pub(super) fn with_result_of_move(mut self, own_evaluation: Self, seat: Seat) -> Self {
        self.exact = false;
        let by_move = self.proven.filter(|known| known.winner == Some(seat));
        self.proven = by_move.or(own_evaluation.proven);
        if let Some(proven) = &mut self.proven {
            proven.points = None;
        }
        self
    }

    /// Returns a sort key that is higher for an evaluation that the seat prefers. The key compares
    /// winning chances first. Between equal winning chances, the seat prefers the better point
    /// margin. If no point margin is known, it prefers an earlier win or a later loss. A win or
    /// loss in an unknown number of plies counts as later than one in a known number.
    pub(super) fn preference_for(&self, seat: Seat) -> (f64, i64) {
        let sign = |winner| if winner == seat { 1 } else { -1 };
        let known = self.proven.and_then(|known| Some((known.winner?, known)));
        let tie_break = known.map_or(0, |(winner, known)| {
            let points = known.points.map(i64::from);
            let nearness = -i64::from(known.plies.unwrap_or(u32::MAX));
            sign(winner) * points.unwrap_or(nearness)
        });
        (self.chance_for_seat(seat), tie_break)
    }

    /// Returns whether both evaluations are exact and prove the same result. The winner, the number
    /// of plies and the point margin must be equal.
    pub(super) fn is_same_result(&self, other: Self) -> bool {
        self.exact && other.exact && self.proven == other.proven
    }

    /// Returns whether both evaluations prove a win for the seat, but neither the number of plies
    /// to the win nor the point margin is known.
    pub(super) fn is_same_unmeasured_win(&self, other: Self, seat: Seat) -> bool {
        let is_unmeasured = |known: ProvenResult| known.plies.is_none() && known.points.is_none();
        self.is_won_by(seat)
            && self.proven == other.proven
            && self.proven.is_some_and(is_unmeasured)
    }

    /// Returns the number of points that `seat` loses from this evaluation to the evaluation
    /// `after`. Returns 0 unless both evaluations are exact.
    pub(super) fn points_lost(&self, after: Self, seat: Seat) -> u32 {
        let points = |evaluation: &Self| {
            let proven = evaluation.proven.filter(|_| evaluation.exact)?;
            match (proven.winner, proven.points) {
                (Some(winner), Some(points)) if winner == seat => Some(i64::from(points)),
                (Some(_), Some(points)) => Some(-i64::from(points)),
                (None, _) => Some(0),
                (Some(_), None) => None,
            }
        };
        let counts_points = [self, &after].iter().any(|evaluation| {
            let proven = evaluation.proven.filter(|_| evaluation.exact);
            proven.is_some_and(|known| known.points.is_some())
        });
        match (points(self), points(&after)) {
            (Some(before), Some(after)) if counts_points => {
                u32::try_from((before - after).max(0)).unwrap_or(u32::MAX)
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find_game;

    /// A winning move proves who wins, but not the point margin, so the converted evaluation must
    /// have no point margin. A losing move does not prove that the position is lost, because
    /// another move may be better.
    #[test]
    fn with_result_of_move_keeps_only_what_one_move_proves() {
        let evaluation = |winner: Option<Seat>, exact| Evaluation {
            value: 4,
            winning_chance: 0.5,
            standard_error: 0.0,
            exact,
            proven: winner.map(|winner| ProvenResult {
                winner: Some(winner),
                plies: None,
                points: exact.then_some(4),
            }),
        };
        let (won, lost) = (Some(Seat::First), Some(Seat::Second));
        for (played, alone, expected) in [
            (won, None, won),
            (lost, None, None),
            (lost, lost, lost),
            (None, won, won),
        ] {
            let combined =
                evaluation(played, true).with_result_of_move(evaluation(alone, false), Seat::First);
            assert!(!combined.exact, "{combined:?}");
            assert_eq!(combined.proven.and_then(|known| known.winner), expected);
            assert_eq!(combined.proven.and_then(|known| known.points), None);
        }
    }
    use crate::search::{Limits, Stop};

    fn evaluate_position(game: &str, position: &str, limits: &Limits) -> Evaluation {
        let game = find_game(game).expect("the game is in the catalog");
        let mut analyst = game.analysis_board(1 << 20);
        analyst.set_up(position).expect(position);
        let report = analyst.analyse(false, limits, &Stop::new(), &mut |_| {});
        let report = report.expect("the game is not over");
        Evaluation::from_report(game, analyst.position(), &report)
    }

    /// In the Othello position, Black wins by 18 discs. In the Go position, the players have only
    /// passes left to play.
    #[test]
    fn inexact_value_is_in_points_for_othello_and_go() {
        let othello = "--*****--OOO**-O-OOO**O*-O*O*O**O***O***--*O*O**-***OOO--OOOOO-- *";
        let evaluation = evaluate_position("othello", othello, &Limits::depth(4));
        assert!(
            !evaluation.exact && (1..=30).contains(&evaluation.value),
            "{evaluation:?}"
        );

        let go = "b.b.bw.w./bbbbbwwww/....bw.../bbbbbwwww/b.b.bw.w./bbbbbwwww/.b.bbw.ww/bbbbbww.w/.b.bbwww.";
        for (rest, points) in [("w 0 0 0 201", 2), ("b 0 0 0 202", 2)] {
            let evaluation = evaluate_position("go", &format!("{go} {rest}"), &Limits::nodes(300));
            assert!(!evaluation.exact, "{evaluation:?}");
            assert_eq!(evaluation.value, points, "{evaluation:?}");
        }
    }

    /// The evaluation must not include the search's initial estimates of move quality. With few
    /// playouts, these estimates would dominate the result.
    #[test]
    fn few_playouts_find_no_large_advantage_on_empty_board() {
        let empty = find_game("go")
            .expect("the game is in the catalog")
            .initial_position()
            .to_string();
        for nodes in [100, 130, 200, 800] {
            let evaluation = evaluate_position("go", &empty, &Limits::nodes(nodes));
            assert!(
                evaluation.winning_chance.abs() < 0.4,
                "{nodes}: {evaluation:?}"
            );
        }
    }
}
