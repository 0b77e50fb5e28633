//! Whoever has no part in a match sees it when they may, and all of it then; or not at all.

use std::collections::BTreeSet;

use plyhouse_matches::Match;
use plyhouse_protocol::{PlayerId, SpectatorAccess};
use plyhouse_store::MatchRecord;

use super::{Keeping, Kind};
use crate::checker::reading::Glimpse;
use crate::client::SHOWN_BY;

/// How a match stood after an event.
#[derive(Debug)]
struct Stood {
    /// When it happened, as it says itself, in milliseconds since 1970.
    at_ms: u64,
    /// When it was going to be written, and when it was durable, in microseconds.
    asked_us: u128,
    durable_us: u128,
    /// Whose seats these were.
    holders: BTreeSet<PlayerId>,
    has_started: bool,
}

impl Keeping<'_> {
    pub(super) fn glimpses(&mut self) {
        let mut faults = Vec::new();
        for (id, record) in &self.kept.matches {
            let stood = self.stood(record);
            let glimpses = self.reading.glimpses.iter();
            for glimpse in glimpses.filter(|glimpse| glimpse.id == *id) {
                faults.extend(not_theirs(record, &stood, glimpse));
                if record.creation.terms.spectator_delay_ms == 0 {
                    continue;
                }
                faults.extend(self.too_late(record, &stood, glimpse));
                if !is_inside(&stood, glimpse) {
                    self.tally.delayed += usize::from(glimpse.seq > 0);
                    faults.extend(self.too_soon(record, &stood, glimpse));
                }
            }
        }
        faults.extend(self.words_too_soon());
        faults.extend(self.rematches_too_soon());
        for (kind, about) in faults {
            self.fault(kind, about);
        }
    }

    /// How a match stood before its first event, and after each.
    fn stood(&self, record: &MatchRecord) -> Vec<Stood> {
        let id = record.creation.id;
        let begun = Match::new(record.creation.clone());
        let mut state = begun.expect("the server has seen how it begins");
        let mut stood = Vec::new();
        for at in 0..=record.events.len() {
            let event = at.checked_sub(1).map(|before| &record.events[before]);
            // Which is told of it elsewhere.
            if event.is_some_and(|event| state.fold(event).is_err()) {
                break;
            }
            let Some(written) = self.kept.written.get(&(id, at as u64)) else {
                break;
            };
            stood.push(Stood {
                at_ms: event.map_or(0, |event| event.at_ms),
                asked_us: written.asked.as_micros(),
                durable_us: written.durable.as_micros(),
                holders: state.seat_holders().collect(),
                has_started: state.has_started(),
            });
        }
        stood
    }

    fn too_soon(
        &self,
        record: &MatchRecord,
        stood: &[Stood],
        glimpse: &Glimpse,
    ) -> Option<(Kind, String)> {
        let last = stood.get(usize::try_from(glimpse.seq).ok()?)?;
        let due_ms = u128::from(last.at_ms + record.creation.terms.spectator_delay_ms);
        let now_ms = self.reading.wall.shows_us(glimpse.at_us) / 1000;
        let is_soon = glimpse.seq > 0 && now_ms < due_ms;
        is_soon.then(|| {
            let about = format!("{glimpse:?} came at {now_ms}, and is due at {due_ms}");
            (Kind::TooSoon, about)
        })
    }

    /// A match that could not be read or written for a while is as old as it was before.
    fn too_late(
        &self,
        record: &MatchRecord,
        stood: &[Stood],
        glimpse: &Glimpse,
    ) -> Option<(Kind, String)> {
        let is_troubled = self.kept.unread_at.is_some() || self.is_troubled(record.creation.id);
        let asked_us = glimpse.asked_us.filter(|_| !is_troubled)?;
        let delay_us =
            u128::from(record.creation.terms.spectator_delay_ms) * 1000 + SHOWN_BY.as_micros();
        let is_old = |stood: &&Stood| stood.durable_us + delay_us <= asked_us;
        let old = stood.iter().skip(1).take_while(is_old).count() as u64;
        (glimpse.seq < old).then(|| {
            let about = format!("{glimpse:?}, where {old} events are old enough");
            (Kind::TooLate, about)
        })
    }

    /// What players say strangers hear as late as all else.
    fn words_too_soon(&self) -> Vec<(Kind, String)> {
        let heard = self.reading.heard_late.iter();
        let too_soon = heard.filter(|(id, preset, at_us)| {
            let Some(record) = self.kept.matches.get(id) else {
                return false;
            };
            let delay_us = u128::from(record.creation.terms.spectator_delay_ms) * 1000;
            let mut said = self.reading.said_at.iter();
            !said.any(|(of, what, said_us)| {
                (of, what) == (id, preset) && said_us + delay_us <= *at_us
            })
        });
        let told = too_soon.map(|heard| (Kind::TooSoon, format!("{heard:?} was heard")));
        told.collect()
    }

    /// Nor do they know of a rematch before.
    fn rematches_too_soon(&self) -> Vec<(Kind, String)> {
        let told = self.reading.rematches_told.iter();
        let too_soon = told.filter(|(id, next, at_us)| {
            let delay_us = self.kept.matches.get(id).map_or(0, |record| {
                u128::from(record.creation.terms.spectator_delay_ms) * 1000
            });
            let made = self.kept.written.get(&(*next, 0));
            made.is_some_and(|made| made.asked.as_micros() + delay_us > *at_us)
        });
        let told = too_soon.map(|told| (Kind::TooSoon, format!("{told:?} was told")));
        told.collect()
    }
}

/// Whether whoever was told of it had a seat then, or had just had one.
fn is_inside(stood: &[Stood], glimpse: &Glimpse) -> bool {
    let from = usize::try_from(glimpse.seq).unwrap_or(usize::MAX);
    let later = stood.iter().skip(from.saturating_sub(1));
    let mut later = later.take_while(|stood| stood.asked_us <= glimpse.at_us);
    later.any(|stood| {
        let player = glimpse.player.as_ref();
        player.is_some_and(|player| stood.holders.contains(player))
    })
}

/// Once a match has started that nobody may watch, nobody is told of it but its players and its host.
fn not_theirs(record: &MatchRecord, stood: &[Stood], glimpse: &Glimpse) -> Option<(Kind, String)> {
    let creation = &record.creation;
    let state = stood.get(usize::try_from(glimpse.seq).ok()?)?;
    let is_closed =
        creation.terms.spectator_access == Some(SpectatorAccess::Nobody) && state.has_started;
    let is_players = glimpse.player.is_some_and(|player| {
        let mut started = stood.iter().filter(|stood| stood.has_started);
        creation.host == player || started.any(|stood| stood.holders.contains(&player))
    });
    (is_closed && !is_players).then(|| (Kind::NotTheirs, format!("{glimpse:?}")))
}
