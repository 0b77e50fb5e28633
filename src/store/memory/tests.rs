use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::SessionId;

use super::people::PLAYERS_MAX;
use super::*;
use crate::conformance;
use crate::conformance::{SharedStore, conformance_tests, shared_conformance_tests};

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

/// Matches that ended make room for others, those that ended first before all; live ones stay.
#[tokio::test]
async fn the_first_ended_matches_are_forgotten() {
    const EVENTS: usize = ENDED_EVENTS_MAX / 10;
    let store = MemoryStore::default();
    let mut ended = vec![plyhouse_matches::EventKind::STARTED.at(0); EVENTS];
    ended.push(conformance::RESIGNATION);
    for number in 0..=11 {
        let written = conformance::match_record(number, &conformance::player(1));
        let id = written.creation.id;
        let mark = store
            .create(conformance::OWNER_NODE, written)
            .await
            .unwrap();
        if number > 0 {
            store.append(id, mark, ended.clone()).await.unwrap();
            let thought = KeptAnalysis {
                nodes: 1,
                text: String::new(),
            };
            assert_eq!(store.keep_analysis(id, thought).await, Ok(true));
        }
    }
    for number in 0..=11 {
        let Record { creation, .. } = conformance::match_record(number, &conformance::player(1));
        let kept = store.load(creation.id).await.unwrap().is_some();
        let by_code = store.by_code(creation.code).await.unwrap().is_some();
        let is_expected = number == 0 || number > 2;
        assert_eq!((kept, by_code), (is_expected, is_expected), "{number}");
        let thought = store.analysis(creation.id).await.unwrap().is_some();
        assert_eq!(thought, is_expected && number > 0, "{number}");
    }
}

/// Rated matches are always kept.
#[tokio::test]
async fn rated_matches_are_never_forgotten() {
    let store = MemoryStore::default();
    let rated = conformance::rated_record(9001, [1, 2]);
    let id = rated.creation.id;
    let mark = store.create(conformance::OWNER_NODE, rated).await.unwrap();
    let resigned =
        conformance::end_event(Some(Seat::First), plyhouse_protocol::Reason::Resignation);
    let events = conformance::rated_game_events(9001, &resigned, 0);
    store.append(id, mark, events).await.unwrap();
    let mut ended = vec![plyhouse_matches::EventKind::STARTED.at(0); ENDED_EVENTS_MAX];
    ended.push(conformance::RESIGNATION);
    for number in 0..3 {
        let written = conformance::match_record(number, &conformance::player(1));
        let id = written.creation.id;
        let mark = store
            .create(conformance::OWNER_NODE, written)
            .await
            .unwrap();
        store.append(id, mark, ended.clone()).await.unwrap();
    }
    assert!(store.load(id).await.unwrap().is_some());
    let wanted = HistoryQuery::of(conformance::player(1).id, 9);
    let found = store.history(wanted).await.unwrap().unwrap();
    assert_eq!(found.len(), 1, "the others are gone");
}

#[tokio::test]
async fn the_first_players_are_forgotten() {
    let store = MemoryStore::default();
    let number = |number: usize| uuid::Uuid::from_u128(number as u128);
    let player = |n| PlayerRecord {
        id: PlayerId(number(n)),
        name: String::new(),
        kind: PlayerKind::Guest,
    };
    let session = |n: usize| {
        let mut token = [0; 32];
        token[..8].copy_from_slice(&n.to_le_bytes());
        SessionRecord {
            token: TokenHash(token),
            id: SessionId(number(n)),
            player: player(n).id,
            ..conformance::session(1, 1)
        }
    };
    for n in 0..=PLAYERS_MAX {
        store.add_player(player(n), vec![session(n)]).await.unwrap();
    }
    assert_eq!(store.player_by_id(player(0).id).await.unwrap(), None);
    assert_eq!(store.session(session(0).token).await.unwrap(), None);
    for n in [1, PLAYERS_MAX] {
        let kept = store.session(session(n).token).await;
        assert_eq!(kept.unwrap(), Some((player(n), session(n))));
    }
}
