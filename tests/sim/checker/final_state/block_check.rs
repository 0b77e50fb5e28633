//! Nobody sits down with whoever they do not meet.

use plyhouse_matches::{Event, EventKind, Match};

use super::{FinalStateCheck, StateBefore, ViolationKind};

/// How long a block has stood of which everybody must know who lets somebody sit down, in microseconds: a match
/// of before may be on its way to the store.
const BLOCK_PROPAGATION_MAX_US: u128 = 2_000_000;

impl FinalStateCheck<'_> {
    /// A seat that was the player's before is no matter of that, nor is a rematch that was agreed on before.
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
