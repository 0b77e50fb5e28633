//! What servers say to each other.

use plyhouse_protocol::{ListedMatch, MatchId, PlayerId, PlayerSummary};
use plyhouse_store::{NodeId, SessionSelection};
use serde::{Deserialize, Serialize};

use crate::connection::precedence::ConnectionPrecedence;
use crate::match_handle::command::Command;
use crate::match_handle::replication::{Presence, ReplicaUpdate};
use crate::players::rating_update::RatingUpdate;

/// What one server sends another, or all.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Packet {
    /// Asked of the owner of a match, which answers [`PacketResponse`](super::PacketResponse).
    #[serde(rename = "Ask")]
    Request {
        match_id: MatchId,
        command: Box<Command>,
    },
    /// `from` has followers of a match, or has none any more. Its owner answers, and feeds it.
    Follow {
        match_id: MatchId,
        from: NodeId,
        /// Who is there; `None` once nobody is.
        #[serde(rename = "roster")]
        presence: Option<Presence>,
    },
    /// What is new of a match, for a server that follows it.
    #[serde(rename = "Fed")]
    ReplicaUpdate {
        match_id: MatchId,
        #[serde(rename = "bulletin")]
        update: Box<ReplicaUpdate>,
    },
    /// Asked of a server on which few searches wait: to become the owner of this match of bots.
    #[serde(rename = "Take")]
    HandOver { match_id: MatchId, from: NodeId },
    /// A match is this server's from now on.
    #[serde(rename = "Taken")]
    OwnerChanged { match_id: MatchId, by: NodeId },
    /// Asked to learn whether that server is there.
    Ping,
    /// Asked to learn which sessions of a player have connections there.
    #[serde(rename = "WhoIs")]
    GetConnectedSessions { player: PlayerId },
    /// A server stops: its matches are anybody's.
    #[serde(rename = "Leaving")]
    NodeStopping { node: NodeId },
    /// A player has this connection. Whoever has some that are to end because of it ends them.
    #[serde(rename = "Connected")]
    PlayerConnected {
        player: PlayerId,
        #[serde(rename = "standing")]
        precedence: ConnectionPrecedence,
    },
    /// These sessions of a player were ended.
    SessionsEnded {
        player: PlayerId,
        which: SessionSelection,
    },
    /// A player is called so now.
    #[serde(rename = "Called")]
    PlayerRenamed { player: PlayerSummary },
    /// A player blocks another from now on, or not any more.
    #[serde(rename = "Blocks")]
    BlockChanged {
        player: PlayerId,
        other: PlayerId,
        #[serde(rename = "on")]
        is_blocked: bool,
    },
    /// A match has been rated, and has changed this.
    #[serde(rename = "Rated")]
    MatchRated {
        match_id: MatchId,
        #[serde(rename = "verdict")]
        rating_update: RatingUpdate,
    },
    /// Nobody is this player any more.
    #[serde(rename = "Gone")]
    PlayerDeleted { player: PlayerId },
    /// A player was forgotten whose name was this, and the store tells it no more.
    #[serde(rename = "Forgotten")]
    NameErased { player: PlayerId, name: String },
    /// Lists show this of matches now.
    #[serde(rename = "Shown")]
    ListingsChanged(Vec<ListedMatch>),
    /// Something to be done where a player is connected.
    #[serde(rename = "Notice")]
    NotifyPlayer {
        player: PlayerId,
        #[serde(rename = "notice")]
        notification: Notification,
    },
}

/// What is to be done where a player is connected.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Notification {
    /// The player has a part in this match now, or is invited to it. It is shown to connections that
    /// follow the match before it, if there is one.
    #[serde(rename = "Involved")]
    ParticipationAdded {
        match_id: MatchId,
        before: Option<MatchId>,
    },
    /// The player looks for somebody from another server now, and here no more.
    #[serde(rename = "SeeksElsewhere")]
    SeekMoved,
    /// The player's seek has been paired, and this is the match.
    #[serde(rename = "Paired")]
    SeekPaired { match_id: MatchId },
    /// The player has one more session, of which this tells.
    SessionAdded { text: String },
    /// The player is told this, unless the connection follows the match.
    #[serde(rename = "Turn")]
    YourTurn { match_id: MatchId, text: String },
}

impl Packet {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a packet serializes to JSON")
    }
}

#[cfg(test)]
mod tests;
