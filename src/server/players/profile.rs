//! What others may know of a player.

use plyhouse_matches::ratings::{Rated, Rating, day_text};
use plyhouse_protocol::{MatchResult, PlayerId, PoolRating, Profile, WireError};
use plyhouse_store::{HistoryQuery, PastMatch, PlayerRating, ReadError};

use super::player_lookup;
use crate::archive::visibility::DELAY_MAX_MS;
use crate::context::server_context::ServerContext;
use crate::wire::error_replies::store_read_error;
use crate::wire::to_protocol;

/// How many of a player's ended matches are shown.
const LAST: usize = 10;

/// How many are looked through for those of which not everybody may know yet: more than somebody plays while
/// a delay lasts.
const LATELY: usize = 100;

impl ServerContext {
    /// What whoever asks may know of a player.
    pub(crate) async fn profile(
        &self,
        id: PlayerId,
        asking: PlayerId,
    ) -> Result<Profile, WireError> {
        let record = player_lookup::record(self, id).await?;
        let results = self.store.results(id, asking).await.map_err(not_read)?;
        let (last, hidden) = self.last_of(id, asking).await?;
        let count = |result| {
            let hidden = hidden.iter().filter(|hidden| **hidden == result);
            results.count(result).saturating_sub(hidden.count() as u64)
        };
        Ok(Profile {
            since_ms: self.since_ms(id, results.first_end_ms).await?,
            player: to_protocol::player(&record),
            ratings: self.ratings_of(id).await?,
            won: count(MatchResult::Won),
            lost: count(MatchResult::Lost),
            drawn: count(MatchResult::Drawn),
            last: last.iter().map(to_protocol::history_row).collect(),
        })
    }

    /// The last ended matches of a player of which whoever asks may know, and what those came to of which
    /// they may not know yet.
    async fn last_of(
        &self,
        id: PlayerId,
        asking: PlayerId,
    ) -> Result<(Vec<PastMatch>, Vec<MatchResult>), WireError> {
        let store = &self.store;
        let wanted = |limit| HistoryQuery {
            viewer: asking,
            ..HistoryQuery::for_player(id, limit)
        };
        let last = store.history(wanted(LAST)).await.map_err(not_read)?;
        let mut last = last.unwrap_or_default();
        let now_ms = self.clock.now_ms();
        let is_late = |past: &PastMatch| past.ended_ms.saturating_add(DELAY_MAX_MS) > now_ms;
        let is_hidden = |past: &PastMatch| !self.is_end_visible(past, asking);
        if last.iter().any(is_hidden) || (last.len() == LAST && last.last().is_some_and(is_late)) {
            let lately = store.history(wanted(LATELY)).await.map_err(not_read)?;
            last = lately.unwrap_or_default();
        }
        let hidden = last.iter().filter(|past| is_hidden(past));
        let hidden = hidden.map(|past| past.summary.result(past.seat)).collect();
        last.retain(|past| !is_hidden(past));
        last.truncate(LAST);
        Ok((last, hidden))
    }

    /// The first that is known of a player: a session, or the end of a match.
    async fn since_ms(
        &self,
        id: PlayerId,
        first_ms: Option<u64>,
    ) -> Result<Option<u64>, WireError> {
        let sessions = match self.players.unstored(id) {
            Some((_, session)) => vec![session],
            None => self.store.sessions(id).await.map_err(not_read)?,
        };
        let began = sessions.iter().map(|session| session.created_ms);
        Ok(began.chain(first_ms).min())
    }

    /// How strong a player is, in each pool in which that can be told.
    async fn ratings_of(&self, id: PlayerId) -> Result<Vec<PoolRating>, WireError> {
        let kept = self.store.ratings(id).await.map_err(not_read)?;
        Ok(kept.iter().map(pool_rating).collect())
    }
}

fn pool_rating(kept: &PlayerRating) -> PoolRating {
    let Rated { rating, games, .. } = kept.rated;
    let at_end_of = |(day, rating): &(u64, f64)| {
        let shown = Rating {
            rating: *rating,
            ..Rating::NEW
        };
        (day_text(*day), shown.shown())
    };
    PoolRating {
        game: kept.game.clone(),
        pool: kept.pool,
        rating: rating.shown(),
        deviation: rating.deviation_shown(),
        provisional: rating.is_provisional(),
        games,
        series: kept.series.iter().map(at_end_of).collect(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn not_read(error: ReadError) -> WireError {
    tracing::error!(%error, "player not read");
    store_read_error(&error)
}
