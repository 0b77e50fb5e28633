//! The positions that lead to the one that is looked at, as far as the rules ask for them.

use crate::game::{KeyHistory, Position, RepetitionRule};

/// The positions on the way from the beginning of the game to the one that is looked at.
#[derive(Debug)]
pub(super) struct SearchPath {
    positions: KeyHistory,
    /// How many of them were on the board before the search began.
    game_length: usize,
}

impl SearchPath {
    /// The path to a position with this past.
    pub(super) fn from_history(key_history: &KeyHistory) -> Self {
        Self {
            positions: key_history.clone(),
            game_length: key_history.len(),
        }
    }

    /// Notes that `pos` is looked at, so many plies after the position that is searched. What was
    /// noted farther on belongs to another line.
    #[inline]
    pub(super) fn visit<P: Position>(&mut self, pos: &P, ply: u32) {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            self.positions.truncate(self.game_length + ply as usize);
            self.positions.push(pos);
        }
    }

    /// Whether `pos`, reached after `ply` plies, is to be taken for a draw by repetition.
    ///
    /// To come again to a position of the search itself is enough: who could gain from it the first
    /// time could the second. Of what was on the board before, the rules decide.
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

    /// Whether the rules forbid that `pos` is reached after `ply` plies.
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

    /// A position of the search need come again but once, one of the game twice.
    #[test]
    fn search_scores_a_draw_at_the_first_repetition_within_the_search() {
        let history = play_steps::<false>(&[Step::Forward, Step::Back]);
        let mut path = SearchPath::from_history(history.key_history());
        let mut pos = *history.position();
        path.visit(&pos, 0);
        for (ply, step) in [Step::Forward, Step::Back].into_iter().enumerate() {
            let ply = u32::try_from(ply).expect("the number is small") + 1;
            pos.play_unchecked(step);
            // One place on was reached once in the game; the start is also where the search began.
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

        // On from there, or back from the start: the same place, but on another line.
        let back = start.after(Step::Back);
        path.visit(&back, 1);
        assert!(!path.is_forbidden(&back.after(Step::Back), 2));
    }
}
