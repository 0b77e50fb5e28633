//! Renders matches as text for a terminal. The functions do no I/O.
//!
//! The returned text contains styles, such as colours. The code that writes the text to the
//! terminal removes the styles if necessary.

mod board;
mod clocks;
mod date;
mod end_reason;
mod match_list;
mod match_text;
mod match_view;
mod position_parser;
mod seek_list;
mod style;

use std::time::Duration;

use plyhouse_protocol::{GameSummary, SeatNumber, Snapshot};
use unicode_width::UnicodeWidthStr as _;

use crate::conventions::Conventions;
use crate::sanitize::sanitize;
use match_text::piece_text;

pub(crate) use board::RenderedBoard;
pub(crate) use clocks::{ClockLine, clock_line, remaining_times, truncate_to_width};
pub(crate) use date::format_utc_minute;
pub(crate) use match_list::{from_position_label, match_list_line, render_match_list};
pub(crate) use match_text::{
    declined_offer_text, duration_text, has_stand_in, move_list, move_text, occupant_list_text,
    occupant_text, offer_text, outcome_text, presence_text, seat_subject, seated_text,
    series_score, side_text, turn_text,
};
pub(crate) use match_view::MatchView;
pub(crate) use position_parser::{Square, first_seat_to_move, move_squares, pieces_with_squares};
pub(crate) use seek_list::{render_seek_list, seek_line};
pub(crate) use style::{ERROR, FAINT, STRONG, paint};

/// Renders the board with an empty line above and below, and the two seats beside it.
///
/// If this layout is wider than `columns`, the seats are placed below the board. If `columns` is
/// `None`, the width is unlimited. `elapsed` is the time since the last clock update.
pub(crate) fn render_match(
    snapshot: &Snapshot,
    game: Option<&GameSummary>,
    columns: Option<usize>,
    elapsed: Duration,
) -> String {
    let board_columns = columns.map(|columns| columns.saturating_sub(2));
    let board = board::board_lines(snapshot, game, board_columns);
    let times = remaining_times(snapshot, elapsed);
    let left = |number| times.map(|both| both[usize::from(number)].to_text());
    let seats = [0, 1].map(|number| seat_line(snapshot, SeatNumber(number), left(number)));
    let middle = board.len().saturating_sub(2) / 2;
    let line = |(number, line): (usize, &String)| {
        let seat_row = number.checked_sub(middle).and_then(|at| seats.get(at));
        let beside = seat_row.map_or("", String::as_str);
        format!("  {line}     {beside}").trim_end().to_owned()
    };
    let mut lines: Vec<String> = board.iter().enumerate().map(line).collect();
    if columns.is_some_and(|columns| lines.iter().any(|line| text_width(line) > columns)) {
        lines = board.iter().map(|line| format!("  {line}")).collect();
        lines.extend(seats.map(|seat| format!("  {seat}")));
    }
    format!("\n{}\n", lines.join("\n"))
}

/// Returns the width of text in columns, without its styles.
fn text_width(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().width()
}

/// Formats a seat with its occupant, captured pieces and remaining time. The text begins with `▸`
/// if it is the seat's turn.
fn seat_line(snapshot: &Snapshot, seat: SeatNumber, left: Option<String>) -> String {
    let left = left.map_or_else(String::new, |left| format!("  {left}"));
    format!(
        "{}{}{left}",
        seat_label(snapshot, seat),
        captures_text(snapshot, seat)
    )
}

/// Formats the side and the occupant of a seat. The text begins with `▸` if it is the seat's turn.
fn seat_label(snapshot: &Snapshot, seat: SeatNumber) -> String {
    let mark = if snapshot.turn == Some(seat) {
        "▸"
    } else {
        " "
    };
    let occupant = snapshot
        .seats
        .get(seat.index())
        .map(|state| occupant_list_text(&state.occupant));
    let you = if snapshot.you == Some(seat) {
        paint(FAINT, "  (you)")
    } else {
        String::new()
    };
    let piece = piece_text(snapshot, seat).map_or_else(String::new, |piece| format!("{piece} "));
    let sides = [0, 1].map(|number| side_text(snapshot, SeatNumber(number)));
    let widest = sides.iter().map(|side| text_width(side)).max().unwrap_or(0);
    let side = side_text(snapshot, seat);
    let gap = " ".repeat(widest.saturating_sub(text_width(&side)));
    let who = occupant.unwrap_or_default();
    format!("{mark} {piece}{side}{gap}  {who}{you}")
}

/// Formats the stones or pieces that a seat has captured.
fn captures_text(snapshot: &Snapshot, seat: SeatNumber) -> String {
    let conventions = Conventions::for_game(&snapshot.game);
    let position = &snapshot.position;
    let counts = position_parser::captured_stone_counts(conventions, position);
    let stones = counts.and_then(|counts| counts.get(seat.index()).copied());
    let captured = stones
        .filter(|&stones| stones > 0)
        .map(|stones| paint(FAINT, &format!("  {stones} captured")));
    let start = snapshot.initial_position.as_deref();
    let loser = seat.other().index();
    let pieces = position_parser::captured_chess_pieces(conventions, start, position, loser);
    let symbols = pieces
        .iter()
        .filter_map(|piece| conventions.piece_symbol(*piece));
    let symbols: String = symbols.map(|(_, symbol)| symbol).collect();
    let taken = match symbols.is_empty() {
        true => String::new(),
        false => format!("  took {symbols}"),
    };
    format!("{}{}", captured.unwrap_or_default(), paint(FAINT, &taken))
}

pub(crate) const fn rated_label(is_rated: bool) -> &'static str {
    if is_rated { "rated" } else { "casual" }
}

/// Formats the game, code, clock and rating status of a match.
pub(crate) fn match_title(snapshot: &Snapshot, game: Option<&GameSummary>) -> String {
    format!(
        "{}, {}",
        match_name(snapshot, game),
        rated_label(snapshot.rated)
    )
}

/// Formats the game, code and clock of a match.
fn match_name(snapshot: &Snapshot, game: Option<&GameSummary>) -> String {
    let title = sanitize(game.map_or(&snapshot.game, |game| &game.title));
    let clock = snapshot.clock.map(|clock| clock.to_notation());
    let clock = clock.map_or_else(String::new, |clock| format!(" ({clock})"));
    format!(
        "{title} {}{clock}",
        paint(STRONG, &sanitize(&snapshot.code))
    )
}

/// Formats one line with the name of a match and its two occupants.
pub(crate) fn headline(snapshot: &Snapshot, game: Option<&GameSummary>) -> String {
    let [first, second] = [0, 1].map(|seat| seat_subject(snapshot, SeatNumber(seat)));
    format!("{}: {first} against {second}", match_name(snapshot, game))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn strip_style(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    pub(crate) fn game_summary(game: &str, files: u64, ranks: u64) -> GameSummary {
        let sides = if game == "connect-four" {
            ["red", "yellow"]
        } else {
            ["x", "o"]
        };
        GameSummary {
            game: game.to_owned(),
            title: game.to_owned(),
            sides: sides.map(str::to_owned),
            files,
            ranks,
            record_extension: None,
            draw_offers: true,
        }
    }

    pub(crate) fn snapshot(position: &str) -> Snapshot {
        let json = r#"{"match":"0b9e0000-0000-7000-8000-000000000001","code":"K7QM2P","seq":5,
            "game":"tic-tac-toe","status":"running","host":"5f0c0000-0000-4000-8000-000000000001",
            "listed":true,"you":0,"seats":[{"side":"x","occupant":"player",
            "player":"5f0c0000-0000-4000-8000-000000000001","name":"ada","connected":true},
            {"side":"o","occupant":"bot","level":"medium"}],"position":"","ply":2,
            "turn":0,"moves":["a3","b2"],"legal":["a1"],"spectators":1}"#;
        let mut snapshot: Snapshot = serde_json::from_str(json).unwrap();
        position.clone_into(&mut snapshot.position);
        snapshot
    }

    #[test]
    fn seats_are_shown_beside_board() {
        let drawn = strip_style(&render_match(
            &snapshot("x../.o./..."),
            Some(&game_summary("tic-tac-toe", 3, 3)),
            Some(42),
            Duration::ZERO,
        ));
        assert_eq!(
            drawn,
            "
       a   b   c
     ╭───┬───┬───╮
   3 │ x │   │   │
     ├───┼───┼───┤     ▸ x  ada  (you)
   2 │   │[o]│   │       o  ⚙ medium bot
     ├───┼───┼───┤
   1 │   │   │   │
     ╰───┴───┴───╯
"
        );
    }

    #[test]
    fn connect_four_seats_show_aligned_disc_and_side() {
        let mut now = snapshot("7/7/7/7/3y3/3r3");
        now.game = "connect-four".to_owned();
        for (seat, side) in now.seats.iter_mut().zip(["red", "yellow"]) {
            side.clone_into(&mut seat.side);
        }
        let drawn = render_match(
            &now,
            Some(&game_summary("connect-four", 7, 6)),
            None,
            Duration::ZERO,
        );
        let lines = strip_style(&drawn);
        let beside: Vec<_> = lines
            .lines()
            .filter_map(|l| l.split_once("│     "))
            .collect();
        let seats: Vec<_> = beside.iter().map(|(_, seat)| *seat).collect();
        assert_eq!(
            seats,
            ["▸ ● red     ada  (you)", "  ○ yellow  ⚙ medium bot"]
        );
        let disc = paint(style::seat_style(1, "yellow"), "○");
        let disc_and_side = format!("{disc} {}", side_text(&now, SeatNumber(1)));
        assert!(drawn.contains(&disc_and_side), "{drawn:?}");
    }

    #[test]
    fn capturing_seat_shows_captured_stones() {
        let mut now = snapshot(&format!("{} b 2 0 0 30", ["9"; 9].join("/")));
        now.game = "go".to_owned();
        let drawn = strip_style(&render_match(
            &now,
            Some(&game_summary("go", 9, 9)),
            None,
            Duration::ZERO,
        ));
        assert!(drawn.contains("ada  (you)  2 captured\n"), "{drawn}");
        assert!(drawn.contains("medium bot\n"), "{drawn}");
    }

    #[test]
    fn seats_move_below_board_when_name_is_too_wide() {
        let mut now = snapshot("x../.o./...");
        now.seats[0].occupant = plyhouse_protocol::Occupant::Player {
            player: now.host,
            name: "歩".repeat(16),
            connected: true,
            account: false,
            bot: false,
            rating: None,
        };
        let drawn = |columns| {
            strip_style(&render_match(
                &now,
                Some(&game_summary("tic-tac-toe", 3, 3)),
                columns,
                Duration::ZERO,
            ))
        };
        assert!(drawn(None).contains("┤     ▸ x  歩"));
        assert!(drawn(Some(80)).contains("┤     ▸ x  歩"));
        let narrow = drawn(Some(50));
        assert!(narrow.contains("├───┼───┼───┤\n   2"), "{narrow}");
        assert!(narrow.contains("╯\n  ▸ x  歩"), "{narrow}");
        assert!(narrow.ends_with("    o  ⚙ medium bot\n"), "{narrow}");
    }
}
