//! Edits of what was asked for, and of what is between matches.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Event, EventKind, Match, Offer};
use plyhouse_protocol::{
    ClientMessage, EndReason, MatchId, MatchRef, Offer as Asked, PlayerId, Ply, ServerMessage,
};

use super::NamedMutation;
use super::finding::{connection, got, moved, nobody, place_of_move, player};
use crate::checker::ViolationKind;
use crate::history::{History, HistoryEvent};
use crate::store::FinalState;

pub(super) const EDITS: &[NamedMutation] = &[
    (
        "an offer of nobody",
        ViolationKind::UnrequestedEvent,
        |history, kept| {
            let _ = unask_all(history, |message| {
                matches!(message, ClientMessage::Offer { .. })
            });
            let events = moved(kept)?;
            // Bots do what nobody has asked for.
            let seat = Seat::ALL
                .into_iter()
                .find(|seat| is_of_person(events, *seat))?;
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
        |history, kept| {
            let _ = unask_all(history, |message| {
                matches!(message, ClientMessage::Offer { .. })
            });
            end(kept, EndReason::Resignation, |kind| {
                if let EventKind::Ended { winner, reason, .. } = kind {
                    (*winner, *reason) = (None, EndReason::Agreement);
                }
            })
        },
    ),
    (
        "a draw that a stranger agreed to",
        ViolationKind::MoveWithoutSeat,
        |history, kept| {
            let is_agreed = |kind: &EventKind| matches!(kind, EventKind::Ended { reason, .. } if *reason == EndReason::Agreement);
            let (id, by) = accepted(kept, Offer::Draw, is_agreed)?;
            hand_on(history, id, by, |message| {
                matches!(
                    message,
                    ClientMessage::Offer {
                        offer: Asked::Draw { .. },
                        ..
                    }
                )
            })
        },
    ),
    (
        "a takeback of nobody",
        ViolationKind::UnrequestedEvent,
        |_, kept| {
            let is_move = |event: &Event| matches!(event.kind, EventKind::Moved { .. });
            let mut records = kept.matches.values_mut();
            let place = records.find_map(|record| {
                let last = record.events.iter().rposition(is_move)?;
                record
                    .creation
                    .terms
                    .clock
                    .is_none()
                    .then_some((record, last))
            });
            let (record, last) = place?;
            record.events.truncate(last + 1);
            let (ply, left) = (Ply(0), None);
            record.events.push(
                EventKind::TakenBack {
                    ply,
                    remaining: left,
                }
                .at(0),
            );
            Some(())
        },
    ),
    (
        "a takeback that a stranger agreed to",
        ViolationKind::MoveWithoutSeat,
        |history, kept| {
            let is_back = |kind: &EventKind| matches!(kind, EventKind::TakenBack { .. });
            let (id, by) = accepted(kept, Offer::Takeback, is_back)?;
            hand_on(history, id, by, |message| {
                matches!(
                    message,
                    ClientMessage::Offer {
                        offer: Asked::Takeback { .. },
                        ..
                    }
                )
            })
        },
    ),
    (
        "a resignation of nobody",
        ViolationKind::UnrequestedEvent,
        |history, kept| {
            let id = ended(kept, |kind| {
                matches!(
                    kind,
                    EventKind::Ended {
                        reason: EndReason::Resignation,
                        ..
                    }
                )
            })?;
            unask_all(
                history,
                |message| matches!(message, ClientMessage::Resign { target } if *target == MatchRef::Id(id)),
            )
        },
    ),
    (
        "time of nobody",
        ViolationKind::UnrequestedEvent,
        |history, kept| {
            let is_given = |kind: &EventKind| matches!(kind, EventKind::TimeGiven { .. });
            let mut records = kept.matches.values();
            records.find(|record| record.events.iter().any(|event| is_given(&event.kind)))?;
            unask_all(history, |message| {
                matches!(message, ClientMessage::GiveTime { .. })
            })
        },
    ),
    (
        "a move of before a takeback",
        ViolationKind::UnrequestedEvent,
        |history, _| {
            let place = place_of_move(history)?;
            match &mut history.entries[place].event {
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
        "a rematch that nobody wished",
        ViolationKind::UnrequestedEvent,
        |history, kept| {
            rematch(kept)?;
            unask_all(history, |message| {
                matches!(
                    message,
                    ClientMessage::Offer {
                        offer: Asked::Rematch,
                        ..
                    }
                )
            })
        },
    ),
    (
        "a rematch of nothing",
        ViolationKind::WrongRematch,
        |_, kept| {
            let id = rematch(kept)?;
            let previous = kept
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
        |_, kept| {
            let id = rematch(kept)?;
            let mut again = kept.matches.get(&id)?.clone();
            let other = MatchId(uuid::Uuid::nil());
            again.creation.id = other;
            kept.matches.insert(other, again);
            Some(())
        },
    ),
    (
        "a rematch with the same seats",
        ViolationKind::WrongRematch,
        |_, kept| {
            let id = rematch(kept)?;
            for event in kept.matches.get_mut(&id)?.events.iter_mut().take(2) {
                if let EventKind::Seated { seat, .. } = &mut event.kind {
                    *seat = seat.other();
                }
            }
            kept.matches.get_mut(&id)?.events.swap(0, 1);
            Some(())
        },
    ),
    (
        "points of another series",
        ViolationKind::WrongRematch,
        |_, kept| {
            let id = rematch(kept)?;
            let previous = kept
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
        "another rematch is told",
        ViolationKind::WrongRematch,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Rematch { rematch, .. } => {
                    rematch.next.as_mut()?.match_id = MatchId(uuid::Uuid::nil());
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "another's challenge",
        ViolationKind::WrongSnapshot,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Challenge(challenge) => {
                    challenge.code.push('x');
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a stranger accepts a challenge",
        ViolationKind::MoveWithoutSeat,
        |_, kept| {
            let mut records = kept.matches.values_mut();
            let record = records.find(|record| {
                let invited = record.creation.terms.invited;
                let has_come = |event: &Event| match &event.kind {
                    EventKind::Seated { occupant, .. } => occupant.player() == invited,
                    _ => false,
                };
                invited.is_some() && record.events.iter().any(has_come)
            })?;
            record.creation.terms.invited = Some(nobody());
            Some(())
        },
    ),
];

/// Whether a person sits there in the end.
fn is_of_person(events: &[Event], of: Seat) -> bool {
    let last = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Seated { seat, occupant } if *seat == of => Some(occupant),
        _ => None,
    });
    last.is_some_and(|occupant| occupant.player().is_some())
}

/// The first match that ended so.
fn ended(kept: &FinalState, fits: impl Fn(&EventKind) -> bool) -> Option<MatchId> {
    let mut matches = kept.matches.iter();
    let found = matches.find(|(_, record)| {
        let last = record.events.last();
        last.is_some_and(|event| fits(&event.kind))
    });
    found.map(|(id, _)| *id)
}

/// Has the first match that ended for this reason end otherwise.
fn end(kept: &mut FinalState, why: EndReason, change: impl Fn(&mut EventKind)) -> Option<()> {
    let is_so =
        |kind: &EventKind| matches!(kind, EventKind::Ended { reason, .. } if *reason == why);
    let id = ended(kept, is_so)?;
    change(&mut kept.matches.get_mut(&id)?.events.last_mut()?.kind);
    Some(())
}

/// The first match that is a rematch.
fn rematch(kept: &FinalState) -> Option<MatchId> {
    let mut matches = kept.matches.iter();
    let found = matches.find(|(_, record)| record.creation.terms.previous.is_some());
    found.map(|(id, _)| *id)
}

/// The first match in which somebody accepted such an offer, which had this effect, and who it was.
fn accepted(
    kept: &FinalState,
    offer: Offer,
    is_effect: impl Fn(&EventKind) -> bool,
) -> Option<(MatchId, PlayerId)> {
    kept.matches.iter().find_map(|(id, record)| {
        let begun = Match::new(record.creation.clone());
        let mut state = begun.expect("the server has seen how it begins");
        record.events.iter().find_map(|event| {
            let standing = {
                state
                    .pending_offers()
                    .find(|standing| standing.offer == offer)
            };
            let by = standing.and_then(|standing| {
                let accepter = state.occupant(standing.seat.other()).player()?;
                // Who offers and has run out of time needs nobody to accept.
                (is_effect(&event.kind) && !has_flagged(&event.kind)).then_some(accepter)
            });
            state.fold(event).ok()?;
            Some((*id, by?))
        })
    })
}

/// Whether somebody has no time left at the end.
fn has_flagged(event: &EventKind) -> bool {
    match event {
        EventKind::Ended {
            remaining: left, ..
        } => {
            let mut left = left.iter().flat_map(|left| left.remaining_ms());
            left.any(|left_ms| left_ms == 0)
        }
        _ => false,
    }
}

/// Makes all such offers of a player in this match those of somebody else.
fn hand_on(
    history: &mut History,
    id: MatchId,
    by: PlayerId,
    fits: impl Fn(&ClientMessage) -> bool,
) -> Option<()> {
    let is_one = |what: &HistoryEvent| match what {
        HistoryEvent::Sent { request, .. } => {
            let is_of = matches!(&request.message, ClientMessage::Offer { target, .. }
                if *target == MatchRef::Id(id));
            is_of && fits(&request.message)
        }
        _ => false,
    };
    let all = 0..history.entries.len();
    let places = all.filter(|place| is_one(&history.entries[*place].event));
    let is_theirs =
        |place: &usize| connection(history, *place).and_then(|on| player(history, on)) == Some(by);
    let places: Vec<usize> = places.filter(is_theirs).collect();
    for place in &places {
        let stranger = (0..*place).find_map(|before| {
            let on = connection(history, before)?;
            player(history, on).filter(|player| *player != by)?;
            Some(on)
        })?;
        if let HistoryEvent::Sent { connection, .. } = &mut history.entries[*place].event {
            *connection = stranger;
        }
    }
    (!places.is_empty()).then_some(())
}

/// Takes every such request out of a history.
fn unask_all(history: &mut History, fits: impl Fn(&ClientMessage) -> bool) -> Option<()> {
    let is_one = |what: &HistoryEvent| match what {
        HistoryEvent::Sent { request, .. } => fits(&request.message),
        _ => false,
    };
    let all = history.entries.len();
    history.entries.retain(|entry| !is_one(&entry.event));
    (history.entries.len() < all).then_some(())
}
