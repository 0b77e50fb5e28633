//! The one loop over terminal and server: carries what comes to the session, and does what the
//! session says.

use std::io;
use std::time::Duration;

use plyhouse_protocol::{Request, ServerMessage};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use crate::face::Face;
use crate::failure::{Failure, unwritable};
use crate::harmless::sanitize;
use crate::identity::IdentityLock;
use crate::link::{Link, News};
use crate::session::{Effect, PlaySession};
use crate::terminal::Input;

/// How long the first welcome may be waited for. Later silence is the link's affair.
const WELCOME: Duration = Duration::from_secs(15);

/// What the server's reasons may end with, and what is being done anyway.
const CONNECT_AGAIN: &str = "; connect again";

/// What tells a run to stop.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }
}

/// Everything that a run holds outside of its session.
pub(crate) struct Conduct {
    session: PlaySession,
    link: Link,
    face: Face,
    slot: Option<IdentityLock>,
    /// A line of a script that was read before its turn, to know whether there is one.
    ahead: Option<String>,
    /// The request that is to be sent again, and when.
    later: Option<(Instant, Request)>,
    /// When to stop, whatever comes; and what that means.
    deadline: Option<(Instant, Result<(), Failure>)>,
    begun: Instant,
}

impl Conduct {
    /// Gets everything together.
    pub(crate) fn new(
        mut session: PlaySession,
        link: Link,
        face: Face,
        slot: Option<IdentityLock>,
    ) -> Self {
        if slot.is_none() {
            session.disable_resume();
        }
        let unwelcome = Failure::NoConnection("the server does not answer".to_owned());
        let deadline = Some((Instant::now() + WELCOME, Err(unwelcome)));
        Self {
            session,
            link,
            face,
            slot,
            ahead: None,
            later: None,
            deadline,
            begun: Instant::now(),
        }
    }

    /// Runs to the end and leaves everything tidy.
    pub(crate) async fn run(mut self) -> Result<(), Failure> {
        // Before anything is shown: whoever is told to stop leaves the terminal as it was found.
        let mut signals = Signals::listen().map_err(unheard)?;
        let result = self.carry(&mut signals).await;
        if result.is_ok() {
            tokio::select! {
                seen = self.face.linger(&mut self.session) => seen.map_err(unwritable)?,
                Some(()) = signals.interrupt.recv() => {}
                Some(()) = signals.terminate.recv() => {}
            }
        }
        self.face.close(&self.session).await.map_err(unwritable)?;
        self.link.close().await;
        result
    }

    async fn carry(&mut self, signals: &mut Signals) -> Result<(), Failure> {
        let mut effects = self.session.on_connected();
        loop {
            if let Some(result) = self.act(effects).await? {
                return result;
            }
            let wants_line = self.session.accepts_line();
            self.tell_time();
            self.face.show(&mut self.session).map_err(unwritable)?;
            let changes_in = self.session.clock_line().and_then(|live| live.next_change);
            let changes_at = changes_in.map(|rest| Instant::now() + rest);
            if wants_line && let Some(line) = self.ahead.take() {
                effects = self.session.on_line(&line);
                continue;
            }
            effects = tokio::select! {
                news = self.link.next() => self.news(news?)?,
                input = self.face.next(), if self.ahead.is_none() => {
                    self.tell_time();
                    match input.map_err(unwritable)? {
                        Input::Line(line) if wants_line => self.session.on_line(&line),
                        Input::Line(line) => {
                            self.ahead = Some(line);
                            Vec::new()
                        }
                        Input::Interrupt => self.session.quit(),
                        Input::EndOfInput => self.session.on_end_of_input(),
                    }
                }
                Some(()) = signals.interrupt.recv() => {
                    self.face.interrupted().map_err(unwritable)?;
                    self.session.quit()
                }
                Some(()) = signals.terminate.recv() => self.session.quit(),
                () = until(self.later.as_ref().map(|(at, _)| *at)) => match self.later.take() {
                    Some((_, request)) => vec![Effect::Send(request)],
                    None => Vec::new(),
                },
                () = until(changes_at) => Vec::new(),
                () = until(self.deadline.as_ref().map(|(at, _)| *at)) => {
                    let stop = self.deadline.take().map(|(_, stop)| stop);
                    return stop.unwrap_or(Err(Failure::Stopped));
                }
            };
        }
    }

    /// Tells the session how late it is.
    fn tell_time(&mut self) {
        self.session.set_now(self.begun.elapsed());
    }

    fn news(&mut self, news: News) -> Result<Vec<Effect>, Failure> {
        self.tell_time();
        match news {
            News::Text(text) => {
                self.face.message(&text).map_err(unwritable)?;
                match ServerMessage::decode(&text) {
                    Ok(Some(message)) => {
                        if matches!(message, ServerMessage::Welcome(_)) {
                            self.link.welcomed();
                            self.deadline = None;
                        }
                        Ok(self.session.receive(message))
                    }
                    Ok(None) => Ok(Vec::new()), // Of a later version: not for us.
                    Err(error) => Ok(vec![Effect::PrintError(format!(
                        "a message of the server cannot be read: {}",
                        sanitize(&error.to_string())
                    ))]),
                }
            }
            News::Down(said) => {
                self.later = None;
                let text = said.map_or_else(
                    || "Connection lost; trying again …".to_owned(),
                    |said| {
                        let why = said.strip_suffix(CONNECT_AGAIN).unwrap_or(&said);
                        format!("Connection lost: {why}; trying again …")
                    },
                );
                Ok(vec![Effect::PrintError(text)])
            }
            News::Up => {
                let mut effects = vec![Effect::Print("Connected again.".to_owned())];
                effects.extend(self.session.on_connected());
                Ok(effects)
            }
        }
    }

    /// Does what the session says; gives the result if that is to stop.
    async fn act(&mut self, effects: Vec<Effect>) -> Result<Option<Result<(), Failure>>, Failure> {
        for effect in effects {
            match effect {
                Effect::Send(request) => self.link.send(&request).await,
                Effect::SendAfter(pause, request) => {
                    self.later = Some((Instant::now() + pause, request));
                }
                Effect::Print(text) => self.face.say(&text).map_err(unwritable)?,
                Effect::PrintError(text) => self.face.complain(&text).map_err(unwritable)?,
                Effect::SaveIdentity(token, name, live) => {
                    self.with_slot(|slot| slot.keep(&token, &name, &live))?;
                }
                Effect::AddSeatNote(note) => self.with_slot(|slot| slot.sat(&note))?,
                Effect::RemoveSeatNote(id) => self.with_slot(|slot| slot.left(id))?,
                Effect::StopWithin(time) => {
                    self.deadline = Some((Instant::now() + time, Err(Failure::Stopped)));
                }
                Effect::EndWithin(time, result) => {
                    self.deadline = Some((Instant::now() + time, result));
                }
                Effect::CancelStop => self.deadline = None,
                Effect::End(result) => return Ok(Some(result)),
            }
        }
        Ok(None)
    }

    /// Writes to the slot. If that fails, the match goes on, only not past this process.
    fn with_slot(
        &mut self,
        write: impl FnOnce(&mut IdentityLock) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Some(slot) = &mut self.slot else {
            return Ok(());
        };
        if let Err(error) = write(slot) {
            self.slot = None;
            self.session.disable_resume();
            let text = format!("your seat cannot be kept past this run: {error}");
            self.face.complain(&text).map_err(unwritable)?;
        }
        Ok(())
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
pub(crate) fn unheard(error: io::Error) -> Failure {
    Failure::Failed(format!("cannot listen for signals: {error}"))
}
