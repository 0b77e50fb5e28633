//! Requests to delete an account.

use super::reauthenticate::wrong_password_error;
use crate::players::account_deletion;
use crate::players::account_deletion::RunningMatchPolicy;
use crate::players::player_lookup;
use crate::requests::{Client, Player};
use plyhouse_protocol::{ReauthProof, WireError};

impl Client {
    /// Deletes the player's account. Returns that the session of this connection has ended.
    pub(in crate::requests) async fn delete_account(
        &self,
        player: &Player,
        proof: Option<ReauthProof>,
    ) -> Result<bool, WireError> {
        let server = &self.server;
        let record = self.current_record(player);
        // A guest who is not stored yet must be stored now. Otherwise, the guest could be stored
        // after the deletion.
        player_lookup::persist_player(server, record.id).await?;
        let identity_proof = self.verify_proof(player, proof.as_ref()).await?;
        account_deletion::leave_live_matches(server, record.id, RunningMatchPolicy::Refuse).await?;
        let own_connection = Some(self.connection.id);
        let proof = Some(identity_proof);
        match account_deletion::delete_account(server, &record, proof, own_connection).await? {
            true => Ok(true),
            // Another request was faster: it deleted the account or changed the password.
            false => Err(wrong_password_error()),
        }
    }
}
