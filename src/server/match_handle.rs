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
use super::match_handle::command::{Answer, Command, MatchRequest};
use super::match_handle::mailbox::{Sender, Task, Unsent};
use super::match_handle::replication::ReplicaUpdate;
use super::match_handle::summary::MatchSummary;

/// How many requests one match may have waiting. A client that finds no room waits, and is not listened
/// to meanwhile.
pub(super) const MAILBOX: usize = 64;

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
    card: Arc<MatchSummary>,
    /// Boxed, since letters are large, and each match has room of its own for those that wait.
    mailbox: Sender<Box<Envelope>>,
}

/// What is still to be waited for, if something could not be done at once.
pub(super) type Pending<'a> = Option<BoxFuture<'a, ()>>;

impl MatchHandle {
    /// Speaks to the match with this card, which listens to this mailbox.
    pub(super) fn new(card: Arc<MatchSummary>, mailbox: Sender<Box<Envelope>>) -> Self {
        Self(Arc::new(Inner { card, mailbox }))
    }

    /// Begins the match, and gives the task that is to be spawned.
    pub(super) fn begin(
        &self,
        owner: impl Future<Output = ()> + Send + 'static,
    ) -> Task<Box<Envelope>> {
        self.0.mailbox.begin(owner)
    }

    /// What a list shows of the match.
    pub(super) fn card(&self) -> &Arc<MatchSummary> {
        &self.0.card
    }

    pub(super) fn id(&self) -> MatchId {
        self.0.card.id
    }

    /// Whether nobody else has a handle of this match. To be asked where nobody can get one meanwhile.
    pub(super) fn is_only(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Sends a command, which the match answers. Most often it has done so by the end of the call.
    pub(super) fn post(self, command: Command, reply: Reply) -> Pending<'static> {
        let letter = Box::new(Envelope { command, reply });
        match self.0.mailbox.try_send(letter) {
            Ok(()) => None,
            Err(Unsent::Full(letter)) => Some(Box::pin(async move {
                if let Err(letter) = self.0.mailbox.send(letter).await {
                    letter.refuse(GONE);
                }
            })),
            Err(Unsent::Closed(letter)) => {
                letter.refuse(GONE);
                None
            }
        }
    }

    /// Sends a command and waits for its answer. True if the request was granted.
    pub(super) async fn ask(&self, command: Command, reply: Reply) -> bool {
        let (reply, granted) = reply.watched();
        if let Some(pending) = self.clone().post(command, reply) {
            pending.await;
        }
        matches!(granted.await, Ok(Ok(_)))
    }

    /// Shows the match, unasked, to a player who has a part in it. The connection has noted that it
    /// follows.
    pub(super) async fn show(&self, player: PlayerId, outbox: &Outbox) {
        let command = Command::unasked(outbox.connection(), player, MatchRequest::Show);
        self.ask(command, Reply::unasked(outbox.clone())).await;
    }

    /// Has the match do something that no client has asked for, and waits until that is done or cannot
    /// be.
    pub(super) async fn tell(&self, request: MatchRequest, metrics: &Arc<Metrics>) {
        self.ask_for(Command::of_server(request), metrics).await;
    }

    /// Sends a command for which another server wants the answer, or nobody does. `None` if it was left
    /// unanswered.
    pub(super) fn ask_for(
        &self,
        command: Command,
        metrics: &Arc<Metrics>,
    ) -> impl Future<Output = Option<Answer>> + Send + use<> {
        let (reply, answered) = Reply::unasked(Outbox::nobodys(metrics)).watched();
        let pending = self.clone().post(command, reply);
        async move {
            if let Some(pending) = pending {
                pending.await;
            }
            answered.await.ok()
        }
    }

    /// Hands on what the match's owner has told.
    pub(super) fn feed(
        self,
        bulletin: Box<ReplicaUpdate>,
        metrics: &Arc<Metrics>,
    ) -> Pending<'static> {
        let command = Command::of_server(MatchRequest::ReplicaUpdate(bulletin));
        self.post(command, Reply::unasked(Outbox::nobodys(metrics)))
    }

    /// Tells the match that a connection has stopped following it.
    pub(super) async fn unfollow(self, player: PlayerId, outbox: &Outbox) {
        let command = Command::unasked(outbox.connection(), player, MatchRequest::Unfollow);
        if let Some(pending) = self.post(command, Reply::unasked(outbox.clone())) {
            pending.await;
        }
    }
}

/// A match that has just been put away may be found in the store.
const GONE: &str = "that match is being put away; ask again";

impl Envelope {
    /// Answers that nothing was done, if a client waits for an answer.
    pub(super) fn refuse(self, why: &str) {
        match self.command.request {
            MatchRequest::Show
            | MatchRequest::Unfollow
            | MatchRequest::RematchBegins { .. }
            | MatchRequest::Look
            | MatchRequest::Remind
            | MatchRequest::Forget { .. }
            | MatchRequest::StoreRefuses { .. }
            | MatchRequest::StoreAccepts
            | MatchRequest::GiveUp
            | MatchRequest::Follow { .. }
            | MatchRequest::ReplicaUpdate(_)
            | MatchRequest::Gap
            | MatchRequest::OwnerChanged { .. }
            | MatchRequest::NodeGone { .. }
            | MatchRequest::NodesChanged
            | MatchRequest::Rated(_) => {}
            MatchRequest::Act(_)
            | MatchRequest::Watch
            | MatchRequest::Resync { .. }
            | MatchRequest::Say { .. }
            | MatchRequest::Rematch
            | MatchRequest::DeclineRematch => {
                self.reply.refuse(ErrorCode::Overloaded, why);
            }
        }
    }
}
