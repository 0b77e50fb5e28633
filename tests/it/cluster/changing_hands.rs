//! A match goes on when its owner stops, dies or is cut off.

use plyhouse_matches::EventKind;
use plyhouse_protocol::MatchId;
use plyhouse_store::Store;
use serde_json::json;

use super::{Cluster, pair};

/// A server that stops gives its matches up at once.
#[tokio::test(start_paused = true)]
async fn a_match_outlives_a_server_that_stops() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    let (mut ann, mut bob, id) = pair(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(ann.play(&id, 0, "a1").await["type"], "ok");
    bob.event("moved").await;
    let token = ann.token();
    here.server.server.stop().await;
    assert_eq!(ann.closed().await, 1001);
    // Whoever is on the other server is shown the match anew, of a later epoch.
    let shown = bob.event("match").await;
    assert_eq!(
        (&shown["epoch"], &shown["ply"]),
        (&json!(1), &json!(1)),
        "{shown}"
    );
    let (mut ann, _) = there.server.come_back(&token).await;
    assert_eq!(ann.event("match").await["epoch"], 1);
    assert_eq!(bob.play(&id, 1, "b2").await["type"], "ok");
    assert_eq!(ann.event("moved").await["ply"], 1);
    assert_eq!(ann.play(&id, 2, "a2").await["type"], "ok");
}

/// An owner whom nobody can ask is taken from, and finds that out before it tells anything.
#[tokio::test(start_paused = true)]
async fn an_owner_that_is_cut_off_is_taken_from() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    let (mut ann, mut bob, id) = pair(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(ann.play(&id, 0, "a1").await["type"], "ok");
    bob.event("moved").await;
    here.bus.close();
    let shown = bob.event("match").await;
    assert_eq!(
        (&shown["epoch"], &shown["ply"]),
        (&json!(1), &json!(1)),
        "{shown}"
    );
    assert_eq!(bob.play(&id, 1, "b2").await["type"], "ok");
    // The first owner's next write is refused by the store, and nothing of it is told.
    let refused = ann.play(&id, 1, "c3").await;
    assert_ne!(refused["type"], "ok", "{refused}");
    let moves = cluster_moves(&cluster, &id).await;
    assert_eq!(moves, ["a1", "b2"]);
}

async fn cluster_moves(cluster: &Cluster, id: &str) -> Vec<String> {
    let id = MatchId(id.parse().expect("it is an id"));
    let loaded = cluster.store.load(id).await.expect("it can be read");
    let loaded = loaded.expect("it is kept");
    let events = loaded.record.events.into_iter();
    let moves = events.filter_map(|event| match event.kind {
        EventKind::Moved { m, .. } => Some(m),
        _ => None,
    });
    moves.collect()
}
