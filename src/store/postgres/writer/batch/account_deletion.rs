//! The deletion lock, and the removal of the names of deleted players from matches.
//!
//! A deletion holds an exclusive lock. The deletion lock blocks transactions that delete players,
//! write match participants or write the names of participants. All names that were written before
//! the deletion are therefore visible when the names are removed. All later writes see that the
//! player was deleted.

use std::collections::BTreeSet;

use plyhouse_protocol::{MatchId, PlayerId};

use super::is_journal_only;
use crate::IdentityChange;
use crate::account_deletion::json_without_name;
use crate::postgres::reconnecting_connection::{PgConnection, QueryError};
use crate::postgres::writer::WriteTask;
use crate::sql::writes::SharedWrite;
use crate::sql::{Sql, SqlWrite, Value, query_all, to_values};

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
            WriteTask::Shared(SharedWrite::ChangeIdentity(IdentityChange::DeletePlayer(_)))
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
pub(in crate::postgres) async fn deleted_players<S: Sql>(
    db: &S,
    players: impl IntoIterator<Item = PlayerId>,
) -> Result<BTreeSet<PlayerId>, S::Error> {
    let players = to_values(players);
    if players.is_empty() {
        return Ok(BTreeSet::new());
    }
    let sql = "SELECT id FROM players WHERE id = ANY ($1) AND gone";
    let deleted = query_all(db, sql, &[Value::Array(&players)]).await?;
    Ok(deleted.into_iter().collect())
}

/// Removes a player's name from the given matches. The function does not change the match list
/// entry of a live match, because the server that runs the match updates this entry.
pub(in crate::postgres) async fn remove_name(
    connection: &PgConnection,
    matches: &[MatchId],
    player: PlayerId,
) -> Result<(), QueryError> {
    let (matches, player_text) = (to_values(matches.iter().copied()), player.0.to_string());
    let params = [Value::Array(&matches), (&player_text).into()];
    let sql = "SELECT m, n, body FROM journal WHERE m = ANY ($1) AND position($2 IN body) > 0
               ORDER BY m, n";
    let entries: Vec<(MatchId, u64, String)> = query_all(connection, sql, &params).await?;
    for (id, n, body) in entries {
        if let Some(body) = json_without_name(&body, player) {
            let sql = "UPDATE journal SET body = $3 WHERE m = $1 AND n = $2";
            let params = [id.into(), n.into(), (&body).into()];
            connection.execute(sql, &params).await?;
        }
    }
    let sql = "SELECT m, summary, card FROM matches WHERE m = ANY ($1) AND ended_ms IS NOT NULL
               AND (position($2 IN summary) > 0 OR position($2 IN card) > 0) ORDER BY m";
    let ended: Vec<(MatchId, [Option<String>; 2])> = query_all(connection, sql, &params).await?;
    for (id, texts) in ended {
        let without_name = |text: String| json_without_name(&text, player).unwrap_or(text);
        let [summary, listing] = texts.map(|text| text.map(without_name));
        let sql = "UPDATE matches SET summary = $2, card = $3 WHERE m = $1";
        let params = [id.into(), summary.as_ref().into(), listing.as_ref().into()];
        connection.execute(sql, &params).await?;
    }
    Ok(())
}
