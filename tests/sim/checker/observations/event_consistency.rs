//! Checks that each connection receives the events of a match in order, and that all connections
//! receive the same events.

use std::collections::BTreeMap;

use plyhouse_protocol::{
    Challenge, ClientMessage, ClockState, Event, MatchId, Occupant, RematchState, Snapshot,
};

use super::{
    ConnectionId, Observations, ObservedMatch, ObservedSnapshot, PendingRequest, ViolationKind,
};

impl Observations {
    /// Checks a received snapshot. The snapshot makes the connection a follower of the match.
    pub(super) fn check_snapshot(
        &mut self,
        on: ConnectionId,
        snapshot: &Snapshot,
        waiting: Option<&PendingRequest>,
    ) {
        let (id, seq) = (snapshot.match_id, snapshot.seq.0);
        let is_shared = self.settled_us.is_some();
        let was_delayed = self.is_delayed_for(on, id);
        self.update_visibility(on, snapshot);
        let is_delayed = self.is_delayed_for(on, id);
        let takes_seat = was_delayed && !is_delayed;
        let is_of_it = waiting.is_some_and(|waiting| waiting.target == Some(id));
        let requested_us = waiting.filter(|_| is_of_it).map(|waiting| waiting.sent_us);
        if let Some(waiting) = waiting {
            self.record_complete_view(on, id, seq, waiting.sent_us);
        }
        if let Some(ClientMessage::Create(requested)) = waiting.map(|waiting| &waiting.message)
            && requested.position != snapshot.initial_position
        {
            let about = format!("{on:?} requested {requested:?} and received {snapshot:?}");
            self.report(ViolationKind::InvalidReply, about);
        }
        if snapshot.shows_bot_thinking {
            self.thinking_matches.insert(id);
        }
        self.custom_positions += usize::from(snapshot.initial_position.is_some());
        self.record_spectator_view(on, id, seq, requested_us);
        let connection = self.connection(on);
        let player = connection.player;
        connection.expected_snapshots.remove(&id);
        connection.ever_followed.insert(id);
        let known = match waiting {
            // In a cluster, a server may not know what another server has sent. Spectators with a
            // delay see an older state than players.
            _ if is_shared || is_delayed => 0,
            Some(waiting) if waiting.target == Some(id) => waiting.latest_seq,
            Some(_) => 0,
            None => connection.seqs_at_hello.get(&id).copied().unwrap_or(0),
        };
        let followed = match waiting.map(|waiting| &waiting.message) {
            // The reply to a resync does not change the number of the next event that the
            // connection expects.
            Some(ClientMessage::Resync { .. }) => connection.followed_seqs.get(&id).copied(),
            _ => connection.followed_seqs.insert(id, seq),
        };
        if seq < known.max(followed.unwrap_or(0)) {
            let about =
                format!("{on:?} received {id} at {seq}; {known} and {followed:?} were seen before");
            self.report(ViolationKind::StaleState, about);
        }
        // The server must send a follower all events before a snapshot that the follower requested.
        // The server may skip events when it reloads a match from the store. After such a reload,
        // it sends the snapshot without a request.
        if waiting.is_some() && followed.is_some_and(|followed| seq > followed) && !takes_seat {
            let about = format!("{on:?} received a snapshot of {id} at {seq} after {followed:?}");
            self.report(ViolationKind::SeqGap, about);
        }
        let is_involved = snapshot.you.is_some() || Some(snapshot.host) == player;
        let involved = player.filter(|_| is_involved);
        self.persistent_players.extend(involved);
        let code = snapshot.code.clone();
        self.matches_by_code.entry(code).or_default().insert(id);
        let (opened_us, crashes) = (self.connection(on).opened_us, self.crashes);
        let observed = self.matches.entry(id).or_insert_with(|| ObservedMatch {
            crashes_at_join: crashes,
            ..ObservedMatch::default()
        });
        if waiting.is_none() && observed.crashes_at_join < crashes {
            observed.crashes_at_join = crashes;
            self.resumed_matches += 1;
        }
        observed.latest_seq = observed.latest_seq.max(seq);
        observed.snapshots.push(ObservedSnapshot {
            is_delayed,
            player,
            times: (opened_us, self.at_us),
            snapshot: snapshot.clone(),
        });
        let rematch = snapshot.rematch.clone();
        if let Some(rematch) = rematch {
            self.record_rematch(on, id, &rematch);
        }
    }

    /// Checks an event that the server sent without a request.
    pub(super) fn check_event(&mut self, index: usize, on: ConnectionId, event: &Event) {
        let (id, seq) = (event.match_id(), event.seq().0);
        let known = self.connection(on).followed_seqs.insert(id, seq);
        if known.is_none_or(|known| seq != known + 1) {
            let about = format!("{on:?} received event {seq} of {id} after {known:?}");
            self.report(ViolationKind::SeqGap, about);
        }
        self.record_spectator_view(on, id, seq, None);
        self.record_event(index, event);
    }

    /// Records a clock message with the number of the last event that the connection has received.
    pub(super) fn record_clock(&mut self, on: ConnectionId, id: MatchId, clock: ClockState) {
        let Some(seq) = self.connection(on).followed_seqs.get(&id).copied() else {
            let about = format!("{on:?} received the clock of {id} without following it");
            return self.report(ViolationKind::InvalidReply, about);
        };
        // The clock of a delayed view is not checked, because the exact age of the view is unknown.
        if self.is_delayed_for(on, id) {
            return;
        }
        let times = (self.connection(on).opened_us, self.at_us);
        let observed = self.matches.entry(id).or_default();
        observed.clocks.push((seq, times, clock));
    }

    pub(super) fn record_rematch(&mut self, on: ConnectionId, id: MatchId, rematch: &RematchState) {
        let next = rematch.next.as_ref().map(|next| next.match_id);
        if let Some(next) = next.filter(|_| self.is_delayed_for(on, id)) {
            self.delayed_rematches.push((id, next, self.at_us));
        }
        self.successors.entry(id).or_default().extend(next);
    }

    pub(super) fn record_challenge(&mut self, on: ConnectionId, challenge: &Challenge) {
        let player = self.connection(on).player;
        self.challenges.push((player, challenge.clone()));
    }

    /// Checks the events in a resync reply.
    pub(super) fn check_resync(
        &mut self,
        index: usize,
        on: ConnectionId,
        events: &[Event],
        waiting: Option<&PendingRequest>,
    ) {
        let Some(PendingRequest {
            message: ClientMessage::Resync { since, .. },
            target: Some(id),
            latest_seq: newest,
            sent_us,
            ..
        }) = waiting
        else {
            return self.report(
                ViolationKind::InvalidReply,
                "events without a resync request".to_owned(),
            );
        };
        let mut last = since.0;
        for event in events {
            if event.seq().0 != last + 1 || event.match_id() != *id {
                let about = format!("{event:?} after {last} of {id}, in a resync reply");
                self.report(ViolationKind::SeqGap, about);
            }
            last = event.seq().0;
            self.record_spectator_view(on, *id, last, None);
            self.record_event(index, event);
        }
        if !events.is_empty() {
            self.record_spectator_view(on, *id, last, Some(*sent_us));
        }
        self.record_complete_view(on, *id, last, *sent_us);
        if last < *newest && self.settled_us.is_none() && !self.is_delayed_for(on, *id) {
            let about =
                format!("the resync reply for {id} ends at {last}; {newest} was seen before");
            self.report(ViolationKind::StaleState, about);
        }
    }

    /// Reports plies where clients received two moves without a takeback between them.
    pub(crate) fn check_plies(&mut self) {
        let mut faults = Vec::new();
        for (id, observed) in &self.matches {
            let mut played = BTreeMap::new();
            let mut last = 0;
            for (seq, ply, is_played) in &observed.ply_events {
                // An event that no client received may be a takeback. The moves before such an
                // event are therefore not compared with later moves.
                if (last + 1..*seq).any(|seq| !observed.events.contains_key(&seq)) {
                    played.clear();
                }
                last = *seq;
                if !is_played {
                    played.split_off(ply);
                } else if *played.entry(*ply).or_insert(*seq) != *seq {
                    let about = format!("{id}: ply {ply} was also reported by event {seq}");
                    faults.push((ViolationKind::DuplicateMove, about));
                }
            }
        }
        for (kind, about) in faults {
            self.report(kind, about);
        }
    }

    /// Compares a received event with the event of the same number that other connections received.
    fn record_event(&mut self, index: usize, event: &Event) {
        let (id, seq, event) = (event.match_id(), event.seq().0, without_presence(event));
        let observed = self.matches.entry(id).or_default();
        observed.latest_seq = observed.latest_seq.max(seq);
        observed.first_received_us.entry(seq).or_insert(self.at_us);
        let mut faults = Vec::new();
        match event {
            Event::Moved { ply, .. } => {
                observed.ply_events.insert((seq, ply.0, true));
            }
            Event::TakenBack { ply, .. } => {
                observed.ply_events.insert((seq, ply.0, false));
            }
            _ => {}
        }
        match observed.events.get(&seq) {
            None => {
                observed.events.insert(seq, (index, event));
            }
            Some((_, known)) if *known != event => {
                let about = format!("{known:?} and {event:?} are different versions of one event");
                faults.push((contradiction_kind(known, &event), about));
            }
            Some(_) => {}
        }
        for (kind, about) in faults {
            self.report(kind, about);
        }
    }
}

/// Returns the kind of violation for two contradictory versions of an event.
pub(crate) const fn contradiction_kind(one: &Event, other: &Event) -> ViolationKind {
    match (one, other) {
        (Event::Ended { .. }, Event::Ended { .. }) => ViolationKind::ConflictingResults,
        _ => ViolationKind::Contradiction,
    }
}

/// Returns the event without presence data, which depends on the time of sending.
fn without_presence(event: &Event) -> Event {
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
