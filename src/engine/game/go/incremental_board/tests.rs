//! Compares the incremental board with [`Go`], which computes chains and legal moves from the
//! stones.

use super::*;
use crate::game::GameHistory;
use crate::game::conformance::random_game;
use crate::search::seeded_rng::SeededRng;

/// Compares the board with the position: the stones and liberties of every chain, the neighbourhood
/// of every point, and the legal moves.
fn check_same_state<const N: u8>(board: &Board<N>, pos: &Go<N>) {
    let empty = pos.empty();
    assert_eq!(board.empty(), empty, "{pos}");
    assert_eq!(board.turn(), pos.turn(), "{pos}");
    assert_eq!(board.repetition_key(), pos.repetition_key(), "{pos}");
    assert_eq!(board.is_over(), pos.outcome().is_some(), "{pos}");
    for seat in Seat::ALL {
        assert_eq!(board.stones(seat), pos.stones(seat), "{pos}");
        for bit in pos.stones(seat) {
            let stones = Bitboard::from_bit_index(bit).flood_fill(pos.stones(seat));
            let liberties = stones.neighbours() & empty;
            assert_eq!(*board.chain(bit), Chain { stones, liberties }, "{pos}");
        }
    }
    for bit in Bitboard::<N>::ALL {
        assert_eq!(
            board.neighbourhood(bit),
            expected_neighbourhood(pos, bit),
            "{bit} in {pos}"
        );
    }
    if pos.outcome().is_some() {
        return;
    }
    for bit in empty {
        let is_legal = pos.has_liberty_after(pos.turn(), bit);
        let is_ko = board.ko().has(bit);
        assert_eq!(board.is_legal(bit), is_legal && !is_ko, "{bit} in {pos}");
        if is_legal && !is_ko {
            let after = pos.after(Move::from_bit_index(bit));
            assert_eq!(
                board.repetition_key_after(bit),
                after.repetition_key(),
                "{bit} in {pos}"
            );
            let stones = Bitboard::from_bit_index(bit).flood_fill(after.stones(pos.turn()));
            let liberties = stones.neighbours() & after.empty();
            let chain = Chain { stones, liberties };
            assert_eq!(board.chain_after(bit), chain, "{bit} in {pos}");
        }
    }
}

/// Returns the neighbourhood of a point, computed from columns and rows.
fn expected_neighbourhood<const N: u8>(pos: &Go<N>, bit: u8) -> u16 {
    let (file, rank) = Bitboard::<N>::file_and_rank(bit);
    let steps = [-1, 0, 1].map(|up| [-1, 0, 1].map(|right| (up, right)));
    let mut neighbourhood = 0;
    let offsets = steps.into_iter().flatten().filter(|step| *step != (0, 0));
    for (index, (up, right)) in offsets.enumerate() {
        let shifted = file
            .checked_add_signed(right)
            .zip(rank.checked_add_signed(up));
        let neighbour = shifted.filter(|(file, rank)| *file < N && *rank < N);
        let code = neighbour.map_or(OFF_BOARD, |(file, rank)| {
            let bit = Bitboard::<N>::bit_index(file, rank);
            let is_of = |seat: &Seat| pos.stones(*seat).has(bit);
            let seat = Seat::ALL.into_iter().find(is_of);
            seat.map_or(0, |seat| u16::from(seat.number()) + 1)
        });
        neighbourhood |= code << (2 * index);
    }
    neighbourhood
}

/// Checks random games and returns the number of positions where a ko forbids a move.
fn check_random_games_and_count_kos<const N: u8>(games: u64) -> u32 {
    let mut kos = 0;
    for seed in 0..games {
        let mut history = GameHistory::<Go<N>>::initial();
        let mut board = Board::from_position(history.position(), None);
        for m in random_game::<Go<N>>(seed).1 {
            check_same_state(&board, history.position());
            check_same_state(
                &Board::from_position(history.position(), None),
                history.position(),
            );
            if let Some(bit) = board.ko().first() {
                kos += 1;
                let m = Move::from_bit_index(bit);
                assert_eq!(
                    history.position().check_legal(m),
                    Ok(()),
                    "only repetition forbids it"
                );
                assert!(
                    history.check_legal(m).is_err(),
                    "{m} in {}",
                    history.position()
                );
            }
            match m {
                Move::Pass => board.pass(),
                Move::Play(point) => board.play(point.bit_index()),
            }
            history.play(m).expect("the move is legal");
            let last = match m {
                Move::Pass => None,
                Move::Play(point) => Some(point.bit_index()),
            };
            assert_eq!(board.last_moves()[0], last);
        }
        check_same_state(&board, history.position());
        let areas = board.areas().map(Bitboard::len);
        let [black, white] = history.position().scores();
        assert_eq!(areas, [black, white - super::super::KOMI]);
    }
    kos
}

#[test]
fn random_games_match_the_rules() {
    assert!(check_random_games_and_count_kos::<9>(40) > 0);
    assert!(check_random_games_and_count_kos::<5>(40) > 0);
    check_random_games_and_count_kos::<2>(10);
}

/// The games of this test have many captures and kos. The players pass only if they have no legal
/// move, and they also fill their own eyes.
#[test]
fn crowded_games_match_the_rules() {
    let (mut captures, mut kos) = (0, 0);
    for seed in 0..20 {
        let mut chance = SeededRng::new(seed, "full");
        let mut pos = Go::<9>::initial();
        let mut board = Board::from_position(&pos, None);
        for _ in 0..400 {
            let points: Vec<u8> = board.empty().filter(|bit| board.is_legal(*bit)).collect();
            let before = pos.empty().len();
            if points.is_empty() {
                board.pass();
                pos.play_unchecked(Move::Pass);
            } else {
                let bit = points[chance.next_below(points.len())];
                board.play(bit);
                pos.play_unchecked(Move::from_bit_index(bit));
            }
            check_same_state(&board, &pos);
            captures += u32::from(pos.empty().len() >= before);
            kos += board.ko().len();
            if pos.outcome().is_some() {
                break;
            }
        }
    }
    assert!(captures > 500 && kos > 20, "{captures}, {kos}");
}
