//! Matches that have ended: whose they were, and how they began.

use std::cmp::Reverse;

use super::dispatch::PAGE;
use super::{Client, Player};
use crate::connection::reply::Reply;
use crate::context::server_context::ServerContext;
use crate::players::player_lookup;
use crate::wire::error_replies::store_read_error;
use crate::wire::from_protocol;
use crate::wire::to_protocol;
use plyhouse_engine::catalog::PlayError;
use plyhouse_protocol::{
    ErrorCode, ExploredMove, History, LeaderRow, Leaders, MatchId, MatchRef, PlayerId, Pool,
    ServerMessage, WireError,
};
use plyhouse_store::{HistoryQuery, LeaderboardQuery, Opponent, PastMatch, ReadError};

impl Client {
    pub(super) async fn history(&self, player: &Player, asked: History, reply: Reply) {
        let page = self.history_page(player.record.id, asked).await;
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

    pub(super) async fn leaders(&self, asked: Leaders, reply: Reply) {
        if let Some(((total, rows), reply)) = reply.require(self.leaderboard(&asked).await) {
            reply.send_message(|re| ServerMessage::Leaders {
                re,
                total,
                rows,
                ignored: Vec::new(),
            });
        }
    }

    /// The part of a leaderboard that is asked for, and how many are on it.
    async fn leaderboard(&self, asked: &Leaders) -> Result<(u64, Vec<LeaderRow>), WireError> {
        let wanted = LeaderboardQuery {
            game: from_protocol::game(&asked.game)?.info.id,
            pool: asked.pool.unwrap_or(Pool::Live),
            now_ms: self.server.clock.now_ms(),
            after: asked.after.unwrap_or(0),
            limit: usize::try_from(asked.limit.unwrap_or(PAGE)).unwrap_or(usize::MAX),
        };
        let page = self
            .server
            .store
            .leaderboard(wanted)
            .await
            .map_err(not_read)?;
        let rows = (wanted.after + 1..).zip(&page.rows);
        let rows = rows.map(|(place, (player, rated))| LeaderRow {
            place,
            player: to_protocol::player(player),
            rating: rated.rating.shown(),
            deviation: rated.rating.deviation_shown(),
            games: rated.games,
        });
        Ok((page.total, rows.collect()))
    }

    pub(super) async fn explore(&self, game: String, moves: Vec<String>, reply: Reply) {
        let explored = explored(&self.server, &game, &moves).await;
        if let Some(((n, moves), reply)) = reply.require(explored) {
            reply.send_message(|re| ServerMessage::Explore {
                re,
                n,
                moves,
                ignored: Vec::new(),
            });
        }
    }

    /// The matches that are asked for, and whether there are more.
    async fn history_page(
        &self,
        asking: PlayerId,
        asked: History,
    ) -> Result<(Vec<PastMatch>, bool), WireError> {
        let player = asked.player.as_deref().unwrap_or(ME);
        let player = self.person(asking, player).await?;
        let with = match asked.with.as_deref() {
            None => None,
            Some("bot") => Some(Opponent::Bot),
            Some(other) => Some(Opponent::Player(self.person(asking, other).await?)),
        };
        let game = asked.game.as_deref().map(from_protocol::game).transpose()?;
        let before = match asked.before {
            None => None,
            Some(before) => Some(self.kept_match(before).await?),
        };
        if before.is_some_and(|before| self.server.is_end_hidden(before, asking)) {
            return Err(unknown_match());
        }
        let limit = usize::try_from(asked.limit.unwrap_or(PAGE)).unwrap_or(usize::MAX);
        let wanted = HistoryQuery {
            player,
            viewer: asking,
            game: game.map(|entry| entry.info.id),
            opponent: with,
            result: asked.result,
            before,
            limit: limit.saturating_add(1),
        };
        let found = self.server.store.history(wanted).await.map_err(not_read)?;
        let mut rows = found.ok_or_else(unknown_match)?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        rows.retain(|past| self.server.is_end_visible(past, asking));
        Ok((rows, more))
    }

    /// The player who is meant, by an id or as `me`.
    pub(super) async fn person(
        &self,
        asking: PlayerId,
        meant: &str,
    ) -> Result<PlayerId, WireError> {
        match meant.trim() {
            ME => Ok(asking),
            id => Ok(player_lookup::find_player(&self.server, id).await?.id),
        }
    }

    /// The match that is meant, whether it is there or not.
    async fn kept_match(&self, meant: MatchRef) -> Result<MatchId, WireError> {
        match meant {
            MatchRef::Id(id) => Ok(id),
            MatchRef::Nothing => Err(unknown_match()),
            MatchRef::Code(code) => {
                let found = self
                    .server
                    .store
                    .find_by_code(code)
                    .await
                    .map_err(not_read)?;
                found.ok_or_else(unknown_match)
            }
        }
    }
}

/// How matches went on that began with these moves, in the moves of whoever asks.
async fn explored(
    server: &ServerContext,
    game: &str,
    moves: &[String],
) -> Result<(u64, Vec<ExploredMove>), WireError> {
    let entry = from_protocol::game(game)?;
    let (mut position, mut line) = (entry.initial_position(), Vec::with_capacity(moves.len()));
    for m in moves {
        line.push(position.play(m).map_err(|error| unplayable(&error))?);
    }
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let (same, laid) = entry.canonical_line(&line);
    let found = server.store.explore(entry.info.id, same.join(" ")).await;
    let found = found.map_err(not_read)?;
    let moves = found.moves.iter().map(|(m, tally)| ExploredMove {
        m: entry.transform_move(m, laid.inverse()),
        n: tally.matches,
        won: tally.wins,
        drawn: tally.draws,
    });
    let mut moves: Vec<ExploredMove> = moves.collect();
    moves.sort_by_key(|explored| Reverse(explored.n));
    Ok((found.matches, moves))
}

fn unplayable(error: &PlayError) -> WireError {
    let code = match error {
        PlayError::Unreadable(_) => ErrorCode::UnreadableMove,
        PlayError::Illegal(_) => ErrorCode::IllegalMove,
    };
    WireError::new(code, error.to_string())
}

/// How players name themselves.
const ME: &str = "me";

fn unknown_match() -> WireError {
    WireError::new(ErrorCode::UnknownMatch, "there is no such ended match")
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
pub(super) fn not_read(error: ReadError) -> WireError {
    tracing::error!(%error, "ended matches not read");
    store_read_error(&error)
}
