//! Upgrades of databases that were written by earlier versions.

use plyhouse_engine::search::Level;
use plyhouse_matches::{EventKind, Occupant};
use plyhouse_protocol::ClockControl;

use super::*;
use crate::TokenHash;
use crate::port::cluster_directory::ClusterDirectory;
use crate::postgres::journal_rows::to_i64;
use crate::records::to_json;

/// Writes a match in the format of schema version 1.
async fn write_version_one_match(
    connection: &PgConnection,
    record: &MatchRecord,
    ended_ms: Option<u64>,
) {
    let MatchRecord { creation, events } = record;
    let sql = "INSERT INTO matches (m, code, game, host, terms, ended_ms)
               VALUES ($1, $2, $3, $4, $5, $6)";
    let (id, code) = (creation.id.0, creation.code.to_string());
    let (terms, ended_ms) = (to_json(&creation.terms), ended_ms.map(to_i64));
    let game = creation.game.info.id;
    let params: reconnecting_connection::Params<'_> =
        &[&id, &code, &game, &creation.host.0, &terms, &ended_ms];
    connection.query(sql, params).await.expect("written");
    let mut last = 0;
    for (index, events) in events.chunks(2).enumerate() {
        let n = if index == 0 { 0 } else { last + 1 };
        last += to_i64(events.len() as u64);
        let sql =
            "INSERT INTO journal (m, n, last, seq, epoch, body) VALUES ($1, $2, $3, $3, 0, $4)";
        let params: reconnecting_connection::Params<'_> = &[&id, &n, &last, &to_json(events)];
        connection.query(sql, params).await.expect("written");
    }
}

#[tokio::test]
async fn upgrade_adds_involved_players_of_live_matches() {
    let Some(address) = create_database().await else {
        return;
    };
    let mut connection = connect(&address).await;
    schema::migrate_to(&mut connection, 1)
        .await
        .expect("migration succeeds");

    let seat_event = |seat, occupant| EventKind::Seated { seat, occupant }.at(1);
    let seated_player = |number| Occupant::Player {
        id: player(number).id,
        name: player(number).name,
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    };
    let mut open = match_record(1, &player(1));
    open.creation.terms.invited = Some(player(5).id);
    open.events = vec![
        seat_event(Seat::First, seated_player(2)),
        seat_event(Seat::Second, seated_player(3)),
        seat_event(Seat::First, Occupant::Open),
        seat_event(Seat::Second, Occupant::Bot(Level::Easy)),
        seat_event(Seat::Second, seated_player(4)),
        move_event(Seat::First, "b2"),
    ];
    write_version_one_match(&connection, &open, None).await;
    let mut ended = match_record(2, &player(1));
    ended.events.push(RESIGNATION);
    write_version_one_match(&connection, &ended, Some(RESIGNATION.at_ms)).await;
    let mut correspondence = match_record(3, &player(1));
    correspondence.creation.terms.clock = Some(ClockControl::Move { move_ms: 3_600_000 });
    write_version_one_match(&connection, &correspondence, None).await;
    let mut quick = match_record(4, &player(1));
    quick.creation.terms.clock = Some(ClockControl::Move { move_ms: 3_599_999 });
    write_version_one_match(&connection, &quick, None).await;

    let store = open_store(&address).await;
    for (number, expected) in [
        (1, vec![1, 4]),
        (2, vec![]),
        (3, vec![]),
        (4, vec![1]),
        (5, vec![1]),
    ] {
        let match_ids = store
            .involved_matches(player(number).id)
            .await
            .expect("readable");
        let match_ids: Vec<u128> = match_ids.iter().map(|id| id.0.as_u128()).collect();
        assert_eq!(match_ids, expected, "{number}");
    }
    let id = open.creation.id;
    let read = store.load(id).await.expect("readable").expect("exists");
    let leave_events = vec![seat_event(Seat::Second, Occupant::Open)];
    store
        .append(id, read.position, leave_events)
        .await
        .expect("written");
    assert_eq!(
        store
            .involved_matches(player(4).id)
            .await
            .expect("readable"),
        []
    );
}

#[tokio::test]
async fn upgrade_recomputes_name_skeletons() {
    let Some(address) = create_database().await else {
        return;
    };
    let mut connection = connect(&address).await;
    let migrated = schema::migrate_to(&mut connection, schema::SKELETONS_VERSION - 1);
    migrated.await.expect("migration succeeds");
    // The second name begins with U+A4D1, which looks like "P". The second name is confusable with
    // the third name.
    let names = ["b0b", "\u{a4d1}aypal", "paypal"];
    for (number, name) in (1..).zip(names) {
        let id = player(number).id.0;
        let skeleton = crate::legacy_skeleton(name);
        let sql = "INSERT INTO players (id, name, kind) VALUES ($1, $2, 'account')";
        connection.query(sql, &[&id, &name]).await.expect("written");
        let sql = "INSERT INTO names (likeness, player) VALUES ($1, $2)";
        let params: reconnecting_connection::Params<'_> = &[&skeleton, &id];
        connection.query(sql, params).await.expect("written");
    }
    let store = open_store(&address).await;
    for (number, skeleton) in [(1, "b0b"), (2, "Paypal"), (3, "paypal")] {
        let owner = store.find_by_name_skeleton(skeleton.to_owned(), 0).await;
        let expected = Some((player(number).id, true));
        assert_eq!(owner.expect("readable"), expected, "{skeleton}");
    }
}

/// If the names of two players have the same skeleton, the upgrade reserves the skeleton for the
/// first player. Both players keep their names.
#[tokio::test]
async fn upgrade_adds_skeletons_of_written_names() {
    let Some(address) = create_database().await else {
        return;
    };
    let mut connection = connect(&address).await;
    let migrated = schema::migrate_to(&mut connection, schema::WRITTEN_NAMES_VERSION - 1);
    migrated.await.expect("migration succeeds");
    for (number, name) in (1..).zip(["BEN", "\u{412}EN"]) {
        let id = player(number).id.0;
        let sql = "INSERT INTO players (id, name, kind) VALUES ($1, $2, 'account')";
        connection.query(sql, &[&id, &name]).await.expect("written");
        let sql = "INSERT INTO names (likeness, player) VALUES ($1, $2)";
        let params: reconnecting_connection::Params<'_> = &[&crate::name_skeleton(name), &id];
        connection.query(sql, params).await.expect("written");
    }
    conformance::check_upgraded_name_skeletons(&open_store(&address).await).await;
}

#[tokio::test]
async fn upgrade_turns_player_token_into_session() {
    let Some(address) = create_database().await else {
        return;
    };
    let mut connection = connect(&address).await;
    schema::migrate_to(&mut connection, 2)
        .await
        .expect("migration succeeds");
    let (ann, token) = (player(1), TokenHash([1; 32]));
    let sql = "INSERT INTO players VALUES ($1, $2, $3)";
    let params: reconnecting_connection::Params<'_> = &[&ann.id.0, &ann.name, &token.0.as_slice()];
    connection.query(sql, params).await.expect("written");

    let store = open_store(&address).await;
    let (player, session) = store
        .find_session(token)
        .await
        .expect("readable")
        .expect("exists");
    assert_eq!((player, session.token), (ann.clone(), token));
    assert_eq!(store.sessions(ann.id).await.expect("readable"), [session]);
}
