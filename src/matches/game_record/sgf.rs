//! Smart Game Format for Go and other games with black and white stones. The root node contains all
//! information about the game, and each move is a node.

use std::fmt::Write as _;

use super::clock_times::{ClockReading, format_seconds};
use super::date::UtcDateTime;
use super::{Color, HINT_COMMENT, RecordData, RecordResult, Victory};
use plyhouse_engine::game::{PieceColor, RecordFormat};
use plyhouse_protocol::ClockControl;

/// Number of moves per line, for readability.
const MOVES_PER_LINE: usize = 10;

/// Renders a record with the given moves. `game` is the number that SGF assigns to the game.
/// `rules` contains further properties of the root node.
pub(crate) fn render(
    data: &RecordData,
    game: u8,
    rules: &[(&str, &str)],
    moves: &[String],
) -> String {
    let mut text = format!(
        "(;FF[4]GM[{game}]CA[UTF-8]AP[Plyhouse:{}]SZ[{}]",
        env!("CARGO_PKG_VERSION"),
        data.game.info.files
    );
    for (property, value) in rules {
        add_property(&mut text, property, value);
    }
    text.push('\n');
    add_property(&mut text, "GN", &data.event);
    add_property(&mut text, "PC", "Plyhouse");
    if let Some(UtcDateTime {
        year, month, day, ..
    }) = data.date
    {
        add_property(&mut text, "DT", &format!("{year:04}-{month:02}-{day:02}"));
    }
    for (property, color) in [("PB", Color::Black), ("PW", Color::White)] {
        if let Some(name) = data.player_name(color) {
            add_property(&mut text, property, name);
        }
    }
    if let Some(result) = result_property(data) {
        add_property(&mut text, "RE", &result);
    }
    if data.is_adjudicated {
        add_property(&mut text, "GC", "Adjudicated by the players' scores");
    }
    if let Some(clock) = data.clock {
        let (main_ms, overtime) = time_properties(&clock);
        add_property(&mut text, "TM", &format_seconds(main_ms));
        if let Some(overtime) = overtime {
            add_property(&mut text, "OT", &overtime);
        }
    }
    if data.has_custom_start {
        add_setup(&mut text, data);
    }
    let mut clocks = data.clock_readings.as_ref().map(|clocks| clocks.iter());
    for (ply, m) in moves.iter().enumerate() {
        if ply.is_multiple_of(MOVES_PER_LINE) {
            text.push('\n');
        }
        let first = data.initial_position.turn();
        let seat = if ply.is_multiple_of(2) {
            first
        } else {
            first.other()
        };
        let color = color_letter(data.seat_color(seat));
        let _ = write!(text, ";{color}[{m}]");
        let reading = clocks.as_mut().and_then(Iterator::next);
        if let Some(reading) = reading {
            add_clock_properties(&mut text, data.clock, color, *reading);
        }
        if data.hinted_plies.contains(&ply) {
            add_property(&mut text, "C", HINT_COMMENT);
        }
    }
    text.push_str(")\n");
    text
}

/// Adds the stones of the initial position, and the side to move.
fn add_setup(text: &mut String, data: &RecordData) {
    text.push('\n');
    let pieces = data.initial_position.diagram().pieces;
    for (property, piece_color) in [("AB", PieceColor::Black), ("AW", PieceColor::White)] {
        let pieces_of_color = pieces.iter().filter(|(_, _, of)| of.color == piece_color);
        let points: String = pieces_of_color
            .map(|(left, top, _)| format!("[{}]", RecordFormat::sgf_point(*left, *top)))
            .collect();
        if !points.is_empty() {
            let _ = write!(text, "{property}{points}");
        }
    }
    let color = color_letter(data.seat_color(data.initial_position.turn()));
    add_property(text, "PL", &color.to_string());
}

/// Returns the values of the SGF time properties TM and OT. The first value is the main time in
/// milliseconds, for TM. The second value describes the overtime, if any, for OT.
fn time_properties(clock: &ClockControl) -> (u64, Option<String>) {
    match *clock {
        ClockControl::Fischer {
            main_ms,
            increment_ms: 0,
        } => (main_ms, None),
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        } => (
            main_ms,
            Some(format!("{} fischer", format_seconds(increment_ms))),
        ),
        ClockControl::Delay { main_ms, delay_ms } => {
            (main_ms, Some(format!("{} delay", format_seconds(delay_ms))))
        }
        ClockControl::ByoYomi {
            main_ms,
            period_ms,
            periods,
        } => {
            let overtime = format!("{periods}x{} byo-yomi", format_seconds(period_ms));
            (main_ms, Some(overtime))
        }
        ClockControl::Move { move_ms } => {
            (0, Some(format!("1/{} simple", format_seconds(move_ms))))
        }
    }
}

/// Adds the remaining time of the player who moved, as the property BL or WL. In a byo-yomi period,
/// it also adds the number of remaining periods as OB or OW. In a byo-yomi period, the remaining
/// time after a move is a full period, because the period starts again with every move.
fn add_clock_properties(
    text: &mut String,
    clock: Option<ClockControl>,
    color: char,
    ClockReading { ms, periods }: ClockReading,
) {
    match (clock, periods) {
        (Some(ClockControl::ByoYomi { period_ms, .. }), Some(periods)) if ms == 0 => {
            let period_left_ms = if periods == 0 { 0 } else { period_ms };
            add_property(text, &format!("{color}L"), &format_seconds(period_left_ms));
            add_property(text, &format!("O{color}"), &periods.to_string());
        }
        _ => add_property(text, &format!("{color}L"), &format_seconds(ms)),
    }
}

/// Adds a property and escapes its value.
fn add_property(text: &mut String, property: &str, value: &str) {
    let value = value.replace('\\', r"\\").replace(']', r"\]");
    let _ = write!(text, "{property}[{value}]");
}

const fn color_letter(color: Color) -> char {
    match color {
        Color::Black => 'B',
        Color::White => 'W',
    }
}

/// Returns the value of the property RE (result), or `None` if the game has not ended.
fn result_property(data: &RecordData) -> Option<String> {
    Some(match data.result {
        RecordResult::Unfinished => return None,
        RecordResult::NoResult => "Void".to_owned(),
        RecordResult::Drawn => "0".to_owned(),
        RecordResult::Won(seat, victory) => {
            let suffix = match victory {
                Victory::Rules => margin_points(data),
                Victory::Resignation => "R".to_owned(),
                Victory::Timeout => "T".to_owned(),
                Victory::Forfeit | Victory::Infraction => "F".to_owned(),
                // SGF has no notation for adjudication, so the win is written without a reason.
                Victory::Adjudication => String::new(),
            };
            format!("{}+{suffix}", color_letter(data.seat_color(seat)))
        }
    })
}

/// Returns the winner's margin in points, or an empty string for games without points.
fn margin_points(data: &RecordData) -> String {
    let points = data
        .scores
        .map(|[first, second]| first.abs_diff(second).to_string());
    points.unwrap_or_default()
}
