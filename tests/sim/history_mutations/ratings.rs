//! Edits of what is kept and told of ratings.

use plyhouse_protocol::ServerMessage;

use super::NamedMutation;
use super::finding::{got, place};
use crate::checker::ViolationKind;
use crate::history::HistoryEvent;

pub(super) const EDITS: &[NamedMutation] = &[
    (
        "a rated match without a row",
        ViolationKind::WrongRating,
        |_, kept| {
            let is_rated = kept
                .matches
                .values()
                .any(|record| record.rated_game().is_some());
            kept.ratings = plyhouse_store::MemoryRatings::default();
            is_rated.then_some(())
        },
    ),
    (
        "a row without its match",
        ViolationKind::WrongRating,
        |_, kept| {
            let rows = kept.ratings.ledger(0, usize::MAX).into_iter();
            let mut ids = rows.filter_map(|(_, row)| match row {
                plyhouse_matches::ratings::LedgerRow::Game(game) => Some(game.match_id),
                _ => None,
            });
            let id = ids.next_back()?;
            kept.matches.remove(&id).map(drop)
        },
    ),
    (
        "a change that is not kept",
        ViolationKind::WrongRating,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Rating { changes, .. } => {
                    changes.first_mut()?.after += 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a change that is told twice",
        ViolationKind::WrongRating,
        |history, _| {
            let is_told = |what: &HistoryEvent| match what {
                HistoryEvent::Received { message, .. } => {
                    matches!(**message, ServerMessage::Rating { .. })
                }
                _ => false,
            };
            let place = place(history, is_told)?;
            let again = history.entries[place].clone();
            history.entries.insert(place, again);
            Some(())
        },
    ),
    (
        "another change that is shown",
        ViolationKind::WrongRating,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Match(snapshot) => {
                    snapshot.rating_changes.as_mut()?.first_mut()?.after += 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
];
