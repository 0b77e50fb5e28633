//! Whether a bot takes a draw that it is offered.

use super::{Level, Report, Score};

/// What a bot's last search has found, as far as it says what the bot thinks of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawAssessment {
    /// The value of the position for the bot, in hundredths of the least piece; of a win or a loss
    /// far beyond any of these.
    pub value: i32,
    /// Whether it is proven that neither side can win against best play.
    pub is_drawn: bool,
}

/// So far behind, the stronger levels take a draw.
const ACCEPT_DRAW_SCORE_MAX_STRONG: i32 = -50;

/// The others hope for longer.
const ACCEPT_DRAW_SCORE_MAX_WEAK: i32 = -150;

impl DrawAssessment {
    /// Whether a bot of this level takes a draw.
    #[must_use]
    pub fn accepts_draw(self, level: Level) -> bool {
        let score_max = if level >= Level::Hard {
            ACCEPT_DRAW_SCORE_MAX_STRONG
        } else {
            ACCEPT_DRAW_SCORE_MAX_WEAK
        };
        self.is_drawn || self.value <= score_max
    }
}

impl<M> Report<M> {
    /// What the seat that was to move thinks of a draw.
    #[must_use]
    pub fn draw_assessment(&self) -> DrawAssessment {
        DrawAssessment {
            value: self.score.raw(),
            is_drawn: self.exact && self.score == Score::DRAW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting_levels(score: Score, exact: bool) -> Vec<Level> {
        let report = Report::<()> {
            exact,
            ..Report::from_exact_score(score)
        };
        let assessment = report.draw_assessment();
        let accepts = |level: &Level| assessment.accepts_draw(*level);
        Level::ALL.into_iter().filter(accepts).collect()
    }

    #[test]
    fn draw_is_accepted_when_drawn_or_far_enough_behind() {
        let strong = vec![Level::Hard, Level::Max];
        assert_eq!(accepting_levels(Score::DRAW, true), Level::ALL);
        assert_eq!(accepting_levels(Score::DRAW, false), []);
        assert_eq!(accepting_levels(Score::win_in(3), true), []);
        assert_eq!(accepting_levels(Score::loss_in(3), true), Level::ALL);
        assert_eq!(accepting_levels(Score::estimate(-49), false), []);
        assert_eq!(accepting_levels(Score::estimate(-50), false), strong);
        assert_eq!(accepting_levels(Score::estimate(-149), false), strong);
        assert_eq!(accepting_levels(Score::estimate(-150), false), Level::ALL);
    }
}
