//! Actions and events of a match, as plain data. Actions and events are serialised for stores and
//! for other servers, so serialised names and numbers must never change.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{EndDetail, EndReason, PlayerId, PlayerKind, Ply, ShownRating};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clocks::RemainingTime;
use crate::occupant::{Occupant, seated};

/// Time of an action. For a move, the timestamp also contains the time that is charged to the
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Time charged to the clock if the action is a move, in whole milliseconds. The value is 0
    /// without a clock.
    pub spent_ms: u64,
}

impl Timestamp {
    /// Returns a timestamp that charges no time to the clock.
    #[must_use]
    pub const fn uncharged(at_ms: u64) -> Self {
        Self { at_ms, spent_ms: 0 }
    }
}

/// Kind of an offer that a player of a running match makes to the opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// Offer of a draw.
    Draw,
    /// Request to take back moves.
    Takeback,
}

/// Request that a player, a bot or a timer makes to a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    /// A player takes an open seat.
    Join {
        /// Player who joins.
        player: PlayerId,
        /// Name of the player, which the match shows until the player leaves the seat.
        name: String,
        /// Kind of the player: guest, account or bot account.
        kind: PlayerKind,
        /// Rating of the player's account, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rating: Option<ShownRating>,
        /// Requested seat; `None` requests the first open seat.
        seat: Option<Seat>,
    },
    /// A player leaves an open match, or is removed after being absent for too long.
    Leave {
        /// Player who leaves.
        player: PlayerId,
    },
    /// The host puts a bot into an open seat.
    SeatBot {
        /// Player who makes the request.
        by: PlayerId,
        /// Seat for the bot.
        seat: Seat,
        /// Level of the bot.
        level: Level,
    },
    /// The host removes a bot.
    RemoveBot {
        /// Player who makes the request.
        by: PlayerId,
        /// Seat of the bot.
        seat: Seat,
    },
    /// A player makes a move.
    Play {
        /// Player who moves.
        player: PlayerId,
        /// Ply number that the player expects the move to have. The match refuses the move if
        /// another ply is next.
        ply: Ply,
        /// Move in the game's notation.
        #[serde(rename = "move")]
        m: String,
        /// Number of takebacks that the player has seen. The match refuses the move if the number
        /// is outdated. `None` skips this check.
        takebacks: Option<u64>,
    },
    /// A bot makes a move.
    PlayAsBot {
        /// Seat of the bot.
        seat: Seat,
        /// Ply of the bot's move.
        ply: Ply,
        /// Move in the game's notation.
        #[serde(rename = "move")]
        m: String,
    },
    /// A player resigns.
    Resign {
        /// Player who resigns.
        player: PlayerId,
    },
    /// A bot resigns.
    ResignAsBot {
        /// Seat of the bot.
        seat: Seat,
    },
    /// A player aborts a match that has just started.
    #[serde(rename = "call_off")]
    AbortByPlayer {
        /// Player who aborts the match.
        player: PlayerId,
    },
    /// A player offers a draw or accepts the opponent's offer.
    OfferDraw {
        /// Player who offers or accepts.
        player: PlayerId,
        /// Ply that the player expects to be next. The match refuses the offer if another ply is
        /// next.
        ply: Ply,
    },
    /// A player requests a takeback or accepts the opponent's request.
    OfferTakeback {
        /// Player who requests or accepts.
        player: PlayerId,
        /// Ply that the player expects to be next. The match refuses the request if another ply is
        /// next.
        ply: Ply,
        /// Ply to which the takeback returns the match. `None` accepts the opponent's request if
        /// there is one. Otherwise, `None` requests a return to the player's last ply.
        to_ply: Option<Ply>,
    },
    /// A player declines the opponent's offer or withdraws their own.
    Decline {
        /// Player who declines or withdraws the offer.
        player: PlayerId,
        /// Kind of the offer: draw or takeback.
        offer: Offer,
    },
    /// A bot answers a draw offer.
    AnswerDrawAsBot {
        /// Seat of the bot.
        seat: Seat,
        /// Whether the bot accepts.
        accepts: bool,
    },
    /// The invited player declines the invitation to the match.
    DeclineChallenge {
        /// Invited player.
        player: PlayerId,
    },
    /// A player gives the opponent time.
    GiveTime {
        /// Player who gives the time.
        player: PlayerId,
        /// Given time in milliseconds.
        ms: u64,
    },
    /// A player receives a hint.
    Hint {
        /// Player who receives the hint.
        player: PlayerId,
        /// Ply that the player expects to be next. The match refuses to give the hint if another
        /// ply is next.
        ply: Ply,
    },
    /// Ends a running match because a player has been absent for too long.
    Abandon {
        /// Seat of the absent player.
        seat: Seat,
    },
    /// A bot replaces an absent player.
    StandIn {
        /// Seat of the absent player.
        seat: Seat,
    },
    /// Ends the match because the side to move has run out of time.
    Flag,
    /// Ends the match because the side to move has not played its first move in time.
    NoFirstMove,
    /// Ends the match without a result.
    Abort,
}

/// Event of a match. The sequence number of an event is its position in the match's history,
/// counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Time at which the match produced the event, in milliseconds since 1970. The server stores
    /// this time but does not send it to clients.
    pub at_ms: u64,
    /// Id of the client request that caused the event; only set in a cluster. The id is stored, so
    /// that every server recognises a retry of the request. Move events have no request id, because
    /// the ply already identifies a retried move. The server does not send the id to clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<GlobalRequestId>>,
    /// Kind and data of the event.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Id of a client request that is unique among all servers. It consists of the server's id, the
/// connection's number and the request's number on that connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobalRequestId(pub Uuid, pub u64, pub u64);

impl Event {
    /// Returns whether the event ends the match.
    #[must_use]
    pub const fn is_end(&self) -> bool {
        matches!(self.kind, EventKind::Ended { .. })
    }
}

/// Kind and data of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum EventKind {
    /// A seat has a new occupant.
    #[serde(with = "seated")]
    Seated {
        /// Seat that changed.
        seat: Seat,
        /// New occupant; [`Occupant::Open`] if the seat was vacated.
        occupant: Occupant,
    },
    /// Both seats are filled and the game starts.
    Started {
        /// Initial time of both players; `None` without a clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
    /// A move was played.
    Moved {
        /// Seat that moved.
        seat: Seat,
        /// Move in canonical form.
        #[serde(rename = "move")]
        m: String,
        /// Time charged for the move, in milliseconds; `None` without a clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent_ms: Option<u64>,
        /// Remaining time of both players after the move; `None` without a clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
    /// A player made an offer to the opponent.
    Offered {
        /// Seat that made the offer.
        seat: Seat,
        /// Kind of the offer: draw or takeback.
        offer: Offer,
        /// Number of the ply that was to be played next when the player made the offer.
        ply: Ply,
        /// Ply to which a requested takeback returns the match; `None` for a draw offer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to_ply: Option<Ply>,
    },
    /// An offer was declined or withdrawn.
    Declined {
        /// Seat that made the offer.
        seat: Seat,
        /// Kind of the offer: draw or takeback.
        offer: Offer,
        /// Seat that declined or withdrew the offer.
        by: Seat,
    },
    /// All moves from `ply` on were taken back.
    TakenBack {
        /// Ply that is to be played next after the takeback.
        ply: Ply,
        /// Remaining time of both players at the start of `ply`; `None` without a clock. If a
        /// player received a gift of time during `ply`, the value includes the gift.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
    /// A seat received time from its opponent.
    TimeGiven {
        /// Seat that received the time.
        seat: Seat,
        /// Given time in milliseconds.
        ms: u64,
        /// Remaining time of both players after the gift. The value is computed as if the seat had
        /// received the gift at the start of the turn.
        #[serde(rename = "left")]
        remaining: RemainingTime,
    },
    /// A player received a hint. The match records this event before the server sends the hint.
    Hinted {
        /// Seat that received the hint.
        seat: Seat,
        /// Ply where the player received the hint.
        ply: Ply,
    },
    /// The match ended.
    Ended {
        /// Winning seat, if any.
        winner: Option<Seat>,
        /// Reason why the match ended.
        reason: EndReason,
        /// Further detail on why the match ended, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<EndDetail>,
        /// Seat whose player aborted the match or did not play the first move in time, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Seat>,
        /// Remaining time of both players at the end; `None` without a clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
}

impl EventKind {
    /// Returns whether the event starts a new turn.
    #[must_use]
    pub const fn begins_turn(&self) -> bool {
        match self {
            Self::Started { .. } | Self::Moved { .. } | Self::TakenBack { .. } => true,
            Self::Seated { .. }
            | Self::Offered { .. }
            | Self::Declined { .. }
            | Self::TimeGiven { .. }
            | Self::Hinted { .. }
            | Self::Ended { .. } => false,
        }
    }

    /// Start event of a match without a clock.
    pub const UNTIMED_START: Self = Self::Started { remaining: None };

    /// Returns a move event of a match without a clock.
    #[must_use]
    pub const fn untimed_move(seat: Seat, m: String) -> Self {
        Self::Moved {
            seat,
            m,
            spent_ms: None,
            remaining: None,
        }
    }

    /// Returns an end event of a match without a clock, with no further detail.
    #[must_use]
    pub const fn untimed_end(winner: Option<Seat>, reason: EndReason) -> Self {
        Self::Ended {
            winner,
            reason,
            detail: None,
            by: None,
            remaining: None,
        }
    }

    /// Returns an event of this kind that happened at `at_ms`, in milliseconds since 1970.
    #[must_use]
    pub const fn at(self, at_ms: u64) -> Event {
        Event {
            at_ms,
            request: None,
            kind: self,
        }
    }
}
