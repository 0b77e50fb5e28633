//! Checks of match lists: complete lists and the updates that follow them.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{
    ClientMessage, ListedMatch, MatchId, MatchStatus, Occupant, PlayerId, SeatState, SeekList,
    ServerMessage,
};

use super::{ConnectionId, Observations, PendingRequest, ViolationKind};

/// Minimum time between two updates of a list, in microseconds.
const UPDATE_INTERVAL_US: u128 = 1_000_000;

/// Maximum number of rows in a seek list.
const SEEKERS_MAX: usize = 50;

/// Match list that a connection subscribes to.
#[derive(Debug)]
pub(super) struct WatchedList {
    filter: ListFilter,
    /// When the client requested the subscription, in microseconds.
    since_us: u128,
    /// Number of received updates.
    updates: u32,
    /// Rows that the list should contain. `None` until the client has received the list.
    expected_rows: Option<BTreeMap<MatchId, ListedMatch>>,
}

/// Filter of a match list: a game and a match status.
type ListFilter = (Option<String>, Option<MatchStatus>);

/// Received row of a match list.
#[derive(Debug)]
pub(crate) struct ListRow {
    pub(crate) at_us: u128,
    pub(crate) row: ListedMatch,
}

/// Row that differs between a received match list and the list that its subscriber expected.
#[derive(Debug)]
pub(crate) struct ListDifference {
    /// Times at which the list was requested and received, in microseconds.
    pub(crate) times: (u128, u128),
    pub(crate) id: MatchId,
    pub(crate) description: String,
}

impl WatchedList {
    pub(super) const fn new(filter: ListFilter, since_us: u128) -> Self {
        Self {
            filter,
            since_us,
            updates: 0,
            expected_rows: None,
        }
    }

    fn includes(&self, row: &ListedMatch) -> bool {
        let (game, status) = &self.filter;
        game.as_ref().is_none_or(|game| *game == row.game)
            && status.is_none_or(|status| status == row.status)
    }
}

impl Observations {
    /// Checks a page of a match list.
    pub(super) fn check_list_page(
        &mut self,
        on: ConnectionId,
        page: &ServerMessage,
        waiting: Option<&PendingRequest>,
    ) {
        let ServerMessage::Matches {
            total,
            matches,
            seekers,
            ..
        } = page
        else {
            return;
        };
        self.check_list(on, *total, matches, waiting);
        if let Some(seekers) = seekers {
            self.check_seekers(on, seekers);
        }
    }

    /// Checks that a seek list shows each seeker once and does not show the client's own player.
    fn check_seekers(&mut self, on: ConnectionId, seekers: &SeekList) {
        let SeekList { total, rows } = seekers;
        let own = self.connection(on).player;
        let players: BTreeSet<PlayerId> = rows.iter().map(|row| row.player.id).collect();
        let is_right = players.len() == rows.len()
            && rows.len() <= SEEKERS_MAX
            && *total >= rows.len() as u64
            && own.is_none_or(|own| !players.contains(&own));
        if !is_right {
            self.report(ViolationKind::WrongList, format!("{on:?}: {seekers:?}"));
        }
    }

    /// Checks a seek list that the server sent without a request. The server must send such seek
    /// lists only to subscribers of a match list.
    pub(super) fn check_seekers_update(&mut self, on: ConnectionId, seekers: &SeekList) {
        if self.connection(on).watched_list.is_none() {
            self.report(
                ViolationKind::WrongList,
                format!("{on:?} did not subscribe to a list, but received {seekers:?}"),
            );
        }
        self.check_seekers(on, seekers);
    }

    pub(super) fn check_list_update(
        &mut self,
        on: ConnectionId,
        changed: &[ListedMatch],
        removed: &[MatchId],
        (total, reset): (u64, bool),
    ) {
        self.record_list_rows(changed);
        // The servers of a cluster learn of each other's matches with a delay, so the total may be
        // outdated.
        let is_counted = self.settled_us.is_none();
        let at_us = self.at_us;
        let Some(watch) = &mut self.connection(on).watched_list else {
            let about = format!("{on:?} received a list update without watching a list");
            return self.report(ViolationKind::WrongList, about);
        };
        watch.updates += 1;
        let mut faults = Vec::new();
        // The server must send at most one update per interval. An update that arrives late lowers
        // the observed rate, so latency cannot cause a false report.
        if u128::from(watch.updates - 1) * UPDATE_INTERVAL_US > at_us.saturating_sub(watch.since_us)
        {
            faults.push(format!(
                "{on:?} received list updates too often: {} times",
                watch.updates
            ));
        }
        if let Some(row) = changed.iter().find(|row| !watch.includes(row)) {
            faults.push(format!(
                "{on:?} received {row:?}, which does not match the filter {:?}",
                watch.filter
            ));
        }
        watch.expected_rows.take_if(|_| reset);
        if let Some(expected) = &mut watch.expected_rows {
            expected.extend(changed.iter().map(|row| (row.match_id, row.clone())));
            expected.retain(|id, _| !removed.contains(id));
            if expected.len() as u64 != total && is_counted {
                faults.push(format!(
                    "{on:?} received total {total}, but expected {expected:?}"
                ));
            }
        }
        for about in faults {
            self.report(ViolationKind::WrongList, about);
        }
    }

    fn check_list(
        &mut self,
        on: ConnectionId,
        total: u64,
        rows: &[ListedMatch],
        waiting: Option<&PendingRequest>,
    ) {
        self.record_list_rows(rows);
        let Some(waiting) = waiting else { return };
        let ClientMessage::List { game, status, .. } = &waiting.message else {
            return self.report(
                ViolationKind::InvalidReply,
                "a list without a request".to_owned(),
            );
        };
        let times = (waiting.sent_us, self.at_us);
        let filter = (game.clone(), *status);
        let watch = self.connection(on).watched_list.as_mut();
        let Some(watch) = watch.filter(|watch| watch.filter == filter) else {
            return;
        };
        let is_complete = total == rows.len() as u64;
        let shown = rows.iter().map(|row| (row.match_id, row.clone()));
        let shown: BTreeMap<MatchId, ListedMatch> = shown.collect();
        let expected = match is_complete {
            true => watch.expected_rows.replace(shown.clone()),
            false => None,
        };
        let Some(expected) = expected else { return };
        self.list_comparisons += 1;
        let ids: BTreeSet<MatchId> = expected.keys().chain(shown.keys()).copied().collect();
        let ids = ids.into_iter();
        let differing = ids.filter(|id| rows_differ(expected.get(id), shown.get(id)));
        let differences = differing.map(|id| ListDifference {
            times,
            id,
            description: format!(
                "expected {:?} on {on:?}, received {:?}",
                expected.get(&id),
                shown.get(&id)
            ),
        });
        self.list_differences.extend(differences);
    }

    fn record_list_rows(&mut self, rows: &[ListedMatch]) {
        let at_us = self.at_us;
        let rows = rows.iter().cloned().map(|row| ListRow { at_us, row });
        self.list_rows.extend(rows);
    }
}

/// Returns whether two rows differ. Ended matches count as absent, because the server may remove
/// them from a list at any time.
fn rows_differ(one: Option<&ListedMatch>, other: Option<&ListedMatch>) -> bool {
    let visible_fields = |row: Option<&ListedMatch>| {
        let row = row.filter(|row| row.status != MatchStatus::Ended)?;
        Some((
            row.status,
            row.code.clone(),
            row.clock,
            row.from_position,
            row.seats.clone().map(without_presence),
        ))
    };
    visible_fields(one) != visible_fields(other)
}

/// Returns the seat with `connected` set to false, because presence changes cause no list updates.
fn without_presence(mut seat: SeatState) -> SeatState {
    if let Occupant::Player { connected, .. } = &mut seat.occupant {
        *connected = false;
    }
    seat
}
