use std::time::Duration;

use plyhouse_protocol::SeatNumber;

use super::*;
use crate::view::tests::{game_summary, snapshot};

/// A match of tic-tac-toe in which it is one's turn, in the middle square or the lower left one.
fn tic_tac_toe() -> MatchView {
    let mut now = snapshot("x../.o./...");
    now.legal = ["a1", "c3"].map(str::to_owned).to_vec();
    MatchView {
        snapshot: now,
        game: Some(game_summary("tic-tac-toe", 3, 3)),
        elapsed: Duration::ZERO,
        absences: [None, None],
    }
}

/// A match of chess with these legal moves.
fn chess(legal: &[&str]) -> MatchView {
    let mut scene = tic_tac_toe();
    scene.snapshot.game = "chess".to_owned();
    scene.snapshot.position = "4k3/P7/8/8/8/8/4P3/4K3 w - - 0 1".to_owned();
    scene.snapshot.legal = legal.iter().map(|m| (*m).to_owned()).collect();
    scene.game = Some(game_summary("chess", 8, 8));
    scene
}

fn at(scene: &MatchView) -> Model {
    let mut model = Model::new(false);
    model.see(Some(scene));
    model
}

fn press(model: &mut Model, scene: &MatchView, codes: &[KeyCode]) -> Pressed {
    let mut last = Pressed::Nothing;
    for code in codes {
        last = model.press(KeyEvent::from(*code), Some(scene));
    }
    last
}

fn types(model: &mut Model, scene: &MatchView, text: &str) -> Pressed {
    let codes: Vec<KeyCode> = text.chars().map(KeyCode::Char).collect();
    press(model, scene, &codes);
    press(model, scene, &[KeyCode::Enter])
}

fn line(text: &str) -> Pressed {
    Pressed::Line(text.to_owned())
}

#[test]
fn arrows_and_enter_play_a_move() {
    let scene = tic_tac_toe();
    let mut model = at(&scene);
    assert_eq!(model.cursor, Some((1, 1)));
    let down_left = [KeyCode::Down, KeyCode::Left, KeyCode::Left];
    assert_eq!(press(&mut model, &scene, &down_left), Pressed::Nothing);
    assert_eq!(model.cursor, Some((0, 0)), "the edge holds it");
    assert_eq!(press(&mut model, &scene, &[KeyCode::Enter]), line("a1"));
    let elsewhere = press(&mut model, &scene, &[KeyCode::Right, KeyCode::Char(' ')]);
    assert!(matches!(elsewhere, Pressed::Note(_)), "{elsewhere:?}");
}

#[test]
fn who_sees_the_board_from_the_other_side_moves_as_it_is_seen() {
    let mut scene = chess(&["e8d8"]);
    scene.snapshot.you = Some(SeatNumber(1));
    let mut model = at(&scene);
    assert_eq!(model.cursor, Some((3, 4)));
    press(&mut model, &scene, &[KeyCode::Up, KeyCode::Left]);
    assert_eq!(model.cursor, Some((4, 3)));
}

#[test]
fn a_piece_is_put_down_or_back() {
    let scene = chess(&["e2e3", "e2e4"]);
    let mut model = at(&scene);
    model.cursor = Some((4, 1));
    press(&mut model, &scene, &[KeyCode::Enter]);
    assert_eq!(model.path, [(4, 1)]);
    press(&mut model, &scene, &[KeyCode::Esc]);
    assert!(model.path.is_empty());
    let keys = [KeyCode::Enter, KeyCode::Up, KeyCode::Up, KeyCode::Enter];
    assert_eq!(press(&mut model, &scene, &keys), line("e2e4"));
    assert!(model.path.is_empty());
}

#[test]
fn what_a_pawn_becomes_is_chosen_by_arrows_or_its_letter() {
    let scene = chess(&["a7a8q", "a7a8r", "a7a8b", "a7a8n"]);
    let promotes = || {
        let mut model = at(&scene);
        model.cursor = Some((0, 6));
        let keys = [KeyCode::Enter, KeyCode::Up, KeyCode::Enter];
        assert_eq!(press(&mut model, &scene, &keys), Pressed::Nothing);
        assert!(model.choice.is_some());
        model
    };
    let press = |keys: &[KeyCode]| press(&mut promotes(), &scene, keys);
    assert_eq!(press(&[KeyCode::Enter]), line("a7a8q"));
    assert_eq!(press(&[KeyCode::Right, KeyCode::Enter]), line("a7a8r"));
    assert_eq!(press(&[KeyCode::Left, KeyCode::Enter]), line("a7a8n"));
    assert_eq!(press(&[KeyCode::Char('b')]), line("a7a8b"));
    assert_eq!(press(&[KeyCode::Esc]), Pressed::Nothing);
}

#[test]
fn what_was_picked_belongs_to_its_position() {
    let mut scene = chess(&["e2e3", "e2e4"]);
    let mut model = at(&scene);
    model.cursor = Some((4, 1));
    press(&mut model, &scene, &[KeyCode::Enter]);
    model.see(Some(&scene));
    assert_eq!(model.path, [(4, 1)], "a clock that runs changes nothing");
    scene.snapshot.ply = Ply(3);
    model.see(Some(&scene));
    assert!(model.path.is_empty());
    assert_eq!(model.cursor, Some((4, 1)));
}

#[test]
fn a_line_is_typed_and_typed_again() {
    let scene = tic_tac_toe();
    let mut model = at(&scene);
    assert_eq!(
        types(&mut model, &scene, "say good game"),
        line("say good game")
    );
    assert_eq!(types(&mut model, &scene, "b2"), line("b2"));
    let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
    for before in ["b2", "say good game", "say good game"] {
        model.press(control('p'), Some(&scene));
        assert_eq!(model.typed.value(), before);
    }
    model.press(control('w'), Some(&scene));
    assert_eq!(model.typed.value(), "say good ");
    press(&mut model, &scene, &[KeyCode::Left, KeyCode::Backspace]);
    assert_eq!(model.typed.value(), "say goo ");
    press(&mut model, &scene, &[KeyCode::Esc]);
    assert_eq!(model.typed.value(), "");
}

#[test]
fn a_line_has_an_end() {
    let scene = tic_tac_toe();
    let mut model = at(&scene);
    let Pressed::Line(line) = types(&mut model, &scene, &"x".repeat(10_000)) else {
        panic!("no line");
    };
    assert_eq!(line.len(), LINE_CHARS_MAX);
}

#[test]
fn function_keys_say_words() {
    let scene = tic_tac_toe();
    let mut model = at(&scene);
    for (number, word) in [
        (2, "draw"),
        (3, "takeback"),
        (4, "hint"),
        (6, "pass"),
        (7, "decline"),
        (8, "rematch"),
        (9, "more time"),
    ] {
        let said = press(&mut model, &scene, &[KeyCode::F(number)]);
        assert_eq!(said, line(word), "F{number}");
    }
    // Who gives up by one key has slipped.
    let slipped = press(&mut model, &scene, &[KeyCode::F(5)]);
    assert_eq!(slipped, Pressed::Nothing);
    assert_eq!(press(&mut model, &scene, &[KeyCode::Enter]), line("resign"));
    let quits = press(&mut model, &scene, &[KeyCode::F(10)]);
    assert_eq!(quits, Pressed::Interrupt);
}

#[test]
fn help_covers_the_board_until_a_key_is_pressed() {
    let scene = tic_tac_toe();
    let mut model = at(&scene);
    let typed = "help".chars().map(KeyCode::Char);
    let typed: Vec<KeyCode> = typed.chain([KeyCode::Enter]).collect();
    for asked in [&[KeyCode::F(1)][..], &typed] {
        for closes in [
            KeyCode::Enter,
            KeyCode::Char(' '),
            KeyCode::F(2),
            KeyCode::Left,
        ] {
            assert_eq!(press(&mut model, &scene, asked), line("help"));
            press(&mut model, &scene, &[KeyCode::PageUp]);
            assert!(model.unrolled, "{asked:?}");
            let closed = press(&mut model, &scene, &[closes]);
            assert_eq!(closed, Pressed::Nothing, "{closes}");
            assert!(!model.unrolled, "{closes}");
        }
    }
    // Whoever types on has not typed in vain.
    press(&mut model, &scene, &[KeyCode::F(1), KeyCode::Char('b')]);
    assert!(!model.unrolled);
    assert_eq!(model.typed.value(), "b");
}

#[test]
fn enter_answers_where_there_is_no_board() {
    let mut model = Model::new(false);
    model.see(None);
    let enter = KeyEvent::from(KeyCode::Enter);
    assert_eq!(model.press(enter, None), line(""));
    // Help covers nothing there.
    let help = KeyEvent::from(KeyCode::F(1));
    assert_eq!(model.press(help, None), line("help"));
    assert_eq!(model.press(enter, None), line(""));
    let end = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
    assert_eq!(model.press(end, None), Pressed::End);
}

#[test]
fn who_looks_on_can_only_leave() {
    let mut scene = tic_tac_toe();
    scene.snapshot.you = None;
    let mut model = Model::new(true);
    model.see(Some(&scene));
    let codes = [KeyCode::Enter, KeyCode::F(5), KeyCode::Char('x')];
    for code in codes {
        assert_eq!(
            press(&mut model, &scene, &[code]),
            Pressed::Nothing,
            "{code}"
        );
    }
    let quits = press(&mut model, &scene, &[KeyCode::Char('q')]);
    assert_eq!(quits, Pressed::Interrupt);
    scene.snapshot.status = MatchStatus::Ended;
    let leaves = press(&mut model, &scene, &[KeyCode::Enter]);
    assert_eq!(leaves, Pressed::Interrupt);
}
