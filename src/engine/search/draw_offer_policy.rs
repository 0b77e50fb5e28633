//! Decides whether a bot accepts a draw offer.

use super::{Level, Report, Score};

/// The part of a bot's last search result that determines its answer to a draw offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawAssessment {
    /// Value of the position for the bot, in hundredths of the least valuable piece. Wins and
    /// losses are far outside the range of estimates.
    pub value: i32,
    /// Whether the position is proven to be a draw with best play.
    pub is_drawn: bool,
}

/// Highest value of its position at which a bot of the stronger levels accepts a draw.
const ACCEPT_DRAW_SCORE_MAX_STRONG: i32 = -50;

/// Highest value of its position at which a bot of the other levels accepts a draw. These bots
/// continue to play in worse positions.
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
    /// Returns the values that determine how the seat to move answers a draw offer.
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
