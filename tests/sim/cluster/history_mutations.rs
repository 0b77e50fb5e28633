//! Mutates the histories and journals of cluster worlds and asserts that the checker reports the
//! expected violation. The kinds of violations that also occur with one server are tested in
//! `crate::history_mutations`.

use std::collections::BTreeSet;

use plyhouse_protocol::{ClientMessage, ServerMessage};

use super::fault_plan::Plan;
use super::store::JournalWrite;
use super::world::run;
use crate::checker::{ViolationKind, check};
use crate::client::MISSING_REPLY_REASON;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};
use crate::store::FinalState;

/// Number of worlds that the mutations are applied to.
const WORLD_COUNT: u64 = 20;

/// Function that mutates the records of a run. Returns `None` if the run offers no place for the
/// mutation.
type Mutation = fn(&mut History, &mut FinalState) -> Option<()>;

const MUTATIONS: [(ViolationKind, Mutation); 5] = [
    // A server writes to a match although it does not know of the latest takeover.
    (ViolationKind::UnfencedWrite, |_, stored| {
        let entries = &mut stored.cluster.as_mut()?.journal.entries;
        entries.iter_mut().find_map(|entry| match &mut entry.write {
            JournalWrite::Appended { epoch, .. } if *epoch > 0 => {
                *epoch -= 1;
                Some(())
            }
            JournalWrite::Appended { .. }
            | JournalWrite::Created { .. }
            | JournalWrite::TakenOver { .. } => None,
        })
    }),
    // The store holds events that are missing from the journal.
    (ViolationKind::NonConsecutiveSeqs, |_, stored| {
        let entries = &mut stored.cluster.as_mut()?.journal.entries;
        let is_append = |written: &JournalWrite| matches!(written, JournalWrite::Appended { .. });
        let last = entries.iter().rposition(|entry| is_append(&entry.write))?;
        entries.remove(last);
        Some(())
    }),
    // The reply to an early move contains an event number that is too high.
    (ViolationKind::MovesOutOfOrder, |history, _| {
        let (connection, id) = history
            .entries
            .iter()
            .find_map(|entry| match &entry.event {
                HistoryEvent::Sent {
                    connection,
                    request,
                } if matches!(request.message, ClientMessage::Move { .. }) => {
                    Some((*connection, request.id))
                }
                _ => None,
            })?;
        let mut entries = history.entries.iter_mut();
        entries.find_map(|entry| match &mut entry.event {
            HistoryEvent::Received {
                connection: on,
                message,
            } if *on == connection && message.re() == id => match &mut **message {
                ServerMessage::Ok { seq: Some(seq), .. } => {
                    seq.0 += 1000;
                    Some(())
                }
                _ => None,
            },
            _ => None,
        })
    }),
    // A client closes its connection because a reply is missing.
    (ViolationKind::MissingReply, |history, _| {
        let reason = MISSING_REPLY_REASON.to_owned();
        let connection = ConnectionId(1);
        let event = HistoryEvent::Closed { connection, reason };
        let at_us = history.entries.last()?.at_us;
        history.entries.push(HistoryEntry { at_us, event });
        Some(())
    }),
    // A client that requests a match at the end of the run receives no events.
    (ViolationKind::MissingUpdate, |history, _| {
        let mut entries = history.entries.iter_mut().rev();
        entries.find_map(|entry| match &mut entry.event {
            HistoryEvent::Received { message, .. } => match &mut **message {
                ServerMessage::Events { events, .. } if events.len() > 2 => {
                    events.clear();
                    Some(())
                }
                _ => None,
            },
            _ => None,
        })
    }),
];

#[test]
fn every_cluster_violation_kind_has_a_mutation() {
    for kind in ViolationKind::CLUSTER_ONLY {
        assert!(MUTATIONS.iter().any(|edit| edit.0 == kind), "{kind:?}");
    }
}

#[test]
fn every_mutation_is_detected() {
    let mut unapplied: BTreeSet<ViolationKind> = ViolationKind::CLUSTER_ONLY.into();
    for seed in 0..WORLD_COUNT {
        let result = run(Plan::new(seed), true);
        assert_eq!(check(&result.history, &result.final_state).0, [], "{seed}");
        for (kind, mutate) in MUTATIONS {
            let (mut history, mut stored) = (result.history.clone(), result.final_state.clone());
            if mutate(&mut history, &mut stored).is_none() {
                continue;
            }
            let (violations, _) = check(&history, &stored);
            let is_detected = violations.iter().any(|fault| fault.kind == kind);
            // `MovesOutOfOrder` is detected only if another move was sent after the reply with the
            // wrong event number.
            assert!(
                is_detected || kind == ViolationKind::MovesOutOfOrder,
                "{kind:?} was not detected with seed {seed}: {violations:#?}"
            );
            if is_detected {
                unapplied.remove(&kind);
            }
        }
    }
    assert!(
        unapplied.is_empty(),
        "mutations never applied: {unapplied:?}"
    );
}
