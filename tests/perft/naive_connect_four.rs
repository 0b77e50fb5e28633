//! Naive second implementation of Connect Four: an array of squares, discs that fall, and a scan of
//! every line of four squares. The tests compare the bitboard implementation with this one. The two
//! implementations share no code for the rules.

use std::fmt;
use std::str::FromStr;

use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::{
    GameInfo, IllegalMove, Outcome, ParsePositionError, Position, Seat, Square,
};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

/// Contents of the squares. The first index is the rank from the bottom, and the second index is
/// the file from the left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NaiveConnectFour([[char; 7]; 6]);

impl NaiveConnectFour {
    fn count_squares(&self, side: char) -> usize {
        self.0
            .iter()
            .flatten()
            .filter(|&&disc| disc == side)
            .count()
    }

    fn is_full(&self, file: usize) -> bool {
        self.0[5][file] != '.'
    }

    /// Returns the content of a square, or `None` if the square is not on the board.
    fn disc_at(&self, file: i32, rank: i32) -> Option<char> {
        let rank = self.0.get(usize::try_from(rank).ok()?)?;
        rank.get(usize::try_from(file).ok()?).copied()
    }

    /// Returns the squares of all lines that contain four discs of one side.
    fn winning_squares(&self) -> Vec<(i32, i32)> {
        let mut squares = Vec::new();
        for (file, rank) in all_squares() {
            let first = self.disc_at(file, rank);
            if first == Some('.') {
                continue;
            }
            for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                let four = [0, 1, 2, 3].map(|n| (file + n * right, rank + n * up));
                if (four.iter()).all(|&(file, rank)| self.disc_at(file, rank) == first) {
                    squares.extend(four);
                }
            }
        }
        squares
    }
}

/// Returns all squares of the board, rank by rank from the lowest rank.
fn all_squares() -> impl Iterator<Item = (i32, i32)> {
    (0..6).flat_map(|rank| (0..7).map(move |file| (file, rank)))
}

type Move = <ConnectFour as Position>::Move;

fn file_index(m: Move) -> usize {
    m.to_string().parse::<usize>().expect("a number") - 1
}

impl Position for NaiveConnectFour {
    type Move = Move;

    const INFO: GameInfo = ConnectFour::INFO;

    fn initial() -> Self {
        Self([['.'; 7]; 6])
    }

    fn turn(&self) -> Seat {
        if self.count_squares('r') == self.count_squares('y') {
            Seat::First
        } else {
            Seat::Second
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        if let Some(&(file, rank)) = self.winning_squares().first() {
            let winner = match self.disc_at(file, rank) {
                Some('r') => Seat::First,
                _ => Seat::Second,
            };
            return Some(Outcome::Decisive { winner });
        }
        (self.count_squares('.') == 0).then_some(Outcome::Draw)
    }

    fn winning_line(&self) -> Option<Vec<Square>> {
        let fours = self.winning_squares();
        let squares = all_squares().filter(|square| fours.contains(square));
        let squares = squares.map(|(file, rank)| Square {
            file: u8::try_from(file).expect("on the board"),
            rank: u8::try_from(rank).expect("on the board"),
        });
        (!fours.is_empty()).then(|| squares.collect())
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if self.outcome().is_none() {
            let files = (1..=7).map(|number: u8| number.to_string().parse().expect("a file"));
            moves.extend(files.filter(|m| !self.is_full(file_index(*m))));
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        if self.is_full(file_index(m)) {
            return Err(IllegalMove("is full"));
        }
        Ok(())
    }

    fn play_unchecked(&mut self, m: Move) {
        let disc = match self.turn() {
            Seat::First => 'r',
            Seat::Second => 'y',
        };
        let lowest_free = self.0.iter_mut().find(|rank| rank[file_index(m)] == '.');
        lowest_free.expect("the file is not full")[file_index(m)] = disc;
    }
}

impl fmt::Display for NaiveConnectFour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranks: Vec<String> = self
            .0
            .iter()
            .rev()
            .map(|rank| rank.iter().collect())
            .collect();
        f.write_str(&ranks.join("/"))
    }
}

impl FromStr for NaiveConnectFour {
    type Err = ParsePositionError;

    /// Parses a position. The parser of the bitboard implementation validates the text first.
    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        text.parse::<ConnectFour>()?;
        let mut pos = Self::initial();
        for (rank, line) in pos.0.iter_mut().rev().zip(text.split('/')) {
            for (square, disc) in rank.iter_mut().zip(line.chars()) {
                *square = disc;
            }
        }
        Ok(pos)
    }
}

#[test]
fn naive_and_bitboard_rules_agree_in_random_games() {
    let (mut multi_line_wins, mut draws) = (0, 0);
    for seed in 0..500 {
        let mut rng = StdRng::seed_from_u64(seed);
        let (mut bitboard, mut naive) = (ConnectFour::initial(), NaiveConnectFour::initial());
        loop {
            assert_eq!(bitboard.to_string(), naive.to_string(), "seed {seed}");
            assert_eq!(bitboard.outcome(), naive.outcome(), "{naive}");
            assert_eq!(bitboard.winning_line(), naive.winning_line(), "{naive}");
            let (mut moves, mut expected) = (Vec::new(), Vec::new());
            bitboard.legal_moves(&mut moves);
            naive.legal_moves(&mut expected);
            assert_eq!(moves, expected, "{naive}");
            let Some(&m) = moves.choose(&mut rng) else {
                break;
            };
            assert_eq!(bitboard.turn(), naive.turn(), "{naive}");
            bitboard.play_unchecked(m);
            naive.play_unchecked(m);
        }
        multi_line_wins += usize::from(bitboard.winning_line().is_some_and(|line| line.len() > 4));
        draws += usize::from(bitboard.outcome() == Some(Outcome::Draw));
    }
    assert!(
        multi_line_wins > 0 && draws > 0,
        "games covered multi-line wins and draws"
    );
}
