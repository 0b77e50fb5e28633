//! Where matches are found: lists, codes and limits.

use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::support::{Player, TestServer, settings, text};

/// The ids on a page of the list.
async fn ids(player: &mut Player, mut request: Value) -> Vec<String> {
    request["type"] = "list".into();
    let answer = player.ask(request).await;
    let matches = answer["matches"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    matches
        .iter()
        .map(|listing| text(&listing["match"]))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_shows_listed_matches_newest_first() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let first = ann.create(json!({})).await;
    let unlisted = ann.create(json!({"listed": false})).await;
    let second = ann.create(json!({"seats": ["me", {"bot": "easy"}]})).await;
    let mut bob = server.player("bob").await;
    assert_eq!(
        ids(&mut bob, json!({})).await,
        [second.clone(), first.clone()]
    );
    let open = ids(&mut bob, json!({"status": "open"})).await;
    assert_eq!(open, std::slice::from_ref(&first));
    let running = ids(&mut bob, json!({"status": "running"})).await;
    assert_eq!(running, std::slice::from_ref(&second));
    assert_eq!(
        ids(&mut bob, json!({"game": "tic-tac-toe", "status": "ended"}))
            .await
            .len(),
        0
    );
    ann.ask(json!({"type": "resign", "match": second})).await;
    assert_eq!(ids(&mut bob, json!({"status": "ended"})).await, [second]);
    assert_eq!(
        bob.refused(json!({"type": "list", "game": "ludo"})).await,
        "unknown_game"
    );
    let joined = bob.ask(json!({"type": "join", "match": unlisted})).await;
    assert_eq!(
        (&joined["listed"], &joined["you"]),
        (&json!(false), &json!(1))
    );

    let listing = ann.ask(json!({"type": "list", "status": "open"})).await["matches"][0].clone();
    let snapshot = ann.ask(json!({"type": "watch", "match": first})).await;
    for field in [
        "match",
        "code",
        "game",
        "status",
        "seats",
        "ply",
        "spectators",
    ] {
        assert_eq!(listing[field], snapshot[field], "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_comes_in_pages() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut created = Vec::new();
    for _ in 0..7 {
        created.insert(0, ann.create(json!({})).await);
    }
    let mut seen = ids(&mut ann, json!({"limit": 3})).await;
    while let Some(last) = seen.last().cloned() {
        let page = ids(&mut ann, json!({"limit": 3, "after": last})).await;
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    assert_eq!(seen, created);
    let answer = ann.ask(json!({"type": "list", "limit": 1})).await;
    assert_eq!(answer["total"], 7);

    // The last match of the page before need not fit any more, but it must be known.
    ann.ask(json!({"type": "leave", "match": created[3]})).await;
    let after = json!({"status": "open", "after": created[3]});
    assert_eq!(ids(&mut ann, after).await, created[4..]);
    let gone = json!({"type": "list", "after": "00000000-0000-4000-8000-000000000000"});
    assert_eq!(ann.refused(gone).await, "unknown_match");
}

#[tokio::test(start_paused = true)]
async fn a_list_shows_what_was_answered_before() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.pair().await;
    let mut cat = server.player("cat").await;
    for (ply, m) in ["a1", "a2", "b1"].iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play(&id, ply as u64, m).await;
        let list = mover.ask(json!({"type": "list"})).await;
        assert_eq!(list["matches"][0]["ply"], ply + 1);
    }
    cat.ask(json!({"type": "watch", "match": id})).await;
    let list = cat.ask(json!({"type": "list"})).await;
    assert_eq!(list["matches"][0]["spectators"], 1);
    cat.ask(json!({"type": "leave", "match": id})).await;
    let list = cat.ask(json!({"type": "list"})).await;
    assert_eq!(list["matches"][0]["spectators"], 0);
}

#[tokio::test(start_paused = true)]
async fn codes_are_unique_and_readable() {
    let server = TestServer::start(settings());
    let mut codes = Vec::new();
    for _ in 0..3 {
        let mut host = server.player("host").await;
        for _ in 0..16 {
            let id = host.create(json!({})).await;
            let snapshot = host.ask(json!({"type": "watch", "match": id})).await;
            let code = snapshot["code"].as_str().unwrap().to_owned();
            assert_eq!(code.len(), 6);
            assert!(
                code.chars()
                    .all(|c| "23456789ABCDEFGHJKMNPQRSTUVWXYZ".contains(c))
            );
            codes.push(code);
        }
    }
    codes.sort();
    codes.dedup();
    assert_eq!(codes.len(), 48);
}

#[tokio::test(start_paused = true)]
async fn a_player_hosts_so_many_live_matches() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut ids = Vec::new();
    for _ in 0..16 {
        ids.push(ann.create(json!({})).await);
    }
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let refused = ann.ask(create.clone()).await;
    assert_eq!(
        (&refused["code"], &refused["retryable"]),
        (&json!("too_many_matches"), &json!(true))
    );
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    assert_eq!(ann.refused(seek.clone()).await, "too_many_matches");
    ann.ask(json!({"type": "leave", "match": ids[0]})).await;
    assert_eq!(ann.ask(seek).await["type"], "ok");
    ann.create(json!({})).await;
    assert_eq!(ann.refused(create).await, "too_many_matches");
}

#[tokio::test(start_paused = true)]
async fn a_connection_follows_so_many_matches() {
    let server = TestServer::start(Settings {
        following_max: 3,
        ..settings()
    });
    let mut ann = server.player("ann").await;
    let mut bob = server.player("bob").await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let mut host = server.player("host").await;
        ids.push((host.create(json!({})).await, host));
    }
    for (id, _) in &ids[..3] {
        bob.ask(json!({"type": "watch", "match": id})).await;
    }
    for kind in ["watch", "join"] {
        let refused = bob.refused(json!({"type": kind, "match": ids[3].0})).await;
        assert_eq!(refused, "too_many_matches");
    }
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    assert_eq!(bob.refused(create.clone()).await, "too_many_matches");
    assert_eq!(
        bob.ask(json!({"type": "watch", "match": ids[0].0})).await["type"],
        "match"
    );

    // What has ended makes room by itself, so a client need not leave every match it has played.
    let (id, host) = &mut ids[0];
    host.ask(json!({"type": "leave", "match": id})).await;
    bob.event("ended").await;
    assert_eq!(
        bob.ask(json!({"type": "join", "match": ids[3].0})).await["type"],
        "match"
    );
    for _ in 0..10 {
        let id = ann.create(json!({"seats": ["me", {"bot": "easy"}]})).await;
        ann.ask(json!({"type": "resign", "match": id})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_server_says_so() {
    let server = TestServer::start(Settings {
        matches_max: 1,
        ..settings()
    });
    let mut ann = server.player("ann").await;
    ann.create(json!({})).await;
    let refused = ann
        .ask(json!({"type": "create", "game": "tic-tac-toe"}))
        .await;
    assert_eq!(
        (&refused["code"], &refused["retryable"]),
        (&json!("overloaded"), &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn a_match_that_has_ended_makes_room() {
    let server = TestServer::start(Settings {
        matches_max: 2,
        ..settings()
    });
    let mut ann = server.player("ann").await;
    let first = ann.create(json!({})).await;
    ann.ask(json!({"type": "leave", "match": first})).await;
    let second = ann.create(json!({})).await;
    let third = ann.create(json!({})).await;
    let mut bob = server.player("bob").await;
    assert_eq!(
        bob.refused(json!({"type": "watch", "match": first})).await,
        "overloaded",
        "it is in the store alone, and there is no room to read it"
    );
    for live in [second, third] {
        let seen = bob.ask(json!({"type": "watch", "match": live})).await;
        assert_eq!(seen["status"], "open");
    }
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    assert_eq!(bob.refused(create).await, "overloaded");
}

#[tokio::test(start_paused = true)]
async fn a_match_has_room_for_so_many_spectators() {
    let server = TestServer::start(Settings {
        followers_max: 2,
        ..settings()
    });
    let (_ann, bob, id) = server.pair().await;
    let mut cat = server.player("cat").await;
    assert_eq!(
        cat.refused(json!({"type": "watch", "match": id})).await,
        "overloaded"
    );
    // A player finds room in any case, and so does who is about to be one.
    let mut dan = server.player("dan").await;
    let open = dan.create(json!({})).await;
    let watch = json!({"type": "watch", "match": open});
    let mut eve = server.player("eve").await;
    eve.ask(watch.clone()).await;
    assert_eq!(cat.refused(watch).await, "overloaded");
    let joined = cat.ask(json!({"type": "join", "match": open})).await;
    assert_eq!(joined["you"], 1);
    let (mut bob, _) = server.come_back(&bob.token()).await;
    assert_eq!(bob.event("match").await["you"], 1);
}

#[tokio::test(start_paused = true)]
async fn errors_of_create_come_in_order() {
    let server = TestServer::start(Settings {
        live_matches_per_player: 1,
        ..settings()
    });
    let mut ann = server.player("ann").await;
    ann.create(json!({})).await;
    let create = |game: &str, level: &str| json!({"type": "create", "game": game, "seats": ["me", {"bot": level}]});
    assert_eq!(ann.refused(create("ludo", "godlike")).await, "unknown_game");
    assert_eq!(
        ann.refused(create("tic-tac-toe", "godlike")).await,
        "unknown_level"
    );
    assert_eq!(
        ann.refused(create("tic-tac-toe", "hard")).await,
        "too_many_matches"
    );
}
