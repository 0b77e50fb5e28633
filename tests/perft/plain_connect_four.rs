//! Connect Four a second time, told as one would tell it at a table: a board of squares, a disc
//! that falls, and a look along every row of four. It shares nothing with the bitboards that it is
//! held against but the notation.

use std::fmt;
use std::str::FromStr;

use plyhouse_engine::game::connect_four::ConnectFour;
use plyhouse_engine::game::{
    GameInfo, IllegalMove, Outcome, ParsePositionError, Position, Seat, Square,
};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

/// A board, by rank from the lowest and file from the left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Plain([[char; 7]; 6]);

impl Plain {
    fn count(&self, side: char) -> usize {
        self.0
            .iter()
            .flatten()
            .filter(|&&disc| disc == side)
            .count()
    }

    fn is_full(&self, file: usize) -> bool {
        self.0[5][file] != '.'
    }

    /// The disc on a square, which may lie beside the board.
    fn disc(&self, file: i32, rank: i32) -> Option<char> {
        let rank = self.0.get(usize::try_from(rank).ok()?)?;
        rank.get(usize::try_from(file).ok()?).copied()
    }

    /// The squares of every row of four discs of one side.
    fn fours(&self) -> Vec<(i32, i32)> {
        let mut squares = Vec::new();
        for (file, rank) in all_squares() {
            let first = self.disc(file, rank);
            if first == Some('.') {
                continue;
            }
            for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                let four = [0, 1, 2, 3].map(|n| (file + n * right, rank + n * up));
                if (four.iter()).all(|&(file, rank)| self.disc(file, rank) == first) {
                    squares.extend(four);
                }
            }
        }
        squares
    }
}

/// Every square, rank by rank from the lowest.
fn all_squares() -> impl Iterator<Item = (i32, i32)> {
    (0..6).flat_map(|rank| (0..7).map(move |file| (file, rank)))
}

type Move = <ConnectFour as Position>::Move;

fn file_of(m: Move) -> usize {
    m.to_string().parse::<usize>().expect("a number") - 1
}

impl Position for Plain {
    type Move = Move;

    const INFO: GameInfo = ConnectFour::INFO;

    fn initial() -> Self {
        Self([['.'; 7]; 6])
    }

    fn turn(&self) -> Seat {
        if self.count('r') == self.count('y') {
            Seat::First
        } else {
            Seat::Second
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        if let Some(&(file, rank)) = self.fours().first() {
            let winner = match self.disc(file, rank) {
                Some('r') => Seat::First,
                _ => Seat::Second,
            };
            return Some(Outcome::Decisive { winner });
        }
        (self.count('.') == 0).then_some(Outcome::Draw)
    }

    fn winning_line(&self) -> Option<Vec<Square>> {
        let fours = self.fours();
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
            moves.extend(files.filter(|m| !self.is_full(file_of(*m))));
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        if self.is_full(file_of(m)) {
            return Err(IllegalMove("is full"));
        }
        Ok(())
    }

    fn play_unchecked(&mut self, m: Move) {
        let disc = match self.turn() {
            Seat::First => 'r',
            Seat::Second => 'y',
        };
        let lowest_free = self.0.iter_mut().find(|rank| rank[file_of(m)] == '.');
        lowest_free.expect("the file is not full")[file_of(m)] = disc;
    }
}

impl fmt::Display for Plain {
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

impl FromStr for Plain {
    type Err = ParsePositionError;

    /// Reads what the real game has read before; whether play can reach it is not looked at.
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

/// Both tell the same of every position of many random games.
#[test]
fn both_tellings_of_the_rules_agree() {
    let (mut lines_at_once, mut draws) = (0, 0);
    for seed in 0..500 {
        let mut chance = StdRng::seed_from_u64(seed);
        let (mut bits, mut plain) = (ConnectFour::initial(), Plain::initial());
        loop {
            assert_eq!(bits.to_string(), plain.to_string(), "seed {seed}");
            assert_eq!(bits.outcome(), plain.outcome(), "{plain}");
            assert_eq!(bits.winning_line(), plain.winning_line(), "{plain}");
            let (mut moves, mut expected) = (Vec::new(), Vec::new());
            bits.legal_moves(&mut moves);
            plain.legal_moves(&mut expected);
            assert_eq!(moves, expected, "{plain}");
            let Some(&m) = moves.choose(&mut chance) else {
                break;
            };
            assert_eq!(bits.turn(), plain.turn(), "{plain}");
            bits.play_unchecked(m);
            plain.play_unchecked(m);
        }
        lines_at_once += usize::from(bits.winning_line().is_some_and(|line| line.len() > 4));
        draws += usize::from(bits.outcome() == Some(Outcome::Draw));
    }
    assert!(lines_at_once > 0 && draws > 0, "the games were rich enough");
}
