//! State machine of an engine's seat in a match. The state machine performs no I/O. It takes server
//! messages and engine decisions as input and returns effects.
//!
//! After each snapshot, the seat chooses its next action from the state of the match alone. The
//! action can be to start a search, to send a move again or to resign. After a reconnect, the new
//! snapshot is therefore enough to continue the match.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, ClockControl, CreateRequest, EndReason, Ending, ErrorCode, FollowedMatch,
    GameSummary, Hello, MatchId, MatchRef, MatchStatus, Occupant, Offer, OfferKind, OfferState,
    Ply, RematchState, Request, RequestId, SeatRequest, ServerMessage, Snapshot, Token, VERSION,
    Welcome, WireError,
};

use super::bot_clock::{ClockTimes, SearchRequest};
use crate::args::SideChoice;
use crate::exit::Failure;
use crate::match_state::{ApplyResult, MatchState};
use crate::sanitize::sanitize;

/// Default delay before a request is sent again after a retryable error.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Maximum evaluation, in centipawns from the engine's side, at which the engine accepts a draw
/// offer.
const DRAW_EVALUATION_MAX: i32 = -50;

/// Time that the seat waits for a rematch after a match has ended.
const REMATCH_TIMEOUT: Duration = Duration::from_mins(10);

/// Options of a `ply bot` run.
#[derive(Clone, Debug)]
pub(super) struct BotOptions {
    pub(super) seat_source: SeatSource,
    /// Id of the game to play. If `None`, the run joins an existing match and plays the game of
    /// that match.
    pub(super) game: Option<String>,
    pub(super) name: Option<String>,
    /// API key that the program uses to log in, if any.
    pub(super) api_key: Option<Token>,
    /// Clock of the match, if this run creates the match.
    pub(super) clock: Option<ClockControl>,
    /// Number of matches to play.
    pub(super) match_count: u32,
}

/// Where the engine gets its seat: in an existing match or in a new one.
#[derive(Clone, Debug)]
pub(super) enum SeatSource {
    /// Joins the match with this code or id.
    Join(String),
    /// Creates a new match.
    Create {
        side: Option<SideChoice>,
        /// Level of the bot in the other seat. If absent, the other seat is open.
        opponent_level: Option<String>,
        /// Position before the first move, or `None` for the standard initial position of the game.
        initial_position: Option<String>,
    },
}

/// Effect for the caller to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Sends a request. If the connection fails, the server may never receive the request.
    Send(Request),
    /// Sends a request after a delay.
    SendAfter(Duration, Request),
    /// Prints a message for the user.
    Print(String),
    /// Prints an error message for the user.
    PrintError(String),
    /// Starts an engine for this game.
    StartEngine(GameSummary),
    /// Makes the engine search for a move.
    StartThinking(SearchRequest),
    /// Ends the run with this result.
    Exit(Result<(), Failure>),
}

/// Current stage of the run.
#[derive(Clone, Debug)]
enum Stage {
    /// The run has requested the snapshot of the match that it will join. The snapshot names the
    /// game that the engine must play. A run that creates a match knows the game and requests no
    /// snapshot.
    FetchingMatch,
    /// The engine is starting.
    StartingEngine,
    /// The run has sent a `join` or `create` request and waits for its seat.
    RequestingSeat,
    /// The engine has the seat.
    Playing(Box<MatchState>),
}

/// Id of a position in a match. After a takeback, the same ply can have a different position, so
/// the id includes the number of takebacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PositionId {
    match_id: MatchId,
    ply: Ply,
    takebacks: u64,
}

impl PositionId {
    const fn from_snapshot(snapshot: &Snapshot) -> Self {
        Self {
            match_id: snapshot.match_id,
            ply: snapshot.ply,
            takebacks: snapshot.takebacks,
        }
    }
}

/// Move that the engine has chosen for a position. The field `is_sent` tells whether the move has
/// been sent over the current connection.
#[derive(Clone, Debug)]
struct EngineMove {
    position_id: PositionId,
    m: String,
    is_sent: bool,
}

/// State of an engine's seat.
#[derive(Debug)]
pub(super) struct SeatState {
    options: BotOptions,
    token: Option<Token>,
    /// Matches that the player already followed when this run logged in. This run ignores them,
    /// because other processes with the same API key play them.
    other_matches: Vec<MatchId>,
    games: Vec<GameSummary>,
    stage: Stage,
    /// Position that the engine is analysing, if any.
    thinking_position: Option<PositionId>,
    engine_move: Option<EngineMove>,
    /// Evaluation that the engine reported with its last move, in centipawns.
    evaluation: Option<i32>,
    /// Last measured round-trip time of a request. Zero before the first measurement.
    round_trip: Duration,
    /// The opponent's offer to which the engine replied most recently.
    answered_offer: Option<OfferState>,
    /// Number of matches that have ended.
    matches_played: u32,
    last_ended_match: Option<MatchId>,
    /// Result of the run after the engine has resigned. If this field is set, the engine resigns
    /// the running match.
    result_after_resigning: Option<Result<(), Failure>>,
    last_request_id: u64,
    /// Last request that was sent by [`Self::send_tracked`], if the server has not replied to the
    /// request yet.
    pending_request: Option<Request>,
}

impl SeatState {
    pub(super) fn new(options: BotOptions) -> Self {
        Self {
            token: options.api_key.clone(),
            options,
            other_matches: Vec::new(),
            games: Vec::new(),
            stage: Stage::FetchingMatch,
            thinking_position: None,
            engine_move: None,
            evaluation: None,
            round_trip: Duration::ZERO,
            answered_offer: None,
            matches_played: 0,
            last_ended_match: None,
            result_after_resigning: None,
            last_request_id: 0,
            pending_request: None,
        }
    }

    /// Handles a new connection: sends `hello`.
    pub(super) fn on_connected(&mut self) -> Vec<Effect> {
        self.pending_request = None;
        vec![self.send_tracked(ClientMessage::Hello(Box::new(Hello {
            protocol: Some(VERSION),
            name: self.options.name.clone(),
            token: self.token.clone(),
            // This login must not close the connections of other processes that use the same API
            // key.
            keep_connections: self.options.api_key.as_ref().map(|_| true),
            ..Hello::default()
        })))]
    }

    /// Handles a message from the server.
    pub(super) fn on_message(&mut self, message: ServerMessage) -> Vec<Effect> {
        if message.re().is_some()
            && message.re() == self.pending_request.as_ref().and_then(|p| p.id)
            && !matches!(message, ServerMessage::Error(_))
        {
            self.pending_request = None;
        }
        match message {
            ServerMessage::Welcome(welcome) => self.on_welcome(*welcome),
            // Ignores an unrequested snapshot of a match that another process plays.
            ServerMessage::Match(snapshot)
                if snapshot.re.is_none() && self.other_matches.contains(&snapshot.match_id) =>
            {
                Vec::new()
            }
            ServerMessage::Match(snapshot) => self.on_snapshot(*snapshot),
            ServerMessage::Event(event) => {
                let Stage::Playing(match_state) = &mut self.stage else {
                    return Vec::new();
                };
                if event.match_id() != match_state.snapshot.match_id {
                    return Vec::new();
                }
                match match_state.apply(&event) {
                    ApplyResult::Duplicate => Vec::new(),
                    ApplyResult::Applied => self.next_effects(),
                    ApplyResult::Gap => self.request_snapshot(),
                }
            }
            ServerMessage::Error(error) => self.on_error(&error),
            ServerMessage::Clock { match_id, clock } => {
                if let Stage::Playing(match_state) = &mut self.stage
                    && match_state.snapshot.match_id == match_id
                {
                    match_state.update_clock(clock, Duration::ZERO);
                }
                Vec::new()
            }
            ServerMessage::Rematch { match_id, rematch } => self.on_rematch(match_id, rematch),
            // The other messages do not concern the engine.
            _ => Vec::new(),
        }
    }

    /// Handles the reply to `hello`. Ends the run if the engine had a seat but the server did not
    /// resume the session.
    fn on_welcome(&mut self, welcome: Welcome) -> Vec<Effect> {
        let had_seat = self.token.replace(welcome.token.clone()).is_some()
            && matches!(self.stage, Stage::Playing(_));
        if matches!(self.stage, Stage::FetchingMatch) {
            let following = welcome.following.iter();
            self.other_matches = following.map(|followed| followed.match_id).collect();
        }
        let is_own = |followed: &&FollowedMatch| {
            followed.you.is_some() && !self.other_matches.contains(&followed.match_id)
        };
        let seated_match = welcome.following.iter().find(is_own).cloned();
        self.games = welcome.games;
        if had_seat && !welcome.resumed {
            let reason =
                "the server did not resume the session; the match continues without the engine";
            return exit_with_failure(Failure::Failed(reason.to_owned()));
        }
        self.continue_after_welcome(seated_match)
    }

    /// Requests the seat once the engine is ready.
    pub(super) fn on_engine_ready(&mut self) -> Vec<Effect> {
        self.stage = Stage::RequestingSeat;
        self.request_seat()
    }

    /// Handles a move that the engine has chosen.
    pub(super) fn on_engine_move(&mut self, m: &str, evaluation: Option<i32>) -> Vec<Effect> {
        self.evaluation = evaluation;
        if let Some(position_id) = self.thinking_position.take() {
            self.engine_move = Some(EngineMove {
                position_id,
                m: m.to_owned(),
                is_sent: false,
            });
        }
        self.next_effects()
    }

    /// Handles the engine's decision to resign.
    pub(super) fn on_engine_resigned(&mut self) -> Vec<Effect> {
        self.thinking_position = None;
        self.result_after_resigning = Some(Ok(()));
        self.next_effects()
    }

    /// Handles a failure of the engine. Resigns the match if the engine already has its seat.
    pub(super) fn on_engine_failed(&mut self, reason: &str) -> Vec<Effect> {
        self.thinking_position = None;
        if !matches!(self.stage, Stage::Playing(_)) {
            return exit_with_failure(Failure::Failed(reason.to_owned()));
        }
        self.result_after_resigning = Some(Err(Failure::Failed(format!("resigned: {reason}"))));
        self.next_effects()
    }

    /// Handles the user's request to stop. The first request during a running match resigns the
    /// match. If the match is not running or the resignation was already requested, leaves the
    /// match and ends the run. Before the engine has a seat, a request only ends the run.
    pub(super) fn on_stop_requested(&mut self) -> Vec<Effect> {
        match &self.stage {
            Stage::Playing(match_state)
                if match_state.snapshot.status == MatchStatus::Running
                    && self.result_after_resigning.is_none() =>
            {
                self.result_after_resigning = Some(Err(Failure::Stopped));
                self.next_effects()
            }
            Stage::Playing(match_state) => {
                let target = match_state.snapshot.match_id.into();
                let leave = self.send_tracked(ClientMessage::Leave { target });
                vec![leave, Effect::Exit(Err(Failure::Stopped))]
            }
            Stage::FetchingMatch | Stage::StartingEngine | Stage::RequestingSeat => {
                exit_with_failure(Failure::Stopped)
            }
        }
    }

    fn send_tracked(&mut self, message: ClientMessage) -> Effect {
        let request = self.new_request(message);
        self.pending_request = Some(request.clone());
        Effect::Send(request)
    }

    fn continue_after_welcome(&mut self, seated_match: Option<FollowedMatch>) -> Vec<Effect> {
        match (&self.stage, &self.options.seat_source) {
            (Stage::FetchingMatch, SeatSource::Join(target)) => {
                let target = MatchRef::from(&**target);
                self.request_snapshot_of(target)
            }
            (Stage::FetchingMatch, SeatSource::Create { .. }) => {
                let game = self.options.game.clone().unwrap_or_default();
                self.start_engine(&game)
            }
            (Stage::StartingEngine, _) => Vec::new(),
            // If the player already has a seat, the server assigned the seat before the connection
            // was lost. The server sends the snapshot of a seated match without a request, unless
            // it is a correspondence match.
            (Stage::RequestingSeat, _) => match seated_match {
                Some(seated) if seated.correspondence.is_none() => Vec::new(),
                Some(seated) => self.request_snapshot_of(seated.match_id.into()),
                None => self.request_seat(),
            },
            // The match may have ended during the disconnection. The server sends the snapshot of
            // an ended match only on request.
            (Stage::Playing(_), _) => self.request_snapshot(),
        }
    }

    fn request_snapshot(&mut self) -> Vec<Effect> {
        let Some(snapshot) = self.snapshot() else {
            return Vec::new();
        };
        self.request_snapshot_of(snapshot.match_id.into())
    }

    fn request_snapshot_of(&mut self, target: MatchRef) -> Vec<Effect> {
        vec![self.send_tracked(ClientMessage::Watch { target })]
    }

    /// Returns the snapshot of the match that the engine plays, if any.
    fn snapshot(&self) -> Option<&Snapshot> {
        match &self.stage {
            Stage::Playing(match_state) => Some(&match_state.snapshot),
            Stage::FetchingMatch | Stage::StartingEngine | Stage::RequestingSeat => None,
        }
    }

    /// Starts an engine for a game. Ends the run if the server does not offer the game.
    fn start_engine(&mut self, id: &str) -> Vec<Effect> {
        let Some(game) = self.games.iter().find(|game| game.game == id).cloned() else {
            return exit_with_failure(Failure::Refused(format!(
                "the server does not offer the game {}",
                sanitize(id)
            )));
        };
        self.stage = Stage::StartingEngine;
        vec![Effect::StartEngine(game)]
    }

    fn request_seat(&mut self) -> Vec<Effect> {
        let message = match &self.options.seat_source {
            SeatSource::Join(target) => ClientMessage::Join {
                target: MatchRef::from(&**target),
                seat: None,
            },
            SeatSource::Create {
                side,
                opponent_level: against,
                initial_position: position,
            } => {
                let other = against.clone().map_or(SeatRequest::Open, SeatRequest::Bot);
                let mut seats = [SeatRequest::Me, other];
                if *side == Some(SideChoice::Second) {
                    seats.reverse();
                }
                ClientMessage::Create(Box::new(CreateRequest {
                    game: self.options.game.clone().unwrap_or_default(),
                    seats: Some(seats),
                    shuffle: Some(*side == Some(SideChoice::Random)),
                    clock: self.options.clock,
                    position: position.clone(),
                    ..CreateRequest::default()
                }))
            }
        };
        vec![self.send_tracked(message)]
    }

    /// Handles a snapshot according to the current stage.
    fn on_snapshot(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        match &self.stage {
            Stage::FetchingMatch => {
                let requested = self.options.game.as_ref();
                if let Some(requested) = requested.filter(|game| **game != snapshot.game) {
                    let (game, requested) = (sanitize(&snapshot.game), sanitize(requested));
                    let reason = format!("this is a {game} match, not {requested}");
                    return exit_with_failure(Failure::Refused(reason));
                }
                self.start_engine(&snapshot.game)
            }
            // While the engine is starting, the run ignores snapshots of the match.
            Stage::StartingEngine => Vec::new(),
            Stage::RequestingSeat if snapshot.you.is_none() => Vec::new(),
            Stage::RequestingSeat => self.enter_match(snapshot),
            Stage::Playing(match_state) if match_state.snapshot.match_id == snapshot.match_id => {
                // The wait for a rematch has timed out.
                if self.last_ended_match == Some(snapshot.match_id) {
                    return vec![Effect::Exit(Ok(()))];
                }
                self.play_from_snapshot(snapshot)
            }
            // The rematch has just begun, so the snapshot of the rematch replaces the snapshot of
            // the ended match.
            Stage::Playing(match_state)
                if is_rematch_of(&match_state.snapshot, snapshot.match_id) =>
            {
                self.answered_offer = None;
                self.evaluation = None;
                self.enter_match(snapshot)
            }
            Stage::Playing(_) => Vec::new(),
        }
    }

    fn enter_match(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        let mut effects = vec![Effect::Print(describe_match(&snapshot))];
        effects.extend(self.play_from_snapshot(snapshot));
        effects
    }

    fn play_from_snapshot(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        self.stage = Stage::Playing(Box::new(MatchState::new(snapshot)));
        // The engine's move may have been lost with the connection, so it is sent again. The server
        // plays a move only once, even if it receives the move twice.
        if let Some(answered) = &mut self.engine_move {
            answered.is_sent = false;
        }
        self.next_effects()
    }

    /// Returns the effects that the current state of the match requires.
    fn next_effects(&mut self) -> Vec<Effect> {
        let Stage::Playing(match_state) = &self.stage else {
            return Vec::new();
        };
        let snapshot = &match_state.snapshot;
        let target = snapshot.match_id.into();
        if snapshot.status == MatchStatus::Ended {
            return self.on_match_ended();
        }
        if snapshot.status != MatchStatus::Running {
            return match self.result_after_resigning.take() {
                Some(result) => vec![
                    self.send_tracked(ClientMessage::Leave { target }),
                    Effect::Exit(result),
                ],
                None => Vec::new(),
            };
        }
        if self.result_after_resigning.is_some() {
            return vec![self.send_tracked(ClientMessage::Resign { target })];
        }
        if let Some(offer) = self.unanswered_offer() {
            return self.answer_offer(&offer);
        }
        if !match_state.is_my_turn() || self.thinking_position.is_some() {
            return Vec::new();
        }
        let position_id = PositionId::from_snapshot(snapshot);
        match &mut self.engine_move {
            Some(answered) if answered.position_id == position_id => {
                if answered.is_sent {
                    return Vec::new();
                }
                answered.is_sent = true;
                let m = answered.m.clone();
                vec![self.send_tracked(ClientMessage::Move {
                    target,
                    ply: position_id.ply,
                    m,
                    takebacks: Some(position_id.takebacks),
                })]
            }
            Some(_) | None => {
                let turn = SearchRequest {
                    initial_position: snapshot.initial_position.clone(),
                    moves: snapshot.moves.clone(),
                    times: ClockTimes::from_snapshot(snapshot, self.round_trip),
                };
                self.thinking_position = Some(position_id);
                vec![Effect::StartThinking(turn)]
            }
        }
    }

    /// Handles the end of the match. Prints the outcome once, then waits for a rematch or ends the
    /// run. A bot of the server never offers a rematch, so this seat offers it.
    fn on_match_ended(&mut self) -> Vec<Effect> {
        let Some(snapshot) = self.snapshot() else {
            return Vec::new();
        };
        let id = snapshot.match_id;
        let is_against_level = snapshot
            .you
            .map(|you| &snapshot.seats[you.other().index()].occupant)
            .is_some_and(|occupant| matches!(occupant, Occupant::Bot { .. }));
        let outcome = snapshot.outcome.iter();
        let texts = outcome.map(|outcome| describe_outcome(snapshot, outcome));
        let mut effects: Vec<Effect> = texts.map(Effect::Print).collect();
        if self.last_ended_match.replace(id) == Some(id) {
            return Vec::new();
        }
        self.matches_played += 1;
        match self.result_after_resigning.take() {
            // After [`REMATCH_TIMEOUT`], the run requests the snapshot of the ended match. If no
            // rematch has begun by then, the reply to this request ends the run.
            None if self.matches_played < self.options.match_count => {
                let snapshot_request = self.new_request(ClientMessage::Watch { target: id.into() });
                effects.push(Effect::SendAfter(REMATCH_TIMEOUT, snapshot_request));
                if is_against_level {
                    effects.push(self.offer_rematch(id));
                }
            }
            result => effects.push(Effect::Exit(result.unwrap_or(Ok(())))),
        }
        effects
    }

    /// Stores the round-trip time of a request, which the caller has measured.
    pub(super) const fn set_round_trip(&mut self, round_trip: Duration) {
        self.round_trip = round_trip;
    }

    /// Returns the opponent's first open offer that the engine has not answered yet.
    fn unanswered_offer(&self) -> Option<OfferState> {
        let snapshot = self.snapshot()?;
        let other = snapshot.you?.other();
        let mut offers = snapshot.offers.iter().copied();
        offers.find(|offer| offer.seat == other && self.answered_offer != Some(*offer))
    }

    /// Answers the opponent's offer. Accepts a takeback. Accepts a draw if the engine's last
    /// evaluation is at most [`DRAW_EVALUATION_MAX`]. Declines any other offer.
    fn answer_offer(&mut self, offer: &OfferState) -> Vec<Effect> {
        let Some(snapshot) = self.snapshot() else {
            return Vec::new();
        };
        let (target, ply) = (snapshot.match_id.into(), snapshot.ply);
        self.answered_offer = Some(*offer);
        let evaluation = self.evaluation;
        let is_behind = evaluation.is_some_and(|value| value <= DRAW_EVALUATION_MAX);
        let accepted = match offer.offer {
            OfferKind::Draw if is_behind => Some(Offer::Draw { ply }),
            OfferKind::Takeback => Some(Offer::Takeback { ply, to_ply: None }),
            OfferKind::Draw | OfferKind::Rematch | OfferKind::Challenge => None,
        };
        let offer = offer.offer;
        let message = match accepted {
            Some(offer) => ClientMessage::Offer { target, offer },
            None => ClientMessage::Decline { target, offer },
        };
        let effect = self.send_untracked(message);
        // The match continues while the server processes the answer to the offer, so the engine may
        // have to move now.
        let mut effects = vec![effect];
        effects.extend(self.next_effects());
        effects
    }

    /// Accepts a rematch offer if more matches remain to be played. Ends the run if the opponent
    /// has left after the end of the match.
    fn on_rematch(&mut self, id: MatchId, rematch: RematchState) -> Vec<Effect> {
        let Stage::Playing(match_state) = &mut self.stage else {
            return Vec::new();
        };
        if match_state.snapshot.match_id != id {
            return Vec::new();
        }
        let Some(you) = match_state.snapshot.you else {
            return Vec::new();
        };
        let (me, other) = (you.index(), you.other().index());
        if !rematch.present[other] && rematch.next.is_none() && self.last_ended_match == Some(id) {
            return vec![Effect::Exit(Ok(()))];
        }
        let is_rematch_offered =
            rematch.offers[other] && !rematch.offers[me] && rematch.next.is_none();
        match_state.replace_rematch(rematch);
        if !is_rematch_offered || self.matches_played >= self.options.match_count {
            return Vec::new();
        }
        vec![self.offer_rematch(id)]
    }

    /// Offers a rematch of the match with this id, or accepts the opponent's offer.
    fn offer_rematch(&mut self, id: MatchId) -> Effect {
        let (target, offer) = (id.into(), Offer::Rematch);
        self.send_untracked(ClientMessage::Offer { target, offer })
    }

    /// Sends a request whose reply is ignored.
    fn send_untracked(&mut self, message: ClientMessage) -> Effect {
        Effect::Send(self.new_request(message))
    }

    const fn new_request(&mut self, message: ClientMessage) -> Request {
        self.last_request_id += 1;
        Request {
            id: Some(RequestId(self.last_request_id)),
            message,
        }
    }

    /// Handles an error reply to the pending request.
    fn on_error(&mut self, error: &WireError) -> Vec<Effect> {
        let pending = &mut self.pending_request;
        let Some(request) = pending.take_if(|pending| pending.id == error.re) else {
            return Vec::new();
        };
        if error.retryable {
            self.pending_request = Some(request.clone());
            let delay = error.retry_after_ms.map(Duration::from_millis);
            return vec![Effect::SendAfter(delay.unwrap_or(RETRY_DELAY), request)];
        }
        let reason = sanitize(&error.message);
        match (&request.message, error.code) {
            (
                ClientMessage::Move { m, .. },
                Some(ErrorCode::IllegalMove | ErrorCode::UnreadableMove),
            ) => {
                let resign_reason = format!("the engine played {}: {reason}", sanitize(m));
                self.on_engine_failed(&resign_reason)
            }
            // The server rejects the move or the resignation because the position has changed or
            // the match has ended. A new snapshot replaces the outdated local state.
            (ClientMessage::Move { .. } | ClientMessage::Resign { .. }, _) => {
                self.request_snapshot()
            }
            // The server rejects the `join` request because the player already has a seat in the
            // match. The client therefore requests the snapshot of the match and continues to play.
            (ClientMessage::Join { target, .. }, Some(ErrorCode::AlreadySeated)) => {
                self.request_snapshot_of(*target)
            }
            _ => exit_with_failure(Failure::Refused(reason)),
        }
    }
}

/// Returns whether the match with this id is the rematch of the match in `snapshot`.
fn is_rematch_of(snapshot: &Snapshot, id: MatchId) -> bool {
    let rematch = snapshot.rematch.as_ref();
    let next = rematch.and_then(|rematch| rematch.next.as_ref());
    next.is_some_and(|next| next.match_id == id)
}

fn exit_with_failure(failure: Failure) -> Vec<Effect> {
    vec![Effect::Exit(Err(failure))]
}

/// Formats the game, the match code and the player's side.
fn describe_match(snapshot: &Snapshot) -> String {
    let you = snapshot.you;
    let side = you.map(|you| sanitize(&snapshot.seats[you.index()].side));
    let (game, code) = (sanitize(&snapshot.game), sanitize(&snapshot.code));
    format!("{game} match {code}, playing {}", side.unwrap_or_default())
}

/// Formats the outcome of the match for the user who runs the engine.
fn describe_outcome(snapshot: &Snapshot, outcome: &Ending) -> String {
    let is_aborted = outcome.reason == Some(EndReason::Aborted);
    let result = match outcome.winner {
        None if is_aborted => "aborted",
        None => "drawn",
        winner if winner == snapshot.you => "won",
        Some(_) => "lost",
    };
    let reason = outcome.reason.filter(|_| !is_aborted);
    let detail = outcome.detail.as_deref().or(reason.map(EndReason::as_str));
    let detail = detail.map_or_else(String::new, |detail| format!(": {}", sanitize(detail)));
    let plies = snapshot.ply.0;
    let unit = if plies == 1 { "ply" } else { "plies" };
    format!("{result} after {plies} {unit}{detail}")
}

#[cfg(test)]
mod tests;
