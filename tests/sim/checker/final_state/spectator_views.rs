//! Checks which events clients without a seat see. These clients must see each event after the
//! spectator delay, but not before. After a private match has started, only the players and the
//! host may see it.

use std::collections::BTreeSet;

use plyhouse_matches::Match;
use plyhouse_protocol::{PlayerId, SpectatorAccess};
use plyhouse_store::MatchRecord;

use super::{FinalStateCheck, ViolationKind};
use crate::checker::observations::SpectatorView;
use crate::client::SPECTATOR_UPDATE_DELAY_MAX;

/// State of a match after an event.
#[derive(Debug)]
struct MatchState {
    /// Timestamp of the event in milliseconds since 1970.
    at_ms: u64,
    /// When the write of the event started, in microseconds.
    written_us: u128,
    durable_us: u128,
    /// Players that held the seats in this state.
    seat_holders: BTreeSet<PlayerId>,
    has_started: bool,
}

impl FinalStateCheck<'_> {
    pub(super) fn check_spectator_views(&mut self) {
        let mut faults = Vec::new();
        for (id, record) in &self.stored.matches {
            let states = self.match_states(record);
            let views = self.observations.spectator_views.iter();
            for view in views.filter(|glimpse| glimpse.id == *id) {
                faults.extend(private_view_violation(record, &states, view));
                if record.creation.terms.spectator_delay_ms == 0 {
                    continue;
                }
                faults.extend(self.late_view_violation(record, &states, view));
                if !is_participant_view(&states, view) {
                    self.tally.delayed_updates += usize::from(view.seq > 0);
                    faults.extend(self.early_view_violation(record, &states, view));
                }
            }
        }
        faults.extend(self.early_chat_violations());
        faults.extend(self.early_rematch_violations());
        for (kind, about) in faults {
            self.report(kind, about);
        }
    }

    /// Returns the states of a match before its first event and after each event.
    fn match_states(&self, record: &MatchRecord) -> Vec<MatchState> {
        let id = record.creation.id;
        let begun = Match::new(record.creation.clone());
        let mut state = begun.expect("the server validated the initial position");
        let mut states = Vec::new();
        for at in 0..=record.events.len() {
            let event = at.checked_sub(1).map(|before| &record.events[before]);
            // Stops at an invalid event, which `check_match` reports.
            if event.is_some_and(|event| state.fold(event).is_err()) {
                break;
            }
            let Some(written) = self.stored.write_times.get(&(id, at as u64)) else {
                break;
            };
            states.push(MatchState {
                at_ms: event.map_or(0, |event| event.at_ms),
                written_us: written.started.as_micros(),
                durable_us: written.durable_at.as_micros(),
                seat_holders: state.seat_holders().collect(),
                has_started: state.has_started(),
            });
        }
        states
    }

    fn early_view_violation(
        &self,
        record: &MatchRecord,
        states: &[MatchState],
        view: &SpectatorView,
    ) -> Option<(ViolationKind, String)> {
        let last = states.get(usize::try_from(view.seq).ok()?)?;
        let visible_ms = u128::from(last.at_ms + record.creation.terms.spectator_delay_ms);
        let now_ms = self.observations.wall_clock.unix_us(view.at_us) / 1000;
        let is_soon = view.seq > 0 && now_ms < visible_ms;
        is_soon.then(|| {
            let about =
                format!("{view:?} was received at {now_ms} but becomes visible at {visible_ms}");
            (ViolationKind::EarlySpectatorUpdate, about)
        })
    }

    /// Checks that a requested view contains every event that the spectator delay allows. After a
    /// failure of the store, the server may send an older state.
    fn late_view_violation(
        &self,
        record: &MatchRecord,
        states: &[MatchState],
        view: &SpectatorView,
    ) -> Option<(ViolationKind, String)> {
        let has_store_failure =
            self.stored.last_read_failure.is_some() || self.has_write_failures(record.creation.id);
        let requested_us = view.requested_us.filter(|_| !has_store_failure)?;
        let delay_us = u128::from(record.creation.terms.spectator_delay_ms) * 1000
            + SPECTATOR_UPDATE_DELAY_MAX.as_micros();
        let is_old = |stood: &&MatchState| stood.durable_us + delay_us <= requested_us;
        let old = states.iter().skip(1).take_while(is_old).count() as u64;
        (view.seq < old).then(|| {
            let about = format!("{view:?} is incomplete: {old} events are visible");
            (ViolationKind::LateSpectatorUpdate, about)
        })
    }

    /// Checks that spectators received chat messages of players only after the spectator delay.
    fn early_chat_violations(&self) -> Vec<(ViolationKind, String)> {
        let chat = self.observations.delayed_chat.iter();
        let too_soon = chat.filter(|(id, preset, at_us)| {
            let Some(record) = self.stored.matches.get(id) else {
                return false;
            };
            let delay_us = u128::from(record.creation.terms.spectator_delay_ms) * 1000;
            let mut sent = self.observations.sent_chat.iter();
            !sent.any(|(of, what, sent_us)| {
                (of, what) == (id, preset) && sent_us + delay_us <= *at_us
            })
        });
        let violations = too_soon.map(|received| {
            (
                ViolationKind::EarlySpectatorUpdate,
                format!("{received:?} was received too early"),
            )
        });
        violations.collect()
    }

    /// Checks that spectators learned of a rematch only after the spectator delay.
    fn early_rematch_violations(&self) -> Vec<(ViolationKind, String)> {
        let rematches = self.observations.delayed_rematches.iter();
        let too_soon = rematches.filter(|(id, next, at_us)| {
            let delay_us = self.stored.matches.get(id).map_or(0, |record| {
                u128::from(record.creation.terms.spectator_delay_ms) * 1000
            });
            let made = self.stored.write_times.get(&(*next, 0));
            made.is_some_and(|made| made.started.as_micros() + delay_us > *at_us)
        });
        let violations = too_soon.map(|rematch| {
            (
                ViolationKind::EarlySpectatorUpdate,
                format!("{rematch:?} was received too early"),
            )
        });
        violations.collect()
    }
}

/// Returns whether the viewer may have received the view as a player. The viewer must have held a
/// seat at some time from just before the last visible event until the time of the view.
fn is_participant_view(states: &[MatchState], view: &SpectatorView) -> bool {
    let from = usize::try_from(view.seq).unwrap_or(usize::MAX);
    let later = states.iter().skip(from.saturating_sub(1));
    let mut later = later.take_while(|stood| stood.written_us <= view.at_us);
    later.any(|stood| {
        let player = view.player.as_ref();
        player.is_some_and(|player| stood.seat_holders.contains(player))
    })
}

/// Checks that only the players and the host see a private match after its start.
fn private_view_violation(
    record: &MatchRecord,
    states: &[MatchState],
    view: &SpectatorView,
) -> Option<(ViolationKind, String)> {
    let creation = &record.creation;
    let state = states.get(usize::try_from(view.seq).ok()?)?;
    let is_private =
        creation.terms.spectator_access == Some(SpectatorAccess::Nobody) && state.has_started;
    let is_participant = view.player.is_some_and(|player| {
        let mut started = states.iter().filter(|stood| stood.has_started);
        creation.host == player || started.any(|stood| stood.seat_holders.contains(&player))
    });
    (is_private && !is_participant).then(|| (ViolationKind::PrivateMatchLeak, format!("{view:?}")))
}
