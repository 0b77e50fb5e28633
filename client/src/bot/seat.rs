//! The match as an engine's seat sees it, as a state machine without I/O: messages of the server and
//! answers of the engine go in, effects come out.
//!
//! Every snapshot is a new beginning: whether to think, to send an answer again or to give up follows
//! from how the match stands, so a dropped connection is nothing special.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, ClockControl, CreateRequest, Ending, ErrorCode, FollowedMatch, GameSummary,
    Hello, MatchId, MatchRef, MatchStatus, Offer, OfferKind, OfferState, Ply, RematchState,
    Request, RequestId, SeatRequest, ServerMessage, Snapshot, Token, VERSION, Welcome, WireError,
};

use super::turn::{Times, Turn};
use crate::args::SideChoice;
use crate::exit::Failure;
use crate::match_state::{ApplyResult, MatchState};
use crate::sanitize::sanitize;

/// How long to wait before a request is sent again that may succeed later.
const PAUSE: Duration = Duration::from_millis(500);

/// Behind by so much, in hundredths of a pawn, an engine takes a draw.
const BEHIND: i64 = -50;

/// How long a rematch can be offered.
const REMATCH: Duration = Duration::from_mins(10);

/// What is to be played, and as whom.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) goal: Goal,
    /// The one game that is wanted.
    pub(super) game: Option<String>,
    pub(super) name: Option<String>,
    /// The key by which the program plays, if it has one.
    pub(super) key: Option<Token>,
    /// The clock of a new match.
    pub(super) clock: Option<ClockControl>,
    /// How many matches are to be played.
    pub(super) games: u32,
}

/// Where a seat comes from.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    /// From this match.
    Join(String),
    /// From a new one.
    Create {
        side: Option<SideChoice>,
        /// The level of the bot in the other seat.
        against: Option<String>,
        /// The position with which it is to begin.
        position: Option<String>,
    },
}

/// What is to be done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Send a request. It may be lost with the connection.
    Send(Request),
    /// Send a request after a pause.
    SendAfter(Duration, Request),
    /// Tell what happens.
    Say(String),
    /// Tell what is wrong.
    Complain(String),
    /// Start an engine for this game, with this clock.
    Start(GameSummary, Option<ClockControl>),
    /// Have the engine find a move.
    Think(Turn),
    /// Stop.
    End(Result<(), Failure>),
}

/// How far it has come.
#[derive(Clone, Debug)]
enum Stage {
    /// The match is being looked at, to learn what is played.
    Looking,
    /// The engine is being started.
    Starting,
    /// The seat has been asked for.
    Asking,
    /// In the seat.
    Playing(Box<MatchState>),
}

/// A place in a match at which a move is to be made. After a takeback the same ply is another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    match_id: MatchId,
    ply: Ply,
    takebacks: u64,
}

impl Place {
    const fn of(now: &Snapshot) -> Self {
        Self {
            match_id: now.match_id,
            ply: now.ply,
            takebacks: now.takebacks,
        }
    }
}

/// An answer of the engine, and whether the server has been told over this connection.
#[derive(Clone, Debug)]
struct Answered {
    place: Place,
    m: String,
    is_sent: bool,
}

/// A seat.
#[derive(Debug)]
pub(super) struct Seat {
    wanted: Wanted,
    token: Option<Token>,
    /// The matches that other processes play by the same key.
    others: Vec<MatchId>,
    games: Vec<GameSummary>,
    stage: Stage,
    /// What the engine thinks about.
    thinking: Option<Place>,
    answered: Option<Answered>,
    /// What the engine thought of its position when it moved last, in hundredths of a pawn.
    worth: Option<i64>,
    /// How long a request takes to the server and back, as far as that is known.
    round_trip: Duration,
    /// The offer of the other's that was answered last, by its event.
    offer_answered: Option<OfferState>,
    /// How many matches have ended, and which was the last.
    played: u32,
    last_ended: Option<MatchId>,
    /// Why the match is to be resigned; and how this run then ends.
    giving_up: Option<Result<(), Failure>>,
    next_id: u64,
    /// The last request that waits for its answer.
    pending: Option<Request>,
}

impl Seat {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            token: wanted.key.clone(),
            wanted,
            others: Vec::new(),
            games: Vec::new(),
            stage: Stage::Looking,
            thinking: None,
            answered: None,
            worth: None,
            round_trip: Duration::ZERO,
            offer_answered: None,
            played: 0,
            last_ended: None,
            giving_up: None,
            next_id: 0,
            pending: None,
        }
    }

    /// A connection stands.
    pub(super) fn connected(&mut self) -> Vec<Effect> {
        self.pending = None;
        vec![self.ask(ClientMessage::Hello(Box::new(Hello {
            protocol: Some(VERSION),
            name: self.wanted.name.clone(),
            token: self.token.clone(),
            // One key may be that of many processes.
            keep_connections: self.wanted.key.as_ref().map(|_| true),
            ..Hello::default()
        })))]
    }

    /// Takes in a message of the server.
    pub(super) fn receive(&mut self, message: ServerMessage) -> Vec<Effect> {
        if message.re().is_some()
            && message.re() == self.pending.as_ref().and_then(|p| p.id)
            && !matches!(message, ServerMessage::Error(_))
        {
            self.pending = None;
        }
        match message {
            ServerMessage::Welcome(welcome) => self.greeted(*welcome),
            // One of those that nobody has asked for here.
            ServerMessage::Match(other)
                if other.re.is_none() && self.others.contains(&other.match_id) =>
            {
                Vec::new()
            }
            ServerMessage::Match(snapshot) => self.shown(*snapshot),
            ServerMessage::Event(event) => {
                let Stage::Playing(table) = &mut self.stage else {
                    return Vec::new();
                };
                if event.match_id() != table.snapshot.match_id {
                    return Vec::new();
                }
                match table.apply(&event) {
                    ApplyResult::Duplicate => Vec::new(),
                    ApplyResult::Applied => self.go_on(),
                    ApplyResult::Gap => self.look_again(),
                }
            }
            ServerMessage::Error(error) => self.refused(&error),
            ServerMessage::Clock { match_id, clock } => {
                if let Stage::Playing(table) = &mut self.stage
                    && table.snapshot.match_id == match_id
                {
                    table.update_clock(clock, Duration::ZERO);
                }
                Vec::new()
            }
            ServerMessage::Rematch { match_id, rematch } => self.rematch(match_id, rematch),
            ServerMessage::Events { .. }
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
            | ServerMessage::Presence { .. }
            | ServerMessage::Chat { .. }
            | ServerMessage::YourTurn { .. }
            | ServerMessage::Challenge(_)
            | ServerMessage::ChallengeEnded { .. }
            | ServerMessage::WatchEnded { .. }
            | ServerMessage::ListChanged { .. }
            | ServerMessage::Seekers(_) => Vec::new(),
        }
    }

    /// The server knows who this is.
    fn greeted(&mut self, welcome: Welcome) -> Vec<Effect> {
        let had_seat = self.token.replace(welcome.token.clone()).is_some()
            && matches!(self.stage, Stage::Playing(_));
        if matches!(self.stage, Stage::Looking) {
            let following = welcome.following.iter();
            self.others = following.map(|followed| followed.match_id).collect();
        }
        let is_own = |followed: &&FollowedMatch| {
            followed.you.is_some() && !self.others.contains(&followed.match_id)
        };
        let seated = welcome.following.iter().find(is_own).cloned();
        self.games = welcome.games;
        if had_seat && !welcome.resumed {
            let what = "the server no longer knows this player; the match goes on without it";
            return end(Failure::Failed(what.to_owned()));
        }
        self.welcomed(seated)
    }

    /// The engine is ready.
    pub(super) fn ready(&mut self) -> Vec<Effect> {
        self.stage = Stage::Asking;
        self.ask_for_seat()
    }

    /// The engine plays this move.
    pub(super) fn play(&mut self, m: &str, worth: Option<i64>) -> Vec<Effect> {
        self.worth = worth;
        if let Some(place) = self.thinking.take() {
            self.answered = Some(Answered {
                place,
                m: m.to_owned(),
                is_sent: false,
            });
        }
        self.go_on()
    }

    /// The engine gives up.
    pub(super) fn resign(&mut self) -> Vec<Effect> {
        self.thinking = None;
        self.giving_up = Some(Ok(()));
        self.go_on()
    }

    /// There is no engine any more, for this reason.
    pub(super) fn give_up(&mut self, why: &str) -> Vec<Effect> {
        self.thinking = None;
        if !matches!(self.stage, Stage::Playing(_)) {
            return end(Failure::Failed(why.to_owned()));
        }
        self.giving_up = Some(Err(Failure::Failed(format!("resigned: {why}"))));
        self.go_on()
    }

    /// The user wants to stop: resigns first, and leaves when asked again.
    pub(super) fn stop(&mut self) -> Vec<Effect> {
        match &self.stage {
            Stage::Playing(table)
                if table.snapshot.status == MatchStatus::Running && self.giving_up.is_none() =>
            {
                self.giving_up = Some(Err(Failure::Stopped));
                self.go_on()
            }
            Stage::Playing(table) => {
                let target = table.snapshot.match_id.into();
                let leave = self.ask(ClientMessage::Leave { target });
                vec![leave, Effect::End(Err(Failure::Stopped))]
            }
            Stage::Looking | Stage::Starting | Stage::Asking => end(Failure::Stopped),
        }
    }

    fn ask(&mut self, message: ClientMessage) -> Effect {
        let request = self.number(message);
        self.pending = Some(request.clone());
        Effect::Send(request)
    }

    fn welcomed(&mut self, seated: Option<FollowedMatch>) -> Vec<Effect> {
        match (&self.stage, &self.wanted.goal) {
            (Stage::Looking, Goal::Join(target)) => {
                let target = MatchRef::from(&**target);
                vec![self.ask(ClientMessage::Watch { target })]
            }
            (Stage::Looking, Goal::Create { .. }) => {
                let game = self.wanted.game.clone().unwrap_or_default();
                self.start(&game, self.wanted.clock)
            }
            (Stage::Starting, _) => Vec::new(),
            // What was asked has been done, and is about to be shown; if it is a match of days, not by
            // itself.
            (Stage::Asking, _) => match seated {
                Some(seated) if seated.correspondence.is_none() => Vec::new(),
                Some(seated) => {
                    let target = seated.match_id.into();
                    vec![self.ask(ClientMessage::Watch { target })]
                }
                None => self.ask_for_seat(),
            },
            // A match that has ended meanwhile is not shown by itself.
            (Stage::Playing(_), _) => self.look_again(),
        }
    }

    fn look_again(&mut self) -> Vec<Effect> {
        let Stage::Playing(table) = &self.stage else {
            return Vec::new();
        };
        let target = table.snapshot.match_id.into();
        vec![self.ask(ClientMessage::Watch { target })]
    }

    /// Has an engine started for a game that the server has.
    fn start(&mut self, id: &str, clock: Option<ClockControl>) -> Vec<Effect> {
        let Some(game) = self.games.iter().find(|game| game.game == id).cloned() else {
            return end(Failure::Refused(format!(
                "the server has no game {}",
                sanitize(id)
            )));
        };
        self.stage = Stage::Starting;
        vec![Effect::Start(game, clock)]
    }

    fn ask_for_seat(&mut self) -> Vec<Effect> {
        let message = match &self.wanted.goal {
            Goal::Join(target) => ClientMessage::Join {
                target: MatchRef::from(&**target),
                seat: None,
            },
            Goal::Create {
                side,
                against,
                position,
            } => {
                let other = against.clone().map_or(SeatRequest::Open, SeatRequest::Bot);
                let mut seats = [SeatRequest::Me, other];
                if *side == Some(SideChoice::Second) {
                    seats.reverse();
                }
                ClientMessage::Create(Box::new(CreateRequest {
                    game: self.wanted.game.clone().unwrap_or_default(),
                    seats: Some(seats),
                    shuffle: Some(*side == Some(SideChoice::Random)),
                    clock: self.wanted.clock,
                    position: position.clone(),
                    ..CreateRequest::default()
                }))
            }
        };
        vec![self.ask(message)]
    }

    /// Takes in a match as it stands.
    fn shown(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        match &self.stage {
            Stage::Looking => {
                if let Some(game) = self
                    .wanted
                    .game
                    .as_ref()
                    .filter(|game| **game != snapshot.game)
                {
                    let what = format!(
                        "the match is one of {}, not of {}",
                        sanitize(&snapshot.game),
                        sanitize(game)
                    );
                    return end(Failure::Refused(what));
                }
                self.start(&snapshot.game, snapshot.clock)
            }
            // Followed, and not sat down yet.
            Stage::Starting => Vec::new(),
            Stage::Asking if snapshot.you.is_none() => Vec::new(),
            Stage::Asking => {
                let mut effects = vec![Effect::Say(introduction(&snapshot))];
                effects.extend(self.seated(snapshot));
                effects
            }
            Stage::Playing(table) if table.snapshot.match_id == snapshot.match_id => {
                let is_late = self.last_ended == Some(snapshot.match_id);
                if is_late {
                    return vec![Effect::End(Ok(()))];
                }
                self.seated(snapshot)
            }
            // The rematch.
            Stage::Playing(table) if is_next(&table.snapshot, snapshot.match_id) => {
                self.offer_answered = None;
                self.worth = None;
                let mut effects = vec![Effect::Say(introduction(&snapshot))];
                effects.extend(self.seated(snapshot));
                effects
            }
            Stage::Playing(_) => Vec::new(),
        }
    }

    fn seated(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        self.stage = Stage::Playing(Box::new(MatchState::new(snapshot)));
        // What was sent may have been lost; sent twice it is played once.
        if let Some(answered) = &mut self.answered {
            answered.is_sent = false;
        }
        self.go_on()
    }

    /// Does what follows from how the match stands.
    fn go_on(&mut self) -> Vec<Effect> {
        let Stage::Playing(table) = &self.stage else {
            return Vec::new();
        };
        let now = &table.snapshot;
        let target = now.match_id.into();
        if now.status == MatchStatus::Ended {
            return self.over();
        }
        if now.status != MatchStatus::Running {
            return match self.giving_up.take() {
                Some(result) => vec![
                    self.ask(ClientMessage::Leave { target }),
                    Effect::End(result),
                ],
                None => Vec::new(),
            };
        }
        if self.giving_up.is_some() {
            return vec![self.ask(ClientMessage::Resign { target })];
        }
        if let Some(offer) = self.offer_to_answer() {
            return self.answer_offer(&offer);
        }
        if !table.is_my_turn() || self.thinking.is_some() {
            return Vec::new();
        }
        let place = Place::of(now);
        match &mut self.answered {
            Some(answered) if answered.place == place => {
                if answered.is_sent {
                    return Vec::new();
                }
                answered.is_sent = true;
                let m = answered.m.clone();
                vec![self.ask(ClientMessage::Move {
                    target,
                    ply: place.ply,
                    m,
                    takebacks: Some(place.takebacks),
                })]
            }
            Some(_) | None => {
                let turn = Turn {
                    start: now.initial_position.clone(),
                    moves: now.moves.clone(),
                    times: Times::of(now, self.round_trip),
                };
                self.thinking = Some(place);
                vec![Effect::Think(turn)]
            }
        }
    }

    /// The match is over: that is told once, and a rematch waited for if more are to be played.
    fn over(&mut self) -> Vec<Effect> {
        let Stage::Playing(table) = &self.stage else {
            return Vec::new();
        };
        let (id, now) = (table.snapshot.match_id, &table.snapshot);
        if self.last_ended.replace(id) == Some(id) {
            return Vec::new();
        }
        let told = now
            .outcome
            .as_ref()
            .map(|outcome| Effect::Say(told(now, outcome)));
        let mut effects: Vec<Effect> = told.into_iter().collect();
        self.played += 1;
        match self.giving_up.take() {
            // When the time for it is over, the answer ends the waiting.
            None if self.played < self.wanted.games => {
                let look = self.number(ClientMessage::Watch { target: id.into() });
                effects.push(Effect::SendAfter(REMATCH, look));
            }
            result => effects.push(Effect::End(result.unwrap_or(Ok(())))),
        }
        effects
    }

    /// A request takes so long to the server and back.
    pub(super) const fn takes(&mut self, round_trip: Duration) {
        self.round_trip = round_trip;
    }

    /// The other's offer that stands and has not been answered yet.
    fn offer_to_answer(&self) -> Option<OfferState> {
        let Stage::Playing(table) = &self.stage else {
            return None;
        };
        let other = table.snapshot.you?.other();
        let mut offers = table.snapshot.offers.iter().copied();
        offers.find(|offer| offer.seat == other && self.offer_answered != Some(*offer))
    }

    /// Takes moves back, and a draw where the engine was behind.
    fn answer_offer(&mut self, offer: &OfferState) -> Vec<Effect> {
        let Stage::Playing(table) = &self.stage else {
            return Vec::new();
        };
        let (target, ply) = (table.snapshot.match_id.into(), table.snapshot.ply);
        self.offer_answered = Some(*offer);
        let is_behind = self.worth.is_some_and(|worth| worth <= BEHIND);
        let message = match offer.offer {
            OfferKind::Draw if is_behind => {
                let offer = Offer::Draw { ply };
                ClientMessage::Offer { target, offer }
            }
            OfferKind::Takeback => {
                let offer = Offer::Takeback { ply, to_ply: None };
                ClientMessage::Offer { target, offer }
            }
            OfferKind::Draw | OfferKind::Rematch | OfferKind::Challenge => {
                let offer = offer.offer;
                ClientMessage::Decline { target, offer }
            }
        };
        let answer = self.tell(message);
        // The match goes on meanwhile.
        let mut effects = vec![answer];
        effects.extend(self.go_on());
        effects
    }

    /// Accepts a rematch, if more matches are to be played.
    fn rematch(&mut self, id: MatchId, rematch: RematchState) -> Vec<Effect> {
        let Stage::Playing(table) = &mut self.stage else {
            return Vec::new();
        };
        if table.snapshot.match_id != id {
            return Vec::new();
        }
        let Some(you) = table.snapshot.you else {
            return Vec::new();
        };
        let (me, other) = (you.index(), you.other().index());
        if !rematch.present[other] && rematch.next.is_none() && self.last_ended == Some(id) {
            return vec![Effect::End(Ok(()))];
        }
        let wants = rematch.offers[other] && !rematch.offers[me] && rematch.next.is_none();
        table.replace_rematch(rematch);
        if !wants || self.played >= self.wanted.games {
            return Vec::new();
        }
        let (target, offer) = (id.into(), Offer::Rematch);
        vec![self.tell(ClientMessage::Offer { target, offer })]
    }

    /// Sends a request that nothing depends on.
    fn tell(&mut self, message: ClientMessage) -> Effect {
        Effect::Send(self.number(message))
    }

    const fn number(&mut self, message: ClientMessage) -> Request {
        self.next_id += 1;
        Request {
            id: Some(RequestId(self.next_id)),
            message,
        }
    }

    /// Takes in that a request was turned down.
    fn refused(&mut self, error: &WireError) -> Vec<Effect> {
        let pending = self.pending.take_if(|pending| pending.id == error.re);
        let Some(request) = pending else {
            return Vec::new();
        };
        if error.retryable {
            self.pending = Some(request.clone());
            let pause = error.retry_after_ms.map(Duration::from_millis);
            return vec![Effect::SendAfter(pause.unwrap_or(PAUSE), request)];
        }
        let why = sanitize(&error.message);
        match (&request.message, error.code) {
            (
                ClientMessage::Move { m, .. },
                Some(ErrorCode::IllegalMove | ErrorCode::UnreadableMove),
            ) => {
                let what = format!("the program plays {}: {why}", sanitize(m));
                self.give_up(&what)
            }
            // The match has gone on, or is over.
            (ClientMessage::Move { .. } | ClientMessage::Resign { .. }, _) => self.look_again(),
            // Whose seat it is already has been shown it by the welcome.
            (ClientMessage::Join { target, .. }, Some(ErrorCode::AlreadySeated)) => {
                let target = *target;
                vec![self.ask(ClientMessage::Watch { target })]
            }
            _ => end(Failure::Refused(why)),
        }
    }
}

/// Whether this is the match after the other.
fn is_next(now: &Snapshot, id: MatchId) -> bool {
    let next = now
        .rematch
        .as_ref()
        .and_then(|rematch| rematch.next.as_ref());
    next.is_some_and(|next| next.match_id == id)
}

fn end(failure: Failure) -> Vec<Effect> {
    vec![Effect::End(Err(failure))]
}

/// What is played, where, and on which side.
fn introduction(now: &Snapshot) -> String {
    let side = now.you.map(|you| sanitize(&now.seats[you.index()].side));
    format!(
        "{} in {}, playing {}",
        sanitize(&now.game),
        sanitize(&now.code),
        side.unwrap_or_default()
    )
}

/// How the match ended, for the user who runs the engine.
fn told(now: &Snapshot, outcome: &Ending) -> String {
    let result = match outcome.winner {
        None => "drawn",
        winner if winner == now.you => "won",
        Some(_) => "lost",
    };
    let reason = serde_json::to_value(outcome.reason);
    let reason = reason
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned));
    let why = outcome.detail.clone().or(reason).unwrap_or_default();
    format!("{result} after {} plies: {}", now.ply.0, sanitize(&why))
}

#[cfg(test)]
mod tests;
