//! Rating changes of a rated match. The server sends them soon after the match has ended.

use std::time::Duration;

use plyhouse_protocol::{EndReason, MatchId, Ply, RatingChange, Snapshot, UnratedReason};

use super::{Effect, PlaySession};
use crate::exit::Failure;
use crate::view;

/// Maximum time that `ply` waits for the rating changes after the match has ended.
const RATING_TIMEOUT: Duration = Duration::from_secs(5);

/// Minimum number of plies that a match needs to change ratings.
const RATED_PLIES_MIN: Ply = Ply(2);

impl PlaySession {
    /// Ends the run with `result` after printing the rating changes. If the server has not sent the
    /// changes yet, the run waits up to [`RATING_TIMEOUT`]. The run does not wait if the match has
    /// a spectator delay.
    pub(super) fn end_after_rating(&mut self, snapshot: &Snapshot, result: Result<(), Failure>) {
        if can_change_ratings(snapshot) {
            if let Some(changes) = &snapshot.rating_changes {
                self.print_rating_changes(snapshot, changes, None);
            } else if snapshot.spectator_delay_ms == 0 {
                let end_on_timeout = Effect::EndWithin(RATING_TIMEOUT, result.clone());
                self.effects.push(end_on_timeout);
                self.result_after_rating = Some(result);
                return;
            }
        }
        self.end(result);
    }

    /// Prints the rating changes of a match. Ends the run if the run was waiting for these changes.
    pub(super) fn on_rating(
        &mut self,
        match_id: MatchId,
        changes: &[RatingChange],
        reason: Option<UnratedReason>,
    ) {
        let Some(match_state) = self.match_state_mut(match_id) else {
            return;
        };
        let snapshot = match_state.snapshot.clone();
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
                    "Ratings unchanged: repeated game, or too many games between these players."
                }
                Some(UnratedReason::PlayerExcluded) | None => "Ratings unchanged.",
            });
        }
    }
}

/// Returns whether the ended match may change ratings.
fn can_change_ratings(snapshot: &Snapshot) -> bool {
    let outcome = snapshot.outcome.as_ref();
    let is_aborted = outcome.is_none_or(|outcome| outcome.reason == Some(EndReason::Aborted));
    snapshot.rated && snapshot.ply >= RATED_PLIES_MIN && !is_aborted
}
