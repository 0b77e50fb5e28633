//! The leader of a match validates actions and stores the resulting events. The leader also owns
//! the clock, the absence timers, the bot turns and the match's entry in lists. The leader sends no
//! messages to clients.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plyhouse_engine::catalog::MoveChoice;
use plyhouse_matches::{
    AbsenceTimers, Action, Event, EventKind, GlobalRequestId, Match, Offer, Refusal, Stage,
    Timestamp,
};
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, Seq, Thinking, WireError};
use plyhouse_store::{EndedMatch, JournalPosition, WriteError};

use super::bot_opinion::BotOpinion;
use super::bot_turn::{BotProgress, BotTurn, is_thinking_public, thinking_message};
use super::clock_control::MatchClock;
use super::hibernation;
use super::request_dedup::RequestDedup;
use crate::connection::ip_limits::OpenMatchPermit;
use crate::context::clock_and_rng::{earliest, now};
use crate::context::metrics::GameMetrics;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication_messages::PublishedEvents;
use crate::match_handle::summary::{MatchSummary, SeatPresence};
use crate::wire::error_replies::{player_deleted_error, store_unavailable_error};
use crate::wire::to_protocol;

/// Minimum interval between two `thinking` messages of a match.
const THINKING_INTERVAL: Duration = Duration::from_millis(250);

/// Delay before the match retries one of its own actions after the store has failed.
pub(super) const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Validates the actions of one match and stores the resulting events. The leader reads the match
/// state but does not change it: the actor applies the [published events](PublishedEvents).
#[derive(Debug)]
pub(super) struct Leader {
    pub(super) server: Arc<ServerContext>,
    /// Entry of the match in lists.
    pub(super) summary: Arc<MatchSummary>,
    /// Metrics for all matches of the same game.
    game_metrics: Arc<GameMetrics>,
    /// Permit for an open match. Each IP address can hold a limited number of permits. The leader
    /// keeps the permit until the match starts, or until the match ends if only bots play.
    pub(super) open_match_permit: Option<OpenMatchPermit>,
    /// Last known end position of the match's journal.
    pub(super) journal_position: JournalPosition,
    pub(super) absence_timers: AbsenceTimers,
    pub(super) match_clock: MatchClock,
    /// Unfinished turn of the bot that has to move, if any.
    pub(super) bot_turn: Option<BotTurn>,
    /// Time of the last `thinking` message.
    thinking_sent_at: Option<Instant>,
    bot_opinion: BotOpinion,
    /// Recently decided requests, kept to recognise repeated requests.
    pub(super) request_dedup: RequestDedup,
    /// Time at which the last move, takeback or match start became durable. After a reload, this is
    /// the time of the reload until the next such event.
    last_ply_at: Instant,
    /// Earliest time at which the match may apply its next timer or bot action. This time is set
    /// after such an action has failed.
    retry_at: Option<Instant>,
    /// Time at which an open correspondence match is aborted because no opponent has joined.
    expires_at: Option<Instant>,
    /// Time at which an ended match is unloaded.
    unload_at: Option<Instant>,
}

/// Result of a command that was sent to the leader.
#[derive(Debug)]
pub(super) struct Decision {
    /// Events to broadcast before the answer is sent; may be empty.
    pub(super) published: PublishedEvents,
    pub(super) answer: Answer,
    /// Whether the match must be reloaded because it may differ from the store.
    pub(super) needs_reload: bool,
}

/// Reason why an action was not applied.
#[derive(Debug)]
pub(super) enum ActionError {
    /// The rules of the match forbid the action.
    Refused(Refusal),
    /// The player who would take a seat has been deleted. Nothing was written.
    PlayerDeleted,
    /// Nothing was written, and a retry may succeed.
    Unavailable,
    /// The match differs from the store, or the result of the write is unknown.
    OutOfSync,
}

/// Action that the match takes on its own when a timer expires.
#[derive(Debug)]
pub(super) enum TimerAction {
    Idle,
    Act(Action),
    /// The turn has exceeded this deadline.
    Flag(Instant),
    /// The match ended some time ago and must be unloaded.
    Unload,
}

impl From<ActionError> for WireError {
    fn from(error: ActionError) -> Self {
        match error {
            ActionError::Refused(refusal) => to_protocol::refusal_error(&refusal),
            ActionError::PlayerDeleted => player_deleted_error(),
            ActionError::Unavailable => store_unavailable_error(),
            ActionError::OutOfSync => {
                let message = "the match is being reloaded; check its state before retrying";
                Self::new(ErrorCode::Internal, message)
            }
        }
    }
}

impl Leader {
    pub(super) fn new(
        server: Arc<ServerContext>,
        state: &Match,
        journal_position: JournalPosition,
        request_dedup: RequestDedup,
    ) -> Self {
        let absence_timers = AbsenceTimers::new(server.infra.settings.open_match_absence_limit());
        let match_clock = MatchClock::new(state, &server);
        let expires_at = hibernation::open_match_expiry(state, server.infra.clock.now_ms());
        let game_metrics = Arc::clone(server.infra.metrics.game(state.creation().game));
        Self {
            server,
            summary: Arc::new(MatchSummary::new(state)),
            game_metrics,
            open_match_permit: None,
            journal_position,
            absence_timers,
            match_clock,
            bot_turn: None,
            thinking_sent_at: None,
            bot_opinion: BotOpinion::default(),
            request_dedup,
            last_ply_at: now(),
            retry_at: None,
            expires_at,
            unload_at: None,
        }
    }

    /// Starts or restarts the leader for a match that was loaded from the store. The leader keeps
    /// the permit of an open match. `is_following` returns whether a player follows the match.
    pub(super) fn start(&mut self, state: &Match, is_following: impl Fn(PlayerId) -> bool) {
        let settings = &self.server.infra.settings;
        self.match_clock.start(state, is_following, &self.server);
        self.expires_at = hibernation::open_match_expiry(state, self.server.infra.clock.now_ms());
        self.bot_opinion = BotOpinion::default();
        self.bot_opinion.on_offer(Offer::Draw, now());
        self.bot_turn = None;
        self.retry_at = None;
        self.absence_timers = AbsenceTimers::new(settings.open_match_absence_limit());
        self.last_ply_at = now();
        self.summary.update_progress(state);
        self.unload_at = matches!(state.stage(), Stage::Ended { .. })
            .then(|| now() + linger_duration(state, self.server.infra.settings.linger));
    }

    /// Decides a requested action and stores the resulting events.
    pub(super) async fn decide(
        &mut self,
        state: &Match,
        action: &Action,
        command: &Command,
    ) -> Decision {
        let without_events = |answer| Decision {
            published: PublishedEvents {
                after: state.seq(),
                events: Vec::new(),
            },
            answer,
            needs_reload: false,
        };
        let unavailable = || Err(Box::new(ActionError::Unavailable.into()));
        if !self.server.infra.may_store_events() {
            self.stop_clock_for_store(state, command.received_at);
            return without_events(unavailable());
        }
        if self.is_behind_store(state, action).await {
            return Decision {
                needs_reload: true,
                ..without_events(unavailable())
            };
        }
        if let Some(seq) = find_repeated(state, action) {
            return without_events(Ok(Some(seq)));
        }
        let request = self.request_id(command, action);
        if let Some(seq) = request.and_then(|request| self.request_dedup.find_granted(request)) {
            return without_events(Ok(is_answered_with_seq(action).then_some(seq)));
        }
        if let Some(why) = request.and_then(|request| self.request_dedup.refusal(request)) {
            return without_events(Err(Box::new(why.clone())));
        }
        let seq = is_answered_with_seq(action).then(|| state.seq().next());
        let substitution = self.leave_as_substitution(state, action);
        let action = substitution.as_ref().unwrap_or(action);
        let timestamp = self.timestamp(state, command);
        let committed = self.commit(state, action, timestamp, request.as_ref());
        match committed.await {
            Ok(published) => {
                if matches!(action, Action::Play { .. }) {
                    self.match_clock.on_move(state, command);
                }
                Decision {
                    published,
                    ..without_events(Ok(seq))
                }
            }
            Err(error) => {
                match &error {
                    ActionError::Refused(refusal) => {
                        let (connection, cmd) = (command.connection, command.request_number);
                        tracing::debug!(match_id = %state.id(), %connection, cmd, %refusal, "refused");
                    }
                    ActionError::Unavailable => {
                        self.stop_clock_for_store(state, command.received_at)
                    }
                    ActionError::PlayerDeleted | ActionError::OutOfSync => {}
                }
                let needs_reload = matches!(error, ActionError::OutOfSync);
                let is_refusal = matches!(error, ActionError::Refused(_));
                let why = Box::new(WireError::from(error));
                let is_stored = is_refusal && self.server.infra.cluster.is_some();
                if let Some(request) = request.filter(|_| is_stored) {
                    self.request_dedup.add_refused(request, why.clone());
                }
                Decision {
                    needs_reload,
                    ..without_events(Err(why))
                }
            }
        }
    }

    /// Returns the ID that identifies a repeated request. A move needs no such ID, because its ply
    /// identifies it.
    fn request_id(&self, command: &Command, action: &Action) -> Option<GlobalRequestId> {
        let has_id = command.request_number > 0 && !matches!(action, Action::Play { .. });
        let node = command
            .relay
            .map_or(self.server.infra.node, |relayed| relayed.node);
        has_id.then_some(GlobalRequestId(
            node.0,
            command.connection.0,
            command.request_number,
        ))
    }

    /// Returns the timestamp of a command. Lag compensation applies only to the player whose turn
    /// it is.
    fn timestamp(&self, state: &Match, command: &Command) -> Timestamp {
        let is_mover = state.turn() == state.seat_of(command.player);
        let rtt = command.rtt().filter(|_| is_mover);
        let now_ms = self.server.infra.clock.now_ms();
        self.match_clock
            .timestamp(state, command.received_at, rtt, now_ms)
    }

    /// If a bot may replace the departing player, returns the action that seats a stand-in.
    fn leave_as_substitution(&self, state: &Match, action: &Action) -> Option<Action> {
        let Action::Leave { player } = action else {
            return None;
        };
        let seat = state.seat_of(*player)?;
        let may_leave = state.substitution_count(seat) < SUBSTITUTIONS_MAX
            && self.absence_timers.can_substitute(state, seat);
        may_leave.then_some(Action::StandIn { seat })
    }

    /// Commits an action that the match takes on its own.
    pub(super) async fn commit_own_action(
        &mut self,
        state: &Match,
        action: &Action,
    ) -> Result<PublishedEvents, ActionError> {
        let now_ms = self.server.infra.clock.now_ms();
        let timestamp = match (action, &self.bot_turn) {
            (Action::PlayAsBot { .. }, Some(turn)) => {
                self.match_clock
                    .bot_timestamp(state, turn.search_time, now_ms)
            }
            _ => self.match_clock.timestamp(state, now(), None, now_ms),
        };
        self.commit(state, action, timestamp, None).await
    }

    /// Computes the events of an action and stores them.
    async fn commit(
        &mut self,
        state: &Match,
        action: &Action,
        timestamp: Timestamp,
        request: Option<&GlobalRequestId>,
    ) -> Result<PublishedEvents, ActionError> {
        let mut events = state
            .apply(action, timestamp)
            .map_err(ActionError::Refused)?;
        let after = state.seq();
        if let Some(first) = events.first_mut() {
            // Without a cluster, clients' pending requests are lost when this server restarts. The
            // request ID therefore need not be stored.
            let is_clustered = self.server.infra.cluster.is_some();
            first.request = request.filter(|_| is_clustered).copied().map(Box::new);
            let stored = self.store_events(state, &events).await;
            if let (Err(ActionError::OutOfSync), Some(request)) = (&stored, request) {
                self.request_dedup.set_unresolved(*request, after, &events);
            }
            stored?;
            self.match_clock.on_store_available(state);
            self.request_dedup.add_events(after, &events);
        }
        Ok(PublishedEvents { after, events })
    }

    /// Appends events to the match's journal.
    async fn store_events(&mut self, state: &Match, events: &[Event]) -> Result<(), ActionError> {
        if !self.server.infra.may_store_events() {
            return Err(ActionError::Unavailable);
        }
        let (id, after) = (state.id(), state.seq());
        let (store, started_at) = (&self.server.infra.store, now());
        let position = self.journal_position;
        let append = match EndedMatch::after(state, events) {
            Some(ended) => store.append_end(id, position, events.to_vec(), Box::new(ended)),
            None => {
                let reminder = state.reminder_after(events);
                store.append_with_reminder(id, position, events.to_vec(), reminder)
            }
        };
        self.journal_position = match append.await {
            Ok(mark) => mark,
            Err(WriteError::PlayerDeleted) => return Err(ActionError::PlayerDeleted),
            Err(error) => {
                tracing::error!(match_id = %id, seq = %after, %error, "cannot store events");
                match error {
                    WriteError::Conflict => {
                        self.server.infra.metrics.cluster.write_conflicts.inc();
                    }
                    WriteError::CodeTaken
                    | WriteError::PlayerDeleted
                    | WriteError::Unavailable
                    | WriteError::OutcomeUnknown => {
                        self.server.infra.store_health.report_refused(started_at);
                    }
                }
                // This future is boxed, because few writes fail. Otherwise, it would enlarge the
                // `serve` future of every match.
                Box::pin(self.read_back(id, events, error)).await?
            }
        };
        Ok(())
    }

    /// Returns whether the store may contain events that this leader has not read. A move for a
    /// later ply suggests that the player has received events from another server that owns the
    /// match.
    async fn is_behind_store(&mut self, state: &Match, action: &Action) -> bool {
        let is_later_ply = matches!(action, Action::Play { ply, .. } if *ply > state.ply());
        if self.server.infra.cluster.is_none() || !is_later_ply {
            return false;
        }
        let store = &self.server.infra.store;
        let tail = store.tail(state.id(), self.journal_position).await;
        !matches!(tail, Ok(Some(tail)) if tail.position == self.journal_position)
    }

    /// Delays the match's own actions after one of them has failed.
    pub(super) fn delay_own_actions(
        &mut self,
        state: &Match,
        action: &Action,
        error: &ActionError,
    ) {
        if let ActionError::Refused(refusal) = error {
            // Timer and bot actions are derived from the match state, so the match refuses such an
            // action only because of a bug.
            tracing::error!(match_id = %state.id(), ?action, %refusal, "match refused its own action");
            self.bot_turn = None;
        } else {
            self.stop_clock_for_store(state, now());
        }
        self.retry_at = Some(now() + RETRY_DELAY);
    }

    /// Reads the journal after a failed write to find out whether the events were written. If they
    /// were, returns the journal position after the events.
    async fn read_back(
        &mut self,
        id: MatchId,
        events: &[Event],
        error: WriteError,
    ) -> Result<JournalPosition, ActionError> {
        if matches!(error, WriteError::Unavailable) {
            return Err(ActionError::Unavailable);
        }
        let store = &self.server.infra.store;
        match store.tail(id, self.journal_position).await {
            // Another server owns the match now; it has read these events and broadcasts them.
            Ok(Some(tail)) if tail.position.epoch() != self.journal_position.epoch() => {
                Err(ActionError::OutOfSync)
            }
            Ok(Some(tail)) if tail.events == events => Ok(tail.position),
            Ok(Some(tail)) if tail.position == self.journal_position => {
                Err(ActionError::Unavailable)
            }
            Ok(_) | Err(_) => Err(ActionError::OutOfSync),
        }
    }

    /// Updates the player registry before an event that changes a seat is applied.
    pub(super) fn before_event(&self, state: &Match, event: &Event) {
        if let EventKind::Seated { seat, occupant } = &event.kind
            && let Some(player) = state.occupant(*seat).holder()
            // A player who is replaced by a stand-in may return, so the match stays in the player
            // registry.
            && occupant.holder() != Some(player)
            && !state.creation().terms.is_correspondence()
        {
            let players = &self.server.identity.players;
            players.remove_seated_match(player, state.id());
        }
    }

    /// Updates the player registry and the list entry after an event was applied.
    pub(super) fn update_registry(&self, state: &Match, event: &Event) {
        let players = &self.server.identity.players;
        match &event.kind {
            EventKind::Seated { occupant, .. } => match occupant.player() {
                Some(player) if state.creation().terms.is_correspondence() => {
                    players.mark_plays_correspondence(player);
                }
                Some(player) => players.add_seated_match(player, state.id()),
                None => {}
            },
            EventKind::Ended { .. } => players.on_match_ended(state),
            EventKind::Started { .. }
            | EventKind::Moved { .. }
            | EventKind::TakenBack { .. }
            | EventKind::Offered { .. }
            | EventKind::Declined { .. }
            | EventKind::TimeGiven { .. }
            | EventKind::Hinted { .. } => {}
        }
        self.summary.update_progress(state);
    }

    /// Updates everything else that depends on an event after the owner has applied it. The event
    /// became durable at `durable_at`.
    pub(super) fn after_event(&mut self, state: &Match, event: &Event, durable_at: Instant) {
        let id = state.id();
        match &event.kind {
            EventKind::Seated { occupant, .. } => {
                self.server
                    .identity
                    .remove_deleted_players(id, occupant.player());
                // A seat has a new occupant, so stop any running bot search.
                self.bot_turn = None;
            }
            EventKind::Started { .. } => {
                if state.players().next().is_some() {
                    self.open_match_permit = None;
                }
                self.expires_at = None;
                self.last_ply_at = durable_at;
            }
            EventKind::Moved { .. } => {
                self.last_ply_at = durable_at;
                self.game_metrics.moves.inc();
            }
            EventKind::Offered { offer, .. } => self.bot_opinion.on_offer(*offer, durable_at),
            EventKind::TakenBack { .. } => {
                self.last_ply_at = durable_at;
                self.bot_opinion.on_takeback();
            }
            EventKind::Declined { .. } | EventKind::TimeGiven { .. } | EventKind::Hinted { .. } => {
            }
            EventKind::Ended { winner, reason, .. } => {
                self.game_metrics.count_ended(*reason);
                tracing::debug!(match_id = %id, ?winner, %reason, ply = %state.ply(), "match ended");
                self.open_match_permit = None;
                self.expires_at = None;
                self.unload_at =
                    Some(durable_at + linger_duration(state, self.server.infra.settings.linger));
                if state.creation().terms.rated {
                    self.server.matches.rating_wakeup.notify_one();
                }
            }
        }
    }

    /// Returns whether a bot has to move or answer a draw offer.
    pub(super) fn has_bot_work(&self, state: &Match) -> bool {
        self.bot_turn.is_some()
            || state.bot_to_move().is_some()
            || self.bot_opinion.draw_answer_at(state).is_some()
    }

    /// Updates the clock after the events were sent to the followers at `sent_at`.
    pub(super) fn on_events_sent(
        &mut self,
        state: &Match,
        published: &PublishedEvents,
        sent_at: Instant,
    ) {
        if state.clock().is_none() {
            return;
        }
        let now_ms = self.server.infra.clock.now_ms();
        // If the published events include the start of the match, skip the events before the start.
        // A player who takes a seat before the start must not begin a turn.
        let is_start = |event: &Event| matches!(event.kind, EventKind::Started { .. });
        let start = published.events.iter().position(is_start).unwrap_or(0);
        for event in &published.events[start..] {
            self.match_clock
                .on_event_sent(state, event, sent_at, now_ms);
        }
    }

    /// Updates the absence timers, the clock and the list entry after the presence of players or
    /// spectators has changed. `is_following` returns whether a player follows the match.
    pub(super) fn update_presence(
        &mut self,
        state: &Match,
        presence: SeatPresence,
        is_following: impl Fn(PlayerId) -> bool,
    ) {
        // While a server is unreachable, a player may be connected there, so no absence is counted.
        let cluster = self.server.infra.cluster.as_ref();
        let may_be_connected = cluster.is_some_and(|cluster| cluster.has_unreachable_node());
        let is_present = |player| may_be_connected || is_following(player);
        self.absence_timers.update(state, is_present, now());
        self.match_clock.update_presence(state, is_following);
        let is_changed = self.update_summary(state, presence);
        if is_changed {
            self.publish_listing();
        }
    }

    /// Publishes the match's entry in lists to the other servers of the cluster.
    pub(super) fn publish_listing(&self) {
        if let Some(cluster) = &self.server.infra.cluster {
            let listed_id = self.summary.is_listed().then_some(self.summary.id);
            cluster.changed_listings.mark_changed(listed_id);
        }
    }

    /// Updates the presence and status that lists show. Returns whether the status or a seat
    /// changed.
    pub(super) fn update_summary(&self, state: &Match, presence: SeatPresence) -> bool {
        let lobby = &self.server.matches.lobby;
        let change = self.summary.update(state, presence);
        if let Some(status) = change.status {
            lobby.update_status(&self.summary, status);
        }
        if change.seats_changed {
            lobby.update_seats(&self.summary);
        }
        change.seats_changed || change.status.is_some()
    }

    /// Returns the time at which the next timer expires.
    pub(super) fn deadline(&self, state: &Match) -> Option<Instant> {
        let first = earliest([
            self.absence_timers.next_deadline(state),
            self.bot_turn.as_ref().and_then(BotTurn::play_at),
            self.bot_opinion.draw_answer_at(state),
            self.match_clock.flag_at,
            self.expires_at,
            self.unload_at,
        ])?;
        Some(self.retry_at.map_or(first, |retry_at| first.max(retry_at)))
    }

    /// Returns the action that is due at `now`.
    pub(super) fn next_action(&mut self, state: &Match, now: Instant) -> TimerAction {
        if self.retry_at.is_some_and(|retry_at| now < retry_at) {
            return TimerAction::Idle;
        }
        self.retry_at = None;
        if self.unload_at.is_some_and(|at| at <= now) {
            return TimerAction::Unload;
        }
        if let Some(at) = self.expired_turn_deadline(state, now) {
            return TimerAction::Flag(at);
        }
        if self.expires_at.is_some_and(|at| at <= now) {
            return TimerAction::Act(Action::Abort);
        }
        let absence = self.absence_timers.due_action(state, now);
        let bot = || self.bot_action(state, now);
        absence
            .or_else(bot)
            .map_or(TimerAction::Idle, TimerAction::Act)
    }

    /// Returns the bot's due action. A bot answers a draw offer before it moves.
    fn bot_action(&self, state: &Match, now: Instant) -> Option<Action> {
        let bot_move = self.bot_turn.as_ref().and_then(|turn| turn.due_action(now));
        let draw_answer_at = self.bot_opinion.draw_answer_at(state);
        if bot_move.is_some() || draw_answer_at.is_some_and(|at| at <= now) {
            let answer = self.bot_opinion.draw_answer(state);
            if answer.is_some() {
                return answer;
            }
        }
        let seat = self.bot_turn.as_ref().map(|turn| turn.seat);
        let resigns = self.server.infra.settings.bots_resign
            && seat.is_some_and(|seat| self.bot_opinion.wants_to_resign(seat));
        match (bot_move, seat) {
            (Some(_), Some(seat)) if resigns => Some(Action::ResignAsBot { seat }),
            (moves, _) => moves,
        }
    }

    /// Starts the turn of the bot that has to move, and drops an outdated bot turn.
    pub(super) fn update_bot_turn(&mut self, state: &Match) {
        let turn = self.bot_turn.as_ref();
        if !turn.is_some_and(|turn| turn.is_current(state)) {
            let time_used = self.match_clock.time_used_before_bot();
            self.bot_turn = BotTurn::start(state, &self.server.matches.bots, time_used);
        }
    }

    /// Waits for the move of the bot or for an intermediate result. This method is cancel safe.
    pub(super) async fn bot_progress(&mut self) -> BotProgress {
        match &mut self.bot_turn {
            Some(turn) => turn.next_progress().await,
            None => std::future::pending().await,
        }
    }

    /// Returns whether a `thinking` message may be sent now. If so, the message counts as sent.
    pub(super) fn claim_thinking_slot(&mut self) -> bool {
        let now = now();
        let is_due = self
            .thinking_sent_at
            .is_none_or(|at| now >= at + THINKING_INTERVAL);
        if is_due {
            self.thinking_sent_at = Some(now);
        }
        is_due
    }

    /// Returns the `thinking` message for the final result of a bot's search. Returns `None` if the
    /// search found no move or its results are private.
    pub(super) fn final_thinking(choice: Option<&MoveChoice>, state: &Match) -> Option<Thinking> {
        let choice = choice?;
        let (seat, _) = state.bot_to_move()?;
        let match_and_ply = (state.id(), state.ply());
        let game = state.creation().game;
        is_thinking_public(state, seat)
            .then(|| thinking_message(game, state.position(), match_and_ply, &choice.report))
    }

    /// Stores the result of the bot's search and schedules its move.
    pub(super) fn on_move_chosen(&mut self, choice: Option<MoveChoice>, state: &Match) {
        if let Some(turn) = &mut self.bot_turn {
            let judgement = choice
                .as_ref()
                .map(|choice| choice.report.draw_assessment());
            self.bot_opinion.record_judgement(turn.seat, judgement);
            let pace = Duration::from_millis(state.creation().terms.bot_delay_ms);
            turn.set_move(choice, state, self.last_ply_at + pace);
        }
    }
}

/// Maximum number of times that a stand-in may replace a player in the same seat of a match. After
/// that, no stand-in replaces a player who leaves.
const SUBSTITUTIONS_MAX: u32 = 3;

/// Returns how long an ended match stays in memory. The time is long enough for delayed spectators
/// to receive the end of the match.
fn linger_duration(state: &Match, linger: Duration) -> Duration {
    let delay = Duration::from_millis(state.creation().terms.spectator_delay_ms);
    match delay.is_zero() {
        true => linger,
        false => linger.max(delay + RETRY_DELAY),
    }
}

/// Returns the event that an earlier copy of this request has caused, if one exists.
fn find_repeated(state: &Match, action: &Action) -> Option<Seq> {
    match action {
        Action::Play {
            player,
            ply,
            m,
            takebacks,
        } => {
            let is_current = takebacks.is_none_or(|sent| sent == state.takebacks());
            let find = || state.find_repeated_move(*player, *ply, m);
            is_current.then(find).flatten()
        }
        Action::OfferDraw { player, ply } => {
            state.find_repeated_offer(*player, Offer::Draw, *ply, None)
        }
        Action::OfferTakeback {
            player,
            ply,
            to_ply,
        } => state.find_repeated_offer(*player, Offer::Takeback, *ply, *to_ply),
        _ => None,
    }
}

/// Returns whether the answer to this action contains the sequence number of the resulting event.
const fn is_answered_with_seq(action: &Action) -> bool {
    matches!(
        action,
        Action::Play { .. }
            | Action::OfferDraw { .. }
            | Action::OfferTakeback { .. }
            | Action::AbortByPlayer { .. }
            | Action::GiveTime { .. }
    )
}
