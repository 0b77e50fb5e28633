//! What the operator asks for, from another process: it comes through the store, and so does the answer.
//!
//! A server looks for it every second, so that it obeys soon. There is no other way in: whoever can write to the
//! store is the operator.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{PlayerId, PlayerKind, WireError};
use plyhouse_store::{Naming, OneTimeToken, OrderId, PlayerRecord, TokenHash};
use serde::{Deserialize, Serialize};

use super::server_context::ServerContext;
use crate::auth::names;
use crate::auth::names::Registrable;
use crate::cluster::Packet;
use crate::players::account_deletion;
use crate::players::account_deletion::Running;
use crate::wire::error_replies::{unkept, unread};
use crate::wire::to_protocol;

/// How often a server looks for orders.
const LOOK: Duration = Duration::from_secs(1);

/// For how long what `recover` prints is good, and an invitation, in milliseconds.
const LINK_MS: u64 = 24 * 3600 * 1000;
const INVITE_MS: u64 = 30 * 24 * 3600 * 1000;

/// How many of both may be good at a time.
const PASSES_MAX: usize = 1000;

/// What the operator may ask for. Secrets stay with the operator: only what they are known by is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum AdminCommand {
    /// To let whoever has this key come back as that account, once.
    Recover {
        /// The account's name.
        name: String,
        /// The SHA-256 of the key, in hexadecimal.
        key: String,
    },
    /// To call an account otherwise.
    Rename {
        /// Its name.
        name: String,
        /// The new one.
        to: String,
    },
    /// To end an account, as its player could.
    Close {
        /// Its name.
        name: String,
    },
    /// To take all matches of an account up to now out of the ratings.
    Unrate {
        /// Its name.
        name: String,
    },
    /// To let whoever has this code register, once.
    Invite {
        /// The SHA-256 of the code, in hexadecimal.
        code: String,
    },
}

/// What has come of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdminResult {
    /// It is done.
    Done,
    /// It is not, for this reason.
    Refused(String),
}

/// Obeys what is ordered, until the server stops.
pub(crate) async fn obey(server: Arc<ServerContext>) {
    // What is in memory alone nobody else can write to.
    while server.store.takes_orders() && !server.is_stopping() {
        match server.store.orders().await {
            Ok(orders) => {
                for (id, body) in orders {
                    obey_one(&server, id, &body).await;
                }
            }
            Err(error) => tracing::debug!(%error, "orders are not read"),
        }
        server.sleep_unless_stopping(LOOK).await;
    }
}

async fn obey_one(server: &Arc<ServerContext>, id: OrderId, body: &str) {
    // Of several servers one does it.
    if !matches!(server.store.take_order(id).await, Ok(true)) {
        return;
    }
    let obeyed = match serde_json::from_str(body) {
        Ok(order) => carry_out(server, order).await,
        Err(_) => AdminResult::Refused("the server is of another version".to_owned()),
    };
    let answer = serde_json::to_string(&obeyed).expect("it is plain data");
    if let Err(error) = server.store.answer_order(id, answer).await {
        tracing::warn!(%error, "an order is not answered");
    }
}

/// Does what the operator asks for.
pub(crate) async fn carry_out(server: &Arc<ServerContext>, order: AdminCommand) -> AdminResult {
    tracing::info!(order = order.word(), "the operator's order");
    let done = match order {
        AdminCommand::Recover { name, key } => recover(server, &name, &key).await,
        AdminCommand::Rename { name, to } => rename(server, &name, &to).await,
        AdminCommand::Close { name } => close(server, &name).await,
        AdminCommand::Unrate { name } => unrate(server, &name).await,
        AdminCommand::Invite { code } => add_pass(server, &code, None, INVITE_MS).await,
    };
    match done {
        Ok(()) => AdminResult::Done,
        Err(why) => AdminResult::Refused(why),
    }
}

impl AdminCommand {
    const fn word(&self) -> &'static str {
        match self {
            Self::Recover { .. } => "recover",
            Self::Rename { .. } => "rename",
            Self::Close { .. } => "close",
            Self::Unrate { .. } => "unrate",
            Self::Invite { .. } => "invite",
        }
    }
}

async fn recover(server: &ServerContext, name: &str, key: &str) -> Result<(), String> {
    let account = account(server, name).await?;
    if account.kind == PlayerKind::Bot {
        return Err("it is the account of a program, which its owner gives keys".to_owned());
    }
    add_pass(server, key, Some(account.id), LINK_MS).await
}

async fn add_pass(
    server: &ServerContext,
    code: &str,
    player: Option<PlayerId>,
    good_ms: u64,
) -> Result<(), String> {
    let code = hash(code).ok_or("that is no hash")?;
    let now_ms = server.clock.now_ms();
    let pass = OneTimeToken {
        player,
        expires_ms: now_ms + good_ms,
    };
    let added = server.store.add_pass(code, pass, now_ms, PASSES_MAX).await;
    match added.map_err(|error| refused(&unkept(error)))? {
        true => Ok(()),
        false => Err(format!("{PASSES_MAX} of them are good already")),
    }
}

/// The bytes of a hash.
fn hash(text: &str) -> Option<TokenHash> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(TokenHash(bytes))
}

async fn rename(server: &ServerContext, name: &str, to: &str) -> Result<(), String> {
    let before = account(server, name).await?;
    let Registrable { name, likenesses } =
        names::registrable(to).map_err(|error| refused(&error))?;
    let account = server.full_store.account(before.id).await;
    let account = account.map_err(|error| refused(&unread(&error)))?;
    let now_ms = server.clock.now_ms();
    let record = PlayerRecord {
        name,
        ..before.clone()
    };
    let naming = Naming {
        player: record.clone(),
        likenesses,
        invite: None,
        password: None,
        before: (before.kind, account.and_then(|account| account.renamed_ms)),
        now_ms,
        kept_until_ms: now_ms + names::KEPT_MS,
    };
    let named = server.full_store.name_player(naming).await;
    if !named.map_err(|error| refused(&unkept(error)))? {
        return Err("somebody else has this name, or one that looks like it".to_owned());
    }
    // Where nobody has an account, this is no account either.
    let seen = server.store.player_by_id(record.id).await;
    let record = seen.ok().flatten().unwrap_or(record);
    server.players.call(&record);
    if let Some(cluster) = &server.cluster {
        let player = to_protocol::player(&record);
        cluster.send_all(&Packet::PlayerRenamed { player });
    }
    Ok(())
}

async fn close(server: &Arc<ServerContext>, name: &str) -> Result<(), String> {
    let record = account(server, name).await?;
    let left = account_deletion::leave(server, record.id, Running::IsResigned).await;
    left.map_err(|error| refused(&error))?;
    let forgotten = account_deletion::forget(server, &record, None, None).await;
    match forgotten.map_err(|error| refused(&error))? {
        true => Ok(()),
        false => Err(no_account()),
    }
}

/// From then on the ledger is folded anew without that account's matches.
async fn unrate(server: &ServerContext, name: &str) -> Result<(), String> {
    let record = account(server, name).await?;
    let unrated = server.store.exclude_from_ratings(record.id).await;
    unrated.map_err(|error| refused(&unkept(error)))?;
    server.rating_wakeup.wake();
    Ok(())
}

/// The account of this name.
async fn account(server: &ServerContext, name: &str) -> Result<PlayerRecord, String> {
    let named = names::owner_of_name(&*server.full_store, server.clock.now_ms(), name).await;
    let named = named.map_err(|error| refused(&unread(&error)))?;
    let own = named
        .filter(|(_, is_own)| *is_own)
        .map(|(player, _)| player);
    let player = own.ok_or_else(no_account)?;
    let found = server.full_store.player_by_id(player).await;
    let found = found.map_err(|error| refused(&unread(&error)))?;
    found.ok_or_else(no_account)
}

fn no_account() -> String {
    "there is no account of this name".to_owned()
}

fn refused(error: &WireError) -> String {
    error.message.to_string()
}
