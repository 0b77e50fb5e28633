use serde_json::{Value, json};

use super::*;

const MATCH_ID: &str = "0b9e0000-0000-7000-8000-000000000001";

fn server_message(value: Value) -> ServerMessage {
    let read = ServerMessage::decode(&value.to_string());
    read.expect("valid message").expect("known message type")
}

fn welcome(resumed: bool) -> ServerMessage {
    server_message(json!({
        "type": "welcome", "protocol": 1, "server": "test", "token": "secret",
        "player": {"id": "5f0c0000-0000-4000-8000-000000000001", "name": "engine"},
        "resumed": resumed, "levels": [], "following": [],
        "games": [{"game": "chess", "title": "Chess", "sides": ["white", "black"],
                   "files": 8, "ranks": 8}],
        "limits": {"message_bytes": 8192, "requests_per_s": 20, "burst": 40, "live_matches": 16,
                   "following": 64, "idle_ms": 60000, "abandon_after_ms": 60000},
    }))
}

/// Returns the snapshot of a chess match after these moves. The engine's seat is `you`, and seat 0
/// plays White.
fn snapshot(you: Option<u8>, moves: &[&str]) -> Value {
    json!({
        "type": "match", "match": MATCH_ID, "code": "K7QM2P", "seq": 3 + moves.len(), "game": "chess",
        "status": "running", "host": "5f0c0000-0000-4000-8000-000000000002", "listed": true,
        "you": you, "seats": [{"side": "white", "occupant": "open"},
                              {"side": "black", "occupant": "open"}],
        "position": "", "ply": moves.len(), "turn": moves.len() % 2, "moves": moves,
        "legal": [], "spectators": 0,
    })
}

fn moved_event(ply: u64, m: &str) -> ServerMessage {
    server_message(json!({
        "type": "moved", "match": MATCH_ID, "seq": 4 + ply, "ply": ply, "seat": ply % 2, "move": m,
        "position": "", "turn": (ply + 1) % 2, "legal": [],
    }))
}

fn new_seat(goal: SeatSource) -> SeatState {
    SeatState::new(BotOptions {
        seat_source: goal,
        game: Some("chess".to_owned()),
        name: None,
        api_key: None,
        clock: None,
        match_count: 1,
    })
}

/// Returns the requests that these effects send.
fn sent_requests(effects: &[Effect]) -> Vec<Value> {
    let sent = effects.iter().filter_map(|effect| match effect {
        Effect::Send(request) => Some(serde_json::to_value(request).expect("JSON")),
        _ => None,
    });
    sent.collect()
}

fn assert_thinks(effects: &[Effect], moves: &[&str]) {
    let moves = moves.iter().map(|m| (*m).to_owned()).collect();
    let times = None;
    assert_eq!(
        effects,
        [Effect::StartThinking(SearchRequest {
            initial_position: None,
            moves,
            times
        })]
    );
}

/// Returns the state of a white seat whose engine is thinking about the first move.
fn playing_seat() -> SeatState {
    let mut seat = new_seat(SeatSource::Join("K7QM2P".to_owned()));
    assert_eq!(sent_requests(&seat.on_connected())[0]["type"], "hello");
    assert_eq!(
        sent_requests(&seat.on_message(welcome(false)))[0]["type"],
        "watch"
    );
    let effects = seat.on_message(server_message(snapshot(None, &[])));
    assert!(matches!(&effects[..], [Effect::StartEngine(game)] if game.game == "chess"));
    assert_eq!(sent_requests(&seat.on_engine_ready())[0]["type"], "join");
    let effects = seat.on_message(server_message(snapshot(Some(0), &[])));
    assert!(
        matches!(&effects[..], [Effect::Print(_), Effect::StartThinking(_)]),
        "{effects:?}"
    );
    seat
}

fn error_reply(request: &Value, code: &str) -> ServerMessage {
    server_message(json!({
        "type": "error", "re": request["id"], "code": code, "message": "told",
        "retryable": code == "rate_limited", "retry_after_ms": 70,
    }))
}

#[test]
fn engine_starts_before_seat_is_taken() {
    let mut seat = playing_seat();
    let sent = sent_requests(&seat.on_engine_move("e2e4", None));
    assert_eq!(
        (&sent[0]["move"], &sent[0]["ply"]),
        (&json!("e2e4"), &json!(0))
    );
    assert!(
        seat.on_message(moved_event(0, "e2e4")).is_empty(),
        "it is the opponent's turn"
    );
    assert_thinks(&seat.on_message(moved_event(1, "e7e5")), &["e2e4", "e7e5"]);
}

#[test]
fn match_is_created_after_engine_is_ready() {
    let mut seat = new_seat(SeatSource::Create {
        side: Some(SideChoice::Second),
        opponent_level: Some("hard".to_owned()),
        initial_position: None,
    });
    seat.on_connected();
    assert!(matches!(
        &seat.on_message(welcome(false))[..],
        [Effect::StartEngine(_)]
    ));
    let sent = sent_requests(&seat.on_engine_ready());
    assert_eq!(sent[0]["seats"], json!([{"bot": "hard"}, "me"]));
}

#[test]
fn match_of_another_game_is_not_joined() {
    let mut seat = new_seat(SeatSource::Join("K7QM2P".to_owned()));
    seat.on_connected();
    seat.on_message(welcome(false));
    let mut other_game = snapshot(None, &[]);
    other_game["game"] = json!("go");
    let effects = seat.on_message(server_message(other_game));
    assert!(
        matches!(&effects[..], [Effect::Exit(Err(Failure::Refused(_)))]),
        "{effects:?}"
    );
}

/// The engine continues to think while the connection is lost. The engine's move is sent after the
/// next snapshot, unless the move was already played.
#[test]
fn engine_move_is_sent_again_after_reconnect() {
    let mut seat = playing_seat();
    assert_eq!(sent_requests(&seat.on_connected())[0]["token"], "secret");
    assert_eq!(
        sent_requests(&seat.on_message(welcome(true)))[0]["type"],
        "watch"
    );
    assert!(
        seat.on_message(server_message(snapshot(Some(0), &[])))
            .is_empty(),
        "the engine is already thinking"
    );
    assert_eq!(sent_requests(&seat.on_engine_move("e2e4", None)).len(), 1);
    seat.on_connected();
    seat.on_message(welcome(true));
    let resent = sent_requests(&seat.on_message(server_message(snapshot(Some(0), &[]))));
    assert_eq!(resent[0]["move"], "e2e4");
    seat.on_connected();
    seat.on_message(welcome(true));
    assert!(
        seat.on_message(server_message(snapshot(Some(0), &["e2e4"])))
            .is_empty(),
        "the move was already played"
    );
}

#[test]
fn illegal_move_resigns_match() {
    for code in ["illegal_move", "unreadable_move"] {
        let mut seat = playing_seat();
        let sent = sent_requests(&seat.on_engine_move("e2e5", None));
        let effects = seat.on_message(error_reply(&sent[0], code));
        assert_eq!(sent_requests(&effects)[0]["type"], "resign", "{code}");
        let ended = server_message(json!({"type": "ended", "match": MATCH_ID, "seq": 4,
            "outcome": {"winner": 1, "reason": "resignation"}}));
        let effects = seat.on_message(ended);
        let [Effect::Print(text), Effect::Exit(Err(Failure::Failed(why)))] = &effects[..] else {
            panic!("{effects:?}");
        };
        assert_eq!(text, "lost after 0 plies: resignation");
        assert_eq!(why, "resigned: the engine played e2e5: told");
    }
}

#[test]
fn aborted_match_is_not_reported_as_drawn() {
    for (outcome, expected) in [
        (
            json!({"winner": null, "reason": "aborted", "by": 1}),
            "aborted after 0 plies",
        ),
        (
            json!({"winner": null, "reason": "aborted", "detail": "no-first-move", "by": 1}),
            "aborted after 0 plies: no-first-move",
        ),
        (
            json!({"winner": null, "reason": "agreement"}),
            "drawn after 0 plies: agreement",
        ),
    ] {
        let mut seat = playing_seat();
        let ended = server_message(
            json!({"type": "ended", "match": MATCH_ID, "seq": 4, "outcome": outcome}),
        );
        let effects = seat.on_message(ended);
        assert_eq!(effects[0], Effect::Print(expected.to_owned()));
    }
}

#[test]
fn retryable_error_resends_request_after_delay() {
    let mut seat = playing_seat();
    let sent = sent_requests(&seat.on_engine_move("e2e4", None));
    let effects = seat.on_message(error_reply(&sent[0], "rate_limited"));
    let [Effect::SendAfter(pause, request)] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(*pause, Duration::from_millis(70));
    assert_eq!(serde_json::to_value(request).expect("JSON"), sent[0]);
    let effects = seat.on_message(error_reply(&sent[0], "stale_ply"));
    assert_eq!(sent_requests(&effects)[0]["type"], "watch");
}

#[test]
fn engine_failure_and_user_stop_resign_running_match() {
    let mut seat = playing_seat();
    assert_eq!(
        sent_requests(&seat.on_engine_failed("gone"))[0]["type"],
        "resign"
    );
    let mut seat = playing_seat();
    assert_eq!(
        sent_requests(&seat.on_stop_requested())[0]["type"],
        "resign"
    );
    assert!(matches!(
        seat.on_stop_requested().last(),
        Some(Effect::Exit(Err(Failure::Stopped)))
    ));
    let mut seat = playing_seat();
    assert_eq!(
        sent_requests(&seat.on_engine_resigned())[0]["type"],
        "resign"
    );
    // If the engine has no seat, its failure ends the run immediately.
    let mut seat = new_seat(SeatSource::Join("K7QM2P".to_owned()));
    seat.on_connected();
    assert_eq!(
        seat.on_engine_failed("gone"),
        exit_with_failure(Failure::Failed("gone".to_owned()))
    );
}

fn match_event(kind: &str, seq: u64, fields: &Value) -> ServerMessage {
    let mut event = json!({"type": kind, "match": MATCH_ID, "seq": seq});
    let fields = fields.as_object().expect("JSON object").clone();
    event.as_object_mut().expect("JSON object").extend(fields);
    server_message(event)
}

#[test]
fn draw_is_accepted_only_when_engine_is_behind() {
    for (evaluation, answer) in [
        (Some(-50), "offer"),
        (Some(-49), "decline"),
        (None, "decline"),
    ] {
        let mut seat = playing_seat();
        seat.on_engine_move("e2e4", evaluation);
        seat.on_message(moved_event(0, "e2e4"));
        let offer = json!({"seat": 1, "offer": "draw", "ply": 1});
        let effects = seat.on_message(match_event("offered", 5, &offer));
        let [request] = &sent_requests(&effects)[..] else {
            panic!("{effects:?}");
        };
        assert_eq!(
            (&request["type"], &request["offer"], &request["match"]),
            (&json!(answer), &json!("draw"), &json!(MATCH_ID))
        );
        // The offer is answered only once, and the match continues.
        assert_thinks(
            &seat.on_message(server_message(
                json!({"type": "moved", "match": MATCH_ID, "seq": 6, "ply": 1,
                "seat": 1, "move": "e7e5", "position": "", "turn": 0, "legal": []}),
            )),
            &["e2e4", "e7e5"],
        );
    }
}

/// After a takeback, the same ply can have a different position. The move that the engine found for
/// the earlier position is discarded.
#[test]
fn takeback_is_accepted_and_new_position_is_searched() {
    let mut seat = playing_seat();
    seat.on_engine_move("e2e4", None);
    seat.on_message(moved_event(0, "e2e4"));
    assert_thinks(&seat.on_message(moved_event(1, "e7e5")), &["e2e4", "e7e5"]);
    let offer = json!({"seat": 1, "offer": "takeback", "ply": 2, "to_ply": 1});
    let effects = seat.on_message(match_event("offered", 6, &offer));
    let sent = sent_requests(&effects);
    assert_eq!(
        (&sent[0]["type"], &sent[0]["offer"], &sent[0]["ply"]),
        (&json!("offer"), &json!("takeback"), &json!(2))
    );
    let takeback_fields = json!({"ply": 1, "position": "", "turn": 1, "legal": [], "takebacks": 1});
    assert_eq!(
        seat.on_message(match_event("taken_back", 7, &takeback_fields)),
        []
    );
    let move_fields = json!({"ply": 1, "seat": 1, "move": "c7c5", "position": "", "turn": 0,
        "legal": []});
    assert_eq!(
        seat.on_message(match_event("moved", 8, &move_fields)),
        [],
        "the engine is still thinking"
    );
    assert_thinks(&seat.on_engine_move("g1f3", None), &["e2e4", "c7c5"]);
    let sent = sent_requests(&seat.on_engine_move("d2d4", None));
    assert_eq!(
        (&sent[0]["move"], &sent[0]["takebacks"]),
        (&json!("d2d4"), &json!(1))
    );
}

#[test]
fn engine_time_excludes_overhead_and_round_trip() {
    let mut seat = new_seat(SeatSource::Join("K7QM2P".to_owned()));
    seat.on_connected();
    seat.on_message(welcome(false));
    let clock = json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 1000});
    let mut open = snapshot(None, &[]);
    open["clock"] = clock.clone();
    let effects = seat.on_message(server_message(open));
    assert!(
        matches!(&effects[..], [Effect::StartEngine(_)]),
        "{effects:?}"
    );
    seat.on_engine_ready();
    seat.set_round_trip(Duration::from_millis(25));
    let mut running = snapshot(Some(0), &["e2e4", "e7e5"]);
    running["clock"] = clock;
    running["left_ms"] = json!([50_000, 40_000]);
    running["turn_ms"] = json!(3000);
    running["stands"] = json!(false);
    let effects = seat.on_message(server_message(running));
    let Some(Effect::StartThinking(turn)) = effects.last() else {
        panic!("{effects:?}");
    };
    let times = turn.times.expect("clock times");
    // The remaining 50,000 ms are reduced by the 3,000 ms of the turn, `MOVE_OVERHEAD` (100 ms) and
    // the round trip (25 ms).
    assert_eq!(times.remaining_ms, [46_875, 40_000]);
}

#[test]
fn requested_number_of_matches_is_played() {
    let mut seat = playing_seat();
    seat.options.match_count = 2;
    let outcome = json!({"outcome": {"winner": 1, "reason": "resignation"}});
    let effects = seat.on_message(match_event("ended", 4, &outcome));
    assert!(
        matches!(&effects[..], [Effect::Print(_), Effect::SendAfter(..)]),
        "{effects:?}"
    );
    let next = "0b9e0000-0000-7000-8000-000000000002";
    let rematch_message = |next: Value| {
        server_message(
            json!({"type": "rematch", "match": MATCH_ID, "offers": [false, true],
            "declined": [false, false], "here": [true, true], "next": next}),
        )
    };
    let sent = sent_requests(&seat.on_message(rematch_message(Value::Null)));
    assert_eq!(
        (&sent[0]["type"], &sent[0]["offer"]),
        (&json!("offer"), &json!("rematch"))
    );
    seat.on_message(rematch_message(json!({"match": next, "code": "K7QM2P"})));
    let mut second = snapshot(Some(1), &["e2e4"]);
    second["match"] = json!(next);
    let effects = seat.on_message(server_message(second));
    assert!(
        matches!(
            &effects[..],
            [Effect::Print(_), Effect::StartThinking(_)] | [Effect::Print(_)]
        ),
        "{effects:?}"
    );
    let ended = server_message(json!({"type": "ended", "match": next, "seq": 5,
        "outcome": {"winner": null, "reason": "agreement"}}));
    let effects = seat.on_message(ended);
    assert!(
        matches!(effects.last(), Some(Effect::Exit(Ok(())))),
        "{effects:?}"
    );
}
