//! `plyhouse match`: the command line of an engine match and its progress display.

use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::ArgAction;
use indicatif::ProgressBar;
use plyhouse_cli::number_in;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine_host::Protocol;

use super::adjudication::{AdjudicationRules, DrawRule, ResignRule};
use super::engine_spec::{EngineKind, EngineSpec, Setting};
use super::match_report::MatchReport;
use super::openings::{Opening, OpeningSource};
use super::paired_game::PlayerPool;
use super::sprt::{Sprt, Verdict};
use super::{EngineMatch, PlayedGame, round_robin_pairings};
use crate::common_args::{GameArg, exit_with_usage_error};
use crate::output::{print_report, progress_bar};
use crate::stop_signals::stop_on_interrupt_or_termination;

/// Maximum number of games per pairing. After 100,000 games, the estimated Elo difference is
/// accurate to about 2 Elo.
const GAMES_MAX: usize = 100_000;

/// Size of the transposition table of each built-in player, in bytes.
const TABLE_BYTES: usize = 64 << 20;

/// Approximate number of progress lines that are printed if stderr is not a terminal.
const PROGRESS_LINES: usize = 20;

/// Play a match between engines and report the Elo difference
///
/// The options follow cutechess-cli and fastchess. A player is a level of the built-in engine
/// (`level=max`) or a program (`cmd=`, with `proto=uci`, `proto=gtp` or `proto=piskvork`). Without
/// `proto=`, Go programs use GTP, Gomoku programs use the Gomocup protocol (Piskvork), and all
/// others use UCI. `option.NAME=` sets a UCI option. `cmd=` is the path of a file or a command line
/// as in a shell, where quotes keep a path with spaces together. Each `arg=` adds an argument.
/// `dir=` is the working directory of the program, and a relative path of the program is resolved
/// against it. `name=` is the name of the player.
///
/// The limits of a move are `tc=`, `st=0.5` (seconds per move), `nodes=` and `depth=`. A move may
/// exceed its time by `timemargin=` milliseconds (100 by default). `tc=` has the form
/// `[MOVES/]TIME[+INCREMENT]`, with TIME in seconds or minutes:seconds and INCREMENT in seconds:
/// `60+0.5`, `40/1:30`, `0+0.1`. `tc=inf` is no limit. The increment is added before each move,
/// including the first. After MOVES moves, TIME is added to the clock. A player without a time
/// limit has 10 minutes per move.
///
/// UCI programs can play all games. For games other than chess, positions and moves are in the
/// notation of the Plyhouse protocol. GTP counts whole seconds: `tc=` needs at least 1 second, and
/// `st=` is sent only if it is a whole number. A GTP program may refuse `time_settings` and
/// `time_left`, but its clock still runs. The Gomocup protocol does not support MOVES.
///
/// Each opening is played twice with sides swapped, by the rules of the server. A player that makes
/// an illegal move, exceeds its time, exits or refuses a command forfeits the game. The program is
/// then restarted, and the report counts the forfeit.
///
/// The report contains the Elo difference, its 95% confidence interval and the likelihood of
/// superiority (LOS), which are computed from pairs of games. With `--sprt`, the match ends as soon
/// as the log-likelihood ratio (LLR) of the pairs reaches a bound, as in fastchess.
///
/// Ctrl-C or SIGTERM stops the match, prints the report of the finished games and ends all
/// programs. The exit status is then 1. A second signal ends the process immediately. Forfeits do
/// not change the exit status.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    game: GameArg,

    #[command(flatten)]
    engines: Engines,

    /// Settings of all players; the settings of --engine override them
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = Setting::parse)]
    each: Vec<Setting>,

    /// Number of games per pair of players (even, two games per opening)
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_game_count)]
    games: usize,

    /// Openings: random, random:PLIES, balanced:PLIES or a file
    ///
    /// `random:8` plays 8 random plies. `balanced:8` also skips openings that give one side a clear
    /// advantage. A file contains one opening per line, as moves (`e4 e5`, `1. e4 e5`, `f5d6c3`) or
    /// as a position (FEN, EPD, FEN of PDN, OBF). The games of a PGN or PDN file are openings with
    /// all their moves. The openings of a file are used in order, and again if there are too few.
    #[arg(long, value_name = "SOURCE", default_value = "random")]
    openings: OpeningSource,

    /// Number of games to play in parallel
    #[arg(long, value_name = "N", default_value = "1", value_parser = number_in::<u16>(1..=1024))]
    concurrency: u16,

    /// Stop early by a sequential test (SPRT); defaults: elo0=0 elo1=5 alpha=0.05 beta=0.05
    ///
    /// The test decides between the differences elo0 and elo1, in normalised Elo.
    #[arg(long, value_name = "KEY=VALUE", num_args = 0..=4)]
    sprt: Option<Vec<String>>,

    /// Adjudicate a loss after COUNT consecutive scores of -SCORE or less: movecount=COUNT
    /// score=SCORE
    ///
    /// Scores are in hundredths of a pawn or point. With `twosided=true`, the opponent must also
    /// report at least SCORE in its last COUNT moves. Only UCI programs and levels report scores.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..=3)]
    resign: Option<Vec<String>>,

    /// Adjudicate a draw if scores stay near zero: movenumber=NUMBER movecount=COUNT score=SCORE
    ///
    /// A game is drawn after at least NUMBER moves if both players report scores from -SCORE to
    /// SCORE for COUNT consecutive moves each. Scores are in hundredths of a pawn or point. In
    /// chess and draughts, a capture or a move of a pawn or man restarts the count.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..=3)]
    draw: Option<Vec<String>>,

    /// Pairings: all players against each other, or the first against all others
    #[arg(long, value_enum, default_value = "round-robin")]
    tournament: TournamentKind,

    /// Random seed of the openings and the levels
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = number_in::<u64>(..))]
    seed: u64,

    /// File to append the games to (.pgn, .pdn, .sgf or .txt, depending on the game)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print the report as a JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse match chess --engine cmd=stockfish proto=uci option.UCI_Elo=2500 \\
    --engine level=max --each st=0.3 --games 200 --openings balanced:8 --out games.pgn \\
    --resign movecount=3 score=600 --draw movenumber=40 movecount=8 score=10
  plyhouse match chess --engine cmd=./new dir='/opt/my engine' proto=uci --engine level=max --each tc=40/1:00
  plyhouse match go --engine level=hard --engine cmd=gnugo arg=--mode arg=gtp arg=--chinese-rules
  plyhouse match othello --engine cmd='new engine othello' proto=uci name=new \\
    --engine cmd='old engine othello' proto=uci name=old --each st=0.2 --sprt elo0=0 elo1=10";

/// Pairing system of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TournamentKind {
    RoundRobin,
    Gauntlet,
}

/// Engine settings from the command line. Each `--engine` option adds one vector of settings.
#[derive(Debug)]
struct Engines(Vec<Vec<Setting>>);

impl clap::Args for Engines {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.arg(
            clap::Arg::new("engine")
                .long("engine")
                .value_name("KEY=VALUE")
                .help("Settings of a player, such as level=max; give the option once per player")
                .num_args(1..)
                .required(true)
                .action(ArgAction::Append)
                .value_parser(Setting::parse),
        )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Engines {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let engines = matches.get_occurrences::<Setting>("engine");
        let engines = engines.into_iter().flatten();
        Ok(Self(
            engines.map(|words| words.cloned().collect()).collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args {
    /// Returns the game that the engines play.
    #[must_use]
    pub fn game(&self) -> &'static GameEntry {
        self.game.game_entry()
    }

    /// Returns the path of the output file for the played games, if any.
    #[must_use]
    pub fn output_file(&self) -> Option<&Path> {
        self.out.as_deref()
    }

    /// Plays the match and prints the report. Calls `save_game` with every finished game.
    ///
    /// # Errors
    ///
    /// Returns an error if the openings cannot be used, if a program cannot be started or if
    /// `save_game` fails. Also returns an error if SIGINT or SIGTERM interrupts the match. In that
    /// case, the report of the finished games is printed first.
    pub fn run(
        self,
        save_game: &mut dyn FnMut(&PlayedGame) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (sprt, adjudication, engines) = self
            .parse_settings()
            .unwrap_or_else(|reason| exit_with_usage_error(reason));
        let engine_match = self.build_match(engines, adjudication)?;
        let stop = stop_on_interrupt_or_termination()?;
        // All programs are started before the first game. If a program cannot be started, the match
        // fails immediately. Otherwise the program would forfeit every one of its games.
        PlayerPool::new(&engine_match).start_all(&stop)?;
        let progress = MatchProgress::new(engine_match.game_count())?;
        let mut left = engine_match.game_count();
        let threads = NonZeroUsize::new(self.concurrency.into()).expect("clap rejects 0");
        let scores = engine_match.play(threads, &stop, |finished, scores| {
            save_game(&finished.game)?;
            left -= 1;
            progress.record_game(|| MatchReport::new(&engine_match, scores, sprt).to_summary());
            let verdict = sprt.map(|sprt| sprt.verdict(&scores[finished.slot.pairing].pairs));
            Ok(match verdict {
                None | Some(Verdict::Undecided) => ControlFlow::Continue(()),
                Some(Verdict::H0 | Verdict::H1) => {
                    left = 0;
                    ControlFlow::Break(())
                }
            })
        })?;
        progress.bar.finish_and_clear();
        print_report(&MatchReport::new(&engine_match, &scores, sprt), self.json)?;
        ensure!(left == 0, "match interrupted; games not played: {left}");
        Ok(())
    }

    /// Parses the settings in `KEY=VALUE` form. Returns an error message if they are invalid.
    fn parse_settings(&self) -> Result<(Option<Sprt>, AdjudicationRules, Vec<EngineSpec>), String> {
        let sprt = self.sprt.as_deref().map(parse_sprt).transpose()?;
        let resign = self.resign.as_deref().map(ResignRule::parse).transpose();
        let draw = self.draw.as_deref().map(DrawRule::parse).transpose();
        let adjudication = AdjudicationRules {
            resign: resign.map_err(|reason| format!("--resign: {reason}"))?,
            draw: draw.map_err(|reason| format!("--draw: {reason}"))?,
        };
        let engines = self.engine_specs()?;
        if sprt.is_some() && engines.len() != 2 {
            return Err("--sprt requires exactly two players".to_owned());
        }
        Ok((sprt, adjudication, engines))
    }

    /// Builds the engines of the match. Returns an error message if the settings are invalid.
    fn engine_specs(&self) -> Result<Vec<EngineSpec>, String> {
        let mut engine_specs: Vec<EngineSpec> = Vec::new();
        for words in &self.engines.0 {
            let settings = self.each.iter().chain(words);
            let spec = EngineSpec::from_settings(settings, self.game().engine_protocol)?;
            let name = &spec.name;
            if engine_specs.iter().any(|other| other.name == *name) {
                return Err(format!(
                    "two players have the name '{name}'; set name= for one of them"
                ));
            }
            engine_specs.push(spec);
        }
        if engine_specs.len() < 2 {
            return Err("at least two players are required: use --engine twice or more".to_owned());
        }
        Ok(engine_specs)
    }

    fn build_match(
        &self,
        engine_specs: Vec<EngineSpec>,
        adjudication: AdjudicationRules,
    ) -> anyhow::Result<EngineMatch> {
        let (game, rounds) = (self.game(), self.games / 2);
        let openings = self.openings.load_openings(game, rounds, self.seed)?;
        let takes_only_moves = |engine: &&EngineSpec| match &engine.kind {
            EngineKind::Program(program) => program.protocol != Protocol::Uci,
            EngineKind::Random | EngineKind::Level(_) => false,
        };
        let has_position = |opening: &Opening| !opening.start_position.is_empty();
        if openings.iter().any(has_position)
            && let Some(EngineSpec { name, .. }) = engine_specs.iter().find(takes_only_moves)
        {
            bail!("'{name}' does not speak UCI and needs openings as moves, not as positions");
        }
        let players = engine_specs.len();
        let pairings = match self.tournament {
            TournamentKind::Gauntlet => (1..players).map(|other| [0, other]).collect(),
            TournamentKind::RoundRobin => round_robin_pairings(players),
        };
        Ok(EngineMatch {
            game,
            engines: engine_specs,
            pairings,
            openings,
            rounds,
            seed: self.seed,
            adjudication,
            table_bytes: TABLE_BYTES,
        })
    }
}

/// Progress display of a match: a bar on a terminal, otherwise occasional lines.
struct MatchProgress {
    bar: ProgressBar,
    /// Number of finished games between two progress lines, or `None` if a progress bar is shown.
    lines_interval: Option<u64>,
}

impl MatchProgress {
    fn new(games: usize) -> anyhow::Result<Self> {
        Ok(Self {
            bar: progress_bar(games, "{bar:30} {pos}/{len}, {eta} left: {msg}")?,
            lines_interval: (!io::stderr().is_terminal())
                .then(|| (games / PROGRESS_LINES).max(1) as u64),
        })
    }

    /// Counts a finished game and displays the summary of the match.
    fn record_game(&self, summary: impl FnOnce() -> String) {
        self.bar.inc(1);
        match self.lines_interval {
            None => self.bar.set_message(summary()),
            Some(every) if self.bar.position().is_multiple_of(every) => {
                // If writing the progress line fails, the error is ignored, because the final
                // report contains the same results.
                let _ = writeln!(io::stderr(), "{}: {}", self.bar.position(), summary());
            }
            Some(_) => {}
        }
    }
}

pub(crate) fn parse_game_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(games) if (2..=GAMES_MAX).contains(&games) && games.is_multiple_of(2) => Ok(games),
        Ok(_) | Err(_) => Err(format!("expected an even number from 2 to {GAMES_MAX}")),
    }
}

/// Parses the settings that follow `--sprt`.
fn parse_sprt(words: &[String]) -> Result<Sprt, String> {
    let mut sprt = Sprt {
        elo0: 0.0,
        elo1: 5.0,
        alpha: 0.05,
        beta: 0.05,
    };
    for word in words {
        let (key, value) = word.split_once('=').ok_or(format!(
            "--sprt: invalid setting '{word}': expected KEY=VALUE"
        ))?;
        let number: f64 = value
            .parse()
            .map_err(|_| format!("--sprt: invalid {key} '{value}': expected a number"))?;
        match key {
            "elo0" => sprt.elo0 = number,
            "elo1" => sprt.elo1 = number,
            "alpha" => sprt.alpha = number,
            "beta" => sprt.beta = number,
            _ => {
                return Err(format!(
                    "--sprt: unknown setting '{key}': expected elo0, elo1, alpha or beta"
                ));
            }
        }
    }
    let is_error_rate = |share: f64| share > 0.0 && share < 0.5;
    if sprt.elo0 < sprt.elo1 && is_error_rate(sprt.alpha) && is_error_rate(sprt.beta) {
        Ok(sprt)
    } else {
        Err(
            "--sprt: elo0 must be less than elo1, and alpha and beta must be between 0 and 0.5"
                .to_owned(),
        )
    }
}
