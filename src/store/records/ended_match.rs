//! What the store files when a match ends.

use std::collections::BTreeSet;

use plyhouse_matches::ratings::RatedGame;
use plyhouse_matches::{EndedMatchSummary, Event, Match};
use plyhouse_protocol::{MatchId, PlayerId};

use super::match_record::numbering_due_ms;
use super::past_matches::seat_results;
use crate::account_deletion::remove_names_from_summary;

/// An ended match, as the histories, the opening statistics and the rating ledger need it.
#[derive(Clone, Debug)]
pub struct EndedMatch {
    pub(crate) id: MatchId,
    /// Id of the game.
    pub(crate) game: &'static str,
    pub(crate) is_public: bool,
    /// Time at which the match ended, as Unix time in milliseconds.
    pub(crate) ended_ms: u64,
    pub(crate) summary: EndedMatchSummary,
    pub(crate) rated_game: Option<RatedGame>,
    /// Time at which a rated match gets its ledger number. See
    /// [`MatchRecord::numbering_due_ms`](crate::MatchRecord::numbering_due_ms).
    pub(crate) numbering_due_ms: Option<u64>,
}

impl EndedMatch {
    /// Returns the match as it ends with the given events. Returns `None` if the events do not end
    /// it, or if the match did not start or is excluded from histories.
    #[must_use]
    pub fn after(state: &Match, events: &[Event]) -> Option<Self> {
        let end_event = events.last().filter(|last| last.is_end())?;
        let mut ended = state.clone();
        events.iter().try_for_each(|event| ended.fold(event)).ok()?;
        Self::from_match(&ended, end_event.at_ms)
    }

    /// Returns a match that ended at the Unix time `ended_ms`, in milliseconds. Returns `None` if
    /// the match did not start or is excluded from histories.
    pub(crate) fn from_match(state: &Match, ended_ms: u64) -> Option<Self> {
        let creation = state.creation();
        Some(Self {
            id: creation.id,
            game: creation.game.info.id,
            is_public: creation.terms.is_public(),
            ended_ms,
            summary: state.ended_summary()?,
            rated_game: state.rated_game(),
            numbering_due_ms: numbering_due_ms(&creation.terms, ended_ms),
        })
    }

    /// Returns the players who sat in the match at its start.
    pub(crate) fn players(&self) -> Vec<PlayerId> {
        let results = seat_results(&self.summary);
        results.map(|seat_result| seat_result.player).collect()
    }

    /// Replaces the names of deleted players.
    pub(crate) fn remove_names(&mut self, deleted: &BTreeSet<PlayerId>) {
        remove_names_from_summary(&mut self.summary, deleted);
    }
}
