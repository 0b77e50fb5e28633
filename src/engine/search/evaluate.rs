//! What the search asks of a game beside its rules: an estimate, and whatever else it knows.

use std::cmp::Ordering;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::level::{Level, Strength};
use super::mcts::MctsPlayer;
use super::move_stack::MoveStack;
use super::score::Score;
use super::search_window::Bounds;
use crate::game::{GameHistory, Position, Seat};

/// What a beginner sees in a position beside material: by this a bad move is explained. Of each, nothing where
/// the game knows no such thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisibleFeatures {
    /// How many corners each seat has.
    pub corners: Option<[u32; 2]>,
    /// On how many squares the seat to move can play.
    pub mobility: Option<u32>,
    /// How many stones each seat has captured.
    pub captured_stones: Option<[u32; 2]>,
    /// How many stones each seat has on the edge of the board with no other beside them, also diagonally.
    pub lone_edge_stones: Option<[u32; 2]>,
    /// How many stones each seat has with no other near them.
    pub isolated_stones: Option<[u32; 2]>,
    /// On how many squares each seat would make a four that is open at both ends.
    pub open_fours: Option<[u32; 2]>,
    /// In how many ways each seat threatens to win, of which a stone stops one, seldom more.
    pub winning_threats: Option<[u32; 2]>,
}

/// What becomes of a stone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoneFate {
    /// A number of its point.
    pub point: u8,
    /// Whose it is.
    pub seat: Seat,
    /// After how many of a thousand playouts its point is its owner's.
    pub owned_per_mille: u32,
}

/// A position that can be valued without looking ahead. Rules know nothing of this: what is worth
/// having is the engine's opinion, and lives in `search::eval`.
///
/// A new game needs `evaluate` alone. All else has a neutral default, and is there for what a game
/// knows that the search cannot find out by itself, which is most of what makes a search fast.
pub trait Evaluate: Position {
    /// With at most so many plies left, full strength looks to the end of the game.
    const SOLVABLE_PLIES_MAX: u32 = 0;

    /// No more positions than this are worth remembering: small games need small tables.
    const POSITIONS_MAX: usize = usize::MAX;

    /// Whether the seats always take turns, so that nobody need ask whose turn it is.
    const SEATS_ALTERNATE: bool = false;

    /// Indices of moves are below this. With 0 the search does not learn which moves have been good
    /// elsewhere (killers and history).
    const MOVE_INDEX_COUNT: usize = 0;

    /// Whether there are moves that must be followed before a position is quiet enough to be
    /// estimated.
    const HAS_NOISY_MOVES: bool = false;

    /// Whether moves late in the order may be looked at less deeply at first.
    const USES_LATE_MOVE_REDUCTIONS: bool = false;

    /// Whether nobody loses but in a tense position, as by mate. Then short wins, which reductions may
    /// hide, are looked for on their own.
    const WINS_BY_MATE: bool = false;

    /// By how much an estimate seldom changes within a ply. With 0 nothing is concluded from estimates
    /// but where a look ends.
    const FUTILITY_MARGIN: u32 = 0;

    /// How bots think by playouts, where they do so and not by minimax.
    const MCTS: Option<MctsPlayer<Self>> = None;

    /// With so many plies left or more, the positions after all moves are looked up in the table before
    /// any of them is looked at. Only where the seats take turns.
    const ENHANCED_CUTOFF_PLIES_MIN: u32 = u32::MAX;

    /// Nobody wins by more points than this. 0 where points do not decide.
    const POINTS_MAX: i32 = 0;

    /// How much of an estimate is a point, where points decide.
    const SCORE_PER_POINT: i32 = 1;

    /// An estimate for the seat to move, of a game that is still going on.
    fn evaluate(&self) -> Score;

    /// Bounds of the value as far as a glance tells, with plies counted from this position.
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

    /// The value between two scores, or a bound of it that is not between them, where the game finds it
    /// faster than a search would. How many positions that took is added to `visited`.
    #[inline]
    fn solve_directly(&self, _alpha: Score, _beta: Score, _nodes: &mut u64) -> Option<Score> {
        None
    }

    /// Lists the moves that are worth considering: all but such as are surely no better than one
    /// that is listed, and at least one. Tells what has come out about the value by that.
    fn list_candidates(&self, moves: &mut MoveStack<Self::Move>) -> Bounds {
        moves.push_legal(self);
        Bounds::UNBOUNDED
    }

    /// What `consider` lists, for the position that a search begins with, where it may cost more. If one
    /// move is listed alone and wins, the search is over.
    fn list_root_candidates(&self, moves: &mut MoveStack<Self::Move>) -> Bounds {
        self.list_candidates(moves)
    }

    /// How promising a move is: the higher, the earlier it is tried.
    fn rank_move(&self, _m: Self::Move) -> i32 {
        0
    }

    /// The position after a move that `consider` has listed with this note.
    #[inline]
    fn after_candidate(&self, m: Self::Move, _note: u64) -> Self {
        self.after(m)
    }

    /// Whether the seat to move has little choice, as in check. Such a position is not quiet as it
    /// is, and the way to it is looked at a ply more deeply.
    #[inline]
    fn is_forced(&self) -> bool {
        false
    }

    /// Lists the moves that a position must be followed by before it is quiet, such as captures; all
    /// moves where it is tense.
    fn list_noisy_moves(&self, _moves: &mut MoveStack<Self::Move>) {}

    /// The position if the seat to move could pass, where passing would be bad for it: the search
    /// may then conclude from a pass that does no harm (null move).
    fn after_null_move(&self) -> Option<Self> {
        None
    }

    /// Tells moves of the seat to move apart in whatever position they are played: a number below
    /// `MOVE_INDICES`.
    fn move_index(&self, _m: Self::Move) -> usize {
        0
    }

    /// A number that different positions hardly ever share. Positions with the same future, such as
    /// mirror images, may.
    fn key(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// No line of play from here is longer than this many plies.
    fn remaining_plies_max(&self) -> u32 {
        Self::INFO.plies_max
    }

    /// How the game ends for the seat to move if both play their best, `Greater` being a win, and a move that
    /// keeps this, where they are known by heart.
    fn probe_book(&self) -> Option<(Ordering, Self::Move)> {
        None
    }

    /// What makes a level in this game.
    #[must_use]
    fn strength(level: Level) -> Strength {
        level.strength()
    }

    /// Whether a player of this level, which is below full strength, looks at nothing but what is
    /// worth considering. Where there are hundreds of moves, people do not look at all of them either.
    #[must_use]
    fn uses_selective_search(_level: Level) -> bool {
        false
    }

    /// Whether a bot of this level considers the move `m`. A bot plays any other move only if it has no choice. This
    /// keeps weak bots from moves that their margin allows but that no beginner would play.
    #[must_use]
    fn is_plausible(&self, _m: Self::Move, _level: Level) -> bool {
        true
    }

    /// Whether whoever knows the game wins this without a thought, as with a queen against a bare king.
    fn is_elementary_endgame(&self) -> bool {
        false
    }

    /// What the seats' pieces are worth as beginners count them, the least of them as one. Only in games in
    /// which pieces can be taken.
    fn material(&self) -> Option<[i32; 2]> {
        None
    }

    /// What else a beginner sees here.
    fn visible_features(&self) -> VisibleFeatures {
        VisibleFeatures::default()
    }

    /// What becomes of the stones on the board, by so many playouts; nothing in games that are not played out.
    #[must_use]
    fn estimate_stone_fates(_history: &GameHistory<Self>, _playouts: u32) -> Vec<StoneFate> {
        Vec::new()
    }

    /// A win, a draw or a loss as the literature on the game writes it; else the estimate, in points where they
    /// decide.
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
