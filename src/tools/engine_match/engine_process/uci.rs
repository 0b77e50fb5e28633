//! Player that controls an engine through the Universal Chess Interface (UCI). In games other than
//! chess, positions and moves are sent in the notation of the server's protocol.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::super::adjudication::parse_uci_score;
use super::super::engine_spec;
use super::super::engine_spec::TimeLimit;
use super::super::forfeit_reason::ForfeitReason;
use super::super::player::{GameStart, Player, PlayerAction, Turn};
use super::uci_reported_options::UciOption;
use super::{EngineProcess, RESPONSE_TIMEOUT};

/// Maximum number of UCI options that are read from a program. Further options are ignored.
const OPTIONS_MAX: usize = 1000;

/// Engine that speaks UCI.
#[derive(Debug)]
pub(crate) struct UciPlayer(EngineProcess);

impl UciPlayer {
    /// Starts the program and sets its options. Fails if the program does not support an option or
    /// does not accept its value.
    pub(crate) fn start(program: &engine_spec::ProgramSpec, stop: &Stop) -> anyhow::Result<Self> {
        let to_not_ready_error = |fault| anyhow!("the engine did not become ready ({fault})");
        let process = EngineProcess::start(&program.command, "quit");
        let mut player =
            Self(process.with_context(|| format!("cannot start {}", program.command.words[0]))?);
        let supported_options = player.handshake(stop).map_err(to_not_ready_error)?;
        for (name, value) in &program.options {
            let has_name = |option: &&UciOption| option.name.eq_ignore_ascii_case(name);
            let Some(UciOption {
                allowed_values: values,
                ..
            }) = supported_options.iter().find(has_name)
            else {
                bail!(
                    "unknown UCI option '{name}': {}",
                    describe_options(&supported_options)
                );
            };
            if !values.accepts(value) {
                bail!("invalid value '{value}' for UCI option '{name}': expected {values}");
            }
        }
        player
            .set_options(&program.options, stop)
            .map_err(to_not_ready_error)?;
        Ok(player)
    }

    /// Sends `uci` and returns the options that the program reports.
    fn handshake(&mut self, stop: &Stop) -> Result<Vec<UciOption>, ForfeitReason> {
        self.0.write_line("uci")?;
        let deadline = Instant::now() + RESPONSE_TIMEOUT;
        let mut options = Vec::new();
        loop {
            let line = self.0.read_line(deadline, stop)?;
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if line.split(' ').next() == Some("uciok") {
                return Ok(options);
            }
            if options.len() < OPTIONS_MAX {
                options.extend(UciOption::parse(&line));
            }
        }
    }

    fn set_options(
        &mut self,
        options: &[(String, String)],
        stop: &Stop,
    ) -> Result<(), ForfeitReason> {
        for (name, value) in options {
            self.0
                .write_line(&format!("setoption name {name} value {value}"))?;
        }
        self.wait_until_ready(stop)
    }

    fn wait_until_ready(&mut self, stop: &Stop) -> Result<(), ForfeitReason> {
        self.0.write_line("isready")?;
        self.0
            .read_line_starting_with("readyok", Instant::now() + RESPONSE_TIMEOUT, stop)?;
        Ok(())
    }
}

impl Player for UciPlayer {
    fn begin_game(&mut self, game_start: &GameStart<'_>) -> Result<(), ForfeitReason> {
        self.0.write_line("ucinewgame")?;
        self.wait_until_ready(game_start.stop)
    }

    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason> {
        self.0.write_line(&position_command(turn))?;
        self.0.write_line(&go_command(turn))?;
        let mut score = None;
        loop {
            let line = self.0.read_line(turn.deadline(), turn.stop)?;
            score = parse_uci_score(&line).or(score);
            let mut words = line.split_whitespace();
            if words.next() == Some("bestmove") {
                let text = words.next().unwrap_or_default().to_owned();
                return Ok(PlayerAction::Move { text, score });
            }
        }
    }
}

/// Lists the options of a program for an error message.
fn describe_options(options: &[UciOption]) -> String {
    if options.is_empty() {
        "the engine has no options".to_owned()
    } else {
        let names: Vec<_> = options.iter().map(|option| option.name.as_str()).collect();
        format!("expected one of {}", names.join(", "))
    }
}

fn position_command(turn: &Turn<'_>) -> String {
    let mut line = match turn.start_position {
        "" => "position startpos".to_owned(),
        start => format!("position fen {start}"),
    };
    if !turn.moves.is_empty() {
        line += " moves ";
        line += &turn.moves.join(" ");
    }
    line
}

fn go_command(turn: &Turn<'_>) -> String {
    let mut line = "go".to_owned();
    match turn.limits.time {
        TimeLimit::Unlimited => {}
        TimeLimit::PerMove(time) => push_argument(&mut line, "movetime", time.as_millis()),
        TimeLimit::Clock(_) => {
            // The `go` command must contain the remaining times of both sides. If the opponent has
            // no clock, the command contains the engine's own remaining time for both sides.
            let own = turn.time_allowed().unwrap_or_default();
            let left = turn
                .time_left
                .map(|left| left.unwrap_or(own).max(Duration::from_millis(1)));
            for (word, left) in ["wtime", "btime"].into_iter().zip(left) {
                push_argument(&mut line, word, left.as_millis());
            }
            for (word, increment) in ["winc", "binc"].into_iter().zip(turn.increments) {
                push_argument(&mut line, word, increment.as_millis());
            }
            if let Some(moves) = turn.moves_to_go {
                push_argument(&mut line, "movestogo", moves);
            }
        }
    }
    if let Some(nodes) = turn.limits.nodes {
        push_argument(&mut line, "nodes", nodes);
    }
    if let Some(depth) = turn.limits.depth {
        push_argument(&mut line, "depth", depth);
    }
    line
}

fn push_argument(line: &mut String, word: &str, number: impl std::fmt::Display) {
    write!(line, " {word} {number}").expect("writing to a String succeeds");
}

#[cfg(test)]
mod tests {
    use super::super::super::player::tests::with_turn;
    use super::go_command;

    #[test]
    fn go_command_uses_milliseconds() {
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
            assert_eq!(with_turn(pace, left, to_go, go_command), line, "{pace}");
        }
    }
}
