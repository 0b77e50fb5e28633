//! Exports all data stored about a player to that player.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_matches::game_record::day_text;
use plyhouse_protocol::{MatchId, PlayerId, SessionKind, Token};
use plyhouse_store::{HistoryQuery, PastMatch, PlayerRating, PlayerRecord, ReadError};
use serde_json::{Value, json};

use crate::auth::tokens;
use crate::context::clock_and_rng::now;
use crate::context::server_context::ServerContext;
use crate::players::player_lookup;
use crate::wire::to_protocol;

/// Maximum number of matches on a page of the export.
const PAGE_SIZE: usize = 100;

/// Credentials of the client that requests an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportRequester {
    /// Session token.
    Token(Token),
    /// User name assigned by a trusted proxy.
    ProxyUser(String),
}

/// Reasons why an export fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The credentials belong to no player, or the token is an API key. API keys may not request
    /// exports.
    #[error("expected a session token in `Authorization: Bearer TOKEN`; API keys are not accepted")]
    Unauthorized,
    /// The player requested another export too recently. The duration is the time until the next
    /// export is allowed.
    #[error("you can download your data once a minute")]
    TooSoon(Duration),
    /// The store cannot be read.
    #[error("cannot read from the store; try again shortly")]
    StoreUnavailable,
}

/// Export of a player's data in pages. Each line of a page is a JSON object.
#[derive(Debug)]
pub struct DataExport {
    server: Arc<ServerContext>,
    player: PlayerId,
    state: ExportState,
}

/// State of an export, which determines the contents of the next page.
#[derive(Debug)]
enum ExportState {
    FirstPage(String),
    EndedMatches(Option<MatchId>),
    Finished,
}

impl DataExport {
    /// Identifies the player by the credentials and starts the export.
    pub(crate) async fn open(
        server: &Arc<ServerContext>,
        requester: ExportRequester,
    ) -> Result<Self, ExportError> {
        let player = find_player(server, requester).await?;
        let player = player.ok_or(ExportError::Unauthorized)?;
        let rate_limit = &server.limits.export_rate_limit;
        let acquired = rate_limit.try_acquire(player.id, now());
        acquired.map_err(ExportError::TooSoon)?;
        let first_page = player_page(server, &player).await.map_err(store_error)?;
        Ok(Self {
            server: Arc::clone(server),
            player: player.id,
            state: ExportState::FirstPage(first_page),
        })
    }

    /// Returns the next page, or `None` after the last page.
    pub async fn next_page(&mut self) -> Option<Result<String, ExportError>> {
        match std::mem::replace(&mut self.state, ExportState::Finished) {
            ExportState::Finished => None,
            ExportState::FirstPage(page) => {
                self.state = ExportState::EndedMatches(None);
                Some(Ok(page))
            }
            ExportState::EndedMatches(before) => {
                let query = HistoryQuery {
                    before,
                    ..HistoryQuery::for_player(self.player, PAGE_SIZE)
                };
                let found = match self.server.store().history(query).await {
                    Ok(found) => found.unwrap_or_default(),
                    Err(error) => return Some(Err(store_error(error))),
                };
                let last = found.last()?.creation.id;
                self.state = ExportState::EndedMatches(Some(last));
                let to_line = |past: &PastMatch| {
                    let row = serde_json::to_value(to_protocol::history_row(past));
                    let mut row = row.expect("a history row serializes to JSON");
                    row["type"] = "match".into();
                    row
                };
                Some(Ok(to_page(found.iter().map(to_line))))
            }
        }
    }
}

/// Finds the player by the credentials. API keys are not accepted.
async fn find_player(
    server: &ServerContext,
    requester: ExportRequester,
) -> Result<Option<PlayerRecord>, ExportError> {
    let token = match requester {
        ExportRequester::ProxyUser(name) => {
            let found = server.store().find_external_identity(name).await;
            return found.map_err(store_error);
        }
        ExportRequester::Token(token) => tokens::hash_token(&token),
    };
    if let Some((record, _)) = server.identity.players.find_guest_by_token(token) {
        return Ok(Some(record));
    }
    let found = server.store().find_session(token).await;
    let found = found.map_err(store_error)?;
    let found = found.filter(|(_, session)| session.kind != SessionKind::Key);
    Ok(found.map(|(record, _)| record))
}

/// Returns the first page, which contains all data except ended matches. The page omits secrets
/// such as the password, and only states whether they are set.
async fn player_page(server: &ServerContext, player: &PlayerRecord) -> Result<String, ReadError> {
    let id = player.id;
    let (name, kind) = (&player.name, player.kind.as_str());
    let mut lines = vec![json!({"type": "player", "id": id, "name": name, "kind": kind})];
    if let Some(account) = server.store().account(id).await? {
        let names = account.unique_names.iter();
        let names =
            names.map(|own| json!({"likeness": own.skeleton, "until_ms": own.reserved_until_ms}));
        let bots = account.bots.iter();
        let bots = bots.map(|bot| json!({"id": bot.id, "name": bot.name}));
        lines.push(json!({
            "type": "account",
            "password": account.password.is_some(),
            "renamed_ms": account.renamed_ms,
            "names": names.collect::<Vec<Value>>(),
            "bots": bots.collect::<Vec<Value>>(),
            "external": account.external_name,
        }));
    }
    let has_recovery = server.store().has_recovery_key(id).await?;
    lines.push(json!({"type": "recovery_key", "kept": has_recovery}));
    for session in player_lookup::load_sessions(server, id).await? {
        lines.push(json!({
            "type": "session",
            "session": session.id,
            "label": session.label,
            "kind": session.kind.as_str(),
            "created_ms": session.created_ms,
            "seen_day": day_text(session.last_used_day),
            "recovered": session.from_recovery_key,
        }));
    }
    for blocked in server.store().blocks(id).await?.blocked {
        lines.push(json!({"type": "block", "id": blocked.id, "name": blocked.name}));
    }
    lines.extend(server.store().ratings(id).await?.iter().map(rating_json));
    let mut live = server.identity.players.live_matches(id);
    let participations = server.store().participations(id).await?;
    live.extend(participations.iter().map(|(id, _)| *id));
    live.sort_unstable();
    live.dedup();
    lines.extend(live.iter().map(|id| json!({"type": "live", "match": id})));
    Ok(to_page(lines))
}

fn rating_json(player_rating: &PlayerRating) -> Value {
    let (rated, rating) = (player_rating.rated, player_rating.rated.rating);
    json!({
        "type": "rating",
        "game": player_rating.game,
        "pool": player_rating.pool.as_str(),
        "rating": rating.rating,
        "deviation": rating.deviation,
        "volatility": rating.volatility,
        "games": rated.games,
        "last_ms": rated.last_ms,
    })
}

/// Returns a page with one value on each line.
fn to_page(lines: impl IntoIterator<Item = Value>) -> String {
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

fn store_error(error: ReadError) -> ExportError {
    tracing::error!(%error, "cannot read a player's personal data");
    ExportError::StoreUnavailable
}
