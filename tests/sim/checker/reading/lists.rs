//! What is told of lists: once as a list, and then by what changes in it.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{
    ClientMessage, ListedMatch, MatchId, MatchStatus, Occupant, PlayerId, SeatState, SeekList,
    ServerMessage,
};

use super::{ConnectionId, Kind, Reading, Waiting};

/// The least time between two messages about a list, in microseconds.
const PAUSE_US: u128 = 1_000_000;

/// How many of those who look for somebody to play are shown.
const SEEKERS_MAX: usize = 50;

/// A list that a connection watches.
#[derive(Debug)]
pub(super) struct Watch {
    filter: Filter,
    /// When that was asked for.
    since_us: u128,
    /// How often something was told of it.
    told: u32,
    /// What the list shows, once it was shown at all.
    believed: Option<BTreeMap<MatchId, ListedMatch>>,
}

/// Which game, and which stage.
type Filter = (Option<String>, Option<MatchStatus>);

/// A row of a list as it was told.
#[derive(Debug)]
pub(in crate::checker) struct Row {
    pub(in crate::checker) at_us: u128,
    pub(in crate::checker) row: ListedMatch,
}

/// A list that does not show what whoever watches it believes.
#[derive(Debug)]
pub(in crate::checker) struct Difference {
    /// When the list was asked for, and when it came.
    pub(in crate::checker) times: (u128, u128),
    pub(in crate::checker) id: MatchId,
    pub(in crate::checker) about: String,
}

impl Watch {
    pub(super) const fn new(filter: Filter, since_us: u128) -> Self {
        Self {
            filter,
            since_us,
            told: 0,
            believed: None,
        }
    }

    fn fits(&self, row: &ListedMatch) -> bool {
        let (game, status) = &self.filter;
        game.as_ref().is_none_or(|game| *game == row.game)
            && status.is_none_or(|status| status == row.status)
    }
}

impl Reading {
    /// A page of a list is shown.
    pub(super) fn told_page(
        &mut self,
        on: ConnectionId,
        page: &ServerMessage,
        waiting: Option<&Waiting>,
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
        self.told_list(on, *total, matches, waiting);
        if let Some(seekers) = seekers {
            self.told_seekers(on, seekers);
        }
    }

    /// Each who looks for somebody to play is shown once, and nobody oneself.
    fn told_seekers(&mut self, on: ConnectionId, seekers: &SeekList) {
        let SeekList { total, rows } = seekers;
        let own = self.connection(on).player;
        let players: BTreeSet<PlayerId> = rows.iter().map(|row| row.player.id).collect();
        let is_right = players.len() == rows.len()
            && rows.len() <= SEEKERS_MAX
            && *total >= rows.len() as u64
            && own.is_none_or(|own| !players.contains(&own));
        if !is_right {
            self.fault(Kind::WrongList, format!("{on:?}: {seekers:?}"));
        }
    }

    /// Who looks for somebody to play is told unasked to whoever watches a list alone.
    pub(super) fn seekers_changed(&mut self, on: ConnectionId, seekers: &SeekList) {
        if self.connection(on).watch.is_none() {
            self.fault(
                Kind::WrongList,
                format!("{on:?} has not asked for {seekers:?}"),
            );
        }
        self.told_seekers(on, seekers);
    }

    pub(super) fn list_changed(
        &mut self,
        on: ConnectionId,
        changed: &[ListedMatch],
        gone: &[MatchId],
        (total, reset): (u64, bool),
    ) {
        self.note_rows(changed);
        // Servers hear of each other's matches one after the other.
        let is_counted = self.settled_us.is_none();
        let at_us = self.at_us;
        let Some(watch) = &mut self.connection(on).watch else {
            let about = format!("{on:?} is told of a list, and watches none");
            return self.fault(Kind::WrongList, about);
        };
        watch.told += 1;
        let mut faults = Vec::new();
        // However late it comes, it was sent no sooner.
        if u128::from(watch.told - 1) * PAUSE_US > at_us.saturating_sub(watch.since_us) {
            faults.push(format!("{on:?} is told too often: {} times", watch.told));
        }
        if let Some(row) = changed.iter().find(|row| !watch.fits(row)) {
            faults.push(format!(
                "{on:?} is told of {row:?}, which is not in {:?}",
                watch.filter
            ));
        }
        watch.believed.take_if(|_| reset);
        if let Some(believed) = &mut watch.believed {
            believed.extend(changed.iter().map(|row| (row.match_id, row.clone())));
            believed.retain(|id, _| !gone.contains(id));
            if believed.len() as u64 != total && is_counted {
                faults.push(format!("{on:?} is told of {total}: {believed:?}"));
            }
        }
        for about in faults {
            self.fault(Kind::WrongList, about);
        }
    }

    fn told_list(
        &mut self,
        on: ConnectionId,
        total: u64,
        rows: &[ListedMatch],
        waiting: Option<&Waiting>,
    ) {
        self.note_rows(rows);
        let Some(waiting) = waiting else { return };
        let ClientMessage::List { game, status, .. } = &waiting.message else {
            return self.fault(Kind::BadAnswer, "a list that nobody asked for".to_owned());
        };
        let times = (waiting.sent_us, self.at_us);
        let filter = (game.clone(), *status);
        let watch = self.connection(on).watch.as_mut();
        let Some(watch) = watch.filter(|watch| watch.filter == filter) else {
            return;
        };
        let is_whole = total == rows.len() as u64;
        let shown = rows.iter().map(|row| (row.match_id, row.clone()));
        let shown: BTreeMap<MatchId, ListedMatch> = shown.collect();
        let believed = match is_whole {
            true => watch.believed.replace(shown.clone()),
            false => None,
        };
        let Some(believed) = believed else { return };
        self.lists += 1;
        let ids: BTreeSet<MatchId> = believed.keys().chain(shown.keys()).copied().collect();
        let ids = ids.into_iter();
        let differing = ids.filter(|id| differs(believed.get(id), shown.get(id)));
        let differences = differing.map(|id| Difference {
            times,
            id,
            about: format!(
                "{:?} is believed on {on:?}, {:?}",
                believed.get(&id),
                shown.get(&id)
            ),
        });
        self.differences.extend(differences);
    }

    fn note_rows(&mut self, rows: &[ListedMatch]) {
        let at_us = self.at_us;
        let rows = rows.iter().cloned().map(|row| Row { at_us, row });
        self.list_rows.extend(rows);
    }
}

/// Whether one of two rows shows what the other does not. What has ended goes at any time.
fn differs(one: Option<&ListedMatch>, other: Option<&ListedMatch>) -> bool {
    let told = |row: Option<&ListedMatch>| {
        let row = row.filter(|row| row.status != MatchStatus::Ended)?;
        Some((
            row.status,
            row.code.clone(),
            row.clock,
            row.from_position,
            row.seats.clone().map(timeless),
        ))
    };
    told(one) != told(other)
}

/// A seat without what is no change of a list.
fn timeless(mut seat: SeatState) -> SeatState {
    if let Occupant::Player { connected, .. } = &mut seat.occupant {
        *connected = false;
    }
    seat
}
