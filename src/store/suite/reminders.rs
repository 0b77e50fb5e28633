//! What is found of a match without reading it.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{DaysTurn, Match, Occupant, Part, Reminder};
use plyhouse_protocol::{ClockControl, MatchId};
use uuid::Uuid;

use super::{AT_MS, OTHER, OWNER, RESIGNED, created, live, moved, orphans, player, record};
use crate::{JournalPosition, PlayerRecord, Store, WriteError};

/// A day, which a move of these matches may take.
const DAY_MS: u64 = 24 * 3600 * 1000;

/// Has a match of days of the first two players written that begins at once and at this time.
async fn begun_over_days(
    store: &dyn Store,
    number: u128,
    at_ms: u64,
) -> (MatchId, JournalPosition) {
    let mut written = record(number, &player(1));
    written.creation.terms.clock = Some(ClockControl::Move { move_ms: DAY_MS });
    for player in [player(1), player(2)] {
        store.add_player(player, vec![]).await.expect("written");
    }
    let sits = |player: PlayerRecord| Occupant::Player {
        id: player.id,
        name: player.name,
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    };
    let seats = [sits(player(1)), sits(player(2))];
    written.events = Match::opening(&written.creation.terms, seats, at_ms);
    let id = written.creation.id;
    (id, store.create(OWNER, written).await.expect("written"))
}

fn part(number: u8, seat: Option<Seat>, turn: Seat, due_ms: u64) -> Part {
    let (turn, due_ms) = (Some(turn), Some(due_ms));
    Part {
        player: player(number).id,
        seat,
        stood_in: None,
        days: Some(DaysTurn { turn, due_ms }),
        absent_ms: None,
    }
}

async fn due(store: &dyn Store, after: (u64, u128), limit: usize) -> Vec<(u64, u128)> {
    let after = (after.0, MatchId(Uuid::from_u128(after.1)));
    let due = store.due_reminders(after, limit).await.expect("readable");
    due.into_iter()
        .map(|(at, id)| (at, id.0.as_u128()))
        .collect()
}

/// What has a reminder is found by time and by player, and is not read before.
pub(crate) async fn a_reminder_is_kept_with_the_events(store: &dyn Store) {
    let (first, second) = (Seat::First, Seat::Second);
    let (id, mark) = begun_over_days(store, 60, AT_MS).await;
    begun_over_days(store, 62, AT_MS - 10).await;
    begun_over_days(store, 61, AT_MS).await;
    created(store, 63).await;
    let all = [
        (AT_MS + DAY_MS - 10, 62),
        (AT_MS + DAY_MS, 60),
        (AT_MS + DAY_MS, 61),
    ];
    assert_eq!(due(store, (0, 0), 9).await, all);
    assert_eq!(due(store, (0, 0), 2).await, all[..2]);
    assert_eq!(due(store, all[1], 9).await, all[2..]);
    assert_eq!(store.due_count().await.expect("readable"), 3);
    assert_eq!(live(store, OWNER).await.0, [63]);
    assert_eq!(orphans(store, OTHER).await, [63]);
    let read = store.participations(player(2).id).await.expect("readable");
    let of_bob = |due_ms| part(2, Some(second), first, due_ms);
    let expected = [(60, 0), (61, 0), (62, 10)]
        .map(|(id, less)| (MatchId(Uuid::from_u128(id)), of_bob(AT_MS + DAY_MS - less)));
    assert_eq!(read, expected);

    let later = Reminder {
        wake_ms: Some(AT_MS + 2 * DAY_MS),
        parts: [(1, first), (2, second)]
            .map(|(number, seat)| part(number, Some(seat), second, AT_MS + 2 * DAY_MS))
            .to_vec(),
    };
    let kept = store.append_with_reminder(
        id,
        JournalPosition::after(1),
        vec![moved(first, "b2")],
        Some(later.clone()),
    );
    assert_eq!(kept.await, Err(WriteError::Conflict));
    assert_eq!(
        due(store, (0, 0), 9).await,
        all,
        "it is kept with the events alone"
    );
    let kept = store.append_with_reminder(id, mark, vec![moved(first, "b2")], Some(later.clone()));
    let mark = kept.await.expect("written");
    assert_eq!(due(store, all[2], 9).await, [(AT_MS + 2 * DAY_MS, 60)]);
    let read = store.participations(player(1).id).await.expect("readable");
    assert_eq!(read[0], (id, later.parts[0]));
    let mark = store.append(id, mark, vec![]).await.expect("written");
    assert_eq!(due(store, all[2], 9).await.len(), 1, "nothing new is kept");

    let served = Reminder {
        wake_ms: None,
        ..later
    };
    let kept = store
        .append_with_reminder(id, mark, vec![], Some(served))
        .await;
    let mark = kept.expect("written");
    assert_eq!(due(store, (0, 0), 9).await, [all[0], all[2]]);
    assert_eq!(live(store, OWNER).await.0, [60, 63]);
    assert_eq!(
        store
            .participations(player(2).id)
            .await
            .expect("readable")
            .len(),
        3
    );
    let ended = store.append(id, mark, vec![RESIGNED]).await;
    ended.expect("written");
    let read = store.participations(player(2).id).await.expect("readable");
    assert_eq!(read, expected[1..]);
}

/// What is let go of by its server comes back with what was noted of it.
pub(crate) async fn a_reminder_comes_with_its_match(store: &dyn Store) {
    let (id, mark) = created(store, 64).await;
    let rests = Reminder {
        wake_ms: Some(AT_MS),
        parts: vec![Part {
            player: player(1).id,
            seat: Some(Seat::First),
            stood_in: None,
            days: None,
            absent_ms: Some(AT_MS - 5),
        }],
    };
    let kept = store.append_with_reminder(id, mark, vec![], Some(rests.clone()));
    kept.await.expect("written");
    let read = store.load(id).await.expect("readable").expect("there");
    assert_eq!(read.reminder, Some(rests));
    let ended = store.append(id, mark, vec![RESIGNED]).await;
    ended.expect("written");
    let read = store.load(id).await.expect("readable").expect("there");
    assert_eq!(read.reminder, None);
}
