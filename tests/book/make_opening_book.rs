//! Generates the opening book of Connect Four with the solver. To run the generator: `cargo run
//! --release --example make_book > FILE`. The program needs about half an hour and 2 GiB of memory,
//! and every run generates the same book.
//!
//! The book covers the positions after at most `BOOK_PLIES` plies. It contains every position that
//! can arise while one side follows the book and the opponent plays any moves. In each position,
//! the side that follows the book is to move. The book omits later positions, because a bot can
//! solve them quickly during play.
//!
//! A change to the search algorithm does not change the book. An entry contains the result for the
//! side to move (win, draw or loss) and a move that achieves this result. If several moves achieve
//! the result, the entry contains the move nearest to the middle of the board. Of two equally near
//! moves, the generator chooses the left one. If the entry is for the mirror image of the position,
//! the chosen move is mirrored too.

use std::collections::BTreeMap;
use std::io::Write;

use plyhouse_engine::game::connect_four::{ConnectFour, Move};
use plyhouse_engine::game::{Outcome, Position, Seat};
use plyhouse_engine::search::{
    Evaluate, Limits, Score, Stop, TranspositionTable, is_value_at_least,
};

const BOOK_PLIES: u32 = 13;
const TABLE_BYTES: usize = 2 << 30;

/// Files of the board, ordered from the middle outwards.
const FILES_OUTWARDS: [u8; 7] = [3, 2, 4, 1, 5, 0, 6];

/// Numbers that encode a position's result in the book. The result is for the side to move, with
/// best play by both sides.
const LOSS: u64 = 0;
const DRAW: u64 = 1;
const WIN: u64 = 2;

struct BookBuilder {
    table: TranspositionTable,
    /// Result and book move of each position, by the position's canonical key. The move is for the
    /// position with this key, not for its mirror image.
    book: BTreeMap<u64, (u64, Move)>,
}

fn main() -> std::io::Result<()> {
    let mut builder = BookBuilder {
        table: TranspositionTable::new(TABLE_BYTES),
        book: BTreeMap::new(),
    };
    for seat in Seat::ALL {
        builder.add_positions_of(seat);
    }
    let mut out = std::io::stdout().lock();
    for (key, (outcome, m)) in builder.book {
        let entry = key << 5 | u64::from(m.file()) << 2 | outcome;
        out.write_all(&entry.to_le_bytes())?;
    }
    out.flush()
}

impl BookBuilder {
    /// Adds the positions after at most `BOOK_PLIES` plies to the book, for games in which `seat`
    /// plays book moves. The opponent may play any moves. Only positions in which `seat` is to move
    /// are added.
    fn add_positions_of(&mut self, seat: Seat) {
        let mut layer = vec![ConnectFour::initial()];
        for ply in 0..=BOOK_PLIES {
            let mut next_layer = BTreeMap::new();
            for (number, pos) in layer.iter().enumerate() {
                let moves = if pos.turn() == seat {
                    eprint!("\rply {ply}: {} of {}    ", number + 1, layer.len());
                    self.add_position(pos);
                    vec![self.book_move(pos)]
                } else {
                    legal_moves(pos)
                };
                let children = moves.into_iter().map(|m| pos.after(m));
                next_layer.extend(
                    children
                        .filter(|child| child.outcome().is_none())
                        .map(|child| (canonical_key(&child), child)),
                );
            }
            eprintln!("{} positions in the book", self.book.len());
            layer = next_layer.into_values().collect();
        }
    }

    fn add_position(&mut self, pos: &ConnectFour) {
        let key = canonical_key(pos);
        if self.book.contains_key(&key) {
            return;
        }
        let outcome = self.solve_outcome(pos);
        let keeps_outcome = |m: &Move| {
            pos.check_legal(*m).is_ok() && WIN - self.solve_outcome(&pos.after(*m)) == outcome
        };
        let moves = FILES_OUTWARDS.into_iter().filter_map(Move::from_file);
        let m = { moves }
            .find(keeps_outcome)
            .expect("some move keeps the outcome");
        let m = if key == pos.unique_key() {
            m
        } else {
            m.mirrored()
        };
        self.book.insert(key, (outcome, m));
    }

    /// Returns the book move of a position. The book must contain the position.
    fn book_move(&self, pos: &ConnectFour) -> Move {
        let key = canonical_key(pos);
        let (_, m) = self.book[&key];
        if key == pos.unique_key() {
            m
        } else {
            m.mirrored()
        }
    }

    fn solve_outcome(&self, pos: &ConnectFour) -> u64 {
        match pos.outcome() {
            Some(Outcome::Draw) => return DRAW,
            Some(Outcome::Decisive { .. }) => return LOSS, // The side to move has lost, because the opponent's last move won the game.
            None => {}
        }
        let reaches = |score| {
            let (limits, stop) = (Limits::default(), Stop::new());
            is_value_at_least(pos, score, &limits, &stop, &self.table)
                .expect("search has no limits")
        };
        if reaches(Score::win_in(pos.remaining_plies_max())) {
            WIN
        } else if reaches(Score::DRAW) {
            DRAW
        } else {
            LOSS
        }
    }
}

fn legal_moves(pos: &ConnectFour) -> Vec<Move> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    moves
}

/// Returns the smaller of two keys: the position's key and the key of its mirror image. The
/// position and its mirror image share an entry in the book.
fn canonical_key(pos: &ConnectFour) -> u64 {
    pos.unique_key().min(pos.mirror_key())
}
