//! The `go` command and its arguments.

use std::num::NonZeroUsize;
use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::{Clock, Limits};

/// Keywords of the `go` command. The move list after `searchmoves` ends at the next of these
/// keywords.
const GO_KEYWORDS: [&str; 12] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
];

/// Arguments of `go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GoCommand {
    depth: Option<u32>,
    nodes: Option<u64>,
    move_time: Option<Duration>,
    /// Remaining time of each player, indexed by seat.
    time_left: [Option<Duration>; 2],
    increment: [Option<Duration>; 2],
    moves_to_go: Option<u32>,
    /// Search for a mate in this number of moves.
    pub(super) mate_in_moves: Option<u32>,
    /// The only moves that the search may consider. Empty if the search may consider all moves.
    pub(super) search_moves: Vec<String>,
    /// Whether the engine must not answer before `stop`.
    pub(super) is_infinite: bool,
    /// Whether the engine searches while the opponent is thinking. Until `ponderhit` or `stop`, the
    /// clock of the engine does not run, and the engine must not answer.
    pub(super) is_pondering: bool,
    /// Descriptions of the invalid arguments of `go`, used in error messages. Each entry is a
    /// keyword with its invalid argument, or the keyword alone if the argument is missing.
    pub(super) invalid_arguments: Vec<String>,
}

impl GoCommand {
    /// Parses the arguments of `go` for the side to move. Unknown words and invalid numbers are
    /// skipped.
    ///
    /// If a number is invalid and the command sets no valid limit, the search time is limited to
    /// `fallback_time`. The client probably meant to set a limit, so it may wait for an answer and
    /// never send `stop`.
    pub(super) fn parse(words: &[&str], turn: Seat, fallback_time: Duration) -> Self {
        let mut go = Self {
            is_pondering: words.contains(&"ponder"),
            is_infinite: words.contains(&"infinite"),
            ..Self::default()
        };
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).copied().unwrap_or_default();
            let ms = parse_milliseconds(next);
            let is_valid = match *word {
                "depth" => set(&mut go.depth, next.parse().ok()),
                "nodes" => set(&mut go.nodes, next.parse().ok()),
                "movetime" => set(&mut go.move_time, ms),
                "wtime" => set(&mut go.time_left[0], ms),
                "btime" => set(&mut go.time_left[1], ms),
                "winc" => set(&mut go.increment[0], ms),
                "binc" => set(&mut go.increment[1], ms),
                "movestogo" => set(&mut go.moves_to_go, next.parse().ok()),
                "mate" => {
                    let moves = next.parse().ok().filter(|moves| *moves > 0);
                    set(&mut go.mate_in_moves, moves)
                }
                "searchmoves" => {
                    let moves = words[index + 1..].iter();
                    let moves = moves.take_while(|word| !GO_KEYWORDS.contains(word));
                    go.search_moves = moves.map(|m| (*m).to_owned()).collect();
                    true
                }
                _ => true,
            };
            if !is_valid {
                let invalid = format!("{word} {next}").trim_end().to_owned();
                go.invalid_arguments.push(invalid);
            }
        }
        let is_limited = go.depth.is_some() || go.nodes.is_some() || go.mate_in_moves.is_some();
        if !is_limited && go.time_for_move(turn).is_none() && !go.invalid_arguments.is_empty() {
            go.move_time = Some(fallback_time);
        }
        go.is_infinite |= !is_limited && !go.has_time();
        go
    }

    fn has_time(&self) -> bool {
        self.move_time.is_some() || self.time_left.iter().any(Option::is_some)
    }

    /// Returns the search limits for the side to move.
    pub(super) fn search_limits(&self, turn: Seat, threads: NonZeroUsize) -> Limits {
        let threads = Some(threads);
        if self.is_infinite {
            return Limits {
                threads,
                ..Limits::default()
            };
        }
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time: self.time_for_move(turn).filter(|_| !self.is_pondering),
            threads,
        }
    }

    /// Returns the search time for the side to move, or `None` if there is no limit.
    pub(super) fn time_for_move(&self, turn: Seat) -> Option<Duration> {
        let clock = self.time_left[turn.index()].map(|left| Clock {
            remaining: left,
            increment: self.increment[turn.index()].unwrap_or_default(),
            moves_to_go: self.moves_to_go,
        });
        let by_clock = clock.map(|clock| clock.time_for_move());
        let times = [self.move_time.map(Clock::time_for_fixed_move), by_clock];
        times.into_iter().flatten().min()
    }
}

/// Sets an argument and returns whether its value is valid.
fn set<T>(argument: &mut Option<T>, value: Option<T>) -> bool {
    *argument = value;
    argument.is_some()
}

/// Parses a time in milliseconds. A negative time counts as 0, because GUIs report a clock that has
/// run out as a negative time.
fn parse_milliseconds(text: &str) -> Option<Duration> {
    let ms: i64 = text.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
}
