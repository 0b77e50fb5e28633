//! Tests of authentication by a proxy, and of the export of personal data over HTTP.

use plyhouse_server::{AccountPolicy, Settings};
use serde_json::{Value, json};

use crate::real_sockets::{RawWebSocket, UPGRADE_REQUEST, exchange_until_close, start_in_process};
use crate::support::settings;

/// Returns settings that trust a proxy in the network `from`.
fn proxy_settings(from: &str) -> Settings {
    Settings {
        trusted_user_header: Some("remote-user".to_owned()),
        trusted_proxy: vec![from.parse().expect("a network")],
        ..settings()
    }
}

/// Connects with the headers that a proxy sends. Returns the connection and the answer to `hello`.
async fn connect_with_headers(address: &str, headers: &str, hello: Value) -> (RawWebSocket, Value) {
    let mut raw = RawWebSocket::connect(address, headers).await;
    let answer = send_request(&mut raw, hello).await;
    (raw, answer)
}

async fn send_request(raw: &mut RawWebSocket, mut request: Value) -> Value {
    request["id"] = json!(7);
    raw.send_frame(RawWebSocket::TEXT, request.to_string().as_bytes())
        .await;
    loop {
        let message: Value = serde_json::from_str(&raw.read_text().await).expect("JSON");
        if message["re"] == 7 {
            return message;
        }
    }
}

#[tokio::test]
async fn proxy_header_identifies_user() {
    let address = start_in_process(proxy_settings("127.0.0.0/8")).await;
    let hello = json!({"type": "hello", "name": "eve", "token": "guessed"});
    let (mut ada, welcome) =
        connect_with_headers(&address, "Remote-User: ada\r\n", hello.clone()).await;
    let player = &welcome["player"];
    assert_eq!(
        (&player["name"], &player["account"]),
        (&json!("ada"), &json!(true))
    );
    assert_eq!(welcome["token"], "");
    // A second connection of the same user leaves the first connection open. The server ignores the
    // name and the token in these `hello` requests.
    let (_tab, again) = connect_with_headers(&address, "remote-user: ada\r\n", hello).await;
    assert_eq!(
        (&again["player"], &again["resumed"]),
        (player, &json!(true))
    );
    assert_eq!(
        send_request(&mut ada, json!({"type": "ping"})).await["type"],
        "pong"
    );
    for kind in ["set_password", "recovery", "pair"] {
        let request = json!({"type": kind, "new": "battery staple"});
        assert_eq!(
            send_request(&mut ada, request).await["code"],
            "not_allowed",
            "{kind}"
        );
    }
    let listed = send_request(&mut ada, json!({"type": "sessions"})).await;
    assert_eq!(
        listed["sessions"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
    let key = send_request(&mut ada, json!({"type": "create_key"})).await;
    assert_eq!(key["type"], "key", "{key}");

    // Only the proxy's header identifies a user. The server must not identify a user by the name in
    // a `hello` request.
    let (_, guest) =
        connect_with_headers(&address, "", json!({"type": "hello", "name": "bob"})).await;
    assert_eq!(guest["resumed"], false);
    let (mut guest, _) =
        connect_with_headers(&address, "", json!({"type": "hello", "name": "carl"})).await;
    let register = json!({"type": "register", "name": "carl", "password": "correct horse"});
    assert_eq!(send_request(&mut guest, register).await["type"], "ok");
    let (_, carl) =
        connect_with_headers(&address, "Remote-User: carl\r\n", json!({"type": "hello"})).await;
    assert_eq!(carl["player"]["name"], "carl-2");
    // A reserved name counts as taken, so the server appends a number to it.
    for name in ["plyhouse", "Admin"] {
        let header = format!("Remote-User: {name}\r\n");
        let (_, welcome) = connect_with_headers(&address, &header, json!({"type": "hello"})).await;
        assert_eq!(welcome["player"]["name"], format!("{name}-2"));
    }
    // The server refuses requests with repeated or empty user headers.
    for headers in ["Remote-User: a\r\nRemote-User: b\r\n", "Remote-User:\r\n"] {
        let answer =
            exchange_until_close(&address, &format!("{UPGRADE_REQUEST}{headers}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    // The server still checks the `Origin` header.
    let foreign_origin = "Remote-User: ada\r\nOrigin: https://elsewhere.example\r\n";
    let answer =
        exchange_until_close(&address, &format!("{UPGRADE_REQUEST}{foreign_origin}\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

#[tokio::test]
async fn other_credentials_are_ignored_for_proxy_users() {
    let address = start_in_process(proxy_settings("127.0.0.0/8")).await;
    for hello in [
        json!({"type": "hello", "token": "x", "pair": "K7QM2PXR"}),
        json!({"type": "hello", "password": "correct horse"}),
        json!({"type": "hello", "token": 5, "pair": [], "beside": "yes"}),
    ] {
        let (_ada, welcome) = connect_with_headers(&address, "Remote-User: ada\r\n", hello).await;
        assert_eq!(welcome["player"]["name"], "ada");
    }
    // If the name from the proxy is not allowed, the server gives the user a different name. Users
    // of the proxy can send other requests without sending `hello` first.
    for (name, first) in [
        ("guest-abcd", "hello"),
        ("Guest-1", "list"),
        ("guest-", "ping"),
    ] {
        let header = format!("Remote-User: {name}\r\n");
        let (mut raw, answer) =
            connect_with_headers(&address, &header, json!({"type": first})).await;
        assert_ne!(answer["type"], "error", "{answer}");
        let listed = send_request(&mut raw, json!({"type": "profile"})).await;
        let name = listed["player"]["name"].as_str().expect("a name");
        assert!(name.starts_with("player"), "{name}");
    }
}

#[tokio::test]
async fn user_header_from_untrusted_address_is_ignored() {
    let address = start_in_process(proxy_settings("192.0.2.0/24")).await;
    let headers = "Remote-User: ada\r\nX-Forwarded-For: 192.0.2.1\r\n";
    let (_, welcome) =
        connect_with_headers(&address, headers, json!({"type": "hello", "name": "eve"})).await;
    assert_eq!(welcome["player"]["name"], "eve");
    assert_eq!(welcome["player"].get("account"), None);
}

async fn get_personal_data(address: &str, header: &str) -> (String, String) {
    let request =
        format!("GET /me.jsonl HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{header}\r\n");
    let answer = exchange_until_close(address, &request).await;
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    (head.to_lowercase(), body.to_owned())
}

#[tokio::test]
async fn personal_data_export_is_complete_and_restricted_to_owner() {
    let address = start_in_process(settings()).await;
    let (mut ann, welcome) =
        connect_with_headers(&address, "", json!({"type": "hello", "name": "ann"})).await;
    let register = json!({"type": "register", "name": "ann", "password": "correct horse"});
    assert_eq!(send_request(&mut ann, register).await["type"], "ok");
    let made = json!({"type": "create_key", "bot": "randy", "password": "correct horse"});
    let made = send_request(&mut ann, made).await;
    let create = json!({"type": "create", "game": "tic-tac-toe", "bot": "easy"});
    let created = send_request(&mut ann, create.clone()).await;
    send_request(
        &mut ann,
        json!({"type": "resign", "match": created["match"]}),
    )
    .await;
    let running = send_request(&mut ann, create).await;

    let header = |token: &Value| {
        let token = token.as_str().expect("text");
        format!("Authorization: Bearer {token}\r\n")
    };
    let (head, body) = get_personal_data(&address, &header(&welcome["token"])).await;
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    assert!(head.contains("cache-control: no-store"), "{head}");
    for word in [
        "\"type\":\"player\"",
        "\"name\":\"ann\"",
        "\"password\":true",
        "randy",
        "\"type\":\"session\"",
        created["match"].as_str().expect("text"),
        running["match"].as_str().expect("text"),
    ] {
        assert!(body.contains(word), "{word}: {body}");
    }
    for secret in [
        &welcome["token"],
        &made["key"],
        &json!("correct horse"),
        &json!("argon2"),
    ] {
        assert!(!body.contains(secret.as_str().expect("text")), "{body}");
    }
    let (head, _) = get_personal_data(&address, &header(&welcome["token"])).await;
    assert!(head.starts_with("http/1.1 429 "), "{head}");
    assert!(head.contains("retry-after: "), "{head}");
    for header in [
        header(&made["key"]),
        header(&json!("nobody")),
        String::new(),
    ] {
        let (head, body) = get_personal_data(&address, &header).await;
        assert!(head.starts_with("http/1.1 401 "), "{head}");
        assert!(head.contains("cache-control: no-store"), "{head}");
        assert!(!body.contains("ply_"), "{body}");
    }
    let accounts_off = Settings {
        accounts: AccountPolicy::Off,
        ..settings()
    };
    let (head, body) = get_personal_data(
        &start_in_process(accounts_off).await,
        &header(&welcome["token"]),
    )
    .await;
    assert!(head.starts_with("http/1.1 404 "), "{head}");
    assert!(!body.contains("session"), "{body}");
}
