//! The positions that lead to the one that is looked at, as far as the rules ask for them.

use crate::game::{KeyHistory, Position, RepetitionRule};

/// The positions on the way from the beginning of the game to the one that is looked at.
#[derive(Debug)]
pub(super) struct Path {
    positions: KeyHistory,
    /// How many of them were on the board before the search began.
    played: usize,
}

impl Path {
    /// The path to a position with this past.
    pub(super) fn after(past: &KeyHistory) -> Self {
        Self {
            positions: past.clone(),
            played: past.len(),
        }
    }

    /// Notes that `pos` is looked at, so many plies after the position that is searched. What was
    /// noted farther on belongs to another line.
    #[inline]
    pub(super) fn reach<P: Position>(&mut self, pos: &P, ply: u32) {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Unrestricted) {
            self.positions.truncate(self.played + ply as usize);
            self.positions.push(pos);
        }
    }

    /// Whether `pos`, reached after `ply` plies, is to be taken for a draw by repetition.
    ///
    /// To come again to a position of the search itself is enough: who could gain from it the first
    /// time could the second. Of what was on the board before, the rules decide.
    #[inline]
    pub(super) fn ends<P: Position>(&mut self, pos: &P, ply: u32) -> bool {
        if !matches!(P::REPETITION_RULE, RepetitionRule::ThreefoldDraw) || ply == 0 {
            return false;
        }
        self.positions.truncate(self.played + ply as usize);
        let mut times = 0;
        self.positions.occurrences(pos).any(|place| {
            times += 1;
            place >= self.played || times == 2
        })
    }

    /// Whether the rules forbid that `pos` is reached after `ply` plies.
    #[inline]
    pub(super) fn forbids<P: Position>(&mut self, pos: &P, ply: u32) -> bool {
        if !matches!(P::REPETITION_RULE, RepetitionRule::Forbidden) {
            return false;
        }
        self.positions.truncate(self.played + ply as usize);
        self.positions.forbids(pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::game_history::tests::{Ring, Step, play_steps};

    /// A position of the search need come again but once, one of the game twice.
    #[test]
    fn a_draw_is_seen_sooner_in_the_search_than_on_the_board() {
        let course = play_steps::<false>(&[Step::Forward, Step::Back]);
        let mut path = Path::after(course.key_history());
        let mut pos = *course.position();
        path.reach(&pos, 0);
        for (ply, step) in [Step::Forward, Step::Back].into_iter().enumerate() {
            let ply = u32::try_from(ply).expect("small") + 1;
            pos.play_unchecked(step);
            // One place on was reached once in the game; the start is also where the search began.
            assert_eq!(path.ends(&pos, ply), ply == 2, "ply {ply}");
            path.reach(&pos, ply);
        }
    }

    #[test]
    fn another_line_forgets_the_one_before() {
        let start = Ring::<true>::initial();
        let mut path = Path::after(&KeyHistory::new());
        path.reach(&start, 0);
        let on = start.after(Step::Forward);
        path.reach(&on, 1);
        path.reach(&on.after(Step::Forward), 2);
        assert!(path.forbids(&on.after(Step::Forward).after(Step::Back), 3));

        // On from there, or back from the start: the same place, but on another line.
        let back = start.after(Step::Back);
        path.reach(&back, 1);
        assert!(!path.forbids(&back.after(Step::Back), 2));
    }
}
