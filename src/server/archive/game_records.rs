//! Builds the game records of matches for download.

mod error;
mod player_records;

use crate::context::server_context::ServerContext;
use crate::matchmaking::match_loading;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_matches::game_record::{GameRecord, GameRecordError};
use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::{MatchCode, MatchRef, SpectatorAccess};
use plyhouse_store::MatchRecord;
use tokio::sync::SemaphorePermit;

pub use error::ArchiveError;
pub(crate) use error::{lookup_error, read_error};
pub(crate) use player_records::ANONYMOUS_VIEWER;
pub use player_records::GameRecordQuery;

/// The game record of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecordFile {
    /// Code of the match.
    pub code: MatchCode,
    /// Text of the record.
    pub text: String,
}

impl ServerContext {
    /// Builds the game record of a match from the store. Fails with `Busy` if too many records are
    /// being built.
    pub(crate) async fn game_record(
        &self,
        target: MatchRef,
        extension: &str,
    ) -> Result<GameRecordFile, ArchiveError> {
        let _permit = self.acquire_read_permit()?;
        self.build_game_record(target, extension).await
    }

    /// Acquires a permit for a read of the archive. Fails with `Busy` if too many reads are in
    /// progress.
    pub(super) fn acquire_read_permit(&self) -> Result<SemaphorePermit<'_>, ArchiveError> {
        let permit = self.limits.game_record_permits.try_acquire();
        permit.map_err(|_| ArchiveError::Busy)
    }

    async fn build_game_record(
        &self,
        target: MatchRef,
        extension: &str,
    ) -> Result<GameRecordFile, ArchiveError> {
        let MatchRecord { creation, events } = self.spectator_record(target).await?;
        if !has_record_format(creation.game, extension) {
            return Err(ArchiveError::NotFound);
        }
        let (id, code) = (creation.id, creation.code);
        match GameRecord::from_match(creation, &events) {
            Ok(GameRecord { text, .. }) => Ok(GameRecordFile { code, text }),
            Err(GameRecordError::NoFormat { .. }) => Err(ArchiveError::NotFound),
            Err(error) => {
                tracing::error!(match_id = %id, %error, "cannot build a game record");
                Err(ArchiveError::Corrupt)
            }
        }
    }

    /// Loads the part of a match that spectators may see. Responses to HTTP requests must not
    /// reveal any other part of the match.
    pub(crate) async fn spectator_record(
        &self,
        target: MatchRef,
    ) -> Result<MatchRecord, ArchiveError> {
        let loaded = match_loading::load_stored_match(&self.infra, target).await;
        let loaded = loaded.map_err(read_error)?;
        let mut record = loaded.ok_or(ArchiveError::NotFound)?.record;
        let visible = record.visible_to_spectators(self.now_ms()).len();
        record.events.truncate(visible);
        // The check must use only the events that spectators may see, because spectators learn of
        // the start of a match only after the spectator delay.
        match is_private(&record) {
            true => Err(ArchiveError::NotFound),
            false => Ok(record),
        }
    }
}

/// Returns whether the records of a game have this file extension.
fn has_record_format(game: &GameEntry, extension: &str) -> bool {
    let format = game.record_format;
    format.is_some_and(|format| format.extension() == extension)
}

/// Returns whether the match has started and only its players may watch it. HTTP requests are
/// anonymous, so a private match is hidden from all of them.
fn is_private(record: &MatchRecord) -> bool {
    let is_start = |event: &Event| matches!(event.kind, EventKind::Started { .. });
    record.creation.terms.spectator_access() == SpectatorAccess::Nobody
        && record.events.iter().any(is_start)
}
