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

pub use self::chances::{Chances, chances};
pub use self::said::said;
pub use self::signs::Sign;
pub use self::why::{Keeps, Kind, Why};
pub use self::worth::{Known, Worth};

use crate::catalog::{AnyPosition, Entry, PlayError};
use crate::game::Seat;
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
    game: &'static Entry,
    start: Box<dyn AnyPosition>,
    moves: Vec<String>,
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
        game: &'static Entry,
        start: Box<dyn AnyPosition>,
        moves: Vec<String>,
        table_bytes: usize,
    ) -> Result<Self, PlayError> {
        let mut position = start.clone_box();
        for m in &moves {
            position.play(m)?;
        }
        Ok(Self {
            game,
            start,
            moves,
            table: Table::new(table_bytes),
            end: None,
            last: None,
            looked: Vec::new(),
        })
    }

    /// What is played.
    #[must_use]
    pub const fn game(&self) -> &'static Entry {
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
            let worth = if self.game.plays_out {
                alone
            } else {
                looked.worth
            };
            self.last = Some((worth, looked.line.clone()));
            self.looked.push(looked);
        }
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
        let report = position.look(limits, stop, &mut self.table, &mut |_| {});
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
        let mut seen = self.compare(position, &m, alone, after, limits, stop)?;
        if seen.is_to_be_seen_again() {
            let limits = &again(limits);
            let alone = self.search(position, limits, stop)?;
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
        let judgement = match judged(best, played, turn) {
            None if self.lets_go(after_move.as_ref(), (best, played), limits, stop)? => {
                Some(Judgement::Inaccuracy)
            }
            judgement => judgement,
        };
        let judged = judgement.map(|judgement| {
            let mut tell = lines::Teller {
                table: &mut self.table,
                limits: (limits, stop),
            };
            line = tell.whole(position, std::mem::take(&mut line));
            let punished = tell.whole(after_move.as_ref(), reply);
            let settled = tell.all_settled(position, &line, after_move.as_ref(), &punished);
            let board = why::Board {
                before: position,
                m: &m,
                after: after_move.as_ref(),
            };
            let mut why = Why::of(&board, best, played, &line, punished, settled);
            if self.game.point.is_some() {
                why.estimate_points(best, played, turn);
            }
            (judgement, why)
        });
        Some(Looked {
            ply,
            turn,
            m,
            worth,
            loss: best.lost(played, turn).max(0.0),
            san: position.in_san(&line),
            line,
            judged,
        })
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
        let favours_turn = self.game.plays_out && alone.known.is_none();
        let best = match line.first() {
            Some(_) if favours_turn && is_first => played,
            Some(first) if favours_turn => {
                let mut after = position.clone_box();
                after.play(first).expect("a search has found it");
                self.search(after.as_ref(), limits, stop)?.0.sooner()
            }
            _ => alone,
        };
        // What was played is known from farther on. It is not worse than the best there is.
        let is_best = is_first || (!best.exact && played.for_seat(turn) > best.for_seat(turn));
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
            } else if self.game.point.is_some() && !alone.exact {
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
