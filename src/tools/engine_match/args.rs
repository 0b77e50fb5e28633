//! `plyhouse match`: the command line of an engine match and its progress display.

use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::ArgAction;
use indicatif::{ProgressBar, ProgressStyle};
use plyhouse_engine::catalog::GameEntry;

use super::adjudication::{AdjudicationRules, DrawRule, ResignRule};
use super::engine_spec::{EngineKind, EngineSpec, ProgramProtocol, ProgramSpec, Setting};
use super::match_report::MatchReport;
use super::openings::OpeningSource;
use super::paired_game::PlayerPool;
use super::sprt::{Sprt, Verdict};
use super::{EngineMatch, FinishedGame, PairingScore, PlayedGame};
use crate::common_args::{GameArg, exit_with_usage_error};
use crate::stop_signals::stop_on_interrupt_or_termination;

/// Maximum number of games per pairing. After 100,000 games, the estimated Elo difference is
/// accurate to about 2 Elo.
const GAMES_MAX: usize = 100_000;

/// Approximate number of progress lines that are printed if stderr is not a terminal.
const PROGRESS_LINES: usize = 20;

/// Lets engines play each other, in the words of cutechess and fastchess.
///
/// A player is a program (`cmd=`, with `proto=uci`, `gtp` or `piskvork`; `option.NAME=` for UCI) or a level of
/// this binary (`level=max`). `cmd=` is the path of a file, or words as in a shell: quotes hold a path with
/// spaces together. Arguments stand in `cmd=` or each in an `arg=`. `dir=` is the working directory; relative
/// paths of the program begin there.
///
/// What may be spent on a move: `tc=`, `st=0.5` (seconds for each move), `nodes=`, `depth=`, and `timemargin=`
/// (milliseconds that an answer may be late, 100 if nothing is said). `tc=` is MOVES/TIME+INCREMENT, where
/// MOVES and INCREMENT may be left out and TIME is in seconds or minutes:seconds: `60+0.5`, `40/1:30`,
/// `0+0.1`; `tc=inf` is no limit. The increment is added before each move, the first included. After MOVES
/// moves, TIME is added to what is left. UCI is also spoken for games other than chess, with positions and
/// moves as they are on the wire.
///
/// GTP counts whole seconds, so `tc=` needs at least one there, and fractions of `st=` are not told. A GTP
/// program may refuse `time_settings` and `time_left`; its clock runs all the same. The protocol of Gomocup
/// (Piskvork) has no words for MOVES. A player without a limit has 10 minutes for each move.
///
/// Every opening is played twice with the sides swapped. The rules are those of the server, Go's too. A
/// game is lost by whoever plays what cannot be played, answers too late, ends or refuses a command; the
/// program is then started anew, and that is counted.
///
/// Elo and its interval of 95% follow from the variance of pairs, as LOS, the likelihood of superiority. With
/// --sprt the contest ends as soon as one of two differences in normalised Elo can be taken for true: LLR,
/// the log-likelihood ratio, is counted by pairs as fastchess does.
///
/// Ctrl-C or SIGTERM breaks it off: what came of it so far is told, all programs end, and the exit status
/// is 1. A second one ends the process at once. The status is 0 also when a player did something wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    game: GameArg,

    #[command(flatten)]
    engines: Engines,

    /// What all players have that say nothing else
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = Setting::parse)]
    each: Vec<Setting>,

    /// How many games each pair of players plays: an even number, two for each opening
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_game_count)]
    games: usize,

    /// What games begin with: `random:8` for so many random moves, `balanced:8` for such after which
    /// neither side is far ahead, or a file with an opening in each line, as moves (`e4 e5`, `1. e4 e5`, `f5d6c3`) or
    /// as a position (FEN, EPD, FEN of PDN, OBF), or with games in PGN or PDN, of which all moves are played.
    /// Those of a file are taken in turn, and again if there are too few
    #[arg(long, value_name = "SOURCE", default_value = "random")]
    openings: OpeningSource,

    /// How many games are played at a time
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,

    /// Ends the contest once it is decided between two differences in normalised Elo: elo0=0 elo1=5
    /// alpha=0.05 beta=0.05
    #[arg(long, value_name = "KEY=VALUE", num_args = 0..=4)]
    sprt: Option<Vec<String>>,

    /// A player loses whose score is SCORE hundredths of a pawn (or point) or more below zero in COUNT
    /// consecutive moves: movecount=COUNT score=SCORE. With twosided=true the opponent's score has to be as high
    /// for as long. The scores are those of UCI and of levels; other players report none
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..=3)]
    resign: Option<Vec<String>>,

    /// A game is drawn after NUMBER moves or more if both scores stay within SCORE hundredths of zero for COUNT
    /// consecutive moves of each player: movenumber=NUMBER movecount=COUNT score=SCORE. In chess and draughts
    /// captures and moves of pawns or men start the count again
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..=3)]
    draw: Option<Vec<String>>,

    /// Who meets whom: all each other, or the first all others
    #[arg(long, value_enum, default_value = "round-robin")]
    tournament: TournamentKind,

    /// What openings and the levels' chance are drawn from
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,

    /// The file to whose end the games are written, in the format of the game: .pgn, .pdn, .sgf or .txt
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Prints one JSON object instead of a table
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

/// Who meets whom.
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
                .help("A player; at least two are needed")
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
        let sprt = self.sprt.as_deref().map(parse_sprt).transpose();
        let sprt = sprt.unwrap_or_else(|reason| exit_with_usage_error(reason));
        let adjudication = self
            .adjudication()
            .unwrap_or_else(|reason| exit_with_usage_error(reason));
        let entrants = self
            .engine_specs()
            .unwrap_or_else(|reason| exit_with_usage_error(reason));
        if sprt.is_some() && entrants.len() != 2 {
            exit_with_usage_error("--sprt is for two players");
        }
        let engine_match = self.build_match(entrants, adjudication)?;
        let stop = stop_on_interrupt_or_termination()?;
        // All programs are started before the first game. If a program cannot be started, the match
        // fails immediately. Otherwise the program would forfeit every one of its games.
        PlayerPool::new(engine_match.game, &engine_match.engines, adjudication).start_all(&stop)?;
        let mut scores = vec![PairingScore::default(); engine_match.pairings.len()];
        let progress = MatchProgress::new(engine_match.game_count())?;
        let mut left = engine_match.game_count();
        let threads = NonZeroUsize::new(self.concurrency.into()).expect("clap rejects 0");
        engine_match.play(
            threads,
            &stop,
            |FinishedGame {
                 slot: place,
                 game: played,
             }| {
                save_game(&played)?;
                left -= 1;
                let score = &mut scores[place.pairing];
                score.record_game(place.round, place.seat, &played);
                progress.record_game(|| build_report(&engine_match, &scores, sprt).to_summary());
                Ok(
                    match sprt.map(|sprt| sprt.verdict(&scores[place.pairing].pairs)) {
                        None | Some(Verdict::Undecided) => ControlFlow::Continue(()),
                        Some(Verdict::H0 | Verdict::H1) => {
                            left = 0;
                            ControlFlow::Break(())
                        }
                    },
                )
            },
        )?;
        progress.finish();
        let report = build_report(&engine_match, &scores, sprt);
        let text = if self.json {
            serde_json::to_string(&report).context("cannot write the report as JSON")?
        } else {
            report.to_string()
        };
        writeln!(io::stdout(), "{}", text.trim_end()).context("cannot write to stdout")?;
        ensure!(left == 0, "broken off: {left} games were not played");
        Ok(())
    }

    /// Builds the engines of the match. Returns an error message if the settings are invalid.
    fn engine_specs(&self) -> Result<Vec<EngineSpec>, String> {
        let mut engine_specs: Vec<EngineSpec> = Vec::new();
        for words in &self.engines.0 {
            let engine_spec = EngineSpec::from_settings(
                self.each.iter().chain(words),
                self.game.game_entry().engine_protocol,
            )?;
            if engine_specs
                .iter()
                .any(|other| other.name == engine_spec.name)
            {
                return Err(format!(
                    "two players are called {}: use name=",
                    engine_spec.name
                ));
            }
            engine_specs.push(engine_spec);
        }
        if engine_specs.len() < 2 {
            return Err("at least two players are needed".to_owned());
        }
        Ok(engine_specs)
    }

    /// Parses `--resign` and `--draw`. Returns an error message if a rule is invalid.
    fn adjudication(&self) -> Result<AdjudicationRules, String> {
        let resign = self.resign.as_deref().map(ResignRule::parse).transpose();
        let draw = self.draw.as_deref().map(DrawRule::parse).transpose();
        Ok(AdjudicationRules {
            resign: resign.map_err(|reason| format!("--resign: {reason}"))?,
            draw: draw.map_err(|reason| format!("--draw: {reason}"))?,
        })
    }

    fn build_match(
        &self,
        engine_specs: Vec<EngineSpec>,
        adjudication: AdjudicationRules,
    ) -> anyhow::Result<EngineMatch> {
        let rounds = self.games / 2;
        let openings = self
            .openings
            .load_openings(self.game.game_entry(), rounds, self.seed)?;
        if openings
            .iter()
            .any(|opening| !opening.start_position.is_empty())
        {
            let takes_moves = |engine_spec: &EngineSpec| matches!(&engine_spec.kind, EngineKind::Program(ProgramSpec { protocol, .. }) if *protocol != ProgramProtocol::Uci);
            if let Some(engine_spec) = engine_specs.iter().find(|entrant| takes_moves(entrant)) {
                bail!("{} can be told openings as moves only", engine_spec.name);
            }
        }
        let players = engine_specs.len();
        let pairings = match self.tournament {
            TournamentKind::Gauntlet => (1..players).map(|other| [0, other]).collect(),
            TournamentKind::RoundRobin => (0..players)
                .flat_map(|second| (0..second).map(move |first| [first, second]))
                .collect(),
        };
        Ok(EngineMatch {
            game: self.game.game_entry(),
            engines: engine_specs,
            pairings,
            openings,
            rounds,
            seed: self.seed,
            adjudication,
        })
    }
}

fn build_report(
    engine_match: &EngineMatch,
    scores: &[PairingScore],
    sprt: Option<Sprt>,
) -> MatchReport {
    MatchReport::new(engine_match, scores, sprt)
}

/// Progress display of a match: a bar on a terminal, otherwise occasional lines.
struct MatchProgress {
    bar: ProgressBar,
    /// Number of finished games between two progress lines, or `None` if a progress bar is shown.
    lines_interval: Option<u64>,
}

impl MatchProgress {
    fn new(games: usize) -> anyhow::Result<Self> {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {msg}")
            .context("cannot draw the progress bar")?;
        Ok(Self {
            bar: ProgressBar::new(games as u64).with_style(style),
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

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn parse_game_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(games) if (2..=GAMES_MAX).contains(&games) && games.is_multiple_of(2) => Ok(games),
        Ok(_) | Err(_) => Err(format!("an even number from 2 to {GAMES_MAX} is needed")),
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
        let (key, value) = word
            .split_once('=')
            .ok_or(format!("{word} is to be KEY=VALUE"))?;
        let number: f64 = value.parse().map_err(|_| format!("{value} is no number"))?;
        match key {
            "elo0" => sprt.elo0 = number,
            "elo1" => sprt.elo1 = number,
            "alpha" => sprt.alpha = number,
            "beta" => sprt.beta = number,
            _ => return Err(format!("{key} is none of elo0, elo1, alpha, beta")),
        }
    }
    let is_error_rate = |share: f64| share > 0.0 && share < 0.5;
    if sprt.elo0 < sprt.elo1 && is_error_rate(sprt.alpha) && is_error_rate(sprt.beta) {
        Ok(sprt)
    } else {
        Err("elo0 is to be below elo1, and alpha and beta between 0 and 0.5".to_owned())
    }
}
