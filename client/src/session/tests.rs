//! A person's evening, on text: what the server says and what is typed goes in, and what is sent
//! and told comes out.

use plyhouse_protocol::{
    ChatContent, ChatPreset, CreateRequest, MatchRef, Offer, OfferKind, Ply, SeatRequest,
};

use super::refusals::{RETRY_PAUSE_MAX, TRIES_MAX};
use super::*;
use crate::view::tests::{snapshot, strip_style};

const TIC_TAC_TOE: &str =
    r#"{"game":"tic-tac-toe","title":"Tic-tac-toe","sides":["x","o"],"files":3,"ranks":3}"#;
const CONNECT_FOUR: &str = r#"{"game":"connect-four","title":"Connect Four",
    "sides":["red","yellow"],"files":7,"ranks":6}"#;

/// A session and what it has said so far.
struct Evening {
    session: PlaySession,
    told: String,
    sent: Vec<ClientMessage>,
    last_id: Option<RequestId>,
    result: Option<Result<(), Failure>>,
    other: Vec<Effect>,
}

impl Evening {
    fn new(goal: Goal) -> Self {
        let session = PlaySession::new(goal, true, String::new(), None, None);
        let mut evening = Self {
            session,
            told: String::new(),
            sent: Vec::new(),
            last_id: None,
            result: None,
            other: Vec::new(),
        };
        evening.connected();
        evening
    }

    fn play(plan: MatchSetup) -> Self {
        Self::new(Goal::Play(plan))
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    self.last_id = request.id;
                    self.sent.push(request.message);
                }
                Effect::Print(text) | Effect::PrintError(text) => {
                    self.told.push_str(&strip_style(&text));
                    self.told.push('\n');
                }
                Effect::End(result) => self.result = Some(result),
                other @ (Effect::SendAfter(..)
                | Effect::SaveIdentity(..)
                | Effect::AddSeatNote(_)
                | Effect::RemoveSeatNote(_)
                | Effect::StopWithin(_)
                | Effect::EndWithin(..)
                | Effect::CancelStop) => self.other.push(other),
            }
        }
    }

    fn connected(&mut self) {
        let effects = self.session.on_connected();
        self.take(effects);
        assert!(matches!(self.sent.pop(), Some(ClientMessage::Hello(_))));
    }

    fn hear(&mut self, json: &str) {
        let message = ServerMessage::decode(json).unwrap().unwrap();
        let effects = self.session.receive(message);
        self.take(effects);
    }

    /// The server welcomes, and brings these matches.
    fn welcome(&mut self, mine: &[&Snapshot]) {
        self.welcome_to(TIC_TAC_TOE, mine);
    }

    /// A server that hosts these games welcomes, and brings these matches.
    fn welcome_to(&mut self, games: &str, mine: &[&Snapshot]) {
        let following: Vec<String> = mine
            .iter()
            .map(|mine| format!(r#"{{"match":"{}","you":0}}"#, mine.match_id))
            .collect();
        self.hear(&format!(
            r#"{{"type":"welcome","re":0,"protocol":1,"server":"fake/1","player":{{"id":
            "5f0c0000-0000-4000-8000-000000000001","name":"ada"}},"token":"secret","resumed":true,
            "games":[{games}],"levels":[{{"level":"easy","title":"Easy"}},{{"level":"medium",
            "title":"Medium"}},{{"level":"max","title":"Full strength"}}],"limits":{{
            "message_bytes":8192,"requests_per_s":20,"burst":40,"live_matches":16,"following":64,
            "idle_ms":60000,"abandon_after_ms":60000}},"following":[{}],"analysis":"players","chat":"presets","presets":[{{"preset":"hello",
            "text":"Hello"}},{{"preset":"good-game","text":"Good game"}}]}}"#,
            following.join(",")
        ));
        for mine in mine {
            self.snapshot((*mine).clone());
        }
    }

    fn snapshot(&mut self, snapshot: Snapshot) {
        let effects = self
            .session
            .receive(ServerMessage::Match(Box::new(snapshot)));
        self.take(effects);
    }

    /// The server answers the last request with a match.
    fn answer(&mut self, mut snapshot: Snapshot) {
        snapshot.re = self.last_id;
        self.snapshot(snapshot);
    }

    fn error(&mut self, code: &str, message: &str) {
        let re = self.last_id.unwrap();
        self.hear(&format!(
            r#"{{"type":"error","re":{re},"code":"{code}","message":"{message}","retryable":false}}"#
        ));
    }

    fn ok(&mut self) {
        let re = self.last_id.unwrap();
        self.hear(&format!(r#"{{"type":"ok","re":{re}}}"#));
    }

    fn types(&mut self, line: &str) {
        let effects = self.session.on_line(line);
        self.take(effects);
    }

    /// What has been told since this was last asked.
    #[track_caller]
    fn told(&mut self, expect: &[&str]) {
        for text in expect {
            assert!(self.told.contains(text), "{text:?} in {:?}", self.told);
        }
        self.told.clear();
    }

    fn sent(&mut self) -> Vec<ClientMessage> {
        std::mem::take(&mut self.sent)
    }

    fn target() -> String {
        snapshot("").match_id.to_string()
    }

    fn match_ref() -> MatchRef {
        snapshot("").match_id.into()
    }
}

fn create(seats: [SeatRequest; 2], shuffle: Option<bool>) -> ClientMessage {
    ClientMessage::Create(Box::new(CreateRequest {
        game: "tic-tac-toe".to_owned(),
        seats: Some(seats),
        shuffle,
        bot_delay_ms: Some(400),
        ..CreateRequest::default()
    }))
}

fn bot(level: &str) -> SeatRequest {
    SeatRequest::Bot(level.to_owned())
}

#[test]
fn enter_answers_every_question() {
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[]);
    evening.told(&["Against whom?", "1  a bot  (Enter)"]);
    evening.types("");
    evening.told(&["2  Medium  (Enter)", "3  Full strength (max)"]);
    evening.types("");
    evening.told(&["Which side?", "1  first (x)  (Enter)"]);
    evening.types("");
    assert_eq!(
        evening.sent(),
        [create([SeatRequest::Me, bot("medium")], None)]
    );
}

#[test]
fn among_several_games_a_person_chooses() {
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome_to(&format!("{CONNECT_FOUR},{TIC_TAC_TOE}"), &[]);
    evening.told(&["What to play?\n  1  Connect Four\n  2  Tic-tac-toe  (Enter)"]);
    evening.types("connect");
    evening.told(&["Against whom?"]);
    evening.types("");
    evening.types("easy");
    evening.told(&["1  first (red)  (Enter)\n  2  second (yellow)"]);
    evening.types("second");
    let sent = evening.sent();
    let [ClientMessage::Create(created)] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(created.game, "connect-four");
    assert_eq!(created.seats, Some([bot("easy"), SeatRequest::Me]));
}

#[test]
fn questions_take_other_answers_too() {
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[]);
    evening.types("who?");
    evening.told(&["That is none of the answers", "Against whom?"]);
    evening.types("a friend");
    evening.types("3");
    assert_eq!(
        evening.sent(),
        [create([SeatRequest::Me, SeatRequest::Open], Some(true))]
    );
}

/// Whoever knows the levels names one at once; a number is the answer that stands there.
#[test]
fn a_level_is_an_opponent() {
    for (typed, level) in [("easy", "easy"), ("MED", "medium"), ("full", "max")] {
        let mut evening = Evening::play(MatchSetup::default());
        evening.welcome(&[]);
        evening.types(typed);
        evening.told(&["Which side?"]);
        evening.types("");
        let sent = evening.sent();
        assert_eq!(
            sent,
            [create([SeatRequest::Me, bot(level)], None)],
            "{typed}"
        );
    }
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[]);
    for typed in ["m", "4", "hard"] {
        evening.types(typed);
        evening.told(&["That is none of the answers", "Against whom?"]);
    }
}

#[test]
fn what_was_said_is_not_asked() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let mut evening = Evening::play(MatchSetup {
        opponent,
        ..MatchSetup::default()
    });
    evening.welcome(&[]);
    assert_eq!(
        evening.sent(),
        [create([SeatRequest::Me, bot("max")], None)]
    );
}

#[test]
fn a_match_begins_with_a_position() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let start = "x.o/.../..x".to_owned();
    let plan = MatchSetup {
        opponent,
        options: MatchOptions {
            initial_position: Some(start.clone()),
            ..MatchOptions::default()
        },
        ..MatchSetup::default()
    };
    let mut evening = Evening::play(plan.clone());
    evening.welcome(&[]);
    let sent = evening.sent();
    let [ClientMessage::Create(created)] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(created.position.as_ref(), Some(&start));
    // Another match is not what is wanted, and this one is.
    let mut old = snapshot(&start);
    if let Some(plyhouse_protocol::Occupant::Bot { level, .. }) =
        old.seats.get_mut(1).map(|seat| &mut seat.occupant)
    {
        "max".clone_into(level);
    }
    assert!(!plan.fits(&old));
    old.initial_position = Some(start);
    assert!(plan.fits(&old));
    evening.answer(old);
    evening.told(&["It begins with a position of its own."]);
}

#[test]
fn an_interrupted_match_is_offered() {
    let old = snapshot("x../.o./...");
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[&old]);
    evening.told(&[
        "You sit in a match already.",
        "K7QM2P: ada (x) against ⚙ medium bot (o)",
    ]);
    evening.types("");
    assert_eq!(
        evening.sent(),
        [ClientMessage::Watch {
            target: Evening::match_ref()
        }]
    );
    evening.answer(old);
    evening.told(&["[o]", "Your turn. You are x."]);
}

#[test]
fn an_interrupted_match_can_be_given_up() {
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[&snapshot("x../.o./...")]);
    evening.types("2");
    assert_eq!(
        evening.sent(),
        [ClientMessage::Resign {
            target: Evening::match_ref()
        }]
    );
    evening.told(&["You resign K7QM2P.", "Against whom?"]);
    let left = Effect::RemoveSeatNote(snapshot("").match_id);
    assert!(evening.other.contains(&left));
}

#[test]
fn a_script_goes_on_only_with_the_match_that_it_asks_for() {
    let check = |opponent: Option<Opponent>, side: Option<SideChoice>, fits: bool| {
        let plan = MatchSetup {
            game: None,
            opponent: opponent.clone(),
            side,
            ..MatchSetup::default()
        };
        let mut evening = Evening::new(Goal::Play(plan));
        evening.session.interactive = false;
        evening.welcome(&[&snapshot("x../.o./...")]);
        let went_on = evening.told.contains("Back at the match");
        assert_eq!(went_on, fits, "{opponent:?} {side:?}");
        assert_eq!(evening.sent().is_empty(), fits, "{opponent:?} {side:?}");
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
fn a_person_is_offered_the_match_that_fits_best() {
    let opponent = Some(Opponent::Bot(Some("medium".to_owned())));
    let mut evening = Evening::play(MatchSetup {
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
    evening.welcome(&[&newer, &snapshot("x../.o./...")]);
    evening.told(&["K7QM2P: ada (x) against ⚙ medium bot (o)"]);
}

/// The note of a match must not outlive it, wherever the player is when it ends.
#[test]
fn a_match_that_ends_behind_a_question_is_forgotten() {
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[&snapshot("x../.o./...")]);
    let id = Evening::target();
    evening.hear(&format!(
        r#"{{"type":"ended","match":"{id}","seq":6,"outcome":{{"winner":1,"reason":"abandonment"}}}}"#
    ));
    let left = Effect::RemoveSeatNote(snapshot("").match_id);
    assert!(evening.other.contains(&left));
}

#[test]
fn after_giving_up_nothing_is_asked_that_was_said() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let mut evening = Evening::play(MatchSetup {
        opponent,
        ..MatchSetup::default()
    });
    evening.welcome(&[&snapshot("x../.o./...")]);
    evening.types("2");
    let sent = evening.sent();
    assert_eq!(
        sent.last(),
        Some(&create([SeatRequest::Me, bot("max")], None))
    );
}

#[test]
fn a_question_is_asked_again_after_a_drop() {
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[]);
    evening.types("1");
    evening.told(&["How strong?"]);
    evening.connected();
    evening.welcome(&[]);
    evening.told(&["How strong?"]);

    // A match that is no longer there is not offered any more.
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[&snapshot("x../.o./...")]);
    evening.told(&["You sit in a match already."]);
    evening.connected();
    evening.welcome(&[]);
    evening.told(&["Against whom?"]);
}

/// A move that the search followed no farther is not told twice.
#[test]
fn a_hint_tells_the_move_and_what_is_expected_after_it() {
    for (pv, told) in [
        (r#""c3""#, "Best is c3  (x wins 70%)"),
        (r#""c3","a2""#, "Best is c3: c3 a2  (x wins 70%)"),
        ("", "Best is c3  (x wins 70%)"),
    ] {
        let mut evening = at_table();
        let now = snapshot("x../.o./...");
        evening.types("hint");
        let re = evening.last_id.unwrap();
        evening.hear(&format!(
            r#"{{"type":"hint","re":{re},"match":"{}","ply":{},"move":"c3","value":90,"win":0.7,
            "exact":false,"pv":[{pv}]}}"#,
            now.match_id, now.ply.0
        ));
        evening.told(&[told]);
    }
}

#[test]
fn who_cannot_return_is_not_told_how() {
    let mut evening = at_table();
    evening.session.disable_resume();
    evening.types("quit");
    assert!(!evening.told.contains("ply join"), "{}", evening.told);
    evening.told(&["no way back"]);
}

#[test]
fn of_bots_the_moves_are_told_and_not_the_turns() {
    let mut evening = Evening::new(Goal::Watch("K7QM2P".to_owned()));
    evening.welcome(&[]);
    let mut now = snapshot("x../.o./...");
    now.you = None;
    now.turn = Some(plyhouse_protocol::SeatNumber(1));
    evening.answer(now);
    assert!(!evening.told.contains("to move."), "{}", evening.told);
    let id = Evening::target();
    evening.hear(&format!(
        r#"{{"type":"moved","match":"{id}","seq":6,"ply":2,"seat":1,"move":"c3",
        "position":"x.o/.o./...","turn":0,"legal":["a1"]}}"#
    ));
    evening.told(&["⚙ medium bot (o) plays c3.", "ada (x) to move."]);
}

fn an_open_match() -> Snapshot {
    let mut open = snapshot(".../.../...");
    open.status = MatchStatus::Open;
    open.turn = None;
    open.seats[1].occupant = plyhouse_protocol::Occupant::Open;
    open
}

#[test]
fn who_looks_on_is_not_invited() {
    let mut evening = Evening::new(Goal::Watch("K7QM2P".to_owned()));
    evening.welcome(&[]);
    let mut open = an_open_match();
    open.you = None;
    evening.answer(open);
    assert!(!evening.told.contains("ply join"), "{}", evening.told);
    evening.told(&["Waiting for somebody to sit down"]);
}

fn waiting_for_a_friend() -> Evening {
    let mut evening = Evening::play(MatchSetup {
        opponent: Some(Opponent::Friend),
        ..MatchSetup::default()
    });
    evening.welcome(&[]);
    evening.sent();
    evening.answer(an_open_match());
    evening
}

#[test]
fn who_waits_is_told_what_for_and_how_a_bot_comes() {
    let mut evening = waiting_for_a_friend();
    let all = [
        "Tic-tac-toe K7QM2P, casual\n",
        "You are x. The code is K7QM2P. It stands in the list",
        "\n    ply join K7QM2P\n",
        "Waiting for a person to sit down; no bot comes by itself.\nType bot easy",
        "quit to leave",
    ];
    evening.told(&all);
    evening.types("");
    evening.told(&all[1..]);
    // The help tells of nothing that has to wait for the match.
    evening.types("help");
    for word in ["resign", "takeback", "rematch", "moves"] {
        assert!(!evening.told.contains(word), "{}", evening.told);
    }
    evening.told(&[
        "have a bot sit down, of any level: `bot easy`",
        "quit       leave",
    ]);
    evening.types("bot strong");
    evening.told(&["no such level: there are easy, medium, max."]);
    assert_eq!(evening.sent(), []);
    for (typed, level) in [("bot", "medium"), ("Bot MAX", "max")] {
        evening.types(typed);
        let occupant = plyhouse_protocol::SeatFill::Bot(level.to_owned());
        let seat = ClientMessage::Seat {
            target: Evening::match_ref(),
            seat: plyhouse_protocol::SeatNumber(1),
            occupant,
        };
        assert_eq!(evening.sent(), [seat], "{typed}");
        // Refused, it can be said again.
        evening.error("overloaded", "too many bots");
        evening.told(&["too many bots"]);
        assert_eq!(evening.result, None);
    }
    evening.types("leave");
    let target = Evening::match_ref();
    assert_eq!(evening.sent(), [ClientMessage::Leave { target }]);
}

#[test]
fn no_bot_is_seated_where_no_seat_is_open() {
    let mut evening = at_table();
    evening.types("bot easy");
    evening.told(&["No seat is open for a bot."]);
    assert_eq!(evening.sent(), []);
}

#[test]
fn who_looks_for_somebody_can_have_a_bot_come() {
    let seek = |bot: Option<&str>, rated| {
        let mut evening = Evening::play(MatchSetup {
            opponent: Some(Opponent::Anyone(bot.map(str::to_owned))),
            options: MatchOptions {
                rated,
                ..MatchOptions::default()
            },
            ..MatchSetup::default()
        });
        evening.welcome(&[]);
        evening.ok();
        evening.sent();
        evening
    };
    let mut evening = seek(None, None);
    let all = [
        "to play Tic-tac-toe (casual)",
        "no bot comes by itself.\nType bot easy",
    ];
    evening.told(&all);
    evening.types("who is there?");
    evening.told(&all);
    evening.types("bot max");
    let sent = evening.sent();
    let [ClientMessage::Seek(seeks)] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(
        (seeks.bot.as_deref(), seeks.bot_after_ms),
        (Some("max"), Some(0))
    );
    evening.ok();
    assert_eq!(evening.told, "");
    evening.snapshot(snapshot("x../.o./..."));
    evening.told(&["Your turn."]);

    seek(Some("easy"), None).told(&["If nobody comes within 10 s, a bot plays: easy."]);
    let mut rated = seek(None, Some(true));
    rated.told(&["Tic-tac-toe (rated)", "no bot plays for ratings. Type quit"]);
    rated.types("bot");
    rated.told(&["No bot plays for ratings"]);
    assert_eq!(rated.sent(), []);
}

#[test]
fn a_match_says_at_its_begin_whether_it_counts() {
    for (is_rated, said) in [
        (false, "Tic-tac-toe K7QM2P, casual"),
        (true, "Tic-tac-toe K7QM2P, rated"),
    ] {
        let mut evening = Evening::new(Goal::Join("K7QM2P".to_owned()));
        evening.welcome(&[]);
        let mut now = snapshot("x../.o./...");
        now.rated = is_rated;
        evening.answer(now);
        evening.told(&[said]);
    }
}

#[test]
fn a_move_is_sent_as_the_game_writes_it() {
    let mut evening = at_table();
    evening.types("C-3");
    let sent = evening.sent();
    let [ClientMessage::Move { m, .. }] = &sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(m, "C3");
}

fn at_table() -> Evening {
    let mut evening = Evening::new(Goal::Join("K7QM2P".to_owned()));
    evening.welcome(&[]);
    evening.answer(snapshot("x../.o./..."));
    evening.sent();
    evening.told(&[
        "Tic-tac-toe K7QM2P",
        "Your turn. You are x.\nType b2, or 5 as",
    ]);
    evening
}

/// On a full screen the board stands beside what is said.
#[test]
fn what_is_in_sight_is_not_told() {
    for in_sight in [false, true] {
        let mut evening = Evening::play(MatchSetup::default());
        evening.session.is_board_visible = in_sight;
        evening.welcome(&[]);
        for typed in ["easy", ""] {
            evening.types(typed);
        }
        evening.answer(snapshot("x../.o./..."));
        let told = ["│ x │", "Your turn."].map(|part| evening.told.contains(part));
        assert_eq!(told, [!in_sight; 2], "{}", evening.told);
        assert!(evening.told.contains("`help` for more."));
        assert_eq!(
            evening.session.match_view().unwrap().snapshot.moves,
            ["a3", "b2"]
        );
    }
}

#[test]
fn what_can_be_typed_is_said_once() {
    let mut evening = at_table();
    evening.types("");
    assert_eq!(evening.told, "Your turn. You are x.\n");
    let mut unknown = Evening::new(Goal::Join("K7QM2P".to_owned()));
    unknown.welcome(&[]);
    let mut hex = snapshot("x../.o./...");
    hex.game = "hex".to_owned();
    unknown.answer(hex);
    unknown.told(&["Type a1; `help` for more."]);
}

#[test]
fn who_finds_no_seat_is_told_so() {
    let mut evening = Evening::new(Goal::Join("K7QM2P".to_owned()));
    evening.welcome(&[]);
    evening.error("seat_taken", "that seat is taken");
    let Some(Err(Failure::Refused(what))) = evening.result else {
        panic!("{:?}", evening.result);
    };
    assert!(what.contains("no seat is open"), "{what}");
}

#[test]
fn what_is_refused_says_what_helps() {
    for (goal, code, parts) in [
        (
            Goal::Join("NOSUCH".to_owned()),
            "unknown_match",
            ["no match NOSUCH on this server", "`ply list` shows"],
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
            ["accounts", "`ply register NAME` takes a name"],
        ),
    ] {
        let mut evening = Evening::new(goal);
        evening.welcome(&[]);
        evening.error(code, "this is for accounts");
        let Some(Err(Failure::Refused(what))) = &evening.result else {
            panic!("{:?}", evening.result);
        };
        assert!(parts.iter().all(|part| what.contains(part)), "{what}");
    }
}

fn a_move(m: &str) -> ClientMessage {
    ClientMessage::Move {
        target: Evening::match_ref(),
        ply: Ply(2),
        m: m.to_owned(),
        takebacks: Some(0),
    }
}

#[test]
fn a_wrong_move_says_why_and_another_may_follow() {
    let mut evening = at_table();
    evening.types("7");
    assert_eq!(evening.sent(), [a_move("a3")]);
    evening.types("8");
    evening.told(&["One moment"]);
    evening.error("illegal_move", "a3 is already taken");
    evening.told(&["a3 is already taken"]);
    evening.types("d9");
    evening.error("unreadable_move", "not a square");
    evening.told(&["d9: not a square; `help` tells what can be typed"]);
    evening.types(&"x".repeat(33));
    evening.told(&["too long for a move"]);
    evening.types("C3");
    assert_eq!(evening.sent(), [a_move("d9"), a_move("C3")]);
    assert_eq!(evening.result, None);
}

#[test]
fn commands_are_obeyed() {
    let mut evening = at_table();
    evening.types("help");
    evening.told(&[
        "Type b2, or 1 to 9 as on a number pad",
        "resign     give up",
    ]);
    evening.types("moves");
    evening.told(&["a1"]);
    evening.types(" BOARD ");
    evening.told(&["[o]", "Your turn."]);
    evening.types("resign");
    assert_eq!(
        evening.sent(),
        [ClientMessage::Resign {
            target: Evening::match_ref()
        }]
    );
    let id = Evening::target();
    evening.hear(&format!(
        r#"{{"type":"ended","match":"{id}","seq":6,"outcome":{{"winner":1,"reason":"resignation"}}}}"#
    ));
    evening.told(&[
        "You lose. You resigned.",
        "Type rematch to play again",
        "`ply analyse K7QM2P` then tells",
    ]);
    assert_eq!(evening.result, None);
    evening.types("quit");
    assert_eq!(evening.result, Some(Ok(())));
}

/// Tells an event of the match, which goes on as it stands.
fn event(evening: &mut Evening, kind: &str, fields: &str) {
    let id = Evening::target();
    let seq = evening
        .session
        .match_state()
        .expect("at a table")
        .snapshot
        .seq
        .next();
    evening.hear(&format!(
        r#"{{"type":"{kind}","match":"{id}","seq":{seq},{fields}}}"#
    ));
}

#[test]
#[allow(clippy::too_many_lines, reason = "an evening, told in its order")]
fn what_is_offered_is_told_and_answered_by_words() {
    let target = Evening::match_ref;
    let mut evening = at_table();
    evening.types("decline");
    evening.told(&["Nothing is offered."]);
    evening.types("draw");
    let offer = Offer::Draw { ply: Ply(2) };
    assert_eq!(
        evening.sent(),
        [ClientMessage::Offer {
            target: target(),
            offer
        }]
    );
    event(
        &mut evening,
        "offered",
        r#""seat":0,"offer":"draw","ply":2"#,
    );
    evening.ok();
    evening.told(&["You offer a draw."]);
    event(
        &mut evening,
        "declined",
        r#""seat":0,"offer":"draw","by":1"#,
    );
    evening.told(&["declines the draw."]);
    let back = r#""seat":1,"offer":"takeback","ply":2,"to_ply":0"#;
    event(&mut evening, "offered", back);
    evening.told(&["offers to take back the last 2 moves: type takeback to accept, or decline."]);
    evening.types("decline");
    assert_eq!(
        evening.sent(),
        [ClientMessage::Decline {
            target: target(),
            offer: OfferKind::Takeback
        }]
    );
    evening.ok();
    evening.types("takeback 2");
    let (ply, to_ply) = (Ply(2), Some(Ply(0)));
    assert_eq!(
        evening.sent(),
        [ClientMessage::Offer {
            target: target(),
            offer: Offer::Takeback { ply, to_ply }
        }]
    );
    // Only the person can say again what is turned down for now.
    let re = evening.last_id.unwrap();
    evening.hear(&format!(
        r#"{{"type":"error","re":{re},"code":"too_soon","message":"not yet","retryable":true}}"#
    ));
    evening.told(&["not yet"]);
    assert!(
        !evening
            .other
            .iter()
            .any(|effect| matches!(effect, Effect::SendAfter(..)))
    );
    evening.types("more time 20");
    evening.ok();
    evening.types("abort");
    evening.ok();
    assert_eq!(
        evening.sent(),
        [
            ClientMessage::GiveTime {
                target: target(),
                ms: 20_000
            },
            ClientMessage::Abort { target: target() }
        ]
    );
}

/// What is typed after `say` is a phrase by its words, and what others say is shown.
#[test]
fn people_talk_at_the_table() {
    let mut evening = at_table();
    evening.types("say Good game");
    evening.ok();
    evening.types("say hello");
    evening.ok();
    let saying = |preset| ClientMessage::Say {
        target: Evening::match_ref(),
        content: ChatContent::Preset(preset),
    };
    assert_eq!(
        evening.sent(),
        [saying(ChatPreset::GoodGame), saying(ChatPreset::Hello)]
    );
    evening.types("say what a move");
    evening.told(&["What can be said: Hello, Good game."]);
    let id = Evening::target();
    let said = |words: &str| {
        format!(r#"{{"type":"said","match":"{id}","seat":1,"name":"b\u001bob",{words}}}"#)
    };
    evening.hear(&said(r#""preset":"good-game""#));
    evening.hear(&said(r#""preset":"of-another-time""#));
    evening.hear(&said(r#""text":"well\u0007 done""#));
    evening.told(&["b\u{fffd}ob: Good game\nb\u{fffd}ob: well\u{fffd} done"]);
}

/// Moves that were taken back are made anew, and the server is told how many takebacks were seen.
#[test]
fn after_a_takeback_the_match_stands_as_it_did() {
    let mut evening = at_table();
    event(
        &mut evening,
        "taken_back",
        r#""ply":0,"position":".../.../...","turn":0,"legal":["a1"],"takebacks":1"#,
    );
    evening.told(&["Moves are taken back.", "Your turn."]);
    evening.types("c3");
    assert_eq!(
        evening.sent(),
        [ClientMessage::Move {
            target: Evening::match_ref(),
            ply: Ply(0),
            m: "c3".to_owned(),
            takebacks: Some(1),
        }]
    );
}

fn match_id(text: &str) -> MatchId {
    serde_json::from_value(text.into()).unwrap()
}

const NEXT: &str = "0b9e0000-0000-7000-8000-000000000002";

fn rematch(offers: &str, here: &str, next: &str) -> String {
    let id = Evening::target();
    format!(
        r#"{{"type":"rematch","match":"{id}","offers":{offers},"declined":[false,false],
        "here":{here},"next":{next}}}"#
    )
}

#[test]
fn two_play_again_and_the_score_is_told() {
    let mut evening = at_table();
    event(
        &mut evening,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    evening.told(&["You win!"]);
    evening.hear(&rematch("[false,true]", "[true,true]", "null"));
    evening.told(&["⚙ medium bot (o) wants to play again: type rematch, or decline."]);
    evening.types("b2");
    evening.told(&["The match is over."]);
    evening.types("rematch");
    assert_eq!(
        evening.sent(),
        [ClientMessage::Offer {
            target: Evening::match_ref(),
            offer: Offer::Rematch
        }]
    );
    let next = format!(r#"{{"match":"{NEXT}","code":"K7QM2P"}}"#);
    evening.hear(&rematch("[true,true]", "[true,true]", &next));
    let mut second = snapshot(".../.../...");
    second.match_id = match_id(NEXT);
    second.seats.swap(0, 1);
    second.you = Some(plyhouse_protocol::SeatNumber(1));
    second.series = Some(plyhouse_protocol::Series {
        game: 2,
        points: [0, 3],
    });
    evening.snapshot(second);
    evening.ok();
    evening.told(&["You play again", "Game 2: ⚙ medium bot 0 : 1½ ada"]);
    assert_eq!(evening.result, None);
    evening.types("quit");
    assert_eq!(evening.result, Some(Err(Failure::Stopped)));
}

/// A rematch that has begun while the connection was down is found.
#[test]
fn a_rematch_that_came_about_unseen_is_found() {
    let mut evening = at_table();
    event(
        &mut evening,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    evening.connected();
    evening.welcome(&[]);
    let watch = |id: MatchId| ClientMessage::Watch { target: id.into() };
    assert_eq!(evening.sent(), [watch(match_id(&Evening::target()))]);
    let mut over = evening.session.match_state().unwrap().snapshot.clone();
    let next = format!(
        r#"{{"offers":[true,true],"declined":[false,false],"here":[true,true],
        "next":{{"match":"{NEXT}","code":"K7QM2P"}}}}"#
    );
    over.rematch = serde_json::from_str(&next).unwrap();
    evening.answer(over);
    assert_eq!(evening.sent(), [watch(match_id(NEXT))]);
    let mut second = snapshot(".../.../...");
    second.match_id = match_id(NEXT);
    evening.answer(second);
    evening.told(&["Your turn."]);
    evening.types("quit");
    assert_eq!(evening.result, Some(Err(Failure::Stopped)));
}

/// A spectator who wants to see the series goes on with it, and is done when the players are.
#[test]
fn a_series_is_watched_to_its_end() {
    let mut evening = Evening::new(Goal::Watch("K7QM2P".to_owned()));
    evening.session.interactive = false;
    evening.session.follows_rematches = true;
    evening.welcome(&[]);
    let mut now = snapshot("x../.o./...");
    now.you = None;
    evening.answer(now.clone());
    evening.sent();
    let over = r#""outcome":{"winner":0,"reason":"resignation"}"#;
    event(&mut evening, "ended", over);
    assert_eq!(evening.result, None);
    let next = format!(r#"{{"match":"{NEXT}","code":"K7QM2P"}}"#);
    evening.hear(&rematch("[true,true]", "[true,true]", &next));
    let watch = ClientMessage::Watch {
        target: match_id(NEXT).into(),
    };
    assert_eq!(evening.sent(), [watch]);
    now.match_id = match_id(NEXT);
    evening.answer(now);
    assert_eq!(evening.other.last(), Some(&Effect::CancelStop));
    evening.hear(&format!(
        r#"{{"type":"ended","match":"{NEXT}","seq":6,{over}}}"#
    ));
    assert_eq!(evening.result, None);
    evening.hear(&format!(
        r#"{{"type":"rematch","match":"{NEXT}","offers":[false,false],
        "declined":[false,false],"here":[false,false],"next":null}}"#
    ));
    assert_eq!(evening.result, Some(Ok(())));
}

/// A script at a rated match of this delay, which has just ended.
fn rated(delay_ms: u64) -> (Evening, Snapshot) {
    let mut evening = Evening::play(MatchSetup::default());
    evening.session.interactive = false;
    let mut now = snapshot("x../.o./...");
    (now.rated, now.spectator_delay_ms) = (true, delay_ms);
    evening.welcome(&[&now]);
    event(
        &mut evening,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    now = evening
        .session
        .match_state()
        .expect("at a table")
        .snapshot
        .clone();
    (evening, now)
}

#[test]
fn a_script_hears_what_its_match_has_changed() {
    let (mut evening, _) = rated(0);
    let within = Effect::EndWithin(Duration::from_secs(5), Ok(()));
    assert_eq!(
        (&evening.result, evening.other.last()),
        (&None, Some(&within))
    );
    let target = Evening::target();
    let changes = r#"[{"seat":0,"before":1500,"after":1662,"provisional":true}]"#;
    evening.hear(&format!(
        r#"{{"type":"rating","match":"{target}","changes":{changes}}}"#
    ));
    evening.told(&["Rating of x: 1500 → 1662?"]);
    assert_eq!(evening.result, Some(Ok(())));

    let (mut evening, mut now) = rated(0);
    evening.connected();
    evening.welcome(&[]);
    evening.answer(now.clone());
    // Nothing has been told of it yet.
    assert_eq!(
        (&evening.result, evening.other.last()),
        (&None, Some(&within))
    );
    evening.connected();
    evening.welcome(&[]);
    now.rating_changes = serde_json::from_str(changes).unwrap();
    evening.answer(now);
    evening.told(&["Rating of x: 1500 → 1662?"]);
    assert_eq!(evening.result, Some(Ok(())));
}

#[test]
fn a_script_does_not_wait_for_what_comes_late_or_never() {
    assert_eq!(rated(1).0.result, Some(Ok(())));
    let (mut evening, _) = rated(0);
    let stop = evening.session.quit();
    evening.take(stop);
    assert_eq!(evening.result, Some(Ok(())));
}

#[test]
fn who_does_not_want_to_play_again_is_told_of() {
    let mut evening = at_table();
    event(
        &mut evening,
        "ended",
        r#""outcome":{"winner":0,"reason":"resignation"}"#,
    );
    evening.types("rematch");
    evening.ok();
    evening.hear(&rematch("[true,false]", "[true,true]", "null"));
    evening.told(&["You want to play again; ⚙ medium bot (o) is asked."]);
    evening.types("decline");
    assert_eq!(
        evening.sent()[1],
        ClientMessage::Decline {
            target: Evening::match_ref(),
            offer: OfferKind::Rematch
        }
    );
    evening.ok();
    evening.hear(&rematch("[false,false]", "[true,false]", "null"));
    evening.told(&["⚙ medium bot (o) has left."]);
    // Nobody waits for ever: what the server has forgotten is over.
    evening.connected();
    evening.welcome(&[]);
    evening.error("unknown_match", "no such match");
    assert_eq!(evening.result, Some(Ok(())));
}

#[test]
fn clocks_are_counted_down_from_what_was_told() {
    let mut evening = Evening::new(Goal::Join("K7QM2P".to_owned()));
    evening.session.set_now(Duration::from_secs(10));
    evening.welcome(&[]);
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
    evening.answer(now);
    evening.told(&["Tic-tac-toe K7QM2P (5+3)", "ada  (you)  4:55"]);
    let live = |evening: &mut Evening, seconds| {
        evening.session.set_now(Duration::from_secs(seconds));
        strip_style(&evening.session.clock_line().expect("clocks run").text)
    };
    assert_eq!(live(&mut evening, 10), "  ▸ ada 4:55   ⚙ medium bot 4:40");
    assert_eq!(live(&mut evening, 20), "  ▸ ada 4:45   ⚙ medium bot 4:40");
    let id = Evening::target();
    evening.hear(&format!(
        r#"{{"type":"clock","match":"{id}","ply":2,"left_ms":[300000,280000],"turn_ms":12000,
        "stands":true}}"#
    ));
    let stands = "  ▸ ada 4:48   ⚙ medium bot 4:40   the clock stands";
    assert_eq!(live(&mut evening, 90), stands);
    let given = r#""seat":0,"ms":15000,"left_ms":[315000,280000]"#;
    event(&mut evening, "time_given", given);
    evening.told(&["gives ada (x) 15 s more."]);
    event(
        &mut evening,
        "moved",
        r#""ply":2,"seat":0,"move":"c3","position":"x.x/.o./...","turn":1,"legal":[],
        "left_ms":[306000,280000],"spent_ms":12000"#,
    );
    assert_eq!(live(&mut evening, 91), "  ada 5:06   ▸ ⚙ medium bot 4:39");
    evening.hear(&format!(
        r#"{{"type":"presence","match":"{id}","seats":[true,null],"gone_ms":[null,43000],
        "spectators":0}}"#
    ));
    assert!(live(&mut evening, 101).ends_with("⚙ medium bot is away: 33 s"));
}

/// A match of days has no snapshot of its own, and nobody waits for one.
#[test]
fn matches_of_days_do_not_hold_a_welcome_up() {
    let mut evening = Evening::new(Goal::Join("K7QM2P".to_owned()));
    evening.hear(
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
    evening.told(&[
        "It is your turn in a match of days, until 2023-11-14 22:13 UTC: \
         ply join 0b9e0000-0000-7000-8000-000000000009",
        "bob wants to play chess (5+3) with you: ply join AAAAAA",
    ]);
    evening.hear(
        r#"{"type":"your_turn","match":"0b9e0000-0000-7000-8000-000000000007","game":"chess",
        "ply":14,"due_ms":1700000000000}"#,
    );
    evening.told(&[
        "It is your turn in another match of chess, until 2023-11-14 22:13 UTC: \
         ply join 0b9e0000-0000-7000-8000-000000000007",
    ]);
    assert!(matches!(evening.sent()[..], [ClientMessage::Join { .. }]));
    evening.answer(snapshot("x../.o./..."));
    evening.types("decline");
    let id = match_id("0b9e0000-0000-7000-8000-000000000008");
    assert_eq!(
        evening.sent(),
        [ClientMessage::Decline {
            target: id.into(),
            offer: OfferKind::Challenge
        }]
    );
}

fn kept_by_a_bot() -> Snapshot {
    let mut kept = snapshot("x../.o./...");
    kept.you = None;
    kept.seats[0].occupant = plyhouse_protocol::Occupant::Bot {
        level: "easy".to_owned(),
        stand_in_for: Some(plyhouse_protocol::NamedPlayer {
            player: kept.host,
            name: "ada".to_owned(),
        }),
    };
    kept
}

/// Whoever has left a match to a bot, and wants to play, is told of it.
#[test]
fn a_match_that_a_bot_keeps_is_told_of() {
    let mut evening = Evening::play(MatchSetup::default());
    evening.welcome(&[&kept_by_a_bot()]);
    evening.told(&[
        "A bot plays on for you in Tic-tac-toe K7QM2P",
        "Come back with ply join K7QM2P\n",
        "Against whom?",
    ]);
}

/// Whoever comes back takes the seat that a bot has kept.
#[test]
fn a_seat_that_a_bot_has_kept_is_taken_back() {
    let mut evening = at_table();
    let kept = kept_by_a_bot();
    evening.connected();
    evening.welcome(&[&kept]);
    evening.told(&["A bot has played on for you; you take your seat back."]);
    assert!(matches!(evening.sent()[..], [ClientMessage::Join { .. }]));
    evening.answer(snapshot("x../.o./..."));
    assert_eq!(evening.result, None);
}

/// Whoever goes may leave the seat to the stand-in at once.
#[test]
fn a_seat_is_left_to_a_bot() {
    let mut evening = at_table();
    evening.types("leave");
    evening.told(&["No bot stands in here; `quit` leaves"]);
    let mut agreed = snapshot("x../.o./...");
    agreed.stand_in = Some("easy".to_owned());
    evening.connected();
    evening.welcome(&[&agreed]);
    evening.sent();
    evening.types("help");
    evening.told(&["a bot plays on for you at once"]);
    evening.types("leave");
    let target = Evening::match_ref();
    assert_eq!(evening.sent(), [ClientMessage::Leave { target }]);
    evening.error("match_running", "it runs");
    evening.told(&["No bot can take your seat now"]);
    assert_eq!(evening.result, None);
    evening.types("leave");
    evening.sent();
    let (id, seq) = (Evening::target(), agreed.seq.0 + 1);
    evening.hear(&format!(
        r#"{{"type":"seated","match":"{id}","seq":{seq},"seat":0,"occupant":"bot","level":"easy",
        "for":{{"player":"{}","name":"ada"}}}}"#,
        agreed.host
    ));
    evening.told(&["easy bot plays on for ada"]);
    evening.ok();
    evening.told(&["A bot plays on for you.", "\n    ply join K7QM2P\n"]);
    assert_eq!(evening.result, Some(Err(Failure::Stopped)));
}

#[test]
fn quitting_says_how_to_come_back() {
    let mut evening = at_table();
    evening.types("quit");
    evening.told(&["held for 60 s", "\n    ply join K7QM2P\n"]);
    assert_eq!(evening.result, Some(Err(Failure::Stopped)));
}

#[test]
fn an_open_match_is_left_for_good() {
    let open = an_open_match();
    let mut evening = Evening::play(MatchSetup {
        opponent: Some(Opponent::Friend),
        ..MatchSetup::default()
    });
    evening.welcome(&[]);
    evening.sent();
    evening.answer(open);
    evening.told(&["A friend sits down with\n\n    ply join K7QM2P\n"]);
    evening.types("b2");
    evening.told(&["a seat is still open"]);
    let effects = evening.session.quit();
    evening.take(effects);
    assert_eq!(
        evening.sent(),
        [ClientMessage::Leave {
            target: Evening::match_ref()
        }]
    );
    evening.told(&["You leave the match."]);
    let id = Evening::target();
    evening.hear(&format!(
        r#"{{"type":"ended","match":"{id}","seq":6,"outcome":{{"winner":null,"reason":"aborted"}}}}"#
    ));
    assert_eq!(evening.told, "");
    evening.ok();
    assert_eq!(evening.result, Some(Err(Failure::Stopped)));
    assert!(evening.other.contains(&Effect::StopWithin(LEAVE_TIMEOUT)));
}

#[test]
fn a_move_that_was_played_before_the_drop_is_not_sent_again() {
    let mut evening = at_table();
    evening.types("c3");
    evening.sent();
    let mut after = snapshot("x.x/.o./...");
    after.ply = Ply(3);
    after.seq = plyhouse_protocol::Seq(6);
    after.turn = Some(plyhouse_protocol::SeatNumber(1));
    evening.connected();
    evening.welcome(&[&after]);
    assert_eq!(evening.sent(), []);
    evening.told(&["⚙ medium bot (o) to move."]);

    // A match that did not move on is not drawn again.
    evening.connected();
    evening.welcome(&[&after]);
    assert_eq!(evening.told, "⚙ medium bot (o) to move.\n");
}

#[test]
fn a_match_that_came_about_unseen_is_found() {
    let opponent = Some(Opponent::Bot(Some("max".to_owned())));
    let mut evening = Evening::play(MatchSetup {
        opponent,
        ..MatchSetup::default()
    });
    evening.welcome(&[]);
    assert_eq!(evening.sent().len(), 1);
    evening.connected();
    evening.welcome(&[&snapshot("x../.o./...")]);
    assert_eq!(evening.sent(), []);
    evening.told(&["Your turn."]);
}

#[test]
fn a_seek_is_said_again_until_it_is_paired() {
    let mut evening = Evening::play(MatchSetup {
        opponent: Some(Opponent::Anyone(None)),
        ..MatchSetup::default()
    });
    evening.welcome(&[]);
    evening.ok();
    evening.told(&["Looking for somebody"]);
    evening.connected();
    evening.welcome(&[]);
    let seeks = evening.sent();
    assert!(matches!(
        seeks[..],
        [ClientMessage::Seek(_), ClientMessage::Seek(_)]
    ));
    evening.ok();
    evening.snapshot(snapshot("x../.o./..."));
    evening.told(&["Your turn."]);
}

#[test]
fn whoever_the_server_has_forgotten_cannot_go_on() {
    let mut evening = at_table();
    evening.connected();
    evening.welcome(&[]);
    assert_eq!(
        evening.sent(),
        [ClientMessage::Watch {
            target: Evening::match_ref()
        }]
    );
    evening.error("unknown_match", "there is no such match");
    let forgotten = "the server no longer knows the match".to_owned();
    assert_eq!(evening.result, Some(Err(Failure::Failed(forgotten))));
}

#[test]
fn what_the_server_cannot_do_now_is_asked_again_later() {
    let mut evening = at_table();
    evening.types("c3");
    for _ in 0..TRIES_MAX {
        let re = evening.last_id.unwrap();
        evening.hear(&format!(
            r#"{{"type":"error","re":{re},"code":"overloaded","message":"busy","retryable":true}}"#
        ));
    }
    let tries = evening
        .other
        .iter()
        .filter(|effect| matches!(effect, Effect::SendAfter(..)));
    assert_eq!(tries.count(), TRIES_MAX as usize);
    assert_eq!(evening.told, "");
    let re = evening.last_id.unwrap();
    evening.hear(&format!(
        r#"{{"type":"error","re":{re},"code":"overloaded","message":"busy","retryable":true}}"#
    ));
    evening.told(&["busy"]);
}

#[test]
fn a_server_that_cannot_welcome_yet_is_asked_again() {
    let mut evening = Evening::play(MatchSetup::default());
    let busy = r#"{"type":"error","re":0,"code":"shutting_down","message":"soon","retryable":true,
        "retry_after_ms":99000}"#;
    for _ in 0..TRIES_MAX {
        evening.hear(busy);
        let again = evening.other.pop();
        assert!(
            matches!(again, Some(Effect::SendAfter(RETRY_PAUSE_MAX, _))),
            "{again:?}"
        );
    }
    evening.hear(busy);
    assert_eq!(
        evening.result,
        Some(Err(Failure::Refused("soon".to_owned())))
    );
}

#[test]
fn who_comes_back_too_late_sees_how_it_ended() {
    let come_back = |you: Option<u8>| {
        let mut evening = Evening::new(Goal::Join("K7QM2P".to_owned()));
        evening.welcome(&[]);
        evening.sent();
        evening.error("match_ended", "the match is over");
        let target = MatchRef::from("K7QM2P");
        assert_eq!(evening.sent(), [ClientMessage::Watch { target }]);
        let mut over = snapshot("x../.o./...");
        over.you = you.map(plyhouse_protocol::SeatNumber);
        over.status = MatchStatus::Ended;
        over.outcome = Some(plyhouse_protocol::Ending {
            winner: Some(plyhouse_protocol::SeatNumber(1)),
            reason: Some(plyhouse_protocol::EndReason::Abandonment),
            detail: None,
            by: None,
            scores: None,
            line: None,
        });
        evening.answer(over);
        evening
    };
    let mut late = come_back(Some(0));
    late.told(&["You lose. You were away for too long."]);
    late.types("quit");
    assert_eq!(late.result, Some(Ok(())));
    let stranger = come_back(None);
    assert!(matches!(stranger.result, Some(Err(Failure::Refused(_)))));
    assert_eq!(stranger.told, "");
}
