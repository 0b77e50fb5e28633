//! Whether players were told of their turns in matches of days, and of these matches when they came.

use std::collections::BTreeSet;

use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{FollowedMatch, MatchId, PlayerId, Ply, SeatNumber};

use super::{Keeping, Kind};
use crate::checker::clocks::Clock;
use crate::checker::clocks::Turn;
use crate::checker::reading::{RowsTold, TurnTold};
use crate::world::RESTART_GRACE;

/// How a match of days stood after an event.
#[derive(Debug)]
pub(super) struct DaysState {
    id: MatchId,
    seq: u64,
    game: &'static str,
    ply: Ply,
    /// Who is to move, and by when.
    turn: Option<(PlayerId, u64)>,
    seat: Option<SeatNumber>,
    /// Whether it was given to them by the event.
    is_given: bool,
    /// Whose match it is; nobody's once it has ended.
    players: BTreeSet<PlayerId>,
    /// When the event was going to be written, and when it was durable, in microseconds.
    asked_us: u128,
    durable_us: u128,
}

impl Keeping<'_> {
    /// Takes note of how a match of days stands after an event.
    pub(super) fn note_days(&mut self, state: &Match, clock: &Clock<'_>, begins_turn: bool) {
        let (id, seq) = (state.id(), state.seq().0);
        let written = self.kept.written.get(&(id, seq));
        let Some(written) = written.filter(|_| state.creation().terms.is_correspondence()) else {
            return;
        };
        let is_live = !matches!(state.stage(), Stage::Ended { .. });
        let players = state.seat_holders().chain([state.creation().host]);
        let turn = clock.days_turn(Turn::of(state));
        self.days.push(DaysState {
            id,
            seq,
            game: state.creation().game.info.id,
            ply: state.ply(),
            turn,
            seat: state
                .turn()
                .map(|seat| SeatNumber(u8::from(seat.index() == 1))),
            is_given: begins_turn && turn.is_some(),
            players: players.filter(|_| is_live).collect(),
            asked_us: written.asked.as_micros(),
            durable_us: written.durable.as_micros(),
        });
    }

    /// Everybody who was told of a turn had it, and everybody was told who had to be.
    pub(super) fn turns(&mut self) {
        let days = std::mem::take(&mut self.days);
        let turns = &self.reading.turns;
        let wrong = turns.iter().filter(|told| {
            let mut possible = days.iter();
            !possible.any(|state| is_of(told, state))
        });
        let mut faults: Vec<String> = wrong.map(|told| format!("{told:?} is nobody's")).collect();
        faults.extend(days.iter().flat_map(|state| self.untold(&days, state)));
        faults.extend(
            self.reading
                .rows
                .iter()
                .filter_map(|told| self.wrong_rows(&days, told)),
        );
        self.tally.turns_told = turns.len();
        for about in faults {
            self.fault(Kind::WrongTurn, about);
        }
    }

    /// The connections that were not told of a turn that was given.
    fn untold(&self, days: &[DaysState], state: &DaysState) -> Vec<String> {
        let told_us = self.reading.matches.get(&state.id);
        let told_us = told_us.and_then(|told| told.told_at.get(&state.seq));
        let next = days
            .iter()
            .find(|next| (next.id, next.seq) == (state.id, state.seq + 1));
        // What was written with it may have ended the turn.
        let lasts = next.is_none_or(|next| next.asked_us > state.durable_us);
        let (Some((player, due_ms)), Some(told_us)) = (state.turn, told_us) else {
            return Vec::new();
        };
        let concerned = self.reading.listeners().filter(|listener| {
            let is_there = listener.from_us <= state.asked_us && *told_us <= listener.heard_us;
            listener.player == player && is_there && !listener.followed.contains(&state.id)
        });
        let untold = concerned.filter(|listener| {
            let mut told = self.reading.turns.iter();
            let is_it = |told: &TurnTold| told.on == listener.on && is_of(told, state);
            state.is_given && lasts && !told.any(is_it)
        });
        untold
            .map(|listener| format!("{listener:?} was not told of {state:?}, due {due_ms}"))
            .collect()
    }

    /// What is wrong with what a welcome has told.
    fn wrong_rows(&self, days: &[DaysState], told: &RowsTold) -> Option<String> {
        let (asked_us, at_us) = told.times;
        let RowsTold { player, rows, .. } = told;
        let fits = |row: &FollowedMatch| {
            let states = days.iter().filter(|state| state.id == row.match_id);
            let mut states = states.filter(|state| state.durable_us <= at_us);
            states.any(|state| state.players.contains(player) && self.shows(row, state, asked_us))
        };
        if let Some(row) = rows.iter().find(|row| !fits(row)) {
            return Some(format!("{row:?} was told to {player}"));
        }
        // What was so all the time from the question to the answer.
        let ids: BTreeSet<MatchId> = days.iter().map(|state| state.id).collect();
        let missing = ids.into_iter().find(|id| {
            let states = days.iter().filter(|state| state.id == *id);
            let before = states.clone().rfind(|state| state.durable_us <= asked_us);
            let first = before.map(|before| before.seq);
            let meanwhile =
                |state: &&DaysState| Some(state.seq) >= first && state.asked_us <= at_us;
            let is_theirs = states
                .filter(meanwhile)
                .all(|state| state.players.contains(player));
            first.is_some() && is_theirs && !rows.iter().any(|row| row.match_id == *id)
        });
        missing.map(|id| format!("{player} was not told of {id}: {rows:?}"))
    }

    /// Whether a row that was asked for then shows this state.
    fn shows(&self, row: &FollowedMatch, state: &DaysState, asked_us: u128) -> bool {
        let Some(days) = &row.correspondence else {
            return false;
        };
        let due_ms = state.turn.map(|(_, due_ms)| due_ms);
        // Whatever is over goes on while a server has just started.
        let held_us = asked_us + RESTART_GRACE.as_micros();
        let held_ms = self.reading.wall.shows_us(held_us) / 1000;
        let is_due = match (days.deadline_ms, due_ms) {
            (Some(told), Some(due)) => told == due || due < told && u128::from(told) <= held_ms,
            (told, due) => told == due,
        };
        days.is_correspondence && days.turn == state.seat && is_due
    }
}

/// Whether this turn is what somebody was told of.
fn is_of(told: &TurnTold, state: &DaysState) -> bool {
    let turn = told.player.map(|player| (player, told.due_ms));
    turn.is_some()
        && state.turn == turn
        && (told.id, told.ply) == (state.id, state.ply)
        && told.game == state.game
        && state.durable_us <= told.at_us
}
