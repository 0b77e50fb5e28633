//! What can be asked of a match, and what can happen in one. Plain data, which is kept and sent as it
//! is serialised here: a name or a number that was written once is never changed, it is on disks.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{EndDetail, EndReason, PlayerId, PlayerKind, Ply, ShownRating};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clocks::RemainingTime;
use crate::occupant::{Occupant, seated};

/// The present, as a match decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// In milliseconds since 1970.
    pub at_ms: u64,
    /// What a move in the present turn is charged now, in whole milliseconds. Nothing without a clock.
    pub spent_ms: u64,
}

impl Timestamp {
    /// A moment at which nothing is charged.
    #[must_use]
    pub const fn uncharged(at_ms: u64) -> Self {
        Self { at_ms, spent_ms: 0 }
    }
}

/// What players of a running match offer each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// A draw.
    Draw,
    /// To take the last moves back.
    Takeback,
}

/// What is asked of a match, by a player, a bot, or the passing of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    /// A player takes an open seat: this one, or the first.
    Join {
        /// Who.
        player: PlayerId,
        /// The name by which the match knows the player from now on.
        name: String,
        /// What the player is.
        kind: PlayerKind,
        /// How the account is rated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rating: Option<ShownRating>,
        /// Where; the first open seat if `None`.
        seat: Option<Seat>,
    },
    /// A player goes, or has been away from an open match for too long.
    Leave {
        /// Who.
        player: PlayerId,
    },
    /// The host puts a bot into an open seat.
    SeatBot {
        /// Who asks.
        by: PlayerId,
        /// Where.
        seat: Seat,
        /// How strong.
        level: Level,
    },
    /// The host takes a bot out again.
    RemoveBot {
        /// Who asks.
        by: PlayerId,
        /// Where.
        seat: Seat,
    },
    /// A player moves.
    Play {
        /// Who.
        player: PlayerId,
        /// The ply for which the move is meant.
        ply: Ply,
        /// The move, in the game's notation.
        #[serde(rename = "move")]
        m: String,
        /// How often moves had been taken back, as far as the player knew; `None` for whoever does not
        /// care.
        takebacks: Option<u64>,
    },
    /// A bot moves.
    PlayAsBot {
        /// Which.
        seat: Seat,
        /// The ply that it thought about.
        ply: Ply,
        /// The move, in the game's notation.
        #[serde(rename = "move")]
        m: String,
    },
    /// A player gives up.
    Resign {
        /// Who.
        player: PlayerId,
    },
    /// A bot gives up.
    ResignAsBot {
        /// Which.
        seat: Seat,
    },
    /// A player breaks off a match that has hardly begun.
    #[serde(rename = "call_off")]
    AbortByPlayer {
        /// Who.
        player: PlayerId,
    },
    /// A player offers a draw, or accepts the one that is offered.
    OfferDraw {
        /// Who.
        player: PlayerId,
        /// The ply for which the offer is meant.
        ply: Ply,
    },
    /// A player asks to take moves back, or allows it.
    OfferTakeback {
        /// Who.
        player: PlayerId,
        /// The ply at which that is meant.
        ply: Ply,
        /// The ply to be played anew; if `None`, what the other offers, or else one's own last.
        to_ply: Option<Ply>,
    },
    /// A player turns down what the other offers, or else withdraws their own offer.
    Decline {
        /// Who.
        player: PlayerId,
        /// What.
        offer: Offer,
    },
    /// A bot says whether it takes the draw that it is offered.
    AnswerDrawAsBot {
        /// Which.
        seat: Seat,
        /// Whether it does.
        accepts: bool,
    },
    /// Whoever the match is for does not want to play it.
    DeclineChallenge {
        /// Who.
        player: PlayerId,
    },
    /// A player gives the other more time.
    GiveTime {
        /// Who.
        player: PlayerId,
        /// How much, in milliseconds.
        ms: u64,
    },
    /// A player wants to be told the best move.
    Hint {
        /// Who.
        player: PlayerId,
        /// The ply for which it is.
        ply: Ply,
    },
    /// A player has been away from a running match for too long.
    Abandon {
        /// Whose seat it is.
        seat: Seat,
    },
    /// A bot takes the seat of a player who has gone.
    StandIn {
        /// Which.
        seat: Seat,
    },
    /// The seat whose turn it is has run out of time.
    Flag,
    /// The seat whose turn it is has not played its first move in time.
    NoFirstMove,
    /// Ends the match without a result.
    Abort,
}

/// One thing that happened in a match. Its number is its place in the match's history, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When the match decided on it, in milliseconds since 1970. It is kept, and not told.
    pub at_ms: u64,
    /// The request by which a client has asked for it, if several servers may be asked that. It is kept, so
    /// that a request that is asked again is known by whichever server that comes to. Not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<GlobalRequestId>>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// A request of a client, among those of all servers: the server, its connection, and the number of the
/// request on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobalRequestId(pub Uuid, pub u64, pub u64);

impl Event {
    /// Whether the match is over with this event.
    #[must_use]
    pub const fn is_end(&self) -> bool {
        matches!(self.kind, EventKind::Ended { .. })
    }
}

/// What happened in a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum EventKind {
    /// A seat has a new occupant.
    #[serde(with = "seated")]
    Seated {
        /// Which.
        seat: Seat,
        /// Who; `Unfinished` when the seat was vacated.
        occupant: Occupant,
    },
    /// Both seats are filled: the game begins.
    Started {
        /// What both clocks start with; without a clock there is nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
    /// A move was played.
    Moved {
        /// By whom.
        seat: Seat,
        /// The move, in canonical form.
        #[serde(rename = "move")]
        m: String,
        /// What was charged for it, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent_ms: Option<u64>,
        /// What is left after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
    /// A player offers the other something.
    Offered {
        /// Who.
        seat: Seat,
        /// What.
        offer: Offer,
        /// At which ply.
        ply: Ply,
        /// With a takeback: the ply that would be played anew.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to_ply: Option<Ply>,
    },
    /// An offer was turned down or withdrawn.
    Declined {
        /// Whose offer it was.
        seat: Seat,
        /// What it was.
        offer: Offer,
        /// Who ended it.
        by: Seat,
    },
    /// The plies from here on are off the board again.
    TakenBack {
        /// The ply that is played next.
        ply: Ply,
        /// What both seats have, as it was when that ply began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
    /// A seat was given more time by the other.
    TimeGiven {
        /// Who has it now.
        seat: Seat,
        /// How much, in milliseconds.
        ms: u64,
        /// What both seats have, as if it had been there when the turn began.
        #[serde(rename = "left")]
        remaining: RemainingTime,
    },
    /// A player has been told the best move.
    Hinted {
        /// Who.
        seat: Seat,
        /// At which ply.
        ply: Ply,
    },
    /// The match is over.
    Ended {
        /// The seat that won, if one did.
        winner: Option<Seat>,
        /// Why it ended.
        reason: EndReason,
        /// What more there is to say of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<EndDetail>,
        /// Whose doing it was, where one seat broke it off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Seat>,
        /// What is left on the clocks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "left")]
        remaining: Option<RemainingTime>,
    },
}

impl EventKind {
    /// Whether a turn begins with it: somebody is to move who was not, or once more.
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

    /// The begin of a match without a clock.
    pub const UNTIMED_START: Self = Self::Started { remaining: None };

    /// A move in a match without a clock.
    #[must_use]
    pub const fn untimed_move(seat: Seat, m: String) -> Self {
        Self::Moved {
            seat,
            m,
            spent_ms: None,
            remaining: None,
        }
    }

    /// The end of a match without a clock, of which there is no more to say.
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

    /// The event, at this time in milliseconds since 1970.
    #[must_use]
    pub const fn at(self, at_ms: u64) -> Event {
        Event {
            at_ms,
            request: None,
            kind: self,
        }
    }
}
