//! `plyhouse account`: manages accounts for the operator.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use plyhouse_protocol::PlayerKind;
use plyhouse_server::{
    AdminCommand, AdminResult, SearchMode, Server, Settings, new_one_time_secret,
};
use plyhouse_store::{InspectedPlayer, Store, StoreInspector, StoreMetrics};

use crate::store_location::{Data, StoreLocation};

/// Maximum time that the server may take to execute an operator command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// How often `plyhouse account` checks whether the server has stored the result of an operator
/// command.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Manage player accounts
///
/// Works whether or not a server is running. A running server executes the command within seconds.
/// Write access to the store is sufficient; no password is required.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: AccountAction,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse account list
  plyhouse account recover ada
  plyhouse account invite --data /var/lib/plyhouse";

/// Explanation that `plyhouse account recover` prints together with the recovery key if `--url` is
/// not given.
const WITHOUT_URL: &str = "\
The login link is the server's address followed by /pair#KEY, such as \
https://play.example.org/pair#KEY. Pass --url to print the whole link. \
`ply login` accepts the key itself.";

/// Actions of `plyhouse account`.
#[derive(Debug, clap::Subcommand)]
enum AccountAction {
    /// List all accounts
    ///
    /// Prints one line per account, separated by tabs: name, kind (person or bot), number of
    /// sessions, day of last use, and id.
    List {
        #[command(flatten)]
        place: StoreLocation,
    },
    /// Print a one-time login link for an account
    ///
    /// The link is valid for 24 hours. For one hour after logging in with it, the player can set a
    /// new password without the old one. Without --url, only the key of the link is printed, which
    /// can be used like a recovery key.
    Recover {
        /// Name of the account
        name: String,

        /// Public URL of the server, such as `https://play.example.org`
        #[arg(long, env = "PLYHOUSE_URL", value_name = "URL", value_parser = url)]
        url: Option<String>,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// Rename an account
    ///
    /// The old name stays reserved for the account for 90 days.
    Rename {
        /// Current name of the account
        name: String,

        /// New name
        to: String,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// Delete an account permanently
    ///
    /// Ends its sessions, revokes its keys, deletes its bots and resigns its running matches. In
    /// all matches, `someone` replaces the name. The name cannot be registered again for 90 days.
    Close {
        /// Name of the account
        name: String,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// Exclude an account's past rated matches from all ratings
    ///
    /// The ratings of the account and of its opponents are recomputed without these matches.
    /// Matches that end later count again.
    Unrate {
        /// Name of the account
        name: String,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// Print an invitation code (for --accounts invite)
    ///
    /// The code is valid for one registration within 30 days.
    Invite {
        #[command(flatten)]
        place: StoreLocation,
    },
}

impl Args {
    /// Runs the action and prints its result.
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.action {
            AccountAction::List { place } => list(&*place.data()?.inspect()?),
            AccountAction::Recover { name, url, place } => {
                let (key, hash) = new_one_time_secret();
                admin_command(place, AdminCommand::Recover { name, key: hash })?;
                let Some(url) = url else {
                    // `WITHOUT_URL` is written to stderr, so that stdout contains only the recovery
                    // key.
                    let mut stderr = io::stderr();
                    writeln!(stderr, "{WITHOUT_URL}").context("cannot write to stderr")?;
                    return print_result(key.reveal());
                };
                print_result(&format!("{url}/pair#{}", key.reveal()))
            }
            AccountAction::Rename { name, to, place } => {
                admin_command(place, AdminCommand::Rename { name, to })
            }
            AccountAction::Close { name, place } => {
                admin_command(place, AdminCommand::Close { name })
            }
            AccountAction::Unrate { name, place } => {
                admin_command(place, AdminCommand::ExcludeFromRatings { name })
            }
            AccountAction::Invite { place } => {
                let (code, hash) = new_one_time_secret();
                admin_command(place, AdminCommand::Invite { code: hash })?;
                print_result(code.reveal())
            }
        }
    }
}

const NO_URL: &str =
    "expected http:// or https:// and a host, without a path, such as https://play.example.org";

/// Parses the URL of a server and removes slashes at its end.
fn url(text: &str) -> Result<String, String> {
    let url = text.trim_end_matches('/');
    let (scheme, host) = url.split_once("://").ok_or(NO_URL)?;
    let is_host = !host.is_empty() && !host.contains(['/', '#', '?', '@', ' ']);
    match scheme.to_ascii_lowercase().as_str() {
        scheme @ ("http" | "https") if is_host => Ok(format!("{scheme}://{host}")),
        _ => Err(NO_URL.to_owned()),
    }
}

fn print_result(text: &str) -> anyhow::Result<()> {
    writeln!(io::stdout(), "{text}").context("cannot write to stdout")
}

/// Prints all accounts.
fn list(archive: &dyn StoreInspector) -> anyhow::Result<()> {
    let mut last = None;
    loop {
        let players = archive.players_after(last)?;
        let Some(end) = players.last() else {
            return Ok(());
        };
        last = Some(end.player.id);
        for player in &players {
            if player.player.kind.is_account() {
                print_result(&line(player))?;
            }
        }
    }
}

fn line(person: &InspectedPlayer) -> String {
    let (player, sessions) = (&person.player, &person.sessions);
    let kind = match player.kind {
        PlayerKind::Guest | PlayerKind::Account => "person",
        PlayerKind::Bot => "bot",
    };
    let seen = sessions.iter().map(|session| session.last_used_day).max();
    let seen = seen.map_or_else(|| "-".to_owned(), plyhouse_matches::game_record::day_text);
    let (name, count) = (&player.name, sessions.len());
    format!("{name}\t{kind}\t{count}\t{seen}\t{}", player.id)
}

/// Executes an operator command. If a server uses the store, the command is queued for that server.
/// Otherwise, this process executes the command itself.
fn admin_command(place: StoreLocation, order: AdminCommand) -> anyhow::Result<()> {
    let data = place.data()?;
    // Checks that the store exists, because opening a missing store would create it.
    data.inspect()?;
    let runtime = super::current_thread_runtime()?;
    let unused = runtime.block_on(data.open_if_unused())?;
    let obeyed = match unused {
        Some(store) => runtime.block_on(run_command(store.into(), order))?,
        None => queue_command(&data, &order)?,
    };
    match obeyed {
        AdminResult::Done => Ok(()),
        AdminResult::Refused(why) => bail!("{why}"),
    }
}

/// Executes an operator command with a temporary server that accepts no connections.
async fn run_command(store: Arc<dyn Store>, order: AdminCommand) -> anyhow::Result<AdminResult> {
    let settings = Settings {
        search: SearchMode::Inline,
        ..Settings::default()
    };
    let started = Server::start(settings, store, &StoreMetrics::default());
    let server = started.context("cannot start the search threads")?;
    let obeyed = server.run_admin_command(order).await;
    server.stop().await;
    Ok(obeyed)
}

/// Queues an operator command for the server that uses the store, and waits for the result.
#[expect(
    clippy::disallowed_methods,
    reason = "it waits for another process, by that process's clock"
)]
fn queue_command(data: &Data, order: &AdminCommand) -> anyhow::Result<AdminResult> {
    let queue = data.admin_queue()?;
    let order = serde_json::to_string(order).context("cannot encode the command")?;
    let id = queue.enqueue(&order)?;
    let until = Instant::now() + COMMAND_TIMEOUT;
    loop {
        if let Some(answer) = queue.find_result(id)? {
            queue.withdraw(id)?;
            return serde_json::from_str(&answer)
                .context("the server runs a different version of plyhouse");
        }
        if Instant::now() >= until {
            break;
        }
        sleep(POLL_INTERVAL);
    }
    match queue.withdraw(id)? {
        false => bail!("the server did not execute the command in time; nothing was changed"),
        true => bail!("no result from the server in time; check the outcome before retrying"),
    }
}
