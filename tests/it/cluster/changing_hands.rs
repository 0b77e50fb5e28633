//! A match goes on when its owner stops, dies or is cut off.

use plyhouse_matches::EventKind;
use plyhouse_protocol::MatchId;
use plyhouse_store::Store;
use serde_json::json;

use super::{Cluster, start_match_across_nodes};
use crate::support::advance_time;

/// A server that stops gives its matches up at once.
#[tokio::test(start_paused = true)]
async fn a_match_outlives_a_server_that_stops() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(ann.play_move(&id, 0, "a1").await["type"], "ok");
    bob.expect_event("moved").await;
    let token = ann.token();
    here.server.server.stop().await;
    assert_eq!(ann.wait_for_close().await, 1001);
    // Whoever is on the other server is shown the match anew, of a later epoch.
    let shown = bob.expect_event("match").await;
    assert_eq!(
        (&shown["epoch"], &shown["ply"]),
        (&json!(1), &json!(1)),
        "{shown}"
    );
    let (mut ann, _) = there.server.resume_session(&token).await;
    assert_eq!(ann.expect_event("match").await["epoch"], 1);
    assert_eq!(bob.play_move(&id, 1, "b2").await["type"], "ok");
    assert_eq!(ann.expect_event("moved").await["ply"], 1);
    assert_eq!(ann.play_move(&id, 2, "a2").await["type"], "ok");
}

/// An owner whom nobody can ask is taken from, and finds that out before it tells anything.
#[tokio::test(start_paused = true)]
async fn an_owner_that_is_cut_off_is_taken_from() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(ann.play_move(&id, 0, "a1").await["type"], "ok");
    bob.expect_event("moved").await;
    here.bus.close();
    let shown = bob.expect_event("match").await;
    assert_eq!(
        (&shown["epoch"], &shown["ply"]),
        (&json!(1), &json!(1)),
        "{shown}"
    );
    assert_eq!(bob.play_move(&id, 1, "b2").await["type"], "ok");
    // The first owner's next write is refused by the store, and nothing of it is told.
    let refused = ann.play_move(&id, 1, "c3").await;
    assert_ne!(refused["type"], "ok", "{refused}");
    let moves = cluster_moves(&cluster, &id).await;
    assert_eq!(moves, ["a1", "b2"]);
}

/// An owner from whom a match was taken finds that out by itself, though nobody can tell it.
#[tokio::test(start_paused = true)]
async fn a_robbed_owner_shows_what_has_become_of_its_match() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    here.bus.close();
    bob.expect_event("match").await;
    let shown = ann.expect_event("match").await;
    assert_eq!((&shown["epoch"], &shown["match"]), (&json!(1), &json!(id)));
}

/// Who was told more by another owner is not refused for good by one that knows less.
#[tokio::test(start_paused = true)]
async fn a_move_from_ahead_has_the_owner_look() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let plain = ann.play_move(&id, 4, "a1").await;
    assert_eq!(
        plain["code"], "stale_ply",
        "what nobody was told of is refused"
    );
    here.bus.close();
    bob.expect_event("match").await;
    let refused = ann.play_move(&id, 2, "a1").await;
    assert_eq!(
        (&refused["code"], &refused["retryable"]),
        (&json!("overloaded"), &json!(true))
    );
}

/// A match that has ended is asked for a rematch wherever its players are by then.
#[tokio::test(start_paused = true)]
async fn a_rematch_is_offered_though_the_owner_is_gone() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(
        bob.request(json!({"type": "resign", "match": id})).await["type"],
        "ok"
    );
    ann.expect_event("ended").await;
    let token = ann.token();
    here.server.server.stop().await;
    let (mut ann, _) = there.server.resume_session(&token).await;
    assert_eq!(
        ann.request(json!({"type": "watch", "match": id})).await["status"],
        "ended"
    );
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    while bob.request(offer.clone()).await["type"] != "ok" {}
    while ann.request(offer.clone()).await["type"] != "ok" {}
    loop {
        let shown = ann.expect_event("match").await;
        if shown["match"] != json!(id) {
            assert_eq!(shown["status"], "running");
            break;
        }
    }
}

fn match_id(id: &str) -> MatchId {
    MatchId(id.parse().expect("it is an id"))
}

async fn cluster_moves(cluster: &Cluster, id: &str) -> Vec<String> {
    let loaded = cluster
        .store
        .load(match_id(id))
        .await
        .expect("it can be read");
    let loaded = loaded.expect("it is kept");
    let events = loaded.record.events.into_iter();
    let moves = events.filter_map(|event| match event.kind {
        EventKind::Moved { m, .. } => Some(m),
        _ => None,
    });
    moves.collect()
}

/// A request that the owner has stored and not answered is not done again by the server that takes over.
#[tokio::test(start_paused = true)]
async fn what_was_stored_and_not_answered_is_not_done_twice() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let create = json!({"seats": ["me", "open"], "clock": clock});
    let (_ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let give = json!({"type": "give_time", "match": id, "ms": 15000});
    assert_eq!(bob.request(give.clone()).await["type"], "ok");
    // What the owner does with the next request before it dies.
    let loaded = cluster.store.load(match_id(&id)).await;
    let loaded = loaded.expect("it can be read").expect("it is kept");
    let mut given = loaded.record.events.last().expect("it has begun").clone();
    let request = given.request.as_mut().expect("it was asked for");
    request.2 += 1;
    let stored = cluster
        .store
        .append(match_id(&id), loaded.position, vec![given]);
    let stored = stored.await.expect("it is written");
    here.bus.close();

    let answer = bob.request(give.clone()).await;
    assert_eq!(answer["seq"], stored.seq().0, "{answer}");
    assert_eq!(given_times(&cluster, &id).await, 2);
    // Another request is another one, and there is one for each ply.
    assert_eq!(bob.expect_error(give).await, "too_soon");
}

async fn given_times(cluster: &Cluster, id: &str) -> usize {
    let loaded = cluster.store.load(match_id(id)).await;
    let events = loaded.expect("it can be read").expect("it is kept").record;
    let events = events.events.iter();
    let given = events.filter(|event| matches!(event.kind, EventKind::TimeGiven { .. }));
    given.count()
}

/// Who is connected to a server that is cut off loses nothing by that.
#[tokio::test(start_paused = true)]
async fn nobody_is_gone_who_may_be_where_nobody_can_be_heard() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let create = json!({"seats": ["me", "open"], "patience_ms": 60000});
    let (_ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    here.bus.close();
    assert_eq!(bob.expect_event("match").await["epoch"], 1);
    advance_time(600).await;
    let told = bob.drain_messages().await;
    assert!(
        told.iter().all(|told| told["type"] == "presence"),
        "{told:?}"
    );
    // Once that server is no more, whoever was there is gone.
    here.server.server.stop().await;
    let ended = bob.expect_event("ended").await;
    assert_eq!(ended["outcome"]["reason"], "abandonment", "{id}");
}

/// Whoever follows on a third server is shown the match anew, too.
#[tokio::test(start_paused = true)]
async fn followers_elsewhere_are_shown_the_match_of_its_new_owner() {
    let mut cluster = Cluster::default();
    let [here, there, beside] = cluster.start_nodes().await;
    let (_ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let mut cat = beside.server.connect_player("cat").await;
    let watched = cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(watched["epoch"], serde_json::Value::Null);
    here.server.server.stop().await;
    assert_eq!(bob.expect_event("match").await["epoch"], 1);
    assert_eq!(cat.expect_event("match").await["epoch"], 1);
}
