//! Deletes players.
//!
//! A deletion holds an exclusive lock. The deletion lock blocks transactions that delete players,
//! write match participants or write the names of participants. All names that were written before
//! the deletion are therefore visible when the names are removed. All later writes see that the
//! player was deleted.

use std::collections::BTreeSet;

use plyhouse_protocol::PlayerId;
use tokio_postgres::Row;
use uuid::Uuid;

use super::is_journal_only;
use crate::account_deletion::{NAME_REMOVAL_BATCH_SIZE, json_without_name};
use crate::postgres::journal_rows::to_i64;
use crate::postgres::reconnecting_connection::{Params, PgConnection, QueryError};
use crate::postgres::writer::WriteTask;
use crate::sql::{accounts, players};
use crate::{IdentityChange, PlayerDeletion};

/// Key of the advisory lock that a deletion holds exclusively. Transactions that write the
/// participants of matches, or their names, hold the lock in shared mode.
const ACCOUNT_DELETION_LOCK: i64 = 0x706c_7968_676f_6e65;

/// Begins the transaction of a batch and takes the deletion lock if the batch requires it. A
/// transaction takes the deletion lock before all other locks. A transaction therefore holds no
/// other locks while it waits for the deletion lock.
pub(super) async fn begin_transaction(
    connection: &PgConnection,
    tasks: &[WriteTask],
) -> Result<(), QueryError> {
    let deletes_account = |task: &WriteTask| {
        matches!(
            task,
            WriteTask::ChangeIdentity(IdentityChange::DeletePlayer(_))
        )
    };
    let lock = if tasks.iter().any(deletes_account) {
        "pg_advisory_xact_lock"
    } else if tasks.iter().any(writes_player_references) {
        "pg_advisory_xact_lock_shared"
    } else {
        return connection.execute_batch("BEGIN").await;
    };
    let begin = format!("BEGIN; SELECT {lock}({ACCOUNT_DELETION_LOCK})");
    connection.execute_batch(&begin).await
}

/// Returns whether a task writes match participants or their names.
fn writes_player_references(task: &WriteTask) -> bool {
    match task {
        WriteTask::Create(..) | WriteTask::PairSeek(_) => true,
        WriteTask::Append { events, .. } => !events.iter().all(is_journal_only),
        _ => false,
    }
}

/// Returns those of the given players who have been deleted.
pub(super) async fn deleted_players(
    connection: &PgConnection,
    players: &[PlayerId],
) -> Result<BTreeSet<PlayerId>, QueryError> {
    if players.is_empty() {
        return Ok(BTreeSet::new());
    }
    let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
    let sql = "SELECT id FROM players WHERE id = ANY ($1) AND gone";
    let rows = connection.query(sql, &[&players]).await?;
    Ok(rows.iter().map(|row| PlayerId(row.get(0))).collect())
}

/// Statements that delete the identity data of players and clear their accounts. The account rows
/// remain, because reserved names belong to them.
const DELETE_STATEMENTS: [&str; 11] = [
    "DELETE FROM sessions WHERE player = ANY ($1)",
    "DELETE FROM pairings WHERE player = ANY ($1)",
    "DELETE FROM recoveries WHERE player = ANY ($1)",
    "DELETE FROM passes WHERE player = ANY ($1)",
    "DELETE FROM externals WHERE player = ANY ($1)",
    "DELETE FROM blocks WHERE player = ANY ($1) OR other = ANY ($1)",
    "DELETE FROM analyses_asked WHERE player = ANY ($1)",
    "DELETE FROM seeks WHERE player = ANY ($1)",
    "UPDATE accounts SET password = NULL, renamed_ms = NULL, owner = NULL WHERE player = ANY ($1)",
    "UPDATE players SET name = 'someone', kind = NULL, gone = true WHERE id = ANY ($1)",
    "INSERT INTO forgetting (player) SELECT * FROM UNNEST($1::uuid[]) ON CONFLICT DO NOTHING",
];

/// Deletes a player and the player's bot accounts. Returns `false` if the player does not exist or
/// the proof is no longer valid.
pub(in crate::postgres) async fn delete_player(
    connection: &PgConnection,
    deletion: &PlayerDeletion,
) -> Result<bool, QueryError> {
    let player = deletion.player;
    if !players::player_exists(connection, player).await? {
        return Ok(false);
    }
    if let Some(proof) = &deletion.proof
        && !accounts::is_proof_valid(connection, player, proof).await?
    {
        return Ok(false);
    }
    let sql = "SELECT $1::uuid UNION SELECT player FROM accounts WHERE owner = $1";
    let rows = connection.query(sql, &[&player.0]).await?;
    let players: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
    for sql in DELETE_STATEMENTS {
        connection.query(sql, &[&players]).await?;
    }
    let sql = "UPDATE names SET until_ms = $2 WHERE player = ANY ($1) AND until_ms IS NULL";
    let params: Params<'_> = &[&players, &to_i64(deletion.name_reserved_until_ms)];
    connection.query(sql, params).await?;
    Ok(true)
}

/// Removes a player's name from the next batch of matches. Returns `false` once the name has been
/// removed from all matches.
pub(in crate::postgres) async fn remove_names(
    connection: &PgConnection,
    player: PlayerId,
) -> Result<bool, QueryError> {
    let sql = "SELECT after FROM forgetting WHERE player = $1";
    let Some(row) = connection.query_opt(sql, &[&player.0]).await? else {
        return Ok(false);
    };
    let after: Option<Uuid> = row.get(0);
    let sql = "SELECT m FROM matches WHERE m > $1 OR $1 IS NULL ORDER BY m LIMIT $2";
    let rows = connection
        .query(sql, &[&after, &NAME_REMOVAL_BATCH_SIZE])
        .await?;
    let match_ids: Vec<Uuid> = rows.iter().map(|row| row.get(0)).collect();
    remove_name(connection, &match_ids, player).await?;
    let is_last = (match_ids.len() as u64) < NAME_REMOVAL_BATCH_SIZE.unsigned_abs();
    if is_last {
        let sql = "DELETE FROM forgetting WHERE player = $1";
        connection.query(sql, &[&player.0]).await?;
    } else if let Some(last) = match_ids.last() {
        let sql = "UPDATE forgetting SET after = $2 WHERE player = $1";
        connection.query(sql, &[&player.0, last]).await?;
    }
    Ok(!is_last)
}

/// Removes a player's name from the given matches. The function does not change the match list
/// entry of a live match, because the server that runs the match updates this entry.
async fn remove_name(
    connection: &PgConnection,
    matches: &[Uuid],
    player: PlayerId,
) -> Result<(), QueryError> {
    let player_text = player.0.to_string();
    let sql = "SELECT m, n, body FROM journal WHERE m = ANY ($1) AND position($2 IN body) > 0
               ORDER BY m, n";
    for row in connection.query(sql, &[&matches, &player_text]).await? {
        let (id, n): (Uuid, i64) = (row.get(0), row.get(1));
        if let Some(body) = json_without_name(row.get(2), player) {
            let sql = "UPDATE journal SET body = $3 WHERE m = $1 AND n = $2";
            connection.query(sql, &[&id, &n, &body]).await?;
        }
    }
    let sql = "SELECT m, summary, card FROM matches WHERE m = ANY ($1) AND ended_ms IS NOT NULL
               AND (position($2 IN summary) > 0 OR position($2 IN card) > 0) ORDER BY m";
    for row in connection.query(sql, &[&matches, &player_text]).await? {
        let id: Uuid = row.get(0);
        let (summary, listing) = (
            column_without_name(&row, 1, player),
            column_without_name(&row, 2, player),
        );
        let sql = "UPDATE matches SET summary = $2, card = $3 WHERE m = $1";
        connection.query(sql, &[&id, &summary, &listing]).await?;
    }
    Ok(())
}

/// Returns the text of a column with the player's name removed.
fn column_without_name(row: &Row, column: usize, player: PlayerId) -> Option<String> {
    let text: Option<String> = row.get(column);
    text.map(|text| json_without_name(&text, player).unwrap_or(text))
}
