//! What is told of matches: each connection in order, and all of them the same.

use std::collections::BTreeMap;

use plyhouse_protocol::{
    Challenge, ClientMessage, ClockState, Event, MatchId, Occupant, RematchState, Snapshot,
};

use super::{ConnectionId, Kind, Reading, Shown, Told, Waiting};

impl Reading {
    /// A snapshot: the connection follows from here on.
    pub(super) fn shown(
        &mut self,
        on: ConnectionId,
        snapshot: &Snapshot,
        waiting: Option<&Waiting>,
    ) {
        let (id, seq) = (snapshot.match_id, snapshot.seq.0);
        let is_shared = self.settled_us.is_some();
        let was_late = self.is_late(on, id);
        self.learn(on, snapshot);
        let is_late = self.is_late(on, id);
        let sits_down = was_late && !is_late;
        let is_of_it = waiting.is_some_and(|waiting| waiting.target == Some(id));
        let asked = waiting.filter(|_| is_of_it).map(|waiting| waiting.sent_us);
        if let Some(waiting) = waiting {
            self.looked(on, id, seq, waiting.sent_us);
        }
        if let Some(ClientMessage::Create(asked)) = waiting.map(|waiting| &waiting.message)
            && asked.position != snapshot.initial_position
        {
            let about = format!("{on:?} has asked for {asked:?} and is shown {snapshot:?}");
            self.fault(Kind::BadAnswer, about);
        }
        if snapshot.shows_bot_thinking {
            self.thinking.insert(id);
        }
        self.apart += usize::from(snapshot.initial_position.is_some());
        self.glimpsed(on, id, seq, asked);
        let connection = self.connection(on);
        let player = connection.player;
        connection.promised.remove(&id);
        connection.followed.insert(id);
        let known = match waiting {
            // What one server has told another need not know yet, nor do strangers what players know.
            _ if is_shared || is_late => 0,
            Some(waiting) if waiting.target == Some(id) => waiting.newest,
            Some(_) => 0,
            None => connection.known_at_hello.get(&id).copied().unwrap_or(0),
        };
        let followed = match waiting.map(|waiting| &waiting.message) {
            // What is followed stays as it is.
            Some(ClientMessage::Resync { .. }) => connection.following.get(&id).copied(),
            _ => connection.following.insert(id, seq),
        };
        if seq < known.max(followed.unwrap_or(0)) {
            let about =
                format!("{on:?} is shown {id} at {seq}; {known} and {followed:?} are known");
            self.fault(Kind::WentBack, about);
        }
        // Who follows has been told everything by then, but for what a match has forgotten that had
        // to be rebuilt, which shows itself unasked.
        if waiting.is_some() && followed.is_some_and(|followed| seq > followed) && !sits_down {
            let about = format!("{on:?} is shown {id} at {seq} after {followed:?}");
            self.fault(Kind::Gap, about);
        }
        let is_involved = snapshot.you.is_some() || Some(snapshot.host) == player;
        self.lasting.extend(player.filter(|_| is_involved));
        let had = self.codes.entry(snapshot.code.clone()).or_default();
        had.insert(id);
        let times = (self.connection(on).opened_us, self.at_us);
        let crashes = self.crashes;
        let told = self.matches.entry(id).or_insert_with(|| Told {
            crashes,
            ..Told::default()
        });
        if waiting.is_none() && told.crashes < crashes {
            told.crashes = crashes;
            self.resumed += 1;
        }
        told.newest = told.newest.max(seq);
        told.snapshots.push(Shown {
            is_late,
            player,
            times,
            snapshot: snapshot.clone(),
        });
        let rematch = snapshot.rematch.clone();
        if let Some(rematch) = rematch {
            self.told_rematch(on, id, &rematch);
        }
    }

    /// An event as it happens.
    pub(super) fn told(&mut self, place: usize, on: ConnectionId, event: &Event) {
        let (id, seq) = (event.match_id(), event.seq().0);
        let known = self.connection(on).following.insert(id, seq);
        if known.is_none_or(|known| seq != known + 1) {
            let about = format!("{on:?} is told {seq} of {id} after {known:?}");
            self.fault(Kind::Gap, about);
        }
        self.glimpsed(on, id, seq, None);
        self.observe(place, event);
    }

    /// How the clock of a match stands, which is followed up to some event.
    pub(super) fn told_clock(&mut self, on: ConnectionId, id: MatchId, clock: ClockState) {
        let Some(seq) = self.connection(on).following.get(&id).copied() else {
            let about = format!("{on:?} is told the clock of {id}, which it does not follow");
            return self.fault(Kind::BadAnswer, about);
        };
        // How long ago strangers see it nobody knows exactly.
        if self.is_late(on, id) {
            return;
        }
        let times = (self.connection(on).opened_us, self.at_us);
        let told = self.matches.entry(id).or_default();
        told.clocks.push((seq, times, clock));
    }

    pub(super) fn told_rematch(&mut self, on: ConnectionId, id: MatchId, rematch: &RematchState) {
        let next = rematch.next.as_ref().map(|next| next.match_id);
        if let Some(next) = next.filter(|_| self.is_late(on, id)) {
            self.rematches_told.push((id, next, self.at_us));
        }
        self.successors.entry(id).or_default().extend(next);
    }

    pub(super) fn challenged(&mut self, on: ConnectionId, challenge: &Challenge) {
        let player = self.connection(on).player;
        self.challenges.push((player, challenge.clone()));
    }

    /// Events that were asked for again.
    pub(super) fn caught_up(
        &mut self,
        place: usize,
        on: ConnectionId,
        events: &[Event],
        waiting: Option<&Waiting>,
    ) {
        let Some(Waiting {
            message: ClientMessage::Resync { since, .. },
            target: Some(id),
            newest,
            sent_us,
            ..
        }) = waiting
        else {
            return self.fault(Kind::BadAnswer, "events that nobody asked for".to_owned());
        };
        let mut last = since.0;
        for event in events {
            if event.seq().0 != last + 1 || event.match_id() != *id {
                let about = format!("{event:?} after {last} of {id}, asked for again");
                self.fault(Kind::Gap, about);
            }
            last = event.seq().0;
            self.glimpsed(on, *id, last, None);
            self.observe(place, event);
        }
        if !events.is_empty() {
            self.glimpsed(on, *id, last, Some(*sent_us));
        }
        self.looked(on, *id, last, *sent_us);
        if last < *newest && self.settled_us.is_none() && !self.is_late(on, *id) {
            let about = format!("what was missed of {id} ends at {last}; {newest} is known");
            self.fault(Kind::WentBack, about);
        }
    }

    /// Finds the plies that were told under two numbers, and were not taken back in between.
    pub(in crate::checker) fn plies(&mut self) {
        let mut faults = Vec::new();
        for (id, told) in &self.matches {
            let mut played = BTreeMap::new();
            let mut last = 0;
            for (seq, ply, is_played) in &told.plies {
                // What nobody was told of may have been a takeback.
                if (last + 1..*seq).any(|seq| !told.events.contains_key(&seq)) {
                    played.clear();
                }
                last = *seq;
                if !is_played {
                    played.split_off(ply);
                } else if *played.entry(*ply).or_insert(*seq) != *seq {
                    let about = format!("{id}: ply {ply} was told by event {seq}, too");
                    faults.push((Kind::PlayedTwice, about));
                }
            }
        }
        for (kind, about) in faults {
            self.fault(kind, about);
        }
    }

    /// Holds an event against what others were told of it.
    fn observe(&mut self, place: usize, event: &Event) {
        let (id, seq, event) = (event.match_id(), event.seq().0, timeless(event));
        let told = self.matches.entry(id).or_default();
        told.newest = told.newest.max(seq);
        told.told_at.entry(seq).or_insert(self.at_us);
        let mut faults = Vec::new();
        match event {
            Event::Moved { ply, .. } => {
                told.plies.insert((seq, ply.0, true));
            }
            Event::TakenBack { ply, .. } => {
                told.plies.insert((seq, ply.0, false));
            }
            _ => {}
        }
        match told.events.get(&seq) {
            None => {
                told.events.insert(seq, (place, event));
            }
            Some((_, known)) if *known != event => {
                let about = format!("{known:?} and {event:?} were told");
                faults.push((contradiction(known, &event), about));
            }
            Some(_) => {}
        }
        for (kind, about) in faults {
            self.fault(kind, about);
        }
    }
}

/// What the contradiction of two events is called.
pub(in crate::checker) const fn contradiction(one: &Event, other: &Event) -> Kind {
    match (one, other) {
        (Event::Ended { .. }, Event::Ended { .. }) => Kind::TwoResults,
        _ => Kind::Contradiction,
    }
}

/// An event without what depends on when it is told.
fn timeless(event: &Event) -> Event {
    let mut event = event.clone();
    if let Event::Seated {
        occupant: Occupant::Player { connected, .. },
        ..
    } = &mut event
    {
        *connected = false;
    }
    event
}
