//! Renders the list of players who seek an opponent.

use plyhouse_protocol::{SeekList, Seeker};

use super::match_list::finish_list;
use super::match_text::player_text;
use super::style::{FAINT, STRONG, paint};
use crate::clock_notation::parse_clock;
use crate::sanitize::sanitize;

/// Renders one line for each player who seeks an opponent, with the command that accepts the offer.
/// The options that select the server are printed once, below the list. Returns `None` if no player
/// seeks an opponent.
pub(crate) fn render_seek_list(seekers: &SeekList, server_options: &str) -> Option<String> {
    if seekers.rows.is_empty() {
        return None;
    }
    let mut text = paint(FAINT, "LOOKING FOR AN OPPONENT") + "\n";
    for row in &seekers.rows {
        text.push_str(&seek_line(row));
        text.push('\n');
    }
    let omitted = seekers.total.saturating_sub(seekers.rows.len() as u64);
    Some(finish_list(text, omitted, server_options))
}

/// Renders one line about a player who seeks an opponent.
pub(crate) fn seek_line(row: &Seeker) -> String {
    let name = player_text(&row.player.name, row.rating);
    let game = sanitize(&row.game);
    let clock = row.clock.map(|clock| clock.to_notation());
    let clock_label = clock
        .as_ref()
        .map_or_else(String::new, |clock| format!(" {clock}"));
    let rated = if row.rated { " rated" } else { "" };
    let line = format!("{}  {game}{clock_label}{rated}", paint(STRONG, &name));
    // Omit the command if the clock has no exact notation, because the command would specify a
    // different clock. Also omit the command if a bot seeks a rated match, because no person can
    // accept the offer.
    let is_exact = clock.as_ref().map(|clock| parse_clock(clock).ok()) == row.clock.map(Some);
    if !is_exact || row.rated && row.player.bot {
        return line;
    }
    let clock = clock.map_or_else(String::new, |clock| format!(" --clock {clock}"));
    let rated = if row.rated { " --rated" } else { "" };
    format!("{line}  ply play {game} --seek{clock}{rated}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::strip_style;
    use super::*;

    fn seek_list(total: u64, rows: &serde_json::Value) -> SeekList {
        serde_json::from_value(json!({"total": total, "rows": rows})).unwrap()
    }

    #[test]
    fn seek_list_shows_answering_command_for_each_seek() {
        let id = "00000000-0000-0000-0000-000000000001";
        let clock = json!({"kind": "fischer", "main_ms": 300_000, "increment_ms": 3000});
        let odd = json!({"kind": "fischer", "main_ms": 300_001, "increment_ms": 3001});
        let rows = json!([
            {"player": {"id": id, "name": "ann\u{1b}"}, "game": "go", "clock": null, "rated": false},
            {"player": {"id": id, "name": "bob", "account": true}, "rating": 1512, "provisional": true,
             "game": "chess", "clock": clock, "rated": true},
            {"player": {"id": id, "name": "rob", "account": true, "bot": true}, "rating": 1600,
             "provisional": false, "game": "chess", "clock": clock, "rated": true},
            {"player": {"id": id, "name": "odd"}, "game": "chess", "clock": odd, "rated": false},
        ]);
        let drawn = render_seek_list(&seek_list(5, &rows), " --server ws://h/ws").unwrap();
        let odd: plyhouse_protocol::ClockControl = serde_json::from_value(odd).unwrap();
        let odd = odd.to_notation();
        let expected = format!(
            "\
LOOKING FOR AN OPPONENT
ann\u{fffd}  go  ply play go --seek
bob (1512?)  chess 5+3 rated  ply play chess --seek --clock 5+3 --rated
rob (1600)  chess 5+3 rated
odd  chess {odd}  ply play chess --seek --clock {odd}
… and 1 more
Add --server ws://h/ws to each command."
        );
        assert_eq!(strip_style(&drawn), expected);
        assert_eq!(render_seek_list(&seek_list(0, &json!([])), ""), None);
    }
}
