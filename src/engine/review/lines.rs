//! Lines of play that are long enough to be understood.

use super::LINE_MAX;
use super::why::Settled;
use crate::catalog::AnyPosition;
use crate::game::Seat;
use crate::search::{Limits, Stop, Table};

/// A line is looked at further so often, at most: most of it is in the table.
const LOOKS_MAX: usize = 3;

/// What such a look may spend, of what the position may.
const SHARE: u32 = 8;

/// Where nothing is taken in the next so many plies, no exchange is under way.
const QUIET: usize = 4;

/// No exchange is followed for many more plies.
const EXCHANGE_MAX: usize = 12;

/// Goes on with lines that were cut short.
pub(super) struct LineFormatter<'a> {
    pub(super) table: &'a mut Table,
    /// What a position may be looked at.
    pub(super) limits: (&'a Limits, &'a Stop),
}

impl LineFormatter<'_> {
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
        for _ in 0..LOOKS_MAX {
            if line.len() >= LINE_MAX || end.outcome().is_some() {
                break;
            }
            let ahead = self.ahead(end.as_ref());
            if ahead.is_empty() {
                break;
            }
            for m in ahead.into_iter().take(LINE_MAX - line.len()) {
                if end.play(&m).is_err() {
                    break;
                }
                line.push(m);
            }
        }
        line.truncate(LINE_MAX);
        line
    }

    /// What the seat has in material before a move, after the line that would be better, and after that which
    /// punishes the move.
    pub(super) fn all_settled(
        &mut self,
        before: &dyn AnyPosition,
        line: &[String],
        after: &dyn AnyPosition,
        punished: &[String],
    ) -> Option<Settled> {
        let seat = before.turn();
        Some(Settled {
            before: balance(before, seat)?,
            better: self.settled(before, line, seat)?,
            played: self.settled(after, punished, seat)?,
        })
    }

    /// How much more material the seat has than the other at the end of a line, once the exchange that it ends in
    /// is over; nothing if that is not seen, and in games in which nothing is taken.
    fn settled(&mut self, position: &dyn AnyPosition, line: &[String], seat: Seat) -> Option<i32> {
        let mut end = position.clone_box();
        let mut balances = vec![balance(position, seat)?];
        for m in line {
            end.play(m).ok()?;
            balances.push(balance(end.as_ref(), seat)?);
        }
        let most = balances.len() + EXCHANGE_MAX;
        loop {
            let settled = *balances.last()?;
            if end.outcome().is_some() {
                return Some(settled);
            }
            let ahead = self.ahead(end.as_ref());
            let before = balances.len();
            for m in ahead.iter().take(QUIET) {
                end.play(m).ok()?;
                balances.push(balance(end.as_ref(), seat)?);
            }
            if is_same(&balances[before - 1..]) {
                return Some(settled);
            }
            if balances.len() >= most {
                // It goes on and on: what counts is what stood for longer.
                let quiet = balances.windows(QUIET).rfind(|quiet| is_same(quiet));
                return quiet.and_then(|quiet| quiet.first()).copied();
            }
        }
    }

    /// How it goes on from here, by a short look.
    fn ahead(&mut self, position: &dyn AnyPosition) -> Vec<String> {
        let (limits, stop) = self.limits;
        let limits = Limits {
            nodes: limits.nodes.map(|nodes| nodes / u64::from(SHARE)),
            time: limits.time.map(|time| time / SHARE),
            ..*limits
        };
        let report = position.analyse(&limits, stop, self.table, &mut |_| {});
        report.map_or_else(Vec::new, |report| report.pv)
    }
}

fn is_same(balances: &[i32]) -> bool {
    balances.iter().all(|balance| *balance == balances[0])
}

/// How much more material the seat has than the other.
fn balance(position: &dyn AnyPosition, seat: Seat) -> Option<i32> {
    let material = position.material()?;
    Some(material[seat.index()] - material[seat.other().index()])
}
