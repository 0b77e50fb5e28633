//! Lines of play that are long enough to be understood.

use super::LINE_MAX;
use crate::catalog::AnyPosition;
use crate::search::{Limits, Stop, Table};

/// A line is looked at further so often, at most: most of it is in the table.
const LOOKS_MAX: usize = 3;

/// What such a look may spend, of what the position may.
const SHARE: u32 = 8;

/// Goes on with lines that were cut short.
pub(super) struct Teller<'a> {
    pub(super) table: &'a mut Table,
    /// What a position may be looked at.
    pub(super) limits: (&'a Limits, &'a Stop),
}

impl Teller<'_> {
    /// The line from this position, as far as it can be told.
    pub(super) fn whole(
        &mut self,
        position: &dyn AnyPosition,
        mut line: Vec<String>,
    ) -> Vec<String> {
        let mut end = position.clone_box();
        if let Some(short) = line.iter().position(|m| end.play(m).is_err()) {
            // Nothing is told that cannot be played.
            line.truncate(short);
        }
        let (limits, stop) = self.limits;
        let limits = Limits {
            nodes: limits.nodes.map(|nodes| nodes / u64::from(SHARE)),
            time: limits.time.map(|time| time / SHARE),
            ..*limits
        };
        for _ in 0..LOOKS_MAX {
            if line.len() >= LINE_MAX || end.outcome().is_some() {
                break;
            }
            let Some(report) = end.look(&limits, stop, self.table, &mut |_| {}) else {
                break;
            };
            for m in report.pv.into_iter().take(LINE_MAX - line.len()) {
                if end.play(&m).is_err() {
                    break;
                }
                line.push(m);
            }
        }
        line.truncate(LINE_MAX);
        line
    }
}
