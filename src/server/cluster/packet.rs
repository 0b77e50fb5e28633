//! Packets that the servers of a cluster exchange.

use plyhouse_protocol::{ListedMatch, MatchId, PlayerId, PlayerSummary};
use plyhouse_store::{NodeId, SessionSelection};
use serde::{Deserialize, Serialize};

use crate::connection::eviction::ConnectionPrecedence;
use crate::match_handle::command::Command;
use crate::match_handle::replication_messages::{Presence, ReplicaUpdate};
use crate::players::rating_update_message::RatingUpdate;

/// Packet that is sent to one or all other servers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Packet {
    /// Request to the owner of a match. The response is a
    /// [`PacketResponse`](super::PacketResponse).
    #[serde(rename = "Ask")]
    Request {
        match_id: MatchId,
        command: Box<Command>,
    },
    /// Sent by a server that starts or stops following a match. The owner responds and sends
    /// updates.
    Follow {
        match_id: MatchId,
        from: NodeId,
        /// Players and spectators on the sending server who follow the match. The value is `None`
        /// if the sending server no longer follows the match.
        #[serde(rename = "roster")]
        presence: Option<Presence>,
    },
    /// Update from the owner of a match to a replica.
    #[serde(rename = "Fed")]
    ReplicaUpdate {
        match_id: MatchId,
        #[serde(rename = "bulletin")]
        update: Box<ReplicaUpdate>,
    },
    /// Request to a less busy server to take over a match between bots.
    #[serde(rename = "Take")]
    HandOver { match_id: MatchId, from: NodeId },
    /// The server with the id `by` has taken over a match.
    #[serde(rename = "Taken")]
    OwnerChanged { match_id: MatchId, by: NodeId },
    /// Request that checks whether a server is alive.
    Ping,
    /// Request for the sessions of a player that are connected to the receiving server.
    #[serde(rename = "WhoIs")]
    GetConnectedSessions { player: PlayerId },
    /// The server with the id `node` is stopping. Other servers may take over its matches.
    #[serde(rename = "Leaving")]
    NodeStopping { node: NodeId },
    /// A player has opened a connection. The receiver closes the older connections that the new
    /// connection replaces.
    #[serde(rename = "Connected")]
    PlayerConnected {
        player: PlayerId,
        #[serde(rename = "standing")]
        precedence: ConnectionPrecedence,
    },
    /// Sessions of a player have ended.
    SessionsEnded {
        player: PlayerId,
        which: SessionSelection,
    },
    /// A player has a new name.
    #[serde(rename = "Called")]
    PlayerRenamed { player: PlayerSummary },
    /// A player has blocked or unblocked another player.
    #[serde(rename = "Blocks")]
    BlockChanged {
        player: PlayerId,
        other: PlayerId,
        #[serde(rename = "on")]
        is_blocked: bool,
    },
    /// A match has been rated, so the ratings of its players have changed.
    #[serde(rename = "Rated")]
    MatchRated {
        match_id: MatchId,
        #[serde(rename = "verdict")]
        rating_update: RatingUpdate,
    },
    /// A player was deleted.
    #[serde(rename = "Gone")]
    PlayerDeleted { player: PlayerId },
    /// The store has erased the name of a deleted player.
    #[serde(rename = "Forgotten")]
    NameErased { player: PlayerId, name: String },
    /// List entries of matches have changed.
    #[serde(rename = "Shown")]
    ListingsChanged(Vec<ListedMatch>),
    /// Notification for a player, sent to all servers.
    #[serde(rename = "Notice")]
    NotifyPlayer {
        player: PlayerId,
        #[serde(rename = "notice")]
        notification: Notification,
    },
}

/// Notification for a player. A server ignores the notification if the player is not connected to
/// it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Notification {
    /// The player takes part in this match or is invited to it. If `before` is set, the receiver
    /// shows the match only on connections that already follow the match with the id `before`.
    #[serde(rename = "Involved")]
    ParticipationAdded {
        match_id: MatchId,
        before: Option<MatchId>,
    },
    /// The player has started a seek on another server, so the player's seek on the receiving
    /// server ends.
    #[serde(rename = "SeeksElsewhere")]
    SeekMoved,
    /// The player's seek was paired, and this match was created.
    #[serde(rename = "Paired")]
    SeekPaired { match_id: MatchId },
    /// A new session of the player was created. The receiver forwards `text` to the player's
    /// connections.
    SessionAdded { text: String },
    /// It is the player's turn. The receiver forwards `text` to the player's connections that do
    /// not follow the match.
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
