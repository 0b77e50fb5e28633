//! How the rest of the server speaks to a match.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::mpsc::error::{SendError, TrySendError};
use tokio::sync::{mpsc, oneshot};

use super::assisted::Assisted;
use super::peer::{Peer, PeerId};
use super::reply::Reply;
use crate::game::Seat;
use crate::matches::{Action, Creation};
use crate::protocol::{
    ErrorCode, Listing, MatchId, Occupant, PlayerId, Ply, SeatNumber, SeatState, Seq, Status,
};

/// How many requests one match may have waiting. A session that finds no room waits, and stops
/// listening to its client meanwhile.
pub(super) const MAILBOX: usize = 64;

/// What a match can be sent.
#[derive(Debug)]
pub(super) enum Message {
    /// Something a player or host asks for.
    Act {
        action: Action,
        /// When it was read.
        received_at: Instant,
        reply: Reply,
    },
    /// A player wants a seat, and to follow.
    Join {
        follower: Follower,
        name: String,
        seat: Option<Seat>,
        reply: Reply,
        done: Done,
    },
    /// A connection wants to follow, or a fresh snapshot.
    Watch {
        follower: Follower,
        reply: Reply,
        done: Done,
    },
    /// Players who have a part in the match are to see it and to follow it, unasked.
    Show {
        followers: Vec<Follower>,
        done: Done,
    },
    /// A player wants to leave.
    Leave {
        follower: Follower,
        reply: Reply,
        done: Done,
    },
    /// A connection is gone, or follows no more.
    Unfollow { peer: PeerId },
    /// A connection wants what happened after `since`.
    Resync {
        follower: Follower,
        since: Seq,
        reply: Reply,
        done: Done,
    },
}

/// A connection and the player whose it is.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    pub(super) peer: Arc<Peer>,
    pub(super) player: PlayerId,
}

/// Tells the asker whether what was asked came about. The client has been answered by then.
pub(super) type Done = oneshot::Sender<bool>;

/// How the rest of the server speaks to a match. Clones speak to the same match.
#[derive(Clone, Debug)]
pub(super) struct MatchHandle {
    pub(super) card: Arc<Card>,
    /// Boxed, since a channel sets aside room for 32 messages at once, and matches are many.
    mailbox: mpsc::Sender<Box<Message>>,
    task: Assisted,
}

impl MatchHandle {
    /// Speaks to the match with this card, which listens to this mailbox in this task.
    pub(super) const fn new(
        card: Arc<Card>,
        mailbox: mpsc::Sender<Box<Message>>,
        task: Assisted,
    ) -> Self {
        Self {
            card,
            mailbox,
            task,
        }
    }

    pub(super) fn id(&self) -> MatchId {
        self.card.id
    }

    /// Asks for an action that was read at this instant; the match answers the client.
    pub(super) async fn act(&self, action: Action, received_at: Instant, reply: Reply) {
        self.send(Message::Act {
            action,
            received_at,
            reply,
        })
        .await;
    }

    /// Asks for a seat. True if the player has it, and follows now.
    pub(super) async fn join(
        &self,
        follower: Follower,
        name: String,
        seat: Option<Seat>,
        reply: Reply,
    ) -> bool {
        self.ask(|done| Message::Join {
            follower,
            name,
            seat,
            reply,
            done,
        })
        .await
    }

    /// Asks to follow. True if the connection follows now.
    pub(super) async fn watch(&self, follower: Follower, reply: Reply) -> bool {
        self.ask(|done| Message::Watch {
            follower,
            reply,
            done,
        })
        .await
    }

    /// Shows the match, unasked, to players who have a part in it, and whose connections have noted
    /// that they follow it.
    pub(super) async fn show(&self, followers: Vec<Follower>) {
        self.ask(|done| Message::Show { followers, done }).await;
    }

    /// Asks to leave. True if the connection does not follow any more.
    pub(super) async fn leave(&self, follower: Follower, reply: Reply) -> bool {
        self.ask(|done| Message::Leave {
            follower,
            reply,
            done,
        })
        .await
    }

    pub(super) async fn unfollow(&self, peer: PeerId) {
        self.send(Message::Unfollow { peer }).await;
    }

    /// Asks for what happened after `since`. Waits for the answer, which may be large, so that a
    /// client has no more of them under way than it reads.
    pub(super) async fn resync(&self, follower: Follower, since: Seq, reply: Reply) {
        self.ask(|done| Message::Resync {
            follower,
            since,
            reply,
            done,
        })
        .await;
    }

    async fn ask(&self, message: impl FnOnce(Done) -> Message) -> bool {
        let (done, answer) = oneshot::channel();
        self.send(message(done)).await;
        // A match that is gone has dropped the message.
        answer.await.unwrap_or(false)
    }

    async fn send(&self, message: Message) {
        let send = || self.mailbox.try_send(Box::new(message));
        let sent = match self.task.assist(send) {
            Err(TrySendError::Full(message)) => self.mailbox.send(message).await,
            Err(TrySendError::Closed(message)) => Err(SendError(message)),
            Ok(()) => Ok(()),
        };
        if let Err(SendError(unsent)) = sent
            && let Some(reply) = unsent.into_reply()
        {
            // It has just been put away, and may be found in the store.
            reply.refuse(
                ErrorCode::Overloaded,
                "that match is being put away; ask again",
            );
        }
    }
}

impl Message {
    pub(super) fn into_reply(self) -> Option<Reply> {
        match self {
            Self::Act { reply, .. }
            | Self::Join { reply, .. }
            | Self::Watch { reply, .. }
            | Self::Leave { reply, .. }
            | Self::Resync { reply, .. } => Some(reply),
            Self::Show { .. } | Self::Unfollow { .. } => None,
        }
    }
}

/// What a list shows of a match. The match keeps it up to date before it tells anybody anything.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: MatchId,
    pub(super) game: &'static str,
    pub(super) listed: bool,
    code: String,
    ply: AtomicU64,
    roster: Mutex<Roster>,
}

/// The part of a card that changes with people.
#[derive(Debug)]
pub(super) struct Roster {
    pub(super) status: Status,
    pub(super) seats: [SeatState; 2],
    pub(super) spectators: u64,
}

impl Card {
    pub(super) fn new(creation: &Creation, ply: Ply, roster: Roster) -> Self {
        Self {
            id: creation.id,
            game: creation.game.info.id,
            listed: creation.listed,
            code: creation.code.to_string(),
            ply: AtomicU64::new(ply.0),
            roster: Mutex::new(roster),
        }
    }

    pub(super) fn set_ply(&self, ply: Ply) {
        self.ply.store(ply.0, Ordering::Release);
    }

    pub(super) fn set_roster(&self, roster: Roster) {
        *self.roster() = roster;
    }

    fn roster(&self) -> MutexGuard<'_, Roster> {
        // No code that holds the lock can panic half-way through a change.
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn status(&self) -> Status {
        self.roster().status
    }

    /// The seat in which this player sits.
    pub(super) fn seat_of(&self, id: PlayerId) -> Option<SeatNumber> {
        let is_theirs = |seat: &SeatState| match &seat.occupant {
            Occupant::Player { player, .. } => *player == id,
            Occupant::Open | Occupant::Bot { .. } => false,
        };
        let seats = &self.roster().seats;
        [SeatNumber(0), SeatNumber(1)]
            .into_iter()
            .find(|seat| is_theirs(&seats[seat.index()]))
    }

    pub(super) fn listing(&self) -> Listing {
        let roster = self.roster();
        Listing {
            match_id: self.id,
            code: self.code.clone(),
            game: self.game.to_owned(),
            status: roster.status,
            seats: roster.seats.clone(),
            ply: Ply(self.ply.load(Ordering::Acquire)),
            spectators: roster.spectators,
        }
    }
}
