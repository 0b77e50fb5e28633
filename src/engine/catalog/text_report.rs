//! What a search tells, with its moves in text, for whoever does not know the game at compile time.

use std::fmt;

use super::MoveChoice;
use crate::search::Report;

/// A report.
pub(super) fn report_to_text<M: fmt::Display>(report: Report<M>) -> Report<String> {
    report.map(|m| m.to_string())
}

/// What was chosen.
pub(super) fn to_move_choice<M: fmt::Display>((m, report): (M, Report<M>)) -> MoveChoice {
    MoveChoice {
        m: m.to_string(),
        report: report_to_text(report),
    }
}

/// Tells on what a search tells on its way.
pub(super) fn text_progress_callback<M: fmt::Display + Clone>(
    on_progress: &mut dyn FnMut(&Report<String>),
) -> impl FnMut(&Report<M>) {
    |report| on_progress(&report_to_text(report.clone()))
}
