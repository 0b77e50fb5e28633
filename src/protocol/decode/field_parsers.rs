//! Parsers for the values of request fields, with the descriptions used in error messages.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::Value;
use serde_json::value::RawValue;

use super::integers::parse_integer;
use crate::INTEGER_MAX;
use crate::archive::MatchResult;
use crate::chat::ChatPreset;
use crate::event::OfferKind;
use crate::id::SeatNumber;
use crate::ratings::RatingPool;
use crate::request::{MatchStatus, SeatFill, SeatRequest, SpectatorAccess};
use crate::time_control::ClockControl;
use crate::validated_text::{ChatText, MatchRef, Token, normalize_password};

/// Maximum number of moves in an `explore` request.
const EXPLORED_MOVES_MAX: usize = 15;

/// Maximum length of a position, in bytes. The longest valid position is a full Gomoku board, which
/// takes 239 bytes.
const POSITION_BYTES_MAX: usize = 300;

/// Parser for the value of a field.
pub(super) struct FieldParser<T> {
    /// Description of a valid value, for the error message.
    pub(super) expected: &'static str,
    /// Parses a JSON value other than `null`. Returns `None` if the value is not valid.
    pub(super) parse: fn(&str) -> Option<T>,
}

impl<T> FieldParser<T> {
    const fn new(expected: &'static str, parse: fn(&str) -> Option<T>) -> Self {
        Self { expected, parse }
    }
}

/// Parser for an integer within the given bounds.
macro_rules! integer {
    ($min:literal to $max:literal) => {
        FieldParser::new(concat!("an integer from ", $min, " to ", $max), |json| {
            parse_integer(json, $min..=$max)
        })
    };
}

pub(super) const TEXT: FieldParser<String> =
    FieldParser::new("a string", |json| parse_text(json).map(Cow::into_owned));
pub(super) const PASSWORD: FieldParser<Token> =
    FieldParser::new("a string of 10 to 200 bytes", |json| {
        parse_text(json).and_then(|text| normalize_password(&text))
    });
pub(super) const BOOLEAN: FieldParser<bool> =
    FieldParser::new("true or false", |json| json.parse().ok());
pub(super) const MATCH: FieldParser<MatchRef> = FieldParser::new("a match id or code", |json| {
    parse_text(json).map(|text| MatchRef::from(&*text))
});
pub(super) const SEAT: FieldParser<SeatNumber> = FieldParser::new("0 or 1", |json| {
    parse_integer(json, 0..=1)?.try_into().ok().map(SeatNumber)
});
pub(super) const COUNT: FieldParser<u64> =
    FieldParser::new("an integer from 0 to 2^53 - 1", |json| {
        parse_integer(json, 0..=INTEGER_MAX)
    });
pub(super) const VERSION: FieldParser<u64> = FieldParser {
    expected: "a whole number",
    ..COUNT
};
pub(super) const BOT_DELAY: FieldParser<u64> = integer!(0 to 10_000);
pub(super) const SPECTATOR_DELAY: FieldParser<u64> = integer!(0 to 600_000);
pub(super) const ABSENCE_LIMIT: FieldParser<u64> = integer!(10_000 to 86_400_000);
pub(super) const GIVEN_TIME: FieldParser<u64> = integer!(5_000 to 60_000);
pub(super) const BOT_WAIT: FieldParser<u64> = integer!(0 to 60_000);
pub(super) const LIMIT: FieldParser<u64> = integer!(1 to 100);
pub(super) const NODES: FieldParser<u64> = integer!(100 to 1_000_000);
pub(super) const MATCH_STATUS: FieldParser<MatchStatus> =
    FieldParser::new(r#""open", "running" or "ended""#, parse_from_text);
pub(super) const SPECTATOR_ACCESS: FieldParser<SpectatorAccess> =
    FieldParser::new(r#""anyone", "code" or "nobody""#, parse_from_text);
pub(super) const MOVES: FieldParser<Vec<String>> =
    FieldParser::new("a list of at most 15 moves", |json| {
        let moves: Vec<String> = serde_json::from_str(json).ok()?;
        (moves.len() <= EXPLORED_MOVES_MAX).then_some(moves)
    });
pub(super) const POSITION: FieldParser<String> =
    FieldParser::new("a position as a string of at most 300 bytes", |json| {
        let text = parse_text(json).filter(|text| text.len() <= POSITION_BYTES_MAX);
        text.map(Cow::into_owned)
    });
pub(super) const MATCH_RESULT: FieldParser<MatchResult> =
    FieldParser::new(r#""won", "lost", "drawn" or "none""#, parse_from_text);
pub(super) const POOL: FieldParser<RatingPool> =
    FieldParser::new(r#""live", "days" or "bots""#, parse_from_text);
pub(super) const RATING_RANGE: FieldParser<[i32; 2]> =
    FieldParser::new("two integers from -1000 to 1000, the lower first", |json| {
        // Parses both bounds as floating-point numbers, so that notations such as `2e2` are
        // accepted. Other integer fields accept them, too.
        let ends: [f64; 2] = serde_json::from_str(json).ok()?;
        let is_valid_bound = |end: &f64| end.fract() == 0.0 && (-1000.0..=1000.0).contains(end);
        #[expect(clippy::cast_possible_truncation, reason = "whole, and small")]
        let [low, high] = ends.map(|end| end as i32);
        (ends.iter().all(is_valid_bound) && low <= high).then_some([low, high])
    });
pub(super) const OFFER: FieldParser<OfferKind> =
    FieldParser::new(r#""draw", "takeback" or "rematch""#, |json| {
        parse_from_text(json).filter(|offer| *offer != OfferKind::Challenge)
    });
pub(super) const DECLINED_OFFER: FieldParser<OfferKind> = FieldParser::new(
    r#""draw", "takeback", "rematch" or "challenge""#,
    parse_from_text,
);
pub(super) const SEATS: FieldParser<[SeatRequest; 2]> = FieldParser::new(
    r#"two of "me" (at most once), "open" and {"bot":LEVEL}"#,
    parse_seats,
);
pub(super) const OCCUPANT: FieldParser<SeatFill> = FieldParser::new(
    r#""open" or {"bot":LEVEL}"#,
    |json| match parse_seat_request(&parse_value(json)?)? {
        SeatRequest::Me => None,
        SeatRequest::Open => Some(SeatFill::Open),
        SeatRequest::Bot(level) => Some(SeatFill::Bot(level)),
    },
);
pub(super) const BOT_LEVEL: FieldParser<String> = FieldParser::new(
    r#"a level as a string, or {"bot":LEVEL}"#,
    |json| match parse_value(json)? {
        Value::String(level) => Some(level),
        other => Some(other.get("bot")?.as_str()?.to_owned()),
    },
);
pub(super) const CHAT_PRESET: FieldParser<ChatPreset> = FieldParser::new(
    "one of the presets in `welcome`, or omitted if `text` is given",
    parse_from_text,
);
pub(super) const CHAT_TEXT: FieldParser<ChatText> =
    FieldParser::new("a string of 1 to 140 printable characters", parse_from_text);
pub(super) const CLOCK: FieldParser<ClockControl> = FieldParser::new(
    r#"a clock within its limits, such as {"kind":"fischer","main_ms":300000,"increment_ms":3000}"#,
    parse_clock,
);

// All functions below receive syntactically valid JSON. The value can still be invalid: for
// example, a string with an unpaired surrogate, or a number out of range.

/// Parses a string. The text borrows from the JSON, unless it contains escapes.
pub(super) fn parse_text(json: &str) -> Option<Cow<'_, str>> {
    let unquoted = json.strip_prefix('"')?.strip_suffix('"')?;
    if unquoted.contains('\\') {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(unquoted))
}

fn parse_value(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok()
}

/// Parses a string that represents a value of `T`.
fn parse_from_text<T: FromStr>(json: &str) -> Option<T> {
    parse_text(json)?.parse().ok()
}

fn parse_seats(json: &str) -> Option<[SeatRequest; 2]> {
    let value = parse_value(json)?;
    let [first, second] = value.as_array()?.as_slice() else {
        return None;
    };
    let seats = [parse_seat_request(first)?, parse_seat_request(second)?];
    (seats != [SeatRequest::Me, SeatRequest::Me]).then_some(seats)
}

fn parse_seat_request(value: &Value) -> Option<SeatRequest> {
    match value.as_str() {
        Some("me") => Some(SeatRequest::Me),
        Some("open") => Some(SeatRequest::Open),
        Some(_) => None,
        None => Some(SeatRequest::Bot(value.get("bot")?.as_str()?.to_owned())),
    }
}

/// Parses a clock. The clock's `kind` determines which other fields are required. Unknown fields,
/// and fields that belong to other kinds of clocks, are ignored.
fn parse_clock(json: &str) -> Option<ClockControl> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let number = |field| parse_integer(fields.get(field)?.get(), 0..=INTEGER_MAX);
    let kind = parse_text(fields.get("kind")?.get())?;
    let control = match &*kind {
        "fischer" => ClockControl::Fischer {
            main_ms: number("main_ms")?,
            increment_ms: number("increment_ms")?,
        },
        "delay" => ClockControl::Delay {
            main_ms: number("main_ms")?,
            delay_ms: number("delay_ms")?,
        },
        "byo-yomi" => ClockControl::ByoYomi {
            main_ms: number("main_ms")?,
            period_ms: number("period_ms")?,
            periods: number("periods")?,
        },
        "move" => ClockControl::Move {
            move_ms: number("move_ms")?,
        },
        _ => return None,
    };
    control.is_within_bounds().then_some(control)
}
