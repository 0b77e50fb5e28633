use serde_json::{Value, json};

use super::*;

const MATCH: &str = "0b9e0000-0000-7000-8000-000000000001";

fn message(value: Value) -> ServerMessage {
    let read = ServerMessage::decode(&value.to_string());
    read.expect("readable").expect("known")
}

fn welcome(resumed: bool) -> ServerMessage {
    message(json!({
        "type": "welcome", "protocol": 1, "server": "test", "token": "secret",
        "player": {"id": "5f0c0000-0000-4000-8000-000000000001", "name": "engine"},
        "resumed": resumed, "levels": [], "following": [],
        "games": [{"game": "chess", "title": "Chess", "sides": ["white", "black"],
                   "files": 8, "ranks": 8}],
        "limits": {"message_bytes": 8192, "requests_per_s": 20, "burst": 40, "live_matches": 16,
                   "following": 64, "idle_ms": 60000, "abandon_after_ms": 60000},
    }))
}

/// A match after these moves, in which the engine has white, or no seat.
fn snapshot(you: Option<u8>, moves: &[&str]) -> Value {
    json!({
        "type": "match", "match": MATCH, "code": "K7QM2P", "seq": 3 + moves.len(), "game": "chess",
        "status": "running", "host": "5f0c0000-0000-4000-8000-000000000002", "listed": true,
        "you": you, "seats": [{"side": "white", "occupant": "open"},
                              {"side": "black", "occupant": "open"}],
        "position": "", "ply": moves.len(), "turn": moves.len() % 2, "moves": moves,
        "legal": [], "spectators": 0,
    })
}

fn moved(ply: u64, m: &str) -> ServerMessage {
    message(json!({
        "type": "moved", "match": MATCH, "seq": 4 + ply, "ply": ply, "seat": ply % 2, "move": m,
        "position": "", "turn": (ply + 1) % 2, "legal": [],
    }))
}

fn seat(goal: Goal) -> Seat {
    Seat::new(Wanted {
        goal,
        game: Some("chess".to_owned()),
        name: None,
        key: None,
        clock: None,
        games: 1,
    })
}

/// What is asked of the server.
fn asked(effects: &[Effect]) -> Vec<Value> {
    let sent = effects.iter().filter_map(|effect| match effect {
        Effect::Send(request) => Some(serde_json::to_value(request).expect("JSON")),
        _ => None,
    });
    sent.collect()
}

fn thinks(effects: &[Effect], moves: &[&str]) {
    let moves = moves.iter().map(|m| (*m).to_owned()).collect();
    let times = None;
    assert_eq!(
        effects,
        [Effect::Think(Turn {
            start: None,
            moves,
            times
        })]
    );
}

/// A seat with white at the start of a match, whose engine thinks about the first move.
fn playing() -> Seat {
    let mut seat = seat(Goal::Join("K7QM2P".to_owned()));
    assert_eq!(asked(&seat.connected())[0]["type"], "hello");
    assert_eq!(asked(&seat.receive(welcome(false)))[0]["type"], "watch");
    let effects = seat.receive(message(snapshot(None, &[])));
    assert!(matches!(&effects[..], [Effect::Start(game, None)] if game.game == "chess"));
    assert_eq!(asked(&seat.ready())[0]["type"], "join");
    let effects = seat.receive(message(snapshot(Some(0), &[])));
    assert!(
        matches!(&effects[..], [Effect::Say(_), Effect::Think(_)]),
        "{effects:?}"
    );
    seat
}

fn refusal(request: &Value, code: &str) -> ServerMessage {
    message(json!({
        "type": "error", "re": request["id"], "code": code, "message": "told",
        "retryable": code == "rate_limited", "retry_after_ms": 70,
    }))
}

#[test]
fn the_engine_is_there_before_the_seat_is_taken() {
    let mut seat = playing();
    let sent = asked(&seat.play("e2e4", None));
    assert_eq!(
        (&sent[0]["move"], &sent[0]["ply"]),
        (&json!("e2e4"), &json!(0))
    );
    assert!(
        seat.receive(moved(0, "e2e4")).is_empty(),
        "the other side thinks"
    );
    thinks(&seat.receive(moved(1, "e7e5")), &["e2e4", "e7e5"]);
}

#[test]
fn a_match_is_created_once_the_engine_is_there() {
    let mut seat = seat(Goal::Create {
        side: Some(SideChoice::Second),
        against: Some("hard".to_owned()),
        position: None,
    });
    seat.connected();
    assert!(matches!(
        &seat.receive(welcome(false))[..],
        [Effect::Start(..)]
    ));
    let sent = asked(&seat.ready());
    assert_eq!(sent[0]["seats"], json!([{"bot": "hard"}, "me"]));
}

#[test]
fn a_match_of_another_game_is_not_joined() {
    let mut seat = seat(Goal::Join("K7QM2P".to_owned()));
    seat.connected();
    seat.receive(welcome(false));
    let mut other = snapshot(None, &[]);
    other["game"] = json!("go");
    let effects = seat.receive(message(other));
    assert!(
        matches!(&effects[..], [Effect::End(Err(Failure::Refused(_)))]),
        "{effects:?}"
    );
}

/// While the connection is gone the engine thinks on; what it finds is sent when the match is shown
/// again, once.
#[test]
fn an_answer_outlives_a_connection() {
    let mut seat = playing();
    assert_eq!(asked(&seat.connected())[0]["token"], "secret");
    assert_eq!(asked(&seat.receive(welcome(true)))[0]["type"], "watch");
    assert!(
        seat.receive(message(snapshot(Some(0), &[]))).is_empty(),
        "it thinks already"
    );
    assert_eq!(asked(&seat.play("e2e4", None)).len(), 1);
    seat.connected();
    seat.receive(welcome(true));
    let again = asked(&seat.receive(message(snapshot(Some(0), &[]))));
    assert_eq!(again[0]["move"], "e2e4");
    seat.connected();
    seat.receive(welcome(true));
    assert!(
        seat.receive(message(snapshot(Some(0), &["e2e4"])))
            .is_empty(),
        "it was played"
    );
}

#[test]
fn an_illegal_move_resigns() {
    for code in ["illegal_move", "unreadable_move"] {
        let mut seat = playing();
        let sent = asked(&seat.play("e2e5", None));
        let effects = seat.receive(refusal(&sent[0], code));
        assert_eq!(asked(&effects)[0]["type"], "resign", "{code}");
        let ended = message(json!({"type": "ended", "match": MATCH, "seq": 4,
            "outcome": {"winner": 1, "reason": "resignation"}}));
        let effects = seat.receive(ended);
        let [Effect::Say(text), Effect::End(Err(Failure::Failed(why)))] = &effects[..] else {
            panic!("{effects:?}");
        };
        assert_eq!(text, "lost after 0 plies: resignation");
        assert_eq!(why, "resigned: the program plays e2e5: told");
    }
}

#[test]
fn what_may_succeed_later_is_asked_again() {
    let mut seat = playing();
    let sent = asked(&seat.play("e2e4", None));
    let effects = seat.receive(refusal(&sent[0], "rate_limited"));
    let [Effect::SendAfter(pause, request)] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(*pause, Duration::from_millis(70));
    assert_eq!(serde_json::to_value(request).expect("JSON"), sent[0]);
    let effects = seat.receive(refusal(&sent[0], "stale_ply"));
    assert_eq!(asked(&effects)[0]["type"], "watch");
}

#[test]
fn an_engine_that_fails_for_good_resigns_and_so_does_who_runs_it() {
    let mut seat = playing();
    assert_eq!(asked(&seat.give_up("gone"))[0]["type"], "resign");
    let mut seat = playing();
    assert_eq!(asked(&seat.stop())[0]["type"], "resign");
    assert!(matches!(
        seat.stop().last(),
        Some(Effect::End(Err(Failure::Stopped)))
    ));
    let mut seat = playing();
    assert_eq!(asked(&seat.resign())[0]["type"], "resign");
    // Before there is a seat, nothing is resigned.
    let mut seat = self::seat(Goal::Join("K7QM2P".to_owned()));
    seat.connected();
    assert_eq!(
        seat.give_up("gone"),
        end(Failure::Failed("gone".to_owned()))
    );
}

fn event(kind: &str, seq: u64, fields: &Value) -> ServerMessage {
    let mut event = json!({"type": kind, "match": MATCH, "seq": seq});
    let fields = fields.as_object().expect("fields").clone();
    event.as_object_mut().expect("an object").extend(fields);
    message(event)
}

/// A draw is taken by an engine that is behind, and by no other.
#[test]
fn draws_are_judged_by_what_the_engine_thought_last() {
    for (worth, answer) in [
        (Some(-50), "offer"),
        (Some(-49), "decline"),
        (None, "decline"),
    ] {
        let mut seat = playing();
        seat.play("e2e4", worth);
        seat.receive(moved(0, "e2e4"));
        let offer = json!({"seat": 1, "offer": "draw", "ply": 1});
        let effects = seat.receive(event("offered", 5, &offer));
        let [request] = &asked(&effects)[..] else {
            panic!("{effects:?}");
        };
        assert_eq!(
            (&request["type"], &request["offer"], &request["match"]),
            (&json!(answer), &json!("draw"), &json!(MATCH))
        );
        // It is answered once, and the match goes on.
        thinks(
            &seat.receive(message(
                json!({"type": "moved", "match": MATCH, "seq": 6, "ply": 1,
                "seat": 1, "move": "e7e5", "position": "", "turn": 0, "legal": []}),
            )),
            &["e2e4", "e7e5"],
        );
    }
}

/// After a takeback the same ply is another place: what was thought about the other is not played.
#[test]
fn moves_are_taken_back_and_thought_about_anew() {
    let mut seat = playing();
    seat.play("e2e4", None);
    seat.receive(moved(0, "e2e4"));
    thinks(&seat.receive(moved(1, "e7e5")), &["e2e4", "e7e5"]);
    let offer = json!({"seat": 1, "offer": "takeback", "ply": 2, "to_ply": 1});
    let effects = seat.receive(event("offered", 6, &offer));
    let sent = asked(&effects);
    assert_eq!(
        (&sent[0]["type"], &sent[0]["offer"], &sent[0]["ply"]),
        (&json!("offer"), &json!("takeback"), &json!(2))
    );
    let back = json!({"ply": 1, "position": "", "turn": 1, "legal": [], "takebacks": 1});
    assert_eq!(seat.receive(event("taken_back", 7, &back)), []);
    let again = json!({"ply": 1, "seat": 1, "move": "c7c5", "position": "", "turn": 0,
        "legal": []});
    assert_eq!(
        seat.receive(event("moved", 8, &again)),
        [],
        "it still thinks"
    );
    thinks(&seat.play("g1f3", None), &["e2e4", "c7c5"]);
    let sent = asked(&seat.play("d2d4", None));
    assert_eq!(
        (&sent[0]["move"], &sent[0]["takebacks"]),
        (&json!("d2d4"), &json!(1))
    );
}

#[test]
fn the_engine_is_told_what_the_clock_leaves_it() {
    let mut seat = seat(Goal::Join("K7QM2P".to_owned()));
    seat.connected();
    seat.receive(welcome(false));
    let clock = json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 1000});
    let mut open = snapshot(None, &[]);
    open["clock"] = clock.clone();
    let effects = seat.receive(message(open));
    assert!(
        matches!(&effects[..], [Effect::Start(_, Some(_))]),
        "{effects:?}"
    );
    seat.ready();
    seat.takes(Duration::from_millis(25));
    let mut now = snapshot(Some(0), &["e2e4", "e7e5"]);
    now["clock"] = clock;
    now["left_ms"] = json!([50_000, 40_000]);
    now["turn_ms"] = json!(3000);
    now["stands"] = json!(false);
    let effects = seat.receive(message(now));
    let Some(Effect::Think(turn)) = effects.last() else {
        panic!("{effects:?}");
    };
    let times = turn.times.expect("there is a clock");
    // 100 ms and the way to the server and back are kept.
    assert_eq!(times.left_ms, [46_875, 40_000]);
}

#[test]
fn as_many_matches_are_played_as_were_asked_for() {
    let mut seat = playing();
    seat.wanted.games = 2;
    let over = json!({"outcome": {"winner": 1, "reason": "resignation"}});
    let effects = seat.receive(event("ended", 4, &over));
    assert!(
        matches!(&effects[..], [Effect::Say(_), Effect::SendAfter(..)]),
        "{effects:?}"
    );
    let next = "0b9e0000-0000-7000-8000-000000000002";
    let told = |next: Value| {
        message(
            json!({"type": "rematch", "match": MATCH, "offers": [false, true],
            "declined": [false, false], "here": [true, true], "next": next}),
        )
    };
    let sent = asked(&seat.receive(told(Value::Null)));
    assert_eq!(
        (&sent[0]["type"], &sent[0]["offer"]),
        (&json!("offer"), &json!("rematch"))
    );
    seat.receive(told(json!({"match": next, "code": "K7QM2P"})));
    let mut second = snapshot(Some(1), &["e2e4"]);
    second["match"] = json!(next);
    let effects = seat.receive(message(second));
    assert!(
        matches!(
            &effects[..],
            [Effect::Say(_), Effect::Think(_)] | [Effect::Say(_)]
        ),
        "{effects:?}"
    );
    let ended = message(json!({"type": "ended", "match": next, "seq": 5,
        "outcome": {"winner": null, "reason": "agreement"}}));
    let effects = seat.receive(ended);
    assert!(
        matches!(effects.last(), Some(Effect::End(Ok(())))),
        "{effects:?}"
    );
}
