//! Analyses of ended matches and the analysis quotas.

use plyhouse_protocol::{MatchId, PlayerId};

use super::{Sql, SqlWrite, exists, query_first};
use crate::StoredAnalysis;

/// Stores the analysis of a match. If the stored analysis has more searched nodes than the new
/// analysis, the stored analysis is kept. Returns `false` if the match does not exist or has not
/// ended.
pub(crate) async fn store_analysis<S: SqlWrite>(
    db: &S,
    id: MatchId,
    analysis: &StoredAnalysis,
) -> Result<bool, S::Error> {
    let sql = "INSERT INTO analyses (match, nodes, body)
               SELECT matches.id, ?2, ?3 FROM matches
               WHERE matches.id = ?1 AND ended_ms IS NOT NULL /*pg:FOR SHARE*/
               ON CONFLICT (match) DO UPDATE SET nodes = excluded.nodes, body = excluded.body
                   WHERE excluded.nodes >= analyses.nodes";
    let params = [id.into(), analysis.nodes.into(), (&analysis.text).into()];
    db.execute(sql, &params).await?;
    exists(db, "SELECT 1 FROM analyses WHERE match = ?1", &[id.into()]).await
}

/// Returns the stored analysis of a match, if any.
pub(crate) async fn load_analysis<S: Sql>(
    db: &S,
    id: MatchId,
) -> Result<Option<StoredAnalysis>, S::Error> {
    let sql = "SELECT nodes, body FROM analyses WHERE match = ?1";
    query_first(db, sql, &[id.into()]).await
}

/// Returns the time of a player's first analysis request after `since_ms`.
pub(crate) async fn first_request_ms<S: Sql>(
    db: &S,
    player: PlayerId,
    since_ms: u64,
) -> Result<Option<u64>, S::Error> {
    let sql = "SELECT asked_ms FROM analyses_asked WHERE player = ?1 AND asked_ms > ?2
               ORDER BY asked_ms LIMIT 1";
    query_first(db, sql, &[player.into(), since_ms.into()]).await
}
