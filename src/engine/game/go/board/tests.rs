//! The board against the rules, which find everything anew.

use super::*;
use crate::game::Course;
use crate::game::laws::random_game;
use crate::search::chance::Chance;

/// The liberties and stones of every chain, the surroundings of every point, and what is legal.
fn check_same<const N: u8>(board: &Board<N>, pos: &Go<N>) {
    let empty = pos.empty();
    assert_eq!(board.empty(), empty, "{pos}");
    assert_eq!(board.turn(), pos.turn(), "{pos}");
    assert_eq!(board.repetition_key(), pos.repetition_key(), "{pos}");
    assert_eq!(board.is_over(), pos.outcome().is_some(), "{pos}");
    for seat in Seat::ALL {
        assert_eq!(board.stones(seat), pos.stones(seat), "{pos}");
        for bit in pos.stones(seat) {
            let stones = Points::of(bit).grown(pos.stones(seat));
            let liberties = stones.neighbours() & empty;
            assert_eq!(*board.chain(bit), Chain { stones, liberties }, "{pos}");
        }
    }
    for bit in Points::<N>::ALL {
        assert_eq!(board.around(bit), around(pos, bit), "{bit} in {pos}");
    }
    if pos.outcome().is_some() {
        return;
    }
    for bit in empty {
        let is_legal = pos.is_alive_after(pos.turn(), bit);
        let is_ko = board.ko().has(bit);
        assert_eq!(board.is_legal(bit), is_legal && !is_ko, "{bit} in {pos}");
        if is_legal && !is_ko {
            let after = pos.after(Move::onto(bit));
            assert_eq!(
                board.repetition_key_after(bit),
                after.repetition_key(),
                "{bit} in {pos}"
            );
            let stones = Points::of(bit).grown(after.stones(pos.turn()));
            let liberties = stones.neighbours() & after.empty();
            let chain = Chain { stones, liberties };
            assert_eq!(board.chain_after(bit), chain, "{bit} in {pos}");
        }
    }
}

/// What lies on the points around this one, by columns and rows.
fn around<const N: u8>(pos: &Go<N>, bit: u8) -> u16 {
    let (file, rank) = Points::<N>::place(bit);
    let steps = [-1, 0, 1].map(|up| [-1, 0, 1].map(|right| (up, right)));
    let mut seen = 0;
    let beside = steps.into_iter().flatten().filter(|step| *step != (0, 0));
    for (place, (up, right)) in beside.enumerate() {
        let at = file
            .checked_add_signed(right)
            .zip(rank.checked_add_signed(up));
        let at = at.filter(|(file, rank)| *file < N && *rank < N);
        let lies = at.map_or(BEYOND, |(file, rank)| {
            let bit = Points::<N>::bit(file, rank);
            let is_of = |seat: &Seat| pos.stones(*seat).has(bit);
            let seat = Seat::ALL.into_iter().find(is_of);
            seat.map_or(0, |seat| u16::from(seat.number()) + 1)
        });
        seen |= lies << (2 * place);
    }
    seen
}

/// Tells how many times a ko forbade a move.
fn check_random_games<const N: u8>(games: u64) -> u32 {
    let mut kos = 0;
    for seed in 0..games {
        let mut course = Course::<Go<N>>::start();
        let mut board = Board::of(course.position(), None);
        for m in random_game::<Go<N>>(seed).1 {
            check_same(&board, course.position());
            check_same(&Board::of(course.position(), None), course.position());
            if let Some(bit) = board.ko().first() {
                kos += 1;
                let m = Move::onto(bit);
                assert_eq!(
                    course.position().check(m),
                    Ok(()),
                    "only repetition forbids it"
                );
                assert!(course.check(m).is_err(), "{m} in {}", course.position());
            }
            match m {
                Move::Pass => board.pass(),
                Move::Play(point) => board.play(point.bit()),
            }
            course.play(m).expect("it is legal");
            let last = match m {
                Move::Pass => None,
                Move::Play(point) => Some(point.bit()),
            };
            assert_eq!(board.last()[0], last);
        }
        check_same(&board, course.position());
        let areas = board.areas().map(Points::len);
        let [black, white] = course.position().scores();
        assert_eq!(areas, [black, white - super::super::KOMI]);
    }
    kos
}

#[test]
fn random_games_go_as_by_the_rules() {
    assert!(check_random_games::<9>(40) > 0);
    assert!(check_random_games::<5>(40) > 0);
    check_random_games::<2>(10);
}

/// Without passes and eyes filled for no reason, games are full of captures and kos.
#[test]
fn full_boards_go_as_by_the_rules() {
    let (mut captures, mut kos) = (0, 0);
    for seed in 0..20 {
        let mut chance = Chance::new(seed, "full");
        let mut pos = Go::<9>::start();
        let mut board = Board::of(&pos, None);
        for _ in 0..400 {
            let points: Vec<u8> = board.empty().filter(|bit| board.is_legal(*bit)).collect();
            let before = pos.empty().len();
            if points.is_empty() {
                board.pass();
                pos.play_unchecked(Move::Pass);
            } else {
                let bit = points[chance.below(points.len())];
                board.play(bit);
                pos.play_unchecked(Move::onto(bit));
            }
            check_same(&board, &pos);
            captures += u32::from(pos.empty().len() >= before);
            kos += board.ko().len();
            if pos.outcome().is_some() {
                break;
            }
        }
    }
    assert!(captures > 500 && kos > 20, "{captures}, {kos}");
}
