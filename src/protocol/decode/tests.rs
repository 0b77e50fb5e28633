use super::*;
use crate::INTEGER_MAX;
use crate::chat::ChatPreset;
use crate::id::SeatNumber;
use crate::ratings::{LeaderboardRequest, RatingPool};
use crate::request::{Hello, MatchStatus, SeatFill};
use crate::time_control::ClockControl;

fn check_decoded(text: &str, expected: ClientMessage) {
    let decoded = Request::decode(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let request = decoded.request;
    assert_eq!(request.message, expected, "{text}");
    let reencoded = serde_json::to_string(&request).unwrap();
    assert_eq!(
        Request::decode(&reencoded).map(|decoded| decoded.request),
        Ok(request),
        "{text} written as {reencoded}"
    );
}

fn check_refused(text: &str, code: ErrorCode, re: Option<u64>, field: Option<&str>) {
    let Err(decode_error) = Request::decode(text) else {
        panic!("{text} was read");
    };
    let error = decode_error.error;
    assert_eq!(error.code, Some(code), "{text}");
    assert_eq!(error.re, re.map(RequestId), "{text}");
    assert_eq!(error.field.as_deref(), field, "{text}");
}

#[test]
fn requests_are_decoded_and_encoded() {
    check_decoded(r#"{"type":"ping"}"#, ClientMessage::Ping);
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    for unknown in ["1e999", r#""\ud800""#, &"1".repeat(400), &deep] {
        check_decoded(
            &format!(r#"{{"type":"ping","x":{unknown}}}"#),
            ClientMessage::Ping,
        );
    }
    let since = Seq(INTEGER_MAX);
    let resync = ClientMessage::Resync {
        target: MatchRef::Invalid,
        since,
    };
    check_decoded(
        r#"{"type":"resync","match":"M","since":9007199254740991.0}"#,
        resync,
    );
    check_decoded(
        r#"{"type":"ping","id":null,"unknown":[1]}"#,
        ClientMessage::Ping,
    );
    check_decoded(
        r#"{"type":"hello","protocol":1,"name":"ada","token":null}"#,
        ClientMessage::Hello(Box::new(Hello {
            protocol: Some(1),
            name: Some("ada".into()),
            ..Hello::default()
        })),
    );
    check_decoded(
        r#"{"type":"hello","token":"t","beside":true,"label":"phone"}"#,
        ClientMessage::Hello(Box::new(Hello {
            token: Some(Token::new("t".into())),
            keep_connections: Some(true),
            label: Some("phone".into()),
            ..Hello::default()
        })),
    );
    check_decoded(
        r#"{"type":"hello","pair":"K7QM2PXR"}"#,
        ClientMessage::Hello(Box::new(Hello {
            link_code: Some(Token::new("K7QM2PXR".into())),
            ..Hello::default()
        })),
    );
    check_decoded(r#"{"type":"sessions"}"#, ClientMessage::Sessions);
    check_decoded(r#"{"type":"pair"}"#, ClientMessage::LinkDevice);
    let proof = None;
    check_decoded(
        r#"{"type":"recovery"}"#,
        ClientMessage::CreateRecoveryKey { proof },
    );
    check_decoded(
        r#"{"type":"end_session","session":"others","recovery":"k"}"#,
        ClientMessage::EndSession {
            session: "others".into(),
            proof: Some(ReauthProof::RecoveryKey(Token::new("k".into()))),
        },
    );
    check_decoded(
        r#"{"type":"create","game":"go","seats":["me",{"bot":"hard","x":1}],"pace_ms":1e4}"#,
        ClientMessage::Create(Box::new(CreateRequest {
            game: "go".into(),
            seats: Some([SeatRequest::Me, SeatRequest::Bot("hard".into())]),
            bot_delay_ms: Some(10_000),
            ..CreateRequest::default()
        })),
    );
}

#[test]
fn account_requests_are_decoded() {
    let password = || Some(Token::new("correct horse".into()));
    check_decoded(
        r#"{"type":"hello","name":"ada","password":"p"}"#,
        ClientMessage::Hello(Box::new(Hello {
            name: Some("ada".into()),
            password: Some(Token::new("p".into())),
            ..Hello::default()
        })),
    );
    check_decoded(
        r#"{"type":"register","name":"ada","password":"correct horse","invite":"i"}"#,
        ClientMessage::Register {
            name: "ada".into(),
            password: password(),
            invite: Some(Token::new("i".into())),
        },
    );
    check_decoded(
        r#"{"type":"forget_me","recovery":"k"}"#,
        ClientMessage::DeleteAccount {
            proof: Some(ReauthProof::RecoveryKey(Token::new("k".into()))),
        },
    );
    check_decoded(
        r#"{"type":"rename","name":"ada2"}"#,
        ClientMessage::Rename {
            name: "ada2".into(),
        },
    );
    check_decoded(
        r#"{"type":"create_key","label":"laptop","recovery":"k"}"#,
        ClientMessage::CreateApiKey {
            label: Some("laptop".into()),
            bot: None,
            proof: Some(ReauthProof::RecoveryKey(Token::new("k".into()))),
        },
    );
    check_decoded(
        r#"{"type":"set_password","password":"correct horse","new":"battery staple"}"#,
        ClientMessage::SetPassword {
            new: Token::new("battery staple".into()),
            proof: password().map(ReauthProof::Password),
        },
    );
}

#[test]
fn invalid_account_requests_name_the_bad_field() {
    let long = "x".repeat(201);
    for (text, field) in [
        (r#"{"type":"hello","password":"p"}"#, "name"),
        (
            r#"{"type":"hello","token":"t","name":"a","password":"p"}"#,
            "password",
        ),
        (
            r#"{"type":"hello","token":"t","pair":"p","recovery":"r"}"#,
            "recovery",
        ),
        (r#"{"type":"register"}"#, "name"),
        (
            r#"{"type":"register","name":"ada","password":"too short"}"#,
            "password",
        ),
        (
            &format!(r#"{{"type":"register","name":"ada","password":"{long}"}}"#),
            "password",
        ),
        (
            r#"{"type":"register","name":"Ada Lovelace","password":"ada lovelace"}"#,
            "password",
        ),
        (r#"{"type":"set_password","password":"p"}"#, "new"),
        (
            r#"{"type":"recovery","password":"p","recovery":"r"}"#,
            "recovery",
        ),
    ] {
        let error = Request::decode(text).expect_err(text).error;
        assert_eq!(error.code, Some(ErrorCode::BadField), "{text}");
        assert_eq!(error.field.as_deref(), Some(field), "{text}");
    }
}

#[test]
fn guest_only_mode_knows_no_account_requests() {
    for kind in ClientMessage::ACCOUNT_TYPES {
        let text = format!(r#"{{"type":"{kind}","name":"ada"}}"#);
        let error = Request::decode_as(&text, AuthMode::GuestOnly)
            .expect_err("unknown")
            .error;
        assert_eq!(error.code, Some(ErrorCode::UnknownType), "{kind}");
        assert!(!error.message.contains("register"), "{error:?}");
    }
    let hello = r#"{"type":"hello","name":"ada","password":"p"}"#;
    let decoded = Request::decode_as(hello, AuthMode::GuestOnly).expect("a guest's");
    assert_eq!(decoded.ignored, ["password"]);
}

#[test]
fn match_reference_is_an_id_or_a_code() {
    check_decoded(
        r#"{"type":"seat","match":"k7qm2p","seat":1,"occupant":"open"}"#,
        ClientMessage::Seat {
            target: MatchRef::from("K7QM2P"),
            seat: SeatNumber(1),
            occupant: SeatFill::Open,
        },
    );
    check_decoded(
        r#"{"type":"move","match":" K7QM2P","ply":2.0,"move":" B2"}"#,
        ClientMessage::Move {
            target: MatchRef::from("K7QM2P"),
            ply: Ply(2),
            m: " B2".into(),
            takebacks: None,
        },
    );
    check_decoded(
        r#"{"type":"move","match":" K7QM2P","ply":2,"takebacks":1,"move":"\u0062\u0032"}"#,
        ClientMessage::Move {
            target: MatchRef::from("K7QM2P"),
            ply: Ply(2),
            m: "b2".into(),
            takebacks: Some(1),
        },
    );
    check_decoded(
        r#"{"type":"list","status":"ended","limit":100,"after":"K7QM2P"}"#,
        ClientMessage::List {
            game: None,
            status: Some(MatchStatus::Ended),
            limit: Some(100),
            after: Some(MatchRef::from("K7QM2P")),
            seekers: None,
        },
    );
}

const FIVE_AND_THREE: ClockControl = ClockControl::Fischer {
    main_ms: 300_000,
    increment_ms: 3000,
};

#[test]
fn match_terms_are_decoded() {
    check_decoded(
        r#"{"type":"create","game":"go","seats":["open","me"],"takeback":false,"patience_ms":10000,
            "clock":{"kind":"fischer","main_ms":3e5,"increment_ms":3000,"periods":"x"},
            "stand_in":"easy","rated":false,"for":"somebody",
            "position":" B:W18:B5 "}"#,
        ClientMessage::Create(Box::new(CreateRequest {
            game: "go".into(),
            seats: Some([SeatRequest::Open, SeatRequest::Me]),
            clock: Some(FIVE_AND_THREE),
            takebacks_allowed: Some(false),
            absence_limit_ms: Some(10_000),
            stand_in: Some("easy".into()),
            rated: Some(false),
            position: Some(" B:W18:B5 ".into()),
            invited: Some("somebody".into()),
            ..CreateRequest::default()
        })),
    );
    check_decoded(
        r#"{"type":"seek","game":"go","rated":true,"rating":[-200,2e2],
            "clock":{"kind":"byo-yomi","main_ms":0,"period_ms":1000,"periods":25}}"#,
        ClientMessage::Seek(Box::new(SeekRequest {
            game: "go".into(),
            clock: Some(ClockControl::ByoYomi {
                main_ms: 0,
                period_ms: 1000,
                periods: 25,
            }),
            rated: Some(true),
            rating_range: Some([-200, 200]),
            ..SeekRequest::default()
        })),
    );
}

#[test]
fn leaderboard_request_is_decoded() {
    check_decoded(
        r#"{"type":"leaders","game":"chess","pool":"days","limit":10,"after":50}"#,
        ClientMessage::Leaderboard(Box::new(LeaderboardRequest {
            game: "chess".into(),
            pool: Some(RatingPool::Correspondence),
            limit: Some(10),
            after: Some(50),
        })),
    );
}

#[test]
fn bot_level_is_text_or_object() {
    for bot in [r#""hard""#, r#"{"bot":"hard"}"#] {
        check_decoded(
            &format!(r#"{{"type":"seek","game":"go","bot":{bot}}}"#),
            ClientMessage::Seek(Box::new(SeekRequest {
                game: "go".into(),
                bot: Some("hard".into()),
                ..SeekRequest::default()
            })),
        );
        for (seats, expect) in [
            ("null", [SeatRequest::Me, SeatRequest::Bot("hard".into())]),
            (
                r#"["open",{"bot":"easy"}]"#,
                [
                    SeatRequest::Bot("hard".into()),
                    SeatRequest::Bot("easy".into()),
                ],
            ),
        ] {
            check_decoded(
                &format!(r#"{{"type":"create","game":"go","seats":{seats},"bot":{bot}}}"#),
                ClientMessage::Create(Box::new(CreateRequest {
                    game: "go".into(),
                    seats: Some(expect),
                    ..CreateRequest::default()
                })),
            );
        }
    }
}

#[test]
fn offers_and_list_requests_are_decoded() {
    let target = MatchRef::from("K7QM2P");
    for (fields, offer) in [
        (r#""offer":"draw","ply":31"#, Offer::Draw { ply: Ply(31) }),
        (
            r#""offer":"takeback","ply":31"#,
            Offer::Takeback {
                ply: Ply(31),
                to_ply: None,
            },
        ),
        (
            r#""offer":"takeback","ply":31,"to_ply":29"#,
            Offer::Takeback {
                ply: Ply(31),
                to_ply: Some(Ply(29)),
            },
        ),
        (r#""offer":"rematch""#, Offer::Rematch),
    ] {
        check_decoded(
            &format!(r#"{{"type":"offer","match":"K7QM2P",{fields}}}"#),
            ClientMessage::Offer { target, offer },
        );
    }
    for &offer in OfferKind::ALL {
        check_decoded(
            &format!(r#"{{"type":"decline","match":"K7QM2P","offer":"{offer}"}}"#),
            ClientMessage::Decline { target, offer },
        );
    }
    check_decoded(
        r#"{"type":"give_time","match":"K7QM2P","ms":15000}"#,
        ClientMessage::GiveTime { target, ms: 15_000 },
    );
    check_decoded(
        r#"{"type":"abort","match":"K7QM2P"}"#,
        ClientMessage::Abort { target },
    );
    check_decoded(
        r#"{"type":"watch_list","game":"go","status":"open"}"#,
        ClientMessage::WatchList {
            game: Some("go".into()),
            status: Some(MatchStatus::Open),
            seekers: None,
        },
    );
    check_decoded(
        r#"{"type":"watch_list","seekers":true}"#,
        ClientMessage::WatchList {
            game: None,
            status: None,
            seekers: Some(true),
        },
    );
    check_decoded(
        r#"{"type":"list","seekers":false}"#,
        ClientMessage::List {
            game: None,
            status: None,
            limit: None,
            after: None,
            seekers: Some(false),
        },
    );
    check_decoded(r#"{"type":"unwatch_list"}"#, ClientMessage::UnwatchList);
}

#[test]
fn last_of_duplicate_fields_counts() {
    let text = r#"{"x":1,"type":"list","id":1,"limit":3,"x":null,"l\u0069mit":4,"\u0069d":2,"t\u0079pe":"p\u0069ng"}"#;
    let decoded = Request::decode(text).unwrap();
    assert_eq!(decoded.request.id, Some(RequestId(2)));
    assert_eq!(decoded.request.message, ClientMessage::Ping);
    assert_eq!(decoded.ignored, ["limit"]);
    let last = r#"{"type":"ping","id":1,"id":-1}"#;
    check_refused(last, ErrorCode::BadField, None, Some("id"));
}

#[test]
fn unknown_fields_are_reported_as_ignored() {
    let ignored = |text| Request::decode(text).unwrap().ignored;
    let none: [&str; 0] = [];
    assert_eq!(ignored(r#"{"type":"ping","id":1}"#), none);
    assert_eq!(
        ignored(r#"{"type":"create","game":"go","pace":3,"x":null,"opening":[1],"bot":"easy"}"#),
        ["opening", "pace"]
    );
    assert_eq!(
        ignored(r#"{"type":"offer","match":"M","offer":"rematch","ply":3}"#),
        ["ply"]
    );
    let many: Vec<String> = (10..99).map(|n| format!(r#""f{n}":1"#)).collect();
    let long = "x".repeat(65);
    let text = format!(r#"{{"type":"ping","{long}":1,{}}}"#, many.join(","));
    assert_eq!(ignored(&text).len(), 8);
}

#[test]
fn invalid_json_or_missing_type_is_malformed() {
    for text in [
        "",
        "{",
        "[]",
        "1",
        "null",
        r#""hello""#,
        "{} {}",
        "\u{0}",
        r#"{"type":1}"#,
    ] {
        check_refused(text, ErrorCode::Malformed, None, None);
    }
    check_refused(r#"{"id":7}"#, ErrorCode::Malformed, Some(7), None);
    check_refused(r#"{"id":-7,"type":null}"#, ErrorCode::Malformed, None, None);
    check_refused(&"[".repeat(4000), ErrorCode::Malformed, None, None);
    check_refused(
        r#"{"id":7,"type":"\ud800"}"#,
        ErrorCode::Malformed,
        Some(7),
        None,
    );
}

#[test]
fn unknown_type_error_has_request_id() {
    check_refused(
        r#"{"type":"fly","id":0}"#,
        ErrorCode::UnknownType,
        Some(0),
        None,
    );
    check_refused(r#"{"type":"Ping"}"#, ErrorCode::UnknownType, None, None);
}

#[test]
fn seekers_field_must_be_boolean() {
    for kind in ["list", "watch_list"] {
        let text = format!(r#"{{"type":"{kind}","id":1,"seekers":1}}"#);
        let error = Request::decode(&text).unwrap_err();
        assert_eq!(error.error.field.as_deref(), Some("seekers"), "{kind}");
    }
}

#[test]
fn bad_field_error_names_the_field() {
    let bad = |text: &str, field| check_refused(text, ErrorCode::BadField, Some(1), Some(field));
    bad(r#"{"type":"create","id":1}"#, "game");
    bad(r#"{"type":"create","id":1,"game":null}"#, "game");
    bad(
        r#"{"type":"create","id":1,"game":"g","seats":["me","me"]}"#,
        "seats",
    );
    bad(
        r#"{"type":"create","id":1,"game":"g","seats":["me"]}"#,
        "seats",
    );
    bad(
        r#"{"type":"create","id":1,"game":"g","seats":["me",{"bot":1}]}"#,
        "seats",
    );
    bad(
        r#"{"type":"create","id":1,"game":"g","listed":"yes"}"#,
        "listed",
    );
    bad(
        r#"{"type":"create","id":1,"game":"g","pace_ms":10001}"#,
        "pace_ms",
    );
    bad(r#"{"type":"join","id":1,"match":"M","seat":2}"#, "seat");
    bad(
        r#"{"type":"seat","id":1,"match":"M","seat":1,"occupant":"me"}"#,
        "occupant",
    );
    bad(
        r#"{"type":"seat","id":1,"match":"M","occupant":"open"}"#,
        "seat",
    );
    bad(
        r#"{"type":"move","id":1,"match":"M","ply":-1,"move":"a1"}"#,
        "ply",
    );
    bad(
        r#"{"type":"move","id":1,"match":"M","ply":0.5,"move":"a1"}"#,
        "ply",
    );
    bad(r#"{"type":"move","id":1,"match":"M","ply":0}"#, "move");
    bad(r#"{"type":"list","id":1,"limit":0}"#, "limit");
    bad(r#"{"type":"list","id":1,"status":"over"}"#, "status");
    bad(r#"{"type":"history","id":1,"limit":101}"#, "limit");
    bad(r#"{"type":"history","id":1,"result":"well"}"#, "result");
    let many = vec!["a1"; 16];
    bad(
        &format!(r#"{{"type":"explore","id":1,"game":"g","moves":{many:?}}}"#),
        "moves",
    );
    bad(
        r#"{"type":"explore","id":1,"game":"g","moves":[1]}"#,
        "moves",
    );
    bad(
        r#"{"type":"profile","id":1,"name":"ada","player":"me"}"#,
        "player",
    );
    bad(
        r#"{"type":"seek","id":1,"game":"g","bot_after_ms":60001}"#,
        "bot_after_ms",
    );
    for since in ["9007199254740992", "9007199254740991.4", "1e-400", "-1"] {
        let text = format!(r#"{{"type":"resync","id":1,"match":"M","since":{since}}}"#);
        bad(&text, "since");
    }
    for ms in ["4999", "60001", "null"] {
        let text = format!(r#"{{"type":"give_time","id":1,"match":"M","ms":{ms}}}"#);
        bad(&text, "ms");
    }
}

#[test]
fn history_opt_out_needs_casual_match_against_bot() {
    let create = |fields: &str| format!(r#"{{"type":"create","id":1,"game":"g",{fields}}}"#);
    let seats = r#""seats":["me",{"bot":"easy"}]"#;
    let casual = create(&format!(r#""history":false,{seats}"#));
    assert!(Request::decode(&casual).is_ok(), "{casual}");
    let clock = r#""clock":{"kind":"move","move_ms":5000}"#;
    for fields in [
        r#""history":0"#,
        r#""history":false"#,
        r#""history":false,"seats":["me","open"]"#,
        r#""history":false,"seats":["open",{"bot":"easy"}]"#,
        r#""history":false,"seats":["open","open"]"#,
        &format!(r#""history":false,"rated":true,{clock},{seats}"#),
    ] {
        let create = create(fields);
        check_refused(&create, ErrorCode::BadField, Some(1), Some("history"));
    }
}

#[test]
fn bad_match_terms_name_the_field() {
    let bad = |fields: &str, field| {
        let text = format!(r#"{{"type":"create","id":1,"game":"g",{fields}}}"#);
        check_refused(&text, ErrorCode::BadField, Some(1), Some(field));
    };
    for clock in [
        "\"5+3\"",
        "[]",
        "{}",
        r#"{"kind":"hourglass","main_ms":60000}"#,
        r#"{"kind":"fischer","main_ms":60000}"#,
        r#"{"kind":"fischer","main_ms":60000,"increment_ms":null}"#,
        r#"{"kind":"fischer","main_ms":0,"increment_ms":0}"#,
        r#"{"kind":"fischer","main_ms":60000.5,"increment_ms":0}"#,
        r#"{"kind":"move","move_ms":4999}"#,
    ] {
        bad(&format!(r#""clock":{clock}"#), "clock");
    }
    let correspondence_clock = r#""clock":{"kind":"move","move_ms":3600000}"#;
    bad(
        &format!(r#"{correspondence_clock},"patience_ms":10000"#),
        "patience_ms",
    );
    bad(&format!(r#"{correspondence_clock},"bot":"easy""#), "bot");
    bad(r#""patience_ms":9999"#, "patience_ms");
    bad(r#""patience_ms":86400001"#, "patience_ms");
    bad(r#""takeback":0"#, "takeback");
    bad(r#""stand_in":true"#, "stand_in");
    bad(r#""rated":"no""#, "rated");
    bad(r#""position":["a1"]"#, "position");
    bad(&format!(r#""position":"{}""#, "b".repeat(301)), "position");
    let clock = r#""clock":{"kind":"move","move_ms":5000},"rated":true"#;
    bad(&format!(r#"{clock},"position":"x""#), "position");
    bad(r#""rated":true"#, "rated");
    bad(&format!(r#"{clock},"takeback":true"#), "rated");
    bad(&format!(r#"{clock},"stand_in":"easy""#), "rated");
    bad(&format!(r#"{clock},"watch":"code""#), "rated");
    bad(
        &format!(r#"{clock},"seats":[{{"bot":"easy"}},{{"bot":"easy"}}]"#),
        "rated",
    );
    for (seek, field) in [
        (r#""rated":true"#, "rated"),
        (&format!(r#"{clock},"bot":"easy""#), "rated"),
        (&format!(r#"{clock},"stand_in":"easy""#), "rated"),
        (&format!(r#"{clock},"rating":[-1001,0]"#), "rating"),
        (&format!(r#"{clock},"rating":[0,-1]"#), "rating"),
        (&format!(r#"{clock},"rating":[1]"#), "rating"),
        (r#""rating":[-200,200]"#, "rating"),
    ] {
        let seek = format!(r#"{{"type":"seek","id":1,"game":"g",{seek}}}"#);
        check_refused(&seek, ErrorCode::BadField, Some(1), Some(field));
    }
    for (fields, field) in [(r#""pool":"fast""#, "pool"), (r#""after":-1"#, "after")] {
        let leaders = format!(r#"{{"type":"leaders","id":1,"game":"g",{fields}}}"#);
        check_refused(&leaders, ErrorCode::BadField, Some(1), Some(field));
    }
    bad(r#""for":1"#, "for");
    bad(r#""for":"p","seats":["open","open"]"#, "for");
    bad(r#""for":"p","bot":"easy""#, "for");
    bad(r#""bot":"easy","seats":["open","open"]"#, "bot");
    bad(r#""bot":{"level":"easy"}"#, "bot");
    let seek =
        format!(r#"{{"type":"seek","id":1,"game":"g",{correspondence_clock},"bot":"easy"}}"#);
    check_refused(&seek, ErrorCode::BadField, Some(1), Some("bot"));
}

#[test]
fn bad_offer_names_the_field() {
    let bad = |fields: &str, field| {
        let text = format!(r#"{{"type":"offer","id":1,"match":"M",{fields}}}"#);
        check_refused(&text, ErrorCode::BadField, Some(1), Some(field));
    };
    bad(r#""ply":1"#, "offer");
    bad(r#""offer":"challenge""#, "offer");
    bad(r#""offer":"draw""#, "ply");
    bad(r#""offer":"takeback","to_ply":1"#, "ply");
    for to_ply in ["31", "32", "28", "-1", "\"30\""] {
        bad(
            &format!(r#""offer":"takeback","ply":31,"to_ply":{to_ply}"#),
            "to_ply",
        );
    }
    bad(r#""offer":"takeback","ply":0,"to_ply":0"#, "to_ply");
    let decline = r#"{"type":"decline","id":1,"match":"M","offer":"peace"}"#;
    check_refused(decline, ErrorCode::BadField, Some(1), Some("offer"));
}

#[test]
fn invalid_request_id_is_not_echoed() {
    for id in [
        "1e400",
        "-1",
        "1.5",
        "\"1\"",
        "true",
        "9007199254740992",
        "[]",
    ] {
        let text = format!(r#"{{"type":"ping","id":{id}}}"#);
        check_refused(&text, ErrorCode::BadField, None, Some("id"));
    }
}

#[test]
fn decode_error_of_hello_is_marked() {
    let is_hello = |text| Request::decode(text).unwrap_err().is_hello;
    assert!(is_hello(r#"{"type":"hello","name":1}"#));
    assert!(is_hello(r#"{"type":"hello","id":-1}"#));
    assert!(!is_hello(r#"{"type":"move"}"#));
}

#[test]
fn chat_content_is_a_preset_or_a_text() {
    check_decoded(
        r#"{"type":"say","match":"","preset":"good-game"}"#,
        ClientMessage::Say {
            target: MatchRef::Invalid,
            content: ChatContent::Preset(ChatPreset::GoodGame),
        },
    );
    check_decoded(
        r#"{"type":"say","match":"","text":" e\u0301h? "}"#,
        ClientMessage::Say {
            target: MatchRef::Invalid,
            content: ChatContent::Text("\u{e9}h?".parse().unwrap()),
        },
    );
    let long = format!(r#""text":"{}""#, "a".repeat(141));
    for (fields, field) in [
        ("", "preset"),
        (r#""preset":"you-lose""#, "preset"),
        (r#""preset":"hello","text":"hello""#, "text"),
        (r#""text":" ""#, "text"),
        (r#""text":"a\u202eb""#, "text"),
        (&long, "text"),
    ] {
        let comma = if fields.is_empty() { "" } else { "," };
        let say = format!(r#"{{"type":"say","id":1,"match":"K7QM2P"{comma}{fields}}}"#);
        check_refused(&say, ErrorCode::BadField, Some(1), Some(field));
    }
}

#[test]
fn hello_with_two_credentials_is_refused() {
    for (fields, second_field) in [
        (r#""token":"t","pair":"p""#, "pair"),
        (r#""pair":"p","recovery":"r""#, "recovery"),
        (r#""recovery":"r","token":"t""#, "recovery"),
    ] {
        let hello = format!(r#"{{"type":"hello","id":1,{fields}}}"#);
        check_refused(&hello, ErrorCode::BadField, Some(1), Some(second_field));
    }
}
