//! Players who ask to be forgotten, and what is told to them of what is kept.

use std::sync::Arc;

use plyhouse_server::{AccountPolicy, AdminCommand, AdminResult, Settings, new_secret};
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::accounts::{PASSWORD, registered};
use crate::failing::FailingStore;
use crate::sessions::{beside, coming, sessions};
use crate::support::{Player, TestServer, calm, pass, text};

fn forget_me() -> Value {
    json!({"type": "forget_me", "password": PASSWORD})
}

/// A match that two have played to the end.
async fn played(ann: &mut Player, bob: &mut Player) -> String {
    let id = ann.create(json!({})).await;
    bob.ask(json!({"type": "join", "match": id})).await;
    ann.ask(json!({"type": "resign", "match": id})).await;
    ann.drain().await;
    bob.event("ended").await;
    id
}

/// Nothing is left of a player but the id, for nobody.
#[tokio::test(start_paused = true)]
async fn whoever_wants_is_forgotten() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (registered(&server, "ann").await, server.player("bob").await);
    let id = played(&mut ann, &mut bob).await;
    let made = json!({"type": "create_key", "bot": "randy", "password": PASSWORD});
    let made = ann.ask(made).await;
    let recovery = json!({"type": "recovery", "password": PASSWORD});
    let recovery = text(&ann.ask(recovery).await["key"]);
    let (mut program, _) = server.come_back(&text(&made["key"])).await;
    let mut tab = beside(&server, &ann.token()).await;
    let (whose, token) = (ann.id().clone(), ann.token());

    assert_eq!(
        program.refused(json!({"type": "forget_me"})).await,
        "not_allowed"
    );
    assert_eq!(
        ann.refused(json!({"type": "forget_me"})).await,
        "wrong_password"
    );
    assert_eq!(ann.ask(forget_me()).await["type"], "ok");
    for connection in [&mut ann, &mut tab, &mut program] {
        assert_eq!(connection.closed().await, 4005);
    }

    // Whoever follows the match is shown it anew, and so is whoever comes.
    let shown = bob.event("match").await;
    assert_eq!(
        (&shown["match"], &shown["seats"][0]["name"]),
        (&json!(id), &json!("someone"))
    );
    let row = bob.ask(json!({"type": "history"})).await["rows"][0].clone();
    assert_eq!(row["seats"][0]["name"], "someone");
    assert_eq!(row["seats"][0]["player"], whose);
    let since = json!({"type": "resync", "match": id, "since": 0});
    let told = bob.ask(since).await.to_string();
    assert!(
        !told.contains("\"ann\"") && told.contains("someone"),
        "{told}"
    );

    // Nobody is that player.
    let of = json!({"type": "history", "player": whose});
    assert_eq!(bob.refused(of).await, "unknown_player");
    let challenge = json!({"type": "create", "game": "tic-tac-toe", "for": whose});
    assert_eq!(bob.refused(challenge).await, "unknown_player");
    let (_, welcome) = server.come_back(&token).await;
    assert_eq!(welcome["resumed"], false);
    for hello in [json!({"recovery": recovery}), json!({"token": made["key"]})] {
        let (_, refused) = coming(&server, hello).await;
        assert_eq!(refused["code"], "bad_code");
    }
    let (_, refused) = coming(&server, json!({"name": "ann", "password": PASSWORD})).await;
    assert_eq!(refused["code"], "wrong_password");
    // The names are nobody's for a time.
    for name in ["ann", "randy"] {
        let register = json!({"type": "register", "name": name});
        assert_eq!(bob.refused(register).await, "name_taken", "{name}");
    }
    drop(bob);
    pass(90 * 24 * 3600).await;
    let _ann = registered(&server, "ann").await;
}

#[tokio::test(start_paused = true)]
async fn a_match_that_runs_keeps_its_players() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob, id) = server.pair().await;
    assert_eq!(
        ann.refused(json!({"type": "forget_me"})).await,
        "match_running"
    );
    ann.ask(json!({"type": "resign", "match": id})).await;
    ann.drain().await;
    // Open ones are aborted.
    let open = ann.create(json!({})).await;
    let mut carl = server.player("carl").await;
    let listed = carl.ask(json!({"type": "watch", "match": open})).await;
    assert_eq!(listed["seats"][0]["name"], "ann");
    assert_eq!(ann.ask(json!({"type": "forget_me"})).await["type"], "ok");
    assert_eq!(ann.closed().await, 4005);
    let ended = carl.event("ended").await;
    assert_eq!(ended["outcome"]["reason"], "aborted", "{ended}");
    let shown = carl.ask(json!({"type": "watch", "match": open})).await;
    assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
    bob.drain().await;
    let listed = bob
        .ask(json!({"type": "list", "status": "ended"}))
        .await
        .to_string();
    assert!(!listed.contains("\"ann\""), "{listed}");
}

/// A bot plays on for whoever is gone, and nobody comes back for it.
#[tokio::test(start_paused = true)]
async fn a_stand_in_plays_on() {
    let server = TestServer::start(calm());
    let create = json!({"game": "tic-tac-toe", "stand_in": "easy"});
    let (mut ann, mut bob, id) = server.pair_with(create).await;
    assert_eq!(
        ann.ask(json!({"type": "leave", "match": id})).await["type"],
        "ok"
    );
    assert_eq!(ann.ask(json!({"type": "forget_me"})).await["type"], "ok");
    bob.drain().await;
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["occupant"], "bot");
    assert_eq!(shown["seats"][0]["for"]["name"], "someone", "{shown}");
    assert_eq!(shown["status"], "running");
    let challenge = json!({"type": "create", "game": "tic-tac-toe", "for": ann.id()});
    assert_eq!(bob.refused(challenge).await, "unknown_player");
}

/// What spectators have said bears no name any more either.
#[tokio::test(start_paused = true)]
async fn what_was_said_is_forgotten() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob, id) = server.pair().await;
    let mut carl = server.player("carl").await;
    carl.ask(json!({"type": "watch", "match": id})).await;
    ann.ask(json!({"type": "resign", "match": id})).await;
    let say = json!({"type": "say", "match": id, "preset": "good-game"});
    assert_eq!(carl.ask(say).await["type"], "ok");
    assert_eq!(carl.ask(json!({"type": "forget_me"})).await["type"], "ok");
    bob.drain().await;
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["said"], json!([]), "{shown}");
}

/// An old password gets nobody forgotten.
#[tokio::test(start_paused = true)]
async fn nobody_is_forgotten_by_an_old_password() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(calm(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = registered(&server, "ann").await;
    let hello = json!({"name": "ann", "password": PASSWORD, "label": "thief"});
    let (mut thief, _) = coming(&server, hello).await;
    let closed = store.gate.lock().await;
    let set =
        json!({"type": "set_password", "id": 90, "password": PASSWORD, "new": "battery staple"});
    ann.send(&set.to_string()).await;
    pass(1).await;
    let mut forget = forget_me();
    forget["id"] = json!(91);
    thief.send(&forget.to_string()).await;
    pass(1).await;
    drop(closed);
    assert_eq!(thief.closed().await, 4005);
    assert_eq!(sessions(&mut ann).await.len(), 1);
}

/// Only who has an invitation registers, once.
#[tokio::test(start_paused = true)]
async fn whoever_is_invited_registers() {
    let settings = Settings {
        accounts: AccountPolicy::Invite,
        ..calm()
    };
    let server = TestServer::start(settings);
    let mut ann = server.player("ann").await;
    assert_eq!(ann.welcome["accounts"], "invite");
    let (code, hash) = new_secret();
    let order = AdminCommand::Invite { code: hash };
    assert_eq!(
        server.server.run_admin_command(order).await,
        AdminResult::Done
    );
    let register = |name: &str, invite: Option<&str>| json!({"type": "register", "name": name, "invite": invite});
    for invite in [None, Some(""), Some("ABCDEFGHIJKLMNOPQRSTUVWXYZ")] {
        let refused = ann.refused(register("\u{202e}", invite)).await;
        assert_eq!(refused, "invite_needed", "it is told before the name");
    }
    let code = code.reveal().to_lowercase();
    assert_eq!(
        ann.refused(register("max", Some(&code))).await,
        "name_taken"
    );
    assert_eq!(ann.ask(register("ann", Some(&code))).await["type"], "ok");
    assert_eq!(
        ann.refused(register("ann", None)).await,
        "already_registered"
    );
    let mut bob = server.player("bob").await;
    assert_eq!(
        bob.refused(register("bob", Some(&code))).await,
        "invite_needed"
    );
    // It is good for a month.
    let (code, hash) = new_secret();
    let order = AdminCommand::Invite { code: hash };
    assert_eq!(
        server.server.run_admin_command(order).await,
        AdminResult::Done
    );
    drop((ann, bob));
    pass(30 * 24 * 3600).await;
    let mut bob = server.player("bob").await;
    let late = register("bob", Some(code.reveal()));
    assert_eq!(bob.refused(late).await, "invite_needed");
}

/// What cannot be done is refused, with the reason.
#[tokio::test(start_paused = true)]
async fn the_operator_is_told_what_cannot_be_done() {
    let server = TestServer::start(calm());
    let _ann = registered(&server, "ann").await;
    let _bob = registered(&server, "bob").await;
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
    for (order, why) in [
        (rename("eve", "anna"), "no account"),
        (rename("A n n", "bob"), "somebody else"),
        (rename("A n n", "admin"), "server's own"),
        (recover, "no hash"),
        (close, "no account"),
    ] {
        match server.server.run_admin_command(order).await {
            AdminResult::Refused(told) => assert!(told.contains(why), "{told}"),
            AdminResult::Done => panic!("{why}"),
        }
    }
}

/// What the operator orders is done at once, and told.
#[tokio::test(start_paused = true)]
async fn the_operator_is_obeyed() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let obey = async |order: AdminCommand| server.server.run_admin_command(order).await;
    let to = |name: &str| name.to_owned();
    let rename = AdminCommand::Rename {
        name: to("A n n"),
        to: to("anna"),
    };
    assert_eq!(obey(rename).await, AdminResult::Done);
    assert_eq!(ann.event("player").await["player"]["name"], "anna");

    // One key, good once, where a recovery key is.
    let (key, hash) = new_secret();
    let recover = AdminCommand::Recover {
        name: to("anna"),
        key: hash,
    };
    assert_eq!(obey(recover).await, AdminResult::Done);
    let hello = json!({"recovery": key.reveal()});
    let (mut back, welcome) = coming(&server, hello.clone()).await;
    assert_eq!(welcome["player"]["name"], "anna");
    ann.event("session_added").await;
    let set = json!({"type": "set_password", "new": "battery staple"});
    assert_eq!(
        back.ask(set).await["type"],
        "ok",
        "whoever has lost it sets another"
    );
    assert_eq!(ann.closed().await, 4005);
    let (_, refused) = coming(&server, hello).await;
    assert_eq!(refused["code"], "bad_code");

    let mut carl = server.player("carl").await;
    let id = back.create(json!({})).await;
    carl.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(
        obey(AdminCommand::Close { name: to("anna") }).await,
        AdminResult::Done
    );
    assert_eq!(back.closed().await, 4005);
    let ended = carl.event("ended").await;
    let outcome = &ended["outcome"];
    assert_eq!(
        (&outcome["reason"], &outcome["winner"]),
        (&json!("resignation"), &json!(1))
    );
}

/// What the operator gives in place of a recovery key is good for a day.
#[tokio::test(start_paused = true)]
async fn a_link_of_the_operators_is_good_for_a_day() {
    let server = TestServer::start(calm());
    drop(registered(&server, "ann").await);
    let (key, hash) = new_secret();
    let recover = AdminCommand::Recover {
        name: "ann".to_owned(),
        key: hash,
    };
    assert_eq!(
        server.server.run_admin_command(recover).await,
        AdminResult::Done
    );
    pass(24 * 3600).await;
    let (_, refused) = coming(&server, json!({"recovery": key.reveal()})).await;
    assert_eq!(refused["code"], "bad_code");
}

/// Without accounts there is no trace of all that.
#[tokio::test(start_paused = true)]
async fn without_accounts_nobody_asks_to_be_forgotten() {
    let settings = Settings {
        accounts: AccountPolicy::Off,
        ..calm()
    };
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(settings, store);
    let mut ann = server.player("ann").await;
    assert_eq!(ann.welcome.get("accounts"), None);
    for kind in ["forget_me", "create_key"] {
        let refused = ann
            .ask_anything(json!({"type": kind, "bot": "randy"}))
            .await;
        assert_eq!(refused["code"], "unknown_type", "{kind}");
        let told = text(&refused["message"]);
        for word in ["forget", "register", "key", "invite"] {
            assert!(!told.contains(word), "{told}");
        }
    }
}

/// A server that was killed before it had taken a name out of all matches goes on with that when it starts.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_before_a_crash_is_finished() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = plyhouse_store::SqliteStore::open(directory.path(), None);
    let store = Arc::new(store.expect("it opens"));
    let server = || TestServer::with_store(calm(), Arc::clone(&store) as Arc<dyn Store>);
    let first = server();
    let (mut ann, mut bob) = (first.player("ann").await, first.player("bob").await);
    let id = played(&mut ann, &mut bob).await;
    let (player, token) = (text(ann.id()), bob.token());
    first.server.stop().await;

    // As far as it gets before it answers, and no further.
    let forget = plyhouse_store::PlayerDeletion {
        player: plyhouse_protocol::PlayerId(player.parse().expect("an id")),
        proof: None,
        name_reserved_until_ms: 0,
    };
    assert!(store.delete_player(forget).await.expect("written"));
    let begun = store.account_deletions().await.expect("readable");
    assert_eq!(begun.len(), 1);

    let server = server();
    server.server.recover().await.expect("readable");
    let (mut bob, _) = server.come_back(&token).await;
    while !store
        .account_deletions()
        .await
        .expect("readable")
        .is_empty()
    {
        tokio::task::yield_now().await;
    }
    let watch = json!({"type": "watch", "match": id});
    // A match that was read before is shown anew.
    while bob.ask(watch.clone()).await["seats"][0]["name"] != "someone" {
        bob.event("match").await;
    }
    let row = bob.ask(json!({"type": "history"})).await["rows"][0].clone();
    assert_eq!(row["seats"][0]["name"], "someone");
}

/// Whoever sits down or creates a match at the very time at which they are forgotten is in none afterwards,
/// whichever the store has written first.
#[tokio::test(start_paused = true)]
async fn nobody_is_forgotten_and_in_a_match() {
    for (request, is_late) in [("join", false), ("create", false), ("create", true)] {
        let store = Arc::new(FailingStore::default());
        let server = TestServer::with_store(calm(), Arc::clone(&store) as Arc<dyn Store>);
        let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
        ann.ask(json!({"type": "recovery"})).await;
        let mut tab = beside(&server, &ann.token()).await;
        let open = bob.create(json!({})).await;
        let mut carl = server.player("carl").await;

        let mut plays = match request {
            "join" => json!({"type": "join", "match": open}),
            _ => json!({"type": "create", "game": "tic-tac-toe"}),
        };
        plays["id"] = json!(90);
        let (plays, forgets) = (
            plays.to_string(),
            json!({"type": "forget_me", "id": 91}).to_string(),
        );
        // Neither is answered before both are asked for; they are written in this order.
        let closed = store.gate.lock().await;
        if is_late {
            ann.send(&forgets).await;
            pass(1).await;
            tab.send(&plays).await;
        } else {
            tab.send(&plays).await;
            pass(1).await;
            ann.send(&forgets).await;
        }
        pass(1).await;
        drop(closed);
        assert_eq!(ann.closed().await, 4005, "{request}");
        assert_eq!(tab.closed().await, 4005, "{request}");

        match request {
            "join" => {
                let ended = loop {
                    let told = bob.next().await;
                    if told["type"] == "ended" {
                        break told;
                    }
                };
                assert_eq!(ended["outcome"]["reason"], "resignation", "{ended}");
                let shown = carl.ask(json!({"type": "watch", "match": open})).await;
                assert_eq!(shown["seats"][1]["name"], "someone", "{shown}");
            }
            _ => drop(bob.drain().await),
        }
        pass(1).await;
        for status in ["open", "running"] {
            let list = json!({"type": "list", "status": status});
            let listed = carl.ask(list).await.to_string();
            assert!(!listed.contains(&text(ann.id())), "{request} {listed}");
        }
    }
}
