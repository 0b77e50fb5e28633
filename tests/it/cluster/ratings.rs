//! Ratings where players are on different servers.

use serde_json::json;

use super::Cluster;
use crate::accounts::registered;
use crate::ratings::{lose, rated, seek, until};
use crate::sessions::beside;
use crate::support::pass;

/// What a match has changed is told once on every connection that follows it, whatever the server.
#[tokio::test(start_paused = true)]
async fn ratings_are_told_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let mut ann = registered(&here.server, "ann").await;
    let mut bob = registered(&there.server, "bob").await;
    let mut again = beside(&there.server, &ann.token()).await;
    let id = ann.create(rated()).await;
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(again.ask(watch).await["you"], 0);
    let join = json!({"type": "join", "match": id});
    assert_eq!(bob.ask(join).await["type"], "match");
    until(&mut ann, "started").await;
    assert_eq!(ann.play(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.play(&id, 1, "a1").await["type"], "ok");
    let resign = json!({"type": "resign", "match": id});
    assert_eq!(bob.ask(resign).await["type"], "ok");
    let told = until(&mut ann, "rating").await;
    assert_eq!(told["changes"].as_array().map(Vec::len), Some(2), "{told}");
    assert_eq!(until(&mut again, "rating").await, told);
    assert_eq!(until(&mut bob, "rating").await, told);
    pass(20).await;
    for player in [&mut ann, &mut again, &mut bob] {
        let later = player.drain().await;
        let more = later.iter().find(|later| later["type"] == "rating");
        assert_eq!(more, None, "it is told once");
    }
    let profile = json!({"type": "profile", "name": "ann"});
    let profile = bob.ask(profile).await;
    assert_eq!(profile["ratings"][0]["games"], 1, "{profile}");
    assert_eq!(profile["ratings"][0]["rating"], told["changes"][0]["after"]);
}

/// Seeks of two servers widen as those of one do.
#[tokio::test(start_paused = true)]
async fn rated_seeks_of_two_servers_widen_until_both_fit() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let mut ann = registered(&here.server, "ann").await;
    let mut bob = registered(&here.server, "bob").await;
    let mut cat = registered(&there.server, "cat").await;
    let (_, told) = lose(&mut ann, &mut bob, ["b2", "a1"]).await;
    let apart = told["changes"][0]["after"].as_i64().expect("a rating") - 1500;
    assert!((100..300).contains(&apart), "{told}");
    assert_eq!(ann.ask(seek(Some([-50, 50]))).await["type"], "ok");
    assert_eq!(cat.ask(seek(None)).await["type"], "ok");
    let steps = u64::try_from(apart - 50).expect("more").div_ceil(50);
    pass(steps * 5 - 2).await;
    let early = [ann.drain().await, cat.drain().await].concat();
    let is_match = |told: &&serde_json::Value| told["type"] == "match";
    assert_eq!(early.iter().find(is_match), None, "they are too far apart");
    // A server looks every two seconds.
    pass(5).await;
    let shown = until(&mut cat, "match").await;
    assert_eq!(until(&mut ann, "match").await["match"], shown["match"]);
    assert!([ann.id(), cat.id()].contains(&&shown["host"]), "{shown}");
    assert_eq!(shown["rated"], true);
}
