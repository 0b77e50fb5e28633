//! How a player asks to be forgotten.

use super::proving::wrong_password;
use super::{Client, Player};
use crate::births;
use crate::forgetting::{self, Running};
use crate::reply::Reply;
use plyhouse_protocol::{CloseCode, Proof, WireError};

impl Client {
    pub(super) async fn forget_me(&self, player: &Player, proof: Option<Proof>, reply: Reply) {
        let forgotten = self.forgotten(player, proof.as_ref()).await;
        if let Some(((), reply)) = reply.check(forgotten) {
            reply.ok(None);
            self.connection.outbox.close(CloseCode::Ended);
        }
    }

    async fn forgotten(&self, player: &Player, proof: Option<&Proof>) -> Result<(), WireError> {
        let server = &self.server;
        let record = self.called(player);
        // Or else it would be kept later.
        births::persist_player(server, record.id).await?;
        let proved = self.prove(player, proof).await?;
        forgetting::leave(server, record.id, Running::Refuses).await?;
        let own = Some(self.connection.id);
        match forgetting::forget(server, &record, Some(proved), own).await? {
            true => Ok(()),
            // Something was faster: another request of this kind, or another password.
            false => Err(wrong_password()),
        }
    }
}
