//! Tests of account deletion, invitations and the operator's commands for accounts.

use std::sync::Arc;

use plyhouse_server::{AccountPolicy, AdminCommand, AdminResult, Settings, new_one_time_secret};
use plyhouse_store::{IdentityChanges, IdentityStore, MemoryStore, Store};
use serde_json::{Value, json};

use crate::accounts::{PASSWORD, connect_registered_player};
use crate::fault_injecting_store::FailingStore;
use crate::sessions::{add_connection, connect_with_hello, list_sessions};
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

fn delete_account_request() -> Value {
    json!({"type": "forget_me", "password": PASSWORD})
}

/// Plays a match that Ann resigns, and returns the match id.
async fn play_resigned_match(ann: &mut TestPlayer, bob: &mut TestPlayer) -> String {
    let id = ann.create_match(json!({})).await;
    bob.request(json!({"type": "join", "match": id})).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    ann.drain_messages().await;
    bob.expect_event("ended").await;
    id
}

#[tokio::test(start_paused = true)]
async fn deleted_account_leaves_only_player_id() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        connect_registered_player(&server, "ann").await,
        server.connect_player("bob").await,
    );
    let id = play_resigned_match(&mut ann, &mut bob).await;
    let create_key = json!({"type": "create_key", "bot": "randy", "password": PASSWORD});
    let api_key = ann.request(create_key).await;
    let recovery = json!({"type": "recovery", "password": PASSWORD});
    let recovery = json_string(&ann.request(recovery).await["key"]);
    let (mut program, _) = server.resume_session(&json_string(&api_key["key"])).await;
    let mut tab = add_connection(&server, &ann.token()).await;
    let (ann_id, token) = (ann.id().clone(), ann.token());

    assert_eq!(
        program.expect_error(json!({"type": "forget_me"})).await,
        "not_allowed"
    );
    assert_eq!(
        ann.expect_error(json!({"type": "forget_me"})).await,
        "wrong_password"
    );
    assert_eq!(ann.request(delete_account_request()).await["type"], "ok");
    for connection in [&mut ann, &mut tab, &mut program] {
        assert_eq!(connection.wait_for_close().await, 4005);
    }

    // The server sends a new snapshot of the match to all followers. Snapshots, the match history
    // and replayed events no longer contain the player's name.
    let snapshot = bob.expect_event("match").await;
    assert_eq!(
        (&snapshot["match"], &snapshot["seats"][0]["name"]),
        (&json!(id), &json!("someone"))
    );
    let row = bob.request(json!({"type": "history"})).await["rows"][0].clone();
    assert_eq!(row["seats"][0]["name"], "someone");
    assert_eq!(row["seats"][0]["player"], ann_id);
    let since = json!({"type": "resync", "match": id, "since": 0});
    let replayed_events = bob.request(since).await.to_string();
    assert!(
        !replayed_events.contains("\"ann\"") && replayed_events.contains("someone"),
        "{replayed_events}"
    );

    // After the deletion, requests with the player id fail, and the player's credentials are
    // invalid.
    let history = json!({"type": "history", "player": ann_id});
    assert_eq!(bob.expect_error(history).await, "unknown_player");
    let challenge = json!({"type": "create", "game": "tic-tac-toe", "for": ann_id});
    assert_eq!(bob.expect_error(challenge).await, "unknown_player");
    let (_, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["resumed"], false);
    for hello in [
        json!({"recovery": recovery}),
        json!({"token": api_key["key"]}),
    ] {
        let (_, refused) = connect_with_hello(&server, hello).await;
        assert_eq!(refused["code"], "bad_code");
    }
    let (_, refused) =
        connect_with_hello(&server, json!({"name": "ann", "password": PASSWORD})).await;
    assert_eq!(refused["code"], "wrong_password");
    // The names of the player and the player's bot stay reserved for 90 days.
    for name in ["ann", "randy"] {
        let register = json!({"type": "register", "name": name});
        assert_eq!(bob.expect_error(register).await, "name_taken", "{name}");
    }
    drop(bob);
    advance_time(90 * 24 * 3600).await;
    let _ann = connect_registered_player(&server, "ann").await;
}

#[tokio::test(start_paused = true)]
async fn deletion_is_refused_during_running_match_and_aborts_open_ones() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match().await;
    assert_eq!(
        ann.expect_error(json!({"type": "forget_me"})).await,
        "match_running"
    );
    ann.request(json!({"type": "resign", "match": id})).await;
    ann.drain_messages().await;
    // An open match does not prevent the account deletion, because the server aborts the match.
    let open = ann.create_match(json!({})).await;
    let mut carl = server.connect_player("carl").await;
    let listed = carl.request(json!({"type": "watch", "match": open})).await;
    assert_eq!(listed["seats"][0]["name"], "ann");
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    assert_eq!(ann.wait_for_close().await, 4005);
    let ended = carl.expect_event("ended").await;
    assert_eq!(ended["outcome"]["reason"], "aborted", "{ended}");
    let snapshot = carl.request(json!({"type": "watch", "match": open})).await;
    assert_eq!(snapshot["seats"][0]["name"], "someone", "{snapshot}");
    bob.drain_messages().await;
    let listed = bob
        .request(json!({"type": "list", "status": "ended"}))
        .await
        .to_string();
    assert!(!listed.contains("\"ann\""), "{listed}");
}

#[tokio::test(start_paused = true)]
async fn stand_in_keeps_playing_for_deleted_player() {
    let server = TestServer::start(settings_without_pings());
    let create = json!({"game": "tic-tac-toe", "stand_in": "easy"});
    let (mut ann, mut bob, id) = server.start_match_with(create).await;
    assert_eq!(
        ann.request(json!({"type": "leave", "match": id})).await["type"],
        "ok"
    );
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    bob.drain_messages().await;
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["seats"][0]["occupant"], "bot");
    assert_eq!(snapshot["seats"][0]["for"]["name"], "someone", "{snapshot}");
    assert_eq!(snapshot["status"], "running");
    let challenge = json!({"type": "create", "game": "tic-tac-toe", "for": ann.id()});
    assert_eq!(bob.expect_error(challenge).await, "unknown_player");
}

#[tokio::test(start_paused = true)]
async fn chat_messages_of_deleted_spectator_are_removed() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut carl = server.connect_player("carl").await;
    carl.request(json!({"type": "watch", "match": id})).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    let say = json!({"type": "say", "match": id, "preset": "good-game"});
    assert_eq!(carl.request(say).await["type"], "ok");
    assert_eq!(
        carl.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    bob.drain_messages().await;
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["said"], json!([]), "{snapshot}");
}

#[tokio::test(start_paused = true)]
async fn deletion_with_outdated_password_is_rejected() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = connect_registered_player(&server, "ann").await;
    let hello = json!({"name": "ann", "password": PASSWORD, "label": "thief"});
    let (mut thief, _) = connect_with_hello(&server, hello).await;
    let writes_blocked = store.write_gate.lock().await;
    let set =
        json!({"type": "set_password", "id": 90, "password": PASSWORD, "new": "battery staple"});
    ann.send_text(&set.to_string()).await;
    advance_time(1).await;
    let mut deletion = delete_account_request();
    deletion["id"] = json!(91);
    thief.send_text(&deletion.to_string()).await;
    advance_time(1).await;
    drop(writes_blocked);
    assert_eq!(thief.wait_for_close().await, 4005);
    assert_eq!(list_sessions(&mut ann).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn invite_code_allows_one_registration_within_a_month() {
    let settings = Settings {
        accounts: AccountPolicy::Invite,
        ..settings_without_pings()
    };
    let server = TestServer::start(settings);
    let mut ann = server.connect_player("ann").await;
    assert_eq!(ann.welcome["accounts"], "invite");
    let (code, hash) = new_one_time_secret();
    let command = AdminCommand::Invite { code: hash };
    assert_eq!(
        server.server.run_admin_command(command).await,
        AdminResult::Done
    );
    let register = |name: &str, invite: Option<&str>| json!({"type": "register", "name": name, "invite": invite});
    for invite in [None, Some(""), Some("ABCDEFGHIJKLMNOPQRSTUVWXYZ")] {
        let refused = ann.expect_error(register("\u{202e}", invite)).await;
        assert_eq!(
            refused, "invite_needed",
            "the invite is checked before the name"
        );
    }
    let code = code.reveal().to_lowercase();
    assert_eq!(
        ann.expect_error(register("max", Some(&code))).await,
        "name_taken"
    );
    assert_eq!(
        ann.request(register("ann", Some(&code))).await["type"],
        "ok"
    );
    assert_eq!(
        ann.expect_error(register("ann", None)).await,
        "already_registered"
    );
    let mut bob = server.connect_player("bob").await;
    assert_eq!(
        bob.expect_error(register("bob", Some(&code))).await,
        "invite_needed"
    );
    // A registration with an invite code fails 30 days after the code was issued.
    let (code, hash) = new_one_time_secret();
    let command = AdminCommand::Invite { code: hash };
    assert_eq!(
        server.server.run_admin_command(command).await,
        AdminResult::Done
    );
    drop((ann, bob));
    advance_time(30 * 24 * 3600).await;
    let mut bob = server.connect_player("bob").await;
    let late = register("bob", Some(code.reveal()));
    assert_eq!(bob.expect_error(late).await, "invite_needed");
}

#[tokio::test(start_paused = true)]
async fn refused_admin_command_states_reason() {
    let server = TestServer::start(settings_without_pings());
    let _ann = connect_registered_player(&server, "ann").await;
    let _bob = connect_registered_player(&server, "bob").await;
    let rename = |name: &str, to: &str| AdminCommand::Rename {
        name: name.to_owned(),
        to: to.to_owned(),
    };
    let recover = AdminCommand::Recover {
        name: "A n n".to_owned(),
        key: "00".to_owned(),
    };
    let close = AdminCommand::Close {
        name: "eve".to_owned(),
    };
    for (command, reason) in [
        (rename("eve", "anna"), "no account"),
        (rename("A n n", "bob"), "already taken"),
        (rename("A n n", "admin"), "is reserved"),
        (recover, "invalid hash"),
        (close, "no account"),
    ] {
        match server.server.run_admin_command(command).await {
            AdminResult::Refused(message) => assert!(message.contains(reason), "{message}"),
            AdminResult::Done => panic!("{reason}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn admin_commands_take_effect_on_connected_players() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let run_command = async |command: AdminCommand| server.server.run_admin_command(command).await;
    let owned = |name: &str| name.to_owned();
    let rename = AdminCommand::Rename {
        name: owned("A n n"),
        to: owned("anna"),
    };
    assert_eq!(run_command(rename).await, AdminResult::Done);
    assert_eq!(ann.expect_event("player").await["player"]["name"], "anna");

    // The operator issues a recovery key that works once.
    let (key, hash) = new_one_time_secret();
    let recover = AdminCommand::Recover {
        name: owned("anna"),
        key: hash,
    };
    assert_eq!(run_command(recover).await, AdminResult::Done);
    let hello = json!({"recovery": key.reveal()});
    let (mut recovered, welcome) = connect_with_hello(&server, hello.clone()).await;
    assert_eq!(welcome["player"]["name"], "anna");
    ann.expect_event("session_added").await;
    let set = json!({"type": "set_password", "new": "battery staple"});
    assert_eq!(
        recovered.request(set).await["type"],
        "ok",
        "a new password can be set without the old one"
    );
    assert_eq!(ann.wait_for_close().await, 4005);
    let (_, refused) = connect_with_hello(&server, hello).await;
    assert_eq!(refused["code"], "bad_code");

    let mut carl = server.connect_player("carl").await;
    let id = recovered.create_match(json!({})).await;
    carl.request(json!({"type": "join", "match": id})).await;
    assert_eq!(
        run_command(AdminCommand::Close {
            name: owned("anna")
        })
        .await,
        AdminResult::Done
    );
    assert_eq!(recovered.wait_for_close().await, 4005);
    let ended = carl.expect_event("ended").await;
    let outcome = &ended["outcome"];
    assert_eq!(
        (&outcome["reason"], &outcome["winner"]),
        (&json!("resignation"), &json!(1))
    );
}

#[tokio::test(start_paused = true)]
async fn operator_recovery_key_expires_after_a_day() {
    let server = TestServer::start(settings_without_pings());
    drop(connect_registered_player(&server, "ann").await);
    let (key, hash) = new_one_time_secret();
    let recover = AdminCommand::Recover {
        name: "ann".to_owned(),
        key: hash,
    };
    assert_eq!(
        server.server.run_admin_command(recover).await,
        AdminResult::Done
    );
    advance_time(24 * 3600).await;
    let (_, refused) = connect_with_hello(&server, json!({"recovery": key.reveal()})).await;
    assert_eq!(refused["code"], "bad_code");
}

/// If accounts are disabled, error messages must not reveal that account requests such as
/// `forget_me` exist.
#[tokio::test(start_paused = true)]
async fn account_requests_are_unknown_without_accounts() {
    let settings = Settings {
        accounts: AccountPolicy::Off,
        ..settings_without_pings()
    };
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(settings, store);
    let mut ann = server.connect_player("ann").await;
    assert_eq!(ann.welcome.get("accounts"), None);
    for kind in ["forget_me", "create_key"] {
        let refused = ann
            .request_unchecked(json!({"type": kind, "bot": "randy"}))
            .await;
        assert_eq!(refused["code"], "unknown_type", "{kind}");
        let message = json_string(&refused["message"]);
        for word in ["forget", "register", "key", "invite"] {
            assert!(!message.contains(word), "{message}");
        }
    }
}

/// If a server is killed before it has removed a deleted player's name from all matches, it
/// continues the removal at the next start.
#[tokio::test(flavor = "multi_thread")]
async fn account_deletion_continues_after_crash() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = plyhouse_store::SqliteStore::open(directory.path(), None);
    let store = Arc::new(store.expect("the store opens"));
    let server = || {
        TestServer::with_store(
            settings_without_pings(),
            Arc::clone(&store) as Arc<dyn Store>,
        )
    };
    let first = server();
    let (mut ann, mut bob) = (
        first.connect_player("ann").await,
        first.connect_player("bob").await,
    );
    let id = play_resigned_match(&mut ann, &mut bob).await;
    let (player, token) = (json_string(ann.id()), bob.token());
    first.server.stop().await;

    // The test performs only the first store write of an account deletion, as if the server crashed
    // right after that write.
    let deletion = plyhouse_store::PlayerDeletion {
        player: plyhouse_protocol::PlayerId(player.parse().expect("an id")),
        proof: None,
        name_reserved_until_ms: 0,
    };
    assert!(store.delete_player(deletion).await.expect("written"));
    let pending_deletions = store.account_deletions().await.expect("readable");
    assert_eq!(pending_deletions.len(), 1);

    let server = server();
    server.server.recover().await.expect("readable");
    let (mut bob, _) = server.resume_session(&token).await;
    while !store
        .account_deletions()
        .await
        .expect("readable")
        .is_empty()
    {
        tokio::task::yield_now().await;
    }
    let watch = json!({"type": "watch", "match": id});
    // A match that was in memory during the removal still shows the player's name. The test waits
    // for new snapshots until the name is gone.
    while bob.request(watch.clone()).await["seats"][0]["name"] != "someone" {
        bob.expect_event("match").await;
    }
    let row = bob.request(json!({"type": "history"})).await["rows"][0].clone();
    assert_eq!(row["seats"][0]["name"], "someone");
}

#[tokio::test(start_paused = true)]
async fn deletion_racing_with_join_or_create_leaves_no_participation() {
    for (request, is_late) in [("join", false), ("create", false), ("create", true)] {
        let store = Arc::new(FailingStore::default());
        let server = TestServer::with_store(
            settings_without_pings(),
            Arc::clone(&store) as Arc<dyn Store>,
        );
        let (mut ann, mut bob) = (
            server.connect_player("ann").await,
            server.connect_player("bob").await,
        );
        ann.request(json!({"type": "recovery"})).await;
        let mut tab = add_connection(&server, &ann.token()).await;
        let open = bob.create_match(json!({})).await;
        let mut carl = server.connect_player("carl").await;

        let mut entry = match request {
            "join" => json!({"type": "join", "match": open}),
            _ => json!({"type": "create", "game": "tic-tac-toe"}),
        };
        entry["id"] = json!(90);
        let (entry, deletion) = (
            entry.to_string(),
            json!({"type": "forget_me", "id": 91}).to_string(),
        );
        // The test holds `write_gate`, so the store executes no writes until the server has
        // received both requests. The store then executes the writes in the order of the requests.
        let writes_blocked = store.write_gate.lock().await;
        if is_late {
            ann.send_text(&deletion).await;
            advance_time(1).await;
            tab.send_text(&entry).await;
        } else {
            tab.send_text(&entry).await;
            advance_time(1).await;
            ann.send_text(&deletion).await;
        }
        advance_time(1).await;
        drop(writes_blocked);
        assert_eq!(ann.wait_for_close().await, 4005, "{request}");
        assert_eq!(tab.wait_for_close().await, 4005, "{request}");

        match request {
            "join" => {
                let ended = loop {
                    let message = bob.next_message().await;
                    if message["type"] == "ended" {
                        break message;
                    }
                };
                assert_eq!(ended["outcome"]["reason"], "resignation", "{ended}");
                let snapshot = carl.request(json!({"type": "watch", "match": open})).await;
                assert_eq!(snapshot["seats"][1]["name"], "someone", "{snapshot}");
            }
            _ => drop(bob.drain_messages().await),
        }
        advance_time(1).await;
        for status in ["open", "running"] {
            let list = json!({"type": "list", "status": status});
            let listed = carl.request(list).await.to_string();
            assert!(
                !listed.contains(&json_string(ann.id())),
                "{request} {listed}"
            );
        }
    }
}
