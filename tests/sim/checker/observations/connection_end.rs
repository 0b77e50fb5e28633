//! Records when each connection ends. Also records the last event that the client received in each
//! followed match.

use plyhouse_protocol::MatchId;

use super::{ConnectionId, Observations, ViolationKind};
use crate::client::{ALL_DELIVERED_REASON, MISSING_REPLY_REASON};

/// State of a match as a client received it. The view must contain all events that the client could
/// see at `at_us`.
#[derive(Debug)]
pub(crate) struct CompleteView {
    pub(crate) id: MatchId,
    pub(crate) seq: u64,
    /// Time in microseconds. The view must contain all events that the client could see at this
    /// time.
    pub(crate) at_us: u128,
    /// Whether the view is subject to the spectator delay.
    pub(crate) is_delayed: bool,
}

impl Observations {
    pub(super) fn record_close(&mut self, on: ConnectionId, why: &str) {
        let at_us = self.at_us;
        match why {
            MISSING_REPLY_REASON => {
                let waiting = &self.connection(on).pending_requests;
                let about = format!("{on:?}: {waiting:?}");
                self.report(ViolationKind::MissingReply, about);
            }
            ALL_DELIVERED_REASON => {
                self.check_pending_analysis(on);
                let following = self.connection(on).followed_seqs.clone();
                for (id, seq) in following {
                    let is_late = self.is_delayed_for(on, id);
                    self.complete_views.push(CompleteView {
                        id,
                        seq,
                        at_us,
                        is_delayed: is_late,
                    });
                }
            }
            _ => {}
        }
    }

    /// Records the last event that a client received in reply to a request for a match. `at_us` is
    /// the time of the request. Requests before the time `settled_us` are ignored.
    pub(super) fn record_complete_view(
        &mut self,
        on: ConnectionId,
        id: MatchId,
        seq: u64,
        at_us: u128,
    ) {
        let is_late = self.is_delayed_for(on, id);
        if self.settled_us.is_some_and(|settled| at_us >= settled) {
            self.complete_views.push(CompleteView {
                id,
                seq,
                at_us,
                is_delayed: is_late,
            });
        }
    }
}
