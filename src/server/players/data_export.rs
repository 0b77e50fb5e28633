//! Everything that is kept about a player, for that player alone.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_matches::scoresheet::day_text;
use plyhouse_protocol::{MatchId, PlayerId, SessionKind, Token};
use plyhouse_store::{HistoryQuery, PlayerRating, PlayerRecord, ReadError};
use serde_json::{Value, json};

use crate::auth::tokens;
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::wire::to_protocol;

/// How many matches are read at once.
const PAGE: usize = 100;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asker {
    /// Whoever has this token.
    Token(Token),
    /// Whom a proxy that is trusted calls so.
    External(String),
}

/// Nothing is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTold {
    /// Nobody is known by that, or a program is.
    #[error(
        "a token of a session of yours is needed, as `Authorization: Bearer TOKEN`; a key is none"
    )]
    Nobody,
    /// It was told just now. After this time it is again.
    #[error("that is told once a minute")]
    TooSoon(Duration),
    /// The store cannot be read.
    #[error("the store cannot be read now")]
    Unreadable,
}

/// All that is told of a player, page by page: objects of JSON, a line each.
#[derive(Debug)]
pub struct About {
    server: Arc<ServerContext>,
    player: PlayerId,
    next: Next,
}

/// What comes next.
#[derive(Debug)]
enum Next {
    Page(String),
    Ended(Option<MatchId>),
    Nothing,
}

impl About {
    /// What is kept of whoever asks.
    pub(crate) async fn of(server: &Arc<ServerContext>, asker: Asker) -> Result<Self, NotTold> {
        let player = find(server, asker).await?.ok_or(NotTold::Nobody)?;
        server
            .export_rate_limit
            .ask(player.id, now())
            .map_err(NotTold::TooSoon)?;
        let first = person(server, &player).await.map_err(not_read)?;
        Ok(Self {
            server: Arc::clone(server),
            player: player.id,
            next: Next::Page(first),
        })
    }

    /// The next page. `None` after the last.
    pub async fn next(&mut self) -> Option<Result<String, NotTold>> {
        match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Nothing => None,
            Next::Page(page) => {
                self.next = Next::Ended(None);
                Some(Ok(page))
            }
            Next::Ended(before) => {
                let query = HistoryQuery {
                    before,
                    ..HistoryQuery::of(self.player, PAGE)
                };
                let found = match self.server.store.history(query).await {
                    Ok(found) => found.unwrap_or_default(),
                    Err(error) => return Some(Err(not_read(error))),
                };
                let last = found.last()?.creation.id;
                self.next = Next::Ended(Some(last));
                let mut page = String::new();
                for past in &found {
                    let row = serde_json::to_value(to_protocol::history_row(past));
                    let mut row = row.expect("a row is plain data");
                    row["type"] = "match".into();
                    line(&mut page, &row);
                }
                Some(Ok(page))
            }
        }
    }
}

/// Who asks, unless it is a program.
async fn find(server: &ServerContext, asker: Asker) -> Result<Option<PlayerRecord>, NotTold> {
    let token = match asker {
        Asker::External(name) => return server.store.external(name).await.map_err(not_read),
        Asker::Token(token) => tokens::hash(&token),
    };
    if let Some((record, _)) = server.players.guest(token) {
        return Ok(Some(record));
    }
    let known = server.store.session(token).await.map_err(not_read)?;
    let known = known.filter(|(_, session)| session.kind != SessionKind::Key);
    Ok(known.map(|(record, _)| record))
}

/// What is kept of the player but for matches that have ended. Of secrets it is told that they are there: more
/// is not known here either.
async fn person(server: &ServerContext, player: &PlayerRecord) -> Result<String, ReadError> {
    let id = player.id;
    let mut page = String::new();
    line(
        &mut page,
        &json!({"type": "player", "id": id, "name": player.name, "kind": player.kind.as_str()}),
    );
    if let Some(account) = server.store.account(id).await? {
        let names = account
            .names
            .iter()
            .map(|own| json!({"likeness": own.likeness, "until_ms": own.until_ms}));
        let bots = account
            .bots
            .iter()
            .map(|bot| json!({"id": bot.id, "name": bot.name}));
        let account = json!({
            "type": "account",
            "password": account.password.is_some(),
            "renamed_ms": account.renamed_ms,
            "names": names.collect::<Vec<Value>>(),
            "bots": bots.collect::<Vec<Value>>(),
            "external": account.external,
        });
        line(&mut page, &account);
    }
    let has_recovery = server.store.has_recovery(id).await?;
    line(
        &mut page,
        &json!({"type": "recovery_key", "kept": has_recovery}),
    );
    let sessions = match server.players.unstored(id) {
        Some((_, session)) => vec![session],
        None => server.store.sessions(id).await?,
    };
    for session in sessions {
        let session = json!({
            "type": "session",
            "session": session.id,
            "label": session.label,
            "kind": session.kind.as_str(),
            "created_ms": session.created_ms,
            "seen_day": day_text(session.seen_day),
            "recovered": session.recovered,
        });
        line(&mut page, &session);
    }
    for blocked in server.store.blocks(id).await?.own {
        line(
            &mut page,
            &json!({"type": "block", "id": blocked.id, "name": blocked.name}),
        );
    }
    for known in server.store.ratings(id).await? {
        line(&mut page, &rating(&known));
    }
    let mut live = server.players.live_matches(id);
    let parts = server.store.participations(id).await?;
    live.extend(parts.iter().map(|(id, _)| *id));
    live.sort_unstable();
    live.dedup();
    for id in live {
        line(&mut page, &json!({"type": "live", "match": id}));
    }
    Ok(page)
}

/// A rating of the player.
fn rating(known: &PlayerRating) -> Value {
    let (rated, rating) = (known.rated, known.rated.rating);
    json!({
        "type": "rating",
        "game": known.game,
        "pool": known.pool.as_str(),
        "rating": rating.rating,
        "deviation": rating.deviation,
        "volatility": rating.volatility,
        "games": rated.games,
        "last_ms": rated.last_ms,
    })
}

fn line(page: &mut String, value: &Value) {
    page.push_str(&value.to_string());
    page.push('\n');
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn not_read(error: ReadError) -> NotTold {
    tracing::error!(%error, "what is kept of a player is not read");
    NotTold::Unreadable
}
