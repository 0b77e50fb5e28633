use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::SessionId;

use super::identities::PLAYERS_MAX;
use super::*;
use crate::conformance::{SharedStore, conformance_tests, shared_conformance_tests};
use crate::{IdentityStore, SessionRecord, TokenHash, conformance};

conformance_tests!(Some((MemoryStore::default(), ())));
shared_conformance_tests!(Some(MemoryStore::default()));

impl SharedStore for MemoryStore {
    type Store = Self;

    fn servers(&self) -> [&Self; 2] {
        [self, self]
    }

    async fn advance_time(&self, time: Duration) {
        tokio::time::pause();
        tokio::time::advance(time).await;
        tokio::time::resume();
    }
}

#[tokio::test]
async fn oldest_ended_matches_are_evicted() {
    const EVENTS: usize = ENDED_EVENTS_MAX / 10;
    let store = MemoryStore::default();
    let mut events = vec![plyhouse_matches::EventKind::UNTIMED_START.at(0); EVENTS];
    events.push(conformance::RESIGNATION);
    for number in 0..=11 {
        let created = conformance::match_record(number, &conformance::player(1));
        let id = created.creation.id;
        let position = store
            .create(conformance::OWNER_NODE, created)
            .await
            .unwrap();
        if number > 0 {
            store.append(id, position, events.clone()).await.unwrap();
            let analysis = StoredAnalysis {
                nodes: 1,
                text: String::new(),
            };
            assert_eq!(store.store_analysis(id, analysis).await, Ok(true));
        }
    }
    for number in 0..=11 {
        let MatchRecord { creation, .. } =
            conformance::match_record(number, &conformance::player(1));
        let is_stored = store.load(creation.id).await.unwrap().is_some();
        let is_found_by_code = store.find_by_code(creation.code).await.unwrap().is_some();
        let is_expected = number == 0 || number > 2;
        assert_eq!(
            (is_stored, is_found_by_code),
            (is_expected, is_expected),
            "{number}"
        );
        let has_analysis = store.analysis(creation.id).await.unwrap().is_some();
        assert_eq!(has_analysis, is_expected && number > 0, "{number}");
    }
}

#[tokio::test]
async fn rated_matches_are_not_evicted() {
    let store = MemoryStore::default();
    let rated = conformance::rated_record(9001, [1, 2]);
    let id = rated.creation.id;
    let position = store.create(conformance::OWNER_NODE, rated).await.unwrap();
    let resigned =
        conformance::end_event(Some(Seat::First), plyhouse_protocol::EndReason::Resignation);
    let events = conformance::rated_game_events(9001, &resigned, 0);
    store.append(id, position, events).await.unwrap();
    let mut unrated_events =
        vec![plyhouse_matches::EventKind::UNTIMED_START.at(0); ENDED_EVENTS_MAX];
    unrated_events.push(conformance::RESIGNATION);
    for number in 0..3 {
        let created = conformance::match_record(number, &conformance::player(1));
        let id = created.creation.id;
        let position = store
            .create(conformance::OWNER_NODE, created)
            .await
            .unwrap();
        store
            .append(id, position, unrated_events.clone())
            .await
            .unwrap();
    }
    assert!(store.load(id).await.unwrap().is_some());
    let query = HistoryQuery::for_player(conformance::player(1).id, 9);
    let history = store.history(query).await.unwrap().unwrap();
    assert_eq!(history.len(), 1, "the unrated matches are evicted");
}

#[tokio::test]
async fn oldest_players_are_evicted() {
    let store = MemoryStore::default();
    let to_uuid = |number: usize| uuid::Uuid::from_u128(number as u128);
    let player = |n| PlayerRecord {
        id: PlayerId(to_uuid(n)),
        name: String::new(),
        kind: PlayerKind::Guest,
    };
    let session = |n: usize| {
        let mut token = [0; 32];
        token[..8].copy_from_slice(&n.to_le_bytes());
        SessionRecord {
            token: TokenHash(token),
            id: SessionId(to_uuid(n)),
            player: player(n).id,
            ..conformance::session(1, 1)
        }
    };
    for n in 0..=PLAYERS_MAX {
        store.add_player(player(n), vec![session(n)]).await.unwrap();
    }
    assert_eq!(store.player_by_id(player(0).id).await.unwrap(), None);
    assert_eq!(store.find_session(session(0).token).await.unwrap(), None);
    for n in [1, PLAYERS_MAX] {
        let stored = store.find_session(session(n).token).await;
        assert_eq!(stored.unwrap(), Some((player(n), session(n))));
    }
}
