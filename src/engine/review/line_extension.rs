//! Extends lines of play until they are long enough to understand, and follows exchanges to their
//! end.

use super::LINE_PLIES_MAX;
use super::explanation::QuiescentMaterial;
use crate::catalog::AnyPosition;
use crate::game::Seat;
use crate::search::{Limits, Stop, TranspositionTable};

/// Maximum number of searches that extend one line. These searches are cheap, because most results
/// are already in the transposition table.
const SEARCHES_MAX: usize = 3;

/// A search that extends a line uses the node and time limits of the review, divided by this
/// number.
const LIMITS_DIVISOR: u32 = 8;

/// An exchange counts as finished if the material does not change for this number of plies.
const QUIET_PLIES: usize = 4;

/// Approximate maximum length of an exchange after the end of a line, in plies.
const EXCHANGE_PLIES_MAX: usize = 12;

/// Extends lines of play by short searches.
pub(super) struct LineExtender<'a> {
    pub(super) table: &'a mut TranspositionTable,
    /// Limits and stop flag of the review's searches. A search that extends a line uses a fraction
    /// of these limits.
    pub(super) limits: (&'a Limits, &'a Stop),
}

impl LineExtender<'_> {
    /// Extends a line that starts at `position` to at most [`LINE_PLIES_MAX`] plies. If a move of
    /// the line is illegal, drops this move and the moves after it.
    pub(super) fn extend_line(
        &mut self,
        position: &dyn AnyPosition,
        mut line: Vec<String>,
    ) -> Vec<String> {
        let mut end = position.clone_box();
        if let Some(legal_plies) = line.iter().position(|m| end.play(m).is_err()) {
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

    /// Returns the material advantage of the seat that made the move. The function measures the
    /// advantage before the move, after the better line, and after the refutation of the move that
    /// was played.
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

    /// Returns the material advantage of the seat after a line, once the exchange at the end of the
    /// line is finished. Returns `None` if the material never settles, or if the game has no
    /// captures of pieces.
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
                // If the exchange does not finish within the allowed number of plies, the function
                // returns the last material balance that stayed constant for several plies.
                let quiet = balances
                    .windows(QUIET_PLIES)
                    .rfind(|quiet| is_constant(quiet));
                return quiet.and_then(|quiet| quiet.first()).copied();
            }
        }
    }

    /// Returns the principal variation of a short search.
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

/// Returns the material advantage of the seat, or `None` in games without captures of pieces.
fn material_balance(position: &dyn AnyPosition, seat: Seat) -> Option<i32> {
    let material = position.material()?;
    Some(material[seat.index()] - material[seat.other().index()])
}
