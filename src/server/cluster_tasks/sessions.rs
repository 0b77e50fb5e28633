//! What was told of sessions while messages were lost is made up for.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{CloseCode, PlayerId};
use tokio::time::sleep;

use crate::cluster::{Cluster, Packet};
use crate::shared::Shared;

/// When the store is asked again that could not be read.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Looks at all who are connected whenever messages may have been lost, until this server stops.
pub(super) async fn watch(server: Arc<Shared>) {
    let shutdown = server.shutdown.clone();
    let watching = async {
        let Some(cluster) = &server.cluster else {
            return;
        };
        loop {
            cluster.may_have_missed.notified().await;
            for player in server.players.everybody_connected() {
                tell_again(&server, cluster, player);
                end_ended(&server, player).await;
            }
        }
    };
    tokio::select! {
        biased; // Nothing is left to a chance that no seed governs.
        () = shutdown.cancelled() => {}
        () = watching => {}
    }
}

/// Tells all of the player's connections here: whoever has one because of which they end says so then.
fn tell_again(server: &Shared, cluster: &Cluster, player: PlayerId) {
    let peers = server.players.peers(player);
    for standing in peers.iter().filter_map(|peer| peer.standing()) {
        cluster.send_all(&Packet::Connected { player, standing });
    }
}

/// Closes the player's connections whose session the store does not know any more, and tells the others how
/// the player is called if that is news.
async fn end_ended(server: &Shared, player: PlayerId) {
    // Before the store is read: of who comes later the session is read by the hello.
    let peers = server.players.peers(player);
    let (sessions, record) = loop {
        let sessions = server.store.sessions(player).await;
        let record = server.store.player_by_id(player).await;
        match sessions.and_then(|sessions| Ok((sessions, record?))) {
            Ok(found) => break found,
            Err(error) => tracing::warn!(%error, "sessions not read"),
        }
        sleep(AGAIN_AFTER).await;
    };
    if let Some(record) = record
        && server.players.record(player) != Some(record.clone())
    {
        server.players.call(&record);
    }
    for peer in peers {
        let session = peer.session();
        if session.is_some_and(|id| sessions.iter().all(|known| known.id != id)) {
            peer.outbox.close(CloseCode::Ended);
        }
    }
}
