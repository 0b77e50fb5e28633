//! One run of `ply play`, `ply join` or `ply watch` as a state machine: messages of the server and
//! lines of the person go in, effects come out. It does no I/O and reads no clock, so every turn
//! of events can be tested on text.
//!
//! A dropped connection is nothing special here: `hello` is said again, the server sends its
//! snapshots, and the stage that was reached goes on from them. Whatever was asked and not
//! answered is asked again if the snapshots do not show it done.

pub(crate) mod help;
mod menu;
mod offers;
mod opening;
mod playing;
mod questions;
mod rating;
mod refusals;
mod rematch;
#[cfg(test)]
mod tests;
mod waiting;
mod words;

use std::time::Duration;

use plyhouse_protocol::{
    Challenge, ClientMessage, ClockControl, GameSummary, Hello, MatchId, MatchStatus, Request,
    RequestId, ServerMessage, Snapshot, SpectatorAccess, Token, VERSION, Welcome,
};

use crate::args::SideChoice;
use crate::device::device;
use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::identity::SeatNote;
use crate::table::Table;
use crate::view;
use menu::Menu;
use questions::Question;

/// The number of every `hello`; other requests count on from it.
const HELLO: RequestId = RequestId(0);

/// How long the answer to a farewell is waited for.
const FAREWELL: Duration = Duration::from_secs(2);

/// What this run is for.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// To play, as far as it was said what and against whom.
    Play(Plan),
    /// To sit down in this match.
    Join(String),
    /// To look on.
    Watch(String),
    /// To see two bots play.
    Exhibit {
        /// What they play.
        game: String,
        /// How strongly.
        levels: [String; 2],
        /// The least time between two moves.
        pace_ms: u64,
        /// The position with which it is to begin.
        position: Option<String>,
    },
}

/// What a new match is to be beside its game and its seats; what is left out is as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The clock.
    pub(crate) clock: Option<ClockControl>,
    /// How long a player may be absent.
    pub(crate) patience_ms: Option<u64>,
    /// The level of the bot that takes the seat of whoever has gone.
    pub(crate) stand_in: Option<String>,
    /// The player who alone may take the open seat, by the public id.
    pub(crate) invited: Option<String>,
    /// So much later those see it who look on.
    pub(crate) delay_ms: Option<u64>,
    /// Who may watch it.
    pub(crate) watch: Option<SpectatorAccess>,
    /// Whether moves may be taken back.
    pub(crate) takeback: Option<bool>,
    /// Whether it counts for ratings.
    pub(crate) rated: Option<bool>,
    /// Whether what the bot thinks is to be told.
    pub(crate) thinking: Option<bool>,
    /// The position with which it is to begin.
    pub(crate) position: Option<String>,
}

/// What to play; whatever is missing is asked, or left at its default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The game.
    pub(crate) game: Option<String>,
    /// Against whom.
    pub(crate) opponent: Option<Opponent>,
    /// The seat.
    pub(crate) side: Option<SideChoice>,
    /// All else.
    pub(crate) terms: Terms,
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
    Say(String),
    /// Tell the person what went wrong.
    Complain(String),
    /// Keep the identity, and of its matches only these.
    Keep(Token, String, Vec<MatchId>),
    /// Note that the player sits in a match.
    Sat(SeatNote),
    /// Note that the player sits in a match no more.
    Left(MatchId),
    /// Stop after this time at the latest.
    StopWithin(Duration),
    /// Come to this result after this time at the latest.
    EndWithin(Duration, Result<(), Failure>),
    /// Do not stop by then.
    GoOn,
    /// Stop.
    End(Result<(), Failure>),
}

/// One run, from the welcome to the end of the match.
#[derive(Debug)]
pub(crate) struct Session {
    goal: Goal,
    /// Whether a person sits there who can be asked.
    interactive: bool,
    /// What has to be added to a command so that it speaks to the same server.
    server_option: String,
    /// Where browsers find the server, if that is known.
    page: Option<String>,
    name: Option<String>,
    token: Option<Token>,
    welcome: Option<Welcome>,
    /// The player's own live matches, as the last welcome brought them.
    mine: Vec<Snapshot>,
    /// How many of them are still to come.
    awaited: usize,
    stage: Stage,
    pending: Option<Pending>,
    /// Who wants to play the player.
    challenges: Vec<Challenge>,
    /// What this run comes to if there is no rematch.
    over: Option<Result<(), Failure>>,
    /// What this run comes to once it is told what the match has changed.
    unrated: Option<Result<(), Failure>>,
    /// The time, since whenever the run began.
    now: Duration,
    /// Whether a later run will find the player again.
    can_return: bool,
    /// How wide the terminal is, if it is one.
    columns: Option<usize>,
    /// Whether the board and whose turn it is are seen all the time, so that they need not be said.
    board_in_sight: bool,
    /// Whether it was said what can be typed.
    taught: bool,
    /// Whether no line will come any more, of a script.
    input_has_ended: bool,
    /// Whether a spectator wants to see the rematches, too.
    watches_series: bool,
    /// How often `hello` was put off since the last welcome.
    hello_tries: u32,
    next_id: u64,
    out: Vec<Effect>,
}

#[derive(Debug)]
enum Stage {
    /// Not welcomed yet.
    Arriving,
    /// The person has a question to answer.
    Asking(Question, Menu),
    /// A match was asked for. Matches that were there before are not it.
    Opening {
        before: Vec<MatchId>,
        seek: Option<ClientMessage>,
    },
    /// At a match.
    AtTable(Box<Table>),
}

/// The one request that waits for its answer.
#[derive(Clone, Debug)]
struct Pending {
    request: Request,
    tries: u32,
}

impl Session {
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
            page: None,
            name,
            token,
            welcome: None,
            mine: Vec::new(),
            awaited: 0,
            stage: Stage::Arriving,
            pending: None,
            challenges: Vec::new(),
            over: None,
            unrated: None,
            now: Duration::ZERO,
            can_return: true,
            columns: None,
            board_in_sight: false,
            taught: false,
            input_has_ended: false,
            watches_series: false,
            hello_tries: 0,
            next_id: HELLO.0 + 1,
            out: Vec::new(),
        }
    }

    /// Browsers find the server here.
    pub(crate) fn with_page(mut self, page: Option<String>) -> Self {
        self.page = page;
        self
    }

    /// A spectator goes on with the rematches.
    pub(crate) const fn watching_series(mut self, watches_series: bool) -> Self {
        self.watches_series = watches_series;
        self
    }

    /// Board and turn are seen all the time, and not told.
    pub(crate) const fn with_board_in_sight(mut self, board_in_sight: bool) -> Self {
        self.board_in_sight = board_in_sight;
        self
    }

    /// Boards are to be drawn for a terminal of this width from now on.
    pub(crate) const fn fit(&mut self, columns: Option<usize>) {
        self.columns = columns;
    }

    /// It is this late, by a clock that began with the run.
    pub(crate) const fn at(&mut self, now: Duration) {
        self.now = now;
    }

    /// What runs down at the match, in one line, and when that looks otherwise.
    pub(crate) fn live(&self) -> Option<view::Live> {
        let table = self.table()?;
        let since = self.now.saturating_sub(table.told_at);
        let live = view::live(&table.now, since, table.gone(self.now))?;
        let text = view::within(&live.text, self.columns);
        Some(view::Live { text, ..live })
    }

    /// The match as a full screen shows it.
    pub(crate) fn scene(&self) -> Option<view::Scene> {
        let table = self.table()?;
        Some(view::Scene {
            now: table.now.clone(),
            game: self.game(&table.now.game).cloned(),
            since: self.since(),
            gone: table.gone(self.now),
        })
    }

    /// The identity could not be kept: the seat is gone with this run.
    pub(crate) const fn cannot_return(&mut self) {
        self.can_return = false;
    }

    /// The connection stands, for the first time or again.
    pub(crate) fn connected(&mut self) -> Vec<Effect> {
        let hello = self.hello();
        self.out.push(Effect::Send(hello));
        self.effects()
    }

    /// Takes in what the server says.
    pub(crate) fn receive(&mut self, message: ServerMessage) -> Vec<Effect> {
        match message {
            ServerMessage::Welcome(welcome) => self.welcomed(*welcome),
            ServerMessage::Match(snapshot) => self.snapshot(*snapshot),
            ServerMessage::Event(event) => self.event(&event),
            ServerMessage::Events {
                match_id, events, ..
            } => {
                if self
                    .table()
                    .is_some_and(|table| table.now.match_id == match_id)
                {
                    events.iter().for_each(|event| self.event(event));
                }
            }
            ServerMessage::Presence {
                match_id,
                seats,
                absence_remaining_ms,
                spectators,
            } => self.presence(match_id, seats, absence_remaining_ms, spectators),
            ServerMessage::Clock { match_id, clock } => {
                let now = self.now;
                if let Some(table) = self.table_of(match_id) {
                    table.clock(clock, now);
                }
            }
            ServerMessage::Rating {
                match_id,
                changes,
                reason: why,
            } => self.rated(match_id, &changes, why),
            ServerMessage::Chat { match_id, entry } => self.heard(match_id, &entry),
            ServerMessage::Rematch { match_id, rematch } => self.rematch_told(match_id, rematch),
            ServerMessage::YourTurn {
                match_id,
                game,
                deadline_ms: due_ms,
                ..
            } => self.your_turn(match_id, &game, due_ms),
            ServerMessage::Challenge(challenge) => self.challenged(*challenge),
            ServerMessage::ChallengeEnded { match_id } => {
                self.challenges
                    .retain(|challenge| challenge.match_id != match_id);
            }
            ServerMessage::WatchEnded { match_id } => self.shown_out(match_id),
            ServerMessage::Hint(hint) => self.hinted(&hint),
            ServerMessage::Thinking(thought) => self.thinks(&thought),
            ServerMessage::Ok { re, .. } => self.done(re),
            ServerMessage::Error(error) => self.refused(&error),
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
        self.stop_without_input();
        self.effects()
    }

    /// Takes in what the person typed.
    pub(crate) fn line(&mut self, line: &str) -> Vec<Effect> {
        let line = line.trim();
        if matches!(line.to_ascii_lowercase().as_str(), "quit" | "exit" | "q") {
            return self.quit();
        }
        match &mut self.stage {
            Stage::Arriving => self.say("One moment: the server has not answered yet."),
            Stage::Opening { .. } => self.line_while_looking(line),
            Stage::Asking(..) => self.answer(line),
            Stage::AtTable(_) => self.command(line),
        }
        self.effects()
    }

    /// No line will come any more.
    pub(crate) fn end_of_input(&mut self) -> Vec<Effect> {
        if self.interactive {
            return self.quit();
        }
        self.input_has_ended = true;
        self.stop_without_input();
        self.effects()
    }

    /// Stops where nothing more can be done without a line of input. A script that has said all it has
    /// to say sees a match to its end, but does not wait for one to begin.
    fn stop_without_input(&mut self) {
        if !self.input_has_ended || self.pending.is_some() {
            return;
        }
        match &self.stage {
            Stage::AtTable(table) if table.my_turn() => {
                let mut what = "the input has ended and it is your turn".to_owned();
                if self.can_return {
                    what = format!("{what}; go on with `{}`", self.join_command());
                }
                self.end(Err(Failure::Failed(what)));
            }
            Stage::AtTable(table)
                if table.now.status == MatchStatus::Open && table.now.you.is_some() =>
            {
                self.complain("the input has ended and nobody has sat down");
                self.farewell();
            }
            Stage::Opening { seek: Some(_), .. } => {
                self.complain("the input has ended and nobody has come");
                self.farewell();
            }
            Stage::AtTable(_) | Stage::Arriving | Stage::Opening { .. } | Stage::Asking(..) => {}
        }
    }

    /// The person wants to stop.
    pub(crate) fn quit(&mut self) -> Vec<Effect> {
        match self.over.take().or_else(|| self.unrated.take()) {
            Some(result) => self.end(result),
            None => self.farewell(),
        }
        self.effects()
    }

    /// Whether a line of the input can be used now. Input that is no person waits for its turn.
    pub(crate) fn wants_line(&self) -> bool {
        self.interactive || self.pending.is_none() && self.table().is_some_and(Table::my_turn)
    }

    fn hello(&self) -> Request {
        Request {
            id: Some(HELLO),
            message: ClientMessage::Hello(Box::new(Hello {
                protocol: Some(VERSION),
                name: self.name.clone(),
                token: self.token.clone(),
                label: Some(device()),
                ..Hello::default()
            })),
        }
    }

    /// The welcome and the snapshots that belong to it are complete: on with it.
    fn settled(&mut self) {
        match &self.stage {
            Stage::Arriving => self.begin(),
            Stage::Asking(Question::Resume(_), _) => self.begin(), // It may have ended meanwhile.
            Stage::Asking(_, menu) => {
                let text = menu.text();
                self.say(text);
            }
            Stage::Opening { .. } => self.reopen(),
            Stage::AtTable(_) => self.back_at_table(),
        }
    }

    fn welcomed(&mut self, welcome: Welcome) {
        self.token = Some(welcome.token.clone());
        let live = welcome
            .following
            .iter()
            .map(|followed| followed.match_id)
            .collect();
        let name = sanitize(&welcome.player.name);
        self.out
            .push(Effect::Keep(welcome.token.clone(), name, live));
        self.mine.clear();
        self.hello_tries = 0;
        // Of matches of days no snapshot comes.
        let followed = welcome
            .following
            .iter()
            .filter(|followed| followed.correspondence.is_none());
        self.awaited = followed.count();
        let challenges = welcome.challenges.clone();
        if self.welcome.is_none() {
            let rows = welcome.following.iter();
            rows.for_each(|row| self.plays_over_days(row));
        }
        self.welcome = Some(welcome);
        self.challenges.clear();
        challenges
            .into_iter()
            .for_each(|challenge| self.challenged(challenge));
        if self.awaited == 0 {
            self.settled();
        }
    }

    fn snapshot(&mut self, snapshot: Snapshot) {
        let answers = snapshot.re.is_some() && snapshot.re == self.pending_id();
        if answers {
            self.pending = None;
            self.seat_at(snapshot);
            return;
        }
        if self.awaited > 0 && snapshot.re.is_none() {
            self.awaited -= 1;
            self.mine.push(snapshot);
            if self.awaited == 0 {
                self.settled();
            }
            return;
        }
        match &self.stage {
            Stage::Opening { seek: Some(_), .. } if snapshot.re.is_none() => self.seat_at(snapshot),
            Stage::AtTable(table)
                if table.now.match_id == snapshot.match_id
                    || rematch::next_of(&table.now) == Some(snapshot.match_id) =>
            {
                self.seat_at(snapshot);
            }
            Stage::AtTable(_) | Stage::Opening { .. } | Stage::Asking(..) | Stage::Arriving => {}
        }
    }

    /// A match that was watched has begun, and is the players' own business from then on.
    fn shown_out(&mut self, match_id: MatchId) {
        if self.table_of(match_id).is_some() {
            let why = "the match has begun, and nobody but its players may watch it";
            self.end(Err(Failure::Refused(why.to_owned())));
        }
    }

    fn done(&mut self, re: Option<RequestId>) {
        if re.is_none() || re != self.pending_id() {
            return;
        }
        match self.pending.take().map(|pending| pending.request.message) {
            Some(ClientMessage::Leave { .. }) => self.left(),
            Some(ClientMessage::Seek(_)) => self.say_looking(),
            Some(_) | None => {}
        }
    }

    /// Sends a request whose answer is waited for.
    fn ask(&mut self, message: ClientMessage) {
        let request = self.number(message);
        self.out.push(Effect::Send(request.clone()));
        self.pending = Some(Pending { request, tries: 0 });
    }

    /// Sends a request whose answer needs no waiting.
    fn tell(&mut self, message: ClientMessage) {
        let request = self.number(message);
        self.out.push(Effect::Send(request));
    }

    const fn number(&mut self, message: ClientMessage) -> Request {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        Request {
            id: Some(id),
            message,
        }
    }

    fn pending_id(&self) -> Option<RequestId> {
        self.pending.as_ref().and_then(|pending| pending.request.id)
    }

    fn table(&self) -> Option<&Table> {
        match &self.stage {
            Stage::AtTable(table) => Some(table),
            Stage::Arriving | Stage::Asking(..) | Stage::Opening { .. } => None,
        }
    }

    /// The table, if this match is played there.
    fn table_of(&mut self, id: MatchId) -> Option<&mut Table> {
        match &mut self.stage {
            Stage::AtTable(table) if table.now.match_id == id => Some(table),
            Stage::AtTable(_) | Stage::Arriving | Stage::Asking(..) | Stage::Opening { .. } => None,
        }
    }

    fn game(&self, game: &str) -> Option<&GameSummary> {
        let welcome = self.welcome.as_ref()?;
        welcome.games.iter().find(|summary| summary.game == game)
    }

    fn say(&mut self, text: impl Into<String>) {
        self.out.push(Effect::Say(text.into()));
    }

    fn complain(&mut self, text: &str) {
        self.out.push(Effect::Complain(text.to_owned()));
    }

    fn end(&mut self, result: Result<(), Failure>) {
        self.out.push(Effect::End(result));
    }

    fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }
}
