//! How a copy of a match keeps up with the match: by what the owner feeds it, and by what the store has.

use std::ops::ControlFlow;

use plyhouse_matches::{Action, EventKind};
use plyhouse_protocol::Seq;

use super::{DOUBT, Waiting};
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::match_actor::broadcaster::Elsewhere;
use crate::match_actor::{End, GOES_ON, LOST, MatchActor};
use crate::match_handle::Envelope;
use crate::match_handle::command::{Command, MatchRequest};
use crate::match_handle::replication::{Published, ReplicaUpdate, Standing};

impl MatchActor {
    /// Takes in what the owner has told.
    pub(super) async fn on_fed(&mut self, bulletin: &ReplicaUpdate) -> ControlFlow<End> {
        let known = self.state.seq();
        let afar = self.afar();
        if bulletin.epoch < afar.epoch {
            return GOES_ON; // Of an owner from before.
        }
        let Published { after, events } = &bulletin.published;
        let is_gap = *after > known;
        let is_other_owner = bulletin.epoch > afar.epoch;
        if is_other_owner && after.0 + (events.len() as u64) < known.0 {
            return LOST; // A store that failed over has lost something: the match is read anew.
        }
        afar.epoch = bulletin.epoch;
        afar.standing = Some(bulletin.standing.clone());
        afar.stood_at = now();
        afar.stood_for = (bulletin.epoch, Seq(after.0 + events.len() as u64));
        self.broadcaster.is_of_epoch(bulletin.epoch);
        if is_gap {
            self.read_missed().await?;
        } else {
            let known = usize::try_from(known.0 - after.0).unwrap_or(usize::MAX);
            if let Some(new) = events.get(known..).filter(|new| !new.is_empty()) {
                let after = self.state.seq();
                let events = new.to_vec();
                self.take_in_afar(&Published { after, events });
            }
        }
        self.take_standing(&bulletin.standing, bulletin.is_clock_news || is_other_owner);
        if let Some(thought) = &bulletin.thinking {
            self.broadcaster.tell_thought(thought);
        }
        for line in &bulletin.said {
            if self.broadcaster.hear(&self.state, line)
                && let Some(delayed) = &mut self.delayed_view
            {
                delayed.said(line);
            }
        }
        if is_other_owner {
            self.owe_snapshots();
        }
        self.attend_clock();
        self.answer_waiting();
        GOES_ON
    }

    /// Makes events part of the copy, and tells everybody here.
    pub(super) fn take_in_afar(&mut self, published: &Published) {
        let at = now();
        for event in &published.events {
            self.leader.before(&self.state, event);
            self.broadcaster.take_in(&mut self.state, event, at);
            self.leader.card().got_on(&self.state);
            let players = &self.server.players;
            match &event.kind {
                EventKind::Seated { occupant, .. } => {
                    if let Some(player) = occupant.player() {
                        match self.state.creation().terms.is_of_days() {
                            true => players.plays_days(player),
                            false => players.sat_down(player, self.state.id()),
                        }
                    }
                }
                EventKind::Ended { .. } => players.match_ended(&self.state),
                _ => {}
            }
        }
        self.leader.card().told(self.state.seq());
        let challenges = &self.server.challenges;
        challenges.on_match_changed(&self.server.players, &self.state);
        self.remove_spectator();
        self.broadcaster.tell(published);
        self.broadcaster.tell_verdict(&self.state);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.happened(published);
        }
        if published
            .events
            .iter()
            .any(|event| event.kind.begins_turn())
        {
            self.afar().turn_told_at = now();
            if self.leader.time.gives_back() {
                self.broadcaster.measure(&self.state);
            }
        }
    }

    /// Takes over what cannot be known from events, and tells what is news.
    pub(super) fn take_standing(&mut self, standing: &Standing, is_clock_news: bool) {
        self.broadcaster
            .has_elsewhere(Some(Elsewhere::Total(standing.presence)));
        let roster = self.broadcaster.roster(&self.state);
        let gone = standing.gone_ms.map(|gone_ms| gone_ms.is_some());
        self.broadcaster.plan_presence(&self.state, gone);
        self.leader.show(&self.state, &roster);
        if let Some(rematch) = &standing.rematch
            && self.broadcaster.keep_rematch(rematch.clone())
        {
            self.broadcaster.tell_rematch(&self.state);
        }
        let is_clock_news = is_clock_news || self.afar().owes_clock;
        self.afar().owes_clock = is_clock_news && self.lacks_clock();
        if is_clock_news && let Some(time) = self.turn_time() {
            self.broadcaster.tell_clock(&self.state, time);
            if let Some(delayed) = &mut self.delayed_view {
                delayed.clock_changed();
            }
        }
    }

    /// Reads in the store what has happened since this copy heard of the match last.
    pub(super) async fn read_missed(&mut self) -> ControlFlow<End> {
        let (id, mark, known) = (self.state.id(), self.afar().mark, self.state.seq());
        self.afar().doubts_at = None;
        self.server.metrics.cluster.missed_events.inc();
        match self.server.store.tail(id, mark).await {
            Ok(Some(tail)) => {
                let skip = usize::try_from(known.0.saturating_sub(mark.seq().0));
                let skip = skip.unwrap_or(usize::MAX);
                if tail.position.seq() < known {
                    return LOST; // The store has less than it had: the match is read anew.
                }
                let events = tail.events.get(skip..).unwrap_or_default().to_vec();
                // Of another owner everybody is told once that one tells how the match stands.
                if !events.is_empty() {
                    let after = known;
                    self.take_in_afar(&Published { after, events });
                }
                self.afar().mark = tail.position;
            }
            Ok(None) => return LOST,
            Err(error) => {
                tracing::warn!(match_id = %id, %error, "what was missed is not read");
                self.afar().doubts_at = Some(now() + DOUBT);
            }
        }
        self.answer_waiting();
        GOES_ON
    }

    /// Gives the answers whose events have been told.
    pub(super) fn answer_waiting(&mut self) {
        let known = self.state.seq();
        // An answer comes after the event that it is about, which may be in a snapshot that is still owed.
        let owes_snapshots = self.afar().owes_snapshots;
        let waits_for_clock = self.waits_for_clock();
        let waiting = std::mem::take(&mut self.afar().answers);
        let is_ready = |one: &Waiting| {
            let is_shown = one.answer.is_ok() && is_join(&one.letter.command);
            one.seq <= known && !owes_snapshots && !(is_shown && waits_for_clock)
        };
        let (ready, waiting): (Vec<_>, _) = waiting.into_iter().partition(is_ready);
        let afar = self.afar();
        if waiting.iter().any(|one| one.seq > known) {
            afar.doubts_at.get_or_insert_with(|| now() + DOUBT);
        }
        afar.answers = waiting;
        for Waiting {
            since,
            letter,
            answer,
            ..
        } in ready
        {
            let waited = now().saturating_duration_since(since);
            let lag = &self.server.metrics.cluster.replica_lag;
            lag.observe(waited.as_secs_f64());
            let Envelope { command, reply } = *letter;
            match (&answer, &command.request) {
                (Ok(_), MatchRequest::Act(Action::Join { .. })) => {
                    if let Some(reply) = self.broadcaster.admit(&command, true, reply) {
                        self.tell_snapshot_afar(&command, reply);
                    }
                }
                (Ok(_), MatchRequest::Act(Action::Leave { .. })) => {
                    self.dismiss_silently(&command);
                    reply.answer(answer);
                }
                (Ok(_) | Err(_), _) => reply.answer(answer),
            }
        }
    }

    pub(super) fn tell_snapshot_afar(&mut self, command: &Command, reply: Reply) {
        let beside = self.beside();
        (self.broadcaster).tell_snapshot(&self.state, command, beside, reply);
    }
}

/// Whether a command asks for a seat, which a snapshot answers.
const fn is_join(command: &Command) -> bool {
    matches!(command.request, MatchRequest::Act(Action::Join { .. }))
}
