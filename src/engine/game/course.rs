//! A game on its way: the position on the board, and the positions before it as far as a rule asks
//! for them. Repetition is not a matter of one position, so it is judged here for all games alike.

use super::{Ending, IllegalMove, Outcome, Position, ReadMoveError};

/// What the rules of a game say of a position that comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// Nothing, or it never comes.
    Free,
    /// The game is drawn when the same position is reached for the third time.
    DrawnAtThird,
    /// No move may bring it back (positional superko).
    Forbidden,
}

/// How a game ends in which a position has been reached for the third time.
const THIRD: Ending = Ending {
    detail: "repetition",
    scores: None,
};

const BROUGHT_BACK: IllegalMove = IllegalMove("would bring back an earlier position");

/// The keys of the positions that a game has gone through, the latest last. Empty in games whose
/// rules do not ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past(Vec<u64>);

impl Past {
    /// Nothing has gone before.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the position on the board, before a move is played in it.
    #[inline]
    pub fn push<P: Position>(&mut self, pos: &P) {
        if !matches!(P::REPETITION, Repetition::Free) {
            self.0.push(pos.repetition_key());
        }
    }

    /// Takes back what was added last.
    #[inline]
    pub fn pop<P: Position>(&mut self) {
        if !matches!(P::REPETITION, Repetition::Free) {
            self.0.pop();
        }
    }

    /// The keys, the latest last.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.0
    }

    /// How many positions are kept.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all but the first so many.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// The places, latest first, at which `pos`, the position after the last of these, has been on
    /// the board before.
    pub fn occurrences<P: Position>(&self, pos: &P) -> impl Iterator<Item = usize> {
        // In most games the key tells whose turn it is, and every other place cannot be; but that is
        // for the game to know, and to look costs next to nothing.
        let first = self.0.len().saturating_sub(pos.reversible_plies());
        let key = pos.repetition_key();
        let latest = self.0[first..].iter().enumerate().rev();
        latest
            .filter(move |(_, before)| **before == key)
            .map(move |(place, _)| first + place)
    }

    /// Whether the rules forbid that `pos` follows.
    #[inline]
    pub fn forbids<P: Position>(&self, pos: &P) -> bool {
        matches!(P::REPETITION, Repetition::Forbidden) && self.occurrences(pos).next().is_some()
    }

    /// Whether the rules end the game with `pos`, the position after the last of these.
    #[inline]
    pub fn ends<P: Position>(&self, pos: &P) -> bool {
        // Most often there is nothing to look for.
        matches!(P::REPETITION, Repetition::DrawnAtThird)
            && self.len().min(pos.reversible_plies()) >= 2 * P::RETURNS_AFTER
            && self.occurrences(pos).nth(1).is_some()
    }
}

/// A game that is being played: a position, and its past.
#[derive(Clone, Debug)]
pub struct Course<P: Position> {
    pos: P,
    past: Past,
    /// The move that led here, if it is known.
    last: Option<P::Move>,
    /// Whether the game has ended by repetition.
    is_repeated: bool,
    /// Whether the position on the board has ended the game, but play goes on in it.
    is_played_on: bool,
}

impl<P: Position> Course<P> {
    /// The game before its first move.
    #[must_use]
    pub fn start() -> Self {
        P::start().into()
    }

    /// The position on the board.
    pub const fn position(&self) -> &P {
        &self.pos
    }

    /// The positions before.
    pub const fn past(&self) -> &Past {
        &self.past
    }

    /// The move that led to the position on the board, if it is known.
    pub const fn last(&self) -> Option<P::Move> {
        self.last
    }

    /// How the game ended, or `None` while it goes on.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.pos
            .outcome()
            .or(self.is_repeated.then_some(Outcome::Draw))
    }

    /// How the game ended, in games that know several ways; `None` while it goes on.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.pos.ending().or(self.is_repeated.then_some(THIRD))
    }

    /// Appends every legal move, in a fixed order. Once there is an outcome there are none, unless the game
    /// was [resumed](Self::resume): then it appends the moves that remain possible.
    pub fn legal_moves(&self, moves: &mut Vec<P::Move>) {
        if self.is_repeated {
            return;
        }
        if self.is_played_on {
            return self.pos.moves_after_end(moves);
        }
        let first = moves.len();
        self.pos.legal_moves(moves);
        if matches!(P::REPETITION, Repetition::Forbidden) {
            let mut past = self.past.clone();
            past.push(&self.pos);
            let mut kept = first;
            for index in first..moves.len() {
                if !past.forbids(&self.pos.after(moves[index])) {
                    moves.swap(kept, index);
                    kept += 1;
                }
            }
            moves.truncate(kept);
        }
    }

    /// Tells whether `m` can be played here.
    ///
    /// # Errors
    ///
    /// Says why it cannot.
    pub fn check(&self, m: P::Move) -> Result<(), IllegalMove> {
        if self.is_repeated {
            return Err(IllegalMove::GAME_OVER);
        }
        if self.is_played_on {
            return self.pos.check_after_end(m);
        }
        self.pos.check(m)?;
        if matches!(P::REPETITION, Repetition::Forbidden) {
            let mut past = self.past.clone();
            past.push(&self.pos);
            if past.forbids(&self.pos.after(m)) {
                return Err(BROUGHT_BACK);
            }
        }
        Ok(())
    }

    /// Plays `m`, or leaves the game as it was.
    ///
    /// # Errors
    ///
    /// Says why `m` cannot be played here.
    pub fn play(&mut self, m: P::Move) -> Result<(), IllegalMove> {
        self.check(m)?;
        self.past.push(&self.pos);
        self.pos.play_unchecked(m);
        self.last = Some(m);
        if self.pos.reversible_plies() == 0 {
            self.past.truncate(0);
        }
        self.is_repeated = self.past.ends(&self.pos);
        self.is_played_on = false;
        Ok(())
    }

    /// Has the game go on from the position on the board, whatever has ended it or was about to. What was
    /// before is forgotten, but where the rules forbid that it comes again.
    ///
    /// A position that ends the game by itself still has its outcome. If moves remain possible in it, they
    /// can be played: a dead position in chess has such moves, and mate has none.
    pub fn resume(&mut self) {
        self.pos = self.pos.resumed();
        self.last = None;
        self.is_repeated = false;
        self.is_played_on = self.pos.outcome().is_some();
        // What has led from the same position to here did not happen, where it is not forgotten anyway.
        let since = if matches!(P::REPETITION, Repetition::Forbidden) {
            self.past.occurrences(&self.pos).next()
        } else {
            Some(0)
        };
        if let Some(since) = since {
            self.past.truncate(since);
        }
    }

    /// Lets the game continue if it has ended by a draw that a player has to claim: the third occurrence
    /// of a position, or too many moves without progress. Returns whether it has. A later occurrence of a
    /// repeated position is a draw again; the moves without progress are counted from here.
    pub fn waive_draw(&mut self) -> bool {
        if let Some(pos) = self.pos.unclaimed() {
            self.pos = pos;
        } else if !self.is_repeated || self.pos.outcome().is_some() {
            return false;
        }
        self.is_repeated = false;
        true
    }

    /// The move that `text` names here, whether or not it is legal.
    ///
    /// # Errors
    ///
    /// The text names no move.
    pub fn read_move(&self, text: &str) -> Result<P::Move, ReadMoveError> {
        self.pos.read_move(text)
    }
}

/// A game that begins with this position.
impl<P: Position> From<P> for Course<P> {
    fn from(pos: P) -> Self {
        Self {
            pos,
            past: Past::new(),
            last: None,
            is_repeated: false,
            is_played_on: false,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
