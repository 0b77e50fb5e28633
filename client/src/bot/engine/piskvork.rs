//! The protocol of Gomocup (Piskvork), as a manager speaks it: points are `x,y` from the upper left
//! corner, on the wire squares from the lower left.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, GameSummary};

use super::{Answer, THINK};
use crate::bot::program::{Deadline, Fault, Program};
use crate::bot::setup::Setup;
use crate::bot::turn::Times;

/// A board with so many files and ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Board {
    files: u64,
    ranks: u64,
}

impl Board {
    pub(super) const fn of(game: &GameSummary) -> Self {
        Self {
            files: game.files,
            ranks: game.ranks,
        }
    }

    /// The point of a square such as `h8`.
    pub(super) fn point(self, square: &str) -> Option<String> {
        let file = square
            .bytes()
            .next()?
            .to_ascii_lowercase()
            .checked_sub(b'a')?;
        let rank: u64 = square.get(1..)?.parse().ok()?;
        let y = self.ranks.checked_sub(rank)?;
        Some(format!("{file},{y}"))
    }

    /// The square of a point such as `7,7`; `None` if that is no point of the board.
    pub(super) fn square(self, point: &str) -> Option<String> {
        let (x, y) = point.split_once(',')?;
        let (x, y): (u64, u64) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
        let file = char::from(b'a'.checked_add(u8::try_from(x).ok()?)?);
        (x < self.files && y < self.ranks).then(|| format!("{file}{}", self.ranks - y))
    }
}

/// Sets up an empty board.
pub(super) async fn greet(
    program: &mut Program,
    game: &GameSummary,
    think: Duration,
    whole_ms: Option<u64>,
    deadline: &Deadline,
) -> Result<(), Fault> {
    program.say(&format!("START {}", game.files)).await?;
    heed(program, deadline, is_ok).await?;
    let ms = think.as_millis();
    program
        .say(&format!(
            "INFO timeout_turn {ms}\nINFO timeout_match {}\nINFO rule 0",
            whole_ms.unwrap_or(0)
        ))
        .await
}

/// Tells how long the move may take, and what is left of the match.
pub(super) async fn tell_times(
    program: &mut Program,
    times: &Times,
    think: Option<Duration>,
) -> Result<(), Fault> {
    program.say(&time_told(times, think)).await
}

fn time_told(times: &Times, think: Option<Duration>) -> String {
    let budget = u128::from(times.budget_ms());
    let think = match (think, times.clock) {
        (Some(think), _) => think.as_millis(),
        // Nobody wants to wait for hours because there are days.
        (None, ClockControl::Move { .. }) => THINK.as_millis(),
        (None, _) => u128::MAX,
    };
    let left = times.left_ms[times.seat];
    format!(
        "INFO timeout_turn {}\nINFO time_left {left}",
        budget.min(think)
    )
}

/// The engine's move after these, which were played from the empty board or with these stones on it. If it
/// knows all but the last, it is told that one, else all.
pub(super) async fn choose(
    program: &mut Program,
    board: Board,
    told: &mut Vec<String>,
    (setup, moves): (Option<&Setup>, &[String]),
    deadline: &Deadline,
) -> Result<Answer, Fault> {
    let point = |m: &String| board.point(m).ok_or_else(|| Fault::Nonsense(m.clone()));
    // Of what stands there before the first move it knows as soon as it has moved itself.
    let is_unknown = setup.is_some() && told.is_empty();
    match moves.split_last() {
        None if setup.is_none() => {
            // The board of a match before is full of stones.
            if !told.is_empty() {
                restart(program, board, deadline).await?;
            }
            program.say("BEGIN").await?;
        }
        Some((last, before)) if before == told.as_slice() && !is_unknown => {
            program.say(&format!("TURN {}", point(last)?)).await?;
        }
        None | Some(_) => {
            restart(program, board, deadline).await?;
            let mut lines = "BOARD\n".to_owned();
            let first = setup.map_or(0, |setup| setup.first);
            let before = setup.map_or(&[][..], |setup| setup.stones.as_slice());
            let before = before.iter().map(|(seat, m)| (*seat, m));
            let played = moves.iter().zip(first..).map(|(m, seat)| (seat % 2, m));
            let own = (first + moves.len()) % 2;
            for (seat, m) in before.chain(played) {
                let owner = if seat == own { 1 } else { 2 };
                lines += &format!("{},{owner}\n", point(m)?);
            }
            program.say(&(lines + "DONE")).await?;
        }
    }
    let square = loop {
        // A late OK answers a RESTART that seemed to be unknown.
        let answer = |line: &str| board.square(line).map(Some).or(is_ok(line).map(|()| None));
        if let Some(square) = heed(program, deadline, answer).await? {
            break square;
        }
    };
    moves.clone_into(told);
    told.push(square.clone());
    Ok(Answer::Move(square))
}

/// Empties the board. `RESTART` is optional: a program that does not know it begins again with `START`.
async fn restart(program: &mut Program, board: Board, deadline: &Deadline) -> Result<(), Fault> {
    program.say("RESTART").await?;
    let heard = |line: &str| match first_word(line).as_str() {
        "" | "MESSAGE" | "DEBUG" => None,
        "UNKNOWN" => Some(Ok(false)),
        _ => Some(read(line, is_ok).map(|()| true)),
    };
    if program.hear(deadline, heard).await?? {
        return Ok(());
    }
    program.say(&format!("START {}", board.files)).await?;
    heed(program, deadline, is_ok).await
}

/// Whether a line says that a command was carried out. A text may follow: `OK - everything is good`.
fn is_ok(line: &str) -> Option<()> {
    line.get(..2)?.eq_ignore_ascii_case("OK").then_some(())
}

/// The first word of a line in upper case. Programs may use letters of either case.
fn first_word(line: &str) -> String {
    let word = line.split_whitespace().next().unwrap_or_default();
    word.to_ascii_uppercase()
}

/// Waits for an answer. Remarks for people are skipped, and so is `UNKNOWN`, by which a program complains of an
/// `INFO` that it does not know.
async fn heed<T>(
    program: &mut Program,
    deadline: &Deadline,
    wanted: impl Fn(&str) -> Option<T>,
) -> Result<T, Fault> {
    let sort = |line: &str| match first_word(line).as_str() {
        "" | "MESSAGE" | "DEBUG" | "UNKNOWN" => None,
        _ => Some(read(line, &wanted)),
    };
    program.hear(deadline, sort).await?
}

fn read<T>(line: &str, wanted: impl Fn(&str) -> Option<T>) -> Result<T, Fault> {
    wanted(line).ok_or_else(|| Fault::Nonsense(line.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_count_from_the_top_and_squares_from_below() {
        let board = Board {
            files: 15,
            ranks: 15,
        };
        for (square, point) in [
            ("a15", "0,0"),
            ("h8", "7,7"),
            ("o1", "14,14"),
            ("c4", "2,11"),
        ] {
            assert_eq!(board.point(square).as_deref(), Some(point));
            assert_eq!(board.square(point).as_deref(), Some(square));
        }
        for point in ["15,0", "0,15", "7", "7,", "-1,3", "OK", ""] {
            assert_eq!(board.square(point), None, "{point}");
        }
        for square in ["a16", "", "h", "7"] {
            assert_eq!(board.point(square), None, "{square}");
        }
    }

    #[test]
    fn the_clock_is_told_before_each_move() {
        let times = Times {
            clock: ClockControl::Fischer {
                main_ms: 300_000,
                increment_ms: 0,
            },
            left_ms: [250_000, 1],
            in_period: [false, false],
            seat: 0,
            first_move_ms: None,
        };
        let told = "INFO timeout_turn 10000\nINFO time_left 250000";
        assert_eq!(time_told(&times, None), told);
        let told = "INFO timeout_turn 700\nINFO time_left 250000";
        assert_eq!(time_told(&times, Some(Duration::from_millis(700))), told);
    }
}
