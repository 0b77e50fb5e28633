//! Tests of players with several connections and sessions: which connections stay open, which
//! messages they receive and how sessions end.

use std::io::{self, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use plyhouse_protocol::Token;
use plyhouse_server::{AdminCommand, AdminResult, ExportRequester, new_one_time_secret};
use serde_json::{Value, json};
use tracing::Level;
use tracing::dispatcher::{Dispatch, set_default};

use crate::public_links::get_with_headers;
use crate::support::{
    TestPlayer, TestServer, advance_time, json_string, settings, settings_without_pings,
};

/// Adds a connection to a session without closing the session's other connections.
pub(crate) async fn add_connection(server: &TestServer, token: &str) -> TestPlayer {
    let mut tab = server.connect().await;
    let welcome = tab
        .send_hello(json!({"token": token, "beside": true}))
        .await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
    tab
}

pub(crate) async fn list_sessions(player: &mut TestPlayer) -> Vec<Value> {
    let listed = player.request(json!({"type": "sessions"})).await;
    listed["sessions"].as_array().expect("a list").clone()
}

#[tokio::test(start_paused = true)]
async fn additional_connection_keeps_others_open() {
    let server = TestServer::start(settings());
    let (mut first, mut bob, id) = server.start_match().await;
    let mut second = add_connection(&server, &first.token()).await;
    assert_eq!(second.expect_event("match").await["you"], 0);

    // Both connections can send moves, and both receive all events.
    assert_eq!(second.play_move(&id, 0, "b2").await["type"], "ok");
    bob.expect_event("moved").await;
    bob.play_move(&id, 1, "a1").await;
    for tab in [&mut first, &mut second] {
        for ply in 0..2 {
            assert_eq!(tab.expect_event("moved").await["ply"], ply);
        }
    }
    assert_eq!(first.play_move(&id, 2, "c3").await["type"], "ok");
    assert_eq!(second.expect_event("moved").await["ply"], 2);
    let shown = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["spectators"], 0, "{shown}");

    // A `hello` without `beside` closes both earlier connections.
    let (_third, _) = server.resume_session(&first.token()).await;
    assert_eq!(
        [first.wait_for_close().await, second.wait_for_close().await],
        [4001, 4001]
    );
}

#[tokio::test(start_paused = true)]
async fn ninth_connection_closes_the_oldest() {
    let server = TestServer::start(settings());
    let mut first = server.connect_player("ann").await;
    let mut tabs = Vec::new();
    for _ in 0..7 {
        tabs.push(add_connection(&server, &first.token()).await);
    }
    assert_eq!(first.drain_messages().await, [] as [Value; 0]);
    tabs.push(add_connection(&server, &first.token()).await);
    assert_eq!(first.wait_for_close().await, 4001);
    for mut tab in tabs {
        assert_eq!(tab.drain_messages().await, [] as [Value; 0]);
    }
}

/// If only one of a player's connections follows a match and that connection closes, another
/// connection of the player follows the match instead.
#[tokio::test(start_paused = true)]
async fn player_is_absent_only_after_last_connection_closes() {
    let server = TestServer::start(settings_without_pings());
    let mut first = server.connect_player("ann").await;
    let mut second = add_connection(&server, &first.token()).await;
    let id = first.create_match(json!({})).await;
    let mut bob = server.connect_player("bob").await;
    bob.request(json!({"type": "join", "match": id})).await;
    assert_eq!(
        second.drain_messages().await,
        [] as [Value; 0],
        "it follows no match"
    );

    drop(first);
    let shown = second.expect_event("match").await;
    assert_eq!((&shown["match"], &shown["you"]), (&json!(id), &json!(0)));
    // This wait is longer than the absence limit.
    advance_time(70).await;
    let messages = bob.drain_messages().await;
    let is_absent = |message: &&Value| message["seats"] == json!([false, true]);
    assert_eq!(messages.iter().find(is_absent), None);

    drop(second);
    bob.wait_for_presence(json!([false, true]), 0).await;
    assert_eq!(
        bob.expect_event("ended").await["outcome"]["reason"],
        "abandonment"
    );
}

/// When a seek is paired, the server sends the match only to the connection that sent the seek.
#[tokio::test(start_paused = true)]
async fn new_seek_replaces_seek_of_other_connection() {
    let server = TestServer::start(settings());
    let mut first = server.connect_player("ann").await;
    let mut second = add_connection(&server, &first.token()).await;
    let seek = |game: &str| json!({"type": "seek", "game": game});
    first.request(seek("tic-tac-toe")).await;
    second.request(seek("chess")).await;
    let mut bob = server.connect_player("bob").await;
    bob.request(seek("tic-tac-toe")).await;
    assert_eq!(
        bob.drain_messages().await,
        [] as [Value; 0],
        "the first seek was replaced"
    );
    bob.request(seek("chess")).await;
    let id = second.expect_event("match").await["match"].clone();
    assert_eq!(bob.expect_event("match").await["match"], id);
    assert_eq!(first.drain_messages().await, [] as [Value; 0]);

    second.request(seek("go")).await;
    drop(second);
    assert_eq!(first.expect_event("match").await["match"], id);
    bob.request(seek("go")).await;
    assert_eq!(
        bob.drain_messages().await,
        [] as [Value; 0],
        "the seek ended with its connection"
    );
}

#[tokio::test(start_paused = true)]
async fn challenge_is_sent_to_all_connections() {
    let server = TestServer::start(settings());
    let mut first = server.connect_player("ann").await;
    let mut second = add_connection(&server, &first.token()).await;
    let mut bob = server.connect_player("bob").await;
    let id = bob.create_match(json!({"for": first.id()})).await;
    for tab in [&mut first, &mut second] {
        assert_eq!(tab.expect_event("challenge").await["match"], json!(id));
    }
}

#[tokio::test(start_paused = true)]
async fn session_can_be_listed_and_ended() {
    let server = TestServer::start(settings());
    let mut ann = server.connect().await;
    let welcome = ann
        .send_hello(json!({"name": "ann", "label": " laptop "}))
        .await;
    let session = json_string(&welcome["session"]);
    let token = ann.token();
    let mut listed = list_sessions(&mut ann).await;
    let created_ms = listed[0]["created_ms"].take();
    assert!(created_ms.as_u64().is_some(), "{created_ms}");
    let day = json_string(&listed[0]["seen_day"].take());
    assert_eq!((day.len(), &day[..2]), (10, "20"));
    let expected = json!([{"session": session, "label": "laptop", "kind": "cli", "created_ms": null,
        "seen_day": null, "connected": true, "this": true}]);
    assert_eq!(json!(listed), expected);

    // A request to end a session that does not exist succeeds.
    for unknown in ["others", "b2", "0b9e0000-0000-4000-8000-000000000000"] {
        let end = json!({"type": "end_session", "session": unknown});
        assert_eq!(ann.request(end).await["type"], "ok");
    }
    let mut tab = add_connection(&server, &token).await;
    let end = json!({"type": "end_session", "session": session});
    assert_eq!(ann.request(end).await["type"], "ok");
    assert_eq!(
        [ann.wait_for_close().await, tab.wait_for_close().await],
        [4005, 4005]
    );
    let (again, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["resumed"], false, "the token is invalid");
    assert_ne!(again.token(), token);
}

#[tokio::test(start_paused = true)]
async fn invalid_session_label_is_refused() {
    let server = TestServer::start(settings());
    let mut ann = server.connect().await;
    for label in [json!(""), json!("a\u{202e}b"), json!("x".repeat(25))] {
        let refused = ann.send_hello(json!({"label": label})).await;
        assert_eq!(refused["code"], "bad_name", "{label}");
    }
    assert_eq!(ann.send_hello(json!({})).await["type"], "welcome");
    assert_eq!(list_sessions(&mut ann).await[0]["label"], "program");
}

/// Connects and sends the request `hello`. Returns the connection and the answer.
pub(crate) async fn connect_with_hello(server: &TestServer, hello: Value) -> (TestPlayer, Value) {
    let mut player = server.connect().await;
    let welcome = player.send_hello(hello).await;
    (player, welcome)
}

async fn request_pairing_code(player: &mut TestPlayer) -> String {
    let paired = player.request(json!({"type": "pair"})).await;
    assert_eq!(paired["expires_ms"], 300_000, "{paired}");
    json_string(&paired["code"])
}

#[tokio::test(start_paused = true)]
async fn pairing_code_logs_in_second_device_once() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match().await;
    let code = request_pairing_code(&mut ann).await;
    assert_eq!(code.len(), 8);
    let hello = json!({"pair": code.to_lowercase(), "label": "phone"});
    let (mut phone, welcome) = connect_with_hello(&server, hello.clone()).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(welcome["player"], ann.welcome["player"]);
    assert_ne!(phone.token(), ann.token());
    let added = ann.expect_event("session_added").await;
    assert_eq!(
        added,
        json!({"type": "session_added", "session": welcome["session"], "label": "phone",
               "kind": "cli"})
    );
    assert_eq!(phone.expect_event("match").await["you"], 0);
    assert_eq!(phone.play_move(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.expect_event("moved").await["move"], "b2");
    assert_eq!(ann.expect_event("moved").await["move"], "b2");
    // The pairing code can be used only once.
    let (_, again) = connect_with_hello(&server, hello).await;
    assert_eq!(
        (&again["code"], &again["retryable"]),
        (&json!("bad_code"), &json!(false))
    );

    let labels = list_sessions(&mut ann).await;
    let labels: Vec<&Value> = labels.iter().map(|session| &session["label"]).collect();
    assert_eq!(labels, ["program", "phone"]);
    let end = json!({"type": "end_session", "session": "others"});
    assert_eq!(ann.request(end).await["type"], "ok");
    assert_eq!(phone.wait_for_close().await, 4005);
    let (_, welcome) = server.resume_session(&phone.token()).await;
    assert_eq!(welcome["resumed"], false);
    let (_ann, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(welcome["resumed"], true);
}

#[tokio::test(start_paused = true)]
async fn pairing_code_expires_after_five_minutes_or_when_replaced() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let first = request_pairing_code(&mut ann).await;
    let second = request_pairing_code(&mut ann).await;
    let try_code = async |code: &str| {
        let (_, answer) = connect_with_hello(&server, json!({"pair": code})).await;
        answer["code"].clone()
    };
    assert_eq!(try_code(&first).await, "bad_code");
    advance_time(300).await;
    assert_eq!(try_code(&second).await, "bad_code");
    let third = request_pairing_code(&mut ann).await;
    // The server reports errors in other fields only if the pairing code is valid. The code remains
    // valid after such an error.
    let (_, refused) = connect_with_hello(&server, json!({"pair": third, "label": ""})).await;
    assert_eq!(refused["code"], "bad_name");
    advance_time(299).await;
    assert_eq!(try_code(&third).await, json!(null));
}

#[tokio::test(start_paused = true)]
async fn recovery_key_restores_player_and_replaces_older_key() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let who = ann.welcome["player"].clone();
    let ask = json!({"type": "recovery"});
    let old_key = json_string(&ann.request(ask.clone()).await["key"]);
    let key = json_string(&ann.request(ask).await["key"]);
    assert_eq!((old_key.len(), key.len()), (26, 26));
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(ann.request(end).await["type"], "ok");
    let (_, refused) = connect_with_hello(&server, json!({"recovery": old_key})).await;
    assert_eq!(refused["code"], "bad_code");
    let written = key.to_lowercase();
    let (begin, end) = written.split_at(13);
    for written in [key.clone(), format!(" {begin}- {end}")] {
        let (_, welcome) = connect_with_hello(&server, json!({"recovery": written})).await;
        assert_eq!(welcome["resumed"], true, "{welcome}");
        assert_eq!(welcome["player"], who);
    }
}

/// An address that is blocked after wrong codes can still resume a session with its token.
#[tokio::test(start_paused = true)]
async fn repeated_wrong_codes_are_blocked_per_address() {
    let server = TestServer::start(settings_without_pings());
    let from = "192.0.2.1".parse().expect("an address");
    let mut ann = server.connect_player("ann").await;
    let code = request_pairing_code(&mut ann).await;
    let mut guest = server.connect_from(from).await;
    for n in 0..50 {
        let way = if n % 2 == 0 { "pair" } else { "recovery" };
        let answer = guest.send_hello(json!({way: format!("WRONG{n}")})).await;
        assert_eq!(answer["code"], "bad_code", "{n}");
        advance_time(1).await;
    }
    let answer = guest.send_hello(json!({"pair": code})).await;
    assert_eq!(answer["code"], "too_soon");
    assert!(
        answer["retry_after_ms"].as_u64() <= Some(550_000),
        "{answer}"
    );
    let resumed = guest.send_hello(json!({"token": ann.token()})).await;
    assert_eq!(resumed["resumed"], true);
    let (_, paired_welcome) = connect_with_hello(&server, json!({"pair": code})).await;
    assert_eq!(paired_welcome["resumed"], true, "{paired_welcome}");

    // A blocked address can still use a valid API key. The server answers an invalid key with
    // `too_soon`.
    let key = json_string(&guest.request(json!({"type": "create_key"})).await["key"]);
    let mut program = server.connect_from(from).await;
    let answer = program.send_hello(json!({"token": "ply_none"})).await;
    assert_eq!(answer["code"], "too_soon");
    let answer = program.send_hello(json!({"token": key})).await;
    assert_eq!(answer["resumed"], true, "{answer}");
}

/// Ann's first session is the oldest, but it is connected and therefore not evicted.
#[tokio::test(start_paused = true)]
async fn session_limit_evicts_longest_unused_session() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let key = json_string(&ann.request(json!({"type": "recovery"})).await["key"]);
    let mut tokens = Vec::new();
    for _ in 0..20 {
        let (device, _) = connect_with_hello(&server, json!({"recovery": key})).await;
        tokens.push(device.token());
        // The pause gives each session a different start time.
        advance_time(1).await;
    }
    assert_eq!(list_sessions(&mut ann).await.len(), 20);
    let (_, first) = server.resume_session(&tokens[0]).await;
    assert_eq!(first["resumed"], false, "the session was evicted");
    let (_, second) = server.resume_session(&tokens[1]).await;
    assert_eq!(second["resumed"], true);
}

/// Buffer that collects the log output.
#[derive(Default)]
struct LogBuffer(Mutex<Vec<u8>>);

impl Write for &LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends requests that contain `secrets` in fields meant for other values, or as invalid
/// credentials. Returns the answers.
async fn provoke_errors(
    server: &TestServer,
    player: &mut TestPlayer,
    secrets: &[String],
) -> String {
    let mut answers = String::new();
    for secret in secrets {
        // This pause keeps the test below the rate limits.
        advance_time(10).await;
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
            answers += &player.request_unchecked(request).await.to_string();
        }
        for way in ["pair", "recovery"] {
            let way = json!({way: secret, "password": secret, "name": secret});
            answers += &connect_with_hello(server, way).await.1.to_string();
        }
        let key = json!({"token": format!("ply_{secret}")});
        answers += &connect_with_hello(server, key).await.1.to_string();
    }
    answers
}

/// Requests pages over HTTP, both without and with the session token. Returns the responses.
async fn fetch_http_responses(
    server: &TestServer,
    id: &str,
    token: &str,
    secrets: &[String],
) -> String {
    let mut responses = String::new();
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
    // A secret in a path must not appear in the response.
    paths.extend(
        secrets
            .iter()
            .map(|secret| format!("/player/{}", secret.replace(' ', "+"))),
    );
    for path in paths {
        let (head, body) = get_with_headers(server, &path, "").await;
        responses += &head;
        responses += &String::from_utf8_lossy(&body);
    }
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let (head, body) = get_with_headers(server, "/me.jsonl", &bearer).await;
    responses + &head + &String::from_utf8_lossy(&body)
}

/// Provokes errors as a guest and requests pages over HTTP. Returns all answers.
async fn collect_answers(
    server: &TestServer,
    guest: &mut TestPlayer,
    token: &str,
    secrets: &[String],
) -> String {
    let errors = provoke_errors(server, guest, secrets).await;
    assert!(
        errors.contains("bad_code") && errors.contains("bad_field"),
        "{errors}"
    );
    advance_time(10).await;
    let id = guest.create_match(json!({})).await;
    let files = fetch_http_responses(server, &id, token, secrets).await;
    assert!(files.contains("\"type\":\"session\""), "{files}");
    advance_time(60).await;
    errors + &files
}

#[tokio::test(start_paused = true)]
async fn secrets_never_appear_in_logs_errors_or_pages() {
    let log = Arc::new(LogBuffer::default());
    // With a single dispatcher, the thread that reaches a `tracing` callsite first determines
    // whether the callsite is enabled. A thread without a subscriber would disable the callsite for
    // all threads. A second dispatcher prevents this.
    let _another = Dispatch::new(tracing_subscriber::fmt().with_writer(io::sink).finish());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::TRACE)
        .with_writer(Arc::clone(&log))
        .finish();
    let _log_guard = set_default(&Dispatch::new(subscriber));
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let code = request_pairing_code(&mut ann).await;
    let key = json_string(&ann.request(json!({"type": "recovery"})).await["key"]);
    let (phone, _) = connect_with_hello(&server, json!({"pair": code})).await;
    let (tablet, _) = connect_with_hello(&server, json!({"recovery": key})).await;
    let passwords = ["correct horse", "battery staple"];
    let (invite, order) = new_one_time_secret();
    let order = AdminCommand::Invite { code: order };
    let result = server.server.run_admin_command(order).await;
    assert_eq!(result, AdminResult::Done);
    let register = json!({"type": "register", "name": "ann", "password": passwords[0],
        "invite": invite.reveal()});
    assert_eq!(ann.request(register).await["type"], "ok");
    let set = json!({"type": "set_password", "password": passwords[0], "new": passwords[1]});
    assert_eq!(ann.request(set).await["type"], "ok");
    let create = json!({"type": "create_key", "password": passwords[1]});
    let program = json_string(&ann.request(create).await["key"]);
    let (_program, _) = server.resume_session(&program).await;
    let create = json!({"type": "create_key", "bot": "randy", "password": passwords[1]});
    let bot = json_string(&ann.request(create).await["key"]);
    let (_bot, _) = server.resume_session(&bot).await;
    let (link, order) = new_one_time_secret();
    let name = "ann".to_owned();
    let order = AdminCommand::Recover { name, key: order };
    let result = server.server.run_admin_command(order).await;
    assert_eq!(result, AdminResult::Done);
    let (mut watch, _) = connect_with_hello(&server, json!({"recovery": link.reveal()})).await;
    let login = json!({"name": "ann", "password": passwords[1]});
    let (laptop, _) = connect_with_hello(&server, login).await;
    let mistaken = "mistaken horse";
    let login = json!({"name": "ann", "password": mistaken});
    let (_, rejected) = connect_with_hello(&server, login).await;
    let (_ann, _) = server.resume_session(&ann.token()).await;
    let wrong = ["WRONGCOD", "WRONGKEYWRONGKEYWRONGKEYWR"];
    let (_, refused) = connect_with_hello(&server, json!({"pair": wrong[0]})).await;
    let (_, rejected_key) = connect_with_hello(&server, json!({"recovery": wrong[1]})).await;
    let known_secrets: Vec<String> = [&*code, &key, &program, invite.reveal(), passwords[1]]
        .map(str::to_owned)
        .to_vec();
    let mut guest = server.connect_player("eve").await;
    let answers = collect_answers(&server, &mut guest, &ann.token(), &known_secrets).await;
    let asker = ExportRequester::Token(Token::new(watch.token()));
    let export = server.server.export_personal_data(asker, None).await;
    let mut export = export.expect("the export starts");
    let mut pages = server.server.metrics_text();
    while let Some(page) = export.next_page().await {
        pages += &page.expect("readable");
    }
    let delete_request = json!({"type": "forget_me", "password": passwords[1]});
    assert_eq!(watch.request(delete_request).await["type"], "ok");
    let log = String::from_utf8(log.0.lock().clone()).expect("text");
    assert!(log.contains("logged in"), "the log is verbose");
    let output = format!("{log}{pages}{refused}{rejected_key}{rejected}{answers}");
    let tokens = [ann, phone, tablet, laptop, watch, guest].map(|device| device.token());
    let issued = [invite, link].map(|secret| secret.reveal().to_owned());
    let secrets = [code, key, program, bot].into_iter().chain(tokens);
    let inputs = wrong.into_iter().chain(passwords);
    let inputs = inputs.chain([mistaken, "$argon2"]).map(str::to_owned);
    let secrets = secrets.chain(issued).chain(inputs);
    assert_contains_none(&output, &secrets.collect::<Vec<_>>());
}

/// Asserts that the output contains none of the secrets. The comparison ignores case, because the
/// tests convert response heads to lower case.
fn assert_contains_none(output: &str, secrets: &[String]) {
    let output = output.to_lowercase();
    for secret in secrets {
        let secret = secret.to_lowercase();
        let found = output.find(&secret);
        let around = found.map(|at| &output[at.saturating_sub(200)..at + secret.len()]);
        assert_eq!(around, None, "{secret} is exposed");
    }
}
