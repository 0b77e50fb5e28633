//! Worlds of several servers in which one thing is changed: the checker has to see it, and to call it by its
//! name. What is looked at where there is one server, too, is edited there.

use std::collections::BTreeSet;

use plyhouse_protocol::{ClientMessage, ServerMessage};

use super::plan::Plan;
use super::store::Written;
use super::world::run;
use crate::checker::{ViolationKind, check};
use crate::client::MISSING_REPLY_REASON;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};
use crate::store::FinalState;

/// In how many worlds a place is looked for.
const WORLDS: u64 = 20;

/// What is changed, and what the checker is to call it; nothing if there is no place for it.
type Edit = fn(&mut History, &mut FinalState) -> Option<()>;

const EDITS: [(ViolationKind, Edit); 5] = [
    // A server writes that does not know of a take-over.
    (ViolationKind::UnfencedWrite, |_, kept| {
        let entries = &mut kept.cluster.as_mut()?.journal.entries;
        entries
            .iter_mut()
            .find_map(|entry| match &mut entry.written {
                Written::Appended { epoch, .. } if *epoch > 0 => {
                    *epoch -= 1;
                    Some(())
                }
                Written::Appended { .. } | Written::Created { .. } | Written::Taken { .. } => None,
            })
    }),
    // What nobody has written is there.
    (ViolationKind::NonConsecutiveSeqs, |_, kept| {
        let entries = &mut kept.cluster.as_mut()?.journal.entries;
        let is_event = |written: &Written| matches!(written, Written::Appended { .. });
        let last = entries.iter().rposition(|entry| is_event(&entry.written))?;
        entries.remove(last);
        Some(())
    }),
    // The answer to an early move tells a late number.
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
    // Somebody has waited in vain.
    (ViolationKind::MissingReply, |history, _| {
        let why = MISSING_REPLY_REASON.to_owned();
        let connection = ConnectionId(1);
        let what = HistoryEvent::Closed {
            connection,
            reason: why,
        };
        let at_us = history.entries.last()?.at_us;
        history.entries.push(HistoryEntry { at_us, event: what });
        Some(())
    }),
    // Whoever looks at a match in the end is shown nothing.
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
fn every_promise_of_several_has_an_edit() {
    for kind in ViolationKind::CLUSTER_ONLY {
        assert!(EDITS.iter().any(|edit| edit.0 == kind), "{kind:?}");
    }
}

#[test]
fn every_edit_is_seen() {
    let mut unplaced: BTreeSet<ViolationKind> = ViolationKind::CLUSTER_ONLY.into();
    for seed in 0..WORLDS {
        let ended = run(Plan::new(seed), true);
        assert_eq!(check(&ended.history, &ended.final_state).0, [], "{seed}");
        for (kind, edit) in EDITS {
            let (mut history, mut kept) = (ended.history.clone(), ended.final_state.clone());
            if edit(&mut history, &mut kept).is_none() {
                continue;
            }
            let (faults, _) = check(&history, &kept);
            let is_seen = faults.iter().any(|fault| fault.kind == kind);
            // A late number is found only where another move was sent later.
            assert!(
                is_seen || kind == ViolationKind::MovesOutOfOrder,
                "{kind:?} in {seed}: {faults:#?}"
            );
            if is_seen {
                unplaced.remove(&kind);
            }
        }
    }
    assert!(unplaced.is_empty(), "no place for {unplaced:?}");
}
