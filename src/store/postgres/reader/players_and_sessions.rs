//! Reads players and their sessions.

use plyhouse_protocol::{PlayerId, SessionId};
use tokio_postgres::Row;
use uuid::Uuid;

use super::Reader;
use crate::postgres::journal_rows::to_u64;
use crate::records::player_identity::{player_kind_from_text, session_kind_from_text};
use crate::{PlayerRecord, ReadError, SessionRecord, TokenHash};

/// Selects the sessions of some players, oldest first.
pub(in crate::postgres) const SELECT_SESSIONS: &str =
    "SELECT token, id, player, label, kind, created_ms, seen_day, recovered FROM sessions
     WHERE player = ANY ($1) ORDER BY player, created_ms, id";

impl Reader {
    /// Returns those of the given sessions that are no longer stored. Each session is passed
    /// together with its player's id.
    pub(in crate::postgres) async fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> Result<Vec<SessionId>, ReadError> {
        let (players, ids): (Vec<Uuid>, Vec<Uuid>) =
            sessions.iter().map(|(player, id)| (player.0, id.0)).unzip();
        let sql = "SELECT u.id FROM UNNEST($1::uuid[], $2::uuid[]) AS u (player, id)
                   WHERE NOT EXISTS (SELECT FROM sessions s
                                     WHERE s.player = u.player AND s.id = u.id)";
        let rows = self.query(sql, &[&players, &ids]).await?;
        Ok(rows.iter().map(|row| SessionId(row.get(0))).collect())
    }

    /// Returns those of the given players who have been deleted.
    pub(in crate::postgres) async fn deleted_players(
        &self,
        players: Vec<PlayerId>,
    ) -> Result<Vec<PlayerId>, ReadError> {
        let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
        let sql = "SELECT id FROM players WHERE id = ANY ($1) AND gone";
        let rows = self.query(sql, &[&players]).await?;
        Ok(rows.iter().map(|row| PlayerId(row.get(0))).collect())
    }

    /// Returns the current records of the given players. Unknown and deleted players are omitted.
    pub(in crate::postgres) async fn current_players(
        &self,
        players: Vec<PlayerId>,
    ) -> Result<Vec<PlayerRecord>, ReadError> {
        let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
        let sql = "SELECT id, name, kind FROM players WHERE id = ANY ($1) AND NOT gone";
        let rows = self.query(sql, &[&players]).await?;
        Ok(rows.iter().map(|row| player_from_columns(row, 0)).collect())
    }
}

/// Reads a player from the first columns of a row.
pub(in crate::postgres) fn player_from_row(row: &Row) -> PlayerRecord {
    player_from_columns(row, 0)
}

/// Reads a player from three columns of a row, starting at `first_column`.
fn player_from_columns(row: &Row, first_column: usize) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(row.get(first_column)),
        name: row.get(first_column + 1),
        kind: player_kind_from_text(row.get(first_column + 2)),
    }
}

/// Reads a session from a row. Returns `None` if its token or its kind is invalid.
pub(in crate::postgres) fn session_from_row(row: &Row) -> Option<SessionRecord> {
    Some(SessionRecord {
        token: TokenHash(<[u8; 32]>::try_from(row.get::<_, &[u8]>(0)).ok()?),
        id: SessionId(row.get(1)),
        player: PlayerId(row.get(2)),
        label: row.get(3),
        kind: session_kind_from_text(row.get(4))?,
        created_ms: to_u64(row.get(5)),
        last_used_day: to_u64(row.get(6)),
        from_recovery_key: row.get(7),
    })
}
