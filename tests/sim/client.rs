//! Simulated client: plays, makes mistakes, loses its connection and reconnects.

mod actions;
mod offers;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, FollowedMatch, Hello, MatchId, MatchStatus, PlayerId, RequestId, Seq,
    ServerMessage, Token,
};
use tokio::time::{Instant, sleep, sleep_until};

use self::actions::ClientAction;
use super::fault_plan::{FIRST_CLIENT_RNG_STREAM, Role};
use super::match_view::MatchView;
use super::recorded_connection::{CLIENT_TIMEOUT, RecordedConnection};
use super::rng::SimRng;
use super::shared_client_state::SimContext;
use super::world::client_name;

/// Maximum number of attempts at the final check before the client reports an error. With 200 ms
/// between attempts, 100 attempts take about twenty seconds.
const FINAL_CHECK_ATTEMPTS: usize = 100;

/// Maximum time until a cluster answers a request after the faults have ended. Servers retry a
/// request for up to ten seconds.
const CLUSTER_REPLY_DELAY_MAX: Duration = Duration::from_secs(14);

/// Reason for closing a connection that did not deliver a required reply in time.
pub(crate) const MISSING_REPLY_REASON: &str = "never answered";

/// Reason for closing a connection that was open long enough to receive all updates.
pub(crate) const ALL_DELIVERED_REASON: &str = "has heard all";

/// Maximum time between the end of a match's spectator delay and the update to spectators.
pub(crate) const SPECTATOR_UPDATE_DELAY_MAX: Duration = Duration::from_secs(1);

/// Maximum time until subscribers receive a change of a match list. The server sends at most one
/// update of a list per second.
const LIST_UPDATE_DELAY_MAX: Duration = Duration::from_millis(1300);

#[derive(Debug)]
pub(crate) struct Client {
    context: Rc<SimContext>,
    index: usize,
    name: String,
    role: Role,
    rng: SimRng,
    player_id: Option<PlayerId>,
    token: Option<Token>,
    has_account: bool,
    views: BTreeMap<MatchId, MatchView>,
    /// Challenges that the client has received and that have not ended.
    challenges: Vec<MatchId>,
    /// Correspondence matches that wait for this client's move, as reported by the server.
    correspondence_turns: Vec<MatchId>,
    /// Game and status of the match list that this connection watches, if it watches one.
    watched_list: Option<(Option<String>, Option<MatchStatus>)>,
    /// Whether the client has just subscribed to the list and has not requested its contents yet.
    needs_list_snapshot: bool,
    /// Request without a reply. The client usually repeats the request.
    unanswered_request: Option<ClientMessage>,
    /// Moves that the server accepted with `ok`.
    accepted_moves: Vec<ClientMessage>,
    /// Whether the client idled in its last action.
    has_idled: bool,
    /// Older connection that is still open.
    previous_connection: Option<RecordedConnection>,
}

impl Client {
    pub(crate) fn new(context: Rc<SimContext>, index: usize, role: Role) -> Self {
        let rng = SimRng::new(context.seed, FIRST_CLIENT_RNG_STREAM + index as u64);
        Self {
            context,
            index,
            name: client_name(index),
            role,
            rng,
            player_id: None,
            token: None,
            has_account: false,
            views: BTreeMap::new(),
            challenges: Vec::new(),
            correspondence_turns: Vec::new(),
            watched_list: None,
            needs_list_snapshot: false,
            unanswered_request: None,
            accepted_moves: Vec::new(),
            has_idled: false,
            previous_connection: None,
        }
    }

    /// Sets the session token and marks the client as an account holder.
    pub(crate) fn with_account(self, token: Token) -> Self {
        Self {
            token: Some(token),
            has_account: true,
            ..self
        }
    }

    /// Runs until the faults end, then reads all known matches for the final check.
    pub(crate) async fn run(mut self) -> turmoil::Result {
        while !self.has_reached_final_check() {
            let pause = self.rng.duration_ms(1..=120);
            sleep(pause).await;
            if let Some(mut connection) = self.log_in().await {
                let end = self.run_connection(&mut connection).await;
                self.end_connection(connection, end).await;
            }
        }
        self.previous_connection = None;
        self.wait_for_spectator_delay().await;
        for _ in 0..FINAL_CHECK_ATTEMPTS {
            if self.read_all_matches().await.is_some() {
                return Ok(());
            }
            sleep(Duration::from_millis(200)).await;
        }
        Err(format!("{} gets no replies from the server", self.name).into())
    }

    /// Waits until the longest spectator delay of the known matches has passed, so that spectators
    /// have received all updates.
    async fn wait_for_spectator_delay(&self) {
        let delay = self.context.max_spectator_delay();
        if !delay.is_zero() {
            sleep(delay + SPECTATOR_UPDATE_DELAY_MAX).await;
        }
    }

    /// Picks the server for the next connection. In a cluster, each client prefers one server.
    fn choose_server(&mut self) -> usize {
        let count = self.context.servers.len();
        match count {
            1 => 0,
            _ if self.rng.chance(60) => self.index % count,
            _ => usize::try_from(self.rng.next_u64()).unwrap_or(0) % count,
        }
    }

    /// Returns the deadline for a reply and whether a missing reply is a violation. In a cluster,
    /// the client sometimes waits until the server must have replied.
    fn reply_deadline(&mut self) -> (Instant, bool) {
        let now = Instant::now();
        if self.context.observation_time.is_zero() || self.rng.chance(75) {
            return (now + CLIENT_TIMEOUT, false);
        }
        let elapsed = turmoil::sim_elapsed().unwrap_or_default();
        let until_calm = self.context.faults_end.saturating_sub(elapsed);
        (now + until_calm + CLUSTER_REPLY_DELAY_MAX, true)
    }

    /// Returns whether it is time for the final check.
    fn has_reached_final_check(&self) -> bool {
        let final_check_at = self.context.faults_end + self.context.observation_time;
        turmoil::sim_elapsed().is_none_or(|now| now >= final_check_at)
    }

    fn is_past_faults(&self) -> bool {
        turmoil::sim_elapsed().is_none_or(|now| now >= self.context.faults_end)
    }

    async fn end_connection(
        &mut self,
        mut connection: RecordedConnection,
        end_action: Option<ClientAction>,
    ) {
        match end_action {
            Some(ClientAction::CloseConnection) => connection.close().await,
            Some(ClientAction::OpenSecondConnection) => self.previous_connection = Some(connection),
            Some(
                ClientAction::DropConnection
                | ClientAction::Request(_)
                | ClientAction::RequestTwice(_)
                | ClientAction::Idle(_),
            )
            | None => {
                self.previous_connection = None;
                connection.record_closed::<()>("given up by the client");
            }
        }
    }

    /// Opens a connection and logs in.
    async fn log_in(&mut self) -> Option<RecordedConnection> {
        let server = self.choose_server();
        let mut connection =
            RecordedConnection::open(Rc::clone(&self.context), &self.name, server).await?;
        let hello = ClientMessage::Hello(Box::new(Hello {
            name: Some(self.name.clone()),
            token: self.token.clone(),
            ..Hello::default()
        }));
        match self.send_request(&mut connection, hello).await? {
            ServerMessage::Welcome(welcome) => {
                (self.watched_list, self.needs_list_snapshot) = (None, false);
                self.player_id = Some(welcome.player.id);
                self.token = Some(welcome.token);
                let challenges = welcome.challenges.iter();
                self.challenges = challenges.map(|challenge| challenge.match_id).collect();
                let is_turn = |followed: &&FollowedMatch| {
                    let turn = followed
                        .correspondence
                        .as_ref()
                        .and_then(|correspondence| correspondence.turn);
                    turn.is_some() && turn == followed.you
                };
                let turns = welcome.following.iter().filter(is_turn);
                self.correspondence_turns = turns.map(|followed| followed.match_id).collect();
                self.context.add_player(welcome.player.id);
                Some(connection)
            }
            _ => connection.record_closed("not welcome"),
        }
    }

    /// Performs actions until the faults end, an action ends the connection, or the connection
    /// fails. Returns the action that ends the connection.
    async fn run_connection(
        &mut self,
        connection: &mut RecordedConnection,
    ) -> Option<ClientAction> {
        loop {
            let pause = self.rng.duration_ms(1..=60);
            self.receive_for(connection, pause).await?;
            if self.is_past_faults() {
                return self.finish_connection(connection).await;
            }
            match self.choose_action() {
                ClientAction::Request(message) => {
                    self.send_request(connection, message).await?;
                }
                ClientAction::Idle(time) => self.receive_for(connection, time).await?,
                ClientAction::RequestTwice(message) => {
                    self.unanswered_request = Some(message.clone());
                    connection.send(message.clone()).await?;
                    self.send_request(connection, message).await?;
                }
                end @ (ClientAction::DropConnection
                | ClientAction::OpenSecondConnection
                | ClientAction::CloseConnection) => {
                    return Some(end);
                }
            }
        }
    }

    /// Receives the remaining updates after the faults have ended, then ends the connection.
    async fn finish_connection(
        &mut self,
        connection: &mut RecordedConnection,
    ) -> Option<ClientAction> {
        let elapsed = turmoil::sim_elapsed().unwrap_or_default();
        let remaining =
            (self.context.faults_end + self.context.observation_time).saturating_sub(elapsed);
        if self.context.observation_time.is_zero() {
            self.verify_watched_list(connection).await?;
            return Some(ClientAction::CloseConnection);
        }
        self.receive_for(connection, remaining).await?;
        // After a crash of the server, the connection may have missed updates, so its updates are
        // not reported as complete.
        let reason = if connection.has_server_crashed() {
            "no answer"
        } else {
            ALL_DELIVERED_REASON
        };
        connection.record_closed::<()>(reason);
        Some(ClientAction::DropConnection)
    }

    /// Waits until all changes of the watched list must have arrived, then requests the list so
    /// that the checker can compare it.
    async fn verify_watched_list(&mut self, connection: &mut RecordedConnection) -> Option<()> {
        if let Some(list) = self.watched_list_request() {
            self.receive_for(connection, LIST_UPDATE_DELAY_MAX).await?;
            self.send_request(connection, list).await?;
        }
        Some(())
    }

    /// Returns the request for the contents of the watched list.
    fn watched_list_request(&self) -> Option<ClientMessage> {
        let (game, status) = self.watched_list.clone()?;
        Some(ClientMessage::List {
            game,
            status,
            limit: None,
            after: None,
            seekers: None,
        })
    }

    /// Receives messages for the given time.
    async fn receive_for(
        &mut self,
        connection: &mut RecordedConnection,
        time: Duration,
    ) -> Option<()> {
        let until = Instant::now() + time;
        loop {
            let message = tokio::select! {
                biased; // Without `biased`, the seed would not determine the branch order.
                message = connection.receive() => message?,
                () = sleep_until(until) => return Some(()),
            };
            self.apply_message(&message);
        }
    }

    /// Sends a request and waits for its reply.
    async fn send_request(
        &mut self,
        connection: &mut RecordedConnection,
        message: ClientMessage,
    ) -> Option<ServerMessage> {
        if is_retryable(&message) {
            self.unanswered_request = Some(message.clone());
        }
        let id = connection.send(message.clone()).await?;
        let reply = self.receive_reply(connection, id).await?;
        self.unanswered_request = None;
        match (message, &reply) {
            (message @ ClientMessage::Move { .. }, ServerMessage::Ok { .. }) => {
                self.accepted_moves.push(message);
            }
            (ClientMessage::WatchList { game, status, .. }, ServerMessage::Ok { .. }) => {
                (self.watched_list, self.needs_list_snapshot) = (Some((game, status)), true);
            }
            (ClientMessage::UnwatchList, ServerMessage::Ok { .. }) => self.watched_list = None,
            _ => {}
        }
        Some(reply)
    }

    async fn receive_reply(
        &mut self,
        connection: &mut RecordedConnection,
        id: RequestId,
    ) -> Option<ServerMessage> {
        let (deadline, is_required) = self.reply_deadline();
        loop {
            let message = tokio::select! {
                biased; // Without `biased`, the seed would not determine the branch order.
                message = connection.receive() => message?,
                () = sleep_until(deadline.min(Instant::now() + CLIENT_TIMEOUT)) => {
                    let has_server_crashed = is_required && connection.has_server_crashed();
                    if Instant::now() < deadline && !has_server_crashed {
                        continue;
                    }
                    let is_violation = is_required && !has_server_crashed;
                    return connection.record_closed(if is_violation { MISSING_REPLY_REASON } else { "no answer" });
                }
            };
            self.apply_message(&message);
            if message.re() == Some(id) {
                return Some(message);
            }
        }
    }

    fn apply_message(&mut self, message: &ServerMessage) {
        match message {
            ServerMessage::Match(snapshot) => {
                self.context.add_match(snapshot.match_id);
                self.context
                    .record_spectator_delay(Duration::from_millis(snapshot.spectator_delay_ms));
                let view = MatchView::new(snapshot, self.player_id);
                self.views.insert(snapshot.match_id, view);
            }
            ServerMessage::Event(event) => {
                if let Some(view) = self.views.get_mut(&event.match_id()) {
                    view.apply_event(event, self.player_id);
                }
            }
            ServerMessage::Rematch { match_id, rematch } => {
                if let Some(next) = &rematch.next {
                    self.context.add_match(next.match_id);
                }
                if let Some(view) = self.views.get_mut(match_id) {
                    view.rematch = Some(rematch.clone());
                }
            }
            ServerMessage::WatchEnded { match_id } => {
                self.views.remove(match_id);
            }
            ServerMessage::YourTurn { match_id, .. } => self.correspondence_turns.push(*match_id),
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

    /// Reads every known match from its first event.
    async fn read_all_matches(&mut self) -> Option<()> {
        let mut connection = self.log_in().await?;
        let match_ids = self.context.known_matches.borrow().clone();
        for id in match_ids {
            let target = id.into();
            let watch = ClientMessage::Watch { target };
            let since = Seq(0);
            self.send_request(&mut connection, watch).await?;
            let resync = ClientMessage::Resync { target, since };
            self.send_request(&mut connection, resync).await?;
        }
        connection.close().await;
        Some(())
    }
}

/// Returns whether a client repeats the request if it loses the connection before the reply.
/// `Create` is not repeated, because the client sees the new match after the next login.
fn is_retryable(message: &ClientMessage) -> bool {
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
