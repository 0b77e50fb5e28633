//! Requests for the public profile of a player.

use super::{Client, Player};
use crate::players::player_lookup;
use plyhouse_protocol::{ServerMessage, WireError};

impl Client {
    /// Returns the profile of the player with this name or id. Without both, returns the
    /// requester's own profile.
    pub(super) async fn profile(
        &self,
        player: &Player,
        name: Option<String>,
        id: Option<String>,
    ) -> Result<ServerMessage, WireError> {
        let viewer = player.record.id;
        let id = match (name, id) {
            (Some(name), _) => player_lookup::find_by_name(&self.server.infra, &name).await?,
            (None, Some(id)) => self.find_player_id(viewer, &id).await?,
            (None, None) => viewer,
        };
        Ok(ServerMessage::Profile {
            re: None,
            profile: Box::new(self.server.load_profile(id, viewer).await?),
            ignored: Vec::new(),
        })
    }
}
