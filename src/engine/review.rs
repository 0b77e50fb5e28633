//! Review of a finished game: evaluates every position, finds the mistakes and explains them.
//!
//! The review proceeds backwards from the end of the game and uses a single transposition table.
//! When it searches a position, the table therefore already contains results for the later
//! positions.
//!
//! A search by playouts overestimates the chances of the side to move until it has tried every
//! reply often enough. In games with playouts, the review therefore does not compare a move with
//! the position before it. To compare two moves, it searches the position after each move, with
//! equal limits. The same seat is to move in the two positions that are compared. The review
//! evaluates a position by the average of two searches: one of the position itself, and one of the
//! position after its best move. If a move looks bad, the review repeats the comparison with a
//! higher node limit before it judges the move.

mod accuracy;
mod english;
mod evaluation;
mod explanation;
mod line_extension;
mod move_consequences;
#[cfg(test)]
mod tests;
mod win_probability;

pub use self::english::english;
pub use self::evaluation::{Evaluation, ProvenResult};
pub use self::explanation::{BetterMoveOutcome, Explanation, MistakeKind};
pub use self::move_consequences::Finding;
pub use self::win_probability::{LogisticModel, win_probability};

use crate::catalog::{AnyPosition, GameEntry, PlayError};
use crate::game::{Seat, Symmetry};
use crate::search::{Limits, Stop, TranspositionTable};

/// Maximum length of a reported line of play, in plies.
pub const LINE_PLIES_MAX: usize = 8;

/// Recommended size of the transposition table for one review, in bytes.
pub const TABLE_BYTES: usize = 16 << 20;

/// Minimum loss of winning chance for an inaccuracy, a mistake and a blunder. Winning chances range
/// from -1 to 1. The values come from lichess (lila, `Advice.scala`).
const INACCURACY_LOSS: f64 = 0.1;
const MISTAKE_LOSS: f64 = 0.2;
const BLUNDER_LOSS: f64 = 0.3;

/// Factor by which the review raises the node limit when it checks an apparently bad move again. A
/// few thousand playouts are too few to conclude that a move is bad.
const RECHECK_NODES_FACTOR: u64 = 5;

/// Number of standard errors that the review subtracts from the winning chance that a move costs.
/// The review therefore ignores a loss of winning chance within the statistical error.
const STANDARD_ERRORS: f64 = 2.0;

/// Minimum number of points that a move must lose to receive each judgement. The table applies only
/// if the evaluations before and after the move are exact. A move that loses points is judged even
/// if the winner stays the same.
const JUDGEMENT_BY_POINTS_LOST: [(u32, Judgement); 3] = [
    (12, Judgement::Blunder),
    (6, Judgement::Mistake),
    (2, Judgement::Inaccuracy),
];

/// Minimum number of plies by which a better move must delay a certain loss, compared with the move
/// that was played. In a lost position of a solved game, the move that was played is a mistake if
/// such a better move exists. The better move must also at least double the number of plies to the
/// loss.
///
/// A position may be lost in theory although no player can see how. With best play, the second
/// player of Connect Four loses from the first move on, but only after 41 plies. Solvers of Connect
/// Four therefore score a position by the number of moves until the end of the game (Pascal Pons,
/// "Solving Connect 4", 2015). A solver's score of this kind drops sharply after a move that allows
/// an immediate win.
///
/// The minimum of eight plies corresponds to four moves by each player. Doubling is required so
/// that small differences between long losses do not count. The review judges a move that loses
/// much sooner than necessary as a mistake, with a loss of winning chance of [`MISTAKE_LOSS`]. A
/// move that changes the result of the game is judged more severely. The website lichess also
/// judges an allowed mate less severely if the position was already lost.
const RESISTANCE_PLIES_MIN: u32 = 8;

/// Size, in bytes, of the transposition table that the review uses to search for a longer defence.
const RESISTANCE_TABLE_BYTES: usize = 1 << 20;

/// Judgement of a bad move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// Small loss of winning chance or points.
    Inaccuracy,
    /// Considerable loss of winning chance or points.
    Mistake,
    /// Severe loss of winning chance or points.
    Blunder,
}

/// Review of a move and of the position before it.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveReview {
    /// Number of the ply, counted from 0.
    pub ply: usize,
    /// Seat that made the move.
    pub turn: Seat,
    /// The move that was played, in canonical notation.
    pub m: String,
    /// Evaluation of the position before the move.
    pub evaluation: Evaluation,
    /// Winning chance that the move cost the player, minus the statistical error. The value ranges
    /// from 0 to 2.
    pub loss: f64,
    /// Best line of play that the search found, starting with the best move.
    pub best_line: Vec<String>,
    /// `best_line` in standard algebraic notation, in chess.
    pub best_line_san: Option<Vec<String>>,
    /// Judgement of a bad move and its explanation, or `None` for a good move.
    pub judgement: Option<(Judgement, Explanation)>,
}

/// Result of a search: the evaluation of a position and the best line of play.
type EvaluatedLine = (Evaluation, Vec<String>);

/// Review of one game, which the caller advances one position at a time.
#[derive(Debug)]
pub struct Review {
    game: &'static GameEntry,
    start: Box<dyn AnyPosition>,
    /// Moves of the game, transformed by `applied_symmetry`.
    ///
    /// A search of limited depth gives slightly different estimates for a position and its mirror
    /// image. The review therefore works on the canonical form of the game and transforms the
    /// results back. Games with playouts do not need this transformation, because the review does
    /// not judge differences within the statistical error of their estimates.
    moves: Vec<String>,
    /// Symmetry that was applied to the moves of the game.
    applied_symmetry: Symmetry,
    /// Symmetries that leave `start` unchanged.
    symmetries: &'static [Symmetry],
    table: TranspositionTable,
    /// Evaluation of the position after the last move, once it is known.
    final_evaluation: Option<Evaluation>,
    /// Evaluation and best line of the position that the previous step evaluated. The steps go
    /// backwards through the game, so the next step reviews the move that leads to this position.
    last_result: Option<EvaluatedLine>,
    /// Reviews of the moves so far, starting with the last move of the game.
    move_reviews: Vec<MoveReview>,
}

impl Review {
    /// Creates a review of the game that starts at `start` and continues with `moves`, in canonical
    /// notation. The transposition table has at most `table_bytes` bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the moves is unreadable or illegal.
    pub fn new(
        game: &'static GameEntry,
        start: Box<dyn AnyPosition>,
        moves: Vec<String>,
        table_bytes: usize,
    ) -> Result<Self, PlayError> {
        let mut position = start.clone_box();
        for m in &moves {
            position.play(m)?;
        }
        // For a custom initial position, the symmetries are not known.
        let is_usual = start.to_string() == game.initial_position().to_string();
        let symmetries = if is_usual {
            game.symmetries()
        } else {
            &[Symmetry::IDENTITY]
        };
        let (moves, applied_symmetry) = if is_usual && !game.uses_playouts {
            let line: Vec<&str> = moves.iter().map(String::as_str).collect();
            game.canonical_line(&line)
        } else {
            (moves, Symmetry::IDENTITY)
        };
        Ok(Self {
            game,
            start,
            moves,
            applied_symmetry,
            symmetries,
            table: TranspositionTable::new(table_bytes),
            final_evaluation: None,
            last_result: None,
            move_reviews: Vec::new(),
        })
    }

    /// Returns the catalog entry of the game that was played.
    #[must_use]
    pub const fn game(&self) -> &'static GameEntry {
        self.game
    }

    /// Returns the number of moves to review.
    #[must_use]
    pub const fn plies(&self) -> usize {
        self.moves.len()
    }

    /// Returns whether all positions have been evaluated.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.final_evaluation.is_some() && self.move_reviews.len() == self.moves.len()
    }

    /// Returns the evaluation of the position after the last move, once it is known.
    #[must_use]
    pub const fn final_evaluation(&self) -> Option<Evaluation> {
        self.final_evaluation
    }

    /// Returns the reviews of the moves so far, starting with the last move of the game.
    #[must_use]
    pub fn move_reviews(&self) -> &[MoveReview] {
        &self.move_reviews
    }

    /// Evaluates one more position. The first step evaluates the position after the last move, and
    /// each further step the position one ply earlier. Has no effect if the review is complete.
    ///
    /// The limits apply to each search of the step. When the step repeats a search to confirm a
    /// result, the repeated search has a higher node limit. If `stop` is set while the step needs a
    /// search, the step adds no result to the review.
    pub fn step(&mut self, limits: &Limits, stop: &Stop) {
        if self.is_complete() {
            return;
        }
        let remaining = self.moves.len() - self.move_reviews.len();
        let ply = if self.final_evaluation.is_some() {
            remaining - 1
        } else {
            remaining
        };
        let mut position = self.start.clone_box();
        for m in &self.moves[..ply] {
            position.play(m).expect("the move was legal when played");
        }
        let position = position.as_ref();
        let Some(result) = self.search(position, limits, stop) else {
            return;
        };
        let Some(result_after) = self.last_result.clone() else {
            self.final_evaluation = Some(result.0);
            self.last_result = Some(result);
            return;
        };
        let own_evaluation = result.0;
        if let Some(reviewed) = self.review_move(ply, position, result, result_after, limits, stop)
        {
            let evaluation = if self.game.uses_playouts {
                own_evaluation
            } else {
                reviewed.evaluation
            };
            self.last_result = Some((evaluation, reviewed.best_line.clone()));
            self.move_reviews.push(self.undo_symmetry(reviewed));
        }
    }

    /// Transforms the moves in a result by the inverse of `applied_symmetry`, so that they match
    /// the moves that were played.
    fn undo_symmetry(&self, mut reviewed: MoveReview) -> MoveReview {
        let inverse = self.applied_symmetry.inverse();
        if inverse == Symmetry::IDENTITY {
            return reviewed;
        }
        let transform = |m: &mut String| *m = self.game.transform_move(m, inverse);
        transform(&mut reviewed.m);
        reviewed.best_line.iter_mut().for_each(transform);
        if let Some((_, why)) = &mut reviewed.judgement {
            transform(&mut why.better_move);
            why.better_line.iter_mut().for_each(transform);
            why.refutation.iter_mut().for_each(transform);
        }
        reviewed
    }

    /// Searches a single position. Returns `None` if the search was stopped.
    fn search(
        &mut self,
        position: &dyn AnyPosition,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<EvaluatedLine> {
        if position.outcome().is_some() {
            return Some((
                Evaluation::of_finished_game(self.game, position),
                Vec::new(),
            ));
        }
        self.table.start_search();
        let report = position.analyse(limits, stop, &mut self.table, &mut |_| {});
        let report = report.filter(|_| !stop.is_stopped())?;
        let evaluation = Evaluation::from_report(self.game, position, &report);
        let mut line = report.pv;
        line.truncate(LINE_PLIES_MAX);
        Some((evaluation, line))
    }

    /// Reviews the move at this ply. All later plies must have been reviewed already. Returns
    /// `None` if the search was stopped.
    fn review_move(
        &mut self,
        ply: usize,
        position: &dyn AnyPosition,
        own_result: EvaluatedLine,
        result_after: EvaluatedLine,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<MoveReview> {
        let (turn, m) = (position.turn(), self.moves[ply].clone());
        let mut after_move = position.clone_box();
        after_move.play(&m).expect("the move was legal when played");
        let own_result = self.prefer_played_move(ply, position, own_result);
        let mut comparison =
            self.compare_with_best(position, &m, own_result, result_after, limits, stop)?;
        if comparison.needs_recheck() {
            let limits = &recheck_limits(limits);
            let own_result = self.search(position, limits, stop)?;
            let own_result = self.prefer_played_move(ply, position, own_result);
            let result_after = self.search(after_move.as_ref(), limits, stop)?;
            comparison =
                self.compare_with_best(position, &m, own_result, result_after, limits, stop)?;
        }
        let MoveComparison {
            evaluation: worth,
            best,
            played,
            mut line,
            reply,
            ..
        } = comparison;
        let resisting_line =
            self.find_resistance(position, (worth, played), &line, limits, stop)?;
        let loses_sooner = !resisting_line.is_empty();
        let loss = if loses_sooner {
            MISTAKE_LOSS
        } else {
            best.chance_lost(played, turn).max(0.0)
        };
        let judgement = match judge_move(best, played, turn) {
            _ if loses_sooner => Some(Judgement::Mistake),
            None if self.misses_quick_win(after_move.as_ref(), (best, played), limits, stop)? => {
                Some(Judgement::Inaccuracy)
            }
            judgement => judgement,
        };
        if loses_sooner {
            line = resisting_line;
        }
        let mut explained = None;
        if let Some(judgement) = judgement {
            let moved = (m.as_str(), after_move.as_ref());
            let lines = (line, reply);
            let why = self.explain(position, moved, (best, played), lines, limits, stop);
            line = why.better_line.clone();
            explained = Some((judgement, why));
        }
        Some(MoveReview {
            ply,
            turn,
            m,
            evaluation: worth,
            loss,
            best_line_san: position.moves_to_san(&line),
            best_line: line,
            judgement: explained,
        })
    }

    /// Explains why the move `m` was bad. First extends the better line and the refutation.
    fn explain(
        &mut self,
        before: &dyn AnyPosition,
        (m, after): (&str, &dyn AnyPosition),
        (best, played): (Evaluation, Evaluation),
        (line, reply): (Vec<String>, Vec<String>),
        limits: &Limits,
        stop: &Stop,
    ) -> Explanation {
        let mut extender = line_extension::LineExtender {
            table: &mut self.table,
            limits: (limits, stop),
        };
        let line = extender.extend_line(before, line);
        let refutation = extender.extend_line(after, reply);
        let material = extender.quiescent_material(before, &line, after, &refutation);
        let board = explanation::PlayedMove { before, m, after };
        let mut why = Explanation::new(&board, best, played, &line, refutation, material);
        if self.game.score_per_point.is_some() {
            why.estimate_points(best, played, before.turn());
        }
        why
    }

    /// If a symmetry of the position maps the best move to the move that was played, returns the
    /// best line transformed by this symmetry. Otherwise returns the best line unchanged.
    fn prefer_played_move(
        &self,
        ply: usize,
        position: &dyn AnyPosition,
        (evaluation, line): EvaluatedLine,
    ) -> EvaluatedLine {
        let transform = |m: &String, by: &Symmetry| self.game.transform_move(m, *by);
        let is_image = |symmetry: &&Symmetry| {
            line.first()
                .is_some_and(|first| transform(first, symmetry) == self.moves[ply])
                && self.is_symmetric(ply, position, **symmetry)
        };
        let is_first = line.first() == Some(&self.moves[ply]);
        let symmetry_to_played = self.symmetries.iter().find(is_image).filter(|_| !is_first);
        match symmetry_to_played {
            Some(by) => (evaluation, line.iter().map(|m| transform(m, by)).collect()),
            None => (evaluation, line),
        }
    }

    /// Returns whether the symmetry leaves the position before this ply unchanged. The function
    /// plays the transformed moves from the start and compares the resulting position with the
    /// original position.
    fn is_symmetric(&self, ply: usize, position: &dyn AnyPosition, symmetry: Symmetry) -> bool {
        let mut image = self.start.clone_box();
        let played = self.moves[..ply].iter();
        let all_played =
            (played.map(|m| self.game.transform_move(m, symmetry))).all(|m| image.play(&m).is_ok());
        all_played && image.to_string() == position.to_string()
    }

    /// In a lost position of a solved game, returns a line that delays the loss much longer than
    /// the move that was played. The line must satisfy both conditions that
    /// [`RESISTANCE_PLIES_MIN`] describes.
    ///
    /// Returns an empty line if there is no such line or if the limits are too low to find it.
    /// Returns `None` if the search was stopped.
    fn find_resistance(
        &self,
        position: &dyn AnyPosition,
        (evaluation, played): (Evaluation, Evaluation),
        line: &[String],
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Vec<String>> {
        let winner = position.turn().other();
        let is_lost = evaluation.is_won_by(winner) && played.is_won_by(winner);
        let plies = |evaluation: Evaluation| evaluation.proven.and_then(|known| known.plies);
        let Some(plies_played) = plies(played).filter(|_| self.game.is_solved && is_lost) else {
            return Some(Vec::new());
        };
        let plies_min = (plies_played + RESISTANCE_PLIES_MIN).max(2 * plies_played);
        if let Some(plies_best) = plies(evaluation) {
            let is_longer = plies_best >= plies_min;
            return Some(if is_longer { line.to_vec() } else { Vec::new() });
        }
        // The review's table may prove that the position is lost without storing the number of
        // plies to the loss. This search therefore uses a new table.
        let mut table = TranspositionTable::new(RESISTANCE_TABLE_BYTES);
        let depth = plies_min - 1;
        let limits = Limits {
            depth: Some(depth),
            ..*limits
        };
        let report = position.analyse(&limits, stop, &mut table, &mut |_| {});
        let mut report = report.filter(|_| !stop.is_stopped())?;
        if report.depth < depth || report.score.plies_to_end().is_some() {
            return Some(Vec::new());
        }
        report.pv.truncate(LINE_PLIES_MAX);
        Some(report.pv)
    }

    /// Returns whether the seat missed a quick win: the win was proven before the move, and no win
    /// is proven after it. The winning chance alone may not reveal a missed win, because it may
    /// fall only slightly. Returns `None` if the search was stopped.
    fn misses_quick_win(
        &mut self,
        after_move: &dyn AnyPosition,
        (best, played): (Evaluation, Evaluation),
        limits: &Limits,
        stop: &Stop,
    ) -> Option<bool> {
        let turn = after_move.turn().other();
        let is_less = played.chance_for_seat(turn) < best.chance_for_seat(turn);
        if !best.is_quick_win_for(turn) || played.proven.is_some() || !is_less {
            return Some(false);
        }
        let (evaluation, _) = self.search(after_move, &recheck_limits(limits), stop)?;
        Some(!evaluation.is_won_by(turn))
    }

    /// Compares the move `m` with the best move. Returns `None` if the search was stopped.
    fn compare_with_best(
        &mut self,
        position: &dyn AnyPosition,
        m: &String,
        (own_evaluation, mut line): EvaluatedLine,
        (evaluation_after, reply): EvaluatedLine,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<MoveComparison> {
        let turn = position.turn();
        let played = evaluation_after.one_ply_earlier();
        let is_first = line.first() == Some(m);
        let favours_turn = self.game.uses_playouts && own_evaluation.proven.is_none();
        let best = match line.first() {
            Some(_) if favours_turn && is_first => played,
            Some(first) if favours_turn => {
                let mut after = position.clone_box();
                after.play(first).expect("the search returns legal moves");
                self.search(after.as_ref(), limits, stop)?
                    .0
                    .one_ply_earlier()
            }
            _ => own_evaluation,
        };
        // The search of the position after the move reaches one ply deeper into the game than the
        // search of the position before it. If the deeper search finds a better result, the review
        // treats the move that was played as the best move.
        let is_better = !best.exact && played.preference_for(turn) > best.preference_for(turn);
        // In a solved game, two winning moves are equally good if the number of plies to the win is
        // unknown for both. Two losing moves are not treated as equally good, because the search
        // has chosen the move that seems to delay the loss longest.
        let is_same_win = self.game.is_solved && played.is_same_unmeasured_win(best, turn);
        let is_best = is_first || is_better || is_same_win || played.is_same_result(best);
        // In a solved game, only a winning move proves the result of the position before it. A move
        // that does not win leaves this result open, because another move may be better.
        let proves_result = !self.game.is_solved || played.is_won_by(turn);
        let evaluation = if is_best && proves_result && !own_evaluation.exact {
            played
        } else {
            best
        };
        if is_best && (!is_first || line.len() <= reply.len()) {
            line = std::iter::once(m).chain(&reply).cloned().collect();
            line.truncate(LINE_PLIES_MAX);
        }
        let is_judged = !self.game.is_solved
            || (best.proven.is_some() && played.proven.is_some())
            || self.is_clear_mistake(position, m, (best, played), line.first(), limits, stop)?;
        Some(MoveComparison {
            turn,
            evaluation: if favours_turn {
                evaluation.average_with(own_evaluation)
            } else if self.game.score_per_point.is_some() && !own_evaluation.exact {
                evaluation.with_result_of_move(own_evaluation, turn)
            } else {
                evaluation
            },
            best: if is_best || !is_judged { played } else { best },
            played,
            line,
            reply,
        })
    }

    /// Returns whether the move that was played is clearly bad, although the result of this move or
    /// of the best move is not proven. Returns `None` if the search was stopped.
    ///
    /// The move is clearly bad in two cases:
    ///
    /// - The move loses quickly, and no loss is known after the best move.
    /// - The best move wins quickly, and no win is known after the move that was played.
    fn is_clear_mistake(
        &mut self,
        position: &dyn AnyPosition,
        m: &str,
        (best, played): (Evaluation, Evaluation),
        first: Option<&String>,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<bool> {
        let turn = position.turn();
        let (loses, misses) = (
            played.is_quick_win_for(turn.other()),
            best.is_quick_win_for(turn),
        );
        let (other, wins) = match first {
            Some(first) if loses && best.proven.is_none() => (first.as_str(), turn.other()),
            Some(_) if misses && played.proven.is_none() => (m, turn),
            _ => return Some(false),
        };
        let mut after = position.clone_box();
        after.play(other).expect("the move is legal");
        let (evaluation, _) = self.search(after.as_ref(), &recheck_limits(limits), stop)?;
        Some(!evaluation.is_won_by(wins))
    }

    /// Returns the accuracy of each seat, from 0 to 100, or `None` for a seat that did not move.
    /// Returns `None` instead of the array if the review is not complete.
    #[must_use]
    pub fn accuracy(&self) -> Option<[Option<u8>; 2]> {
        let end = self.final_evaluation().filter(|_| self.is_complete())?;
        let evaluations = self
            .move_reviews
            .iter()
            .rev()
            .map(|looked| looked.evaluation);
        let winning_chances: Vec<f64> = evaluations
            .chain([end])
            .map(|evaluation| evaluation.winning_chance)
            .collect();
        let losses = self.move_reviews.iter().rev();
        let losses: Vec<(Seat, f64)> = losses
            .map(|reviewed| (reviewed.turn, reviewed.loss))
            .collect();
        Some(accuracy::accuracy(&winning_chances, &losses))
    }
}

/// Comparison of the move that was played with the best move.
struct MoveComparison {
    turn: Seat,
    /// Evaluation of the position before the move.
    evaluation: Evaluation,
    /// Evaluations of the best move and of the move that was played. In both evaluations, the
    /// number of plies to the end counts from the position before the move. The two evaluations are
    /// equal if the move that was played is the best move, or if the review does not judge it.
    best: Evaluation,
    played: Evaluation,
    /// `line` is the best line, and `reply` is the best continuation after the move that was
    /// played.
    line: Vec<String>,
    reply: Vec<String>,
}

impl MoveComparison {
    /// Returns whether the comparison must be repeated with more playouts. This is the case if the
    /// move looks bad and the evaluations have a statistical error.
    fn needs_recheck(&self) -> bool {
        let lost = self.best.chance_for_seat(self.turn) - self.played.chance_for_seat(self.turn);
        lost >= INACCURACY_LOSS && self.best.standard_error.max(self.played.standard_error) > 0.0
    }
}

/// Returns the limits of a repeated search that confirms a result, with a higher node limit.
fn recheck_limits(limits: &Limits) -> Limits {
    Limits {
        nodes: limits
            .nodes
            .map(|nodes| nodes.saturating_mul(RECHECK_NODES_FACTOR)),
        ..*limits
    }
}

/// Judges a move of the seat `turn` by comparing the evaluations before and after the move. Returns
/// `None` for a good move.
fn judge_move(before: Evaluation, after: Evaluation, turn: Seat) -> Option<Judgement> {
    let by_chance = match before.chance_lost(after, turn) {
        lost if lost >= BLUNDER_LOSS => Some(Judgement::Blunder),
        lost if lost >= MISTAKE_LOSS => Some(Judgement::Mistake),
        lost if lost >= INACCURACY_LOSS => Some(Judgement::Inaccuracy),
        _ => None,
    };
    let points_lost = before.points_lost(after, turn);
    let by_points = JUDGEMENT_BY_POINTS_LOST
        .iter()
        .find(|(points, _)| points_lost >= *points);
    by_chance.max(by_points.map(|(_, judgement)| *judgement))
}
