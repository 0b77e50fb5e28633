//! Commands to a match and the answers to them. Both are plain data, because they may come from
//! another server.

use std::time::{Duration, Instant};

use plyhouse_matches::Action;
use plyhouse_protocol::{ChatContent, NextMatch, PlayerId, Seq, WireError};
use plyhouse_store::NodeId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::replication_messages::{Presence, ReplicaUpdate};
use crate::connection::id::ConnectionId;
use crate::context::clock_and_rng::now;
use crate::players::rating_update_message::RatingUpdate;

/// Request from one connection to one match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    /// The connection that sent the request.
    pub(crate) connection: ConnectionId,
    /// Number of the request on its connection, counted from 1; 0 if no client sent the request.
    #[serde(rename = "cmd")]
    pub(crate) request_number: u64,
    /// The player of the connection.
    pub(crate) player: PlayerId,
    pub(crate) request: MatchRequest,
    /// Time at which the server read the request.
    #[serde(with = "age")]
    pub(crate) received_at: Instant,
    /// Round-trip time of the connection in microseconds, if it has been measured.
    pub(crate) rtt_us: Option<u32>,
    /// Details of the relaying server; `None` if the client is connected to the server that owns
    /// the match.
    #[serde(default)]
    #[serde(rename = "relayed")]
    pub(crate) relay: Option<RelayInfo>,
}

/// Details of a command that another server relayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RelayInfo {
    #[serde(rename = "by")]
    pub(crate) node: NodeId,
    /// Microseconds between two events on the relaying server: it sent the current turn to its
    /// clients, and it read this request. The same clock measures both events.
    #[serde(rename = "turn_us")]
    pub(crate) turn_elapsed_us: Option<u64>,
}

impl Command {
    /// Creates a command that no client requested.
    pub(crate) fn unsolicited(
        connection: ConnectionId,
        player: PlayerId,
        request: MatchRequest,
    ) -> Self {
        Self {
            connection,
            request_number: 0,
            player,
            request,
            received_at: now(),
            rtt_us: None,
            relay: None,
        }
    }

    /// Creates a command from the server itself.
    pub(crate) fn from_server(control: Control) -> Self {
        let request = MatchRequest::Control(control);
        Self::unsolicited(ConnectionId::NONE, PlayerId(Uuid::nil()), request)
    }

    /// Returns the round-trip time of the connection, if it has been measured.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt_us.map(|us| Duration::from_micros(us.into()))
    }
}

/// Requests that a match handles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MatchRequest {
    /// Performs an action. A player who joins also starts to follow the match, and a player who
    /// leaves stops following it.
    Act(Action),
    /// Follows the match and requests a snapshot.
    Watch,
    /// Sends a snapshot to a participant who did not request one. The participant's connection has
    /// already subscribed to the match.
    #[serde(rename = "Show")]
    PushSnapshot,
    /// Requests all events after the event that has sequence number `since`.
    Resync { since: Seq },
    /// Stops following the match.
    Unfollow,
    /// Offers a rematch, or accepts the opponent's offer.
    #[serde(rename = "Rematch")]
    OfferRematch,
    /// Declines or withdraws the offer of a rematch.
    DeclineRematch,
    /// Sends a chat message. If the sender has no seat, `name` is the sender's name.
    #[serde(rename = "Say")]
    SendChat { name: String, saying: ChatContent },
    /// A signal from this server or another one.
    #[serde(untagged)]
    Control(Control),
}

/// Signals from servers to a match. Servers exchange these signals in the same form as client
/// requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Control {
    /// A player was deleted. The match deletes the player's chat messages. If the match may contain
    /// the player's name, it reloads itself from the store.
    #[serde(rename = "Forget")]
    EraseName { player: PlayerId, name: String },
    /// Performs all timed actions that are due.
    #[serde(rename = "Look")]
    CheckTimers,
    /// Pauses the clock, because the store has refused writes since `since`.
    #[serde(rename = "StoreRefuses")]
    StoreUnavailable {
        #[serde(with = "age")]
        since: Instant,
    },
    /// Resumes the clock, because the store accepts writes again.
    #[serde(rename = "StoreAccepts")]
    StoreAvailable,
    /// Ends the match if a bot has waited long enough for its opponent's move.
    #[serde(rename = "GiveUp")]
    ResignIdleBotGame,
    /// Reports the result of creating a rematch. `next` is the new match, or `None` if the creation
    /// failed.
    #[serde(rename = "RematchBegins")]
    RematchCreated { next: Option<NextMatch> },
    /// Sets which clients of the server `from` follow the match. `presence` is `None` if no client
    /// of that server follows the match.
    Follow {
        from: NodeId,
        #[serde(rename = "roster")]
        presence: Option<Presence>,
    },
    /// Applies an update from the server that owns the match.
    #[serde(rename = "Fed")]
    ReplicaUpdate(Box<ReplicaUpdate>),
    /// Checks for updates that may have been lost on the bus.
    #[serde(rename = "Gap")]
    CatchUp,
    /// Notifies the match that another server may have become its owner. `by` is the new owner, if
    /// known.
    #[serde(rename = "Taken")]
    OwnerChanged { by: Option<NodeId> },
    /// Notifies the match that the server `node` does not respond. If `is_dead` is false, `node`
    /// may still be running and serving its clients.
    #[serde(rename = "NodeGone")]
    NodeUnreachable { node: NodeId, is_dead: bool },
    /// Another server of the cluster has started or stopped responding.
    NodesChanged,
    /// Records the rating changes of the match and broadcasts them.
    #[serde(rename = "Rated")]
    RatingUpdated(RatingUpdate),
}

impl MatchRequest {
    /// Returns true for requests that a client sends and for requests that send a snapshot to a
    /// client.
    pub(crate) const fn is_from_client(&self) -> bool {
        match self {
            Self::Act(_)
            | Self::Watch
            | Self::PushSnapshot
            | Self::Resync { .. }
            | Self::OfferRematch
            | Self::DeclineRematch
            | Self::SendChat { .. } => true,
            Self::Unfollow | Self::Control(_) => false,
        }
    }
}

/// Answer of a match to a command. A successful move returns the sequence number of the event that
/// it created.
pub(crate) type Answer = Result<Option<Seq>, Box<WireError>>;

/// Serialises an instant as its age in microseconds, because the clocks of two machines are not
/// comparable.
mod age {
    use std::time::{Duration, Instant};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::context::clock_and_rng::now;

    pub(super) fn serialize<S: Serializer>(at: &Instant, to: S) -> Result<S::Ok, S::Error> {
        let age = now().saturating_duration_since(*at).as_micros();
        u64::try_from(age).unwrap_or(u64::MAX).serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Instant, D::Error> {
        let age = Duration::from_micros(u64::deserialize(from)?);
        Ok(now().checked_sub(age).unwrap_or_else(now))
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::game::Seat;
    use plyhouse_engine::search::Level;
    use plyhouse_protocol::Ply;
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn command_round_trip_keeps_the_age_of_received_at() {
        let player = PlayerId(Uuid::nil());
        let (ply, m) = (Ply(3), "e4".to_owned());
        let (by, seat, level) = (player, Seat::Second, Level::Hard);
        let actions = [
            Action::Play {
                player,
                ply,
                m,
                takebacks: Some(1),
            },
            Action::SeatBot { by, seat, level },
            Action::Join {
                player,
                name: "Ann".to_owned(),
                kind: plyhouse_protocol::PlayerKind::Account,
                seat: Some(seat),
                rating: None,
            },
            Action::Leave { player },
        ];
        let action_requests = actions.into_iter().map(MatchRequest::Act);
        let since = Seq(7);
        for request in action_requests.chain([MatchRequest::Watch, MatchRequest::Resync { since }])
        {
            let sent = Command {
                request_number: 5,
                rtt_us: Some(4321),
                ..Command::unsolicited(ConnectionId(9), player, request)
            };
            tokio::time::advance(Duration::from_millis(20)).await;
            let json = serde_json::to_string(&sent).unwrap();
            tokio::time::advance(Duration::from_secs(1)).await;
            let received: Command = serde_json::from_str(&json).unwrap();
            // The message is in transit for one second. The serialised age does not include this
            // second, so the received instant must be one second later.
            let received_at = sent.received_at + Duration::from_secs(1);
            assert_eq!(
                received,
                Command {
                    received_at,
                    ..sent
                }
            );
        }
    }
}
