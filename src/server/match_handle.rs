//! Handles through which the rest of the server sends commands to a match.

pub(crate) mod command;
pub(crate) mod mailbox;
pub(crate) mod replication_messages;
pub(crate) mod summary;
pub(crate) mod wake_cell;

use std::sync::Arc;

use futures::future::{BoxFuture, OptionFuture};
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId};

use super::connection::handle::ConnectionHandle;
use super::connection::outbox::Outbox;
use super::connection::reply::Reply;
use super::context::metrics::Metrics;
use super::match_handle::command::{Answer, Command, Control, MatchRequest};
use super::match_handle::mailbox::{Sender, Task, TrySendError};
use super::match_handle::summary::MatchSummary;

/// Maximum number of requests that wait in the mailbox of a match. If the mailbox is full, the
/// sending connection waits and reads no further requests.
pub(super) const MAILBOX_CAPACITY: usize = 64;

/// Command in the mailbox of a match, with its pending reply.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) command: Command,
    pub(super) reply: Reply,
}

/// Handle to a match actor. Clones refer to the same match.
#[derive(Clone, Debug)]
pub(super) struct MatchHandle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    summary: Arc<MatchSummary>,
    /// Envelopes are boxed, because they are large and every match has its own mailbox.
    mailbox: Sender<Box<Envelope>>,
}

/// Future that sends a command as soon as the full mailbox has a free place. The value is `None` if
/// the command was already sent or refused.
pub(super) type PendingSend<'a> = Option<BoxFuture<'a, ()>>;

impl MatchHandle {
    /// Creates a handle to the match with this summary and mailbox.
    pub(super) fn new(summary: Arc<MatchSummary>, mailbox: Sender<Box<Envelope>>) -> Self {
        Self(Arc::new(Inner { summary, mailbox }))
    }

    /// Starts the actor and returns the task that runs it. The caller must spawn the task.
    pub(super) fn start(
        &self,
        actor: impl Future<Output = ()> + Send + 'static,
    ) -> Task<Box<Envelope>> {
        self.0.mailbox.start(actor)
    }

    /// Returns the summary of the match, which match lists show.
    pub(super) fn summary(&self) -> &Arc<MatchSummary> {
        &self.0.summary
    }

    pub(super) fn id(&self) -> MatchId {
        self.0.summary.id
    }

    /// Returns whether this is the only handle of the match. The caller must hold a lock that
    /// prevents the creation of other handles.
    pub(super) fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Puts a command into the mailbox of the match, or refuses the command if the match is being
    /// unloaded. If the mailbox is full, the returned future sends the command.
    pub(super) fn send(self, command: Command, reply: Reply) -> PendingSend<'static> {
        let envelope = Box::new(Envelope { command, reply });
        match self.0.mailbox.try_send(envelope) {
            Ok(()) => None,
            Err(TrySendError::Full(envelope)) => Some(Box::pin(async move {
                if let Err(envelope) = self.0.mailbox.send(envelope).await {
                    envelope.refuse(UNLOADING_MESSAGE);
                }
            })),
            Err(TrySendError::Closed(envelope)) => {
                envelope.refuse(UNLOADING_MESSAGE);
                None
            }
        }
    }

    /// Sends a command and waits for the answer. Returns `true` if the match accepted the request.
    pub(super) async fn send_and_wait(&self, command: Command, reply: Reply) -> bool {
        matches!(self.send_for_answer(command, reply).await, Some(Ok(_)))
    }

    /// Sends a snapshot of the match to a participant who has not requested it. The connection must
    /// already be subscribed to the match.
    pub(super) async fn push_snapshot(&self, player: PlayerId, outbox: &Outbox) {
        let command = Command::unsolicited(outbox.connection(), player, MatchRequest::PushSnapshot);
        self.send_and_wait(command, Reply::unsolicited(outbox.clone()))
            .await;
    }

    /// Subscribes a participant's connection to the match and sends it a snapshot. Does nothing if
    /// the connection has ended or already follows the match.
    pub(super) async fn show_to_participant(
        &self,
        player: PlayerId,
        connection: &ConnectionHandle,
    ) {
        if connection.subscriptions.follow_as_participant(self) {
            self.push_snapshot(player, &connection.outbox).await;
        }
    }

    /// Sends a control message and waits until the match has handled or refused it.
    pub(super) async fn notify(&self, control: Control, metrics: &Arc<Metrics>) {
        self.request_answer(Command::from_server(control), metrics)
            .await;
    }

    /// Sends a command that does not come from a client connection, and returns the match's answer.
    /// The future yields `None` if the match drops the command without an answer.
    pub(super) fn request_answer(
        &self,
        command: Command,
        metrics: &Arc<Metrics>,
    ) -> impl Future<Output = Option<Answer>> + Send + use<> {
        let reply = Reply::unsolicited(Outbox::without_connection(metrics));
        self.send_for_answer(command, reply)
    }

    /// Sends a command before this method returns, unless the mailbox is full. The future yields
    /// the match's answer, or `None` if the match drops the command without an answer.
    fn send_for_answer(
        &self,
        command: Command,
        reply: Reply,
    ) -> impl Future<Output = Option<Answer>> + Send + use<> {
        let (reply, answer) = reply.with_answer_receiver();
        let pending = OptionFuture::from(self.clone().send(command, reply));
        async move {
            pending.await;
            answer.await.ok()
        }
    }

    /// Sends a control message. If the mailbox is full, the returned future sends it.
    pub(super) fn send_control(
        self,
        control: Control,
        metrics: &Arc<Metrics>,
    ) -> PendingSend<'static> {
        let reply = Reply::unsolicited(Outbox::without_connection(metrics));
        self.send(Command::from_server(control), reply)
    }

    /// Informs the match that a connection has stopped following it.
    pub(super) async fn unfollow(self, player: PlayerId, outbox: &Outbox) {
        let command = Command::unsolicited(outbox.connection(), player, MatchRequest::Unfollow);
        let reply = Reply::unsolicited(outbox.clone());
        OptionFuture::from(self.send(command, reply)).await;
    }
}

/// Error message for a command that arrives while the match is being unloaded. It asks the client
/// to retry, because the match can be loaded from the store again.
pub(super) const UNLOADING_MESSAGE: &str = "the match is being unloaded; try again";

impl Envelope {
    /// Refuses the command if a client waits for a reply. Other commands are dropped.
    pub(super) fn refuse(self, why: &str) {
        match self.command.request {
            MatchRequest::PushSnapshot | MatchRequest::Unfollow | MatchRequest::Control(_) => {}
            MatchRequest::Act(_)
            | MatchRequest::Watch
            | MatchRequest::Resync { .. }
            | MatchRequest::SendChat { .. }
            | MatchRequest::OfferRematch
            | MatchRequest::DeclineRematch => {
                self.reply.refuse(ErrorCode::Overloaded, why);
            }
        }
    }
}
