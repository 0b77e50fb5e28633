//! Public profiles of players.

use plyhouse_matches::game_record::day_text;
use plyhouse_matches::ratings::{Rating, RatingEntry};
use plyhouse_protocol::{MatchResult, PlayerId, PoolRating, Profile, WireError};
use plyhouse_store::{HistoryQuery, PastMatch, PlayerRating};

use super::player_lookup::{self, player_read_error};
use crate::archive::visibility::DELAY_MAX_MS;
use crate::context::server_context::ServerContext;
use crate::wire::to_protocol;

/// Maximum number of ended matches in a profile.
const RECENT_MATCHES_MAX: usize = 10;

/// Number of recent matches in which the server looks for results that are still hidden from the
/// viewer. The number exceeds the number of matches that a player can finish within a spectator
/// delay.
const RECENT_MATCHES_SCANNED: usize = 100;

impl ServerContext {
    /// Loads a player's profile with the details that `viewer` may see.
    pub(crate) async fn load_profile(
        &self,
        id: PlayerId,
        viewer: PlayerId,
    ) -> Result<Profile, WireError> {
        let record = player_lookup::load_record(self, id).await?;
        let results = self.store().results(id, viewer).await;
        let results = results.map_err(player_read_error)?;
        let (recent, hidden_results) = self.recent_matches(id, viewer).await?;
        let count = |result| {
            let hidden = hidden_results.iter().filter(|hidden| **hidden == result);
            results.count(result).saturating_sub(hidden.count() as u64)
        };
        let sessions = player_lookup::load_sessions(self, id).await;
        let sessions = sessions.map_err(player_read_error)?;
        let session_starts = sessions.iter().map(|session| session.created_ms);
        let ratings = self.store().ratings(id).await.map_err(player_read_error)?;
        Ok(Profile {
            since_ms: session_starts.chain(results.first_end_ms).min(),
            player: to_protocol::player(&record),
            ratings: ratings.iter().map(to_pool_rating).collect(),
            won: count(MatchResult::Won),
            lost: count(MatchResult::Lost),
            drawn: count(MatchResult::Drawn),
            recent_matches: recent.iter().map(to_protocol::history_row).collect(),
        })
    }

    /// Returns two lists. The first contains the most recently ended matches that the viewer may
    /// see. The second contains the results of recent matches that are still hidden from the
    /// viewer.
    async fn recent_matches(
        &self,
        id: PlayerId,
        viewer: PlayerId,
    ) -> Result<(Vec<PastMatch>, Vec<MatchResult>), WireError> {
        let load_recent = async |limit| {
            let query = HistoryQuery {
                viewer,
                ..HistoryQuery::for_player(id, limit)
            };
            let page = self.store().history(query).await;
            page.map(Option::unwrap_or_default)
                .map_err(player_read_error)
        };
        let mut recent = load_recent(RECENT_MATCHES_MAX).await?;
        let now_ms = self.now_ms();
        let may_be_delayed = |past: &PastMatch| past.ended_ms.saturating_add(DELAY_MAX_MS) > now_ms;
        let is_hidden = |past: &PastMatch| !self.is_end_visible(past, viewer);
        if recent.iter().any(is_hidden)
            || (recent.len() == RECENT_MATCHES_MAX && recent.last().is_some_and(may_be_delayed))
        {
            recent = load_recent(RECENT_MATCHES_SCANNED).await?;
        }
        let hidden = recent.iter().filter(|past| is_hidden(past));
        let hidden = hidden.map(|past| past.summary.result(past.seat)).collect();
        recent.retain(|past| !is_hidden(past));
        recent.truncate(RECENT_MATCHES_MAX);
        Ok((recent, hidden))
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
