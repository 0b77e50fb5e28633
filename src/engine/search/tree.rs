//! The tree search by playouts, for games in which nobody can say what a position is worth without
//! playing it out (Coulom, "Efficient selectivity and backup operators in Monte-Carlo tree search", 2006).
//!
//! Again and again it goes down the tree to the most urgent move, plays the game out from there, half
//! by chance, and counts who won for every move on the way. What was won by a move anywhere in a playout
//! counts for it, too, as long as it has hardly been tried itself (Gelly and Silver, "Combining online and
//! offline knowledge in UCT", 2007: RAVE), and so does what the game thinks of it beforehand. The move
//! that was tried most is the best.
//!
//! It thinks with one thread. All it remembers lies in the memory of the transposition table: where that
//! is full the tree grows no further, and what is in it is still counted.

mod nodes;
mod player;

pub use self::player::TreePlayer;

use std::marker::PhantomData;

use self::nodes::{Node, Nodes, ROOT};
use super::budget::Budget;
use super::chance::Chance;
use super::report::{Certainty, MoveValue, Playouts, Report};
use super::{Evaluate, Limits, Score, Stop, Table};
use crate::game::{GameHistory, Outcome, Position, Seat};

/// Moves are numbers below this.
const MOVES: usize = 128;

/// A position as playouts need it: it changes in place. Moves are numbers below 128.
pub(super) trait Board<P: Position>: Copy {
    /// The position on the board.
    fn set_up(course: &GameHistory<P>) -> Self;

    /// The seat that moves next.
    fn turn(&self) -> Seat;

    /// What the first seat has come to; `None` while the game goes on.
    fn result(&self) -> Option<Played>;

    /// A key by which the position is known again.
    fn key(&self) -> u64;

    /// Lists the moves that are worth trying, of which none leads to a position that was `seen` and may
    /// not come again; at least one.
    fn candidates(&self, seen: &[u64], moves: &mut Vec<Candidate>);

    /// Keeps those candidates of the first move that are worth it, where it may cost more to know; at
    /// least one.
    fn sift(&self, course: &GameHistory<P>, moves: &mut Vec<Candidate>);

    /// A move after which there may be nothing more to play for. It is played where it is as good as the
    /// best.
    fn last_move(&self) -> Option<u8> {
        None
    }

    /// Plays a candidate.
    fn play(&mut self, m: u8);

    /// Plays the game out, notes who played where first, and tells what the first seat has come to.
    fn play_out(&mut self, chance: &mut Chance, first: &mut First) -> Played;

    /// The move of this number.
    fn named(m: u8) -> P::Move;
}

/// What the first seat has come to in a game that was played out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Played {
    /// What it has won of a whole game.
    pub(super) won: f32,
    /// By how many points, negative if it has lost.
    pub(super) points: i32,
}

/// A move that is worth trying, and what is thought of it beforehand: as if so many playouts had gone
/// through it, and so many of them had been won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) m: u8,
    pub(super) playouts: u16,
    pub(super) won: u16,
}

/// Which moves each seat was the first to play in a playout.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct First([u128; 2]);

impl First {
    /// Notes that the seat has played this move.
    #[inline]
    pub(super) const fn note(&mut self, seat: Seat, m: u8) {
        let others = self.0[seat.other().index()];
        self.0[seat.index()] |= (1 << m) & !others;
    }

    #[inline]
    const fn was(&self, seat: Seat, m: u8) -> bool {
        self.0[seat.index()] >> m & 1 != 0
    }
}

/// A search of a game by playouts, by the position, limits, seed, and what is told on the way.
pub type TreeSearch<P> = fn(
    &GameHistory<P>,
    &Limits,
    u64,
    &Stop,
    &mut Table,
    &mut dyn FnMut(&Report<<P as Position>::Move>),
) -> Report<<P as Position>::Move>;

/// After so many playouts a position is worth a place for each of its moves.
const EXPANDED_FROM: f32 = 8.0;

/// After so many playouts through a move they count as much as those in which it was played at another
/// time.
const RAVE_EQUIVALENT: f32 = 3500.0;

/// Counts go no farther than this, up to which they are exact.
const PLAYOUTS_MAX: u64 = 1 << 23;

/// What is known is told after so many playouts, and whenever they have doubled.
const TOLD_FROM: u64 = 128;

/// A move that ends the game is played if by this it is no worse than the best.
const AS_GOOD: f32 = 0.01;

/// Searches a position in which there is no outcome yet.
pub(super) fn search<P: Evaluate, B: Board<P>>(
    course: &GameHistory<P>,
    limits: &Limits,
    seed: u64,
    stop: &Stop,
    table: &mut Table,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    let mut budget = Budget::new(*limits, stop);
    if let Some((m, score)) = win_in_one(course) {
        return Report {
            // Where points decide, there may be more of them elsewhere.
            exact: score.points().is_none(),
            depth: 1,
            selective_depth: 1,
            time: budget.elapsed(),
            pv: vec![m],
            moves: vec![MoveValue {
                m,
                score,
                certainty: Certainty::Exact,
                playouts: None,
            }],
            ..Report::known(score)
        };
    }
    let (lent, spare) = (table.lend(), nodes::least());
    let words = if lent.len() < spare.len() {
        &spare
    } else {
        lent
    };
    let mut tree = Tree::<P, B>::new(course, limits.depth, seed, Nodes::of(words));
    let mut told = TOLD_FROM;
    while budget.nodes() < PLAYOUTS_MAX && budget.enforce().is_ok() && budget.visit().is_ok() {
        tree.play_out();
        if budget.nodes() == told {
            told *= 2;
            watch(&tree.report(&budget));
        }
    }
    tree.report(&budget)
}

/// A move that ends the game as won, if there is one.
fn win_in_one<P: Evaluate>(course: &GameHistory<P>) -> Option<(P::Move, Score)> {
    let pos = course.position();
    let mut legal = Vec::new();
    course.legal_moves(&mut legal);
    let won = Outcome::Decisive { winner: pos.turn() };
    legal.into_iter().find_map(|m| {
        let after = pos.after(m);
        let outcome = after.outcome().filter(|outcome| *outcome == won)?;
        Some((m, Score::of_end(outcome, after.ending(), pos.turn(), 1)))
    })
}

struct Tree<'a, P, B> {
    nodes: Nodes<'a>,
    board: B,
    game: PhantomData<P>,
    chance: Chance,
    depth_max: usize,
    /// The greatest number of plies that the tree was gone down.
    deepest: usize,
    /// The keys of the positions of the game up to the root, and how many they are; and those on the way
    /// from there.
    seen: Vec<u64>,
    before: usize,
    /// The nodes of the way, and who moves there.
    path: Vec<(u32, Seat)>,
    /// By how many points the seat to move has won all playouts through each of its moves together.
    points: [i64; MOVES],
    /// How many playouts through each of its moves the seat to move has won.
    won: [f32; MOVES],
    candidates: Vec<Candidate>,
}

impl<'a, P: Evaluate, B: Board<P>> Tree<'a, P, B> {
    fn new(course: &GameHistory<P>, depth: Option<u32>, seed: u64, nodes: Nodes<'a>) -> Self {
        let board = B::set_up(course);
        let mut seen = course.key_history().keys().to_vec();
        seen.push(board.key());
        let mut tree = Self {
            nodes,
            board,
            game: PhantomData,
            chance: Chance::new(seed, &course.position().to_string()),
            depth_max: depth.map_or(usize::MAX, |depth| depth.max(1) as usize),
            deepest: 0,
            before: seen.len(),
            seen,
            path: Vec::new(),
            points: [0; MOVES],
            won: [0.0; MOVES],
            candidates: Vec::new(),
        };
        tree.board.candidates(&tree.seen, &mut tree.candidates);
        tree.board.sift(course, &mut tree.candidates);
        tree.nodes.expand(ROOT, &tree.candidates);
        tree
    }

    /// Goes down the tree, plays the game out, and counts.
    fn play_out(&mut self) {
        let mut board = self.board;
        let mut first = First::default();
        let mut node = ROOT;
        self.seen.truncate(self.before);
        self.path.clear();
        let played = loop {
            self.path.push((node, board.turn()));
            if let Some(played) = board.result() {
                break played;
            }
            if !self.grow(node, &board) {
                break board.play_out(&mut self.chance, &mut first);
            }
            node = self.most_urgent(node);
            let m = self.nodes.get(node).m;
            first.note(board.turn(), m);
            board.play(m);
            self.seen.push(board.key());
        };
        self.deepest = self.deepest.max(self.path.len() - 1);
        self.count(played, &first);
    }

    /// Whether the node has moves to choose among, now that it has been visited so often.
    fn grow(&mut self, number: u32, board: &B) -> bool {
        let node = self.nodes.get(number);
        if node.children > 0 {
            return true;
        }
        if node.tried() < EXPANDED_FROM || self.path.len() > self.depth_max {
            return false;
        }
        self.candidates.clear();
        board.candidates(&self.seen, &mut self.candidates);
        self.nodes.expand(number, &self.candidates)
    }

    /// The child to go on with. Where several are as urgent, chance decides.
    fn most_urgent(&mut self, node: u32) -> u32 {
        let children = self.nodes.children(node);
        let count = children.end - children.start;
        let begin = children.start + u32::try_from(self.chance.below(count as usize)).unwrap_or(0);
        let (mut best, mut most) = (begin, f32::MIN);
        for child in (begin..children.end).chain(children.start..begin) {
            let urgency = urgency(self.nodes.get(child));
            if urgency > most {
                (best, most) = (child, urgency);
            }
        }
        best
    }

    /// Counts a playout for all nodes of its way, and for the moves beside it that were played later.
    fn count(&mut self, played: Played, first: &First) {
        let won_by = |seat: Seat| match seat {
            Seat::First => played.won,
            Seat::Second => 1.0 - played.won,
        };
        if let [(_, turn), (tried, _), ..] = self.path[..] {
            let points = match turn {
                Seat::First => played.points,
                Seat::Second => -played.points,
            };
            let m = usize::from(self.nodes.get(tried).m);
            self.points[m] += i64::from(points);
            self.won[m] += won_by(turn);
        }
        let mut mover = None;
        for (node, turn) in &self.path {
            if let Some(mover) = mover {
                self.nodes.count(*node, won_by(mover));
            }
            mover = Some(*turn);
            for child in self.nodes.children(*node) {
                if first.was(*turn, self.nodes.get(child).m) {
                    self.nodes.count_beside(child, won_by(*turn));
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
        // Where none was tried, what is thought beforehand decides.
        children.sort_by(|a, b| {
            let worth = |node: &Node| (node.tried(), node.rate());
            worth(b)
                .partial_cmp(&worth(a))
                .expect("no count is no number")
        });
        if let Some(last) = self.board.last_move() {
            let best = children[0].rate();
            let is_as_good = |node: &Node| node.m == last && node.rate() + AS_GOOD >= best;
            if let Some(at) = children.iter().position(is_as_good) {
                children[..=at].rotate_right(1);
            }
        }
        let value = |node: &Node| MoveValue {
            m: B::named(node.m),
            score: score(node.rate()),
            certainty: Certainty::Estimate,
            playouts: Some(self.playouts(node)),
        };
        let moves: Vec<_> = children.iter().map(value).collect();
        let pv = self.line(children[0]);
        Report {
            score: moves[0].score,
            exact: false,
            depth: u32::try_from(pv.len()).unwrap_or(u32::MAX),
            selective_depth: u32::try_from(self.deepest).unwrap_or(u32::MAX),
            nodes: budget.nodes(),
            time: budget.elapsed(),
            playouts: moves[0].playouts.map(|best| Playouts {
                count: budget.nodes(),
                ..best
            }),
            pv,
            moves,
            ..Report::known(Score::DRAW)
        }
    }

    /// The playouts through a move. What was thought of it beforehand is not among them: of a few playouts it would
    /// be most.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "counts are whole numbers below 2^24, rates from 0 to 1, and points fewer than a board has"
    )]
    fn playouts(&self, node: &Node) -> Playouts {
        let (m, tried) = (usize::from(node.m), node.tried());
        let won = if tried > 0.0 {
            self.won[m] / tried
        } else {
            node.rate()
        };
        Playouts {
            count: tried as u64,
            won: (won * 1000.0).round() as u32,
            points: (self.points[m] as f64 / f64::from(tried.max(1.0))).round() as i32,
        }
    }

    /// The moves that were tried most, from this one on.
    fn line(&self, mut node: Node) -> Vec<P::Move> {
        let mut pv = vec![B::named(node.m)];
        loop {
            let children = (node.first..node.first + u32::from(node.children))
                .map(|child| self.nodes.get(child));
            let most = children.filter(|child| child.tried() > 0.0);
            let Some(next) = most.max_by(|a, b| a.tried().total_cmp(&b.tried())) else {
                return pv;
            };
            pv.push(B::named(next.m));
            node = next;
        }
    }
}

/// How much a move should be tried next: what it has won, by playouts through it and by others in which
/// it was played.
#[inline]
fn urgency(node: Node) -> f32 {
    let rate = node.rate();
    if node.beside == 0.0 {
        return rate;
    }
    let others =
        node.beside / (node.beside + node.playouts + node.beside * node.playouts / RAVE_EQUIVALENT);
    rate + others * (node.beside_won / node.beside - rate)
}

/// What it is worth to win all playouts instead of none.
const ALL_WON: f32 = 600.0;

/// What a seat that wins so many of a thousand playouts is told to be ahead.
pub(crate) fn score_of_won(won: u32) -> Score {
    score(f32::from(u16::try_from(won).unwrap_or(1000)) / 1000.0)
}

/// What a seat that wins this share of the playouts is told to be ahead.
#[expect(clippy::cast_possible_truncation, reason = "it is no more than 300")]
fn score(rate: f32) -> Score {
    Score::estimate(((rate - 0.5) * ALL_WON).round() as i32)
}

/// The standard error of what that is after so many playouts, if each is won or lost by its own luck: at most
/// so much.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "counts are below 2^24, and it is no more than 300"
)]
pub(crate) fn standard_error(playouts: u64) -> i32 {
    (ALL_WON * 0.5 / (playouts.max(1) as f32).sqrt()).ceil() as i32
}

#[cfg(test)]
mod tests;
