//! The owner of a match: it decides and stores, and keeps what has to be in one place: time, attendance,
//! bots, and what lists show. It never tells anybody anything.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plyhouse_engine::catalog::MoveChoice;
use plyhouse_matches::{
    AbsenceTimers, Action, Event, EventKind, GlobalRequestId, Match, Offer, Refusal, Stage,
    Timestamp,
};
use plyhouse_protocol::{ErrorCode, MatchId, Seq, Thinking, WireError};
use plyhouse_store::{JournalPosition, WriteError};

use super::bot_opinion::BotOpinion;
use super::bot_turn::{BotProgress, BotTurn, is_thinking_public, thinking_message};
use super::clock_control::MatchClock;
use super::hibernation;
use super::request_dedup::RequestDedup;
use crate::connection::ip_limits::OpenMatchPermit;
use crate::context::clock::now;
use crate::context::metrics::GameMetrics;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication::{Presence, PublishedEvents};
use crate::match_handle::summary::MatchSummary;
use crate::wire::error_replies::{player_deleted_error, store_unavailable_error};
use crate::wire::to_protocol;

/// What a bot thinks is told no more often than this.
const THINKING_INTERVAL: Duration = Duration::from_millis(250);

/// How long a match waits before it tries again what the store would not take.
pub(super) const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The owner of one match. It reads the match and does not change it: that is done by folding what it
/// [publishes](PublishedEvents).
#[derive(Debug)]
pub(super) struct Leader {
    pub(super) server: Arc<ServerContext>,
    summary: Arc<MatchSummary>,
    /// Where the game is counted.
    game_metrics: Arc<GameMetrics>,
    /// Held until the match begins, or until the end if only bots play.
    open_match_permit: Option<OpenMatchPermit>,
    /// The end of the journal, as far as this owner knows.
    pub(super) journal_position: JournalPosition,
    pub(super) attendance: AbsenceTimers,
    pub(super) match_clock: MatchClock,
    bot_turn: Option<BotTurn>,
    /// When it was told last what a bot thinks.
    thinking_sent_at: Option<Instant>,
    bot_opinion: BotOpinion,
    /// Requests that have become events.
    pub(super) request_dedup: RequestDedup,
    /// When the last move was durable, or the start of the match.
    last_ply_at: Instant,
    /// Nothing is tried by the match itself before this, because the store failed.
    retry_at: Option<Instant>,
    /// When an open match of days ends, since nobody has come.
    expires_at: Option<Instant>,
    /// When the match is forgotten, once it has ended.
    unload_at: Option<Instant>,
}

/// What has become of a command.
#[derive(Debug)]
pub(super) struct Decision {
    /// What has happened, which is told before the answer is given. There may be nothing.
    pub(super) published: PublishedEvents,
    pub(super) answer: Answer,
    /// What the store holds is not what the match believes.
    pub(super) needs_reload: bool,
}

/// Why an action was not done.
#[derive(Debug)]
pub(super) enum ActionError {
    /// The match does not allow it.
    Refused(Refusal),
    /// Whoever was to sit down was forgotten. Nothing was written.
    PlayerDeleted,
    /// Nothing was written, and the same may succeed later.
    Unavailable,
    /// What the store holds is not what the match believes, or cannot be told.
    OutOfSync,
}

/// What a match is to do because it is time.
#[derive(Debug)]
pub(super) enum TimerAction {
    Idle,
    Act(Action),
    /// The turn should have ended at this instant.
    Flag(Instant),
    /// It ended long ago, and is to be forgotten.
    Unload,
}

impl From<ActionError> for WireError {
    fn from(error: ActionError) -> Self {
        match error {
            ActionError::Refused(refusal) => to_protocol::refusal_error(&refusal),
            ActionError::PlayerDeleted => player_deleted_error(),
            ActionError::Unavailable => store_unavailable_error(),
            ActionError::OutOfSync => Self::new(ErrorCode::Internal, "the match cannot be kept"),
        }
    }
}

impl Leader {
    pub(super) fn new(
        server: Arc<ServerContext>,
        state: &Match,
        journal_position: JournalPosition,
        open_match_permit: Option<OpenMatchPermit>,
    ) -> Self {
        let attendance = AbsenceTimers::new(server.settings.open_match_absence_limit());
        let match_clock = MatchClock::new(state, &server);
        let expires_at = hibernation::open_match_expiry(state, server.clock.now_ms());
        let game_metrics = Arc::clone(server.metrics.game(state.creation().game));
        Self {
            server,
            summary: Arc::new(MatchSummary::new(state)),
            game_metrics,
            open_match_permit,
            journal_position,
            attendance,
            match_clock,
            bot_turn: None,
            thinking_sent_at: None,
            bot_opinion: BotOpinion::default(),
            request_dedup: RequestDedup::default(),
            last_ply_at: now(),
            retry_at: None,
            expires_at,
            unload_at: None,
        }
    }

    /// Begins, or begins again, with a match that has come from the store. The place of an open match
    /// is kept.
    pub(super) fn start(&mut self, state: &Match, presence: &Presence) {
        let settings = &self.server.settings;
        let is_following = |player| presence.following_players.contains(&player);
        self.match_clock.start(state, is_following, &self.server);
        self.expires_at = hibernation::open_match_expiry(state, self.server.clock.now_ms());
        self.bot_opinion = BotOpinion::default();
        self.bot_opinion.on_offer(Offer::Draw, now());
        self.bot_turn = None;
        self.retry_at = None;
        self.attendance = AbsenceTimers::new(settings.open_match_absence_limit());
        self.last_ply_at = now();
        self.summary.update_progress(state);
        self.unload_at = matches!(state.stage(), Stage::Ended { .. })
            .then(|| now() + linger_duration(state, self.server.settings.linger));
    }

    /// What a list shows of the match.
    pub(super) const fn summary(&self) -> &Arc<MatchSummary> {
        &self.summary
    }

    /// Decides on an action that is asked for, and has stored what comes of it.
    pub(super) async fn decide(
        &mut self,
        state: &Match,
        action: &Action,
        command: &Command,
    ) -> Decision {
        let mut decision = Decision {
            published: PublishedEvents {
                after: state.seq(),
                events: Vec::new(),
            },
            answer: Ok(None),
            needs_reload: false,
        };
        if !self.has_valid_lease() {
            self.stop_clock_for_store(state, command.received_at);
            decision.answer = Err(Box::new(ActionError::Unavailable.into()));
            return decision;
        }
        if self.is_behind_store(state, action).await {
            decision.needs_reload = true;
            decision.answer = Err(Box::new(ActionError::Unavailable.into()));
            return decision;
        }
        if let Some(seq) = find_repeated(state, action) {
            decision.answer = Ok(Some(seq));
            return decision;
        }
        let request = self.request_id(command, action);
        if let Some(seq) = request.and_then(|request| self.request_dedup.find_granted(request)) {
            decision.answer = Ok(is_answered_with_seq(action).then_some(seq));
            return decision;
        }
        if let Some(why) = request.and_then(|request| self.request_dedup.refusal(request)) {
            decision.answer = Err(Box::new(why.clone()));
            return decision;
        }
        if is_answered_with_seq(action) {
            decision.answer = Ok(Some(state.seq().next()));
        }
        let substitution = self.leave_as_substitution(state, action);
        let action = substitution.as_ref().unwrap_or(action);
        let timestamp = self.timestamp(state, command);
        match self.commit(state, action, timestamp, request).await {
            Ok(published) => {
                if matches!(action, Action::Play { .. }) {
                    self.match_clock.on_move(state, command);
                }
                decision.published = published;
            }
            Err(error) => {
                match &error {
                    ActionError::Refused(refusal) => {
                        let cmd = command.request_number;
                        let connection = command.connection;
                        tracing::debug!(match_id = %state.id(), %connection, cmd, %refusal, "refused");
                    }
                    ActionError::Unavailable => {
                        self.stop_clock_for_store(state, command.received_at)
                    }
                    ActionError::PlayerDeleted | ActionError::OutOfSync => {}
                }
                decision.needs_reload = matches!(error, ActionError::OutOfSync);
                let is_refusal = matches!(error, ActionError::Refused(_));
                let why = Box::new(WireError::from(error));
                let is_stored = is_refusal && self.server.cluster.is_some();
                if let Some(request) = request.filter(|_| is_stored) {
                    self.request_dedup.add_refused(request, why.clone());
                }
                decision.answer = Err(why);
            }
        }
        decision
    }

    /// The id by which a request is known when it is asked again. A move is known by itself.
    fn request_id(&self, command: &Command, action: &Action) -> Option<GlobalRequestId> {
        let has_id = command.request_number > 0 && !matches!(action, Action::Play { .. });
        let node = command
            .relay
            .map_or(self.server.node, |relayed| relayed.node);
        has_id.then_some(GlobalRequestId(
            node.0,
            command.connection.0,
            command.request_number,
        ))
    }

    /// When a command was read, as its match counts time. Only whoever is to move gets something back
    /// for the network.
    fn timestamp(&self, state: &Match, command: &Command) -> Timestamp {
        let is_mover = state.turn() == state.seat_of(command.player);
        let rtt = command.rtt().filter(|_| is_mover);
        let now_ms = self.server.clock.now_ms();
        self.match_clock
            .timestamp(state, command.received_at, rtt, now_ms)
    }

    /// What a player who leaves asks for where the match has a bot for that: that it stands in.
    fn leave_as_substitution(&self, state: &Match, action: &Action) -> Option<Action> {
        let Action::Leave { player } = action else {
            return None;
        };
        let seat = state.seat_of(*player)?;
        let may_leave = state.substitution_count(seat) < SUBSTITUTIONS_MAX
            && self.attendance.can_substitute(state, seat);
        may_leave.then_some(Action::StandIn { seat })
    }

    /// Does by itself what is due.
    pub(super) async fn commit_own_action(
        &mut self,
        state: &Match,
        action: &Action,
    ) -> Result<PublishedEvents, ActionError> {
        let now_ms = self.server.clock.now_ms();
        let timestamp = match (action, &self.bot_turn) {
            (Action::PlayAsBot { .. }, Some(turn)) => {
                self.match_clock
                    .bot_timestamp(state, turn.search_time(), now_ms)
            }
            _ => self.match_clock.timestamp(state, now(), None, now_ms),
        };
        self.commit(state, action, timestamp, None).await
    }

    /// Stores what an action leads to.
    async fn commit(
        &mut self,
        state: &Match,
        action: &Action,
        timestamp: Timestamp,
        request: Option<GlobalRequestId>,
    ) -> Result<PublishedEvents, ActionError> {
        let mut events = state
            .apply(action, timestamp)
            .map_err(ActionError::Refused)?;
        let after = state.seq();
        if let Some(first) = events.first_mut() {
            // Where there is one server alone no request outlives it.
            let is_clustered = self.server.cluster.is_some();
            first.request = request.filter(|_| is_clustered).map(Box::new);
            let stored = self.store_events(state, &events).await;
            if let (Err(ActionError::OutOfSync), Some(request)) = (&stored, request) {
                self.request_dedup.set_unresolved(request, after, &events);
            }
            stored?;
            self.match_clock.on_store_available(state);
            self.request_dedup.add_events(after, &events);
        }
        Ok(PublishedEvents { after, events })
    }

    /// Has events stored.
    async fn store_events(&mut self, state: &Match, events: &[Event]) -> Result<(), ActionError> {
        if !self.has_valid_lease() {
            return Err(ActionError::Unavailable);
        }
        let (id, after) = (state.id(), state.seq());
        let (store, started_at) = (&self.server.store, now());
        let reminder = state.reminder_after(events);
        let result = store
            .append_with_reminder(id, self.journal_position, events.to_vec(), reminder)
            .await;
        self.journal_position = match result {
            Ok(mark) => mark,
            Err(WriteError::PlayerDeleted) => return Err(ActionError::PlayerDeleted),
            Err(error) => {
                tracing::error!(match_id = %id, seq = %after, %error, "cannot store events");
                match error {
                    WriteError::Conflict => {
                        self.server.metrics.cluster.write_conflicts.inc();
                    }
                    WriteError::CodeTaken
                    | WriteError::PlayerDeleted
                    | WriteError::Unavailable
                    | WriteError::OutcomeUnknown => {
                        self.server.store_health.report_refused(started_at);
                    }
                }
                self.read_back(id, events, error).await?
            }
        };
        Ok(())
    }

    /// Whether this server's lease holds; without it, somebody else may own the match by now.
    fn has_valid_lease(&self) -> bool {
        (self.server.cluster.as_ref()).is_none_or(|cluster| cluster.has_valid_lease())
    }

    /// Whether the store knows more than this owner. Whoever moves at a later ply than the match has
    /// come to may have been told of it by another owner.
    async fn is_behind_store(&mut self, state: &Match, action: &Action) -> bool {
        let is_later_ply = matches!(action, Action::Play { ply, .. } if *ply > state.ply());
        if self.server.cluster.is_none() || !is_later_ply {
            return false;
        }
        let tail = self
            .server
            .store
            .tail(state.id(), self.journal_position)
            .await;
        !matches!(tail, Ok(Some(tail)) if tail.position == self.journal_position)
    }

    /// Puts off what the match does by itself, since an action of its own failed.
    pub(super) fn delay_own_actions(
        &mut self,
        state: &Match,
        action: &Action,
        error: &ActionError,
    ) {
        if let ActionError::Refused(refusal) = error {
            // Whatever the match does by itself is derived from the state, which allows it.
            tracing::error!(match_id = %state.id(), ?action, %refusal, "match refused its own action");
            self.bot_turn = None;
        } else {
            self.stop_clock_for_store(state, now());
        }
        self.retry_at = Some(now() + RETRY_DELAY);
    }

    /// Finds out whether a failed write was made after all, and gives the mark after it.
    async fn read_back(
        &mut self,
        id: MatchId,
        events: &[Event],
        error: WriteError,
    ) -> Result<JournalPosition, ActionError> {
        if matches!(error, WriteError::Unavailable) {
            return Err(ActionError::Unavailable);
        }
        match self.server.store.tail(id, self.journal_position).await {
            // Whoever has taken the match over since has read them, and tells them.
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

    /// Takes note of who stands up by an event, which is not yet part of the match.
    pub(super) fn before_event(&self, state: &Match, event: &Event) {
        if let EventKind::Seated { seat, occupant } = &event.kind
            && let Some(player) = state.occupant(*seat).holder()
            // Whoever a bot stands in for may come back.
            && occupant.holder() != Some(player)
            && !state.creation().terms.is_correspondence()
        {
            self.server.players.remove_seated_match(player, state.id());
        }
    }

    /// Has everything follow that depends on an event, which was durable at this instant and is part
    /// of the match by now.
    pub(super) fn after_event(&mut self, state: &Match, event: &Event, durable_at: Instant) {
        let id = state.id();
        match &event.kind {
            EventKind::Seated { occupant, .. } => {
                match occupant.player() {
                    Some(player) if state.creation().terms.is_correspondence() => {
                        self.server.players.mark_plays_correspondence(player);
                    }
                    Some(player) => self.server.players.add_seated_match(player, id),
                    None => {}
                }
                self.server.remove_deleted_players(id, occupant.player());
                // Another bot, or another's turn: what was thought is not asked for any more.
                self.bot_turn = None;
            }
            EventKind::Started { .. } => {
                if state.players().next().is_some() {
                    self.open_match_permit = None;
                }
                self.expires_at = None;
                self.summary.update_progress(state);
                self.last_ply_at = durable_at;
            }
            EventKind::Moved { .. } => {
                self.last_ply_at = durable_at;
                self.game_metrics.moves.inc();
                self.summary.update_progress(state);
            }
            EventKind::Offered { offer, .. } => self.bot_opinion.on_offer(*offer, durable_at),
            EventKind::TakenBack { .. } => {
                self.last_ply_at = durable_at;
                self.summary.update_progress(state);
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
                    Some(durable_at + linger_duration(state, self.server.settings.linger));
                self.server.players.on_match_ended(state);
                if state.creation().terms.rated {
                    self.server.rating_wakeup.wake();
                }
            }
        }
    }

    /// Whether a bot has something to do here.
    pub(super) fn has_bot_work(&self, state: &Match) -> bool {
        self.bot_turn.is_some()
            || state.bot_to_move().is_some()
            || self.bot_opinion.draw_answer_at(state).is_some()
    }

    /// Takes note of the instant at which events have been told.
    pub(super) fn on_events_sent(
        &mut self,
        state: &Match,
        published: &PublishedEvents,
        sent_at: Instant,
    ) {
        let now_ms = self.server.clock.now_ms();
        // Who sits down before the start begins no turn.
        let is_start = |event: &Event| matches!(event.kind, EventKind::Started { .. });
        let start = published.events.iter().position(is_start).unwrap_or(0);
        for event in &published.events[start..] {
            self.match_clock
                .on_event_sent(state, event, sent_at, now_ms);
        }
    }

    /// Takes note of who is there.
    pub(super) fn update_presence(&mut self, state: &Match, presence: &Presence) {
        let is_following = |player| presence.following_players.contains(&player);
        // Nobody is taken to be gone who may be there, and cannot be heard.
        let cluster = self.server.cluster.as_ref();
        let may_be_connected = cluster.is_some_and(|cluster| cluster.has_unreachable_node());
        let is_present = |player| may_be_connected || is_following(player);
        self.attendance.update(state, is_present, now());
        self.match_clock.update_presence(state, is_following);
        let is_changed = self.update_summary(state, presence);
        if let Some(cluster) = self.server.cluster.as_ref().filter(|_| is_changed) {
            cluster
                .changed_listings
                .mark_changed(self.summary.is_listed().then_some(self.summary.id));
        }
    }

    /// Has lists show who is there and how the match stands. Gives whether they show something else now.
    pub(super) fn update_summary(&self, state: &Match, presence: &Presence) -> bool {
        let change = self.summary.update(state, presence.seat_presence);
        if let Some(status) = change.status {
            self.server.lobby.update_status(&self.summary, status);
        }
        if change.seats_changed {
            self.server.lobby.update_seats(&self.summary);
        }
        change.seats_changed || change.status.is_some()
    }

    /// When something is due next.
    pub(super) fn deadline(&self, state: &Match) -> Option<Instant> {
        let deadlines = [
            self.attendance.next_deadline(state),
            self.bot_turn.as_ref().and_then(BotTurn::play_at),
            self.bot_opinion.draw_answer_at(state),
            self.match_clock.deadline(),
            self.expires_at,
            self.unload_at,
        ];
        let first = deadlines.into_iter().flatten().min()?;
        Some(self.retry_at.map_or(first, |retry_at| first.max(retry_at)))
    }

    /// What is due.
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
        let absence = self.attendance.due_action(state, now);
        let bot = || self.bot_action(state, now);
        absence
            .or_else(bot)
            .map_or(TimerAction::Idle, TimerAction::Act)
    }

    /// What a bot does now. It answers an offer before it moves.
    fn bot_action(&self, state: &Match, now: Instant) -> Option<Action> {
        let bot_move = self.bot_turn.as_ref().and_then(|turn| turn.due_action(now));
        let draw_answer_at = self.bot_opinion.draw_answer_at(state);
        if bot_move.is_some() || draw_answer_at.is_some_and(|at| at <= now) {
            let answer = self.bot_opinion.draw_answer(state);
            if answer.is_some() {
                return answer;
            }
        }
        let seat = self.bot_turn.as_ref().map(BotTurn::seat);
        let resigns = self.server.settings.bots_resign
            && seat.is_some_and(|seat| self.bot_opinion.wants_to_resign(seat));
        match (bot_move, seat) {
            (Some(_), Some(seat)) if resigns => Some(Action::ResignAsBot { seat }),
            (moves, _) => moves,
        }
    }

    /// Lets a bot think if it is a bot's turn, and no longer if it is not.
    pub(super) fn update_bot_turn(&mut self, state: &Match) {
        let is_current = self
            .bot_turn
            .as_ref()
            .is_some_and(|turn| turn.is_current(state));
        if !is_current {
            let time_used = self.match_clock.time_used_before_bot();
            self.bot_turn = BotTurn::start(state, &self.server.bots, time_used);
        }
    }

    /// Whether a bot thinks, or has thought and waits for its pace.
    pub(super) const fn has_bot_turn(&self) -> bool {
        self.bot_turn.is_some()
    }

    /// Waits until the bot whose turn it is knows its move, or has more to tell. May be cancelled.
    pub(super) async fn bot_progress(&mut self) -> BotProgress {
        match &mut self.bot_turn {
            Some(turn) => turn.next_progress().await,
            None => std::future::pending().await,
        }
    }

    /// Whether what a bot thinks may be told again by now. To be asked where it is told then.
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

    /// What a bot has thought of at last, if that is to be told.
    pub(super) fn final_thinking(choice: Option<&MoveChoice>, state: &Match) -> Option<Thinking> {
        let choice = choice?;
        let (seat, _) = state.bot_to_move()?;
        let match_and_ply = (state.id(), state.ply());
        let game = state.creation().game;
        is_thinking_public(state, seat)
            .then(|| thinking_message(game, state.position(), match_and_ply, &choice.report))
    }

    /// Notes what a bot has thought of.
    pub(super) fn on_move_chosen(&mut self, choice: Option<MoveChoice>, state: &Match) {
        if let Some(turn) = &mut self.bot_turn {
            let judgement = choice
                .as_ref()
                .map(|choice| choice.report.draw_assessment());
            self.bot_opinion.record_judgement(turn.seat(), judgement);
            let pace = Duration::from_millis(state.creation().terms.bot_delay_ms);
            turn.set_move(choice, state, self.last_ply_at + pace);
        }
    }
}

/// How often a player may leave a running match to a bot.
const SUBSTITUTIONS_MAX: u32 = 3;

/// How long a match is kept once it has ended: until all have been told of that.
fn linger_duration(state: &Match, linger: Duration) -> Duration {
    let delay = Duration::from_millis(state.creation().terms.spectator_delay_ms);
    match delay.is_zero() {
        true => linger,
        false => linger.max(delay + RETRY_DELAY),
    }
}

/// The event that an action has become already, if it was sent before.
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

/// Whether the answer tells the number of the event that an action has become.
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
