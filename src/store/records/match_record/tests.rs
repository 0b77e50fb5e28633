use crate::records::to_json;
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::Occupant;
use plyhouse_protocol::{EndReason, MatchCode, MatchId, PlayerKind};
use uuid::Uuid;

use super::*;

#[test]
fn events_round_trip_through_text() {
    let ann = Occupant::Player {
        id: PlayerId(Uuid::from_u128(7)),
        name: "ann \"\u{e9}\"".to_owned(),
        kind: PlayerKind::Account,
        rating: None,
    };
    let seated =
        [ann, Occupant::Open, Occupant::Bot(Level::Hard)].map(|occupant| EventKind::Seated {
            seat: Seat::Second,
            occupant,
        });
    let moved = EventKind::untimed_move(Seat::First, "b2".to_owned());
    let ended = EndReason::ALL.iter().map(|&reason| {
        let winner = (reason == EndReason::Rules).then_some(Seat::Second);
        EventKind::untimed_end(winner, reason)
    });
    let all = seated
        .into_iter()
        .chain([EventKind::UNTIMED_START, moved])
        .chain(ended);
    for event in all {
        assert_eq!(event_from_text(&to_json(&event)), Ok(event));
    }
}

#[test]
fn stored_form_of_events_is_unchanged() {
    let moved = EventKind::untimed_move(Seat::First, "b2".to_owned());
    assert_eq!(to_json(&moved), r#"{"type":"moved","seat":0,"move":"b2"}"#);
    assert_eq!(to_json(&EventKind::UNTIMED_START), r#"{"type":"started"}"#);
}

#[test]
fn every_event_kind_keeps_its_stored_form() {
    for text in [
        r#"{"type":"seated","seat":1,"player":"00000000-0000-0000-0000-000000000002","name":"ann"}"#,
        r#"{"type":"seated","seat":1}"#,
        r#"{"type":"seated","seat":1,"player":"00000000-0000-0000-0000-000000000002","name":"ann","bot":"easy"}"#,
        r#"{"type":"started","left":{"ms":[300000,300000],"periods":[3,3]}}"#,
        r#"{"type":"moved","seat":0,"move":"b2","spent_ms":13000,"left":{"ms":[287000,300000]}}"#,
        r#"{"type":"offered","seat":0,"offer":"draw","ply":31}"#,
        r#"{"type":"offered","seat":0,"offer":"takeback","ply":31,"to_ply":29}"#,
        r#"{"type":"declined","seat":1,"offer":"draw","by":0}"#,
        r#"{"type":"taken_back","ply":29}"#,
        r#"{"type":"taken_back","ply":29,"left":{"ms":[1,2]}}"#,
        r#"{"type":"time_given","seat":1,"ms":15000,"left":{"ms":[1,15002]}}"#,
        r#"{"type":"ended","winner":null,"reason":"agreement"}"#,
        r#"{"type":"ended","winner":null,"reason":"aborted","by":1}"#,
        r#"{"type":"ended","winner":null,"reason":"aborted","detail":"no-first-move","by":1,"left":{"ms":[5,6]}}"#,
        r#"{"type":"ended","winner":0,"reason":"timeout","left":{"ms":[5,0]}}"#,
    ] {
        let event = event_from_text(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(to_json(&event), text);
    }
}

#[test]
fn terms_of_earlier_versions_are_read() {
    let old = r#"{"listed":true,"pace_ms":1500,"seed":-1}"#;
    let terms = terms_from_text(old).unwrap();
    assert_eq!(terms, Terms::with_defaults(true, 1500, u64::MAX));
    assert_eq!(to_json(&terms), old);
    let all = r#"{"listed":false,"pace_ms":0,"seed":7,"clock":{"kind":"move","move_ms":5000},"takeback":false,"patience":{"people_ms":60000,"bot_ms":86400000},"stand_in":"easy","rated":true,"for":"00000000-0000-0000-0000-000000000002"}"#;
    let terms = terms_from_text(all).unwrap();
    assert_eq!(to_json(&terms), all);
}

#[test]
fn malformed_events_are_rejected() {
    for text in [
        "",
        "{}",
        r#"{"type":"moved","seat":2,"move":"b2"}"#,
        r#"{"type":"moved","seat":0}"#,
        r#"{"type":"seated","seat":0,"bot":"godlike"}"#,
        r#"{"type":"seated","seat":0,"bot":"hard","name":"ann"}"#,
        r#"{"type":"started","more":1}"#,
    ] {
        assert!(event_from_text(text).is_err(), "{text}");
    }
}

/// The creation data of a match and an event each serialize to a single JSON object.
#[test]
fn creations_and_events_serialize_as_plain_json() {
    let creation = Creation {
        id: MatchId(Uuid::from_u128(1)),
        code: MatchCode::from_number(0),
        game: &catalog::CATALOG[0],
        host: PlayerId(Uuid::from_u128(2)),
        terms: Terms::with_defaults(true, 1500, u64::MAX),
    };
    let written = serde_json::to_string(&creation).unwrap();
    assert_eq!(
        written,
        concat!(
            r#"{"id":"00000000-0000-0000-0000-000000000001","code":"222222","#,
            r#""game":"tic-tac-toe","host":"00000000-0000-0000-0000-000000000002","#,
            r#""terms":{"listed":true,"pace_ms":1500,"seed":-1}}"#,
        )
    );
    let read: Creation = serde_json::from_str(&written).unwrap();
    assert_eq!(format!("{read:?}"), format!("{creation:?}"));

    let seat = Seat::Second;
    let occupant = Occupant::Bot(Level::Hard);
    let event = EventKind::Seated { seat, occupant }.at(7);
    let written = serde_json::to_string(&event).unwrap();
    assert_eq!(
        written,
        r#"{"at_ms":7,"type":"seated","seat":1,"bot":"hard"}"#
    );
    assert_eq!(serde_json::from_str::<Event>(&written).unwrap(), event);
}
