//! Tests for match reminders.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{CorrespondenceTurn, Match, Occupant, Participation, Reminder};
use plyhouse_protocol::{ClockControl, MatchId};
use uuid::Uuid;

use super::{
    AT_MS, OTHER_NODE, OWNER_NODE, RESIGNATION, create_match, live_matches, match_record,
    move_event, player, unowned_matches,
};
use crate::{JournalPosition, PlayerRecord, Store, WriteError};

/// Time per move in the correspondence matches, in milliseconds: one day.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// Creates a correspondence match between players 1 and 2 that starts at `at_ms`.
async fn create_correspondence_match(
    store: &dyn Store,
    number: u128,
    at_ms: u64,
) -> (MatchId, JournalPosition) {
    let mut written = match_record(number, &player(1));
    written.creation.terms.clock = Some(ClockControl::Move { move_ms: DAY_MS });
    for player in [player(1), player(2)] {
        store.add_player(player, vec![]).await.expect("written");
    }
    let player_occupant = |player: PlayerRecord| Occupant::Player {
        id: player.id,
        name: player.name,
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    };
    let seats = [player_occupant(player(1)), player_occupant(player(2))];
    written.events = Match::initial_events(&written.creation.terms, seats, at_ms);
    let id = written.creation.id;
    (
        id,
        store.create(OWNER_NODE, written).await.expect("written"),
    )
}

fn participation(number: u8, seat: Option<Seat>, turn: Seat, due_ms: u64) -> Participation {
    let (turn, due_ms) = (Some(turn), Some(due_ms));
    Participation {
        player: player(number).id,
        seat,
        substituted_seat: None,
        correspondence_turn: Some(CorrespondenceTurn {
            turn,
            deadline_ms: due_ms,
        }),
        absent_since_ms: None,
    }
}

async fn due_reminders(store: &dyn Store, after: (u64, u128), limit: usize) -> Vec<(u64, u128)> {
    let after = (after.0, MatchId(Uuid::from_u128(after.1)));
    let reminders = store.due_reminders(after, limit).await.expect("readable");
    reminders
        .into_iter()
        .map(|(at, id)| (at, id.0.as_u128()))
        .collect()
}

/// The store can find a match that has a wake time by this time and by the players of the match.
/// The store does not return such a match together with the live matches.
pub(crate) async fn reminder_is_stored_with_its_events(store: &dyn Store) {
    let (first, second) = (Seat::First, Seat::Second);
    let (id, position) = create_correspondence_match(store, 60, AT_MS).await;
    create_correspondence_match(store, 62, AT_MS - 10).await;
    create_correspondence_match(store, 61, AT_MS).await;
    create_match(store, 63).await;
    let all = [
        (AT_MS + DAY_MS - 10, 62),
        (AT_MS + DAY_MS, 60),
        (AT_MS + DAY_MS, 61),
    ];
    assert_eq!(due_reminders(store, (0, 0), 9).await, all);
    assert_eq!(due_reminders(store, (0, 0), 2).await, all[..2]);
    assert_eq!(due_reminders(store, all[1], 9).await, all[2..]);
    assert_eq!(store.due_reminder_count().await.expect("readable"), 3);
    assert_eq!(live_matches(store, OWNER_NODE).await.0, [63]);
    assert_eq!(unowned_matches(store, OTHER_NODE).await, [63]);
    let participations = store.participations(player(2).id).await.expect("readable");
    let bobs_participation = |due_ms| participation(2, Some(second), first, due_ms);
    let expected = [(60, 0), (61, 0), (62, 10)].map(|(id, earlier_ms)| {
        (
            MatchId(Uuid::from_u128(id)),
            bobs_participation(AT_MS + DAY_MS - earlier_ms),
        )
    });
    assert_eq!(participations, expected);

    let later = Reminder {
        wake_ms: Some(AT_MS + 2 * DAY_MS),
        participations: [(1, first), (2, second)]
            .map(|(number, seat)| participation(number, Some(seat), second, AT_MS + 2 * DAY_MS))
            .to_vec(),
    };
    let append = |position| {
        let events = vec![move_event(first, "b2")];
        store.append_with_reminder(id, position, events, Some(later.clone()))
    };
    let refused = append(JournalPosition::after_events(1)).await;
    assert_eq!(refused, Err(WriteError::Conflict));
    assert_eq!(due_reminders(store, (0, 0), 9).await, all);
    let position = append(position).await.expect("written");
    assert_eq!(
        due_reminders(store, all[2], 9).await,
        [(AT_MS + 2 * DAY_MS, 60)]
    );
    let participations = store.participations(player(1).id).await.expect("readable");
    assert_eq!(participations[0], (id, later.participations[0]));
    let position = store.append(id, position, vec![]).await.expect("written");
    assert_eq!(due_reminders(store, all[2], 9).await.len(), 1);

    let served = Reminder {
        wake_ms: None,
        ..later
    };
    let stored = store
        .append_with_reminder(id, position, vec![], Some(served))
        .await;
    let position = stored.expect("written");
    assert_eq!(due_reminders(store, (0, 0), 9).await, [all[0], all[2]]);
    assert_eq!(live_matches(store, OWNER_NODE).await.0, [60, 63]);
    let participations = store.participations(player(2).id).await;
    assert_eq!(participations.expect("readable").len(), 3);
    let ended = store.append(id, position, vec![RESIGNATION]).await;
    ended.expect("written");
    let participations = store.participations(player(2).id).await.expect("readable");
    assert_eq!(participations, expected[1..]);
}

pub(crate) async fn loaded_match_has_its_reminder(store: &dyn Store) {
    let (id, position) = create_match(store, 64).await;
    let reminder = Reminder {
        wake_ms: Some(AT_MS),
        participations: vec![Participation {
            player: player(1).id,
            seat: Some(Seat::First),
            substituted_seat: None,
            correspondence_turn: None,
            absent_since_ms: Some(AT_MS - 5),
        }],
    };
    let stored = store.append_with_reminder(id, position, vec![], Some(reminder.clone()));
    stored.await.expect("written");
    let read = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(read.reminder, Some(reminder));
    let ended = store.append(id, position, vec![RESIGNATION]).await;
    ended.expect("written");
    let read = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(read.reminder, None);
}
