//! Draws the list of matches.

use plyhouse::protocol::{Listing, Status};
use unicode_width::UnicodeWidthStr as _;

use super::paint::{FAINT, PLAIN, STRONG, paint};
use super::words::occupant;
use crate::harmless::harmless;

const HEADS: [&str; 6] = ["CODE", "GAME", "SEATS", "MOVES", "WATCHING", ""];

/// The space between two columns.
const GAP: usize = 2;

/// The matches as a table, with the command that leads to each; open ones first, since those
/// wait for somebody. What each command needs to speak to this `server` is said once, below.
pub(crate) fn listing(matches: &[Listing], total: u64, server: &str) -> String {
    if matches.is_empty() {
        return "No match is open or running. Start one with `ply play`.".to_owned();
    }
    let mut rows = vec![HEADS.map(str::to_owned)];
    let of = |status| {
        matches
            .iter()
            .filter(move |listing| listing.status == status)
    };
    rows.extend(of(Status::Open).chain(of(Status::Running)).map(row));
    let widths: Vec<usize> = (0..HEADS.len())
        .map(|column| {
            rows.iter()
                .map(|row| row[column].width())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let style = match (number, column) {
                (0, _) => FAINT,
                (_, 0) => STRONG,
                (_, _) => PLAIN,
            };
            if !cell.is_empty() {
                line.push_str(&paint(style, cell));
                line.push_str(&" ".repeat(width - cell.width() + GAP));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let shown = rows.len() as u64 - 1;
    if total > shown {
        text.push_str(&paint(FAINT, &format!("… and {} more", total - shown)));
        text.push('\n');
    }
    if !server.is_empty() {
        text.push_str(&paint(FAINT, &format!("… each with{server}")));
    }
    text.truncate(text.trim_end().len());
    text
}

fn row(listing: &Listing) -> [String; 6] {
    let code = harmless(&listing.code);
    let verb = if listing.status == Status::Open {
        "join"
    } else {
        "watch"
    };
    let [first, second] = &listing.seats;
    let seats = [first, second]
        .map(|seat| format!("{} {}", harmless(&seat.side), occupant(&seat.occupant)))
        .join(", ");
    let command = format!("ply {verb} {code}");
    let spectators = listing.spectators.to_string();
    [
        code,
        harmless(&listing.game),
        seats,
        listing.ply.to_string(),
        spectators,
        command,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{plain, snapshot};
    use super::*;

    #[test]
    fn open_matches_come_first() {
        let now = snapshot("x../.o./...");
        let match_in = |code: &str, status| Listing {
            match_id: now.match_id,
            code: code.to_owned(),
            game: now.game.clone(),
            status,
            seats: now.seats.clone(),
            ply: now.ply,
            spectators: 1,
        };
        let matches = [
            match_in("AAAAAA", Status::Running),
            match_in("BBBBBB", Status::Open),
        ];
        let drawn = plain(&listing(&matches, 3, " --server ws://h/ws"));
        assert_eq!(
            drawn,
            "\
CODE    GAME         SEATS                  MOVES  WATCHING
BBBBBB  tic-tac-toe  x ada, o ⚙ medium bot  2      1         ply join BBBBBB
AAAAAA  tic-tac-toe  x ada, o ⚙ medium bot  2      1         ply watch AAAAAA
… and 1 more
… each with --server ws://h/ws"
        );
        assert!(listing(&[], 0, "").contains("ply play"));
    }
}
