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
mod chances;
mod lines;
mod said;
mod signs;
#[cfg(test)]
mod tests;
mod why;
mod worth;

pub use self::chances::{Chances, win_probability};
pub use self::said::english;
pub use self::signs::Finding;
pub use self::why::{BetterOutcome, Kind, Why};
pub use self::worth::{Known, Worth};

use crate::catalog::{AnyPosition, GameEntry, PlayError};
use crate::game::{Seat, Symmetry};
use crate::search::{Limits, Stop, Table};

/// No line that is told is longer than this.
pub const LINE_MAX: usize = 8;

/// How much memory of what was found before one review has use for.
pub const TABLE_BYTES: usize = 16 << 20;

/// A move that costs its seat so much of its chances, on a scale from -1 to 1, is judged so: the steps
/// of lichess (lila, `Advice.scala`).
const INACCURACY: f64 = 0.1;
const MISTAKE: f64 = 0.2;
const BLUNDER: f64 = 0.3;

/// What looks bad where it cannot be known for certain is looked at again with so many times the nodes: a few thousand
/// playouts do not see far enough to call a move bad.
const AGAIN: u64 = 5;

/// What differs by less than so many times its standard error is as good.
const ERRORS: f64 = 2.0;

/// So many points given away, where both results are known, are judged so, even if the same seat still wins.
const POINTS: [(u32, Judgement); 3] = [
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
/// the result: it is a mistake and costs [`MISTAKE`].
const SOONER: u32 = 8;

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
pub struct Looked {
    /// The number of the ply.
    pub ply: usize,
    /// The seat that moved.
    pub turn: Seat,
    /// The move that was played.
    pub m: String,
    /// What the position was worth before it.
    pub worth: Worth,
    /// How much of its seat's chances the move has cost, as far as that is beyond doubt: from 0 to 2.
    pub loss: f64,
    /// The best line of play, as far as it was seen; its first move is the best.
    pub line: Vec<String>,
    /// `line` in standard algebraic notation, in chess.
    pub san: Option<Vec<String>>,
    /// How bad the move was, and why; nothing where it was good.
    pub judged: Option<(Judgement, Why)>,
}

/// What a search has found of a position: what it is worth, and how it goes on.
type Found = (Worth, Vec<String>);

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
    turned: Symmetry,
    /// Symmetries that leave `start` as it is.
    symmetries: &'static [Symmetry],
    table: Table,
    /// What the position after the last move is worth, once that is known.
    end: Option<Worth>,
    /// What was found of the position that was looked at last, which is the one after the next.
    last: Option<Found>,
    /// What was found, the last ply first.
    looked: Vec<Looked>,
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
        let (moves, turned) = if is_usual && !game.uses_playouts {
            let line: Vec<&str> = moves.iter().map(String::as_str).collect();
            game.canonical_line(&line)
        } else {
            (moves, Symmetry::IDENTITY)
        };
        Ok(Self {
            game,
            start,
            moves,
            turned,
            symmetries,
            table: Table::new(table_bytes),
            end: None,
            last: None,
            looked: Vec::new(),
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
    pub const fn is_done(&self) -> bool {
        self.end.is_some() && self.looked.len() == self.moves.len()
    }

    /// What the position after the last move is worth, once that is known.
    #[must_use]
    pub const fn end(&self) -> Option<Worth> {
        self.end
    }

    /// What has been found so far, the last ply first.
    #[must_use]
    pub fn looked(&self) -> &[Looked] {
        &self.looked
    }

    /// Looks at one more position: first at that after the last move, then at that before it, and so on
    /// backwards. The limits are those of one position. If `stop` comes first, nothing is found.
    pub fn step(&mut self, limits: &Limits, stop: &Stop) {
        if self.is_done() {
            return;
        }
        let left = self.moves.len() - self.looked.len();
        let ply = if self.end.is_some() { left - 1 } else { left };
        let mut position = self.start.clone_box();
        for m in &self.moves[..ply] {
            position.play(m).expect("it was played before");
        }
        let position = position.as_ref();
        let Some(found) = self.search(position, limits, stop) else {
            return;
        };
        let Some(after) = self.last.clone() else {
            self.end = Some(found.0);
            self.last = Some(found);
            return;
        };
        let alone = found.0;
        if let Some(looked) = self.look_back(ply, position, found, after, limits, stop) {
            let worth = if self.game.uses_playouts {
                alone
            } else {
                looked.worth
            };
            self.last = Some((worth, looked.line.clone()));
            self.looked.push(self.turned_back(looked));
        }
    }

    /// The findings in terms of the moves that were played, before `turned` was applied.
    fn turned_back(&self, mut looked: Looked) -> Looked {
        let back = self.turned.inverse();
        if back == Symmetry::IDENTITY {
            return looked;
        }
        let turn = |m: &mut String| *m = self.game.transform_move(m, back);
        turn(&mut looked.m);
        looked.line.iter_mut().for_each(turn);
        if let Some((_, why)) = &mut looked.judged {
            turn(&mut why.better);
            why.line.iter_mut().for_each(turn);
            why.punished.iter_mut().for_each(turn);
        }
        looked
    }

    /// What a search finds of this position alone; nothing if it was stopped.
    fn search(
        &mut self,
        position: &dyn AnyPosition,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Found> {
        if position.outcome().is_some() {
            return Some((Worth::at_end(self.game, position), Vec::new()));
        }
        self.table.next_search();
        let report = position.analyse(limits, stop, &mut self.table, &mut |_| {});
        let report = report.filter(|_| !stop.is_stopped())?;
        let worth = Worth::of(self.game, position, &report);
        let mut line = report.pv;
        line.truncate(LINE_MAX);
        Some((worth, line))
    }

    /// What the move of this ply was worth, where all that came after it has been looked at; nothing if that was
    /// stopped.
    fn look_back(
        &mut self,
        ply: usize,
        position: &dyn AnyPosition,
        alone: Found,
        after: Found,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Looked> {
        let (turn, m) = (position.turn(), self.moves[ply].clone());
        let mut after_move = position.clone_box();
        after_move.play(&m).expect("it was played before");
        let alone = self.with_played_first(ply, position, alone);
        let mut seen = self.compare(position, &m, alone, after, limits, stop)?;
        if seen.is_to_be_seen_again() {
            let limits = &again(limits);
            let alone = self.search(position, limits, stop)?;
            let alone = self.with_played_first(ply, position, alone);
            let after = self.search(after_move.as_ref(), limits, stop)?;
            seen = self.compare(position, &m, alone, after, limits, stop)?;
        }
        let Compared {
            worth,
            best,
            played,
            mut line,
            reply,
            ..
        } = seen;
        let resistance = self.resistance(position, (worth, played), &line, limits, stop)?;
        let is_sooner = !resistance.is_empty();
        let loss = if is_sooner {
            MISTAKE
        } else {
            best.lost(played, turn).max(0.0)
        };
        let judgement = match judged(best, played, turn) {
            _ if is_sooner => Some(Judgement::Mistake),
            None if self.lets_go(after_move.as_ref(), (best, played), limits, stop)? => {
                Some(Judgement::Inaccuracy)
            }
            judgement => judgement,
        };
        if is_sooner {
            line = resistance;
        }
        let mut judged = None;
        if let Some(judgement) = judgement {
            let moved = (m.as_str(), after_move.as_ref());
            let lines = (line, reply);
            let why = self.explain(position, moved, (best, played), lines, limits, stop);
            line = why.line.clone();
            judged = Some((judgement, why));
        }
        Some(Looked {
            ply,
            turn,
            m,
            worth,
            loss,
            san: position.moves_to_san(&line),
            line,
            judged,
        })
    }

    /// Why the move `m` was bad. Both lines, the better one and the reply to the move, are followed further first.
    fn explain(
        &mut self,
        before: &dyn AnyPosition,
        (m, after): (&str, &dyn AnyPosition),
        (best, played): (Worth, Worth),
        (line, reply): (Vec<String>, Vec<String>),
        limits: &Limits,
        stop: &Stop,
    ) -> Why {
        let mut tell = lines::LineFormatter {
            table: &mut self.table,
            limits: (limits, stop),
        };
        let line = tell.whole(before, line);
        let punished = tell.whole(after, reply);
        let settled = tell.all_settled(before, &line, after, &punished);
        let board = why::Board { before, m, after };
        let mut why = Why::of(&board, best, played, &line, punished, settled);
        if self.game.score_per_point.is_some() {
            why.estimate_points(best, played, before.turn());
        }
        why
    }

    /// If a symmetry of the position turns the best move into the move that was played, the best line after that
    /// symmetry. Otherwise what was found, as it is.
    fn with_played_first(
        &self,
        ply: usize,
        position: &dyn AnyPosition,
        (worth, line): Found,
    ) -> Found {
        let turned = |m: &String, by: &Symmetry| self.game.transform_move(m, *by);
        let is_image = |by: &&Symmetry| {
            line.first()
                .is_some_and(|first| turned(first, by) == self.moves[ply])
                && self.is_symmetric(ply, position, **by)
        };
        let is_first = line.first() == Some(&self.moves[ply]);
        let by = self.symmetries.iter().find(is_image).filter(|_| !is_first);
        match by {
            Some(by) => (worth, line.iter().map(|m| turned(m, by)).collect()),
            None => (worth, line),
        }
    }

    /// Whether the symmetry leaves the position before this ply as it is: the turned moves lead to the same position.
    fn is_symmetric(&self, ply: usize, position: &dyn AnyPosition, by: Symmetry) -> bool {
        let mut image = self.start.clone_box();
        let played = self.moves[..ply].iter();
        let all_played =
            (played.map(|m| self.game.transform_move(m, by))).all(|m| image.play(&m).is_ok());
        all_played && image.to_string() == position.to_string()
    }

    /// In a solved game, the line that holds out much longer in a lost position than the move that was played, see
    /// [`SOONER`]. The line is empty if there is none or the limits are too low to find it. Returns `None` if the search
    /// was stopped.
    fn resistance(
        &self,
        position: &dyn AnyPosition,
        (worth, played): (Worth, Worth),
        line: &[String],
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Vec<String>> {
        let winner = position.turn().other();
        let is_lost = worth.is_won_by(winner) && played.is_won_by(winner);
        let plies = |worth: Worth| worth.known.and_then(|known| known.plies);
        let Some(plies_played) = plies(played).filter(|_| self.game.is_solved && is_lost) else {
            return Some(Vec::new());
        };
        let plies_least = (plies_played + SOONER).max(2 * plies_played);
        if let Some(plies_best) = plies(worth) {
            let is_longer = plies_best >= plies_least;
            return Some(if is_longer { line.to_vec() } else { Vec::new() });
        }
        // The table of the review may say that the game is lost without saying how soon.
        let mut table = Table::new(RESISTANCE_TABLE_BYTES);
        let depth = plies_least - 1;
        let limits = Limits {
            depth: Some(depth),
            ..*limits
        };
        let report = position.analyse(&limits, stop, &mut table, &mut |_| {});
        let mut report = report.filter(|_| !stop.is_stopped())?;
        if report.depth < depth || report.score.plies_to_end().is_some() {
            return Some(Vec::new());
        }
        report.pv.truncate(LINE_MAX);
        Some(report.pv)
    }

    /// Whether there was a win within a few moves and none is known after the move, though the chances are nearly as
    /// good; nothing if that was stopped.
    fn lets_go(
        &mut self,
        after_move: &dyn AnyPosition,
        (best, played): (Worth, Worth),
        limits: &Limits,
        stop: &Stop,
    ) -> Option<bool> {
        let turn = after_move.turn().other();
        let is_less = played.chance_of(turn) < best.chance_of(turn);
        if !best.is_won_soon(turn) || played.known.is_some() || !is_less {
            return Some(false);
        }
        let (worth, _) = self.search(after_move, &again(limits), stop)?;
        Some(!worth.is_won_by(turn))
    }

    /// Compares the move with the best there is; nothing if that was stopped.
    fn compare(
        &mut self,
        position: &dyn AnyPosition,
        m: &String,
        (alone, mut line): Found,
        (after, reply): Found,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Compared> {
        let turn = position.turn();
        let played = after.sooner();
        let is_first = line.first() == Some(m);
        let favours_turn = self.game.uses_playouts && alone.known.is_none();
        let best = match line.first() {
            Some(_) if favours_turn && is_first => played,
            Some(first) if favours_turn => {
                let mut after = position.clone_box();
                after.play(first).expect("a search has found it");
                self.search(after.as_ref(), limits, stop)?.0.sooner()
            }
            _ => alone,
        };
        // The result after the move is known from farther on. It is not worse than the best there is.
        let is_better = !best.exact && played.for_seat(turn) > best.for_seat(turn);
        // In a solved game any move that keeps the win is as good as far as is known. A loss is different: the search
        // has chosen the move that seems to hold out for longest.
        let is_same_win = self.game.is_solved && played.is_same_win(best, turn);
        let is_best = is_first || is_better || is_same_win || played.is_same_result(best);
        // But where a game is solved, nothing is told of a position by a move that does not win.
        let tells = !self.game.is_solved || played.is_won_by(turn);
        let worth = if is_best && tells && !alone.exact {
            played
        } else {
            best
        };
        if is_best && (!is_first || line.len() <= reply.len()) {
            line = std::iter::once(m).chain(&reply).cloned().collect();
            line.truncate(LINE_MAX);
        }
        let is_judged = !self.game.is_solved
            || (best.known.is_some() && played.known.is_some())
            || self.is_plain(position, m, (best, played), line.first(), limits, stop)?;
        Some(Compared {
            turn,
            worth: if favours_turn {
                worth.halfway(alone)
            } else if self.game.score_per_point.is_some() && !alone.exact {
                worth.at_least(alone, turn)
            } else {
                worth
            },
            best: if is_best || !is_judged { played } else { best },
            played,
            line,
            reply,
        })
    }

    /// Whether a move is plainly bad, though it is not known who wins with the best one or with this: it loses soon,
    /// and the best one does not, or there is a win soon, and no more with this; nothing if that was stopped.
    fn is_plain(
        &mut self,
        position: &dyn AnyPosition,
        m: &str,
        (best, played): (Worth, Worth),
        first: Option<&String>,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<bool> {
        let turn = position.turn();
        let (loses, misses) = (played.is_won_soon(turn.other()), best.is_won_soon(turn));
        let (other, wins) = match first {
            Some(first) if loses && best.known.is_none() => (first.as_str(), turn.other()),
            Some(_) if misses && played.known.is_none() => (m, turn),
            _ => return Some(false),
        };
        let mut after = position.clone_box();
        after.play(other).expect("it is legal");
        let (worth, _) = self.search(after.as_ref(), &again(limits), stop)?;
        Some(!worth.is_won_by(wins))
    }

    /// How well each seat played, from 0 to 100, once all has been looked at; nothing for a seat that did not
    /// move.
    #[must_use]
    pub fn accuracy(&self) -> Option<[Option<u8>; 2]> {
        let end = self.end().filter(|_| self.is_done())?;
        let worths = self.looked.iter().rev().map(|looked| looked.worth);
        let chances: Vec<f64> = worths.chain([end]).map(|worth| worth.chance).collect();
        let losses = self.looked.iter().rev();
        let losses: Vec<(Seat, f64)> = losses.map(|looked| (looked.turn, looked.loss)).collect();
        Some(accuracy::accuracy(&chances, &losses))
    }
}

/// A move beside the best there is.
struct Compared {
    turn: Seat,
    /// What the position was worth.
    worth: Worth,
    /// What it was worth with the best move, which may be the one that was played, and with that.
    best: Worth,
    played: Worth,
    /// The best line, and what follows the move that was played.
    line: Vec<String>,
    reply: Vec<String>,
}

impl Compared {
    /// Whether it looks as if the move were bad, and more playouts can tell.
    fn is_to_be_seen_again(&self) -> bool {
        let lost = self.best.chance_of(self.turn) - self.played.chance_of(self.turn);
        lost >= INACCURACY && self.best.doubt.max(self.played.doubt) > 0.0
    }
}

/// The limits of a position that is looked at once more.
fn again(limits: &Limits) -> Limits {
    Limits {
        nodes: limits.nodes.map(|nodes| nodes.saturating_mul(AGAIN)),
        ..*limits
    }
}

/// How bad it was of this seat to go from one position to the other.
fn judged(before: Worth, after: Worth, turn: Seat) -> Option<Judgement> {
    let by_chance = match before.lost(after, turn) {
        lost if lost >= BLUNDER => Some(Judgement::Blunder),
        lost if lost >= MISTAKE => Some(Judgement::Mistake),
        lost if lost >= INACCURACY => Some(Judgement::Inaccuracy),
        _ => None,
    };
    let given = before.points_given(after, turn);
    let by_points = POINTS.iter().find(|(points, _)| given >= *points);
    by_chance.max(by_points.map(|(_, judgement)| *judgement))
}
