//! What a rated match has changed: told when it is known, which is soon after the match has ended.

use std::time::Duration;

use plyhouse_protocol::{EndReason, MatchId, Ply, RatingChange, Snapshot, UnratedReason};

use super::{Effect, PlaySession};
use crate::exit::Failure;
use crate::view;

/// How long a run that is over waits for what its match has changed.
const RATING_TIMEOUT: Duration = Duration::from_secs(5);

/// The plies that a match has at least that is rated.
const RATED_PLIES_MIN: Ply = Ply(2);

impl PlaySession {
    /// The match is over, and the run comes to this result; but first to what the match has changed, if that is
    /// told soon.
    pub(super) fn end_after_rating(&mut self, snapshot: &Snapshot, result: Result<(), Failure>) {
        if let Some(changes) = snapshot
            .rating_changes
            .as_deref()
            .filter(|_| can_change_ratings(snapshot))
        {
            self.print_rating_changes(snapshot, changes, None);
        } else if can_change_ratings(snapshot) && snapshot.spectator_delay_ms == 0 {
            self.effects
                .push(Effect::EndWithin(RATING_TIMEOUT, result.clone()));
            self.result_after_rating = Some(result);
            return;
        }
        self.end(result);
    }

    /// Tells what a rated match has changed, for which the end of the run may have waited.
    pub(super) fn on_rating(
        &mut self,
        match_id: MatchId,
        changes: &[RatingChange],
        reason: Option<UnratedReason>,
    ) {
        let Some(snapshot) = self
            .match_state_mut(match_id)
            .map(|table| table.snapshot.clone())
        else {
            return;
        };
        self.print_rating_changes(&snapshot, changes, reason);
        if let Some(result) = self.result_after_rating.take() {
            self.end(result);
        }
    }

    fn print_rating_changes(
        &mut self,
        snapshot: &Snapshot,
        changes: &[RatingChange],
        reason: Option<UnratedReason>,
    ) {
        for change in changes {
            let who = view::side_text(snapshot, change.seat);
            let unsure = if change.provisional { "?" } else { "" };
            self.print(format!(
                "Rating of {who}: {} → {}{unsure}",
                change.before, change.after
            ));
        }
        if changes.is_empty() {
            self.print(match reason {
                Some(UnratedReason::Farming) => {
                    "No ratings change: you two have played this lately, or play too much."
                }
                Some(UnratedReason::PlayerExcluded) | None => "No ratings change.",
            });
        }
    }
}

/// Whether a match that has ended changes ratings, or is at least looked at for that.
fn can_change_ratings(snapshot: &Snapshot) -> bool {
    let outcome = snapshot.outcome.as_ref();
    let is_aborted = outcome.is_none_or(|outcome| outcome.reason == Some(EndReason::Aborted));
    snapshot.rated && snapshot.ply >= RATED_PLIES_MIN && !is_aborted
}
