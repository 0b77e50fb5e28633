//! A match that is told with a delay to all who have no seat in it: they see it as it was so long ago.
//!
//! They are an audience of their own, with a teller of its own, whose match is the fold of what had happened
//! by then. What has happened since waits in a queue, each with the instant at which it may be told; all that
//! strangers are told of the match, snapshots and answers included, comes from here. So do lists.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Action, Creation, Event, EventKind, Match, ReplayError, Stage, TurnTime};
use plyhouse_protocol::{ErrorCode, PlayerId, Seq, WatchedBy, WireError};
use plyhouse_store::MatchRecord;

use super::MatchActor;
use super::broadcaster::{Beside, Broadcaster, Crowd, Elsewhere};
use crate::connection::reply::Reply;
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication::{ChatMessage, Published, Standing};
use crate::match_handle::summary::SeatPresence;
use crate::players::rating_update::RatingUpdate;

/// How much may wait that is no event and was not said: more than a match has in ten minutes, since who comes
/// and goes is gathered. Beyond, it waits until there is room, and then tells the whole.
const LATER_MAX: usize = 4096;

/// A match as those see it who have no seat in it.
#[derive(Debug)]
pub(super) struct DelayedView {
    delay: Duration,
    /// The match as it was so long ago.
    state: Match,
    /// Tells of it.
    teller: Broadcaster,
    /// What they may not be told yet, in order.
    queue: VecDeque<Later>,
    /// What has happened since something was put there last.
    fresh: Fresh,
    /// How the match stood when something was put there last.
    queued: Option<Standing>,
    /// How the match stood so long ago, beside what has happened in it, and when that was told.
    standing: Option<Standing>,
    stood_at: Instant,
    /// Somebody has sat down or stood up.
    seats_changed: bool,
}

/// What may be told at an instant.
#[derive(Debug)]
struct Later {
    due: Instant,
    what: Fresh,
    standing: Option<Standing>,
}

/// What is new of a match.
#[derive(Debug, Default)]
struct Fresh {
    events: Vec<Event>,
    said: Vec<ChatMessage>,
    /// The clock counts otherwise than the events tell.
    is_clock_news: bool,
}

/// What was settled, but for how the match before it ended: of that strangers may not know yet.
fn as_strangers_know(creation: &Creation) -> Creation {
    let mut known = creation.clone();
    known.terms.previous = None;
    known
}

impl DelayedView {
    /// What strangers see of the match of this record; `None` if that is all that there is.
    pub(super) fn of(
        server: &Arc<ServerContext>,
        record: &MatchRecord,
    ) -> Result<Option<Box<Self>>, ReplayError> {
        let delay_ms = record.creation.terms.delay_ms;
        if delay_ms == 0 {
            return Ok(None);
        }
        let mut delayed = Box::new(Self {
            delay: Duration::from_millis(delay_ms),
            state: Match::new(as_strangers_know(&record.creation))?,
            teller: Broadcaster::new(Arc::clone(server)).for_strangers(),
            queue: VecDeque::new(),
            fresh: Fresh::default(),
            queued: None,
            standing: None,
            stood_at: now(),
            seats_changed: false,
        });
        delayed.begin_again(record, server.clock.now_ms())?;
        Ok(Some(delayed))
    }

    /// Begins anew with what the store holds, all who follow being kept. What had happened long enough ago is
    /// told by the next snapshot.
    fn begin_again(&mut self, record: &MatchRecord, now_ms: u64) -> Result<(), ReplayError> {
        let told = record.visible_to_spectators(now_ms).len();
        let past = MatchRecord {
            creation: as_strangers_know(&record.creation),
            events: record.events[..told].to_vec(),
        };
        self.state = self.teller.replay(past)?;
        self.fresh = Fresh::default();
        (self.queued, self.standing) = (None, None);
        self.seats_changed = true;
        let seats = Seat::ALL.map(|seat| self.state.occupant(seat).player().map(|_| false));
        let spectators = 0;
        let nobody = SeatPresence { seats, spectators };
        self.teller.has_elsewhere(Some(Elsewhere::Total(nobody)));
        let (at, delay_ms) = (now(), record.creation.terms.delay_ms);
        let mut last = at;
        let later = record.events[told..].iter().map(|event| {
            let due_ms = event.at_ms.saturating_add(delay_ms);
            last = last.max(at + Duration::from_millis(due_ms.saturating_sub(now_ms)));
            let events = vec![event.clone()];
            Later {
                due: last,
                what: Fresh {
                    events,
                    ..Fresh::default()
                },
                standing: None,
            }
        });
        self.queue = later.collect();
        Ok(())
    }

    /// Takes note of what has happened.
    pub(super) fn happened(&mut self, published: &Published) {
        let is_seated = |event: &Event| matches!(event.kind, EventKind::Seated { .. });
        self.seats_changed |= published.events.iter().any(is_seated);
        self.fresh.events.extend(published.events.iter().cloned());
    }

    /// Takes note of what was said. What a stranger says, who speaks when all is over for them, all strangers
    /// hear at once.
    pub(super) fn said(&mut self, line: &ChatMessage) {
        match line.said.seat {
            None => self.teller.hear_new(&self.state, line),
            Some(_) => self.fresh.said.push(line.clone()),
        }
    }

    /// Takes note that the clock counts otherwise.
    pub(super) const fn clock_changed(&mut self) {
        self.fresh.is_clock_news = true;
    }

    /// Has what is new wait for its time.
    fn feed(&mut self, standing: Standing) {
        let is_same = |queued: &Standing| queued.is_but_for_time(&standing);
        let what = &self.fresh;
        let has_to = !what.events.is_empty() || !what.said.is_empty();
        let is_news = what.is_clock_news || !self.queued.as_ref().is_some_and(is_same);
        if has_to || (is_news && self.queue.len() < LATER_MAX) {
            self.queue.push_back(Later {
                due: now() + self.delay,
                what: std::mem::take(&mut self.fresh),
                standing: Some(standing.clone()),
            });
            self.queued = Some(standing);
        }
    }

    /// When strangers are to be told something.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let first = self.queue.front().map(|later| later.due);
        first.into_iter().chain(self.teller.deadline()).min()
    }

    /// Tells what is due, which goes out with the next flush. Gives whether there was anything.
    fn tell_due(&mut self, now: Instant) -> bool {
        let mut has_told = false;
        while let Some(later) = self.queue.pop_front_if(|later| later.due <= now) {
            self.tell(later, now);
            has_told = true;
        }
        let gone_ms = self.gone_ms();
        self.teller.on_time(&self.state, now, || gone_ms);
        has_told
    }

    fn tell(&mut self, later: Later, now: Instant) {
        let Later { what, standing, .. } = later;
        let after = self.state.seq();
        // Without an event nothing else tells strangers a clock that they have not seen.
        let is_clock_news =
            what.is_clock_news || (what.events.is_empty() && self.turn_time().is_none());
        for event in &what.events {
            self.teller.take_in_late(&mut self.state, event);
        }
        self.remove_spectator();
        self.teller.tell(&Published {
            after,
            events: what.events,
        });
        if let Some(standing) = standing {
            let there = Elsewhere::Total(standing.presence);
            self.teller.has_elsewhere(Some(there));
            if let Some(rematch) = &standing.rematch
                && self.teller.keep_rematch(rematch.clone())
            {
                self.teller.tell_rematch(&self.state);
            }
            self.standing = Some(standing);
            self.stood_at = now;
            let gone = self.beside().gone;
            self.teller.plan_presence(&self.state, gone);
        }
        if is_clock_news && let Some(time) = self.turn_time() {
            self.teller.tell_clock(&self.state, time);
        }
        for line in &what.said {
            self.teller.hear_new(&self.state, line);
        }
        self.teller.tell_verdict(&self.state);
    }

    /// Dismisses those who follow a match that is none of their business, once they may know that it has started.
    pub(super) fn remove_spectator(&mut self) {
        self.teller.remove_spectator(&self.state);
    }

    /// How the clock stood so long ago, as far as that is known.
    fn turn_time(&self) -> Option<TurnTime> {
        let standing = self.standing.as_ref()?;
        standing.time_after(now().saturating_duration_since(self.stood_at))
    }

    /// For how long each seat's player may still be gone, as it was so long ago.
    fn gone_ms(&self) -> [Option<u64>; 2] {
        let passed = now().saturating_duration_since(self.stood_at);
        let standing = self.standing.as_ref();
        standing.map_or([None; 2], |standing| standing.gone_ms_after(passed))
    }

    /// How the clock stood and whose time to be gone ran so long ago.
    fn beside(&self) -> Beside {
        Beside {
            time: self.turn_time(),
            gone: self.gone_ms().map(|gone_ms| gone_ms.is_some()),
        }
    }

    /// The match as strangers see it.
    pub(super) const fn state(&self) -> &Match {
        &self.state
    }

    /// What tells them.
    pub(super) const fn teller(&mut self) -> &mut Broadcaster {
        &mut self.teller
    }

    /// Whether this connection follows as a stranger's.
    pub(super) fn follows(&self, command: &Command) -> bool {
        self.teller.follows(command)
    }

    /// Lets a stranger's connection follow, and shows it the match.
    fn watch(&mut self, command: &Command, reply: Reply) {
        if let Some(reply) = self.teller.admit(command, false, reply) {
            let beside = self.beside();
            self.teller
                .tell_snapshot(&self.state, command, beside, reply);
        }
    }

    fn resync(&mut self, command: &Command, since: Seq, reply: Reply) {
        let resync = (since, self.turn_time());
        self.teller.resync(&self.state, command, resync, reply);
    }

    /// What a stranger is answered: nothing that has not been so long ago.
    fn as_known(
        &self,
        state: &Match,
        command: &Command,
        action: &Action,
        answer: Answer,
    ) -> Answer {
        let has_ended = |state: &Match| matches!(state.stage(), Stage::Ended { .. });
        let code = answer.as_ref().err().and_then(|error| error.code);
        let is_secret = match code {
            Some(ErrorCode::MatchEnded) => !has_ended(&self.state),
            Some(ErrorCode::MatchRunning) => self.state.stage() == Stage::Open,
            _ => false,
        };
        if !is_secret {
            return answer;
        }
        let is_host = state.creation().host == command.player;
        let (code, why) = match action {
            Action::Join { .. } => (ErrorCode::SeatTaken, "no seat is open to you"),
            _ if is_host => (ErrorCode::MatchRunning, "the match has begun"),
            _ => (ErrorCode::NotHost, "only the host may do that"),
        };
        Err(Box::new(WireError::new(code, why)))
    }
}

impl MatchActor {
    /// What whoever asks sees of the match, if that is another than there is.
    pub(super) fn delayed_for(&mut self, player: PlayerId) -> Option<&mut DelayedView> {
        let delayed = self.delayed_view.as_deref_mut()?;
        self.state.seat_held_by(player).is_none().then_some(delayed)
    }

    /// Serves whoever wants to watch without a seat, where that is another matter. Gives the reply back
    /// elsewhere.
    pub(super) fn watch_delayed(&mut self, command: &Command, reply: Reply) -> Option<Reply> {
        let Some(delayed) = self.delayed_for(command.player) else {
            return Some(reply);
        };
        delayed.watch(command, reply);
        self.crowd_changed();
        None
    }

    /// Serves whoever asks what was missed, where the match is seen later. Gives the reply back elsewhere.
    pub(super) fn resync_delayed(
        &mut self,
        command: &Command,
        since: Seq,
        reply: Reply,
    ) -> Option<Reply> {
        let Some(delayed) = self.delayed_for(command.player) else {
            return Some(reply);
        };
        delayed.resync(command, since, reply);
        None
    }

    /// What whoever asks is answered.
    pub(super) fn as_known(
        &mut self,
        command: &Command,
        action: &Action,
        answer: Answer,
    ) -> Answer {
        match &self.delayed_view {
            Some(delayed) if self.state.seat_held_by(command.player).is_none() => {
                delayed.as_known(&self.state, command, action, answer)
            }
            _ => answer,
        }
    }

    /// Has the teller of those who sit know who else is there.
    pub(super) fn note_crowd(&mut self) {
        if let Some(delayed) = &self.delayed_view {
            let host = self.state.creation().host;
            self.broadcaster.has_crowd(Crowd {
                count: delayed.teller.count(),
                host: delayed.teller.has_player(host).then_some(host),
            });
        }
    }

    /// To be called when others follow with a delay than before.
    fn crowd_changed(&mut self) {
        match self.replica {
            None => self.roster_changed(),
            Some(_) => self.note_crowd(),
        }
    }

    /// Puts everybody where they belong, and has what is new wait for its time.
    pub(super) fn attend_delayed(&mut self) {
        if self.delayed_view.is_none() {
            return;
        }
        self.sort_out();
        let standing = Standing {
            time: self.turn_time(),
            gone_ms: self.gone_ms(),
            ..self.broadcaster.standing(&self.state)
        };
        if let Some(delayed) = &mut self.delayed_view {
            delayed.feed(standing);
        }
    }

    /// Whoever has sat down is told at once from now on, on all connections; those of whoever has stood up are
    /// shown out, since they know more than they may be told.
    fn sort_out(&mut self) {
        let delayed = self.delayed_view.as_mut();
        if !delayed.is_some_and(|delayed| std::mem::take(&mut delayed.seats_changed)) {
            return;
        }
        let beside = self.beside();
        let Some(delayed) = &mut self.delayed_view else {
            return;
        };
        let state = &self.state;
        let risen = delayed
            .teller
            .release(|player| state.seat_held_by(player).is_some());
        for (player, outbox) in risen {
            self.broadcaster
                .let_in(&self.state, player, &outbox, beside);
        }
        self.broadcaster.show_out_if(&self.state, |player| {
            self.state.seat_held_by(player).is_none()
        });
        self.crowd_changed();
    }

    /// Tells strangers what is due, and has lists show it.
    pub(super) fn tell_delayed(&mut self, now: Instant) {
        let Some(delayed) = &mut self.delayed_view else {
            return;
        };
        if delayed.tell_due(now) {
            self.show_delayed();
            if self.state.creation().terms.watch() == WatchedBy::Nobody {
                self.crowd_changed();
            }
        }
    }

    /// Has lists show the match as strangers see it.
    pub(super) fn show_delayed(&self) {
        if let Some(delayed) = &self.delayed_view {
            let presence = delayed.teller.presence(&delayed.state);
            let card = self.leader.card();
            // That there is a rematch would tell that the match before it is over.
            let is_rematch = self.state.creation().terms.previous.is_some();
            let is_known = !is_rematch || delayed.state.stage() != Stage::Open;
            if card.show(&delayed.state, presence, is_known) {
                self.server.lobby.update_shown_status(card);
                if let Some(cluster) = &self.server.cluster {
                    cluster
                        .changed_listings
                        .mark_changed(card.is_listed().then_some(card.id));
                }
            }
        }
    }

    /// Begins anew with what the store holds, and shows strangers what they may know of it.
    pub(super) fn begin_delayed_again(&mut self, record: &MatchRecord) -> Result<(), ReplayError> {
        let now_ms = self.server.clock.now_ms();
        if let Some(delayed) = &mut self.delayed_view {
            delayed.begin_again(record, now_ms)?;
        }
        Ok(())
    }

    /// Takes note of what a rated match has changed, and tells it whoever has been told of its end.
    pub(super) fn keep_verdict(&mut self, verdict: &RatingUpdate) {
        self.broadcaster.keep_verdict(&self.state, verdict);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.teller.keep_verdict(&delayed.state, verdict);
        }
    }

    /// Shows strangers the match anew.
    pub(super) fn show_strangers(&mut self, epoch: u64) {
        if let Some(delayed) = &mut self.delayed_view {
            delayed.teller.is_of_epoch(epoch);
            let beside = delayed.beside();
            delayed.teller.tell_snapshots(&delayed.state, beside);
        }
        self.show_delayed();
    }
}
