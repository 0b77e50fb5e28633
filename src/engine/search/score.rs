//! Scores of positions. In games decided by points, a known result is scored by its point margin.
//! In other games, a faster win has a higher score.

use std::fmt;
use std::ops::Neg;

use crate::game::{Ending, Outcome, Seat};

/// Value of a position for one seat.
///
/// A win is worth a large number minus the number of plies to the win. A loss is worth the negated
/// value of a win. A plain comparison of scores therefore prefers the faster win and the slower
/// loss. All scores between wins and losses are either draws, which are worth 0, or estimates.
/// Plies are counted from the searched position.
///
/// Tic-tac-toe textbooks score a win as `10 - plies_to_end()`. They score a loss as the negative of
/// this number.
///
/// In games decided by points, any win is worth more than every estimate. A win by a larger margin
/// is worth more, and the length of the game does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(i32);

/// Score of a win in 0 plies. More distant wins have lower scores.
///
/// All scores fit into 16 bits, the width of a score in the transposition table.
const WIN_SCORE: i32 = 32_000;

/// Maximum score of a win by points. Higher scores are wins counted in plies. The gap to
/// `WIN_SCORE` leaves room for wins as distant as the longest game.
const POINTS_SCORE_MAX: i32 = 30_000;

/// Maximum estimate. Estimates are clamped to this maximum, so that an estimate never looks like a
/// win. The gap to `POINTS_SCORE_MAX` leaves room for every possible point margin.
const ESTIMATE_MAX: i32 = 29_000;

impl Score {
    /// Score of a drawn position.
    pub const DRAW: Self = Self(0);

    /// Score that is better than the value of any position.
    pub const BEST: Self = Self(WIN_SCORE + 1);

    /// Score that is worse than the value of any position.
    pub const WORST: Self = Self(-WIN_SCORE - 1);

    /// Returns the score of a win after `plies` plies. Distances above 1999 plies count as 1999.
    #[must_use]
    pub const fn win_in(plies: u32) -> Self {
        const PLIES_MAX: u32 = (WIN_SCORE - POINTS_SCORE_MAX - 1).unsigned_abs();
        let plies = if plies < PLIES_MAX { plies } else { PLIES_MAX };
        Self(WIN_SCORE - plies.cast_signed())
    }

    /// Returns the score of a loss after `plies` plies. Distances above 1999 plies count as 1999.
    #[must_use]
    pub const fn loss_in(plies: u32) -> Self {
        Self(-Self::win_in(plies).0)
    }

    /// Creates an estimate for an unfinished game. Higher values are better for the seat. A careful
    /// player notices an advantage of 100.
    #[must_use]
    pub fn estimate(value: i32) -> Self {
        Self(value.clamp(-ESTIMATE_MAX, ESTIMATE_MAX))
    }

    /// Returns the score for `seat` if the game ends with `outcome` after `plies` plies.
    #[must_use]
    pub fn from_outcome(outcome: Outcome, seat: Seat, plies: u32) -> Self {
        match outcome {
            Outcome::Decisive { winner } if winner == seat => Self::win_in(plies),
            Outcome::Decisive { winner: _ } => Self::loss_in(plies),
            Outcome::Draw => Self::DRAW,
        }
    }

    /// Returns the score of a win by `points` points. Negative points are a loss, and 0 is a draw.
    #[must_use]
    pub const fn win_by_points(points: i32) -> Self {
        const POINTS_LIMIT: i32 = POINTS_SCORE_MAX - ESTIMATE_MAX;
        match points {
            POINTS_LIMIT.. => Self(POINTS_SCORE_MAX),
            1.. => Self(ESTIMATE_MAX + points),
            0 => Self::DRAW,
            _ if points > -POINTS_LIMIT => Self(points - ESTIMATE_MAX),
            _ => Self(-POINTS_SCORE_MAX),
        }
    }

    /// Returns the score for `seat` of a game that ends `plies` plies after the searched position.
    /// If the game was decided by points, the score depends only on the points.
    #[must_use]
    pub fn from_game_end(outcome: Outcome, ending: Option<Ending>, seat: Seat, plies: u32) -> Self {
        let points = ending.and_then(|ending| ending.scores);
        points.map_or_else(
            || Self::from_outcome(outcome, seat, plies),
            |points| {
                let [own, other] = [seat, seat.other()].map(|seat| points[seat.index()]);
                Self::win_by_points(own.cast_signed() - other.cast_signed())
            },
        )
    }

    /// Returns the point margin if the score is that of a win or loss by points. The margin is
    /// negative if the seat loses. Returns `None` for all other scores.
    #[must_use]
    pub const fn points(self) -> Option<i32> {
        match self.0 {
            ESTIMATE_MAX..=POINTS_SCORE_MAX if self.0 > ESTIMATE_MAX => Some(self.0 - ESTIMATE_MAX),
            _ if self.0 < -ESTIMATE_MAX && self.0 >= -POINTS_SCORE_MAX => {
                Some(self.0 + ESTIMATE_MAX)
            }
            _ => None,
        }
    }

    /// Returns the lowest number of points whose score is at least this score.
    pub(super) const fn points_ceil(self) -> i32 {
        -Self(-self.0).points_floor()
    }

    /// Returns the highest number of points whose score is at most this score.
    pub(super) const fn points_floor(self) -> i32 {
        match self.0 {
            _ if self.0 > POINTS_SCORE_MAX => POINTS_SCORE_MAX - ESTIMATE_MAX,
            _ if self.0 > ESTIMATE_MAX => self.0 - ESTIMATE_MAX,
            0.. => 0,
            _ if self.0 >= -ESTIMATE_MAX => -1,
            _ if self.0 >= -POINTS_SCORE_MAX => self.0 + ESTIMATE_MAX,
            _ => ESTIMATE_MAX - POINTS_SCORE_MAX - 1,
        }
    }

    /// Returns whether the seat is known to win or to lose.
    #[must_use]
    pub const fn is_decided(self) -> bool {
        self.0.unsigned_abs() > ESTIMATE_MAX.unsigned_abs()
    }

    /// Returns the lowest score that is better than this score.
    #[must_use]
    pub(super) const fn next_better(self) -> Self {
        Self(self.0 + 1)
    }

    /// Converts a score counted from one position to a score counted from the position `plies`
    /// plies earlier. A win or loss counted in plies becomes more distant by `plies`.
    #[must_use]
    pub(super) const fn delayed_by(self, plies: u32) -> Self {
        self.shift_plies(plies.cast_signed())
    }

    /// Reverses [`Score::delayed_by`]. If the input is a bound and not the value of a position, the
    /// result can lie outside the range of scores.
    #[must_use]
    pub(super) const fn advanced_by(self, plies: u32) -> Self {
        self.shift_plies(-plies.cast_signed())
    }

    #[inline]
    const fn shift_plies(self, plies: i32) -> Self {
        let is_win = (self.0 > POINTS_SCORE_MAX) as i32;
        let is_loss = (self.0 < -POINTS_SCORE_MAX) as i32;
        Self(self.0 - plies * (is_win - is_loss))
    }

    #[expect(clippy::cast_possible_truncation, reason = "every score fits")]
    pub(super) const fn to_i16(self) -> i16 {
        self.0 as i16
    }

    pub(super) const fn from_i16(score: i16) -> Self {
        Self(score as i32)
    }

    /// Returns the score reduced by `amount`, but no worse than `WORST`.
    pub(super) fn saturating_sub(self, amount: u32) -> Self {
        Self(self.0.saturating_sub_unsigned(amount)).max(Self::WORST)
    }

    /// Returns the score increased by `amount`, but no better than `BEST`.
    pub(super) fn saturating_add(self, amount: u32) -> Self {
        -(-self).saturating_sub(amount)
    }

    /// Returns whether the seat is known to lose.
    pub(super) const fn is_loss(self) -> bool {
        self.0 < -ESTIMATE_MAX
    }

    /// Returns the number of plies to the win or loss. Returns `None` for all other scores,
    /// including results in points.
    #[must_use]
    pub fn plies_to_end(self) -> Option<u32> {
        let size = self.0.unsigned_abs();
        (size > POINTS_SCORE_MAX.unsigned_abs())
            .then(|| WIN_SCORE.unsigned_abs().saturating_sub(size))
    }

    /// Returns the score as a number, which is positive if the seat is ahead. For a result in
    /// points, this number is the point margin.
    #[must_use]
    pub const fn value(self) -> i32 {
        match self.points() {
            Some(points) => points,
            None => self.0,
        }
    }

    /// Returns the internal value. Known results are always outside the range of estimates.
    pub(super) const fn raw(self) -> i32 {
        self.0
    }
}

impl Neg for Score {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(points) = self.points() {
            let result = if points > 0 { "win" } else { "loss" };
            return write!(f, "{result} by {}", points.abs());
        }
        match self.plies_to_end() {
            Some(plies) if self.0 > 0 => write!(f, "win in {plies}"),
            Some(plies) => write!(f, "loss in {plies}"),
            None if self.0 == 0 => f.write_str("0"),
            None => write!(f, "{:+}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearer_wins_and_farther_losses_are_better() {
        let ascending = [
            Score::WORST,
            Score::loss_in(2),
            Score::loss_in(4),
            Score::loss_in(u32::MAX),
            Score::win_by_points(i32::MIN),
            Score::win_by_points(-2),
            Score::win_by_points(-1),
            Score::estimate(i32::MIN),
            Score::win_by_points(0),
            Score::estimate(i32::MAX),
            Score::win_by_points(1),
            Score::win_by_points(64),
            Score::win_by_points(i32::MAX),
            Score::win_in(u32::MAX),
            Score::win_in(3),
            Score::win_in(1),
            Score::BEST,
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b), "{ascending:?}");
    }

    #[test]
    fn plies_to_end_is_known_for_wins_and_losses_only() {
        assert_eq!(Score::win_in(3).plies_to_end(), Some(3));
        assert_eq!(Score::loss_in(0).plies_to_end(), Some(0));
        assert_eq!(Score::estimate(i32::MAX).plies_to_end(), None);
        assert_eq!(Score::win_by_points(i32::MAX).plies_to_end(), None);
    }

    #[test]
    fn point_scores_round_trip_and_ignore_plies() {
        for points in [-64, -1, 1, 18, 64] {
            let score = Score::win_by_points(points);
            assert_eq!((score.points(), score.value()), (Some(points), points));
            assert_eq!((-score).points(), Some(-points));
            assert_eq!(
                (score.points_floor(), score.points_ceil()),
                (points, points)
            );
            assert_eq!((score.delayed_by(9), score.advanced_by(9)), (score, score));
            assert!(score.is_decided());
        }
        for score in [Score::DRAW, Score::estimate(i32::MAX), Score::win_in(1999)] {
            assert_eq!(score.points(), None, "{score}");
        }
        // A score of 7 lies between a draw and the smallest win by points, so it rounds to 0 or 1
        // points. A score of -7 lies between the smallest loss by points and a draw, so it rounds
        // to -1 or 0 points.
        let unattainable = [(Score::estimate(7), [0, 1]), (Score::estimate(-7), [-1, 0])];
        for (score, [below, above]) in unattainable {
            assert_eq!([score.points_floor(), score.points_ceil()], [below, above]);
        }
        assert!(Score::BEST.points_floor() > 400 && Score::WORST.points_floor() < -400);
    }

    #[test]
    fn scores_display_as_result_or_signed_estimate() {
        let texts = [
            Score::win_in(3),
            Score::loss_in(2),
            Score::DRAW,
            Score::estimate(35),
            Score::win_by_points(18),
            Score::win_by_points(-2),
        ]
        .map(|score| score.to_string());
        assert_eq!(
            texts,
            [
                "win in 3",
                "loss in 2",
                "0",
                "+35",
                "win by 18",
                "loss by 2"
            ]
        );
    }
}
