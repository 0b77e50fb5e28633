//! What can be typed at a match, in one text.

use crate::conventions::Conventions;
use crate::view::{STRONG, paint};

/// At what kind of match help is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HelpContext {
    pub(crate) conventions: Conventions,
    /// Whether a seat is open.
    pub(crate) is_open: bool,
    /// Whether a bot plays on for whoever goes.
    pub(crate) has_stand_in: bool,
    /// Whether the board is seen all the time.
    pub(crate) is_board_visible: bool,
}

/// What does something while a seat is open.
fn open_match_help(row: &dyn Fn(&str, &str) -> String) -> String {
    [
        "Nobody has sat down yet. Enter tells again how somebody does.\n",
        &row("bot", "have a bot sit down, of any level: `bot easy`"),
        &row("say", "say something: `say good game`"),
        &row("quit", "leave; then nobody can sit down any more"),
    ]
    .concat()
}

/// What can be typed.
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
