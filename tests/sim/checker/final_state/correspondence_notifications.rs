//! Checks the turn notifications of correspondence matches, and the correspondence matches in each
//! `welcome`.

use std::collections::BTreeSet;

use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{FollowedMatch, MatchId, PlayerId, Ply, SeatNumber};

use super::{FinalStateCheck, ViolationKind};
use crate::checker::clocks::ExpectedClock;
use crate::checker::clocks::Turn;
use crate::checker::observations::{CorrespondenceList, TurnNotification};
use crate::world::RESTART_GRACE;

/// State of a correspondence match after an event.
#[derive(Debug)]
pub(super) struct CorrespondenceState {
    id: MatchId,
    seq: u64,
    game: &'static str,
    ply: Ply,
    /// Player whose turn it is, with the deadline of the turn in milliseconds since 1970.
    turn: Option<(PlayerId, u64)>,
    seat: Option<SeatNumber>,
    /// Whether the event began the turn.
    begins_turn: bool,
    /// Seat holders and host of the match. The set is empty after the match has ended.
    players: BTreeSet<PlayerId>,
    /// When the write of the event started, in microseconds.
    written_us: u128,
    durable_us: u128,
}

impl FinalStateCheck<'_> {
    /// Records the state of a correspondence match after an event.
    pub(super) fn record_correspondence_state(
        &mut self,
        state: &Match,
        clock: &ExpectedClock<'_>,
        begins_turn: bool,
    ) {
        let (id, seq) = (state.id(), state.seq().0);
        let written = self.stored.write_times.get(&(id, seq));
        let Some(written) = written.filter(|_| state.creation().terms.is_correspondence()) else {
            return;
        };
        let is_live = !matches!(state.stage(), Stage::Ended { .. });
        let players = state.seat_holders().chain([state.creation().host]);
        let turn = clock.correspondence_turn(Turn::from_state(state));
        self.correspondence_states.push(CorrespondenceState {
            id,
            seq,
            game: state.creation().game.info.id,
            ply: state.ply(),
            turn,
            seat: state
                .turn()
                .map(|seat| SeatNumber(u8::from(seat.index() == 1))),
            begins_turn: begins_turn && turn.is_some(),
            players: players.filter(|_| is_live).collect(),
            written_us: written.started.as_micros(),
            durable_us: written.durable_at.as_micros(),
        });
    }

    /// Checks that each turn notification was correct and that no player missed one.
    pub(super) fn check_turn_notifications(&mut self) {
        let states = std::mem::take(&mut self.correspondence_states);
        let turns = &self.observations.turn_notifications;
        let wrong = turns.iter().filter(|notification| {
            let mut possible = states.iter();
            !possible.any(|state| notification_matches(notification, state))
        });
        let mut faults: Vec<String> = wrong
            .map(|notification| format!("{notification:?} matches no turn"))
            .collect();
        faults.extend(
            states
                .iter()
                .flat_map(|state| self.missing_notifications(&states, state)),
        );
        faults.extend(
            self.observations
                .correspondence_lists
                .iter()
                .filter_map(|list| self.correspondence_list_error(&states, list)),
        );
        self.tally.turn_notifications = turns.len();
        for about in faults {
            self.report(ViolationKind::WrongTurn, about);
        }
    }

    /// Returns an error for each connection that did not receive the notification of a new turn.
    fn missing_notifications(
        &self,
        states: &[CorrespondenceState],
        state: &CorrespondenceState,
    ) -> Vec<String> {
        let received_us = self.observations.matches.get(&state.id);
        let received_us =
            received_us.and_then(|observed| observed.first_received_us.get(&state.seq));
        let next = states
            .iter()
            .find(|next| (next.id, next.seq) == (state.id, state.seq + 1));
        // The server may omit the notification if the write of the next event started before this
        // event was durable. The turn may already be over when this event becomes durable.
        let lasts = next.is_none_or(|next| next.written_us > state.durable_us);
        let (Some((player, due_ms)), Some(first_received_us)) = (state.turn, received_us) else {
            return Vec::new();
        };
        let recipients = self
            .observations
            .logged_in_connections()
            .filter(|listener| {
                let is_there = listener.from_us <= state.written_us
                    && *first_received_us <= listener.delivered_until_us;
                listener.player == player && is_there && !listener.ever_followed.contains(&state.id)
            });
        let missing = recipients.filter(|listener| {
            let mut notifications = self.observations.turn_notifications.iter();
            let is_it = |notification: &TurnNotification| {
                notification.connection == listener.connection
                    && notification_matches(notification, state)
            };
            state.begins_turn && lasts && !notifications.any(is_it)
        });
        missing
            .map(|listener| {
                format!(
                    "{listener:?} did not receive a notification of {state:?}, deadline {due_ms}"
                )
            })
            .collect()
    }

    /// Returns an error if the correspondence matches in a `welcome` are wrong.
    fn correspondence_list_error(
        &self,
        all_states: &[CorrespondenceState],
        received: &CorrespondenceList,
    ) -> Option<String> {
        let (requested_us, at_us) = received.times;
        let CorrespondenceList { player, rows, .. } = received;
        let fits = |row: &FollowedMatch| {
            let states = all_states.iter().filter(|state| state.id == row.match_id);
            let mut states = states.filter(|state| state.durable_us <= at_us);
            states.any(|state| {
                state.players.contains(player) && self.row_shows_state(row, state, requested_us)
            })
        };
        if let Some(row) = rows.iter().find(|row| !fits(row)) {
            return Some(format!("{row:?} was sent to {player}"));
        }
        // A match must be listed if the player took part in it or hosted it during the whole time
        // between the request and the reply.
        let ids: BTreeSet<MatchId> = all_states.iter().map(|state| state.id).collect();
        let missing = ids.into_iter().find(|id| {
            let states = all_states.iter().filter(|state| state.id == *id);
            let before = states
                .clone()
                .rfind(|state| state.durable_us <= requested_us);
            let first = before.map(|before| before.seq);
            let is_concurrent = |state: &&CorrespondenceState| {
                Some(state.seq) >= first && state.written_us <= at_us
            };
            let is_theirs = states
                .filter(is_concurrent)
                .all(|state| state.players.contains(player));
            first.is_some() && is_theirs && !rows.iter().any(|row| row.match_id == *id)
        });
        missing.map(|id| format!("{player} did not receive {id}: {rows:?}"))
    }

    /// Returns whether a match row of a `welcome` shows this state. `requested_us` is the time of
    /// the `hello` request.
    fn row_shows_state(
        &self,
        row: &FollowedMatch,
        state: &CorrespondenceState,
        requested_us: u128,
    ) -> bool {
        let Some(correspondence) = &row.correspondence else {
            return false;
        };
        let deadline_ms = state.turn.map(|(_, due_ms)| due_ms);
        // Shortly after a restart the server may report a later deadline for an expired turn, up to
        // the end of the grace period.
        let grace_end_us = requested_us + RESTART_GRACE.as_micros();
        let grace_end_ms = self.observations.wall_clock.unix_us(grace_end_us) / 1000;
        let is_deadline = match (correspondence.deadline_ms, deadline_ms) {
            (Some(told), Some(due)) => {
                told == due || due < told && u128::from(told) <= grace_end_ms
            }
            (told, due) => told == due,
        };
        correspondence.is_correspondence && correspondence.turn == state.seat && is_deadline
    }
}

/// Returns whether a turn notification is correct for the given match state.
fn notification_matches(notification: &TurnNotification, state: &CorrespondenceState) -> bool {
    let turn = notification
        .player
        .map(|player| (player, notification.deadline_ms));
    turn.is_some()
        && state.turn == turn
        && (notification.id, notification.ply) == (state.id, state.ply)
        && notification.game == state.game
        && state.durable_us <= notification.at_us
}
