//! Answers as JSON, each an object on a line.
//!
//! Written by hand, since a test set has many positions that take hardly longer to solve than serde
//! takes to write so many short fields: about 5,000 instructions, where this takes a quarter.

use std::time::Duration;

use plyhouse_engine::search::{Certainty, Playouts};

use super::answer::{Answer, Row, Value};

/// Appends the object.
pub(super) fn write(out: &mut Vec<u8>, answer: &Answer<'_>) {
    let report = answer.report;
    raw(out, r#"{"position":"#);
    string(out, answer.position);
    raw(out, r#","turn":"#);
    string(out, answer.turn);
    raw(out, r#","outcome":"#);
    match &answer.outcome {
        Some(outcome) => serde_json::to_writer(&mut *out, outcome).expect("written to memory"),
        None => raw(out, "null"),
    }
    value(out, answer.value);
    raw(out, r#","exact":"#);
    raw(out, if report.exact { "true" } else { "false" });
    for (name, count) in [
        (r#","depth":"#, report.depth.into()),
        (r#","selective_depth":"#, report.selective_depth.into()),
        (r#","nodes":"#, report.nodes),
        (r#","nodes_per_second":"#, report.nodes_per_second()),
        (r#","time_us":"#, micros(report.time)),
        (r#","table_hits":"#, report.table_hits),
        (r#","table_use":"#, report.table_fill_per_mille.into()),
    ] {
        raw(out, name);
        number(out, count);
    }
    optional(out, r#","pruned":"#, report.pruned, number);
    playouts(out, report.playouts);
    optional(out, r#","best":"#, report.pv.first(), |out, m| {
        string(out, m)
    });
    raw(out, r#","pv":"#);
    list(out, &report.pv, |out, m| string(out, m));
    raw(out, r#","moves":"#);
    list(out, &answer.moves, row);
    raw(out, "}");
}

/// Appends what is said instead of an answer.
pub(super) fn write_error(out: &mut Vec<u8>, error: &str) {
    raw(out, r#"{"error":"#);
    string(out, error);
    raw(out, "}");
}

fn row(out: &mut Vec<u8>, row: &Row<'_>) {
    raw(out, r#"{"move":"#);
    string(out, row.m);
    value(out, row.value);
    raw(
        out,
        match row.certainty {
            Certainty::Exact => r#","known":"exact""#,
            Certainty::Estimate => r#","known":"estimate""#,
            Certainty::UpperBound => r#","known":"at_most""#,
        },
    );
    playouts(out, row.playouts);
    raw(out, "}");
}

/// Nothing where the search was not by playouts.
fn playouts(out: &mut Vec<u8>, playouts: Option<Playouts>) {
    if let Some(Playouts {
        count,
        wins_per_mille: won,
        ..
    }) = playouts
    {
        raw(out, r#","playouts":"#);
        number(out, count);
        raw(out, r#","win_rate":"#);
        raw(out, &format!("{:.3}", f64::from(won) / 1000.0));
    }
}

fn value(out: &mut Vec<u8>, value: Value) {
    raw(out, r#","score":"#);
    number(out, value.score);
    optional(out, r#","result":"#, value.result, |out, wdl| {
        string(out, wdl.name());
    });
    optional(out, r#","plies":"#, value.plies, number);
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn raw(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn optional<T>(out: &mut Vec<u8>, name: &str, value: Option<T>, write: fn(&mut Vec<u8>, T)) {
    raw(out, name);
    match value {
        Some(value) => write(out, value),
        None => raw(out, "null"),
    }
}

fn list<T>(out: &mut Vec<u8>, all: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    raw(out, "[");
    for (index, one) in all.iter().enumerate() {
        if index > 0 {
            raw(out, ",");
        }
        write(out, one);
    }
    raw(out, "]");
}

fn string(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    // All notations are plain. Not so what people may have typed. To look at all bytes, rather than
    // up to the first that is not, lets many be looked at at once.
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        raw(out, "\"");
        raw(out, text);
        raw(out, "\"");
    } else {
        serde_json::to_writer(out, text).expect("written to memory");
    }
}

fn number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    raw(out, itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn texts_are_escaped_as_serde_does() {
        for text in ["", "xo./...", "say \"no\"\\", "tab\t, \u{1}", "grün"] {
            let expected = serde_json::to_string(text).expect("writes");
            assert_eq!(written(|out| string(out, text)), expected);
        }
    }
}
