//! One player with several connections: which of them stay, what each is told, and how sessions end.

use std::io::{self, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use plyhouse_protocol::Token;
use plyhouse_server::{AdminCommand, AdminResult, ExportRequester, new_secret};
use serde_json::{Value, json};
use tracing::Level;
use tracing::dispatcher::{Dispatch, set_default};

use crate::links::get_with;
use crate::support::{Player, TestServer, calm, pass, settings, text};

/// One more connection of this session, beside the others.
pub(crate) async fn beside(server: &TestServer, token: &str) -> Player {
    let mut tab = server.connect().await;
    let welcome = tab.hello(json!({"token": token, "beside": true})).await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
    tab
}

pub(crate) async fn sessions(player: &mut Player) -> Vec<Value> {
    let listed = player.ask(json!({"type": "sessions"})).await;
    listed["sessions"].as_array().expect("a list").clone()
}

#[tokio::test(start_paused = true)]
async fn a_connection_beside_others_ends_none() {
    let server = TestServer::start(settings());
    let (mut first, mut bob, id) = server.pair().await;
    let mut second = beside(&server, &first.token()).await;
    assert_eq!(second.event("match").await["you"], 0);

    // Moves come from either, and both are told.
    assert_eq!(second.play(&id, 0, "b2").await["type"], "ok");
    bob.event("moved").await;
    bob.play(&id, 1, "a1").await;
    for tab in [&mut first, &mut second] {
        for ply in 0..2 {
            assert_eq!(tab.event("moved").await["ply"], ply);
        }
    }
    assert_eq!(first.play(&id, 2, "c3").await["type"], "ok");
    assert_eq!(second.event("moved").await["ply"], 2);
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["spectators"], 0, "{shown}");

    // A plain one ends both.
    let (_third, _) = server.come_back(&first.token()).await;
    assert_eq!([first.closed().await, second.closed().await], [4001, 4001]);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_of_nine_ends() {
    let server = TestServer::start(settings());
    let mut first = server.player("ann").await;
    let mut tabs = Vec::new();
    for _ in 0..7 {
        tabs.push(beside(&server, &first.token()).await);
    }
    assert_eq!(first.drain().await, [] as [Value; 0]);
    tabs.push(beside(&server, &first.token()).await);
    assert_eq!(first.closed().await, 4001);
    for mut tab in tabs {
        assert_eq!(tab.drain().await, [] as [Value; 0]);
    }
}

/// A player is there with any connection, also in matches of which only another has known.
#[tokio::test(start_paused = true)]
async fn a_player_is_gone_with_the_last_connection() {
    let server = TestServer::start(calm());
    let mut first = server.player("ann").await;
    let mut second = beside(&server, &first.token()).await;
    let id = first.create(json!({})).await;
    let mut bob = server.player("bob").await;
    bob.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(second.drain().await, [] as [Value; 0], "it follows nothing");

    drop(first);
    let shown = second.event("match").await;
    assert_eq!((&shown["match"], &shown["you"]), (&json!(id), &json!(0)));
    // Longer than anybody may be absent.
    pass(70).await;
    let told = bob.drain().await;
    let is_gone = |told: &&Value| told["seats"] == json!([false, true]);
    assert_eq!(told.iter().find(is_gone), None);

    drop(second);
    bob.presence(json!([false, true]), 0).await;
    assert_eq!(bob.event("ended").await["outcome"]["reason"], "abandonment");
}

/// A player has one seek, which belongs to the connection that has sent it, and so does its match.
#[tokio::test(start_paused = true)]
async fn a_player_has_one_seek() {
    let server = TestServer::start(settings());
    let mut first = server.player("ann").await;
    let mut second = beside(&server, &first.token()).await;
    let seek = |game: &str| json!({"type": "seek", "game": game});
    first.ask(seek("tic-tac-toe")).await;
    second.ask(seek("chess")).await;
    let mut bob = server.player("bob").await;
    bob.ask(seek("tic-tac-toe")).await;
    assert_eq!(bob.drain().await, [] as [Value; 0], "the first is over");
    bob.ask(seek("chess")).await;
    let id = second.event("match").await["match"].clone();
    assert_eq!(bob.event("match").await["match"], id);
    assert_eq!(first.drain().await, [] as [Value; 0]);

    second.ask(seek("go")).await;
    drop(second);
    assert_eq!(first.event("match").await["match"], id);
    bob.ask(seek("go")).await;
    assert_eq!(bob.drain().await, [] as [Value; 0], "it ended with it");
}

/// What concerns the player is told on all connections.
#[tokio::test(start_paused = true)]
async fn all_connections_are_challenged() {
    let server = TestServer::start(settings());
    let mut first = server.player("ann").await;
    let mut second = beside(&server, &first.token()).await;
    let mut bob = server.player("bob").await;
    let id = bob.create(json!({"for": first.id()})).await;
    for tab in [&mut first, &mut second] {
        assert_eq!(tab.event("challenge").await["match"], json!(id));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_listed_and_ends() {
    let server = TestServer::start(settings());
    let mut ann = server.connect().await;
    let welcome = ann.hello(json!({"name": "ann", "label": " laptop "})).await;
    let session = text(&welcome["session"]);
    let token = ann.token();
    let mut listed = sessions(&mut ann).await;
    let created_ms = listed[0]["created_ms"].take();
    assert!(created_ms.as_u64().is_some(), "{created_ms}");
    let day = text(&listed[0]["seen_day"].take());
    assert_eq!((day.len(), &day[..2]), (10, "20"));
    let expected = json!([{"session": session, "label": "laptop", "kind": "cli", "created_ms": null,
        "seen_day": null, "connected": true, "this": true}]);
    assert_eq!(json!(listed), expected);

    // What there is not has ended already.
    for gone in ["others", "b2", "0b9e0000-0000-4000-8000-000000000000"] {
        let end = json!({"type": "end_session", "session": gone});
        assert_eq!(ann.ask(end).await["type"], "ok");
    }
    let mut tab = beside(&server, &token).await;
    let end = json!({"type": "end_session", "session": session});
    assert_eq!(ann.ask(end).await["type"], "ok");
    assert_eq!([ann.closed().await, tab.closed().await], [4005, 4005]);
    let (again, welcome) = server.come_back(&token).await;
    assert_eq!(welcome["resumed"], false, "the token is void");
    assert_ne!(again.token(), token);
}

#[tokio::test(start_paused = true)]
async fn a_bad_label_is_refused() {
    let server = TestServer::start(settings());
    let mut ann = server.connect().await;
    for label in [json!(""), json!("a\u{202e}b"), json!("x".repeat(25))] {
        let refused = ann.hello(json!({"label": label})).await;
        assert_eq!(refused["code"], "bad_name", "{label}");
    }
    assert_eq!(ann.hello(json!({})).await["type"], "welcome");
    assert_eq!(sessions(&mut ann).await[0]["label"], "program");
}

/// Whoever says hello so.
pub(crate) async fn coming(server: &TestServer, hello: Value) -> (Player, Value) {
    let mut player = server.connect().await;
    let welcome = player.hello(hello).await;
    (player, welcome)
}

async fn pairing_code(player: &mut Player) -> String {
    let paired = player.ask(json!({"type": "pair"})).await;
    assert_eq!(paired["expires_ms"], 300_000, "{paired}");
    text(&paired["code"])
}

#[tokio::test(start_paused = true)]
async fn a_device_is_paired() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob, id) = server.pair().await;
    let code = pairing_code(&mut ann).await;
    assert_eq!(code.len(), 8);
    let hello = json!({"pair": code.to_lowercase(), "label": "phone"});
    let (mut phone, welcome) = coming(&server, hello.clone()).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(welcome["player"], ann.welcome["player"]);
    assert_ne!(phone.token(), ann.token());
    let added = ann.event("session_added").await;
    assert_eq!(
        added,
        json!({"type": "session_added", "session": welcome["session"], "label": "phone",
               "kind": "cli"})
    );
    assert_eq!(phone.event("match").await["you"], 0);
    assert_eq!(phone.play(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.event("moved").await["move"], "b2");
    assert_eq!(ann.event("moved").await["move"], "b2");
    // Once, and by nobody else.
    let (_, again) = coming(&server, hello).await;
    assert_eq!(
        (&again["code"], &again["retryable"]),
        (&json!("bad_code"), &json!(false))
    );

    let labels = sessions(&mut ann).await;
    let labels: Vec<&Value> = labels.iter().map(|session| &session["label"]).collect();
    assert_eq!(labels, ["program", "phone"]);
    let end = json!({"type": "end_session", "session": "others"});
    assert_eq!(ann.ask(end).await["type"], "ok");
    assert_eq!(phone.closed().await, 4005);
    let (_, welcome) = server.come_back(&phone.token()).await;
    assert_eq!(welcome["resumed"], false);
    let (_ann, welcome) = server.come_back(&ann.token()).await;
    assert_eq!(welcome["resumed"], true);
}

#[tokio::test(start_paused = true)]
async fn a_pairing_code_is_good_for_five_minutes_and_until_the_next() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let first = pairing_code(&mut ann).await;
    let second = pairing_code(&mut ann).await;
    let try_it = async |code: &str| {
        let (_, answer) = coming(&server, json!({"pair": code})).await;
        answer["code"].clone()
    };
    assert_eq!(try_it(&first).await, "bad_code");
    pass(300).await;
    assert_eq!(try_it(&second).await, "bad_code");
    let third = pairing_code(&mut ann).await;
    // What else is wrong is told after that, and uses nothing up.
    let (_, refused) = coming(&server, json!({"pair": third, "label": ""})).await;
    assert_eq!(refused["code"], "bad_name");
    pass(299).await;
    assert_eq!(try_it(&third).await, json!(null));
}

#[tokio::test(start_paused = true)]
async fn a_recovery_key_brings_everything_back() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let who = ann.welcome["player"].clone();
    let ask = json!({"type": "recovery"});
    let void = text(&ann.ask(ask.clone()).await["key"]);
    let key = text(&ann.ask(ask).await["key"]);
    assert_eq!((void.len(), key.len()), (26, 26));
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(ann.ask(end).await["type"], "ok");
    let (_, refused) = coming(&server, json!({"recovery": void})).await;
    assert_eq!(refused["code"], "bad_code");
    let written = key.to_lowercase();
    let (begin, end) = written.split_at(13);
    for written in [key.clone(), format!(" {begin}- {end}")] {
        let (_, welcome) = coming(&server, json!({"recovery": written})).await;
        assert_eq!(welcome["resumed"], true, "{welcome}");
        assert_eq!(welcome["player"], who);
    }
}

/// Guessing comes to an end, and whoever has a token does not notice.
#[tokio::test(start_paused = true)]
async fn codes_and_keys_are_not_guessed() {
    let server = TestServer::start(calm());
    let from = "192.0.2.1".parse().expect("an address");
    let mut ann = server.player("ann").await;
    let code = pairing_code(&mut ann).await;
    let mut guest = server.connect_from(from).await;
    for n in 0..50 {
        let way = if n % 2 == 0 { "pair" } else { "recovery" };
        let answer = guest.hello(json!({way: format!("WRONG{n}")})).await;
        assert_eq!(answer["code"], "bad_code", "{n}");
        pass(1).await;
    }
    let answer = guest.hello(json!({"pair": code})).await;
    assert_eq!(answer["code"], "too_soon");
    assert!(
        answer["retry_after_ms"].as_u64() <= Some(550_000),
        "{answer}"
    );
    let resumed = guest.hello(json!({"token": ann.token()})).await;
    assert_eq!(resumed["resumed"], true);
    let (_, elsewhere) = coming(&server, json!({"pair": code})).await;
    assert_eq!(elsewhere["resumed"], true, "{elsewhere}");

    // A key is a session: a good one is let in, and one more that is none is not looked at.
    let key = text(&guest.ask(json!({"type": "create_key"})).await["key"]);
    let mut program = server.connect_from(from).await;
    let answer = program.hello(json!({"token": "ply_none"})).await;
    assert_eq!(answer["code"], "too_soon");
    let answer = program.hello(json!({"token": key})).await;
    assert_eq!(answer["resumed"], true, "{answer}");
}

/// Of more than twenty sessions the one that is not connected and was unused longest ends.
#[tokio::test(start_paused = true)]
async fn a_player_has_twenty_sessions() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let key = text(&ann.ask(json!({"type": "recovery"})).await["key"]);
    let mut tokens = Vec::new();
    for _ in 0..20 {
        let (device, _) = coming(&server, json!({"recovery": key})).await;
        tokens.push(device.token());
        // Each begins later than the one before.
        pass(1).await;
    }
    assert_eq!(sessions(&mut ann).await.len(), 20);
    let (_, first) = server.come_back(&tokens[0]).await;
    assert_eq!(first["resumed"], false, "it has given way");
    let (_, second) = server.come_back(&tokens[1]).await;
    assert_eq!(second["resumed"], true);
}

/// What is logged.
#[derive(Default)]
struct Log(Mutex<Vec<u8>>);

impl Write for &Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is answered to requests that have these secrets where they do not belong, or wrong ones.
async fn provoked(server: &TestServer, player: &mut Player, secrets: &[String]) -> String {
    let mut answers = String::new();
    for secret in secrets {
        // Nobody is to be stopped for asking too much.
        pass(10).await;
        for request in [
            json!({"type": "set_password", "password": secret, "new": secret}),
            json!({"type": "create_key", "recovery": secret, "label": secret}),
            json!({"type": "end_session", "session": "others", "password": secret}),
            json!({"type": "register", "name": "ann", "password": secret, "invite": secret}),
            json!({"type": "watch", "match": secret}),
            json!({"type": "block", "player": secret}),
            json!({"type": "history", "player": secret, "limit": secret}),
            json!({"type": "profile", "name": secret}),
        ] {
            answers += &player.ask_anything(request).await.to_string();
        }
        for way in ["pair", "recovery"] {
            let way = json!({way: secret, "password": secret, "name": secret});
            answers += &coming(server, way).await.1.to_string();
        }
        let key = json!({"token": format!("ply_{secret}")});
        answers += &coming(server, key).await.1.to_string();
    }
    answers
}

/// What is served over HTTP to whoever asks, and to whoever has this token.
async fn served(server: &TestServer, id: &str, token: &str, secrets: &[String]) -> String {
    let mut all = String::new();
    let mut paths = [
        "/",
        "/pair",
        "/player/ann",
        "/me.jsonl",
        "/nothing",
        "/metrics",
    ]
    .map(str::to_owned)
    .to_vec();
    paths.extend([format!("/m/{id}"), format!("/record/{id}.txt")]);
    // Whoever puts one into an address finds it nowhere else.
    paths.extend(
        secrets
            .iter()
            .map(|secret| format!("/player/{}", secret.replace(' ', "+"))),
    );
    for path in paths {
        let (head, body) = get_with(server, &path, "").await;
        all += &head;
        all += &String::from_utf8_lossy(&body);
    }
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let (head, body) = get_with(server, "/me.jsonl", &bearer).await;
    all + &head + &String::from_utf8_lossy(&body)
}

/// What is answered to a guest who provokes errors and looks at all that is served.
async fn answered(
    server: &TestServer,
    guest: &mut Player,
    token: &str,
    wanted: &[String],
) -> String {
    let errors = provoked(server, guest, wanted).await;
    assert!(
        errors.contains("bad_code") && errors.contains("bad_field"),
        "{errors}"
    );
    pass(10).await;
    let id = guest.create(json!({})).await;
    let files = served(server, &id, token, wanted).await;
    assert!(files.contains("\"type\":\"session\""), "{files}");
    pass(60).await;
    errors + &files
}

/// No secret is in the log, however much it tells, in an error, in an address or in what is served.
#[tokio::test(start_paused = true)]
async fn no_secret_is_told_to_others() {
    let log = Arc::new(Log::default());
    // While there is but one, what another thread would log first counts as wanted by nobody.
    let _another = Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::TRACE)
        .with_writer(Arc::clone(&log))
        .finish();
    let _telling = set_default(&Dispatch::new(subscriber));
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let code = pairing_code(&mut ann).await;
    let key = text(&ann.ask(json!({"type": "recovery"})).await["key"]);
    let (phone, _) = coming(&server, json!({"pair": code})).await;
    let (tablet, _) = coming(&server, json!({"recovery": key})).await;
    let passwords = ["correct horse", "battery staple"];
    let (invite, order) = new_secret();
    let order = AdminCommand::Invite { code: order };
    assert_eq!(
        server.server.run_admin_command(order).await,
        AdminResult::Done
    );
    let register = json!({"type": "register", "name": "ann", "password": passwords[0],
        "invite": invite.reveal()});
    assert_eq!(ann.ask(register).await["type"], "ok");
    let set = json!({"type": "set_password", "password": passwords[0], "new": passwords[1]});
    assert_eq!(ann.ask(set).await["type"], "ok");
    let create = json!({"type": "create_key", "password": passwords[1]});
    let program = text(&ann.ask(create).await["key"]);
    let (_program, _) = server.come_back(&program).await;
    let create = json!({"type": "create_key", "bot": "randy", "password": passwords[1]});
    let bot = text(&ann.ask(create).await["key"]);
    let (_bot, _) = server.come_back(&bot).await;
    let (link, order) = new_secret();
    let name = "ann".to_owned();
    let order = AdminCommand::Recover { name, key: order };
    assert_eq!(
        server.server.run_admin_command(order).await,
        AdminResult::Done
    );
    let (mut watch, _) = coming(&server, json!({"recovery": link.reveal()})).await;
    let login = json!({"name": "ann", "password": passwords[1]});
    let (laptop, _) = coming(&server, login).await;
    let mistaken = "mistaken horse";
    let login = json!({"name": "ann", "password": mistaken});
    let (_, not_let_in) = coming(&server, login).await;
    let (_ann, _) = server.come_back(&ann.token()).await;
    let wrong = ["WRONGCOD", "WRONGKEYWRONGKEYWRONGKEYWR"];
    let (_, refused) = coming(&server, json!({"pair": wrong[0]})).await;
    let (_, also) = coming(&server, json!({"recovery": wrong[1]})).await;
    let wanted: Vec<String> = [&*code, &key, &program, invite.reveal(), passwords[1]]
        .map(str::to_owned)
        .to_vec();
    let mut guest = server.player("eve").await;
    let answers = answered(&server, &mut guest, &ann.token(), &wanted).await;
    let asker = ExportRequester::Token(Token::new(watch.token()));
    let mut about = server
        .server
        .export_personal_data(asker, None)
        .await
        .expect("told");
    let mut pages = server.server.metrics_text();
    while let Some(page) = about.next_page().await {
        pages += &page.expect("readable");
    }
    let forget = json!({"type": "forget_me", "password": passwords[1]});
    assert_eq!(watch.ask(forget).await["type"], "ok");
    let log = String::from_utf8(log.0.lock().clone()).expect("text");
    assert!(log.contains("welcomed"), "it tells a lot");
    let told = format!("{log}{pages}{refused}{also}{not_let_in}{answers}");
    let tokens = [ann, phone, tablet, laptop, watch, guest].map(|device| device.token());
    let given_out = [invite, link].map(|secret| secret.reveal().to_owned());
    let secrets = [code, key, program, bot].into_iter().chain(tokens);
    let given = wrong.into_iter().chain(passwords);
    let given = given.chain([mistaken, "$argon2"]).map(str::to_owned);
    let secrets = secrets.chain(given_out).chain(given);
    tells_none_of(&told, &secrets.collect::<Vec<_>>());
}

/// Looks for each of them in all that was told, where heads of answers are in small letters.
fn tells_none_of(told: &str, secrets: &[String]) {
    let told = told.to_lowercase();
    for secret in secrets {
        let secret = secret.to_lowercase();
        let found = told.find(&secret);
        let around = found.map(|at| &told[at.saturating_sub(200)..at + secret.len()]);
        assert_eq!(around, None, "{secret} is told");
    }
}
