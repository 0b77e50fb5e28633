//! Numbered events of a match. For each event, the server sends identical bytes to all followers of
//! the match.

use serde::{Deserialize, Serialize};

use super::id::{MatchId, PlayerId, Ply, SeatNumber, Seq};
use super::named_player::NamedPlayer;
use super::ratings::ShownRating;
use super::wire_enum::{known_word, wire_enum};

/// A change in a match, such as a move or an offer. The events of a match are numbered 1, 2, 3 …
/// without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A seat has a new occupant, or was vacated.
    Seated {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// Seat whose occupant changed.
        seat: SeatNumber,
        /// New occupant of the seat.
        #[serde(flatten)]
        occupant: Occupant,
    },
    /// Both seats are filled, and the match starts.
    Started {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// Position at the start of the match.
        position: String,
        /// Ply of the first move, which is always 0.
        ply: Ply,
        /// Whether the king of the side to move is in check. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
        /// Seat that moves first: seat 0, unless the match starts from a custom position.
        turn: SeatNumber,
        /// All legal moves.
        legal: Vec<String>,
        /// Remaining time of both players. Absent in an untimed match.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
        /// Time limit for the first move, in milliseconds. The first move is not charged to the
        /// clock. Absent in an untimed match, or if a bot moves first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_move_ms: Option<u64>,
        /// Time that a player may be absent before losing the match, in milliseconds. Absent in a
        /// correspondence match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "patience_ms")]
        absence_limit_ms: Option<u64>,
    },
    /// A move was played.
    Moved {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// Ply of this move, counted from 0.
        ply: Ply,
        /// Next ply, which is `ply` plus one. If an older server does not send this field, clients
        /// read 0.
        #[serde(default)]
        next_ply: Ply,
        /// Seat that played the move.
        seat: SeatNumber,
        /// The move in the canonical notation of the game.
        #[serde(rename = "move")]
        m: String,
        /// The move in standard algebraic notation. Present only in chess.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        san: Option<String>,
        /// Position after the move.
        position: String,
        /// Whether the king of the side to move is in check. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
        /// Seat that moves next; `null` when the game is over.
        turn: Option<SeatNumber>,
        /// All moves that the next player may play.
        legal: Vec<String>,
        /// Remaining time of both players at the start of the next turn. Absent in an untimed
        /// match.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
        /// Time charged for this move, in milliseconds. The value is 0 if the move was not charged
        /// to the clock. Absent in an untimed match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent_ms: Option<u64>,
        /// Time limit for the next move, in milliseconds. Present only if the next move is a
        /// player's first move, which is not charged to the clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_move_ms: Option<u64>,
    },
    /// A player offers a draw or a takeback to the other player.
    Offered {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// The new offer.
        #[serde(flatten)]
        offer: OfferState,
    },
    /// An offer was declined or withdrawn.
    Declined {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// Seat that made the offer.
        seat: SeatNumber,
        /// Kind of the offer.
        offer: OfferKind,
        /// Seat that declined or withdrew the offer. If `by` equals `seat`, the offer was
        /// withdrawn.
        by: SeatNumber,
    },
    /// A takeback was accepted, and moves were removed.
    TakenBack {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// Number of the next ply after the takeback.
        ply: Ply,
        /// Position after the takeback.
        position: String,
        /// Whether the king of the side to move is in check. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
        /// Seat that moves next.
        turn: SeatNumber,
        /// All legal moves.
        legal: Vec<String>,
        /// Remaining time of both players, restored to the values at the start of `ply`. Absent in
        /// an untimed match.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
        /// Time limit for the next move, in milliseconds. Present only if the next move is a
        /// player's first move, which is not charged to the clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_move_ms: Option<u64>,
        /// Number of accepted takebacks in this match.
        takebacks: u64,
    },
    /// A player gave the other player more time.
    TimeGiven {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// Seat that received the time.
        seat: SeatNumber,
        /// Time added, in milliseconds.
        ms: u64,
        /// Remaining time of both players at the start of the current turn, including the added
        /// time.
        #[serde(flatten)]
        time_left: TimeLeft,
    },
    /// A player received a hint.
    Hinted {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// Seat that received the hint.
        seat: SeatNumber,
        /// Ply of the move that the hint suggested.
        ply: Ply,
    },
    /// The match ended.
    Ended {
        /// Id of the match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Number of the event within its match, counted from 1.
        seq: Seq,
        /// How the match ended.
        outcome: Ending,
        /// Remaining time of both players at the end of the match, without an increment for the
        /// last turn. Absent in an untimed match.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
    },
}

impl Event {
    /// Values of `type` for all events.
    pub const TYPES: [&'static str; 9] = [
        "seated",
        "started",
        "moved",
        "offered",
        "declined",
        "taken_back",
        "time_given",
        "hinted",
        "ended",
    ];

    /// Returns the id of the match.
    #[must_use]
    pub const fn match_id(&self) -> MatchId {
        self.match_id_and_seq().0
    }

    /// Returns the number of the event within its match.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.match_id_and_seq().1
    }

    const fn match_id_and_seq(&self) -> (MatchId, Seq) {
        match self {
            Self::Seated { match_id, seq, .. }
            | Self::Started { match_id, seq, .. }
            | Self::Moved { match_id, seq, .. }
            | Self::Offered { match_id, seq, .. }
            | Self::Declined { match_id, seq, .. }
            | Self::TakenBack { match_id, seq, .. }
            | Self::TimeGiven { match_id, seq, .. }
            | Self::Hinted { match_id, seq, .. }
            | Self::Ended { match_id, seq, .. } => (*match_id, *seq),
        }
    }
}

/// Remaining time of both players, measured at the start of the current turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeLeft {
    /// Remaining time of each player in milliseconds, in order of seat number.
    pub left_ms: [u64; 2],
    /// Remaining byo-yomi periods of each player, in order of seat number. Absent for other kinds
    /// of clocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub periods: Option<[u64; 2]>,
}

/// Pending offer of a draw or a takeback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfferState {
    /// Seat that made the offer.
    pub seat: SeatNumber,
    /// Kind of the offer.
    pub offer: OfferKind,
    /// Ply of the move that was due when the offer was made.
    pub ply: Ply,
    /// Ply to which the match would return if the takeback were accepted. Absent for other kinds of
    /// offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ply: Option<Ply>,
}

/// Occupant of a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "occupant", rename_all = "snake_case")]
pub enum Occupant {
    /// The seat is open.
    Open,
    /// A player: either a person, or a program that connects to the server as a client.
    Player {
        /// Public id of the player.
        player: PlayerId,
        /// Name that the player had when taking the seat.
        name: String,
        /// Whether the player is connected.
        connected: bool,
        /// Whether the player had an account when taking the seat. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        account: bool,
        /// Whether the player is a program with its own account. Absent if false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        bot: bool,
        /// Rating of the player when taking the seat. Absent for guests.
        #[serde(flatten)]
        rating: Option<ShownRating>,
    },
    /// A bot that runs on the server.
    Bot {
        /// Name of the bot's level, such as `hard`.
        level: String,
        /// Player that the bot replaces as a stand-in. This player may take the seat back. Absent
        /// if the bot is not a stand-in.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        stand_in_for: Option<NamedPlayer>,
    },
}

/// Side and occupant of a seat, as shown in snapshots and in lists of matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeatState {
    /// Name of the seat's side in this game, such as `white`.
    pub side: String,
    /// Occupant of the seat.
    #[serde(flatten)]
    pub occupant: Occupant,
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ending {
    /// Winning seat; `null` for a draw, or if the match has no result.
    pub winner: Option<SeatNumber>,
    /// Reason for the end of the match.
    // `None` if the reason is unknown, because a newer server sent it. Servers always set a reason.
    #[serde(deserialize_with = "known_word")]
    #[cfg_attr(test, schemars(with = "EndReason"))]
    pub reason: Option<EndReason>,
    /// Detailed reason for the end of the match, such as `checkmate` or `no-first-move`. Absent if
    /// the match has no detailed reason. Clients must accept unknown values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Seat that caused the abort. Absent if neither seat caused the abort, or if the match was not
    /// aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SeatNumber>,
    /// Points of each seat, in order of seat number. Present only in games that are decided by
    /// points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<[u32; 2]>,
    /// Squares of the winning line. Absent if the match was not won by a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<String>>,
}

wire_enum! {
    /// Reason for the end of a match.
    EndReason {
        /// The rules of the game ended the match, for example by checkmate.
        Rules = "rules",
        /// A player resigned.
        Resignation = "resignation",
        /// A player abandoned the match, usually by being absent for too long.
        Abandonment = "abandonment",
        /// The match was aborted and has no result.
        Aborted = "aborted",
        /// A player ran out of time.
        Timeout = "timeout",
        /// The players agreed on a draw.
        Agreement = "agreement",
    }
}

wire_enum! {
    /// Value of `detail` for a match that was not ended by the rules of the game. If the rules of
    /// the game ended the match, `detail` is a value that the game defines.
    EndDetail {
        /// A player ran out of time, but the opponent cannot win by any sequence of legal moves.
        /// The match is a draw.
        CannotWin = "cannot-win",
        /// A player ran out of time while the opponent's draw offer was pending. The match is a
        /// draw.
        Flag = "flag",
        /// A player did not make the first move in time.
        NoFirstMove = "no-first-move",
        /// The challenged player declined the challenge.
        Declined = "declined",
    }
}

wire_enum! {
    /// Kind of an offer from one player to the other.
    OfferKind {
        /// Offer to end the match as a draw.
        Draw = "draw",
        /// Offer to take back the last moves.
        Takeback = "takeback",
        /// Offer to play another match on the same terms.
        Rematch = "rematch",
        /// Challenge: an invitation to a match that only the challenged player may join. Clients
        /// create challenges with `create`, not with `offer`. Clients send the word `challenge`
        /// only in `decline` requests.
        Challenge = "challenge",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_reason_of_newer_server_is_accepted() {
        let decode = |text| serde_json::from_str::<Ending>(text).map(|ending| ending.reason);
        let aborted = decode(r#"{"winner":null,"reason":"aborted"}"#);
        assert_eq!(aborted.unwrap(), Some(EndReason::Aborted));
        let newer_reason = decode(r#"{"winner":0,"reason":"judgement"}"#);
        assert_eq!(newer_reason.unwrap(), None);
        assert!(decode(r#"{"winner":0}"#).is_err());
    }
}
