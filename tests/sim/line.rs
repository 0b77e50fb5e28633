//! A client's connection, which writes down all that goes through it.

use std::rc::Rc;
use std::time::Duration;

use plyhouse_connection::{Connection, ConnectionError};
use plyhouse_protocol::{ClientMessage, Request, RequestId, ServerMessage};
use tokio::time::timeout;
use turmoil::net::TcpStream;

use super::base::Base;
use super::history::{ConnectionId, What};
use super::world::PORT;

/// How long a client waits for anything before it gives the connection up. Longer than a slow disk
/// takes, shorter than the server's own patience.
pub(crate) const PATIENCE: Duration = Duration::from_millis(1000);

/// A connection. Whoever drops it has hung up without a word.
#[derive(Debug)]
pub(crate) struct Line {
    base: Rc<Base>,
    id: ConnectionId,
    server: usize,
    /// How often that server had died before.
    deaths: u64,
    connection: Connection<TcpStream>,
    requests: u64,
    is_closed: bool,
}

impl Line {
    /// A connection to the server at this place, if one can be had.
    pub(crate) async fn open(base: Rc<Base>, client: &str, server: usize) -> Option<Self> {
        let name = base.servers[server].clone();
        let opening = async {
            let stream = TcpStream::connect((name.as_str(), PORT)).await.ok()?;
            Connection::open_over_stream(stream, "ws://server/ws")
                .await
                .ok()
        };
        let connection = timeout(PATIENCE, opening).await.ok()??;
        let id = base.new_connection();
        base.note(What::Opened {
            connection: id,
            client: client.to_owned(),
            server: name.clone(),
        });
        Some(Self {
            deaths: base.deaths(server),
            base,
            id,
            server,
            connection,
            requests: 0,
            is_closed: false,
        })
    }

    /// Sends a request and gives its number; nothing if the connection is no more.
    pub(crate) async fn send(&mut self, message: ClientMessage) -> Option<RequestId> {
        self.requests += 1;
        let id = RequestId(self.requests);
        let request = Request {
            id: Some(id),
            message,
        };
        // It may arrive whatever becomes of the rest.
        self.base.note(What::Sent {
            connection: self.id,
            request: Box::new(request.clone()),
        });
        match timeout(PATIENCE, self.connection.send(&request)).await {
            Ok(Ok(())) => Some(id),
            Ok(Err(error)) => self.closed(&error.to_string()),
            Err(_) => self.closed("cannot send"),
        }
    }

    /// The next message; nothing if the connection is no more. May be cancelled.
    pub(crate) async fn receive(&mut self) -> Option<ServerMessage> {
        let text = match self.connection.receive_text().await {
            Ok(text) => text,
            Err(ConnectionError::Closed { code, .. }) => {
                return self.closed(&format!("by the server, {code}"));
            }
            Err(error) => return self.closed(&error.to_string()),
        };
        let connection = self.id;
        match ServerMessage::decode(&text) {
            Ok(Some(message)) => {
                self.base.note(What::Got {
                    connection,
                    message: Box::new(message.clone()),
                });
                Some(message)
            }
            Ok(None) | Err(_) => {
                self.base.note(What::GotNonsense { connection, text });
                None
            }
        }
    }

    /// Gives the connection up, for this reason.
    pub(crate) fn closed<T>(&mut self, why: &str) -> Option<T> {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.base.note(What::Closed {
                connection: self.id,
                why: why.to_owned(),
            });
        }
        None
    }

    /// Whether the server has died since.
    pub(crate) fn is_bereft(&self) -> bool {
        self.base.deaths(self.server) > self.deaths
    }

    /// Says goodbye as one should.
    pub(crate) async fn close(mut self) {
        self.closed::<()>("by the client");
        let Self { connection, .. } = self;
        // A server that does not listen is not waited for.
        let _ = timeout(PATIENCE, connection.close()).await;
    }
}
