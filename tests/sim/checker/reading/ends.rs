//! How connections end, and what had been told on them by then.

use plyhouse_protocol::MatchId;

use super::{ConnectionId, Kind, Reading};
use crate::client::{HEARD_ALL, NEVER_ANSWERED};

/// How far somebody has seen a match who was to see all of it.
#[derive(Debug)]
pub(in crate::checker) struct Seen {
    pub(in crate::checker) id: MatchId,
    pub(in crate::checker) seq: u64,
    /// Of when all must have been seen, in microseconds.
    pub(in crate::checker) at_us: u128,
    /// It is seen later than its players see it.
    pub(in crate::checker) is_late: bool,
}

impl Reading {
    pub(super) fn closed(&mut self, on: ConnectionId, why: &str) {
        let at_us = self.at_us;
        match why {
            NEVER_ANSWERED => {
                let waiting = &self.connection(on).waiting;
                let about = format!("{on:?}: {waiting:?}");
                self.fault(Kind::Unanswered, about);
            }
            HEARD_ALL => {
                self.heard_of_searches(on);
                let following = self.connection(on).following.clone();
                for (id, seq) in following {
                    let is_late = self.is_late(on, id);
                    self.seen.push(Seen {
                        id,
                        seq,
                        at_us,
                        is_late,
                    });
                }
            }
            _ => {}
        }
    }

    /// Somebody who has asked for all of a match at this time has been told so much.
    pub(super) fn looked(&mut self, on: ConnectionId, id: MatchId, seq: u64, at_us: u128) {
        let is_late = self.is_late(on, id);
        if self.settled_us.is_some_and(|settled| at_us >= settled) {
            self.seen.push(Seen {
                id,
                seq,
                at_us,
                is_late,
            });
        }
    }
}
