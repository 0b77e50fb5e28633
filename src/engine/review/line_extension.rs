//! Lines of play that are long enough to be understood.

use super::LINE_PLIES_MAX;
use super::explanation::QuiescentMaterial;
use crate::catalog::AnyPosition;
use crate::game::Seat;
use crate::search::{Limits, Stop, TranspositionTable};

/// A line is looked at further so often, at most: most of it is in the table.
const SEARCHES_MAX: usize = 3;

/// What such a look may spend, of what the position may.
const LIMITS_DIVISOR: u32 = 8;

/// Where nothing is taken in the next so many plies, no exchange is under way.
const QUIET_PLIES: usize = 4;

/// No exchange is followed for many more plies.
const EXCHANGE_PLIES_MAX: usize = 12;

/// Goes on with lines that were cut short.
pub(super) struct LineExtender<'a> {
    pub(super) table: &'a mut TranspositionTable,
    /// What a position may be looked at.
    pub(super) limits: (&'a Limits, &'a Stop),
}

impl LineExtender<'_> {
    /// The line from this position, as far as it can be told.
    pub(super) fn extend_line(
        &mut self,
        position: &dyn AnyPosition,
        mut line: Vec<String>,
    ) -> Vec<String> {
        let mut end = position.clone_box();
        if let Some(legal_plies) = line.iter().position(|m| end.play(m).is_err()) {
            // Nothing is told that cannot be played.
            line.truncate(legal_plies);
        }
        for _ in 0..SEARCHES_MAX {
            if line.len() >= LINE_PLIES_MAX || end.outcome().is_some() {
                break;
            }
            let continuation = self.search_continuation(end.as_ref());
            if continuation.is_empty() {
                break;
            }
            for m in continuation.into_iter().take(LINE_PLIES_MAX - line.len()) {
                if end.play(&m).is_err() {
                    break;
                }
                line.push(m);
            }
        }
        line.truncate(LINE_PLIES_MAX);
        line
    }

    /// What the seat has in material before a move, after the line that would be better, and after that which
    /// punishes the move.
    pub(super) fn quiescent_material(
        &mut self,
        before: &dyn AnyPosition,
        line: &[String],
        after: &dyn AnyPosition,
        refutation: &[String],
    ) -> Option<QuiescentMaterial> {
        let seat = before.turn();
        Some(QuiescentMaterial {
            before: material_balance(before, seat)?,
            better: self.quiescent_balance(before, line, seat)?,
            played: self.quiescent_balance(after, refutation, seat)?,
        })
    }

    /// How much more material the seat has than the other at the end of a line, once the exchange that it ends in
    /// is over; nothing if that is not seen, and in games in which nothing is taken.
    fn quiescent_balance(
        &mut self,
        position: &dyn AnyPosition,
        line: &[String],
        seat: Seat,
    ) -> Option<i32> {
        let mut end = position.clone_box();
        let mut balances = vec![material_balance(position, seat)?];
        for m in line {
            end.play(m).ok()?;
            balances.push(material_balance(end.as_ref(), seat)?);
        }
        let balances_max = balances.len() + EXCHANGE_PLIES_MAX;
        loop {
            let balance_now = *balances.last()?;
            if end.outcome().is_some() {
                return Some(balance_now);
            }
            let continuation = self.search_continuation(end.as_ref());
            let before = balances.len();
            for m in continuation.iter().take(QUIET_PLIES) {
                end.play(m).ok()?;
                balances.push(material_balance(end.as_ref(), seat)?);
            }
            if is_constant(&balances[before - 1..]) {
                return Some(balance_now);
            }
            if balances.len() >= balances_max {
                // It goes on and on: what counts is what stood for longer.
                let quiet = balances
                    .windows(QUIET_PLIES)
                    .rfind(|quiet| is_constant(quiet));
                return quiet.and_then(|quiet| quiet.first()).copied();
            }
        }
    }

    /// How it goes on from here, by a short look.
    fn search_continuation(&mut self, position: &dyn AnyPosition) -> Vec<String> {
        let (limits, stop) = self.limits;
        let limits = Limits {
            nodes: limits.nodes.map(|nodes| nodes / u64::from(LIMITS_DIVISOR)),
            time: limits.time.map(|time| time / LIMITS_DIVISOR),
            ..*limits
        };
        let report = position.analyse(&limits, stop, self.table, &mut |_| {});
        report.map_or_else(Vec::new, |report| report.pv)
    }
}

fn is_constant(balances: &[i32]) -> bool {
    balances.iter().all(|balance| *balance == balances[0])
}

/// How much more material the seat has than the other.
fn material_balance(position: &dyn AnyPosition, seat: Seat) -> Option<i32> {
    let material = position.material()?;
    Some(material[seat.index()] - material[seat.other().index()])
}
