//! Reads players with all their identity data, and checks the consistency of the database.

use futures::future::{try_join_all, try_join4};
use plyhouse_protocol::PlayerId;
use uuid::Uuid;

use super::accounts::account;
use super::blocks::player_blocks;
use super::sessions::{recovery_key, sessions};
use super::{Sql, Value, query_all, query_first};
use crate::port::inspection::{InspectedPlayer, PLAYERS_PAGE_SIZE, StoreAccessError};
use crate::{MatchRecord, PlayerRecord};

/// Returns the number of stored players.
pub(crate) async fn player_count<S: Sql>(db: &S) -> Result<u64, S::Error> {
    let count = query_first(db, "SELECT count(*) FROM players", &[]).await?;
    Ok(count.unwrap_or(0))
}

/// Returns a page of players, starting after the player `after`.
pub(crate) async fn players_after<S: Sql>(
    db: &S,
    after: Option<PlayerId>,
) -> Result<Vec<InspectedPlayer>, S::Error> {
    let sql = "SELECT id, name, kind, gone FROM players WHERE id > ?1 ORDER BY id LIMIT ?2";
    // No player has the id of all zeros, so it precedes all players.
    let after = after.unwrap_or(PlayerId(Uuid::nil()));
    let players = query_all(db, sql, &[after.into(), PLAYERS_PAGE_SIZE.into()]).await?;
    let inspected = players
        .into_iter()
        .map(|(player, is_deleted)| inspect_player(db, player, is_deleted));
    // PostgreSQL receives the queries for all players before it responds to the first one.
    try_join_all(inspected).await
}

async fn inspect_player<S: Sql>(
    db: &S,
    player: PlayerRecord,
    is_deleted: bool,
) -> Result<InspectedPlayer, S::Error> {
    let id = player.id;
    let (sessions, recovery_key, account, blocks) = try_join4(
        sessions(db, id),
        recovery_key(db, id),
        account(db, id),
        player_blocks(db, id),
    )
    .await?;
    Ok(InspectedPlayer {
        player,
        sessions,
        recovery_key,
        account,
        blocks,
        is_deleted,
    })
}

/// Returns the ids and names of the host and of all players who ever had a seat in a match. Players
/// who are not stored are omitted.
pub(crate) async fn involved_players<S: Sql>(
    db: &S,
    record: &MatchRecord,
) -> Result<Vec<(PlayerId, String)>, S::Error> {
    let mut ids: Vec<PlayerId> = record.involved_players().collect();
    ids.sort_unstable();
    ids.dedup();
    let mut players = Vec::with_capacity(ids.len());
    for id in ids {
        let name = query_first(db, "SELECT name FROM players WHERE id = ?1", &[id.into()]).await?;
        players.extend(name.map(|name| (id, name)));
    }
    Ok(players)
}

/// Consistency check. The query returns a count of faults, which must be 0.
pub(crate) struct ConsistencyCheck {
    sql: &'static str,
    params: &'static [Value<'static>],
    /// Description of the faults, which is reported with their count.
    meaning: &'static str,
}

impl ConsistencyCheck {
    pub(crate) const fn new(sql: &'static str, meaning: &'static str) -> Self {
        Self {
            sql,
            params: &[],
            meaning,
        }
    }
}

/// Consistency checks of both databases.
pub(crate) const CONSISTENCY_CHECKS: [ConsistencyCheck; 4] = [
    ConsistencyCheck {
        sql: "SELECT count(*) FROM (
             SELECT player, result, count(*) FROM played GROUP BY player, result
             EXCEPT
             SELECT player, result, sum(n)/*pg:::int8*/ FROM results WHERE seen_by IN (?1, player)
             GROUP BY player, result) AS uncounted",
        params: &[Value::Id(Uuid::nil())],
        meaning: "result counts that do not match the game histories",
    },
    ConsistencyCheck::new(
        "SELECT count(*) FROM matches
         LEFT JOIN ledger ON ledger.match = matches.id
         LEFT JOIN ledger_waiting ON ledger_waiting.match = matches.id
         WHERE summary IS NOT NULL AND (terms/*pg:::jsonb*/ ->> 'rated')/*pg:::boolean*/
           AND (ended_no IS DISTINCT FROM ledger.no
                OR (ledger.no IS NULL) = (ledger_waiting.match IS NULL))",
        "ended rated matches with a missing or wrong ledger row",
    ),
    ConsistencyCheck::new(
        "SELECT (SELECT no FROM ledger_end) - count(*) FROM ledger",
        "missing ledger rows",
    ),
    ConsistencyCheck::new(
        "SELECT count(*) FROM folds
         WHERE place <> 'stale' AND cursor > (SELECT no FROM ledger_end)",
        "rating versions with more rows than the ledger",
    ),
];

/// Returns the faults that the checks find.
pub(crate) async fn find_faults<S: Sql<Error: Into<StoreAccessError>>>(
    db: &S,
    checks: &[ConsistencyCheck],
) -> Vec<String> {
    let mut faults = Vec::new();
    for check in checks {
        let counted = count_faults(db, check).await.map_err(Into::into);
        match counted {
            Ok(0) => {}
            Ok(count) => faults.push(format!("{}: {count}", check.meaning)),
            Err(StoreAccessError(reason)) => faults.push(reason),
        }
    }
    faults
}

async fn count_faults<S: Sql>(db: &S, check: &ConsistencyCheck) -> Result<i64, S::Error> {
    let count = query_first(db, check.sql, check.params).await?;
    Ok(count.unwrap_or(0))
}
