//! The scoresheets of matches, for download.

use super::births;
use super::shared::Shared;
use plyhouse_matches::scoresheet::{NoScoresheet, Scoresheet};
use plyhouse_matches::{Creation, Event, EventKind};
use plyhouse_protocol::{MatchCode, MatchRef, WatchedBy};
use plyhouse_store::{ReadError, Record};

/// A scoresheet, and of which match it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The match's code.
    pub code: MatchCode,
    /// The text.
    pub text: String,
}

/// There is no scoresheet to be had.
#[derive(Debug, thiserror::Error)]
pub enum NotServed {
    /// There is no such match, or its game is not kept in such files.
    #[error("there is no such record")]
    Unknown,
    /// Too many are being written.
    #[error("too many records are asked for at once")]
    Busy,
    /// The store cannot be read, or what it holds makes no sense.
    #[error("the match cannot be read")]
    Unreadable,
}

impl Shared {
    /// The scoresheet of a match, as the store has it: what was told is there.
    pub(super) async fn scoresheet(
        &self,
        target: MatchRef,
        extension: &str,
    ) -> Result<Served, NotServed> {
        let Ok(_place) = self.scoresheets.try_acquire() else {
            return Err(NotServed::Busy);
        };
        let found = births::find_stored(self, target).await.map_err(not_read)?;
        let Record { creation, events } = found.ok_or(NotServed::Unknown)?.record;
        if is_closed(&creation, &events) {
            return Err(NotServed::Unknown);
        }
        let format = creation.game.record;
        if format.is_none_or(|format| format.extension() != extension) {
            return Err(NotServed::Unknown);
        }
        let (id, code) = (creation.id, creation.code);
        match Scoresheet::of(creation, &events) {
            Ok(Scoresheet { text, .. }) => Ok(Served { code, text }),
            Err(NoScoresheet::NoFormat { .. }) => Err(NotServed::Unknown),
            Err(error @ (NoScoresheet::Damaged(_) | NoScoresheet::NotPlayed(_))) => {
                tracing::error!(match_id = %id, %error, "scoresheet not written");
                Err(NotServed::Unreadable)
            }
        }
    }
}

/// Whether the match has started and nobody but its players may watch it: who asks here is nobody.
fn is_closed(creation: &Creation, events: &[Event]) -> bool {
    let is_start = |event: &Event| matches!(event.kind, EventKind::Started { .. });
    creation.terms.watch() == WatchedBy::Nobody && events.iter().any(is_start)
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn not_read(error: ReadError) -> NotServed {
    tracing::error!(%error, "match not read");
    NotServed::Unreadable
}
