//! Players.

use plyhouse_protocol::PlayerId;

use super::sessions::add_sessions;
use super::{Sql, SqlWrite, exists, query_all, query_first};
use crate::records::player_identity::player_kind_to_text;
use crate::{PlayerRecord, SessionRecord};

/// Adds players with their sessions. Players and sessions that are stored already are not changed.
pub(crate) async fn add_players<S: SqlWrite>(
    db: &S,
    mut players: Vec<&PlayerRecord>,
    mut sessions: Vec<&SessionRecord>,
) -> Result<(), S::Error> {
    players.sort_unstable_by_key(|player| player.id);
    let sql = "INSERT INTO players (id, name, kind) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    let rows = players.iter().map(|player| {
        let kind = player_kind_to_text(player.kind);
        vec![player.id.into(), (&player.name).into(), kind.into()]
    });
    db.insert_all(sql, &rows.collect::<Vec<_>>()).await?;
    sessions.sort_unstable_by_key(|session| session.token);
    add_sessions(db, &sessions).await
}

/// Returns the player with this id, unless the player was deleted.
pub(crate) async fn player_by_id<S: Sql>(
    db: &S,
    id: PlayerId,
) -> Result<Option<PlayerRecord>, S::Error> {
    let sql = "SELECT id, name, kind FROM players WHERE id = ?1 AND NOT gone";
    query_first(db, sql, &[id.into()]).await
}

/// Returns whether a player has this name.
pub(crate) async fn has_name<S: Sql>(db: &S, id: PlayerId, name: &str) -> Result<bool, S::Error> {
    let sql = "SELECT 1 FROM players WHERE id = ?1 AND name = ?2";
    exists(db, sql, &[id.into(), name.into()]).await
}

/// Returns whether a player is stored, perhaps as deleted.
pub(crate) async fn is_stored<S: Sql>(db: &S, id: PlayerId) -> Result<bool, S::Error> {
    exists(db, "SELECT 1 FROM players WHERE id = ?1", &[id.into()]).await
}

/// Returns whether a player exists and was not deleted.
pub(crate) async fn player_exists<S: Sql>(db: &S, id: PlayerId) -> Result<bool, S::Error> {
    let sql = "SELECT 1 FROM players WHERE id = ?1 AND NOT gone";
    exists(db, sql, &[id.into()]).await
}

/// Returns the deleted players whose names must still be removed from matches.
pub(crate) async fn account_deletions<S: Sql>(db: &S) -> Result<Vec<PlayerId>, S::Error> {
    query_all(db, "SELECT player FROM forgetting", &[]).await
}
