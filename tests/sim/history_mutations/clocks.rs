//! Edits of clocks.

use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::{ClockState, EndReason, MatchId, ServerMessage, Snapshot};
use plyhouse_store::MatchRecord;

use super::NamedMutation;
use super::finding::{got, place};
use crate::checker::ViolationKind;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};
use crate::store::{FinalState, WriteFailure};

const HOUR: Duration = Duration::from_secs(3600);

pub(super) const EDITS: &[NamedMutation] = &[
    ("a wrong sum", ViolationKind::WrongClock, |_, kept| {
        event(kept, |kind| match kind {
            EventKind::Moved {
                seat,
                remaining: Some(left),
                spent_ms: Some(1..),
                ..
            } => {
                *left = left.with_added_time(*seat, 1);
                Some(())
            }
            _ => None,
        })
        .map(drop)
    }),
    (
        "a free ply is charged",
        ViolationKind::WrongClock,
        |_, kept| {
            event(kept, |kind| match kind {
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
        "time comes from nowhere",
        ViolationKind::WrongClock,
        |_, kept| {
            event(kept, |kind| match kind {
                EventKind::TakenBack {
                    remaining: Some(left),
                    ..
                } => {
                    *left = left.with_added_time(Seat::First, 1);
                    Some(())
                }
                _ => None,
            })
            .map(drop)
        },
    ),
    (
        "the store's time is charged",
        ViolationKind::WrongClock,
        |_, kept| {
            // The turn began when the move was just going to be written.
            let (id, seq) = charged(kept)?;
            let asked = kept.write_times.get(&(id, seq))?.started;
            kept.write_times.get_mut(&(id, seq - 1))?.durable_at = asked;
            Some(())
        },
    ),
    (
        "a move takes less than it took",
        ViolationKind::WrongClock,
        |history, kept| {
            let (id, seq) = charged(kept)?;
            let is_told = |what: &HistoryEvent| {
                matches!(what, HistoryEvent::Received { message, .. } if matches!(&**message,
                ServerMessage::Event(event) if event.match_id() == id && event.seq().0 == seq - 1))
            };
            let told = place(history, is_told)?;
            history.entries[told].at_us = 0;
            // A move that was sent so late was thought about for that long.
            for entry in &mut history.entries {
                if matches!(entry.event, HistoryEvent::Sent { .. }) {
                    entry.at_us += HOUR.as_micros();
                }
            }
            Some(())
        },
    ),
    (
        "a flag falls too soon",
        ViolationKind::WrongClock,
        |_, kept| {
            let (id, seq) = flag(kept)?;
            let ended = kept.write_times.get_mut(&(id, seq))?;
            ended.started -= Duration::from_millis(1000);
            Some(())
        },
    ),
    (
        "a flag falls within a restart",
        ViolationKind::WrongClock,
        |history, kept| {
            let (id, seq) = flag(kept)?;
            let at_us = kept.write_times.get(&(id, seq))?.started.as_micros();
            let what = HistoryEvent::Restart;
            let later = history
                .entries
                .iter()
                .position(|entry| entry.at_us >= at_us)?;
            history
                .entries
                .insert(later, HistoryEntry { at_us, event: what });
            Some(())
        },
    ),
    (
        "a flag falls while the store refuses",
        ViolationKind::WrongClock,
        |_, kept| {
            let (id, seq) = flag(kept)?;
            let asked = kept.write_times.get(&(id, seq))?.started;
            refuse(kept, id, asked);
            Some(())
        },
    ),
    (
        "the clock runs while the store refuses",
        ViolationKind::WrongClock,
        |_, kept| {
            let (id, seq) = charged(kept)?;
            let asked = kept.write_times.get(&(id, seq))?.started;
            refuse(kept, id, asked);
            Some(())
        },
    ),
    (
        "a flag does not fall",
        ViolationKind::WrongClock,
        |history, kept| {
            let (id, _) = flag(kept)?;
            kept.matches.get_mut(&id)?.events.pop();
            let at_us = history.entries.last()?.at_us + HOUR.as_micros();
            let what = HistoryEvent::Fault("nothing happens".to_owned());
            history.entries.push(HistoryEntry { at_us, event: what });
            Some(())
        },
    ),
    (
        "a snapshot shows too much",
        ViolationKind::WrongClock,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Match(snapshot)
                    if is_at_once(snapshot) && snapshot.first_move_ms.is_none() =>
                {
                    *snapshot.turn_ms.as_mut()? += 100_000;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a clock stands for nothing",
        ViolationKind::WrongClock,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Match(snapshot)
                    if is_at_once(snapshot) && snapshot.paused == Some(false) =>
                {
                    snapshot.paused = Some(true);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a free ply is shown as another",
        ViolationKind::WrongClock,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Match(snapshot) if is_at_once(snapshot) => {
                    snapshot.first_move_ms.take().map(drop)
                }
                _ => None,
            })
        },
    ),
    (
        "a clock is told wrong",
        ViolationKind::WrongClock,
        |history, _| {
            // Told to whoever has just been shown the match: there a clock stands and goes on.
            let (place, on, snapshot) = shown(history, |snapshot| snapshot.turn_ms.is_some())?;
            let mut left = snapshot.time_left?;
            left.left_ms[0] += 1;
            let message = Box::new(ServerMessage::Clock {
                match_id: snapshot.match_id,
                clock: ClockState {
                    ply: snapshot.ply,
                    time_left: left,
                    turn_ms: 0,
                    paused: false,
                    first_move_ms: snapshot.first_move_ms,
                },
            });
            let (at_us, connection) = (history.entries[place].at_us, on);
            let what = HistoryEvent::Received {
                connection,
                message,
            };
            history
                .entries
                .insert(place + 1, HistoryEntry { at_us, event: what });
            Some(())
        },
    ),
];

/// The first event that can be changed so, by its match and number.
fn event(
    kept: &mut FinalState,
    mut change: impl FnMut(&mut EventKind) -> Option<()>,
) -> Option<(MatchId, u64)> {
    kept.matches.iter_mut().find_map(|(id, record)| {
        let mut events = (1..).zip(&mut record.events);
        let seq = events.find_map(|(seq, event)| change(&mut event.kind).map(|()| seq))?;
        Some((*id, seq))
    })
}

/// The first place where such a snapshot is shown.
fn shown(
    history: &History,
    fits: impl Fn(&Snapshot) -> bool,
) -> Option<(usize, ConnectionId, Snapshot)> {
    let mut entries = history.entries.iter().enumerate();
    entries.find_map(|(place, entry)| match &entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } => match &**message {
            ServerMessage::Match(snapshot) if is_at_once(snapshot) && fits(snapshot) => {
                Some((place, *connection, (**snapshot).clone()))
            }
            _ => None,
        },
        _ => None,
    })
}

/// The matches that are not played over days.
fn in_one_sitting(kept: &FinalState) -> impl Iterator<Item = (&MatchId, &MatchRecord)> {
    let matches = kept.matches.iter();
    matches.filter(|(_, record)| !record.creation.terms.is_correspondence())
}

/// A move that was charged something, right after another move.
fn charged(kept: &FinalState) -> Option<(MatchId, u64)> {
    in_one_sitting(kept).find_map(|(id, record)| {
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

/// The end of a match by a flag.
fn flag(kept: &FinalState) -> Option<(MatchId, u64)> {
    in_one_sitting(kept).find_map(|(id, record)| {
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

/// Has the store refuse until then for an hour.
fn refuse(kept: &mut FinalState, id: MatchId, until: Duration) {
    kept.write_failures
        .entry(id)
        .or_default()
        .push(WriteFailure {
            started: Duration::ZERO,
            rejected_at: Some(Duration::ZERO),
            resolved_at: Some(until),
        });
}

/// How long ago strangers see a match with a delay nobody knows exactly.
fn is_at_once(snapshot: &Snapshot) -> bool {
    snapshot.spectator_delay_ms == 0
}
