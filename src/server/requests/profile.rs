//! Requests for the public profile of a player.

use super::{Client, Player};
use crate::connection::reply::Reply;
use crate::players::player_lookup;
use plyhouse_protocol::{PlayerId, Profile, ServerMessage, WireError};

/// Reference to the player in a profile request.
pub(super) enum PlayerRef {
    /// The owner of this name.
    Name(String),
    /// The player with this ID, or the requesting player for `me`.
    Id(String),
    /// The player who sends the request.
    Requester,
}

impl Client {
    pub(super) async fn send_profile(&self, player: &Player, player_ref: PlayerRef, reply: Reply) {
        let viewer = player.record.id;
        if let Some((profile, reply)) = reply.require(self.load_profile(viewer, player_ref).await) {
            reply.send_message(|re| ServerMessage::Profile {
                re,
                profile: Box::new(profile),
                ignored: Vec::new(),
            });
        }
    }

    async fn load_profile(
        &self,
        viewer: PlayerId,
        player_ref: PlayerRef,
    ) -> Result<Profile, WireError> {
        let id = match player_ref {
            PlayerRef::Requester => viewer,
            PlayerRef::Id(id) => self.find_player_id(viewer, &id).await?,
            PlayerRef::Name(name) => player_lookup::find_by_name(&self.server.infra, &name).await?,
        };
        self.server.load_profile(id, viewer).await
    }
}
