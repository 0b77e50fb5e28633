//! Renders the list of matches.

use plyhouse_protocol::{ListedMatch, MatchStatus};
use unicode_width::UnicodeWidthStr as _;

use super::match_text::occupant_list_text;
use super::style::{FAINT, PLAIN, STRONG, paint};
use crate::sanitize::sanitize;

const COLUMN_COUNT: usize = 6;

type Row = [String; COLUMN_COUNT];

const HEADERS: [&str; COLUMN_COUNT] = ["CODE", "GAME", "SEATS", "MOVES", "WATCHING", ""];

/// Number of spaces between two columns.
const COLUMN_GAP: usize = 2;

/// Renders the matches as a table. Each row ends with the command that joins or watches the match.
/// Open matches come first, because they need a player. The options that select the server are
/// printed once, below the table. If the table is wider than `columns`, each match is printed on
/// several lines instead.
pub(crate) fn render_match_list(
    matches: &[ListedMatch],
    total: u64,
    server_options: &str,
    columns: Option<usize>,
) -> String {
    if matches.is_empty() {
        return "No open or running matches. Start one with `ply play`.".to_owned();
    }
    let with_status = |status| {
        matches
            .iter()
            .filter(move |listing| listing.status == status)
    };
    let rows: Vec<Row> = with_status(MatchStatus::Open)
        .chain(with_status(MatchStatus::Running))
        .map(match_row)
        .collect();
    let text = match columns {
        Some(columns) if columns < table_width(&rows) => render_stacked(&rows),
        Some(_) | None => render_table(&rows),
    };
    let omitted = total.saturating_sub(rows.len() as u64);
    finish_list(text, omitted, server_options)
}

/// Adds the number of omitted rows to a list, and the options that select the server.
pub(super) fn finish_list(mut list: String, omitted: u64, server_options: &str) -> String {
    if omitted > 0 {
        list.push_str(&paint(FAINT, &format!("… and {omitted} more")));
        list.push('\n');
    }
    if !server_options.is_empty() {
        let options = format!("Add{server_options} to each command.");
        list.push_str(&paint(FAINT, &options));
    }
    list.truncate(list.trim_end().len());
    list
}

/// Returns the text that follows the name of the game. It is empty if the match began from the
/// standard position.
pub(crate) const fn from_position_label(from_position: bool) -> &'static str {
    match from_position {
        true => " from a position",
        false => "",
    }
}

fn column_widths(rows: &[Row]) -> [usize; COLUMN_COUNT] {
    std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].width());
        cells.max().unwrap_or(0).max(HEADERS[column].width())
    })
}

fn table_width(rows: &[Row]) -> usize {
    column_widths(rows).iter().sum::<usize>() + COLUMN_GAP * (COLUMN_COUNT - 1)
}

fn render_table(rows: &[Row]) -> String {
    let widths = column_widths(rows);
    let mut text = String::new();
    let headers = HEADERS.map(str::to_owned);
    for (number, row) in [&headers].into_iter().chain(rows).enumerate() {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let style = match (number, column) {
                (0, _) => FAINT,
                (_, 0) => STRONG,
                (_, _) => PLAIN,
            };
            if !cell.is_empty() {
                line.push_str(&paint(style, cell));
                line.push_str(&" ".repeat(width - cell.width() + COLUMN_GAP));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn render_stacked(rows: &[Row]) -> String {
    let lines = rows.iter().map(|[code, game, seats, moves, _, command]| {
        let code = paint(STRONG, code);
        let unit = if moves == "1" { "move" } else { "moves" };
        format!("{code}  {game}, {moves} {unit}\n  {seats}\n  {command}\n")
    });
    lines.collect()
}

/// Renders an update to a match in the match list as one line.
pub(crate) fn match_list_line(listing: &ListedMatch) -> String {
    let [code, game, seats, _, _, command] = match_row(listing);
    let action = match listing.status {
        MatchStatus::Open | MatchStatus::Running => command,
        MatchStatus::Ended => "is over".to_owned(),
    };
    format!("{}  {game}  {seats}  {action}", paint(STRONG, &code))
}

fn match_row(listing: &ListedMatch) -> Row {
    let code = sanitize(&listing.code);
    let verb = match listing.status {
        MatchStatus::Open => "join",
        MatchStatus::Running | MatchStatus::Ended => "watch",
    };
    let command = format!("ply {verb} {code}");
    let seats = listing.seats.each_ref().map(|seat| {
        let (side, occupant) = (sanitize(&seat.side), occupant_list_text(&seat.occupant));
        format!("{side} {occupant}")
    });
    let clock = listing.clock.map(|clock| clock.to_notation());
    let clock = clock.map_or_else(String::new, |clock| format!(" {clock}"));
    [
        code,
        sanitize(&listing.game) + &clock + from_position_label(listing.from_position),
        seats.join(", "),
        listing.ply.to_string(),
        listing.spectators.to_string(),
        command,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{snapshot, strip_style};
    use super::*;

    #[test]
    fn open_matches_are_listed_first_and_narrow_list_is_stacked() {
        let now = snapshot("x../.o./...");
        let listed_match = |code: &str, status| ListedMatch {
            match_id: now.match_id,
            code: code.to_owned(),
            game: now.game.clone(),
            status,
            seats: now.seats.clone(),
            ply: now.ply,
            clock: None,
            rated: false,
            from_position: false,
            spectators: 1,
        };
        let matches = [
            listed_match("AAAAAA", MatchStatus::Running),
            listed_match("BBBBBB", MatchStatus::Open),
        ];
        let drawn = strip_style(&render_match_list(
            &matches,
            3,
            " --server ws://h/ws",
            Some(77),
        ));
        assert_eq!(
            drawn,
            "\
CODE    GAME         SEATS                  MOVES  WATCHING
BBBBBB  tic-tac-toe  x ada, o ⚙ medium bot  2      1         ply join BBBBBB
AAAAAA  tic-tac-toe  x ada, o ⚙ medium bot  2      1         ply watch AAAAAA
… and 1 more
Add --server ws://h/ws to each command."
        );
        assert!(render_match_list(&[], 0, "", None).contains("ply play"));
        let from_position = ListedMatch {
            from_position: true,
            ..matches[0].clone()
        };
        let line = "AAAAAA  tic-tac-toe from a position  x ada, o ⚙ medium bot  ply watch AAAAAA";
        assert_eq!(strip_style(&match_list_line(&from_position)), line);
        let narrow = strip_style(&render_match_list(&matches[..1], 1, "", Some(76)));
        assert_eq!(
            narrow,
            "\
AAAAAA  tic-tac-toe, 2 moves
  x ada, o ⚙ medium bot
  ply watch AAAAAA"
        );
    }
}
