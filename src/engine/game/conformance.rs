//! Conformance suite that every game must pass. The suite plays random games and checks the
//! contract of [`Position`].
//!
//! Each game's own tests therefore cover only the rules that are specific to that game.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use super::{GameHistory, Outcome, Position, RepetitionRule, Seat};

/// Number of random games that the suite plays.
const GAMES: u64 = 200;

/// Maximum number of sampled moves whose legality the suite checks in each position, in addition to
/// the legal moves.
const MOVES_CHECKED_MAX: usize = 50;

/// Returns an index below `count` that depends only on `key`. Tests use it in place of a random
/// number generator.
pub(crate) fn pick_index(key: impl Hash, count: usize) -> usize {
    let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(key);
    usize::try_from(hash % count as u64).expect("less than count")
}

/// Plays a random game. Returns all positions, including the initial and the final one, and the
/// moves in the order of play.
pub(crate) fn random_game<P: Position>(seed: u64) -> (Vec<P>, Vec<P::Move>) {
    let mut history = GameHistory::<P>::initial();
    let mut positions = vec![P::initial()];
    let mut played_moves = Vec::new();
    loop {
        let moves = list_legal_moves(&history);
        if moves.is_empty() {
            return (positions, played_moves);
        }
        let m = moves[pick_index((seed, played_moves.len()), moves.len())];
        history.play(m).expect("the move is legal");
        positions.push(history.position().clone());
        played_moves.push(m);
        assert!(
            played_moves.len() <= P::INFO.plies_max as usize,
            "seed {seed} ends within plies_max"
        );
    }
}

/// Checks that the game `P` passes the whole suite.
pub(crate) fn check_game<P: Position>() {
    let games: Vec<_> = (0..GAMES).map(random_game::<P>).collect();

    // The suite collects the moves of all games. In every position, the suite checks that the game
    // correctly accepts or rejects a sample of the collected moves.
    let mut moves_by_text = BTreeMap::new();
    for (_, played) in &games {
        moves_by_text.extend(played.iter().map(|m| (m.to_string(), *m)));
    }
    moves_by_text.extend(
        list_legal_moves(&GameHistory::<P>::initial())
            .into_iter()
            .map(|m| (m.to_string(), m)),
    );
    let known_moves: Vec<_> = moves_by_text.into_iter().collect();

    check_start::<P>();
    for (text, m) in &known_moves {
        check_move_text::<P>(text, *m);
    }
    for (seed, (positions, played)) in games.iter().enumerate() {
        check_can_win(positions);
        let mut history = GameHistory::<P>::initial();
        for (ply, pos) in positions.iter().enumerate() {
            assert_eq!(history.position(), pos);
            check_position_text(pos);
            check_ending(&history);
            check_moves(&history, &sample_moves(&known_moves, (seed, ply)));
            check_repetition(pos, &positions[..ply]);
            check_record_rules(&history);
            match played.get(ply) {
                Some(m) => {
                    assert_eq!(history.outcome(), None, "{pos} has moves");
                    history.play(*m).expect("the move is legal");
                }
                None => assert_ne!(history.outcome(), None, "{pos} has no moves"),
            }
        }
    }
}

/// Returns the given moves, or a sample of `MOVES_CHECKED_MAX` moves if there are more.
fn sample_moves<M: Copy>(moves: &[(String, M)], key: (usize, usize)) -> Vec<(&str, M)> {
    let count = moves.len().min(MOVES_CHECKED_MAX);
    let first = if moves.len() > count {
        pick_index(key, moves.len())
    } else {
        0
    };
    let some = moves.iter().cycle().skip(first).take(count);
    some.map(|(text, m)| (text.as_str(), *m)).collect()
}

/// Checks that the two seats always move alternately.
pub(crate) fn check_seats_alternate<P: Position>() {
    for seed in 0..GAMES {
        let (positions, played) = random_game::<P>(seed);
        for (ply, pos) in positions.iter().take(played.len()).enumerate() {
            assert_eq!(pos.turn(), Seat::ALL[ply % 2], "{pos}");
        }
    }
}

fn list_legal_moves<P: Position>(history: &GameHistory<P>) -> Vec<P::Move> {
    let mut moves = Vec::new();
    history.legal_moves(&mut moves);
    moves
}

fn check_start<P: Position>() {
    assert_eq!(P::initial().turn(), Seat::First);
    assert_eq!(P::initial().outcome(), None);
}

/// Checks that a pass may be left out of game records only if it is the only legal move. Also
/// checks that a draw can be waived only in a drawn position, and that the game then continues.
fn check_record_rules<P: Position>(history: &GameHistory<P>) {
    let pos = history.position();
    if let Some(m) = pos.implicit_pass() {
        assert_eq!(list_legal_moves(history), [m], "{pos}");
    }
    if let Some(waived) = pos.with_draw_waived() {
        assert_eq!(pos.outcome(), Some(Outcome::Draw), "{pos}");
        assert_eq!(waived.outcome(), None, "{pos}");
        assert_eq!(waived.turn(), pos.turn(), "{pos}");
    }
    let mut continued = history.clone();
    let is_drawn = history.outcome() == Some(Outcome::Draw);
    if continued.waive_draw() {
        assert!(is_drawn, "{pos}");
        assert_eq!(continued.outcome(), None, "{pos}");
    }
}

/// Returns whether a printable ASCII character can appear unescaped in a JSON string.
fn is_json_safe(letter: u8) -> bool {
    !matches!(letter, b'"' | b'\\')
}

/// Returns the text that `append` appends to a buffer. Text that is already in the buffer must
/// remain.
fn appended_text(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut text = b"before".to_vec();
    append(&mut text);
    let text = String::from_utf8(text).expect("the text is ASCII");
    text.strip_prefix("before").expect("it remains").to_owned()
}

fn check_move_text<P: Position>(text: &str, m: P::Move) {
    assert_eq!(appended_text(|text| P::append_move_text(m, text)), text);
    assert!(
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_graphic() && is_json_safe(b)),
        "{text:?}"
    );
    for variant in [
        text.to_owned(),
        text.to_ascii_uppercase(),
        format!("  {text} "),
    ] {
        assert_eq!(variant.parse(), Ok(m), "{variant:?}");
    }
    for invalid in [
        String::new(),
        format!("{text}{text}{text}"),
        format!("{text}\u{e9}"),
    ] {
        invalid.parse::<P::Move>().expect_err(&invalid);
    }
}

fn check_position_text<P: Position>(pos: &P) {
    let text = pos.to_string();
    assert_eq!(appended_text(|text| pos.append_text(text)), text);
    assert!(
        text.bytes()
            .all(|b| (b.is_ascii_graphic() || b == b' ') && is_json_safe(b)),
        "{text:?}"
    );
    assert_eq!(text.parse::<P>().as_ref(), Ok(pos));
    text[1..]
        .parse::<P>()
        .expect_err("a truncated position is invalid");
}

/// Checks that `can_win` is `true` for the winner in every position of the game. For each seat,
/// `can_win` must stay `false` once it is `false`.
fn check_can_win<P: Position>(positions: &[P]) {
    let end = positions
        .last()
        .expect("a game has at least its initial position");
    for seat in Seat::ALL {
        let mut could_win = true;
        for pos in positions {
            let can_win = pos.can_win(seat);
            assert!(could_win || !can_win, "{seat:?} in {pos}");
            could_win = can_win;
        }
        assert!(
            could_win || end.outcome() != Some(Outcome::Decisive { winner: seat }),
            "{end}"
        );
    }
}

/// Checks that `ending` returns `None` while the game is in progress. Also checks that a game with
/// a winning line is won, and that the line is on the board.
fn check_ending<P: Position>(history: &GameHistory<P>) {
    let pos = history.position();
    if history.outcome().is_none() {
        assert_eq!(history.ending(), None, "{pos}");
    }
    let Some(line) = pos.winning_line() else {
        return;
    };
    assert!(
        matches!(pos.outcome(), Some(Outcome::Decisive { .. })),
        "{pos}"
    );
    assert!(
        line.iter()
            .all(|s| s.file < P::INFO.files && s.rank < P::INFO.ranks),
        "{pos}"
    );
}

fn check_moves<P: Position>(history: &GameHistory<P>, sample: &[(&str, P::Move)]) {
    let pos = history.position();
    let moves = list_legal_moves(history);
    assert_eq!(moves.is_empty(), history.outcome().is_some(), "{pos}");

    // `legal_moves` appends: moves already in the vector must remain.
    let mut twice = moves.clone();
    history.legal_moves(&mut twice);
    assert_eq!(twice, [&moves[..], &moves[..]].concat(), "{pos}");

    let quoted: Vec<String> = moves.iter().map(|m| format!("\"{m}\"")).collect();
    assert_eq!(
        appended_text(|text| history.append_legal_moves_json(text)),
        format!("[{}]", quoted.join(",")),
        "{pos}"
    );

    for (index, m) in moves.iter().enumerate() {
        assert!(!moves[..index].contains(m), "{m} is listed twice in {pos}");
        assert_eq!(history.read_move(&m.to_string()), Ok(*m), "{pos}");
        let mut after = history.clone();
        after.play(*m).expect("a listed move is legal");
        assert_eq!(
            history.outcome_after(*m),
            Ok(after.outcome()),
            "{m} in {pos}"
        );
        assert_eq!(*after.position(), pos.after(*m), "{m} in {pos}");
        assert_ne!(after.position(), pos, "{m} in {pos}");
    }
    for (text, m) in sample {
        let is_legal = moves.contains(m);
        assert_eq!(history.check_legal(*m).is_ok(), is_legal, "{text} in {pos}");
        if !is_legal {
            let mut after = history.clone();
            let error = after.play(*m).expect_err("an unlisted move is illegal");
            assert_eq!(history.outcome_after(*m), Err(error), "{text} in {pos}");
            assert_eq!(after.position(), pos, "{text} was refused");
        }
    }
}

/// For each earlier occurrence of a position, checks the number of plies since that occurrence.
/// This number must be at least `REPETITION_PLIES_MIN` and at most the number of reversible plies.
fn check_repetition<P: Position>(pos: &P, before: &[P]) {
    if P::REPETITION_RULE == RepetitionRule::Unrestricted {
        return;
    }
    for (plies, earlier) in (1..).zip(before.iter().rev()) {
        let is_same = earlier.repetition_key() == pos.repetition_key();
        assert!(
            !is_same || (P::REPETITION_PLIES_MIN..=pos.reversible_plies()).contains(&plies),
            "{pos} already occurred {plies} plies before"
        );
    }
}
