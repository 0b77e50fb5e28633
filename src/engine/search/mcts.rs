//! Monte-Carlo tree search (MCTS), for games whose positions cannot be evaluated without playing
//! them out (Coulom, "Efficient selectivity and backup operators in Monte-Carlo tree search",
//! 2006).
//!
//! Each iteration descends the tree along the most urgent moves and plays the game out from the
//! leaf, partly at random. The iteration then records the result for every move on the path. At the
//! end, the most visited move is the best move.
//!
//! While a move has few playouts of its own, its estimate also uses two other sources. The first
//! source consists of all playouts in which the move occurs at any time (RAVE: Gelly and Silver,
//! "Combining online and offline knowledge in UCT", 2007). The second source is the game's prior
//! knowledge about the move.
//!
//! The search uses one thread and stores its tree in the memory of the transposition table. When
//! the memory is full, the tree stops growing, but its statistics are still updated.

mod node_pool;
mod player;

pub use self::player::MctsPlayer;

use std::marker::PhantomData;

use self::node_pool::{Node, NodePool, ROOT};
use super::budget::Budget;
use super::report::{Certainty, MoveValue, Playouts, Report};
use super::seeded_rng::SeededRng;
use super::{Evaluate, Limits, Score, Stop, TranspositionTable};
use crate::game::{GameHistory, Outcome, Position, Seat};

/// Number of different move indices. Playouts identify each move by an index below this number.
const MOVE_COUNT: usize = 128;

/// Mutable position for playouts. Moves are numbers below 128.
pub(super) trait PlayoutBoard<P: Position>: Copy {
    /// Creates the board for the current position of a game.
    fn from_history(history: &GameHistory<P>) -> Self;

    /// Returns the seat to move.
    fn turn(&self) -> Seat;

    /// Returns the result for the first seat, or `None` if the game is not over.
    fn playout_result(&self) -> Option<PlayoutResult>;

    /// Returns a key that identifies the position.
    fn key(&self) -> u64;

    /// Lists the moves worth trying, at least one. Leaves out moves that the repetition rule
    /// forbids because they lead to a position in `previous_keys`.
    fn list_candidates(&self, previous_keys: &[u64], moves: &mut Vec<Candidate>);

    /// Removes root candidates that are not worth trying, but leaves at least one candidate. This
    /// function may be slower than `list_candidates`, because it runs only once per search.
    fn filter_root_candidates(&self, history: &GameHistory<P>, moves: &mut Vec<Candidate>);

    /// Returns a move that may end the game, such as a pass in Go. The search prefers this move if
    /// it is about as good as the best move.
    fn game_ending_move(&self) -> Option<u8> {
        None
    }

    /// Plays a candidate move.
    fn play(&mut self, m: u8);

    /// Plays the game to its end and returns the result for the first seat. For every move played,
    /// records in `first_plays` which seat played the move first.
    fn run_playout(
        &mut self,
        chance: &mut SeededRng,
        first_plays: &mut FirstPlays,
    ) -> PlayoutResult;

    /// Returns the move with this number.
    fn move_from_index(m: u8) -> P::Move;
}

/// Result of a playout for the first seat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlayoutResult {
    /// Share of the game that the first seat has won, from 0 to 1.
    pub(super) win_share: f32,
    /// Point margin of the first seat, negative if this seat has lost.
    pub(super) point_margin: i32,
}

/// A move worth trying, with prior knowledge about it. The search counts the prior knowledge as
/// `prior_playouts` playouts with `prior_wins` wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) m: u8,
    pub(super) prior_playouts: u16,
    pub(super) prior_wins: u16,
}

/// For each seat, the moves that this seat was the first to play in a playout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstPlays([u128; 2]);

impl FirstPlays {
    /// Records that `seat` plays the move `m`, unless the other seat played `m` earlier in the
    /// playout.
    #[inline]
    pub(super) const fn record(&mut self, seat: Seat, m: u8) {
        let already_played = self.0[seat.other().index()];
        self.0[seat.index()] |= (1 << m) & !already_played;
    }

    #[inline]
    const fn played_first(&self, seat: Seat, m: u8) -> bool {
        self.0[seat.index()] >> m & 1 != 0
    }
}

/// Function that searches a game by playouts. Its arguments are the game history, limits, seed,
/// stop flag, transposition table and progress callback.
pub type MctsSearch<P> = fn(
    &GameHistory<P>,
    &Limits,
    u64,
    &Stop,
    &mut TranspositionTable,
    &mut dyn FnMut(&Report<<P as Position>::Move>),
) -> Report<<P as Position>::Move>;

/// Minimum number of playouts through a leaf before the tree adds nodes for the leaf's moves.
const EXPANSION_PLAYOUTS_MIN: f32 = 8.0;

/// Number of a move's own playouts that have the same weight as an unlimited number of its RAVE
/// playouts.
const RAVE_EQUIVALENT: f32 = 3500.0;

/// Maximum number of playouts in a search. Counts up to this number are exact in `f32`.
const PLAYOUTS_MAX: u64 = 1 << 23;

/// Number of playouts before the first progress report. Another report follows each time the number
/// has doubled.
const FIRST_REPORT_PLAYOUTS: u64 = 128;

/// The search prefers a game-ending move whose win rate is at most this much below that of the best
/// move.
const GAME_END_RATE_TOLERANCE: f32 = 0.01;

/// Searches the current position by playouts. The game must not be over.
pub(super) fn search<P: Evaluate, B: PlayoutBoard<P>>(
    history: &GameHistory<P>,
    limits: &Limits,
    seed: u64,
    stop: &Stop,
    table: &mut TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    let mut budget = Budget::new(*limits, stop);
    if let Some((m, score)) = win_in_one(history) {
        return Report {
            // A win by points is not exact, because another move may win by a larger margin.
            exact: score.points().is_none(),
            depth: 1,
            selective_depth: 1,
            time: budget.elapsed(),
            pv: vec![m],
            moves: vec![MoveValue::new(m, score, Certainty::Exact)],
            ..Report::from_exact_score(score)
        };
    }
    let (table_memory, fallback_memory) = (table.raw_memory(), node_pool::minimum_memory());
    let words = if table_memory.len() < fallback_memory.len() {
        &fallback_memory
    } else {
        table_memory
    };
    let mut tree = SearchTree::<P, B>::new(history, limits.depth, seed, NodePool::new(words));
    let mut next_report = FIRST_REPORT_PLAYOUTS;
    while budget.nodes() < PLAYOUTS_MAX && budget.enforce().is_ok() && budget.visit_node().is_ok() {
        tree.run_playout();
        if budget.nodes() == next_report {
            next_report *= 2;
            on_progress(&tree.report(&budget));
        }
    }
    tree.report(&budget)
}

/// Returns a move that wins the game immediately, if there is one.
fn win_in_one<P: Evaluate>(history: &GameHistory<P>) -> Option<(P::Move, Score)> {
    let pos = history.position();
    let mut legal = Vec::new();
    history.legal_moves(&mut legal);
    let won = Outcome::Decisive { winner: pos.turn() };
    legal.into_iter().find_map(|m| {
        let position_after = pos.after(m);
        let outcome = position_after.outcome().filter(|outcome| *outcome == won)?;
        Some((
            m,
            Score::from_game_end(outcome, position_after.ending(), pos.turn(), 1),
        ))
    })
}

struct SearchTree<'a, P, B> {
    nodes: NodePool<'a>,
    board: B,
    game: PhantomData<P>,
    rng: SeededRng,
    depth_max: usize,
    /// Length in plies of the longest path that an iteration has followed from the root.
    deepest_ply: usize,
    /// Keys of the game's positions up to and including the root, followed by the keys on the
    /// current search path. The first `root_key_count` keys belong to the game.
    position_keys: Vec<u64>,
    root_key_count: usize,
    /// Nodes on the current path, each with the seat to move.
    path: Vec<(u32, Seat)>,
    /// For each root move, the total point margin of all playouts through this move. Margins are
    /// counted for the seat to move at the root.
    points_by_move: [i64; MOVE_COUNT],
    /// For each root move, the total win share of all playouts through this move. Win shares are
    /// counted for the seat to move at the root.
    wins_by_move: [f32; MOVE_COUNT],
    candidates: Vec<Candidate>,
}

impl<'a, P: Evaluate, B: PlayoutBoard<P>> SearchTree<'a, P, B> {
    fn new(history: &GameHistory<P>, depth: Option<u32>, seed: u64, nodes: NodePool<'a>) -> Self {
        let board = B::from_history(history);
        let mut position_keys = history.key_history().keys().to_vec();
        position_keys.push(board.key());
        let mut tree = Self {
            nodes,
            board,
            game: PhantomData,
            rng: SeededRng::new(seed, &history.position().to_string()),
            depth_max: depth.map_or(usize::MAX, |depth| depth.max(1) as usize),
            deepest_ply: 0,
            root_key_count: position_keys.len(),
            position_keys,
            path: Vec::new(),
            points_by_move: [0; MOVE_COUNT],
            wins_by_move: [0.0; MOVE_COUNT],
            candidates: Vec::new(),
        };
        tree.board
            .list_candidates(&tree.position_keys, &mut tree.candidates);
        tree.board
            .filter_root_candidates(history, &mut tree.candidates);
        tree.nodes.expand(ROOT, &tree.candidates);
        tree
    }

    /// Runs one iteration: descends the tree, plays the game out and updates the statistics.
    fn run_playout(&mut self) {
        let mut board = self.board;
        let mut first_plays = FirstPlays::default();
        let mut node = ROOT;
        self.position_keys.truncate(self.root_key_count);
        self.path.clear();
        let playout = loop {
            self.path.push((node, board.turn()));
            if let Some(playout) = board.playout_result() {
                break playout;
            }
            if !self.expand_leaf(node, &board) {
                break board.run_playout(&mut self.rng, &mut first_plays);
            }
            node = self.select_child(node);
            let m = self.nodes.get(node).m;
            first_plays.record(board.turn(), m);
            board.play(m);
            self.position_keys.push(board.key());
        };
        self.deepest_ply = self.deepest_ply.max(self.path.len() - 1);
        self.backpropagate(playout, &first_plays);
    }

    /// Returns whether the node has children. If the node is a leaf with enough visits, the
    /// function first tries to add children.
    fn expand_leaf(&mut self, number: u32, board: &B) -> bool {
        let node = self.nodes.get(number);
        if node.children > 0 {
            return true;
        }
        if node.visits() < EXPANSION_PLAYOUTS_MIN || self.path.len() > self.depth_max {
            return false;
        }
        self.candidates.clear();
        board.list_candidates(&self.position_keys, &mut self.candidates);
        self.nodes.expand(number, &self.candidates)
    }

    /// Returns the most urgent child. The scan starts at a random child, so ties are broken at
    /// random.
    fn select_child(&mut self, node: u32) -> u32 {
        let children = self.nodes.children(node);
        let count = children.end - children.start;
        let random_start =
            children.start + u32::try_from(self.rng.next_below(count as usize)).unwrap_or(0);
        let (mut best, mut urgency_max) = (random_start, f32::MIN);
        for child in (random_start..children.end).chain(children.start..random_start) {
            let value = selection_value(self.nodes.get(child));
            if value > urgency_max {
                (best, urgency_max) = (child, value);
            }
        }
        best
    }

    /// Records a playout in all nodes on the path below the root. Also records a RAVE playout in
    /// children of the nodes on the path. A child gets a RAVE playout only if the seat to move at
    /// its parent played the child's move before the other seat did.
    fn backpropagate(&mut self, playout: PlayoutResult, first_plays: &FirstPlays) {
        let win_share_of = |seat: Seat| match seat {
            Seat::First => playout.win_share,
            Seat::Second => 1.0 - playout.win_share,
        };
        if let [(_, turn), (root_child, _), ..] = self.path[..] {
            let points = turn.sign() * playout.point_margin;
            let m = usize::from(self.nodes.get(root_child).m);
            self.points_by_move[m] += i64::from(points);
            self.wins_by_move[m] += win_share_of(turn);
        }
        let mut mover = None;
        for (node, turn) in &self.path {
            if let Some(mover) = mover {
                self.nodes.record_playout(*node, win_share_of(mover));
            }
            mover = Some(*turn);
            for child in self.nodes.children(*node) {
                if first_plays.played_first(*turn, self.nodes.get(child).m) {
                    self.nodes.record_rave_playout(child, win_share_of(*turn));
                }
            }
        }
    }

    fn report(&self, budget: &Budget<'_>) -> Report<P::Move> {
        let mut children: Vec<Node> = self
            .nodes
            .children(ROOT)
            .map(|child| self.nodes.get(child))
            .collect();
        // Moves with equal visits are sorted by win rate. If no move has any visits, the win rates
        // come from prior knowledge alone.
        children.sort_by(|a, b| {
            let sort_key = |node: &Node| (node.visits(), node.win_rate());
            sort_key(b)
                .partial_cmp(&sort_key(a))
                .expect("no count is NaN")
        });
        if let Some(ending_move) = self.board.game_ending_move() {
            let best = children[0].win_rate();
            let is_nearly_best = |node: &Node| {
                node.m == ending_move && node.win_rate() + GAME_END_RATE_TOLERANCE >= best
            };
            if let Some(index) = children.iter().position(is_nearly_best) {
                children[..=index].rotate_right(1);
            }
        }
        let value = |node: &Node| MoveValue {
            m: B::move_from_index(node.m),
            score: score_from_win_rate(node.win_rate()),
            certainty: Certainty::Estimate,
            playouts: Some(self.playouts(node)),
        };
        let moves: Vec<_> = children.iter().map(value).collect();
        let pv = self.principal_variation(children[0]);
        Report {
            score: moves[0].score,
            exact: false,
            depth: u32::try_from(pv.len()).unwrap_or(u32::MAX),
            selective_depth: u32::try_from(self.deepest_ply).unwrap_or(u32::MAX),
            nodes: budget.nodes(),
            time: budget.elapsed(),
            playouts: moves[0].playouts.map(|best| Playouts {
                count: budget.nodes(),
                ..best
            }),
            pv,
            moves,
            ..Report::from_exact_score(Score::DRAW)
        }
    }

    /// Returns the statistics of the playouts through a move. The statistics exclude the prior
    /// knowledge, which would outweigh a small number of playouts.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "counts are whole numbers below 2^24, rates from 0 to 1, and points fewer than a board has"
    )]
    fn playouts(&self, node: &Node) -> Playouts {
        let (m, visits) = (usize::from(node.m), node.visits());
        let win_rate = if visits > 0.0 {
            self.wins_by_move[m] / visits
        } else {
            node.win_rate()
        };
        Playouts {
            count: visits as u64,
            wins_per_mille: (win_rate * 1000.0).round() as u32,
            points_average: (self.points_by_move[m] as f64 / f64::from(visits.max(1.0))).round()
                as i32,
        }
    }

    /// Returns the line of the most visited moves, starting with `node`.
    fn principal_variation(&self, mut node: Node) -> Vec<P::Move> {
        let mut pv = vec![B::move_from_index(node.m)];
        loop {
            let children = (node.first_child..node.first_child + u32::from(node.children))
                .map(|child| self.nodes.get(child));
            let visited = children.filter(|child| child.visits() > 0.0);
            let Some(next) = visited.max_by(|a, b| a.visits().total_cmp(&b.visits())) else {
                return pv;
            };
            pv.push(B::move_from_index(next.m));
            node = next;
        }
    }
}

/// Returns how urgent it is to try a move. The value combines the win rate of the move's playouts
/// with the win rate of its RAVE playouts.
#[inline]
fn selection_value(node: Node) -> f32 {
    let rate = node.win_rate();
    if node.rave_playouts == 0.0 {
        return rate;
    }
    let rave_weight = node.rave_playouts
        / (node.rave_playouts
            + node.playouts
            + node.rave_playouts * node.playouts / RAVE_EQUIVALENT);
    rate + rave_weight * (node.rave_wins / node.rave_playouts - rate)
}

/// Difference between the score of a move that wins every playout and the score of a move that wins
/// none.
const SCORE_RANGE: f32 = 600.0;

/// Converts a win rate in per mille to a score.
pub(crate) fn score_from_wins_per_mille(wins_per_mille: u32) -> Score {
    score_from_win_rate(f32::from(u16::try_from(wins_per_mille).unwrap_or(1000)) / 1000.0)
}

/// Converts a win rate from 0 to 1 to a score.
#[expect(clippy::cast_possible_truncation, reason = "the score is at most 300")]
fn score_from_win_rate(rate: f32) -> Score {
    Score::estimate(((rate - 0.5) * SCORE_RANGE).round() as i32)
}

/// Returns an upper bound of the standard error of a score after the given number of independent
/// playouts.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "counts are below 2^24, and the score is at most 300"
)]
pub(crate) fn standard_error(playouts: u64) -> i32 {
    (SCORE_RANGE * 0.5 / (playouts.max(1) as f32).sqrt()).ceil() as i32
}

#[cfg(test)]
mod tests;
