//! Checks what the servers of a cluster wrote to the shared store and sent to clients.

use std::collections::BTreeMap;

use super::{FinalStateCheck, RequestResult, ViolationKind};
use crate::cluster::{JournalEntry, JournalWrite};
use crate::store::ClusterState;
use crate::world::START_MS;

/// Maximum time between the creation of an event and its delivery to all followers, in
/// milliseconds. The server writes the event to the store before the delivery.
const DELIVERY_DELAY_MAX_MS: u128 = 1000;

impl FinalStateCheck<'_> {
    /// Checks that the event numbers of the journal entries are consecutive. Also checks that each
    /// server appended events only with the current epoch of the match.
    pub(super) fn check_journal(&mut self, cluster: &ClusterState) {
        let mut ends = BTreeMap::new();
        for entry in &cluster.journal.entries {
            let JournalEntry {
                id, write: written, ..
            } = entry;
            let (events, epoch) = ends.entry(*id).or_insert((0, 0));
            let mut faults = Vec::new();
            match written {
                JournalWrite::Created { events: count } => *events += count,
                JournalWrite::TakenOver { epoch: taken } => *epoch = *taken,
                JournalWrite::Appended {
                    epoch: known,
                    after,
                    count,
                } => {
                    if known != epoch {
                        faults.push((
                            ViolationKind::UnfencedWrite,
                            format!("{entry:?} in epoch {epoch}"),
                        ));
                    }
                    if after.0 != *events as u64 {
                        faults.push((
                            ViolationKind::NonConsecutiveSeqs,
                            format!("{entry:?} after {events} events"),
                        ));
                    }
                    *events += count;
                }
            }
            for (kind, about) in faults {
                self.report(kind, about);
            }
        }
        for (id, record) in &self.stored.matches {
            let (written, stored) = (ends.get(id).map_or(0, |end| end.0), record.events.len());
            if written != stored {
                let about = format!("{id}: {written} events were written, {stored} are stored");
                self.report(ViolationKind::NonConsecutiveSeqs, about);
            }
        }
    }

    /// Checks the order of moves: a move that was sent after the reply to another move must have
    /// the higher event number.
    pub(super) fn check_move_order(&mut self) {
        let moves = &self.observations.move_requests;
        let mut first = BTreeMap::new();
        for request in moves {
            let key = (
                request.id,
                request.ply.0,
                request.player,
                request.m.as_str(),
            );
            first.entry(key).or_insert(request.index);
        }
        let mut faults = Vec::new();
        for later in moves {
            let key = (later.id, later.ply.0, later.player, later.m.as_str());
            let (RequestResult::Accepted(Some(seq)), Some(sent)) = (later.result, first.get(&key))
            else {
                continue;
            };
            let before = moves.iter().find(|earlier| {
                let is_later = match earlier.result {
                    RequestResult::Accepted(Some(known)) => known >= seq,
                    RequestResult::Accepted(None)
                    | RequestResult::Refused
                    | RequestResult::Unknown => false,
                };
                earlier.id == later.id
                    && is_later
                    && earlier.reply_index.is_some_and(|at| at < *sent)
            });
            if let Some(earlier) = before {
                faults.push(format!("{later:?} was sent after {earlier:?} was answered"));
            }
        }
        for about in faults {
            self.report(ViolationKind::MovesOutOfOrder, about);
        }
    }

    /// Checks the clients that followed a match to the end of the run or requested it at the end.
    /// These clients must have received every event that became visible at least
    /// [`DELIVERY_DELAY_MAX_MS`] before that time.
    pub(super) fn check_complete_views(&mut self) {
        let mut faults = Vec::new();
        for seen in &self.observations.complete_views {
            let Some(record) = self.stored.matches.get(&seen.id) else {
                continue; // `finish` reports each match that is missing from the store.
            };
            let until_ms = u128::from(START_MS) + (seen.at_us / 1000) - DELIVERY_DELAY_MAX_MS;
            let delay_ms = match seen.is_delayed {
                true => record.creation.terms.spectator_delay_ms,
                false => 0,
            };
            let is_visible =
                |event: &&plyhouse_matches::Event| u128::from(event.at_ms + delay_ms) <= until_ms;
            let visible_count = record.events.iter().take_while(is_visible).count();
            if seen.seq < visible_count as u64 {
                faults.push(format!(
                    "{seen:?} saw too little; visible events: {visible_count}"
                ));
            }
        }
        for about in faults {
            self.report(ViolationKind::MissingUpdate, about);
        }
    }
}
