//! Positions on the current line of play, recorded for the repetition rules.

use crate::game::{KeyHistory, Position, RepetitionRule};

/// Positions from the start of the game to the node being searched.
#[derive(Debug)]
pub(super) struct SearchPath {
    positions: KeyHistory,
    /// Number of positions in the game before the root of the search.
    game_length: usize,
}

impl SearchPath {
    /// Creates the path for a search whose root position has the given history.
    pub(super) fn from_history(key_history: &KeyHistory) -> Self {
        Self {
            positions: key_history.clone(),
            game_length: key_history.len(),
        }
    }

    /// Records that the search visits `pos` at `ply`. Discards the positions that other lines of
    /// play recorded at this ply and later.
    #[inline]
    pub(super) fn visit<P: Position>(&mut self, pos: &P, ply: u32) {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            self.positions.truncate(self.game_length + ply as usize);
            self.positions.push(pos);
        }
    }

    /// Returns whether the search treats `pos` at `ply` as a draw by repetition.
    ///
    /// One earlier occurrence within the search is sufficient, because a player who gains from one
    /// repetition can repeat the position again. If the position has occurred only in the game
    /// before the search, two earlier occurrences are needed, as the rules require.
    #[inline]
    pub(super) fn is_repetition_draw<P: Position>(&mut self, pos: &P, ply: u32) -> bool {
        if !matches!(P::REPETITION_RULE, RepetitionRule::ThreefoldDraw) || ply == 0 {
            return false;
        }
        self.positions.truncate(self.game_length + ply as usize);
        let mut times = 0;
        self.positions.occurrences(pos).any(|index| {
            times += 1;
            index >= self.game_length || times == 2
        })
    }

    /// Returns whether the repetition rule forbids reaching `pos` at `ply`.
    #[inline]
    pub(super) fn is_forbidden<P: Position>(&mut self, pos: &P, ply: u32) -> bool {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            return false;
        }
        self.positions.truncate(self.game_length + ply as usize);
        self.positions.forbids(pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::game_history::tests::{Ring, Step, play_steps};

    /// Within the search, one earlier occurrence of a position makes it a draw. If the position has
    /// occurred only in the game before the search, two earlier occurrences are needed.
    #[test]
    fn search_scores_a_draw_at_the_first_repetition_within_the_search() {
        let history = play_steps::<false>(&[Step::Forward, Step::Back]);
        let mut path = SearchPath::from_history(history.key_history());
        let mut pos = *history.position();
        path.visit(&pos, 0);
        for (ply, step) in [Step::Forward, Step::Back].into_iter().enumerate() {
            let ply = u32::try_from(ply).expect("the number is small") + 1;
            pos.play_unchecked(step);
            // The position after the first step has occurred once, in the game before the search.
            // The position after the second step is the root, so it has already occurred within the
            // search.
            assert_eq!(path.is_repetition_draw(&pos, ply), ply == 2, "ply {ply}");
            path.visit(&pos, ply);
        }
    }

    #[test]
    fn visiting_another_line_discards_the_previous_one() {
        let start = Ring::<true>::initial();
        let mut path = SearchPath::from_history(&KeyHistory::new());
        path.visit(&start, 0);
        let on = start.after(Step::Forward);
        path.visit(&on, 1);
        path.visit(&on.after(Step::Forward), 2);
        assert!(path.is_forbidden(&on.after(Step::Forward).after(Step::Back), 3));

        // Two steps back reach the same position as two steps forward. However, the earlier visit
        // belongs to another line, so it must not count as a repetition.
        let back = start.after(Step::Back);
        path.visit(&back, 1);
        assert!(!path.is_forbidden(&back.after(Step::Back), 2));
    }
}
