//! When a player blocks another player, the block applies on all servers.

use serde_json::{Value, json};

use super::{Cluster, start_match_across_nodes};

#[tokio::test(start_paused = true)]
async fn blocked_players_cannot_chat_or_be_paired_across_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"game": "chess"})).await;
    let block = json!({"type": "block", "player": bob.id()});
    assert_eq!(ann.request(block).await["type"], "blocked");

    // Ann follows the match on the owner's server, and Bob follows a replica on the other server.
    for (speaker, other) in [(true, false), (false, true)] {
        let say = json!({"type": "say", "match": id, "preset": "hello"});
        let (speaker, other) = match (speaker, other) {
            (true, _) => (&mut ann, &mut bob),
            (false, _) => (&mut bob, &mut ann),
        };
        assert_eq!(speaker.request(say).await["type"], "ok");
        speaker.expect_event("said").await;
        let messages = other.drain_messages().await;
        assert!(
            messages.iter().all(|message| message["type"] != "said"),
            "{messages:?}"
        );
        let watch = json!({"type": "watch", "match": id});
        let snapshot = other.request(watch).await;
        let own_seat = snapshot["you"].clone();
        let chat = snapshot["said"].as_array().expect("a list");
        assert!(
            chat.iter().all(|line| line["seat"] == own_seat),
            "{snapshot}"
        );
    }
    ann.request(json!({"type": "resign", "match": id})).await;
    bob.expect_event("ended").await;
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    assert_eq!(bob.expect_error(offer).await, "not_allowed");

    for (host, other) in [(true, false), (false, true)] {
        let (host, other) = match (host, other) {
            (true, _) => (&mut ann, &mut bob),
            (false, _) => (&mut bob, &mut ann),
        };
        let open_id = host.create_match(json!({})).await;
        let join = json!({"type": "join", "match": open_id});
        assert_eq!(other.expect_error(join).await, "not_allowed");
        let challenge = json!({"type": "create", "game": "chess", "for": host.id()});
        assert_eq!(other.expect_error(challenge).await, "not_allowed");
    }
    let seek = json!({"type": "seek", "game": "othello"});
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.request(seek.clone()).await["type"], "ok");
    }
    crate::support::advance_time(10).await;
    let messages = [ann.drain_messages().await, bob.drain_messages().await].concat();
    let is_match = |message: &&Value| message["type"] == "match";
    assert_eq!(messages.iter().find(is_match), None);
}
