//! What a match looks like in a terminal: from what is known to text, and nothing else.
//!
//! Text carries its colours; whoever writes it strips them where they are not wanted.

mod board;
mod listing;
mod paint;
mod words;

use plyhouse::protocol::{GameSummary, SeatNumber, Snapshot};

use crate::harmless::harmless;

pub(crate) use listing::listing;
pub(crate) use paint::{FAINT, STRONG, WRONG, paint};
pub(crate) use words::{ended, moved, occupant, presence, seated, side, span, turn, who};

/// The board with the two seats beside it, and empty lines around.
pub(crate) fn table(now: &Snapshot, game: Option<&GameSummary>) -> String {
    let board = board::board(now, game);
    let middle = board.len().saturating_sub(2) / 2;
    let mut text = String::from("\n");
    for (number, line) in board.iter().enumerate() {
        let beside = match number.checked_sub(middle) {
            Some(0) => seat(now, SeatNumber(0)),
            Some(1) => seat(now, SeatNumber(1)),
            Some(_) | None => String::new(),
        };
        text.push_str(format!("  {line}     {beside}").trim_end());
        text.push('\n');
    }
    text
}

/// One seat beside the board, with a mark if it is its turn.
fn seat(now: &Snapshot, seat: SeatNumber) -> String {
    let mark = if now.turn == Some(seat) { "▸" } else { " " };
    let who = now
        .seats
        .get(seat.index())
        .map(|state| occupant(&state.occupant));
    let you = if now.you == Some(seat) {
        paint(FAINT, "  (you)")
    } else {
        String::new()
    };
    format!(
        "{mark} {}  {}{you}",
        side(now, seat),
        who.unwrap_or_default()
    )
}

/// A match by what is played and its code.
pub(crate) fn title(now: &Snapshot, game: Option<&GameSummary>) -> String {
    let title = harmless(game.map_or(&now.game, |game| &game.title));
    format!("{title} {}", paint(STRONG, &harmless(&now.code)))
}

/// One line that names a match and who sits there.
pub(crate) fn headline(now: &Snapshot, game: Option<&GameSummary>) -> String {
    let [first, second] = [0, 1].map(|seat| who(now, SeatNumber(seat)));
    format!("{}: {first} against {second}", title(now, game))
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
}
