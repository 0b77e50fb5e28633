//! Portable Game Notation, for chess and, as PDN, for draughts: tags, an empty line, and the moves
//! in lines of less than eighty characters.

use std::fmt::Write as _;

use super::date::Date;
use super::{Color, Verdict, name, verdict};
use crate::{Match, Occupant};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::Reason;

/// PGN's export format, section 8.2.1: lines are shorter than this.
const LINE_CHARS_MAX: usize = 80;

/// What stands in the place of what is not known.
const UNKNOWN: &str = "?";

/// The text of a match after these moves.
pub(super) fn text(state: &Match, game_type: Option<&str>, moves: &[String]) -> String {
    let verdict = verdict(state);
    let result = result(verdict);
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', r"\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    let date = Date::of(state.id());
    let day = date.map(|date| format!("{:04}.{:02}.{:02}", date.year, date.month, date.day));
    let day = day.as_deref().unwrap_or("????.??.??");
    tag(
        "Event",
        &format!("Plyhouse match {}", state.creation().code),
    );
    tag("Site", "Plyhouse");
    tag("Date", day);
    tag("Round", "-");
    for (title, color) in [("White", Color::White), ("Black", Color::Black)] {
        tag(title, name(state, color).as_deref().unwrap_or(UNKNOWN));
    }
    tag("Result", result);
    if let Some(game_type) = game_type {
        tag("GameType", game_type);
    }
    if let Some(date) = date {
        let time = format!("{:02}:{:02}:{:02}", date.hour, date.minute, date.second);
        tag("UTCDate", day);
        tag("UTCTime", &time);
    }
    for seat in Seat::ALL {
        let title = format!(
            "{}Type",
            title(state.creation().game.info.sides[seat.index()])
        );
        match state.occupant(seat) {
            Occupant::Open => {}
            Occupant::Player { .. } => tag(&title, "human"),
            Occupant::Bot(_) => tag(&title, "program"),
        }
    }
    tag("PlyCount", &moves.len().to_string());
    tag("Termination", termination(verdict));
    text.push('\n');
    add_moves(&mut text, moves, result);
    text
}

/// A side's name with a capital: `White`.
fn title(side: &str) -> String {
    let (first, rest) = side.split_at(side.len().min(1));
    first.to_ascii_uppercase() + rest
}

const fn result(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Open | Verdict::Void => "*",
        Verdict::Drawn => "1/2-1/2",
        Verdict::Won(Color::White, _) => "1-0",
        Verdict::Won(Color::Black, _) => "0-1",
    }
}

/// PGN, section 9.8.1.
const fn termination(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Open => "unterminated",
        Verdict::Void | Verdict::Won(_, Reason::Abandonment | Reason::Aborted) => "abandoned",
        Verdict::Drawn | Verdict::Won(_, Reason::Rules | Reason::Resignation) => "normal",
    }
}

/// Adds the moves, each pair with its number, and the result.
fn add_moves(text: &mut String, moves: &[String], result: &str) {
    let numbers = (1..).map(|number: usize| format!("{number}."));
    let pairs = moves.chunks(2).zip(numbers);
    let words = pairs.flat_map(|(pair, number)| [number].into_iter().chain(pair.iter().cloned()));
    let mut width = 0;
    for word in words.chain([result.to_owned()]) {
        let fits = width + 1 + word.len() < LINE_CHARS_MAX;
        if width > 0 {
            text.push(if fits { ' ' } else { '\n' });
        }
        width = if width > 0 && fits { width + 1 } else { 0 } + word.len();
        text.push_str(&word);
    }
    text.push('\n');
}
