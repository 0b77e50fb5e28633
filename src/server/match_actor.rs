//! The actor that runs a match. The actor receives commands, the [`leader`] decides on them, and
//! the [`view`] applies and sends the results.
//!
//! The actor never waits for a client. It waits only for the store, so requests to a match queue up
//! only during store accesses. The actor reloads the match from the store after a panic, or if the
//! store contains events that the actor does not know.

mod bot_opinion;
mod bot_turn;
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
mod view;

use std::collections::VecDeque;
use std::iter;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{
    Action, Event, EventKind, Match, Reminder, ReplayError, Stage, Timestamp, TurnClock, TurnTime,
};
use plyhouse_protocol::{ErrorCode, PlayerId, PlayerKind, Seq, Thinking, WireError};
use plyhouse_store::{JournalPosition, LoadedMatch};
use tokio::time::sleep_until;

use self::bot_turn::BotProgress;
use self::chat::Chat;
use self::delayed_view::DelayedView;
use self::hibernation::Hibernation;
use self::leader::{ActionError, Leader, TimerAction};
use self::rematch::RematchOffers;
use self::replica::{Replica, next_response};
use self::replicas::Replicas;
use self::request_dedup::RequestDedup;
pub(crate) use self::view::HISTORY_EVENTS_MAX as RESYNC_EVENTS_MAX;
use self::view::{SnapshotExtras, View};
use super::connection::handle::ConnectionHandle;
use super::connection::ip_limits::OpenMatchPermit;
use super::connection::reply::Reply;
use super::context::clock_and_rng::{earliest, now};
use super::context::server_context::ServerContext;
use super::match_handle::command::{Answer, Command, Control, MatchRequest};
use super::match_handle::mailbox::Receiver;
use super::match_handle::replication_messages::{
    Changes, ChatMessage, PublishedEvents, TransientState,
};
use super::match_handle::summary::MatchSummary;
use super::match_handle::{Envelope, MAILBOX_CAPACITY};
use super::players::block_loading;
use super::players::ratings;
use super::schedule::correspondence_matches;
use super::wire::error_replies::unknown_match_error;
use super::wire::to_protocol;

/// Maximum number of panics since the last published event. If a match panics more often, the
/// server drops it.
const PANICS_MAX: u32 = 3;

/// Maximum time for retries of a request. After this time, the request is refused.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

const CONTINUE: ControlFlow<StopReason> = ControlFlow::Continue(());

const RELOAD: ControlFlow<StopReason> = ControlFlow::Break(StopReason::Reload);

/// The actor of a match. The leader reads the match state of the view, so that each event is
/// applied only once.
#[derive(Debug)]
pub(super) struct MatchActor {
    server: Arc<ServerContext>,
    leader: Leader,
    /// Current state of the match, with the followers who may see it.
    view: View,
    mailbox: Receiver<Box<Envelope>>,
    /// Envelopes that are served before the envelopes in the mailbox.
    deferred: VecDeque<Box<Envelope>>,
    /// Rematch offers of an ended match.
    rematch_offers: RematchOffers,
    chat: Chat,
    hibernation: Hibernation,
    /// Reminder that the store holds for this match. [`start`](Self::start) passes the reminder to
    /// the leader.
    reminder: Option<Reminder>,
    /// Number of panics since the last published event.
    panic_count: u32,
    /// Replicas of the match on other servers, if any.
    replicas: Option<Box<Replicas>>,
    /// State of this replica, if another server owns the match.
    replica: Option<Box<Replica>>,
    /// Delayed view for spectators, if the match has a spectator delay.
    delayed_view: Option<Box<DelayedView>>,
    /// Time at which the current turn was sent to the clients of this server.
    turn_sent_at: Instant,
}

/// Reason to stop serving a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopReason {
    /// No handle to the match is left, or the match is unloaded after its end.
    Closed,
    /// The match is unloaded from memory until a deadline or a request reloads it.
    Hibernated,
    /// The match must be reloaded, because the store may contain events that the actor does not
    /// know.
    Reload,
}

impl MatchActor {
    /// Creates the actor of a stored match. The actor does not run before [`start`](Self::start).
    /// It is boxed to keep futures small: a value that is moved into a future can take up space in
    /// it twice.
    pub(super) fn new(
        server: &Arc<ServerContext>,
        loaded: LoadedMatch,
        mailbox: Receiver<Box<Envelope>>,
    ) -> Result<Box<Self>, ReplayError> {
        let (record, position, reminder) = (loaded.record, loaded.position, loaded.reminder);
        let mut request_dedup = RequestDedup::default();
        request_dedup.reload(&record.events);
        let delayed_view = DelayedView::from_record(server, &record)?;
        let mut view = View::from_record(server, record, false)?;
        view.epoch = position.epoch();
        let mut actor = Box::new(Self {
            server: Arc::clone(server),
            leader: Leader::new(Arc::clone(server), &view.state, position, request_dedup),
            view,
            mailbox,
            deferred: VecDeque::new(),
            rematch_offers: RematchOffers::from_store(loaded.rematch),
            chat: Chat::default(),
            hibernation: Hibernation::new(reminder.is_some()),
            reminder,
            panic_count: 0,
            replicas: None,
            replica: None,
            delayed_view,
            turn_sent_at: now(),
        });
        for view in actor.views() {
            view.set_sent_rating_changes(loaded.rating_changes.clone());
        }
        actor.update_delayed_listing();
        Ok(actor)
    }

    pub(super) const fn state(&self) -> &Match {
        &self.view.state
    }

    /// Returns the position of the last journal entry of the match that this actor knows.
    pub(super) const fn journal_position(&self) -> JournalPosition {
        self.leader.journal_position
    }

    /// Returns the summary of the match, which match lists show.
    pub(super) fn summary(&self) -> Arc<MatchSummary> {
        Arc::clone(&self.leader.summary)
    }

    /// Starts serving the match in its current state.
    pub(super) fn start(&mut self) {
        let view = &self.view;
        self.leader
            .start(&view.state, |player| view.has_participant(player));
        if self.replica.is_some() {
            self.leader
                .update_summary(&view.state, view.seat_presence());
            let absent = self.absent_seats();
            self.view.schedule_presence(absent);
            return;
        }
        let status = to_protocol::status(self.view.state.stage());
        tracing::debug!(
            match_id = %self.view.state.id(), ?status, seq = %self.view.state.seq(),
            "serving match"
        );
        self.on_presence_changed();
        self.leader.publish_listing();
        if let Some(reminder) = self.reminder.take() {
            self.leader.resume(&reminder);
        }
    }

    /// Starts serving a new match with its first events, which are already stored.
    pub(super) fn start_with_events(
        &mut self,
        events: Vec<Event>,
        open_match_permit: Option<OpenMatchPermit>,
    ) {
        self.leader.open_match_permit = open_match_permit;
        let after = Seq(0);
        self.apply_published(&PublishedEvents { after, events });
    }

    /// Runs the match until it is unloaded.
    pub(super) async fn run(mut self: Box<Self>) {
        loop {
            let result = AssertUnwindSafe(self.serve()).catch_unwind().await;
            let id = self.view.state.id();
            match result {
                Ok(StopReason::Closed) => break,
                Ok(StopReason::Hibernated) => return self.hibernate(),
                Ok(StopReason::Reload) => {}
                Err(_) => {
                    let panics = self.server.infra.metrics.panics.inc() + 1;
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
        self.views().for_each(View::remove_all_followers);
        self.server.matches.lobby.remove(self.view.state.id());
        let players = &self.server.identity.players;
        players.on_match_ended(&self.view.state);
    }

    async fn serve(&mut self) -> StopReason {
        // A single timer serves the match for its whole lifetime, because creating a timer for
        // every message is expensive.
        let mut alarm = pin!(sleep_until(now().into()));
        loop {
            self.update_delayed_view();
            let role_deadline = match self.replica {
                Some(_) => self.prepare_replica(),
                None => self.prepare_leader(),
            };
            let delayed_view = self.delayed_view.as_ref();
            let deadline = earliest([
                role_deadline,
                self.view.deadline(),
                delayed_view.and_then(|delayed| delayed.deadline()),
            ]);
            if let Some(deadline) = deadline.map(Into::into)
                && alarm.deadline() != deadline
            {
                alarm.as_mut().reset(deadline);
            }
            let has_bot_turn = self.leader.bot_turn.is_some();
            let flow = tokio::select! {
                biased; // Timers come first, because a busy mailbox must not delay them.
                () = &mut alarm, if deadline.is_some() => self.on_timer().await,
                news = self.leader.bot_progress(), if has_bot_turn => {
                    self.on_bot_progress(news);
                    CONTINUE
                }
                // Futures of replicas are boxed, because few matches are replicas. Otherwise, they
                // would enlarge the `serve` future of every match.
                Some(response) = next_response(&mut self.replica) => {
                    Box::pin(self.on_owner_response(response)).await
                }
                envelope = next_envelope(&mut self.deferred, &mut self.mailbox) => match envelope {
                    Some(envelope) => self.on_message(envelope).await,
                    // The lobby and all connections have dropped their handles, so no more commands
                    // can arrive.
                    None => ControlFlow::Break(StopReason::Closed),
                },
            };
            self.update_reachability();
            if self.leader.match_clock.take_unsent_change() {
                self.broadcast_clock();
            }
            self.send_replica_updates();
            self.flush();
            if let ControlFlow::Break(end) = flow {
                if end != StopReason::Reload {
                    self.send_unfollow();
                }
                return end;
            }
        }
    }

    /// Prepares the leader for the next wait, and returns its next deadline.
    fn prepare_leader(&mut self) -> Option<Instant> {
        self.leader.update_bot_turn(&self.view.state);
        self.update_hibernation_deadline();
        earliest([
            self.leader.deadline(&self.view.state),
            self.hibernation.hibernates_at,
            self.rematch_offers.deadline(),
        ])
    }

    /// Handles an intermediate or final result of a bot's search. If the bot's thinking is visible,
    /// broadcasts the result.
    fn on_bot_progress(&mut self, progress: BotProgress) {
        match progress {
            BotProgress::Thinking(thinking) => self.broadcast_thinking(*thinking),
            BotProgress::Finished(choice) => {
                if let Some(thinking) = Leader::final_thinking(choice.as_ref(), &self.view.state) {
                    self.broadcast_thinking(thinking);
                }
                self.leader.on_move_chosen(choice, &self.view.state);
            }
        }
    }

    fn broadcast_thinking(&mut self, thinking: Thinking) {
        if !self.leader.claim_thinking_slot() {
            return;
        }
        self.view.broadcast_thinking(&thinking);
        if let Some(replicas) = &mut self.replicas {
            replicas.thinking = Some(thinking);
        }
    }

    /// Handles all deadlines that have passed.
    async fn on_timer(&mut self) -> ControlFlow<StopReason> {
        let now = now();
        self.update_reachability();
        let absence_left_ms = self.absence_left_ms();
        self.view.on_timer(now, absence_left_ms);
        self.broadcast_delayed(now);
        if self.replica.is_some() {
            return Box::pin(self.on_replica_timer(now)).await;
        }
        self.expire_rematch_offers(now);
        self.run_timer_action(now).await?;
        self.try_hibernate(now).await
    }

    /// Asks the leader for the next timer action and performs it.
    async fn run_timer_action(&mut self, now: Instant) -> ControlFlow<StopReason> {
        match self.leader.next_action(&self.view.state, now) {
            TimerAction::Idle => CONTINUE,
            TimerAction::Unload => ControlFlow::Break(StopReason::Closed),
            TimerAction::Act(action) => self.apply_own_action(&action).await,
            // This future is boxed, because few turns expire. Otherwise, it would enlarge the
            // `serve` future of every match.
            TimerAction::Flag(at) => Box::pin(self.on_flag(at)).await,
        }
    }

    /// Commits an action of the match itself, such as a flag fall, and publishes the resulting
    /// events.
    async fn apply_own_action(&mut self, action: &Action) -> ControlFlow<StopReason> {
        let committed = self.leader.commit_own_action(&self.view.state, action);
        match committed.await {
            Ok(published) => {
                self.apply_published(&published);
                CONTINUE
            }
            Err(ActionError::OutOfSync) => RELOAD,
            Err(error) => {
                self.leader
                    .delay_own_actions(&self.view.state, action, &error);
                CONTINUE
            }
        }
    }

    /// Handles a turn that has exceeded `deadline`. First serves the commands that were received
    /// before the deadline, because they may end the turn. If none of them produces an event, the
    /// flag falls.
    async fn on_flag(&mut self, deadline: Instant) -> ControlFlow<StopReason> {
        let (seq, mut unserved) = (self.view.state.seq(), VecDeque::new());
        while self.view.state.seq() == seq
            && unserved.len() < MAILBOX_CAPACITY
            && let Some(Some(mut envelope)) =
                next_envelope(&mut self.deferred, &mut self.mailbox).now_or_never()
        {
            self.adjust_received_at(&mut envelope.command);
            if envelope.command.received_at < deadline {
                if let end @ ControlFlow::Break(_) = self.on_message(envelope).await {
                    self.defer(unserved);
                    return end;
                }
            } else {
                unserved.push_back(envelope);
            }
        }
        self.defer(unserved);
        if self.view.state.seq() != seq {
            // An event has changed the match, so the deadline is computed again.
            return CONTINUE;
        }
        self.apply_own_action(&TurnClock::timeout_action(&self.view.state))
            .await
    }

    /// Puts envelopes before all other deferred envelopes.
    fn defer(&mut self, mut envelopes: VecDeque<Box<Envelope>>) {
        envelopes.append(&mut self.deferred);
        self.deferred = envelopes;
    }

    /// Serves a command. The envelope stays boxed, because its copies would enlarge the `serve`
    /// future of every match.
    async fn on_message(&mut self, mut envelope: Box<Envelope>) -> ControlFlow<StopReason> {
        self.adjust_received_at(&mut envelope.command);
        if self.replica.is_none()
            && let Some(deadline) = self
                .leader
                .flag_before_command(&self.view.state, &envelope.command)
        {
            self.defer(VecDeque::from([envelope]));
            return Box::pin(self.on_flag(deadline)).await;
        }
        if self.is_hidden_from(&envelope.command) {
            refuse_hidden(*envelope);
            return CONTINUE;
        }
        if self.replica.is_some() {
            match Box::pin(self.on_replica_message(envelope)).await? {
                Some(unserved) => envelope = unserved,
                None => return CONTINUE,
            }
        }
        let (command, reply) = (&envelope.command, envelope.reply);
        match &command.request {
            MatchRequest::Act(action) if command.relay.is_some() => {
                return Box::pin(self.apply_relayed_action(command, action, reply)).await;
            }
            MatchRequest::Act(action) => return self.apply_action(command, action, reply).await,
            MatchRequest::Watch | MatchRequest::PushSnapshot => {
                let is_seated = self.view.state.seat_of(command.player).is_some();
                let view = self.view_for(command.player);
                if let Some(reply) = view.admit(command, is_seated, reply) {
                    self.on_presence_changed();
                    let extras = self.snapshot_extras_for(command.player);
                    let view = self.view_for(command.player);
                    view.send_snapshot(command, extras, reply);
                }
            }
            MatchRequest::Resync { since } => {
                let extras = self.snapshot_extras_for(command.player);
                let view = self.view_for(command.player);
                view.resync(command, *since, extras.turn_time, reply);
            }
            MatchRequest::Unfollow => self.remove_follower(command),
            MatchRequest::OfferRematch => Box::pin(self.offer_rematch(command, reply)).await,
            MatchRequest::SendChat { name, saying } => self.send_chat(command, name, saying, reply),
            MatchRequest::DeclineRematch => self.decline_rematch(command, reply),
            MatchRequest::Control(control) => {
                return Box::pin(self.on_control(control, reply)).await;
            }
        }
        CONTINUE
    }

    /// Handles a control message.
    async fn on_control(&mut self, control: &Control, reply: Reply) -> ControlFlow<StopReason> {
        let mut flow = CONTINUE;
        match control {
            Control::RematchCreated { next } => self.on_rematch_created(next.as_ref()),
            Control::CheckTimers => flow = self.check_timers().await,
            Control::ResignIdleBotGame => flow = self.resign_idle_bot_game().await,
            Control::EraseName { player, name } => {
                if self.erase_name(*player, name) {
                    flow = RELOAD;
                }
            }
            Control::StoreUnavailable { since } => {
                let clock = &mut self.leader.match_clock;
                clock.on_store_unavailable(&self.view.state, *since);
            }
            Control::StoreAvailable => self.leader.match_clock.on_store_available(&self.view.state),
            Control::Follow { from, presence } => {
                self.set_replica_presence(*from, presence.clone());
            }
            Control::NodeUnreachable { node, is_dead } => {
                if *is_dead && self.replicas.is_some() {
                    self.set_replica_presence(*node, None);
                }
                self.on_presence_changed();
            }
            Control::OwnerChanged { .. } => flow = RELOAD,
            Control::NodesChanged | Control::CatchUp => self.on_presence_changed(),
            Control::ReplicaUpdate(_) => {}
            Control::RatingUpdated(rating_update) => {
                self.views()
                    .for_each(|view| view.set_rating_update(rating_update));
            }
        }
        reply.ok(None);
        flow
    }

    /// Checks that a player may join the match. Joining is refused if a participant blocks the
    /// player or is blocked by the player, and if the player takes part in too many correspondence
    /// matches. In a rated match, accounts with the same owner are refused as well. Players who
    /// already hold a seat are not checked.
    fn check_join(
        &self,
        player: PlayerId,
        join: &Action,
    ) -> impl Future<Output = Result<(), WireError>> + Send + use<> {
        let creation = self.view.state.creation();
        let needs_check = !matches!(self.view.state.stage(), Stage::Ended { .. })
            && self.view.state.seat_held_by(player).is_none();
        let counts_against_limit = needs_check
            && creation.terms.is_correspondence()
            && creation.host != player
            && self.is_valid(join);
        let others = self.view.state.participants();
        let others: Vec<PlayerId> = others.filter(|_| needs_check).collect();
        let checks_owner =
            creation.terms.rated && needs_check && may_have_same_owner(&self.view.state, join);
        let server = Arc::clone(&self.server);
        async move {
            if counts_against_limit {
                correspondence_matches::check_limit(&server.infra, player).await?;
            }
            if checks_owner {
                let linked = ratings::linked_accounts(&server.infra, player).await?;
                if others.iter().any(|other| linked.contains(other)) {
                    return Err(ratings::same_owner_error());
                }
            }
            match block_loading::is_unpairable_with_any(&server, player, others).await? {
                true => Err(block_loading::blocked_error()),
                false => Ok(()),
            }
        }
    }

    /// Returns whether the match is hidden from the player. A match is hidden if it has started and
    /// only its participants may watch it. If the match has a spectator delay, it is not hidden
    /// before the delayed view shows the start.
    fn is_hidden_from(&self, command: &Command) -> bool {
        let player = command.player;
        let delayed_view = self.delayed_view.as_deref();
        self.view.state.is_hidden_from(player)
            && delayed_view.is_none_or(|delayed| delayed.view.state.is_hidden_from(player))
            && command.request.is_from_client()
    }

    /// Applies an action of a client, broadcasts its events and replies.
    async fn apply_action(
        &mut self,
        command: &Command,
        action: &Action,
        mut reply: Reply,
    ) -> ControlFlow<StopReason> {
        let joins = matches!(action, Action::Join { .. });
        let is_new_follower = joins && !self.view.follows(command.connection);
        if joins {
            match reply.require(self.check_join(command.player, action).await) {
                Some(((), checked)) => reply = checked,
                None => return CONTINUE,
            }
            let is_player = self.may_take_seat(command.player, action);
            match self.view.admit(command, is_player, reply) {
                Some(admitted) => reply = admitted,
                None => return CONTINUE,
            }
        }
        let mut decision = self.leader.decide(&self.view.state, action, command).await;
        let durable_at = self.apply_published(&decision.published);
        if decision.needs_reload {
            if is_new_follower {
                self.remove_rejected_follower(command);
            }
            return self.retry_after_reload(command, reply, decision.answer);
        }
        decision.answer = self.redact_answer(command, action, decision.answer);
        match (&decision.answer, action) {
            (Ok(_), Action::Join { .. }) => self.send_snapshot(command, reply),
            (Ok(_), Action::Leave { .. }) => {
                self.remove_follower(command);
                reply.answer(decision.answer);
            }
            (Ok(_), Action::Play { .. }) => {
                if decision.published.events.is_empty() {
                    reply.count_rejected_move();
                    reply.answer(decision.answer);
                } else {
                    reply.answer(decision.answer);
                    let latency = durable_at.saturating_duration_since(command.received_at);
                    let histogram = &self.server.infra.metrics.move_durable;
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

    /// Applies an action that another server forwards for one of its clients. The forwarding server
    /// informs the followers that are connected to it.
    async fn apply_relayed_action(
        &mut self,
        command: &Command,
        action: &Action,
        mut reply: Reply,
    ) -> ControlFlow<StopReason> {
        if matches!(action, Action::Join { .. }) {
            match reply.require(self.check_join(command.player, action).await) {
                Some(((), checked)) => reply = checked,
                None => return CONTINUE,
            }
        }
        let decision = self.leader.decide(&self.view.state, action, command).await;
        self.apply_published(&decision.published);
        // The events must be sent to the replicas before the answer.
        self.send_replica_updates();
        if decision.needs_reload {
            return self.retry_after_reload(command, reply, decision.answer);
        }
        let answer = self.redact_answer(command, action, decision.answer);
        reply.answer(answer);
        CONTINUE
    }

    /// Defers a command until the match has been reloaded, and returns [`RELOAD`]. If the command
    /// is older than [`REQUEST_TIMEOUT`], the method sends `answer` instead of deferring the
    /// command.
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

    /// Returns whether the player has a seat or takes one by the action.
    fn may_take_seat(&self, player: PlayerId, join: &Action) -> bool {
        self.view.state.seat_of(player).is_some() || self.is_valid(join)
    }

    fn is_valid(&self, action: &Action) -> bool {
        let now = Timestamp::uncharged(self.server.infra.clock.now_ms());
        self.view.state.apply(action, now).is_ok()
    }

    /// Applies stored events to the match state and broadcasts them. Returns the time at which the
    /// events became durable, or for a replica, the time at which it received them.
    fn apply_published(&mut self, published: &PublishedEvents) -> Instant {
        let durable_at = now();
        if published.events.is_empty() {
            return durable_at;
        }
        debug_assert_eq!(
            published.after,
            self.view.state.seq(),
            "published events follow the current seq"
        );
        self.panic_count = 0;
        for event in &published.events {
            self.leader.before_event(&self.view.state, event);
            self.view.apply_event(event, durable_at);
            self.leader.update_registry(&self.view.state, event);
            if self.replica.is_none() {
                self.leader.after_event(&self.view.state, event, durable_at);
            }
        }
        self.views().for_each(View::remove_spectator);
        let is_move = |event: &Event| matches!(event.kind, EventKind::Moved { .. });
        if !published.events.iter().all(is_move) {
            self.on_presence_changed();
            let challenges = &self.server.matchmaking.challenges;
            challenges.on_match_changed(&self.server.identity.players, &self.view.state);
        }
        self.view.broadcast(published);
        self.view.broadcast_rating_update();
        if let Some(delayed) = &mut self.delayed_view {
            let is_seated = |event: &Event| matches!(event.kind, EventKind::Seated { .. });
            delayed.seats_changed |= published.events.iter().any(is_seated);
        }
        for changes in self.pending_changes() {
            changes.events.extend_from_slice(&published.events);
        }
        self.leader.summary.set_seq(self.view.state.seq());
        let mut events = published.events.iter();
        let begins_turn = events.any(|event| event.kind.begins_turn());
        let sent_at = now();
        if begins_turn {
            self.turn_sent_at = sent_at;
        }
        if self.replica.is_none() {
            self.on_events_sent(published, begins_turn, sent_at);
        } else if begins_turn && self.leader.match_clock.compensates_lag {
            self.view.measure_mover_rtt();
        }
        durable_at
    }

    /// Updates the clock and the replicas after the owner has sent the events to the followers.
    fn on_events_sent(&mut self, published: &PublishedEvents, begins_turn: bool, sent_at: Instant) {
        self.leader
            .on_events_sent(&self.view.state, published, sent_at);
        if begins_turn && self.view.state.creation().terms.is_correspondence() {
            self.notify_turn();
        }
        if self.leader.match_clock.needs_rtt() {
            self.view.measure_mover_rtt();
        }
    }

    /// Sends `your_turn` to the player who has to move in a correspondence match, on all
    /// connections that do not follow the match.
    fn notify_turn(&self) {
        let follows = |connection: &ConnectionHandle| self.view.follows(connection.id);
        correspondence_matches::notify_turn(&self.server, &self.view.state, follows);
    }

    /// Returns the state of the clock, if it is known on this server.
    fn turn_time(&self) -> Option<TurnTime> {
        match &self.replica {
            Some(replica) => replica.turn_time(self.view.state.seq()),
            None => self.leader.match_clock.turn_time(&self.view.state),
        }
    }

    /// Broadcasts the clock after it has changed without an event.
    fn broadcast_clock(&mut self) {
        if let Some(time) = self.turn_time() {
            self.view.broadcast_clock(time);
            for changes in self.pending_changes() {
                changes.is_clock_changed = true;
            }
        }
    }

    /// Broadcasts a chat message, unless it was broadcast before.
    fn broadcast_chat(&mut self, message: &ChatMessage) {
        if !self.view.broadcast_chat_if_new(message) {
            return;
        }
        if let Some(delayed) = &mut self.delayed_view {
            delayed.add_chat(message);
        }
        if let Some(replicas) = &mut self.replicas {
            replicas.changes.chat_messages.push(message.clone());
        }
    }

    fn send_snapshot(&mut self, command: &Command, reply: Reply) {
        let extras = self.snapshot_extras();
        self.view.send_snapshot(command, extras, reply);
    }

    /// Returns how much longer the player of each seat may be absent, in milliseconds. A present
    /// player's seat has the value `None`. For a replica, the method returns the values that the
    /// owner reported.
    fn absence_left_ms(&self) -> [Option<u64>; 2] {
        match &self.replica {
            Some(replica) => replica.transient_state.absence_left_ms(),
            None => self.leader.absence_left_ms(&self.view.state),
        }
    }

    /// Returns the state that cannot be derived from the events.
    fn transient_state(&self) -> TransientState {
        TransientState {
            turn_time: self.turn_time(),
            absence_left_ms: self.absence_left_ms(),
            ..self.view.transient_state()
        }
    }

    /// Returns for each seat whether its player's allowed absence time is running.
    fn absent_seats(&self) -> [bool; 2] {
        self.absence_left_ms().map(|gone_ms| gone_ms.is_some())
    }

    /// Returns the snapshot data that cannot be derived from the events.
    fn snapshot_extras(&self) -> SnapshotExtras {
        SnapshotExtras {
            turn_time: self.turn_time(),
            absent: self.absent_seats(),
        }
    }

    /// Returns the changes that wait for the next update of the replicas and of the delayed view.
    fn pending_changes(&mut self) -> impl Iterator<Item = &mut Changes> {
        let replicas = self.replicas.as_deref_mut();
        let of_replicas = replicas.map(|replicas| &mut replicas.changes);
        let delayed_view = self.delayed_view.as_deref_mut();
        let of_delayed_view = delayed_view.map(|delayed| &mut delayed.changes);
        of_replicas.into_iter().chain(of_delayed_view)
    }

    /// Returns the current view of the match and the delayed one.
    fn views(&mut self) -> impl Iterator<Item = &mut View> {
        let delayed_view = self.delayed_view.as_deref_mut();
        iter::once(&mut self.view).chain(delayed_view.map(|delayed| &mut delayed.view))
    }

    /// Returns the view that this player may see.
    fn view_for(&mut self, player: PlayerId) -> &mut View {
        match &mut self.delayed_view {
            Some(delayed) if self.view.state.seat_held_by(player).is_none() => &mut delayed.view,
            _ => &mut self.view,
        }
    }

    /// Returns the data for snapshots of the view that this player may see. The data cannot be
    /// derived from the events.
    fn snapshot_extras_for(&self, player: PlayerId) -> SnapshotExtras {
        match self.delayed_view_for(player) {
            Some(delayed) => delayed.snapshot_extras(),
            None => self.snapshot_extras(),
        }
    }

    /// Removes a connection that a request to join added as a follower, because the request was not
    /// accepted.
    fn remove_rejected_follower(&mut self, command: &Command) {
        if self.view.remove_follower(command) {
            self.on_presence_changed();
        }
    }

    fn remove_follower(&mut self, command: &Command) {
        let mut was_follower = false;
        for view in self.views() {
            was_follower |= view.remove_follower(command);
        }
        if was_follower {
            self.on_presence_changed();
        }
    }

    /// Returns whether the requesting connection follows the match.
    fn follows(&self, command: &Command) -> bool {
        let delayed_view = self.delayed_view.as_deref();
        self.view.follows(command.connection)
            || delayed_view.is_some_and(|delayed| delayed.view.follows(command.connection))
    }

    /// Writes all queued messages to the sockets.
    fn flush(&mut self) {
        self.views().for_each(View::flush);
    }

    /// Updates all state that depends on which players and spectators are connected. Must be called
    /// after a change of presence and before the change is announced. A replica reports its
    /// presence to the owner, which announces it.
    fn on_presence_changed(&mut self) {
        self.update_delayed_followers();
        if self.replica.is_some() {
            return;
        }
        let (view, presence) = (&self.view, self.view.seat_presence());
        let is_following = |player| view.has_participant(player);
        self.leader
            .update_presence(&view.state, presence, is_following);
        let absent = self.absent_seats();
        self.view.schedule_known_presence(presence, absent);
        self.update_rematch_presence();
    }
}

/// Returns whether the joining player and a participant may be accounts of the same person. A
/// person has only one account apart from bot accounts, so one of the two is a bot account.
fn may_have_same_owner(state: &Match, join: &Action) -> bool {
    let is_bot = |kind| kind == Some(PlayerKind::Bot);
    let host = state.creation().host;
    let is_host_seated = state.seat_held_by(host).is_some();
    let joins_as_bot = matches!(join, Action::Join { kind, .. } if is_bot(Some(*kind)));
    let mut occupants = Seat::ALL.iter().map(|seat| state.occupant(*seat));
    joins_as_bot || !is_host_seated || occupants.any(|occupant| is_bot(occupant.kind()))
}

/// Replies that the match does not exist, because it is hidden from the player.
fn refuse_hidden(Envelope { command, reply }: Envelope) {
    match command.request {
        MatchRequest::PushSnapshot => reply.discard(),
        _ => reply.error(unknown_match_error()),
    }
}

/// Returns the next envelope. Deferred envelopes come first.
async fn next_envelope(
    deferred: &mut VecDeque<Box<Envelope>>,
    mailbox: &mut Receiver<Box<Envelope>>,
) -> Option<Box<Envelope>> {
    match deferred.pop_front() {
        Some(envelope) => Some(envelope),
        None => mailbox.recv().await,
    }
}
