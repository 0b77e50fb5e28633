//! Requests for the match history, the leaderboard and the opening explorer.

use std::cmp::Reverse;

use super::dispatch::DEFAULT_PAGE_SIZE;
use super::{Client, Player};
use crate::connection::reply::Reply;
use crate::context::infrastructure::Infrastructure;
use crate::players::player_lookup;
use crate::wire::error_replies::store_read_error;
use crate::wire::from_protocol;
use crate::wire::to_protocol;
use plyhouse_engine::catalog::PlayError;
use plyhouse_protocol::{
    ErrorCode, ExploredMove, HistoryRequest, LeaderboardRequest, LeaderboardRow, MatchId, MatchRef,
    PlayerId, RatingPool, ServerMessage, WireError,
};
use plyhouse_store::{HistoryQuery, LeaderboardQuery, Opponent, PastMatch, ReadError};

impl Client {
    pub(super) async fn send_history(&self, player: &Player, query: HistoryRequest, reply: Reply) {
        let page = self.load_history_page(player.record.id, query).await;
        if let Some(((rows, more), reply)) = reply.require(page) {
            let rows = rows.iter().map(to_protocol::history_row);
            reply.send_message(|re| ServerMessage::History {
                re,
                rows: rows.collect(),
                more,
                ignored: Vec::new(),
            });
        }
    }

    pub(super) async fn send_leaderboard(&self, query: LeaderboardRequest, reply: Reply) {
        if let Some(((total, rows), reply)) =
            reply.require(self.load_leaderboard_page(&query).await)
        {
            reply.send_message(|re| ServerMessage::Leaderboard {
                re,
                total,
                rows,
                ignored: Vec::new(),
            });
        }
    }

    /// Returns the requested page of a leaderboard, and the total number of players on the
    /// leaderboard.
    async fn load_leaderboard_page(
        &self,
        query: &LeaderboardRequest,
    ) -> Result<(u64, Vec<LeaderboardRow>), WireError> {
        let store_query = LeaderboardQuery {
            game: from_protocol::game(&query.game)?.info.id,
            pool: query.pool.unwrap_or(RatingPool::Live),
            now_ms: self.server.now_ms(),
            after: query.after.unwrap_or(0),
            limit: usize::try_from(query.limit.unwrap_or(DEFAULT_PAGE_SIZE)).unwrap_or(usize::MAX),
        };
        let page = self
            .store()
            .leaderboard(store_query)
            .await
            .map_err(match_read_error)?;
        let rows = (store_query.after + 1..).zip(&page.rows);
        let rows = rows.map(|(place, (player, rated))| LeaderboardRow {
            place,
            player: to_protocol::player(player),
            rating: rated.rating.rounded(),
            deviation: rated.rating.rounded_deviation(),
            games: rated.games,
        });
        Ok((page.total, rows.collect()))
    }

    pub(super) async fn send_opening_stats(&self, game: String, moves: Vec<String>, reply: Reply) {
        let stats = load_opening_stats(&self.server.infra, &game, &moves).await;
        if let Some(((n, moves), reply)) = reply.require(stats) {
            reply.send_message(|re| ServerMessage::Explore {
                re,
                count: n,
                moves,
                ignored: Vec::new(),
            });
        }
    }

    /// Returns the requested page of past matches, and whether there are more matches.
    async fn load_history_page(
        &self,
        viewer: PlayerId,
        query: HistoryRequest,
    ) -> Result<(Vec<PastMatch>, bool), WireError> {
        let player = query.player.as_deref().unwrap_or(ME);
        let player = self.find_player_id(viewer, player).await?;
        let opponent = match query.with.as_deref() {
            None => None,
            Some("bot") => Some(Opponent::Bot),
            Some(other) => Some(Opponent::Player(self.find_player_id(viewer, other).await?)),
        };
        let game = query.game.as_deref().map(from_protocol::game).transpose()?;
        let before = match query.before {
            None => None,
            Some(before) => Some(self.find_match_id(before).await?),
        };
        if before.is_some_and(|before| self.server.is_end_hidden(before, viewer)) {
            return Err(unknown_ended_match_error());
        }
        let limit = usize::try_from(query.limit.unwrap_or(DEFAULT_PAGE_SIZE)).unwrap_or(usize::MAX);
        let store_query = HistoryQuery {
            player,
            viewer,
            game: game.map(|entry| entry.info.id),
            opponent,
            result: query.result,
            before,
            limit: limit.saturating_add(1),
        };
        let page = self
            .store()
            .history(store_query)
            .await
            .map_err(match_read_error)?;
        let mut rows = page.ok_or_else(unknown_ended_match_error)?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        rows.retain(|past| self.server.is_end_visible(past, viewer));
        Ok((rows, more))
    }

    /// Resolves a player ID, or `me` for the requesting player.
    pub(super) async fn find_player_id(
        &self,
        viewer: PlayerId,
        player: &str,
    ) -> Result<PlayerId, WireError> {
        match player.trim() {
            ME => Ok(viewer),
            id => Ok(player_lookup::find_player(&self.server, id).await?.id),
        }
    }

    /// Resolves a match reference to a match ID. A match with that ID may not exist.
    async fn find_match_id(&self, target: MatchRef) -> Result<MatchId, WireError> {
        match target {
            MatchRef::Id(id) => Ok(id),
            MatchRef::Invalid => Err(unknown_ended_match_error()),
            MatchRef::Code(code) => {
                let id = self
                    .store()
                    .find_by_code(code)
                    .await
                    .map_err(match_read_error)?;
                id.ok_or_else(unknown_ended_match_error)
            }
        }
    }
}

/// Returns the statistics of the matches that began with these moves or with symmetric ones. The
/// returned moves have the board orientation of the request.
async fn load_opening_stats(
    infra: &Infrastructure,
    game: &str,
    moves: &[String],
) -> Result<(u64, Vec<ExploredMove>), WireError> {
    let entry = from_protocol::game(game)?;
    let (mut position, mut line) = (entry.initial_position(), Vec::with_capacity(moves.len()));
    for m in moves {
        line.push(
            position
                .play(m)
                .map_err(|error| unplayable_move_error(&error))?,
        );
    }
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let (canonical, transform) = entry.canonical_line(&line);
    let stats = infra
        .store
        .explore(entry.info.id, canonical.join(" "))
        .await;
    let stats = stats.map_err(match_read_error)?;
    let moves = stats.moves.iter().map(|(m, tally)| ExploredMove {
        m: entry.transform_move(m, transform.inverse()),
        count: tally.matches,
        won: tally.wins,
        drawn: tally.draws,
    });
    let mut moves: Vec<ExploredMove> = moves.collect();
    moves.sort_by_key(|explored| Reverse(explored.count));
    Ok((stats.matches, moves))
}

fn unplayable_move_error(error: &PlayError) -> WireError {
    let code = match error {
        PlayError::Unreadable(_) => ErrorCode::UnreadableMove,
        PlayError::Illegal(_) => ErrorCode::IllegalMove,
    };
    WireError::new(code, error.to_string())
}

/// Placeholder for the ID of the requesting player.
const ME: &str = "me";

fn unknown_ended_match_error() -> WireError {
    WireError::new(ErrorCode::UnknownMatch, "there is no such ended match")
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
pub(super) fn match_read_error(error: ReadError) -> WireError {
    tracing::error!(%error, "cannot read ended matches");
    store_read_error(&error)
}
