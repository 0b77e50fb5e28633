//! What every game must obey, whatever its rules: one suite, run on random play.
//!
//! A game's own tests say what is special about it; that its face keeps its promises is said here.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use super::{Outcome, Position, Seat};

/// How many random games the suite plays.
const GAMES: u64 = 200;

/// Chooses below `count`, the same for the same key: chance for tests, without a generator.
pub(crate) fn pick(key: impl Hash, count: usize) -> usize {
    let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(key);
    usize::try_from(hash % count as u64).expect("less than count")
}

/// A random game: every position from the start to the end, and the move played in each but the
/// last.
pub(crate) fn random_game<P: Position>(seed: u64) -> (Vec<P>, Vec<P::Move>) {
    let mut positions = vec![P::start()];
    let mut played = Vec::new();
    loop {
        let pos = positions.last().expect("begins with the start");
        let moves = listed(pos);
        if moves.is_empty() {
            return (positions, played);
        }
        let m = moves[pick((seed, played.len()), moves.len())];
        positions.push(pos.after(m));
        played.push(m);
        assert!(
            played.len() <= P::INFO.plies_max as usize,
            "seed {seed} ends within plies_max"
        );
    }
}

/// Holds the game `P` to all of the laws.
pub(crate) fn check<P: Position>() {
    let games: Vec<_> = (0..GAMES).map(random_game::<P>).collect();

    // Every move that was ever possible is asked about in every position.
    let mut known = BTreeMap::new();
    for pos in games.iter().flat_map(|(positions, _)| positions) {
        known.extend(listed(pos).into_iter().map(|m| (m.to_string(), m)));
    }

    check_start::<P>();
    for (text, m) in &known {
        check_move_text::<P>(text, *m);
    }
    for (positions, _) in &games {
        let (last, before) = positions.split_last().expect("begins with the start");
        before
            .iter()
            .for_each(|pos| assert_eq!(pos.outcome(), None, "{pos} has moves"));
        assert_ne!(last.outcome(), None, "{last} has no moves");
        for pos in positions {
            check_position_text(pos);
            check_line(pos);
            check_moves(pos, &known);
        }
    }
}

/// Holds a game in which the seats always take turns to doing so.
pub(crate) fn check_alternates<P: Position>() {
    for seed in 0..GAMES {
        let (positions, played) = random_game::<P>(seed);
        for (ply, pos) in positions.iter().take(played.len()).enumerate() {
            assert_eq!(pos.turn(), Seat::ALL[ply % 2], "{pos}");
        }
    }
}

fn listed<P: Position>(pos: &P) -> Vec<P::Move> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    moves
}

fn check_start<P: Position>() {
    assert_eq!(P::start().turn(), Seat::First);
    assert_eq!(P::start().outcome(), None);
}

fn check_move_text<P: Position>(text: &str, m: P::Move) {
    assert!(
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic()),
        "{text:?}"
    );
    for written in [
        text.to_owned(),
        text.to_ascii_uppercase(),
        format!("  {text} "),
    ] {
        assert_eq!(written.parse(), Ok(m), "{written:?}");
    }
    for wrong in [
        String::new(),
        format!("{text}{text}{text}"),
        format!("{text}\u{e9}"),
    ] {
        wrong.parse::<P::Move>().expect_err(&wrong);
    }
}

fn check_position_text<P: Position>(pos: &P) {
    let text = pos.to_string();
    assert!(
        text.bytes().all(|b| b.is_ascii_graphic() || b == b' '),
        "{text:?}"
    );
    assert_eq!(text.parse::<P>().as_ref(), Ok(pos));
    text[1..].parse::<P>().expect_err("a part is not the whole");
}

/// Only a win has a line, and it lies on the board.
fn check_line<P: Position>(pos: &P) {
    let Some(line) = pos.line() else { return };
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

fn check_moves<P: Position>(pos: &P, known: &BTreeMap<String, P::Move>) {
    let moves = listed(pos);
    assert_eq!(moves.is_empty(), pos.outcome().is_some(), "{pos}");

    // Moves are appended: what the caller has collected before stays.
    let mut twice = moves.clone();
    pos.legal_moves(&mut twice);
    assert_eq!(twice, [&moves[..], &moves[..]].concat(), "{pos}");

    for (text, m) in known {
        let times = moves.iter().filter(|listed| *listed == m).count();
        let mut after = pos.clone();
        if after.play(*m).is_ok() {
            assert_eq!(times, 1, "{text} is legal in {pos}");
            assert_eq!(after, pos.after(*m), "{text} in {pos}");
            assert_ne!(after, *pos, "{text} in {pos}");
        } else {
            assert_eq!(times, 0, "{text} is illegal in {pos}");
            assert_eq!(after, *pos, "{text} was refused");
        }
        assert_eq!(pos.check(*m).is_ok(), times == 1, "{text} in {pos}");
    }
}
