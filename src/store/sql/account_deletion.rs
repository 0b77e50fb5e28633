//! Deletes players and removes their names from matches.

use plyhouse_protocol::{MatchId, PlayerId};
use uuid::Uuid;

use super::writes::SharedTransaction;
use super::{Value, accounts, players, query_all};
use crate::PlayerDeletion;
use crate::account_deletion::NAME_REMOVAL_BATCH_SIZE;

/// Statements that delete the rows about a player that nothing else refers to.
pub(crate) const DELETE_ROWS: [&str; 7] = [
    "DELETE FROM sessions WHERE player = ?1",
    "DELETE FROM pairings WHERE player = ?1",
    "DELETE FROM recoveries WHERE player = ?1",
    "DELETE FROM passes WHERE player = ?1",
    "DELETE FROM externals WHERE player = ?1",
    "DELETE FROM blocks WHERE player = ?1 OR other = ?1",
    "DELETE FROM analyses_asked WHERE player = ?1",
];

/// Statements that clear a player's account and record. The row in `accounts` is kept, because
/// reserved names are loaded together with the account.
const CLEAR_ROWS: [&str; 2] = [
    "UPDATE accounts SET password = NULL, renamed_ms = NULL, owner = NULL WHERE player = ?1",
    "UPDATE players SET name = 'someone', kind = NULL, gone = true WHERE id = ?1",
];

/// Deletes a player and the player's bot accounts. Returns `false` if the player does not exist or
/// the proof of identity in `deletion.proof` is no longer valid.
pub(crate) async fn delete_player<S: SharedTransaction>(
    db: &S,
    deletion: &PlayerDeletion,
) -> Result<bool, S::Error> {
    let player = deletion.player;
    if !players::player_exists(db, player).await? {
        return Ok(false);
    }
    if let Some(proof) = &deletion.proof
        && !accounts::is_proof_valid(db, player, proof).await?
    {
        return Ok(false);
    }
    let bots = accounts::bots_of(db, player).await?;
    for player in bots.iter().map(|bot| bot.id).chain([player]) {
        let statements = DELETE_ROWS.iter().chain(&CLEAR_ROWS);
        for sql in statements.chain(S::OWN_DELETE_STATEMENTS) {
            db.execute(sql, &[player.into()]).await?;
        }
        let sql = "UPDATE names SET until_ms = ?2 WHERE player = ?1 AND until_ms IS NULL";
        let reserved_until_ms = deletion.name_reserved_until_ms;
        db.execute(sql, &[player.into(), reserved_until_ms.into()])
            .await?;
        // No match has the id of all zeros, so the removal of the name begins with the first match.
        let sql = "INSERT INTO forgetting (player, after) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        db.execute(sql, &[player.into(), Value::Id(Uuid::nil())])
            .await?;
    }
    Ok(true)
}

/// Selects the next matches from which a player's name must be removed. In PostgreSQL databases of
/// earlier versions, `after` is null until the first batch. In SQLite databases, it is then empty.
const SELECT_NEXT_MATCHES: &str = "SELECT matches.id FROM matches
     WHERE matches.id > (SELECT coalesce(after, ?3) FROM forgetting WHERE player = ?1)
     ORDER BY matches.id LIMIT ?2";

/// Removes a player's name from the next batch of matches. Returns `false` after the last batch.
/// Also returns `false` if no name removal is scheduled for the player.
pub(crate) async fn remove_names<S: SharedTransaction>(
    db: &S,
    player: PlayerId,
) -> Result<bool, S::Error> {
    let id = player.into();
    let params = [id, NAME_REMOVAL_BATCH_SIZE.into(), Value::Id(Uuid::nil())];
    let matches: Vec<MatchId> = query_all(db, SELECT_NEXT_MATCHES, &params).await?;
    db.remove_name(&matches, player).await?;
    let is_last = matches.len() < NAME_REMOVAL_BATCH_SIZE;
    if is_last {
        let sql = "DELETE FROM forgetting WHERE player = ?1";
        db.execute(sql, &[id]).await?;
    } else if let Some(last) = matches.last() {
        let sql = "UPDATE forgetting SET after = ?2 WHERE player = ?1";
        db.execute(sql, &[id, (*last).into()]).await?;
    }
    Ok(!is_last)
}
