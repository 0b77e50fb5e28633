//! What was thought of ended matches.

use plyhouse_protocol::MatchId;

use super::Reader;
use crate::postgres::journal::natural;
use crate::{KeptAnalysis, ReadError};

impl Reader {
    /// What was thought of a match.
    pub(in crate::postgres) async fn analysis(
        &self,
        id: MatchId,
    ) -> Result<Option<KeptAnalysis>, ReadError> {
        let sql = "SELECT nodes, body FROM analyses WHERE m = $1";
        let rows = self.query(sql, &[&id.0]).await?;
        Ok(rows.first().map(|row| KeptAnalysis {
            nodes: natural(row.get(0)),
            text: row.get(1),
        }))
    }
}
