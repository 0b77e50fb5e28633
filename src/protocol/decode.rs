//! Reads requests, and says exactly what is wrong with one that cannot be read.
//!
//! By hand rather than by derive: an error must name the request's field and carry the request's
//! number, which derived deserialisation of a tagged enum cannot tell.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::Value;
use serde_json::value::RawValue;

use super::INTEGER_MAX;
use super::error::{ErrorCode, WireError};
use super::id::{Ply, RequestId, SeatNumber, Seq};
use super::request::{ClientMessage, HostedOccupant, Request, SeatRequest, Status};
use super::text::{MatchRef, Token};

/// A message that is no request: what to answer, and whether it tried to be a `hello`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The answer.
    pub error: WireError,
    /// Whether its `type` was `hello`, for which no guest is welcomed unasked.
    pub is_hello: bool,
}

impl Refused {
    fn new(re: Option<RequestId>, code: ErrorCode, message: impl Into<Box<str>>) -> Box<Self> {
        let error = WireError::new(code, message);
        Box::new(Self {
            error: WireError { re, ..error },
            is_hello: false,
        })
    }
}

impl Request {
    /// Reads one message of a client.
    ///
    /// # Errors
    ///
    /// `malformed`, `unknown_type` or `bad_field`, with the request's number if it has one.
    pub fn decode(text: &str) -> Result<Self, Box<Refused>> {
        // Only what is a field of the request is looked into.
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)
            .map_err(|error| Refused::new(None, ErrorCode::Malformed, error.to_string()))?;
        let fields = Fields(&fields);
        let id = fields.optional("id", COUNT);
        let re = id.as_ref().ok().copied().flatten().map(RequestId);
        let Ok(Some(kind)) = fields.optional("type", TEXT) else {
            return Err(Refused::new(re, ErrorCode::Malformed, "no text `type`"));
        };
        match id.and_then(|_| read(&kind, &fields)) {
            Ok(Some(message)) => Ok(Self { id: re, message }),
            Ok(None) => {
                let types = ClientMessage::TYPES.join(", ");
                let message = format!("no such request; there are {types}");
                Err(Refused::new(re, ErrorCode::UnknownType, message))
            }
            Err(BadField { field, expected }) => {
                let message = format!("`{field}` must be {expected}");
                let mut refused = Refused::new(re, ErrorCode::BadField, message);
                refused.error.field = Some(field.into());
                refused.is_hello = kind == "hello";
                Err(refused)
            }
        }
    }
}

/// Reads the request of this type, or `None` if there is no such type.
fn read(kind: &str, fields: &Fields<'_>) -> Result<Option<ClientMessage>, BadField> {
    Ok(Some(match kind {
        "hello" => ClientMessage::Hello {
            protocol: fields.optional("protocol", VERSION)?,
            name: fields.optional("name", TEXT)?,
            token: fields.optional("token", TEXT)?.map(Token::new),
        },
        "ping" => ClientMessage::Ping,
        "create" => ClientMessage::Create {
            game: fields.required("game", TEXT)?,
            seats: fields.optional("seats", SEATS)?,
            listed: fields.optional("listed", FLAG)?,
            shuffle: fields.optional("shuffle", FLAG)?,
            pace_ms: fields.optional("pace_ms", PACE)?,
        },
        "join" => ClientMessage::Join {
            target: fields.required("match", MATCH)?,
            seat: fields.optional("seat", SEAT)?,
        },
        "watch" => ClientMessage::Watch {
            target: fields.required("match", MATCH)?,
        },
        "leave" => ClientMessage::Leave {
            target: fields.required("match", MATCH)?,
        },
        "seat" => ClientMessage::Seat {
            target: fields.required("match", MATCH)?,
            seat: fields.required("seat", SEAT)?,
            occupant: fields.required("occupant", OCCUPANT)?,
        },
        "move" => ClientMessage::Move {
            target: fields.required("match", MATCH)?,
            ply: Ply(fields.required("ply", COUNT)?),
            m: fields.required("move", TEXT)?,
        },
        "resign" => ClientMessage::Resign {
            target: fields.required("match", MATCH)?,
        },
        "list" => ClientMessage::List {
            game: fields.optional("game", TEXT)?,
            status: fields.optional("status", STATUS)?,
            limit: fields.optional("limit", LIMIT)?,
            after: fields
                .optional("after", TEXT)?
                .map(|text| MatchRef::from(&*text)),
        },
        "seek" => ClientMessage::Seek {
            game: fields.required("game", TEXT)?,
            bot: fields.optional("bot", TEXT)?,
            bot_after_ms: fields.optional("bot_after_ms", BOT_AFTER)?,
        },
        "unseek" => ClientMessage::Unseek,
        "resync" => ClientMessage::Resync {
            target: fields.required("match", MATCH)?,
            since: Seq(fields.required("since", COUNT)?),
        },
        _ => return Ok(None),
    }))
}

/// What a field holds.
struct Form<T> {
    /// What an error says that it must be.
    expected: &'static str,
    /// Reads a value that is not `null`.
    read: fn(Value) -> Option<T>,
}

const TEXT: Form<String> = Form {
    expected: "a text",
    read: text,
};
const FLAG: Form<bool> = Form {
    expected: "true or false",
    read: |value| value.as_bool(),
};
const MATCH: Form<MatchRef> = Form {
    expected: "the id or code of a match",
    read: |value| value.as_str().map(MatchRef::from),
};
const SEAT: Form<SeatNumber> = Form {
    expected: "0 or 1",
    read: |value| integer(&value, 0..=1)?.try_into().ok().map(SeatNumber),
};
const COUNT: Form<u64> = Form {
    expected: "an integer from 0 to 2^53 - 1",
    read: |value| integer(&value, 0..=INTEGER_MAX),
};
const VERSION: Form<u64> = Form {
    expected: "a whole number",
    ..COUNT
};
const PACE: Form<u64> = Form {
    expected: "an integer from 0 to 10000",
    read: |value| integer(&value, 0..=10_000),
};
const BOT_AFTER: Form<u64> = Form {
    expected: "an integer from 0 to 60000",
    read: |value| integer(&value, 0..=60_000),
};
const LIMIT: Form<u64> = Form {
    expected: "an integer from 1 to 100",
    read: |value| integer(&value, 1..=100),
};
const STATUS: Form<Status> = Form {
    expected: r#""open", "running" or "ended""#,
    read: |value| match value.as_str()? {
        "open" => Some(Status::Open),
        "running" => Some(Status::Running),
        "ended" => Some(Status::Ended),
        _ => None,
    },
};
const SEATS: Form<[SeatRequest; 2]> = Form {
    expected: r#"two of "me" (at most once), "open" and {"bot":LEVEL}"#,
    read: seats,
};
const OCCUPANT: Form<HostedOccupant> = Form {
    expected: r#""open" or {"bot":LEVEL}"#,
    read: |value| match seat_request(&value)? {
        SeatRequest::Me => None,
        SeatRequest::Open => Some(HostedOccupant::Open),
        SeatRequest::Bot(level) => Some(HostedOccupant::Bot(level)),
    },
};

fn text(value: Value) -> Option<String> {
    let Value::String(text) = value else {
        return None;
    };
    Some(text)
}

fn seats(value: Value) -> Option<[SeatRequest; 2]> {
    let [first, second] = value.as_array()?.as_slice() else {
        return None;
    };
    let seats = [seat_request(first)?, seat_request(second)?];
    (seats != [SeatRequest::Me, SeatRequest::Me]).then_some(seats)
}

fn seat_request(value: &Value) -> Option<SeatRequest> {
    match value.as_str() {
        Some("me") => Some(SeatRequest::Me),
        Some("open") => Some(SeatRequest::Open),
        Some(_) => None,
        None => Some(SeatRequest::Bot(value.get("bot")?.as_str()?.to_owned())),
    }
}

/// Reads a whole number however it is written: JSON does not tell `3` from `3.0`.
fn integer(value: &Value, range: RangeInclusive<u64>) -> Option<u64> {
    let exact = |number: &f64| number.fract() == 0.0 && (0.0..=INTEGER_MAX as f64).contains(number);
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
    let whole = |number: f64| number as u64;
    let number = value
        .as_u64()
        .or_else(|| value.as_f64().filter(exact).map(whole));
    number.filter(|number| range.contains(number))
}

/// A field is missing, of the wrong type or out of its range.
struct BadField {
    field: &'static str,
    expected: &'static str,
}

/// The fields of a request. `null` counts as absent, and unknown fields are never looked at.
struct Fields<'a>(&'a BTreeMap<String, &'a RawValue>);

impl Fields<'_> {
    fn optional<T>(&self, field: &'static str, form: Form<T>) -> Result<Option<T>, BadField> {
        let Form { expected, read } = form;
        let Some(raw) = self.0.get(field) else {
            return Ok(None);
        };
        // What is JSON by its looks may still be no value: a number beyond all bounds, half a pair
        // of surrogates.
        match serde_json::from_str(raw.get()) {
            Ok(Value::Null) => Some(None),
            Ok(value) => read(value).map(Some),
            Err(_) => None,
        }
        .ok_or(BadField { field, expected })
    }

    fn required<T>(&self, field: &'static str, form: Form<T>) -> Result<T, BadField> {
        let expected = form.expected;
        self.optional(field, form)?
            .ok_or(BadField { field, expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: ClientMessage) {
        let request = Request::decode(text).unwrap_or_else(|refused| panic!("{text}: {refused:?}"));
        assert_eq!(request.message, expect, "{text}");
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(
            Request::decode(&again),
            Ok(request),
            "{text} written as {again}"
        );
    }

    fn check_refused(text: &str, code: ErrorCode, re: Option<u64>, field: Option<&str>) {
        let Err(refused) = Request::decode(text) else {
            panic!("{text} was read");
        };
        let error = refused.error;
        assert_eq!(error.code, code, "{text}");
        assert_eq!(error.re, re.map(RequestId), "{text}");
        assert_eq!(error.field.as_deref(), field, "{text}");
    }

    #[test]
    fn requests_are_read_and_written() {
        check(r#"{"type":"ping"}"#, ClientMessage::Ping);
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        for unknown in ["1e999", r#""\ud800""#, &"1".repeat(400), &deep] {
            check(
                &format!(r#"{{"type":"ping","x":{unknown}}}"#),
                ClientMessage::Ping,
            );
        }
        let since = Seq(INTEGER_MAX);
        let resync = ClientMessage::Resync {
            target: MatchRef::Nothing,
            since,
        };
        check(
            r#"{"type":"resync","match":"M","since":9007199254740991.0}"#,
            resync,
        );
        check(
            r#"{"type":"ping","id":null,"unknown":[1]}"#,
            ClientMessage::Ping,
        );
        check(
            r#"{"type":"hello","protocol":1,"name":"ada","token":null}"#,
            ClientMessage::Hello {
                protocol: Some(1),
                name: Some("ada".into()),
                token: None,
            },
        );
        check(
            r#"{"type":"create","game":"go","seats":["me",{"bot":"hard","x":1}],"pace_ms":1e4}"#,
            ClientMessage::Create {
                game: "go".into(),
                seats: Some([SeatRequest::Me, SeatRequest::Bot("hard".into())]),
                listed: None,
                shuffle: None,
                pace_ms: Some(10_000),
            },
        );
    }

    #[test]
    fn a_match_is_named_by_id_or_code() {
        check(
            r#"{"type":"seat","match":"k7qm2p","seat":1,"occupant":"open"}"#,
            ClientMessage::Seat {
                target: MatchRef::from("K7QM2P"),
                seat: SeatNumber(1),
                occupant: HostedOccupant::Open,
            },
        );
        check(
            r#"{"type":"move","match":" K7QM2P","ply":2.0,"move":" B2"}"#,
            ClientMessage::Move {
                target: MatchRef::from("K7QM2P"),
                ply: Ply(2),
                m: " B2".into(),
            },
        );
        check(
            r#"{"type":"move","match":" K7QM2P","ply":2,"move":"\u0062\u0032"}"#,
            ClientMessage::Move {
                target: MatchRef::from("K7QM2P"),
                ply: Ply(2),
                m: "b2".into(),
            },
        );
        check(
            r#"{"type":"list","status":"ended","limit":100,"after":"K7QM2P"}"#,
            ClientMessage::List {
                game: None,
                status: Some(Status::Ended),
                limit: Some(100),
                after: Some(MatchRef::from("K7QM2P")),
            },
        );
    }

    #[test]
    fn what_is_no_request_is_malformed() {
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
    fn an_unknown_request_is_told_its_number() {
        check_refused(
            r#"{"type":"fly","id":0}"#,
            ErrorCode::UnknownType,
            Some(0),
            None,
        );
        check_refused(r#"{"type":"Ping"}"#, ErrorCode::UnknownType, None, None);
    }

    #[test]
    fn a_bad_field_is_named() {
        let bad = |text, field| check_refused(text, ErrorCode::BadField, Some(1), Some(field));
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
        bad(
            r#"{"type":"seek","id":1,"game":"g","bot_after_ms":60001}"#,
            "bot_after_ms",
        );
        bad(
            r#"{"type":"resync","id":1,"match":"M","since":9007199254740992}"#,
            "since",
        );
    }

    #[test]
    fn a_bad_number_cannot_be_repeated() {
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
    fn a_refused_hello_is_known_as_one() {
        let is_hello = |text| Request::decode(text).unwrap_err().is_hello;
        assert!(is_hello(r#"{"type":"hello","name":1}"#));
        assert!(is_hello(r#"{"type":"hello","id":-1}"#));
        assert!(!is_hello(r#"{"type":"move"}"#));
    }
}
