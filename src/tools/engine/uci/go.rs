//! `go` and what may follow it.

use std::num::NonZeroUsize;
use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::{Clock, Limits};

/// The words that may follow `go`. Between one of them and the next stands what belongs to it.
const WORDS: [&str; 12] = [
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
pub(super) struct Go {
    depth: Option<u32>,
    nodes: Option<u64>,
    move_time: Option<Duration>,
    /// By seat.
    left: [Option<Duration>; 2],
    increment: [Duration; 2],
    moves: Option<u32>,
    /// A mate within so many moves is looked for.
    pub(super) mate: Option<u32>,
    /// Only these moves are looked at; all, if there are none.
    pub(super) only: Vec<String>,
    /// Whether there is to be no answer before `stop`.
    pub(super) is_infinite: bool,
    /// Whether the opponent is still thinking, so that no time counts, and there is to be no answer,
    /// before `ponderhit` or `stop`.
    pub(super) ponders: bool,
    /// Words with what stands behind them and is no number that it can be.
    pub(super) faults: Vec<String>,
}

impl Go {
    /// Reads it word by word, for the seat that is to move. What is not known is skipped, and so is a
    /// number that is none: whoever meant to set a limit waits for an answer and may never say `stop`, so
    /// without another limit the search has the time `instead`.
    pub(super) fn read(words: &[&str], turn: Seat, instead: Duration) -> Self {
        let mut go = Self::default();
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).copied().unwrap_or_default();
            if !is_right(word, next) {
                go.faults
                    .push(format!("{word} {next}").trim_end().to_owned());
            }
            match *word {
                "depth" => go.depth = next.parse().ok(),
                "nodes" => go.nodes = next.parse().ok(),
                "movetime" => go.move_time = time(next),
                "wtime" => go.left[0] = time(next),
                "btime" => go.left[1] = time(next),
                "winc" => go.increment[0] = time(next).unwrap_or_default(),
                "binc" => go.increment[1] = time(next).unwrap_or_default(),
                "movestogo" => go.moves = next.parse().ok(),
                "mate" => go.mate = next.parse().ok().filter(|moves| *moves > 0),
                "searchmoves" => {
                    let moves = words[index + 1..].iter();
                    let moves = moves.take_while(|word| !WORDS.contains(word));
                    go.only = moves.map(|m| (*m).to_owned()).collect();
                }
                "ponder" => go.ponders = true,
                "infinite" => go.is_infinite = true,
                _ => {}
            }
        }
        let is_limited = go.depth.is_some() || go.nodes.is_some() || go.mate.is_some();
        if !is_limited && go.time(turn).is_none() && !go.faults.is_empty() {
            go.move_time = Some(instead);
        }
        go.is_infinite |= !is_limited && !go.has_time();
        go
    }

    fn has_time(&self) -> bool {
        self.move_time.is_some() || self.left.iter().any(Option::is_some)
    }

    /// The limits for the seat that is to move.
    pub(super) fn limits(&self, turn: Seat, threads: NonZeroUsize) -> Limits {
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
            time: self.time(turn).filter(|_| !self.ponders),
            threads,
        }
    }

    /// How long to think, for the seat that is to move; `None` without a limit.
    pub(super) fn time(&self, turn: Seat) -> Option<Duration> {
        let clock = self.left[turn.index()].map(|left| Clock {
            remaining: left,
            increment: self.increment[turn.index()],
            moves_to_go: self.moves,
        });
        let by_clock = clock.map(|clock| clock.time_for_move());
        let times = [self.move_time.map(Clock::time_for_fixed_move), by_clock];
        times.into_iter().flatten().min()
    }
}

/// Whether what stands behind a word is a number that it can be, if it needs one.
fn is_right(word: &str, number: &str) -> bool {
    match word {
        "depth" | "movestogo" => number.parse::<u32>().is_ok(),
        "nodes" => number.parse::<u64>().is_ok(),
        "mate" => number.parse::<u32>().is_ok_and(|moves| moves > 0),
        "movetime" | "wtime" | "btime" | "winc" | "binc" => time(number).is_some(),
        _ => true,
    }
}

/// A time in milliseconds. Clocks that have run out are told as less than nothing.
fn time(text: &str) -> Option<Duration> {
    let ms: i64 = text.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
}
