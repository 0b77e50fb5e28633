use uuid::Uuid;

use super::*;
use plyhouse_engine::catalog::{AnyPosition, CATALOG, GameEntry};
use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Occupant, Terms};
use plyhouse_protocol::{MatchCode, MatchId, Reason, ServerMessage};

const GUEST: PlayerId = PlayerId(Uuid::from_u128(3));

/// Reads what was told by the protocol's types, and has these write it.
fn by_the_protocol(told: &Frame) -> Frame {
    let message = ServerMessage::decode(told).expect("it is a message");
    encode(&message.expect("its type is known"))
}

/// Everything that a match tells at this point, to a player and to a stranger.
fn check_snapshots(state: &Match) {
    for (re, recipient) in [(Some(RequestId(7)), GUEST), (None, PlayerId(Uuid::nil()))] {
        let is_guest = |seat| Some(state.occupant(seat).player()? == GUEST);
        let there = SeatPresence {
            seats: Seat::ALL.map(is_guest),
            spectators: 3,
        };
        let told = snapshot(state, Some(recipient), aside(re, there));
        assert_eq!(told, by_the_protocol(&told));
    }
}

fn aside(re: Option<RequestId>, there: SeatPresence) -> Aside {
    Aside {
        re,
        there,
        time: None,
        rematch: None,
        changes: None,
        said: vec![Said {
            seat: None,
            name: "\"".to_owned(),
            preset: None,
            text: Some("\\".to_owned()),
        }],
        epoch: 0,
    }
}

fn check_event(state: &mut Match, happens: &EventKind) -> Frame {
    state.fold(&happens.clone().at(0)).unwrap();
    let told = event(state, happens);
    assert_eq!(told, by_the_protocol(&told));
    check_snapshots(state);
    told
}

fn open(game: &'static GameEntry) -> Match {
    let begun = Match::new(Creation {
        id: MatchId(Uuid::from_u128(7)),
        code: MatchCode::from_number(7),
        game,
        host: GUEST,
        terms: Terms::plain(true, 0, 1),
    });
    begun.expect("it begins as its game does")
}

fn seated(seat: Seat, occupant: Occupant) -> EventKind {
    EventKind::Seated { seat, occupant }
}

fn guest(name: &str) -> Occupant {
    Occupant::Player {
        id: GUEST,
        name: name.to_owned(),
        kind: plyhouse_protocol::PlayerKind::Account,
        rating: None,
    }
}

/// A match that has been played to the end of the game or far into it; all that it told is checked.
fn played(entry: &'static GameEntry) -> Match {
    let mut state = open(entry);
    check_snapshots(&state);
    check_event(&mut state, &seated(Seat::First, guest("Ann")));
    check_event(&mut state, &seated(Seat::First, Occupant::Open));
    check_event(&mut state, &seated(Seat::First, guest("Ann")));
    check_event(
        &mut state,
        &seated(Seat::Second, Occupant::Bot(Level::Hard)),
    );
    check_event(&mut state, &EventKind::STARTED);
    for ply in 0..200 {
        let mut legal = state.position().legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal.swap_remove(ply * 7 % legal.len());
        let seat = state.position().turn();
        check_event(&mut state, &EventKind::moved(seat, m));
    }
    assert!(state.ply().0 > 4);
    state
}

#[test]
fn what_happens_is_told_as_the_protocol_has_it() {
    for entry in &CATALOG {
        for &reason in Reason::ALL {
            let winner = (reason != Reason::Aborted).then_some(Seat::Second);
            let ended = EventKind::ended(winner, reason);
            let mut state = played(entry);
            let told = check_event(&mut state, &ended);
            let told: serde_json::Value = serde_json::from_str(&told).unwrap();
            let end = &told["outcome"];
            let by_rules = (reason == Reason::Rules).then(|| state.position());
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
                    end.get(field).unwrap_or(&serde_json::Value::Null),
                    &value,
                    "{field} in {end}"
                );
            }
        }
    }
}

#[test]
fn a_snapshot_says_everything() {
    let mut state = open(&CATALOG[0]);
    for happens in [
        seated(Seat::First, guest("A\"nn\\ ✓")),
        seated(Seat::Second, Occupant::Bot(Level::Easy)),
        EventKind::STARTED,
        EventKind::moved(Seat::First, state.position().legal_moves().swap_remove(0)),
    ] {
        check_event(&mut state, &happens);
    }
    let there = SeatPresence {
        seats: [Some(true), None],
        spectators: 2,
    };
    let told = snapshot(&state, Some(GUEST), aside(Some(RequestId(9)), there));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let first = state.moves().next().unwrap();
    let seats = serde_json::json!([
        {
            "side": CATALOG[0].info.sides[0], "occupant": "player", "player": GUEST,
            "name": "A\"nn\\ ✓", "connected": true, "account": true,
        },
        { "side": CATALOG[0].info.sides[1], "occupant": "bot", "level": "easy" },
    ]);
    assert_eq!(
        told,
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
fn chess_is_told_as_its_players_write_it() {
    let entry = plyhouse_engine::catalog::find_game("chess").unwrap();
    let mut state = open(entry);
    check_event(&mut state, &seated(Seat::First, guest("Ann")));
    let bot = Occupant::Bot(Level::Easy);
    check_event(&mut state, &seated(Seat::Second, bot));
    check_event(&mut state, &EventKind::STARTED);
    let mut play = |m: &str, san: &str, check: bool| {
        let seat = state.position().turn();
        let told = check_event(&mut state, &EventKind::moved(seat, m.to_owned()));
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!((&told["move"], &told["san"]), (&m.into(), &san.into()));
        assert_eq!(told.get("check"), check.then(|| true.into()).as_ref());
    };
    play("e2e4", "e4", false);
    play("f7f6", "f6", false);
    play("d1h5", "Qh5+", true);
    play("g7g6", "g6", false);
    let there = SeatPresence {
        seats: [Some(true), None],
        spectators: 0,
    };
    let read = |frame: &Frame| serde_json::from_str::<serde_json::Value>(frame).unwrap();
    let told = read(&snapshot(&state, None, aside(None, there)));
    assert_eq!(told["san"], serde_json::json!(["e4", "f6", "Qh5+", "g6"]));
    assert_eq!(told.get("check"), None);

    let back = EventKind::TakenBack {
        ply: Ply(3),
        left: None,
    };
    let told = read(&check_event(&mut state, &back));
    assert_eq!(told["check"], true);
    let told = read(&snapshot(&state, None, aside(None, there)));
    assert_eq!(told["san"], serde_json::json!(["e4", "f6", "Qh5+"]));
    assert_eq!(told["check"], true);
}

#[test]
fn done_is_told_as_the_protocol_has_it() {
    for seq in [None, Some(Seq(0)), Some(Seq(u64::MAX))] {
        let told = ok(RequestId(7), seq);
        assert_eq!(told, by_the_protocol(&told));
    }
}

/// A copy may know the end of a match before it knows that the turn is over.
#[test]
fn snapshot_has_a_turn_only_while_the_match_runs() {
    let time = TurnTime {
        turn_ms: 1480,
        stands: false,
        first_move_ms: Some(9000),
    };
    let there = SeatPresence {
        seats: [Some(true); 2],
        spectators: 0,
    };
    for entry in &CATALOG {
        for winner in [None, Some(Seat::First), Some(Seat::Second)] {
            let mut state = open(entry);
            let ended = EventKind::ended(winner, Reason::Timeout);
            let events = [
                (seated(Seat::First, guest("Ann")), false),
                (seated(Seat::Second, guest("Bob")), false),
                (EventKind::STARTED, true),
                (ended, false),
            ];
            for (happens, has_turn) in events {
                state.fold(&happens.at(0)).unwrap();
                let aside = Aside {
                    time: Some(time),
                    ..aside(None, there)
                };
                let told = snapshot(&state, None, aside);
                let told: serde_json::Value = serde_json::from_str(&told).unwrap();
                for field in ["turn_ms", "stands", "first_move_ms"] {
                    assert_eq!(told.get(field).is_some(), has_turn, "{field} in {told}");
                }
            }
        }
    }
}
