//! Static evaluation and other game knowledge that the search uses in addition to the rules.

use std::cmp::Ordering;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::level::Level;
use super::mcts::MctsPlayer;
use super::move_stack::MoveStack;
use super::score::Score;
use super::search_window::Bounds;
use crate::game::{GameHistory, Position, Seat};

/// Features of a position, other than material, that a beginner can see. The explanations of bad
/// moves mention these features. A field is `None` if the game does not have the feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisibleFeatures {
    /// Number of corners occupied by each seat.
    pub corners: Option<[u32; 2]>,
    /// Number of squares available to the seat to move.
    pub mobility: Option<u32>,
    /// Number of stones captured by each seat.
    pub captured_stones: Option<[u32; 2]>,
    /// Number of each seat's stones on the edge of the board that have no adjacent stone, not even
    /// diagonally.
    pub lone_edge_stones: Option<[u32; 2]>,
    /// Number of each seat's stones with no stone of either seat near them.
    pub isolated_stones: Option<[u32; 2]>,
    /// Number of squares where each seat can complete an open four: four stones in a row with both
    /// ends empty.
    pub open_fours: Option<[u32; 2]>,
    /// Number of winning threats of each seat. The opponent can rarely stop more than one threat
    /// with a single stone.
    pub winning_threats: Option<[u32; 2]>,
}

/// Probability that a stone's owner controls the stone's point at the end of the game, estimated by
/// playouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoneFate {
    /// Index of the stone's point on the board.
    pub point: u8,
    /// Owner of the stone.
    pub seat: Seat,
    /// Share of playouts that end with this point controlled by the stone's owner, in per mille.
    pub owned_per_mille: u32,
}

/// A position that can be evaluated without a search. The game rules contain no evaluation. Each
/// game's evaluation is in `search::eval`.
///
/// A new game only needs to implement `evaluate`. The defaults of all other items assume no
/// knowledge about the game. Overriding these defaults gives the search knowledge about the game.
/// Most of the search's speed comes from this knowledge.
pub trait Evaluate: Position {
    /// Maximum number of remaining plies at which a bot of full strength searches to the end of the
    /// game.
    const SOLVABLE_PLIES_MAX: u32 = 0;

    /// Maximum number of positions that the transposition table needs to store for this game. In
    /// small games, this number limits the table size.
    const POSITIONS_MAX: usize = usize::MAX;

    /// Whether the seats always alternate, so that the search need not read the seat to move.
    const SEATS_ALTERNATE: bool = false;

    /// Number of different move indices. Every index that `move_index` returns is less than this
    /// number. If this number is 0, the search uses neither killer moves nor history scores.
    const MOVE_INDEX_COUNT: usize = 0;

    /// Whether the search must follow noisy moves before it can evaluate a position.
    const HAS_NOISY_MOVES: bool = false;

    /// Whether the search may reduce the depth for moves that come late in the move order (late
    /// move reductions).
    const USES_LATE_MOVE_REDUCTIONS: bool = false;

    /// Whether a seat can lose only in a forced position, as in checkmate. If set, the engine runs
    /// a separate search for short wins, because reductions may hide such wins.
    const WINS_BY_MATE: bool = false;

    /// Largest amount by which the evaluation usually changes in one ply. If 0, the search does not
    /// use futility pruning.
    const FUTILITY_MARGIN: u32 = 0;

    /// Player that searches by playouts, for games whose bots do not use minimax.
    const MCTS: Option<MctsPlayer<Self>> = None;

    /// The search tries enhanced transposition cutoffs only if the game can last at least this many
    /// more plies. For such a cutoff, the search looks up the position after each move in the
    /// transposition table before it searches any move. This constant has no effect unless the
    /// seats alternate.
    const ENHANCED_CUTOFF_PLIES_MIN: u32 = u32::MAX;

    /// Maximum point margin of a win, or 0 if points do not decide the game.
    const POINTS_MAX: i32 = 0;

    /// Evaluation score that equals one point, in games decided by points.
    const SCORE_PER_POINT: i32 = 1;

    /// Returns an estimate of the value for the seat to move. The game must not be over.
    fn evaluate(&self) -> Score;

    /// Returns bounds of the position's value that can be computed without a search. If a bound is
    /// a win or loss, the distance to it is counted from this position.
    #[inline]
    fn static_bounds(&self) -> Bounds {
        if Self::POINTS_MAX > 0 {
            Bounds {
                lower: Score::win_by_points(-Self::POINTS_MAX),
                upper: Score::win_by_points(Self::POINTS_MAX),
            }
        } else {
            Bounds::UNBOUNDED
        }
    }

    /// Computes the value without a search, or returns `None` if this is not possible. Returns the
    /// value if it lies between `alpha` and `beta`, and otherwise a bound of the value. Adds the
    /// number of visited positions to the node count.
    #[inline]
    fn solve_directly(&self, _alpha: Score, _beta: Score, _nodes: &mut u64) -> Option<Score> {
        None
    }

    /// Lists the candidate moves. The list must contain at least one move. A game may leave out
    /// moves that are no better than a listed move, or that it considers hopeless. Also returns
    /// bounds of the position's value that the game found while it listed the moves.
    fn list_candidates(&self, moves: &mut MoveStack<Self::Move>) -> Bounds {
        moves.push_legal(self);
        Bounds::UNBOUNDED
    }

    /// Lists the candidate moves at the root of a search, where a slower computation is acceptable.
    /// If the list has a single move and the returned lower bound is a win, the search ends with
    /// this move.
    fn list_root_candidates(&self, moves: &mut MoveStack<Self::Move>) -> Bounds {
        self.list_candidates(moves)
    }

    /// Returns the rank of a move in the move order. The search tries moves of higher rank first.
    fn rank_move(&self, _m: Self::Move) -> i32 {
        0
    }

    /// Returns the position after a candidate move. `note` is the number that was passed to
    /// [`MoveStack::push`] for this move.
    #[inline]
    fn after_candidate(&self, m: Self::Move, _note: u64) -> Self {
        self.after(m)
    }

    /// Returns whether the seat to move has only a few reasonable moves, for example because its
    /// king is in check. Such a position is not quiet, and the search may extend a line that leads
    /// to it by one ply.
    #[inline]
    fn is_forced(&self) -> bool {
        false
    }

    /// Lists the noisy moves, such as captures, that the search must follow before the position is
    /// quiet. In a forced position, lists all moves.
    fn list_noisy_moves(&self, _moves: &mut MoveStack<Self::Move>) {}

    /// Returns the position after a pass, for null-move pruning. Returns `None` if passing could be
    /// better than every legal move. By default, a game does not use null moves.
    fn after_null_move(&self) -> Option<Self> {
        None
    }

    /// Returns an index that identifies the move. The search stores killer moves and history scores
    /// under this index. The index is less than `MOVE_INDEX_COUNT`.
    fn move_index(&self, _m: Self::Move) -> usize {
        0
    }

    /// Returns a hash of the position. Different positions rarely have equal hashes. Equivalent
    /// positions, such as mirror images, may share a hash.
    fn key(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// Returns an upper bound of the number of plies to the end of the game.
    fn remaining_plies_max(&self) -> u32 {
        Self::INFO.plies_max
    }

    /// Looks up the position in the opening book. Returns the result that the seat to move reaches
    /// with best play, and a move that leads to this result. The result is `Greater` for a win,
    /// `Equal` for a draw and `Less` for a loss.
    fn probe_book(&self) -> Option<(Ordering, Self::Move)> {
        None
    }

    /// Search depth in plies and score margin of each level below `Max`, weakest first. The bot may
    /// play any move whose score is within the margin of the best move. A score difference of 100
    /// is large enough for a careful player to notice. Level `Max` searches as deep as its limits
    /// allow and plays the best move. Any change requires a new `LEVELS_VERSION`.
    ///
    /// Search depth alone would allow only a few levels, and the steps in strength between them
    /// would be uneven. In tic-tac-toe, only four depths give different scores against a perfect
    /// opponent. Choosing at random within a score margin makes the differences between levels more
    /// even. The depth is at least 1, so every level finds a win in one ply.
    ///
    /// The default values suit tic-tac-toe, where each level scores between 62% and 71% against the
    /// level below it. Against a perfect opponent, the five levels score 6%, 13%, 27%, 40% and 50%.
    const DEPTHS_AND_MARGINS: [(u32, u32); 4] = [(1, 200), (1, 30), (2, 60), (4, 30)];

    /// Returns whether a bot of this level searches only candidate moves. This function is only
    /// called for levels below full strength. A selective search suits games with hundreds of legal
    /// moves, because people do not examine all of them either.
    #[must_use]
    fn uses_selective_search(_level: Level) -> bool {
        false
    }

    /// Returns whether a bot of this level considers the move `m`. A bot plays an implausible move
    /// only if it has no plausible move. Weak bots choose from a wide range of scores, which would
    /// otherwise include moves that no beginner would play.
    #[must_use]
    fn is_plausible(&self, _m: Self::Move, _level: Level) -> bool {
        true
    }

    /// Returns whether the position is an elementary endgame that any experienced player wins
    /// without calculation, such as queen against bare king.
    fn is_elementary_endgame(&self) -> bool {
        false
    }

    /// Returns the material of each seat as beginners count it, where the least valuable piece
    /// counts as 1. Returns `None` in games without captures of pieces.
    fn material(&self) -> Option<[i32; 2]> {
        None
    }

    /// Returns the features, other than material, that a beginner can see in this position.
    fn visible_features(&self) -> VisibleFeatures {
        VisibleFeatures::default()
    }

    /// Estimates the fate of each stone on the board from `playouts` playouts. Returns an empty
    /// list in games without playouts.
    #[must_use]
    fn estimate_stone_fates(_history: &GameHistory<Self>, _playouts: u32) -> Vec<StoneFate> {
        Vec::new()
    }

    /// Converts a score to the scale that the literature on the game uses. If points decide the
    /// game, the default implementation converts an estimate to points.
    fn conventional_score(&self, score: Score) -> i32 {
        let value = score.value();
        match (score.is_decided(), Self::POINTS_MAX) {
            (false, points_max @ 1..) => {
                let points =
                    (value + value.signum() * Self::SCORE_PER_POINT / 2) / Self::SCORE_PER_POINT;
                points.clamp(-points_max, points_max)
            }
            _ => value,
        }
    }
}
