//! Portable Game Notation, for chess and, as PDN, for draughts: tags, an empty line, and the moves
//! in lines of less than eighty characters.

use std::fmt::Write as _;

use super::timing::{hours, seconds};
use super::{Color, Facts, HINT, PlayerKind, Verdict, Victory, result_by_seat};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::ClockControl;

/// PGN's export format, section 8.2.1: lines are shorter than this.
const LINE_CHARS_MAX: usize = 80;

/// What stands in the place of what is not known.
const UNKNOWN: &str = "?";

/// The text of a game after these moves.
pub(super) fn text(facts: &Facts, game_type: Option<&str>, moves: &[String]) -> String {
    // In both formats the first seat comes first. That is White in chess. In English draughts it is
    // Black, also from a set-up position with White to move (PDN 2.0, 6.1.1.1.1.5).
    let result = result_by_seat(facts.verdict);
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', r"\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    let date = facts.date;
    let day = date.map(|date| format!("{:04}.{:02}.{:02}", date.year, date.month, date.day));
    let day = day.as_deref().unwrap_or("????.??.??");
    tag("Event", &facts.event);
    tag("Site", "Plyhouse");
    tag("Date", day);
    tag("Round", "-");
    for (title, color) in [("White", Color::White), ("Black", Color::Black)] {
        tag(title, facts.name(color).unwrap_or(UNKNOWN));
    }
    tag("Result", result);
    if let Some(game_type) = game_type {
        tag("GameType", game_type);
    }
    if facts.is_set_up {
        tag("SetUp", "1");
        tag("FEN", &facts.start.to_string());
    }
    if let Some(date) = date {
        let time = format!("{:02}:{:02}:{:02}", date.hour, date.minute, date.second);
        tag("UTCDate", day);
        tag("UTCTime", &time);
    }
    for seat in Seat::ALL {
        let title = format!("{}Type", title(facts.game.info.sides[seat.index()]));
        match facts.players[seat.index()] {
            None => {}
            Some((_, PlayerKind::Human)) => tag(&title, "human"),
            Some((_, PlayerKind::Program)) => tag(&title, "program"),
        }
    }
    tag("PlyCount", &moves.len().to_string());
    if let Some(clock) = facts.clock {
        tag("TimeControl", &time_control(&clock));
    }
    tag("Termination", termination(facts));
    text.push('\n');
    let comments: Vec<String> = (0..moves.len()).map(|ply| comment(facts, ply)).collect();
    add_words(
        &mut text,
        &words(first_ply(facts), moves, &comments, result),
    );
    text
}

/// What is said of a move: its clock, and that a hint was asked for it. Nothing, if there is neither.
fn comment(facts: &Facts, ply: usize) -> String {
    let left = facts.clocks.as_ref().and_then(|after| after.get(ply));
    let clock = left.map(|left| format!("[%clk {}]", hours(left.ms)));
    let hint = facts.hinted.contains(&ply).then(|| HINT.to_owned());
    let said: Vec<String> = clock.into_iter().chain(hint).collect();
    match said.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", said.join(" ")),
    }
}

/// The number of the first ply, counted from 0, which tells the numbers of the moves.
fn first_ply(facts: &Facts) -> usize {
    if !facts.is_set_up {
        return 0;
    }
    // The last field of FEN, and of that of PDN, is the number of the move.
    let text = facts.start.to_string();
    let last = text.rsplit([' ', ':']).next().unwrap_or_default();
    let number: usize = last.trim_start_matches('F').parse().unwrap_or(1);
    2 * number.saturating_sub(1) + facts.start.turn().index()
}

/// The tag `TimeControl`: the standard's own forms where it has one, else after their pattern.
fn time_control(clock: &ClockControl) -> String {
    match *clock {
        ClockControl::Fischer {
            main_ms,
            increment_ms: 0,
        } => seconds(main_ms),
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        } => format!("{}+{}", seconds(main_ms), seconds(increment_ms)),
        ClockControl::Delay { main_ms, delay_ms } => {
            format!("{}d{}", seconds(main_ms), seconds(delay_ms))
        }
        ClockControl::ByoYomi {
            main_ms, period_ms, ..
        } => format!("{}:1/{}", seconds(main_ms), seconds(period_ms)),
        ClockControl::Move { move_ms } => format!("1/{}", seconds(move_ms)),
    }
}

/// A side's name with a capital: `White`.
fn title(side: &str) -> String {
    let (first, rest) = side.split_at(side.len().min(1));
    first.to_ascii_uppercase() + rest
}

/// PGN, section 9.8.1.
const fn termination(facts: &Facts) -> &'static str {
    match facts.verdict {
        Verdict::Open => "unterminated",
        Verdict::Void | Verdict::Won(_, Victory::Forfeit) => "abandoned",
        Verdict::Won(_, Victory::Timeout) => "time forfeit",
        Verdict::Won(_, Victory::Infraction) => "rules infraction",
        Verdict::Won(_, Victory::Adjudication) => "adjudication",
        Verdict::Drawn if facts.is_adjudicated => "adjudication",
        Verdict::Drawn | Verdict::Won(_, Victory::Rules | Victory::Resignation) => "normal",
    }
}

/// The moves, each pair with its number and each move with what is said of it, and the result.
fn words(first_ply: usize, moves: &[String], comments: &[String], result: &str) -> Vec<String> {
    let mut words = Vec::new();
    // At the begin, and after a comment, it is said whose move comes.
    let mut is_apart = true;
    for (ply, (m, comment)) in moves.iter().zip(comments).enumerate() {
        let told = first_ply + ply;
        let number = told / 2 + 1;
        if told.is_multiple_of(2) {
            words.push(format!("{number}."));
        } else if is_apart {
            words.push(format!("{number}..."));
        }
        words.push(m.clone());
        is_apart = !comment.is_empty();
        if is_apart {
            words.push(comment.clone());
        }
    }
    words.push(result.to_owned());
    words
}

fn add_words(text: &mut String, words: &[String]) {
    let mut width = 0;
    for word in words {
        let fits = width + 1 + word.len() < LINE_CHARS_MAX;
        if width > 0 {
            text.push(if fits { ' ' } else { '\n' });
        }
        width = if width > 0 && fits { width + 1 } else { 0 } + word.len();
        text.push_str(word);
    }
    text.push('\n');
}
