//! Implementation of the bus over core NATS.
//!
//! Every server subscribes to all subjects below its own name and to the broadcast subject. A
//! server sends its messages and responses over one connection, which preserves their order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_nats::{
    Client, ConnectOptions, Event, Message, ServerAddr, StatusCode, Subject, Subscriber,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use uuid::Uuid;

use super::{Bus, Incoming, Listener, PENDING_REQUESTS_MAX, RequestError, Responder};

/// How often the client pings the NATS server. The client drops the connection after two unanswered
/// pings.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Time limit for connecting, and for flushing the outgoing messages when the bus is closed.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Longest wait between two attempts to reconnect.
const RECONNECT_DELAY_MAX: Duration = Duration::from_millis(500);

/// Subject of messages to all servers.
const BROADCAST_SUBJECT: &str = "plyhouse.all";

/// Connection of one server to a bus over NATS.
#[derive(Debug)]
pub struct NatsBus {
    own: Uuid,
    shared: Arc<ConnectionState>,
    outgoing: mpsc::Sender<OutgoingMessage>,
    tasks: [JoinHandle<()>; 2],
}

#[derive(Debug)]
struct ConnectionState {
    is_up: AtomicBool,
    /// Requests that wait for a response, by request number.
    pending_requests: Mutex<HashMap<u64, PendingRequests>>,
    next: AtomicU64,
    incoming: mpsc::Sender<Incoming>,
    /// Whether an [`Incoming::Gap`] item must still be queued, because messages may have been lost.
    has_gap: AtomicBool,
    closing: Notify,
}

/// Channel through which a waiting task receives the response to its request.
type PendingRequests = oneshot::Sender<Result<Vec<u8>, RequestError>>;

#[derive(Debug)]
struct OutgoingMessage {
    to: Subject,
    reply: Option<Subject>,
    body: Vec<u8>,
}

/// A request that waits for its response. Dropping this value removes the request from the pending
/// requests.
struct PendingRequest(Arc<ConnectionState>, u64);

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.0.pending_requests.lock().remove(&self.1);
    }
}

/// Reason why the connection to NATS could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    /// No NATS server could be reached.
    #[error("cannot connect to NATS")]
    Connect(#[from] async_nats::ConnectError),
    /// The subscription to the server's subjects failed.
    #[error("cannot subscribe to NATS subjects")]
    Listen(#[from] async_nats::SubscribeError),
}

impl NatsBus {
    /// Connects this server to NATS. `own` is the id of this server. Returns the server's bus and
    /// its queue of incoming items. `addresses` holds one or more NATS addresses (`nats://…`),
    /// separated by commas.
    ///
    /// # Errors
    ///
    /// See [`NatsError`].
    pub async fn connect(addresses: &str, own: Uuid) -> Result<(Self, Listener), NatsError> {
        let (incoming, listener) = mpsc::channel(PENDING_REQUESTS_MAX);
        let shared = Arc::new(ConnectionState {
            is_up: AtomicBool::new(true),
            pending_requests: Mutex::default(),
            next: AtomicU64::new(0),
            incoming,
            has_gap: AtomicBool::new(false),
            closing: Notify::new(),
        });
        let mut options = options(&shared);
        // The NATS client ignores credentials in the addresses, so they are passed separately.
        if let Some((user, password)) = credentials(addresses) {
            options = options.user_and_password(user, password);
        }
        let client = options.connect(addresses).await?;
        let subscriptions = [
            client.subscribe(format!("{}.>", name(own))).await?,
            client.subscribe(BROADCAST_SUBJECT).await?,
        ];
        let (sending, outgoing) = mpsc::channel(PENDING_REQUESTS_MAX);
        let carry = send_outgoing(client.clone(), Arc::clone(&shared), outgoing);
        let listen = listen(client, Arc::clone(&shared), subscriptions, sending.clone());
        Ok((
            Self {
                own,
                shared,
                outgoing: sending,
                tasks: [spawn(carry), spawn(listen)],
            },
            listener,
        ))
    }

    fn enqueue(&self, to: Subject, reply: Option<Subject>, body: Vec<u8>) -> bool {
        let letter = OutgoingMessage { to, reply, body };
        self.is_up() && self.outgoing.try_send(letter).is_ok()
    }
}

/// Returns the user name and password from the first address that contains both.
fn credentials(addresses: &str) -> Option<(String, String)> {
    addresses.split(',').find_map(|address| {
        let address: ServerAddr = address.trim().parse().ok()?;
        let (user, password) = (address.username()?, address.password()?);
        Some((user.to_owned(), password.to_owned()))
    })
}

fn options(shared: &Arc<ConnectionState>) -> ConnectOptions {
    let shared = Arc::clone(shared);
    ConnectOptions::new()
        .name("plyhouse")
        .no_echo()
        .ping_interval(PING_INTERVAL)
        .connection_timeout(CONNECT_TIMEOUT)
        .subscription_capacity(PENDING_REQUESTS_MAX)
        .reconnect_delay_callback(|tries| {
            let wait = Duration::from_millis(20) * u32::try_from(tries).unwrap_or(u32::MAX).min(25);
            wait.min(RECONNECT_DELAY_MAX)
        })
        .event_callback(move |event| {
            let shared = Arc::clone(&shared);
            async move { shared.on_event(&event) }
        })
}

impl ConnectionState {
    fn on_event(&self, event: &Event) {
        match event {
            Event::Connected => {
                self.is_up.store(true, Ordering::Release);
                self.on_connection_lost();
                tracing::info!("connected to NATS");
            }
            Event::Disconnected | Event::Closed => {
                self.is_up.store(false, Ordering::Release);
                tracing::error!("connection to NATS lost");
            }
            Event::SlowConsumer(_) => self.on_connection_lost(),
            Event::LameDuckMode | Event::Draining => {}
            Event::ServerError(error) => tracing::warn!(%error, "error from the NATS server"),
            Event::ClientError(error) => tracing::warn!(%error, "error in the NATS client"),
        }
    }

    /// Records that messages may have been lost. Queues an [`Incoming::Gap`] item once the incoming
    /// queue has room.
    fn on_connection_lost(&self) {
        self.has_gap.store(true, Ordering::Release);
        self.report_gap();
    }

    fn report_gap(&self) {
        if self.has_gap.swap(false, Ordering::AcqRel)
            && self.incoming.try_send(Incoming::Gap).is_err()
        {
            self.has_gap.store(true, Ordering::Release);
        }
    }

    fn on_message(&self, message: Message, sending: &mpsc::Sender<OutgoingMessage>) {
        let request_number = message
            .subject
            .rsplit('.')
            .next()
            .and_then(|n| n.parse().ok());
        if let Some(number) = request_number {
            let answer = match message.status {
                Some(StatusCode::NO_RESPONDERS) => Err(RequestError::NoReceiver),
                _ => Ok(message.payload.into()),
            };
            if let Some(waiting) = self.pending_requests.lock().remove(&number) {
                // Sending fails if the requester has stopped waiting, so the result is ignored.
                let _ = waiting.send(answer);
            }
            return;
        }
        self.report_gap();
        let body = message.payload.into();
        let incoming = match message.reply {
            None => Incoming::Message(body),
            Some(to) => {
                let sending = sending.clone();
                let answer = Responder::new(move |body| {
                    let reply = None;
                    // If the response is lost, the request times out.
                    let _ = sending.try_send(OutgoingMessage { to, reply, body });
                });
                Incoming::Request(body, answer)
            }
        };
        if self.incoming.try_send(incoming).is_err() {
            self.has_gap.store(true, Ordering::Release);
        }
    }
}

/// Sends the queued messages in order.
async fn send_outgoing(
    client: Client,
    shared: Arc<ConnectionState>,
    mut outgoing: mpsc::Receiver<OutgoingMessage>,
) {
    while let Some(OutgoingMessage { to, reply, body }) = outgoing.recv().await {
        if !shared.is_up.load(Ordering::Acquire) {
            continue; // While disconnected, drop the message instead of sending it late.
        }
        let sent = match reply {
            Some(reply) => client.publish_with_reply(to, reply, body.into()).await,
            None => client.publish(to, body.into()).await,
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "cannot send a message to another server");
        }
    }
}

/// Receives messages until the bus is closed, then unsubscribes.
async fn listen(
    client: Client,
    shared: Arc<ConnectionState>,
    subscriptions: [Subscriber; 2],
    sending: mpsc::Sender<OutgoingMessage>,
) {
    let mut messages = futures::stream::select_all(subscriptions);
    let receive_messages = async {
        while let Some(message) = messages.next().await {
            shared.on_message(message, &sending);
        }
    };
    tokio::select! {
        biased;
        () = shared.closing.notified() => {}
        () = receive_messages => return,
    }
    for mut subscription in messages {
        // Unsubscribing fails if the connection was lost. In that case, the subscription has
        // already ended.
        let _ = subscription.unsubscribe().await;
    }
    let _ = timeout(CONNECT_TIMEOUT, client.flush()).await;
}

fn spawn(task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "it ends with the bus, which aborts it"
    )]
    tokio::spawn(task)
}

fn name(server: Uuid) -> String {
    format!("plyhouse.{}", server.simple())
}

fn subject(to: Uuid) -> Subject {
    format!("{}.m", name(to)).into()
}

impl Bus for NatsBus {
    fn send(&self, to: Uuid, message: Vec<u8>) {
        self.enqueue(subject(to), None, message);
    }

    fn send_all(&self, message: Vec<u8>) {
        self.enqueue(Subject::from_static(BROADCAST_SUBJECT), None, message);
    }

    fn request(
        &self,
        to: Uuid,
        request: Vec<u8>,
        within: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>> {
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let reply = format!("{}.{number}", name(self.own)).into();
        let (sender, answered) = oneshot::channel();
        self.shared.pending_requests.lock().insert(number, sender);
        let pending_request = PendingRequest(Arc::clone(&self.shared), number);
        let is_sent = self.enqueue(subject(to), Some(reply), request);
        async move {
            let _pending_request = pending_request;
            if !is_sent {
                return Err(RequestError::Disconnected);
            }
            match timeout(within, answered).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) | Err(_) => Err(RequestError::Timeout),
            }
        }
        .boxed()
    }

    fn is_up(&self) -> bool {
        self.shared.is_up.load(Ordering::Acquire)
    }

    fn close(&self) {
        self.shared.closing.notify_one();
    }
}

impl Drop for NatsBus {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

#[cfg(test)]
mod tests {
    use super::credentials;

    #[test]
    fn credentials_are_read_from_the_url() {
        let of =
            |addresses| credentials(addresses).map(|(user, password)| format!("{user} {password}"));
        assert_eq!(of("nats://one:4222,tls://two"), None);
        let named = "nats://one:4222, tls://ply:secret@two:4222";
        assert_eq!(of(named).as_deref(), Some("ply secret"));
    }
}
