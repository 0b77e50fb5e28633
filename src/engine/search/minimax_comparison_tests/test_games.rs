//! Artificial games for tests, with random evaluations or a random game tree.

use std::fmt;
use std::str::FromStr;

use crate::game::conformance::pick_index;
use crate::game::tic_tac_toe::{Move, TicTacToe};
use crate::game::{
    GameInfo, IllegalMove, Outcome, ParseMoveError, ParsePositionError, Position, Seat,
};
use crate::search::{Evaluate, Score};

/// Returns an estimate from -20 to 20 that depends only on `key`. With only 41 possible scores,
/// many positions have equal values, and many values equal a bound of the search window.
fn random_score(key: impl std::hash::Hash) -> Score {
    Score::estimate(i32::try_from(pick_index(key, 41)).expect("the number is small") - 20)
}

/// Tic-tac-toe with random estimates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RandomlyEvaluated(pub(crate) TicTacToe);

impl Evaluate for RandomlyEvaluated {
    fn evaluate(&self) -> Score {
        random_score(self)
    }
}

impl Position for RandomlyEvaluated {
    type Move = Move;

    const INFO: GameInfo = TicTacToe::INFO;

    fn initial() -> Self {
        Self(TicTacToe::initial())
    }

    fn turn(&self) -> Seat {
        self.0.turn()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome()
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        self.0.legal_moves(moves);
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        self.0.check_legal(m)
    }

    fn play_unchecked(&mut self, m: Move) {
        self.0.play_unchecked(m);
    }
}

impl fmt::Display for RandomlyEvaluated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RandomlyEvaluated {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        text.parse().map(Self)
    }
}

/// Game that enables late move reductions, futility pruning and null moves. These techniques are
/// unsafe: they may change values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UnsafelyPruned(pub(crate) RandomlyEvaluated);

impl Evaluate for UnsafelyPruned {
    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    const FUTILITY_MARGIN: u32 = 4;

    const MOVE_INDEX_COUNT: usize = 9;

    fn evaluate(&self) -> Score {
        self.0.evaluate()
    }

    fn move_index(&self, m: Move) -> usize {
        m.bit().trailing_zeros() as usize
    }

    /// Returns this position with the same seat to move, as if both seats had passed.
    fn after_null_move(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl Position for UnsafelyPruned {
    type Move = Move;

    const INFO: GameInfo = TicTacToe::INFO;

    fn initial() -> Self {
        Self(RandomlyEvaluated::initial())
    }

    fn turn(&self) -> Seat {
        self.0.turn()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome()
    }

    fn legal_moves(&self, moves: &mut Vec<Move>) {
        self.0.legal_moves(moves);
    }

    fn check_legal(&self, m: Move) -> Result<(), IllegalMove> {
        self.0.check_legal(m)
    }

    fn play_unchecked(&mut self, m: Move) {
        self.0.play_unchecked(m);
    }
}

impl fmt::Display for UnsafelyPruned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for UnsafelyPruned {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        text.parse().map(Self)
    }
}

/// Random game tree. The seat to move, the number of moves and the outcome are random. A seat may
/// therefore move several times in a row, and the seat that moved last may lose.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RandomTree {
    seed: u64,
    path: Vec<Branch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Branch(u8);

impl RandomTree {
    pub(crate) const fn with_seed(seed: u64) -> Self {
        Self {
            seed,
            path: Vec::new(),
        }
    }

    fn branch_count(&self) -> u8 {
        u8::try_from(1 + pick_index(("branches", self), 5)).expect("the number is small")
    }
}

impl From<Branch> for usize {
    fn from(branch: Branch) -> Self {
        Self::from(branch.0)
    }
}

impl Evaluate for RandomTree {
    fn evaluate(&self) -> Score {
        random_score(self)
    }
}

impl Position for RandomTree {
    type Move = Branch;

    const INFO: GameInfo = GameInfo {
        id: "tree",
        title: "Tree",
        sides: ["first", "second"],
        files: 1,
        ranks: 1,
        plies_max: 8,
    };

    fn initial() -> Self {
        Self::with_seed(0)
    }

    fn turn(&self) -> Seat {
        Seat::ALL[pick_index(("turn", self), 2)]
    }

    fn outcome(&self) -> Option<Outcome> {
        let is_full_length = self.path.len() >= Self::INFO.plies_max as usize;
        let roll = pick_index(("outcome", self), if is_full_length { 3 } else { 24 });
        match (roll, self.path.is_empty()) {
            (_, true) => None,
            (0, false) => Some(Outcome::Draw),
            (1, false) => Some(Outcome::Decisive {
                winner: Seat::First,
            }),
            (2, false) => Some(Outcome::Decisive {
                winner: Seat::Second,
            }),
            (_, false) => None,
        }
    }

    fn legal_moves(&self, moves: &mut Vec<Branch>) {
        if self.outcome().is_none() {
            moves.extend((0..self.branch_count()).map(Branch));
        }
    }

    fn check_legal(&self, m: Branch) -> Result<(), IllegalMove> {
        if self.outcome().is_some() {
            return Err(IllegalMove::GAME_OVER);
        }
        if m.0 >= self.branch_count() {
            return Err(IllegalMove("does not grow here"));
        }
        Ok(())
    }

    fn play_unchecked(&mut self, m: Branch) {
        self.path.push(m);
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Branch {
    type Err = ParseMoveError;

    fn from_str(text: &str) -> Result<Self, ParseMoveError> {
        text.trim()
            .parse()
            .map(Self)
            .map_err(|_| ParseMoveError { example: "0" })
    }
}

impl fmt::Display for RandomTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:?}", self.seed, self.path)
    }
}

impl FromStr for RandomTree {
    type Err = ParsePositionError;

    fn from_str(_: &str) -> Result<Self, ParsePositionError> {
        Err(ParsePositionError("a random tree is not read"))
    }
}
