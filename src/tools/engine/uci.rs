//! The Universal Chess Interface (Meyer-Kahlen and Huber, 2000; the text of April 2006).
//!
//! The engine ignores what it does not understand, as the text demands. A command that it understands but
//! cannot obey changes nothing, and it sends the reason as `info string`. After a refused `position`,
//! `go` answers `bestmove (none)`: a move in the position before would be wrong in the one that was meant.

mod go;
mod options;
mod placement;

use std::io::{self, Write};
use std::time::Duration;

use plyhouse_engine::catalog::{AnalysisBoard, AnyPosition};
use plyhouse_engine::search::{Report, Score};

use self::go::Go;
use self::options::{Options, Then};
use self::placement::Placement;
use super::driver::{Aim, Next, Protocol, Question, Thought, WhileSearching};
use super::{Settings, bytes};

/// The words that a line may begin with. Others before them are skipped.
const COMMANDS: [&str; 9] = [
    "uci",
    "isready",
    "setoption",
    "ucinewgame",
    "position",
    "go",
    "ponderhit",
    "stop",
    "quit",
];

/// The answer to `go` where there is no move.
const NO_MOVE: &str = "bestmove (none)";

/// An engine that speaks UCI.
#[derive(Debug)]
pub(super) struct Uci {
    settings: Settings,
    options: Options,
    placement: Placement,
    /// Why the last `position` was refused. The analyst then still holds the position before it.
    refusal: Option<String>,
    /// The answer to the last `go` where the rules have ended the game but moves remain possible.
    move_after_end: Option<String>,
    /// What was asked for last.
    go: Go,
    /// For whom, and so by whose clock.
    time: Option<Duration>,
    /// An answer that waits for `stop` or `ponderhit`.
    held: Option<String>,
    /// Whether nobody is there any more to say `stop`.
    input_has_ended: bool,
}

impl Uci {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            options: Options::new(&settings),
            settings,
            placement: Placement::default(),
            refusal: None,
            move_after_end: None,
            go: Go::default(),
            time: None,
            held: None,
            input_has_ended: false,
        }
    }

    fn introduce(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "id name Plyhouse {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "id author the Plyhouse authors")?;
        self.options.tell(out)?;
        writeln!(out, "uciok")
    }

    /// An analyst that knows nothing but the position.
    fn renew(&self, analyst: &mut Box<dyn AnalysisBoard>) {
        self.settings.renew(analyst, bytes(self.options.table_mib));
        let placed = self.placement.set_up(analyst.as_mut());
        placed.expect("it has been set up before");
    }

    /// Begins a new game. The position stays, but a refused one gives way to the start.
    fn begin_game(&mut self, analyst: &mut Box<dyn AnalysisBoard>) {
        if self.refusal.take().is_some() {
            self.placement = Placement::default();
        }
        self.renew(analyst);
    }

    fn set_up(&mut self, words: &[&str], analyst: &mut dyn AnalysisBoard) -> Result<(), String> {
        let placement = Placement::read(words)?;
        if let Err(error) = placement.set_up(analyst) {
            let placed = self.placement.set_up(analyst);
            placed.expect("it has been set up before");
            return Err(error);
        }
        self.placement = placement;
        Ok(())
    }

    /// What `go` asks for here. There is nothing to search after a refused `position`.
    fn go(
        &mut self,
        words: &[&str],
        analyst: &dyn AnalysisBoard,
        out: &mut dyn Write,
    ) -> io::Result<Next> {
        let turn = analyst.position().turn();
        self.go = Go::read(words, turn, self.settings.time);
        for fault in &self.go.faults {
            writeln!(out, "info string no limit: {fault}")?;
        }
        self.time = self.go.time(turn);
        let mut limits = self.go.limits(turn, self.options.threads);
        if self.input_has_ended && self.waits() {
            limits.time = Some(self.settings.time);
            self.go.is_infinite = false;
            self.go.ponders = false;
        }
        if let Some(why) = &self.refusal {
            writeln!(out, "info string no position to search: {why}")?;
            self.answer(NO_MOVE.to_owned(), out)?;
            return Ok(Next::Line);
        }
        let legal = analyst.position().legal_moves();
        let canonical = |m: &String| analyst.position().read_move(m).ok();
        let mut only: Vec<_> = self.go.only.iter().filter_map(canonical).collect();
        only.retain(|m| legal.contains(m));
        if only.len() < self.go.only.len() {
            writeln!(
                out,
                "info string searchmoves has moves that cannot be played"
            )?;
        }
        let is_over = analyst.position().outcome().is_some();
        let first = only.first().or(legal.first());
        self.move_after_end = first.filter(|_| is_over).cloned();
        Ok(Next::Think(Question {
            level: self.options.level,
            limits,
            aim: self.aim(only),
        }))
    }

    fn aim(&self, only: Vec<String>) -> Aim {
        if let Some(moves) = self.go.mate.filter(|_| only.is_empty()) {
            let plies = moves.saturating_mul(2) - 1;
            return Aim::Win { plies };
        }
        if only.is_empty() && self.options.lines == 1 {
            return Aim::Move;
        }
        Aim::Lines {
            only,
            count: self.options.lines,
        }
    }

    /// Whether the search that goes on may not answer before it is told to.
    const fn waits(&self) -> bool {
        self.go.is_infinite || self.go.ponders
    }

    /// Sends an answer now, or holds it back until `stop` or `ponderhit`.
    fn answer(&mut self, answer: String, out: &mut dyn Write) -> io::Result<()> {
        self.held = Some(answer);
        if self.waits() {
            return Ok(());
        }
        self.tell_held(out)
    }

    fn tell_held(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.held.take() {
            Some(answer) => writeln!(out, "{answer}"),
            None => Ok(()),
        }
    }

    fn tell_report(
        &self,
        line: usize,
        report: &Report<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let number = match self.options.lines {
            1 => String::new(),
            _ => format!(" multipv {}", line + 1),
        };
        write!(
            out,
            "info depth {} seldepth {}{number} score {} nodes {} nps {} hashfull {} time {} pv",
            report.depth,
            report.selective_depth.max(report.depth),
            score(report.score, self.settings.game.score_per_point),
            report.nodes,
            report.nodes_per_second(),
            report.table_fill_per_mille,
            report.time.as_millis(),
        )?;
        for m in &report.pv {
            write!(out, " {m}")?;
        }
        writeln!(out)
    }
}

impl Protocol for Uci {
    fn take(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<Next> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_known = |word: &&str| COMMANDS.contains(word);
        let Some(first) = words.iter().position(is_known) else {
            return Ok(Next::Line);
        };
        let (command, words) = (words[first], &words[first + 1..]);
        // A program that goes on without `stop` gets the answer that was held back first.
        let is_next = matches!(command, "stop" | "go" | "position" | "ucinewgame" | "quit");
        if is_next || command == "ponderhit" && !self.go.is_infinite {
            self.tell_held(out)?;
        }
        match command {
            "uci" => self.introduce(out)?,
            "isready" => writeln!(out, "readyok")?,
            "setoption" => match self.options.set(words) {
                Ok(Then::Nothing) => {}
                Ok(Then::Renew) => self.renew(analyst),
                Err(why) => writeln!(out, "info string {why}")?,
            },
            "ucinewgame" => self.begin_game(analyst),
            "position" => {
                self.refusal = self.set_up(words, analyst.as_mut()).err();
                if let Some(why) = &self.refusal {
                    writeln!(out, "info string position refused: {why}")?;
                }
            }
            "go" => return self.go(words, analyst.as_ref(), out),
            "ponderhit" => self.go.ponders = false,
            "quit" => return Ok(Next::Quit),
            // There is nothing to stop.
            _ => {}
        }
        Ok(Next::Line)
    }

    fn meanwhile(&mut self, line: &str, out: &mut dyn Write) -> io::Result<WhileSearching> {
        Ok(match line.split_whitespace().next() {
            Some("stop") => WhileSearching::Stop,
            Some("quit") => WhileSearching::Hurry,
            Some("isready") => {
                writeln!(out, "readyok")?;
                WhileSearching::Done
            }
            Some("ponderhit") if self.go.ponders => {
                self.go.ponders = false;
                let time = self.time.filter(|_| !self.go.is_infinite);
                time.map_or(WhileSearching::Done, WhileSearching::Within)
            }
            Some(_) | None => WhileSearching::Wait,
        })
    }

    /// Nobody will say `stop` any more.
    fn end_of_input(&mut self, out: &mut dyn Write) -> io::Result<Option<Duration>> {
        self.input_has_ended = true;
        self.tell_held(out)?;
        let rest = self.waits().then_some(self.settings.time);
        self.go.is_infinite = false;
        self.go.ponders = false;
        Ok(rest)
    }

    fn progress(
        &mut self,
        line: usize,
        report: &Report<String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.tell_report(line, report, out)
    }

    fn found(
        &mut self,
        thought: Thought,
        stopped: bool,
        analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (line, report) in thought.lines.iter().enumerate() {
            self.tell_report(line, report, out)?;
        }
        let mut answer = best_move(&thought);
        if thought.m.is_none() {
            tell_end(analyst.position(), out)?;
            if let Some(m) = &self.move_after_end {
                answer = format!("bestmove {m}");
            }
        }
        if stopped {
            return writeln!(out, "{answer}");
        }
        self.answer(answer, out)
    }
}

/// The move, and the reply that is expected, which may be thought about in the opponent's time.
fn best_move(thought: &Thought) -> String {
    let Some(m) = &thought.m else {
        return NO_MOVE.to_owned();
    };
    let line = thought.lines.first().map(|line| line.pv.as_slice());
    match line.unwrap_or_default() {
        [first, reply, ..] if first == m => format!("bestmove {m} ponder {reply}"),
        _ => format!("bestmove {m}"),
    }
}

/// The value of a game that is over.
fn tell_end(pos: &dyn AnyPosition, out: &mut dyn Write) -> io::Result<()> {
    let score = |outcome| Score::from_game_end(outcome, pos.ending(), pos.turn(), 0);
    let score = pos.outcome().map_or(Score::DRAW, score);
    writeln!(out, "info depth 0 score {}", self::score(score, None))
}

/// Mates are counted in moves of the side that mates, losses below zero; where points decide, a hundred is a
/// point, of which an estimate has so many for each.
fn score(score: Score, point: Option<i32>) -> String {
    match score.plies_to_end() {
        Some(plies) if score > Score::DRAW => format!("mate {}", plies.div_ceil(2)),
        Some(0) => "mate 0".to_owned(),
        Some(plies) => format!("mate -{}", plies / 2),
        // Hundredths, as of a pawn.
        None => match score.points() {
            Some(points) => format!("cp {}", 100 * points),
            None => format!("cp {}", 100 * score.value() / point.unwrap_or(100)),
        },
    }
}

#[cfg(test)]
mod tests;
