//! Portable Game Notation for chess, and its variant PDN for draughts. A record consists of tags,
//! an empty line and the movetext. Each line of the movetext has fewer than 80 characters.

use std::fmt::Write as _;

use super::clock_times::{format_hours, format_seconds};
use super::{Color, HINT_COMMENT, PlayerKind, RecordData, RecordResult, Victory, result_by_seat};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;

/// Line length that the movetext must not reach, in characters. The PGN export format allows only
/// shorter lines (PGN, section 8.2.1).
const LINE_CHARS_MAX: usize = 80;

/// Tag value for unknown information.
const UNKNOWN_VALUE: &str = "?";

/// Renders a record with the given moves. `game_type` is the value of the PDN tag `GameType`, or
/// `None` for PGN.
pub(crate) fn render(data: &RecordData, game_type: Option<&str>, moves: &[String]) -> String {
    // Both formats put the first seat's score first. In chess, the first seat is White. In English
    // draughts, the first seat is Black, even from a custom position with White to move (PDN 2.0,
    // 6.1.1.1.1.5).
    let result = result_by_seat(data.result);
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', r"\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    let date = data.date;
    let day = date.map(|date| format!("{:04}.{:02}.{:02}", date.year, date.month, date.day));
    let day = day.as_deref().unwrap_or("????.??.??");
    tag("Event", &data.event);
    tag("Site", "Plyhouse");
    tag("Date", day);
    tag("Round", "-");
    for (title, color) in [("White", Color::White), ("Black", Color::Black)] {
        tag(title, data.player_name(color).unwrap_or(UNKNOWN_VALUE));
    }
    tag("Result", result);
    if let Some(game_type) = game_type {
        tag("GameType", game_type);
    }
    if data.has_custom_start {
        tag("SetUp", "1");
        tag("FEN", &data.initial_position.to_string());
    }
    if let Some(date) = date {
        let time = format!("{:02}:{:02}:{:02}", date.hour, date.minute, date.second);
        tag("UTCDate", day);
        tag("UTCTime", &time);
    }
    for seat in Seat::ALL {
        let title = format!("{}Type", capitalized(data.game.info.sides[seat.index()]));
        match data.players[seat.index()] {
            None => {}
            Some((_, PlayerKind::Human)) => tag(&title, "human"),
            Some((_, PlayerKind::Program)) => tag(&title, "program"),
        }
    }
    tag("PlyCount", &moves.len().to_string());
    if let Some(clock) = data.clock {
        tag("TimeControl", &time_control(&clock));
    }
    tag("Termination", termination(data));
    text.push('\n');
    let comments: Vec<String> = (0..moves.len())
        .map(|ply| move_comment(data, ply))
        .collect();
    write_wrapped(
        &mut text,
        &movetext_tokens(first_ply(data), moves, &comments, result),
    );
    text
}

/// Returns the comment on a move. It contains the remaining time after the move, and a note if the
/// player received a hint. Returns an empty string if the move has neither.
fn move_comment(data: &RecordData, ply: usize) -> String {
    let left = data
        .clock_readings
        .as_ref()
        .and_then(|after| after.get(ply));
    let clock = left.map(|left| format!("[%clk {}]", format_hours(left.ms)));
    let hint = data
        .hinted_plies
        .contains(&ply)
        .then(|| HINT_COMMENT.to_owned());
    let parts: Vec<String> = clock.into_iter().chain(hint).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", parts.join(" ")),
    }
}

/// Returns the number of the first ply, counted from 0. The move numbers in the record are derived
/// from this ply number.
fn first_ply(data: &RecordData) -> usize {
    if !data.has_custom_start {
        return 0;
    }
    // FEN and the PDN position notation both end with the move number.
    let text = data.initial_position.to_string();
    let last = text.rsplit([' ', ':']).next().unwrap_or_default();
    let number: usize = last.trim_start_matches('F').parse().unwrap_or(1);
    2 * number.saturating_sub(1) + data.initial_position.turn().index()
}

/// Returns the value of the tag `TimeControl`. The PGN standard defines no values for delay and
/// byo-yomi clocks. This function uses a notation similar to the standard for them.
fn time_control(clock: &ClockControl) -> String {
    match *clock {
        ClockControl::Fischer {
            main_ms,
            increment_ms: 0,
        } => format_seconds(main_ms),
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        } => format!(
            "{}+{}",
            format_seconds(main_ms),
            format_seconds(increment_ms)
        ),
        ClockControl::Delay { main_ms, delay_ms } => {
            format!("{}d{}", format_seconds(main_ms), format_seconds(delay_ms))
        }
        ClockControl::ByoYomi {
            main_ms, period_ms, ..
        } => format!(
            "{}:1/{}",
            format_seconds(main_ms),
            format_seconds(period_ms)
        ),
        ClockControl::Move { move_ms } => format!("1/{}", format_seconds(move_ms)),
    }
}

/// Returns the name of a side with a capital letter, such as `White`.
fn capitalized(side: &str) -> String {
    let (first, rest) = side.split_at(side.len().min(1));
    first.to_ascii_uppercase() + rest
}

/// Returns the value of the tag `Termination` (PGN, section 9.8.1).
const fn termination(data: &RecordData) -> &'static str {
    match data.result {
        RecordResult::Unfinished => "unterminated",
        RecordResult::NoResult | RecordResult::Won(_, Victory::Forfeit) => "abandoned",
        RecordResult::Won(_, Victory::Timeout) => "time forfeit",
        RecordResult::Won(_, Victory::Infraction) => "rules infraction",
        RecordResult::Won(_, Victory::Adjudication) => "adjudication",
        RecordResult::Drawn if data.is_adjudicated => "adjudication",
        RecordResult::Drawn | RecordResult::Won(_, Victory::Rules | Victory::Resignation) => {
            "normal"
        }
    }
}

/// Returns the tokens of the movetext: move numbers, moves, comments and the result.
fn movetext_tokens(
    first_ply: usize,
    moves: &[String],
    comments: &[String],
    result: &str,
) -> Vec<String> {
    let mut tokens = Vec::new();
    // A move of the second side needs a move number only if it begins the movetext or follows a
    // comment.
    let mut needs_number = true;
    for (ply, (m, comment)) in moves.iter().zip(comments).enumerate() {
        let game_ply = first_ply + ply;
        let number = game_ply / 2 + 1;
        if game_ply.is_multiple_of(2) {
            tokens.push(format!("{number}."));
        } else if needs_number {
            tokens.push(format!("{number}..."));
        }
        tokens.push(m.clone());
        needs_number = !comment.is_empty();
        if needs_number {
            tokens.push(comment.clone());
        }
    }
    tokens.push(result.to_owned());
    tokens
}

fn write_wrapped(text: &mut String, tokens: &[String]) {
    let mut width = 0;
    for token in tokens {
        let fits = width + 1 + token.len() < LINE_CHARS_MAX;
        if width > 0 {
            text.push(if fits { ' ' } else { '\n' });
        }
        width = if width > 0 && fits { width + 1 } else { 0 } + token.len();
        text.push_str(token);
    }
    text.push('\n');
}
