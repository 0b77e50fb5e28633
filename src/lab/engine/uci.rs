//! The Universal Chess Interface (Meyer-Kahlen and Huber, 2000; the text of April 2006).
//!
//! What is not understood is ignored, as the text demands; what is understood and cannot be is told
//! as `info string`, and changes nothing.

mod go;
mod placement;

use std::io::{self, Write};

use plyhouse_engine::catalog::{Analyst, Choice};
use plyhouse_engine::search::{Level, Report, Score};

use self::go::Go;
use self::placement::Placement;
use super::driver::{Meanwhile, Next, Protocol, Question};
use super::{Settings, TABLE_MIB_MAX, bytes};

/// The words that a line may begin with. Others before them are skipped.
const COMMANDS: [&str; 8] = [
    "uci",
    "isready",
    "setoption",
    "ucinewgame",
    "position",
    "go",
    "stop",
    "quit",
];

/// An engine that speaks UCI.
#[derive(Debug)]
pub(super) struct Uci {
    settings: Settings,
    placement: Placement,
    /// Whether the search that goes on may not answer before it is told to stop.
    is_infinite: bool,
    /// An answer that waits for `stop`.
    held: Option<Option<String>>,
}

impl Uci {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            placement: Placement::default(),
            is_infinite: false,
            held: None,
        }
    }

    fn introduce(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "id name Plyhouse {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "id author the Plyhouse authors")?;
        writeln!(
            out,
            "option name Hash type spin default {} min 1 max {TABLE_MIB_MAX}",
            self.settings.table_mib
        )?;
        write!(
            out,
            "option name Level type combo default {}",
            self.settings.level
        )?;
        for level in Level::ALL {
            write!(out, " var {level}")?;
        }
        writeln!(out, "\nuciok")
    }

    /// `setoption name NAME value VALUE`.
    fn set_option(
        &mut self,
        words: &[&str],
        analyst: &mut Box<dyn Analyst>,
    ) -> Result<(), &'static str> {
        let ["name", name, "value", value] = words else {
            return Err("an option is set by: setoption name NAME value VALUE");
        };
        if name.eq_ignore_ascii_case("Hash") {
            let size = value.parse().ok();
            let fits = |mib: &u32| (1..=TABLE_MIB_MAX).contains(mib);
            self.settings.table_mib = size.filter(fits).ok_or("not a size of Hash")?;
            self.renew(analyst);
        } else if name.eq_ignore_ascii_case("Level") {
            let level = value.to_ascii_lowercase().parse();
            self.settings.level = level.map_err(|_| "not a Level")?;
        } else {
            return Err("there is no such option");
        }
        Ok(())
    }

    /// An analyst that knows nothing but the position.
    fn renew(&self, analyst: &mut Box<dyn Analyst>) {
        self.settings.renew(analyst, bytes(self.settings.table_mib));
        let placed = self.placement.set_up(analyst.as_mut());
        placed.expect("it has been set up before");
    }

    fn set_up(&mut self, words: &[&str], analyst: &mut dyn Analyst) -> Result<(), String> {
        let placement = Placement::read(words)?;
        if let Err(error) = placement.set_up(analyst) {
            let placed = self.placement.set_up(analyst);
            placed.expect("it has been set up before");
            return Err(error.to_string());
        }
        self.placement = placement;
        Ok(())
    }

    fn go(&mut self, words: &[&str], analyst: &dyn Analyst) -> Question {
        let go = Go::read(words);
        self.is_infinite = go.is_infinite;
        Question {
            level: self.settings.level,
            limits: go.limits(analyst.position().turn()),
        }
    }
}

impl Protocol for Uci {
    const ENDS_AT_ONCE: bool = true;

    fn take(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn Analyst>,
        out: &mut dyn Write,
    ) -> io::Result<Next> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_known = |word: &&str| COMMANDS.contains(word);
        let Some(first) = words.iter().position(is_known) else {
            return Ok(Next::Line);
        };
        let (command, words) = (words[first], &words[first + 1..]);
        // A program that goes on without `stop` gets the answer that was held back first.
        if matches!(command, "stop" | "go" | "position" | "ucinewgame")
            && let Some(m) = self.held.take()
        {
            tell_best(m.as_deref(), out)?;
        }
        match command {
            "uci" => self.introduce(out)?,
            "isready" => writeln!(out, "readyok")?,
            "setoption" => {
                if let Err(why) = self.set_option(words, analyst) {
                    writeln!(out, "info string {why}")?;
                }
            }
            "ucinewgame" => self.renew(analyst),
            "position" => {
                if let Err(why) = self.set_up(words, analyst.as_mut()) {
                    writeln!(out, "info string {why}")?;
                }
            }
            "go" => {
                for word in words.iter().filter(|word| go::UNKNOWN.contains(word)) {
                    writeln!(out, "info string {word} is not known here, and skipped")?;
                }
                return Ok(Next::Think(self.go(words, analyst.as_ref())));
            }
            "quit" => return Ok(Next::Quit),
            // There is nothing to stop.
            _ => {}
        }
        Ok(Next::Line)
    }

    fn meanwhile(&mut self, line: &str, out: &mut dyn Write) -> io::Result<Meanwhile> {
        Ok(match line.split_whitespace().next() {
            Some("stop") => Meanwhile::Stop,
            Some("quit") => Meanwhile::Quit,
            Some("isready") => {
                writeln!(out, "readyok")?;
                Meanwhile::Done
            }
            Some(_) | None => Meanwhile::Wait,
        })
    }

    fn progress(&mut self, report: &Report<String>, out: &mut dyn Write) -> io::Result<()> {
        tell_report(report, out)
    }

    fn found(
        &mut self,
        choice: Option<Choice>,
        stopped: bool,
        _analyst: &mut Box<dyn Analyst>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if let Some(choice) = &choice {
            tell_report(&choice.report, out)?;
        }
        let best = choice.map(|choice| choice.m);
        if self.is_infinite && !stopped {
            self.held = Some(best);
            return Ok(());
        }
        tell_best(best.as_deref(), out)
    }
}

fn tell_best(m: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "bestmove {}", m.unwrap_or("(none)"))
}

fn tell_report(report: &Report<String>, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "info depth {} seldepth {} score {} nodes {} nps {} hashfull {} time {} pv",
        report.depth,
        report.selective_depth.max(report.depth),
        score(report.score),
        report.nodes,
        report.nodes_per_second(),
        report.table_use,
        report.time.as_millis(),
    )?;
    for m in &report.pv {
        write!(out, " {m}")?;
    }
    writeln!(out)
}

/// Mates are counted in moves of the side that mates, losses below zero.
fn score(score: Score) -> String {
    match score.plies_to_end() {
        Some(plies) if score > Score::DRAW => format!("mate {}", plies.div_ceil(2)),
        Some(plies) => format!("mate -{}", plies / 2),
        None => format!("cp {}", score.value()),
    }
}

#[cfg(test)]
mod tests;
