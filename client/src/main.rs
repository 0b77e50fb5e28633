//! `ply`: the command-line client of Plyhouse, a server for two-player board games.
//!
//! | module | purpose |
//! | --- | --- |
//! | [`accounts`] | `ply register`, `rename`, `password`, `key` and `forget` |
//! | [`analysis`] | `ply analyse` |
//! | [`args`] | definition of the command line |
//! | [`ascii_fallback`] | replaces characters that an ASCII terminal cannot show |
//! | [`block_list`] | `ply block`, `unblock` and `blocked` |
//! | [`bot`] | `ply bot`: connects an engine to a seat |
//! | [`clock_notation`] | parses clocks such as `5+3` |
//! | [`config`] | settings from the configuration file |
//! | [`conventions`] | conventions of each game that the protocol does not describe |
//! | [`device_label`] | default name of this device |
//! | [`login_and_devices`] | `ply pair`, `login`, `recovery`, `devices` and `logout` |
//! | [`event_loop`] | event loop of a match: passes input and messages to the session and applies its effects |
//! | [`exit`] | failures and exit codes |
//! | [`history`] | `ply history`, `games` and `show` |
//! | [`identity_store`] | stores the players of this machine between runs |
//! | [`list_command`] | `ply list` |
//! | [`identity_selection`] | finds the local player with an interrupted match for `ply play` |
//! | [`match_state`] | state of a match: a snapshot and the events after it |
//! | [`password_prompt`] | reads passwords and API keys |
//! | [`player_profile`] | `ply profile` and `leaders` |
//! | [`raw_command`] | `ply raw` |
//! | [`reconnecting`] | connection that reconnects when it drops |
//! | [`request_client`] | connection for requests that are sent one at a time |
//! | [`sanitize`] | makes text from the server safe to print |
//! | [`screen`] | full-screen interface: keys, drawing and restoring the terminal |
//! | [`server_address`] | address of the server and the certificate authority to trust |
//! | [`session`] | state machine, without I/O, of one run of `ply play`, `join` or `watch` |
//! | [`line_terminal`] | line-based input and output |
//! | [`ui`] | interface of a match: lines or a full screen |
//! | [`view`] | renders boards, sentences and lists as text |

mod accounts;
mod analysis;
mod args;
mod ascii_fallback;
mod block_list;
mod bot;
mod clock_notation;
mod command_groups;
mod config;
mod conventions;
mod device_label;
mod event_loop;
mod exit;
mod history;
mod identity_selection;
mod identity_store;
mod line_terminal;
mod list_command;
mod login_and_devices;
mod match_state;
mod password_prompt;
mod player_profile;
mod raw_command;
mod reconnecting;
mod request_client;
mod sanitize;
mod screen;
mod server_address;
mod session;
mod ui;
mod view;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use args::{
    Arguments, ColorMode, Command, CommandContext, DEFAULT_GAME, KeyCommand, PlayArguments,
    WatchArguments, completion_command,
};
use command_groups::PROGRAM_HELP;
use event_loop::EventLoop;
use exit::{Failure, OutputResult};
use identity_store::{IdentityLock, IdentityQuery, IdentityStore, IdentityStoreError};
use line_terminal::{InputMode, Terminal};
use login_and_devices::{create_pairing_code, create_recovery_key, list_devices, log_in, log_out};
use plyhouse_protocol::{CreateRequest, SeatRequest};
use reconnecting::ReconnectingConnection;
use screen::{Screen, Theme};
use server_address::ServerAddress;
use session::{Goal, MatchSetup, Opponent, PlaySession, SessionOptions};
use ui::Ui;

/// Exit code for wrong usage, the same code that clap uses.
const USAGE_EXIT_CODE: u8 = 2;

fn main() -> ExitCode {
    let arguments = plyhouse_cli::arguments();
    let command = plyhouse_cli::prepare(Arguments::command(), &PROGRAM_HELP, &arguments);
    let matches = command.get_matches_from(arguments);
    let mut arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    // The commands that print completions or the manual need no settings. These commands must work
    // even if the configuration file is invalid.
    let needs_settings = !matches!(
        arguments.command,
        Command::Completions { .. } | Command::Manual { .. }
    );
    if needs_settings
        && let Err(error) = config::apply_config_file(&mut arguments.context, &matches)
    {
        // If standard error is closed, there is nowhere to report the failure.
        let _ = writeln!(anstream::stderr().lock(), "ply: {error}");
        return ExitCode::from(USAGE_EXIT_CODE);
    }
    let context = &mut arguments.context;
    color_choice(context.color).write_global();
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(|name| std::env::var(name).ok());
    context.ascii |= ascii_fallback::is_ascii_locale(locale);
    let in_ascii = context.ascii;
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
        let text = ascii_fallback::to_charset(&failure.to_string(), in_ascii);
        // If standard error is closed, there is nowhere to report the failure.
        let _ = writeln!(anstream::stderr().lock(), "ply: {text}");
    }
    failure.exit_code()
}

const fn color_choice(color: ColorMode) -> anstream::ColorChoice {
    match color {
        ColorMode::Auto => anstream::ColorChoice::Auto,
        ColorMode::Always => anstream::ColorChoice::Always,
        ColorMode::Never => anstream::ColorChoice::Never,
    }
}

/// Resolves a match link that was copied from a browser. The match code becomes the target of the
/// command, and the link also selects the server.
fn resolve_match_link(arguments: &mut Arguments) {
    let target = match &mut arguments.command {
        Command::Join { code } => Some(code),
        Command::Show { target, .. } | Command::Analyse { target, .. } => Some(target),
        Command::Watch(watch) => watch.target.as_mut(),
        Command::Bot(bot) => bot.join.as_mut(),
        _ => None,
    };
    if let Some(target) = target
        && let Some((server, code)) = args::parse_match_link(target)
    {
        *target = code;
        arguments.context.server.url = server;
    }
}

async fn run(mut arguments: Arguments) -> Result<(), Failure> {
    resolve_match_link(&mut arguments);
    let Arguments { command, context } = arguments;
    match command {
        Command::Play(play) => {
            let game = play.game.clone().unwrap_or_else(|| DEFAULT_GAME.to_owned());
            let query = IdentityQuery {
                game: Some(game),
                ..context.identity_query()
            };
            context.play(Goal::Play(match_setup(play)), query).await
        }
        Command::Join { code } => {
            let query = IdentityQuery {
                target: Some(code.clone()),
                ..context.identity_query()
            };
            context.play(Goal::Join(code), query).await
        }
        Command::Watch(watch) => {
            let series = watch.follow_rematches;
            context.watch(watch_goal(watch), series).await
        }
        Command::List { game, follow } => list_command::show_matches(&context, game, follow).await,
        Command::Bot(bot) => bot::run(&context, bot).await,
        Command::History(arguments) => history::show_history(&context, arguments).await,
        Command::Profile { player } => player_profile::show_profile(&context, player).await,
        Command::Leaders(arguments) => player_profile::show_leaderboard(&context, arguments).await,
        Command::Games => history::show_current_games(&context).await,
        Command::Show { target, ply } => history::show_match(&context, &target, ply).await,
        Command::Analyse { target, nodes } => {
            analysis::show_analysis(&context, &target, nodes).await
        }
        Command::Pair => create_pairing_code(&context).await,
        Command::Login { target, label } => log_in(&context, target, label).await,
        Command::Register {
            account_name,
            no_password,
            has_invitation,
        } => accounts::register(&context, account_name, !no_password, has_invitation).await,
        Command::Rename { account_name } => accounts::rename_player(&context, account_name).await,
        Command::Key(KeyCommand::Create { label, bot }) => {
            accounts::create_api_key(&context, label, bot).await
        }
        Command::Password => accounts::set_password(&context).await,
        Command::Recovery => create_recovery_key(&context).await,
        Command::Forget { yes } => accounts::delete_account(&context, yes).await,
        Command::Devices => list_devices(&context).await,
        Command::Logout { device, yes } => log_out(&context, device, yes).await,
        Command::Block { player } => block_list::set_blocked(&context, &player, true).await,
        Command::Unblock { player } => block_list::set_blocked(&context, &player, false).await,
        Command::Blocked => block_list::list_blocked(&context).await,
        Command::Raw => raw_command::run(&context.server).await,
        Command::Completions { shell } => Ok(print_completions(shell)?),
        Command::Manual { directory } => Ok(write_manual(&directory)?),
    }
}

fn print_completions(shell: clap_complete::Shell) -> OutputResult<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut completion_command(), "ply", &mut script);
    Ok(std::io::stdout().write_all(&script)?)
}

fn write_manual(directory: &Path) -> OutputResult<()> {
    std::fs::create_dir_all(directory)?;
    Ok(clap_mangen::generate_to(Arguments::command(), directory)?)
}

fn match_setup(play: PlayArguments) -> MatchSetup {
    let is_open = play.open || play.invited_player.is_some();
    let opponent = match (play.bot, is_open, play.seek) {
        (bot, _, true) => Some(Opponent::Anyone(bot)),
        (_, true, _) => Some(Opponent::Friend),
        (Some(level), ..) => Some(Opponent::Bot(Some(level))),
        (None, ..) => None,
    };
    MatchSetup {
        game: play.game,
        opponent,
        side: play.side,
        options: CreateRequest {
            clock: play.clock,
            absence_limit_ms: play.absence_limit.map(|seconds| seconds * 1000),
            stand_in: play.stand_in,
            invited: play.invited_player,
            spectator_access: play.spectator_access,
            spectator_delay_ms: play.spectator_delay.map(|seconds| seconds * 1000),
            takebacks_allowed: play.no_takeback.then_some(false),
            rated: play.rated.then_some(true),
            shows_bot_thinking: play.show_thinking.then_some(true),
            position: play.position,
            ..CreateRequest::default()
        },
    }
}

fn watch_goal(watch: WatchArguments) -> Goal {
    match (watch.bots, watch.target) {
        (Some(levels), game) => Goal::WatchBots(CreateRequest {
            game: game.unwrap_or_else(|| DEFAULT_GAME.to_owned()),
            seats: Some(levels.map(SeatRequest::Bot)),
            bot_delay_ms: Some(watch.min_move_interval_ms),
            position: watch.position,
            ..CreateRequest::default()
        }),
        (None, target) => Goal::Watch(target.unwrap_or_default()),
    }
}

impl CommandContext {
    /// Returns the query for the stored player that `--name` selects.
    fn identity_query(&self) -> IdentityQuery {
        IdentityQuery {
            name: self.name.clone(),
            ..IdentityQuery::default()
        }
    }

    /// Plays as the local player whose identity matches the query best.
    async fn play(self, goal: Goal, query: IdentityQuery) -> Result<(), Failure> {
        let interactive = line_terminal::is_interactive() && !self.json;
        let manner = if interactive {
            InputMode::Interactive
        } else {
            InputMode::Lines
        };
        let link = ReconnectingConnection::open(&self.server).await?;
        let mut ui = self.open_ui(manner)?;
        let identity = match lock_identity(&self.server, &query, &goal).await {
            Ok(slot) => Some(slot),
            Err(error) => {
                ui.print_error(&event_loop::unsaved_seat_text(&error))?;
                None
            }
        };
        let stored_name = identity.as_ref().and_then(IdentityLock::name);
        let options = SessionOptions {
            interactive,
            web_url: self.server.web_url(""),
            token: identity.as_ref().and_then(IdentityLock::token).cloned(),
            name: self.name.clone().or(stored_name.map(str::to_owned)),
            ..self.session_options()
        };
        let session = PlaySession::new(goal, options);
        EventLoop::new(session, link, ui, identity).run().await
    }

    /// Watches a match as a guest. A spectator has no seat, so no identity is stored.
    async fn watch(self, goal: Goal, follow_rematches: bool) -> Result<(), Failure> {
        let link = ReconnectingConnection::open(&self.server).await?;
        let ui = self.open_ui(InputMode::Disabled)?;
        let options = SessionOptions {
            follows_rematches: follow_rematches,
            ..self.session_options()
        };
        let session = PlaySession::new(goal, options);
        EventLoop::new(session, link, ui, None).run().await
    }

    fn session_options(&self) -> SessionOptions {
        SessionOptions {
            server_option: self.server.command_options(),
            name: self.name.clone(),
            is_board_visible: self.is_full_screen(),
            ..SessionOptions::default()
        }
    }

    /// Returns whether matches are shown on a full screen. This requires an interactive terminal
    /// that is large enough.
    fn is_full_screen(&self) -> bool {
        !self.plain
            && !self.json
            && line_terminal::is_interactive()
            && screen::is_terminal_supported()
    }

    fn open_ui(&self, manner: InputMode) -> OutputResult<Ui> {
        if self.is_full_screen() {
            let theme = Theme {
                ascii: self.ascii,
                colour: line_terminal::is_colour_enabled(),
            };
            let screen = Screen::new(theme, manner == InputMode::Disabled);
            return Ok(Ui::Screen(Box::new(screen)));
        }
        let terminal = Terminal::open(manner, self.json)?;
        Ok(Ui::Lines(terminal.with_ascii(self.ascii)))
    }
}

async fn lock_identity(
    server: &ServerAddress,
    query: &IdentityQuery,
    goal: &Goal,
) -> Result<IdentityLock, IdentityStoreError> {
    let identities = IdentityStore::open_for_server(&server.url)?;
    match goal {
        Goal::Play(plan) => {
            identity_selection::lock_identity_for_match(&identities, server, query, plan).await
        }
        Goal::Join(_) | Goal::Watch(_) | Goal::WatchBots(_) => {
            identities.lock_best(query, &[]).await
        }
    }
}
