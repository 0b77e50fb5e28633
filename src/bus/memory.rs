//! In-process bus for tests and simulations.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{Bus, Incoming, Listener, PENDING_REQUESTS_MAX, RequestError, Responder};

/// Connects the servers of one process. Clones share the same hub.
#[derive(Clone, Debug, Default)]
pub struct MemoryHub(Arc<Mutex<BTreeMap<Uuid, mpsc::Sender<Incoming>>>>);

/// Connection of one server to a [`MemoryHub`].
#[derive(Debug)]
pub struct MemoryBus {
    hub: MemoryHub,
    own: Uuid,
}

impl MemoryHub {
    /// Connects a server to the hub. Returns the server's bus and its queue of incoming items.
    #[must_use]
    pub fn join(&self, own: Uuid) -> (MemoryBus, Listener) {
        let (sender, listener) = mpsc::channel(PENDING_REQUESTS_MAX);
        self.0.lock().insert(own, sender);
        let hub = self.clone();
        (MemoryBus { hub, own }, listener)
    }

    /// Tells a server that messages may have been lost. A network bus does the same after it has
    /// reconnected.
    pub fn report_gap(&self, own: Uuid) {
        // The gap report is dropped if the server has left the hub or its queue is full.
        let _ = self.send(own, Incoming::Gap);
    }

    fn send(&self, to: Uuid, incoming: Incoming) -> Result<(), RequestError> {
        let servers = self.0.lock();
        let server = servers.get(&to).ok_or(RequestError::NoReceiver)?;
        server.try_send(incoming).map_err(|error| match error {
            mpsc::error::TrySendError::Closed(_) => RequestError::NoReceiver,
            mpsc::error::TrySendError::Full(_) => RequestError::Timeout,
        })
    }
}

impl Bus for MemoryBus {
    fn send(&self, to: Uuid, message: Vec<u8>) {
        if self.is_up() {
            // Every bus may lose messages, so the result of the send is ignored.
            let _ = self.hub.send(to, Incoming::Message(message));
        }
    }

    fn send_all(&self, message: Vec<u8>) {
        let others: Vec<Uuid> = self.hub.0.lock().keys().copied().collect();
        for other in others.into_iter().filter(|other| *other != self.own) {
            self.send(other, message.clone());
        }
    }

    fn request(
        &self,
        to: Uuid,
        request: Vec<u8>,
        within: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>> {
        if !self.is_up() {
            return std::future::ready(Err(RequestError::Disconnected)).boxed();
        }
        let (sender, answered) = oneshot::channel();
        let answer = Responder::new(move |answer| {
            // Sending fails if the requester has stopped waiting, so the result is ignored.
            let _ = sender.send(answer);
        });
        let sent = self.hub.send(to, Incoming::Request(request, answer));
        async move {
            if sent == Err(RequestError::NoReceiver) {
                return Err(RequestError::NoReceiver);
            }
            match tokio::time::timeout(within, answered).await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(_)) | Err(_) => Err(RequestError::Timeout),
            }
        }
        .boxed()
    }

    fn is_up(&self) -> bool {
        self.hub.0.lock().contains_key(&self.own)
    }

    fn close(&self) {
        self.hub.0.lock().remove(&self.own);
    }
}

impl Drop for MemoryBus {
    fn drop(&mut self) {
        self.close();
    }
}
