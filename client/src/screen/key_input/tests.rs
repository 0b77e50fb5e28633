use std::time::Duration;

use plyhouse_protocol::SeatNumber;

use super::*;
use crate::view::tests::{game_summary, snapshot};

/// Returns a tic-tac-toe match in which it is the player's turn. The legal moves are a1 and c3.
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

/// Returns a chess match with these legal moves.
fn chess(legal: &[&str]) -> MatchView {
    let mut match_view = tic_tac_toe();
    match_view.snapshot.game = "chess".to_owned();
    match_view.snapshot.position = "4k3/P7/8/8/8/8/4P3/4K3 w - - 0 1".to_owned();
    match_view.snapshot.legal = legal.iter().map(|m| (*m).to_owned()).collect();
    match_view.game = Some(game_summary("chess", 8, 8));
    match_view
}

fn state_for(match_view: &MatchView) -> ScreenState {
    let mut state = ScreenState::new(false);
    state.set_match(Some(match_view));
    state
}

fn press_keys(state: &mut ScreenState, match_view: &MatchView, codes: &[KeyCode]) -> KeyAction {
    let mut last = KeyAction::NoAction;
    for code in codes {
        last = state.handle_key(KeyEvent::from(*code), Some(match_view));
    }
    last
}

fn type_line(state: &mut ScreenState, match_view: &MatchView, text: &str) -> KeyAction {
    let codes: Vec<KeyCode> = text.chars().map(KeyCode::Char).collect();
    press_keys(state, match_view, &codes);
    press_keys(state, match_view, &[KeyCode::Enter])
}

fn submitted(text: &str) -> KeyAction {
    KeyAction::SubmitLine(text.to_owned())
}

#[test]
fn arrows_and_enter_play_a_move() {
    let match_view = tic_tac_toe();
    let mut state = state_for(&match_view);
    assert_eq!(state.cursor, Some((1, 1)));
    let down_left = [KeyCode::Down, KeyCode::Left, KeyCode::Left];
    assert_eq!(
        press_keys(&mut state, &match_view, &down_left),
        KeyAction::NoAction
    );
    assert_eq!(state.cursor, Some((0, 0)), "the cursor stops at the edge");
    assert_eq!(
        press_keys(&mut state, &match_view, &[KeyCode::Enter]),
        submitted("a1")
    );
    let action = press_keys(
        &mut state,
        &match_view,
        &[KeyCode::Right, KeyCode::Char(' ')],
    );
    assert!(matches!(action, KeyAction::ShowNotice(_)), "{action:?}");
}

#[test]
fn arrows_follow_flipped_board_of_second_seat() {
    let mut match_view = chess(&["e8d8"]);
    match_view.snapshot.you = Some(SeatNumber(1));
    let mut state = state_for(&match_view);
    assert_eq!(state.cursor, Some((3, 4)));
    press_keys(&mut state, &match_view, &[KeyCode::Up, KeyCode::Left]);
    assert_eq!(state.cursor, Some((4, 3)));
}

#[test]
fn picked_piece_can_be_deselected_or_moved() {
    let match_view = chess(&["e2e3", "e2e4"]);
    let mut state = state_for(&match_view);
    state.cursor = Some((4, 1));
    press_keys(&mut state, &match_view, &[KeyCode::Enter]);
    assert_eq!(state.picked_squares, [(4, 1)]);
    press_keys(&mut state, &match_view, &[KeyCode::Esc]);
    assert!(state.picked_squares.is_empty());
    let keys = [KeyCode::Enter, KeyCode::Up, KeyCode::Up, KeyCode::Enter];
    assert_eq!(
        press_keys(&mut state, &match_view, &keys),
        submitted("e2e4")
    );
    assert!(state.picked_squares.is_empty());
}

#[test]
fn promotion_is_chosen_by_arrows_or_letter() {
    let match_view = chess(&["a7a8q", "a7a8r", "a7a8b", "a7a8n"]);
    let promotion_state = || {
        let mut state = state_for(&match_view);
        state.cursor = Some((0, 6));
        let keys = [KeyCode::Enter, KeyCode::Up, KeyCode::Enter];
        assert_eq!(
            press_keys(&mut state, &match_view, &keys),
            KeyAction::NoAction
        );
        assert!(state.move_choice.is_some());
        state
    };
    let press = |keys: &[KeyCode]| press_keys(&mut promotion_state(), &match_view, keys);
    assert_eq!(press(&[KeyCode::Enter]), submitted("a7a8q"));
    assert_eq!(press(&[KeyCode::Right, KeyCode::Enter]), submitted("a7a8r"));
    assert_eq!(press(&[KeyCode::Left, KeyCode::Enter]), submitted("a7a8n"));
    assert_eq!(press(&[KeyCode::Char('b')]), submitted("a7a8b"));
    assert_eq!(press(&[KeyCode::Esc]), KeyAction::NoAction);
}

#[test]
fn picked_square_is_cleared_when_position_changes() {
    let mut match_view = chess(&["e2e3", "e2e4"]);
    let mut state = state_for(&match_view);
    state.cursor = Some((4, 1));
    press_keys(&mut state, &match_view, &[KeyCode::Enter]);
    state.set_match(Some(&match_view));
    assert_eq!(
        state.picked_squares,
        [(4, 1)],
        "a running clock keeps the selection"
    );
    match_view.snapshot.ply = Ply(3);
    state.set_match(Some(&match_view));
    assert!(state.picked_squares.is_empty());
    assert_eq!(state.cursor, Some((4, 1)));
}

#[test]
fn input_line_is_edited_and_recalled_from_history() {
    let match_view = tic_tac_toe();
    let mut state = state_for(&match_view);
    assert_eq!(
        type_line(&mut state, &match_view, "say good game"),
        submitted("say good game")
    );
    assert_eq!(type_line(&mut state, &match_view, "b2"), submitted("b2"));
    let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
    for expected in ["b2", "say good game", "say good game"] {
        state.handle_key(control('p'), Some(&match_view));
        assert_eq!(state.input.value(), expected);
    }
    state.handle_key(control('w'), Some(&match_view));
    assert_eq!(state.input.value(), "say good ");
    press_keys(
        &mut state,
        &match_view,
        &[KeyCode::Left, KeyCode::Backspace],
    );
    assert_eq!(state.input.value(), "say goo ");
    press_keys(&mut state, &match_view, &[KeyCode::Esc]);
    assert_eq!(state.input.value(), "");
}

#[test]
fn input_line_length_is_limited() {
    let match_view = tic_tac_toe();
    let mut state = state_for(&match_view);
    let KeyAction::SubmitLine(line) = type_line(&mut state, &match_view, &"x".repeat(10_000))
    else {
        panic!("no line");
    };
    assert_eq!(line.len(), INPUT_CHARS_MAX);
}

#[test]
fn function_keys_submit_commands() {
    let match_view = tic_tac_toe();
    let mut state = state_for(&match_view);
    for (number, command) in [
        (2, "draw"),
        (3, "takeback"),
        (4, "hint"),
        (6, "pass"),
        (7, "decline"),
        (8, "rematch"),
        (9, "more time"),
    ] {
        let action = press_keys(&mut state, &match_view, &[KeyCode::F(number)]);
        assert_eq!(action, submitted(command), "F{number}");
    }
    // A single key must not resign the match.
    let action = press_keys(&mut state, &match_view, &[KeyCode::F(5)]);
    assert_eq!(action, KeyAction::NoAction);
    assert_eq!(
        press_keys(&mut state, &match_view, &[KeyCode::Enter]),
        submitted("resign")
    );
    let action = press_keys(&mut state, &match_view, &[KeyCode::F(10)]);
    assert_eq!(action, KeyAction::Interrupt);
}

#[test]
fn help_covers_the_board_until_a_key_is_pressed() {
    let match_view = tic_tac_toe();
    let mut state = state_for(&match_view);
    let typed = "help".chars().map(KeyCode::Char);
    let typed: Vec<KeyCode> = typed.chain([KeyCode::Enter]).collect();
    for help_keys in [&[KeyCode::F(1)][..], &typed] {
        for closes in [
            KeyCode::Enter,
            KeyCode::Char(' '),
            KeyCode::F(2),
            KeyCode::Left,
        ] {
            assert_eq!(
                press_keys(&mut state, &match_view, help_keys),
                submitted("help")
            );
            press_keys(&mut state, &match_view, &[KeyCode::PageUp]);
            assert!(state.is_log_expanded, "{help_keys:?}");
            let closed = press_keys(&mut state, &match_view, &[closes]);
            assert_eq!(closed, KeyAction::NoAction, "{closes}");
            assert!(!state.is_log_expanded, "{closes}");
        }
    }
    // A character that closes the help is also typed into the input line.
    press_keys(
        &mut state,
        &match_view,
        &[KeyCode::F(1), KeyCode::Char('b')],
    );
    assert!(!state.is_log_expanded);
    assert_eq!(state.input.value(), "b");
}

#[test]
fn enter_submits_empty_line_without_board() {
    let mut state = ScreenState::new(false);
    state.set_match(None);
    let enter = KeyEvent::from(KeyCode::Enter);
    assert_eq!(state.handle_key(enter, None), submitted(""));
    // Without a match, there is no board that the help could cover. Enter therefore submits the
    // input line instead of closing the help.
    let help = KeyEvent::from(KeyCode::F(1));
    assert_eq!(state.handle_key(help, None), submitted("help"));
    assert_eq!(state.handle_key(enter, None), submitted(""));
    let end = KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL);
    assert_eq!(state.handle_key(end, None), KeyAction::Eof);
}

#[test]
fn spectator_can_only_quit() {
    let mut match_view = tic_tac_toe();
    match_view.snapshot.you = None;
    let mut state = ScreenState::new(true);
    state.set_match(Some(&match_view));
    let codes = [KeyCode::Enter, KeyCode::F(5), KeyCode::Char('x')];
    for code in codes {
        assert_eq!(
            press_keys(&mut state, &match_view, &[code]),
            KeyAction::NoAction,
            "{code}"
        );
    }
    let action = press_keys(&mut state, &match_view, &[KeyCode::Char('q')]);
    assert_eq!(action, KeyAction::Interrupt);
    match_view.snapshot.status = MatchStatus::Ended;
    let action = press_keys(&mut state, &match_view, &[KeyCode::Enter]);
    assert_eq!(action, KeyAction::Interrupt);
}
