//! Ratings and the ledger of rated matches.

use std::fmt;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange};

use super::delegation::delegatable;
use crate::{
    LeaderboardPage, LeaderboardQuery, NeededRatings, PlayerRating, RatingProgress, RatingsChange,
    ReadError, WriteError,
};

delegatable! {
    $ delegate_rating_store
    /// Stores the rating ledger and the rating versions that are computed from it.
    pub trait RatingStore: fmt::Debug + Send + Sync + 'static {
        /// Returns how far each rating version has processed the rating ledger. The result also
        /// contains the number of the last ledger row. Rating versions are computed from the
        /// ledger.
        fn rating_progress(&self) -> BoxFuture<'_, Result<RatingProgress, ReadError>>;

        /// Returns at most `limit` rows of the rating ledger after row `after`, in order. Only one
        /// transaction at a time can assign row numbers. A reader that sees a row therefore also
        /// sees all rows before it.
        fn ledger(
            &self,
            after: u64,
            limit: usize,
        ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>>;

        /// Loads the parts of a rating version that a caller needs to process ledger rows. The
        /// argument `needed` selects ratings, histories of player pairs, and penalties.
        fn load_ratings_for(
            &self,
            version: u64,
            needed: NeededRatings,
        ) -> BoxFuture<'_, Result<RatingState, ReadError>>;

        /// Returns the rating changes that were posted to the live rating version. The result
        /// covers the ledger rows after row `after` up to and including row `until`. Rows that
        /// changed no rating are omitted.
        fn posted_updates(
            &self,
            after: u64,
            until: u64,
        ) -> BoxFuture<'_, Result<Vec<(u64, PostOutcome)>, ReadError>>;

        /// Returns a page of the live ratings in a fixed order, starting after `last`. Returns an
        /// empty page after the last rating.
        fn ratings_after(
            &self,
            last: Option<RatingRecord>,
        ) -> BoxFuture<'_, Result<Vec<(RatingRecord, RatingEntry)>, ReadError>>;

        /// Changes the stored ratings. Each change is atomic. Returns `false` if the ledger or the
        /// rating version is not in the state that the change expects.
        fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>>;

        /// Adds a ledger row that removes all of a player's earlier matches from the ratings. The
        /// server that processes this row recomputes the ratings without these matches.
        fn exclude_from_ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<(), WriteError>> {
            let row = LedgerRow::PlayerExcluded { player };
            let numbered = self.change_ratings(RatingsChange::NumberRow(row));
            numbered.map_ok(drop).boxed()
        }

        /// Returns a player's rating in each game and rating pool. Each entry also contains the
        /// player's ratings at the end of recent days. A profile shows the rating that
        /// `rated.rating.shown()` returns. The function
        /// [`day_text`](plyhouse_matches::game_record::day_text) formats a day.
        fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>>;

        /// Returns a page of a leaderboard.
        fn leaderboard(
            &self,
            query: LeaderboardQuery,
        ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>>;

        /// Returns the end of a player's ban from rated matches, as Unix time in milliseconds.
        /// Returns 0 if the player was never banned.
        fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>>;

        /// Returns the rating changes of a match. Returns `None` if the match is unrated or if its
        /// ledger row has not been posted to the live rating version yet.
        fn changes_of_match(
            &self,
            id: MatchId,
        ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>>;
    }
}
