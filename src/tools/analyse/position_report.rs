//! Report on a single position. The JSON output and the text output show the same report.

use plyhouse_engine::catalog::{AnalysisBoard, AnyPosition};
use plyhouse_engine::game::{GameInfo, Outcome};
use plyhouse_engine::search::minimax::Scale;
use plyhouse_engine::search::{Certainty, MoveValue, Playouts, Report, Score};
use plyhouse_protocol::{EndReason, Ending, SeatNumber};

/// Report on a position. The help text of `plyhouse analyse` describes the fields.
#[derive(Debug)]
pub(super) struct PositionReport<'a> {
    pub(super) position: &'a str,
    pub(super) turn: &'static str,
    pub(super) outcome: Option<Ending>,
    pub(super) evaluation: Evaluation,
    pub(super) search_report: &'a Report<String>,
    pub(super) moves: Vec<MoveRow<'a>>,
}

/// Report on a legal move of the position.
#[derive(Debug)]
pub(super) struct MoveRow<'a> {
    pub(super) value: &'a MoveValue<String>,
    pub(super) evaluation: Evaluation,
}

/// Evaluation of a position or a move, for the side to move. The score uses the customary scale for
/// the game, such as points in Go. With `Scale::Outcome`, a known result has the score 1, 0 or -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evaluation {
    pub(super) score: i32,
    pub(super) result: Option<Wdl>,
    pub(super) plies: Option<u32>,
    /// Margin of victory in points, negative for a loss. `None` unless the score is a win or loss
    /// by points.
    pub(super) points: Option<i32>,
}

/// Game result if both sides play perfectly, from the point of view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wdl {
    Win = 1,
    Draw = 0,
    Loss = -1,
}

impl Wdl {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Draw => "draw",
            Self::Loss => "loss",
        }
    }
}

impl Evaluation {
    /// Creates the evaluation from a search score. If `is_exact` is true, a score that is neither a
    /// win nor a loss means a draw. Otherwise, such a score is only an estimate.
    fn new(
        pos: &dyn AnyPosition,
        (score, is_exact): (Score, bool),
        playouts: Option<Playouts>,
        scale: Scale,
    ) -> Self {
        let plies = score.plies_to_end();
        let result = match score.is_decided() {
            true if score > Score::DRAW => Some(Wdl::Win),
            true => Some(Wdl::Loss),
            false => is_exact.then_some(Wdl::Draw),
        };
        match (scale, result) {
            (Scale::Plies, _) | (Scale::Outcome, None) => Self {
                score: pos.conventional_score(score, playouts),
                result,
                plies,
                points: score.points(),
            },
            // On the `Outcome` scale, the score gives only the result, so the report omits the
            // number of plies and the margin of victory.
            (Scale::Outcome, Some(wdl)) => Self {
                score: wdl as i32,
                result,
                plies: None,
                points: None,
            },
        }
    }
}

impl<'a> PositionReport<'a> {
    /// Creates a report on the current position of `analysis_board`. The argument `position` is the
    /// same position in wire notation.
    pub(super) fn new(
        info: &GameInfo,
        analysis_board: &dyn AnalysisBoard,
        position: &'a str,
        scale: Scale,
        report: &'a Report<String>,
    ) -> Self {
        let pos = analysis_board.position();
        let outcome = pos.outcome();
        // A position of a finished game is not searched. Its report uses the `Plies` scale, even if
        // the search request has another scale.
        let scale = outcome.map_or(scale, |_| Scale::Plies);
        let to_row = |value: &'a MoveValue<String>| {
            let is_exact = match value.certainty {
                Certainty::Exact => true,
                Certainty::Estimate => false,
                Certainty::UpperBound => report.exact,
            };
            let evaluation = Evaluation::new(pos, (value.score, is_exact), value.playouts, scale);
            MoveRow { value, evaluation }
        };
        Self {
            position,
            turn: info.sides[pos.turn().index()],
            outcome: outcome.map(|outcome| to_wire_ending(pos, outcome)),
            evaluation: Evaluation::new(pos, (report.score, report.exact), report.playouts, scale),
            search_report: report,
            moves: report.moves.iter().map(to_row).collect(),
        }
    }
}

/// Converts the end of a game to the type that the wire protocol uses.
fn to_wire_ending(pos: &dyn AnyPosition, outcome: Outcome) -> Ending {
    let game_end = pos.ending();
    Ending {
        winner: outcome.winner().map(|winner| SeatNumber(winner.number())),
        reason: Some(EndReason::Rules),
        by: None,
        detail: game_end.map(|way| way.detail.to_owned()),
        scores: game_end.and_then(|way| way.scores),
        line: pos.winning_line(),
    }
}
