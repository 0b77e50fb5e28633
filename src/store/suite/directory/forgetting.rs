//! Players are forgotten on one server while something is written of them on another.

use futures::future::join;
use plyhouse_engine::game::Seat;
use plyhouse_matches::SeatAtStart;
use plyhouse_protocol::PlayerKind;

use super::*;
use crate::suite::session;
use crate::{Forget, HistoryQuery, JournalPosition, PlayerRecord, Sessions, WriteError};

/// Whoever asks another server learns which sessions have ended and who was forgotten.
pub(crate) async fn ended_sessions_and_forgotten_players_are_known(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let asked: Vec<_> = [(1, 1), (2, 1), (3, 2)]
        .map(|(number, of)| (player(of).id, session(number, of).id))
        .into();
    for (of, sessions) in [
        (1, vec![session(1, 1), session(2, 1)]),
        (2, vec![session(3, 2)]),
    ] {
        first
            .add_player(player(of), sessions)
            .await
            .expect("written");
    }
    let both = vec![player(1).id, player(2).id];
    let known = async || {
        let ended = second.ended(asked.clone()).await.expect("readable");
        let gone = second.forgotten(both.clone()).await.expect("readable");
        (ended, gone)
    };
    assert_eq!(known().await, (vec![], vec![]));
    let end = first.end_sessions(player(1).id, Sessions::One(asked[1].1));
    end.await.expect("written");
    assert_eq!(known().await, (vec![asked[1].1], vec![]));
    let mut called = second.called(both.clone()).await.expect("readable");
    called.sort_by_key(|known| known.id);
    assert_eq!(called, [player(1), player(2)]);
    forget(first, player(2).id).await;
    assert_eq!(
        known().await,
        (vec![asked[1].1, asked[2].1], vec![player(2).id])
    );
    let mixed = second.ended(vec![(player(2).id, asked[0].1)]).await;
    assert_eq!(mixed.expect("readable"), [asked[0].1], "it is another's");
    let called = second.called(both).await.expect("readable");
    assert_eq!(called, [player(1)], "the other is nobody");
    let nobody = second.forgotten(vec![]).await.expect("readable");
    assert_eq!(nobody, []);
}

/// How often all of it is tried: what comes first is a matter of chance.
const ROUNDS: u128 = 40;

fn ann(round: u128) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(7000 + round)),
        name: format!("ann {round} \u{2318}"),
        kind: PlayerKind::Guest,
    }
}

fn sits(at: Seat, record: &PlayerRecord) -> Event {
    let occupant = Occupant::Player {
        id: record.id,
        name: record.name.clone(),
        kind: record.kind,
        rating: None,
    };
    EventKind::Seated { seat: at, occupant }.at(1)
}

/// Forgets a player, and takes the name out wherever it is.
async fn forget(store: &impl Store, player: PlayerId) {
    let forget = Forget {
        player,
        proved: None,
        kept_until_ms: 0,
    };
    assert_eq!(store.forget_player(forget).await, Ok(true));
    while store.forget_names(player).await.expect("written") {}
}

/// Has somebody sit down in a match that waits, play and resign, as far as that is allowed.
async fn sit_down(store: &impl Store, id: MatchId, ann: &PlayerRecord) -> Result<(), WriteError> {
    let joined = vec![sits(Seat::Second, ann), EventKind::STARTED.at(1)];
    let mark = store.append(id, JournalPosition::after(1), joined).await?;
    let ended = store.append(id, mark, vec![RESIGNED]).await;
    ended.map(drop)
}

/// Has somebody host a match, who resigns it then, as far as that is allowed.
async fn host(store: &impl Store, number: u128, ann: &PlayerRecord) -> Result<(), WriteError> {
    let hosted = record(number, ann);
    let id = hosted.creation.id;
    let mark = store.create(OWNER, hosted).await?;
    let begun = store.append(id, mark, started()).await?;
    let ended = store.append(id, begun, vec![RESIGNED]).await;
    ended.map(drop)
}

/// Whichever comes first: nothing names whoever was forgotten, neither what happened in a match nor what is told of
/// it once it has ended.
pub(crate) async fn whoever_is_forgotten_at_once_is_named_by_nothing(shared: &impl Shared) {
    let [first, second] = shared.servers();
    let bob = player(2);
    first
        .add_player(bob.clone(), vec![])
        .await
        .expect("written");
    for round in 0..ROUNDS {
        let ann = ann(round);
        first
            .add_player(ann.clone(), vec![])
            .await
            .expect("written");
        let waits = record(4000 + round, &bob);
        let id = waits.creation.id;
        second.create(OTHER, waits).await.expect("written");
        let plays = async {
            let [joined, hosted] = [
                sit_down(second, id, &ann).await,
                host(second, 5000 + round, &ann).await,
            ];
            for written in [joined, hosted] {
                assert!(matches!(written, Ok(()) | Err(WriteError::Forgotten)));
            }
        };
        // A little later each time.
        let forgets = async {
            for _ in 0..round {
                tokio::task::yield_now().await;
            }
            forget(first, ann.id).await;
        };
        join(plays, forgets).await;
        for number in [4000 + round, 5000 + round] {
            let id = MatchId(Uuid::from_u128(number));
            let read = first.load(id).await.expect("readable");
            let told = format!("{:?}", read.map(|loaded| loaded.record.events));
            assert!(!told.contains(&ann.name), "{told}");
        }
    }
    let found = first.history(HistoryQuery::of(bob.id, 300)).await;
    for past in found.expect("readable").expect("matches") {
        for starter in past.archived.seats {
            if let SeatAtStart::Player { name, .. } = starter {
                assert!(!name.starts_with("ann"), "{name}");
            }
        }
    }
}
