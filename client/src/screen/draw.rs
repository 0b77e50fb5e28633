//! Draws the screen: the match, what was said, and the line that is typed.

use ansi_to_tui::IntoText as _;
use plyhouse_protocol::MatchStatus;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Paragraph, Wrap};

use super::keys::line_of_keys;
use super::model::Model;
use super::picking::targets;
use crate::ascii::ascii;
use crate::customs::Customs;
use crate::view::{FAINT, MatchView, RenderedBoard, Square, paint, truncate_to_width};

/// The least size of a terminal in which everything has its place.
pub(crate) const COLUMNS_MIN: u16 = 80;
pub(crate) const ROWS_MIN: u16 = 24;

/// How many lines of the log are always to be seen, before a board is drawn larger.
const LOG_ROWS: u16 = 6;

/// With fewer lines than that below the board, the log stands beside it.
const LOG_ROWS_MIN: u16 = 3;

/// How many lines the players and the last moves take at least, beside a board of fewer lines.
const SIDE_ROWS: u16 = 8;

/// What stands before the line that is typed.
const PROMPT: &str = "> ";

/// How things are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    /// With ASCII only.
    pub(crate) ascii: bool,
    /// With colours.
    pub(crate) colour: bool,
}

impl Theme {
    /// The text in the letters that the terminal has.
    pub(crate) fn letters(self, text: &str) -> String {
        if self.ascii {
            ascii(text)
        } else {
            text.to_owned()
        }
    }

    fn text(self, text: &str) -> Text<'static> {
        let text = self.letters(text);
        // What cannot be read as styled is shown as it is.
        text.clone()
            .into_text()
            .unwrap_or_else(|_| Text::from(text))
    }
}

/// Draws everything.
pub(crate) fn draw(
    frame: &mut Frame<'_>,
    model: &mut Model,
    scene: Option<&MatchView>,
    look: Theme,
) {
    let area = frame.area();
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        too_small(frame, area, look);
    } else {
        let rows = [
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ];
        let [body, input, keys] = Layout::vertical(rows).areas(area);
        match scene {
            Some(scene) if !model.unrolled && scene.snapshot.status == MatchStatus::Open => {
                draw_open(frame, body, model, scene, look);
            }
            Some(scene) if !model.unrolled => draw_match(frame, body, model, scene, look),
            Some(_) | None => draw_log(frame, body, model, look),
        }
        draw_input(frame, input, model, look);
        let hints = look.text(&hints(model, scene));
        frame.render_widget(hints.style(Modifier::REVERSED), keys);
    }
    if !look.colour {
        for cell in &mut frame.buffer_mut().content {
            cell.set_fg(Color::Reset).set_bg(Color::Reset);
        }
    }
}

fn too_small(frame: &mut Frame<'_>, area: Rect, look: Theme) {
    let text = format!(
        "Please enlarge the window:\n{COLUMNS_MIN} x {ROWS_MIN} at least (now {} x {}).\nThe match goes on.",
        area.width, area.height
    );
    frame.render_widget(
        Paragraph::new(look.text(&text)).wrap(Wrap { trim: false }),
        area,
    );
}

fn draw_match(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &mut Model,
    scene: &MatchView,
    look: Theme,
) {
    let status = status(model, scene);
    let status_rows = rows(status.len());
    let rest = area.height.saturating_sub(2 + status_rows);
    let fits = |picture: &RenderedBoard| rows(picture.size().1) + LOG_ROWS <= rest;
    let picture = scene
        .rendered_board(true)
        .filter(fits)
        .or_else(|| scene.rendered_board(false));
    let plain = || scene.board_lines(usize::from(area.width / 2));
    let lines = picture
        .as_ref()
        .map_or_else(plain, |drawn| drawn.lines.clone());
    let board = look.text(&lines.join("\n"));
    let constraints = [
        Constraint::Length(1),
        Constraint::Length(rows(board.height()).max(SIDE_ROWS)),
        Constraint::Length(status_rows),
        Constraint::Length(1),
        Constraint::Fill(1),
    ];
    let [title, upper, middle, rule, log] = Layout::vertical(constraints).areas(area);
    frame.render_widget(look.text(&format!(" {}", scene.title())), title);
    let columns = [
        Constraint::Length(rows(board.width()) + 3),
        Constraint::Fill(1),
    ];
    let [left, right] = Layout::horizontal(columns).areas(upper);
    let at = indented(left);
    frame.render_widget(board, at);
    if let Some(picture) = &picture {
        mark(frame, at, model, scene, picture);
    }
    // Below a high board there is no room for what was said; beside it there is.
    let is_beside = log.height < LOG_ROWS_MIN;
    let beside = draw_side(frame, right, scene, look, is_beside);
    let status: Vec<String> = status.iter().map(|line| format!(" {line}")).collect();
    frame.render_widget(look.text(&status.join("\n")), middle);
    let line = paint(FAINT, &"─".repeat(usize::from(rule.width)));
    frame.render_widget(look.text(&line), rule);
    draw_log(frame, if is_beside { beside } else { log }, model, look);
}

/// A match that has not begun: instead of a board on which nothing stands, how somebody gets to its open seat.
fn draw_open(frame: &mut Frame<'_>, area: Rect, model: &mut Model, scene: &MatchView, look: Theme) {
    let seats = scene.seat_lines().map(|[sitter, _]| sitter);
    let constraints = [
        Constraint::Length(1),
        Constraint::Length(rows(seats.len())),
        Constraint::Length(1),
        Constraint::Fill(1),
    ];
    let [title, above, rule, log] = Layout::vertical(constraints).areas(area);
    frame.render_widget(look.text(&format!(" {}", scene.title())), title);
    frame.render_widget(look.text(&seats.join("\n")), above);
    let line = paint(FAINT, &"─".repeat(usize::from(rule.width)));
    frame.render_widget(look.text(&line), rule);
    draw_log(frame, log, model, look);
}

/// The cursor, what was picked, and where it can go.
fn mark(
    frame: &mut Frame<'_>,
    at: Rect,
    model: &Model,
    scene: &MatchView,
    picture: &RenderedBoard,
) {
    let now = &scene.snapshot;
    if now.you.is_none() || now.status != MatchStatus::Running {
        return;
    }
    let buffer = frame.buffer_mut();
    let area = buffer.area;
    let mut patch = |square: Square, style: Style, sign: Option<&str>| {
        let Some((column, row)) = picture.screen_position(square) else {
            return;
        };
        let (x, y) = (at.x + rows(column), at.y + rows(row));
        let cells = Rect::new(x.saturating_sub(1), y, 3, 1).intersection(area);
        buffer.set_style(cells, style);
        if let Some(sign) = sign
            && let Some(cell) = buffer.cell_mut(Position { x, y })
            && cell.symbol() == " "
        {
            cell.set_symbol(sign);
        }
    };
    for square in targets(Customs::of(&now.game), &now.legal, &model.path) {
        let style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
        patch(square, style.add_modifier(Modifier::UNDERLINED), Some("*"));
    }
    for square in &model.path {
        let style = Style::new().fg(Color::Black).bg(Color::Yellow);
        patch(*square, style.add_modifier(Modifier::UNDERLINED), None);
    }
    if let Some(cursor) = model.cursor {
        patch(cursor, Style::new().add_modifier(Modifier::REVERSED), None);
    }
}

/// Who plays, with clocks, and what was played; gives the place for the log, if that has to be here.
fn draw_side(
    frame: &mut Frame<'_>,
    area: Rect,
    scene: &MatchView,
    look: Theme,
    with_log: bool,
) -> Rect {
    let width = usize::from(area.width);
    let seats = scene.seat_lines().concat();
    let seats: Vec<String> = seats
        .iter()
        .map(|line| truncate_to_width(line, Some(width + 1)))
        .collect();
    let constraints = [
        Constraint::Length(1),
        Constraint::Length(rows(seats.len())),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(u16::from(with_log)),
        Constraint::Fill(if with_log { 2 } else { 0 }),
    ];
    let [_, above, _, below, rule, log] = Layout::vertical(constraints).areas(area);
    frame.render_widget(look.text(&seats.join("\n")), above);
    tail(frame, below, look.text(&scene.move_list()), 0);
    let line = paint(FAINT, &"─".repeat(usize::from(rule.width)));
    frame.render_widget(look.text(&line), rule);
    log
}

fn draw_log(frame: &mut Frame<'_>, area: Rect, model: &mut Model, look: Theme) {
    let area = Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(2),
        ..area
    };
    model.log.back = tail(frame, area, look.text(&model.log.text()), model.log.back);
}

/// The last lines of a text, or those that come so far before them; gives how far back it can be.
fn tail(frame: &mut Frame<'_>, area: Rect, text: Text<'_>, back: usize) -> usize {
    let paragraph = Paragraph::new(text).wrap(Wrap { trim: false });
    let hidden = paragraph
        .line_count(area.width)
        .saturating_sub(usize::from(area.height));
    let back = back.min(hidden);
    frame.render_widget(paragraph.scroll((rows(hidden - back), 0)), area);
    back
}

fn status(model: &Model, scene: &MatchView) -> Vec<String> {
    if let Some(choice) = &model.choice {
        let moves = choice.moves.iter().enumerate().map(|(number, m)| {
            if number == choice.at {
                format!("[{m}]")
            } else {
                format!(" {m} ")
            }
        });
        let moves: Vec<String> = moves.collect();
        return vec![format!("Which? {}  (arrows, Enter)", moves.join(" "))];
    }
    scene.status_lines()
}

/// All of it but its first column.
fn indented(area: Rect) -> Rect {
    Rect {
        x: area.x + 1,
        width: area.width - 1,
        ..area
    }
}

fn draw_input(frame: &mut Frame<'_>, area: Rect, model: &Model, look: Theme) {
    if model.is_watching {
        return;
    }
    let prompt = look.text(&paint(FAINT, PROMPT));
    let columns = [
        Constraint::Length(rows(PROMPT.len()) + 1),
        Constraint::Fill(1),
    ];
    let [left, line] = Layout::horizontal(columns).areas(area);
    frame.render_widget(prompt, indented(left));
    let typed = &model.typed;
    let scroll = typed.visual_scroll(usize::from(line.width.saturating_sub(1)));
    let paragraph = Paragraph::new(Line::raw(typed.value())).scroll((0, rows(scroll)));
    frame.render_widget(paragraph, line);
    let along = typed.visual_cursor().saturating_sub(scroll);
    let x = line.x.saturating_add(rows(along));
    frame.set_cursor_position(Position { x, y: line.y });
}

/// What the keys do now, in a word each.
fn hints(model: &Model, scene: Option<&MatchView>) -> String {
    let status = scene.map(|scene| scene.snapshot.status);
    let keys = match (model.is_watching, status, scene) {
        (false, Some(_), _) if model.unrolled => "Any key goes back to the match  PgUp back".into(),
        (true, Some(MatchStatus::Ended), _) => "Enter leave  PgUp back".into(),
        (true, _, _) => "Q quit  PgUp back".into(),
        (false, Some(MatchStatus::Open), _) => "F1 help  PgUp back  F10 quit".into(),
        (false, Some(_), Some(scene)) => line_of_keys(scene),
        (false, _, _) => "Enter answer  PgUp back  F10 quit".to_owned(),
    };
    format!(" {keys}{}", " ".repeat(200))
}

fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
