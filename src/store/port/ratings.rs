//! Ratings and the ledger of rated matches.

use std::fmt;

use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_protocol::{MatchId, PlayerId, RatingChange};

use super::delegation::delegatable;
use crate::{
    LeaderboardPage, LeaderboardQuery, NeededRatings, PlayerRating, RatingProgress, RatingsChange,
    ReadFuture, WriteFuture,
};

delegatable! {
    $ delegate_rating_store
    /// Stores the rating ledger and the rating versions that are computed from it.
    pub trait RatingStore: fmt::Debug + Send + Sync + 'static {
        /// Returns how far each rating version has processed the rating ledger. The result also
        /// contains the number of the last ledger row. Rating versions are computed from the
        /// ledger.
        fn rating_progress(&self) -> ReadFuture<'_, RatingProgress>;

        /// Returns at most `limit` rows of the rating ledger after row `after`, in order. Only one
        /// transaction at a time can assign row numbers. A reader that sees a row therefore also
        /// sees all rows before it.
        fn ledger(&self, after: u64, limit: usize) -> ReadFuture<'_, Vec<(u64, LedgerRow)>>;

        /// Loads the parts of a rating version that a caller needs to process ledger rows. The
        /// argument `needed` selects ratings, histories of player pairs, and penalties.
        fn load_ratings_for(
            &self,
            version: u64,
            needed: NeededRatings,
        ) -> ReadFuture<'_, RatingState>;

        /// Returns the rating changes that were posted to the live rating version. The result
        /// covers the ledger rows after row `after` up to and including row `until`. Rows that
        /// changed no rating are omitted.
        fn posted_updates(&self, after: u64, until: u64) -> ReadFuture<'_, Vec<(u64, PostOutcome)>>;

        /// Returns a page of the live ratings in a fixed order, starting after `last`. Returns an
        /// empty page after the last rating.
        fn ratings_after(
            &self,
            last: Option<RatingRecord>,
        ) -> ReadFuture<'_, Vec<(RatingRecord, RatingEntry)>>;

        /// Changes the stored ratings. Each change is atomic. Returns `false` if the ledger or the
        /// rating version is not in the state that the change expects.
        fn change_ratings(&self, change: RatingsChange) -> WriteFuture<'_, bool>;

        /// Adds a ledger row that removes all of a player's earlier matches from the ratings. The
        /// server that processes this row recomputes the ratings without these matches.
        fn exclude_from_ratings(&self, player: PlayerId) -> WriteFuture<'_, ()> {
            let row = LedgerRow::PlayerExcluded { player };
            let numbered = self.change_ratings(RatingsChange::NumberRow(row));
            numbered.map_ok(drop).boxed()
        }

        /// Returns a player's rating in each game and rating pool. Each entry also contains the
        /// player's ratings at the end of recent days. A profile shows the rating that
        /// `rated.rating.shown()` returns. The function
        /// [`day_text`](plyhouse_matches::game_record::day_text) formats a day.
        fn ratings(&self, player: PlayerId) -> ReadFuture<'_, Vec<PlayerRating>>;

        /// Returns a player's rating in one game and rating pool. Returns `None` if the player has
        /// no rated match there.
        fn rating(&self, key: RatingRecord) -> ReadFuture<'_, Option<RatingEntry>> {
            let ratings = self.ratings(key.player).map_ok(move |ratings| {
                let mut ratings = ratings.into_iter();
                let found = ratings.find(|one| one.game == key.game && one.pool == key.pool);
                found.map(|one| one.rated)
            });
            ratings.boxed()
        }

        /// Returns a page of a leaderboard.
        fn leaderboard(&self, query: LeaderboardQuery) -> ReadFuture<'_, LeaderboardPage>;

        /// Returns the end of a player's ban from rated matches, as Unix time in milliseconds.
        /// Returns 0 if the player was never banned.
        fn rated_ban_until(&self, player: PlayerId) -> ReadFuture<'_, u64>;

        /// Returns the rating changes of a match. Returns `None` if the match is unrated or if its
        /// ledger row has not been posted to the live rating version yet.
        fn changes_of_match(&self, id: MatchId) -> ReadFuture<'_, Option<Vec<RatingChange>>>;
    }
}
