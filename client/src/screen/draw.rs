//! Draws the screen: the match, the message log and the input line.

use ansi_to_tui::IntoText as _;
use plyhouse_protocol::MatchStatus;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Wrap};

use super::function_keys::function_key_line;
use super::key_input::ScreenState;
use super::move_selection::target_squares;
use crate::ascii_fallback::to_charset;
use crate::conventions::Conventions;
use crate::view::{FAINT, MatchView, RenderedBoard, Square, paint, truncate_to_width};

/// Minimum terminal width for the complete layout, in columns. The minimum height is [`ROWS_MIN`].
pub(crate) const COLUMNS_MIN: u16 = 80;
pub(crate) const ROWS_MIN: u16 = 24;

/// Minimum number of log rows below a board in large size. If fewer rows would remain, the board is
/// drawn in small size.
const LARGE_BOARD_LOG_ROWS: u16 = 6;

/// Minimum number of log rows below the board. If fewer rows remain, the log is drawn beside the
/// board.
const LOG_ROWS_BELOW_BOARD_MIN: u16 = 3;

/// Minimum height of the panel beside the board, in rows. The panel shows the players and the last
/// moves.
const SIDE_PANEL_ROWS_MIN: u16 = 8;

/// Prompt before the input line.
const INPUT_PROMPT: &str = "> ";

/// Display options of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    /// Whether only ASCII characters are drawn.
    pub(crate) ascii: bool,
    /// Whether colours are drawn.
    pub(crate) colour: bool,
}

impl Theme {
    fn styled_text(self, text: &str) -> Text<'static> {
        let text = to_charset(text, self.ascii);
        // If the ANSI escape sequences in the text cannot be parsed, the text is shown unchanged.
        text.clone()
            .into_text()
            .unwrap_or_else(|_| Text::from(text))
    }
}

/// Draws the complete screen.
pub(crate) fn draw_screen(
    frame: &mut Frame<'_>,
    state: &mut ScreenState,
    match_view: Option<&MatchView>,
    theme: Theme,
) {
    let area = frame.area();
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        draw_too_small(frame, area, theme);
    } else {
        let rows = [
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ];
        let [body, input, keys] = Layout::vertical(rows).areas(area);
        match match_view {
            Some(match_view)
                if !state.is_log_expanded && match_view.snapshot.status == MatchStatus::Open =>
            {
                draw_open_match(frame, body, state, match_view, theme);
            }
            Some(match_view) if !state.is_log_expanded => {
                draw_match(frame, body, state, match_view, theme)
            }
            Some(_) | None => draw_log(frame, body, state, theme),
        }
        draw_input(frame, input, state, theme);
        let key_bar = theme.styled_text(&key_bar_text(state, match_view));
        frame.render_widget(key_bar.style(Modifier::REVERSED), keys);
    }
    if !theme.colour {
        for cell in &mut frame.buffer_mut().content {
            cell.set_fg(Color::Reset).set_bg(Color::Reset);
        }
    }
}

fn draw_too_small(frame: &mut Frame<'_>, area: Rect, theme: Theme) {
    let text = format!(
        "Please enlarge the window to\n{COLUMNS_MIN} x {ROWS_MIN} or more (now {} x {}).\n\
         The match continues.",
        area.width, area.height
    );
    frame.render_widget(
        Paragraph::new(theme.styled_text(&text)).wrap(Wrap { trim: false }),
        area,
    );
}

fn draw_match(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &mut ScreenState,
    match_view: &MatchView,
    theme: Theme,
) {
    let status = status_lines(state, match_view);
    let status_rows = to_u16(status.len());
    let rest = area.height.saturating_sub(2 + status_rows);
    let fits = |image: &RenderedBoard| to_u16(image.size().1) + LARGE_BOARD_LOG_ROWS <= rest;
    let large_image = match_view.rendered_board(true).filter(fits);
    let board_image = large_image.or_else(|| match_view.rendered_board(false));
    let lines = match &board_image {
        Some(image) => image.lines.clone(),
        None => match_view.board_lines(usize::from(area.width / 2)),
    };
    let board = theme.styled_text(&lines.join("\n"));
    let constraints = [
        Constraint::Length(1),
        Constraint::Length(to_u16(board.height()).max(SIDE_PANEL_ROWS_MIN)),
        Constraint::Length(status_rows),
        Constraint::Length(1),
        Constraint::Fill(1),
    ];
    let [title, upper, middle, rule, log] = Layout::vertical(constraints).areas(area);
    draw_title(frame, title, match_view, theme);
    let columns = [
        Constraint::Length(to_u16(board.width()) + 3),
        Constraint::Fill(1),
    ];
    let [left, right] = Layout::horizontal(columns).areas(upper);
    let board_area = indent_area(left);
    frame.render_widget(board, board_area);
    if let Some(board_image) = &board_image {
        mark_squares(frame, board_area, state, match_view, board_image);
    }
    // If a tall board leaves too few rows below it, the log is drawn beside the board.
    let is_beside = log.height < LOG_ROWS_BELOW_BOARD_MIN;
    let beside = draw_side_panel(frame, right, match_view, theme, is_beside);
    let status: Vec<String> = status.iter().map(|line| format!(" {line}")).collect();
    frame.render_widget(theme.styled_text(&status.join("\n")), middle);
    draw_rule(frame, rule, theme);
    draw_log(frame, if is_beside { beside } else { log }, state, theme);
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, match_view: &MatchView, theme: Theme) {
    let title = format!(" {}", match_view.title());
    frame.render_widget(theme.styled_text(&title), area);
}

/// Draws a horizontal line.
fn draw_rule(frame: &mut Frame<'_>, area: Rect, theme: Theme) {
    let line = paint(FAINT, &"─".repeat(usize::from(area.width)));
    frame.render_widget(theme.styled_text(&line), area);
}

/// Draws an open match: the seats and the log, without a board. The log explains how another player
/// can take the open seat.
fn draw_open_match(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &mut ScreenState,
    match_view: &MatchView,
    theme: Theme,
) {
    let seats = match_view.seat_lines().map(|[sitter, _]| sitter);
    let constraints = [
        Constraint::Length(1),
        Constraint::Length(to_u16(seats.len())),
        Constraint::Length(1),
        Constraint::Fill(1),
    ];
    let [title, above, rule, log] = Layout::vertical(constraints).areas(area);
    draw_title(frame, title, match_view, theme);
    frame.render_widget(theme.styled_text(&seats.join("\n")), above);
    draw_rule(frame, rule, theme);
    draw_log(frame, log, state, theme);
}

/// Highlights the cursor, the squares that the user has picked, and the squares that can be picked
/// next.
fn mark_squares(
    frame: &mut Frame<'_>,
    board_area: Rect,
    state: &ScreenState,
    match_view: &MatchView,
    board_image: &RenderedBoard,
) {
    let now = &match_view.snapshot;
    if now.you.is_none() || now.status != MatchStatus::Running {
        return;
    }
    let buffer = frame.buffer_mut();
    let area = buffer.area;
    let mut patch = |square: Square, style: Style, symbol: Option<&str>| {
        let Some((column, row)) = board_image.screen_position(square) else {
            return;
        };
        let (x, y) = (board_area.x + to_u16(column), board_area.y + to_u16(row));
        let cells = Rect::new(x.saturating_sub(1), y, 3, 1).intersection(area);
        buffer.set_style(cells, style);
        if let Some(symbol) = symbol
            && let Some(cell) = buffer.cell_mut(Position { x, y })
            && cell.symbol() == " "
        {
            cell.set_symbol(symbol);
        }
    };
    let conventions = Conventions::for_game(&now.game);
    for square in target_squares(conventions, &now.legal, &state.picked_squares) {
        let style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
        patch(square, style.add_modifier(Modifier::UNDERLINED), Some("*"));
    }
    for square in &state.picked_squares {
        let style = Style::new().fg(Color::Black).bg(Color::Yellow);
        patch(*square, style.add_modifier(Modifier::UNDERLINED), None);
    }
    if let Some(cursor) = state.cursor {
        patch(cursor, Style::new().add_modifier(Modifier::REVERSED), None);
    }
}

/// Draws the players with their clocks, and the move list below them. Returns the area below the
/// move list. If `with_log` is set, the caller draws the log in the returned area.
fn draw_side_panel(
    frame: &mut Frame<'_>,
    area: Rect,
    match_view: &MatchView,
    theme: Theme,
    with_log: bool,
) -> Rect {
    let width = usize::from(area.width);
    let seats = match_view.seat_lines().concat();
    let seats: Vec<String> = seats
        .iter()
        .map(|line| truncate_to_width(line, Some(width + 1)))
        .collect();
    let constraints = [
        Constraint::Length(1),
        Constraint::Length(to_u16(seats.len())),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(u16::from(with_log)),
        Constraint::Fill(if with_log { 2 } else { 0 }),
    ];
    let [_, above, _, below, rule, log] = Layout::vertical(constraints).areas(area);
    frame.render_widget(theme.styled_text(&seats.join("\n")), above);
    draw_tail(frame, below, theme.styled_text(&match_view.move_list()), 0);
    draw_rule(frame, rule, theme);
    log
}

fn draw_log(frame: &mut Frame<'_>, area: Rect, state: &mut ScreenState, theme: Theme) {
    let area = Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(2),
        ..area
    };
    let text = theme.styled_text(&state.log.text());
    state.log.scroll_back = draw_tail(frame, area, text, state.log.scroll_back);
}

/// Draws the last lines of `text` that fit into the area, scrolled back by `scroll_back` lines.
/// Scrolling stops at the first line. Returns the number of lines actually scrolled back.
fn draw_tail(frame: &mut Frame<'_>, area: Rect, text: Text<'_>, scroll_back: usize) -> usize {
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: false });
    let line_count = paragraph.line_count(area.width);
    let hidden = line_count.saturating_sub(usize::from(area.height));
    let scroll_back = scroll_back.min(hidden);
    frame.render_widget(paragraph.scroll((to_u16(hidden - scroll_back), 0)), area);
    scroll_back
}

fn status_lines(state: &ScreenState, match_view: &MatchView) -> Vec<String> {
    if let Some(choice) = &state.move_choice {
        let moves = choice.moves.iter().enumerate();
        let moves = moves.map(|(number, m)| match number == choice.selected {
            true => format!("[{m}]"),
            false => format!(" {m} "),
        });
        let moves = moves.collect::<Vec<_>>().join(" ");
        return vec![format!("Choose a move: {moves}  (arrow keys, Enter)")];
    }
    match_view.status_lines()
}

/// Returns the area without its first column.
fn indent_area(area: Rect) -> Rect {
    Rect {
        x: area.x + 1,
        width: area.width - 1,
        ..area
    }
}

fn draw_input(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, theme: Theme) {
    if state.is_watching {
        return;
    }
    let prompt = theme.styled_text(&paint(FAINT, INPUT_PROMPT));
    let columns = [
        Constraint::Length(to_u16(INPUT_PROMPT.len()) + 1),
        Constraint::Fill(1),
    ];
    let [left, line] = Layout::horizontal(columns).areas(area);
    frame.render_widget(prompt, indent_area(left));
    let input = &state.input;
    let scroll = input.visual_scroll(usize::from(line.width.saturating_sub(1)));
    let paragraph = Paragraph::new(Line::raw(input.value())).scroll((0, to_u16(scroll)));
    frame.render_widget(paragraph, line);
    let cursor_column = input.visual_cursor().saturating_sub(scroll);
    let x = line.x.saturating_add(to_u16(cursor_column));
    frame.set_cursor_position(Position { x, y: line.y });
}

/// Returns the text of the bottom line, which lists the available keys.
fn key_bar_text(state: &ScreenState, match_view: Option<&MatchView>) -> String {
    let status = match_view.map(|scene| scene.snapshot.status);
    let keys = match (state.is_watching, status, match_view) {
        (false, Some(_), _) if state.is_log_expanded => {
            "Press any key to return to the match  PgUp scroll".into()
        }
        (true, Some(MatchStatus::Ended), _) => "Enter leave  PgUp scroll".into(),
        (true, _, _) => "Q quit  PgUp scroll".into(),
        (false, Some(MatchStatus::Open), _) => "F1 help  PgUp scroll  F10 quit".into(),
        (false, Some(_), Some(scene)) => function_key_line(scene),
        (false, _, _) => "Enter answer  PgUp scroll  F10 quit".to_owned(),
    };
    format!(" {keys}{}", " ".repeat(200))
}

fn to_u16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
