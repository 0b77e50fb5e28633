//! Mutates histories and final states, and asserts that the checker reports the expected violation
//! for each mutation.

mod chat_blocks;
mod clocks;
mod consent;
mod correspondence;
mod engine_output;
mod entry_lookup;
mod match_lists;
mod ratings;
mod spectator_views;

use std::collections::BTreeSet;

use plyhouse_engine::game::Seat;
use plyhouse_matches::EventKind;
use plyhouse_protocol::{
    EndReason, ErrorCode, Event, SeatNumber, Seq, ServerMessage, SpectatorAccess,
};

use self::entry_lookup::{
    change_received_event, change_received_message, connection_at, custom_position_request,
    error_message, find_followed_move_event, find_index, find_own_move_event,
    find_played_move_request, is_event_of_kind, nil_player_id, player_of, rename_players, reply_to,
    truncate_after_last_move,
};
use super::checker::{ViolationKind, check};
use super::fault_plan::Plan;
use super::history::{ConnectionId, History, HistoryEvent};
use super::store::FinalState;
use super::world;

/// Number of worlds where all mutations are tried. Not every world offers a place for every
/// mutation.
const WORLDS_MIN: u64 = 8;

/// Maximum number of worlds that are run until each mutation has been applied.
const WORLDS_MAX: u64 = 200;

/// Function that mutates the records of a run. Returns `None` if the run offers no place for the
/// mutation.
type Mutation = fn(&mut History, &mut FinalState) -> Option<()>;

/// Name of a mutation, the expected kind of violation, and the mutation itself.
type NamedMutation = (&'static str, ViolationKind, Mutation);

/// Returns all mutations for runs without faults.
fn all_mutations() -> impl Iterator<Item = &'static NamedMutation> {
    let others = clocks::MUTATIONS.iter().chain(consent::MUTATIONS);
    let others = others
        .chain(match_lists::MUTATIONS)
        .chain(chat_blocks::MUTATIONS)
        .chain(ratings::MUTATIONS)
        .chain(engine_output::MUTATIONS)
        .chain(spectator_views::MUTATIONS);
    MUTATIONS.iter().chain(others)
}

/// Mutations that apply to matches of any kind.
const MUTATIONS: &[NamedMutation] = &[
    ("a lost tail", ViolationKind::LostWrite, |_, final_state| {
        truncate_after_last_move(final_state)?.pop().map(drop)
    }),
    (
        "a lost match",
        ViolationKind::LostWrite,
        |_, final_state| final_state.matches.pop_first().map(drop),
    ),
    (
        "a contradicting event",
        ViolationKind::Contradiction,
        |history, _| {
            change_received_event(history, |event| match event {
                Event::Moved { m, .. } => {
                    m.push('x');
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a contradicting record",
        ViolationKind::Contradiction,
        |_, final_state| {
            rename_players(final_state);
            Some(())
        },
    ),
    ("a gap", ViolationKind::SeqGap, |history, _| {
        let place = find_followed_move_event(history)?;
        history.entries.remove(place);
        Some(())
    }),
    ("an event twice", ViolationKind::SeqGap, |history, _| {
        let place = find_index(history, |what| is_event_of_kind(what, "moved"))?;
        let again = history.entries[place].clone();
        history.entries.insert(place, again);
        Some(())
    }),
    (
        "an old snapshot",
        ViolationKind::StaleState,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot)
                    if snapshot.re.is_some()
                        && snapshot.seq.0 > 3
                        && snapshot.spectator_delay_ms == 0 =>
                {
                    snapshot.seq = Seq(1);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a wrong snapshot",
        ViolationKind::WrongSnapshot,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot) => {
                    snapshot.ply.0 += 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a match that is told to have begun elsewhere",
        ViolationKind::WrongSnapshot,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot) => snapshot.initial_position.take().map(drop),
                _ => None,
            })
        },
    ),
    (
        "another start than was asked for",
        ViolationKind::InvalidReply,
        |history, _| {
            custom_position_request(history)?.position = None;
            Some(())
        },
    ),
    (
        "an impossible event",
        ViolationKind::ImpossibleEvent,
        |_, final_state| {
            truncate_after_last_move(final_state)?.push(EventKind::UNTIMED_START.at(0));
            Some(())
        },
    ),
    (
        "a doubled move",
        ViolationKind::DuplicateMove,
        |_, final_state| {
            let events = truncate_after_last_move(final_state)?;
            let last = events.last()?.clone();
            events.push(last);
            Some(())
        },
    ),
    (
        "a move under two numbers",
        ViolationKind::DuplicateMove,
        |history, _| {
            change_received_event(history, |event| match event {
                Event::Moved { ply, .. } if ply.0 > 0 => {
                    ply.0 -= 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "two winners told",
        ViolationKind::ConflictingResults,
        |history, _| {
            change_received_event(history, |event| match event {
                Event::Ended { outcome, .. } => {
                    let other = outcome.winner.map_or(SeatNumber(0), SeatNumber::other);
                    outcome.winner = Some(other);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "two results kept",
        ViolationKind::ConflictingResults,
        |_, final_state| {
            let mut records = final_state.matches.values_mut();
            let events =
                records.find_map(|record| record.has_ended().then_some(&mut record.events))?;
            let ended = EventKind::untimed_end(Some(Seat::First), EndReason::Resignation);
            events.push(ended.at(0));
            Some(())
        },
    ),
    (
        "a refused move",
        ViolationKind::AppliedRejectedRequest,
        |history, _| {
            let place = find_played_move_request(history)?;
            let answer = reply_to(history, place)?;
            *answer = error_message(answer.re(), ErrorCode::Overloaded);
            Some(())
        },
    ),
    (
        "a refused match",
        ViolationKind::AppliedRejectedRequest,
        |history, _| {
            change_received_message(history, false, |message| match message {
                // The mutation replaces only replies about publicly listed matches. A match from a
                // seek is not listed, and its host may be the other player.
                ServerMessage::Match(snapshot) if snapshot.re.is_some() && snapshot.listed => {
                    *message = error_message(snapshot.re, ErrorCode::Overloaded);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a stranger's move",
        ViolationKind::MoveWithoutSeat,
        |history, _| {
            // Attributes the request to another player.
            let place = find_played_move_request(history)?;
            let sender = player_of(history, connection_at(history, place)?)?;
            let stranger = (0..place).find_map(|place| {
                let on = connection_at(history, place)?;
                player_of(history, on).filter(|player| *player != sender)?;
                Some(on)
            })?;
            match &mut history.entries[place].event {
                HistoryEvent::Sent { connection, .. } => *connection = stranger,
                _ => return None,
            }
            Some(())
        },
    ),
    (
        "a move of nobody",
        ViolationKind::UnrequestedEvent,
        |history, _| {
            let place = find_played_move_request(history)?;
            history.entries.remove(place);
            Some(())
        },
    ),
    (
        "a forgotten match",
        ViolationKind::UnknownMatchOrPlayer,
        |history, _| {
            change_received_message(history, true, |message| match message {
                // Skips the reply to `create`, because that request names no match.
                ServerMessage::Match(snapshot)
                    if (snapshot.re.is_some()
                        && snapshot.spectator_access != SpectatorAccess::Nobody)
                        && (snapshot.ply.0 > 0 && snapshot.outcome.is_none()) =>
                {
                    *message = error_message(snapshot.re, ErrorCode::UnknownMatch);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a forgotten player",
        ViolationKind::UnknownMatchOrPlayer,
        |history, _| {
            // Only players with a match are suitable, because the server may forget the others.
            change_received_message(history, true, |message| match message {
                ServerMessage::Welcome(welcome)
                    if welcome.resumed && !welcome.following.is_empty() =>
                {
                    welcome.resumed = false;
                    welcome.player.id = nil_player_id();
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "another's token",
        ViolationKind::WrongPlayer,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Welcome(welcome) if welcome.resumed => {
                    welcome.player.id = nil_player_id();
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a second answer",
        ViolationKind::InvalidReply,
        |history, _| {
            let is_answer = |what: &HistoryEvent| matches!(what, HistoryEvent::Received { message, .. } if message.re().is_some());
            let place = find_index(history, is_answer)?;
            let again = history.entries[place].clone();
            history.entries.insert(place, again);
            Some(())
        },
    ),
    (
        "an answer before the event",
        ViolationKind::ReplyBeforeEvent,
        |history, _| {
            let place = find_own_move_event(history)?;
            let event = history.entries.remove(place);
            history.entries.insert(place + 1, event);
            Some(())
        },
    ),
    ("nonsense", ViolationKind::InvalidMessage, |history, _| {
        history.entries.last_mut()?.event = HistoryEvent::ReceivedInvalid {
            connection: ConnectionId(1),
            text: "{}".to_owned(),
        };
        Some(())
    }),
];

#[test]
fn every_violation_kind_has_a_mutation() {
    for kind in ViolationKind::SINGLE_SERVER {
        let mut all = all_mutations().chain(correspondence::MUTATIONS);
        assert!(all.any(|edit| edit.1 == kind), "{kind:?}");
    }
}

#[test]
fn every_mutation_is_detected() {
    assert_all_detected(Plan::without_faults, all_mutations);
}

/// Restarts advance the wall clock, which the correspondence mutations need.
#[test]
fn every_correspondence_mutation_is_detected() {
    assert_all_detected(Plan::with_restarts_only, || {
        correspondence::MUTATIONS.iter()
    });
}

#[track_caller]
fn assert_all_detected<E: Iterator<Item = &'static NamedMutation>>(
    plan: fn(u64) -> Plan,
    mutations: fn() -> E,
) {
    let mut unapplied: BTreeSet<&str> = mutations().map(|edit| edit.0).collect();
    for seed in 0..WORLDS_MAX {
        if seed >= WORLDS_MIN && unapplied.is_empty() {
            break;
        }
        let result = world::run(plan(seed), None);
        assert_eq!(check(&result.history, &result.final_state).0, [], "{seed}");
        for (name, kind, mutate) in mutations() {
            if seed >= WORLDS_MIN && !unapplied.contains(name) {
                continue;
            }
            let (mut history, mut stored) = (result.history.clone(), result.final_state.clone());
            if mutate(&mut history, &mut stored).is_none() {
                continue;
            }
            let (violations, _) = check(&history, &stored);
            let kinds: Vec<ViolationKind> = violations.iter().map(|fault| fault.kind).collect();
            assert!(
                kinds.contains(kind),
                "{name} was not detected with seed {seed}: {violations:#?}"
            );
            unapplied.remove(name);
        }
    }
    assert!(
        unapplied.is_empty(),
        "mutations never applied: {unapplied:?}"
    );
}
