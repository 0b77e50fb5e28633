//! Ratings of players who are connected to different servers.

use serde_json::json;

use super::Cluster;
use crate::accounts::connect_registered_player;
use crate::rated_matches::{play_rated_loss, rated_match_params, rated_seek, receive_until};
use crate::sessions::add_connection;
use crate::support::advance_time;

#[tokio::test(start_paused = true)]
async fn rating_changes_are_sent_once_to_connections_on_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = connect_registered_player(&here.server, "ann").await;
    let mut bob = connect_registered_player(&there.server, "bob").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    let id = ann.create_match(rated_match_params()).await;
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(second_connection.request(watch).await["you"], 0);
    let join = json!({"type": "join", "match": id});
    assert_eq!(bob.request(join).await["type"], "match");
    receive_until(&mut ann, "started").await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.play_move(&id, 1, "a1").await["type"], "ok");
    let resign = json!({"type": "resign", "match": id});
    assert_eq!(bob.request(resign).await["type"], "ok");
    let rating_event = receive_until(&mut ann, "rating").await;
    assert_eq!(
        rating_event["changes"].as_array().map(Vec::len),
        Some(2),
        "{rating_event}"
    );
    assert_eq!(
        receive_until(&mut second_connection, "rating").await,
        rating_event
    );
    assert_eq!(receive_until(&mut bob, "rating").await, rating_event);
    advance_time(20).await;
    for player in [&mut ann, &mut second_connection, &mut bob] {
        let messages = player.drain_messages().await;
        let extra = messages.iter().find(|later| later["type"] == "rating");
        assert_eq!(extra, None, "rating changes are sent once");
    }
    let profile = json!({"type": "profile", "name": "ann"});
    let profile = bob.request(profile).await;
    assert_eq!(profile["ratings"][0]["games"], 1, "{profile}");
    assert_eq!(
        profile["ratings"][0]["rating"],
        rating_event["changes"][0]["after"]
    );
}

#[tokio::test(start_paused = true)]
async fn rated_seeks_on_two_nodes_widen_until_ranges_overlap() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = connect_registered_player(&here.server, "ann").await;
    let mut bob = connect_registered_player(&here.server, "bob").await;
    let mut cat = connect_registered_player(&there.server, "cat").await;
    let (_, rating_event) = play_rated_loss(&mut ann, &mut bob, ["b2", "a1"]).await;
    let rating_gap = rating_event["changes"][0]["after"]
        .as_i64()
        .expect("a rating")
        - 1500;
    assert!((100..300).contains(&rating_gap), "{rating_event}");
    assert_eq!(ann.request(rated_seek(Some([-50, 50]))).await["type"], "ok");
    assert_eq!(cat.request(rated_seek(None)).await["type"], "ok");
    let steps = u64::try_from(rating_gap - 50)
        .expect("a gap above 50")
        .div_ceil(50);
    advance_time(steps * 5 - 2).await;
    let early = [ann.drain_messages().await, cat.drain_messages().await].concat();
    let is_match = |message: &&serde_json::Value| message["type"] == "match";
    assert_eq!(
        early.iter().find(is_match),
        None,
        "the rating gap is too large"
    );
    // Each server tries every two seconds to pair its seeks whose rating range has widened. Five
    // seconds therefore include at least two tries.
    advance_time(5).await;
    let snapshot = receive_until(&mut cat, "match").await;
    assert_eq!(
        receive_until(&mut ann, "match").await["match"],
        snapshot["match"]
    );
    assert!(
        [ann.id(), cat.id()].contains(&&snapshot["host"]),
        "{snapshot}"
    );
    assert_eq!(snapshot["rated"], true);
}
