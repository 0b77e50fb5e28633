//! Naive second implementation of Gomoku: an array of squares and a scan of every line of five
//! squares. The tests compare the bitboard implementation with this one. The two implementations
//! share no code for the rules.

use std::fmt;
use std::str::FromStr;

use plyhouse_engine::game::gomoku::Gomoku;
use plyhouse_engine::game::perft::perft;
use plyhouse_engine::game::{
    GameHistory, GameInfo, IllegalMove, Outcome, ParsePositionError, Position, Seat, Square,
};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

/// Contents of the squares. The first index is the rank from the bottom, and the second index is
/// the file from the left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct NaiveGomoku([[char; 15]; 15]);

type Move = <Gomoku as Position>::Move;

impl NaiveGomoku {
    fn count_squares(&self, stone: char) -> usize {
        self.0.iter().flatten().filter(|&&on| on == stone).count()
    }

    /// Returns the content of a square, or `None` if the square is not on the board.
    fn stone_at(&self, file: i32, rank: i32) -> Option<char> {
        let rank = self.0.get(usize::try_from(rank).ok()?)?;
        rank.get(usize::try_from(file).ok()?).copied()
    }

    /// Returns the squares of all lines that contain five stones of one side.
    fn winning_squares(&self) -> Vec<(i32, i32)> {
        let mut squares = Vec::new();
        for (file, rank) in all_squares() {
            let first = self.stone_at(file, rank);
            if first == Some('.') {
                continue;
            }
            for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                let five = [0, 1, 2, 3, 4].map(|n| (file + n * right, rank + n * up));
                if (five.iter()).all(|&(file, rank)| self.stone_at(file, rank) == first) {
                    squares.extend(five);
                }
            }
        }
        squares
    }
}

/// Returns all squares of the board, rank by rank from the lowest rank.
fn all_squares() -> impl Iterator<Item = (i32, i32)> {
    (0..15).flat_map(|rank| (0..15).map(move |file| (file, rank)))
}

fn to_square(file: i32, rank: i32) -> Square {
    Square {
        file: u8::try_from(file).expect("on the board"),
        rank: u8::try_from(rank).expect("on the board"),
    }
}

fn rank_and_file(m: Move) -> (usize, usize) {
    let Square { file, rank } = Square::parse(&m.to_string(), 15, 15).expect("a square");
    (usize::from(rank), usize::from(file))
}

impl Position for NaiveGomoku {
    type Move = Move;

    const INFO: GameInfo = Gomoku::INFO;

    fn initial() -> Self {
        Self([['.'; 15]; 15])
    }

    fn turn(&self) -> Seat {
        if self.count_squares('b') == self.count_squares('w') {
            Seat::First
        } else {
            Seat::Second
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        if let Some(&(file, rank)) = self.winning_squares().first() {
            let winner = match self.stone_at(file, rank) {
                Some('b') => Seat::First,
                _ => Seat::Second,
            };
            return Some(Outcome::Decisive { winner });
        }
        (self.count_squares('.') == 0).then_some(Outcome::Draw)
    }

    fn winning_line(&self) -> Option<Vec<Square>> {
        let fives = self.winning_squares();
        let squares = all_squares().filter(|square| fives.contains(square));
        let squares = squares.map(|(file, rank)| to_square(file, rank));
        (!fives.is_empty()).then(|| squares.collect())
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        if self.outcome().is_none() {
            let free =
                all_squares().filter(|(file, rank)| self.stone_at(*file, *rank) == Some('.'));
            let names = free.map(|(file, rank)| to_square(file, rank).to_string());
            moves.extend(names.map(|name| name.parse::<Move>().expect("a square")));
        }
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        let (rank, file) = rank_and_file(m);
        if self.0[rank][file] != '.' {
            return Err(IllegalMove("is already taken"));
        }
        Ok(())
    }

    fn play_unchecked(&mut self, m: Move) {
        let (rank, file) = rank_and_file(m);
        self.0[rank][file] = match self.turn() {
            Seat::First => 'b',
            Seat::Second => 'w',
        };
    }
}

impl fmt::Display for NaiveGomoku {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text: Vec<String> = Vec::new();
        for rank in self.0.iter().rev() {
            let mut rank: String = rank.iter().collect();
            for empty in (1..=15).rev() {
                rank = rank.replace(&".".repeat(empty), &empty.to_string());
            }
            text.push(rank);
        }
        f.write_str(&text.join("/"))
    }
}

impl FromStr for NaiveGomoku {
    type Err = ParsePositionError;

    /// Parses a position. The parser of the bitboard implementation validates the text first.
    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        text.parse::<Gomoku>()?;
        let mut pos = Self::initial();
        for (rank, line) in pos.0.iter_mut().rev().zip(text.split('/')) {
            let mut line = line.to_owned();
            for empty in (1..=15).rev() {
                line = line.replace(&empty.to_string(), &".".repeat(empty));
            }
            for (square, stone) in rank.iter_mut().zip(line.chars()) {
                *square = stone;
            }
        }
        Ok(pos)
    }
}

/// Plays a random game in a corner of the board and returns the positions of the game. The corner
/// has `corner` files and ranks. In a small corner, five stones in a row are frequent. The function
/// checks that both implementations agree on every position.
fn play_random_game(seed: u64, corner: u8) -> Vec<Gomoku> {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut bitboard, mut naive) = (Gomoku::initial(), NaiveGomoku::initial());
    let mut positions = Vec::new();
    loop {
        positions.push(bitboard);
        assert_eq!(bitboard.to_string(), naive.to_string(), "seed {seed}");
        assert_eq!(
            bitboard.to_string().parse(),
            Ok(naive.clone()),
            "seed {seed}"
        );
        assert_eq!(bitboard.outcome(), naive.outcome(), "{naive}");
        assert_eq!(bitboard.winning_line(), naive.winning_line(), "{naive}");
        let (mut moves, mut expected) = (Vec::new(), Vec::new());
        bitboard.legal_moves(&mut moves);
        naive.legal_moves(&mut expected);
        assert_eq!(moves, expected, "{naive}");
        let in_corner = |m: &&Move| {
            let (rank, file) = rank_and_file(**m);
            rank.max(file) < usize::from(corner)
        };
        let near: Vec<&Move> = moves.iter().filter(in_corner).collect();
        let Some(&&m) = near.choose(&mut rng) else {
            return positions;
        };
        assert_eq!(bitboard.turn(), naive.turn(), "{naive}");
        bitboard.play_unchecked(m);
        naive.play_unchecked(m);
    }
}

#[test]
fn naive_and_bitboard_rules_agree_in_random_games() {
    let (mut overlines, mut draws) = (0, 0);
    for seed in 0..60 {
        let corner = [6, 8, 15][usize::try_from(seed % 3).expect("index fits usize")];
        let positions = play_random_game(seed, corner);
        let end = positions.last().expect("game has an initial position");
        overlines += usize::from(end.winning_line().is_some_and(|line| line.len() > 5));
        draws += usize::from(end.winning_line().is_none());
    }
    assert!(
        overlines > 0 && draws > 0,
        "games covered overlines and draws"
    );
}

#[test]
fn naive_and_bitboard_rules_have_equal_perft_near_a_win() {
    let mut wins = 0;
    for seed in 0..4 {
        let positions = play_random_game(seed, 7);
        let near_end = positions[positions.len().saturating_sub(3)];
        let naive: NaiveGomoku = near_end.to_string().parse().expect("position is valid");
        let counts = perft(&GameHistory::from(near_end), 2);
        assert_eq!(
            counts,
            perft(&GameHistory::from(naive.clone()), 2),
            "{naive}"
        );
        wins += counts
            .iter()
            .map(|ply| ply.wins[0] + ply.wins[1])
            .sum::<u64>();
    }
    assert!(wins > 100, "only {wins} wins");
}
