//! The parts of the store's port about ended matches and ratings, which are the same for all
//! databases.

use futures::FutureExt;
use plyhouse_matches::ratings::{LedgerRow, PostOutcome, RatingEntry, RatingKey, RatingState};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange};

use super::store::{Query, SqlStore};
use super::writes::SharedWrite;
use super::{analyses, archive, history, ratings, tokens_and_admin_commands};
use crate::{
    AnalysisQuotaRequest, ArchiveStore, CommandId, CommandStore, HistoryQuery, LeaderboardPage,
    LeaderboardQuery, NeededRatings, OpeningStats, PastMatch, PlayerRating, RatingProgress,
    RatingStore, RatingsChange, ReadError, ReadFuture, ResultCounts, StoredAnalysis, WriteFuture,
    conflict_to_false,
};

/// A store that keeps everything but the journals in the tables of the shared statements.
pub trait SqlArchive: SqlStore {
    /// Runs a query that may read a lot of data. By default, such a query is run like any other.
    fn read_archive<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(&'a Self::Connection) -> Query<'a, Self, T> + Send + 'static,
    ) -> ReadFuture<'_, T> {
        self.read(query)
    }
}

impl<S: SqlArchive> RatingStore for S {
    fn rating_progress(&self) -> ReadFuture<'_, RatingProgress> {
        self.read_archive(|db| ratings::progress(db).boxed())
    }

    fn ledger(&self, after: u64, limit: usize) -> ReadFuture<'_, Vec<(u64, LedgerRow)>> {
        self.read_archive(move |db| ratings::ledger(db, after, limit).boxed())
    }

    fn load_ratings_for(&self, version: u64, needed: NeededRatings) -> ReadFuture<'_, RatingState> {
        self.read_archive(move |db| {
            async move { ratings::load_ratings_for(db, version, &needed).await }.boxed()
        })
    }

    fn posted_updates(&self, after: u64, until: u64) -> ReadFuture<'_, Vec<(u64, PostOutcome)>> {
        self.read_archive(move |db| ratings::posted_updates(db, after, until).boxed())
    }

    fn ratings_after(
        &self,
        last: Option<RatingKey>,
    ) -> ReadFuture<'_, Vec<(RatingKey, RatingEntry)>> {
        self.read_archive(|db| {
            async move { ratings::ratings_after(db, last.as_ref()).await }.boxed()
        })
    }

    fn change_ratings(&self, change: RatingsChange) -> WriteFuture<'_, bool> {
        let changed = self.write(SharedWrite::ChangeRatings(change));
        changed.map(conflict_to_false).boxed()
    }

    fn ratings(&self, player: PlayerId) -> ReadFuture<'_, Vec<PlayerRating>> {
        self.read(move |db| ratings::ratings(db, player).boxed())
    }

    fn rating(&self, key: RatingKey) -> ReadFuture<'_, Option<RatingEntry>> {
        self.read(move |db| async move { ratings::rating(db, &key).await }.boxed())
    }

    fn leaderboard(&self, query: LeaderboardQuery) -> ReadFuture<'_, LeaderboardPage> {
        self.read_archive(move |db| async move { ratings::leaderboard(db, &query).await }.boxed())
    }

    fn rated_ban_until(&self, player: PlayerId) -> ReadFuture<'_, u64> {
        self.read(move |db| ratings::rated_ban_until(db, player).boxed())
    }

    fn changes_of_match(&self, id: MatchId) -> ReadFuture<'_, Option<Vec<RatingChange>>> {
        self.read(move |db| ratings::changes_of_match(db, id).boxed())
    }
}

impl<S: SqlArchive> ArchiveStore for S {
    fn history(&self, query: HistoryQuery) -> ReadFuture<'_, Option<Vec<PastMatch>>> {
        let page = self
            .read_archive(move |db| async move { history::history_page(db, &query).await }.boxed());
        page.map(|page| page?.map_err(ReadError::Corrupt)).boxed()
    }

    fn results(&self, player: PlayerId, viewer: PlayerId) -> ReadFuture<'_, ResultCounts> {
        self.read_archive(move |db| archive::results(db, player, viewer).boxed())
    }

    fn explore(&self, game: &'static str, line: String) -> ReadFuture<'_, OpeningStats> {
        self.read_archive(move |db| async move { archive::explore(db, game, &line).await }.boxed())
    }

    fn store_analysis(&self, id: MatchId, analysis: StoredAnalysis) -> WriteFuture<'_, bool> {
        let stored = self.write(SharedWrite::StoreAnalysis(id, analysis));
        stored.map(conflict_to_false).boxed()
    }

    fn analysis(&self, id: MatchId) -> ReadFuture<'_, Option<StoredAnalysis>> {
        self.read_archive(move |db| analyses::load_analysis(db, id).boxed())
    }

    fn count_analysis_request(&self, request: AnalysisQuotaRequest) -> WriteFuture<'_, bool> {
        let counted = self.write(SharedWrite::CountAnalysisRequest(request));
        counted.map(conflict_to_false).boxed()
    }

    fn first_analysis_request_ms(
        &self,
        player: PlayerId,
        since_ms: u64,
    ) -> ReadFuture<'_, Option<u64>> {
        self.read_archive(move |db| analyses::first_request_ms(db, player, since_ms).boxed())
    }
}

impl<S: SqlArchive> CommandStore for S {
    fn accepts_commands(&self) -> bool {
        true
    }

    fn pending_commands(&self) -> ReadFuture<'_, Vec<(CommandId, String)>> {
        self.read(|db| tokens_and_admin_commands::pending_commands(db).boxed())
    }
}
