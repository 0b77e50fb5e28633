//! Event loop of a match. The loop passes user input and server messages to the session, and
//! applies the effects that the session returns.

use std::time::Duration;

use plyhouse_protocol::{Request, ServerMessage};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use crate::exit::Failure;
use crate::identity_store::{IdentityLock, IdentityStoreError};
use crate::line_terminal::Input;
use crate::reconnecting::{ConnectionEvent, ReconnectingConnection};
use crate::sanitize::sanitize;
use crate::session::{Effect, PlaySession};
use crate::ui::Ui;

/// Timeout for the first `welcome` message. Later, the connection itself detects a server that does
/// not respond.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(15);

/// Suffix that asks the client to reconnect, at the end of some close reasons. `ply` reconnects
/// automatically, so it removes this suffix before it prints the reason.
const CONNECT_AGAIN_SUFFIX: &str = "; connect again";

/// Signals that stop a run.
pub(crate) struct Signals {
    pub(crate) interrupt: Signal,
    pub(crate) terminate: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind)
                .map_err(|error| Failure::Failed(format!("cannot listen for signals: {error}")))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }
}

/// Event loop of one run, with the session, the connection and the user interface.
pub(crate) struct EventLoop {
    session: PlaySession,
    connection: ReconnectingConnection,
    ui: Ui,
    identity: Option<IdentityLock>,
    /// Line of a script that the session cannot accept yet. The event loop reads one line ahead, so
    /// that it detects the end of the input early.
    queued_line: Option<String>,
    /// Delayed request, stored with the time at which the client must send it.
    delayed_request: Option<(Instant, Request)>,
    /// Time at which the run must end, stored with the result that the run then returns.
    deadline: Option<(Instant, Result<(), Failure>)>,
    started_at: Instant,
}

impl EventLoop {
    /// Creates an event loop. The run fails if the first `welcome` message does not arrive within
    /// [`WELCOME_TIMEOUT`].
    pub(crate) fn new(
        mut session: PlaySession,
        connection: ReconnectingConnection,
        ui: Ui,
        identity: Option<IdentityLock>,
    ) -> Self {
        if identity.is_none() {
            session.disable_resume();
        }
        let no_welcome = Failure::NoConnection("no response from the server".to_owned());
        let deadline = Some((Instant::now() + WELCOME_TIMEOUT, Err(no_welcome)));
        Self {
            session,
            connection,
            ui,
            identity,
            queued_line: None,
            delayed_request: None,
            deadline,
            started_at: Instant::now(),
        }
    }

    /// Runs the event loop until the run ends, then closes the user interface and the connection.
    pub(crate) async fn run(mut self) -> Result<(), Failure> {
        // Handle signals before anything is drawn, so that a stopped run still restores the
        // terminal.
        let mut signals = Signals::listen()?;
        let result = self.run_until_end(&mut signals).await;
        if result.is_ok() {
            tokio::select! {
                seen = self.ui.wait_for_key_at_end(&mut self.session) => seen?,
                Some(()) = signals.interrupt.recv() => {}
                Some(()) = signals.terminate.recv() => {}
            }
        }
        self.ui.close(&self.session).await?;
        self.connection.close().await;
        result
    }

    async fn run_until_end(&mut self, signals: &mut Signals) -> Result<(), Failure> {
        let mut effects = self.session.on_connected();
        loop {
            if let Some(result) = self.apply_effects(effects).await? {
                return result;
            }
            let accepts_line = self.session.accepts_line();
            self.update_time();
            self.ui.show_match(&mut self.session)?;
            let next_change_in = self.session.clock_line().and_then(|live| live.next_change);
            let next_change_at = next_change_in.map(|rest| Instant::now() + rest);
            if accepts_line && let Some(line) = self.queued_line.take() {
                effects = self.session.on_line(&line);
                continue;
            }
            effects = tokio::select! {
                news = self.connection.next_event() => self.on_connection_event(news?)?,
                input = self.ui.next_input(), if self.queued_line.is_none() => {
                    self.update_time();
                    match input? {
                        Input::Line(line) if accepts_line => self.session.on_line(&line),
                        Input::Line(line) => {
                            self.queued_line = Some(line);
                            Vec::new()
                        }
                        Input::Interrupt => self.session.quit(),
                        Input::Eof => self.session.on_end_of_input(),
                    }
                }
                Some(()) = signals.interrupt.recv() => {
                    self.ui.end_interrupted_line()?;
                    self.session.quit()
                }
                Some(()) = signals.terminate.recv() => self.session.quit(),
                () = wait_until(self.delayed_request.as_ref().map(|(at, _)| *at)) => {
                    let request = self.delayed_request.take().map(|(_, request)| request);
                    request.map(Effect::Send).into_iter().collect()
                }
                () = wait_until(next_change_at) => Vec::new(),
                () = wait_until(self.deadline.as_ref().map(|(at, _)| *at)) => {
                    let stop = self.deadline.take().map(|(_, stop)| stop);
                    return stop.unwrap_or(Err(Failure::Stopped));
                }
            };
        }
    }

    /// Passes the time since the start of the run to the session.
    fn update_time(&mut self) {
        self.session.set_now(self.started_at.elapsed());
    }

    fn on_connection_event(&mut self, news: ConnectionEvent) -> Result<Vec<Effect>, Failure> {
        self.update_time();
        match news {
            ConnectionEvent::Message(text) => {
                self.ui.print_server_message(&text)?;
                match ServerMessage::decode(&text) {
                    Ok(Some(message)) => {
                        if matches!(message, ServerMessage::Welcome(_)) {
                            self.connection.reset_retry_delays();
                            self.deadline = None;
                        }
                        Ok(self.session.receive(message))
                    }
                    Ok(None) => Ok(Vec::new()), // Ignore message types of later protocol versions.
                    Err(error) => Ok(vec![Effect::PrintError(format!(
                        "invalid message from the server: {}",
                        sanitize(&error.to_string())
                    ))]),
                }
            }
            ConnectionEvent::Disconnected(reason) => {
                self.delayed_request = None;
                let text = reason.map_or_else(
                    || "Connection lost; reconnecting …".to_owned(),
                    |reason| {
                        let why = reason.strip_suffix(CONNECT_AGAIN_SUFFIX).unwrap_or(&reason);
                        format!("Connection lost: {why}; reconnecting …")
                    },
                );
                Ok(vec![Effect::PrintError(text)])
            }
            ConnectionEvent::Reconnected => {
                let mut effects = vec![Effect::Print("Connected again.".to_owned())];
                effects.extend(self.session.on_connected());
                Ok(effects)
            }
        }
    }

    /// Applies the effects of the session. Returns the final result if one of the effects ends the
    /// run.
    async fn apply_effects(
        &mut self,
        effects: Vec<Effect>,
    ) -> Result<Option<Result<(), Failure>>, Failure> {
        for effect in effects {
            match effect {
                Effect::Send(request) => self.connection.send(&request).await,
                Effect::SendAfter(pause, request) => {
                    self.delayed_request = Some((Instant::now() + pause, request));
                }
                Effect::Print(text) => self.ui.print(&text)?,
                Effect::PrintError(text) => self.ui.print_error(&text)?,
                Effect::SaveIdentity(token, name, live) => {
                    self.update_identity(|slot| slot.save_player(&token, &name, &live))?;
                }
                Effect::AddSeatNote(note) => self.update_identity(|slot| slot.add_seat(&note))?,
                Effect::RemoveSeatNote(id) => self.update_identity(|slot| slot.remove_seat(id))?,
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

    /// Updates the stored identity. If the update fails, the match continues, but a later run
    /// cannot resume it.
    fn update_identity(
        &mut self,
        update: impl FnOnce(&mut IdentityLock) -> Result<(), IdentityStoreError>,
    ) -> Result<(), Failure> {
        let Some(slot) = &mut self.identity else {
            return Ok(());
        };
        if let Err(error) = update(slot) {
            self.identity = None;
            self.session.disable_resume();
            self.ui.print_error(&unsaved_seat_text(&error))?;
        }
        Ok(())
    }
}

/// Warns the user that a later run cannot resume the match.
pub(crate) fn unsaved_seat_text(error: &IdentityStoreError) -> String {
    format!("your seat cannot be saved, so `ply join` cannot return to it: {error}")
}

/// Waits until this time. Never returns if there is none.
pub(crate) async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
