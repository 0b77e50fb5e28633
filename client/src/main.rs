//! `ply`: play on a Plyhouse server from a terminal.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`args`] | what can be said on the command line |
//! | [`conduct`] | the loop of a match: what comes goes to the session, what it says is done |
//! | [`session`] | one run as a state machine without I/O: questions, match, refusals, reconnection |
//! | [`table`] | a match as this side knows it: a snapshot, and the events since |
//! | [`view`] | what is shown: board, sentences, list, colours |
//! | [`customs`] | what single games need beside what the wire tells |
//! | [`config`] | settings from a file |
//! | [`clock`] | clocks as they are written |
//! | [`harmless`] | what others wrote, made safe to show |
//! | [`server`] | which server is meant, and whose word is taken for it |
//! | [`link`] | the connection, made again when it drops |
//! | [`ascii`] | other signs for terminals without these |
//! | [`face`] | what is seen of a match: lines or a full screen |
//! | [`terminal`] | where text is written, and where lines come from |
//! | [`screen`] | the full screen: what keys do, how it is drawn, and the terminal that is given back |
//! | [`identity`] | the players of this machine, kept from one run to the next |
//! | [`scout`] | which of them has the match that is meant |
//! | [`list`], [`raw`] | `ply list` and `ply raw`, whole |
//! | [`past`] | `ply history`, `games`, `show` |
//! | [`profile`] | `ply profile` |
//! | [`analysis`] | `ply analyse` |
//! | [`device`] | what this device is called |
//! | [`devices`] | `ply pair`, `login`, `recovery`, `devices`, `logout` |
//! | [`dialogue`] | a connection on which one thing is asked after the other |
//! | [`bot`] | `ply bot`: an engine in a seat |
//! | [`failure`] | why `ply` stops early, and its exit codes |

mod accounts;
mod analysis;
mod args;
mod ascii;
mod blocks;
mod bot;
mod clock;
mod conduct;
mod config;
mod customs;
mod device;
mod devices;
mod dialogue;
mod face;
mod failure;
mod harmless;
mod identity;
mod link;
mod list;
mod past;
mod profile;
mod raw;
mod scout;
mod screen;
mod secret;
mod server;
mod session;
mod table;
mod terminal;
mod view;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::{CommandFactory as _, FromArgMatches as _};

use args::{
    Arguments, Command, DEFAULT_GAME, KeyCommand, PlayArguments, WatchArguments, When,
    for_completion,
};
use conduct::Conduct;
use face::Face;
use failure::{Failure, unwritable};
use identity::{IdentityLock, Slots, Wish};
use link::Link;
use plyhouse_protocol::{LeaderboardRequest, PlayerName};
use screen::{Screen, Theme};
use server::Server;
use session::{Goal, Opponent, Plan, Session, Terms};
use terminal::{Manner, Terminal};

/// The exit code of wrong usage, which is clap's.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let said = without_empty_variables(Arguments::command()).get_matches();
    let mut arguments = Arguments::from_arg_matches(&said).unwrap_or_else(|error| error.exit());
    // What is only printed needs no settings, and is wanted by whoever puts them right, too.
    let needs_settings = !matches!(
        arguments.command,
        Command::Completions { .. } | Command::Manual { .. }
    );
    if needs_settings && let Err(wrong) = config::fill(&mut arguments, &said) {
        // Nothing can be done if standard error is closed.
        let _ = writeln!(anstream::stderr().lock(), "ply: {wrong}");
        return ExitCode::from(USAGE);
    }
    choice_of(arguments.color).write_global();
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(|name| std::env::var(name).ok());
    arguments.ascii |= ascii::is_ascii_locale(locale);
    let in_ascii = arguments.ascii;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)),
        Err(error) => Err(Failure::Failed(format!("cannot start: {error}"))),
    };
    let Err(failure) = result else {
        return ExitCode::SUCCESS;
    };
    if failure != Failure::Stopped {
        let mut text = failure.to_string();
        if in_ascii {
            text = ascii::ascii(&text);
        }
        // Nothing can be done if standard error is closed.
        let _ = writeln!(anstream::stderr().lock(), "ply: {text}");
    }
    failure.exit_code()
}

/// The command line without the environment variables that are empty: they count as absent.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        match value.is_some_and(|value| value.is_empty()) {
            true => arg.env(Resettable::Reset),
            false => arg,
        }
    })
}

const fn choice_of(color: When) -> anstream::ColorChoice {
    match color {
        When::Auto => anstream::ColorChoice::Auto,
        When::Always => anstream::ColorChoice::Always,
        When::Never => anstream::ColorChoice::Never,
    }
}

/// What is to be done, and how the server is visited for it.
fn begun(arguments: Arguments) -> (Command, Visit) {
    let Arguments {
        command,
        server,
        ca,
        name,
        ascii,
        plain,
        json,
        color: _,
    } = arguments;
    let (command, server) = followed(command, server);
    let visit = Visit {
        name: name.map(|name| name.as_str().to_owned()),
        ascii,
        plain,
        json,
        server: Server::new(server, ca),
    };
    (command, visit)
}

/// A link to a match, as a browser shows it, names the server, too.
fn followed(command: Command, server: String) -> (Command, String) {
    let mut command = command;
    let target = match &mut command {
        Command::Join { code } => Some(code),
        Command::Show { target, .. } | Command::Analyse { target, .. } => Some(target),
        Command::Watch(watch) => watch.target.as_mut(),
        Command::Bot(bot) => bot.join.as_mut(),
        _ => None,
    };
    let linked = target.and_then(|target| {
        let (server, code) = args::link(target)?;
        *target = code;
        Some(server)
    });
    (command, linked.unwrap_or(server))
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let (command, visit) = begun(arguments);
    match command {
        Command::Play(play) => {
            let game = play.game.clone().unwrap_or_else(|| DEFAULT_GAME.to_owned());
            let wish = wish(&visit, None, Some(game));
            visit.play(Goal::Play(plan(play)), wish).await
        }
        Command::Join { code } => {
            let wish = wish(&visit, Some(code.clone()), None);
            visit.play(Goal::Join(code), wish).await
        }
        Command::Watch(watch) => {
            let series = watch.series;
            visit.watch(watch_goal(watch), series).await
        }
        Command::List { game, follow } => list::run(&visit, game, follow).await,
        Command::Bot(bot) => bot::run(&visit, bot).await,
        Command::History(asked) => past::history(&visit, asked).await,
        Command::Profile { who } => profile::show(&visit, who).await,
        Command::Leaders {
            game,
            pool,
            after,
            limit,
        } => {
            let asked = LeaderboardRequest {
                game,
                pool: Some(pool),
                limit: Some(limit),
                after,
            };
            profile::leaders(&visit, asked).await
        }
        Command::Games => past::games(&visit).await,
        Command::Show { target, ply } => past::show(&visit, &target, ply).await,
        Command::Analyse { target, nodes } => analysis::show(&visit, &target, nodes).await,
        Command::Pair => devices::pair(&visit).await,
        Command::Login { who, label } => {
            let label = label.map(|label| label.as_str().to_owned());
            devices::login(&visit, who, label).await
        }
        Command::Register {
            called,
            no_password,
            invited,
        } => {
            let called = called.as_str().to_owned();
            accounts::register(&visit, called, !no_password, invited).await
        }
        Command::Rename { called } => accounts::rename(&visit, called.as_str().to_owned()).await,
        Command::Key(KeyCommand::Create { label, bot }) => {
            let text = |name: PlayerName| name.as_str().to_owned();
            accounts::create_key(&visit, label.map(text), bot.map(text)).await
        }
        Command::Password => accounts::password(&visit).await,
        Command::Recovery => devices::recovery(&visit).await,
        Command::Forget { yes } => accounts::forget(&visit, yes).await,
        Command::Devices => devices::devices(&visit).await,
        Command::Logout { which, yes } => devices::logout(&visit, which, yes).await,
        Command::Block { who } => blocks::set(&visit, &who, true).await,
        Command::Unblock { who } => blocks::set(&visit, &who, false).await,
        Command::Blocked => blocks::list(&visit).await,
        Command::Raw => raw::run(&visit.server).await,
        Command::Completions { shell } => completions(shell),
        Command::Manual { directory } => manual(&directory),
    }
}

fn wish(visit: &Visit, target: Option<String>, game: Option<String>) -> Wish {
    Wish {
        name: visit.name.clone(),
        target,
        game,
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut for_completion(), "ply", &mut script);
    std::io::stdout().write_all(&script).map_err(unwritable)
}

fn manual(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), directory))
        .map_err(unwritable)
}

fn plan(play: PlayArguments) -> Plan {
    let is_open = play.open || play.invited.is_some();
    let opponent = match (play.bot, is_open, play.seek) {
        (bot, _, true) => Some(Opponent::Anyone(bot)),
        (_, true, _) => Some(Opponent::Friend),
        (Some(level), ..) => Some(Opponent::Bot(Some(level))),
        (None, ..) => None,
    };
    Plan {
        game: play.game,
        opponent,
        side: play.side,
        terms: Terms {
            clock: play.clock,
            patience_ms: play.patience.map(|seconds| seconds * 1000),
            stand_in: play.stand_in,
            invited: play.invited,
            watch: play.watch,
            delay_ms: play.delay.map(|seconds| seconds * 1000),
            takeback: play.no_takeback.then_some(false),
            rated: play.rated.then_some(true),
            thinking: play.thinking.then_some(true),
            position: play.position,
        },
    }
}

fn watch_goal(watch: WatchArguments) -> Goal {
    match (watch.bots, watch.target) {
        (Some(levels), game) => Goal::Exhibit {
            game: game.unwrap_or_else(|| DEFAULT_GAME.to_owned()),
            levels,
            pace_ms: watch.pace,
            position: watch.position,
        },
        (None, target) => Goal::Watch(target.unwrap_or_default()),
    }
}

/// Where to, as whom, and in what manner.
#[derive(Debug)]
struct Visit {
    server: Server,
    name: Option<String>,
    ascii: bool,
    plain: bool,
    json: bool,
}

impl Visit {
    /// Plays as the player whose slot fits the wish best.
    async fn play(self, goal: Goal, wish: Wish) -> Result<(), Failure> {
        let interactive = terminal::is_person() && !self.json;
        let manner = if interactive {
            Manner::Conversation
        } else {
            Manner::Script
        };
        let link = Link::open(&self.server).await?;
        let full = self.is_full_screen();
        let mut face = self.face(manner)?;
        let slot = match take_slot(&self.server, &wish, &goal).await {
            Ok(slot) => Some(slot),
            Err(reason) => {
                let text = format!("your seat cannot be kept past this run: {reason}");
                face.complain(&text).map_err(unwritable)?;
                None
            }
        };
        let token = slot.as_ref().and_then(IdentityLock::token).cloned();
        let kept = slot
            .as_ref()
            .and_then(IdentityLock::name)
            .map(str::to_owned);
        let name = self.name.clone().or(kept);
        let session = Session::new(goal, interactive, self.server.option(), name, token);
        let session = session.with_page(self.server.page(""));
        let session = session.with_board_in_sight(full);
        Conduct::new(session, link, face, slot).run().await
    }

    /// Looks on, as a guest: spectators hold nothing that would have to be kept.
    async fn watch(self, goal: Goal, series: bool) -> Result<(), Failure> {
        let link = Link::open(&self.server).await?;
        let face = self.face(Manner::Silence)?;
        let full = self.is_full_screen();
        let session = Session::new(goal, false, self.server.option(), self.name, None);
        let session = session.watching_series(series).with_board_in_sight(full);
        Conduct::new(session, link, face, None).run().await
    }

    /// Whether matches are shown on a full screen: to a person, in a terminal that has room for it.
    fn is_full_screen(&self) -> bool {
        !self.plain && !self.json && terminal::is_person() && screen::has_room()
    }

    fn face(&self, manner: Manner) -> Result<Face, Failure> {
        if self.is_full_screen() {
            let look = Theme {
                ascii: self.ascii,
                colour: terminal::has_colour(),
            };
            let screen = Screen::new(look, manner == Manner::Silence);
            return Ok(Face::Screen(Box::new(screen)));
        }
        let terminal = Terminal::open(manner, self.json).map_err(unwritable)?;
        Ok(Face::Lines(terminal.in_ascii(self.ascii)))
    }
}

async fn take_slot(server: &Server, wish: &Wish, goal: &Goal) -> Result<IdentityLock, String> {
    let slots = Slots::of(&server.url).map_err(|error| error.to_string())?;
    let taken = match goal {
        Goal::Play(plan) => scout::take_slot(&slots, server, wish, plan).await,
        Goal::Join(_) | Goal::Watch(_) | Goal::Exhibit { .. } => slots.take(wish, &[]).await,
    };
    match taken {
        Ok(Some(slot)) => Ok(slot),
        Ok(None) => Err("all places for identities are taken".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
