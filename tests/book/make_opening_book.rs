//! Makes the opening book of Connect Four: `cargo run --release --example make_book > FILE`, from
//! the solver alone, in about half an hour and 2 GiB of memory. Each run makes the same book.
//!
//! The book holds every position of the first `PLIES` plies in which a side is to move that has
//! played by the book, whatever the other has played. After that, solving is fast enough to play
//! without. What stands in it is defined without regard to how it is found: whether the side to move
//! wins, draws or loses, and of the moves that keep this the one nearest to the middle, left before
//! right.

use std::collections::BTreeMap;
use std::io::Write;

use plyhouse_engine::game::connect_four::{ConnectFour, Move};
use plyhouse_engine::game::{Outcome, Position, Seat};
use plyhouse_engine::search::{
    Evaluate, Limits, Score, Stop, TranspositionTable, is_value_at_least,
};

const BOOK_PLIES: u32 = 13;
const TABLE_BYTES: usize = 2 << 30;

/// The files from the middle outwards.
const FILES_OUTWARDS: [u8; 7] = [3, 2, 4, 1, 5, 0, 6];

/// How the game ends with best play, for the side to move, as the book writes it.
const LOSS: u64 = 0;
const DRAW: u64 = 1;
const WIN: u64 = 2;

struct BookBuilder {
    table: TranspositionTable,
    /// The outcome and the move of every position, by the smaller of its key and its image's. The
    /// move is that of the one with that key.
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
    /// Enters the positions of the first plies in which `seat` is to move, who plays by the book.
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

    /// The book's move in a position that is in it.
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
            Some(Outcome::Decisive { .. }) => return LOSS, // The other side has just won.
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

/// The key of a position or of its mirror image.
fn canonical_key(pos: &ConnectFour) -> u64 {
    pos.unique_key().min(pos.mirror_key())
}
