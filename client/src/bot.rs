//! `ply bot`: an engine in a seat. What comes from the server and what comes from the engine meet
//! here; while the engine thinks the match goes on being heard.

mod engine;
mod program;
mod seat;
mod setup;
mod turn;

use std::pin::Pin;
use std::time::Duration;

use plyhouse_protocol::{ClockControl, GameSummary, Request, RequestId, ServerMessage};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use self::engine::{Answer, Engine, Limits};
use self::program::Fault;
use self::seat::{Effect, Goal, Seat, Wanted};
use crate::CommandContext;
use crate::args::{BotArguments, EngineProtocol};
use crate::conduct::unheard;
use crate::customs::Customs;
use crate::failure::{Failure, unwritable};
use crate::harmless::sanitize;
use crate::link::{Link, News};
use crate::secret;
use crate::terminal::{InputMode, Terminal};

/// An engine that is busy, and gives itself back with what it has found.
type Busy = Pin<Box<dyn Future<Output = (Engine, Result<MatchLookup, Fault>)>>>;

/// What an engine was busy with.
#[derive(Debug)]
enum MatchLookup {
    Ready,
    Answer(Answer),
}

/// Where the engine is.
enum Place {
    /// Not there yet: what is played is not known.
    Unborn(Box<BotArguments>),
    Idle(Box<Engine>),
    Busy(Busy),
    /// With a fault that is not mended.
    Broken,
}

struct Bot {
    seat: Seat,
    link: Link,
    terminal: Terminal,
    place: Place,
    /// The request that is to be sent again, and when.
    later: Option<(Instant, Request)>,
    /// The request that was sent last, and when: its answer tells how long the way is.
    sent: Option<(Instant, RequestId)>,
}

/// Seats an engine, and plays to the end of the match.
pub(crate) async fn run(visit: &CommandContext, arguments: BotArguments) -> Result<(), Failure> {
    let key = secret::read_api_key(arguments.key_file.as_deref())?;
    let link = Link::open(&visit.server).await?;
    let terminal = Terminal::open(InputMode::Disabled, visit.json).map_err(unwritable)?;
    let terminal = terminal.with_ascii(visit.ascii);
    let name = visit.name.clone();
    let wanted = Wanted {
        goal: match &arguments.join {
            Some(target) => Goal::Join(target.clone()),
            None => Goal::Create {
                side: arguments.side,
                against: arguments.against.clone(),
                position: arguments.position.clone(),
            },
        },
        game: arguments.game.clone(),
        name,
        key,
        clock: arguments.clock,
        games: arguments.games,
    };
    let mut bot = Bot {
        seat: Seat::new(wanted),
        link,
        terminal,
        place: Place::Unborn(Box::new(arguments)),
        later: None,
        sent: None,
    };
    let result = bot.play().await;
    if let Place::Idle(engine) = bot.place {
        engine.end().await;
    }
    bot.link.close().await;
    result
}

impl Bot {
    async fn play(&mut self) -> Result<(), Failure> {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
        let mut effects = self.seat.connected();
        loop {
            if let Some(result) = self.act(effects).await? {
                return result;
            }
            effects = tokio::select! {
                news = self.link.next() => self.news(news?)?,
                found = idle_or_found(&mut self.place) => self.found(found),
                Some(()) = interrupt.recv() => self.seat.stop(),
                Some(()) = terminate.recv() => self.seat.stop(),
                () = until(self.later.as_ref().map(|(at, _)| *at)) => match self.later.take() {
                    Some((_, request)) => vec![Effect::Send(request)],
                    None => Vec::new(),
                },
            };
        }
    }

    fn news(&mut self, news: News) -> Result<Vec<Effect>, Failure> {
        match news {
            News::Text(text) => {
                self.terminal
                    .print_server_message(&text)
                    .map_err(unwritable)?;
                let message = ServerMessage::decode(&text).map_err(|error| {
                    let why = sanitize(&error.to_string());
                    Failure::Failed(format!("a message of the server cannot be read: {why}"))
                })?;
                if let Some(ServerMessage::Welcome(_)) = &message {
                    self.link.welcomed();
                }
                let Some(message) = message else {
                    return Ok(Vec::new());
                };
                if let Some((at, _)) = self.sent.take_if(|(_, id)| message.re() == Some(*id)) {
                    self.seat.takes(at.elapsed());
                }
                Ok(self.seat.receive(message))
            }
            News::Down(_) => {
                self.later = None;
                Ok(vec![Effect::Complain(
                    "connection lost; trying again …".to_owned(),
                )])
            }
            News::Up => Ok(self.seat.connected()),
        }
    }

    fn found(&mut self, (engine, found): (Engine, Result<MatchLookup, Fault>)) -> Vec<Effect> {
        let found = match found {
            Ok(found) => found,
            Err(fault) => {
                self.place = Place::Broken;
                return self.seat.give_up(&sanitize(&fault.to_string()));
            }
        };
        let worth = engine.worth();
        self.place = Place::Idle(Box::new(engine));
        match found {
            MatchLookup::Ready => self.seat.ready(),
            MatchLookup::Answer(Answer::Move(m)) => self.seat.play(&m, worth),
            MatchLookup::Answer(Answer::Resign) => self.seat.resign(),
        }
    }

    /// Does what the seat says; gives the result if that is to stop.
    async fn act(&mut self, effects: Vec<Effect>) -> Result<Option<Result<(), Failure>>, Failure> {
        for effect in effects {
            match effect {
                Effect::Send(request) => {
                    self.sent = request.id.map(|id| (Instant::now(), id));
                    self.link.send(&request).await;
                }
                Effect::SendAfter(pause, request) => {
                    self.later = Some((Instant::now() + pause, request));
                }
                Effect::Say(text) => self.terminal.print(&text).map_err(unwritable)?,
                Effect::Complain(text) => self.terminal.print_error(&text).map_err(unwritable)?,
                Effect::Start(game, clock) => {
                    let place = std::mem::replace(&mut self.place, Place::Broken);
                    let Place::Unborn(arguments) = place else {
                        self.place = place;
                        continue;
                    };
                    let mut engine = born(*arguments, game, clock)?;
                    self.place = Place::Busy(Box::pin(async move {
                        let started = engine.start().await;
                        (engine, started.map(|()| MatchLookup::Ready))
                    }));
                }
                Effect::Think(turn) => {
                    let place = std::mem::replace(&mut self.place, Place::Broken);
                    let Place::Idle(mut engine) = place else {
                        self.place = place;
                        continue;
                    };
                    self.place = Place::Busy(Box::pin(async move {
                        let answer = engine.choose(&turn).await;
                        (*engine, answer.map(MatchLookup::Answer))
                    }));
                }
                Effect::End(result) => return Ok(Some(result)),
            }
        }
        Ok(None)
    }
}

/// The engine for a match of this game.
fn born(
    arguments: BotArguments,
    game: GameSummary,
    clock: Option<ClockControl>,
) -> Result<Engine, Failure> {
    let id = sanitize(&game.game);
    let protocol = match (
        arguments.protocol,
        Customs::of(&game.game).engine_protocol(),
    ) {
        (Some(named), Some(usual)) if named != usual => {
            let why = format!("that is not the --protocol that engines of {id} speak");
            return Err(Failure::Failed(why));
        }
        (Some(protocol), _) | (None, Some(protocol)) => protocol,
        (None, None) => {
            let why = format!("no protocol of engines is known for {id}: --protocol names one");
            return Err(Failure::Failed(why));
        }
    };
    if protocol != EngineProtocol::Uci && !arguments.options.is_empty() {
        return Err(Failure::Failed("--option is for UCI engines".to_owned()));
    }
    let limits = Limits {
        think: arguments.think.map(Duration::from_millis),
        start: Duration::from_secs(arguments.start_limit),
        answer: Duration::from_secs(arguments.move_limit),
    };
    let BotArguments {
        program, options, ..
    } = arguments;
    Ok(Engine::new(program, protocol, options, limits, game, clock))
}

/// Waits for an engine that is busy; for ever if it is not.
async fn idle_or_found(place: &mut Place) -> (Engine, Result<MatchLookup, Fault>) {
    match place {
        Place::Busy(busy) => busy.await,
        Place::Unborn(_) | Place::Idle(_) | Place::Broken => std::future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
