//! Players who block each other.

use plyhouse_protocol::PlayerId;

use super::{Sql, SqlWrite, exists, query_all};
use crate::{BLOCKS_MAX, Blocks};

/// Blocks the player `other` on behalf of `player`, or ends this block. If `since_ms` is given, the
/// block begins at this Unix time in milliseconds. If `since_ms` is `None`, the block ends. Returns
/// `false` if a new block would exceed the maximum number of blocks per player.
pub(crate) async fn change_block<S: SqlWrite>(
    db: &S,
    player: PlayerId,
    other: PlayerId,
    since_ms: Option<u64>,
) -> Result<bool, S::Error> {
    let (id, other_id) = (player.into(), other.into());
    let Some(since_ms) = since_ms else {
        let sql = "DELETE FROM blocks WHERE player = ?1 AND other = ?2";
        db.execute(sql, &[id, other_id]).await?;
        return Ok(true);
    };
    let sql = "INSERT INTO blocks (player, other, since_ms) SELECT ?1, ?2, ?3
               WHERE (SELECT count(*) FROM blocks WHERE player = ?1) < ?4
               ON CONFLICT DO NOTHING";
    let params = [id, other_id, since_ms.into(), BLOCKS_MAX.into()];
    db.execute(sql, &params).await?;
    is_blocked(db, player, other).await
}

/// Returns whether a player blocks another player.
pub(crate) async fn is_blocked<S: Sql>(
    db: &S,
    player: PlayerId,
    other: PlayerId,
) -> Result<bool, S::Error> {
    let sql = "SELECT 1 FROM blocks WHERE player = ?1 AND other = ?2";
    exists(db, sql, &[player.into(), other.into()]).await
}

/// Returns the blocks that affect a player. The result lists the players that this player blocks
/// and the players that block this player. It also lists all players that must not be paired with
/// this player.
pub(crate) async fn load_blocks<S: Sql>(db: &S, player: PlayerId) -> Result<Blocks, S::Error> {
    let params = [player.into()];
    let sql = "SELECT p.id, p.name, p.kind FROM blocks b JOIN players p ON p.id = b.other
               WHERE b.player = ?1 ORDER BY b.since_ms, b.other";
    let blocked = query_all(db, sql, &params).await?;
    let sql = "SELECT player FROM blocks WHERE other = ?1 ORDER BY player";
    Ok(Blocks {
        blocked,
        blocked_by: query_all(db, sql, &params).await?,
        unpairable: unpairable_players(db, player).await?,
    })
}

/// Returns the players that must not be paired with this player. A bot account's owner and all bot
/// accounts of that owner count as the same person.
pub(crate) async fn unpairable_players<S: Sql>(
    db: &S,
    player: PlayerId,
) -> Result<Vec<PlayerId>, S::Error> {
    // The order of the joins lets the databases use their indexes instead of scanning all accounts.
    let sql = "WITH me (id) AS (
                   SELECT coalesce((SELECT owner FROM accounts WHERE player = ?1/*pg:::uuid*/),
                                   ?1/*pg:::uuid*/)),
               kin (id) AS (
                   SELECT id FROM me
                   UNION SELECT a.player FROM me CROSS JOIN accounts a WHERE a.owner = me.id),
               met (id) AS (
                   SELECT b.other FROM blocks b JOIN kin ON b.player = kin.id
                   UNION SELECT b.player FROM blocks b JOIN kin ON b.other = kin.id),
               theirs (id) AS (
                   SELECT coalesce(a.owner, met.id) FROM met LEFT JOIN accounts a ON a.player = met.id)
               SELECT id FROM theirs
               UNION SELECT a.player FROM theirs CROSS JOIN accounts a WHERE a.owner = theirs.id
               ORDER BY 1";
    query_all(db, sql, &[player.into()]).await
}

/// Returns the players that a player blocks, and the time at which each block began. The list is
/// ordered by player id.
pub(crate) async fn player_blocks<S: Sql>(
    db: &S,
    player: PlayerId,
) -> Result<Vec<(PlayerId, u64)>, S::Error> {
    let sql = "SELECT other, since_ms FROM blocks WHERE player = ?1 ORDER BY other";
    query_all(db, sql, &[player.into()]).await
}
