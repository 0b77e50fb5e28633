//! Reads which players block each other.

use crate::records::player_identity::unpairable_players_sql;

/// Selects the players that the given players block, and the time at which each block began. The
/// rows are ordered by the ids of both players.
pub(in crate::postgres) const SELECT_BLOCKS: &str =
    "SELECT player, other, since_ms FROM blocks WHERE player = ANY ($1) ORDER BY player, other";

/// Selects the players who must not be paired with this player.
pub(in crate::postgres) const SELECT_UNPAIRABLE: &str = unpairable_players_sql!("$1::uuid");
