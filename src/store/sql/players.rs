//! Players.

use plyhouse_protocol::PlayerId;

use super::sessions::add_sessions;
use super::{InvalidColumn, Row, Sql, SqlWrite, exists, query_first};
use crate::records::player_identity::{player_kind_from_text, player_kind_to_text};
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
    let row = query_first(db, sql, &[id.into()]).await?;
    Ok(row.map(|row| player_from_row(&row, 0)).transpose()?)
}

/// Returns whether a player has this name.
pub(crate) async fn has_name<S: Sql>(db: &S, id: PlayerId, name: &str) -> Result<bool, S::Error> {
    let sql = "SELECT 1 FROM players WHERE id = ?1 AND name = ?2";
    exists(db, sql, &[id.into(), name.into()]).await
}

/// Returns whether a player exists and was not deleted.
pub(crate) async fn player_exists<S: Sql>(db: &S, id: PlayerId) -> Result<bool, S::Error> {
    let sql = "SELECT 1 FROM players WHERE id = ?1 AND NOT gone";
    exists(db, sql, &[id.into()]).await
}

/// Returns the deleted players whose names must still be removed from matches.
pub(crate) async fn account_deletions<S: Sql>(db: &S) -> Result<Vec<PlayerId>, S::Error> {
    let rows = db.query("SELECT player FROM forgetting", &[]).await?;
    ids_from_rows(&rows).map_err(Into::into)
}

/// Reads a player from three columns, starting at `first_column`: id, name and kind.
pub(crate) fn player_from_row(
    row: &Row,
    first_column: usize,
) -> Result<PlayerRecord, InvalidColumn> {
    let kind: Option<String> = row.get(first_column + 2)?;
    Ok(PlayerRecord {
        id: row.get(first_column)?,
        name: row.get(first_column + 1)?,
        kind: player_kind_from_text(kind.as_deref()),
    })
}

/// Reads the players that a query returns.
pub(crate) fn players_from_rows(rows: &[Row]) -> Result<Vec<PlayerRecord>, InvalidColumn> {
    rows.iter().map(|row| player_from_row(row, 0)).collect()
}

/// Reads the player ids in the first column.
pub(crate) fn ids_from_rows(rows: &[Row]) -> Result<Vec<PlayerId>, InvalidColumn> {
    rows.iter().map(|row| row.get(0)).collect()
}
