//! What earlier versions have written.

use plyhouse_engine::search::Level;
use plyhouse_matches::{EventKind, Occupant};
use plyhouse_protocol::ClockControl;

use super::*;
use crate::directory::Directory;
use crate::postgres::journal::{body, integer};
use crate::record::terms_to_text;

/// Writes a match as the first version did.
async fn write(session: &Session, record: &Record, ended_ms: Option<u64>) {
    let Record { creation, events } = record;
    let sql = "INSERT INTO matches (m, code, game, host, terms, ended_ms)
               VALUES ($1, $2, $3, $4, $5, $6)";
    let (id, code) = (creation.id.0, creation.code.to_string());
    let (terms, ended_ms) = (terms_to_text(&creation.terms), ended_ms.map(integer));
    let game = creation.game.info.id;
    let values: link::Values<'_> = &[&id, &code, &game, &creation.host.0, &terms, &ended_ms];
    session.query(sql, values).await.expect("written");
    let mut last = 0;
    for (index, events) in events.chunks(2).enumerate() {
        let n = if index == 0 { 0 } else { last + 1 };
        last += integer(events.len() as u64);
        let sql =
            "INSERT INTO journal (m, n, last, seq, epoch, body) VALUES ($1, $2, $3, $3, 0, $4)";
        let values: link::Values<'_> = &[&id, &n, &last, &body(events)];
        session.query(sql, values).await.expect("written");
    }
}

/// Who is in live matches is known of those, too, that were written before it was kept.
#[tokio::test]
async fn who_is_in_matches_of_the_first_version_is_known() {
    let Some(address) = database().await else {
        return;
    };
    let mut session = session(&address).await;
    schema::migrate_to(session.client(), 1).await.expect("made");

    let seated = |seat, occupant| EventKind::Seated { seat, occupant }.at(1);
    let sits = |number| Occupant::Player {
        id: player(number).id,
        name: player(number).name,
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    };
    let mut open = record(1, &player(1));
    open.creation.terms.invited = Some(player(5).id);
    open.events = vec![
        seated(Seat::First, sits(2)),
        seated(Seat::Second, sits(3)),
        seated(Seat::First, Occupant::Open),
        seated(Seat::Second, Occupant::Bot(Level::Easy)),
        seated(Seat::Second, sits(4)),
        moved(Seat::First, "b2"),
    ];
    write(&session, &open, None).await;
    let mut ended = record(2, &player(1));
    ended.events.push(RESIGNED);
    write(&session, &ended, Some(RESIGNED.at_ms)).await;
    let mut days = record(3, &player(1));
    days.creation.terms.clock = Some(ClockControl::Move { move_ms: 3_600_000 });
    write(&session, &days, None).await;
    let mut quick = record(4, &player(1));
    quick.creation.terms.clock = Some(ClockControl::Move { move_ms: 3_599_999 });
    write(&session, &quick, None).await;

    let store = super::open(&address).await;
    for (number, expected) in [
        (1, vec![1, 4]),
        (2, vec![]),
        (3, vec![]),
        (4, vec![1]),
        (5, vec![1]),
    ] {
        let found = store.involved(player(number).id).await.expect("readable");
        let found: Vec<u128> = found.iter().map(|id| id.0.as_u128()).collect();
        assert_eq!(found, expected, "{number}");
    }
    let id = open.creation.id;
    let read = store.load(id).await.expect("readable").expect("there");
    let leaves = vec![seated(Seat::Second, Occupant::Open)];
    store.append(id, read.mark, leaves).await.expect("written");
    assert_eq!(store.involved(player(4).id).await.expect("readable"), []);
}

/// Names that were kept by what had been found of them before are kept by what is found now.
#[tokio::test]
async fn names_from_before_are_mended() {
    let Some(address) = database().await else {
        return;
    };
    let mut session = session(&address).await;
    let before = schema::migrate_to(session.client(), schema::ALIKE - 1);
    before.await.expect("made");
    // The last two look alike.
    let names = ["b0b", "\u{a4d1}aypal", "paypal"];
    for (number, name) in (1..).zip(names) {
        let id = player(number).id.0;
        let likeness = crate::legacy_skeleton(name);
        let sql = "INSERT INTO players (id, name, kind) VALUES ($1, $2, 'account')";
        session.query(sql, &[&id, &name]).await.expect("written");
        let sql = "INSERT INTO names (likeness, player) VALUES ($1, $2)";
        let values: link::Values<'_> = &[&likeness, &id];
        session.query(sql, values).await.expect("written");
    }
    let store = open(&address).await;
    for (number, likeness) in [(1, "b0b"), (2, "Paypal"), (3, "paypal")] {
        let named = store.named(likeness.to_owned(), 0).await;
        let expected = Some((player(number).id, true));
        assert_eq!(named.expect("readable"), expected, "{likeness}");
    }
}

/// Names that were kept by their likeness alone are kept by what they look like as they are written, too: what two
/// have in common stays with the first, and both have their names.
#[tokio::test]
async fn names_from_before_are_looked_at_as_they_are_written() {
    let Some(address) = database().await else {
        return;
    };
    let mut session = session(&address).await;
    let before = schema::migrate_to(session.client(), schema::WRITTEN - 1);
    before.await.expect("made");
    for (number, name) in (1..).zip(["BEN", "\u{412}EN"]) {
        let id = player(number).id.0;
        let sql = "INSERT INTO players (id, name, kind) VALUES ($1, $2, 'account')";
        session.query(sql, &[&id, &name]).await.expect("written");
        let sql = "INSERT INTO names (likeness, player) VALUES ($1, $2)";
        let values: link::Values<'_> = &[&crate::name_skeleton(name), &id];
        session.query(sql, values).await.expect("written");
    }
    suite::names_are_looked_at_as_they_are_written(&open(&address).await).await;
}

/// The token of a player of the second version is a session from then on.
#[tokio::test]
async fn a_token_of_the_second_version_is_a_session() {
    let Some(address) = database().await else {
        return;
    };
    let mut session = session(&address).await;
    schema::migrate_to(session.client(), 2).await.expect("made");
    let (ann, token) = (player(1), TokenHash([1; 32]));
    let sql = "INSERT INTO players VALUES ($1, $2, $3)";
    let values: link::Values<'_> = &[&ann.id.0, &ann.name, &token.0.as_slice()];
    session.query(sql, values).await.expect("written");

    let store = open(&address).await;
    let (player, session) = store
        .session(token)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!((player, session.token), (ann.clone(), token));
    assert_eq!(store.sessions(ann.id).await.expect("readable"), [session]);
}
