//! The scoresheets of matches, for download.

mod error;
mod player_records;

use crate::context::server_context::ServerContext;
use crate::matchmaking::match_loading;
use plyhouse_matches::scoresheet::{NoScoresheet, Scoresheet};
use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::{MatchCode, MatchRef, WatchedBy};
use plyhouse_store::Record;

pub use error::NotServed;
pub(crate) use error::not_read;
pub(crate) use player_records::STRANGER;
pub use player_records::Wanted;

/// A scoresheet, and of which match it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The match's code.
    pub code: MatchCode,
    /// The text.
    pub text: String,
}

impl ServerContext {
    /// The scoresheet of a match, as the store has it: what was told is there.
    pub(crate) async fn scoresheet(
        &self,
        target: MatchRef,
        extension: &str,
    ) -> Result<Served, NotServed> {
        let Ok(_place) = self.game_record_permits.try_acquire() else {
            return Err(NotServed::Busy);
        };
        self.written(target, extension).await
    }

    /// Writes the match down for whoever may wait as long as it takes.
    async fn write(&self, target: MatchRef, extension: &str) -> Result<Served, NotServed> {
        let Ok(_place) = self.replay_permits.acquire().await else {
            return Err(NotServed::Busy);
        };
        self.written(target, extension).await
    }

    async fn written(&self, target: MatchRef, extension: &str) -> Result<Served, NotServed> {
        let Record { creation, events } = self.shown(target).await?;
        let format = creation.game.record;
        if format.is_none_or(|format| format.extension() != extension) {
            return Err(NotServed::Unknown);
        }
        let (id, code) = (creation.id, creation.code);
        match Scoresheet::of(creation, &events) {
            Ok(Scoresheet { text, .. }) => Ok(Served { code, text }),
            Err(NoScoresheet::NoFormat { .. }) => Err(NotServed::Unknown),
            Err(
                error @ (NoScoresheet::Damaged(_)
                | NoScoresheet::NotBegun(_)
                | NoScoresheet::NotPlayed(_)),
            ) => {
                tracing::error!(match_id = %id, %error, "scoresheet not written");
                Err(NotServed::Damaged)
            }
        }
    }

    /// What a stranger may see of a match: all that is told outside of a connection goes by this.
    pub(crate) async fn shown(&self, target: MatchRef) -> Result<Record, NotServed> {
        let found = match_loading::find_stored(self, target)
            .await
            .map_err(not_read)?;
        let mut record = found.ok_or(NotServed::Unknown)?.record;
        let told = record.visible_to_spectators(self.clock.now_ms()).len();
        record.events.truncate(told);
        // As far as may be known: the start is told late, too.
        match is_closed(&record) {
            true => Err(NotServed::Unknown),
            false => Ok(record),
        }
    }
}

/// Whether the match has started and nobody but its players may watch it: who asks here is nobody.
fn is_closed(record: &Record) -> bool {
    let is_start = |event: &Event| matches!(event.kind, EventKind::Started { .. });
    record.creation.terms.watch() == WatchedBy::Nobody && record.events.iter().any(is_start)
}
