//! How the rest of the server speaks to a match.

pub(crate) mod command;
pub(crate) mod mailbox;
pub(crate) mod replication;
pub(crate) mod summary;
pub(crate) mod wake_cell;

use std::sync::Arc;

use futures::future::BoxFuture;
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId};

use super::connection::outbox::Outbox;
use super::connection::reply::Reply;
use super::context::metrics::Metrics;
use super::match_handle::command::{Answer, Command, Control, MatchRequest};
use super::match_handle::mailbox::{Sender, Task, TrySendError};
use super::match_handle::replication::ReplicaUpdate;
use super::match_handle::summary::MatchSummary;

/// How many requests one match may have waiting. A client that finds no room waits, and is not listened
/// to meanwhile.
pub(super) const MAILBOX_CAPACITY: usize = 64;

/// What waits in the mailbox of a match: what is asked, and whom to answer.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) command: Command,
    pub(super) reply: Reply,
}

/// How the rest of the server speaks to a match. Clones speak to the same match.
#[derive(Clone, Debug)]
pub(super) struct MatchHandle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    summary: Arc<MatchSummary>,
    /// Boxed, since letters are large, and each match has room of its own for those that wait.
    mailbox: Sender<Box<Envelope>>,
}

/// What is still to be waited for, if something could not be done at once.
pub(super) type PendingSend<'a> = Option<BoxFuture<'a, ()>>;

impl MatchHandle {
    /// Speaks to the match with this card, which listens to this mailbox.
    pub(super) fn new(summary: Arc<MatchSummary>, mailbox: Sender<Box<Envelope>>) -> Self {
        Self(Arc::new(Inner { summary, mailbox }))
    }

    /// Begins the match, and gives the task that is to be spawned.
    pub(super) fn start(
        &self,
        actor: impl Future<Output = ()> + Send + 'static,
    ) -> Task<Box<Envelope>> {
        self.0.mailbox.start(actor)
    }

    /// What a list shows of the match.
    pub(super) fn summary(&self) -> &Arc<MatchSummary> {
        &self.0.summary
    }

    pub(super) fn id(&self) -> MatchId {
        self.0.summary.id
    }

    /// Whether nobody else has a handle of this match. To be asked where nobody can get one meanwhile.
    pub(super) fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Sends a command, which the match answers. Most often it has done so by the end of the call.
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

    /// Sends a command and waits for its answer. True if the request was granted.
    pub(super) async fn send_and_wait(&self, command: Command, reply: Reply) -> bool {
        let (reply, answer) = reply.with_answer_receiver();
        if let Some(pending) = self.clone().send(command, reply) {
            pending.await;
        }
        matches!(answer.await, Ok(Ok(_)))
    }

    /// Shows the match, unasked, to a player who has a part in it. The connection has noted that it
    /// follows.
    pub(super) async fn push_snapshot(&self, player: PlayerId, outbox: &Outbox) {
        let command = Command::unsolicited(outbox.connection(), player, MatchRequest::PushSnapshot);
        self.send_and_wait(command, Reply::unsolicited(outbox.clone()))
            .await;
    }

    /// Has the match do something that no client has asked for, and waits until that is done or cannot
    /// be.
    pub(super) async fn notify(&self, control: Control, metrics: &Arc<Metrics>) {
        self.request_answer(Command::from_server(control), metrics)
            .await;
    }

    /// Sends a command for which another server wants the answer, or nobody does. `None` if it was left
    /// unanswered.
    pub(super) fn request_answer(
        &self,
        command: Command,
        metrics: &Arc<Metrics>,
    ) -> impl Future<Output = Option<Answer>> + Send + use<> {
        let (reply, answer) =
            Reply::unsolicited(Outbox::without_connection(metrics)).with_answer_receiver();
        let pending = self.clone().send(command, reply);
        async move {
            if let Some(pending) = pending {
                pending.await;
            }
            answer.await.ok()
        }
    }

    /// Hands on what the match's owner has told.
    pub(super) fn send_replica_update(
        self,
        update: Box<ReplicaUpdate>,
        metrics: &Arc<Metrics>,
    ) -> PendingSend<'static> {
        let command = Command::from_server(Control::ReplicaUpdate(update));
        self.send(
            command,
            Reply::unsolicited(Outbox::without_connection(metrics)),
        )
    }

    /// Tells the match that a connection has stopped following it.
    pub(super) async fn unfollow(self, player: PlayerId, outbox: &Outbox) {
        let command = Command::unsolicited(outbox.connection(), player, MatchRequest::Unfollow);
        if let Some(pending) = self.send(command, Reply::unsolicited(outbox.clone())) {
            pending.await;
        }
    }
}

/// A match that has just been put away may be found in the store.
const UNLOADING_MESSAGE: &str = "that match is being put away; ask again";

impl Envelope {
    /// Answers that nothing was done, if a client waits for an answer.
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
