//! Message bus between the servers of a cluster: the [`Bus`] trait and its implementations.
//!
//! A message may be lost, but it is never delivered twice. Messages from one server to another
//! arrive in sending order. A request to a server that is not connected fails at once.

mod memory;
mod nats;

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use uuid::Uuid;

pub use memory::{MemoryBus, MemoryHub};
pub use nats::{NatsBus, NatsError};

/// Capacity of each message queue of the bus. Messages that do not fit into a queue are lost.
const PENDING_REQUESTS_MAX: usize = 65_536;

/// Connection of one server to the bus.
pub trait Bus: fmt::Debug + Send + Sync + 'static {
    /// Sends a message to one server, without waiting for its delivery.
    fn send(&self, to: Uuid, message: Vec<u8>);

    /// Sends a message to all other servers.
    fn send_all(&self, message: Vec<u8>);

    /// Sends a request to one server and waits for the response. The request is queued before this
    /// method returns, so requests and messages are sent in the order of the calls.
    fn request(
        &self,
        to: Uuid,
        request: Vec<u8>,
        within: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>>;

    /// Returns whether this server is currently connected to the bus.
    fn is_up(&self) -> bool;

    /// Stops receiving messages and requests. Later requests from other servers to this server fail
    /// with [`RequestError::NoReceiver`].
    fn close(&self);
}

/// Reason why a request received no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The receiver is not connected to the bus, so the request was not processed.
    #[error("the server is not connected to the bus")]
    NoReceiver,
    /// No response arrived in time. The receiver may or may not have processed the request.
    #[error("no response in time")]
    Timeout,
    /// This server could not send the request, so the request was not processed.
    #[error("no connection to the other servers")]
    Disconnected,
}

/// Item that a server receives from the bus.
#[derive(Debug)]
pub enum Incoming {
    Message(Vec<u8>),
    /// A request, with the [`Responder`] that sends the response.
    Request(Vec<u8>, Responder),
    /// Some messages to this server may have been lost.
    Gap,
}

/// Queue of the items that a server receives, in order of arrival.
pub type Listener = mpsc::Receiver<Incoming>;

/// Sends the response to one request. If the responder is dropped without a response, the request
/// fails with [`RequestError::Timeout`].
pub struct Responder(Box<dyn FnOnce(Vec<u8>) + Send>);

impl Responder {
    /// Creates a responder that calls the given function with the response.
    pub fn new(way: impl FnOnce(Vec<u8>) + Send + 'static) -> Self {
        Self(Box::new(way))
    }

    pub fn respond(self, answer: Vec<u8>) {
        (self.0)(answer);
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}
