//! What is asked of a match and what it answers: plain data, which may come from another machine.

use std::time::{Duration, Instant};

use plyhouse_matches::Action;
use plyhouse_protocol::{ChatContent, PlayerId, Seq, Successor, WireError};
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
    pub(crate) cmd: u64,
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
    pub(crate) relayed: Option<Relayed>,
}

/// How a command has come from another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Relayed {
    pub(crate) by: NodeId,
    /// How long the turn had lasted there when the request was read, in microseconds: from when it was
    /// told to the client.
    pub(crate) turn_us: Option<u64>,
}

impl Command {
    /// What no client has asked for.
    pub(crate) fn unasked(
        connection: ConnectionId,
        player: PlayerId,
        request: MatchRequest,
    ) -> Self {
        Self {
            connection,
            cmd: 0,
            player,
            request,
            received_at: now(),
            rtt_us: None,
            relayed: None,
        }
    }

    /// What a server asks for itself.
    pub(crate) fn of_server(request: MatchRequest) -> Self {
        Self::unasked(ConnectionId::NOBODY, PlayerId(Uuid::nil()), request)
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
    Show,
    /// What happened after this event.
    Resync { since: Seq },
    /// To stop following.
    Unfollow,
    /// Another match of the same two.
    Rematch,
    /// No other match, or not any more.
    DeclineRematch,
    /// To have others hear something. The name is that of whoever sits in no seat.
    Say { name: String, saying: ChatContent },
    /// To know nothing of a player who was called so: what the store tells is without the name.
    Forget { player: PlayerId, name: String },
    /// To do what is due, whatever has held it up.
    Look,
    /// To tell whoever is to move in a match of days that it is their turn.
    Remind,
    /// To have its clock stand: the store has kept nothing since then.
    StoreRefuses {
        #[serde(with = "age")]
        since: Instant,
    },
    /// To have its clock go on: the store keeps things again.
    StoreAccepts,
    /// To end, if a bot has waited long enough here for somebody's move.
    GiveUp,
    /// The rematch has been created; `None` if it could not be.
    RematchBegins { next: Option<Successor> },
    /// Another server has followers, who are these; `None` once it has none any more.
    Follow {
        from: NodeId,
        roster: Option<Presence>,
    },
    /// To take in what the owner has told.
    #[serde(rename = "Fed")]
    ReplicaUpdate(Box<ReplicaUpdate>),
    /// To find out what may have been missed.
    Gap,
    /// To find out who owns it: another server does, this one, if that is known.
    #[serde(rename = "Taken")]
    OwnerChanged { by: Option<NodeId> },
    /// To take note that nobody can ask a server anything. Unless `is_dead`, it may be cut off, and its
    /// clients be there.
    NodeGone { node: NodeId, is_dead: bool },
    /// To take note that some server answers now, or does not any more.
    NodesChanged,
    /// To take note of what it has changed, and to tell.
    Rated(RatingUpdate),
}

impl MatchRequest {
    /// Whether a client asks for it, or is shown something by it.
    pub(crate) const fn is_of_client(&self) -> bool {
        match self {
            Self::Act(_)
            | Self::Watch
            | Self::Show
            | Self::Resync { .. }
            | Self::Rematch
            | Self::DeclineRematch
            | Self::Say { .. } => true,
            Self::Unfollow
            | Self::Look
            | Self::Remind
            | Self::Forget { .. }
            | Self::StoreRefuses { .. }
            | Self::StoreAccepts
            | Self::GiveUp
            | Self::RematchBegins { .. }
            | Self::Follow { .. }
            | Self::ReplicaUpdate(_)
            | Self::Gap
            | Self::OwnerChanged { .. }
            | Self::NodeGone { .. }
            | Self::NodesChanged
            | Self::Rated(_) => false,
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
    async fn a_command_crosses_to_a_machine_with_another_clock() {
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
        let acts = actions.into_iter().map(MatchRequest::Act);
        let since = Seq(7);
        for request in acts.chain([MatchRequest::Watch, MatchRequest::Resync { since }]) {
            let sent = Command {
                cmd: 5,
                rtt_us: Some(4321),
                ..Command::unasked(ConnectionId(9), player, request)
            };
            tokio::time::advance(Duration::from_millis(20)).await;
            let json = serde_json::to_string(&sent).unwrap();
            tokio::time::advance(Duration::from_secs(1)).await;
            let came: Command = serde_json::from_str(&json).unwrap();
            // Nobody counts the time that it was under way.
            let received_at = sent.received_at + Duration::from_secs(1);
            assert_eq!(
                came,
                Command {
                    received_at,
                    ..sent
                }
            );
        }
    }
}
