//! The task that owns one match: it takes what is asked, has it stored, and tells everybody.
//!
//! It never waits for a client. What it waits for is the store, and only there do requests of one
//! match queue up behind each other. When it panics, or the store holds something else than it
//! believes, the match is rebuilt from the store and goes on.

mod audience;
mod bot_turn;
mod commit;
mod rebuild;
mod requests;

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use tokio::time::sleep_until;

use self::audience::Audience;
use self::bot_turn::BotTurn;
use self::commit::NotStored;
use super::addresses::OpenMatch;
use super::clock::now;
use super::mailbox::Receiver;
use super::match_handle::{Card, Message, Presence};
use super::metrics::GameMetrics;
use super::outbox::Frame;
use super::shared::Shared;
use plyhouse_matches::{Attendance, Match};

/// A match that has panicked more often than this without getting on in between is given up.
const PANICS_MAX: u32 = 3;

const GOES_ON: ControlFlow<End> = ControlFlow::Continue(());

const LOST: ControlFlow<End> = ControlFlow::Break(End::Lost);

/// For how many events there is room from the start, which saves short matches from growing it step by
/// step.
const HISTORY_ROOM: usize = 16;

/// How long the match waits before it tries again what the store would not take.
const RETRY: Duration = Duration::from_secs(1);

/// The owner of one match.
#[derive(Debug)]
pub(super) struct MatchActor {
    server: Arc<Shared>,
    state: Match,
    card: Arc<Card>,
    mailbox: Receiver<Box<Message>>,
    /// Held until the match begins, or until the end if only bots play.
    open: Option<OpenMatch>,
    audience: Audience,
    attendance: Attendance,
    /// The last events, as they were told.
    history: VecDeque<Frame>,
    bot_turn: Option<BotTurn>,
    /// When the last move was durable, or the start of the match.
    last_ply_at: Instant,
    /// A move has been told and not been written yet.
    is_move_unwritten: bool,
    /// Where the game is counted.
    game: Arc<GameMetrics>,
    /// Nothing is tried by the match itself before this, because the store failed.
    not_before: Option<Instant>,
    /// When the match is forgotten, once it has ended.
    retires_at: Option<Instant>,
    /// How often it has panicked since it last got on.
    panicked: u32,
}

/// Why a match is served no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nobody can ask for it any more.
    Over,
    /// What the store holds is not what the match believes.
    Lost,
}

impl MatchActor {
    /// The owner of a match as it is in the store. Boxed, since a future that a value is moved into
    /// has room for it twice.
    pub(super) fn new(
        server: Arc<Shared>,
        state: Match,
        mailbox: Receiver<Box<Message>>,
        open: Option<OpenMatch>,
    ) -> Box<Self> {
        let audience = Audience::default();
        let card = Arc::new(Card::new(&state));
        let attendance = Attendance::new(server.settings.abandon_after);
        let game = Arc::clone(server.metrics.game(state.creation().game));
        Box::new(Self {
            server,
            state,
            card,
            mailbox,
            open,
            audience,
            attendance,
            history: VecDeque::with_capacity(HISTORY_ROOM),
            bot_turn: None,
            last_ply_at: now(),
            is_move_unwritten: false,
            game,
            not_before: None,
            retires_at: None,
            panicked: 0,
        })
    }

    /// What a list shows of the match.
    pub(super) fn card(&self) -> Arc<Card> {
        Arc::clone(&self.card)
    }

    /// Serves the match until it is forgotten or the server lets go of it.
    pub(super) async fn run(mut self: Box<Self>) {
        loop {
            let served = AssertUnwindSafe(self.serve()).catch_unwind().await;
            let id = self.state.id();
            match served {
                Ok(End::Over) => break,
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
        self.audience.dismiss_all(id);
        self.server.lobby.forget(id);
        self.server.players.match_ended(&self.state);
    }

    async fn serve(&mut self) -> End {
        // One timer for the life of the match: making one anew for every message costs.
        let mut alarm = pin!(sleep_until(now().into()));
        loop {
            self.take_bot_turn();
            let deadline = self.next_deadline();
            if let Some(deadline) = deadline.map(Into::into)
                && alarm.deadline() != deadline
            {
                alarm.as_mut().reset(deadline);
            }
            let going = tokio::select! {
                biased; // A busy mailbox must not delay what time has decided.
                () = &mut alarm, if deadline.is_some() => self.on_time().await,
                found = thought(&mut self.bot_turn), if self.bot_turn.is_some() => {
                    self.on_thought(found);
                    GOES_ON
                }
                message = self.mailbox.recv() => match message {
                    Some(message) => self.on_message(*message).await,
                    // The lobby has let go, and every session has left.
                    None => {
                        if self.retires_at.is_some() && !self.server.is_stopping() {
                            self.server.store.retire(self.state.id()).await;
                        }
                        return End::Over;
                    }
                },
            };
            self.audience.flush(&self.server);
            if std::mem::take(&mut self.is_move_unwritten) {
                let took = now().saturating_duration_since(self.last_ply_at);
                self.server.metrics.move_written.observe(took.as_secs_f64());
            }
            if let ControlFlow::Break(end) = going {
                return end;
            }
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let own = [
            self.attendance.next_deadline(),
            self.bot_turn.as_ref().and_then(BotTurn::due),
            self.retires_at,
        ];
        let own = own.into_iter().flatten().min();
        let own = own.map(|at| self.not_before.map_or(at, |not_before| at.max(not_before)));
        own.into_iter().chain(self.audience.presence_due()).min()
    }

    /// Does what is due.
    async fn on_time(&mut self) -> ControlFlow<End> {
        let now = now();
        if self.audience.presence_due().is_some_and(|due| due <= now) {
            let presence = self.presence();
            self.audience.tell_presence(self.state.id(), presence);
        }
        if self.not_before.is_some_and(|not_before| now < not_before) {
            return GOES_ON;
        }
        self.not_before = None;
        if self.retires_at.is_some_and(|at| at <= now) {
            self.server.store.retire(self.state.id()).await;
            return ControlFlow::Break(End::Over);
        }
        let absence = self.attendance.due(&self.state, now);
        let bot = self.bot_turn.as_ref().and_then(|turn| turn.action(now));
        let Some(action) = absence.or(bot) else {
            return GOES_ON;
        };
        match self.state.apply(&action) {
            Ok(events) => match self.commit(events).await {
                Ok(()) => GOES_ON,
                Err(NotStored::Unavailable) => {
                    self.not_before = Some(now + RETRY);
                    GOES_ON
                }
                Err(NotStored::Lost) => LOST,
            },
            Err(refusal) => {
                // Both kinds of action are derived from the state, which allows them.
                tracing::error!(match_id = %self.state.id(), ?action, %refusal, "a match refused itself");
                self.bot_turn = None;
                self.not_before = Some(now + RETRY);
                GOES_ON
            }
        }
    }

    /// Lets a bot think if it is a bot's turn, and no longer if it is not.
    fn take_bot_turn(&mut self) {
        if self
            .bot_turn
            .as_ref()
            .is_some_and(|turn| turn.is_of(&self.state))
        {
            return;
        }
        self.bot_turn = BotTurn::begin(&self.state, &self.server.bots);
    }

    fn on_thought(&mut self, found: Option<String>) {
        if let Some(turn) = &mut self.bot_turn {
            turn.decide(
                found,
                &self.state,
                self.last_ply_at + self.state.creation().pace,
            );
        }
    }

    fn presence(&self) -> Presence {
        self.audience.presence(&self.state, &self.server.players)
    }

    /// Keeps everything in step that depends on who is where: to be called when that changes, and
    /// before it is told.
    fn roster_changed(&mut self) {
        let now = now();
        let is_present = |player| self.audience.has_player(player);
        self.attendance.update(&self.state, is_present, now);
        let presence = self.presence();
        if let Some(status) = self.card.update(&self.state, presence) {
            self.server.lobby.status_changed(&self.card, status);
        }
        self.audience.plan_presence(&self.state, presence, now);
    }
}

async fn thought(turn: &mut Option<BotTurn>) -> Option<String> {
    match turn {
        Some(turn) => turn.thought().await,
        None => std::future::pending().await,
    }
}
