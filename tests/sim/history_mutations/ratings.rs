//! Mutations of stored ratings and received rating changes.

use plyhouse_protocol::ServerMessage;

use super::NamedMutation;
use super::entry_lookup::{change_received_message, find_index};
use crate::checker::ViolationKind;
use crate::history::HistoryEvent;

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "a rated match without a ledger row",
        ViolationKind::WrongRating,
        |_, stored| {
            let is_rated = stored
                .matches
                .values()
                .any(|record| record.rated_game().is_some());
            stored.ratings = plyhouse_store::MemoryRatings::default();
            is_rated.then_some(())
        },
    ),
    (
        "a ledger row without its match",
        ViolationKind::WrongRating,
        |_, stored| {
            let rows = stored.ratings.ledger(0, usize::MAX).into_iter();
            let mut ids = rows.filter_map(|(_, row)| match row {
                plyhouse_matches::ratings::LedgerRow::Game(game) => Some(game.match_id),
                _ => None,
            });
            let id = ids.next_back()?;
            stored.matches.remove(&id).map(drop)
        },
    ),
    (
        "a rating change that is not stored",
        ViolationKind::WrongRating,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Rating { changes, .. } => {
                    changes.first_mut()?.after += 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a rating change sent twice",
        ViolationKind::WrongRating,
        |history, _| {
            let is_rating = |what: &HistoryEvent| match what {
                HistoryEvent::Received { message, .. } => {
                    matches!(**message, ServerMessage::Rating { .. })
                }
                _ => false,
            };
            let index = find_index(history, is_rating)?;
            let again = history.entries[index].clone();
            history.entries.insert(index, again);
            Some(())
        },
    ),
    (
        "a wrong rating change in a snapshot",
        ViolationKind::WrongRating,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot) => {
                    snapshot.rating_changes.as_mut()?.first_mut()?.after += 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
];
