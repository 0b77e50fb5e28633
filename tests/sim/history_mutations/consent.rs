//! Mutations of requests, rematches and challenges.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Event, EventKind, Match, Offer};
use plyhouse_protocol::{
    ClientMessage, EndReason, MatchId, MatchRef, Offer as WireOffer, PlayerId, Ply, ServerMessage,
};

use super::NamedMutation;
use super::entry_lookup::{
    change_received_message, connection_at, find_played_move_request, nil_player_id, player_of,
    truncate_after_last_move,
};
use crate::checker::ViolationKind;
use crate::history::{History, HistoryEvent};
use crate::store::FinalState;

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "an unrequested offer",
        ViolationKind::UnrequestedEvent,
        |history, stored| {
            let _ = remove_requests(history, |message| {
                matches!(message, ClientMessage::Offer { .. })
            });
            let events = truncate_after_last_move(stored)?;
            // Picks a seat that a player holds, because the events of bots need no request.
            let seat = Seat::ALL
                .into_iter()
                .find(|seat| is_human_seat(events, *seat))?;
            events.push(
                EventKind::Offered {
                    seat,
                    offer: Offer::Draw,
                    ply: Ply(1),
                    to_ply: None,
                }
                .at(0),
            );
            Some(())
        },
    ),
    (
        "a draw without an offer",
        ViolationKind::UnrequestedEvent,
        |history, stored| {
            let _ = remove_requests(history, |message| {
                matches!(message, ClientMessage::Offer { .. })
            });
            change_ending(stored, EndReason::Resignation, |kind| {
                if let EventKind::Ended { winner, reason, .. } = kind {
                    (*winner, *reason) = (None, EndReason::Agreement);
                }
            })
        },
    ),
    (
        "a draw accepted by another player",
        ViolationKind::MoveWithoutSeat,
        |history, stored| {
            let is_agreed = |kind: &EventKind| matches!(kind, EventKind::Ended { reason, .. } if *reason == EndReason::Agreement);
            let (id, by) = find_accepted_offer(stored, Offer::Draw, is_agreed)?;
            reassign_offers(history, id, by, |message| {
                matches!(
                    message,
                    ClientMessage::Offer {
                        offer: WireOffer::Draw { .. },
                        ..
                    }
                )
            })
        },
    ),
    (
        "an unrequested takeback",
        ViolationKind::UnrequestedEvent,
        |_, stored| {
            let is_move = |event: &Event| matches!(event.kind, EventKind::Moved { .. });
            let mut records = stored.matches.values_mut();
            let found = records.find_map(|record| {
                let last = record.events.iter().rposition(is_move)?;
                record
                    .creation
                    .terms
                    .clock
                    .is_none()
                    .then_some((record, last))
            });
            let (record, last) = found?;
            record.events.truncate(last + 1);
            let (ply, remaining) = (Ply(0), None);
            record
                .events
                .push(EventKind::TakenBack { ply, remaining }.at(0));
            Some(())
        },
    ),
    (
        "a takeback accepted by another player",
        ViolationKind::MoveWithoutSeat,
        |history, stored| {
            let is_back = |kind: &EventKind| matches!(kind, EventKind::TakenBack { .. });
            let (id, by) = find_accepted_offer(stored, Offer::Takeback, is_back)?;
            reassign_offers(history, id, by, |message| {
                matches!(
                    message,
                    ClientMessage::Offer {
                        offer: WireOffer::Takeback { .. },
                        ..
                    }
                )
            })
        },
    ),
    (
        "an unrequested resignation",
        ViolationKind::UnrequestedEvent,
        |history, stored| {
            let id = find_match_ending_with(stored, |kind| {
                matches!(
                    kind,
                    EventKind::Ended {
                        reason: EndReason::Resignation,
                        ..
                    }
                )
            })?;
            remove_requests(
                history,
                |message| matches!(message, ClientMessage::Resign { target } if *target == MatchRef::Id(id)),
            )
        },
    ),
    (
        "an unrequested time gift",
        ViolationKind::UnrequestedEvent,
        |history, stored| {
            let is_given = |kind: &EventKind| matches!(kind, EventKind::TimeGiven { .. });
            let mut records = stored.matches.values();
            records.find(|record| record.events.iter().any(|event| is_given(&event.kind)))?;
            remove_requests(history, |message| {
                matches!(message, ClientMessage::GiveTime { .. })
            })
        },
    ),
    (
        "a move with a wrong takeback count",
        ViolationKind::UnrequestedEvent,
        |history, _| {
            let index = find_played_move_request(history)?;
            match &mut history.entries[index].event {
                HistoryEvent::Sent { request, .. } => match &mut request.message {
                    ClientMessage::Move { takebacks, .. } => *takebacks = Some(99),
                    _ => return None,
                },
                _ => return None,
            }
            Some(())
        },
    ),
    (
        "an unrequested rematch",
        ViolationKind::UnrequestedEvent,
        |history, stored| {
            find_rematch(stored)?;
            remove_requests(history, |message| {
                matches!(
                    message,
                    ClientMessage::Offer {
                        offer: WireOffer::Rematch,
                        ..
                    }
                )
            })
        },
    ),
    (
        "a rematch of an unknown match",
        ViolationKind::WrongRematch,
        |_, stored| {
            let id = find_rematch(stored)?;
            let previous = stored
                .matches
                .get_mut(&id)?
                .creation
                .terms
                .previous
                .as_mut()?;
            previous.id = MatchId(uuid::Uuid::nil());
            Some(())
        },
    ),
    (
        "a second rematch",
        ViolationKind::WrongRematch,
        |_, stored| {
            let id = find_rematch(stored)?;
            let mut again = stored.matches.get(&id)?.clone();
            let other = MatchId(uuid::Uuid::nil());
            again.creation.id = other;
            stored.matches.insert(other, again);
            Some(())
        },
    ),
    (
        "a rematch without swapped seats",
        ViolationKind::WrongRematch,
        |_, stored| {
            let id = find_rematch(stored)?;
            for event in stored.matches.get_mut(&id)?.events.iter_mut().take(2) {
                if let EventKind::Seated { seat, .. } = &mut event.kind {
                    *seat = seat.other();
                }
            }
            stored.matches.get_mut(&id)?.events.swap(0, 1);
            Some(())
        },
    ),
    (
        "wrong series points",
        ViolationKind::WrongRematch,
        |_, stored| {
            let id = find_rematch(stored)?;
            let previous = stored
                .matches
                .get_mut(&id)?
                .creation
                .terms
                .previous
                .as_mut()?;
            previous.points[0] += 1;
            Some(())
        },
    ),
    (
        "a wrong rematch notification",
        ViolationKind::WrongRematch,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Rematch { rematch, .. } => {
                    rematch.next.as_mut()?.match_id = MatchId(uuid::Uuid::nil());
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a challenge with a wrong code",
        ViolationKind::WrongSnapshot,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Challenge(challenge) => {
                    challenge.code.push('x');
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a challenge accepted by another player",
        ViolationKind::MoveWithoutSeat,
        |_, stored| {
            let mut records = stored.matches.values_mut();
            let record = records.find(|record| {
                let invited = record.creation.terms.invited;
                let seats_invited = |event: &Event| match &event.kind {
                    EventKind::Seated { occupant, .. } => occupant.player() == invited,
                    _ => false,
                };
                invited.is_some() && record.events.iter().any(seats_invited)
            })?;
            record.creation.terms.invited = Some(nil_player_id());
            Some(())
        },
    ),
];

/// Returns whether a player holds the seat after the last event.
fn is_human_seat(events: &[Event], target: Seat) -> bool {
    let last = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Seated { seat, occupant } if *seat == target => Some(occupant),
        _ => None,
    });
    last.is_some_and(|occupant| occupant.player().is_some())
}

/// Returns the first match whose last event satisfies `fits`.
fn find_match_ending_with(
    stored: &FinalState,
    fits: impl Fn(&EventKind) -> bool,
) -> Option<MatchId> {
    let mut matches = stored.matches.iter();
    let found = matches.find(|(_, record)| {
        let last = record.events.last();
        last.is_some_and(|event| fits(&event.kind))
    });
    found.map(|(id, _)| *id)
}

/// Applies `change` to the last event of the first match that ended for `old_reason`.
fn change_ending(
    stored: &mut FinalState,
    old_reason: EndReason,
    change: impl Fn(&mut EventKind),
) -> Option<()> {
    let has_old_reason =
        |kind: &EventKind| matches!(kind, EventKind::Ended { reason, .. } if *reason == old_reason);
    let id = find_match_ending_with(stored, has_old_reason)?;
    change(&mut stored.matches.get_mut(&id)?.events.last_mut()?.kind);
    Some(())
}

/// Returns the first match that is a rematch.
fn find_rematch(stored: &FinalState) -> Option<MatchId> {
    let mut matches = stored.matches.iter();
    let found = matches.find(|(_, record)| record.creation.terms.previous.is_some());
    found.map(|(id, _)| *id)
}

/// Finds the first event that satisfies `is_effect` while `offer` is pending and its recipient is a
/// player. Returns the match and the recipient, who accepted the offer.
fn find_accepted_offer(
    stored: &FinalState,
    offer: Offer,
    is_effect: impl Fn(&EventKind) -> bool,
) -> Option<(MatchId, PlayerId)> {
    stored.matches.iter().find_map(|(id, record)| {
        let initial = Match::new(record.creation.clone());
        let mut state = initial.expect("the server has validated the creation");
        record.events.iter().find_map(|event| {
            let pending_offer = {
                state
                    .pending_offers()
                    .find(|pending| pending.offer == offer)
            };
            let by = pending_offer.and_then(|standing| {
                let accepter = state.occupant(standing.seat.other()).player()?;
                // If a player runs out of time while the opponent's draw offer is pending, the
                // match is drawn without an acceptance.
                (is_effect(&event.kind) && !has_flagged(&event.kind)).then_some(accepter)
            });
            state.fold(event).ok()?;
            Some((*id, by?))
        })
    })
}

/// Returns whether the event ends a match where a player has no time left.
fn has_flagged(event: &EventKind) -> bool {
    match event {
        EventKind::Ended { remaining, .. } => {
            let mut times_ms = remaining.iter().flat_map(|left| left.remaining_ms());
            times_ms.any(|left_ms| left_ms == 0)
        }
        _ => false,
    }
}

/// Attributes all offers of a player in this match that satisfy `fits` to other players.
fn reassign_offers(
    history: &mut History,
    id: MatchId,
    by: PlayerId,
    fits: impl Fn(&ClientMessage) -> bool,
) -> Option<()> {
    let is_matching_offer = |what: &HistoryEvent| match what {
        HistoryEvent::Sent { request, .. } => {
            let is_in_match = matches!(&request.message, ClientMessage::Offer { target, .. }
                if *target == MatchRef::Id(id));
            is_in_match && fits(&request.message)
        }
        _ => false,
    };
    let all = 0..history.entries.len();
    let indices = all.filter(|place| is_matching_offer(&history.entries[*place].event));
    let is_by_player = |place: &usize| {
        connection_at(history, *place).and_then(|on| player_of(history, on)) == Some(by)
    };
    let indices: Vec<usize> = indices.filter(is_by_player).collect();
    for index in &indices {
        let stranger = (0..*index).find_map(|before| {
            let on = connection_at(history, before)?;
            player_of(history, on).filter(|player| *player != by)?;
            Some(on)
        })?;
        if let HistoryEvent::Sent { connection, .. } = &mut history.entries[*index].event {
            *connection = stranger;
        }
    }
    (!indices.is_empty()).then_some(())
}

/// Removes all requests that satisfy `fits` from the history.
fn remove_requests(history: &mut History, fits: impl Fn(&ClientMessage) -> bool) -> Option<()> {
    let is_matching = |what: &HistoryEvent| match what {
        HistoryEvent::Sent { request, .. } => fits(&request.message),
        _ => false,
    };
    let all = history.entries.len();
    history.entries.retain(|entry| !is_matching(&entry.event));
    (history.entries.len() < all).then_some(())
}
