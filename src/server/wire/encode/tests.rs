use uuid::Uuid;

use super::*;
use crate::match_handle::summary::SeatPresence;
use plyhouse_engine::catalog::{AnyPosition, CATALOG, GameEntry};
use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Occupant, Terms};
use plyhouse_protocol::{ChatEntry, EndReason, MatchCode, MatchId, PlayerId, ServerMessage};

const GUEST: PlayerId = PlayerId(Uuid::from_u128(3));

/// Decodes a frame into the protocol types and encodes it again.
fn reencode(frame: &Frame) -> Frame {
    let message = ServerMessage::decode(frame).expect("the frame decodes");
    encode(&message.expect("the message type is known"))
}

/// Checks the snapshots for a player and for a spectator.
fn check_snapshots_round_trip(state: &Match) {
    for (re, recipient) in [(Some(RequestId(7)), GUEST), (None, PlayerId(Uuid::nil()))] {
        let is_guest = |seat| Some(state.occupant(seat).player()? == GUEST);
        let presence = SeatPresence {
            seats: Seat::ALL.map(is_guest),
            spectators: 3,
        };
        let frame = snapshot(state, Some(recipient), &snapshot_context(re, presence));
        assert_eq!(frame, reencode(&frame));
    }
}

fn snapshot_context(re: Option<RequestId>, presence: SeatPresence) -> SnapshotContext<'static> {
    SnapshotContext {
        re,
        presence,
        turn_time: None,
        rematch: None,
        rating_changes: None,
        chat: vec![ChatEntry {
            seat: None,
            name: "\"".to_owned(),
            preset: None,
            text: Some("\\".to_owned()),
        }],
        epoch: 0,
    }
}

fn apply_and_check_event(state: &mut Match, kind: &EventKind) -> Frame {
    state.fold(&kind.clone().at(0)).unwrap();
    let frame = event(state, kind);
    assert_eq!(frame, reencode(&frame));
    check_snapshots_round_trip(state);
    frame
}

fn open_match(game: &'static GameEntry) -> Match {
    let state = Match::new(Creation {
        id: MatchId(Uuid::from_u128(7)),
        code: MatchCode::from_number(7),
        game,
        host: GUEST,
        terms: Terms::with_defaults(true, 0, 1),
    });
    state.expect("the initial position of the game is valid")
}

fn seated_event(seat: Seat, occupant: Occupant) -> EventKind {
    EventKind::Seated { seat, occupant }
}

fn guest_occupant(name: &str) -> Occupant {
    Occupant::Player {
        id: GUEST,
        name: name.to_owned(),
        kind: plyhouse_protocol::PlayerKind::Account,
        rating: None,
    }
}

/// Plays a match for up to 200 plies and checks every message.
fn play_match(entry: &'static GameEntry) -> Match {
    let mut state = open_match(entry);
    check_snapshots_round_trip(&state);
    apply_and_check_event(
        &mut state,
        &seated_event(Seat::First, guest_occupant("Ann")),
    );
    apply_and_check_event(&mut state, &seated_event(Seat::First, Occupant::Open));
    apply_and_check_event(
        &mut state,
        &seated_event(Seat::First, guest_occupant("Ann")),
    );
    apply_and_check_event(
        &mut state,
        &seated_event(Seat::Second, Occupant::Bot(Level::Hard)),
    );
    apply_and_check_event(&mut state, &EventKind::UNTIMED_START);
    for ply in 0..200 {
        let mut legal = state.position().legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal.swap_remove(ply * 7 % legal.len());
        let seat = state.position().turn();
        apply_and_check_event(&mut state, &EventKind::untimed_move(seat, m));
    }
    assert!(state.ply().0 > 4);
    state
}

#[test]
fn events_round_trip_through_protocol_types() {
    for entry in &CATALOG {
        for &reason in EndReason::ALL {
            let winner = (reason != EndReason::Aborted).then_some(Seat::Second);
            let ended = EventKind::untimed_end(winner, reason);
            let mut state = play_match(entry);
            let frame = apply_and_check_event(&mut state, &ended);
            let json: serde_json::Value = serde_json::from_str(&frame).unwrap();
            let outcome = &json["outcome"];
            let by_rules = (reason == EndReason::Rules).then(|| state.position());
            let ending = by_rules.and_then(AnyPosition::ending);
            let detail = ending.map(|ending| ending.detail);
            let scores = ending.and_then(|ending| ending.scores);
            let line = by_rules.and_then(AnyPosition::winning_line);
            for (field, value) in [
                ("detail", serde_json::json!(detail)),
                ("scores", serde_json::json!(scores)),
                ("line", serde_json::json!(line)),
            ] {
                assert_eq!(
                    outcome.get(field).unwrap_or(&serde_json::Value::Null),
                    &value,
                    "{field} in {outcome}"
                );
            }
        }
    }
}

#[test]
fn snapshot_contains_all_fields() {
    let mut state = open_match(&CATALOG[0]);
    for kind in [
        seated_event(Seat::First, guest_occupant("A\"nn\\ ✓")),
        seated_event(Seat::Second, Occupant::Bot(Level::Easy)),
        EventKind::UNTIMED_START,
        EventKind::untimed_move(Seat::First, state.position().legal_moves().swap_remove(0)),
    ] {
        apply_and_check_event(&mut state, &kind);
    }
    let presence = SeatPresence {
        seats: [Some(true), None],
        spectators: 2,
    };
    let frame = snapshot(
        &state,
        Some(GUEST),
        &snapshot_context(Some(RequestId(9)), presence),
    );
    let json: serde_json::Value = serde_json::from_str(&frame).unwrap();
    let first = state.moves().next().unwrap();
    let seats = serde_json::json!([
        {
            "side": CATALOG[0].info.sides[0], "occupant": "player", "player": GUEST,
            "name": "A\"nn\\ ✓", "connected": true, "account": true,
        },
        { "side": CATALOG[0].info.sides[1], "occupant": "bot", "level": "easy" },
    ]);
    assert_eq!(
        json,
        serde_json::json!({
            "type": "match", "re": 9, "match": Uuid::from_u128(7), "code": state.creation().code.to_string(),
            "seq": 4, "game": CATALOG[0].info.id, "status": "running", "host": GUEST, "listed": true, "watch": "anyone",
            "you": 0, "seats": seats, "position": state.position().to_string(), "ply": 1, "turn": 1,
            "moves": [first], "legal": state.position().legal_moves(), "spectators": 2,
            "offers": [], "takeback": true, "takebacks": 0, "said": [{"seat": null, "name": "\"", "text": "\\"}],
        })
    );
}

#[test]
fn chess_frames_contain_san_and_check() {
    let entry = plyhouse_engine::catalog::find_game("chess").unwrap();
    let mut state = open_match(entry);
    apply_and_check_event(
        &mut state,
        &seated_event(Seat::First, guest_occupant("Ann")),
    );
    let bot = Occupant::Bot(Level::Easy);
    apply_and_check_event(&mut state, &seated_event(Seat::Second, bot));
    apply_and_check_event(&mut state, &EventKind::UNTIMED_START);
    let mut play = |m: &str, san: &str, check: bool| {
        let seat = state.position().turn();
        let frame = apply_and_check_event(&mut state, &EventKind::untimed_move(seat, m.to_owned()));
        let json: serde_json::Value = serde_json::from_str(&frame).unwrap();
        assert_eq!((&json["move"], &json["san"]), (&m.into(), &san.into()));
        assert_eq!(json.get("check"), check.then(|| true.into()).as_ref());
    };
    play("e2e4", "e4", false);
    play("f7f6", "f6", false);
    play("d1h5", "Qh5+", true);
    play("g7g6", "g6", false);
    let presence = SeatPresence {
        seats: [Some(true), None],
        spectators: 0,
    };
    let parse = |frame: &Frame| serde_json::from_str::<serde_json::Value>(frame).unwrap();
    let json = parse(&snapshot(&state, None, &snapshot_context(None, presence)));
    assert_eq!(json["san"], serde_json::json!(["e4", "f6", "Qh5+", "g6"]));
    assert_eq!(json.get("check"), None);

    let takeback = EventKind::TakenBack {
        ply: Ply(3),
        remaining: None,
    };
    let json = parse(&apply_and_check_event(&mut state, &takeback));
    assert_eq!(json["check"], true);
    let json = parse(&snapshot(&state, None, &snapshot_context(None, presence)));
    assert_eq!(json["san"], serde_json::json!(["e4", "f6", "Qh5+"]));
    assert_eq!(json["check"], true);
}

#[test]
fn ok_reply_round_trips_through_protocol_types() {
    for seq in [None, Some(Seq(0)), Some(Seq(u64::MAX))] {
        let frame = ok(RequestId(7), seq);
        assert_eq!(frame, reencode(&frame));
    }
}

/// A replica may learn that a match has ended before it learns the new turn time.
#[test]
fn snapshot_has_turn_times_only_while_match_is_running() {
    let turn_time = TurnTime {
        turn_ms: 1480,
        paused: false,
        first_move_ms: Some(9000),
    };
    let presence = SeatPresence {
        seats: [Some(true); 2],
        spectators: 0,
    };
    for entry in &CATALOG {
        for winner in [None, Some(Seat::First), Some(Seat::Second)] {
            let mut state = open_match(entry);
            let ended = EventKind::untimed_end(winner, EndReason::Timeout);
            let events = [
                (seated_event(Seat::First, guest_occupant("Ann")), false),
                (seated_event(Seat::Second, guest_occupant("Bob")), false),
                (EventKind::UNTIMED_START, true),
                (ended, false),
            ];
            for (kind, has_turn) in events {
                state.fold(&kind.at(0)).unwrap();
                let aside = SnapshotContext {
                    turn_time: Some(turn_time),
                    ..snapshot_context(None, presence)
                };
                let frame = snapshot(&state, None, &aside);
                let json: serde_json::Value = serde_json::from_str(&frame).unwrap();
                for field in ["turn_ms", "stands", "first_move_ms"] {
                    assert_eq!(json.get(field).is_some(), has_turn, "{field} in {json}");
                }
            }
        }
    }
}

/// Returns a running match whose snapshot contains almost all optional fields.
fn match_with_all_terms() -> Match {
    let clock = plyhouse_protocol::ClockControl::ByoYomi {
        main_ms: 1000,
        period_ms: 1000,
        periods: 3,
    };
    let previous = plyhouse_matches::PreviousMatch {
        id: MatchId(Uuid::from_u128(6)),
        game: 1,
        points: [2, 0],
    };
    let limits = plyhouse_matches::AbsenceLimits {
        against_player_ms: 9000,
        against_bot_ms: 8000,
    };
    let terms = Terms {
        spectator_delay_ms: 5000,
        clock: Some(clock),
        absence_limits: Some(limits),
        stand_in: Some(Level::Easy),
        rated: true,
        shows_bot_thinking: true,
        initial_position: Some("x../.../..o".to_owned()),
        previous: Some(previous),
        ..Terms::with_defaults(true, 0, 1)
    };
    let mut state = Match::new(Creation {
        id: MatchId(Uuid::from_u128(7)),
        code: MatchCode::from_number(7),
        game: plyhouse_engine::catalog::find_game("tic-tac-toe").unwrap(),
        host: GUEST,
        terms,
    })
    .unwrap();
    let remaining = Some(RemainingTime::at_start(&clock));
    let bot_account = Occupant::Player {
        id: PlayerId(Uuid::from_u128(4)),
        name: "new\nline \u{1f}\u{7f}".to_owned(),
        kind: plyhouse_protocol::PlayerKind::Bot,
        rating: Some(plyhouse_protocol::ShownRating {
            rating: 1500,
            provisional: true,
        }),
    };
    for kind in [
        seated_event(Seat::First, guest_occupant("Ann")),
        seated_event(Seat::Second, bot_account),
        EventKind::Started { remaining },
        seated_event(
            Seat::First,
            Occupant::StandIn {
                level: Level::Hard,
                player: GUEST,
                name: "Ann \"".to_owned(),
                kind: plyhouse_protocol::PlayerKind::Account,
                rating: None,
            },
        ),
        EventKind::Offered {
            seat: Seat::Second,
            offer: plyhouse_matches::Offer::Draw,
            ply: Ply(0),
            to_ply: None,
        },
    ] {
        apply_and_check_event(&mut state, &kind);
    }
    state
}

#[test]
fn snapshot_with_optional_fields_round_trips_through_protocol_types() {
    let state = match_with_all_terms();
    let seats = [Some(false), Some(true)];
    let spectators = 0;
    let frame = snapshot(
        &state,
        None,
        &SnapshotContext {
            turn_time: Some(TurnTime {
                turn_ms: 1480,
                paused: true,
                first_move_ms: Some(9000),
            }),
            rematch: Some(&plyhouse_protocol::RematchState {
                offers: [true, false],
                declined: [false, true],
                present: [true; 2],
                next: None,
            }),
            rating_changes: Some(&[plyhouse_protocol::RatingChange {
                seat: plyhouse_protocol::SeatNumber(1),
                before: 1500,
                after: 1512,
                provisional: true,
            }]),
            epoch: 2,
            ..snapshot_context(None, SeatPresence { seats, spectators })
        },
    );
    assert_eq!(frame, reencode(&frame));
    let json: serde_json::Value = serde_json::from_str(&frame).unwrap();
    for field in [
        "epoch",
        "delay_ms",
        "clock",
        "left_ms",
        "periods",
        "turn_ms",
        "stands",
        "first_move_ms",
        "patience_ms",
        "stand_in",
        "series",
        "previous",
        "rematch",
        "rated",
        "thinking",
        "start",
        "changes",
    ] {
        assert!(json.get(field).is_some(), "{field} in {json}");
    }
    assert_eq!(json["offers"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["seats"][0]["for"]["name"], "Ann \"");
    assert_eq!(json["seats"][1]["bot"], true);
}
