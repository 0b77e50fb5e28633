//! Help text for the commands of a match.

use crate::conventions::Conventions;
use crate::view::{STRONG, paint};

/// Properties of a match that determine its help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HelpContext {
    pub(crate) conventions: Conventions,
    /// Whether the match is open, which means that a seat is still free.
    pub(crate) is_open: bool,
    /// Whether a bot takes over the seat of a player who leaves.
    pub(crate) has_stand_in: bool,
    /// Whether the board is always visible, as in full-screen mode.
    pub(crate) is_board_visible: bool,
}

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

/// Returns the list of commands that the user can type.
pub(crate) fn help_text(context: HelpContext) -> String {
    let row =
        |what: &str, does: &str| format!("  {}  {does}\n", paint(STRONG, &format!("{what:<9}")));
    if context.is_open {
        return open_match_help(&row);
    }
    let mut text = format!("Type {}.\n", context.conventions.move_help());
    if !context.is_board_visible {
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
    if context.has_stand_in {
        text += &row("leave", "leave; a bot plays for you at once");
    }
    text
}
