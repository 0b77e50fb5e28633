//! `go` and what may follow it.

use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::{Clock, Limits};

/// What the protocol knows and this engine does not.
pub(super) const UNKNOWN: [&str; 3] = ["mate", "ponder", "searchmoves"];

/// What `go` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Go {
    depth: Option<u32>,
    nodes: Option<u64>,
    move_time: Option<Duration>,
    /// By seat.
    left: [Option<Duration>; 2],
    increment: [Duration; 2],
    moves: Option<u32>,
    /// Whether there is to be no answer before `stop`.
    pub(super) is_infinite: bool,
}

impl Go {
    /// Reads it word by word. What is not known is skipped, and so is a number that is none.
    pub(super) fn read(words: &[&str]) -> Self {
        let mut go = Self::default();
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).copied().unwrap_or_default();
            match *word {
                "depth" => go.depth = next.parse().ok(),
                "nodes" => go.nodes = next.parse().ok(),
                "movetime" => go.move_time = time(next),
                "wtime" => go.left[0] = time(next),
                "btime" => go.left[1] = time(next),
                "winc" => go.increment[0] = time(next).unwrap_or_default(),
                "binc" => go.increment[1] = time(next).unwrap_or_default(),
                "movestogo" => go.moves = next.parse().ok(),
                "infinite" => go.is_infinite = true,
                _ => {}
            }
        }
        let is_limited = go.depth.is_some() || go.nodes.is_some() || go.has_time();
        go.is_infinite |= !is_limited;
        go
    }

    fn has_time(&self) -> bool {
        self.move_time.is_some() || self.left.iter().any(Option::is_some)
    }

    /// The limits for the seat that is to move.
    pub(super) fn limits(&self, turn: Seat) -> Limits {
        if self.is_infinite {
            return Limits::default();
        }
        let clock = self.left[turn.index()].map(|left| Clock {
            left,
            increment: self.increment[turn.index()],
            moves: self.moves,
        });
        let by_clock = clock.map(|clock| clock.share());
        let times = [self.move_time.map(Clock::within), by_clock];
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time: times.into_iter().flatten().min(),
            threads: None,
        }
    }
}

/// A time in milliseconds. Clocks that have run out are told as less than nothing.
fn time(text: &str) -> Option<Duration> {
    let ms: i64 = text.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
}
