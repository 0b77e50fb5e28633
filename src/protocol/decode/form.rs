//! What the fields of requests hold: how each is read, and what an error says that it must be.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::whole::whole;
use crate::INTEGER_MAX;
use crate::archive::MatchResult;
use crate::clock::ClockControl;
use crate::event::OfferKind;
use crate::id::SeatNumber;
use crate::ratings::Pool;
use crate::request::{SeatFill, SeatRequest, Status, WatchedBy};
use crate::said::Preset;
use crate::text::{MatchRef, Remark, Token, password};

/// After how many moves it is told what came next.
const EXPLORED_MAX: usize = 15;

/// No position of any game has so long a text: the longest is that of a full board of Gomoku, with 239 bytes.
const POSITION_BYTES_MAX: usize = 300;

/// What a field holds.
pub(super) struct Form<T> {
    /// What an error says that it must be.
    pub(super) expected: &'static str,
    /// Reads a value, given as JSON, that is not `null`.
    pub(super) read: fn(&str) -> Option<T>,
}

/// A whole number within these bounds.
macro_rules! integer {
    ($min:literal to $max:literal) => {
        Form {
            expected: concat!("an integer from ", $min, " to ", $max),
            read: |json| whole(json, $min..=$max),
        }
    };
}

pub(super) const TEXT: Form<String> = Form {
    expected: "a text",
    read: text,
};
pub(super) const PASSWORD: Form<Token> = Form {
    expected: "a text of 10 to 200 bytes",
    read: |json| text(json).and_then(|text| password(&text)),
};
pub(super) const FLAG: Form<bool> = Form {
    expected: "true or false",
    read: |json| json.parse().ok(),
};
pub(super) const MATCH: Form<MatchRef> = Form {
    expected: "the id or code of a match",
    read: |json| text(json).map(|text| MatchRef::from(&*text)),
};
pub(super) const SEAT: Form<SeatNumber> = Form {
    expected: "0 or 1",
    read: |json| whole(json, 0..=1)?.try_into().ok().map(SeatNumber),
};
pub(super) const COUNT: Form<u64> = Form {
    expected: "an integer from 0 to 2^53 - 1",
    read: |json| whole(json, 0..=INTEGER_MAX),
};
pub(super) const VERSION: Form<u64> = Form {
    expected: "a whole number",
    ..COUNT
};
pub(super) const PACE: Form<u64> = integer!(0 to 10_000);
pub(super) const DELAY: Form<u64> = integer!(0 to 600_000);
pub(super) const PATIENCE: Form<u64> = integer!(10_000 to 86_400_000);
pub(super) const GIFT: Form<u64> = integer!(5_000 to 60_000);
pub(super) const BOT_AFTER: Form<u64> = integer!(0 to 60_000);
pub(super) const LIMIT: Form<u64> = integer!(1 to 100);
pub(super) const NODES: Form<u64> = integer!(100 to 1_000_000);
pub(super) const STATUS: Form<Status> = Form {
    expected: r#""open", "running" or "ended""#,
    read: |json| from_list(json, Status::ALL, Status::as_str),
};
pub(super) const WATCH: Form<WatchedBy> = Form {
    expected: r#""anyone", "code" or "nobody""#,
    read: |json| from_list(json, WatchedBy::ALL, WatchedBy::as_str),
};
pub(super) const MOVES: Form<Vec<String>> = Form {
    expected: "a list of at most 15 moves",
    read: |json| {
        let moves: Vec<String> = serde_json::from_str(json).ok()?;
        (moves.len() <= EXPLORED_MAX).then_some(moves)
    },
};
pub(super) const POSITION: Form<String> = Form {
    expected: "the text of a position, of at most 300 bytes",
    read: |json| text(json).filter(|text| text.len() <= POSITION_BYTES_MAX),
};
pub(super) const RESULT: Form<MatchResult> = Form {
    expected: r#""won", "lost", "drawn" or "none""#,
    read: |json| from_list(json, MatchResult::ALL, MatchResult::as_str),
};
pub(super) const POOL: Form<Pool> = Form {
    expected: r#""live", "days" or "bots""#,
    read: |json| from_list(json, Pool::ALL, Pool::as_str),
};
pub(super) const WINDOW: Form<[i32; 2]> = Form {
    expected: "two integers from -1000 to 1000, the lower first",
    read: |json| {
        // As with all numbers, `2e2` is one, too.
        let ends: [f64; 2] = serde_json::from_str(json).ok()?;
        let fits = |end: &f64| end.fract() == 0.0 && (-1000.0..=1000.0).contains(end);
        #[expect(clippy::cast_possible_truncation, reason = "whole, and small")]
        let [low, high] = ends.map(|end| end as i32);
        (ends.iter().all(fits) && low <= high).then_some([low, high])
    },
};
pub(super) const OFFER: Form<OfferKind> = Form {
    expected: r#""draw", "takeback" or "rematch""#,
    read: |json| offer(json).filter(|offer| *offer != OfferKind::Challenge),
};
pub(super) const DECLINED: Form<OfferKind> = Form {
    expected: r#""draw", "takeback", "rematch" or "challenge""#,
    read: offer,
};
pub(super) const SEATS: Form<[SeatRequest; 2]> = Form {
    expected: r#"two of "me" (at most once), "open" and {"bot":LEVEL}"#,
    read: seats,
};
pub(super) const OCCUPANT: Form<SeatFill> = Form {
    expected: r#""open" or {"bot":LEVEL}"#,
    read: |json| match seat_request(&value(json)?)? {
        SeatRequest::Me => None,
        SeatRequest::Open => Some(SeatFill::Open),
        SeatRequest::Bot(level) => Some(SeatFill::Bot(level)),
    },
};
pub(super) const BOT: Form<String> = Form {
    expected: r#"a level as a text, or {"bot":LEVEL}"#,
    read: |json| match value(json)? {
        Value::String(level) => Some(level),
        other => Some(other.get("bot")?.as_str()?.to_owned()),
    },
};
pub(super) const PRESET: Form<Preset> = Form {
    expected: "one of the presets that `welcome` lists, or left out beside `text`",
    read: |json| from_list(json, Preset::ALL, Preset::as_str),
};
pub(super) const REMARK: Form<Remark> = Form {
    expected: "a text of 1 to 140 characters that can be shown",
    read: |json| text(json)?.parse().ok(),
};
pub(super) const CLOCK: Form<ClockControl> = Form {
    expected: r#"a clock within its bounds, such as {"kind":"fischer","main_ms":300000,"increment_ms":3000}"#,
    read: clock,
};

// What is JSON by its looks may still be no value: half a pair of surrogates, a number beyond all bounds.

fn text(json: &str) -> Option<String> {
    let bare = json.strip_prefix('"')?.strip_suffix('"')?;
    // Mostly nothing in it is escaped, and it stands there as it is.
    if bare.contains('\\') {
        return serde_json::from_str(json).ok();
    }
    Some(bare.to_owned())
}

fn value(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok()
}

/// The one of a closed list of words that is meant.
fn from_list<T: Copy>(json: &str, list: &[T], word: fn(T) -> &'static str) -> Option<T> {
    let text = text(json)?;
    list.iter().copied().find(|one| word(*one) == text)
}

fn offer(json: &str) -> Option<OfferKind> {
    from_list(json, OfferKind::ALL, OfferKind::as_str)
}

fn seats(json: &str) -> Option<[SeatRequest; 2]> {
    let value = value(json)?;
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

/// Reads a clock: all fields of its kind, and nothing else of it.
fn clock(json: &str) -> Option<ClockControl> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let number = |field| whole(fields.get(field)?.get(), 0..=INTEGER_MAX);
    let kind = text(fields.get("kind")?.get())?;
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
