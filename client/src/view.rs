//! What a match looks like in a terminal: from what is known to text, and nothing else.
//!
//! Text carries its colours; whoever writes it strips them where they are not wanted.

mod board;
mod date;
mod listing;
mod paint;
mod position;
mod scene;
mod seekers;
mod time;
mod way;
mod words;

use std::time::Duration;

use plyhouse_protocol::{GameSummary, SeatNumber, Snapshot};
use unicode_width::UnicodeWidthStr as _;

use crate::clock::clock_text;
use crate::customs::Customs;
use crate::harmless::sanitize;
use words::piece;

pub(crate) use board::Picture;
pub(crate) use date::date;
pub(crate) use listing::{FROM_POSITION, changed, listing};
pub(crate) use paint::{FAINT, STRONG, WRONG, paint};
pub(crate) use position::{Square, first_to_move, steps, stones};
pub(crate) use scene::Scene;
pub(crate) use seekers::{seeker, seekers};
pub(crate) use time::{Live, left, live, within};
pub(crate) use words::{
    declined, ended, is_stood_in, line, listed, moved, occupant, offered, presence, seated, series,
    side, span, turn, who,
};

/// The board with the two seats beside it, or below where so many `columns` have no room for that,
/// and empty lines around. Without a number there is room for everything. Clocks have run for `since`.
pub(crate) fn table(
    now: &Snapshot,
    game: Option<&GameSummary>,
    columns: Option<usize>,
    since: Duration,
) -> String {
    let indented = columns.map(|columns| columns.saturating_sub(2));
    let board = board::board(now, game, indented);
    let left = left(now, since);
    let left = |number| left.map(|both| both[usize::from(number)].text());
    let seats = [0, 1].map(|number| seat(now, SeatNumber(number), left(number)));
    let middle = board.len().saturating_sub(2) / 2;
    let line = |(number, line): (usize, &String)| {
        let beside = number.checked_sub(middle).and_then(|at| seats.get(at));
        let beside = beside.map_or("", String::as_str);
        format!("  {line}     {beside}").trim_end().to_owned()
    };
    let mut lines: Vec<String> = board.iter().enumerate().map(line).collect();
    if columns.is_some_and(|columns| lines.iter().any(|line| width(line) > columns)) {
        lines = board.iter().map(|line| format!("  {line}")).collect();
        lines.extend(seats.map(|seat| format!("  {seat}")));
    }
    format!("\n{}\n", lines.join("\n"))
}

/// How many columns of a terminal a text takes.
fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().width()
}

/// One seat beside the board, with a mark if it is its turn, and what it has left of its time.
fn seat(now: &Snapshot, seat: SeatNumber, left: Option<String>) -> String {
    let left = left.map_or_else(String::new, |left| format!("  {left}"));
    format!("{}{}{left}", sitter(now, seat), spoils(now, seat))
}

/// Who has a seat, with a mark if it is its turn.
fn sitter(now: &Snapshot, seat: SeatNumber) -> String {
    let mark = if now.turn == Some(seat) { "▸" } else { " " };
    let who = now
        .seats
        .get(seat.index())
        .map(|state| listed(&state.occupant));
    let you = if now.you == Some(seat) {
        paint(FAINT, "  (you)")
    } else {
        String::new()
    };
    let piece = piece(now, seat).map_or_else(String::new, |piece| format!("{piece} "));
    let sides = [0, 1].map(|number| side(now, SeatNumber(number)));
    let widest = sides.iter().map(|side| width(side)).max().unwrap_or(0);
    let side = side(now, seat);
    let gap = " ".repeat(widest.saturating_sub(width(&side)));
    let who = who.unwrap_or_default();
    format!("{mark} {piece}{side}{gap}  {who}{you}")
}

/// What a seat has taken of the other's.
fn spoils(now: &Snapshot, seat: SeatNumber) -> String {
    let captured = position::captured(Customs::of(&now.game), &now.position)
        .and_then(|captured| captured.get(seat.index()).copied())
        .filter(|&stones| stones > 0)
        .map_or_else(String::new, |stones| {
            paint(FAINT, &format!("  {stones} captured"))
        });
    let taken = paint(FAINT, &taken(now, seat));
    format!("{captured}{taken}")
}

/// The pieces that a seat has taken, in chess.
fn taken(now: &Snapshot, seat: SeatNumber) -> String {
    let customs = Customs::of(&now.game);
    let start = now.initial_position.as_deref();
    let lost = position::lost(customs, start, &now.position, seat.other().index());
    let figures: String = lost
        .iter()
        .filter_map(|piece| Some(customs.figure(*piece)?.1))
        .collect();
    match figures.is_empty() {
        true => figures,
        false => format!("  took {figures}"),
    }
}

/// Whether a match counts for ratings, in a word.
pub(crate) const fn rated(is_rated: bool) -> &'static str {
    if is_rated { "rated" } else { "casual" }
}

/// A match by what is played, its code, and whether it counts.
pub(crate) fn title(now: &Snapshot, game: Option<&GameSummary>) -> String {
    format!("{}, {}", name(now, game), rated(now.rated))
}

/// A match by what is played and its code.
fn name(now: &Snapshot, game: Option<&GameSummary>) -> String {
    let title = sanitize(game.map_or(&now.game, |game| &game.title));
    let clock = now.clock.as_ref().map(clock_text);
    let clock = clock.map_or_else(String::new, |clock| format!(" ({clock})"));
    format!("{title} {}{clock}", paint(STRONG, &sanitize(&now.code)))
}

/// One line that names a match and who sits there.
pub(crate) fn headline(now: &Snapshot, game: Option<&GameSummary>) -> String {
    let [first, second] = [0, 1].map(|seat| who(now, SeatNumber(seat)));
    format!("{}: {first} against {second}", name(now, game))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    pub(crate) fn game(game: &str, files: u64, ranks: u64) -> GameSummary {
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
    fn the_seats_stand_beside_the_board() {
        let drawn = plain(&table(
            &snapshot("x../.o./..."),
            Some(&game("tic-tac-toe", 3, 3)),
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

    /// A side's name does not tell what its discs look like, and need not be as long as the other's.
    #[test]
    fn the_seats_stand_with_their_discs() {
        let mut now = snapshot("7/7/7/7/3y3/3r3");
        now.game = "connect-four".to_owned();
        for (seat, side) in now.seats.iter_mut().zip(["red", "yellow"]) {
            side.clone_into(&mut seat.side);
        }
        let drawn = table(
            &now,
            Some(&game("connect-four", 7, 6)),
            None,
            Duration::ZERO,
        );
        let lines = plain(&drawn);
        let beside: Vec<_> = lines
            .lines()
            .filter_map(|l| l.split_once("│     "))
            .collect();
        let seats: Vec<_> = beside.iter().map(|(_, seat)| *seat).collect();
        assert_eq!(
            seats,
            ["▸ ● red     ada  (you)", "  ○ yellow  ⚙ medium bot"]
        );
        let disc = paint(paint::of_seat(1, "yellow"), "○");
        let disc_and_side = format!("{disc} {}", side(&now, SeatNumber(1)));
        assert!(drawn.contains(&disc_and_side), "{drawn:?}");
    }

    #[test]
    fn captured_stones_stand_with_who_has_them() {
        let mut now = snapshot(&format!("{} b 2 0 0 30", ["9"; 9].join("/")));
        now.game = "go".to_owned();
        let drawn = plain(&table(&now, Some(&game("go", 9, 9)), None, Duration::ZERO));
        assert!(drawn.contains("ada  (you)  2 captured\n"), "{drawn}");
        assert!(drawn.contains("medium bot\n"), "{drawn}");
    }

    #[test]
    fn a_name_that_has_no_room_beside_the_board_stands_below_it() {
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
            plain(&table(
                &now,
                Some(&game("tic-tac-toe", 3, 3)),
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
