//! Reads requests, and says exactly what is wrong with one that cannot be read.
//!
//! By hand rather than by derive: an error must name the request's own field and carry the
//! request's number, which a derived reader of tagged enums cannot tell.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::INTEGER_MAX;
use super::error::{ErrorCode, WireError};
use super::id::{Ply, RequestId, SeatNumber, Seq};
use super::request::{ClientMessage, HostedOccupant, Request, SeatRequest, Status};
use super::text::Token;

/// A message that is no request: what to answer, and whether it tried to be a `hello`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The answer.
    pub error: WireError,
    /// Whether its `type` was `hello`, for which no guest is welcomed unasked.
    pub is_hello: bool,
}

/// A field is missing, of the wrong type or out of its range.
struct BadField {
    field: &'static str,
    expected: &'static str,
}

/// Reads a `move` as most clients write it: what they send most by far. `None` is whatever is written
/// in another way, be it right or wrong, and is read the careful way.
fn read_move(text: &str) -> Option<Request> {
    let (mut kind, mut id, mut target, mut ply, mut m) = (None, None, None, None, None);
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    loop {
        let (name, after) = plain_text(rest)?;
        let after = after.strip_prefix(':')?;
        let after = after.strip_prefix(' ').unwrap_or(after);
        rest = match name {
            "type" => set(&mut kind, plain_text(after)),
            "match" => set(&mut target, plain_text(after)),
            "move" => set(&mut m, plain_text(after)),
            "id" => set(&mut id, plain_number(after)),
            "ply" => set(&mut ply, plain_number(after)),
            _ => None,
        }?;
        if rest.is_empty() {
            break;
        }
        let after = rest.strip_prefix(',')?;
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    (kind? == "move").then_some(Request {
        id: id.map(RequestId),
        message: ClientMessage::Move {
            target: target?.to_owned(),
            ply: Ply(ply?),
            m: m?.to_owned(),
        },
    })
}

/// Sets a field that has not been read before, and gives what follows.
fn set<'a, T>(field: &mut Option<T>, read: Option<(T, &'a str)>) -> Option<&'a str> {
    let (value, rest) = read?;
    field.replace(value).is_none().then_some(rest)
}

/// A text without escapes, and what follows.
fn plain_text(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let is_special = |letter: u8| matches!(letter, b'"' | b'\\' | 0..b' ');
    let end = text.bytes().position(is_special)?;
    let (value, rest) = text.split_at(end);
    Some((value, rest.strip_prefix('"')?))
}

/// A number that the protocol allows, written in digits, and what follows.
fn plain_number(text: &str) -> Option<(u64, &str)> {
    let is_other = |letter: u8| !letter.is_ascii_digit();
    let (digits, rest) = text.split_at(text.bytes().position(is_other).unwrap_or(text.len()));
    let is_plain = digits == "0" || !digits.starts_with('0');
    let number = digits.parse().ok().filter(|number| *number <= INTEGER_MAX);
    is_plain.then_some((number?, rest))
}

impl Request {
    /// Reads one message of a client.
    ///
    /// # Errors
    ///
    /// `malformed`, `unknown_type` or `bad_field`, with the request's number if it has one.
    pub fn decode(text: &str) -> Result<Self, Box<Refused>> {
        read_move(text).map_or_else(|| Self::decode_carefully(text), Ok)
    }

    fn decode_carefully(text: &str) -> Result<Self, Box<Refused>> {
        let refused = |re, is_hello, error: WireError| {
            Box::new(Refused {
                error: WireError { re, ..error },
                is_hello,
            })
        };
        let malformed =
            |re, message: String| refused(re, false, WireError::new(ErrorCode::Malformed, message));
        // Only what is a field of the request is looked into.
        let object: BTreeMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|error| malformed(None, error.to_string()))?;
        let fields = Fields(&object);
        let id = fields.integer("id", 0, INTEGER_MAX, "an integer from 0 to 2^53 - 1");
        let re = id.as_ref().ok().copied().flatten().map(RequestId);
        let kind = object
            .get("type")
            .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let Some(kind) = kind else {
            return Err(malformed(re, "no text `type`".to_owned()));
        };
        let bad_field = |re, bad: BadField| {
            let message = format!("`{}` must be {}", bad.field, bad.expected);
            let error = WireError::new(ErrorCode::BadField, message);
            let field = Some(bad.field.into());
            refused(re, kind == "hello", WireError { field, ..error })
        };
        if let Err(bad) = id {
            return Err(bad_field(None, bad));
        }
        match read(&kind, &fields) {
            Some(Ok(message)) => Ok(Self { id: re, message }),
            Some(Err(bad)) => Err(bad_field(re, bad)),
            None => {
                let message = format!(
                    "no such request; there are {}",
                    ClientMessage::TYPES.join(", ")
                );
                Err(refused(
                    re,
                    false,
                    WireError::new(ErrorCode::UnknownType, message),
                ))
            }
        }
    }
}

/// Reads the request of this type, or `None` if there is no such type.
fn read(kind: &str, fields: &Fields<'_>) -> Option<Result<ClientMessage, BadField>> {
    Some(match kind {
        "hello" => hello(fields),
        "ping" => Ok(ClientMessage::Ping),
        "create" => create(fields),
        "join" => join(fields),
        "watch" => fields
            .target()
            .map(|target| ClientMessage::Watch { target }),
        "leave" => fields
            .target()
            .map(|target| ClientMessage::Leave { target }),
        "seat" => seat(fields),
        "move" => play(fields),
        "resign" => fields
            .target()
            .map(|target| ClientMessage::Resign { target }),
        "list" => list(fields),
        "seek" => seek(fields),
        "unseek" => Ok(ClientMessage::Unseek),
        "resync" => resync(fields),
        _ => return None,
    })
}

fn hello(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    Ok(ClientMessage::Hello {
        protocol: fields.integer("protocol", 0, INTEGER_MAX, "a whole number")?,
        name: fields.text("name")?,
        token: fields.text("token")?.map(Token::new),
    })
}

fn create(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    Ok(ClientMessage::Create {
        game: fields.required("game", Fields::text, TEXT)?,
        seats: fields.optional("seats", SEATS, seats)?,
        listed: fields.flag("listed")?,
        shuffle: fields.flag("shuffle")?,
        pace_ms: fields.integer("pace_ms", 0, 10_000, "an integer from 0 to 10000")?,
    })
}

fn join(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    Ok(ClientMessage::Join {
        target: fields.target()?,
        seat: fields.seat()?,
    })
}

fn seat(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    const OCCUPANT: &str = r#""open" or {"bot":LEVEL}"#;
    let occupant = |value: &Value| match seat_request(value)? {
        SeatRequest::Me => None,
        SeatRequest::Open => Some(HostedOccupant::Open),
        SeatRequest::Bot(level) => Some(HostedOccupant::Bot(level)),
    };
    Ok(ClientMessage::Seat {
        target: fields.target()?,
        seat: fields.required("seat", |fields, _| fields.seat(), SEAT)?,
        occupant: fields.required(
            "occupant",
            |fields, name| fields.optional(name, OCCUPANT, occupant),
            OCCUPANT,
        )?,
    })
}

fn play(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    Ok(ClientMessage::Move {
        target: fields.target()?,
        ply: Ply(fields.count("ply")?),
        m: fields.required("move", Fields::text, TEXT)?,
    })
}

fn list(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    let status = |value: &Value| match value.as_str()? {
        "open" => Some(Status::Open),
        "running" => Some(Status::Running),
        "ended" => Some(Status::Ended),
        _ => None,
    };
    Ok(ClientMessage::List {
        game: fields.text("game")?,
        status: fields.optional("status", r#""open", "running" or "ended""#, status)?,
        limit: fields.integer("limit", 1, 100, "an integer from 1 to 100")?,
        after: fields.text("after")?,
    })
}

fn seek(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    Ok(ClientMessage::Seek {
        game: fields.required("game", Fields::text, TEXT)?,
        bot: fields.text("bot")?,
        bot_after_ms: fields.integer("bot_after_ms", 0, 60_000, "an integer from 0 to 60000")?,
    })
}

fn resync(fields: &Fields<'_>) -> Result<ClientMessage, BadField> {
    Ok(ClientMessage::Resync {
        target: fields.target()?,
        since: Seq(fields.count("since")?),
    })
}

const TEXT: &str = "a text";
const SEAT: &str = "0 or 1";
const SEATS: &str = r#"two of "me" (at most once), "open" and {"bot":LEVEL}"#;

fn seats(value: &Value) -> Option<[SeatRequest; 2]> {
    let [first, second] = value.as_array()?.as_slice() else {
        return None;
    };
    let seats = [seat_request(first)?, seat_request(second)?];
    (seats != [SeatRequest::Me, SeatRequest::Me]).then_some(seats)
}

fn seat_request(value: &Value) -> Option<SeatRequest> {
    match value {
        Value::String(text) if text == "me" => Some(SeatRequest::Me),
        Value::String(text) if text == "open" => Some(SeatRequest::Open),
        Value::Object(bot) => Some(SeatRequest::Bot(bot.get("bot")?.as_str()?.to_owned())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// The fields of a request. `null` counts as absent, and unknown fields are never looked at.
struct Fields<'a>(&'a BTreeMap<String, &'a RawValue>);

impl Fields<'_> {
    fn optional<T>(
        &self,
        field: &'static str,
        expected: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, BadField> {
        let bad = BadField { field, expected };
        let Some(raw) = self.0.get(field) else {
            return Ok(None);
        };
        // What is JSON by its looks may still be no value: a number beyond all bounds, half a pair
        // of surrogates.
        match serde_json::from_str(raw.get()) {
            Ok(Value::Null) => Ok(None),
            Ok(value) => read(&value).map(Some).ok_or(bad),
            Err(_) => Err(bad),
        }
    }

    fn required<T>(
        &self,
        field: &'static str,
        read: impl Fn(&Self, &'static str) -> Result<Option<T>, BadField>,
        expected: &'static str,
    ) -> Result<T, BadField> {
        read(self, field)?.ok_or(BadField { field, expected })
    }

    fn text(&self, field: &'static str) -> Result<Option<String>, BadField> {
        self.optional(field, TEXT, |value| value.as_str().map(str::to_owned))
    }

    fn flag(&self, field: &'static str) -> Result<Option<bool>, BadField> {
        self.optional(field, "true or false", Value::as_bool)
    }

    fn integer(
        &self,
        field: &'static str,
        min: u64,
        max: u64,
        expected: &'static str,
    ) -> Result<Option<u64>, BadField> {
        self.optional(field, expected, |value| {
            integer(value).filter(|number| (min..=max).contains(number))
        })
    }

    fn target(&self) -> Result<String, BadField> {
        self.required("match", Self::text, "the id or code of a match")
    }

    fn seat(&self) -> Result<Option<SeatNumber>, BadField> {
        self.optional("seat", SEAT, |value| match integer(value)? {
            0 => Some(SeatNumber(0)),
            1 => Some(SeatNumber(1)),
            _ => None,
        })
    }

    fn count(&self, field: &'static str) -> Result<u64, BadField> {
        const COUNT: &str = "an integer from 0 to 2^53 - 1";
        self.required(
            field,
            |fields, name| fields.integer(name, 0, INTEGER_MAX, COUNT),
            COUNT,
        )
    }
}

/// Reads a whole number however it is written: JSON does not tell `3` from `3.0`.
fn integer(value: &Value) -> Option<u64> {
    let exact = |number: &f64| number.fract() == 0.0 && (0.0..=INTEGER_MAX as f64).contains(number);
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
    let whole = |number: f64| number as u64;
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(exact).map(whole))
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
            target: "M".into(),
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
        check(
            r#"{"type":"seat","match":"M","seat":1,"occupant":"open"}"#,
            ClientMessage::Seat {
                target: "M".into(),
                seat: SeatNumber(1),
                occupant: HostedOccupant::Open,
            },
        );
        check(
            r#"{"type":"move","match":"M","ply":2.0,"move":" B2"}"#,
            ClientMessage::Move {
                target: "M".into(),
                ply: Ply(2),
                m: " B2".into(),
            },
        );
        let m = ClientMessage::Move {
            target: "M".into(),
            ply: Ply(2),
            m: "b2".into(),
        };
        check(
            r#"{"type":"move","match":"M","ply":2,"move":"b2"}"#,
            m.clone(),
        );
        // As above, but with an escape, which only the careful way reads.
        check(
            r#"{"type":"move","match":"M","ply":2,"move":"\u0062\u0032"}"#,
            m,
        );
        check(
            r#"{"type":"list","status":"ended","limit":100}"#,
            ClientMessage::List {
                game: None,
                status: Some(Status::Ended),
                limit: Some(100),
                after: None,
            },
        );
    }

    /// Whatever is one letter away from a move.
    #[test]
    fn a_move_is_read_fast_as_it_is_read_carefully() {
        let text = r#"{"type":"move","id":10,"match":"M", "ply": 2,"move":"b2"}"#;
        assert!(read_move(text).is_some());
        let twice = text.replace('}', r#","ply":3}"#);
        assert_eq!(read_move(&twice), None, "the careful way knows what to do");
        let mut read = 0;
        for (at, _) in text.char_indices() {
            let (before, after) = text.split_at(at);
            let others = [
                "", " ", "\t", "0", "1", "-", ".", ",", ":", "\"", "\\", "{", "}", "\u{e9}",
            ];
            for other in others {
                for after in [after, &after[1..]] {
                    let text = format!("{before}{other}{after}");
                    let Some(request) = read_move(&text) else {
                        continue;
                    };
                    assert_eq!(Request::decode_carefully(&text), Ok(request), "{text}");
                    read += 1;
                }
            }
        }
        assert!(read > 100, "{read}");
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
