//! What happens in a match: numbered, and the same bytes for everybody who follows it.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use super::id::{MatchId, PlayerId, Ply, SeatNumber, Seq};
use super::named_player::NamedPlayer;
use super::ratings::ShownRating;
use super::wire_enum::wire_enum;

/// One thing that happened in a match. A match's events are numbered 1, 2, 3 … without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A seat has a new occupant.
    Seated {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The seat.
        seat: SeatNumber,
        /// Who sits there now.
        #[serde(flatten)]
        occupant: Occupant,
    },
    /// Both seats are filled: the game begins.
    Started {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The first position.
        position: String,
        /// 0.
        ply: Ply,
        /// Whether the king of the side to move is attacked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
        /// The seat that moves first: 0.
        turn: SeatNumber,
        /// Every legal move.
        legal: Vec<String>,
        /// What both seats have.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
        /// How long the first ply may take, which is free.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_move_ms: Option<u64>,
        /// How long a player may be absent before the match is lost; absent in a match of days.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[serde(rename = "patience_ms")]
        absence_limit_ms: Option<u64>,
    },
    /// A move was played.
    Moved {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The number of this move, counted from 0.
        ply: Ply,
        /// The number of the next: one more. 0 from a server that is older than this field.
        #[serde(default)]
        next_ply: Ply,
        /// Who played it.
        seat: SeatNumber,
        /// The move in canonical form.
        #[serde(rename = "move")]
        m: String,
        /// The move in standard algebraic notation, in chess.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        san: Option<String>,
        /// The position after it.
        position: String,
        /// Whether the king of the side to move is attacked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
        /// Who moves next; nobody when the game is over.
        turn: Option<SeatNumber>,
        /// Every legal move of the next ply.
        legal: Vec<String>,
        /// What both seats have from now on.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
        /// How long this move took; 0 for a ply that is free.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent_ms: Option<u64>,
        /// How long the next ply may take, if that is free.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_move_ms: Option<u64>,
    },
    /// A player offers the other something.
    Offered {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The offer.
        #[serde(flatten)]
        offer: OfferState,
    },
    /// An offer was turned down or withdrawn.
    Declined {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// Whose offer it was.
        seat: SeatNumber,
        /// What was offered.
        offer: OfferKind,
        /// Who ended it.
        by: SeatNumber,
    },
    /// Moves are off the board again.
    TakenBack {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The ply that is next now.
        ply: Ply,
        /// The position before it.
        position: String,
        /// Whether the king of the side to move is attacked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
        /// Who moves next.
        turn: SeatNumber,
        /// Every legal move.
        legal: Vec<String>,
        /// What both seats have, as it was when that ply began.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
        /// How long the next ply may take, if that is free.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_move_ms: Option<u64>,
        /// How often moves have been taken back in this match.
        takebacks: u64,
    },
    /// A player has given the other more time.
    TimeGiven {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// Who has it.
        seat: SeatNumber,
        /// How much.
        ms: u64,
        /// What both seats have, as if it had been there when the turn began.
        #[serde(flatten)]
        time_left: TimeLeft,
    },
    /// A player was told the best move.
    Hinted {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// Who.
        seat: SeatNumber,
        /// At which ply.
        ply: Ply,
    },
    /// The match is over.
    Ended {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// How it ended.
        outcome: Ending,
        /// What both seats had left.
        #[serde(flatten)]
        time_left: Option<TimeLeft>,
    },
}

impl Event {
    /// The `type` of every event.
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

    /// The match that it happened in.
    #[must_use]
    pub const fn match_id(&self) -> MatchId {
        match self {
            Self::Seated { match_id, .. }
            | Self::Started { match_id, .. }
            | Self::Moved { match_id, .. }
            | Self::Offered { match_id, .. }
            | Self::Declined { match_id, .. }
            | Self::TakenBack { match_id, .. }
            | Self::TimeGiven { match_id, .. }
            | Self::Hinted { match_id, .. }
            | Self::Ended { match_id, .. } => *match_id,
        }
    }

    /// The event's number within its match.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        match self {
            Self::Seated { seq, .. }
            | Self::Started { seq, .. }
            | Self::Moved { seq, .. }
            | Self::Offered { seq, .. }
            | Self::Declined { seq, .. }
            | Self::TakenBack { seq, .. }
            | Self::TimeGiven { seq, .. }
            | Self::Hinted { seq, .. }
            | Self::Ended { seq, .. } => *seq,
        }
    }
}

/// What both seats have left, as of the begin of the present turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeLeft {
    /// The time of each seat.
    pub left_ms: [u64; 2],
    /// The periods of each seat, in byo-yomi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub periods: Option<[u64; 2]>,
}

/// An offer that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfferState {
    /// Whose it is.
    pub seat: SeatNumber,
    /// What is offered.
    pub offer: OfferKind,
    /// The ply at which it was made.
    pub ply: Ply,
    /// The ply that a takeback goes back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ply: Option<Ply>,
}

/// Who sits in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "occupant", rename_all = "snake_case")]
pub enum Occupant {
    /// Nobody yet.
    Open,
    /// A person, or whoever speaks for one.
    Player {
        /// The player's public id.
        player: PlayerId,
        /// The player's name.
        name: String,
        /// Whether the player has a connection.
        connected: bool,
        /// Whether the name was the player's alone at the time of sitting down.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        account: bool,
        /// Whether it is the account of a program.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        bot: bool,
        /// The rating of an account, as it was when the player sat down.
        #[serde(flatten)]
        rating: Option<ShownRating>,
    },
    /// A bot of the server.
    Bot {
        /// How strongly it plays.
        level: String,
        /// The player whose place it keeps, who may take it back.
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        stand_in_for: Option<NamedPlayer>,
    },
}

/// A seat as a snapshot tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeatState {
    /// What the seat is called in this game: `x`.
    pub side: String,
    /// Who sits there.
    #[serde(flatten)]
    pub occupant: Occupant,
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ending {
    /// The seat that won; nobody in a draw, or without a result.
    pub winner: Option<SeatNumber>,
    /// Why it ended.
    // `None` if for a reason of a later server. No server sends that.
    #[serde(deserialize_with = "known_reason")]
    #[cfg_attr(test, schemars(with = "EndReason"))]
    pub reason: Option<EndReason>,
    /// In which way it ended, where there are several: `checkmate`, `no-first-move`. A client need not
    /// know them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whose doing it was that the match was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<SeatNumber>,
    /// The points of the seats, in games that are decided by counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<[u32; 2]>,
    /// The squares of the winning line, in games that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<String>>,
}

wire_enum! {
    /// Why a match ended.
    EndReason {
        /// By the rules of the game.
        Rules = "rules",
        /// A player gave up.
        Resignation = "resignation",
        /// A player went away and did not come back in time.
        Abandonment = "abandonment",
        /// Without a result.
        Aborted = "aborted",
        /// A player ran out of time.
        Timeout = "timeout",
        /// The players agreed on a draw.
        Agreement = "agreement",
    }
}

wire_enum! {
    /// What more the server tells of an end that was not by the rules of the game, which have words of
    /// their own.
    EndDetail {
        /// Out of time, against a seat that cannot win by any series of legal moves.
        CannotWin = "cannot-win",
        /// A draw by agreement: time ran out while the other seat's offer of a draw was open.
        Flag = "flag",
        /// A seat did not play its first move in time.
        NoFirstMove = "no-first-move",
        /// Whoever was challenged does not want to play.
        Declined = "declined",
    }
}

wire_enum! {
    /// What one player may offer to another.
    OfferKind {
        /// A draw.
        Draw = "draw",
        /// To take back the last moves.
        Takeback = "takeback",
        /// Another match on the same terms.
        Rematch = "rematch",
        /// A match for one player alone. It is offered by `create`; only `decline` names it.
        Challenge = "challenge",
    }
}

/// Reads a reason; one that this build does not know is none.
fn known_reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EndReason>, D::Error> {
    let word = Cow::<str>::deserialize(deserializer)?;
    let matches_word = |reason: &EndReason| reason.as_str() == word;
    Ok(EndReason::ALL.iter().copied().find(matches_word))
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
