//! Holds what was told against what the store holds in the end.

mod between;
mod lists;
mod meeting;
mod rating;
mod searches;
mod several;
mod turns;
mod watching;

use std::collections::BTreeMap;
use std::ops::Bound;

use plyhouse_matches::{Event, EventKind, Match, Occupant};
use plyhouse_protocol::{EndReason, MatchId, PlayerId, Ply};
use plyhouse_store::MatchRecord;

use self::lists::ListState;
use self::turns::DaysState;
use super::clocks::{Clock, Turn, TurnShown};
use super::moves::{Asked, Verdict};
use super::reading::{Reading, Shown, Told, contradiction};
use super::telling::{as_told, shows, time_left};
use super::wishes::{Before, Needs, unbacked};
use super::{Fault, Kind, Tally};
use crate::store::Kept;

/// A move that is kept: which, by whom, and what.
type Played = (Ply, Option<PlayerId>, String);

/// The comparison of a reading with a store.
#[derive(Debug)]
pub(super) struct Keeping<'a> {
    reading: &'a Reading,
    kept: &'a Kept,
    /// When the world ended, in microseconds.
    ends_us: u128,
    faults: Vec<Fault>,
    tally: Tally,
    /// The moves that are kept, by match and number.
    played: BTreeMap<(MatchId, u64), Played>,
    /// The takebacks that are kept, by match and number: to which ply.
    taken_back: BTreeMap<(MatchId, u64), Ply>,
    /// How matches of days stood after each event.
    days: Vec<DaysState>,
    /// How matches that are listed stood after each event.
    listed: Vec<ListState>,
    /// How many matches are kept of each host, listed and not.
    hosted: BTreeMap<(PlayerId, bool), usize>,
}

impl<'a> Keeping<'a> {
    pub(super) fn new(reading: &'a Reading, kept: &'a Kept, ends_us: u128) -> Self {
        Self {
            reading,
            kept,
            ends_us,
            faults: Vec::new(),
            tally: Tally::default(),
            played: BTreeMap::new(),
            taken_back: BTreeMap::new(),
            days: Vec::new(),
            listed: Vec::new(),
            hosted: BTreeMap::new(),
        }
    }

    /// Whether there is one server. Where there are several, a clock stands for what befalls any of them, of
    /// which nothing is known here.
    fn is_of_one(&self) -> bool {
        self.kept.cluster.is_none()
    }

    /// Whether something was not written of a match, or nobody knew whether it was.
    fn is_troubled(&self, id: MatchId) -> bool {
        let troubles = self.kept.troubles.get(&id);
        troubles.is_some_and(|troubles| !troubles.is_empty())
    }

    fn fault(&mut self, kind: Kind, about: String) {
        self.faults.push(Fault { kind, about });
    }

    /// Goes through the record of a match.
    pub(super) fn check(&mut self, id: MatchId, record: &MatchRecord) {
        let none = Told::default();
        let told = self.reading.matches.get(&id).unwrap_or(&none);
        // A rematch is the host's, whoever asks for it.
        if record.creation.terms.previous.is_none() {
            let host = (record.creation.host, record.creation.terms.listed);
            *self.hosted.entry(host).or_default() += 1;
        }
        let begun = Match::new(record.creation.clone());
        let mut state = begun.expect("the server has seen how it begins");
        let mut clock = Clock::new(&state, self.reading, told, self.kept);
        self.note_days(&state, &clock, false);
        self.note_listed(&state, 0);
        self.snapshots(told, &state, &clock);
        let mut before = None;
        for event in &record.events {
            let (was, turn) = (Before::new(&state), Turn::of(&state));
            if state.fold(event).is_err() {
                let about = format!("{id}: {event:?} after {} events", state.seq());
                return self.fault(impossible(&state, before, event), about);
            }
            before = Some(event);
            self.met(&state, &was, event);
            let known = told.events.get(&state.seq().0);
            if let Some((_, known)) = known {
                self.event(&state, event, known);
            }
            let told_at = known.map(|(place, _)| *place);
            self.asked_for(&state, event, told_at);
            self.wished_for(&state, &was, event, told_at);
            if let Some(wrong) = clock
                .event(turn, &state, event)
                .filter(|_| self.is_of_one())
            {
                self.fault(Kind::WrongClock, wrong);
            }
            self.note_days(&state, &clock, event.kind.begins_turn());
            self.note_listed(&state, event.at_ms);
            self.snapshots(told, &state, &clock);
        }
        let wrong = clock.lasts(Turn::of(&state), self.ends_us);
        if let Some(wrong) = wrong.filter(|_| self.is_of_one()) {
            self.fault(Kind::WrongClock, wrong);
        }
        self.count(record);
        let last = state.seq().0;
        let shown = told.snapshots.iter().map(|shown| shown.snapshot.seq.0);
        let told = told.events.keys().copied().chain(shown).max();
        if let Some(seq) = told.filter(|seq| *seq > last) {
            self.fault(
                Kind::Lost,
                format!("{id}: {seq} was told, {last} is the last kept"),
            );
        }
    }

    /// Counts what there is in a record.
    fn count(&mut self, record: &MatchRecord) {
        let terms = &record.creation.terms;
        self.tally.rematches += usize::from(terms.previous.is_some());
        for event in &record.events {
            let counted = match &event.kind {
                EventKind::Seated {
                    occupant: Occupant::StandIn { .. },
                    ..
                } => &mut self.tally.stand_ins,
                EventKind::Started { .. } if terms.invited.is_some() => &mut self.tally.challenges,
                EventKind::Moved {
                    spent_ms: Some(1..),
                    ..
                } => &mut self.tally.charged,
                EventKind::TakenBack { .. } => &mut self.tally.takebacks,
                EventKind::Ended { reason, .. } => {
                    let is_flag = usize::from(*reason == EndReason::Timeout);
                    self.tally.flags += is_flag;
                    self.tally.days_flags += is_flag * usize::from(terms.is_correspondence());
                    self.tally.agreed += usize::from(*reason == EndReason::Agreement);
                    &mut self.tally.ended
                }
                EventKind::Seated { .. }
                | EventKind::Started { .. }
                | EventKind::Moved { .. }
                | EventKind::Offered { .. }
                | EventKind::Declined { .. }
                | EventKind::TimeGiven { .. }
                | EventKind::Hinted { .. } => continue,
            };
            *counted += 1;
        }
    }

    /// Holds an event that was told against the one that is kept.
    fn event(&mut self, state: &Match, event: &Event, told: &plyhouse_protocol::Event) {
        let kept = as_told(state, &event.kind);
        if kept != *told {
            let about = format!("{told:?} was told, {kept:?} is kept");
            self.fault(contradiction(&kept, told), about);
        }
    }

    /// Holds the snapshots of this state against it, and how its clock was told.
    fn snapshots(&mut self, told: &Told, state: &Match, clock: &Clock<'_>) {
        let turn = Turn::of(state);
        for Shown {
            is_late,
            player,
            times,
            snapshot,
        } in &told.snapshots
        {
            if snapshot.seq != state.seq() {
                continue;
            }
            // Who had a seat in it then may have none now.
            let has_seat = player.filter(|_| !is_late);
            if !shows(snapshot, state, has_seat) {
                let about = format!("{snapshot:?} was shown to {player:?} of {state:?}");
                self.fault(Kind::WrongSnapshot, about);
            }
            // How long ago strangers see it nobody knows exactly.
            let wrong = clock.shown(turn, &TurnShown::snapshot(*times, snapshot));
            if let Some(wrong) = wrong.filter(|_| self.is_of_one() && !is_late) {
                self.fault(Kind::WrongClock, wrong);
            }
        }
        for (seq, times, told) in &told.clocks {
            if *seq != state.seq().0 {
                continue;
            }
            let is_left = state.remaining_time().map(time_left) == Some(told.time_left);
            if told.ply != state.ply() || !is_left {
                let about = format!("{told:?} was told of {state:?}");
                self.fault(Kind::WrongClock, about);
            }
            let wrong = clock.shown(turn, &TurnShown::clock(*times, told));
            if let Some(wrong) = wrong.filter(|_| self.is_of_one()) {
                self.fault(Kind::WrongClock, wrong);
            }
        }
    }

    /// Whether somebody has wished for an event that needs it.
    fn wished_for(
        &mut self,
        state: &Match,
        before: &Before,
        event: &Event,
        told_at: Option<usize>,
    ) {
        let about = || format!("{}: {event:?}, number {}", state.id(), state.seq());
        match before.needs(state, &event.kind) {
            Needs::Nothing => {}
            Needs::Impossible => self.fault(Kind::FromNowhere, about()),
            Needs::Wish(player, fits) => {
                let fitting = self.reading.wishes.iter().filter(|wish| {
                    (wish.id == state.id() && fits(&wish.message, before, &event.kind))
                        && told_at.is_none_or(|told_at| wish.place < told_at)
                });
                let fitting = fitting.map(|wish| (wish.player, &wish.verdict));
                if let Some(kind) = unbacked(fitting, player) {
                    self.fault(kind, about());
                }
            }
        }
    }

    /// Whether somebody who may has asked for an event, before it was told at this place.
    fn asked_for(&mut self, state: &Match, event: &Event, told_at: Option<usize>) {
        let about = format!("{}: {event:?}, number {}", state.id(), state.seq());
        match &event.kind {
            EventKind::Seated {
                occupant: Occupant::Player { id, .. },
                ..
            } if !self.reading.sitters.contains(id) => self.fault(Kind::FromNowhere, about),
            EventKind::Moved { seat, m, .. } => {
                let player = state.occupant(*seat).player();
                let ply = Ply(state.ply().0 - 1);
                let place = (state.id(), state.seq().0);
                self.played.insert(place, (ply, player, m.clone()));
                // A bot moves unasked.
                if let Some(player) = player {
                    let fits = |asked: &&Asked| {
                        (asked.id == state.id() && asked.ply == ply && asked.m == *m)
                            && asked
                                .takebacks
                                .is_none_or(|known| known == state.takebacks())
                            && told_at.is_none_or(|told_at| asked.place < told_at)
                    };
                    let asked = self.reading.moves.iter().filter(fits);
                    let asked = asked.map(|asked| (asked.player, &asked.verdict));
                    if let Some(kind) = unbacked(asked, player) {
                        self.fault(kind, about);
                    }
                }
            }
            EventKind::TakenBack { ply, .. } => {
                self.taken_back.insert((state.id(), state.seq().0), *ply);
            }
            EventKind::Seated { .. }
            | EventKind::Started { .. }
            | EventKind::Offered { .. }
            | EventKind::Declined { .. }
            | EventKind::TimeGiven { .. }
            | EventKind::Hinted { .. }
            | EventKind::Ended { .. } => {}
        }
    }

    /// What can be said when all records have been gone through.
    pub(super) fn finish(mut self) -> (Vec<Fault>, Tally) {
        let kept = self.kept;
        for id in self.reading.matches.keys() {
            if !kept.matches.contains_key(id) {
                self.fault(Kind::Lost, format!("the whole match {id}"));
            }
        }
        for (host, hosted) in std::mem::take(&mut self.hosted) {
            let asked = self.reading.hosts.get(&host).copied().unwrap_or(0);
            if hosted > asked {
                let about = format!("{hosted} matches of {host:?}, who has {asked}");
                self.fault(Kind::Refused, about);
            }
        }
        for id in &self.reading.resigned {
            let last = kept.matches.get(id).and_then(|record| record.events.last());
            if !last.is_some_and(Event::is_end) {
                self.fault(Kind::Lost, format!("the resignation in {id}"));
            }
        }
        self.promises();
        self.rematches();
        self.challenges();
        self.searches();
        match self.kept.cluster.as_ref() {
            None => {
                self.turns();
                self.lists();
                self.ratings();
                self.glimpses();
            }
            Some(cluster) => {
                self.journal(cluster);
                self.order();
                self.is_whole();
            }
        }
        (self.faults, self.tally)
    }

    /// Every move that was answered `ok` is there, and the same one whenever it was asked for.
    fn promises(&mut self) {
        let mut promised = BTreeMap::new();
        let mut seen = BTreeMap::new();
        for asked in &self.reading.moves {
            let Asked {
                id, ply, takebacks, ..
            } = asked;
            let key = (*id, ply.0, *takebacks, asked.player, asked.m.as_str());
            let times: &mut usize = seen.entry(key).or_default();
            *times += 1;
            let Verdict::Done(Some(seq)) = asked.verdict else {
                continue;
            };
            self.tally.repeats += usize::from(*times > 1);
            let first = *promised.entry(key).or_insert(seq);
            let since = (
                Bound::Excluded((*id, first.0)),
                Bound::Excluded((*id, seq.0)),
            );
            // Who does not say what they know plays a move anew that was taken back.
            let is_anew = first < seq && self.taken_back.range(since).any(|at| at.1 <= ply);
            if first != seq && (takebacks.is_some() || !is_anew) {
                self.fault(Kind::PlayedTwice, format!("{asked:?} was {first} before"));
            }
            match self.played.get(&(asked.id, seq.0)) {
                None => self.fault(Kind::Lost, format!("{asked:?}")),
                Some(kept) if *kept != (asked.ply, asked.player, asked.m.clone()) => {
                    let about = format!("{asked:?} is answered for {kept:?}");
                    self.fault(Kind::Contradiction, about);
                }
                Some(_) => {}
            }
        }
        self.tally.moves = promised.len();
    }
}

/// What an event is called that cannot have followed another.
fn impossible(state: &Match, before: Option<&Event>, event: &Event) -> Kind {
    match (before.map(|before| &before.kind), &event.kind) {
        (Some(EventKind::Moved { .. }), EventKind::Moved { seat, .. })
            if state.turn() == Some(seat.other()) =>
        {
            Kind::PlayedTwice
        }
        (Some(EventKind::Ended { .. }), EventKind::Ended { .. }) => Kind::TwoResults,
        (Some(before @ EventKind::Moved { .. }), event) if before == event => Kind::PlayedTwice,
        _ => Kind::Impossible,
    }
}
