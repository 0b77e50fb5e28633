//! Somebody at a keyboard: plays, makes mistakes, loses the connection and comes back.

mod choice;
mod negotiating;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, FollowedMatch, Hello, MatchId, MatchStatus, PlayerId, RequestId, Seq,
    ServerMessage, Token,
};
use tokio::time::{Instant, sleep, sleep_until};

use self::choice::ClientAction;
use super::base::Base;
use super::dice::Dice;
use super::line::{Line, PATIENCE};
use super::plan::{FIRST_CLIENT, Role};
use super::view::View;
use super::world::name;

/// How often somebody tries to have a last look at the world before giving up on it: for some
/// twenty seconds.
const LAST_TRIES: usize = 100;

/// How long after everything is well at the latest all that was asked is answered, where several servers
/// have a part in it: one of them asks another for ten seconds.
const ANSWERED_BY: Duration = Duration::from_secs(14);

/// Why a connection is given up on which something has got no answer that must have got one.
pub(crate) const NEVER_ANSWERED: &str = "never answered";

/// Why a connection is closed after everything must have been told on it.
pub(crate) const HEARD_ALL: &str = "has heard all";

/// By when after its delay a match is shown to strangers.
pub(crate) const SHOWN_BY: Duration = Duration::from_secs(1);

/// By when a change of a list has been told that is a second old at most.
const TOLD_BY: Duration = Duration::from_millis(1300);

/// Somebody at a keyboard.
#[derive(Debug)]
pub(crate) struct Client {
    base: Rc<Base>,
    place: usize,
    name: String,
    role: Role,
    dice: Dice,
    me: Option<PlayerId>,
    token: Option<Token>,
    has_account: bool,
    views: BTreeMap<MatchId, View>,
    /// The challenges of which this client was told.
    challenges: Vec<MatchId>,
    /// The matches of days of which this client was told that it is to move.
    turns: Vec<MatchId>,
    /// The list that is watched on this connection: of which game, and of which stage.
    watched: Option<(Option<String>, Option<MatchStatus>)>,
    /// Watches that list and does not know yet how it begins.
    wants_list: bool,
    /// A request whose answer has not come: to be sent again.
    doubtful: Option<ClientMessage>,
    /// Moves that were answered `ok`.
    played: Vec<ClientMessage>,
    /// Has just thought for long.
    has_pondered: bool,
    /// An older connection that was not closed.
    older: Option<Line>,
}

impl Client {
    pub(crate) fn new(base: Rc<Base>, place: usize, role: Role) -> Self {
        let dice = Dice::new(base.seed, FIRST_CLIENT + place as u64);
        Self {
            base,
            place,
            name: name(place),
            role,
            dice,
            me: None,
            token: None,
            has_account: false,
            views: BTreeMap::new(),
            challenges: Vec::new(),
            turns: Vec::new(),
            watched: None,
            wants_list: false,
            doubtful: None,
            played: Vec::new(),
            has_pondered: false,
            older: None,
        }
    }

    /// With an account, which this is the token of.
    pub(crate) fn with_account(self, token: Token) -> Self {
        Self {
            token: Some(token),
            has_account: true,
            ..self
        }
    }

    /// Lives until the world is calm, and then looks at everything once more.
    pub(crate) async fn live(mut self) -> turmoil::Result {
        while !self.is_over() {
            let pause = self.dice.ms(1..=120);
            sleep(pause).await;
            if let Some(mut line) = self.come_back().await {
                let end = self.session(&mut line).await;
                self.hang_up(line, end).await;
            }
        }
        self.older = None;
        self.let_delays_pass().await;
        for _ in 0..LAST_TRIES {
            if self.look().await.is_some() {
                return Ok(());
            }
            sleep(Duration::from_millis(200)).await;
        }
        Err(format!("{} is not served any more", self.name).into())
    }

    /// Waits until strangers, too, are to see all that has happened by now.
    async fn let_delays_pass(&self) {
        let delay = self.base.delay();
        if !delay.is_zero() {
            sleep(delay + SHOWN_BY).await;
        }
    }

    /// Where this client connects: mostly to the same server, if there are several.
    fn server(&mut self) -> usize {
        let count = self.base.servers.len();
        match count {
            1 => 0,
            _ if self.dice.percent(60) => self.place % count,
            _ => usize::try_from(self.dice.number()).unwrap_or(0) % count,
        }
    }

    /// Until when this client waits for an answer, and whether there must be one by then. Where several
    /// servers have a part in it that may take long.
    fn patience(&mut self) -> (Instant, bool) {
        let now = Instant::now();
        if self.base.stays.is_zero() || self.dice.percent(75) {
            return (now + PATIENCE, false);
        }
        let passed = turmoil::sim_elapsed().unwrap_or_default();
        let until_calm = self.base.calm_at.saturating_sub(passed);
        (now + until_calm + ANSWERED_BY, true)
    }

    /// Whether it is time for a last look.
    fn is_over(&self) -> bool {
        let over_at = self.base.calm_at + self.base.stays;
        turmoil::sim_elapsed().is_none_or(|now| now >= over_at)
    }

    fn is_calm(&self) -> bool {
        turmoil::sim_elapsed().is_none_or(|now| now >= self.base.calm_at)
    }

    async fn hang_up(&mut self, mut line: Line, end: Option<ClientAction>) {
        match end {
            Some(ClientAction::Goodbye) => line.close().await,
            Some(ClientAction::Overlap) => self.older = Some(line),
            Some(
                ClientAction::Vanish
                | ClientAction::Ask(_)
                | ClientAction::AskTwice(_)
                | ClientAction::Ponder(_),
            )
            | None => {
                self.older = None;
                line.closed::<()>("given up by the client");
            }
        }
    }

    /// A connection on which the server knows who this is.
    async fn come_back(&mut self) -> Option<Line> {
        let server = self.server();
        let mut line = Line::open(Rc::clone(&self.base), &self.name, server).await?;
        let hello = ClientMessage::Hello(Box::new(Hello {
            name: Some(self.name.clone()),
            token: self.token.clone(),
            ..Hello::default()
        }));
        match self.ask(&mut line, hello).await? {
            ServerMessage::Welcome(welcome) => {
                (self.watched, self.wants_list) = (None, false);
                self.me = Some(welcome.player.id);
                self.token = Some(welcome.token);
                let challenges = welcome.challenges.iter();
                self.challenges = challenges.map(|challenge| challenge.match_id).collect();
                let is_turn = |followed: &&FollowedMatch| {
                    let turn = followed.correspondence.as_ref().and_then(|days| days.turn);
                    turn.is_some() && turn == followed.you
                };
                let turns = welcome.following.iter().filter(is_turn);
                self.turns = turns.map(|followed| followed.match_id).collect();
                self.base.meet(welcome.player.id);
                Some(line)
            }
            _ => line.closed("not welcome"),
        }
    }

    /// Does one thing after the other, until one ends the connection, or something else does.
    async fn session(&mut self, line: &mut Line) -> Option<ClientAction> {
        loop {
            let think = self.dice.ms(1..=60);
            self.listen(line, think).await?;
            if self.is_calm() {
                return self.see_out(line).await;
            }
            match self.choose() {
                ClientAction::Ask(message) => {
                    self.ask(line, message).await?;
                }
                ClientAction::Ponder(time) => self.listen(line, time).await?,
                ClientAction::AskTwice(message) => {
                    self.doubtful = Some(message.clone());
                    line.send(message.clone()).await?;
                    self.ask(line, message).await?;
                }
                end @ (ClientAction::Vanish | ClientAction::Overlap | ClientAction::Goodbye) => {
                    return Some(end);
                }
            }
        }
    }

    /// What is still done on a connection when nothing bad happens any more.
    async fn see_out(&mut self, line: &mut Line) -> Option<ClientAction> {
        let passed = turmoil::sim_elapsed().unwrap_or_default();
        let stays = (self.base.calm_at + self.base.stays).saturating_sub(passed);
        if self.base.stays.is_zero() {
            self.look_at_list(line).await?;
            return Some(ClientAction::Goodbye);
        }
        self.listen(line, stays).await?;
        // Of a host that has lost its power nothing is heard.
        let why = if line.is_bereft() {
            "no answer"
        } else {
            HEARD_ALL
        };
        line.closed::<()>(why);
        Some(ClientAction::Vanish)
    }

    /// Waits until everything must have been told of the list that is watched, and looks at it.
    async fn look_at_list(&mut self, line: &mut Line) -> Option<()> {
        if let Some(list) = self.list() {
            self.listen(line, TOLD_BY).await?;
            self.ask(line, list).await?;
        }
        Some(())
    }

    /// What asks for the list that is watched.
    fn list(&self) -> Option<ClientMessage> {
        let (game, status) = self.watched.clone()?;
        Some(ClientMessage::List {
            game,
            status,
            limit: None,
            after: None,
            seekers: None,
        })
    }

    /// Takes in what comes for so long.
    async fn listen(&mut self, line: &mut Line, time: Duration) -> Option<()> {
        let until = Instant::now() + time;
        loop {
            let message = tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                message = line.receive() => message?,
                () = sleep_until(until) => return Some(()),
            };
            self.take_in(&message);
        }
    }

    /// Asks, and waits for the answer.
    async fn ask(&mut self, line: &mut Line, message: ClientMessage) -> Option<ServerMessage> {
        if is_worth_repeating(&message) {
            self.doubtful = Some(message.clone());
        }
        let id = line.send(message.clone()).await?;
        let answer = self.answer(line, id).await?;
        self.doubtful = None;
        match (message, &answer) {
            (message @ ClientMessage::Move { .. }, ServerMessage::Ok { .. }) => {
                self.played.push(message);
            }
            (ClientMessage::WatchList { game, status, .. }, ServerMessage::Ok { .. }) => {
                (self.watched, self.wants_list) = (Some((game, status)), true);
            }
            (ClientMessage::UnwatchList, ServerMessage::Ok { .. }) => self.watched = None,
            _ => {}
        }
        Some(answer)
    }

    async fn answer(&mut self, line: &mut Line, id: RequestId) -> Option<ServerMessage> {
        let (until, must_come) = self.patience();
        loop {
            let message = tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                message = line.receive() => message?,
                () = sleep_until(until.min(Instant::now() + PATIENCE)) => {
                    let is_bereft = must_come && line.is_bereft();
                    if Instant::now() < until && !is_bereft {
                        continue;
                    }
                    let is_fault = must_come && !is_bereft;
                    return line.closed(if is_fault { NEVER_ANSWERED } else { "no answer" });
                }
            };
            self.take_in(&message);
            if message.re() == Some(id) {
                return Some(message);
            }
        }
    }

    fn take_in(&mut self, message: &ServerMessage) {
        match message {
            ServerMessage::Match(snapshot) => {
                self.base.tell_of(snapshot.match_id);
                self.base
                    .delays(Duration::from_millis(snapshot.spectator_delay_ms));
                let view = View::new(snapshot, self.me);
                self.views.insert(snapshot.match_id, view);
            }
            ServerMessage::Event(event) => {
                if let Some(view) = self.views.get_mut(&event.match_id()) {
                    view.take_in(event, self.me);
                }
            }
            ServerMessage::Rematch { match_id, rematch } => {
                if let Some(next) = &rematch.next {
                    self.base.tell_of(next.match_id);
                }
                if let Some(view) = self.views.get_mut(match_id) {
                    view.rematch = Some(rematch.clone());
                }
            }
            ServerMessage::WatchEnded { match_id } => {
                self.views.remove(match_id);
            }
            ServerMessage::YourTurn { match_id, .. } => self.turns.push(*match_id),
            ServerMessage::Challenge(challenge) => self.challenges.push(challenge.match_id),
            ServerMessage::ChallengeEnded { match_id } => {
                self.challenges.retain(|challenge| challenge != match_id);
            }
            ServerMessage::Welcome(_)
            | ServerMessage::Pong { .. }
            | ServerMessage::Blocked { .. }
            | ServerMessage::Sessions { .. }
            | ServerMessage::LinkCode { .. }
            | ServerMessage::RecoveryKey { .. }
            | ServerMessage::History { .. }
            | ServerMessage::Explore { .. }
            | ServerMessage::Analysis(_)
            | ServerMessage::Hint(_)
            | ServerMessage::Thinking(_)
            | ServerMessage::Profile { .. }
            | ServerMessage::Leaderboard { .. }
            | ServerMessage::Rating { .. }
            | ServerMessage::ApiKey { .. }
            | ServerMessage::SessionAdded { .. }
            | ServerMessage::Player { .. }
            | ServerMessage::Ok { .. }
            | ServerMessage::Matches { .. }
            | ServerMessage::Events { .. }
            | ServerMessage::Error(_)
            | ServerMessage::Presence { .. }
            | ServerMessage::Clock { .. }
            | ServerMessage::Chat { .. }
            | ServerMessage::ListChanged { .. }
            | ServerMessage::Seekers(_) => {}
        }
    }

    /// Looks at every match that anybody knows of, from its first event on.
    async fn look(&mut self) -> Option<()> {
        let mut line = self.come_back().await?;
        let board = self.base.board.borrow().clone();
        for id in board {
            let target = id.into();
            let watch = ClientMessage::Watch { target };
            let since = Seq(0);
            self.ask(&mut line, watch).await?;
            let resync = ClientMessage::Resync { target, since };
            self.ask(&mut line, resync).await?;
        }
        line.close().await;
        Some(())
    }
}

/// Whether somebody whose connection was lost before the answer would ask again. Who has created a
/// match would see it on coming back.
fn is_worth_repeating(message: &ClientMessage) -> bool {
    match message {
        ClientMessage::Move { .. }
        | ClientMessage::Resign { .. }
        | ClientMessage::Abort { .. }
        | ClientMessage::Offer { .. }
        | ClientMessage::Join { .. } => true,
        ClientMessage::Hello(_)
        | ClientMessage::Ping
        | ClientMessage::Create(_)
        | ClientMessage::Watch { .. }
        | ClientMessage::Leave { .. }
        | ClientMessage::Seat { .. }
        | ClientMessage::Decline { .. }
        | ClientMessage::GiveTime { .. }
        | ClientMessage::List { .. }
        | ClientMessage::WatchList { .. }
        | ClientMessage::UnwatchList
        | ClientMessage::Sessions
        | ClientMessage::LinkDevice
        | ClientMessage::CreateRecoveryKey { .. }
        | ClientMessage::History(_)
        | ClientMessage::Explore { .. }
        | ClientMessage::Analyse { .. }
        | ClientMessage::Hint { .. }
        | ClientMessage::Profile { .. }
        | ClientMessage::Leaderboard(_)
        | ClientMessage::EndSession { .. }
        | ClientMessage::Register { .. }
        | ClientMessage::Rename { .. }
        | ClientMessage::SetPassword { .. }
        | ClientMessage::DeleteAccount { .. }
        | ClientMessage::CreateApiKey { .. }
        | ClientMessage::Seek(_)
        | ClientMessage::CancelSeek
        | ClientMessage::Say { .. }
        | ClientMessage::Block { .. }
        | ClientMessage::Resync { .. } => false,
    }
}
