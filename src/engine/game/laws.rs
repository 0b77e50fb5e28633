//! What every game must obey, whatever its rules: one suite, run on random play.
//!
//! A game's own tests say what is special about it; that its face keeps its promises is said here.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use super::{Course, Outcome, Position, Repetition, Seat};

/// How many random games the suite plays.
const GAMES: u64 = 200;

/// In each position, no more moves than this are asked about beside the legal ones.
const ASKED_MAX: usize = 50;

/// Chooses below `count`, the same for the same key: chance for tests, without a generator.
pub(crate) fn pick(key: impl Hash, count: usize) -> usize {
    let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(key);
    usize::try_from(hash % count as u64).expect("less than count")
}

/// A random game: every position from the start to the end, and the move played in each but the
/// last.
pub(crate) fn random_game<P: Position>(seed: u64) -> (Vec<P>, Vec<P::Move>) {
    let mut course = Course::<P>::start();
    let mut positions = vec![P::start()];
    let mut played = Vec::new();
    loop {
        let moves = listed(&course);
        if moves.is_empty() {
            return (positions, played);
        }
        let m = moves[pick((seed, played.len()), moves.len())];
        course.play(m).expect("it is legal");
        positions.push(course.position().clone());
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

    // Moves that were possible once are asked about elsewhere, too.
    let mut known = BTreeMap::new();
    for (_, played) in &games {
        known.extend(played.iter().map(|m| (m.to_string(), *m)));
    }
    known.extend(
        listed(&Course::<P>::start())
            .into_iter()
            .map(|m| (m.to_string(), m)),
    );
    let known: Vec<_> = known.into_iter().collect();

    check_start::<P>();
    for (text, m) in &known {
        check_move_text::<P>(text, *m);
    }
    for (seed, (positions, played)) in games.iter().enumerate() {
        check_hopes(positions);
        let mut course = Course::<P>::start();
        for (ply, pos) in positions.iter().enumerate() {
            assert_eq!(course.position(), pos);
            check_position_text(pos);
            check_end(&course);
            check_moves(&course, &some_of(&known, (seed, ply)));
            check_repetition(pos, &positions[..ply]);
            check_records(&course);
            match played.get(ply) {
                Some(m) => {
                    assert_eq!(course.outcome(), None, "{pos} has moves");
                    course.play(*m).expect("it is legal");
                }
                None => assert_ne!(course.outcome(), None, "{pos} has no moves"),
            }
        }
    }
}

/// All of the moves if they are few, else some.
fn some_of<M: Copy>(known: &[(String, M)], key: (usize, usize)) -> Vec<(&str, M)> {
    let count = known.len().min(ASKED_MAX);
    let first = if known.len() > count {
        pick(key, known.len())
    } else {
        0
    };
    let some = known.iter().cycle().skip(first).take(count);
    some.map(|(text, m)| (text.as_str(), *m)).collect()
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

fn listed<P: Position>(course: &Course<P>) -> Vec<P::Move> {
    let mut moves = Vec::new();
    course.legal_moves(&mut moves);
    moves
}

fn check_start<P: Position>() {
    assert_eq!(P::start().turn(), Seat::First);
    assert_eq!(P::start().outcome(), None);
}

/// Records leave out only moves that are forced, and continue only after draws.
fn check_records<P: Position>(course: &Course<P>) {
    let pos = course.position();
    if let Some(m) = pos.omissible_move() {
        assert_eq!(listed(course), [m], "{pos}");
    }
    if let Some(unclaimed) = pos.unclaimed() {
        assert_eq!(pos.outcome(), Some(Outcome::Draw), "{pos}");
        assert_eq!(unclaimed.outcome(), None, "{pos}");
        assert_eq!(unclaimed.turn(), pos.turn(), "{pos}");
    }
    let mut continued = course.clone();
    let is_drawn = course.outcome() == Some(Outcome::Draw);
    if continued.waive_draw() {
        assert!(is_drawn, "{pos}");
        assert_eq!(continued.outcome(), None, "{pos}");
    }
}

/// Whether a letter may stand in a text of JSON as it is.
fn is_plain(letter: u8) -> bool {
    !matches!(letter, b'"' | b'\\')
}

fn check_move_text<P: Position>(text: &str, m: P::Move) {
    assert!(
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && is_plain(b)),
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
        text.bytes()
            .all(|b| (b.is_ascii_graphic() || b == b' ') && is_plain(b)),
        "{text:?}"
    );
    assert_eq!(text.parse::<P>().as_ref(), Ok(pos));
    text[1..].parse::<P>().expect_err("a part is not the whole");
}

/// Who wins in the end could all the time, and nobody can again who once could not.
fn check_hopes<P: Position>(positions: &[P]) {
    let end = positions.last().expect("a game has a start");
    for seat in Seat::ALL {
        let mut could = true;
        for pos in positions {
            let can = pos.can_win(seat);
            assert!(could || !can, "{seat:?} in {pos}");
            could = can;
        }
        assert!(
            could || end.outcome() != Some(Outcome::Decisive { winner: seat }),
            "{end}"
        );
    }
}

/// A game that goes on has not ended in any way, and only a win has a line, which lies on the board.
fn check_end<P: Position>(course: &Course<P>) {
    let pos = course.position();
    if course.outcome().is_none() {
        assert_eq!(course.ending(), None, "{pos}");
    }
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

fn check_moves<P: Position>(course: &Course<P>, known: &[(&str, P::Move)]) {
    let pos = course.position();
    let moves = listed(course);
    assert_eq!(moves.is_empty(), course.outcome().is_some(), "{pos}");

    // Moves are appended: what the caller has collected before stays.
    let mut twice = moves.clone();
    course.legal_moves(&mut twice);
    assert_eq!(twice, [&moves[..], &moves[..]].concat(), "{pos}");

    for (index, m) in moves.iter().enumerate() {
        assert!(!moves[..index].contains(m), "{m} is listed twice in {pos}");
        let mut text = String::new();
        P::push_move(*m, &mut text);
        assert_eq!(text, m.to_string(), "{pos}");
        assert_eq!(course.read_move(&text), Ok(*m), "{pos}");
        let mut after = course.clone();
        after.play(*m).expect("it is listed");
        assert_eq!(*after.position(), pos.after(*m), "{m} in {pos}");
        assert_ne!(after.position(), pos, "{m} in {pos}");
    }
    for (text, m) in known {
        let is_legal = moves.contains(m);
        assert_eq!(course.check(*m).is_ok(), is_legal, "{text} in {pos}");
        if !is_legal {
            let mut after = course.clone();
            after.play(*m).expect_err("it is not listed");
            assert_eq!(after.position(), pos, "{text} was refused");
        }
    }
}

/// What comes again came within the plies that can be taken back, and not too soon.
fn check_repetition<P: Position>(pos: &P, before: &[P]) {
    if P::REPETITION == Repetition::Free {
        return;
    }
    for (plies, earlier) in (1..).zip(before.iter().rev()) {
        let is_same = earlier.repetition_key() == pos.repetition_key();
        assert!(
            !is_same || (P::RETURNS_AFTER..=pos.reversible_plies()).contains(&plies),
            "{pos} was there {plies} plies before"
        );
    }
}
