//! Colours and other styles. The code that writes the text decides whether the styles reach the
//! terminal.

use anstyle::{AnsiColor, Color, Style};

/// Style of board lines, coordinates and minor remarks.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Style of important text, such as match codes, commands and the side to move.
pub(crate) const STRONG: Style = Style::new().bold();
/// Style of the last move.
pub(crate) const LAST_MOVE: Style = Style::new().bold().underline();
/// Style of the winning line. The colour of the winning side is added.
pub(crate) const WINNING_LINE: Style = Style::new().bold().invert();
/// Style of errors.
pub(crate) const ERROR: Style = color(AnsiColor::Red);
/// Style of ordinary text.
pub(crate) const PLAIN: Style = Style::new();

const FIRST_SEAT: Style = color(AnsiColor::Cyan);
/// Magenta is readable on light and dark backgrounds, unlike yellow.
const SECOND_SEAT: Style = color(AnsiColor::Magenta);
const RED: Style = color(AnsiColor::Red);
const YELLOW: Style = color(AnsiColor::Yellow);

const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Returns the style of a seat. A side named red or yellow has that colour.
pub(crate) fn seat_style(index: usize, side: &str) -> Style {
    match (side, index) {
        ("red", _) => RED,
        ("yellow", _) => YELLOW,
        (_, 0) => FIRST_SEAT,
        (_, _) => SECOND_SEAT,
    }
}

/// Applies a style to text.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
