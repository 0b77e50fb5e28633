//! One run of `ply play`, `ply join` or `ply watch` as a state machine: messages of the server and
//! lines of the person go in, effects come out. It does no I/O and reads no clock, so every turn
//! of events can be tested on text.
//!
//! A dropped connection is nothing special here: `hello` is said again, the server sends its
//! snapshots, and the stage that was reached goes on from them. Whatever was asked and not
//! answered is asked again if the snapshots do not show it done.

mod chat;
pub(crate) mod help;
mod match_play;
mod match_setup;
mod offers;
mod opponent_wait;
mod prompt;
mod rating;
mod rematch;
mod request_errors;
mod setup_prompts;
#[cfg(test)]
mod tests;

use std::time::Duration;

use plyhouse_protocol::{
    Challenge, ClientMessage, ClockControl, GameSummary, Hello, MatchId, MatchStatus, Request,
    RequestId, ServerMessage, Snapshot, SpectatorAccess, Token, VERSION, Welcome,
};

use crate::args::SideChoice;
use crate::device_label::default_device_label;
use crate::exit::Failure;
use crate::identity_store::SeatNote;
use crate::match_state::MatchState;
use crate::sanitize::sanitize;
use crate::view;
use prompt::Prompt;
use setup_prompts::PromptKind;

/// The number of every `hello`; other requests count on from it.
const HELLO_ID: RequestId = RequestId(0);

/// How long the answer to a farewell is waited for.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// What this run is for.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// To play, as far as it was said what and against whom.
    Play(MatchSetup),
    /// To sit down in this match.
    Join(String),
    /// To look on.
    Watch(String),
    /// To see two bots play.
    WatchBots {
        /// What they play.
        game: String,
        /// How strongly.
        levels: [String; 2],
        /// The least time between two moves.
        min_move_interval_ms: u64,
        /// The position with which it is to begin.
        initial_position: Option<String>,
    },
}

/// What a new match is to be beside its game and its seats; what is left out is as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MatchOptions {
    /// The clock.
    pub(crate) clock: Option<ClockControl>,
    /// How long a player may be absent.
    pub(crate) absence_limit_ms: Option<u64>,
    /// The level of the bot that takes the seat of whoever has gone.
    pub(crate) stand_in_level: Option<String>,
    /// The player who alone may take the open seat, by the public id.
    pub(crate) invited_player: Option<String>,
    /// So much later those see it who look on.
    pub(crate) spectator_delay_ms: Option<u64>,
    /// Who may watch it.
    pub(crate) spectator_access: Option<SpectatorAccess>,
    /// Whether moves may be taken back.
    pub(crate) allow_takebacks: Option<bool>,
    /// Whether it counts for ratings.
    pub(crate) rated: Option<bool>,
    /// Whether what the bot thinks is to be told.
    pub(crate) show_thinking: Option<bool>,
    /// The position with which it is to begin.
    pub(crate) initial_position: Option<String>,
}

/// What to play; whatever is missing is asked, or left at its default.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatchSetup {
    /// The game.
    pub(crate) game: Option<String>,
    /// Against whom.
    pub(crate) opponent: Option<Opponent>,
    /// The seat.
    pub(crate) side: Option<SideChoice>,
    /// All else.
    pub(crate) options: MatchOptions,
}

/// Against whom to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opponent {
    /// A bot of this level; of which one, is still to be said.
    Bot(Option<String>),
    /// A friend who joins by the match's code.
    Friend,
    /// Anybody who seeks a match, too, or after a while a bot of this level.
    Anyone(Option<String>),
}

/// What is to be done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Send a request. It may be lost with the connection.
    Send(Request),
    /// Send a request after a pause.
    SendAfter(Duration, Request),
    /// Tell the person what happened.
    Print(String),
    /// Tell the person what went wrong.
    PrintError(String),
    /// Keep the identity, and of its matches only these.
    SaveIdentity(Token, String, Vec<MatchId>),
    /// Note that the player sits in a match.
    AddSeatNote(SeatNote),
    /// Note that the player sits in a match no more.
    RemoveSeatNote(MatchId),
    /// Stop after this time at the latest.
    StopWithin(Duration),
    /// Come to this result after this time at the latest.
    EndWithin(Duration, Result<(), Failure>),
    /// Do not stop by then.
    CancelStop,
    /// Stop.
    End(Result<(), Failure>),
}

/// One run, from the welcome to the end of the match.
#[derive(Debug)]
pub(crate) struct PlaySession {
    goal: Goal,
    /// Whether a person sits there who can be asked.
    interactive: bool,
    /// What has to be added to a command so that it speaks to the same server.
    server_option: String,
    /// Where browsers find the server, if that is known.
    web_url: Option<String>,
    name: Option<String>,
    token: Option<Token>,
    welcome: Option<Welcome>,
    /// The player's own live matches, as the last welcome brought them.
    own_matches: Vec<Snapshot>,
    /// How many of them are still to come.
    missing_snapshots: usize,
    stage: Stage,
    pending_request: Option<PendingRequest>,
    /// Who wants to play the player.
    challenges: Vec<Challenge>,
    /// What this run comes to if there is no rematch.
    final_result: Option<Result<(), Failure>>,
    /// What this run comes to once it is told what the match has changed.
    result_after_rating: Option<Result<(), Failure>>,
    /// The time, since whenever the run began.
    now: Duration,
    /// Whether a later run will find the player again.
    can_resume: bool,
    /// How wide the terminal is, if it is one.
    columns: Option<usize>,
    /// Whether the board and whose turn it is are seen all the time, so that they need not be said.
    is_board_visible: bool,
    /// Whether it was said what can be typed.
    is_help_shown: bool,
    /// Whether no line will come any more, of a script.
    input_has_ended: bool,
    /// Whether a spectator wants to see the rematches, too.
    follows_rematches: bool,
    /// How often `hello` was put off since the last welcome.
    hello_tries: u32,
    next_id: u64,
    effects: Vec<Effect>,
}

#[derive(Debug)]
enum Stage {
    /// Not welcomed yet.
    Connecting,
    /// The person has a question to answer.
    Prompting(PromptKind, Prompt),
    /// A match was asked for. Matches that were there before are not it.
    AwaitingMatch {
        previous_matches: Vec<MatchId>,
        seek: Option<ClientMessage>,
    },
    /// At a match.
    InMatch(Box<MatchState>),
}

/// The one request that waits for its answer.
#[derive(Clone, Debug)]
struct PendingRequest {
    request: Request,
    tries: u32,
}

impl PlaySession {
    /// A run that has not begun.
    pub(crate) fn new(
        goal: Goal,
        interactive: bool,
        server_option: String,
        name: Option<String>,
        token: Option<Token>,
    ) -> Self {
        Self {
            goal,
            interactive,
            server_option,
            web_url: None,
            name,
            token,
            welcome: None,
            own_matches: Vec::new(),
            missing_snapshots: 0,
            stage: Stage::Connecting,
            pending_request: None,
            challenges: Vec::new(),
            final_result: None,
            result_after_rating: None,
            now: Duration::ZERO,
            can_resume: true,
            columns: None,
            is_board_visible: false,
            is_help_shown: false,
            input_has_ended: false,
            follows_rematches: false,
            hello_tries: 0,
            next_id: HELLO_ID.0 + 1,
            effects: Vec::new(),
        }
    }

    /// Browsers find the server here.
    pub(crate) fn with_web_url(mut self, web_url: Option<String>) -> Self {
        self.web_url = web_url;
        self
    }

    /// A spectator goes on with the rematches.
    pub(crate) const fn with_follow_rematches(mut self, follows_rematches: bool) -> Self {
        self.follows_rematches = follows_rematches;
        self
    }

    /// Board and turn are seen all the time, and not told.
    pub(crate) const fn with_board_visible(mut self, is_board_visible: bool) -> Self {
        self.is_board_visible = is_board_visible;
        self
    }

    /// Boards are to be drawn for a terminal of this width from now on.
    pub(crate) const fn set_columns(&mut self, columns: Option<usize>) {
        self.columns = columns;
    }

    /// It is this late, by a clock that began with the run.
    pub(crate) const fn set_now(&mut self, now: Duration) {
        self.now = now;
    }

    /// What runs down at the match, in one line, and when that looks otherwise.
    pub(crate) fn clock_line(&self) -> Option<view::ClockLine> {
        let match_state = self.match_state()?;
        let since = self.now.saturating_sub(match_state.clock_updated_at);
        let clock_line = view::clock_line(
            &match_state.snapshot,
            since,
            match_state.remaining_absences(self.now),
        )?;
        let text = view::truncate_to_width(&clock_line.text, self.columns);
        Some(view::ClockLine { text, ..clock_line })
    }

    /// The match as a full screen shows it.
    pub(crate) fn match_view(&self) -> Option<view::MatchView> {
        let match_state = self.match_state()?;
        Some(view::MatchView {
            snapshot: match_state.snapshot.clone(),
            game: self.game_summary(&match_state.snapshot.game).cloned(),
            elapsed: self.elapsed_since_clock_update(),
            absences: match_state.remaining_absences(self.now),
        })
    }

    /// The identity could not be kept: the seat is gone with this run.
    pub(crate) const fn disable_resume(&mut self) {
        self.can_resume = false;
    }

    /// The connection stands, for the first time or again.
    pub(crate) fn on_connected(&mut self) -> Vec<Effect> {
        let hello = self.hello_request();
        self.effects.push(Effect::Send(hello));
        self.take_effects()
    }

    /// Takes in what the server says.
    pub(crate) fn receive(&mut self, message: ServerMessage) -> Vec<Effect> {
        match message {
            ServerMessage::Welcome(welcome) => self.on_welcome(*welcome),
            ServerMessage::Match(snapshot) => self.on_snapshot(*snapshot),
            ServerMessage::Event(event) => self.on_event(&event),
            ServerMessage::Events {
                match_id, events, ..
            } => {
                if self
                    .match_state()
                    .is_some_and(|table| table.snapshot.match_id == match_id)
                {
                    events.iter().for_each(|event| self.on_event(event));
                }
            }
            ServerMessage::Presence {
                match_id,
                seats,
                absence_remaining_ms,
                spectators,
            } => self.on_presence(match_id, seats, absence_remaining_ms, spectators),
            ServerMessage::Clock { match_id, clock } => {
                let now = self.now;
                if let Some(table) = self.match_state_mut(match_id) {
                    table.update_clock(clock, now);
                }
            }
            ServerMessage::Rating {
                match_id,
                changes,
                reason,
            } => self.on_rating(match_id, &changes, reason),
            ServerMessage::Chat { match_id, entry } => self.on_chat(match_id, &entry),
            ServerMessage::Rematch { match_id, rematch } => self.on_rematch(match_id, rematch),
            ServerMessage::YourTurn {
                match_id,
                game,
                deadline_ms,
                ..
            } => self.on_your_turn(match_id, &game, deadline_ms),
            ServerMessage::Challenge(challenge) => self.on_challenge(*challenge),
            ServerMessage::ChallengeEnded { match_id } => {
                self.challenges
                    .retain(|challenge| challenge.match_id != match_id);
            }
            ServerMessage::WatchEnded { match_id } => self.on_watch_ended(match_id),
            ServerMessage::Hint(hint) => self.on_hint(&hint),
            ServerMessage::Thinking(thought) => self.on_thinking(&thought),
            ServerMessage::Ok { re, .. } => self.on_ok(re),
            ServerMessage::Error(error) => self.on_error(&error),
            ServerMessage::Pong { .. }
            | ServerMessage::Blocked { .. }
            | ServerMessage::Sessions { .. }
            | ServerMessage::LinkCode { .. }
            | ServerMessage::RecoveryKey { .. }
            | ServerMessage::History { .. }
            | ServerMessage::Explore { .. }
            | ServerMessage::Analysis(_)
            | ServerMessage::Profile { .. }
            | ServerMessage::Leaderboard { .. }
            | ServerMessage::ApiKey { .. }
            | ServerMessage::SessionAdded { .. }
            | ServerMessage::Player { .. }
            | ServerMessage::Matches { .. }
            | ServerMessage::ListChanged { .. }
            | ServerMessage::Seekers(_) => {}
        }
        self.stop_if_input_ended();
        self.take_effects()
    }

    /// Takes in what the person typed.
    pub(crate) fn on_line(&mut self, line: &str) -> Vec<Effect> {
        let line = line.trim();
        if matches!(line.to_ascii_lowercase().as_str(), "quit" | "exit" | "q") {
            return self.quit();
        }
        match &mut self.stage {
            Stage::Connecting => self.print("One moment: the server has not answered yet."),
            Stage::AwaitingMatch { .. } => self.on_line_while_seeking(line),
            Stage::Prompting(..) => self.on_choice(line),
            Stage::InMatch(_) => self.run_command(line),
        }
        self.take_effects()
    }

    /// No line will come any more.
    pub(crate) fn on_end_of_input(&mut self) -> Vec<Effect> {
        if self.interactive {
            return self.quit();
        }
        self.input_has_ended = true;
        self.stop_if_input_ended();
        self.take_effects()
    }

    /// Stops where nothing more can be done without a line of input. A script that has said all it has
    /// to say sees a match to its end, but does not wait for one to begin.
    fn stop_if_input_ended(&mut self) {
        if !self.input_has_ended || self.pending_request.is_some() {
            return;
        }
        match &self.stage {
            Stage::InMatch(table) if table.is_my_turn() => {
                let mut message = "the input has ended and it is your turn".to_owned();
                if self.can_resume {
                    message = format!("{message}; go on with `{}`", self.join_command());
                }
                self.end(Err(Failure::Failed(message)));
            }
            Stage::InMatch(table)
                if table.snapshot.status == MatchStatus::Open && table.snapshot.you.is_some() =>
            {
                self.print_error("the input has ended and nobody has sat down");
                self.leave_and_end();
            }
            Stage::AwaitingMatch { seek: Some(_), .. } => {
                self.print_error("the input has ended and nobody has come");
                self.leave_and_end();
            }
            Stage::InMatch(_)
            | Stage::Connecting
            | Stage::AwaitingMatch { .. }
            | Stage::Prompting(..) => {}
        }
    }

    /// The person wants to stop.
    pub(crate) fn quit(&mut self) -> Vec<Effect> {
        match self
            .final_result
            .take()
            .or_else(|| self.result_after_rating.take())
        {
            Some(result) => self.end(result),
            None => self.leave_and_end(),
        }
        self.take_effects()
    }

    /// Whether a line of the input can be used now. Input that is no person waits for its turn.
    pub(crate) fn accepts_line(&self) -> bool {
        self.interactive
            || self.pending_request.is_none()
                && self.match_state().is_some_and(MatchState::is_my_turn)
    }

    fn hello_request(&self) -> Request {
        Request {
            id: Some(HELLO_ID),
            message: ClientMessage::Hello(Box::new(Hello {
                protocol: Some(VERSION),
                name: self.name.clone(),
                token: self.token.clone(),
                label: Some(default_device_label()),
                ..Hello::default()
            })),
        }
    }

    /// The welcome and the snapshots that belong to it are complete: on with it.
    fn on_snapshots_complete(&mut self) {
        match &self.stage {
            Stage::Connecting => self.start_goal(),
            Stage::Prompting(PromptKind::Resume(_), _) => self.start_goal(), // It may have ended meanwhile.
            Stage::Prompting(_, menu) => {
                let text = menu.text();
                self.print(text);
            }
            Stage::AwaitingMatch { .. } => self.recover_match_request(),
            Stage::InMatch(_) => self.restore_after_reconnect(),
        }
    }

    fn on_welcome(&mut self, welcome: Welcome) {
        self.token = Some(welcome.token.clone());
        let live = welcome
            .following
            .iter()
            .map(|followed| followed.match_id)
            .collect();
        let name = sanitize(&welcome.player.name);
        self.effects
            .push(Effect::SaveIdentity(welcome.token.clone(), name, live));
        self.own_matches.clear();
        self.hello_tries = 0;
        // Of matches of days no snapshot comes.
        let followed = welcome
            .following
            .iter()
            .filter(|followed| followed.correspondence.is_none());
        self.missing_snapshots = followed.count();
        let challenges = welcome.challenges.clone();
        if self.welcome.is_none() {
            let rows = welcome.following.iter();
            rows.for_each(|row| self.print_correspondence_match(row));
        }
        self.welcome = Some(welcome);
        self.challenges.clear();
        challenges
            .into_iter()
            .for_each(|challenge| self.on_challenge(challenge));
        if self.missing_snapshots == 0 {
            self.on_snapshots_complete();
        }
    }

    fn on_snapshot(&mut self, snapshot: Snapshot) {
        let is_response = snapshot.re.is_some() && snapshot.re == self.pending_request_id();
        if is_response {
            self.pending_request = None;
            self.enter_match(snapshot);
            return;
        }
        if self.missing_snapshots > 0 && snapshot.re.is_none() {
            self.missing_snapshots -= 1;
            self.own_matches.push(snapshot);
            if self.missing_snapshots == 0 {
                self.on_snapshots_complete();
            }
            return;
        }
        match &self.stage {
            Stage::AwaitingMatch { seek: Some(_), .. } if snapshot.re.is_none() => {
                self.enter_match(snapshot)
            }
            Stage::InMatch(table)
                if table.snapshot.match_id == snapshot.match_id
                    || rematch::next_match_id(&table.snapshot) == Some(snapshot.match_id) =>
            {
                self.enter_match(snapshot);
            }
            Stage::InMatch(_)
            | Stage::AwaitingMatch { .. }
            | Stage::Prompting(..)
            | Stage::Connecting => {}
        }
    }

    /// A match that was watched has begun, and is the players' own business from then on.
    fn on_watch_ended(&mut self, match_id: MatchId) {
        if self.match_state_mut(match_id).is_some() {
            let message = "the match has begun, and nobody but its players may watch it";
            self.end(Err(Failure::Refused(message.to_owned())));
        }
    }

    fn on_ok(&mut self, re: Option<RequestId>) {
        if re.is_none() || re != self.pending_request_id() {
            return;
        }
        match self
            .pending_request
            .take()
            .map(|pending| pending.request.message)
        {
            Some(ClientMessage::Leave { .. }) => self.on_seat_left(),
            Some(ClientMessage::Seek(_)) => self.print_seek_status(),
            Some(_) | None => {}
        }
    }

    /// Sends a request whose answer is waited for.
    fn send_request(&mut self, message: ClientMessage) {
        let request = self.next_request(message);
        self.effects.push(Effect::Send(request.clone()));
        self.pending_request = Some(PendingRequest { request, tries: 0 });
    }

    /// Sends a request whose answer needs no waiting.
    fn send_untracked(&mut self, message: ClientMessage) {
        let request = self.next_request(message);
        self.effects.push(Effect::Send(request));
    }

    const fn next_request(&mut self, message: ClientMessage) -> Request {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        Request {
            id: Some(id),
            message,
        }
    }

    fn pending_request_id(&self) -> Option<RequestId> {
        self.pending_request
            .as_ref()
            .and_then(|pending| pending.request.id)
    }

    fn match_state(&self) -> Option<&MatchState> {
        match &self.stage {
            Stage::InMatch(table) => Some(table),
            Stage::Connecting | Stage::Prompting(..) | Stage::AwaitingMatch { .. } => None,
        }
    }

    /// The table, if this match is played there.
    fn match_state_mut(&mut self, id: MatchId) -> Option<&mut MatchState> {
        match &mut self.stage {
            Stage::InMatch(table) if table.snapshot.match_id == id => Some(table),
            Stage::InMatch(_)
            | Stage::Connecting
            | Stage::Prompting(..)
            | Stage::AwaitingMatch { .. } => None,
        }
    }

    fn game_summary(&self, game: &str) -> Option<&GameSummary> {
        let welcome = self.welcome.as_ref()?;
        welcome.games.iter().find(|summary| summary.game == game)
    }

    fn print(&mut self, text: impl Into<String>) {
        self.effects.push(Effect::Print(text.into()));
    }

    fn print_error(&mut self, text: &str) {
        self.effects.push(Effect::PrintError(text.to_owned()));
    }

    fn end(&mut self, result: Result<(), Failure>) {
        self.effects.push(Effect::End(result));
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}
