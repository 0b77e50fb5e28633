//! Runs the operator's commands. Commands and results are exchanged through the store.
//!
//! Each server polls the store for new commands every second. Commands need no further
//! authentication, because a process that can write to the store already has the operator's rights.

use crate::context::infrastructure::Infrastructure;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{ErrorCode, PlayerId, PlayerKind, WireError};
use plyhouse_store::{
    CommandId, IdentityChanges, NameChange, OneTimeToken, PlayerRecord, TokenHash,
};
use serde::{Deserialize, Serialize};

use super::server_context::ServerContext;
use crate::auth::names;
use crate::auth::names::RegistrableName;
use crate::cluster::Packet;
use crate::players::account_deletion;
use crate::players::account_deletion::RunningMatchPolicy;
use crate::wire::error_replies::{store_read_error, store_write_error};
use crate::wire::to_protocol;

/// How often a server polls the store for commands.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How long a recovery key and an invitation are valid, in milliseconds.
const RECOVERY_KEY_TTL_MS: u64 = 24 * 3600 * 1000;
const INVITE_TTL_MS: u64 = 30 * 24 * 3600 * 1000;

/// Maximum number of recovery keys and invitations that are valid at the same time.
const ONE_TIME_TOKENS_MAX: usize = 1000;

/// A command from the operator. It contains hashes of secrets, never the secrets themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum AdminCommand {
    /// Adds a recovery key, which allows one login to the account.
    Recover {
        /// Name of the account.
        name: String,
        /// SHA-256 of the key, in hexadecimal.
        key: String,
    },
    /// Renames an account.
    Rename {
        /// Current name of the account.
        name: String,
        /// New name of the account.
        to: String,
    },
    /// Deletes an account in the same way as if the player had requested it.
    Close {
        /// Name of the account.
        name: String,
    },
    /// Excludes all matches that an account has played so far from the ratings.
    #[serde(rename = "unrate")]
    ExcludeFromRatings {
        /// Name of the account.
        name: String,
    },
    /// Adds an invitation, which allows one registration.
    Invite {
        /// SHA-256 of the invitation code, in hexadecimal.
        code: String,
    },
}

/// Result of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdminResult {
    /// The command succeeded.
    Done,
    /// The command failed. The string states the reason.
    Refused(String),
}

/// Polls for commands and executes them until the server stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    // An in-memory store is not polled, because only this process can write commands to it.
    while server.infra.store.accepts_commands() && !server.infra.tasks.is_stopping() {
        match server.infra.store.pending_commands().await {
            Ok(orders) => {
                for (id, body) in orders {
                    run_queued_command(&server, id, &body).await;
                }
            }
            Err(error) => tracing::debug!(%error, "cannot read admin commands"),
        }
        server.infra.sleep_unless_stopping(POLL_INTERVAL).await;
    }
}

async fn run_queued_command(server: &Arc<ServerContext>, id: CommandId, body: &str) {
    // If several servers poll the store, only one of them claims the command.
    if !matches!(server.infra.store.claim_command(id).await, Ok(true)) {
        return;
    }
    let result = match serde_json::from_str(body) {
        Ok(order) => execute(server, order).await,
        Err(_) => {
            AdminResult::Refused("the server runs a different version of plyhouse".to_owned())
        }
    };
    let answer = serde_json::to_string(&result).expect("an admin result serializes to JSON");
    if let Err(error) = server.infra.store.store_command_result(id, answer).await {
        tracing::warn!(%error, "cannot store the result of an admin command");
    }
}

/// Executes a command.
pub(crate) async fn execute(server: &Arc<ServerContext>, command: AdminCommand) -> AdminResult {
    tracing::info!(command = command.as_str(), "running an admin command");
    let result = match command {
        AdminCommand::Recover { name, key } => add_recovery_key(&server.infra, &name, &key).await,
        AdminCommand::Rename { name, to } => rename_account(server, &name, &to).await,
        AdminCommand::Close { name } => delete_account(server, &name).await,
        AdminCommand::ExcludeFromRatings { name } => {
            exclude_account_from_ratings(server, &name).await
        }
        AdminCommand::Invite { code } => {
            add_one_time_token(&server.infra, &code, None, INVITE_TTL_MS).await
        }
    };
    match result {
        Ok(()) => AdminResult::Done,
        Err(error) => AdminResult::Refused(error.message.into()),
    }
}

impl AdminCommand {
    const fn as_str(&self) -> &'static str {
        match self {
            Self::Recover { .. } => "recover",
            Self::Rename { .. } => "rename",
            Self::Close { .. } => "close",
            Self::ExcludeFromRatings { .. } => "unrate",
            Self::Invite { .. } => "invite",
        }
    }
}

async fn add_recovery_key(infra: &Infrastructure, name: &str, key: &str) -> Result<(), WireError> {
    let account = find_account(infra, name).await?;
    if account.kind == PlayerKind::Bot {
        return Err(refusal(
            "this is a bot account: its owner creates its API keys",
        ));
    }
    add_one_time_token(infra, key, Some(account.id), RECOVERY_KEY_TTL_MS).await
}

async fn add_one_time_token(
    infra: &Infrastructure,
    code: &str,
    player: Option<PlayerId>,
    ttl_ms: u64,
) -> Result<(), WireError> {
    let code = parse_hash(code);
    let code = code.ok_or_else(|| refusal("invalid hash: expected 64 hexadecimal digits"))?;
    let now_ms = infra.clock.now_ms();
    let token = OneTimeToken {
        player,
        expires_ms: now_ms + ttl_ms,
    };
    let (store, max) = (&infra.store, ONE_TIME_TOKENS_MAX);
    let added = store.add_one_time_token(code, token, now_ms, max).await;
    match added.map_err(store_write_error)? {
        true => Ok(()),
        false => {
            let message = format!("there are already {max} unused invitations and login links");
            Err(refusal(message))
        }
    }
}

/// Parses a hash of 64 hexadecimal digits.
fn parse_hash(text: &str) -> Option<TokenHash> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(TokenHash(bytes))
}

async fn rename_account(server: &ServerContext, name: &str, to: &str) -> Result<(), WireError> {
    let before = find_account(&server.infra, name).await?;
    let RegistrableName { name, skeletons } = names::parse_registrable_name(to)?;
    let account = server.infra.full_store.account(before.id).await;
    let account = account.map_err(store_read_error)?;
    let now_ms = server.infra.clock.now_ms();
    let record = PlayerRecord {
        name,
        ..before.clone()
    };
    let naming = NameChange {
        player: record.clone(),
        skeletons,
        invite: None,
        password: None,
        expected: (before.kind, account.and_then(|account| account.renamed_ms)),
        now_ms,
        old_name_reserved_until_ms: now_ms + names::NAME_RESERVATION_MS,
    };
    let named = server.infra.full_store.name_player(naming).await;
    if !named.map_err(store_write_error)? {
        return Err(refusal(
            "that name, or one that looks like it, is already taken",
        ));
    }
    // The player registry must hold the record that `store` returns. On a server without accounts,
    // `store` returns every player as a guest.
    let stored = server.infra.store.player_by_id(record.id).await;
    let record = stored.ok().flatten().unwrap_or(record);
    server.identity.players.update_record(&record);
    let player = to_protocol::player(&record);
    server.broadcast(&Packet::PlayerRenamed { player });
    Ok(())
}

async fn delete_account(server: &Arc<ServerContext>, name: &str) -> Result<(), WireError> {
    let record = find_account(&server.infra, name).await?;
    account_deletion::leave_live_matches(server, record.id, RunningMatchPolicy::Resign).await?;
    match account_deletion::delete_account(server, &record, None, None).await? {
        true => Ok(()),
        false => Err(account_not_found()),
    }
}

/// Marks the account as excluded from the ratings. The ratings are then recomputed without the
/// account's matches.
async fn exclude_account_from_ratings(server: &ServerContext, name: &str) -> Result<(), WireError> {
    let record = find_account(&server.infra, name).await?;
    let unrated = server.infra.store.exclude_from_ratings(record.id).await;
    unrated.map_err(store_write_error)?;
    server.matches.rating_wakeup.notify_one();
    Ok(())
}

/// Returns the account that currently has this name.
async fn find_account(infra: &Infrastructure, name: &str) -> Result<PlayerRecord, WireError> {
    let owner = names::current_owner(&*infra.full_store, infra.clock.now_ms(), name).await;
    let owner = owner.map_err(store_read_error)?;
    let player = owner.ok_or_else(account_not_found)?;
    let found = infra.full_store.player_by_id(player).await;
    let found = found.map_err(store_read_error)?;
    found.ok_or_else(account_not_found)
}

fn account_not_found() -> WireError {
    refusal("no account with this name")
}

/// Returns the error of a command that cannot be executed. The operator sees only its message.
fn refusal(message: impl Into<Box<str>>) -> WireError {
    WireError::new(ErrorCode::NotAllowed, message)
}
