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
    assert_eq!(effects, [Effect::Think(moves)]);
}

/// A seat with white at the start of a match, whose engine thinks about the first move.
fn playing() -> Seat {
    let mut seat = seat(Goal::Join("K7QM2P".to_owned()));
    assert_eq!(asked(&seat.connected())[0]["type"], "hello");
    assert_eq!(asked(&seat.receive(welcome(false)))[0]["type"], "watch");
    let effects = seat.receive(message(snapshot(None, &[])));
    assert!(matches!(&effects[..], [Effect::Start(game)] if game.game == "chess"));
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
        "type": "error", "re": request["id"], "code": code, "message": "told", "retryable": false,
    }))
}

#[test]
fn the_engine_is_there_before_the_seat_is_taken() {
    let mut seat = playing();
    let sent = asked(&seat.play("e2e4"));
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
    });
    seat.connected();
    assert!(matches!(
        &seat.receive(welcome(false))[..],
        [Effect::Start(_)]
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
    assert_eq!(asked(&seat.play("e2e4")).len(), 1);
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
        let sent = asked(&seat.play("e2e5"));
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
    let sent = asked(&seat.play("e2e4"));
    let effects = seat.receive(refusal(&sent[0], "rate_limited"));
    let [Effect::SendAfter(_, request)] = &effects[..] else {
        panic!("{effects:?}");
    };
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
