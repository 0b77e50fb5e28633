//! Players who go away, and what becomes of their matches.

use serde_json::json;

use crate::support::{TestServer, pass, settings};

/// A player who vanishes in mid-match and stays away loses it: the opponent is told once, and a
/// move that comes back too late is refused.
#[tokio::test(start_paused = true)]
async fn an_abandoned_match_is_lost() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = server.pair().await;
    ann.play(&id, 0, "b2").await;
    let token = bob.token();
    drop(bob);
    let vanished = tokio::time::Instant::now();
    let outcome = json!({"winner": 0, "reason": "abandonment"});
    ann.event("moved").await;
    assert_eq!(ann.event("ended").await["outcome"], outcome);
    assert_eq!(vanished.elapsed().as_secs(), 60);
    let (mut bob, welcome) = server.come_back(&token).await;
    assert_eq!(
        (&welcome["resumed"], &welcome["following"]),
        (&json!(true), &json!([]))
    );
    let late = json!({"type": "move", "match": id, "ply": 1, "move": "a1"});
    assert_eq!(bob.refused(late).await, "match_ended");
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_in_time_plays_on() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = server.pair().await;
    let token = bob.token();
    drop(bob);
    pass(59).await;
    let (mut bob, _) = server.come_back(&token).await;
    assert_eq!(bob.event("match").await["status"], "running");
    ann.drain().await;
    // Nothing of the absence is left to count.
    for _ in 0..4 {
        pass(30).await;
        ann.drain().await;
        bob.drain().await;
    }
    assert_eq!(ann.play(&id, 0, "b2").await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn an_open_match_does_not_outlive_its_host() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut cat = server.player("cat").await;
    let id = ann.create(json!({})).await;
    cat.ask(json!({"type": "watch", "match": id})).await;
    drop(ann);
    let ended = cat.event("ended").await;
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "aborted"})
    );
}

#[tokio::test(start_paused = true)]
async fn a_player_away_from_an_open_match_vacates_the_seat() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut bob = server.player("bob").await;
    let id = ann.create(json!({"seats": ["open", "open"]})).await;
    bob.ask(json!({"type": "join", "match": id})).await;
    ann.event("seated").await;
    drop(bob);
    let vacated = ann.event("seated").await;
    assert_eq!(
        (&vacated["seat"], &vacated["occupant"]),
        (&json!(0), &json!("open"))
    );
    assert_eq!(
        ann.ask(json!({"type": "watch", "match": id})).await["status"],
        "open"
    );
}

#[tokio::test(start_paused = true)]
async fn a_person_away_from_a_bot_loses_too() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut cat = server.player("cat").await;
    let id = ann.create(json!({"seats": ["me", {"bot": "easy"}]})).await;
    cat.ask(json!({"type": "watch", "match": id})).await;
    drop(ann);
    let ended = cat.event("ended").await;
    assert_eq!(
        ended["outcome"],
        json!({"winner": 1, "reason": "abandonment"})
    );
}
