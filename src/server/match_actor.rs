//! The task of one match: it takes what is asked, has its [`leader`] decide, and its
//! [`broadcaster`] tell everybody.
//!
//! It never waits for a client. What it waits for is the store, and only there do requests of one
//! match queue up behind each other. When it panics, or the store holds something else than it
//! believes, the match is rebuilt from the store and goes on.

mod bot_opinion;
mod bot_turn;
mod broadcaster;
mod chat;
mod clock_control;
mod delayed_view;
pub(super) mod hibernation;
mod leader;
mod recovery;
pub(super) mod rematch;
mod replica;
mod replicas;
mod request_dedup;
mod subscribers;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use plyhouse_matches::{
    Action, Creation, Event, EventKind, Match, Reminder, ReplayError, Stage, Timestamp,
};
use plyhouse_protocol::{ErrorCode, PlayerId, Seq, Thinking, WireError};
use plyhouse_store::{JournalPosition, LoadedMatch, MatchRecord};
use tokio::time::sleep_until;

use self::bot_turn::BotProgress;
pub(crate) use self::broadcaster::HISTORY_EVENTS_MAX as RESYNC_EVENTS_MAX;
use self::broadcaster::{Broadcaster, SnapshotExtras};
use self::chat::Chat;
use self::delayed_view::DelayedView;
use self::hibernation::Hibernation;
use self::leader::{ActionError, Leader, TimerAction};
use self::rematch::{RematchFactory, RematchOffers};
use self::replica::Replica;
use self::replicas::Replicas;
use self::request_dedup::RequestDedup;
use super::connection::handle::ConnectionHandle;
use super::connection::ip_limits::OpenMatchPermit;
use super::connection::reply::Reply;
use super::context::clock::now;
use super::context::server_context::ServerContext;
use super::match_handle::command::{Answer, Command, Control, MatchRequest};
use super::match_handle::mailbox::Receiver;
use super::match_handle::replication::PublishedEvents;
use super::match_handle::summary::MatchSummary;
use super::match_handle::{Envelope, MAILBOX_CAPACITY};
use super::players::block_check;
use super::players::ratings;
use super::schedule::correspondence;
use super::wire::error_replies::unknown_match_error;
use super::wire::to_protocol;

/// A match that has panicked more often than this without getting on in between is given up.
const PANICS_MAX: u32 = 3;

/// How long a request is served again and again before it is refused.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

const CONTINUE: ControlFlow<StopReason> = ControlFlow::Continue(());

const RELOAD: ControlFlow<StopReason> = ControlFlow::Break(StopReason::Reload);

/// One match, with its owner and the one who tells of it to all who follow. The two share the match
/// here, so that it is folded once; what goes between them is plain data.
#[derive(Debug)]
pub(super) struct MatchActor {
    server: Arc<ServerContext>,
    state: Match,
    leader: Leader,
    broadcaster: Broadcaster,
    mailbox: Receiver<Box<Envelope>>,
    /// What was taken from the mailbox and is to be served before what is still there.
    deferred: VecDeque<Box<Envelope>>,
    /// Who wants a rematch, once the match has ended.
    rematch_offers: RematchOffers,
    create_rematch: RematchFactory,
    chat: Chat,
    hibernation: Hibernation,
    /// What its store holds beside its events, before it begins.
    reminder: Option<Reminder>,
    /// How often it has panicked since it last got on.
    panic_count: u32,
    /// The other servers that follow it, if there are any.
    replicas: Option<Box<Replicas>>,
    /// Where it is decided, if not here.
    replica: Option<Box<Replica>>,
    /// What those see who have no seat, if that is another than there is.
    delayed_view: Option<Box<DelayedView>>,
}

/// Why a match is served no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopReason {
    /// Nobody can ask for it any more.
    Closed,
    /// Nobody needs it until something is due, or somebody asks for it.
    Hibernated,
    /// What the store holds is not what the match believes.
    Reload,
}

impl MatchActor {
    /// A match to which nothing has happened yet. Boxed, since a future that a value is moved into has
    /// room for it twice.
    pub(super) fn new(
        server: &Arc<ServerContext>,
        creation: Creation,
        journal_position: JournalPosition,
        mailbox: Receiver<Box<Envelope>>,
        open_match_permit: Option<OpenMatchPermit>,
        create_rematch: RematchFactory,
    ) -> Box<Self> {
        let broadcaster = Broadcaster::new(Arc::clone(server));
        let events = Vec::new();
        let record = MatchRecord { creation, events };
        let delayed_view =
            DelayedView::from_record(server, &record).expect("a record without events replays");
        let state =
            Match::new(record.creation).expect("the initial position was validated at creation");
        let leader = Leader::new(
            Arc::clone(server),
            &state,
            journal_position,
            open_match_permit,
        );
        let mut actor = Self::from_parts(
            server,
            state,
            (leader, broadcaster),
            mailbox,
            create_rematch,
        );
        actor.delayed_view = delayed_view;
        actor.update_delayed_listing();
        actor
    }

    /// A match that comes from the store, and does not begin yet.
    pub(super) fn from_store(
        server: &Arc<ServerContext>,
        loaded: LoadedMatch,
        mailbox: Receiver<Box<Envelope>>,
        create_rematch: RematchFactory,
    ) -> Result<Box<Self>, ReplayError> {
        let mut broadcaster = Broadcaster::new(Arc::clone(server));
        let LoadedMatch {
            record,
            position,
            rematch,
            reminder,
            rating_changes,
        } = loaded;
        let mut request_dedup = RequestDedup::default();
        request_dedup.reload(&record.events);
        let delayed_view = DelayedView::from_record(server, &record)?;
        let state = broadcaster.replay(record)?;
        let mut leader = Leader::new(Arc::clone(server), &state, position, None);
        leader.request_dedup = request_dedup;
        let mut actor = Self::from_parts(
            server,
            state,
            (leader, broadcaster),
            mailbox,
            create_rematch,
        );
        actor.delayed_view = delayed_view;
        actor.update_delayed_listing();
        actor.rematch_offers = RematchOffers::from_store(rematch);
        actor.broadcaster.set_epoch(position.epoch());
        if let Some(delayed) = &mut actor.delayed_view {
            delayed
                .broadcaster()
                .set_sent_rating_changes(rating_changes.clone());
        }
        actor.broadcaster.set_sent_rating_changes(rating_changes);
        actor.hibernation.set_has_reminder(reminder.is_some());
        actor.reminder = reminder;
        Ok(actor)
    }

    fn from_parts(
        server: &Arc<ServerContext>,
        state: Match,
        (leader, broadcaster): (Leader, Broadcaster),
        mailbox: Receiver<Box<Envelope>>,
        create_rematch: RematchFactory,
    ) -> Box<Self> {
        Box::new(Self {
            server: Arc::clone(server),
            leader,
            state,
            broadcaster,
            mailbox,
            deferred: VecDeque::new(),
            rematch_offers: RematchOffers::default(),
            create_rematch,
            chat: Chat::default(),
            hibernation: Hibernation::default(),
            reminder: None,
            panic_count: 0,
            replicas: None,
            replica: None,
            delayed_view: None,
        })
    }

    pub(super) const fn state(&self) -> &Match {
        &self.state
    }

    /// The end of the match's journal.
    pub(super) const fn journal_position(&self) -> JournalPosition {
        self.leader.journal_position
    }

    /// What a list shows of the match.
    pub(super) fn summary(&self) -> Arc<MatchSummary> {
        Arc::clone(self.leader.summary())
    }

    /// Begins with what has happened until now.
    pub(super) fn start(&mut self) {
        let presence = self.broadcaster.total_presence(&self.state);
        self.leader.start(&self.state, &presence);
        if self.replica.is_some() {
            self.leader.update_summary(&self.state, &presence);
            let absent = self.absent_seats();
            self.broadcaster.schedule_presence(&self.state, absent);
            return;
        }
        let status = to_protocol::status(self.state.stage());
        tracing::debug!(match_id = %self.state.id(), ?status, seq = %self.state.seq(), "match started serving");
        self.on_presence_changed();
        if let Some(cluster) = &self.server.cluster {
            let summary = self.leader.summary();
            cluster
                .changed_listings
                .mark_changed(summary.is_listed().then_some(summary.id));
        }
        if let Some(reminder) = self.reminder.take() {
            self.leader.resume(&reminder);
        }
    }

    /// Begins with the first events, which are stored.
    pub(super) fn start_with_events(&mut self, events: Vec<Event>) {
        let after = Seq(0);
        self.apply_published(&PublishedEvents { after, events });
    }

    /// Serves the match until it is forgotten or the server lets go of it.
    pub(super) async fn run(mut self: Box<Self>) {
        loop {
            let result = AssertUnwindSafe(self.serve()).catch_unwind().await;
            let id = self.state.id();
            match result {
                Ok(StopReason::Closed) => break,
                Ok(StopReason::Hibernated) => return self.hibernate(),
                Ok(StopReason::Reload) => {}
                Err(_) => {
                    let panics = self.server.metrics.panics.inc() + 1;
                    tracing::error!(match_id = %id, panics, "match actor panicked");
                    self.panic_count += 1;
                    if self.panic_count > PANICS_MAX {
                        tracing::error!(match_id = %id, "match dropped after repeated panics");
                        break;
                    }
                }
            }
            if !self.reload().await {
                break;
            }
        }
        let id = self.state.id();
        self.broadcaster.remove_all_followers(id);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.broadcaster().remove_all_followers(id);
        }
        self.server.lobby.remove(id);
        self.server.players.on_match_ended(&self.state);
    }

    async fn serve(&mut self) -> StopReason {
        if self.replica.is_some() {
            // Boxed, since few matches need room for it.
            return Box::pin(self.serve_replica()).await;
        }
        // One timer for the life of the match: making one anew for every message costs.
        let mut alarm = pin!(sleep_until(now().into()));
        loop {
            self.leader.update_bot_turn(&self.state);
            self.update_hibernation_deadline();
            self.update_delayed_view();
            let deadlines = [
                self.leader.deadline(&self.state),
                self.broadcaster.deadline(),
                self.hibernation.deadline(),
                self.rematch_offers.deadline(),
                self.delayed_view
                    .as_ref()
                    .and_then(|delayed| delayed.deadline()),
            ];
            let deadline = deadlines.into_iter().flatten().min();
            if let Some(deadline) = deadline.map(Into::into)
                && alarm.deadline() != deadline
            {
                alarm.as_mut().reset(deadline);
            }
            let has_bot_turn = self.leader.has_bot_turn();
            let flow = tokio::select! {
                biased; // A busy mailbox must not delay what time has decided.
                () = &mut alarm, if deadline.is_some() => self.on_timer().await,
                news = self.leader.bot_progress(), if has_bot_turn => {
                    self.on_bot_progress(news);
                    CONTINUE
                }
                envelope = next_envelope(&mut self.deferred, &mut self.mailbox) => match envelope {
                    Some(envelope) => self.on_message(*envelope).await,
                    // The lobby has let go, and every connection has left.
                    None => return StopReason::Closed,
                },
            };
            self.update_reachability();
            self.broadcast_clock();
            self.send_replica_updates();
            self.flush();
            if let ControlFlow::Break(end) = flow {
                return end;
            }
        }
    }

    /// Takes in what a bot thinks, or has thought of, and tells that where it is to be known.
    fn on_bot_progress(&mut self, progress: BotProgress) {
        match progress {
            BotProgress::Thinking(thinking) => self.broadcast_thinking(*thinking),
            BotProgress::Finished(choice) => {
                if let Some(thinking) = Leader::final_thinking(choice.as_ref(), &self.state) {
                    self.broadcast_thinking(thinking);
                }
                self.leader.on_move_chosen(choice, &self.state);
            }
        }
    }

    fn broadcast_thinking(&mut self, thinking: Thinking) {
        if !self.leader.claim_thinking_slot() {
            return;
        }
        self.broadcaster.broadcast_thinking(&thinking);
        if let Some(replicas) = &mut self.replicas {
            replicas.set_thinking(thinking);
        }
    }

    /// Does what is due.
    async fn on_timer(&mut self) -> ControlFlow<StopReason> {
        let now = now();
        self.update_reachability();
        let absence_left_ms = || self.leader.absence_left_ms(&self.state);
        self.broadcaster.on_timer(&self.state, now, absence_left_ms);
        self.broadcast_delayed(now);
        self.expire_rematch_offers(now);
        self.run_timer_action(now).await?;
        self.try_hibernate(now).await
    }

    /// Does what the owner has to do by itself.
    async fn run_timer_action(&mut self, now: Instant) -> ControlFlow<StopReason> {
        match self.leader.next_action(&self.state, now) {
            TimerAction::Idle => CONTINUE,
            TimerAction::Unload => ControlFlow::Break(StopReason::Closed),
            TimerAction::Act(action) => self.apply_own_action(&action).await,
            TimerAction::Flag(at) => self.on_flag(at).await,
        }
    }

    /// Does what the match has decided on by itself.
    async fn apply_own_action(&mut self, action: &Action) -> ControlFlow<StopReason> {
        match self.leader.commit_own_action(&self.state, action).await {
            Ok(published) => {
                self.apply_published(&published);
                CONTINUE
            }
            Err(ActionError::OutOfSync) => RELOAD,
            Err(error) => {
                self.leader.delay_own_actions(&self.state, action, &error);
                CONTINUE
            }
        }
    }

    /// The turn should have ended at this instant: ends the match, unless what was read before then and
    /// waits to be served ends the turn.
    async fn on_flag(&mut self, deadline: Instant) -> ControlFlow<StopReason> {
        let (seq, mut unserved) = (self.state.seq(), VecDeque::new());
        while self.state.seq() == seq
            && unserved.len() < MAILBOX_CAPACITY
            && let Some(Some(envelope)) =
                next_envelope(&mut self.deferred, &mut self.mailbox).now_or_never()
        {
            let mut envelope = envelope;
            self.adjust_received_at(&mut envelope.command);
            if envelope.command.received_at < deadline {
                if let end @ ControlFlow::Break(_) = self.on_message(*envelope).await {
                    self.defer(unserved);
                    return end;
                }
            } else {
                unserved.push_back(envelope);
            }
        }
        self.defer(unserved);
        if self.state.seq() != seq {
            // Something has happened: whether the turn has ended is looked at anew.
            return CONTINUE;
        }
        self.apply_own_action(&Leader::flag_action(&self.state))
            .await
    }

    /// Has letters served before all others.
    fn defer(&mut self, mut envelopes: VecDeque<Box<Envelope>>) {
        envelopes.append(&mut self.deferred);
        self.deferred = envelopes;
    }

    /// Serves one request.
    async fn on_message(&mut self, mut envelope: Envelope) -> ControlFlow<StopReason> {
        self.adjust_received_at(&mut envelope.command);
        if let Some(deadline) = self
            .leader
            .flag_before_command(&self.state, &envelope.command)
        {
            self.defer(VecDeque::from([Box::new(envelope)]));
            return Box::pin(self.on_flag(deadline)).await;
        }
        let Envelope { command, reply } = envelope;
        if self.is_hidden_from(&command) {
            refuse_hidden(&command, reply);
            return CONTINUE;
        }
        match &command.request {
            MatchRequest::Act(action) if command.relay.is_some() => {
                return Box::pin(self.apply_relayed_action(&command, action, reply)).await;
            }
            MatchRequest::Act(action) => return self.apply_action(&command, action, reply).await,
            MatchRequest::Watch | MatchRequest::PushSnapshot => {
                let Some(reply) = self.watch_delayed(&command, reply) else {
                    return CONTINUE;
                };
                let is_seated = self.state.seat_of(command.player).is_some();
                if let Some(reply) = self.broadcaster.admit(&command, is_seated, reply) {
                    self.on_presence_changed();
                    self.send_snapshot(&command, reply);
                }
            }
            MatchRequest::Resync { since } => {
                let Some(reply) = self.resync_delayed(&command, *since, reply) else {
                    return CONTINUE;
                };
                let time = self.leader.match_clock.turn_time(&self.state);
                let resync = (*since, time);
                self.broadcaster
                    .resync(&self.state, &command, resync, reply);
            }
            MatchRequest::Unfollow => self.remove_follower(&command),
            MatchRequest::OfferRematch => Box::pin(self.offer_rematch(&command, reply)).await,
            MatchRequest::SendChat { name, saying } => {
                self.send_chat(&command, name, saying, reply)
            }
            MatchRequest::DeclineRematch => self.decline_rematch(&command, reply),
            MatchRequest::Control(control) => {
                return Box::pin(self.on_control(control, reply)).await;
            }
        }
        CONTINUE
    }

    /// Takes in what others have to tell of the store, of other servers and of those who are in the match.
    async fn on_control(&mut self, control: &Control, reply: Reply) -> ControlFlow<StopReason> {
        match control {
            Control::RematchCreated { next } => self.on_rematch_created(next.as_ref(), reply),
            Control::CheckTimers => return self.check_timers(reply).await,
            Control::ResignIdleBotGame => return self.resign_idle_bot_game(reply).await,
            Control::NotifyTurn => {
                self.notify_turn();
                reply.ok(None);
            }
            Control::EraseName { player, name } => {
                let may_contain_name = self.erase_name(*player, name);
                reply.ok(None);
                if may_contain_name {
                    return RELOAD;
                }
            }
            Control::StoreUnavailable { since } => {
                self.leader
                    .match_clock
                    .on_store_unavailable(&self.state, *since);
                reply.ok(None);
            }
            Control::StoreAvailable => {
                self.leader.match_clock.on_store_available(&self.state);
                reply.ok(None);
            }
            Control::Follow { from, presence } => {
                self.set_replica_presence(*from, presence.clone());
                reply.ok(None);
            }
            Control::NodeUnreachable { node, is_dead } => {
                if *is_dead {
                    self.remove_replica(*node);
                }
                self.on_presence_changed();
                reply.ok(None);
            }
            Control::OwnerChanged { .. } => {
                reply.ok(None);
                return RELOAD;
            }
            Control::NodesChanged | Control::CatchUp => {
                self.on_presence_changed();
                reply.ok(None);
            }
            Control::ReplicaUpdate(_) => reply.ok(None),
            Control::RatingUpdated(rating_update) => {
                self.set_rating_update(rating_update);
                reply.ok(None);
            }
        }
        CONTINUE
    }

    /// Finds out whether a player may sit down with whoever is here: not if one of them blocks the other, nor for
    /// ratings if both are one person's. A seat of one's own is no matter of that.
    fn check_pairing_allowed(
        &self,
        player: PlayerId,
    ) -> impl Future<Output = Result<(), WireError>> + Send + use<> {
        let needs_check = !matches!(self.state.stage(), Stage::Ended { .. })
            && self.state.seat_held_by(player).is_none();
        let others = self
            .state
            .seat_holders()
            .chain([self.state.creation().host]);
        let others: Vec<PlayerId> = others.filter(|_| needs_check).collect();
        let is_rated = self.state.creation().terms.rated && needs_check;
        let server = Arc::clone(&self.server);
        async move {
            if is_rated {
                let linked = ratings::linked_accounts(&server, player).await?;
                if others.iter().any(|other| linked.contains(other)) {
                    return Err(ratings::same_owner_error());
                }
            }
            match block_check::is_unpairable_with_any(&server, player, others).await? {
                true => Err(block_check::blocked_error()),
                false => Ok(()),
            }
        }
    }

    /// Whether the match is none of the business of whoever asks: it has started, as far as they may know.
    fn is_hidden_from(&self, command: &Command) -> bool {
        let is_hidden_in_delayed_view =
            |delayed: &DelayedView| delayed.state().is_hidden_from(command.player);
        self.state.is_hidden_from(command.player)
            && self
                .delayed_view
                .as_deref()
                .is_none_or(is_hidden_in_delayed_view)
            && command.request.is_from_client()
    }

    /// Has an action decided on, tells what came of it, and answers.
    async fn apply_action(
        &mut self,
        command: &Command,
        action: &Action,
        mut reply: Reply,
    ) -> ControlFlow<StopReason> {
        let joins = matches!(action, Action::Join { .. });
        if joins && self.starts_correspondence_match(command.player, action) {
            let limit_check = correspondence::check_limit(&self.server, command.player).await;
            match reply.require(limit_check) {
                Some(((), checked)) => reply = checked,
                None => return CONTINUE,
            }
        }
        let is_new_follower = joins && !self.broadcaster.follows(command);
        if joins {
            match reply.require(self.check_pairing_allowed(command.player).await) {
                Some(((), checked)) => reply = checked,
                None => return CONTINUE,
            }
            let is_seated = self.state.seat_of(command.player).is_some();
            let now = Timestamp::uncharged(self.server.clock.now_ms());
            let is_player = is_seated || self.state.apply(action, now).is_ok();
            match self.broadcaster.admit(command, is_player, reply) {
                Some(admitted) => reply = admitted,
                None => return CONTINUE,
            }
        }
        let decision = self.leader.decide(&self.state, action, command).await;
        let durable_at = self.apply_published(&decision.published);
        if decision.needs_reload {
            if is_new_follower {
                self.remove_rejected_follower(command);
            }
            return self.retry_after_reload(command, reply, decision.answer);
        }
        let mut decision = decision;
        decision.answer = self.redact_answer(command, action, decision.answer);
        match (&decision.answer, action) {
            (Ok(_), Action::Join { .. }) => {
                self.send_snapshot(command, reply);
            }
            (Ok(_), Action::Leave { .. }) => {
                self.remove_follower(command);
                reply.answer(decision.answer);
            }
            (Ok(_), Action::Play { .. }) => {
                if decision.published.events.is_empty() {
                    reply.count_rejected_move();
                }
                reply.answer(decision.answer);
                if !decision.published.events.is_empty() {
                    let latency = durable_at.saturating_duration_since(command.received_at);
                    let histogram = &self.server.metrics.move_durable;
                    histogram.observe(latency.as_secs_f64());
                }
            }
            (Ok(_) | Err(_), _) => {
                reply.answer(decision.answer);
                if is_new_follower {
                    self.remove_rejected_follower(command);
                }
            }
        }
        CONTINUE
    }

    /// Has an action decided on that a client of another server asks for, which tells its followers.
    async fn apply_relayed_action(
        &mut self,
        command: &Command,
        action: &Action,
        reply: Reply,
    ) -> ControlFlow<StopReason> {
        let mut reply = reply;
        if matches!(action, Action::Join { .. })
            && self.starts_correspondence_match(command.player, action)
        {
            let limit_check = correspondence::check_limit(&self.server, command.player).await;
            match reply.require(limit_check) {
                Some(((), checked)) => reply = checked,
                None => return CONTINUE,
            }
        }
        if matches!(action, Action::Join { .. }) {
            match reply.require(self.check_pairing_allowed(command.player).await) {
                Some(((), checked)) => reply = checked,
                None => return CONTINUE,
            }
        }
        let decision = self.leader.decide(&self.state, action, command).await;
        self.apply_published(&decision.published);
        // What has happened goes before the answer.
        self.send_replica_updates();
        if decision.needs_reload {
            return self.retry_after_reload(command, reply, decision.answer);
        }
        let answer = self.redact_answer(command, action, decision.answer);
        reply.answer(answer);
        CONTINUE
    }

    /// Has a command that was not decided on served again once the match has been read anew, and breaks for
    /// that. After a while it is answered instead.
    fn retry_after_reload(
        &mut self,
        command: &Command,
        mut reply: Reply,
        answer: Answer,
    ) -> ControlFlow<StopReason> {
        if matches!(&answer, Err(error) if error.code == Some(ErrorCode::Internal)) {
            reply.mark_possibly_applied();
        }
        if now().saturating_duration_since(command.received_at) < REQUEST_TIMEOUT {
            let command = command.clone();
            self.deferred
                .push_front(Box::new(Envelope { command, reply }));
        } else {
            reply.answer(answer);
        }
        RELOAD
    }

    /// Has a command of another server's client count as if it had been read here.
    fn adjust_received_at(&self, command: &mut Command) {
        if let (Some(replicas), Some(cluster)) = (&self.replicas, &self.server.cluster) {
            command.received_at = replicas.adjusted_received_at(command, cluster);
            if let Some(relayed) = &mut command.relay {
                relayed.turn_elapsed_us = None;
            }
        }
    }

    /// Whether by this action, which is refused for nothing else, the player gets one more match of days.
    fn starts_correspondence_match(&self, player: PlayerId, action: &Action) -> bool {
        let creation = self.state.creation();
        let participates = creation.host == player || self.state.seat_held_by(player).is_some();
        let now = Timestamp::uncharged(self.server.clock.now_ms());
        creation.terms.is_correspondence() && !participates && self.state.apply(action, now).is_ok()
    }

    /// Makes stored events part of the match, and then tells everybody. Gives the instant from which
    /// they count as durable.
    fn apply_published(&mut self, published: &PublishedEvents) -> Instant {
        let durable_at = now();
        if published.events.is_empty() {
            return durable_at;
        }
        debug_assert_eq!(
            published.after,
            self.state.seq(),
            "published events follow the current seq"
        );
        self.panic_count = 0;
        for event in &published.events {
            self.leader.before_event(&self.state, event);
            self.broadcaster
                .apply_event(&mut self.state, event, durable_at);
            self.leader.after_event(&self.state, event, durable_at);
        }
        self.remove_spectator();
        let is_move = |event: &Event| matches!(event.kind, EventKind::Moved { .. });
        if !published.events.iter().all(is_move) {
            self.on_presence_changed();
            let ServerContext {
                challenges,
                players,
                ..
            } = &*self.server;
            challenges.on_match_changed(players, &self.state);
        }
        self.broadcaster.broadcast(published);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.add_events(published);
        }
        self.leader.summary().set_seq(self.state.seq());
        self.leader.on_events_sent(&self.state, published, now());
        if let Some(replicas) = &mut self.replicas {
            replicas.add_events(published);
        }
        let gives_turn = |event: &Event| event.kind.begins_turn();
        if self.state.creation().terms.is_correspondence()
            && published.events.iter().any(gives_turn)
        {
            self.notify_turn();
        }
        if self.leader.match_clock.needs_rtt() {
            self.broadcaster.measure_mover_rtt(&self.state);
        }
        durable_at
    }

    /// Shows out whoever follows a match that is none of their business, now that it has started.
    fn remove_spectator(&mut self) {
        self.broadcaster.remove_spectator(&self.state);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.remove_spectator();
        }
    }

    /// Tells whoever is to move in a match of days, wherever they are.
    fn notify_turn(&self) {
        let follows =
            |connection: &ConnectionHandle| self.broadcaster.has_connection(connection.id);
        correspondence::notify_turn(&self.server, &self.state, follows);
    }

    /// Tells everybody how the clock stands, if that has changed otherwise than by an event.
    fn broadcast_clock(&mut self) {
        if self.leader.match_clock.take_unsent_change()
            && let Some(time) = self.leader.match_clock.turn_time(&self.state)
        {
            self.broadcaster.broadcast_clock(&self.state, time);
            if let Some(replicas) = &mut self.replicas {
                replicas.mark_clock_changed();
            }
            if let Some(delayed) = &mut self.delayed_view {
                delayed.mark_clock_changed();
            }
        }
    }

    fn send_snapshot(&mut self, command: &Command, reply: Reply) {
        let extras = self.snapshot_extras();
        (self.broadcaster).send_snapshot(&self.state, command, extras, reply);
    }

    /// For how long each seat's player may still be gone, in milliseconds, as far as this server knows.
    fn absence_left_ms(&self) -> [Option<u64>; 2] {
        match &self.replica {
            Some(replica) => replica.absence_left_ms(),
            None => self.leader.absence_left_ms(&self.state),
        }
    }

    /// Whose time to be gone runs.
    fn absent_seats(&self) -> [bool; 2] {
        self.absence_left_ms().map(|gone_ms| gone_ms.is_some())
    }

    /// What a snapshot that is sent now says beside the events.
    fn snapshot_extras(&mut self) -> SnapshotExtras {
        self.mark_clock_pending();
        SnapshotExtras {
            turn_time: self.turn_time(),
            absent: self.absent_seats(),
        }
    }

    /// Lets go of a connection that was let in for a seat which it has not got.
    fn remove_rejected_follower(&mut self, command: &Command) {
        if self.broadcaster.remove_follower(command) {
            self.on_presence_changed();
        }
    }

    fn remove_follower(&mut self, command: &Command) {
        let delayed_view = self.delayed_view.as_mut();
        let was_spectator =
            delayed_view.is_some_and(|delayed| delayed.broadcaster().remove_follower(command));
        if self.broadcaster.remove_follower(command) || was_spectator {
            self.on_presence_changed();
        }
    }

    /// Whether the connection that asks follows.
    fn follows(&self, command: &Command) -> bool {
        let is_delayed_follower = |delayed: &DelayedView| delayed.follows(command);
        self.broadcaster.follows(command)
            || self
                .delayed_view
                .as_deref()
                .is_some_and(is_delayed_follower)
    }

    /// Lets go of a connection, of which nobody need know yet.
    fn remove_follower_silently(&mut self, command: &Command) {
        self.broadcaster.remove_follower(command);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.broadcaster().remove_follower(command);
        }
    }

    /// Has everything written that was told.
    fn flush(&mut self) {
        self.broadcaster.flush();
        if let Some(delayed) = &mut self.delayed_view {
            delayed.broadcaster().flush();
        }
    }

    /// Keeps everything in step that depends on who is where: to be called when that changes, and
    /// before it is told.
    fn on_presence_changed(&mut self) {
        self.update_delayed_followers();
        let presence = self.broadcaster.total_presence(&self.state);
        self.leader.update_presence(&self.state, &presence);
        let absent = self.absent_seats();
        self.broadcaster.schedule_presence(&self.state, absent);
        self.update_rematch_presence();
    }
}

/// Answers that there is no such match, since it is none of the business of whoever asks.
fn refuse_hidden(command: &Command, reply: Reply) {
    match command.request {
        MatchRequest::PushSnapshot => reply.discard(),
        _ => reply.error(unknown_match_error()),
    }
}

/// The next letter: first those that are held.
async fn next_envelope(
    deferred: &mut VecDeque<Box<Envelope>>,
    mailbox: &mut Receiver<Box<Envelope>>,
) -> Option<Box<Envelope>> {
    match deferred.pop_front() {
        Some(envelope) => Some(envelope),
        None => mailbox.recv().await,
    }
}
