//! A program that is asked for moves by UCI. In games other than chess positions and moves are those of
//! the wire, as they are in chess.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::super::entrant::{self, Time};
use super::super::fault::Fault;
use super::super::player::{Answer, Beginning, Player, Turn};
use super::options::Offered;
use super::{Program, READY};

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
            options.extend(Offered::read(&line));
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
        let told = self.0.hear_word("bestmove", turn.until(), turn.stop)?;
        let m = told.split(' ').next().unwrap_or_default();
        Ok(Answer::Move(m.to_owned()))
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
        Time::Clock { .. } => {
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
