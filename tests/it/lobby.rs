//! Tests of the lobby: match lists, match codes and limits.

use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, json_string, settings};

/// Requests one page of the match list and returns the ids of its matches.
async fn list_ids(player: &mut TestPlayer, mut request: Value) -> Vec<String> {
    request["type"] = "list".into();
    let answer = player.request(request).await;
    let matches = answer["matches"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    matches
        .iter()
        .map(|listing| json_string(&listing["match"]))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn list_shows_listed_matches_newest_first() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let first = ann.create_match(json!({})).await;
    let unlisted = ann.create_match(json!({"listed": false})).await;
    let second = ann
        .create_match(json!({"seats": ["me", {"bot": "easy"}]}))
        .await;
    let mut bob = server.connect_player("bob").await;
    assert_eq!(
        list_ids(&mut bob, json!({})).await,
        [second.clone(), first.clone()]
    );
    let open = list_ids(&mut bob, json!({"status": "open"})).await;
    assert_eq!(open, std::slice::from_ref(&first));
    let running = list_ids(&mut bob, json!({"status": "running"})).await;
    assert_eq!(running, std::slice::from_ref(&second));
    assert_eq!(
        list_ids(&mut bob, json!({"game": "tic-tac-toe", "status": "ended"}))
            .await
            .len(),
        0
    );
    ann.request(json!({"type": "resign", "match": second}))
        .await;
    assert_eq!(
        list_ids(&mut bob, json!({"status": "ended"})).await,
        [second]
    );
    assert_eq!(
        bob.expect_error(json!({"type": "list", "game": "ludo"}))
            .await,
        "unknown_game"
    );
    let joined = bob
        .request(json!({"type": "join", "match": unlisted}))
        .await;
    assert_eq!(
        (&joined["listed"], &joined["you"]),
        (&json!(false), &json!(1))
    );

    let listing =
        ann.request(json!({"type": "list", "status": "open"})).await["matches"][0].clone();
    let snapshot = ann.request(json!({"type": "watch", "match": first})).await;
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
async fn list_is_paginated_by_last_match() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut created = Vec::new();
    for _ in 0..7 {
        created.insert(0, ann.create_match(json!({})).await);
    }
    let mut listed = list_ids(&mut ann, json!({"limit": 3})).await;
    while let Some(last) = listed.last().cloned() {
        let page = list_ids(&mut ann, json!({"limit": 3, "after": last})).await;
        if page.is_empty() {
            break;
        }
        listed.extend(page);
    }
    assert_eq!(listed, created);
    let answer = ann.request(json!({"type": "list", "limit": 1})).await;
    assert_eq!(answer["total"], 7);

    // The field `after` must name an existing match, but this match need not fit the filter.
    ann.request(json!({"type": "leave", "match": created[3]}))
        .await;
    let after = json!({"status": "open", "after": created[3]});
    assert_eq!(list_ids(&mut ann, after).await, created[4..]);
    let unknown = json!({"type": "list", "after": "00000000-0000-4000-8000-000000000000"});
    assert_eq!(ann.expect_error(unknown).await, "unknown_match");
}

#[tokio::test(start_paused = true)]
async fn list_reflects_previously_answered_requests() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut cat = server.connect_player("cat").await;
    for (ply, m) in ["a1", "a2", "b1"].iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play_move(&id, ply as u64, m).await;
        let list = mover.request(json!({"type": "list"})).await;
        assert_eq!(list["matches"][0]["ply"], ply + 1);
    }
    cat.request(json!({"type": "watch", "match": id})).await;
    let list = cat.request(json!({"type": "list"})).await;
    assert_eq!(list["matches"][0]["spectators"], 1);
    cat.request(json!({"type": "leave", "match": id})).await;
    let list = cat.request(json!({"type": "list"})).await;
    assert_eq!(list["matches"][0]["spectators"], 0);
}

#[tokio::test(start_paused = true)]
async fn match_codes_are_unique_and_readable() {
    let server = TestServer::start(settings());
    let mut codes = Vec::new();
    for _ in 0..3 {
        let mut host = server.connect_player("host").await;
        for _ in 0..16 {
            let id = host.create_match(json!({})).await;
            let snapshot = host.request(json!({"type": "watch", "match": id})).await;
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
async fn live_matches_per_player_are_limited() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut ids = Vec::new();
    for _ in 0..16 {
        ids.push(ann.create_match(json!({})).await);
    }
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let refused = ann.request(create.clone()).await;
    assert_eq!(
        (&refused["code"], &refused["retryable"]),
        (&json!("too_many_matches"), &json!(true))
    );
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    assert_eq!(ann.expect_error(seek.clone()).await, "too_many_matches");
    ann.request(json!({"type": "leave", "match": ids[0]})).await;
    assert_eq!(ann.request(seek).await["type"], "ok");
    ann.create_match(json!({})).await;
    assert_eq!(ann.expect_error(create).await, "too_many_matches");
}

#[tokio::test(start_paused = true)]
async fn followed_matches_per_connection_are_limited() {
    let server = TestServer::start(Settings {
        following_max: 3,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let mut host = server.connect_player("host").await;
        ids.push((host.create_match(json!({})).await, host));
    }
    for (id, _) in &ids[..3] {
        bob.request(json!({"type": "watch", "match": id})).await;
    }
    for kind in ["watch", "join"] {
        let refused = bob
            .expect_error(json!({"type": kind, "match": ids[3].0}))
            .await;
        assert_eq!(refused, "too_many_matches");
    }
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    assert_eq!(bob.expect_error(create.clone()).await, "too_many_matches");
    assert_eq!(
        bob.request(json!({"type": "watch", "match": ids[0].0}))
            .await["type"],
        "match"
    );

    // Ended matches do not count towards the limit of followed matches, so a client need not leave
    // them.
    let (id, host) = &mut ids[0];
    host.request(json!({"type": "leave", "match": id})).await;
    bob.expect_event("ended").await;
    assert_eq!(
        bob.request(json!({"type": "join", "match": ids[3].0}))
            .await["type"],
        "match"
    );
    for _ in 0..10 {
        let id = ann
            .create_match(json!({"seats": ["me", {"bot": "easy"}]}))
            .await;
        ann.request(json!({"type": "resign", "match": id})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn create_on_full_server_is_refused_as_overloaded() {
    let server = TestServer::start(Settings {
        matches_max: 1,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    ann.create_match(json!({})).await;
    let refused = ann
        .request(json!({"type": "create", "game": "tic-tac-toe"}))
        .await;
    assert_eq!(
        (&refused["code"], &refused["retryable"]),
        (&json!("overloaded"), &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn ended_match_is_evicted_to_make_room() {
    let server = TestServer::start(Settings {
        matches_max: 2,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    let first = ann.create_match(json!({})).await;
    ann.request(json!({"type": "leave", "match": first})).await;
    let second = ann.create_match(json!({})).await;
    let third = ann.create_match(json!({})).await;
    let mut bob = server.connect_player("bob").await;
    assert_eq!(
        bob.expect_error(json!({"type": "watch", "match": first}))
            .await,
        "overloaded",
        "the match is only in the store and there is no room to load it"
    );
    for live in [second, third] {
        let snapshot = bob.request(json!({"type": "watch", "match": live})).await;
        assert_eq!(snapshot["status"], "open");
    }
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    assert_eq!(bob.expect_error(create).await, "overloaded");
}

#[tokio::test(start_paused = true)]
async fn spectators_per_match_are_limited_but_players_admitted() {
    let server = TestServer::start(Settings {
        followers_max: 2,
        ..settings()
    });
    let (_ann, bob, id) = server.start_match().await;
    let mut cat = server.connect_player("cat").await;
    assert_eq!(
        cat.expect_error(json!({"type": "watch", "match": id}))
            .await,
        "overloaded"
    );
    // The limit on followers per match applies neither to the match's players nor to clients that
    // take a seat.
    let mut dan = server.connect_player("dan").await;
    let open = dan.create_match(json!({})).await;
    let watch = json!({"type": "watch", "match": open});
    let mut eve = server.connect_player("eve").await;
    eve.request(watch.clone()).await;
    assert_eq!(cat.expect_error(watch).await, "overloaded");
    let joined = cat.request(json!({"type": "join", "match": open})).await;
    assert_eq!(joined["you"], 1);
    let (mut bob, _) = server.resume_session(&bob.token()).await;
    assert_eq!(bob.expect_event("match").await["you"], 1);
}

#[tokio::test(start_paused = true)]
async fn create_errors_have_fixed_precedence() {
    let server = TestServer::start(Settings {
        live_matches_per_player: 1,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    ann.create_match(json!({})).await;
    let create = |game: &str, level: &str| json!({"type": "create", "game": game, "seats": ["me", {"bot": level}]});
    assert_eq!(
        ann.expect_error(create("ludo", "godlike")).await,
        "unknown_game"
    );
    assert_eq!(
        ann.expect_error(create("tic-tac-toe", "godlike")).await,
        "unknown_level"
    );
    assert_eq!(
        ann.expect_error(create("tic-tac-toe", "hard")).await,
        "too_many_matches"
    );
}
