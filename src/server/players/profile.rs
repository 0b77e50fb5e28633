//! What others may know of a player.

use plyhouse_matches::ratings::{Rating, RatingEntry, day_text};
use plyhouse_protocol::{MatchResult, PlayerId, PoolRating, Profile, WireError};
use plyhouse_store::{HistoryQuery, PastMatch, PlayerRating, ReadError};

use super::player_lookup;
use crate::archive::visibility::DELAY_MAX_MS;
use crate::context::server_context::ServerContext;
use crate::wire::error_replies::store_read_error;
use crate::wire::to_protocol;

/// How many of a player's ended matches are shown.
const RECENT_MATCHES_MAX: usize = 10;

/// How many are looked through for those of which not everybody may know yet: more than somebody plays while
/// a delay lasts.
const RECENT_MATCHES_SCANNED: usize = 100;

impl ServerContext {
    /// What whoever asks may know of a player.
    pub(crate) async fn load_profile(
        &self,
        id: PlayerId,
        viewer: PlayerId,
    ) -> Result<Profile, WireError> {
        let record = player_lookup::load_record(self, id).await?;
        let results = self
            .store
            .results(id, viewer)
            .await
            .map_err(player_read_error)?;
        let (recent, hidden_results) = self.recent_matches(id, viewer).await?;
        let count = |result| {
            let hidden = hidden_results.iter().filter(|hidden| **hidden == result);
            results.count(result).saturating_sub(hidden.count() as u64)
        };
        Ok(Profile {
            since_ms: self.first_seen_ms(id, results.first_end_ms).await?,
            player: to_protocol::player(&record),
            ratings: self.pool_ratings(id).await?,
            won: count(MatchResult::Won),
            lost: count(MatchResult::Lost),
            drawn: count(MatchResult::Drawn),
            recent_matches: recent.iter().map(to_protocol::history_row).collect(),
        })
    }

    /// The last ended matches of a player of which whoever asks may know, and what those came to of which
    /// they may not know yet.
    async fn recent_matches(
        &self,
        id: PlayerId,
        viewer: PlayerId,
    ) -> Result<(Vec<PastMatch>, Vec<MatchResult>), WireError> {
        let store = &self.store;
        let query = |limit| HistoryQuery {
            viewer,
            ..HistoryQuery::for_player(id, limit)
        };
        let recent = store
            .history(query(RECENT_MATCHES_MAX))
            .await
            .map_err(player_read_error)?;
        let mut recent = recent.unwrap_or_default();
        let now_ms = self.clock.now_ms();
        let may_be_delayed = |past: &PastMatch| past.ended_ms.saturating_add(DELAY_MAX_MS) > now_ms;
        let is_hidden = |past: &PastMatch| !self.is_end_visible(past, viewer);
        if recent.iter().any(is_hidden)
            || (recent.len() == RECENT_MATCHES_MAX && recent.last().is_some_and(may_be_delayed))
        {
            let scanned = store
                .history(query(RECENT_MATCHES_SCANNED))
                .await
                .map_err(player_read_error)?;
            recent = scanned.unwrap_or_default();
        }
        let hidden = recent.iter().filter(|past| is_hidden(past));
        let hidden = hidden.map(|past| past.summary.result(past.seat)).collect();
        recent.retain(|past| !is_hidden(past));
        recent.truncate(RECENT_MATCHES_MAX);
        Ok((recent, hidden))
    }

    /// The first that is known of a player: a session, or the end of a match.
    async fn first_seen_ms(
        &self,
        id: PlayerId,
        first_end_ms: Option<u64>,
    ) -> Result<Option<u64>, WireError> {
        let sessions = match self.players.unstored_guest(id) {
            Some((_, session)) => vec![session],
            None => self.store.sessions(id).await.map_err(player_read_error)?,
        };
        let session_starts = sessions.iter().map(|session| session.created_ms);
        Ok(session_starts.chain(first_end_ms).min())
    }

    /// How strong a player is, in each pool in which that can be told.
    async fn pool_ratings(&self, id: PlayerId) -> Result<Vec<PoolRating>, WireError> {
        let ratings = self.store.ratings(id).await.map_err(player_read_error)?;
        Ok(ratings.iter().map(to_pool_rating).collect())
    }
}

fn to_pool_rating(player_rating: &PlayerRating) -> PoolRating {
    let RatingEntry { rating, games, .. } = player_rating.rated;
    let to_series_point = |(day, rating): &(u64, f64)| {
        let daily_rating = Rating {
            rating: *rating,
            ..Rating::INITIAL
        };
        (day_text(*day), daily_rating.rounded())
    };
    PoolRating {
        game: player_rating.game.clone(),
        pool: player_rating.pool,
        rating: rating.rounded(),
        deviation: rating.rounded_deviation(),
        provisional: rating.is_provisional(),
        games,
        daily_ratings: player_rating.series.iter().map(to_series_point).collect(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn player_read_error(error: ReadError) -> WireError {
    tracing::error!(%error, "cannot read a player");
    store_read_error(&error)
}
