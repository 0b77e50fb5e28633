//! The few colours. Whether they reach the terminal is decided where text is written.

use anstyle::{AnsiColor, Color, Style};

/// Lines of the board, coordinates, what is said in passing.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// What one looks for: a code, a command, whose turn it is.
pub(crate) const STRONG: Style = Style::new().bold();
/// The last move.
pub(crate) const LAST_MOVE: Style = Style::new().bold().underline();
/// The winning line, in the colour of its side.
pub(crate) const WINNING_LINE: Style = Style::new().bold().invert();
/// What went wrong.
pub(crate) const ERROR: Style = color(AnsiColor::Red);
/// What is not drawn up in any other way.
pub(crate) const PLAIN: Style = Style::new();

const FIRST_SEAT: Style = color(AnsiColor::Cyan);
/// To be read on light and on dark ground alike, as yellow is not.
const SECOND_SEAT: Style = color(AnsiColor::Magenta);
const RED: Style = color(AnsiColor::Red);
const YELLOW: Style = color(AnsiColor::Yellow);

const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// The colour of a seat: of the side's own name where it is one that a terminal has.
pub(crate) fn seat_style(index: usize, side: &str) -> Style {
    match (side, index) {
        ("red", _) => RED,
        ("yellow", _) => YELLOW,
        (_, 0) => FIRST_SEAT,
        (_, _) => SECOND_SEAT,
    }
}

/// The text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
