//! Writes analysis results as JSON objects, one per line.
//!
//! For speed, the module writes JSON without serde. Test suites contain many easy positions, and
//! solving an easy position takes hardly longer than serializing its report with serde. Serde needs
//! about 5,000 instructions per object, and this module needs about a quarter as many.

use std::time::Duration;

use plyhouse_engine::search::{Certainty, Playouts};

use super::position_report::{Evaluation, MoveRow, PositionReport};

/// Appends the report as a JSON object.
pub(super) fn write_report(out: &mut Vec<u8>, report: &PositionReport<'_>) {
    let search = report.search_report;
    write_raw(out, r#"{"position":"#);
    write_string(out, report.position);
    write_raw(out, r#","turn":"#);
    write_string(out, report.turn);
    write_raw(out, r#","outcome":"#);
    match &report.outcome {
        Some(outcome) => {
            serde_json::to_writer(&mut *out, outcome).expect("writing to memory succeeds")
        }
        None => write_raw(out, "null"),
    }
    write_evaluation(out, report.evaluation);
    write_raw(out, r#","exact":"#);
    write_raw(out, if search.exact { "true" } else { "false" });
    for (name, count) in [
        (r#","depth":"#, search.depth.into()),
        (r#","selective_depth":"#, search.selective_depth.into()),
        (r#","nodes":"#, search.nodes),
        (r#","nodes_per_second":"#, search.nodes_per_second()),
        (r#","time_us":"#, to_micros(search.time)),
        (r#","table_hits":"#, search.table_hits),
        (r#","table_use":"#, search.table_fill_per_mille.into()),
    ] {
        write_raw(out, name);
        write_number(out, count);
    }
    write_optional(out, r#","pruned":"#, search.pruned, write_number);
    write_playouts(out, search.playouts);
    write_optional(out, r#","best":"#, search.pv.first(), |out, m| {
        write_string(out, m)
    });
    write_raw(out, r#","pv":"#);
    write_list(out, &search.pv, |out, m| write_string(out, m));
    write_raw(out, r#","moves":"#);
    write_list(out, &report.moves, write_move);
    write_raw(out, "}");
}

/// Appends an error as a JSON object.
pub(super) fn write_error(out: &mut Vec<u8>, error: &str) {
    write_raw(out, r#"{"error":"#);
    write_string(out, error);
    write_raw(out, "}");
}

fn write_move(out: &mut Vec<u8>, row: &MoveRow<'_>) {
    write_raw(out, r#"{"move":"#);
    write_string(out, &row.value.m);
    write_evaluation(out, row.evaluation);
    write_raw(
        out,
        match row.value.certainty {
            Certainty::Exact => r#","known":"exact""#,
            Certainty::Estimate => r#","known":"estimate""#,
            Certainty::UpperBound => r#","known":"at_most""#,
        },
    );
    write_playouts(out, row.value.playouts);
    write_raw(out, "}");
}

/// Appends the playout statistics. Writes nothing if the search did not use playouts.
fn write_playouts(out: &mut Vec<u8>, playouts: Option<Playouts>) {
    if let Some(played) = playouts {
        write_raw(out, r#","playouts":"#);
        write_number(out, played.count);
        write_raw(out, r#","win_rate":"#);
        write_raw(
            out,
            &format!("{:.3}", f64::from(played.wins_per_mille) / 1000.0),
        );
    }
}

fn write_evaluation(out: &mut Vec<u8>, value: Evaluation) {
    write_raw(out, r#","score":"#);
    write_number(out, value.score);
    write_optional(out, r#","result":"#, value.result, |out, wdl| {
        write_string(out, wdl.name());
    });
    write_optional(out, r#","plies":"#, value.plies, write_number);
}

fn to_micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn write_raw(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn write_optional<T>(out: &mut Vec<u8>, name: &str, value: Option<T>, write: fn(&mut Vec<u8>, T)) {
    write_raw(out, name);
    match value {
        Some(value) => write(out, value),
        None => write_raw(out, "null"),
    }
}

fn write_list<T>(out: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    write_raw(out, "[");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            write_raw(out, ",");
        }
        write(out, item);
    }
    write_raw(out, "]");
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    // Only error messages may need escaping, because they may quote user input. Move and position
    // notations need no escaping. The check for special characters visits all bytes instead of
    // stopping at the first special character, so that the compiler can vectorize the loop.
    if text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
        write_raw(out, "\"");
        write_raw(out, text);
        write_raw(out, "\"");
    } else {
        serde_json::to_writer(out, text).expect("writing to memory succeeds");
    }
}

fn write_number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    write_raw(out, itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("the output is UTF-8")
    }

    #[test]
    fn strings_are_escaped_like_serde_json() {
        for text in ["", "xo./...", "say \"no\"\\", "tab\t, \u{1}", "grün"] {
            let expected = serde_json::to_string(text).expect("serialization succeeds");
            assert_eq!(to_text(|out| write_string(out, text)), expected);
        }
    }
}
