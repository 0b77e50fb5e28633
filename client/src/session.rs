//! State machine of one run of `ply play`, `ply join` or `ply watch`. The inputs are server
//! messages and lines that the user types, and the outputs are effects. The session does no I/O and
//! reads no clock, so tests can run any sequence of events.
//!
//! A dropped connection does not change the stage of the session. After reconnecting, the session
//! sends `hello` again and the server responds with snapshots. The session then uses these
//! snapshots to continue its current stage. A request without a response is sent again, unless the
//! snapshots show that the server has carried it out.

mod chat;
mod choice_prompt;
pub(crate) mod help;
mod match_play;
mod offers;
mod opponent_wait;
mod rating;
mod rematch;
mod request_errors;
mod setup_prompts;
mod start_or_resume;
#[cfg(test)]
mod tests;

use std::time::Duration;

use plyhouse_protocol::{
    Challenge, ClientMessage, CreateRequest, GameSummary, Hello, MatchId, MatchStatus, Request,
    RequestId, ServerMessage, Snapshot, Token, VERSION, Welcome,
};

use crate::args::SideChoice;
use crate::device_label::default_device_label;
use crate::exit::Failure;
use crate::identity_store::SeatNote;
use crate::match_state::MatchState;
use crate::sanitize::sanitize;
use crate::view;
use choice_prompt::Prompt;
use setup_prompts::PromptKind;

/// Request id of every `hello`. Other requests have higher ids, in ascending order.
const HELLO_ID: RequestId = RequestId(0);

/// Notice for a command that cannot be sent, because another request is pending.
const REQUEST_PENDING_NOTICE: &str = "Still waiting for the server; try again in a moment.";

/// Timeout for the response to `leave` at the end of a run.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);

/// Purpose of a run.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// Play a match. The session prompts for missing parts of the setup or uses their defaults.
    Play(MatchSetup),
    /// Take a seat in the match with this code or id.
    Join(String),
    /// Watch the match with this code or id.
    Watch(String),
    /// Create and watch a match between two bots.
    WatchBots(CreateRequest),
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionOptions {
    /// Whether a user can answer prompts.
    pub(crate) interactive: bool,
    /// Command-line options that select the server of this run.
    pub(crate) server_option: String,
    /// URL of the server's web page, if it is known.
    pub(crate) web_url: Option<String>,
    /// Name of the player, if the user or an earlier run has chosen one.
    pub(crate) name: Option<String>,
    /// Token of the stored player.
    pub(crate) token: Option<Token>,
    /// Whether the board and the turn are always visible to the user. If so, the session does not
    /// print them.
    pub(crate) is_board_visible: bool,
    /// Whether a spectator also watches the rematches.
    pub(crate) follows_rematches: bool,
}

/// Match that the user wants to play. The session prompts for missing parts or uses defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatchSetup {
    pub(crate) game: Option<String>,
    pub(crate) opponent: Option<Opponent>,
    pub(crate) side: Option<SideChoice>,
    /// Further options. The session sets the game and the seats of the request.
    pub(crate) options: CreateRequest,
}

/// Kind of opponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opponent {
    /// A bot of this level. The level is `None` if it is not known yet.
    Bot(Option<String>),
    /// A friend who joins with the match code.
    Friend,
    /// Any player who also seeks a match. If a level is given, a bot of this level may take the
    /// seat after a while.
    Anyone(Option<String>),
}

/// Action that the caller carries out for the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Send a request. The request may be lost if the connection drops.
    Send(Request),
    /// Send a request after a delay.
    SendAfter(Duration, Request),
    /// Print text for the user.
    Print(String),
    /// Print an error for the user.
    PrintError(String),
    /// Store the player's token and name. Remove the stored notes on all matches that are not
    /// listed.
    SaveIdentity(Token, String, Vec<MatchId>),
    /// Store a note that the player has a seat in a match.
    AddSeatNote(SeatNote),
    /// Remove the note that the player has a seat in this match.
    RemoveSeatNote(MatchId),
    /// End the run with [`Failure::Stopped`] when this time has passed, unless the run ends
    /// earlier.
    StopWithin(Duration),
    /// End the run with the given result when this time has passed, unless the run ends earlier.
    EndWithin(Duration, Result<(), Failure>),
    /// Cancel the deadline of the run.
    CancelStop,
    /// End the run with this result.
    End(Result<(), Failure>),
}

/// One run, from the first `welcome` to the end of the match.
#[derive(Debug)]
pub(crate) struct PlaySession {
    goal: Goal,
    options: SessionOptions,
    token: Option<Token>,
    welcome: Option<Welcome>,
    /// Live matches of the player, from the snapshots that followed the last `welcome`.
    own_matches: Vec<Snapshot>,
    /// Number of snapshots that have not arrived since the last `welcome`. After `welcome`, the
    /// server sends a snapshot of each live match of the player.
    missing_snapshots: usize,
    stage: Stage,
    pending_request: Option<PendingRequest>,
    /// Open challenges to the player.
    challenges: Vec<Challenge>,
    /// Result that the run returns if no rematch follows.
    final_result: Option<Result<(), Failure>>,
    /// Result that the run returns after waiting for the rating changes of the match.
    result_after_rating: Option<Result<(), Failure>>,
    /// Current time, measured from the start of the run.
    now: Duration,
    /// Whether a later run can resume the player's matches. False if the identity could not be
    /// stored.
    can_resume: bool,
    /// Width of the terminal in columns, if the output is a terminal.
    columns: Option<usize>,
    /// Whether the hint about what the user can type was printed.
    is_help_shown: bool,
    /// Whether the input of a script has ended.
    input_has_ended: bool,
    /// Number of times that `hello` was retried since the last `welcome`.
    hello_tries: u32,
    next_id: u64,
    effects: Vec<Effect>,
}

#[derive(Debug)]
enum Stage {
    /// The session waits for the first `welcome` and its snapshots.
    Connecting,
    /// The user must answer a prompt.
    Prompting(PromptKind, Prompt),
    /// The session has requested a match. `previous_matches` lists the matches of the player before
    /// the request.
    AwaitingMatch {
        previous_matches: Vec<MatchId>,
        seek: Option<ClientMessage>,
    },
    /// The user plays or watches a match.
    InMatch(Box<MatchState>),
}

/// Request whose response the session awaits. The session awaits at most one response at a time.
#[derive(Clone, Debug)]
struct PendingRequest {
    request: Request,
    tries: u32,
}

impl PlaySession {
    pub(crate) fn new(goal: Goal, options: SessionOptions) -> Self {
        Self {
            goal,
            token: options.token.clone(),
            options,
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
            is_help_shown: false,
            input_has_ended: false,
            hello_tries: 0,
            next_id: HELLO_ID.0 + 1,
            effects: Vec::new(),
        }
    }

    /// Sets the width of the terminal, which limits the width of printed boards.
    pub(crate) const fn set_columns(&mut self, columns: Option<usize>) {
        self.columns = columns;
    }

    /// Sets the current time, measured from the start of the run.
    pub(crate) const fn set_now(&mut self, now: Duration) {
        self.now = now;
    }

    /// Returns the line with clocks and countdowns, and the time until the line changes.
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

    /// Returns the current match for display on the full screen.
    pub(crate) fn match_view(&self) -> Option<view::MatchView> {
        let match_state = self.match_state()?;
        Some(view::MatchView {
            snapshot: match_state.snapshot.clone(),
            game: self.game_summary(&match_state.snapshot.game).cloned(),
            elapsed: self.elapsed_since_clock_update(),
            absences: match_state.remaining_absences(self.now),
        })
    }

    /// Records that a later run cannot resume the match, because the identity could not be stored.
    pub(crate) const fn disable_resume(&mut self) {
        self.can_resume = false;
    }

    /// Sends `hello` after the connection was opened or reopened.
    pub(crate) fn on_connected(&mut self) -> Vec<Effect> {
        let hello = self.hello_request();
        self.effects.push(Effect::Send(hello));
        self.take_effects()
    }

    /// Handles a message of the server.
    pub(crate) fn receive(&mut self, message: ServerMessage) -> Vec<Effect> {
        match message {
            ServerMessage::Welcome(welcome) => self.on_welcome(*welcome),
            ServerMessage::Match(snapshot) => self.on_snapshot(*snapshot),
            ServerMessage::Event(event) => self.on_event(&event),
            ServerMessage::Events {
                match_id, events, ..
            } if self.match_state_mut(match_id).is_some() => {
                events.iter().for_each(|event| self.on_event(event));
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
            // The other messages do not concern the match of a run.
            _ => {}
        }
        self.stop_if_input_ended();
        self.take_effects()
    }

    /// Handles a line that the user typed.
    pub(crate) fn on_line(&mut self, line: &str) -> Vec<Effect> {
        let line = line.trim();
        if matches!(line.to_ascii_lowercase().as_str(), "quit" | "exit" | "q") {
            return self.quit();
        }
        match &mut self.stage {
            Stage::Connecting => self.print("Still connecting to the server; please wait."),
            Stage::AwaitingMatch { .. } => self.on_line_while_seeking(line),
            Stage::Prompting(..) => self.on_choice(line),
            Stage::InMatch(_) => self.run_command(line),
        }
        self.take_effects()
    }

    /// Handles the end of the input. An interactive run quits.
    pub(crate) fn on_end_of_input(&mut self) -> Vec<Effect> {
        if self.options.interactive {
            return self.quit();
        }
        self.input_has_ended = true;
        self.stop_if_input_ended();
        self.take_effects()
    }

    /// Ends the run if the input has ended and the session needs more input or an opponent. If a
    /// script ends while the opponent is to move, the run continues.
    fn stop_if_input_ended(&mut self) {
        if !self.input_has_ended || self.pending_request.is_some() {
            return;
        }
        match &self.stage {
            Stage::InMatch(table) if table.is_my_turn() => {
                let mut message = "the input ended on your turn".to_owned();
                if self.can_resume {
                    let command = self.join_command(&table.snapshot.code);
                    message = format!("{message}; resume with `{command}`");
                }
                self.end(Err(Failure::Failed(message)));
            }
            Stage::InMatch(table)
                if table.snapshot.status == MatchStatus::Open && table.snapshot.you.is_some() =>
            {
                self.print_error("the input ended before an opponent joined");
                self.leave_and_end();
            }
            Stage::AwaitingMatch { seek: Some(_), .. } => {
                self.print_error("the input ended before an opponent was found");
                self.leave_and_end();
            }
            _ => {}
        }
    }

    /// Quits the run at the user's request.
    pub(crate) fn quit(&mut self) -> Vec<Effect> {
        match self.take_final_result() {
            Some(result) => self.end(result),
            None => self.leave_and_end(),
        }
        self.take_effects()
    }

    /// Takes the result of a run that waits for a rematch or for rating changes.
    fn take_final_result(&mut self) -> Option<Result<(), Failure>> {
        let final_result = self.final_result.take();
        final_result.or_else(|| self.result_after_rating.take())
    }

    /// Returns whether the session can handle a line of input now. Lines of a script wait until it
    /// is the player's turn and no request is pending.
    pub(crate) fn accepts_line(&self) -> bool {
        self.options.interactive
            || self.pending_request.is_none()
                && self.match_state().is_some_and(MatchState::is_my_turn)
    }

    fn hello_request(&self) -> Request {
        Request {
            id: Some(HELLO_ID),
            message: ClientMessage::Hello(Box::new(Hello {
                protocol: Some(VERSION),
                name: self.options.name.clone(),
                token: self.token.clone(),
                label: Some(default_device_label()),
                ..Hello::default()
            })),
        }
    }

    /// Continues the current stage after `welcome` and all its snapshots have arrived.
    fn on_snapshots_complete(&mut self) {
        match &self.stage {
            Stage::Connecting => self.start_goal(),
            // The match to resume may have ended, so the goal starts again.
            Stage::Prompting(PromptKind::Resume(_), _) => self.start_goal(),
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
        let followed = welcome.following.iter();
        let live = followed.map(|followed| followed.match_id).collect();
        let name = sanitize(&welcome.player.name);
        self.effects
            .push(Effect::SaveIdentity(welcome.token.clone(), name, live));
        self.own_matches.clear();
        self.hello_tries = 0;
        // The server sends no snapshots of correspondence matches after `welcome`.
        let followed = welcome.following.iter();
        let live_matches = followed.filter(|followed| followed.correspondence.is_none());
        self.missing_snapshots = live_matches.count();
        let challenges = welcome.challenges.clone();
        if self.welcome.is_none() {
            let rows = welcome.following.iter();
            rows.for_each(|row| self.print_correspondence_match(row));
        }
        self.welcome = Some(welcome);
        self.challenges.clear();
        for challenge in challenges {
            self.on_challenge(challenge);
        }
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
            _ => {}
        }
    }

    /// Ends the run if its current match is the given match. The server no longer lets the user
    /// watch this match.
    fn on_watch_ended(&mut self, match_id: MatchId) {
        if self.match_state_mut(match_id).is_some() {
            let message = "you can no longer watch this match";
            self.end(Err(Failure::Refused(message.to_owned())));
        }
    }

    fn on_ok(&mut self, re: Option<RequestId>) {
        if re.is_none() || re != self.pending_request_id() {
            return;
        }
        match self.take_pending_message() {
            Some(ClientMessage::Leave { .. }) => self.on_seat_left(),
            Some(ClientMessage::Seek(_)) => self.print_seek_status(),
            Some(_) | None => {}
        }
    }

    /// Takes the message of the pending request. The session then no longer awaits its response.
    fn take_pending_message(&mut self) -> Option<ClientMessage> {
        let pending = self.pending_request.take();
        pending.map(|pending| pending.request.message)
    }

    /// Sends a request and tracks it until its response arrives.
    fn send_request(&mut self, message: ClientMessage) {
        let request = self.next_request(message);
        self.effects.push(Effect::Send(request.clone()));
        self.pending_request = Some(PendingRequest { request, tries: 0 });
    }

    /// Sends a request without tracking its response.
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

    /// Returns the state of the current match, if that match has the given id.
    fn match_state_mut(&mut self, id: MatchId) -> Option<&mut MatchState> {
        match &mut self.stage {
            Stage::InMatch(table) if table.snapshot.match_id == id => Some(table),
            _ => None,
        }
    }

    /// Returns the snapshot of the current match.
    fn snapshot(&self) -> Option<&Snapshot> {
        self.match_state().map(|table| &table.snapshot)
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
