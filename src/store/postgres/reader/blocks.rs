//! Reads which players block each other.

use plyhouse_protocol::PlayerId;

use super::{Reader, player_from_row};
use crate::postgres::reconnecting_connection::Params;
use crate::records::player_identity::unpairable_players_sql;
use crate::{Blocks, ReadError};

/// Selects the players that the given players block, and the time at which each block began. The
/// rows are ordered by the ids of both players.
pub(in crate::postgres) const SELECT_BLOCKS: &str =
    "SELECT player, other, since_ms FROM blocks WHERE player = ANY ($1) ORDER BY player, other";

/// Selects the players who must not be paired with this player.
pub(in crate::postgres) const SELECT_UNPAIRABLE: &str = unpairable_players_sql!("$1::uuid");

impl Reader {
    /// Returns the blocks that affect a player. The result lists the players that this player
    /// blocks and the players that block this player. It also lists all players that must not be
    /// paired with this player.
    pub(in crate::postgres) async fn blocks(
        &self,
        player_id: PlayerId,
    ) -> Result<Blocks, ReadError> {
        let params: Params<'_> = &[&player_id.0];
        let sql = "SELECT p.id, p.name, p.kind FROM blocks b JOIN players p ON p.id = b.other
                   WHERE b.player = $1 ORDER BY b.since_ms, b.other";
        let own = self.query(sql, params).await?;
        let sql = "SELECT player FROM blocks WHERE other = $1 ORDER BY player";
        let by = self.query(sql, params).await?;
        let unpairable = self.query(SELECT_UNPAIRABLE, params).await?;
        Ok(Blocks {
            blocked: own.iter().map(player_from_row).collect(),
            blocked_by: by.iter().map(|row| PlayerId(row.get(0))).collect(),
            unpairable: unpairable.iter().map(|row| PlayerId(row.get(0))).collect(),
        })
    }
}
