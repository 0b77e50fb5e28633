//! How the servers of one cluster speak to each other: the port that they speak through, and its adapters.
//!
//! The bus promises little. What is sent may be lost, and comes at most once; what one server sends
//! another comes in the order in which it was sent. A request to a server that is not there is known at
//! once to have been in vain.

mod memory;
mod nats;

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use uuid::Uuid;

pub use memory::{MemoryBus, MemoryHub};
pub use nats::{NatsBus, NatsError};

/// How many messages wait for a server that is slow to take them. What comes then is lost.
const PENDING_REQUESTS_MAX: usize = 65_536;

/// One server's end of the bus.
pub trait Bus: fmt::Debug + Send + Sync + 'static {
    /// Sends a message to one server.
    fn send(&self, to: Uuid, message: Vec<u8>);

    /// Sends a message to every server but this one.
    fn send_all(&self, message: Vec<u8>);

    /// Asks one server. The request is sent by the time this returns, so requests and messages come in
    /// the order in which they were made.
    fn request(
        &self,
        to: Uuid,
        request: Vec<u8>,
        within: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>>;

    /// Whether anything sent now is likely to come.
    fn is_up(&self) -> bool;

    /// Hears nothing more: requests to this server are in vain from now on.
    fn close(&self);
}

/// Why a request was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// There is no such server. Nothing was done.
    #[error("that server is not there")]
    NoReceiver,
    /// It may have been served or not.
    #[error("no answer came in time")]
    Timeout,
    /// This server cannot send anything now. Nothing was done.
    #[error("there is no connection to the other servers")]
    Disconnected,
}

/// What a server hears.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Vec<u8>),
    /// A request, and where its answer goes.
    Request(Vec<u8>, Responder),
    /// Something may have been missed.
    Gap,
}

/// What a server hears, in order.
pub type Listener = mpsc::Receiver<Incoming>;

/// Where the answer to a request goes. If it is dropped, whoever asks waits until the time is up.
pub struct Responder(Box<dyn FnOnce(Vec<u8>) + Send>);

impl Responder {
    /// An answer that goes this way.
    pub fn new(way: impl FnOnce(Vec<u8>) + Send + 'static) -> Self {
        Self(Box::new(way))
    }

    /// Answers.
    pub fn respond(self, answer: Vec<u8>) {
        (self.0)(answer);
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}
