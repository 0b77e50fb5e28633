//! Converts typed search reports to reports whose moves are text.

use std::fmt;

use super::MoveChoice;
use crate::search::Report;

pub(super) fn report_to_text<M: fmt::Display>(report: Report<M>) -> Report<String> {
    report.map(|m| m.to_string())
}

pub(super) fn to_move_choice<M: fmt::Display>((m, report): (M, Report<M>)) -> MoveChoice {
    MoveChoice {
        m: m.to_string(),
        report: report_to_text(report),
    }
}

/// Returns a callback that converts the moves of a report to text and passes the report to
/// `on_progress`.
pub(super) fn text_progress_callback<M: fmt::Display + Clone>(
    on_progress: &mut dyn FnMut(&Report<String>),
) -> impl FnMut(&Report<M>) {
    |report| on_progress(&report_to_text(report.clone()))
}
