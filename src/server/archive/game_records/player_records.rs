//! All public matches of a player in one file, which is written while it is read: however many they are, no
//! more of them is in memory than what a page of them is called, and one.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{self, Stream, StreamExt};
use plyhouse_engine::catalog::GameEntry;
use plyhouse_protocol::{ErrorCode, MatchId, MatchRef, PlayerId, WireError};
use plyhouse_store::HistoryQuery;
use uuid::Uuid;

use super::error::{ArchiveError, read_error};
use crate::archive::download_limits::DownloadLimitReached;
use crate::connection::ip_limits::Address;
use crate::context::server_context::ServerContext;
use crate::players::player_lookup;
use crate::wire::from_protocol;

/// How many matches are looked up at a time.
const PAGE_SIZE: usize = 50;

/// Whoever asks outside of a connection may be anybody, and finds what anybody finds.
pub(crate) const ANONYMOUS_VIEWER: PlayerId = PlayerId(Uuid::nil());

/// A place among those for whom such files are written, given back when dropped.
#[derive(Debug)]
struct DownloadPermit {
    server: Arc<ServerContext>,
    address: Option<Address>,
}

impl Drop for DownloadPermit {
    fn drop(&mut self) {
        self.server.download_limits.release(self.address);
    }
}

/// Which matches are wanted, of whom, and how they are written.
#[derive(Clone, Copy, Debug)]
pub struct GameRecordQuery<'a> {
    /// The name of a player, if it is theirs alone, or the id.
    pub player: &'a str,
    /// Only matches of this game.
    pub game: Option<&'a str>,
    /// What the names of such files end with.
    pub extension: &'a str,
}

/// How far such a file has come.
struct GameRecordReader {
    permit: DownloadPermit,
    player: PlayerId,
    game: Option<&'static GameEntry>,
    extension: String,
    /// What comes next.
    next_ids: VecDeque<MatchId>,
    /// The last match of the page, if there may be another one.
    cursor: Option<MatchId>,
    is_last_page: bool,
    has_written: bool,
}

impl ServerContext {
    /// The scoresheets of the public matches of a player, the newest end first.
    pub(crate) async fn game_records_of(
        self: &Arc<Self>,
        query: GameRecordQuery<'_>,
        address: Option<Address>,
    ) -> Result<impl Stream<Item = Result<String, ArchiveError>> + Send + use<>, ArchiveError> {
        let game = query.game.map(from_protocol::game).transpose();
        let game = game.map_err(|_| ArchiveError::NotFound)?;
        let has_format = |entry: &GameEntry| {
            let format = entry.record_format.map(|format| format.extension());
            format == Some(query.extension)
        };
        if game.is_some_and(|entry| !has_format(entry)) {
            return Err(ArchiveError::NotFound);
        }
        let player = self.resolve_player(query.player).await?;
        self.download_limits
            .acquire(address)
            .map_err(|full| match full {
                DownloadLimitReached::PerAddress => ArchiveError::AddressBusy,
                DownloadLimitReached::Total => ArchiveError::Busy,
            })?;
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
        // So that what cannot be read is told before the file begins.
        let first = reader.next_record().await?;
        let rest = stream::try_unfold(reader, |mut reader| async {
            let next = reader.next_record().await?;
            Ok(next.map(|text| (text, reader)))
        });
        Ok(stream::iter(first.map(Ok)).chain(rest))
    }

    /// The player with this id, or with this name alone.
    pub(crate) async fn resolve_player(&self, player: &str) -> Result<PlayerId, ArchiveError> {
        let found = match from_protocol::player_id(player) {
            Some(id) => player_lookup::load_record(self, id)
                .await
                .map(|record| record.id),
            None => player_lookup::find_by_name(self, player).await,
        };
        found.map_err(|WireError { code, .. }| match code {
            Some(ErrorCode::UnknownPlayer) => ArchiveError::NotFound,
            _ => ArchiveError::StoreUnavailable,
        })
    }
}

impl GameRecordReader {
    /// What comes next in the file.
    async fn next_record(&mut self) -> Result<Option<String>, ArchiveError> {
        loop {
            if self.permit.server.is_stopping() {
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
            match server
                .wait_for_game_record(MatchRef::Id(id), &self.extension)
                .await
            {
                Ok(record) => {
                    // What stands between the games of a file.
                    let between = if self.has_written { "\n" } else { "" };
                    self.has_written = true;
                    return Ok(Some(format!("{between}{}", record.text)));
                }
                // It has been forgotten meanwhile, or is none of a stranger's business, or makes no sense,
                // which is no reason to keep the others back.
                Err(ArchiveError::NotFound | ArchiveError::Corrupt) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Looks up which matches come next.
    async fn load_page(&mut self) -> Result<(), ArchiveError> {
        let query = HistoryQuery {
            viewer: ANONYMOUS_VIEWER,
            game: self.game.map(|entry| entry.info.id),
            before: self.cursor,
            ..HistoryQuery::for_player(self.player, PAGE_SIZE)
        };
        let found = self.permit.server.store.history(query).await;
        // What ended before a match that has been forgotten meanwhile has been forgotten, too.
        let page = found.map_err(read_error)?.unwrap_or_default();
        self.is_last_page = page.len() < PAGE_SIZE;
        self.cursor = page.last().map(|past| past.creation.id);
        let has_format = |entry: &GameEntry| {
            let format = entry.record_format.map(|format| format.extension());
            format == Some(&*self.extension)
        };
        let server = &self.permit.server;
        let visible = page
            .iter()
            .filter(|past| server.is_end_visible(past, ANONYMOUS_VIEWER));
        let fitting = visible.map(|past| &past.creation);
        let fitting = fitting.filter(|creation| has_format(creation.game));
        self.next_ids = fitting.map(|creation| creation.id).collect();
        Ok(())
    }
}
