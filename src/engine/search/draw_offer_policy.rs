//! Decides whether a bot accepts a draw offer.

use super::{Level, Report, Score};

/// Values from a bot's last search that determine whether the bot accepts a draw offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawAssessment {
    /// Value of the position for the bot, in hundredths of the least valuable piece (a pawn in
    /// chess). A known win or loss has a larger absolute value than any estimate.
    pub value: i32,
    /// Whether the position is proven to be a draw with best play.
    pub is_drawn: bool,
}

/// Highest position value at which a bot of level `Hard` or above accepts a draw.
const ACCEPT_DRAW_SCORE_MAX_STRONG: i32 = -50;

/// Highest position value at which a bot below level `Hard` accepts a draw. Weaker bots play on in
/// some positions in which stronger bots accept a draw.
const ACCEPT_DRAW_SCORE_MAX_WEAK: i32 = -150;

impl DrawAssessment {
    /// Returns whether a bot of the given level accepts a draw.
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
    /// Returns the position value and draw status that decide whether the seat to move accepts a
    /// draw offer.
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
