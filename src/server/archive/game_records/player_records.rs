//! Streams the records of all public matches of a player. At most one page of match ids and a
//! single record are in memory at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{self, Stream, StreamExt};
use plyhouse_engine::catalog::GameEntry;
use plyhouse_protocol::{MatchId, MatchRef, PlayerId};
use plyhouse_store::{HistoryQuery, PastMatch};
use uuid::Uuid;

use super::error::{ArchiveError, lookup_error, read_error};
use super::has_record_format;
use crate::connection::ip_limits::Address;
use crate::context::server_context::ServerContext;
use crate::players::player_lookup;
use crate::wire::from_protocol;

/// Number of matches that are read from the store at a time.
const PAGE_SIZE: usize = 50;

/// Viewer id for anonymous requests. The nil id belongs to no player, so only public matches are
/// visible.
pub(crate) const ANONYMOUS_VIEWER: PlayerId = PlayerId(Uuid::nil());

/// Permit for a download, released on drop.
#[derive(Debug)]
struct DownloadPermit {
    server: Arc<ServerContext>,
    address: Option<Address>,
}

impl Drop for DownloadPermit {
    fn drop(&mut self) {
        self.server.limits.download_limits.release(self.address);
    }
}

/// Query for the game records of a player.
#[derive(Clone, Copy, Debug)]
pub struct GameRecordQuery<'a> {
    /// Name of an account, or id of a player.
    pub player: &'a str,
    /// If given, only matches of this game are included.
    pub game: Option<&'a str>,
    /// File extension of the record format.
    pub extension: &'a str,
}

/// State of a running download.
struct GameRecordReader {
    permit: DownloadPermit,
    player: PlayerId,
    game: Option<&'static GameEntry>,
    extension: String,
    /// Remaining matches of the current page.
    next_ids: VecDeque<MatchId>,
    /// Last match of the current page. The next page begins after this match.
    cursor: Option<MatchId>,
    is_last_page: bool,
    has_written: bool,
}

impl ServerContext {
    /// Streams the game records of the public matches of a player, starting with the match that
    /// ended last.
    pub(crate) async fn game_records_of(
        self: &Arc<Self>,
        query: GameRecordQuery<'_>,
        address: Option<Address>,
    ) -> Result<impl Stream<Item = Result<String, ArchiveError>> + Send + use<>, ArchiveError> {
        let game = query.game.map(from_protocol::game).transpose();
        let game = game.map_err(|_| ArchiveError::NotFound)?;
        if game.is_some_and(|entry| !has_record_format(entry, query.extension)) {
            return Err(ArchiveError::NotFound);
        }
        let player = self.resolve_player(query.player).await?;
        self.limits.download_limits.acquire(address)?;
        let mut reader = GameRecordReader {
            permit: DownloadPermit {
                server: Arc::clone(self),
                address,
            },
            player,
            game,
            extension: query.extension.to_owned(),
            next_ids: VecDeque::new(),
            cursor: None,
            is_last_page: false,
            has_written: false,
        };
        // The first record is read before the response begins, so that a read error can still be
        // reported as an HTTP error.
        let first = reader.next_record().await?;
        let rest = stream::try_unfold(reader, |mut reader| async {
            let next = reader.next_record().await?;
            Ok(next.map(|text| (text, reader)))
        });
        Ok(stream::iter(first.map(Ok)).chain(rest))
    }

    /// Resolves a player id or an account name to the id of an existing player.
    pub(crate) async fn resolve_player(&self, player: &str) -> Result<PlayerId, ArchiveError> {
        let found = match from_protocol::player_id(player) {
            Some(id) => player_lookup::load_record(self, id)
                .await
                .map(|record| record.id),
            None => player_lookup::find_by_name(&self.infra, player).await,
        };
        found.map_err(lookup_error)
    }
}

impl GameRecordReader {
    /// Returns the text of the next game record, or `None` after the last record.
    async fn next_record(&mut self) -> Result<Option<String>, ArchiveError> {
        loop {
            if self.permit.server.infra.tasks.is_stopping() {
                return Err(ArchiveError::Busy);
            }
            let Some(id) = self.next_ids.pop_front() else {
                if self.is_last_page {
                    return Ok(None);
                }
                self.load_page().await?;
                continue;
            };
            let server = &self.permit.server;
            let replay_permits = &server.limits.replay_permits;
            let Ok(_permit) = replay_permits.acquire().await else {
                return Err(ArchiveError::Busy);
            };
            let target = MatchRef::Id(id);
            match server.build_game_record(target, &self.extension).await {
                Ok(record) => {
                    // An additional newline separates the games in the file.
                    let between = if self.has_written { "\n" } else { "" };
                    self.has_written = true;
                    return Ok(Some(format!("{between}{}", record.text)));
                }
                // A match that was deleted, is hidden from spectators or is damaged is skipped, so
                // that the other records can be downloaded.
                Err(ArchiveError::NotFound | ArchiveError::Corrupt) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Loads the next page of matches.
    async fn load_page(&mut self) -> Result<(), ArchiveError> {
        let query = HistoryQuery {
            viewer: ANONYMOUS_VIEWER,
            game: self.game.map(|entry| entry.info.id),
            before: self.cursor,
            ..HistoryQuery::for_player(self.player, PAGE_SIZE)
        };
        let found = self.permit.server.store().history(query).await;
        // The store returns `None` if the match at the cursor was deleted after the last page was
        // read. In this case, all older matches have been deleted as well, so the empty page ends
        // the download.
        let page = found.map_err(read_error)?.unwrap_or_default();
        self.is_last_page = page.len() < PAGE_SIZE;
        self.cursor = page.last().map(|past| past.creation.id);
        let server = &self.permit.server;
        let is_downloadable = |past: &&PastMatch| {
            server.is_end_visible(past, ANONYMOUS_VIEWER)
                && has_record_format(past.creation.game, &self.extension)
        };
        let downloadable = page.iter().filter(is_downloadable);
        self.next_ids = downloadable.map(|past| past.creation.id).collect();
        Ok(())
    }
}
