//! Requests for the match history, the leaderboard and the opening explorer.

use std::cmp::Reverse;

use super::{Client, Player};
use crate::matchmaking::match_loading;
use crate::players::player_lookup;
use crate::wire::error_replies::store_read_error;
use crate::wire::from_protocol;
use crate::wire::to_protocol;
use plyhouse_engine::catalog::PlayError;
use plyhouse_protocol::{
    ErrorCode, ExploredMove, HistoryRequest, LeaderboardRequest, LeaderboardRow, PlayerId,
    RatingPool, ServerMessage, WireError,
};
use plyhouse_store::{HistoryQuery, LeaderboardQuery, Opponent, ReadError};

impl Client {
    /// Returns the requested page of past matches.
    pub(super) async fn history(
        &self,
        player: &Player,
        query: HistoryRequest,
    ) -> Result<ServerMessage, WireError> {
        let viewer = player.record.id;
        let player = query.player.as_deref().unwrap_or(ME);
        let player = self.find_player_id(viewer, player).await?;
        let opponent = match query.with.as_deref() {
            None => None,
            Some("bot") => Some(Opponent::Bot),
            Some(other) => Some(Opponent::Player(self.find_player_id(viewer, other).await?)),
        };
        let game = from_protocol::game_filter(query.game.as_deref())?;
        let before = match query.before {
            None => None,
            Some(before) => {
                let id = match_loading::resolve_match_id(&self.server.infra, before).await;
                let id = id.map_err(match_read_error)?;
                Some(id.ok_or_else(unknown_ended_match_error)?)
            }
        };
        if before.is_some_and(|before| self.server.is_end_hidden(before, viewer)) {
            return Err(unknown_ended_match_error());
        }
        let limit = from_protocol::page_size(query.limit);
        let store_query = HistoryQuery {
            player,
            viewer,
            game,
            opponent,
            result: query.result,
            before,
            limit: limit.saturating_add(1),
        };
        let page = self.store().history(store_query).await;
        let page = page.map_err(match_read_error)?;
        let mut matches = page.ok_or_else(unknown_ended_match_error)?;
        let more = matches.len() > limit;
        matches.truncate(limit);
        matches.retain(|past| self.server.is_end_visible(past, viewer));
        Ok(ServerMessage::History {
            re: None,
            rows: matches.iter().map(to_protocol::history_row).collect(),
            more,
            ignored: Vec::new(),
        })
    }

    /// Returns the requested page of a leaderboard.
    pub(super) async fn leaderboard(
        &self,
        query: LeaderboardRequest,
    ) -> Result<ServerMessage, WireError> {
        let store_query = LeaderboardQuery {
            game: from_protocol::game(&query.game)?.info.id,
            pool: query.pool.unwrap_or(RatingPool::Live),
            now_ms: self.server.now_ms(),
            after: query.after.unwrap_or(0),
            limit: from_protocol::page_size(query.limit),
        };
        let page = self.store().leaderboard(store_query).await;
        let page = page.map_err(match_read_error)?;
        let rows = (store_query.after + 1..).zip(&page.rows);
        let rows = rows.map(|(place, (player, rated))| LeaderboardRow {
            place,
            player: to_protocol::player(player),
            rating: rated.rating.rounded(),
            deviation: rated.rating.rounded_deviation(),
            games: rated.games,
        });
        Ok(ServerMessage::Leaderboard {
            re: None,
            total: page.total,
            rows: rows.collect(),
            ignored: Vec::new(),
        })
    }

    /// Returns the statistics of the matches that began with these moves or with symmetric ones.
    /// The returned moves have the board orientation of the request.
    pub(super) async fn opening_stats(
        &self,
        game: String,
        moves: Vec<String>,
    ) -> Result<ServerMessage, WireError> {
        let entry = from_protocol::game(&game)?;
        let (mut position, mut line) = (entry.initial_position(), Vec::with_capacity(moves.len()));
        for m in &moves {
            line.push(position.play(m).map_err(unplayable_move_error)?);
        }
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let (canonical, transform) = entry.canonical_line(&line);
        let canonical = canonical.join(" ");
        let stats = self.store().explore(entry.info.id, canonical).await;
        let stats = stats.map_err(match_read_error)?;
        let moves = stats.moves.iter().map(|(m, tally)| ExploredMove {
            m: entry.transform_move(m, transform.inverse()),
            count: tally.matches,
            won: tally.wins,
            drawn: tally.draws,
        });
        let mut moves: Vec<ExploredMove> = moves.collect();
        moves.sort_by_key(|explored| Reverse(explored.count));
        Ok(ServerMessage::Explore {
            re: None,
            count: stats.matches,
            moves,
            ignored: Vec::new(),
        })
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
}

fn unplayable_move_error(error: PlayError) -> WireError {
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

pub(super) fn match_read_error(error: ReadError) -> WireError {
    tracing::error!(%error, "cannot read ended matches");
    store_read_error(error)
}
