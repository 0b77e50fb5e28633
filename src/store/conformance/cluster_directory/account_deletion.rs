//! Tests for account deletion on one server while another server writes.

use futures::future::join;
use plyhouse_engine::game::Seat;
use plyhouse_matches::SeatAtStart;
use plyhouse_protocol::PlayerKind;

use super::*;
use crate::conformance::session;
use crate::{
    ArchiveStore, HistoryQuery, IdentityChanges, IdentityStore, JournalPosition, JournalStore,
    PlayerDeletion, PlayerRecord, SessionSelection, WriteError,
};

/// A server learns from the store which sessions ended and which players were deleted on another
/// server.
pub(crate) async fn ended_sessions_and_deleted_players_are_reported(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let queried_sessions: Vec<_> = [(1, 1), (2, 1), (3, 2)]
        .map(|(number, player_number)| {
            (player(player_number).id, session(number, player_number).id)
        })
        .into();
    for (player_number, sessions) in [
        (1, vec![session(1, 1), session(2, 1)]),
        (2, vec![session(3, 2)]),
    ] {
        first
            .add_player(player(player_number), sessions)
            .await
            .expect("written");
    }
    let both = vec![player(1).id, player(2).id];
    let lookup = async || {
        let ended = second
            .ended_sessions(queried_sessions.clone())
            .await
            .expect("readable");
        let deleted = second
            .deleted_players(both.clone())
            .await
            .expect("readable");
        (ended, deleted)
    };
    assert_eq!(lookup().await, (vec![], vec![]));
    let end = first.end_sessions(player(1).id, SessionSelection::One(queried_sessions[1].1));
    end.await.expect("written");
    assert_eq!(lookup().await, (vec![queried_sessions[1].1], vec![]));
    let mut players = second
        .current_players(both.clone())
        .await
        .expect("readable");
    players.sort_by_key(|known| known.id);
    assert_eq!(players, [player(1), player(2)]);
    delete_player(first, player(2).id).await;
    assert_eq!(
        lookup().await,
        (
            vec![queried_sessions[1].1, queried_sessions[2].1],
            vec![player(2).id]
        )
    );
    let mixed = second
        .ended_sessions(vec![(player(2).id, queried_sessions[0].1)])
        .await;
    assert_eq!(
        mixed.expect("readable"),
        [queried_sessions[0].1],
        "belongs to another player"
    );
    let players = second.current_players(both).await.expect("readable");
    assert_eq!(players, [player(1)], "the other player is deleted");
    let deleted = second.deleted_players(vec![]).await.expect("readable");
    assert_eq!(deleted, []);
}

/// Number of times that the test repeats the concurrent writes. The order of the writes varies
/// between repetitions.
const ROUNDS: u128 = 40;

fn numbered_player(round: u128) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(7000 + round)),
        name: format!("ann {round} \u{2318}"),
        kind: PlayerKind::Guest,
    }
}

fn seat_event(seat: Seat, record: &PlayerRecord) -> Event {
    let occupant = Occupant::Player {
        id: record.id,
        name: record.name.clone(),
        kind: record.kind,
        rating: None,
    };
    EventKind::Seated { seat, occupant }.at(1)
}

/// Deletes a player and removes the name from all matches.
async fn delete_player(store: &impl Store, player: PlayerId) {
    let deletion = PlayerDeletion {
        player,
        proof: None,
        name_reserved_until_ms: 0,
    };
    assert_eq!(store.delete_player(deletion).await, Ok(true));
    while store.remove_names(player).await.expect("written") {}
}

/// Seats a player in an open match and ends the match, unless the store refuses a write.
async fn join_and_resign(
    store: &impl Store,
    id: MatchId,
    ann: &PlayerRecord,
) -> Result<(), WriteError> {
    let joined = vec![
        seat_event(Seat::Second, ann),
        EventKind::UNTIMED_START.at(1),
    ];
    let position = store
        .append(id, JournalPosition::after_events(1), joined)
        .await?;
    let ended = store.append(id, position, vec![RESIGNATION]).await;
    ended.map(drop)
}

/// Creates a match with this host and ends it, unless the store refuses a write.
async fn host_and_resign(
    store: &impl Store,
    number: u128,
    ann: &PlayerRecord,
) -> Result<(), WriteError> {
    let hosted = match_record(number, ann);
    let id = hosted.creation.id;
    let position = store.create(OWNER_NODE, hosted).await?;
    let started_position = store.append(id, position, start_events()).await?;
    let ended = store.append(id, started_position, vec![RESIGNATION]).await;
    ended.map(drop)
}

/// The events and summaries of matches must not contain the name of a deleted player. The order of
/// the writes must not matter.
pub(crate) async fn player_deleted_during_writes_is_named_nowhere(shared: &impl SharedStore) {
    let [first, second] = shared.servers();
    let bob = player(2);
    first
        .add_player(bob.clone(), vec![])
        .await
        .expect("written");
    for round in 0..ROUNDS {
        let player = numbered_player(round);
        first
            .add_player(player.clone(), vec![])
            .await
            .expect("written");
        let open_match = match_record(4000 + round, &bob);
        let id = open_match.creation.id;
        second
            .create(OTHER_NODE, open_match)
            .await
            .expect("written");
        let writes = async {
            let [joined, hosted] = [
                join_and_resign(second, id, &player).await,
                host_and_resign(second, 5000 + round, &player).await,
            ];
            for written in [joined, hosted] {
                assert!(matches!(written, Ok(()) | Err(WriteError::PlayerDeleted)));
            }
        };
        // The deletion starts a little later in each round, so the rounds test different orders of
        // the writes.
        let deletes = async {
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
            delete_player(first, player.id).await;
        };
        join(writes, deletes).await;
        for number in [4000 + round, 5000 + round] {
            let id = MatchId(Uuid::from_u128(number));
            let read = first.load(id).await.expect("readable");
            let events = format!("{:?}", read.map(|loaded| loaded.record.events));
            assert!(!events.contains(&player.name), "{events}");
        }
    }
    let found = first.history(HistoryQuery::for_player(bob.id, 300)).await;
    for past_match in found.expect("readable").expect("matches") {
        for seat in past_match.summary.seats {
            if let SeatAtStart::Player { name, .. } = seat {
                assert!(!name.starts_with("ann"), "{name}");
            }
        }
    }
}
