//! Checks that blocked players are not seated together.

use plyhouse_matches::{Event, EventKind, Match};

use super::{FinalStateCheck, StateBefore, ViolationKind};

/// Maximum time until a block affects new matches, in microseconds. The server may still be writing
/// a match that it created before the block.
const BLOCK_PROPAGATION_MAX_US: u128 = 2_000_000;

impl FinalStateCheck<'_> {
    /// Checks that an event does not seat two players against each other if one has blocked the
    /// other. A player who returns to a seat is exempt, and so are rematches.
    pub(super) fn check_blocked_opponents(
        &mut self,
        state: &Match,
        state_before: &StateBefore,
        event: &Event,
    ) {
        let EventKind::Seated { seat, occupant } = &event.kind else {
            return;
        };
        let (Some(player), Some(other)) =
            (occupant.player(), state.occupant(seat.other()).holder())
        else {
            return;
        };
        let is_new = !state_before.has_seat(player) && state.creation().terms.previous.is_none();
        let key = (state.id(), state.seq().0);
        let Some(written) = self.stored.write_times.get(&key).filter(|_| is_new) else {
            return;
        };
        let block_time = (written.started.as_micros(), BLOCK_PROPAGATION_MAX_US);
        if self
            .observations
            .chat_blocks
            .were_blocked(player, other, block_time)
        {
            let about = format!("{player} was seated with {other} in {}", state.id());
            self.report(ViolationKind::IgnoredBlock, about);
        }
    }
}
