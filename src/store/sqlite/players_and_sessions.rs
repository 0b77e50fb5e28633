//! Writes players with their sessions.

use plyhouse_protocol::PlayerId;
use rusqlite::{Connection, Row};

use crate::records::player_identity::player_kind_from_text;
use crate::sql::{players, run_now, sessions};
use crate::{PlayerRecord, SessionRecord};

/// Adds a player and the player's sessions. A player or session that is already stored is not
/// changed.
pub(super) fn add_player(
    connection: &Connection,
    player: &PlayerRecord,
    sessions: &[SessionRecord],
) -> rusqlite::Result<()> {
    run_now(players::add_player(connection, player))?;
    sessions
        .iter()
        .try_for_each(|session| run_now(sessions::add_session(connection, session)))
}

/// Reads the player with this id. Column `first_column` contains the name of the player, and the
/// next column contains the kind.
pub(super) fn player_from_columns(
    id: PlayerId,
    row: &Row<'_>,
    first_column: usize,
) -> rusqlite::Result<PlayerRecord> {
    let kind: Option<String> = row.get(first_column + 1)?;
    Ok(PlayerRecord {
        id,
        name: row.get(first_column)?,
        kind: player_kind_from_text(kind.as_deref()),
    })
}
