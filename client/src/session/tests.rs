//! Tests of the session as a state machine. Server messages and typed lines are its input, and
//! effects are its output.

use plyhouse_protocol::{
    ChatContent, ChatPreset, ClockControl, CreateRequest, MatchRef, Offer, OfferKind, Ply,
    SeatRequest,
};

use super::request_errors::{RETRIES_MAX, RETRY_DELAY_MAX};
use super::*;
use crate::view::tests::{snapshot, strip_style};

const TIC_TAC_TOE: &str =
    r#"{"game":"tic-tac-toe","title":"Tic-tac-toe","sides":["x","o"],"files":3,"ranks":3}"#;
const CONNECT_FOUR: &str = r#"{"game":"connect-four","title":"Connect Four",
    "sides":["red","yellow"],"files":7,"ranks":6}"#;

/// Session and the effects that it has produced.
struct TestClient {
    session: PlaySession,
    output: String,
    sent_messages: Vec<ClientMessage>,
    last_id: Option<RequestId>,
    result: Option<Result<(), Failure>>,
    other_effects: Vec<Effect>,
}

impl TestClient {
    fn new(goal: Goal) -> Self {
        let options = SessionOptions {
            interactive: true,
            ..SessionOptions::default()
        };
        let session = PlaySession::new(goal, options);
        let mut client = Self {
            session,
            output: String::new(),
            sent_messages: Vec::new(),
            last_id: None,
            result: None,
            other_effects: Vec::new(),
        };
        client.connect();
        client
    }

    fn play(plan: MatchSetup) -> Self {
        Self::new(Goal::Play(plan))
    }

    fn apply_effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    self.last_id = request.id;
                    self.sent_messages.push(request.message);
                }
                Effect::Print(text) | Effect::PrintError(text) => {
                    self.output.push_str(&strip_style(&text));
                    self.output.push('\n');
                }
                Effect::End(result) => self.result = Some(result),
                other @ (Effect::SendAfter(..)
                | Effect::SaveIdentity(..)
                | Effect::AddSeatNote(_)
                | Effect::RemoveSeatNote(_)
                | Effect::StopWithin(_)
                | Effect::EndWithin(..)
                | Effect::CancelStop) => self.other_effects.push(other),
            }
        }
    }

    fn connect(&mut self) {
        let effects = self.session.on_connected();
        self.apply_effects(effects);
        assert!(matches!(
            self.sent_messages.pop(),
            Some(ClientMessage::Hello(_))
        ));
    }

    fn receive(&mut self, json: &str) {
        let message = ServerMessage::decode(json).unwrap().unwrap();
        let effects = self.session.receive(message);
        self.apply_effects(effects);
    }

    /// Simulates a `welcome` message from the server, followed by snapshots of the given matches.
    fn receive_welcome(&mut self, own_matches: &[&Snapshot]) {
        self.receive_welcome_with_games(TIC_TAC_TOE, own_matches);
    }

    /// Simulates a `welcome` message that lists the given games, followed by snapshots of the given
    /// matches.
    fn receive_welcome_with_games(&mut self, games: &str, own_matches: &[&Snapshot]) {
        let following: Vec<String> = own_matches
            .iter()
            .map(|mine| format!(r#"{{"match":"{}","you":0}}"#, mine.match_id))
            .collect();
        self.receive(&format!(
            r#"{{"type":"welcome","re":0,"protocol":1,"server":"fake/1","player":{{"id":
            "5f0c0000-0000-4000-8000-000000000001","name":"ada"}},"token":"secret","resumed":true,
            "games":[{games}],"levels":[{{"level":"easy","title":"Easy"}},{{"level":"medium",
            "title":"Medium"}},{{"level":"max","title":"Full strength"}}],"limits":{{
            "message_bytes":8192,"requests_per_s":20,"burst":40,"live_matches":16,"following":64,
            "idle_ms":60000,"abandon_after_ms":60000}},"following":[{}],"analysis":"players","chat":"presets","presets":[{{"preset":"hello",
            "text":"Hello"}},{{"preset":"good-game","text":"Good game"}}]}}"#,
            following.join(",")
        ));
        for mine in own_matches {
            self.receive_snapshot((*mine).clone());
        }
    }

    fn receive_snapshot(&mut self, snapshot: Snapshot) {
        let effects = self
            .session
            .receive(ServerMessage::Match(Box::new(snapshot)));
        self.apply_effects(effects);
    }

    /// Simulates a response to the last request that contains the snapshot of a match.
    fn receive_match_response(&mut self, mut snapshot: Snapshot) {
        snapshot.re = self.last_id;
        self.receive_snapshot(snapshot);
    }

    fn receive_error_response(&mut self, code: &str, message: &str) {
        let re = self.last_id.unwrap();
        self.receive(&format!(
            r#"{{"type":"error","re":{re},"code":"{code}","message":"{message}","retryable":false}}"#
        ));
    }

    fn receive_ok_response(&mut self) {
        let re = self.last_id.unwrap();
        self.receive(&format!(r#"{{"type":"ok","re":{re}}}"#));
    }

    fn type_line(&mut self, line: &str) {
        let effects = self.session.on_line(line);
        self.apply_effects(effects);
    }

    /// Checks that the output since the last check contains these texts, and clears the output.
    #[track_caller]
    fn assert_output(&mut self, expect: &[&str]) {
        for text in expect {
            assert!(self.output.contains(text), "{text:?} in {:?}", self.output);
        }
        self.output.clear();
    }

    fn take_sent_messages(&mut self) -> Vec<ClientMessage> {
        std::mem::take(&mut self.sent_messages)
    }

    fn match_id_text() -> String {
        snapshot("").match_id.to_string()
    }

    fn match_ref() -> MatchRef {
        snapshot("").match_id.into()
    }
}

fn create_request(seats: [SeatRequest; 2], shuffle: Option<bool>) -> ClientMessage {
    ClientMessage::Create(Box::new(CreateRequest {
        game: "tic-tac-toe".to_owned(),
        seats: Some(seats),
        shuffle,
        bot_delay_ms: Some(400),
        ..CreateRequest::default()
    }))
}

fn bot_seat(level: &str) -> SeatRequest {
    SeatRequest::Bot(level.to_owned())
}

#[test]
fn empty_line_picks_default_of_every_prompt() {
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[]);
    client.assert_output(&["Who do you want to play?", "1  a bot  (Enter)"]);
    client.type_line("");
    client.assert_output(&["2  Medium  (Enter)", "3  Full strength (max)"]);
    client.type_line("");
    client.assert_output(&["Which side?", "1  first (x)  (Enter)"]);
    client.type_line("");
    assert_eq!(
        client.take_sent_messages(),
        [create_request([SeatRequest::Me, bot_seat("medium")], None)]
    );
}

#[test]
fn game_is_prompted_when_server_has_several() {
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome_with_games(&format!("{CONNECT_FOUR},{TIC_TAC_TOE}"), &[]);
    client.assert_output(&["Which game?\n  1  Connect Four\n  2  Tic-tac-toe  (Enter)"]);
    client.type_line("connect");
    client.assert_output(&["Who do you want to play?"]);
    client.type_line("");
    client.type_line("easy");
    client.assert_output(&["1  first (red)  (Enter)\n  2  second (yellow)"]);
    client.type_line("second");
    let sent = client.take_sent_messages();
    let [ClientMessage::Create(created)] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(created.game, "connect-four");
    assert_eq!(created.seats, Some([bot_seat("easy"), SeatRequest::Me]));
}

#[test]
fn prompt_rejects_unknown_choice_and_accepts_prefix() {
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[]);
    client.type_line("who?");
    client.assert_output(&["Invalid choice", "Who do you want to play?"]);
    client.type_line("a friend");
    client.type_line("3");
    assert_eq!(
        client.take_sent_messages(),
        [create_request(
            [SeatRequest::Me, SeatRequest::Open],
            Some(true)
        )]
    );
}

/// A level name at the opponent prompt selects a bot directly. A number selects the answer with
/// that number.
#[test]
fn bot_level_name_answers_opponent_prompt() {
    for (typed, level) in [("easy", "easy"), ("MED", "medium"), ("full", "max")] {
        let mut client = TestClient::play(MatchSetup::default());
        client.receive_welcome(&[]);
        client.type_line(typed);
        client.assert_output(&["Which side?"]);
        client.type_line("");
        let sent = client.take_sent_messages();
        assert_eq!(
            sent,
            [create_request([SeatRequest::Me, bot_seat(level)], None)],
            "{typed}"
        );
    }
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[]);
    for typed in ["m", "4", "hard"] {
        client.type_line(typed);
        client.assert_output(&["Invalid choice", "Who do you want to play?"]);
    }
}

#[test]
fn options_set_on_command_line_are_not_prompted() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let mut client = TestClient::play(MatchSetup {
        opponent,
        ..MatchSetup::default()
    });
    client.receive_welcome(&[]);
    assert_eq!(
        client.take_sent_messages(),
        [create_request([SeatRequest::Me, bot_seat("max")], None)]
    );
}

#[test]
fn match_is_created_from_given_initial_position() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let start = "x.o/.../..x".to_owned();
    let plan = MatchSetup {
        opponent,
        options: CreateRequest {
            position: Some(start.clone()),
            ..CreateRequest::default()
        },
        ..MatchSetup::default()
    };
    let mut client = TestClient::play(plan.clone());
    client.receive_welcome(&[]);
    let sent = client.take_sent_messages();
    let [ClientMessage::Create(created)] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(created.position.as_ref(), Some(&start));
    // Only a match with the requested initial position is accepted.
    let mut old = snapshot(&start);
    if let Some(plyhouse_protocol::Occupant::Bot { level, .. }) =
        old.seats.get_mut(1).map(|seat| &mut seat.occupant)
    {
        "max".clone_into(level);
    }
    assert!(!plan.accepts_match(&old));
    old.initial_position = Some(start);
    assert!(plan.accepts_match(&old));
    client.receive_match_response(old);
    client.assert_output(&["It starts from a custom position."]);
}

#[test]
fn interrupted_match_is_offered_and_resumed() {
    let old = snapshot("x../.o./...");
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[&old]);
    client.assert_output(&[
        "You have an unfinished match.",
        "K7QM2P: ada (x) against ⚙ medium bot (o)",
    ]);
    client.type_line("");
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Watch {
            target: TestClient::match_ref()
        }]
    );
    client.receive_match_response(old);
    client.assert_output(&["[o]", "Your turn. You are x."]);
}

#[test]
fn interrupted_match_can_be_resigned() {
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[&snapshot("x../.o./...")]);
    client.type_line("2");
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Resign {
            target: TestClient::match_ref()
        }]
    );
    client.assert_output(&["Resigning match K7QM2P.", "Who do you want to play?"]);
    let left = Effect::RemoveSeatNote(snapshot("").match_id);
    assert!(client.other_effects.contains(&left));
}

#[test]
fn script_resumes_only_match_that_fits_its_setup() {
    let check = |opponent: Option<Opponent>, side: Option<SideChoice>, fits: bool| {
        let plan = MatchSetup {
            game: None,
            opponent: opponent.clone(),
            side,
            ..MatchSetup::default()
        };
        let mut client = TestClient::new(Goal::Play(plan));
        client.session.options.interactive = false;
        client.receive_welcome(&[&snapshot("x../.o./...")]);
        let resumed = client.output.contains("Resuming your match.");
        assert_eq!(resumed, fits, "{opponent:?} {side:?}");
        assert_eq!(
            client.take_sent_messages().is_empty(),
            fits,
            "{opponent:?} {side:?}"
        );
    };
    let bot = |level: &str| Some(Opponent::Bot(Some(level.to_owned())));
    let anyone = |level: &str| Some(Opponent::Anyone(Some(level.to_owned())));
    check(None, None, true);
    check(bot("medium"), None, true);
    check(bot("medium"), Some(SideChoice::First), true);
    check(bot("medium"), Some(SideChoice::Random), true);
    check(anyone("medium"), None, true);
    check(bot("nope"), None, false);
    check(None, Some(SideChoice::Second), false);
    check(Some(Opponent::Friend), None, false);
    check(Some(Opponent::Anyone(None)), None, false);
    check(anyone("max"), None, false);
}

#[test]
fn best_fitting_interrupted_match_is_offered() {
    let opponent = Some(Opponent::Bot(Some("medium".to_owned())));
    let mut client = TestClient::play(MatchSetup {
        opponent,
        ..MatchSetup::default()
    });
    let mut newer = snapshot("x../.o./...");
    newer.match_id = serde_json::from_str("\"0b9f0000-0000-7000-8000-000000000001\"").unwrap();
    newer.code = "AAAAAA".to_owned();
    newer.seats[1].occupant = plyhouse_protocol::Occupant::Bot {
        level: "max".to_owned(),
        stand_in_for: None,
    };
    client.receive_welcome(&[&newer, &snapshot("x../.o./...")]);
    client.assert_output(&["K7QM2P: ada (x) against ⚙ medium bot (o)"]);
}

#[test]
fn seat_note_is_removed_when_match_ends_during_prompt() {
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[&snapshot("x../.o./...")]);
    let id = TestClient::match_id_text();
    client.receive(&format!(
        r#"{{"type":"ended","match":"{id}","seq":6,"outcome":{{"winner":1,"reason":"abandonment"}}}}"#
    ));
    let left = Effect::RemoveSeatNote(snapshot("").match_id);
    assert!(client.other_effects.contains(&left));
}

#[test]
fn resigning_interrupted_match_keeps_command_line_options() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let mut client = TestClient::play(MatchSetup {
        opponent,
        ..MatchSetup::default()
    });
    client.receive_welcome(&[&snapshot("x../.o./...")]);
    client.type_line("2");
    let sent = client.take_sent_messages();
    assert_eq!(
        sent.last(),
        Some(&create_request([SeatRequest::Me, bot_seat("max")], None))
    );
}

#[test]
fn prompt_is_repeated_after_reconnect() {
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[]);
    client.type_line("1");
    client.assert_output(&["Which bot level?"]);
    client.connect();
    client.receive_welcome(&[]);
    client.assert_output(&["Which bot level?"]);

    // After a reconnect, the client does not offer to resume a match that no longer exists.
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[&snapshot("x../.o./...")]);
    client.assert_output(&["You have an unfinished match."]);
    client.connect();
    client.receive_welcome(&[]);
    client.assert_output(&["Who do you want to play?"]);
}

/// A hint that contains only the best move is printed without a principal variation.
#[test]
fn hint_shows_best_move_and_expected_line() {
    for (pv, expected) in [
        (r#""c3""#, "Best move: c3  (win chance of x: 70%)"),
        (
            r#""c3","a2""#,
            "Best move: c3, line: c3 a2  (win chance of x: 70%)",
        ),
        ("", "Best move: c3  (win chance of x: 70%)"),
    ] {
        let mut client = client_in_match();
        let now = snapshot("x../.o./...");
        client.type_line("hint");
        let re = client.last_id.unwrap();
        client.receive(&format!(
            r#"{{"type":"hint","re":{re},"match":"{}","ply":{},"move":"c3","value":90,"win":0.7,
            "exact":false,"pv":[{pv}]}}"#,
            now.match_id, now.ply.0
        ));
        client.assert_output(&[expected]);
    }
}

#[test]
fn quit_omits_join_command_when_resume_is_impossible() {
    let mut client = client_in_match();
    client.session.disable_resume();
    client.type_line("quit");
    assert!(!client.output.contains("ply join"), "{}", client.output);
    client.assert_output(&["cannot rejoin"]);
}

#[test]
fn spectator_sees_bot_moves_but_not_bot_turns() {
    let mut client = TestClient::new(Goal::Watch("K7QM2P".to_owned()));
    client.receive_welcome(&[]);
    let mut now = snapshot("x../.o./...");
    now.you = None;
    now.turn = Some(plyhouse_protocol::SeatNumber(1));
    client.receive_match_response(now);
    assert!(!client.output.contains("to move."), "{}", client.output);
    let id = TestClient::match_id_text();
    client.receive(&format!(
        r#"{{"type":"moved","match":"{id}","seq":6,"ply":2,"seat":1,"move":"c3",
        "position":"x.o/.o./...","turn":0,"legal":["a1"]}}"#
    ));
    client.assert_output(&["⚙ medium bot (o) plays c3.", "ada (x) to move."]);
}

fn open_match() -> Snapshot {
    let mut open = snapshot(".../.../...");
    open.status = MatchStatus::Open;
    open.turn = None;
    open.seats[1].occupant = plyhouse_protocol::Occupant::Open;
    open
}

#[test]
fn spectator_of_open_match_gets_no_join_command() {
    let mut client = TestClient::new(Goal::Watch("K7QM2P".to_owned()));
    client.receive_welcome(&[]);
    let mut open = open_match();
    open.you = None;
    client.receive_match_response(open);
    assert!(!client.output.contains("ply join"), "{}", client.output);
    client.assert_output(&["Waiting for an opponent …"]);
}

fn client_waiting_for_friend() -> TestClient {
    let mut client = TestClient::play(MatchSetup {
        opponent: Some(Opponent::Friend),
        ..MatchSetup::default()
    });
    client.receive_welcome(&[]);
    client.take_sent_messages();
    client.receive_match_response(open_match());
    client
}

#[test]
fn waiting_host_sees_code_and_can_seat_bot() {
    let mut client = client_waiting_for_friend();
    let all = [
        "Tic-tac-toe K7QM2P, casual\n",
        "You are x. The code is K7QM2P. It is also in the list",
        "\n    ply join K7QM2P\n",
        "Waiting for an opponent; no bot joins automatically.\nType bot easy",
        "quit to leave",
    ];
    client.assert_output(&all);
    client.type_line("");
    client.assert_output(&all[1..]);
    // The help omits commands that need a running match.
    client.type_line("help");
    for word in ["resign", "takeback", "rematch", "moves"] {
        assert!(!client.output.contains(word), "{}", client.output);
    }
    client.assert_output(&["add a bot of any level: `bot easy`", "quit       leave"]);
    client.type_line("bot strong");
    client.assert_output(&["no level 'strong'; choose one of easy, medium, max."]);
    assert_eq!(client.take_sent_messages(), []);
    for (typed, level) in [("bot", "medium"), ("Bot MAX", "max")] {
        client.type_line(typed);
        let occupant = plyhouse_protocol::SeatFill::Bot(level.to_owned());
        let seat = ClientMessage::Seat {
            target: TestClient::match_ref(),
            seat: plyhouse_protocol::SeatNumber(1),
            occupant,
        };
        assert_eq!(client.take_sent_messages(), [seat], "{typed}");
        // After a rejection, the user can repeat the command.
        client.receive_error_response("overloaded", "too many bots");
        client.assert_output(&["too many bots"]);
        assert_eq!(client.result, None);
    }
    client.type_line("leave");
    let target = TestClient::match_ref();
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Leave { target }]
    );
}

#[test]
fn bot_command_without_open_seat_is_refused() {
    let mut client = client_in_match();
    client.type_line("bot easy");
    client.assert_output(&["No open seat for a bot."]);
    assert_eq!(client.take_sent_messages(), []);
}

#[test]
fn casual_seek_can_switch_to_bot_but_rated_cannot() {
    let seek = |bot: Option<&str>, rated| {
        let mut client = TestClient::play(MatchSetup {
            opponent: Some(Opponent::Anyone(bot.map(str::to_owned))),
            options: CreateRequest {
                rated,
                ..CreateRequest::default()
            },
            ..MatchSetup::default()
        });
        client.receive_welcome(&[]);
        client.receive_ok_response();
        client.take_sent_messages();
        client
    };
    let mut client = seek(None, None);
    let all = [
        "an opponent: Tic-tac-toe (casual, random side)",
        "no bot joins automatically.\nType bot easy",
    ];
    client.assert_output(&all);
    client.type_line("who is there?");
    client.assert_output(&all);
    client.type_line("bot max");
    let sent = client.take_sent_messages();
    let [ClientMessage::Seek(request)] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(
        (request.bot.as_deref(), request.bot_after_ms),
        (Some("max"), Some(0))
    );
    client.receive_ok_response();
    assert_eq!(client.output, "");
    client.receive_snapshot(snapshot("x../.o./..."));
    client.assert_output(&["Your turn."]);

    seek(Some("easy"), None)
        .assert_output(&["If no one joins within 10 s, you play the easy bot."]);
    let mut rated = seek(None, Some(true));
    rated.assert_output(&[
        "Tic-tac-toe (rated, random side)",
        "bots do not play rated matches.\nType quit",
    ]);
    rated.type_line("bot");
    rated.assert_output(&["Bots do not play rated matches"]);
    assert_eq!(rated.take_sent_messages(), []);
}

#[test]
fn match_header_says_rated_or_casual() {
    for (is_rated, expected) in [
        (false, "Tic-tac-toe K7QM2P, casual"),
        (true, "Tic-tac-toe K7QM2P, rated"),
    ] {
        let mut client = TestClient::new(Goal::Join("K7QM2P".to_owned()));
        client.receive_welcome(&[]);
        let mut now = snapshot("x../.o./...");
        now.rated = is_rated;
        client.receive_match_response(now);
        client.assert_output(&[expected]);
    }
}

#[test]
fn move_is_sent_in_notation_of_game() {
    let mut client = client_in_match();
    client.type_line("C-3");
    let sent = client.take_sent_messages();
    let [ClientMessage::Move { m, .. }] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(m, "C3");
}

fn client_in_match() -> TestClient {
    let mut client = TestClient::new(Goal::Join("K7QM2P".to_owned()));
    client.receive_welcome(&[]);
    client.receive_match_response(snapshot("x../.o./..."));
    client.take_sent_messages();
    client.assert_output(&[
        "Tic-tac-toe K7QM2P",
        "Your turn. You are x.\nType b2, or 5 as",
    ]);
    client
}

/// In full-screen mode, the board is always visible.
#[test]
fn visible_board_and_turn_are_not_printed() {
    for is_visible in [false, true] {
        let mut client = TestClient::play(MatchSetup::default());
        client.session.options.is_board_visible = is_visible;
        client.receive_welcome(&[]);
        for typed in ["easy", ""] {
            client.type_line(typed);
        }
        client.receive_match_response(snapshot("x../.o./..."));
        let printed = ["│ x │", "Your turn."].map(|part| client.output.contains(part));
        assert_eq!(printed, [!is_visible; 2], "{}", client.output);
        assert!(client.output.contains("`help` for more."));
        assert_eq!(
            client.session.match_view().unwrap().snapshot.moves,
            ["a3", "b2"]
        );
    }
}

#[test]
fn input_example_is_printed_once() {
    let mut client = client_in_match();
    client.type_line("");
    assert_eq!(client.output, "Your turn. You are x.\n");
    let mut unknown = TestClient::new(Goal::Join("K7QM2P".to_owned()));
    unknown.receive_welcome(&[]);
    let mut hex = snapshot("x../.o./...");
    hex.game = "hex".to_owned();
    unknown.receive_match_response(hex);
    unknown.assert_output(&["Type a1; `help` for more."]);
}

#[test]
fn join_full_match_is_refused() {
    let mut client = TestClient::new(Goal::Join("K7QM2P".to_owned()));
    client.receive_welcome(&[]);
    client.receive_error_response("seat_taken", "that seat is taken");
    let Some(Err(Failure::Refused(what))) = client.result else {
        panic!("{:?}", client.result);
    };
    assert!(what.contains("no seat is open"), "{what}");
}

#[test]
fn refusal_includes_advice() {
    for (goal, code, parts) in [
        (
            Goal::Join("NOSUCH".to_owned()),
            "unknown_match",
            ["no match NOSUCH on this server", "`ply list` lists"],
        ),
        (
            Goal::Watch("NOSUCH".to_owned()),
            "unknown_match",
            ["no match NOSUCH on this server", "`ply games` your own"],
        ),
        (
            Goal::Play(MatchSetup {
                opponent: Some(Opponent::Anyone(None)),
                ..MatchSetup::default()
            }),
            "not_registered",
            ["accounts", "create an account with `ply register NAME`"],
        ),
    ] {
        let mut client = TestClient::new(goal);
        client.receive_welcome(&[]);
        client.receive_error_response(code, "this is for accounts");
        let Some(Err(Failure::Refused(what))) = &client.result else {
            panic!("{:?}", client.result);
        };
        assert!(parts.iter().all(|part| what.contains(part)), "{what}");
    }
}

fn move_message(m: &str) -> ClientMessage {
    ClientMessage::Move {
        target: TestClient::match_ref(),
        ply: Ply(2),
        m: m.to_owned(),
        takebacks: Some(0),
    }
}

#[test]
fn rejected_move_shows_reason_and_allows_another() {
    let mut client = client_in_match();
    client.type_line("7");
    assert_eq!(client.take_sent_messages(), [move_message("a3")]);
    client.type_line("8");
    client.assert_output(&["Still waiting for the server"]);
    client.receive_error_response("illegal_move", "a3 is already taken");
    client.assert_output(&["a3 is already taken"]);
    client.type_line("d9");
    client.receive_error_response("unreadable_move", "not a square");
    client.assert_output(&["d9: not a square; type `help` for help"]);
    client.type_line(&"x".repeat(33));
    client.assert_output(&["too long for a move"]);
    client.type_line("C3");
    assert_eq!(
        client.take_sent_messages(),
        [move_message("d9"), move_message("C3")]
    );
    assert_eq!(client.result, None);
}

#[test]
fn help_moves_board_and_resign_commands_work() {
    let mut client = client_in_match();
    client.type_line("help");
    client.assert_output(&[
        "Type b2, or 1 to 9 as on a number pad",
        "resign     give up",
    ]);
    client.type_line("moves");
    client.assert_output(&["a1"]);
    client.type_line(" BOARD ");
    client.assert_output(&["[o]", "Your turn."]);
    client.type_line("resign");
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Resign {
            target: TestClient::match_ref()
        }]
    );
    let id = TestClient::match_id_text();
    client.receive(&format!(
        r#"{{"type":"ended","match":"{id}","seq":6,"outcome":{{"winner":1,"reason":"resignation"}}}}"#
    ));
    client.assert_output(&[
        "You lose. You resigned.",
        "Type rematch to play again",
        "To find mistakes, run `ply analyse K7QM2P`.",
    ]);
    assert_eq!(client.result, None);
    client.type_line("quit");
    assert_eq!(client.result, Some(Ok(())));
}

/// Simulates the next event of the current match.
fn receive_event(client: &mut TestClient, kind: &str, fields: &str) {
    let id = TestClient::match_id_text();
    let seq = client
        .session
        .match_state()
        .expect("in a match")
        .snapshot
        .seq
        .next();
    client.receive(&format!(
        r#"{{"type":"{kind}","match":"{id}","seq":{seq},{fields}}}"#
    ));
}

#[test]
#[allow(clippy::too_many_lines, reason = "one scenario in chronological order")]
fn offers_are_printed_and_answered_by_commands() {
    let target = TestClient::match_ref;
    let mut client = client_in_match();
    client.type_line("decline");
    client.assert_output(&["No offer to decline."]);
    client.type_line("draw");
    let offer = Offer::Draw { ply: Ply(2) };
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Offer {
            target: target(),
            offer
        }]
    );
    receive_event(&mut client, "offered", r#""seat":0,"offer":"draw","ply":2"#);
    client.receive_ok_response();
    client.assert_output(&["You offer a draw."]);
    receive_event(&mut client, "declined", r#""seat":0,"offer":"draw","by":1"#);
    client.assert_output(&["declines the draw."]);
    let back = r#""seat":1,"offer":"takeback","ply":2,"to_ply":0"#;
    receive_event(&mut client, "offered", back);
    client.assert_output(&["proposes a takeback of 2 moves: type takeback to accept, or decline."]);
    client.type_line("decline");
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Decline {
            target: target(),
            offer: OfferKind::Takeback
        }]
    );
    client.receive_ok_response();
    client.type_line("takeback 2");
    let (ply, to_ply) = (Ply(2), Some(Ply(0)));
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Offer {
            target: target(),
            offer: Offer::Takeback { ply, to_ply }
        }]
    );
    // The client does not retry an offer, even if the error is retryable.
    let re = client.last_id.unwrap();
    client.receive(&format!(
        r#"{{"type":"error","re":{re},"code":"too_soon","message":"not yet","retryable":true}}"#
    ));
    client.assert_output(&["not yet"]);
    assert!(
        !client
            .other_effects
            .iter()
            .any(|effect| matches!(effect, Effect::SendAfter(..)))
    );
    client.type_line("more time 20");
    client.receive_ok_response();
    client.type_line("abort");
    client.receive_ok_response();
    assert_eq!(
        client.take_sent_messages(),
        [
            ClientMessage::GiveTime {
                target: target(),
                ms: 20_000
            },
            ClientMessage::Abort { target: target() }
        ]
    );
}

#[test]
fn chat_presets_are_sent_and_messages_shown() {
    let mut client = client_in_match();
    client.type_line("say Good game");
    client.receive_ok_response();
    client.type_line("say hello");
    client.receive_ok_response();
    let chat_message = |preset| ClientMessage::Say {
        target: TestClient::match_ref(),
        content: ChatContent::Preset(preset),
    };
    assert_eq!(
        client.take_sent_messages(),
        [
            chat_message(ChatPreset::GoodGame),
            chat_message(ChatPreset::Hello)
        ]
    );
    client.type_line("say what a move");
    client.assert_output(&["Only these messages can be sent here: Hello, Good game."]);
    let id = TestClient::match_id_text();
    let chat_json = |words: &str| {
        format!(r#"{{"type":"said","match":"{id}","seat":1,"name":"b\u001bob",{words}}}"#)
    };
    client.receive(&chat_json(r#""preset":"good-game""#));
    client.receive(&chat_json(r#""preset":"of-another-time""#));
    client.receive(&chat_json(r#""text":"well\u0007 done""#));
    client.assert_output(&["b\u{fffd}ob: Good game\nb\u{fffd}ob: well\u{fffd} done"]);
}

#[test]
fn move_after_takeback_uses_new_ply_and_takeback_count() {
    let mut client = client_in_match();
    receive_event(
        &mut client,
        "taken_back",
        r#""ply":0,"position":".../.../...","turn":0,"legal":["a1"],"takebacks":1"#,
    );
    client.assert_output(&["Takeback accepted.", "Your turn."]);
    client.type_line("c3");
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Move {
            target: TestClient::match_ref(),
            ply: Ply(0),
            m: "c3".to_owned(),
            takebacks: Some(1),
        }]
    );
}

fn parse_match_id(text: &str) -> MatchId {
    serde_json::from_value(text.into()).unwrap()
}

const NEXT: &str = "0b9e0000-0000-7000-8000-000000000002";

fn rematch_json(offers: &str, here: &str, next: &str) -> String {
    let id = TestClient::match_id_text();
    format!(
        r#"{{"type":"rematch","match":"{id}","offers":{offers},"declined":[false,false],
        "here":{here},"next":{next}}}"#
    )
}

#[test]
fn rematch_starts_next_game_and_shows_series_score() {
    let mut client = client_in_match();
    receive_event(
        &mut client,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    client.assert_output(&["You win!"]);
    client.receive(&rematch_json("[false,true]", "[true,true]", "null"));
    client
        .assert_output(&["⚙ medium bot (o) offers a rematch: type rematch to accept, or decline."]);
    client.type_line("b2");
    client.assert_output(&["The match is over."]);
    client.type_line("rematch");
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Offer {
            target: TestClient::match_ref(),
            offer: Offer::Rematch
        }]
    );
    let next = format!(r#"{{"match":"{NEXT}","code":"K7QM2P"}}"#);
    client.receive(&rematch_json("[true,true]", "[true,true]", &next));
    let mut second = snapshot(".../.../...");
    second.match_id = parse_match_id(NEXT);
    second.seats.swap(0, 1);
    second.you = Some(plyhouse_protocol::SeatNumber(1));
    second.series = Some(plyhouse_protocol::Series {
        game: 2,
        points: [0, 3],
    });
    client.receive_snapshot(second);
    client.receive_ok_response();
    client.assert_output(&["Rematch accepted", "Game 2: ⚙ medium bot 0 : 1½ ada"]);
    assert_eq!(client.result, None);
    client.type_line("quit");
    assert_eq!(client.result, Some(Err(Failure::Stopped)));
}

#[test]
fn rematch_started_during_disconnect_is_followed() {
    let mut client = client_in_match();
    receive_event(
        &mut client,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    client.connect();
    client.receive_welcome(&[]);
    let watch = |id: MatchId| ClientMessage::Watch { target: id.into() };
    assert_eq!(
        client.take_sent_messages(),
        [watch(parse_match_id(&TestClient::match_id_text()))]
    );
    let mut ended = client.session.match_state().unwrap().snapshot.clone();
    let next = format!(
        r#"{{"offers":[true,true],"declined":[false,false],"here":[true,true],
        "next":{{"match":"{NEXT}","code":"K7QM2P"}}}}"#
    );
    ended.rematch = serde_json::from_str(&next).unwrap();
    client.receive_match_response(ended);
    assert_eq!(client.take_sent_messages(), [watch(parse_match_id(NEXT))]);
    let mut second = snapshot(".../.../...");
    second.match_id = parse_match_id(NEXT);
    client.receive_match_response(second);
    client.assert_output(&["Your turn."]);
    client.type_line("quit");
    assert_eq!(client.result, Some(Err(Failure::Stopped)));
}

#[test]
fn spectator_follows_rematches_until_players_leave() {
    let mut client = TestClient::new(Goal::Watch("K7QM2P".to_owned()));
    client.session.options.interactive = false;
    client.session.options.follows_rematches = true;
    client.receive_welcome(&[]);
    let mut now = snapshot("x../.o./...");
    now.you = None;
    client.receive_match_response(now.clone());
    client.take_sent_messages();
    let over = r#""outcome":{"winner":0,"reason":"resignation"}"#;
    receive_event(&mut client, "ended", over);
    assert_eq!(client.result, None);
    let next = format!(r#"{{"match":"{NEXT}","code":"K7QM2P"}}"#);
    client.receive(&rematch_json("[true,true]", "[true,true]", &next));
    let watch = ClientMessage::Watch {
        target: parse_match_id(NEXT).into(),
    };
    assert_eq!(client.take_sent_messages(), [watch]);
    now.match_id = parse_match_id(NEXT);
    client.receive_match_response(now);
    assert_eq!(client.other_effects.last(), Some(&Effect::CancelStop));
    client.receive(&format!(
        r#"{{"type":"ended","match":"{NEXT}","seq":6,{over}}}"#
    ));
    assert_eq!(client.result, None);
    client.receive(&format!(
        r#"{{"type":"rematch","match":"{NEXT}","offers":[false,false],
        "declined":[false,false],"here":[false,false],"next":null}}"#
    ));
    assert_eq!(client.result, Some(Ok(())));
}

/// Returns a non-interactive client whose rated match has just ended. `delay_ms` is the spectator
/// delay of the match.
fn ended_rated_match(delay_ms: u64) -> (TestClient, Snapshot) {
    let mut client = TestClient::play(MatchSetup::default());
    client.session.options.interactive = false;
    let mut now = snapshot("x../.o./...");
    (now.rated, now.spectator_delay_ms) = (true, delay_ms);
    client.receive_welcome(&[&now]);
    receive_event(
        &mut client,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    now = client
        .session
        .match_state()
        .expect("in a match")
        .snapshot
        .clone();
    (client, now)
}

#[test]
fn script_waits_for_rating_changes_before_ending() {
    let (mut client, _) = ended_rated_match(0);
    let expected_effect = Effect::EndWithin(Duration::from_secs(5), Ok(()));
    assert_eq!(
        (&client.result, client.other_effects.last()),
        (&None, Some(&expected_effect))
    );
    let target = TestClient::match_id_text();
    let changes = r#"[{"seat":0,"before":1500,"after":1662,"provisional":true}]"#;
    client.receive(&format!(
        r#"{{"type":"rating","match":"{target}","changes":{changes}}}"#
    ));
    client.assert_output(&["Rating of x: 1500 → 1662?"]);
    assert_eq!(client.result, Some(Ok(())));

    let (mut client, mut now) = ended_rated_match(0);
    client.connect();
    client.receive_welcome(&[]);
    client.receive_match_response(now.clone());
    // The server has not sent the rating changes yet, so the run has not ended.
    assert_eq!(
        (&client.result, client.other_effects.last()),
        (&None, Some(&expected_effect))
    );
    client.connect();
    client.receive_welcome(&[]);
    now.rating_changes = serde_json::from_str(changes).unwrap();
    client.receive_match_response(now);
    client.assert_output(&["Rating of x: 1500 → 1662?"]);
    assert_eq!(client.result, Some(Ok(())));
}

#[test]
fn script_skips_rating_wait_on_delay_or_quit() {
    assert_eq!(ended_rated_match(1).0.result, Some(Ok(())));
    let (mut client, _) = ended_rated_match(0);
    let effects = client.session.quit();
    client.apply_effects(effects);
    assert_eq!(client.result, Some(Ok(())));
}

#[test]
fn rematch_can_be_withdrawn_and_opponent_leaving_is_shown() {
    let mut client = client_in_match();
    receive_event(
        &mut client,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    client.type_line("rematch");
    client.receive_ok_response();
    client.receive(&rematch_json("[true,false]", "[true,true]", "null"));
    client.assert_output(&["You offer ⚙ medium bot (o) a rematch."]);
    client.type_line("decline");
    assert_eq!(
        client.take_sent_messages()[1],
        ClientMessage::Decline {
            target: TestClient::match_ref(),
            offer: OfferKind::Rematch
        }
    );
    client.receive_ok_response();
    client.receive(&rematch_json("[false,false]", "[true,false]", "null"));
    client.assert_output(&["⚙ medium bot (o) has left."]);
    // If the server no longer knows the match, the wait for a rematch ends.
    client.connect();
    client.receive_welcome(&[]);
    client.receive_error_response("unknown_match", "no such match");
    assert_eq!(client.result, Some(Ok(())));
}

#[test]
fn clocks_count_down_from_last_server_update() {
    let mut client = TestClient::new(Goal::Join("K7QM2P".to_owned()));
    client.session.set_now(Duration::from_secs(10));
    client.receive_welcome(&[]);
    let mut now = snapshot("x../.o./...");
    now.clock = Some(ClockControl::Fischer {
        main_ms: 300_000,
        increment_ms: 3000,
    });
    now.time_left = Some(plyhouse_protocol::TimeLeft {
        left_ms: [300_000, 280_000],
        periods: None,
    });
    (now.turn_ms, now.paused) = (Some(5000), Some(false));
    client.receive_match_response(now);
    client.assert_output(&["Tic-tac-toe K7QM2P (5+3)", "ada  (you)  4:55"]);
    let clock_line = |client: &mut TestClient, seconds| {
        client.session.set_now(Duration::from_secs(seconds));
        strip_style(&client.session.clock_line().expect("running clocks").text)
    };
    assert_eq!(
        clock_line(&mut client, 10),
        "  ▸ ada 4:55   ⚙ medium bot 4:40"
    );
    assert_eq!(
        clock_line(&mut client, 20),
        "  ▸ ada 4:45   ⚙ medium bot 4:40"
    );
    let id = TestClient::match_id_text();
    client.receive(&format!(
        r#"{{"type":"clock","match":"{id}","ply":2,"left_ms":[300000,280000],"turn_ms":12000,
        "stands":true}}"#
    ));
    let paused_line = "  ▸ ada 4:48   ⚙ medium bot 4:40   clock paused";
    assert_eq!(clock_line(&mut client, 90), paused_line);
    let given = r#""seat":0,"ms":15000,"left_ms":[315000,280000]"#;
    receive_event(&mut client, "time_given", given);
    client.assert_output(&["gives ada (x) 15 s more time."]);
    receive_event(
        &mut client,
        "moved",
        r#""ply":2,"seat":0,"move":"c3","position":"x.x/.o./...","turn":1,"legal":[],
        "left_ms":[306000,280000],"spent_ms":12000"#,
    );
    assert_eq!(
        clock_line(&mut client, 91),
        "  ada 5:06   ▸ ⚙ medium bot 4:39"
    );
    client.receive(&format!(
        r#"{{"type":"presence","match":"{id}","seats":[true,null],"gone_ms":[null,43000],
        "spectators":0}}"#
    ));
    assert!(clock_line(&mut client, 101).ends_with("⚙ medium bot is away: 33 s"));
}

/// The server sends no snapshot of a correspondence match after `welcome`, so the client must not
/// wait for one.
#[test]
fn correspondence_matches_do_not_delay_welcome() {
    let mut client = TestClient::new(Goal::Join("K7QM2P".to_owned()));
    client.receive(
        r#"{"type":"welcome","re":0,"protocol":1,"server":"fake/1","player":{"id":
        "5f0c0000-0000-4000-8000-000000000001","name":"ada"},"token":"secret","resumed":true,
        "games":[],"levels":[],"limits":{"message_bytes":8192,"requests_per_s":20,"burst":40,
        "live_matches":16,"following":64,"idle_ms":60000,"abandon_after_ms":60000},
        "following":[{"match":"0b9e0000-0000-7000-8000-000000000009","you":0,"days":true,
        "turn":0,"due_ms":1700000000000}],
        "challenges":[{"match":"0b9e0000-0000-7000-8000-000000000008","code":"AAAAAA",
        "game":"chess","clock":{"kind":"fischer","main_ms":300000,"increment_ms":3000},
        "rated":false,"seat":1,"from":{"player":"5f0c0000-0000-4000-8000-000000000002",
        "name":"bob"}}]}"#,
    );
    client.assert_output(&[
        "It is your turn in a correspondence game, until 2023-11-14 22:13 UTC: \
         ply join 0b9e0000-0000-7000-8000-000000000009",
        "bob challenges you to chess (5+3): ply join AAAAAA",
    ]);
    client.receive(
        r#"{"type":"your_turn","match":"0b9e0000-0000-7000-8000-000000000007","game":"chess",
        "ply":14,"due_ms":1700000000000}"#,
    );
    client.assert_output(&[
        "It is your turn in another chess match, until 2023-11-14 22:13 UTC: \
         ply join 0b9e0000-0000-7000-8000-000000000007",
    ]);
    assert!(matches!(
        client.take_sent_messages()[..],
        [ClientMessage::Join { .. }]
    ));
    client.receive_match_response(snapshot("x../.o./..."));
    client.type_line("decline");
    let id = parse_match_id("0b9e0000-0000-7000-8000-000000000008");
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Decline {
            target: id.into(),
            offer: OfferKind::Challenge
        }]
    );
}

fn snapshot_with_stand_in() -> Snapshot {
    let mut with_stand_in = snapshot("x../.o./...");
    with_stand_in.you = None;
    with_stand_in.seats[0].occupant = plyhouse_protocol::Occupant::Bot {
        level: "easy".to_owned(),
        stand_in_for: Some(plyhouse_protocol::NamedPlayer {
            player: with_stand_in.host,
            name: "ada".to_owned(),
        }),
    };
    with_stand_in
}

#[test]
fn match_played_by_stand_in_is_listed_at_start() {
    let mut client = TestClient::play(MatchSetup::default());
    client.receive_welcome(&[&snapshot_with_stand_in()]);
    client.assert_output(&[
        "A bot is playing for you in Tic-tac-toe K7QM2P",
        "To rejoin: ply join K7QM2P\n",
        "Who do you want to play?",
    ]);
}

#[test]
fn reconnect_takes_seat_back_from_stand_in() {
    let mut client = client_in_match();
    let with_stand_in = snapshot_with_stand_in();
    client.connect();
    client.receive_welcome(&[&with_stand_in]);
    client.assert_output(&["A bot was playing for you. Taking your seat back"]);
    assert!(matches!(
        client.take_sent_messages()[..],
        [ClientMessage::Join { .. }]
    ));
    client.receive_match_response(snapshot("x../.o./..."));
    assert_eq!(client.result, None);
}

#[test]
fn leave_hands_seat_to_stand_in() {
    let mut client = client_in_match();
    client.type_line("leave");
    client.assert_output(&["This match has no stand-in bot; `quit` leaves"]);
    let mut with_stand_in = snapshot("x../.o./...");
    with_stand_in.stand_in = Some("easy".to_owned());
    client.connect();
    client.receive_welcome(&[&with_stand_in]);
    client.take_sent_messages();
    client.type_line("help");
    client.assert_output(&["a bot plays for you at once"]);
    client.type_line("leave");
    let target = TestClient::match_ref();
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Leave { target }]
    );
    client.receive_error_response("match_running", "it runs");
    client.assert_output(&["No bot can take your seat now"]);
    assert_eq!(client.result, None);
    client.type_line("leave");
    client.take_sent_messages();
    let (id, seq) = (TestClient::match_id_text(), with_stand_in.seq.0 + 1);
    client.receive(&format!(
        r#"{{"type":"seated","match":"{id}","seq":{seq},"seat":0,"occupant":"bot","level":"easy",
        "for":{{"player":"{}","name":"ada"}}}}"#,
        with_stand_in.host
    ));
    client.assert_output(&["easy bot now plays for ada"]);
    client.receive_ok_response();
    client.assert_output(&["A bot plays for you now.", "\n    ply join K7QM2P\n"]);
    assert_eq!(client.result, Some(Err(Failure::Stopped)));
}

#[test]
fn quit_prints_join_command() {
    let mut client = client_in_match();
    client.type_line("quit");
    client.assert_output(&["held for 60 s", "\n    ply join K7QM2P\n"]);
    assert_eq!(client.result, Some(Err(Failure::Stopped)));
}

#[test]
fn quit_leaves_open_match() {
    let open = open_match();
    let mut client = TestClient::play(MatchSetup {
        opponent: Some(Opponent::Friend),
        ..MatchSetup::default()
    });
    client.receive_welcome(&[]);
    client.take_sent_messages();
    client.receive_match_response(open);
    client.assert_output(&["A friend can join with\n\n    ply join K7QM2P\n"]);
    client.type_line("b2");
    client.assert_output(&["a seat is still open"]);
    let effects = client.session.quit();
    client.apply_effects(effects);
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Leave {
            target: TestClient::match_ref()
        }]
    );
    client.assert_output(&["You left the match."]);
    let id = TestClient::match_id_text();
    client.receive(&format!(
        r#"{{"type":"ended","match":"{id}","seq":6,"outcome":{{"winner":null,"reason":"aborted"}}}}"#
    ));
    assert_eq!(client.output, "");
    client.receive_ok_response();
    assert_eq!(client.result, Some(Err(Failure::Stopped)));
    assert!(
        client
            .other_effects
            .contains(&Effect::StopWithin(LEAVE_TIMEOUT))
    );
}

#[test]
fn move_played_before_disconnect_is_not_resent() {
    let mut client = client_in_match();
    client.type_line("c3");
    client.take_sent_messages();
    let mut after = snapshot("x.x/.o./...");
    after.ply = Ply(3);
    after.seq = plyhouse_protocol::Seq(6);
    after.turn = Some(plyhouse_protocol::SeatNumber(1));
    client.connect();
    client.receive_welcome(&[&after]);
    assert_eq!(client.take_sent_messages(), []);
    client.assert_output(&["⚙ medium bot (o) to move."]);

    // After a reconnect, the board is not printed again if the match is unchanged.
    client.connect();
    client.receive_welcome(&[&after]);
    assert_eq!(client.output, "⚙ medium bot (o) to move.\n");
}

#[test]
fn match_created_during_disconnect_is_entered() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let mut client = TestClient::play(MatchSetup {
        opponent,
        ..MatchSetup::default()
    });
    client.receive_welcome(&[]);
    assert_eq!(client.take_sent_messages().len(), 1);
    client.connect();
    client.receive_welcome(&[&snapshot("x../.o./...")]);
    assert_eq!(client.take_sent_messages(), []);
    client.assert_output(&["Your turn."]);
}

#[test]
fn seek_is_resent_after_reconnect() {
    let mut client = TestClient::play(MatchSetup {
        opponent: Some(Opponent::Anyone(None)),
        ..MatchSetup::default()
    });
    client.receive_welcome(&[]);
    client.receive_ok_response();
    client.assert_output(&["Looking for an opponent"]);
    client.connect();
    client.receive_welcome(&[]);
    let sent = client.take_sent_messages();
    assert!(matches!(
        sent[..],
        [ClientMessage::Seek(_), ClientMessage::Seek(_)]
    ));
    client.receive_ok_response();
    client.receive_snapshot(snapshot("x../.o./..."));
    client.assert_output(&["Your turn."]);
}

#[test]
fn unknown_match_after_reconnect_ends_session() {
    let mut client = client_in_match();
    client.connect();
    client.receive_welcome(&[]);
    assert_eq!(
        client.take_sent_messages(),
        [ClientMessage::Watch {
            target: TestClient::match_ref()
        }]
    );
    client.receive_error_response("unknown_match", "there is no such match");
    let message = "the match no longer exists on the server".to_owned();
    assert_eq!(client.result, Some(Err(Failure::Failed(message))));
}

#[test]
fn retryable_error_resends_move_up_to_limit() {
    let mut client = client_in_match();
    client.type_line("c3");
    for _ in 0..RETRIES_MAX {
        let re = client.last_id.unwrap();
        client.receive(&format!(
            r#"{{"type":"error","re":{re},"code":"overloaded","message":"busy","retryable":true}}"#
        ));
    }
    let retries = client
        .other_effects
        .iter()
        .filter(|effect| matches!(effect, Effect::SendAfter(..)));
    assert_eq!(retries.count(), RETRIES_MAX as usize);
    assert_eq!(client.output, "");
    let re = client.last_id.unwrap();
    client.receive(&format!(
        r#"{{"type":"error","re":{re},"code":"overloaded","message":"busy","retryable":true}}"#
    ));
    client.assert_output(&["busy"]);
}

#[test]
fn retryable_hello_error_resends_hello_up_to_limit() {
    let mut client = TestClient::play(MatchSetup::default());
    let busy = r#"{"type":"error","re":0,"code":"shutting_down","message":"soon","retryable":true,
        "retry_after_ms":99000}"#;
    for _ in 0..RETRIES_MAX {
        client.receive(busy);
        let again = client.other_effects.pop();
        assert!(
            matches!(again, Some(Effect::SendAfter(RETRY_DELAY_MAX, _))),
            "{again:?}"
        );
    }
    client.receive(busy);
    assert_eq!(
        client.result,
        Some(Err(Failure::Refused("soon".to_owned())))
    );
}

#[test]
fn join_ended_match_shows_outcome_to_players_only() {
    let join_ended = |you: Option<u8>| {
        let mut client = TestClient::new(Goal::Join("K7QM2P".to_owned()));
        client.receive_welcome(&[]);
        client.take_sent_messages();
        client.receive_error_response("match_ended", "the match is over");
        let target = MatchRef::from("K7QM2P");
        assert_eq!(
            client.take_sent_messages(),
            [ClientMessage::Watch { target }]
        );
        let mut ended = snapshot("x../.o./...");
        ended.you = you.map(plyhouse_protocol::SeatNumber);
        ended.status = MatchStatus::Ended;
        ended.outcome = Some(plyhouse_protocol::Ending {
            winner: Some(plyhouse_protocol::SeatNumber(1)),
            reason: Some(plyhouse_protocol::EndReason::Abandonment),
            detail: None,
            by: None,
            scores: None,
            line: None,
        });
        client.receive_match_response(ended);
        client
    };
    let mut late = join_ended(Some(0));
    late.assert_output(&["You lose. You were away for too long."]);
    late.type_line("quit");
    assert_eq!(late.result, Some(Ok(())));
    let outsider = join_ended(None);
    assert!(matches!(outsider.result, Some(Err(Failure::Refused(_)))));
    assert_eq!(outsider.output, "");
}
