//! Selects the stored player whose match `ply play` should resume. Each stored player has notes on
//! the matches where the player last had a seat. If these notes do not identify one player with
//! certainty, this module asks the server for the current matches of each candidate.

use std::time::Duration;

use plyhouse_protocol::{
    ClientMessage, Hello, Request, RequestId, ServerMessage, Snapshot, Token, VERSION,
};
use tokio::time::timeout;

use crate::identity_store::{
    IdentityLock, IdentityQuery, IdentityStore, IdentityStoreError, RememberedSeat,
};
use crate::server_address::ServerAddress;
use crate::session::MatchSetup;

/// Maximum time to wait until the server has sent one player's matches. If the time runs out, the
/// player is selected without a check of the matches.
const MATCHES_TIMEOUT: Duration = Duration::from_secs(5);

/// Locks the identity of a player who has an interrupted match that fits `setup`. If there is no
/// such player, locks the best identity without a known live match. Players whose live matches do
/// not fit `setup` are skipped, so that their users can resume these matches.
pub(crate) async fn lock_identity_for_match(
    identities: &IdentityStore,
    server: &ServerAddress,
    query: &IdentityQuery,
    setup: &MatchSetup,
) -> Result<IdentityLock, IdentityStoreError> {
    let mut skipped = Vec::new();
    loop {
        let mut identity = identities.lock_best(query, &skipped).await?;
        let needs_check = match identity.remembered_seat() {
            RememberedSeat::None => false,
            RememberedSeat::Unique => !setup.accepts_any_match() || !skipped.is_empty(),
            RememberedSeat::Ambiguous => true,
        };
        let Some(token) = identity.token().filter(|_| needs_check).cloned() else {
            return Ok(identity);
        };
        let fetched = timeout(MATCHES_TIMEOUT, fetch_live_matches(server, &token)).await;
        let Ok(Some(own_matches)) = fetched else {
            return Ok(identity);
        };
        if own_matches.iter().any(|old| setup.accepts_match(old)) {
            return Ok(identity);
        }
        let seated_matches = own_matches.iter().filter(|old| old.you.is_some());
        let live_ids: Vec<_> = seated_matches.map(|old| old.match_id).collect();
        identity.retain_live_seats(&live_ids)?;
        if !live_ids.is_empty() {
            skipped.push(identity.slot_number());
        }
    }
}

/// Fetches the live matches of a player. Returns `None` if the server does not send them.
async fn fetch_live_matches(server: &ServerAddress, token: &Token) -> Option<Vec<Snapshot>> {
    let mut connection = server.connect().await.ok()?;
    let hello = Request {
        id: Some(RequestId(0)),
        message: ClientMessage::Hello(Box::new(Hello {
            protocol: Some(VERSION),
            token: Some(token.clone()),
            ..Hello::default()
        })),
    };
    connection.send(&hello).await.ok()?;
    let mut own_matches = Vec::new();
    let mut expected_count: Option<usize> = None;
    while expected_count.is_none_or(|count| own_matches.len() < count) {
        let text = connection.receive_text().await.ok()?;
        match ServerMessage::decode(&text) {
            Ok(Some(ServerMessage::Welcome(welcome))) => {
                // The server sends snapshots of correspondence matches only if the client requests
                // them.
                let followed = welcome.following.iter();
                let (live_rows, days): (Vec<_>, Vec<_>) =
                    followed.partition(|followed| followed.correspondence.is_none());
                expected_count = Some(live_rows.len() + days.len());
                for row in days {
                    let message = ClientMessage::Watch {
                        target: row.match_id.into(),
                    };
                    connection.send(&Request { id: None, message }).await.ok()?;
                }
            }
            Ok(Some(ServerMessage::Match(snapshot))) => own_matches.push(*snapshot),
            Ok(Some(ServerMessage::Error(_))) | Err(_) => return None,
            Ok(_) => {}
        }
    }
    let _ = connection.close().await;
    Some(own_matches)
}
