//! Smart Game Format, for Go and for games that are played with the same stones: a root with all
//! that is known of the game, and a node for each move.

use std::fmt::Write as _;

use super::date::Date;
use super::timing::{Left, seconds};
use super::{Color, Facts, HINT, Verdict, Victory};
use plyhouse_engine::game::{PieceColor, RecordFormat};
use plyhouse_protocol::ClockControl;

/// How many moves stand in a line, for people who look at the file.
const MOVES_IN_LINE: usize = 10;

/// The text of a game after these moves.
pub(super) fn text(facts: &Facts, game: u8, rules: &[(&str, &str)], moves: &[String]) -> String {
    let mut text = format!(
        "(;FF[4]GM[{game}]CA[UTF-8]AP[Plyhouse:{}]SZ[{}]",
        env!("CARGO_PKG_VERSION"),
        facts.game.info.files
    );
    for (property, value) in rules {
        add(&mut text, property, value);
    }
    text.push('\n');
    add(&mut text, "GN", &facts.event);
    add(&mut text, "PC", "Plyhouse");
    if let Some(Date {
        year, month, day, ..
    }) = facts.date
    {
        add(&mut text, "DT", &format!("{year:04}-{month:02}-{day:02}"));
    }
    for (property, color) in [("PB", Color::Black), ("PW", Color::White)] {
        if let Some(name) = facts.name(color) {
            add(&mut text, property, name);
        }
    }
    if let Some(result) = result(facts) {
        add(&mut text, "RE", &result);
    }
    if facts.is_adjudicated {
        add(&mut text, "GC", "Adjudicated by the players' scores");
    }
    if let Some(clock) = facts.clock {
        let (main_ms, overtime) = times(&clock);
        add(&mut text, "TM", &seconds(main_ms));
        if let Some(overtime) = overtime {
            add(&mut text, "OT", &overtime);
        }
    }
    if facts.is_set_up {
        set_up(&mut text, facts);
    }
    let mut clocks = facts.clocks.as_ref().map(|clocks| clocks.iter());
    for (ply, m) in moves.iter().enumerate() {
        if ply.is_multiple_of(MOVES_IN_LINE) {
            text.push('\n');
        }
        let first = facts.start.turn();
        let seat = if ply.is_multiple_of(2) {
            first
        } else {
            first.other()
        };
        let color = letter(facts.color(seat));
        let _ = write!(text, ";{color}[{m}]");
        let after = clocks.as_mut().and_then(Iterator::next);
        if let Some(left) = after {
            add_clock(&mut text, facts.clock, color, *left);
        }
        if facts.hinted.contains(&ply) {
            add(&mut text, "C", HINT);
        }
    }
    text.push_str(")\n");
    text
}

/// Adds the stones of the first position, and who plays first.
fn set_up(text: &mut String, facts: &Facts) {
    text.push('\n');
    let figures = facts.start.diagram().pieces;
    for (property, paint) in [("AB", PieceColor::Black), ("AW", PieceColor::White)] {
        let of_color = figures.iter().filter(|(_, _, of)| of.color == paint);
        let points: String = of_color
            .map(|(left, top, _)| format!("[{}]", RecordFormat::sgf_point(*left, *top)))
            .collect();
        if !points.is_empty() {
            let _ = write!(text, "{property}{points}");
        }
    }
    let color = letter(facts.color(facts.start.turn()));
    add(text, "PL", &color.to_string());
}

/// The properties TM, in milliseconds, and OT.
fn times(clock: &ClockControl) -> (u64, Option<String>) {
    match *clock {
        ClockControl::Fischer {
            main_ms,
            increment_ms: 0,
        } => (main_ms, None),
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        } => (main_ms, Some(format!("{} fischer", seconds(increment_ms)))),
        ClockControl::Delay { main_ms, delay_ms } => {
            (main_ms, Some(format!("{} delay", seconds(delay_ms))))
        }
        ClockControl::ByoYomi {
            main_ms,
            period_ms,
            periods,
        } => {
            let overtime = format!("{periods}x{} byo-yomi", seconds(period_ms));
            (main_ms, Some(overtime))
        }
        ClockControl::Move { move_ms } => (0, Some(format!("1/{} simple", seconds(move_ms)))),
    }
}

/// Adds what the mover has left: BL or WL, and in overtime how many periods, OB or OW. Then the time is
/// that of a period, which has been kept.
fn add_clock(
    text: &mut String,
    clock: Option<ClockControl>,
    color: char,
    Left { ms, periods }: Left,
) {
    match (clock, periods) {
        (Some(ClockControl::ByoYomi { period_ms, .. }), Some(periods)) if ms == 0 => {
            let kept = if periods == 0 { 0 } else { period_ms };
            add(text, &format!("{color}L"), &seconds(kept));
            add(text, &format!("O{color}"), &periods.to_string());
        }
        _ => add(text, &format!("{color}L"), &seconds(ms)),
    }
}

/// Adds a property; what would end its value is escaped.
fn add(text: &mut String, property: &str, value: &str) {
    let value = value.replace('\\', r"\\").replace(']', r"\]");
    let _ = write!(text, "{property}[{value}]");
}

const fn letter(color: Color) -> char {
    match color {
        Color::Black => 'B',
        Color::White => 'W',
    }
}

/// The property RE; `None` while the game goes on.
fn result(facts: &Facts) -> Option<String> {
    Some(match facts.verdict {
        Verdict::Open => return None,
        Verdict::Void => "Void".to_owned(),
        Verdict::Drawn => "0".to_owned(),
        Verdict::Won(seat, how) => {
            let how = match how {
                Victory::Rules => margin(facts),
                Victory::Resignation => "R".to_owned(),
                Victory::Timeout => "T".to_owned(),
                Victory::Forfeit | Victory::Infraction => "F".to_owned(),
                // A win without a reason: SGF has no word for this one.
                Victory::Adjudication => String::new(),
            };
            format!("{}+{how}", letter(facts.color(seat)))
        }
    })
}

/// By how many points the game was won; nothing where there are none.
fn margin(facts: &Facts) -> String {
    let points = facts
        .scores
        .map(|[first, second]| first.abs_diff(second).to_string());
    points.unwrap_or_default()
}
