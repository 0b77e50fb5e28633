use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};
use plyhouse_protocol::{ClockControl, Occupant, SeatNumber, Snapshot, TimeLeft};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::*;
use crate::screen::keys_help;
use crate::session::help::help_text;
use crate::view::tests::{game_summary, snapshot};

const THEME: Theme = Theme {
    ascii: false,
    colour: true,
};

fn match_view(id: &str, sides: [&str; 2], (files, ranks): (u64, u64), position: &str) -> MatchView {
    let mut now: Snapshot = snapshot(position);
    id.clone_into(&mut now.game);
    now.moves.clear();
    for (seat, side) in now.seats.iter_mut().zip(sides) {
        side.clone_into(&mut seat.side);
    }
    let mut summary = game_summary(id, files, ranks);
    summary.sides = sides.map(str::to_owned);
    MatchView {
        snapshot: now,
        game: Some(summary),
        elapsed: Duration::ZERO,
        absences: [None, None],
    }
}

fn tic_tac_toe() -> MatchView {
    let mut match_view = match_view("tic-tac-toe", ["x", "o"], (3, 3), "x../.o./...");
    match_view.snapshot.moves = ["a3", "b2"].map(str::to_owned).to_vec();
    match_view
}

fn draw_to_buffer(
    state: &mut ScreenState,
    match_view: Option<&MatchView>,
    size: (u16, u16),
    theme: Theme,
) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    state.set_match(match_view);
    terminal
        .draw(|frame| draw_screen(frame, state, match_view, theme))
        .unwrap();
    terminal.backend().buffer().clone()
}

fn draw_to_lines(match_view: &MatchView, size: (u16, u16)) -> Vec<String> {
    buffer_lines(&draw_to_buffer(
        &mut ScreenState::new(false),
        Some(match_view),
        size,
        THEME,
    ))
}

fn buffer_lines(buffer: &Buffer) -> Vec<String> {
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let row = |cells: &[ratatui::buffer::Cell]| {
        let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.trim_end().to_owned()
    };
    rows.map(row).collect()
}

#[track_caller]
fn assert_shows(lines: &[String], parts: &[&str]) {
    for part in parts {
        let is_shown = lines.iter().any(|line| line.contains(part));
        assert!(is_shown, "no {part:?} in\n{}", lines.join("\n"));
    }
}

#[test]
fn running_match_has_expected_layout() {
    let mut state = ScreenState::new(false);
    state.log.push("You play a3.".to_owned());
    let match_view = tic_tac_toe();
    let buffer = draw_to_buffer(&mut state, Some(&match_view), (80, 24), THEME);
    let lines = buffer_lines(&buffer);
    let expect = " tic-tac-toe K7QM2P, casual   1 spectator
      a   b   c
    ╭───┬───┬───╮  ▸ x  ada  (you)
  3 │ x │   │   │
    ├───┼───┼───┤    o  ⚙ medium bot
  2 │   │[o]│   │
    ├───┼───┼───┤
  1 │   │   │   │  1. a3 b2
    ╰───┴───┴───╯
 Your turn. You are x.";
    assert_eq!(lines[..10].join("\n"), expect);
    assert_eq!(lines[10], "─".repeat(80));
    assert_eq!(lines[11], " You play a3.");
    assert_eq!(lines[22], " >");
    assert!(
        lines[23].starts_with(" F1 help  F2 draw  F4 hint  F5 resign  F10 quit"),
        "{lines:?}"
    );
    // The cursor starts on the middle square of the board and is drawn in reverse video.
    let reversed = |x, y| buffer[(x, y)].modifier.contains(Modifier::REVERSED);
    assert_eq!(
        [8, 9, 10, 11, 12].map(|x| reversed(x, 5)),
        [false, true, true, true, false]
    );
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of all games")]
fn every_game_fits_smallest_terminal() {
    let go = format!("{} b 0 0 0 1", [".".repeat(9).as_str(); 9].join("/"));
    let gomoku = ["15"; 15].join("/");
    let othello = format!(
        "{}O*{}*O{} *",
        "-".repeat(27),
        "-".repeat(6),
        "-".repeat(27)
    );
    let chess = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let draughts = "B:W21,22,K32:B1,K6:H0:F9";
    let black = ["black", "white"];
    for (id, sides, size, position, parts) in [
        (
            "tic-tac-toe",
            ["x", "o"],
            (3, 3),
            "x../.o./...",
            ["3 │ x │", "╰───┴───┴───╯"],
        ),
        (
            "connect-four",
            ["red", "yellow"],
            (7, 6),
            "7/7/7/7/3y3/3r3",
            ["│ ○ │", "7"],
        ),
        (
            "othello",
            black,
            (8, 8),
            &othello,
            [" 1 │   │", " 4 │   │   │   │ ○ │ ● │"],
        ),
        (
            "draughts",
            black,
            (8, 8),
            draughts,
            ["32-29 │   │ ⛁ │", "4-1 │"],
        ),
        (
            "chess",
            ["white", "black"],
            (8, 8),
            chess,
            ["8 │ ♜ │ ♞ │", "1 │ ♖ │ ♘ │"],
        ),
        (
            "gomoku",
            black,
            (15, 15),
            &gomoku,
            ["15 │ ·  ·", " 1 │ ·  ·"],
        ),
        (
            "go",
            black,
            (9, 9),
            &go,
            ["A  B  C  D  E  F  G  H  J", "9 │ ·  ·"],
        ),
    ] {
        let mut match_view = match_view(id, sides, size, position);
        let mut state = ScreenState::new(false);
        state.log.push("the last that was said".to_owned());
        for columns in [80, 200] {
            let rows = columns / 5 + 8;
            let buffer = draw_to_buffer(&mut state, Some(&match_view), (columns, rows), THEME);
            let lines = buffer_lines(&buffer);
            assert_shows(&lines, &parts);
            let all = [
                "╰",
                "▸",
                "⚙ medium bot",
                "Your turn.",
                "the last that was said",
            ];
            assert_shows(&lines, &all);
        }
        match_view.snapshot.you = Some(SeatNumber(1));
        draw_to_lines(&match_view, (80, 24));
    }
}

#[test]
fn help_fits_smallest_terminal_without_scrolling() {
    for (id, is_open) in [("draughts", false), ("draughts", true), ("chess", false)] {
        let mut match_view = tic_tac_toe();
        match_view.snapshot.clock = Some("5+3".parse().unwrap());
        match_view.snapshot.takebacks_allowed = true;
        match_view.snapshot.you = Some(SeatNumber(1));
        if is_open {
            match_view.snapshot.status = MatchStatus::Open;
        }
        let mut state = ScreenState::new(false);
        state.log.push("said before".to_owned());
        state.handle_key(KeyEvent::from(KeyCode::F(1)), Some(&match_view));
        state.log.push(keys_help(Some(&match_view)));
        let mut snapshot = match_view.snapshot.clone();
        snapshot.game = id.to_owned();
        snapshot.stand_in = Some("easy".to_owned());
        state.log.push(help_text(&snapshot, true));
        let lines = buffer_lines(&draw_to_buffer(
            &mut state,
            Some(&match_view),
            (80, 24),
            THEME,
        ));
        let expected: &[&str] = match is_open {
            true => &[
                "F10 quits",
                "Press Enter to show the invitation again.",
                "add a bot of any level",
            ],
            false => &[
                "Arrow keys move the cursor",
                "Type two squares",
                "leave; a bot plays for you",
            ],
        };
        assert_shows(&lines, expected);
        assert_shows(&lines, &["Press any key to return"]);
        // The help only lists commands that work in the current state of the match.
        let text = lines.join("\n");
        let play_words = ["Arrow keys", "F2", "resign", "takeback", "more time"];
        assert!(
            play_words.iter().all(|word| text.contains(word) != is_open),
            "{text}"
        );
    }
}

#[test]
fn open_match_shows_seats_and_full_log() {
    let position = ["15"; 15].join("/");
    let mut match_view = match_view("gomoku", ["black", "white"], (15, 15), &position);
    match_view.snapshot.status = MatchStatus::Open;
    match_view.snapshot.seats[1].occupant = Occupant::Open;
    let mut state = ScreenState::new(false);
    let log_lines: Vec<String> = (1..=18).map(|number| format!("said {number}")).collect();
    state.log.push(log_lines.join("\n"));
    let lines = buffer_lines(&draw_to_buffer(
        &mut state,
        Some(&match_view),
        (80, 24),
        THEME,
    ));
    assert_shows(
        &lines,
        &[
            "gomoku K7QM2P, casual",
            "ada  (you)",
            "(open)",
            " said 1",
            " said 18",
        ],
    );
}

#[test]
fn log_moves_beside_tall_board() {
    let position = ["15"; 15].join("/");
    let match_view = match_view("gomoku", ["black", "white"], (15, 15), &position);
    let mut state = ScreenState::new(false);
    for number in 1..=5 {
        state.log.push(format!("said {number}"));
    }
    let buffer = draw_to_buffer(&mut state, Some(&match_view), (80, 24), THEME);
    let lines = buffer_lines(&buffer);
    let beside = lines.iter().find(|line| line.contains("said 1")).unwrap();
    assert!(beside.contains("·  ·"), "{}", lines.join("\n"));
    assert_shows(&lines, &["said 5", "1 │ ·", "Your turn."]);
}

#[test]
fn large_terminal_draws_large_board() {
    let match_view = match_view(
        "chess",
        ["white", "black"],
        (8, 8),
        "8/8/8/8/8/8/8/K6k w - - 0 1",
    );
    let ruled_line_count = |size| {
        let lines = draw_to_lines(&match_view, size);
        lines.iter().filter(|line| line.contains("├───┼")).count()
    };
    assert_eq!(ruled_line_count((80, 24)), 0);
    assert_eq!(ruled_line_count((100, 30)), 7);
}

#[test]
fn picked_squares_and_targets_are_marked_unless_colourless() {
    let mut match_view = match_view(
        "chess",
        ["white", "black"],
        (8, 8),
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
    );
    match_view.snapshot.legal = ["e2e3", "e2e4"].map(str::to_owned).to_vec();
    let mut state = ScreenState::new(false);
    state.set_match(Some(&match_view));
    state.picked_squares = vec![(4, 1)];
    let buffer = draw_to_buffer(&mut state, Some(&match_view), (80, 24), THEME);
    let board_image = match_view.rendered_board(false).unwrap();
    let cell = |square| {
        let (column, row) = board_image.screen_position(square).unwrap();
        &buffer[(to_u16(column) + 1, to_u16(row) + 1)]
    };
    assert_eq!(cell((4, 1)).bg, Color::Yellow);
    assert_eq!(
        [(4, 2), (4, 3), (4, 4)].map(|square| cell(square).symbol()),
        ["*", "*", " "]
    );
    // With colours disabled, every cell is drawn in the terminal's default colours.
    let theme = Theme {
        colour: false,
        ..THEME
    };
    let buffer = draw_to_buffer(&mut state, Some(&match_view), (80, 24), theme);
    assert!(
        buffer
            .content
            .iter()
            .all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset))
    );
}

#[test]
fn long_names_are_truncated_and_log_scroll_is_clamped() {
    let mut match_view = tic_tac_toe();
    match_view.snapshot.seats[0].occupant = Occupant::Player {
        player: match_view.snapshot.host,
        name: "歩".repeat(40),
        connected: true,
        account: false,
        bot: false,
        rating: None,
    };
    let mut state = ScreenState::new(false);
    for number in 0..1000 {
        state.log.push(format!("{number} {}", "long ".repeat(60)));
    }
    let buffer = draw_to_buffer(&mut state, Some(&match_view), (80, 24), THEME);
    let lines = buffer_lines(&buffer);
    let name = lines.iter().find(|line| line.contains('歩')).unwrap();
    assert!(name.contains('…'), "{name}");
    assert_shows(&lines, &["⚙ medium bot", "Your turn.", "─────"]);
    // Scrolling back stops at the first line of the log.
    state.log.scroll_back = usize::MAX;
    let buffer = draw_to_buffer(&mut state, Some(&match_view), (80, 24), THEME);
    assert_shows(&buffer_lines(&buffer), &["700 long"]);
    assert!(state.log.scroll_back < 10_000);
}

#[test]
fn clocks_show_time_left() {
    let mut match_view = tic_tac_toe();
    match_view.snapshot.clock = Some(ClockControl::Fischer {
        main_ms: 300_000,
        increment_ms: 3000,
    });
    match_view.snapshot.time_left = Some(TimeLeft {
        left_ms: [272_500, 300_000],
        periods: None,
    });
    (match_view.snapshot.turn_ms, match_view.snapshot.paused) = (Some(0), Some(false));
    let lines = draw_to_lines(&match_view, (80, 24));
    assert_shows(&lines, &["(5+3)", "4:32", "5:00"]);
    match_view.elapsed = Duration::from_millis(263_600);
    let lines = draw_to_lines(&match_view, (80, 24));
    assert_shows(&lines, &["8.9", "5:00"]);
}

#[test]
fn too_small_window_asks_to_enlarge_it() {
    let match_view = tic_tac_toe();
    for size in [(79, 24), (80, 23), (20, 3), (1, 1)] {
        let lines = draw_to_lines(&match_view, size);
        assert!(!lines.join("\n").contains('│'), "{size:?}: {lines:?}");
    }
    assert_shows(
        &draw_to_lines(&match_view, (60, 10)),
        &["enlarge the window", "80 x 24 or more (now 60 x 10)"],
    );
}

#[test]
fn prompt_fills_screen_without_match() {
    let mut state = ScreenState::new(false);
    state.log.push("\nWhich game?\n  1  Chess\n".to_owned());
    let buffer = draw_to_buffer(&mut state, None, (80, 24), THEME);
    assert_shows(
        &buffer_lines(&buffer),
        &["Which game?", "  1  Chess", " Enter answer"],
    );
}

#[test]
fn ascii_theme_draws_only_ascii() {
    let mut match_view = tic_tac_toe();
    match_view.snapshot.game = "chess".to_owned();
    let theme = Theme {
        ascii: true,
        ..THEME
    };
    let mut state = ScreenState::new(false);
    state.log.push("Waiting …".to_owned());
    let buffer = draw_to_buffer(&mut state, Some(&match_view), (80, 24), theme);
    let lines = buffer_lines(&buffer);
    assert_shows(&lines, &["+---+---+---+", "% medium bot", "Waiting ..."]);
    assert!(lines.iter().all(|line| line.is_ascii()), "{lines:#?}");
}

/// Text from the server is sanitized before it is drawn.
#[test]
fn control_characters_from_server_are_not_drawn() {
    let mut match_view = tic_tac_toe();
    match_view.snapshot.moves = vec!["\u{1b}[2J\u{202e}a1\nb2".to_owned()];
    match_view.snapshot.code = "\u{1b}[31mK7".to_owned();
    match_view.snapshot.seats[0].side = "\u{1b}]0;x\u{7}".to_owned();
    match_view.snapshot.position = "\u{1b}[2J/".to_owned();
    let lines = draw_to_lines(&match_view, (80, 24));
    assert!(
        lines
            .iter()
            .all(|line| line.chars().all(|c| !c.is_control())),
        "{lines:#?}"
    );
    assert_shows(&lines, &["�[31mK7", "1. �[2J�a1�b2"]);
}
