//! What is asked of a match and what it answers: plain data, which may come from another machine.

use std::time::{Duration, Instant};

use plyhouse_matches::Action;
use plyhouse_protocol::{ChatContent, NextMatch, PlayerId, Seq, WireError};
use plyhouse_store::NodeId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::replication::{Presence, ReplicaUpdate};
use crate::connection::id::ConnectionId;
use crate::context::clock::now;
use crate::players::rating_update::RatingUpdate;

/// What one connection asks of one match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    /// The connection that asks.
    pub(crate) connection: ConnectionId,
    /// The number of the request on its connection, counted from 1; 0 for what no client has asked for.
    #[serde(rename = "cmd")]
    pub(crate) request_number: u64,
    /// The player whose connection it is.
    pub(crate) player: PlayerId,
    pub(crate) request: MatchRequest,
    /// When the request was read.
    #[serde(with = "age")]
    pub(crate) received_at: Instant,
    /// The round-trip time of the connection in microseconds, if it has been measured.
    pub(crate) rtt_us: Option<u32>,
    /// Which server asks on behalf of its client, if it is another than the owner's.
    #[serde(default)]
    #[serde(rename = "relayed")]
    pub(crate) relay: Option<RelayInfo>,
}

/// How a command has come from another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RelayInfo {
    #[serde(rename = "by")]
    pub(crate) node: NodeId,
    /// How long the turn had lasted there when the request was read, in microseconds: from when it was
    /// told to the client.
    #[serde(rename = "turn_us")]
    pub(crate) turn_elapsed_us: Option<u64>,
}

impl Command {
    /// What no client has asked for.
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

    /// What a server asks for itself.
    pub(crate) fn from_server(control: Control) -> Self {
        let request = MatchRequest::Control(control);
        Self::unsolicited(ConnectionId::NONE, PlayerId(Uuid::nil()), request)
    }

    /// The round-trip time of the connection, if it has been measured.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt_us.map(|us| Duration::from_micros(us.into()))
    }
}

/// What can be asked of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MatchRequest {
    /// An action. Who joins follows the match from then on, and who leaves does not any more.
    Act(Action),
    /// To follow the match, and to be shown it.
    Watch,
    /// To show the match to a player who has a part in it and did not ask. The connection has noted
    /// that it follows.
    #[serde(rename = "Show")]
    PushSnapshot,
    /// What happened after this event.
    Resync { since: Seq },
    /// To stop following.
    Unfollow,
    /// Another match of the same two.
    #[serde(rename = "Rematch")]
    OfferRematch,
    /// No other match, or not any more.
    DeclineRematch,
    /// To have others hear something. The name is that of whoever sits in no seat.
    #[serde(rename = "Say")]
    SendChat { name: String, saying: ChatContent },
    /// A signal from this server, or from another one.
    #[serde(untagged)]
    Control(Control),
}

/// What servers signal to a match. Servers send each other these in the same form as requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Control {
    /// To know nothing of a player who was called so: what the store tells is without the name.
    #[serde(rename = "Forget")]
    EraseName { player: PlayerId, name: String },
    /// To do what is due, whatever has held it up.
    #[serde(rename = "Look")]
    CheckTimers,
    /// To tell whoever is to move in a match of days that it is their turn.
    #[serde(rename = "Remind")]
    NotifyTurn,
    /// To have its clock stand: the store has kept nothing since then.
    #[serde(rename = "StoreRefuses")]
    StoreUnavailable {
        #[serde(with = "age")]
        since: Instant,
    },
    /// To have its clock go on: the store keeps things again.
    #[serde(rename = "StoreAccepts")]
    StoreAvailable,
    /// To end, if a bot has waited long enough here for somebody's move.
    #[serde(rename = "GiveUp")]
    ResignIdleBotGame,
    /// The rematch has been created; `None` if it could not be.
    #[serde(rename = "RematchBegins")]
    RematchCreated { next: Option<NextMatch> },
    /// Another server has followers, who are these; `None` once it has none any more.
    Follow {
        from: NodeId,
        #[serde(rename = "roster")]
        presence: Option<Presence>,
    },
    /// To take in what the owner has told.
    #[serde(rename = "Fed")]
    ReplicaUpdate(Box<ReplicaUpdate>),
    /// To find out what may have been missed.
    #[serde(rename = "Gap")]
    CatchUp,
    /// To find out who owns it: another server does, this one, if that is known.
    #[serde(rename = "Taken")]
    OwnerChanged { by: Option<NodeId> },
    /// To take note that nobody can ask a server anything. Unless `is_dead`, it may be cut off, and its
    /// clients be there.
    #[serde(rename = "NodeGone")]
    NodeUnreachable { node: NodeId, is_dead: bool },
    /// To take note that some server answers now, or does not any more.
    NodesChanged,
    /// To take note of what it has changed, and to tell.
    #[serde(rename = "Rated")]
    RatingUpdated(RatingUpdate),
}

impl MatchRequest {
    /// Whether a client asks for it, or is shown something by it.
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

/// What a match answers: the event that a move has become, or why nothing was done.
pub(crate) type Answer = Result<Option<Seq>, Box<WireError>>;

/// An instant is told as its age in microseconds: the clocks of two machines do not compare.
mod age {
    use std::time::{Duration, Instant};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::context::clock::now;

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
            // Nobody counts the time that it was under way.
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
