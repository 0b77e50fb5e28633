//! Answers as JSON, each an object on a line.
//!
//! Written by hand, since a test set has many positions that take hardly longer to solve than serde
//! takes to write so many short fields: about 5,000 instructions, where this takes a quarter.

use super::answer::{Answer, Known, Row, Verdict};

/// Appends the object.
pub(super) fn write(out: &mut Vec<u8>, answer: &Answer<'_>) {
    raw(out, r#"{"position":"#);
    string(out, answer.position);
    raw(out, r#","turn":"#);
    string(out, answer.turn);
    raw(out, r#","outcome":"#);
    match &answer.outcome {
        Some(outcome) => serde_json::to_writer(&mut *out, outcome).expect("written to memory"),
        None => raw(out, "null"),
    }
    value(out, answer.score, answer.result, answer.plies);
    raw(
        out,
        if answer.exact {
            r#","exact":true"#
        } else {
            r#","exact":false"#
        },
    );
    for (name, count) in [
        (r#","depth":"#, answer.depth.into()),
        (r#","selective_depth":"#, answer.selective_depth.into()),
        (r#","nodes":"#, answer.nodes),
        (r#","nodes_per_second":"#, answer.nodes_per_second),
        (r#","time_us":"#, answer.time_us),
        (r#","table_hits":"#, answer.table_hits),
        (r#","table_use":"#, answer.table_use.into()),
    ] {
        raw(out, name);
        number(out, count);
    }
    optional(out, r#","pruned":"#, answer.pruned, number);
    optional(out, r#","best":"#, answer.best, string);
    raw(out, r#","pv":"#);
    list(out, answer.pv, |out, m| string(out, m));
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
    value(out, row.score, row.result, row.plies);
    raw(
        out,
        match row.known {
            Known::Exact => r#","known":"exact"}"#,
            Known::Estimate => r#","known":"estimate"}"#,
            Known::AtMost => r#","known":"at_most"}"#,
        },
    );
}

fn value(out: &mut Vec<u8>, score: i32, result: Option<Verdict>, plies: Option<u32>) {
    raw(out, r#","score":"#);
    if score < 0 {
        raw(out, "-");
    }
    number(out, score.unsigned_abs().into());
    raw(
        out,
        match result {
            Some(Verdict::Win) => r#","result":"win""#,
            Some(Verdict::Draw) => r#","result":"draw""#,
            Some(Verdict::Loss) => r#","result":"loss""#,
            None => r#","result":null"#,
        },
    );
    optional(out, r#","plies":"#, plies.map(u64::from), number);
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

fn number(out: &mut Vec<u8>, mut number: u64) {
    // The greatest has so many digits.
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] += (number % 10).to_le_bytes()[0];
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
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
    fn numbers_have_their_digits() {
        for n in [0, 7, 10, 99, 12_345, u64::MAX] {
            assert_eq!(written(|out| number(out, n)), n.to_string());
        }
    }

    #[test]
    fn texts_are_escaped_as_serde_does() {
        for text in ["", "xo./...", "say \"no\"\\", "tab\t, \u{1}", "grün"] {
            let expected = serde_json::to_string(text).expect("writes");
            assert_eq!(written(|out| string(out, text)), expected);
        }
    }
}
