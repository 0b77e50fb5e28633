//! Help text for the commands of a match.

use plyhouse_protocol::{MatchStatus, Snapshot};

use crate::conventions::Conventions;
use crate::view::{STRONG, paint};

/// Returns the help text for an open match.
fn open_match_help(row: &dyn Fn(&str, &str) -> String) -> String {
    [
        "Waiting for an opponent. Press Enter to show the invitation again.\n",
        &row("bot", "add a bot of any level: `bot easy`"),
        &row("say", "send a chat message: `say good game`"),
        &row("quit", "leave, and cancel the match if you created it"),
    ]
    .concat()
}

/// Returns the list of commands that the user can type. `is_board_visible` tells whether the board
/// is always visible, as in full-screen mode.
pub(crate) fn help_text(snapshot: &Snapshot, is_board_visible: bool) -> String {
    let row =
        |what: &str, does: &str| format!("  {}  {does}\n", paint(STRONG, &format!("{what:<9}")));
    if snapshot.status == MatchStatus::Open {
        return open_match_help(&row);
    }
    let move_help = Conventions::for_game(&snapshot.game).move_help();
    let mut text = format!("Type {move_help}.\n");
    if !is_board_visible {
        text += &row("board", "show the board again");
    }
    for (what, does) in [
        ("moves", "list the legal moves"),
        ("played", "list the moves played so far"),
        ("draw", "offer or accept a draw"),
        ("takeback", "propose or accept a takeback"),
        ("decline", "decline an offer, or withdraw your own"),
        ("hint", "show the best move (only against a bot)"),
        ("more time", "give your opponent 15 seconds"),
        (
            "abort",
            "abort the match (only before both sides have moved)",
        ),
        ("say", "send a chat message: `say good game`"),
        ("resign", "give up: your opponent wins"),
        ("rematch", "offer or accept a rematch after the match"),
        ("quit", "leave; your seat is held for a while"),
    ] {
        text += &row(what, does);
    }
    if snapshot.stand_in.is_some() {
        text += &row("leave", "leave; a bot plays for you at once");
    }
    text
}
