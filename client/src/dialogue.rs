//! A connection on which one thing is asked after the other, and each answer is waited for.

use std::time::Duration;

use plyhouse_connection::Connection;
use plyhouse_protocol::{ClientMessage, Request, RequestId, ServerMessage, WireError};
use tokio::time::timeout;

use crate::CommandContext;
use crate::failure::{Failure, unwritable};
use crate::harmless::sanitize;
use crate::link::{connect, lost};
use crate::terminal::{Input, InputMode, Terminal};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection on which one thing is asked after the other.
pub(crate) struct Dialogue {
    connection: Connection,
    terminal: Terminal,
    next_id: u64,
}

impl Dialogue {
    /// Connects.
    pub(crate) async fn open(visit: &CommandContext, manner: InputMode) -> Result<Self, Failure> {
        let terminal = Terminal::open(manner, visit.json).map_err(unwritable)?;
        Ok(Self {
            connection: connect(&visit.server).await?,
            terminal: terminal.with_ascii(visit.ascii),
            next_id: 1,
        })
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&mut self, message: ClientMessage) -> Result<ServerMessage, Failure> {
        let answer = self.try_ask(message).await?;
        answer.map_err(|error| refused(&error))
    }

    /// Asks, and waits for the answer, or for why there is none.
    pub(crate) async fn try_ask(
        &mut self,
        message: ClientMessage,
    ) -> Result<Result<ServerMessage, WireError>, Failure> {
        let id = Some(RequestId(self.next_id));
        self.next_id += 1;
        let request = Request { id, message };
        let sent = self.connection.send(&request).await;
        sent.map_err(|error| lost(&error))?;
        let answer = async {
            loop {
                match self.receive().await? {
                    Some(ServerMessage::Error(error)) if error.re == id => {
                        return Ok(Err(*error));
                    }
                    Some(message) if message.re() == id => return Ok(Ok(message)),
                    Some(_) | None => {}
                }
            }
        };
        let silent = |_| Failure::NoConnection("the server does not answer".to_owned());
        timeout(PATIENCE, answer).await.map_err(silent)?
    }

    /// The next message, if it is of a type that this build knows.
    pub(crate) async fn receive(&mut self) -> Result<Option<ServerMessage>, Failure> {
        let text = self.connection.receive_text().await;
        let text = text.map_err(|error| lost(&error))?;
        self.terminal
            .print_server_message(&text)
            .map_err(unwritable)?;
        ServerMessage::decode(&text).map_err(|error| {
            let what = sanitize(&error.to_string());
            Failure::Failed(format!("the answer cannot be read: {what}"))
        })
    }

    /// The next line that is typed.
    pub(crate) async fn typed(&mut self) -> Input {
        self.terminal.next_input().await
    }

    /// Writes this to whoever reads.
    pub(crate) fn say(&mut self, text: &str) -> Result<(), Failure> {
        self.terminal.print(text).map_err(unwritable)
    }

    /// Says goodbye.
    pub(crate) async fn close(self) {
        let _ = timeout(PATIENCE, self.connection.close()).await;
    }
}

/// What is said of a request that was turned down.
pub(crate) fn refused(error: &WireError) -> Failure {
    Failure::Refused(sanitize(&error.message))
}
