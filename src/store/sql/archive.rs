//! Results of players and opening statistics.

use plyhouse_protocol::PlayerId;
use uuid::Uuid;

use super::{Sql, Value, query_all};
use crate::records::past_matches::{last_step, result_from_text};
use crate::{OpeningStats, ResultCounts, Tally};

/// Selects the number of matches that a player has with each match result. The numbers include all
/// public matches, which have the id of all zeros in `seen_by`, but only those private matches
/// whose results the viewer may see.
pub(crate) const SELECT_RESULTS: &str = "SELECT result, n, first_ms FROM results
    WHERE player = ?1 AND seen_by IN (?2, ?3)";

/// Counts a player's ended matches by result, and omits matches that `viewer` may not see.
pub(crate) async fn results<S: Sql>(
    db: &S,
    player: PlayerId,
    viewer: PlayerId,
) -> Result<ResultCounts, S::Error> {
    let params = [player.into(), Value::Id(Uuid::nil()), viewer.into()];
    let mut results = ResultCounts::default();
    let counts: Vec<(String, u64, u64)> = query_all(db, SELECT_RESULTS, &params).await?;
    for (result, count, first_ms) in counts {
        if let Some(result) = result_from_text(&result) {
            results.add(result, count, first_ms);
        }
    }
    Ok(results)
}

/// Selects the statistics of an opening line and of each next move. The row with an empty string as
/// its move contains the statistics of the whole opening line.
pub(crate) const SELECT_OPENINGS: &str = "SELECT '', n, won_first, won_second, drawn FROM openings
    WHERE game = ?1 AND line = ?2 AND move = ?3
    UNION ALL
    SELECT move, n, won_first, won_second, drawn FROM openings
    WHERE game = ?1 AND line = ?4 AND move > ''";

/// Returns statistics about the moves that followed an opening line in a game's matches.
pub(crate) async fn explore<S: Sql>(
    db: &S,
    game: &str,
    line: &str,
) -> Result<OpeningStats, S::Error> {
    let (before, last_move) = last_step(line);
    let params = [game.into(), before.into(), last_move.into(), line.into()];
    let tallies: Vec<(String, Tally)> = query_all(db, SELECT_OPENINGS, &params).await?;
    Ok(OpeningStats::from_tallies(tallies))
}
