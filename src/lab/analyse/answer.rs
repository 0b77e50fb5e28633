//! What is said of one position, whether as JSON or as text.

use plyhouse_engine::catalog::Analyst;
use plyhouse_engine::game::{GameInfo, Outcome, Seat};
use plyhouse_engine::search::minimax::Scale;
use plyhouse_engine::search::{Certainty, MoveValue, Report, Score};
use plyhouse_protocol::{Ending, Reason, SeatNumber};

/// All that is said of a position. The command's help tells what the fields mean.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) position: &'a str,
    pub(super) turn: &'static str,
    pub(super) outcome: Option<Ending>,
    pub(super) score: i32,
    pub(super) result: Option<Verdict>,
    pub(super) plies: Option<u32>,
    pub(super) exact: bool,
    pub(super) depth: u32,
    pub(super) selective_depth: u32,
    pub(super) nodes: u64,
    pub(super) nodes_per_second: u64,
    pub(super) time_us: u64,
    pub(super) table_hits: u64,
    pub(super) table_use: u32,
    pub(super) pruned: Option<u64>,
    pub(super) best: Option<&'a str>,
    pub(super) pv: &'a [String],
    pub(super) moves: Vec<Row<'a>>,
}

/// What is said of a move.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) m: &'a str,
    pub(super) score: i32,
    pub(super) result: Option<Verdict>,
    pub(super) plies: Option<u32>,
    pub(super) known: Known,
}

/// How the game ends for the side to move if both play their best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Win,
    Draw,
    Loss,
}

/// How well a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Exact,
    Estimate,
    AtMost,
}

/// A score as people read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    score: i32,
    result: Option<Verdict>,
    plies: Option<u32>,
}

impl Value {
    /// `is_of_the_game` tells that a score of zero is a draw, and no estimate.
    fn new(analyst: &dyn Analyst, score: Score, is_of_the_game: bool, scale: Scale) -> Self {
        let plies = score.plies_to_end();
        let result = match plies {
            Some(_) if score > Score::DRAW => Some(Verdict::Win),
            Some(_) => Some(Verdict::Loss),
            None => is_of_the_game.then_some(Verdict::Draw),
        };
        match (scale, result) {
            (Scale::Plies, _) | (Scale::Outcome, None) => Self {
                score: analyst.customary(score),
                result,
                plies,
            },
            // Scores of one do not tell how far away the end is.
            (Scale::Outcome, Some(verdict)) => Self {
                score: match verdict {
                    Verdict::Win => 1,
                    Verdict::Draw => 0,
                    Verdict::Loss => -1,
                },
                result,
                plies: None,
            },
        }
    }
}

impl<'a> Answer<'a> {
    /// What was found of the analyst's position, which reads `position`.
    pub(super) fn new(
        info: &GameInfo,
        analyst: &dyn Analyst,
        position: &'a str,
        scale: Scale,
        report: &'a Report<String>,
    ) -> Self {
        let value = Value::new(analyst, report.score, report.exact, scale);
        let row = |known: &'a MoveValue<String>| {
            let is_of_the_game = match known.certainty {
                Certainty::Exact => true,
                Certainty::Estimate => false,
                Certainty::AtMost => report.exact,
            };
            let value = Value::new(analyst, known.score, is_of_the_game, scale);
            Row {
                m: &known.m,
                score: value.score,
                result: value.result,
                plies: value.plies,
                known: known.certainty.into(),
            }
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count that is not negative, and only told"
        )]
        let nodes_per_second = report.nodes_per_second() as u64;
        Self {
            position,
            turn: info.sides[analyst.position().turn().index()],
            outcome: None,
            score: value.score,
            result: value.result,
            plies: value.plies,
            exact: report.exact,
            depth: report.depth,
            selective_depth: report.selective_depth,
            nodes: report.nodes,
            nodes_per_second,
            time_us: u64::try_from(report.time.as_micros()).unwrap_or(u64::MAX),
            table_hits: report.table_hits,
            table_use: report.table_use,
            pruned: report.pruned,
            best: report.pv.first().map(String::as_str),
            pv: &report.pv,
            moves: report.moves.iter().map(row).collect(),
        }
    }

    /// The end of a game, as the side sees it that would be to move.
    pub(super) fn ended(
        info: &GameInfo,
        analyst: &dyn Analyst,
        position: &'a str,
        outcome: Outcome,
    ) -> Self {
        let pos = analyst.position();
        let score = Score::of(outcome, pos.turn(), 0);
        let value = Value::new(analyst, score, true, Scale::Plies);
        let way = pos.ending();
        let winner = match outcome {
            Outcome::Decisive { winner } => Some(winner),
            Outcome::Draw => None,
        };
        Self {
            position,
            turn: info.sides[pos.turn().index()],
            outcome: Some(Ending {
                winner: winner.map(|seat| match seat {
                    Seat::First => SeatNumber(0),
                    Seat::Second => SeatNumber(1),
                }),
                reason: Reason::Rules,
                detail: way.map(|way| way.detail.to_owned()),
                scores: way.and_then(|way| way.scores),
                line: pos.line(),
            }),
            score: value.score,
            result: value.result,
            plies: value.plies,
            exact: true,
            depth: 0,
            selective_depth: 0,
            nodes: 0,
            nodes_per_second: 0,
            time_us: 0,
            table_hits: 0,
            table_use: 0,
            pruned: None,
            best: None,
            pv: &[],
            moves: Vec::new(),
        }
    }
}

impl From<Certainty> for Known {
    fn from(certainty: Certainty) -> Self {
        match certainty {
            Certainty::Exact => Self::Exact,
            Certainty::Estimate => Self::Estimate,
            Certainty::AtMost => Self::AtMost,
        }
    }
}
