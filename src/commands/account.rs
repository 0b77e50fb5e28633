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
use tokio::runtime::Builder;

use crate::store_location::{Data, StoreLocation};

/// Maximum time that the server may take to execute an operator command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// How often `plyhouse account` checks whether the server has stored the result of an operator
/// command.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Lists accounts, lets their players back in, renames and closes them, and invites people.
///
/// It works while a server runs on the store, which then obeys within seconds, and while none does. Whoever can
/// write to the store may use it: there is no password.
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
A link is this key with the address of the server and `/pair#` before it, as https://play.example.org/pair#KEY; \
with --url https://play.example.org it is printed whole. `ply login` takes the key itself.";

/// What is to be done.
#[derive(Debug, clap::Subcommand)]
enum AccountAction {
    /// Print the accounts: name, kind, sessions, the day on which one was used last, id
    List {
        #[command(flatten)]
        place: StoreLocation,
    },
    /// Print a link by which somebody comes back as an account, once, within 24 hours; within an hour after that
    /// they may set another password. Without --url it is the key in the link, good where a recovery key is
    Recover {
        /// The account
        name: String,

        /// Where players find the server, as `https://play.example.org`
        #[arg(long, env = "PLYHOUSE_URL", value_name = "URL", value_parser = url)]
        url: Option<String>,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// Give an account another name. The one before stays reserved for it for 90 days
    Rename {
        /// The account
        name: String,

        /// The new name
        to: String,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// End an account: its sessions, keys and programs. What runs is resigned, and `someone` stands for the name
    /// in all matches, for good. Nobody else gets the name for 90 days
    Close {
        /// The account
        name: String,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// Take all rated matches of an account up to now out of the ratings, its own and those of others, which are
    /// reckoned anew without them
    Unrate {
        /// The account
        name: String,

        #[command(flatten)]
        place: StoreLocation,
    },
    /// Print an invitation, with which one person registers within 30 days where `--accounts invite` is set
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
                admin_command(&place.data()?, AdminCommand::Recover { name, key: hash })?;
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
                admin_command(&place.data()?, AdminCommand::Rename { name, to })
            }
            AccountAction::Close { name, place } => {
                admin_command(&place.data()?, AdminCommand::Close { name })
            }
            AccountAction::Unrate { name, place } => {
                admin_command(&place.data()?, AdminCommand::ExcludeFromRatings { name })
            }
            AccountAction::Invite { place } => {
                let (code, hash) = new_one_time_secret();
                admin_command(&place.data()?, AdminCommand::Invite { code: hash })?;
                print_result(code.reveal())
            }
        }
    }
}

const NO_URL: &str = "it is no address as https://play.example.org";

/// Parses the URL of a server and removes slashes at its end.
fn url(text: &str) -> Result<String, String> {
    let url = text.trim_end_matches('/');
    let is_host = |host: &str| !host.is_empty() && !host.contains(['/', '#', '?', '@', ' ']);
    match url.split_once("://") {
        Some((scheme, host)) if is_host(host) => match scheme.to_ascii_lowercase().as_str() {
            scheme @ ("http" | "https") => Ok(format!("{scheme}://{host}")),
            _ => Err(NO_URL.to_owned()),
        },
        Some(_) | None => Err(NO_URL.to_owned()),
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
    let InspectedPlayer {
        player, sessions, ..
    } = person;
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
fn admin_command(data: &Data, order: AdminCommand) -> anyhow::Result<()> {
    // Checks that the store exists, because opening a missing store would create it.
    data.inspect()?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot wait for the store")?;
    let unused = runtime.block_on(data.open_if_unused())?;
    let obeyed = match unused {
        Some(store) => runtime.block_on(run_command(store.into(), order))?,
        None => queue_command(data, &order)?,
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
    let server = started.context("cannot open the store")?;
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
    let order = serde_json::to_string(order).context("cannot write the order")?;
    let id = queue.enqueue(&order)?;
    let until = Instant::now() + COMMAND_TIMEOUT;
    loop {
        if let Some(answer) = queue.find_result(id)? {
            queue.withdraw(id)?;
            return serde_json::from_str(&answer).context("the server is of another version");
        }
        if Instant::now() >= until {
            break;
        }
        sleep(POLL_INTERVAL);
    }
    match queue.withdraw(id)? {
        false => bail!("the server that uses the store does not obey; nothing was done"),
        true => bail!("the server has not said what has come of it: look whether it is done"),
    }
}
