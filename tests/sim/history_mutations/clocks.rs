//! Mutations of clocks.

use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::{ClockState, EndReason, MatchId, ServerMessage, Snapshot};
use plyhouse_store::MatchRecord;

use super::NamedMutation;
use super::entry_lookup::{change_received_message, find_index};
use crate::checker::ViolationKind;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};
use crate::store::{FinalState, WriteFailure};

const HOUR: Duration = Duration::from_secs(3600);

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "a wrong remaining time",
        ViolationKind::WrongClock,
        |_, stored| {
            change_stored_event(stored, |kind| match kind {
                EventKind::Moved {
                    seat,
                    remaining: Some(remaining),
                    spent_ms: Some(1..),
                    ..
                } => {
                    *remaining = remaining.with_added_time(*seat, 1);
                    Some(())
                }
                _ => None,
            })
            .map(drop)
        },
    ),
    (
        "time charged for a free ply",
        ViolationKind::WrongClock,
        |_, stored| {
            change_stored_event(stored, |kind| match kind {
                EventKind::Moved {
                    spent_ms: Some(spent @ 0),
                    ..
                } => {
                    *spent = 1;
                    Some(())
                }
                _ => None,
            })
            .map(drop)
        },
    ),
    (
        "time added by a takeback",
        ViolationKind::WrongClock,
        |_, stored| {
            change_stored_event(stored, |kind| match kind {
                EventKind::TakenBack {
                    remaining: Some(remaining),
                    ..
                } => {
                    *remaining = remaining.with_added_time(Seat::First, 1);
                    Some(())
                }
                _ => None,
            })
            .map(drop)
        },
    ),
    (
        "write latency charged to a player",
        ViolationKind::WrongClock,
        |_, stored| {
            // Moves the start of the turn to the start of the move's write, so that the move can
            // have taken no time.
            let (id, seq) = find_charged_move(stored)?;
            let started = stored.write_times.get(&(id, seq))?.started;
            stored.write_times.get_mut(&(id, seq - 1))?.durable_at = started;
            Some(())
        },
    ),
    (
        "a move charged too little",
        ViolationKind::WrongClock,
        |history, stored| {
            let (id, seq) = find_charged_move(stored)?;
            let is_previous_event = |what: &HistoryEvent| {
                matches!(what, HistoryEvent::Received { message, .. } if matches!(&**message,
                ServerMessage::Event(event) if event.match_id() == id && event.seq().0 == seq - 1))
            };
            let index = find_index(history, is_previous_event)?;
            history.entries[index].at_us = 0;
            // Delays every request by an hour, so that the move must have taken at least an hour.
            for entry in &mut history.entries {
                if matches!(entry.event, HistoryEvent::Sent { .. }) {
                    entry.at_us += HOUR.as_micros();
                }
            }
            Some(())
        },
    ),
    ("an early flag", ViolationKind::WrongClock, |_, stored| {
        let (id, seq) = find_flag_fall(stored)?;
        let write_times = stored.write_times.get_mut(&(id, seq))?;
        write_times.started -= Duration::from_millis(1000);
        Some(())
    }),
    (
        "a flag during a restart",
        ViolationKind::WrongClock,
        |history, stored| {
            let (id, seq) = find_flag_fall(stored)?;
            let at_us = stored.write_times.get(&(id, seq))?.started.as_micros();
            let event = HistoryEvent::Restart;
            let index = history
                .entries
                .iter()
                .position(|entry| entry.at_us >= at_us)?;
            history.entries.insert(index, HistoryEntry { at_us, event });
            Some(())
        },
    ),
    (
        "a flag during a write failure",
        ViolationKind::WrongClock,
        |_, stored| {
            let (id, seq) = find_flag_fall(stored)?;
            let started = stored.write_times.get(&(id, seq))?.started;
            add_write_failure(stored, id, started);
            Some(())
        },
    ),
    (
        "time charged during a write failure",
        ViolationKind::WrongClock,
        |_, stored| {
            let (id, seq) = find_charged_move(stored)?;
            let started = stored.write_times.get(&(id, seq))?.started;
            add_write_failure(stored, id, started);
            Some(())
        },
    ),
    (
        "a missing flag",
        ViolationKind::WrongClock,
        |history, stored| {
            let (id, _) = find_flag_fall(stored)?;
            stored.matches.get_mut(&id)?.events.pop();
            let at_us = history.entries.last()?.at_us + HOUR.as_micros();
            let event = HistoryEvent::Fault("no fault".to_owned());
            history.entries.push(HistoryEntry { at_us, event });
            Some(())
        },
    ),
    (
        "a snapshot with too much elapsed time",
        ViolationKind::WrongClock,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot)
                    if is_undelayed(snapshot) && snapshot.first_move_ms.is_none() =>
                {
                    *snapshot.turn_ms.as_mut()? += 100_000;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a clock paused without cause",
        ViolationKind::WrongClock,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot)
                    if is_undelayed(snapshot) && snapshot.paused == Some(false) =>
                {
                    snapshot.paused = Some(true);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a free ply shown as a charged one",
        ViolationKind::WrongClock,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot) if is_undelayed(snapshot) => {
                    snapshot.first_move_ms.take().map(drop)
                }
                _ => None,
            })
        },
    ),
    (
        "a wrong clock message",
        ViolationKind::WrongClock,
        |history, _| {
            // The connection follows the match after the snapshot, so it may receive a clock
            // message.
            let (index, on, snapshot) =
                find_snapshot(history, |snapshot| snapshot.turn_ms.is_some())?;
            let mut time_left = snapshot.time_left?;
            time_left.left_ms[0] += 1;
            let message = Box::new(ServerMessage::Clock {
                match_id: snapshot.match_id,
                clock: ClockState {
                    ply: snapshot.ply,
                    time_left,
                    turn_ms: 0,
                    paused: false,
                    first_move_ms: snapshot.first_move_ms,
                },
            });
            let (at_us, connection) = (history.entries[index].at_us, on);
            let event = HistoryEvent::Received {
                connection,
                message,
            };
            history
                .entries
                .insert(index + 1, HistoryEntry { at_us, event });
            Some(())
        },
    ),
];

/// Calls `change` on the stored events until it returns `Some`. Returns the match and number of the
/// changed event.
fn change_stored_event(
    stored: &mut FinalState,
    mut change: impl FnMut(&mut EventKind) -> Option<()>,
) -> Option<(MatchId, u64)> {
    stored.matches.iter_mut().find_map(|(id, record)| {
        let mut events = (1..).zip(&mut record.events);
        let seq = events.find_map(|(seq, event)| change(&mut event.kind).map(|()| seq))?;
        Some((*id, seq))
    })
}

/// Returns the first suitable snapshot of a match without a spectator delay, with its position and
/// its connection.
fn find_snapshot(
    history: &History,
    fits: impl Fn(&Snapshot) -> bool,
) -> Option<(usize, ConnectionId, Snapshot)> {
    let mut entries = history.entries.iter().enumerate();
    entries.find_map(|(index, entry)| match &entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } => match &**message {
            ServerMessage::Match(snapshot) if is_undelayed(snapshot) && fits(snapshot) => {
                Some((index, *connection, (**snapshot).clone()))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns all matches except correspondence matches.
fn non_correspondence_matches(
    stored: &FinalState,
) -> impl Iterator<Item = (&MatchId, &MatchRecord)> {
    let matches = stored.matches.iter();
    matches.filter(|(_, record)| !record.creation.terms.is_correspondence())
}

/// Returns the match and event number of a move that was charged more than 10 ms and directly
/// follows another move.
fn find_charged_move(stored: &FinalState) -> Option<(MatchId, u64)> {
    non_correspondence_matches(stored).find_map(|(id, record)| {
        let is_move = |event: &Event| matches!(event.kind, EventKind::Moved { .. });
        let is_charged = |event: &Event| match event.kind {
            EventKind::Moved { spent_ms, .. } => spent_ms > Some(10),
            _ => false,
        };
        let mut pairs = (2..).zip(record.events.windows(2));
        let (seq, _) = pairs.find(|(_, pair)| is_move(&pair[0]) && is_charged(&pair[1]))?;
        Some((*id, seq))
    })
}

/// Returns a match that ended by time, and the number of its last event.
fn find_flag_fall(stored: &FinalState) -> Option<(MatchId, u64)> {
    non_correspondence_matches(stored).find_map(|(id, record)| {
        let is_flag = matches!(
            record.events.last()?.kind,
            EventKind::Ended {
                reason: EndReason::Timeout,
                ..
            }
        );
        is_flag.then_some((*id, record.events.len() as u64))
    })
}

/// Adds a rejected write to the match at the start of the run. The store works again at `until`.
fn add_write_failure(stored: &mut FinalState, id: MatchId, until: Duration) {
    stored
        .write_failures
        .entry(id)
        .or_default()
        .push(WriteFailure {
            started: Duration::ZERO,
            rejected_at: Some(Duration::ZERO),
            resolved_at: Some(until),
        });
}

/// Returns whether the match has no spectator delay. Delayed snapshots are unsuitable, because
/// their exact age is unknown.
fn is_undelayed(snapshot: &Snapshot) -> bool {
    snapshot.spectator_delay_ms == 0
}
