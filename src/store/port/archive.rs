//! Ended matches and their analyses.

use std::fmt;

use plyhouse_protocol::{MatchId, PlayerId};

use super::delegation::delegatable;
use crate::{
    AnalysisQuotaRequest, HistoryQuery, OpeningStats, PastMatch, ReadFuture, ResultCounts,
    StoredAnalysis, WriteFuture,
};

delegatable! {
    $ delegate_archive_store
    /// Queries ended matches, and stores their analyses.
    pub trait ArchiveStore: fmt::Debug + Send + Sync + 'static {
        /// Returns the ended matches of a player that fit the query, most recently ended first.
        /// Returns `None` if `query.before` is not an ended match.
        fn history(&self, query: HistoryQuery) -> ReadFuture<'_, Option<Vec<PastMatch>>>;

        /// Counts a player's ended matches by result, and omits matches that `viewer` may not see.
        fn results(&self, player: PlayerId, viewer: PlayerId) -> ReadFuture<'_, ResultCounts>;

        /// Returns statistics about the moves that followed an opening line in the public matches
        /// of a game. `line` must be in the form that
        /// [`canonical_line`](plyhouse_engine::catalog::GameEntry::canonical_line) returns, with
        /// spaces between the moves.
        fn explore(&self, game: &'static str, line: String) -> ReadFuture<'_, OpeningStats>;

        /// Stores the analysis of an ended match. If the store already contains an analysis with
        /// more searched nodes, the stored analysis remains. Returns `false` if the match does not
        /// exist or has not ended. The analysis is deleted together with the match.
        fn store_analysis(&self, id: MatchId, analysis: StoredAnalysis) -> WriteFuture<'_, bool>;

        /// Returns the stored analysis of a match, if any.
        fn analysis(&self, id: MatchId) -> ReadFuture<'_, Option<StoredAnalysis>>;

        /// Counts an analysis request against the quota of a player. Returns `false` and counts
        /// nothing if the quota is used up. The counts expire after a day and are not copied to
        /// another store.
        fn count_analysis_request(&self, request: AnalysisQuotaRequest) -> WriteFuture<'_, bool>;

        /// Returns the time of the player's first analysis request after the time `since_ms`. Both
        /// times are Unix times in milliseconds.
        fn first_analysis_request_ms(
            &self,
            player: PlayerId,
            since_ms: u64,
        ) -> ReadFuture<'_, Option<u64>>;
    }
}
