//! Whether a bot takes a draw that it is offered.

use super::{Level, Report, Score};

/// What a bot's last search has found, as far as it says what the bot thinks of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The value of the position for the bot, in hundredths of the least piece; of a win or a loss
    /// far beyond any of these.
    pub value: i32,
    /// Whether it is proven that neither side can win against best play.
    pub is_drawn: bool,
}

/// So far behind, the stronger levels take a draw.
const BEHIND: i32 = -50;

/// The others hope for longer.
const FAR_BEHIND: i32 = -150;

impl Judgement {
    /// Whether a bot of this level takes a draw.
    #[must_use]
    pub fn takes_draw(self, level: Level) -> bool {
        let most = if level >= Level::Hard {
            BEHIND
        } else {
            FAR_BEHIND
        };
        self.is_drawn || self.value <= most
    }
}

impl<M> Report<M> {
    /// What the seat that was to move thinks of a draw.
    #[must_use]
    pub fn judgement(&self) -> Judgement {
        Judgement {
            value: self.score.rank(),
            is_drawn: self.exact && self.score == Score::DRAW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takers(score: Score, exact: bool) -> Vec<Level> {
        let report = Report::<()> {
            exact,
            ..Report::known(score)
        };
        let judgement = report.judgement();
        let takes = |level: &Level| judgement.takes_draw(*level);
        Level::ALL.into_iter().filter(takes).collect()
    }

    #[test]
    fn a_draw_is_taken_where_there_is_no_more_to_hope_for() {
        let strong = vec![Level::Hard, Level::Max];
        assert_eq!(takers(Score::DRAW, true), Level::ALL);
        assert_eq!(takers(Score::DRAW, false), []);
        assert_eq!(takers(Score::win_in(3), true), []);
        assert_eq!(takers(Score::loss_in(3), true), Level::ALL);
        assert_eq!(takers(Score::estimate(-49), false), []);
        assert_eq!(takers(Score::estimate(-50), false), strong);
        assert_eq!(takers(Score::estimate(-149), false), strong);
        assert_eq!(takers(Score::estimate(-150), false), Level::ALL);
    }
}
