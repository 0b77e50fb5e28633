//! Nobody sits down with whoever they do not meet.

use plyhouse_matches::{Event, EventKind, Match};

use super::{Before, Keeping, Kind};

/// How long a block has stood of which everybody must know who lets somebody sit down, in microseconds: a match
/// of before may be on its way to the store.
const KNOWN_US: u128 = 2_000_000;

impl Keeping<'_> {
    /// A seat that was the player's before is no matter of that, nor is a rematch that was agreed on before.
    pub(super) fn met(&mut self, state: &Match, was: &Before, event: &Event) {
        let EventKind::Seated { seat, occupant } = &event.kind else {
            return;
        };
        let (Some(player), Some(other)) =
            (occupant.player(), state.occupant(seat.other()).holder())
        else {
            return;
        };
        let is_new = !was.held_by(player) && state.creation().terms.previous.is_none();
        let key = (state.id(), state.seq().0);
        let Some(written) = self.kept.written.get(&key).filter(|_| is_new) else {
            return;
        };
        let when = (written.asked.as_micros(), KNOWN_US);
        if self.reading.words.were_apart(player, other, when) {
            let about = format!("{player} sits down with {other} in {}", state.id());
            self.fault(Kind::Met, about);
        }
    }
}
