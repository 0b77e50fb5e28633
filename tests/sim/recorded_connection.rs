//! Client connection that records everything it sends and receives.

use std::rc::Rc;
use std::time::Duration;

use plyhouse_connection::{Connection, ConnectionError};
use plyhouse_protocol::{ClientMessage, Request, RequestId, ServerMessage};
use tokio::time::timeout;
use turmoil::net::TcpStream;

use super::history::{ConnectionId, HistoryEvent};
use super::shared_client_state::SimContext;
use super::world::SERVER_PORT;

/// How long a client waits for the server before it gives up the connection. This is longer than a
/// slow sync and shorter than the server's idle timeout.
pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_millis(1000);

/// Connection of a simulated client. Dropping it ends the connection without a close handshake.
#[derive(Debug)]
pub(crate) struct RecordedConnection {
    context: Rc<SimContext>,
    id: ConnectionId,
    server: usize,
    /// Crash count of the server when the connection was opened.
    crash_count_at_open: u64,
    connection: Connection<TcpStream>,
    request_count: u64,
    is_closed: bool,
}

impl RecordedConnection {
    /// Connects to the server with this index. Returns `None` if the connection fails or times out.
    pub(crate) async fn open(context: Rc<SimContext>, client: &str, server: usize) -> Option<Self> {
        let name = context.servers[server].clone();
        let opening = async {
            let stream = TcpStream::connect((name.as_str(), SERVER_PORT))
                .await
                .ok()?;
            Connection::open_over_stream(stream, "ws://server/ws")
                .await
                .ok()
        };
        let connection = timeout(CLIENT_TIMEOUT, opening).await.ok()??;
        let id = context.new_connection();
        context.record(HistoryEvent::Opened {
            connection: id,
            client: client.to_owned(),
            server: name.clone(),
        });
        Some(Self {
            crash_count_at_open: context.crash_count(server),
            context,
            id,
            server,
            connection,
            request_count: 0,
            is_closed: false,
        })
    }

    /// Sends a request and returns its id, or `None` if sending fails.
    pub(crate) async fn send(&mut self, message: ClientMessage) -> Option<RequestId> {
        self.request_count += 1;
        let id = RequestId(self.request_count);
        let request = Request {
            id: Some(id),
            message,
        };
        // The request is recorded first because it may arrive even if sending fails.
        self.context.record(HistoryEvent::Sent {
            connection: self.id,
            request: Box::new(request.clone()),
        });
        match timeout(CLIENT_TIMEOUT, self.connection.send(&request)).await {
            Ok(Ok(())) => Some(id),
            Ok(Err(error)) => self.record_closed(&error.to_string()),
            Err(_) => self.record_closed("cannot send"),
        }
    }

    /// Returns the next message, or `None` if the connection has ended or the message is invalid.
    /// Cancel safe.
    pub(crate) async fn receive(&mut self) -> Option<ServerMessage> {
        let text = match self.connection.receive_text().await {
            Ok(text) => text,
            Err(ConnectionError::Closed { code, .. }) => {
                return self.record_closed(&format!("by the server, {code}"));
            }
            Err(error) => return self.record_closed(&error.to_string()),
        };
        let connection = self.id;
        match ServerMessage::decode(&text) {
            Ok(Some(message)) => {
                self.context.record(HistoryEvent::Received {
                    connection,
                    message: Box::new(message.clone()),
                });
                Some(message)
            }
            Ok(None) | Err(_) => {
                self.context
                    .record(HistoryEvent::ReceivedInvalid { connection, text });
                None
            }
        }
    }

    /// Records that the connection was closed for this reason and returns `None`. Only the first
    /// call records anything.
    pub(crate) fn record_closed<T>(&mut self, reason: &str) -> Option<T> {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.context.record(HistoryEvent::Closed {
                connection: self.id,
                reason: reason.to_owned(),
            });
        }
        None
    }

    /// Returns whether the server has crashed since the connection was opened.
    pub(crate) fn has_server_crashed(&self) -> bool {
        self.context.crash_count(self.server) > self.crash_count_at_open
    }

    /// Closes the connection with a close handshake.
    pub(crate) async fn close(mut self) {
        self.record_closed::<()>("by the client");
        let Self { connection, .. } = self;
        // The timeout limits the wait for a server that does not respond.
        let _ = timeout(CLIENT_TIMEOUT, connection.close()).await;
    }
}
