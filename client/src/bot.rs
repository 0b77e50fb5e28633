//! `ply bot`: connects an engine to a seat. The event loop handles messages of the server while the
//! engine thinks.

mod bot_clock;
mod initial_stones;
mod restarting_engine;
mod seat_state;

use std::pin::Pin;
use std::time::Duration;

use plyhouse_engine_host::{Decision, EngineCommand, EngineConfig, EngineError, Protocol};
use plyhouse_protocol::{GameSummary, Request, RequestId, ServerMessage};
use tokio::time::Instant;

use self::restarting_engine::{EngineLimits, RestartingEngine};
use self::seat_state::{BotOptions, Effect, SeatSource, SeatState};
use crate::CommandContext;
use crate::args::{BotArguments, EngineProtocol};
use crate::conventions::{Conventions, KOMI};
use crate::event_loop::{Signals, wait_until};
use crate::exit::Failure;
use crate::line_terminal::{InputMode, Terminal};
use crate::password_prompt;
use crate::reconnecting::{ConnectionEvent, ReconnectingConnection};
use crate::sanitize::sanitize;

/// Future that completes when the engine has finished its current task. The output contains the
/// engine and the result of the task.
type EngineTask =
    Pin<Box<dyn Future<Output = (RestartingEngine, Result<EngineEvent, EngineError>)>>>;

/// Result of a task that the engine has completed.
#[derive(Debug)]
enum EngineEvent {
    Ready,
    Answer(Decision),
}

/// State of the engine.
enum EngineState {
    /// The engine has not been started, because the game is not known yet.
    NotStarted(Box<BotArguments>),
    Idle(Box<RestartingEngine>),
    Busy(EngineTask),
    /// The engine failed and is not restarted.
    Failed,
}

struct BotRunner {
    seat: SeatState,
    connection: ReconnectingConnection,
    terminal: Terminal,
    engine_state: EngineState,
    /// Delayed request, stored with the time at which the client must send it.
    delayed_request: Option<(Instant, Request)>,
    /// Id of the last request, stored with the time at which the client sent it. The round-trip
    /// time is measured when the response arrives.
    last_request: Option<(Instant, RequestId)>,
}

/// Takes a seat for an engine and plays until the last match has ended.
pub(crate) async fn run(context: &CommandContext, arguments: BotArguments) -> Result<(), Failure> {
    let key = password_prompt::read_api_key(arguments.key_file.as_deref())?;
    let connection = ReconnectingConnection::open(&context.server).await?;
    let terminal = Terminal::open(InputMode::Disabled, context.json)?.with_ascii(context.ascii);
    let name = context.name.clone();
    let options = BotOptions {
        seat_source: match &arguments.join {
            Some(target) => SeatSource::Join(target.clone()),
            None => SeatSource::Create {
                side: arguments.side,
                opponent_level: arguments.against.clone(),
                initial_position: arguments.position.clone(),
            },
        },
        game: arguments.game.clone(),
        name,
        api_key: key,
        clock: arguments.clock,
        match_count: arguments.games,
    };
    let mut bot = BotRunner {
        seat: SeatState::new(options),
        connection,
        terminal,
        engine_state: EngineState::NotStarted(Box::new(arguments)),
        delayed_request: None,
        last_request: None,
    };
    let result = bot.run_event_loop().await;
    if let EngineState::Idle(engine) = bot.engine_state {
        engine.quit().await;
    }
    bot.connection.close().await;
    result
}

impl BotRunner {
    async fn run_event_loop(&mut self) -> Result<(), Failure> {
        let mut signals = Signals::listen()?;
        let mut effects = self.seat.on_connected();
        loop {
            if let Some(result) = self.apply_effects(effects).await? {
                return result;
            }
            effects = tokio::select! {
                event = self.connection.next_event() => self.on_connection_event(event?)?,
                event = next_engine_event(&mut self.engine_state) => self.on_engine_event(event),
                Some(()) = signals.interrupt.recv() => self.seat.on_stop_requested(),
                Some(()) = signals.terminate.recv() => self.seat.on_stop_requested(),
                () = wait_until(self.delayed_request.as_ref().map(|(at, _)| *at)) => {
                    let request = self.delayed_request.take().map(|(_, request)| request);
                    request.map(Effect::Send).into_iter().collect()
                }
            };
        }
    }

    fn on_connection_event(&mut self, news: ConnectionEvent) -> Result<Vec<Effect>, Failure> {
        match news {
            ConnectionEvent::Message(text) => {
                self.terminal.print_server_message(&text)?;
                let message = ServerMessage::decode(&text).map_err(|error| {
                    let why = sanitize(&error.to_string());
                    Failure::Failed(format!("invalid message from the server: {why}"))
                })?;
                let Some(message) = message else {
                    return Ok(Vec::new());
                };
                if matches!(message, ServerMessage::Welcome(_)) {
                    self.connection.reset_retry_delays();
                }
                let answered = |(_, id): &mut (Instant, RequestId)| message.re() == Some(*id);
                if let Some((at, _)) = self.last_request.take_if(answered) {
                    self.seat.set_round_trip(at.elapsed());
                }
                Ok(self.seat.on_message(message))
            }
            ConnectionEvent::Disconnected(_) => {
                self.delayed_request = None;
                Ok(vec![Effect::PrintError(
                    "connection lost; reconnecting …".to_owned(),
                )])
            }
            ConnectionEvent::Reconnected => Ok(self.seat.on_connected()),
        }
    }

    fn on_engine_event(
        &mut self,
        (engine, found): (RestartingEngine, Result<EngineEvent, EngineError>),
    ) -> Vec<Effect> {
        let event = match found {
            Ok(found) => found,
            Err(fault) => {
                self.engine_state = EngineState::Failed;
                return self.seat.on_engine_failed(&sanitize(&fault.to_string()));
            }
        };
        self.engine_state = EngineState::Idle(Box::new(engine));
        match event {
            EngineEvent::Ready => self.seat.on_engine_ready(),
            EngineEvent::Answer(Decision::Move { text, score }) => {
                self.seat.on_engine_move(&text, score)
            }
            EngineEvent::Answer(Decision::Resign) => self.seat.on_engine_resigned(),
        }
    }

    /// Applies effects that the [`SeatState`] returned. Returns the final result if one of the
    /// effects is [`Effect::Exit`].
    async fn apply_effects(
        &mut self,
        effects: Vec<Effect>,
    ) -> Result<Option<Result<(), Failure>>, Failure> {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    self.last_request = request.id.map(|id| (Instant::now(), id));
                    self.connection.send(&request).await;
                }
                Effect::SendAfter(pause, request) => {
                    self.delayed_request = Some((Instant::now() + pause, request));
                }
                Effect::Print(text) => self.terminal.print(&text)?,
                Effect::PrintError(text) => self.terminal.print_error(&text)?,
                Effect::StartEngine(game) => {
                    let state = std::mem::replace(&mut self.engine_state, EngineState::Failed);
                    let EngineState::NotStarted(arguments) = state else {
                        self.engine_state = state;
                        continue;
                    };
                    let mut engine = create_engine(*arguments, game)?;
                    self.engine_state = EngineState::Busy(Box::pin(async move {
                        let started = engine.start().await;
                        (engine, started.map(|()| EngineEvent::Ready))
                    }));
                }
                Effect::StartThinking(turn) => {
                    let state = std::mem::replace(&mut self.engine_state, EngineState::Failed);
                    let EngineState::Idle(mut engine) = state else {
                        self.engine_state = state;
                        continue;
                    };
                    self.engine_state = EngineState::Busy(Box::pin(async move {
                        let answer = engine.choose_move(&turn).await;
                        (*engine, answer.map(EngineEvent::Answer))
                    }));
                }
                Effect::Exit(result) => return Ok(Some(result)),
            }
        }
        Ok(None)
    }
}

/// Creates the engine for a match of `game`. The caller must start the engine.
fn create_engine(arguments: BotArguments, game: GameSummary) -> Result<RestartingEngine, Failure> {
    let id = sanitize(&game.game);
    let protocol = match (
        arguments.protocol,
        Conventions::for_game(&game.game).engine_protocol(),
    ) {
        (Some(requested), Some(conventional)) if requested != conventional => {
            let why = format!("unsupported --protocol for {id}; omit it to use the default");
            return Err(Failure::Failed(why));
        }
        (Some(protocol), _) | (None, Some(protocol)) => protocol,
        (None, None) => {
            let why = format!("no default engine protocol for {id}: choose one with --protocol");
            return Err(Failure::Failed(why));
        }
    };
    if protocol != EngineProtocol::Uci && !arguments.options.is_empty() {
        return Err(Failure::Failed("--option requires a UCI engine".to_owned()));
    }
    let limits = EngineLimits {
        think_time: arguments.think_time_ms.map(Duration::from_millis),
        start_timeout: Duration::from_secs(arguments.start_limit),
        move_timeout: Duration::from_secs(arguments.move_limit),
    };
    let config = EngineConfig {
        command: EngineCommand {
            words: arguments.program,
            directory: None,
            inherits_stderr: true,
        },
        protocol: match protocol {
            EngineProtocol::Uci => Protocol::Uci,
            EngineProtocol::Gtp => Protocol::Gtp { komi: KOMI },
            EngineProtocol::Piskvork => Protocol::Piskvork,
        },
        options: arguments.options,
    };
    Ok(RestartingEngine::new(config, limits, game))
}

/// Waits for the engine to finish its task. Never returns if the engine has no task.
async fn next_engine_event(
    state: &mut EngineState,
) -> (RestartingEngine, Result<EngineEvent, EngineError>) {
    match state {
        EngineState::Busy(busy) => busy.await,
        EngineState::NotStarted(_) | EngineState::Idle(_) | EngineState::Failed => {
            std::future::pending().await
        }
    }
}
