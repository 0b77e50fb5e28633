//! Reads players.

use plyhouse_protocol::PlayerId;
use rusqlite::Row;

use crate::PlayerRecord;
use crate::records::player_identity::player_kind_from_text;

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
