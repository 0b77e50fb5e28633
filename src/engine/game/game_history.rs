//! A game on its way: the position on the board, and the positions before it as far as a rule asks
//! for them. Repetition is not a matter of one position, so it is judged here for all games alike.

use super::{Ending, IllegalMove, Outcome, Position, ReadMoveError};

/// What the rules of a game say of a position that comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepetitionRule {
    /// Nothing, or it never comes.
    Unrestricted,
    /// The game is drawn when the same position is reached for the third time.
    ThreefoldDraw,
    /// No move may bring it back (positional superko).
    Forbidden,
}

/// How a game ends in which a position has been reached for the third time.
const REPETITION_ENDING: Ending = Ending {
    detail: "repetition",
    scores: None,
};

const REPEATED_POSITION: IllegalMove = IllegalMove("would bring back an earlier position");

/// The keys of the positions that a game has gone through, the latest last. Empty in games whose
/// rules do not ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyHistory(Vec<u64>);

impl KeyHistory {
    /// Nothing has gone before.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the position on the board, before a move is played in it.
    #[inline]
    pub fn push<P: Position>(&mut self, pos: &P) {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            self.0.push(pos.repetition_key());
        }
    }

    /// Takes back what was added last.
    #[inline]
    pub fn pop<P: Position>(&mut self) {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
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
        matches!(P::REPETITION_RULE, RepetitionRule::Forbidden)
            && self.occurrences(pos).next().is_some()
    }

    /// Whether the rules end the game with `pos`, the position after the last of these.
    #[inline]
    pub fn is_repetition_draw<P: Position>(&self, pos: &P) -> bool {
        // Most often there is nothing to look for.
        matches!(P::REPETITION_RULE, RepetitionRule::ThreefoldDraw)
            && self.len().min(pos.reversible_plies()) >= 2 * P::REPETITION_PLIES_MIN
            && self.occurrences(pos).nth(1).is_some()
    }
}

/// A game that is being played: a position, and its past.
#[derive(Clone, Debug)]
pub struct GameHistory<P: Position> {
    pos: P,
    key_history: KeyHistory,
    /// The move that led here, if it is known.
    last_move: Option<P::Move>,
    /// Whether the game has ended by repetition.
    is_drawn_by_repetition: bool,
    /// Whether the position on the board has ended the game, but play goes on in it.
    continues_after_end: bool,
}

impl<P: Position> GameHistory<P> {
    /// The game before its first move.
    #[must_use]
    pub fn initial() -> Self {
        P::initial().into()
    }

    /// The position on the board.
    pub const fn position(&self) -> &P {
        &self.pos
    }

    /// The positions before.
    pub const fn key_history(&self) -> &KeyHistory {
        &self.key_history
    }

    /// The move that led to the position on the board, if it is known.
    pub const fn last_move(&self) -> Option<P::Move> {
        self.last_move
    }

    /// How the game ended, or `None` while it goes on.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.pos
            .outcome()
            .or(self.is_drawn_by_repetition.then_some(Outcome::Draw))
    }

    /// How the game ended, in games that know several ways; `None` while it goes on.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.pos
            .ending()
            .or(self.is_drawn_by_repetition.then_some(REPETITION_ENDING))
    }

    /// Appends every legal move, in a fixed order. Once there is an outcome there are none, unless the game
    /// was [resumed](Self::resume): then it appends the moves that remain possible.
    pub fn legal_moves(&self, moves: &mut Vec<P::Move>) {
        if self.is_drawn_by_repetition {
            return;
        }
        if self.continues_after_end {
            return self.pos.moves_after_end(moves);
        }
        let first = moves.len();
        self.pos.legal_moves(moves);
        if matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            let mut key_history = self.key_history.clone();
            key_history.push(&self.pos);
            let mut legal_end = first;
            for index in first..moves.len() {
                if !key_history.forbids(&self.pos.after(moves[index])) {
                    moves.swap(legal_end, index);
                    legal_end += 1;
                }
            }
            moves.truncate(legal_end);
        }
    }

    /// Tells whether `m` can be played here.
    ///
    /// # Errors
    ///
    /// Says why it cannot.
    pub fn check_legal(&self, m: P::Move) -> Result<(), IllegalMove> {
        if self.is_drawn_by_repetition {
            return Err(IllegalMove::GAME_OVER);
        }
        if self.continues_after_end {
            return self.pos.check_legal_after_end(m);
        }
        self.pos.check_legal(m)?;
        if matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            let mut key_history = self.key_history.clone();
            key_history.push(&self.pos);
            if key_history.forbids(&self.pos.after(m)) {
                return Err(REPEATED_POSITION);
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
        self.check_legal(m)?;
        self.key_history.push(&self.pos);
        self.pos.play_unchecked(m);
        self.last_move = Some(m);
        if self.pos.reversible_plies() == 0 {
            self.key_history.truncate(0);
        }
        self.is_drawn_by_repetition = self.key_history.is_repetition_draw(&self.pos);
        self.continues_after_end = false;
        Ok(())
    }

    /// Has the game go on from the position on the board, whatever has ended it or was about to. What was
    /// before is forgotten, but where the rules forbid that it comes again.
    ///
    /// A position that ends the game by itself still has its outcome. If moves remain possible in it, they
    /// can be played: a dead position in chess has such moves, and mate has none.
    pub fn resume(&mut self) {
        self.pos = self.pos.with_counters_reset();
        self.last_move = None;
        self.is_drawn_by_repetition = false;
        self.continues_after_end = self.pos.outcome().is_some();
        // What has led from the same position to here did not happen, where it is not forgotten anyway.
        let keys_kept = if matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            self.key_history.occurrences(&self.pos).next()
        } else {
            Some(0)
        };
        if let Some(since) = keys_kept {
            self.key_history.truncate(since);
        }
    }

    /// Lets the game continue if it has ended by a draw that a player has to claim: the third occurrence
    /// of a position, or too many moves without progress. Returns whether it has. A later occurrence of a
    /// repeated position is a draw again; the moves without progress are counted from here.
    pub fn waive_draw(&mut self) -> bool {
        if let Some(pos) = self.pos.with_draw_waived() {
            self.pos = pos;
        } else if !self.is_drawn_by_repetition || self.pos.outcome().is_some() {
            return false;
        }
        self.is_drawn_by_repetition = false;
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
impl<P: Position> From<P> for GameHistory<P> {
    fn from(pos: P) -> Self {
        Self {
            pos,
            key_history: KeyHistory::new(),
            last_move: None,
            is_drawn_by_repetition: false,
            continues_after_end: false,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
