//! A program that is asked for moves by UCI. In games other than chess positions and moves are those of
//! the wire, as they are in chess.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::super::adjudication::uci_score;
use super::super::entrant::{self, Time};
use super::super::fault::Fault;
use super::super::player::{Answer, Beginning, Player, Turn};
use super::options::Offered;
use super::{Program, READY};

/// Most options of a program. Further ones are not known.
const OPTIONS_MAX: usize = 1000;

/// A player that speaks UCI.
#[derive(Debug)]
pub(in crate::contest) struct UciPlayer(Program);

impl UciPlayer {
    /// Starts the program, and sets its options.
    pub(in crate::contest) fn start(
        program: &entrant::Program,
        stop: &Stop,
    ) -> anyhow::Result<Self> {
        let unready = |fault| anyhow!("it does not say that it is ready ({fault})");
        let mut player =
            Self(Program::start(&program.command, "quit").context("it cannot be started")?);
        let known = player.greet(stop).map_err(unready)?;
        for (name, value) in &program.options {
            let is_meant = |option: &&Offered| option.name.eq_ignore_ascii_case(name);
            let Some(Offered { values, .. }) = known.iter().find(is_meant) else {
                bail!("it has no option {name}: {}", told(&known));
            };
            if !values.takes(value) {
                bail!("its option {name} takes {values}, not {value:?}");
            }
        }
        player.set(&program.options, stop).map_err(unready)?;
        Ok(player)
    }

    /// Tells its options.
    fn greet(&mut self, stop: &Stop) -> Result<Vec<Offered>, Fault> {
        self.0.say("uci")?;
        let until = Instant::now() + READY;
        let mut options = Vec::new();
        loop {
            let line = self.0.hear(until, stop)?;
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if line.split(' ').next() == Some("uciok") {
                return Ok(options);
            }
            if options.len() < OPTIONS_MAX {
                options.extend(Offered::read(&line));
            }
        }
    }

    fn set(&mut self, options: &[(String, String)], stop: &Stop) -> Result<(), Fault> {
        for (name, value) in options {
            self.0
                .say(&format!("setoption name {name} value {value}"))?;
        }
        self.wait(stop)
    }

    fn wait(&mut self, stop: &Stop) -> Result<(), Fault> {
        self.0.say("isready")?;
        self.0.hear_word("readyok", Instant::now() + READY, stop)?;
        Ok(())
    }
}

impl Player for UciPlayer {
    fn begin(&mut self, game: &Beginning<'_>) -> Result<(), Fault> {
        self.0.say("ucinewgame")?;
        self.wait(game.stop)
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, Fault> {
        self.0.say(&position(turn))?;
        self.0.say(&go(turn))?;
        let mut score = None;
        loop {
            let line = self.0.hear(turn.until(), turn.stop)?;
            score = uci_score(&line).or(score);
            let mut words = line.split_whitespace();
            if words.next() == Some("bestmove") {
                let text = words.next().unwrap_or_default().to_owned();
                return Ok(Answer::Move { text, score });
            }
        }
    }
}

/// The options that a program has, in words.
fn told(options: &[Offered]) -> String {
    if options.is_empty() {
        "it has none".to_owned()
    } else {
        let names: Vec<_> = options.iter().map(|option| option.name.as_str()).collect();
        format!("it has {}", names.join(", "))
    }
}

fn position(turn: &Turn<'_>) -> String {
    let mut line = match turn.start {
        "" => "position startpos".to_owned(),
        start => format!("position fen {start}"),
    };
    if !turn.moves.is_empty() {
        line += " moves ";
        line += &turn.moves.join(" ");
    }
    line
}

fn go(turn: &Turn<'_>) -> String {
    let mut line = "go".to_owned();
    match turn.pace.time {
        Time::Free => {}
        Time::Move(time) => add(&mut line, "movetime", time.as_millis()),
        Time::Clock(_) => {
            // Of an opponent without a clock nothing is known but that its time is no longer.
            let own = turn.allowed().unwrap_or_default();
            let left = turn
                .left
                .map(|left| left.unwrap_or(own).max(Duration::from_millis(1)));
            for (word, left) in ["wtime", "btime"].into_iter().zip(left) {
                add(&mut line, word, left.as_millis());
            }
            for (word, increment) in ["winc", "binc"].into_iter().zip(turn.increment) {
                add(&mut line, word, increment.as_millis());
            }
            if let Some(moves) = turn.moves_to_go {
                add(&mut line, "movestogo", moves);
            }
        }
    }
    if let Some(nodes) = turn.pace.nodes {
        add(&mut line, "nodes", nodes);
    }
    if let Some(depth) = turn.pace.depth {
        add(&mut line, "depth", depth);
    }
    line
}

fn add(line: &mut String, word: &str, number: impl std::fmt::Display) {
    write!(line, " {word} {number}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::super::super::player::tests::with_turn;
    use super::go;

    #[test]
    fn time_is_told_in_milliseconds() {
        for (pace, left, to_go, line) in [
            (
                "tc=60+0.0",
                60.0,
                None,
                "go wtime 60000 btime 60000 winc 0 binc 0",
            ),
            (
                "tc=0+0.1",
                0.1,
                None,
                "go wtime 100 btime 100 winc 100 binc 100",
            ),
            (
                "tc=40/5",
                4.0,
                Some(3),
                "go wtime 4000 btime 4000 winc 0 binc 0 movestogo 3",
            ),
            (
                "tc=40/1:30+0.5",
                90.5,
                Some(40),
                "go wtime 90500 btime 90500 winc 500 binc 500 movestogo 40",
            ),
            ("st=0.25", 0.0, None, "go movetime 250"),
        ] {
            assert_eq!(with_turn(pace, left, to_go, go), line, "{pace}");
        }
    }
}
