//! How the rest of the server speaks to a match.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::assisted::Assisted;
use super::mailbox::{Sender, Unsent};
use super::peer::{Peer, PeerId};
use super::reply::Reply;
use super::to_protocol;
use plyhouse_engine::catalog::Entry;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Action, Match, Occupant};
use plyhouse_protocol::{
    ErrorCode, Listing, MatchCode, MatchId, PlayerId, Ply, SeatNumber, SeatState, Seq, Status,
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
pub(super) struct MatchHandle(Arc<Line>);

#[derive(Debug)]
struct Line {
    card: Arc<Card>,
    /// Boxed, since they are large, and those who wait have their own room set aside in each match.
    mailbox: Sender<Box<Message>>,
    task: Assisted,
}

/// What remains to be done when something could not be done at once.
pub(super) type Rest<'a> = Option<BoxFuture<'a, ()>>;

impl MatchHandle {
    /// Speaks to the match with this card, which listens to this mailbox in this task.
    pub(super) fn new(card: Arc<Card>, mailbox: Sender<Box<Message>>, task: Assisted) -> Self {
        Self(Arc::new(Line {
            card,
            mailbox,
            task,
        }))
    }

    /// What a list shows of the match.
    pub(super) fn card(&self) -> &Arc<Card> {
        &self.0.card
    }

    pub(super) fn id(&self) -> MatchId {
        self.0.card.id
    }

    /// Asks for an action that was read at this instant; the match answers the client. Most often that
    /// is done by the end of the call, and nothing remains.
    pub(super) fn act(self, action: Action, received_at: Instant, reply: Reply) -> Rest<'static> {
        let unsent = self.try_send(Message::Act {
            action,
            received_at,
            reply,
        })?;
        Some(Box::pin(async move { self.send_later(unsent).await }))
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
        if let Some(unsent) = self.try_send(message) {
            self.send_later(unsent).await;
        }
    }

    /// Sends unless that has to wait: then gives the message back.
    fn try_send(&self, message: Message) -> Option<Box<Message>> {
        let Line { mailbox, task, .. } = &*self.0;
        match task.assist(|| mailbox.try_send(Box::new(message))) {
            Ok(()) => None,
            Err(Unsent::Full(unsent)) => Some(unsent),
            Err(Unsent::Closed(unsent)) => {
                unsent.refuse();
                None
            }
        }
    }

    async fn send_later(&self, message: Box<Message>) {
        if let Err(unsent) = self.0.mailbox.send(message).await {
            unsent.refuse();
        }
    }
}

impl Message {
    /// Answers that the match is gone. It has just been put away, and may be found in the store.
    fn refuse(self) {
        if let Some(reply) = self.into_reply() {
            let message = "that match is being put away; ask again";
            reply.refuse(ErrorCode::Overloaded, message);
        }
    }

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
    pub(super) game: &'static Entry,
    pub(super) listed: bool,
    code: MatchCode,
    ply: AtomicU64,
    roster: Mutex<Roster>,
}

/// The part of a card that changes with people.
#[derive(Debug)]
struct Roster {
    status: Status,
    seats: [Occupant; 2],
    presence: Presence,
}

/// Who is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Presence {
    /// Whether the player in each seat is connected; `None` for a seat without one.
    pub(super) seats: [Option<bool>; 2],
    pub(super) spectators: u64,
}

impl Card {
    pub(super) fn new(state: &Match) -> Self {
        let creation = state.creation();
        Self {
            id: creation.id,
            game: creation.game,
            listed: creation.listed,
            code: creation.code,
            ply: AtomicU64::new(state.ply().0),
            roster: Mutex::new(Roster {
                status: to_protocol::status(state.stage()),
                seats: Seat::ALL.map(|seat| state.occupant(seat).clone()),
                presence: Presence {
                    seats: [None; 2],
                    spectators: 0,
                },
            }),
        }
    }

    pub(super) fn set_ply(&self, ply: Ply) {
        self.ply.store(ply.0, Ordering::Release);
    }

    /// Brings the card in step with the match. Gives the status if that is another now.
    pub(super) fn update(&self, state: &Match, presence: Presence) -> Option<Status> {
        let mut roster = self.roster.lock();
        roster.presence = presence;
        for seat in Seat::ALL {
            let (known, occupant) = (&mut roster.seats[seat.index()], state.occupant(seat));
            if known != occupant {
                known.clone_from(occupant);
            }
        }
        let status = to_protocol::status(state.stage());
        let before = std::mem::replace(&mut roster.status, status);
        (before != status).then_some(status)
    }

    pub(super) fn status(&self) -> Status {
        self.roster.lock().status
    }

    /// The seat in which this player sits.
    pub(super) fn seat_of(&self, id: PlayerId) -> Option<SeatNumber> {
        let roster = self.roster.lock();
        let is_theirs = |seat: &Seat| roster.seats[seat.index()].player() == Some(id);
        let seat = Seat::ALL.into_iter().find(is_theirs);
        seat.map(to_protocol::seat)
    }

    pub(super) fn listing(&self) -> Listing {
        let Roster {
            status,
            seats,
            presence,
        } = &*self.roster.lock();
        let seat = |seat: Seat| SeatState {
            side: self.game.info.sides[seat.index()].to_owned(),
            occupant: to_protocol::occupant(
                &seats[seat.index()],
                presence.seats[seat.index()] == Some(true),
            ),
        };
        Listing {
            match_id: self.id,
            code: self.code.to_string(),
            game: self.game.info.id.to_owned(),
            status: *status,
            seats: Seat::ALL.map(seat),
            ply: Ply(self.ply.load(Ordering::Acquire)),
            spectators: presence.spectators,
        }
    }
}
