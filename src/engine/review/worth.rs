//! What a position is worth, whoever is to move: to the first seat.

use super::ERRORS;
use super::chances::win_probability;
use crate::catalog::{AnyPosition, GameEntry};
use crate::game::{Outcome, Seat};
use crate::search::{Playouts, Report, Score, tree};

/// What more playouts do not take away from the error of a chance: a search that is made again with other playouts
/// prefers other moves. Eight positions of an opening of Go, each searched with six seeds, had a standard deviation
/// of 0.082, 0.072, 0.049 and 0.039 with 1,000, 3,000, 10,000 and 30,000 playouts.
const LASTING_DOUBT: f64 = 0.04;

/// A win that is no farther away than so many plies is one that players see.
const SOON: u32 = 4;

/// What a position is worth to the first seat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// In the words of those who know the game: hundredths of an advantage, or points where they decide.
    pub value: i32,
    /// The chance to win, from -1 to 1.
    pub chance: f64,
    /// The standard error of the chance, where it was estimated by playouts; otherwise 0.
    pub doubt: f64,
    /// Whether that is the value of the game itself.
    pub exact: bool,
    /// How the game ends if both play their best, where that is known.
    pub known: Option<Known>,
}

/// How a game ends if both play their best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Who wins; nobody, if it is drawn.
    pub winner: Option<Seat>,
    /// After how many plies, where that decides what is better.
    pub plies: Option<u32>,
    /// By how many points, where they decide.
    pub points: Option<u32>,
}

impl Worth {
    /// What a search has found of a position.
    #[must_use]
    pub fn of(game: &GameEntry, position: &dyn AnyPosition, report: &Report<String>) -> Self {
        let known = (report.score, report.exact);
        let worth = Self::of_score(game, position, known, report.playouts);
        let Some(playouts) = report.playouts.filter(|_| worth.known.is_none()) else {
            return worth;
        };
        let chance = |score: Score| win_probability(game.info.id).of(score.value());
        let nearer = Score::estimate(tree::standard_error(playouts.count));
        let sign = if position.turn() == Seat::First {
            1.0
        } else {
            -1.0
        };
        Self {
            chance: sign * chance(tree::score_of_won(playouts.won)),
            doubt: chance(nearer).hypot(LASTING_DOUBT),
            ..worth
        }
    }

    /// What it is worth to have come to the end of the game.
    pub(super) fn at_end(game: &GameEntry, position: &dyn AnyPosition) -> Self {
        let outcome = position.outcome().unwrap_or(Outcome::Draw);
        let (turn, ending) = (position.turn(), position.ending());
        Self::of_score(
            game,
            position,
            (Score::of_end(outcome, ending, turn, 0), true),
            None,
        )
    }

    fn of_score(
        game: &GameEntry,
        position: &dyn AnyPosition,
        (score, exact): (Score, bool),
        playouts: Option<Playouts>,
    ) -> Self {
        let turn = position.turn();
        let is_ahead = score > Score::DRAW;
        let known = match score.is_decided() {
            true => Some(Known {
                winner: Some(if is_ahead { turn } else { turn.other() }),
                plies: score.plies_to_end().filter(|_| exact),
                points: score.points().map(i32::unsigned_abs).filter(|_| exact),
            }),
            false => exact.then_some(Known {
                winner: None,
                plies: None,
                points: None,
            }),
        };
        let chance = match known.map(|known| known.winner) {
            Some(Some(winner)) if winner == turn => 1.0,
            Some(Some(_)) => -1.0,
            Some(None) => 0.0,
            None => win_probability(game.info.id).of(score.value()),
        };
        let sign = if turn == Seat::First { 1 } else { -1 };
        Self {
            value: sign * position.conventional_score(score, playouts),
            chance: f64::from(sign) * chance,
            doubt: 0.0,
            exact,
            known,
        }
    }

    /// The chance of a seat.
    #[must_use]
    pub fn chance_of(&self, seat: Seat) -> f64 {
        match seat {
            Seat::First => self.chance,
            Seat::Second => -self.chance,
        }
    }

    /// Whether it is known that this seat wins.
    pub(super) fn is_won_by(&self, seat: Seat) -> bool {
        self.known.is_some_and(|known| known.winner == Some(seat))
    }

    /// Whether it is known that this seat wins within a few moves.
    pub(super) fn is_won_soon(&self, seat: Seat) -> bool {
        let plies = self.known.and_then(|known| known.plies);
        self.is_won_by(seat) && plies.is_some_and(|plies| plies <= SOON)
    }

    /// How much less the other position is worth to this seat, beyond doubt; negative if that is nothing.
    pub(super) fn lost(&self, after: Self, seat: Seat) -> f64 {
        let doubt = ERRORS * self.doubt.hypot(after.doubt);
        self.chance_of(seat) - after.chance_of(seat) - doubt
    }

    /// This worth as it was a ply before.
    pub(super) fn sooner(mut self) -> Self {
        if let Some(known) = &mut self.known {
            known.plies = known.plies.map(|plies| plies + 1);
        }
        self
    }

    /// Half way between this and what a search has found that favours the other seat.
    pub(super) fn halfway(self, other: Self) -> Self {
        match self.known {
            Some(_) => self,
            None => Self {
                value: i32::midpoint(self.value, other.value),
                chance: f64::midpoint(self.chance, other.chance),
                ..self
            },
        }
    }

    /// What is known of a position of this seat by one of its moves, where points decide, and by what was found of the
    /// position `alone`: other moves may come to more.
    pub(super) fn at_least(mut self, alone: Self, seat: Seat) -> Self {
        self.exact = false;
        let by_move = self.known.filter(|known| known.winner == Some(seat));
        self.known = by_move.or(alone.known);
        if let Some(known) = &mut self.known {
            known.points = None;
        }
        self
    }

    /// By what a seat would choose among positions: the chance, and then a nearer win or more points. A win or a loss
    /// of which it is not known how soon it comes is farther away than any other.
    pub(super) fn for_seat(&self, seat: Seat) -> (f64, i64) {
        let sign = |winner| if winner == seat { 1 } else { -1 };
        let known = self.known.and_then(|known| Some((known.winner?, known)));
        let more = known.map_or(0, |(winner, known)| {
            let points = known.points.map(i64::from);
            let nearness = -i64::from(known.plies.unwrap_or(u32::MAX));
            sign(winner) * points.unwrap_or(nearness)
        });
        (self.chance_of(seat), more)
    }

    /// Whether both are exact and the game ends in the same way: with the same winner, after as many plies and by as
    /// many points, where these count.
    pub(super) fn is_same_result(&self, other: Self) -> bool {
        self.exact && other.exact && self.known == other.known
    }

    /// Whether the seat is known to win both, and of neither it is known how soon or by how much.
    pub(super) fn is_same_win(&self, other: Self, seat: Seat) -> bool {
        let is_vague = |known: Known| known.plies.is_none() && known.points.is_none();
        self.is_won_by(seat) && self.known == other.known && self.known.is_some_and(is_vague)
    }

    /// How many points this seat has given away, where both results are known to the point.
    pub(super) fn points_given(&self, after: Self, seat: Seat) -> u32 {
        let points = |worth: &Self| {
            let known = worth.known.filter(|_| worth.exact)?;
            match (known.winner, known.points) {
                (Some(winner), Some(points)) if winner == seat => Some(i64::from(points)),
                (Some(_), Some(points)) => Some(-i64::from(points)),
                (None, _) => Some(0),
                (Some(_), None) => None,
            }
        };
        let counts = [self, &after].iter().any(|worth| {
            let known = worth.known.filter(|_| worth.exact);
            known.is_some_and(|known| known.points.is_some())
        });
        match (points(self), points(&after)) {
            (Some(before), Some(after)) if counts => {
                u32::try_from((before - after).max(0)).unwrap_or(u32::MAX)
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find_game;

    /// One move that wins is enough to know who wins, but not by how much; one that loses tells nothing.
    #[test]
    fn by_one_move_no_more_is_known_than_it_proves() {
        let worth = |winner: Option<Seat>, exact| Worth {
            value: 4,
            chance: 0.5,
            doubt: 0.0,
            exact,
            known: winner.map(|winner| Known {
                winner: Some(winner),
                plies: None,
                points: exact.then_some(4),
            }),
        };
        let (won, lost) = (Some(Seat::First), Some(Seat::Second));
        for (played, alone, known) in [
            (won, None, won),
            (lost, None, None),
            (lost, lost, lost),
            (None, won, won),
        ] {
            let found = worth(played, true).at_least(worth(alone, false), Seat::First);
            assert!(!found.exact, "{found:?}");
            assert_eq!(found.known.and_then(|known| known.winner), known);
            assert_eq!(found.known.and_then(|known| known.points), None);
        }
    }
    use crate::search::{Limits, Stop};

    /// What a look at a position finds, for the first seat, and how it really ends.
    fn told(game: &str, position: &str, limits: &Limits) -> Worth {
        let game = find_game(game).expect("hosted");
        let mut analyst = game.analysis_board(1 << 20);
        analyst.set_up(position).expect(position);
        let report = analyst.analyse(false, limits, &Stop::new(), &mut |_| {});
        let report = report.expect("the game goes on");
        Worth::of(game, analyst.position(), &report)
    }

    /// Black wins the first by 18 discs, and the second, of Go, is played to its end, but for passes.
    #[test]
    fn what_is_estimated_of_points_is_told_in_points() {
        let othello = "--*****--OOO**-O-OOO**O*-O*O*O**O***O***--*O*O**-***OOO--OOOOO-- *";
        let worth = told("othello", othello, &Limits::depth(4));
        assert!(!worth.exact && (1..=30).contains(&worth.value), "{worth:?}");

        let go = "b.b.bw.w./bbbbbwwww/....bw.../bbbbbwwww/b.b.bw.w./bbbbbwwww/.b.bbw.ww/bbbbbww.w/.b.bbwww.";
        for (rest, points) in [("w 0 0 0 201", 2), ("b 0 0 0 202", 2)] {
            let worth = told("go", &format!("{go} {rest}"), &Limits::nodes(300));
            assert!(!worth.exact, "{worth:?}");
            assert_eq!(worth.value, points, "{worth:?}");
        }
    }

    /// What is thought of moves before any is tried counts for nothing in what is told: of so few playouts it would be
    /// most, and Black was told to have 3 chances of 4 on an empty board.
    #[test]
    fn a_few_playouts_know_of_no_advantage() {
        let empty = find_game("go")
            .expect("hosted")
            .initial_position()
            .to_string();
        for nodes in [100, 130, 200, 800] {
            let worth = told("go", &empty, &Limits::nodes(nodes));
            assert!(worth.chance.abs() < 0.4, "{nodes}: {worth:?}");
        }
    }
}
