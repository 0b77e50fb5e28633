//! A game looked at again, once it is over: what each position was worth, which moves were mistakes,
//! and why.
//!
//! It goes backwards from the end, position by position, with one table: so what a later position was
//! found to be worth is known when the one before it is looked at.
//!
//! Where games are played out, what a search finds favours whoever is to move there, as long as it has not
//! tried every answer often. Two moves are then compared by what the positions after them are worth, in
//! which it is the same seat's turn and which were searched with the same effort, and what a position is worth is
//! half way between what was found there and what was found after its best move. A move that looks bad is
//! compared once more, with more effort, before anything is said of it.

mod accuracy;
mod english;
mod evaluation;
mod explanation;
mod findings;
mod line_extension;
#[cfg(test)]
mod tests;
mod win_probability;

pub use self::english::english;
pub use self::evaluation::{Evaluation, ProvenResult};
pub use self::explanation::{BetterMoveOutcome, Explanation, MistakeKind};
pub use self::findings::Finding;
pub use self::win_probability::{LogisticModel, win_probability};

use crate::catalog::{AnyPosition, GameEntry, PlayError};
use crate::game::{Seat, Symmetry};
use crate::search::{Limits, Stop, TranspositionTable};

/// No line that is told is longer than this.
pub const LINE_PLIES_MAX: usize = 8;

/// How much memory of what was found before one review has use for.
pub const TABLE_BYTES: usize = 16 << 20;

/// A move that costs its seat so much of its chances, on a scale from -1 to 1, is judged so: the steps
/// of lichess (lila, `Advice.scala`).
const INACCURACY_LOSS: f64 = 0.1;
const MISTAKE_LOSS: f64 = 0.2;
const BLUNDER_LOSS: f64 = 0.3;

/// What looks bad where it cannot be known for certain is looked at again with so many times the nodes: a few thousand
/// playouts do not see far enough to call a move bad.
const RECHECK_NODES_FACTOR: u64 = 5;

/// What differs by less than so many times its standard error is as good.
const STANDARD_ERRORS: f64 = 2.0;

/// So many points given away, where both results are known, are judged so, even if the same seat still wins.
const JUDGEMENT_BY_POINTS_LOST: [(u32, Judgement); 3] = [
    (12, Judgement::Blunder),
    (6, Judgement::Mistake),
    (2, Judgement::Inaccuracy),
];

/// In a solved game, a move that loses a lost position is a mistake if another move holds out for at least this many
/// plies longer, and at least twice as long.
///
/// A position may be lost in theory although no player can see how: the second player of Connect Four loses from the
/// first move on, but only after 41 plies. Solvers of Connect Four therefore score a position by the number of moves
/// until the end (Pascal Pons, "Solving Connect 4", 2015), and a move that allows a win at once loses most of that
/// score. Eight plies are four moves of each player. The ratio leaves out long losses of which one is a little shorter.
/// Like a mate that is allowed in a lost position on lichess, the move is judged more mildly than one that gives away
/// the result: it is a mistake and costs [`MISTAKE_LOSS`].
const RESISTANCE_PLIES_MIN: u32 = 8;

/// Size of the table for finding out how long a position holds out.
const RESISTANCE_TABLE_BYTES: usize = 1 << 20;

/// How bad a move was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// It cost a little.
    Inaccuracy,
    /// It cost much.
    Mistake,
    /// It cost the most.
    Blunder,
}

/// What was found of a position, and of the move that was played there.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveReview {
    /// The number of the ply.
    pub ply: usize,
    /// The seat that moved.
    pub turn: Seat,
    /// The move that was played.
    pub m: String,
    /// What the position was worth before it.
    pub evaluation: Evaluation,
    /// How much of its seat's chances the move has cost, as far as that is beyond doubt: from 0 to 2.
    pub loss: f64,
    /// The best line of play, as far as it was seen; its first move is the best.
    pub best_line: Vec<String>,
    /// `line` in standard algebraic notation, in chess.
    pub best_line_san: Option<Vec<String>>,
    /// How bad the move was, and why; nothing where it was good.
    pub judgement: Option<(Judgement, Explanation)>,
}

/// What a search has found of a position: what it is worth, and how it goes on.
type EvaluatedLine = (Evaluation, Vec<String>);

/// A review that is under way.
#[derive(Debug)]
pub struct Review {
    game: &'static GameEntry,
    start: Box<dyn AnyPosition>,
    /// The moves of the game after `turned` was applied.
    ///
    /// A search of limited depth estimates the mirror image of a position a little differently. Games that are the same
    /// up to a symmetry are therefore reviewed as one game, and the results are turned back. Playouts need no such
    /// thing: their estimates come with an error, and nothing within it is judged.
    moves: Vec<String>,
    /// Symmetry that was applied to the moves of the game.
    applied_symmetry: Symmetry,
    /// Symmetries that leave `start` as it is.
    symmetries: &'static [Symmetry],
    table: TranspositionTable,
    /// What the position after the last move is worth, once that is known.
    final_evaluation: Option<Evaluation>,
    /// What was found of the position that was looked at last, which is the one after the next.
    last_result: Option<EvaluatedLine>,
    /// What was found, the last ply first.
    move_reviews: Vec<MoveReview>,
}

impl Review {
    /// Begins with the end of the game that was played from `start` by these moves, in canonical form.
    ///
    /// # Errors
    ///
    /// One of them cannot be played when its turn comes.
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
        // The symmetries of a position that was set up are not known.
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

    /// What is played.
    #[must_use]
    pub const fn game(&self) -> &'static GameEntry {
        self.game
    }

    /// How many moves there are to be looked at.
    #[must_use]
    pub const fn plies(&self) -> usize {
        self.moves.len()
    }

    /// Whether all has been looked at.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.final_evaluation.is_some() && self.move_reviews.len() == self.moves.len()
    }

    /// What the position after the last move is worth, once that is known.
    #[must_use]
    pub const fn final_evaluation(&self) -> Option<Evaluation> {
        self.final_evaluation
    }

    /// What has been found so far, the last ply first.
    #[must_use]
    pub fn move_reviews(&self) -> &[MoveReview] {
        &self.move_reviews
    }

    /// Looks at one more position: first at that after the last move, then at that before it, and so on
    /// backwards. The limits are those of one position. If `stop` comes first, nothing is found.
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

    /// The findings in terms of the moves that were played, before `turned` was applied.
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

    /// What a search finds of this position alone; nothing if it was stopped.
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

    /// What the move of this ply was worth, where all that came after it has been looked at; nothing if that was
    /// stopped.
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

    /// Why the move `m` was bad. Both lines, the better one and the reply to the move, are followed further first.
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

    /// If a symmetry of the position turns the best move into the move that was played, the best line after that
    /// symmetry. Otherwise what was found, as it is.
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

    /// Whether the symmetry leaves the position before this ply as it is: the turned moves lead to the same position.
    fn is_symmetric(&self, ply: usize, position: &dyn AnyPosition, symmetry: Symmetry) -> bool {
        let mut image = self.start.clone_box();
        let played = self.moves[..ply].iter();
        let all_played =
            (played.map(|m| self.game.transform_move(m, symmetry))).all(|m| image.play(&m).is_ok());
        all_played && image.to_string() == position.to_string()
    }

    /// In a solved game, the line that holds out much longer in a lost position than the move that was played, see
    /// [`RESISTANCE_PLIES_MIN`]. The line is empty if there is none or the limits are too low to find it. Returns `None` if the search
    /// was stopped.
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
        // The table of the review may say that the game is lost without saying how soon.
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

    /// Whether there was a win within a few moves and none is known after the move, though the chances are nearly as
    /// good; nothing if that was stopped.
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

    /// Compares the move with the best there is; nothing if that was stopped.
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
        // The result after the move is known from farther on. It is not worse than the best there is.
        let is_better = !best.exact && played.preference_for(turn) > best.preference_for(turn);
        // In a solved game any move that keeps the win is as good as far as is known. A loss is different: the search
        // has chosen the move that seems to hold out for longest.
        let is_same_win = self.game.is_solved && played.is_same_unmeasured_win(best, turn);
        let is_best = is_first || is_better || is_same_win || played.is_same_result(best);
        // But where a game is solved, nothing is told of a position by a move that does not win.
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

    /// Whether a move is plainly bad, though it is not known who wins with the best one or with this: it loses soon,
    /// and the best one does not, or there is a win soon, and no more with this; nothing if that was stopped.
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

    /// How well each seat played, from 0 to 100, once all has been looked at; nothing for a seat that did not
    /// move.
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

/// A move beside the best there is.
struct MoveComparison {
    turn: Seat,
    /// What the position was worth.
    evaluation: Evaluation,
    /// What it was worth with the best move, which may be the one that was played, and with that.
    best: Evaluation,
    played: Evaluation,
    /// The best line, and what follows the move that was played.
    line: Vec<String>,
    reply: Vec<String>,
}

impl MoveComparison {
    /// Whether it looks as if the move were bad, and more playouts can tell.
    fn needs_recheck(&self) -> bool {
        let lost = self.best.chance_for_seat(self.turn) - self.played.chance_for_seat(self.turn);
        lost >= INACCURACY_LOSS && self.best.standard_error.max(self.played.standard_error) > 0.0
    }
}

/// The limits of a position that is looked at once more.
fn recheck_limits(limits: &Limits) -> Limits {
    Limits {
        nodes: limits
            .nodes
            .map(|nodes| nodes.saturating_mul(RECHECK_NODES_FACTOR)),
        ..*limits
    }
}

/// How bad it was of this seat to go from one position to the other.
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
