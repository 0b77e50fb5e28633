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

use self::bot_turn::News;
pub(crate) use self::broadcaster::HISTORY as KNOWN_EVENTS;
use self::broadcaster::{Beside, Broadcaster};
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
use super::match_handle::command::{Answer, Command, MatchRequest};
use super::match_handle::mailbox::Receiver;
use super::match_handle::replication::Published;
use super::match_handle::summary::MatchSummary;
use super::match_handle::{Envelope, MAILBOX};
use super::players::block_check;
use super::players::ratings;
use super::schedule::correspondence;
use super::wire::error_replies::unknown_match;
use super::wire::to_protocol;

/// A match that has panicked more often than this without getting on in between is given up.
const PANICS_MAX: u32 = 3;

/// How long a request is served again and again before it is refused.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

const GOES_ON: ControlFlow<End> = ControlFlow::Continue(());

const LOST: ControlFlow<End> = ControlFlow::Break(End::Lost);

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
    held: VecDeque<Box<Envelope>>,
    /// Who wants a rematch, once the match has ended.
    wishes: RematchOffers,
    give_rematch: RematchFactory,
    voices: Chat,
    idleness: Hibernation,
    /// What its store holds beside its events, before it begins.
    reminder: Option<Reminder>,
    /// How often it has panicked since it last got on.
    panicked: u32,
    /// The other servers that follow it, if there are any.
    replicas: Option<Box<Replicas>>,
    /// Where it is decided, if not here.
    replica: Option<Box<Replica>>,
    /// What those see who have no seat, if that is another than there is.
    delayed_view: Option<Box<DelayedView>>,
}

/// Why a match is served no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nobody can ask for it any more.
    Over,
    /// Nobody needs it until something is due, or somebody asks for it.
    Asleep,
    /// What the store holds is not what the match believes.
    Lost,
}

impl MatchActor {
    /// A match to which nothing has happened yet. Boxed, since a future that a value is moved into has
    /// room for it twice.
    pub(super) fn new(
        server: &Arc<ServerContext>,
        creation: Creation,
        mark: JournalPosition,
        mailbox: Receiver<Box<Envelope>>,
        open: Option<OpenMatchPermit>,
        give_rematch: RematchFactory,
    ) -> Box<Self> {
        let teller = Broadcaster::new(Arc::clone(server));
        let events = Vec::new();
        let record = MatchRecord { creation, events };
        let delayed =
            DelayedView::of(server, &record).expect("nothing has happened that makes no sense");
        let state = Match::new(record.creation).expect("whoever created it has seen how it begins");
        let owner = Leader::new(Arc::clone(server), &state, mark, open);
        let mut table = Self::with(server, state, (owner, teller), mailbox, give_rematch);
        table.delayed_view = delayed;
        table.show_delayed();
        table
    }

    /// A match that comes from the store, and does not begin yet.
    pub(super) fn replay(
        server: &Arc<ServerContext>,
        loaded: LoadedMatch,
        mailbox: Receiver<Box<Envelope>>,
        give_rematch: RematchFactory,
    ) -> Result<Box<Self>, ReplayError> {
        let mut teller = Broadcaster::new(Arc::clone(server));
        let LoadedMatch {
            record,
            position: mark,
            rematch: next,
            reminder,
            rating_changes: changes,
        } = loaded;
        let mut done = RequestDedup::default();
        done.begin_again(&record.events);
        let delayed = DelayedView::of(server, &record)?;
        let state = teller.replay(record)?;
        let mut owner = Leader::new(Arc::clone(server), &state, mark, None);
        owner.request_dedup = done;
        let mut table = Self::with(server, state, (owner, teller), mailbox, give_rematch);
        table.delayed_view = delayed;
        table.show_delayed();
        table.wishes = RematchOffers::known(next);
        table.broadcaster.is_of_epoch(mark.epoch());
        if let Some(delayed) = &mut table.delayed_view {
            delayed.teller().knows_changes(changes.clone());
        }
        table.broadcaster.knows_changes(changes);
        table.idleness.is_reminded(reminder.is_some());
        table.reminder = reminder;
        Ok(table)
    }

    fn with(
        server: &Arc<ServerContext>,
        state: Match,
        (owner, teller): (Leader, Broadcaster),
        mailbox: Receiver<Box<Envelope>>,
        give_rematch: RematchFactory,
    ) -> Box<Self> {
        Box::new(Self {
            server: Arc::clone(server),
            leader: owner,
            state,
            broadcaster: teller,
            mailbox,
            held: VecDeque::new(),
            wishes: RematchOffers::default(),
            give_rematch,
            voices: Chat::default(),
            idleness: Hibernation::default(),
            reminder: None,
            panicked: 0,
            replicas: None,
            replica: None,
            delayed_view: None,
        })
    }

    pub(super) const fn state(&self) -> &Match {
        &self.state
    }

    /// The end of the match's journal.
    pub(super) const fn mark(&self) -> JournalPosition {
        self.leader.mark
    }

    /// What a list shows of the match.
    pub(super) fn card(&self) -> Arc<MatchSummary> {
        Arc::clone(self.leader.card())
    }

    /// Begins with what has happened until now.
    pub(super) fn begin(&mut self) {
        let roster = self.broadcaster.roster(&self.state);
        self.leader.begin(&self.state, &roster);
        if self.replica.is_some() {
            self.leader.show(&self.state, &roster);
            let gone = self.gone();
            self.broadcaster.plan_presence(&self.state, gone);
            return;
        }
        let status = to_protocol::status(self.state.stage());
        tracing::debug!(match_id = %self.state.id(), ?status, seq = %self.state.seq(), "match begins");
        self.roster_changed();
        if let Some(cluster) = &self.server.cluster {
            let card = self.leader.card();
            cluster
                .changed_listings
                .mark_changed(card.is_listed().then_some(card.id));
        }
        if let Some(reminder) = self.reminder.take() {
            self.leader.resume(&reminder);
        }
    }

    /// Begins with the first events, which are stored.
    pub(super) fn begin_with(&mut self, events: Vec<Event>) {
        let after = Seq(0);
        self.apply_published(&Published { after, events });
    }

    /// Serves the match until it is forgotten or the server lets go of it.
    pub(super) async fn run(mut self: Box<Self>) {
        loop {
            let served = AssertUnwindSafe(self.serve()).catch_unwind().await;
            let id = self.state.id();
            match served {
                Ok(End::Over) => break,
                Ok(End::Asleep) => return self.hibernate(),
                Ok(End::Lost) => {}
                Err(_) => {
                    let panics = self.server.metrics.panics.inc() + 1;
                    tracing::error!(match_id = %id, panics, "the task of a match panicked");
                    self.panicked += 1;
                    if self.panicked > PANICS_MAX {
                        tracing::error!(match_id = %id, "a match is given up: it does not get on");
                        break;
                    }
                }
            }
            if !self.rebuild().await {
                break;
            }
        }
        let id = self.state.id();
        self.broadcaster.dismiss_all(id);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.teller().dismiss_all(id);
        }
        self.server.lobby.remove(id);
        self.server.players.match_ended(&self.state);
    }

    async fn serve(&mut self) -> End {
        if self.replica.is_some() {
            // Boxed, since few matches need room for it.
            return Box::pin(self.serve_afar()).await;
        }
        // One timer for the life of the match: making one anew for every message costs.
        let mut alarm = pin!(sleep_until(now().into()));
        loop {
            self.leader.take_bot_turn(&self.state);
            self.attend_idleness();
            self.attend_delayed();
            let deadlines = [
                self.leader.deadline(&self.state),
                self.broadcaster.deadline(),
                self.idleness.deadline(),
                self.wishes.deadline(),
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
            let going = tokio::select! {
                biased; // A busy mailbox must not delay what time has decided.
                () = &mut alarm, if deadline.is_some() => self.on_time().await,
                news = self.leader.bot_news(), if has_bot_turn => {
                    self.on_bot_news(news);
                    GOES_ON
                }
                letter = next_letter(&mut self.held, &mut self.mailbox) => match letter {
                    Some(letter) => self.on_message(*letter).await,
                    // The lobby has let go, and every connection has left.
                    None => return End::Over,
                },
            };
            self.update_reachability();
            self.tell_clock();
            self.feed_remotes();
            self.flush();
            if let ControlFlow::Break(end) = going {
                return end;
            }
        }
    }

    /// Takes in what a bot thinks, or has thought of, and tells that where it is to be known.
    fn on_bot_news(&mut self, news: News) {
        match news {
            News::Thinks(thought) => self.tell_thought(*thought),
            News::Knows(found) => {
                if let Some(thought) = Leader::last_thought(found.as_ref(), &self.state) {
                    self.tell_thought(thought);
                }
                self.leader.on_thought(found, &self.state);
            }
        }
    }

    fn tell_thought(&mut self, thought: Thinking) {
        if !self.leader.may_tell_thought() {
            return;
        }
        self.broadcaster.tell_thought(&thought);
        if let Some(remotes) = &mut self.replicas {
            remotes.thinks(thought);
        }
    }

    /// Does what is due.
    async fn on_time(&mut self) -> ControlFlow<End> {
        let now = now();
        self.update_reachability();
        let gone_ms = || self.leader.gone_ms(&self.state);
        self.broadcaster.on_time(&self.state, now, gone_ms);
        self.tell_delayed(now);
        self.end_wishes(now);
        self.do_due(now).await?;
        self.rest(now).await
    }

    /// Does what the owner has to do by itself.
    async fn do_due(&mut self, now: Instant) -> ControlFlow<End> {
        match self.leader.due(&self.state, now) {
            TimerAction::Nothing => GOES_ON,
            TimerAction::Retire => ControlFlow::Break(End::Over),
            TimerAction::Act(action) => self.act_by_itself(&action).await,
            TimerAction::Flag(at) => self.on_flag(at).await,
        }
    }

    /// Does what the match has decided on by itself.
    async fn act_by_itself(&mut self, action: &Action) -> ControlFlow<End> {
        match self.leader.act(&self.state, action).await {
            Ok(published) => {
                self.apply_published(&published);
                GOES_ON
            }
            Err(ActionError::Lost) => LOST,
            Err(not_done) => {
                self.leader.wait(&self.state, action, &not_done);
                GOES_ON
            }
        }
    }

    /// The turn should have ended at this instant: ends the match, unless what was read before then and
    /// waits to be served ends the turn.
    async fn on_flag(&mut self, at: Instant) -> ControlFlow<End> {
        let (seq, mut later) = (self.state.seq(), VecDeque::new());
        while self.state.seq() == seq
            && later.len() < MAILBOX
            && let Some(Some(letter)) =
                next_letter(&mut self.held, &mut self.mailbox).now_or_never()
        {
            let mut letter = letter;
            self.read_here(&mut letter.command);
            if letter.command.received_at < at {
                if let end @ ControlFlow::Break(_) = self.on_message(*letter).await {
                    self.hold(later);
                    return end;
                }
            } else {
                later.push_back(letter);
            }
        }
        self.hold(later);
        if self.state.seq() != seq {
            // Something has happened: whether the turn has ended is looked at anew.
            return GOES_ON;
        }
        self.act_by_itself(&Leader::flag(&self.state)).await
    }

    /// Has letters served before all others.
    fn hold(&mut self, mut letters: VecDeque<Box<Envelope>>) {
        letters.append(&mut self.held);
        self.held = letters;
    }

    /// Serves one request.
    async fn on_message(&mut self, mut letter: Envelope) -> ControlFlow<End> {
        self.read_here(&mut letter.command);
        if let Some(at) = self.leader.flag_before(&self.state, &letter.command) {
            self.hold(VecDeque::from([Box::new(letter)]));
            return Box::pin(self.on_flag(at)).await;
        }
        let Envelope { command, reply } = letter;
        if self.is_closed_to(&command) {
            refuse_closed(&command, reply);
            return GOES_ON;
        }
        match &command.request {
            MatchRequest::Act(action) if command.relayed.is_some() => {
                return Box::pin(self.act_for_another(&command, action, reply)).await;
            }
            MatchRequest::Act(action) => return self.act(&command, action, reply).await,
            MatchRequest::Watch | MatchRequest::Show => {
                let Some(reply) = self.watch_delayed(&command, reply) else {
                    return GOES_ON;
                };
                let is_seated = self.state.seat_of(command.player).is_some();
                if let Some(reply) = self.broadcaster.admit(&command, is_seated, reply) {
                    self.roster_changed();
                    self.tell_snapshot(&command, reply);
                }
            }
            MatchRequest::Resync { since } => {
                let Some(reply) = self.resync_delayed(&command, *since, reply) else {
                    return GOES_ON;
                };
                let time = self.leader.time.turn_time(&self.state);
                let resync = (*since, time);
                self.broadcaster
                    .resync(&self.state, &command, resync, reply);
            }
            MatchRequest::Unfollow => self.dismiss(&command),
            MatchRequest::Rematch => Box::pin(self.offer_rematch(&command, reply)).await,
            MatchRequest::Say { name, saying } => self.say(&command, name, saying, reply),
            MatchRequest::DeclineRematch => self.decline_rematch(&command, reply),
            MatchRequest::RematchBegins { next } => self.rematch_begins(next.as_ref(), reply),
            MatchRequest::Look => return Box::pin(self.look(reply)).await,
            MatchRequest::GiveUp => return Box::pin(self.give_up(reply)).await,
            request => return self.on_control(request, reply),
        }
        GOES_ON
    }

    /// Takes in what others have to tell of the store, of other servers and of those who are in the match.
    fn on_control(&mut self, request: &MatchRequest, reply: Reply) -> ControlFlow<End> {
        match request {
            MatchRequest::Remind => {
                self.tell_whose_turn();
                reply.ok(None);
            }
            MatchRequest::Forget { player, name } => {
                let may_name = self.forget(*player, name);
                reply.ok(None);
                if may_name {
                    return LOST;
                }
            }
            MatchRequest::StoreRefuses { since } => {
                self.leader.time.store_refuses(&self.state, *since);
                reply.ok(None);
            }
            MatchRequest::StoreAccepts => {
                self.leader.time.store_accepts(&self.state);
                reply.ok(None);
            }
            MatchRequest::Follow { from, roster } => {
                self.follow_from(*from, roster.clone());
                reply.ok(None);
            }
            MatchRequest::NodeGone { node, is_dead } => {
                if *is_dead {
                    self.remote_is_gone(*node);
                }
                self.roster_changed();
                reply.ok(None);
            }
            MatchRequest::OwnerChanged { .. } => {
                reply.ok(None);
                return LOST;
            }
            MatchRequest::NodesChanged | MatchRequest::Gap => {
                self.roster_changed();
                reply.ok(None);
            }
            MatchRequest::ReplicaUpdate(_) => reply.ok(None),
            MatchRequest::Rated(verdict) => {
                self.keep_verdict(verdict);
                reply.ok(None);
            }
            other => unreachable!("{other:?} is served elsewhere"),
        }
        GOES_ON
    }

    /// Finds out whether a player may sit down with whoever is here: not if one of them blocks the other, nor for
    /// ratings if both are one person's. A seat of one's own is no matter of that.
    fn meets(
        &self,
        player: PlayerId,
    ) -> impl Future<Output = Result<(), WireError>> + Send + use<> {
        let is_asked = !matches!(self.state.stage(), Stage::Ended { .. })
            && self.state.seat_held_by(player).is_none();
        let others = self.state.holders().chain([self.state.creation().host]);
        let others: Vec<PlayerId> = others.filter(|_| is_asked).collect();
        let is_rated = self.state.creation().terms.rated && is_asked;
        let server = Arc::clone(&self.server);
        async move {
            if is_rated {
                let own = ratings::linked_accounts(&server, player).await?;
                if others.iter().any(|other| own.contains(other)) {
                    return Err(ratings::same_owner_error());
                }
            }
            match block_check::are_apart(&server, player, others).await? {
                true => Err(block_check::refused()),
                false => Ok(()),
            }
        }
    }

    /// Whether the match is none of the business of whoever asks: it has started, as far as they may know.
    fn is_closed_to(&self, command: &Command) -> bool {
        let is_known = |delayed: &DelayedView| delayed.state().is_hidden_from(command.player);
        self.state.is_hidden_from(command.player)
            && self.delayed_view.as_deref().is_none_or(is_known)
            && command.request.is_of_client()
    }

    /// Has an action decided on, tells what came of it, and answers.
    async fn act(
        &mut self,
        command: &Command,
        action: &Action,
        mut reply: Reply,
    ) -> ControlFlow<End> {
        let joins = matches!(action, Action::Join { .. });
        if joins && self.begins_days_of(command.player, action) {
            let room = correspondence::check_limit(&self.server, command.player).await;
            match reply.check(room) {
                Some(((), checked)) => reply = checked,
                None => return GOES_ON,
            }
        }
        let is_new = joins && !self.broadcaster.follows(command);
        if joins {
            match reply.check(self.meets(command.player).await) {
                Some(((), checked)) => reply = checked,
                None => return GOES_ON,
            }
            let is_seated = self.state.seat_of(command.player).is_some();
            let now = Timestamp::free(self.server.clock.now_ms());
            let is_player = is_seated || self.state.apply(action, now).is_ok();
            match self.broadcaster.admit(command, is_player, reply) {
                Some(admitted) => reply = admitted,
                None => return GOES_ON,
            }
        }
        let decision = self.leader.decide(&self.state, action, command).await;
        let durable_at = self.apply_published(&decision.published);
        if decision.is_lost {
            if is_new {
                self.let_go(command);
            }
            return self.ask_when_rebuilt(command, reply, decision.answer);
        }
        let mut decision = decision;
        decision.answer = self.as_known(command, action, decision.answer);
        match (&decision.answer, action) {
            (Ok(_), Action::Join { .. }) => {
                self.tell_snapshot(command, reply);
            }
            (Ok(_), Action::Leave { .. }) => {
                self.dismiss(command);
                reply.answer(decision.answer);
            }
            (Ok(_), Action::Play { .. }) => {
                if decision.published.events.is_empty() {
                    reply.note_fruitless();
                }
                reply.answer(decision.answer);
                if !decision.published.events.is_empty() {
                    let took = durable_at.saturating_duration_since(command.received_at);
                    let durable = &self.server.metrics.move_durable;
                    durable.observe(took.as_secs_f64());
                }
            }
            (Ok(_) | Err(_), _) => {
                reply.answer(decision.answer);
                if is_new {
                    self.let_go(command);
                }
            }
        }
        GOES_ON
    }

    /// Has an action decided on that a client of another server asks for, which tells its followers.
    async fn act_for_another(
        &mut self,
        command: &Command,
        action: &Action,
        reply: Reply,
    ) -> ControlFlow<End> {
        let mut reply = reply;
        if matches!(action, Action::Join { .. }) && self.begins_days_of(command.player, action) {
            let room = correspondence::check_limit(&self.server, command.player).await;
            match reply.check(room) {
                Some(((), checked)) => reply = checked,
                None => return GOES_ON,
            }
        }
        if matches!(action, Action::Join { .. }) {
            match reply.check(self.meets(command.player).await) {
                Some(((), checked)) => reply = checked,
                None => return GOES_ON,
            }
        }
        let decision = self.leader.decide(&self.state, action, command).await;
        self.apply_published(&decision.published);
        // What has happened goes before the answer.
        self.feed_remotes();
        if decision.is_lost {
            return self.ask_when_rebuilt(command, reply, decision.answer);
        }
        let answer = self.as_known(command, action, decision.answer);
        reply.answer(answer);
        GOES_ON
    }

    /// Has a command that was not decided on served again once the match has been read anew, and breaks for
    /// that. After a while it is answered instead.
    fn ask_when_rebuilt(
        &mut self,
        command: &Command,
        mut reply: Reply,
        answer: Answer,
    ) -> ControlFlow<End> {
        if matches!(&answer, Err(error) if error.code == Some(ErrorCode::Internal)) {
            reply.note_tried();
        }
        if now().saturating_duration_since(command.received_at) < REQUEST_TIMEOUT {
            let command = command.clone();
            self.held.push_front(Box::new(Envelope { command, reply }));
        } else {
            reply.answer(answer);
        }
        LOST
    }

    /// Has a command of another server's client count as if it had been read here.
    fn read_here(&self, command: &mut Command) {
        if let (Some(remotes), Some(cluster)) = (&self.replicas, &self.server.cluster) {
            command.received_at = remotes.read_at(command, cluster);
            if let Some(relayed) = &mut command.relayed {
                relayed.turn_us = None;
            }
        }
    }

    /// Whether by this action, which is refused for nothing else, the player gets one more match of days.
    fn begins_days_of(&self, player: PlayerId, action: &Action) -> bool {
        let creation = self.state.creation();
        let has_part = creation.host == player || self.state.seat_held_by(player).is_some();
        let now = Timestamp::free(self.server.clock.now_ms());
        creation.terms.is_of_days() && !has_part && self.state.apply(action, now).is_ok()
    }

    /// Makes stored events part of the match, and then tells everybody. Gives the instant from which
    /// they count as durable.
    fn apply_published(&mut self, published: &Published) -> Instant {
        let durable_at = now();
        if published.events.is_empty() {
            return durable_at;
        }
        debug_assert_eq!(published.after, self.state.seq(), "no event is left out");
        self.panicked = 0;
        for event in &published.events {
            self.leader.before(&self.state, event);
            self.broadcaster.take_in(&mut self.state, event, durable_at);
            self.leader.after(&self.state, event, durable_at);
        }
        self.remove_spectator();
        let is_move = |event: &Event| matches!(event.kind, EventKind::Moved { .. });
        if !published.events.iter().all(is_move) {
            self.roster_changed();
            let ServerContext {
                challenges,
                players,
                ..
            } = &*self.server;
            challenges.on_match_changed(players, &self.state);
        }
        self.broadcaster.tell(published);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.happened(published);
        }
        self.leader.card().told(self.state.seq());
        self.leader.told(&self.state, published, now());
        if let Some(remotes) = &mut self.replicas {
            remotes.happened(published);
        }
        let gives_turn = |event: &Event| event.kind.begins_turn();
        if self.state.creation().terms.is_of_days() && published.events.iter().any(gives_turn) {
            self.tell_whose_turn();
        }
        if self.leader.time.measures() {
            self.broadcaster.measure(&self.state);
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
    fn tell_whose_turn(&self) {
        let follows = |peer: &ConnectionHandle| self.broadcaster.has_connection(peer.id);
        correspondence::notify_turn(&self.server, &self.state, follows);
    }

    /// Tells everybody how the clock stands, if that has changed otherwise than by an event.
    fn tell_clock(&mut self) {
        if self.leader.time.take_untold()
            && let Some(time) = self.leader.time.turn_time(&self.state)
        {
            self.broadcaster.tell_clock(&self.state, time);
            if let Some(remotes) = &mut self.replicas {
                remotes.clock_changed();
            }
            if let Some(delayed) = &mut self.delayed_view {
                delayed.clock_changed();
            }
        }
    }

    fn tell_snapshot(&mut self, command: &Command, reply: Reply) {
        let beside = self.beside();
        (self.broadcaster).tell_snapshot(&self.state, command, beside, reply);
    }

    /// For how long each seat's player may still be gone, in milliseconds, as far as this server knows.
    fn gone_ms(&self) -> [Option<u64>; 2] {
        match &self.replica {
            Some(afar) => afar.gone_ms(),
            None => self.leader.gone_ms(&self.state),
        }
    }

    /// Whose time to be gone runs.
    fn gone(&self) -> [bool; 2] {
        self.gone_ms().map(|gone_ms| gone_ms.is_some())
    }

    /// What a snapshot that is sent now says beside the events.
    fn beside(&mut self) -> Beside {
        self.note_lack_of_clock();
        Beside {
            time: self.turn_time(),
            gone: self.gone(),
        }
    }

    /// Lets go of a connection that was let in for a seat which it has not got.
    fn let_go(&mut self, command: &Command) {
        if self.broadcaster.dismiss(command) {
            self.roster_changed();
        }
    }

    fn dismiss(&mut self, command: &Command) {
        let of_strangers = self.delayed_view.as_mut();
        let was_stranger = of_strangers.is_some_and(|delayed| delayed.teller().dismiss(command));
        if self.broadcaster.dismiss(command) || was_stranger {
            self.roster_changed();
        }
    }

    /// Whether the connection that asks follows.
    fn follows(&self, command: &Command) -> bool {
        let is_stranger = |delayed: &DelayedView| delayed.follows(command);
        self.broadcaster.follows(command) || self.delayed_view.as_deref().is_some_and(is_stranger)
    }

    /// Lets go of a connection, of which nobody need know yet.
    fn dismiss_silently(&mut self, command: &Command) {
        self.broadcaster.dismiss(command);
        if let Some(delayed) = &mut self.delayed_view {
            delayed.teller().dismiss(command);
        }
    }

    /// Has everything written that was told.
    fn flush(&mut self) {
        self.broadcaster.flush();
        if let Some(delayed) = &mut self.delayed_view {
            delayed.teller().flush();
        }
    }

    /// Keeps everything in step that depends on who is where: to be called when that changes, and
    /// before it is told.
    fn roster_changed(&mut self) {
        self.note_crowd();
        let roster = self.broadcaster.roster(&self.state);
        self.leader.attend(&self.state, &roster);
        let gone = self.gone();
        self.broadcaster.plan_presence(&self.state, gone);
        self.attend_wishes();
    }
}

/// Answers that there is no such match, since it is none of the business of whoever asks.
fn refuse_closed(command: &Command, reply: Reply) {
    match command.request {
        MatchRequest::Show => reply.withdraw(),
        _ => reply.error(unknown_match()),
    }
}

/// The next letter: first those that are held.
async fn next_letter(
    held: &mut VecDeque<Box<Envelope>>,
    mailbox: &mut Receiver<Box<Envelope>>,
) -> Option<Box<Envelope>> {
    match held.pop_front() {
        Some(letter) => Some(letter),
        None => mailbox.recv().await,
    }
}
