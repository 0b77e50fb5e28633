//! Reads the analyses of ended matches and the analysis quotas.

use plyhouse_protocol::{MatchId, PlayerId};

use super::Reader;
use crate::postgres::journal_rows::{to_i64, to_u64};
use crate::{ReadError, StoredAnalysis};

impl Reader {
    /// Returns the stored analysis of a match, if any.
    pub(in crate::postgres) async fn analysis(
        &self,
        id: MatchId,
    ) -> Result<Option<StoredAnalysis>, ReadError> {
        let sql = "SELECT nodes, body FROM analyses WHERE m = $1";
        let rows = self.query(sql, &[&id.0]).await?;
        Ok(rows.first().map(|row| StoredAnalysis {
            nodes: to_u64(row.get(0)),
            text: row.get(1),
        }))
    }

    /// Returns the time of a player's first analysis request after `since_ms`.
    pub(in crate::postgres) async fn first_analysis_request_ms(
        &self,
        player: PlayerId,
        since_ms: u64,
    ) -> Result<Option<u64>, ReadError> {
        let sql = "SELECT asked_ms FROM analyses_asked WHERE player = $1 AND asked_ms > $2
                   ORDER BY asked_ms LIMIT 1";
        let rows = self.query(sql, &[&player.0, &to_i64(since_ms)]).await?;
        Ok(rows.first().map(|row| to_u64(row.get(0))))
    }
}
