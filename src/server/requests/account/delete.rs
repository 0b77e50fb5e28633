//! How a player asks to be forgotten.

use super::reauthenticate::wrong_password;
use crate::connection::reply::Reply;
use crate::players::account_deletion;
use crate::players::account_deletion::Running;
use crate::players::player_lookup;
use crate::requests::{Client, Player};
use plyhouse_protocol::{CloseCode, Proof, WireError};

impl Client {
    pub(in crate::requests) async fn forget_me(
        &self,
        player: &Player,
        proof: Option<Proof>,
        reply: Reply,
    ) {
        let forgotten = self.forgotten(player, proof.as_ref()).await;
        if let Some(((), reply)) = reply.require(forgotten) {
            reply.ok(None);
            self.connection.outbox.close(CloseCode::Ended);
        }
    }

    async fn forgotten(&self, player: &Player, proof: Option<&Proof>) -> Result<(), WireError> {
        let server = &self.server;
        let record = self.called(player);
        // Or else it would be kept later.
        player_lookup::persist_player(server, record.id).await?;
        let proved = self.prove(player, proof).await?;
        account_deletion::leave(server, record.id, Running::Refuses).await?;
        let own = Some(self.connection.id);
        match account_deletion::forget(server, &record, Some(proved), own).await? {
            true => Ok(()),
            // Something was faster: another request of this kind, or another password.
            false => Err(wrong_password()),
        }
    }
}
