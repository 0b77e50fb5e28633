//! A game in progress: the current position, and the earlier positions that the repetition rule
//! needs. A position does not store the earlier positions, so this module applies the repetition
//! rules of all games.

use super::{
    Ending, IllegalMove, MOVES_CAPACITY, Outcome, Position, ReadMoveError, append_quoted_move,
};

/// Effect of a repeated position on the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepetitionRule {
    /// Repetition has no effect, or it cannot occur.
    Unrestricted,
    /// The game is drawn at the third occurrence of a position.
    ThreefoldDraw,
    /// A move must not repeat an earlier position (positional superko).
    Forbidden,
}

/// The [`Ending`] of a game that is drawn by threefold repetition.
const REPETITION_ENDING: Ending = Ending::without_scores("repetition");

const REPEATED_POSITION: IllegalMove = IllegalMove("would repeat an earlier position");

/// Repetition keys of the earlier positions of a game, in the order of play. Always empty if the
/// game has no repetition rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyHistory(Vec<u64>);

impl KeyHistory {
    /// Creates an empty history.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends the repetition key of `pos`, unless the game has no repetition rule. The caller must
    /// push the current position before it plays a move.
    #[inline]
    pub fn push<P: Position>(&mut self, pos: &P) {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            self.0.push(pos.repetition_key());
        }
    }

    /// Removes the key that was added last.
    #[inline]
    pub fn pop<P: Position>(&mut self) {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            self.0.pop();
        }
    }

    /// Returns the keys in the order of play.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.0
    }

    /// Returns the number of stored keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether no keys are stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all keys except the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Returns the history indices where `pos` has occurred before, in descending order. `pos` must
    /// be the position that follows the last stored position.
    pub fn occurrences<P: Position>(&self, pos: &P) -> impl Iterator<Item = usize> {
        self.occurrences_in_last(pos.reversible_plies(), pos)
    }

    /// Returns the indices of the last `plies` stored positions that equal `pos`, in descending
    /// order.
    fn occurrences_in_last<P: Position>(
        &self,
        plies: usize,
        pos: &P,
    ) -> impl Iterator<Item = usize> {
        // In most games, a position can recur only after an even number of plies, because its key
        // includes the side to move. The search still compares every key, because skipping every
        // second key would save almost nothing.
        let first = self.0.len().saturating_sub(plies);
        let key = pos.repetition_key();
        let latest = self.0[first..].iter().enumerate().rev();
        latest
            .filter(move |(_, before)| **before == key)
            .map(move |(place, _)| first + place)
    }

    /// Returns whether the repetition rule forbids a move to `pos`.
    #[inline]
    pub fn forbids<P: Position>(&self, pos: &P) -> bool {
        matches!(P::REPETITION_RULE, RepetitionRule::Forbidden)
            && self.occurrences(pos).next().is_some()
    }

    /// Returns whether `pos` ends the game as a draw by repetition. `pos` must be the position that
    /// follows the last stored position.
    #[inline]
    pub fn is_repetition_draw<P: Position>(&self, pos: &P) -> bool {
        // The length check avoids the search in most positions.
        matches!(P::REPETITION_RULE, RepetitionRule::ThreefoldDraw)
            && self.len().min(pos.reversible_plies()) >= 2 * P::REPETITION_PLIES_MIN
            && self.occurrences(pos).nth(1).is_some()
    }

    /// Returns the history indices where `next` has occurred before, in descending order. `next`
    /// must be a position after a move from the current position, which is not stored.
    fn occurrences_before_current<P: Position>(&self, next: &P) -> impl Iterator<Item = usize> {
        // A move always changes the position, so the current position cannot equal `next`.
        self.occurrences_in_last(next.reversible_plies().saturating_sub(1), next)
    }
}

/// A game in progress: the current position and the keys of the earlier positions.
#[derive(Clone, Debug)]
pub struct GameHistory<P: Position> {
    pos: P,
    key_history: KeyHistory,
    /// Move that led to the current position, if it is known.
    last_move: Option<P::Move>,
    /// Whether the game has been drawn by repetition.
    is_drawn_by_repetition: bool,
    /// Whether play continues although the current position ends the game.
    continues_after_end: bool,
}

impl<P: Position> GameHistory<P> {
    /// Creates a game at its initial position.
    #[must_use]
    pub fn initial() -> Self {
        P::initial().into()
    }

    /// Returns the current position.
    pub const fn position(&self) -> &P {
        &self.pos
    }

    /// Returns the keys of the earlier positions.
    pub const fn key_history(&self) -> &KeyHistory {
        &self.key_history
    }

    /// Returns the move that led to the current position, if it is known.
    pub const fn last_move(&self) -> Option<P::Move> {
        self.last_move
    }

    /// Returns the outcome of the game, or `None` while it is in progress.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.pos
            .outcome()
            .or(self.is_drawn_by_repetition.then_some(Outcome::Draw))
    }

    /// Returns how the game ended, if this kind of game can end in several ways. Returns `None`
    /// while the game is in progress.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.pos
            .ending()
            .or(self.is_drawn_by_repetition.then_some(REPETITION_ENDING))
    }

    /// Appends every legal move, in a fixed order.
    ///
    /// A game that has ended has no legal moves. After [`resume`](Self::resume), the moves that are
    /// still possible in the final position are appended.
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
            let mut legal_end = first;
            for index in first..moves.len() {
                if !self.has_occurred(&self.pos.after(moves[index])) {
                    moves.swap(legal_end, index);
                    legal_end += 1;
                }
            }
            moves.truncate(legal_end);
        }
    }

    /// Appends every legal move as a JSON array of strings, in the order of
    /// [`legal_moves`](Self::legal_moves).
    pub fn append_legal_moves_json(&self, json: &mut Vec<u8>) {
        json.push(b'[');
        let is_position_sufficient = !matches!(P::REPETITION_RULE, RepetitionRule::Forbidden)
            && !self.is_drawn_by_repetition
            && !self.continues_after_end;
        if is_position_sufficient {
            self.pos.append_legal_moves(json);
        } else {
            let mut moves = Vec::with_capacity(MOVES_CAPACITY);
            self.legal_moves(&mut moves);
            for m in moves {
                append_quoted_move::<P>(m, json);
            }
        }
        // The last move is followed by a comma, too.
        if json.last() == Some(&b',') {
            json.pop();
        }
        json.push(b']');
    }

    /// Checks that `m` can be played in the current position.
    ///
    /// # Errors
    ///
    /// Returns the reason why `m` cannot be played.
    pub fn check_legal(&self, m: P::Move) -> Result<(), IllegalMove> {
        if self.is_drawn_by_repetition {
            return Err(IllegalMove::GAME_OVER);
        }
        if self.continues_after_end {
            return self.pos.check_legal_after_end(m);
        }
        self.pos.check_legal(m)?;
        if matches!(P::REPETITION_RULE, RepetitionRule::Forbidden)
            && self.has_occurred(&self.pos.after(m))
        {
            return Err(REPEATED_POSITION);
        }
        Ok(())
    }

    /// Returns whether the position `next`, which follows the current position, has occurred
    /// before.
    fn has_occurred(&self, next: &P) -> bool {
        self.key_history
            .occurrences_before_current(next)
            .next()
            .is_some()
    }

    /// Returns the outcome of the game after `m`, or `None` if the game continues.
    ///
    /// # Errors
    ///
    /// Returns the reason why `m` cannot be played.
    pub fn outcome_after(&self, m: P::Move) -> Result<Option<Outcome>, IllegalMove> {
        self.check_legal(m)?;
        let next = self.pos.after(m);
        let is_third_occurrence = || {
            matches!(P::REPETITION_RULE, RepetitionRule::ThreefoldDraw)
                && self
                    .key_history
                    .occurrences_before_current(&next)
                    .nth(1)
                    .is_some()
        };
        Ok(next
            .outcome()
            .or_else(|| is_third_occurrence().then_some(Outcome::Draw)))
    }

    /// Plays `m`. The game is unchanged if the move is illegal.
    ///
    /// # Errors
    ///
    /// Returns the reason why `m` cannot be played.
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

    /// Continues the game from the current position, even if the game has ended. Resets the
    /// counters that can end the game. Clears the history of earlier positions, unless the game
    /// forbids repetition. In a game that forbids repetition, the earlier positions stay forbidden.
    ///
    /// If the current position itself ends the game, its outcome remains, but moves that are still
    /// possible can be played. For example, a dead position in chess still allows moves, but
    /// checkmate does not.
    pub fn resume(&mut self) {
        self.pos = self.pos.with_counters_reset();
        self.last_move = None;
        self.is_drawn_by_repetition = false;
        self.continues_after_end = self.pos.outcome().is_some();
        // Games that allow repetition discard the whole history, and other games keep it. If the
        // current position has occurred before, a game that forbids repetition discards the history
        // from that occurrence on.
        let keys_kept = if matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            self.key_history.occurrences(&self.pos).next()
        } else {
            Some(0)
        };
        if let Some(since) = keys_kept {
            self.key_history.truncate(since);
        }
    }

    /// Continues a drawn game if the official rules require a player to claim this kind of draw.
    /// Players must claim draws by threefold repetition and draws after too many moves without
    /// progress. Returns whether the game continues.
    ///
    /// If a position that has occurred three times occurs again, the game is drawn again. After a
    /// draw for lack of progress, the count of moves without progress restarts at 0.
    pub fn waive_draw(&mut self) -> bool {
        if let Some(pos) = self.pos.with_draw_waived() {
            self.pos = pos;
        } else if !self.is_drawn_by_repetition || self.pos.outcome().is_some() {
            return false;
        }
        self.is_drawn_by_repetition = false;
        true
    }

    /// Returns the move that `text` names in the current position, whether or not it is legal.
    ///
    /// # Errors
    ///
    /// Returns an error if the text names no move.
    pub fn read_move(&self, text: &str) -> Result<P::Move, ReadMoveError> {
        self.pos.read_move(text)
    }
}

/// Creates a game that starts from this position.
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
