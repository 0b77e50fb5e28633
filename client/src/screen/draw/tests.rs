use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};
use plyhouse_protocol::{ClockControl, Occupant, SeatNumber, Snapshot, TimeLeft};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::*;
use crate::screen::keys_help;
use crate::session::help::{Asked, help};
use crate::view::tests::{game_summary, snapshot};

const LOOK: Theme = Theme {
    ascii: false,
    colour: true,
};

fn scene(id: &str, sides: [&str; 2], (files, ranks): (u64, u64), position: &str) -> MatchView {
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
    let mut scene = scene("tic-tac-toe", ["x", "o"], (3, 3), "x../.o./...");
    scene.snapshot.moves = ["a3", "b2"].map(str::to_owned).to_vec();
    scene
}

fn drawn_with(
    model: &mut Model,
    scene: Option<&MatchView>,
    size: (u16, u16),
    look: Theme,
) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    model.see(scene);
    terminal
        .draw(|frame| draw(frame, model, scene, look))
        .unwrap();
    terminal.backend().buffer().clone()
}

fn drawn(scene: &MatchView, size: (u16, u16)) -> Vec<String> {
    lines(&drawn_with(&mut Model::new(false), Some(scene), size, LOOK))
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let row = |cells: &[ratatui::buffer::Cell]| {
        let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.trim_end().to_owned()
    };
    rows.map(row).collect()
}

#[track_caller]
fn shows(lines: &[String], parts: &[&str]) {
    for part in parts {
        let found = lines.iter().any(|line| line.contains(part));
        assert!(found, "no {part:?} in\n{}", lines.join("\n"));
    }
}

#[test]
fn the_match_stands_in_its_place() {
    let mut model = Model::new(false);
    model.log.push("You play a3.".to_owned());
    let scene = tic_tac_toe();
    let buffer = drawn_with(&mut model, Some(&scene), (80, 24), LOOK);
    let lines = lines(&buffer);
    let expect = " tic-tac-toe K7QM2P, casual   one spectator
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
    // The cursor stands in the middle.
    let reversed = |x, y| buffer[(x, y)].modifier.contains(Modifier::REVERSED);
    assert_eq!(
        [8, 9, 10, 11, 12].map(|x| reversed(x, 5)),
        [false, true, true, true, false]
    );
}

/// In the least of terminals every game has its board and a log.
#[test]
#[allow(clippy::too_many_lines, reason = "a list of all games")]
fn every_game_has_room() {
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
        let mut scene = scene(id, sides, size, position);
        let mut model = Model::new(false);
        model.log.push("the last that was said".to_owned());
        for columns in [80, 200] {
            let rows = columns / 5 + 8;
            let buffer = drawn_with(&mut model, Some(&scene), (columns, rows), LOOK);
            let lines = lines(&buffer);
            shows(&lines, &parts);
            let all = [
                "╰",
                "▸",
                "⚙ medium bot",
                "Your turn.",
                "the last that was said",
            ];
            shows(&lines, &all);
        }
        scene.snapshot.you = Some(SeatNumber(1));
        drawn(&scene, (80, 24));
    }
}

/// All of the help is seen at once in the least of terminals.
#[test]
fn help_fits() {
    for (id, is_open) in [("draughts", false), ("draughts", true), ("chess", false)] {
        let mut scene = tic_tac_toe();
        scene.snapshot.clock = Some("5+3".parse().unwrap());
        scene.snapshot.takebacks_allowed = true;
        scene.snapshot.you = Some(SeatNumber(1));
        if is_open {
            scene.snapshot.status = MatchStatus::Open;
        }
        let mut model = Model::new(false);
        model.log.push("said before".to_owned());
        model.press(KeyEvent::from(KeyCode::F(1)), Some(&scene));
        model.log.push(keys_help(Some(&scene)));
        model.log.push(help(Asked {
            customs: Customs::of(id),
            is_open,
            has_stand_in: true,
            board_in_sight: true,
        }));
        let lines = lines(&drawn_with(&mut model, Some(&scene), (80, 24), LOOK));
        let wanted: &[&str] = match is_open {
            true => &[
                "F10 quits",
                "Nobody has sat down yet",
                "have a bot sit down",
            ],
            false => &[
                "Arrows move the cursor",
                "Type two squares",
                "leave; a bot plays on",
            ],
        };
        shows(&lines, wanted);
        shows(&lines, &["Any key goes back"]);
        // Nothing is told that does nothing there.
        let text = lines.join("\n");
        let of_play = ["Arrows", "F2", "resign", "takeback", "more time"];
        assert!(
            of_play.iter().all(|word| text.contains(word) != is_open),
            "{text}"
        );
    }
}

#[test]
fn an_open_match_shows_how_somebody_sits_down() {
    let position = ["15"; 15].join("/");
    let mut scene = scene("gomoku", ["black", "white"], (15, 15), &position);
    scene.snapshot.status = MatchStatus::Open;
    scene.snapshot.seats[1].occupant = Occupant::Open;
    let mut model = Model::new(false);
    let said: Vec<String> = (1..=18).map(|number| format!("said {number}")).collect();
    model.log.push(said.join("\n"));
    let lines = lines(&drawn_with(&mut model, Some(&scene), (80, 24), LOOK));
    shows(
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

/// Beside a board that is as high as the terminal.
#[test]
fn what_was_said_has_room_in_any_case() {
    let position = ["15"; 15].join("/");
    let scene = scene("gomoku", ["black", "white"], (15, 15), &position);
    let mut model = Model::new(false);
    for number in 1..=5 {
        model.log.push(format!("said {number}"));
    }
    let buffer = drawn_with(&mut model, Some(&scene), (80, 24), LOOK);
    let lines = lines(&buffer);
    let beside = lines.iter().find(|line| line.contains("said 1")).unwrap();
    assert!(beside.contains("·  ·"), "{}", lines.join("\n"));
    shows(&lines, &["said 5", "1 │ ·", "Your turn."]);
}

#[test]
fn a_large_terminal_has_a_large_board() {
    let scene = scene(
        "chess",
        ["white", "black"],
        (8, 8),
        "8/8/8/8/8/8/8/K6k w - - 0 1",
    );
    let rules = |size| {
        let lines = drawn(&scene, size);
        lines.iter().filter(|line| line.contains("├───┼")).count()
    };
    assert_eq!(rules((80, 24)), 0);
    assert_eq!(rules((100, 30)), 7);
}

#[test]
fn picked_squares_and_their_targets_are_marked() {
    let mut scene = scene(
        "chess",
        ["white", "black"],
        (8, 8),
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
    );
    scene.snapshot.legal = ["e2e3", "e2e4"].map(str::to_owned).to_vec();
    let mut model = Model::new(false);
    model.see(Some(&scene));
    model.path = vec![(4, 1)];
    let buffer = drawn_with(&mut model, Some(&scene), (80, 24), LOOK);
    let picture = scene.rendered_board(false).unwrap();
    let cell = |square| {
        let (column, row) = picture.screen_position(square).unwrap();
        &buffer[(rows(column) + 1, rows(row) + 1)]
    };
    assert_eq!(cell((4, 1)).bg, Color::Yellow);
    assert_eq!(
        [(4, 2), (4, 3), (4, 4)].map(|square| cell(square).symbol()),
        ["*", "*", " "]
    );
    // Where no colours are wanted there are none.
    let look = Theme {
        colour: false,
        ..LOOK
    };
    let buffer = drawn_with(&mut model, Some(&scene), (80, 24), look);
    assert!(
        buffer
            .content
            .iter()
            .all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset))
    );
}

#[test]
fn long_names_and_the_longest_log_have_an_end() {
    let mut scene = tic_tac_toe();
    scene.snapshot.seats[0].occupant = Occupant::Player {
        player: scene.snapshot.host,
        name: "歩".repeat(40),
        connected: true,
        account: false,
        bot: false,
        rating: None,
    };
    let mut model = Model::new(false);
    for number in 0..1000 {
        model.log.push(format!("{number} {}", "long ".repeat(60)));
    }
    let buffer = drawn_with(&mut model, Some(&scene), (80, 24), LOOK);
    let lines = lines(&buffer);
    let name = lines.iter().find(|line| line.contains('歩')).unwrap();
    assert!(name.contains('…'), "{name}");
    shows(&lines, &["⚙ medium bot", "Your turn.", "─────"]);
    // It can be rolled back as far as it goes, and no further.
    model.log.back = usize::MAX;
    let buffer = drawn_with(&mut model, Some(&scene), (80, 24), LOOK);
    shows(&self::lines(&buffer), &["700 long"]);
    assert!(model.log.back < 10_000);
}

#[test]
fn the_clock_runs() {
    let mut scene = tic_tac_toe();
    scene.snapshot.clock = Some(ClockControl::Fischer {
        main_ms: 300_000,
        increment_ms: 3000,
    });
    scene.snapshot.time_left = Some(TimeLeft {
        left_ms: [272_500, 300_000],
        periods: None,
    });
    (scene.snapshot.turn_ms, scene.snapshot.paused) = (Some(0), Some(false));
    let lines = drawn(&scene, (80, 24));
    shows(&lines, &["(5+3)", "4:32", "5:00"]);
    scene.elapsed = Duration::from_millis(263_600);
    let lines = drawn(&scene, (80, 24));
    shows(&lines, &["8.9", "5:00"]);
}

#[test]
fn too_small_a_window_asks_for_more() {
    let scene = tic_tac_toe();
    for size in [(79, 24), (80, 23), (20, 3), (1, 1)] {
        let lines = drawn(&scene, size);
        assert!(!lines.join("\n").contains('│'), "{size:?}: {lines:?}");
    }
    shows(
        &drawn(&scene, (60, 10)),
        &["enlarge the window", "80 x 24 at least (now 60 x 10)"],
    );
}

#[test]
fn questions_have_the_whole_screen() {
    let mut model = Model::new(false);
    model.log.push("\nWhat to play?\n  1  Chess\n".to_owned());
    let buffer = drawn_with(&mut model, None, (80, 24), LOOK);
    shows(
        &lines(&buffer),
        &["What to play?", "  1  Chess", " Enter answer"],
    );
}

#[test]
fn ascii_is_all_that_is_drawn() {
    let mut scene = tic_tac_toe();
    scene.snapshot.game = "chess".to_owned();
    let look = Theme {
        ascii: true,
        ..LOOK
    };
    let mut model = Model::new(false);
    model.log.push("Waiting …".to_owned());
    let buffer = drawn_with(&mut model, Some(&scene), (80, 24), look);
    let lines = lines(&buffer);
    shows(&lines, &["+---+---+---+", "% medium bot", "Waiting ..."]);
    assert!(lines.iter().all(|line| line.is_ascii()), "{lines:#?}");
}

/// What others wrote cannot style anything: it was made harmless before.
#[test]
fn what_a_server_says_disturbs_nothing() {
    let mut scene = tic_tac_toe();
    scene.snapshot.moves = vec!["\u{1b}[2J\u{202e}a1\nb2".to_owned()];
    scene.snapshot.code = "\u{1b}[31mK7".to_owned();
    scene.snapshot.seats[0].side = "\u{1b}]0;x\u{7}".to_owned();
    scene.snapshot.position = "\u{1b}[2J/".to_owned();
    let lines = drawn(&scene, (80, 24));
    assert!(
        lines
            .iter()
            .all(|line| line.chars().all(|c| !c.is_control())),
        "{lines:#?}"
    );
    shows(&lines, &["�[31mK7", "1. �[2J�a1�b2"]);
}
