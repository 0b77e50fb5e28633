//! The owner of a match: it decides and stores, and keeps what has to be in one place: time, attendance,
//! bots, and what lists show. It never tells anybody anything.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plyhouse_engine::catalog::MoveChoice;
use plyhouse_matches::{
    Action, Attendance, Event, EventKind, Match, Offer, Refusal, RequestId, Stage, Timestamp,
};
use plyhouse_protocol::{ErrorCode, MatchId, Seq, Thinking, WireError};
use plyhouse_store::{JournalPosition, WriteError};

use super::bot_opinion::BotOpinion;
use super::bot_turn::{BotTurn, News, is_thought_told, thought};
use super::clock_control::Time;
use super::hibernation;
use super::request_dedup::RequestDedup;
use crate::connection::ip_limits::OpenMatchPermit;
use crate::context::clock::now;
use crate::context::metrics::GameMetrics;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Answer, Command};
use crate::match_handle::replication::{Presence, Published};
use crate::match_handle::summary::MatchSummary;
use crate::wire::error_replies::{forgotten, not_now};
use crate::wire::to_protocol;

/// What a bot thinks is told no more often than this.
const BETWEEN_THOUGHTS: Duration = Duration::from_millis(250);

/// How long a match waits before it tries again what the store would not take.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// The owner of one match. It reads the match and does not change it: that is done by folding what it
/// [publishes](Published).
#[derive(Debug)]
pub(super) struct Leader {
    pub(super) server: Arc<ServerContext>,
    card: Arc<MatchSummary>,
    /// Where the game is counted.
    game: Arc<GameMetrics>,
    /// Held until the match begins, or until the end if only bots play.
    open: Option<OpenMatchPermit>,
    /// The end of the journal, as far as this owner knows.
    pub(super) mark: JournalPosition,
    pub(super) attendance: Attendance,
    pub(super) time: Time,
    bot_turn: Option<BotTurn>,
    /// When it was told last what a bot thinks.
    thought_told_at: Option<Instant>,
    bot_opinion: BotOpinion,
    /// Requests that have become events.
    pub(super) request_dedup: RequestDedup,
    /// When the last move was durable, or the start of the match.
    last_ply_at: Instant,
    /// Nothing is tried by the match itself before this, because the store failed.
    not_before: Option<Instant>,
    /// When an open match of days ends, since nobody has come.
    expires_at: Option<Instant>,
    /// When the match is forgotten, once it has ended.
    retires_at: Option<Instant>,
}

/// What has become of a command.
#[derive(Debug)]
pub(super) struct Decision {
    /// What has happened, which is told before the answer is given. There may be nothing.
    pub(super) published: Published,
    pub(super) answer: Answer,
    /// What the store holds is not what the match believes.
    pub(super) is_lost: bool,
}

/// Why an action was not done.
#[derive(Debug)]
pub(super) enum ActionError {
    /// The match does not allow it.
    Refused(Refusal),
    /// Whoever was to sit down was forgotten. Nothing was written.
    Forgotten,
    /// Nothing was written, and the same may succeed later.
    Unavailable,
    /// What the store holds is not what the match believes, or cannot be told.
    Lost,
}

/// What a match is to do because it is time.
#[derive(Debug)]
pub(super) enum TimerAction {
    Nothing,
    Act(Action),
    /// The turn should have ended at this instant.
    Flag(Instant),
    /// It ended long ago, and is to be forgotten.
    Retire,
}

impl From<ActionError> for WireError {
    fn from(not_done: ActionError) -> Self {
        match not_done {
            ActionError::Refused(refusal) => to_protocol::refusal(&refusal),
            ActionError::Forgotten => forgotten(),
            ActionError::Unavailable => not_now(),
            ActionError::Lost => Self::new(ErrorCode::Internal, "the match cannot be kept"),
        }
    }
}

impl Leader {
    pub(super) fn new(
        server: Arc<ServerContext>,
        state: &Match,
        mark: JournalPosition,
        open: Option<OpenMatchPermit>,
    ) -> Self {
        let attendance = Attendance::new(server.settings.open_match_absence_limit());
        let time = Time::new(state, &server);
        let expires_at = hibernation::expires_at(state, server.clock.now_ms());
        let game = Arc::clone(server.metrics.game(state.creation().game));
        Self {
            server,
            card: Arc::new(MatchSummary::new(state)),
            game,
            open,
            mark,
            attendance,
            time,
            bot_turn: None,
            thought_told_at: None,
            bot_opinion: BotOpinion::default(),
            request_dedup: RequestDedup::default(),
            last_ply_at: now(),
            not_before: None,
            expires_at,
            retires_at: None,
        }
    }

    /// Begins, or begins again, with a match that has come from the store. The place of an open match
    /// is kept.
    pub(super) fn begin(&mut self, state: &Match, roster: &Presence) {
        let settings = &self.server.settings;
        let is_present = |player| roster.present.contains(&player);
        self.time.begin(state, is_present, &self.server);
        self.expires_at = hibernation::expires_at(state, self.server.clock.now_ms());
        self.bot_opinion = BotOpinion::default();
        self.bot_opinion.offered(Offer::Draw, now());
        self.bot_turn = None;
        self.not_before = None;
        self.attendance = Attendance::new(settings.open_match_absence_limit());
        self.last_ply_at = now();
        self.card.got_on(state);
        self.retires_at = matches!(state.stage(), Stage::Ended { .. })
            .then(|| now() + lingers(state, self.server.settings.linger));
    }

    /// What a list shows of the match.
    pub(super) const fn card(&self) -> &Arc<MatchSummary> {
        &self.card
    }

    /// Decides on an action that is asked for, and has stored what comes of it.
    pub(super) async fn decide(
        &mut self,
        state: &Match,
        action: &Action,
        command: &Command,
    ) -> Decision {
        let mut decision = Decision {
            published: Published {
                after: state.seq(),
                events: Vec::new(),
            },
            answer: Ok(None),
            is_lost: false,
        };
        if !self.may_act() {
            self.stands_for_the_store(state, command.received_at);
            decision.answer = Err(Box::new(ActionError::Unavailable.into()));
            return decision;
        }
        if self.is_behind(state, action).await {
            decision.is_lost = true;
            decision.answer = Err(Box::new(ActionError::Unavailable.into()));
            return decision;
        }
        if let Some(seq) = known_already(state, action) {
            decision.answer = Ok(Some(seq));
            return decision;
        }
        let request = self.request_of(command, action);
        if let Some(seq) = request.and_then(|request| self.request_dedup.find(request)) {
            decision.answer = Ok(is_answered_by_number(action).then_some(seq));
            return decision;
        }
        if let Some(why) = request.and_then(|request| self.request_dedup.why_refused(request)) {
            decision.answer = Err(Box::new(why.clone()));
            return decision;
        }
        if is_answered_by_number(action) {
            decision.answer = Ok(Some(state.seq().next()));
        }
        let meant = self.leave_as_substitution(state, action);
        let action = meant.as_ref().unwrap_or(action);
        let now = self.moment(state, command);
        match self.commit(state, action, now, request).await {
            Ok(published) => {
                if matches!(action, Action::Play { .. }) {
                    self.time.moved(state, command);
                }
                decision.published = published;
            }
            Err(not_done) => {
                match &not_done {
                    ActionError::Refused(refusal) => {
                        let Command {
                            connection, cmd, ..
                        } = command;
                        tracing::debug!(match_id = %state.id(), %connection, cmd, %refusal, "refused");
                    }
                    ActionError::Unavailable => {
                        self.stands_for_the_store(state, command.received_at)
                    }
                    ActionError::Forgotten | ActionError::Lost => {}
                }
                decision.is_lost = matches!(not_done, ActionError::Lost);
                let is_refused = matches!(not_done, ActionError::Refused(_));
                let why = Box::new(WireError::from(not_done));
                let is_stored = is_refused && self.server.cluster.is_some();
                if let Some(request) = request.filter(|_| is_stored) {
                    self.request_dedup.refuse(request, why.clone());
                }
                decision.answer = Err(why);
            }
        }
        decision
    }

    /// The id by which a request is known when it is asked again. A move is known by itself.
    fn request_of(&self, command: &Command, action: &Action) -> Option<RequestId> {
        let is_named = command.cmd > 0 && !matches!(action, Action::Play { .. });
        let node = command
            .relayed
            .map_or(self.server.node, |relayed| relayed.by);
        is_named.then_some(RequestId(node.0, command.connection.0, command.cmd))
    }

    /// When a command was read, as its match counts time. Only whoever is to move gets something back
    /// for the network.
    fn moment(&self, state: &Match, command: &Command) -> Timestamp {
        let is_mover = state.turn() == state.seat_of(command.player);
        let rtt = command.rtt().filter(|_| is_mover);
        let now_ms = self.server.clock.now_ms();
        self.time.moment(state, command.received_at, rtt, now_ms)
    }

    /// What a player who leaves asks for where the match has a bot for that: that it stands in.
    fn leave_as_substitution(&self, state: &Match, action: &Action) -> Option<Action> {
        let Action::Leave { player } = action else {
            return None;
        };
        let seat = state.seat_of(*player)?;
        let may_leave =
            state.times_stood_in(seat) < STOOD_IN_MAX && self.attendance.may_stand_in(state, seat);
        may_leave.then_some(Action::StandIn { seat })
    }

    /// Does by itself what is due.
    pub(super) async fn act(
        &mut self,
        state: &Match,
        action: &Action,
    ) -> Result<Published, ActionError> {
        let now_ms = self.server.clock.now_ms();
        let moment = match (action, &self.bot_turn) {
            (Action::PlayAsBot { .. }, Some(turn)) => {
                self.time.moment_of_bot(state, turn.searched(), now_ms)
            }
            _ => self.time.moment(state, now(), None, now_ms),
        };
        self.commit(state, action, moment, None).await
    }

    /// Stores what an action leads to.
    async fn commit(
        &mut self,
        state: &Match,
        action: &Action,
        now: Timestamp,
        request: Option<RequestId>,
    ) -> Result<Published, ActionError> {
        let mut events = state.apply(action, now).map_err(ActionError::Refused)?;
        let after = state.seq();
        if let Some(first) = events.first_mut() {
            // Where there is one server alone no request outlives it.
            let is_named = self.server.cluster.is_some();
            first.request = request.filter(|_| is_named).map(Box::new);
            let stored = self.store(state, &events).await;
            if let (Err(ActionError::Lost), Some(request)) = (&stored, request) {
                self.request_dedup.is_unknown(request, after, &events);
            }
            stored?;
            self.time.store_accepts(state);
            self.request_dedup.add(after, &events);
        }
        Ok(Published { after, events })
    }

    /// Has events stored.
    async fn store(&mut self, state: &Match, events: &[Event]) -> Result<(), ActionError> {
        if !self.may_act() {
            return Err(ActionError::Unavailable);
        }
        let (id, after) = (state.id(), state.seq());
        let (store, began) = (&self.server.store, now());
        let reminder = state.reminder_after(events);
        let kept = store
            .append_with_reminder(id, self.mark, events.to_vec(), reminder)
            .await;
        self.mark = match kept {
            Ok(mark) => mark,
            Err(WriteError::PlayerDeleted) => return Err(ActionError::Forgotten),
            Err(error) => {
                tracing::error!(match_id = %id, seq = %after, %error, "events not stored");
                match error {
                    WriteError::Conflict => {
                        self.server.metrics.cluster.write_conflicts.inc();
                    }
                    WriteError::CodeTaken
                    | WriteError::PlayerDeleted
                    | WriteError::Unavailable
                    | WriteError::OutcomeUnknown => {
                        self.server.store_health.report_refused(began);
                    }
                }
                self.read_back(id, events, error).await?
            }
        };
        Ok(())
    }

    /// Whether this server's lease holds; without it, somebody else may own the match by now.
    fn may_act(&self) -> bool {
        (self.server.cluster.as_ref()).is_none_or(|cluster| cluster.has_valid_lease())
    }

    /// Whether the store knows more than this owner. Whoever moves at a later ply than the match has
    /// come to may have been told of it by another owner.
    async fn is_behind(&mut self, state: &Match, action: &Action) -> bool {
        let is_later = matches!(action, Action::Play { ply, .. } if *ply > state.ply());
        if self.server.cluster.is_none() || !is_later {
            return false;
        }
        let tail = self.server.store.tail(state.id(), self.mark).await;
        !matches!(tail, Ok(Some(tail)) if tail.position == self.mark)
    }

    /// Puts off what the match does by itself, since an action of its own failed.
    pub(super) fn wait(&mut self, state: &Match, action: &Action, not_done: &ActionError) {
        if let ActionError::Refused(refusal) = not_done {
            // Whatever the match does by itself is derived from the state, which allows it.
            tracing::error!(match_id = %state.id(), ?action, %refusal, "a match refused itself");
            self.bot_turn = None;
        } else {
            self.stands_for_the_store(state, now());
        }
        self.not_before = Some(now() + RETRY);
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
        match self.server.store.tail(id, self.mark).await {
            // Whoever has taken the match over since has read them, and tells them.
            Ok(Some(tail)) if tail.position.epoch() != self.mark.epoch() => Err(ActionError::Lost),
            Ok(Some(tail)) if tail.events == events => Ok(tail.position),
            Ok(Some(tail)) if tail.position == self.mark => Err(ActionError::Unavailable),
            Ok(_) | Err(_) => Err(ActionError::Lost),
        }
    }

    /// Takes note of who stands up by an event, which is not yet part of the match.
    pub(super) fn before(&self, state: &Match, event: &Event) {
        if let EventKind::Seated { seat, occupant } = &event.kind
            && let Some(player) = state.occupant(*seat).holder()
            // Whoever a bot stands in for may come back.
            && occupant.holder() != Some(player)
            && !state.creation().terms.is_of_days()
        {
            self.server.players.stood_up(player, state.id());
        }
    }

    /// Has everything follow that depends on an event, which was durable at this instant and is part
    /// of the match by now.
    pub(super) fn after(&mut self, state: &Match, event: &Event, durable_at: Instant) {
        let id = state.id();
        match &event.kind {
            EventKind::Seated { occupant, .. } => {
                match occupant.player() {
                    Some(player) if state.creation().terms.is_of_days() => {
                        self.server.players.plays_days(player);
                    }
                    Some(player) => self.server.players.sat_down(player, id),
                    None => {}
                }
                self.server.remove_deleted_players(id, occupant.player());
                // Another bot, or another's turn: what was thought is not asked for any more.
                self.bot_turn = None;
            }
            EventKind::Started { .. } => {
                if state.players().next().is_some() {
                    self.open = None;
                }
                self.expires_at = None;
                self.card.got_on(state);
                self.last_ply_at = durable_at;
            }
            EventKind::Moved { .. } => {
                self.last_ply_at = durable_at;
                self.game.moves.inc();
                self.card.got_on(state);
            }
            EventKind::Offered { offer, .. } => self.bot_opinion.offered(*offer, durable_at),
            EventKind::TakenBack { .. } => {
                self.last_ply_at = durable_at;
                self.card.got_on(state);
                self.bot_opinion.taken_back();
            }
            EventKind::Declined { .. } | EventKind::TimeGiven { .. } | EventKind::Hinted { .. } => {
            }
            EventKind::Ended { winner, reason, .. } => {
                self.game.count_ended(*reason);
                tracing::debug!(match_id = %id, ?winner, %reason, ply = %state.ply(), "match ended");
                self.open = None;
                self.expires_at = None;
                self.retires_at = Some(durable_at + lingers(state, self.server.settings.linger));
                self.server.players.match_ended(state);
                if state.creation().terms.rated {
                    self.server.rating_wakeup.wake();
                }
            }
        }
    }

    /// Whether a bot has something to do here.
    pub(super) fn has_work(&self, state: &Match) -> bool {
        self.bot_turn.is_some()
            || state.bot_to_move().is_some()
            || self.bot_opinion.answers_at(state).is_some()
    }

    /// Takes note of the instant at which events have been told.
    pub(super) fn told(&mut self, state: &Match, published: &Published, told_at: Instant) {
        let now_ms = self.server.clock.now_ms();
        // Who sits down before the start begins no turn.
        let is_start = |event: &Event| matches!(event.kind, EventKind::Started { .. });
        let start = published.events.iter().position(is_start).unwrap_or(0);
        for event in &published.events[start..] {
            self.time.told(state, event, told_at, now_ms);
        }
    }

    /// Takes note of who is there.
    pub(super) fn attend(&mut self, state: &Match, roster: &Presence) {
        let is_present = |player| roster.present.contains(&player);
        // Nobody is taken to be gone who may be there, and cannot be heard.
        let cluster = self.server.cluster.as_ref();
        let may_be_there = cluster.is_some_and(|cluster| cluster.has_unreachable_node());
        let is_there = |player| may_be_there || is_present(player);
        self.attendance.update(state, is_there, now());
        self.time.attend(state, is_present);
        let is_news = self.show(state, roster);
        if let Some(cluster) = self.server.cluster.as_ref().filter(|_| is_news) {
            cluster
                .changed_listings
                .mark_changed(self.card.is_listed().then_some(self.card.id));
        }
    }

    /// Has lists show who is there and how the match stands. Gives whether they show something else now.
    pub(super) fn show(&self, state: &Match, roster: &Presence) -> bool {
        let update = self.card.update(state, roster.presence);
        if let Some(status) = update.status {
            self.server.lobby.update_status(&self.card, status);
        }
        if update.seats {
            self.server.lobby.update_seats(&self.card);
        }
        update.seats || update.status.is_some()
    }

    /// When something is due next.
    pub(super) fn deadline(&self, state: &Match) -> Option<Instant> {
        let times = [
            self.attendance.next_deadline(state),
            self.bot_turn.as_ref().and_then(BotTurn::due),
            self.bot_opinion.answers_at(state),
            self.time.deadline(),
            self.expires_at,
            self.retires_at,
        ];
        let first = times.into_iter().flatten().min()?;
        Some(
            self.not_before
                .map_or(first, |not_before| first.max(not_before)),
        )
    }

    /// What is due.
    pub(super) fn due(&mut self, state: &Match, now: Instant) -> TimerAction {
        if self.not_before.is_some_and(|not_before| now < not_before) {
            return TimerAction::Nothing;
        }
        self.not_before = None;
        if self.retires_at.is_some_and(|at| at <= now) {
            return TimerAction::Retire;
        }
        if let Some(at) = self.time_due(state, now) {
            return TimerAction::Flag(at);
        }
        if self.expires_at.is_some_and(|at| at <= now) {
            return TimerAction::Act(Action::Abort);
        }
        let absence = self.attendance.due(state, now);
        let bot = || self.bot_action(state, now);
        absence
            .or_else(bot)
            .map_or(TimerAction::Nothing, TimerAction::Act)
    }

    /// What a bot does now. It answers an offer before it moves.
    fn bot_action(&self, state: &Match, now: Instant) -> Option<Action> {
        let moves = self.bot_turn.as_ref().and_then(|turn| turn.action(now));
        let answers_at = self.bot_opinion.answers_at(state);
        if moves.is_some() || answers_at.is_some_and(|at| at <= now) {
            let answer = self.bot_opinion.answer(state);
            if answer.is_some() {
                return answer;
            }
        }
        let seat = self.bot_turn.as_ref().map(BotTurn::seat);
        let gives_up = self.server.settings.bots_resign
            && seat.is_some_and(|seat| self.bot_opinion.gives_up(seat));
        match (moves, seat) {
            (Some(_), Some(seat)) if gives_up => Some(Action::ResignAsBot { seat }),
            (moves, _) => moves,
        }
    }

    /// Lets a bot think if it is a bot's turn, and no longer if it is not.
    pub(super) fn take_bot_turn(&mut self, state: &Match) {
        let is_taken = self.bot_turn.as_ref().is_some_and(|turn| turn.is_of(state));
        if !is_taken {
            let used_up = self.time.before_bot();
            self.bot_turn = BotTurn::begin(state, &self.server.bots, used_up);
        }
    }

    /// Whether a bot thinks, or has thought and waits for its pace.
    pub(super) const fn has_bot_turn(&self) -> bool {
        self.bot_turn.is_some()
    }

    /// Waits until the bot whose turn it is knows its move, or has more to tell. May be cancelled.
    pub(super) async fn bot_news(&mut self) -> News {
        match &mut self.bot_turn {
            Some(turn) => turn.news().await,
            None => std::future::pending().await,
        }
    }

    /// Whether what a bot thinks may be told again by now. To be asked where it is told then.
    pub(super) fn may_tell_thought(&mut self) -> bool {
        let now = now();
        let is_time = self
            .thought_told_at
            .is_none_or(|at| now >= at + BETWEEN_THOUGHTS);
        if is_time {
            self.thought_told_at = Some(now);
        }
        is_time
    }

    /// What a bot has thought of at last, if that is to be told.
    pub(super) fn last_thought(found: Option<&MoveChoice>, state: &Match) -> Option<Thinking> {
        let found = found?;
        let (seat, _) = state.bot_to_move()?;
        let place = (state.id(), state.ply());
        let game = state.creation().game;
        is_thought_told(state, seat).then(|| thought(game, state.position(), place, &found.report))
    }

    /// Notes what a bot has thought of.
    pub(super) fn on_thought(&mut self, found: Option<MoveChoice>, state: &Match) {
        if let Some(turn) = &mut self.bot_turn {
            let judgement = found.as_ref().map(|choice| choice.report.draw_assessment());
            self.bot_opinion.thought(turn.seat(), judgement);
            let pace = Duration::from_millis(state.creation().terms.pace_ms);
            turn.decide(found, state, self.last_ply_at + pace);
        }
    }
}

/// How often a player may leave a running match to a bot.
const STOOD_IN_MAX: u32 = 3;

/// How long a match is kept once it has ended: until all have been told of that.
fn lingers(state: &Match, linger: Duration) -> Duration {
    let delay = Duration::from_millis(state.creation().terms.delay_ms);
    match delay.is_zero() {
        true => linger,
        false => linger.max(delay + RETRY),
    }
}

/// The event that an action has become already, if it was sent before.
fn known_already(state: &Match, action: &Action) -> Option<Seq> {
    match action {
        Action::Play {
            player,
            ply,
            m,
            takebacks,
        } => {
            let is_current = takebacks.is_none_or(|known| known == state.takebacks());
            let repeated = || state.repeated(*player, *ply, m);
            is_current.then(repeated).flatten()
        }
        Action::OfferDraw { player, ply } => {
            state.offered_already(*player, Offer::Draw, *ply, None)
        }
        Action::OfferTakeback {
            player,
            ply,
            to_ply,
        } => state.offered_already(*player, Offer::Takeback, *ply, *to_ply),
        _ => None,
    }
}

/// Whether the answer tells the number of the event that an action has become.
const fn is_answered_by_number(action: &Action) -> bool {
    matches!(
        action,
        Action::Play { .. }
            | Action::OfferDraw { .. }
            | Action::OfferTakeback { .. }
            | Action::AbortByPlayer { .. }
            | Action::GiveTime { .. }
    )
}
