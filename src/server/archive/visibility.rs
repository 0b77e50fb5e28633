//! Visibility of ended matches.

use crate::context::server_context::ServerContext;
use plyhouse_matches::SeatAtStart;
use plyhouse_protocol::{MatchId, MatchRef, MatchStatus, PlayerId};
use plyhouse_store::PastMatch;

/// Maximum spectator delay, in milliseconds.
pub(crate) const DELAY_MAX_MS: u64 = 600_000;

impl ServerContext {
    /// Returns whether the viewer may know that this match has ended. Players of the match may know
    /// of the end at once. Other viewers may know of it only after the spectator delay.
    pub(crate) fn is_end_visible(&self, past: &PastMatch, viewer: PlayerId) -> bool {
        let visible_ms = past
            .ended_ms
            .saturating_add(past.creation.terms.spectator_delay_ms);
        let mut starters = past.summary.seats.iter();
        visible_ms <= self.now_ms()
            || starters.any(|seat| SeatAtStart::player(seat) == Some(viewer))
    }

    /// Returns whether the end of this match must be hidden from the viewer. The end is hidden if
    /// the viewer may not see the match at all, or if the match must still appear unfinished to the
    /// viewer. Returns `false` for a match that is no longer in memory.
    pub(crate) fn is_end_hidden(&self, id: MatchId, viewer: PlayerId) -> bool {
        let Some(handle) = self.matches.lobby.find(MatchRef::Id(id)) else {
            return false;
        };
        let summary = handle.summary();
        let has_shown_end =
            summary.holds_seat(viewer) || summary.shown_status() == MatchStatus::Ended;
        summary.is_hidden_from(viewer) || !has_shown_end
    }
}
