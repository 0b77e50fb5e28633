//! What a search tells, with its moves in text, for whoever does not know the game at compile time.

use std::fmt;

use super::Choice;
use crate::search::Report;

/// A report.
pub(super) fn text<M: fmt::Display>(report: Report<M>) -> Report<String> {
    report.map(|m| m.to_string())
}

/// What was chosen.
pub(super) fn chosen<M: fmt::Display>((m, report): (M, Report<M>)) -> Choice {
    Choice {
        m: m.to_string(),
        report: text(report),
    }
}

/// Tells on what a search tells on its way.
pub(super) fn watched<M: fmt::Display + Clone>(
    watch: &mut dyn FnMut(&Report<String>),
) -> impl FnMut(&Report<M>) {
    |report| watch(&text(report.clone()))
}
