//! Connection for requests that are sent one at a time. The next request is sent only after the
//! response to the previous request.

use std::time::Duration;

use plyhouse_connection::Connection;
use plyhouse_protocol::{ClientMessage, ErrorCode, Request, RequestId, ServerMessage, WireError};
use tokio::time::timeout;

use crate::CommandContext;
use crate::exit::{Failure, OutputResult};
use crate::line_terminal::{Input, InputMode, Terminal};
use crate::reconnecting::{connect, connection_failure};
use crate::sanitize::sanitize;

/// Timeout for the response to a request.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Connection that sends one request at a time.
pub(crate) struct RequestClient {
    connection: Connection,
    terminal: Terminal,
    next_id: u64,
}

impl RequestClient {
    pub(crate) async fn open(
        context: &CommandContext,
        input_mode: InputMode,
    ) -> Result<Self, Failure> {
        let terminal = Terminal::open(input_mode, context.json)?;
        Ok(Self {
            connection: connect(&context.server).await?,
            terminal: terminal.with_ascii(context.ascii),
            next_id: 1,
        })
    }

    /// Sends a request and waits for its response. An error response becomes a [`Failure`].
    pub(crate) async fn request(
        &mut self,
        message: ClientMessage,
    ) -> Result<ServerMessage, Failure> {
        let response = self.try_request(message).await?;
        response.map_err(|error| refusal(&error))
    }

    /// Sends a request and waits for its response. If the server refuses the request, the inner
    /// result is the server's error. The outer result is an error if the connection fails or the
    /// response times out.
    pub(crate) async fn try_request(
        &mut self,
        message: ClientMessage,
    ) -> Result<Result<ServerMessage, WireError>, Failure> {
        let id = Some(RequestId(self.next_id));
        self.next_id += 1;
        let request = Request { id, message };
        let sent = self.connection.send(&request).await;
        sent.map_err(|error| connection_failure(&error))?;
        let response = async {
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
        let timed_out = |_| Failure::NoConnection("no response from the server".to_owned());
        timeout(RESPONSE_TIMEOUT, response)
            .await
            .map_err(timed_out)?
    }

    /// Receives the next message. Returns `None` if this version of `ply` does not know the type of
    /// the message.
    pub(crate) async fn receive(&mut self) -> Result<Option<ServerMessage>, Failure> {
        let text = self.connection.receive_text().await;
        let text = text.map_err(|error| connection_failure(&error))?;
        self.terminal.print_server_message(&text)?;
        ServerMessage::decode(&text).map_err(|error| {
            let what = sanitize(&error.to_string());
            Failure::Failed(format!("invalid response from the server: {what}"))
        })
    }

    /// Waits for the next line that the user types.
    pub(crate) async fn next_input(&mut self) -> Input {
        self.terminal.next_input().await
    }

    /// Prints text for the user, unless JSON output is selected.
    pub(crate) fn print(&mut self, text: &str) -> OutputResult<()> {
        self.terminal.print(text)
    }

    /// Prints the last text of a command and closes the connection.
    pub(crate) async fn finish(mut self, text: &str) -> Result<(), Failure> {
        self.print(text)?;
        self.close().await;
        Ok(())
    }

    pub(crate) async fn close(self) {
        let _ = timeout(RESPONSE_TIMEOUT, self.connection.close()).await;
    }
}

/// Converts an error response to a failure.
pub(crate) fn refusal(error: &WireError) -> Failure {
    let message = sanitize(&error.message);
    Failure::Refused(match error.code {
        Some(ErrorCode::NotRegistered) => {
            format!("{message}\nCreate one with `ply register NAME`.")
        }
        _ => message,
    })
}
