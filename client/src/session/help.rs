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
        "Nobody has sat down yet. Enter tells again how somebody does.\n",
        &row("bot", "have a bot sit down, of any level: `bot easy`"),
        &row("say", "say something: `say good game`"),
        &row("quit", "leave; then nobody can sit down any more"),
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
        text += &row("board", "draw the board again");
    }
    for (what, does) in [
        ("moves", "list the moves that can be played"),
        ("played", "list the moves that were played"),
        ("draw", "offer a draw, or accept one"),
        ("takeback", "ask for your last move back, or allow that"),
        ("decline", "refuse what is offered, or withdraw your own"),
        ("hint", "be told the best move, against a bot"),
        ("more time", "give the other side 15 seconds"),
        ("abort", "break off a match that has hardly begun"),
        ("say", "say something: `say good game`"),
        ("resign", "give up: the other side wins"),
        ("rematch", "play again, once the match is over"),
        ("quit", "leave; the seat is held for a while"),
    ] {
        text += &row(what, does);
    }
    if context.has_stand_in {
        text += &row("leave", "leave; a bot plays on for you at once");
    }
    text
}
