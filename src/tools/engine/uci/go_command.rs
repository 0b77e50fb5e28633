//! `go` and what may follow it.

use std::num::NonZeroUsize;
use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::{Clock, Limits};

/// The words that may follow `go`. Between one of them and the next stands what belongs to it.
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

/// What `go` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GoCommand {
    depth: Option<u32>,
    nodes: Option<u64>,
    move_time: Option<Duration>,
    /// By seat.
    time_left: [Option<Duration>; 2],
    increment: [Duration; 2],
    moves_to_go: Option<u32>,
    /// A mate within so many moves is looked for.
    pub(super) mate_in_moves: Option<u32>,
    /// Only these moves are looked at; all, if there are none.
    pub(super) search_moves: Vec<String>,
    /// Whether there is to be no answer before `stop`.
    pub(super) is_infinite: bool,
    /// Whether the opponent is still thinking, so that no time counts, and there is to be no answer,
    /// before `ponderhit` or `stop`.
    pub(super) is_pondering: bool,
    /// Words with what stands behind them and is no number that it can be.
    pub(super) invalid_arguments: Vec<String>,
}

impl GoCommand {
    /// Reads it word by word, for the seat that is to move. What is not known is skipped, and so is a
    /// number that is none: whoever meant to set a limit waits for an answer and may never say `stop`, so
    /// without another limit the search has the time `fallback_time`.
    pub(super) fn parse(words: &[&str], turn: Seat, fallback_time: Duration) -> Self {
        let mut go = Self::default();
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).copied().unwrap_or_default();
            if !is_valid_argument(word, next) {
                go.invalid_arguments
                    .push(format!("{word} {next}").trim_end().to_owned());
            }
            match *word {
                "depth" => go.depth = next.parse().ok(),
                "nodes" => go.nodes = next.parse().ok(),
                "movetime" => go.move_time = parse_milliseconds(next),
                "wtime" => go.time_left[0] = parse_milliseconds(next),
                "btime" => go.time_left[1] = parse_milliseconds(next),
                "winc" => go.increment[0] = parse_milliseconds(next).unwrap_or_default(),
                "binc" => go.increment[1] = parse_milliseconds(next).unwrap_or_default(),
                "movestogo" => go.moves_to_go = next.parse().ok(),
                "mate" => go.mate_in_moves = next.parse().ok().filter(|moves| *moves > 0),
                "searchmoves" => {
                    let moves = words[index + 1..].iter();
                    let moves = moves.take_while(|word| !GO_KEYWORDS.contains(word));
                    go.search_moves = moves.map(|m| (*m).to_owned()).collect();
                }
                "ponder" => go.is_pondering = true,
                "infinite" => go.is_infinite = true,
                _ => {}
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

    /// The limits for the seat that is to move.
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

    /// How long to think, for the seat that is to move; `None` without a limit.
    pub(super) fn time_for_move(&self, turn: Seat) -> Option<Duration> {
        let clock = self.time_left[turn.index()].map(|left| Clock {
            remaining: left,
            increment: self.increment[turn.index()],
            moves_to_go: self.moves_to_go,
        });
        let by_clock = clock.map(|clock| clock.time_for_move());
        let times = [self.move_time.map(Clock::time_for_fixed_move), by_clock];
        times.into_iter().flatten().min()
    }
}

/// Whether what stands behind a word is a number that it can be, if it needs one.
fn is_valid_argument(word: &str, number: &str) -> bool {
    match word {
        "depth" | "movestogo" => number.parse::<u32>().is_ok(),
        "nodes" => number.parse::<u64>().is_ok(),
        "mate" => number.parse::<u32>().is_ok_and(|moves| moves > 0),
        "movetime" | "wtime" | "btime" | "winc" | "binc" => parse_milliseconds(number).is_some(),
        _ => true,
    }
}

/// A time in milliseconds. Clocks that have run out are told as less than nothing.
fn parse_milliseconds(text: &str) -> Option<Duration> {
    let ms: i64 = text.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
}
