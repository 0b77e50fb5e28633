//! Checks that match lists were correct and that subscribers received their changes.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{ListedMatch, MatchId, MatchStatus, Occupant};

use super::{FinalStateCheck, ViolationKind};
use crate::checker::expected_events::wire_occupant;
use crate::checker::observations::ListDifference;

/// Maximum time until subscribers receive a change of a match list, in microseconds. The server
/// sends at most one update per second, and the store adds latency.
const UPDATE_DELAY_MAX_US: u128 = 1_500_000;

/// Maximum time until a requested match has been loaded into the match lists, in microseconds.
const LOAD_TIME_MAX_US: u128 = 3_000_000;

/// State of a publicly listed match after an event, as match lists show it.
#[derive(Debug)]
pub(super) struct ListState {
    id: MatchId,
    status: MatchStatus,
    seats: [Occupant; 2],
    durable_us: u128,
    /// When clients without a seat may see the state, in milliseconds since 1970.
    visible_from_ms: u64,
    delay_us: u128,
}

impl FinalStateCheck<'_> {
    /// Records the state of a match if the match is publicly listed.
    pub(super) fn record_list_state(&mut self, state: &Match, at_ms: u64) {
        let (id, seq) = (state.id(), state.seq().0);
        let written = self.stored.write_times.get(&(id, seq));
        let Some(written) = written.filter(|_| state.creation().terms.listed) else {
            return;
        };
        let delay_ms = state.creation().terms.spectator_delay_ms;
        self.list_states.push(ListState {
            id,
            status: match state.stage() {
                Stage::Open => MatchStatus::Open,
                Stage::Running => MatchStatus::Running,
                Stage::Ended { .. } => MatchStatus::Ended,
            },
            seats: Seat::ALL.map(|seat| wire_occupant(state.occupant(seat))),
            durable_us: written.durable_at.as_micros(),
            // Lists show a new match at once, without the spectator delay.
            visible_from_ms: if seq == 0 { 0 } else { at_ms + delay_ms },
            delay_us: u128::from(delay_ms) * 1000,
        });
    }

    /// Checks that each received row of a match list shows a stored state. Reports each difference
    /// from an expected list that no recent change explains.
    pub(super) fn check_lists(&mut self) {
        let listed = std::mem::take(&mut self.list_states);
        let rows = self.observations.list_rows.iter();
        let wrong = rows.filter(|row| {
            let now_ms = self.observations.wall_clock.unix_us(row.at_us) / 1000;
            let states = listed.iter().filter(|state| {
                state.durable_us <= row.at_us && u128::from(state.visible_from_ms) <= now_ms
            });
            !self.fits_record(&row.row) || !states.clone().any(|state| shows_state(&row.row, state))
        });
        let wrong = wrong.map(|row| format!("{row:?} was sent, but matches no stored state"));
        let mut faults: Vec<String> = wrong.collect();
        let differences = self.observations.list_differences.iter();
        let unexplained =
            differences.filter(|difference| !self.is_recent_change(&listed, difference));
        faults.extend(unexplained.map(|difference| difference.description.clone()));
        self.tally.list_comparisons = self.observations.list_comparisons;
        for about in faults {
            self.report(ViolationKind::WrongList, about);
        }
    }

    /// Checks the fields of a list row that never change, and returns whether they agree with the
    /// stored match.
    fn fits_record(&self, row: &ListedMatch) -> bool {
        let record = self.stored.matches.get(&row.match_id);
        record.is_some_and(|record| {
            let info = record.creation.game.info;
            let sides = row.seats.iter().map(|seat| &*seat.side);
            row.game == info.id
                && sides.eq(info.sides)
                && row.code == record.creation.code.to_string()
                && row.clock == record.creation.terms.clock
                && row.from_position == record.creation.terms.initial_position.is_some()
        })
    }

    /// Returns whether a recent change explains the difference. The subscriber may not have
    /// received a recent change yet.
    fn is_recent_change(&self, listed: &[ListState], difference: &ListDifference) -> bool {
        let (sent_us, at_us) = difference.times;
        let since = |us: u128| sent_us.saturating_sub(us)..=at_us;
        let mut states = listed.iter().filter(|state| state.id == difference.id);
        let request_times = self.observations.match_request_times.get(&difference.id);
        let mut request_times = request_times.into_iter().flatten();
        states.any(|state| since(UPDATE_DELAY_MAX_US + state.delay_us).contains(&state.durable_us))
            // A match that is not in memory enters the lists only when a client requests it.
            || request_times.any(|at| since(LOAD_TIME_MAX_US).contains(at))
    }
}

/// Returns whether a row shows this state. Ignores whether the players are connected.
fn shows_state(row: &ListedMatch, state: &ListState) -> bool {
    let seats = row.seats.iter().map(|seat| {
        let mut occupant = seat.occupant.clone();
        if let Occupant::Player { connected, .. } = &mut occupant {
            *connected = false;
        }
        occupant
    });
    row.match_id == state.id && row.status == state.status && seats.eq(state.seats.iter().cloned())
}
