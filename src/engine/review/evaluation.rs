//! What a position is worth, whoever is to move: to the first seat.

use super::STANDARD_ERRORS;
use super::win_probability::win_probability;
use crate::catalog::{AnyPosition, GameEntry};
use crate::game::{Outcome, Seat};
use crate::search::{Playouts, Report, Score, mcts};

/// What more playouts do not take away from the error of a chance: a search that is made again with other playouts
/// prefers other moves. Eight positions of an opening of Go, each searched with six seeds, had a standard deviation
/// of 0.082, 0.072, 0.049 and 0.039 with 1,000, 3,000, 10,000 and 30,000 playouts.
const RESIDUAL_ERROR: f64 = 0.04;

/// A win that is no farther away than so many plies is one that players see.
const QUICK_WIN_PLIES: u32 = 4;

/// What a position is worth to the first seat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// In the words of those who know the game: hundredths of an advantage, or points where they decide.
    pub value: i32,
    /// The chance to win, from -1 to 1.
    pub winning_chance: f64,
    /// The standard error of the chance, where it was estimated by playouts; otherwise 0.
    pub standard_error: f64,
    /// Whether that is the value of the game itself.
    pub exact: bool,
    /// How the game ends if both play their best, where that is known.
    pub proven: Option<ProvenResult>,
}

/// How a game ends if both play their best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenResult {
    /// Who wins; nobody, if it is drawn.
    pub winner: Option<Seat>,
    /// After how many plies, where that decides what is better.
    pub plies: Option<u32>,
    /// By how many points, where they decide.
    pub points: Option<u32>,
}

impl Evaluation {
    /// What a search has found of a position.
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
        let sign = if position.turn() == Seat::First {
            1.0
        } else {
            -1.0
        };
        Self {
            winning_chance: sign
                * to_chance(mcts::score_from_wins_per_mille(playouts.wins_per_mille)),
            standard_error: to_chance(error_score).hypot(RESIDUAL_ERROR),
            ..evaluation
        }
    }

    /// What it is worth to have come to the end of the game.
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
        let sign = if turn == Seat::First { 1 } else { -1 };
        Self {
            value: sign * position.conventional_score(score, playouts),
            winning_chance: f64::from(sign) * chance,
            standard_error: 0.0,
            exact,
            proven,
        }
    }

    /// The chance of a seat.
    #[must_use]
    pub fn chance_for_seat(&self, seat: Seat) -> f64 {
        match seat {
            Seat::First => self.winning_chance,
            Seat::Second => -self.winning_chance,
        }
    }

    /// Whether it is known that this seat wins.
    pub(super) fn is_won_by(&self, seat: Seat) -> bool {
        self.proven.is_some_and(|known| known.winner == Some(seat))
    }

    /// Whether it is known that this seat wins within a few moves.
    pub(super) fn is_quick_win_for(&self, seat: Seat) -> bool {
        let plies = self.proven.and_then(|known| known.plies);
        self.is_won_by(seat) && plies.is_some_and(|plies| plies <= QUICK_WIN_PLIES)
    }

    /// How much less the other position is worth to this seat, beyond doubt; negative if that is nothing.
    pub(super) fn chance_lost(&self, after: Self, seat: Seat) -> f64 {
        let error = STANDARD_ERRORS * self.standard_error.hypot(after.standard_error);
        self.chance_for_seat(seat) - after.chance_for_seat(seat) - error
    }

    /// This worth as it was a ply before.
    pub(super) fn one_ply_earlier(mut self) -> Self {
        if let Some(proven) = &mut self.proven {
            proven.plies = proven.plies.map(|plies| plies + 1);
        }
        self
    }

    /// Half way between this and what a search has found that favours the other seat.
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

    /// What is known of a position of this seat by one of its moves, where points decide, and by what was found of the
    /// position `own_evaluation`: other moves may come to more.
    pub(super) fn with_result_of_move(mut self, own_evaluation: Self, seat: Seat) -> Self {
        self.exact = false;
        let by_move = self.proven.filter(|known| known.winner == Some(seat));
        self.proven = by_move.or(own_evaluation.proven);
        if let Some(proven) = &mut self.proven {
            proven.points = None;
        }
        self
    }

    /// By what a seat would choose among positions: the chance, and then a nearer win or more points. A win or a loss
    /// of which it is not known how soon it comes is farther away than any other.
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

    /// Whether both are exact and the game ends in the same way: with the same winner, after as many plies and by as
    /// many points, where these count.
    pub(super) fn is_same_result(&self, other: Self) -> bool {
        self.exact && other.exact && self.proven == other.proven
    }

    /// Whether the seat is known to win both, and of neither it is known how soon or by how much.
    pub(super) fn is_same_unmeasured_win(&self, other: Self, seat: Seat) -> bool {
        let is_unmeasured = |known: ProvenResult| known.plies.is_none() && known.points.is_none();
        self.is_won_by(seat)
            && self.proven == other.proven
            && self.proven.is_some_and(is_unmeasured)
    }

    /// How many points this seat has given away, where both results are known to the point.
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

    /// One move that wins is enough to know who wins, but not by how much; one that loses tells nothing.
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

    /// What a look at a position finds, for the first seat, and how it really ends.
    fn evaluate_position(game: &str, position: &str, limits: &Limits) -> Evaluation {
        let game = find_game(game).expect("the game is in the catalog");
        let mut analyst = game.analysis_board(1 << 20);
        analyst.set_up(position).expect(position);
        let report = analyst.analyse(false, limits, &Stop::new(), &mut |_| {});
        let report = report.expect("the game is not over");
        Evaluation::from_report(game, analyst.position(), &report)
    }

    /// Black wins the first by 18 discs, and the second, of Go, is played to its end, but for passes.
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

    /// What is thought of moves before any is tried counts for nothing in what is told: of so few playouts it would be
    /// most, and Black was told to have 3 chances of 4 on an empty board.
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
