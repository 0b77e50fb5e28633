//! What every adapter of the port must do. Each runs all of it.

use std::time::Duration;

use uuid::Uuid;

use super::{PlayerRecord, Record, Store, TokenHash, WriteError};
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Event, EventKind, Occupant, Termination};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, Seq};

pub(super) fn player(number: u8) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(number.into())),
        name: format!("player {number} \u{2318}"),
        token: TokenHash([number; 32]),
    }
}

/// When the matches of the suite begin, in milliseconds since 1970. What happens then has times of
/// its own, which an adapter keeps as they are.
pub(super) const AT_MS: u64 = 1_700_000_000_000;

/// A match that this player hosts and has sat down in.
pub(super) fn record(number: u128, host: &PlayerRecord) -> Record {
    Record {
        creation: Creation {
            id: MatchId(Uuid::from_u128(number)),
            code: MatchCode::from_number(u64::try_from(number % 7).expect("small")),
            game: &catalog::CATALOG[0],
            host: host.id,
            listed: number.is_multiple_of(2),
            pace: Duration::from_millis(1500),
            seed: u64::MAX - 5,
        },
        events: vec![
            EventKind::Seated {
                seat: Seat::First,
                occupant: Occupant::Player {
                    id: host.id,
                    name: host.name.clone(),
                },
            }
            .at(AT_MS),
        ],
    }
}

pub(super) fn started() -> Vec<Event> {
    let occupant = Occupant::Bot(Level::Easy);
    let seat = Seat::Second;
    let seated = EventKind::Seated { seat, occupant };
    vec![seated.at(AT_MS + 1), EventKind::Started.at(AT_MS + 1)]
}

pub(super) fn moved(seat: Seat, m: &str) -> Event {
    let m = m.to_owned();
    EventKind::Moved { seat, m }.at(AT_MS + 2)
}

const RESIGNED: Event = EventKind::Ended {
    winner: Some(Seat::Second),
    termination: Termination::Resignation,
}
.at(AT_MS + 3);

fn same(a: &Record, b: &Record) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

/// What was written is there, event after event.
pub(super) async fn what_is_written_is_there(store: &dyn Store) {
    let (ann, mut written) = (player(1), record(10, &player(1)));
    store.add_player(ann.clone()).await.expect("written");
    store.create(written.clone()).await.expect("written");
    for events in [started(), vec![moved(Seat::First, "b2")], vec![RESIGNED]] {
        let after = Seq(written.events.len() as u64);
        let id = written.creation.id;
        store
            .append(id, after, events.clone())
            .await
            .expect("written");
        written.events.extend(events);
        let read = store.load(id).await.expect("readable").expect("there");
        assert!(same(&read, &written), "{read:?} is not {written:?}");
    }
    let nobody = store.load(MatchId(Uuid::from_u128(99))).await;
    assert!(nobody.expect("readable").is_none());
    assert!(store.is_well());
}

/// Who believes something else than is there writes nothing.
pub(super) async fn a_write_names_the_event_that_it_follows(store: &dyn Store) {
    let written = record(20, &player(1));
    let id = written.creation.id;
    store.add_player(player(1)).await.expect("written");
    store.create(written.clone()).await.expect("written");
    for after in [Seq(0), Seq(2)] {
        let conflict = store.append(id, after, started()).await;
        assert_eq!(conflict, Err(WriteError::Conflict));
    }
    let nowhere = MatchId(Uuid::from_u128(21));
    let conflict = store.append(nowhere, Seq(0), started()).await;
    assert_eq!(conflict, Err(WriteError::Conflict));
    let again = store.create(written.clone()).await;
    assert_eq!(again, Err(WriteError::Conflict));
    let read = store.load(id).await.expect("readable").expect("there");
    assert!(same(&read, &written));
}

/// Many writes at once, of many matches, and every one is answered by itself.
pub(super) async fn writes_share_what_they_wait_for(store: &dyn Store) {
    store.add_player(player(1)).await.expect("written");
    let records: Vec<Record> = (100..200)
        .map(|number| record(number, &player(1)))
        .collect();
    let created = futures::future::join_all(records.iter().cloned().map(|one| store.create(one)));
    assert!(created.await.iter().all(Result::is_ok));
    let appended = records.iter().enumerate().map(|(index, one)| {
        let after = Seq(if index % 2 == 0 { 1 } else { 5 });
        store.append(one.creation.id, after, started())
    });
    let appended = futures::future::join_all(appended).await;
    for (index, answer) in appended.into_iter().enumerate() {
        let expected = if index % 2 == 0 {
            Ok(())
        } else {
            Err(WriteError::Conflict)
        };
        assert_eq!(answer, expected, "{index}");
    }
}

/// A player is known by the token, and by no other.
pub(super) async fn players_are_known_by_their_tokens(store: &dyn Store) {
    for number in [1, 2, 1] {
        store.add_player(player(number)).await.expect("written");
    }
    for number in [1, 2] {
        let found = store.player(player(number).token).await.expect("readable");
        assert_eq!(found, Some(player(number)));
    }
    assert_eq!(
        store.player(TokenHash([3; 32])).await.expect("readable"),
        None
    );
}

/// What a server begins with is what has not ended, in order, and who is in it.
pub(super) async fn what_has_not_ended_is_live(store: &dyn Store) {
    for number in 1..=4 {
        store.add_player(player(number)).await.expect("written");
    }
    for (number, host) in [(32, 1), (31, 2), (33, 3)] {
        let written = record(number, &player(host));
        store.create(written).await.expect("written");
    }
    let ended = MatchId(Uuid::from_u128(33));
    store
        .append(ended, Seq(1), vec![RESIGNED])
        .await
        .expect("written");
    let live = store.live().await.expect("readable");
    let ids = live
        .matches
        .iter()
        .map(|one| one.as_ref().expect("sound").creation.id.0.as_u128());
    assert_eq!(ids.collect::<Vec<_>>(), [31, 32]);
    let mut players = live.players;
    players.sort_by_key(|player| player.id);
    assert_eq!(players, [player(1), player(2)]);
}

/// A code leads to the latest match that had it.
pub(super) async fn a_code_leads_to_the_latest(store: &dyn Store) {
    store.add_player(player(1)).await.expect("written");
    let code = MatchCode::from_number(5);
    assert_eq!(store.by_code(code).await.expect("readable"), None);
    for number in [40, 47] {
        store
            .create(record(number, &player(1)))
            .await
            .expect("written");
    }
    let found = store.by_code(code).await.expect("readable");
    assert_eq!(found, Some(MatchId(Uuid::from_u128(47))));
}

/// Runs the suite with a store made by this expression, which may keep something beside it.
macro_rules! suite {
    ($make:expr) => {
        suite!($make; what_is_written_is_there, a_write_names_the_event_that_it_follows,
            writes_share_what_they_wait_for, players_are_known_by_their_tokens,
            what_has_not_ended_is_live, a_code_leads_to_the_latest);
    };
    ($make:expr; $($case:ident),+) => {
        $(
            #[tokio::test]
            async fn $case() {
                let (store, _kept) = $make;
                crate::suite::$case(&store).await;
            }
        )+
    };
}
pub(super) use suite;
