//! A client asks what others may know of a player.

use super::{Client, Player};
use crate::connection::reply::Reply;
use crate::players::player_lookup;
use plyhouse_protocol::{PlayerId, Profile, ServerMessage, WireError};

/// Whose profile is meant.
pub(super) enum PlayerRef {
    /// Whoever has this name alone.
    Named(String),
    /// The player with this id, or `me`.
    Id(String),
    /// Whoever asks.
    Oneself,
}

impl Client {
    pub(super) async fn profile(&self, player: &Player, meant: PlayerRef, reply: Reply) {
        let asking = player.record.id;
        if let Some((profile, reply)) = reply.require(self.profile_of(asking, meant).await) {
            reply.send_message(|re| ServerMessage::Profile {
                re,
                profile: Box::new(profile),
                ignored: Vec::new(),
            });
        }
    }

    async fn profile_of(&self, asking: PlayerId, meant: PlayerRef) -> Result<Profile, WireError> {
        let id = match meant {
            PlayerRef::Oneself => asking,
            PlayerRef::Id(id) => self.person(asking, &id).await?,
            PlayerRef::Named(name) => player_lookup::named(&self.server, &name).await?,
        };
        self.server.profile(id, asking).await
    }
}
