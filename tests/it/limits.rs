//! Tests of limits: the server refuses a client that exceeds a limit, and other clients are not
//! affected.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::process::Stdio;
use std::time::Duration;

use plyhouse_connection::Connection;
use plyhouse_server::{ClientAddressSource, Settings};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::{Instant, timeout};

use crate::real_sockets::spawn_server;
use crate::support::{TestPlayer, TestServer, advance_time, settings};

fn nonzero(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("not zero")
}

fn parse_ip(text: &str) -> IpAddr {
    text.parse().expect(text)
}

/// Requests a WebSocket upgrade from the client address `from`. Returns the response head and the
/// stream.
pub(crate) async fn request_upgrade(
    server: &TestServer,
    from: &str,
    headers: &str,
) -> (String, DuplexStream) {
    let mut stream = server.connect_raw_from(parse_ip(from));
    let request = format!(
        "GET /ws HTTP/1.1\r\nHost: plyhouse.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    );
    stream
        .write_all(request.as_bytes())
        .await
        .expect("the connection is open");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("the connection is open"));
    }
    (String::from_utf8(head).expect("text"), stream)
}

fn status_code(head: &str) -> &str {
    head.split(' ').nth(1).expect("a status")
}

#[tokio::test(start_paused = true)]
async fn connections_per_address_are_limited() {
    let server = TestServer::start(Settings {
        connections_per_address: 2,
        ..settings()
    });
    let first = request_upgrade(&server, "192.0.2.1", "").await;
    let second = request_upgrade(&server, "192.0.2.1", "").await;
    assert_eq!(
        (status_code(&first.0), status_code(&second.0)),
        ("101", "101")
    );
    let (refused, _) = request_upgrade(&server, "192.0.2.1", "").await;
    assert_eq!(status_code(&refused), "429");
    assert!(refused.contains("\r\nretry-after: "), "{refused}");
    // All addresses of an IPv6 /64 network count as one client.
    let _v6 = [
        request_upgrade(&server, "2001:db8::1", "").await,
        request_upgrade(&server, "2001:db8::2", "").await,
    ];
    let (refused, _) = request_upgrade(&server, "2001:db8::3", "").await;
    assert_eq!(status_code(&refused), "429");

    // The connection limit applies to each address separately, and connections from loopback
    // addresses are not limited.
    assert_eq!(
        status_code(&request_upgrade(&server, "192.0.2.2", "").await.0),
        "101"
    );
    let loopback = [0; 5].map(|_| request_upgrade(&server, "127.0.0.1", ""));
    for (head, _) in futures::future::join_all(loopback).await {
        assert_eq!(status_code(&head), "101");
    }
    drop(first);
    advance_time(1).await;
    assert_eq!(
        status_code(&request_upgrade(&server, "192.0.2.1", "").await.0),
        "101"
    );
}

#[tokio::test(start_paused = true)]
async fn handshakes_per_address_are_rate_limited() {
    let server = TestServer::start(Settings {
        handshakes_per_s: nonzero(1),
        handshakes_burst: nonzero(3),
        ..settings()
    });
    for _ in 0..3 {
        assert_eq!(
            status_code(&request_upgrade(&server, "192.0.2.1", "").await.0),
            "101"
        );
    }
    let (refused, _) = request_upgrade(&server, "192.0.2.1", "").await;
    assert_eq!(status_code(&refused), "429");
    assert_eq!(
        status_code(&request_upgrade(&server, "192.0.2.2", "").await.0),
        "101"
    );
    advance_time(1).await;
    assert_eq!(
        status_code(&request_upgrade(&server, "192.0.2.1", "").await.0),
        "101"
    );
}

#[tokio::test(start_paused = true)]
async fn limits_use_client_address_from_proxy_header() {
    let server = TestServer::start(Settings {
        connections_per_address: 1,
        client_address: ClientAddressSource::XForwardedFor,
        ..settings()
    });
    let request_for = async |client: &str| {
        let header = format!("X-Forwarded-For: 203.0.113.9, {client}\r\n");
        request_upgrade(&server, "127.0.0.1", &header).await
    };
    let first = request_for("192.0.2.1").await;
    assert_eq!(status_code(&first.0), "101");
    assert_eq!(status_code(&request_for("192.0.2.1").await.0), "429");
    assert_eq!(status_code(&request_for("192.0.2.2").await.0), "101");
}

#[tokio::test(start_paused = true)]
async fn open_matches_per_address_are_limited() {
    let server = TestServer::start(Settings {
        open_matches_per_address: 2,
        ..settings()
    });
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let mut ann = server.connect_from(parse_ip("192.0.2.1")).await;
    let first = ann.create_match(json!({})).await;
    let mut other = server.connect_from(parse_ip("192.0.2.1")).await;
    other.create_match(json!({})).await;
    assert_eq!(ann.expect_error(create.clone()).await, "too_many_matches");
    // A match against a bot has no open seat, so it does not count towards the limit of open
    // matches. A match between two bots does count.
    ann.create_match(json!({"seats": ["me", {"bot": "easy"}]}))
        .await;
    let of_bots = json!({"type": "create", "game": "tic-tac-toe", "pace_ms": 10_000,
        "seats": [{"bot": "easy"}, {"bot": "easy"}]});
    assert_eq!(ann.expect_error(of_bots.clone()).await, "too_many_matches");

    let mut bob = server.connect_from(parse_ip("192.0.2.2")).await;
    bob.create_match(json!({})).await;
    bob.request(json!({"type": "join", "match": first})).await;
    assert_eq!(ann.request(of_bots).await["type"], "match");
    assert_eq!(ann.expect_error(create).await, "too_many_matches");
}

#[tokio::test(start_paused = true)]
async fn wrong_guesses_are_delayed_per_address() {
    let server = TestServer::start(settings());
    let mut eve = server.connect_from(parse_ip("192.0.2.1")).await;
    let guess = json!({"type": "watch", "match": "AAAAAA"});
    let start = Instant::now();
    for _ in 0..20 {
        assert_eq!(eve.expect_error(guess.clone()).await, "unknown_match");
    }
    assert!(start.elapsed() < Duration::from_millis(100));
    let mut delays_s = Vec::new();
    for _ in 0..5 {
        let before = Instant::now();
        assert_eq!(eve.expect_error(guess.clone()).await, "unknown_match");
        delays_s.push(before.elapsed().as_secs_f64().round());
    }
    assert_eq!(delays_s, [1.0; 5]);

    let list = json!({"type": "list", "after": "AAAAAA"});
    let before = Instant::now();
    assert_eq!(eve.expect_error(list).await, "unknown_match");
    assert!(before.elapsed() >= Duration::from_millis(900));

    // The delay after wrong guesses also applies to new connections from the same address. The
    // server treats a guessed session token like a guessed match code.
    let mut again = server.connect_from(parse_ip("192.0.2.1")).await;
    let before = Instant::now();
    again.send_hello(json!({"token": "A".repeat(43)})).await;
    assert!(before.elapsed() >= Duration::from_millis(900));
    // Clients from other addresses are not delayed.
    let mut bob = server.connect_from(parse_ip("192.0.2.2")).await;
    let before = Instant::now();
    assert_eq!(bob.expect_error(guess).await, "unknown_match");
    assert!(before.elapsed() < Duration::from_millis(100));
}

/// The rate limit must not slow down two programs that move without pauses, even in a long match.
#[tokio::test(start_paused = true)]
async fn legal_moves_are_not_rate_limited() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match_of("go").await;
    let started = ann.request(json!({"type": "watch", "match": id})).await;
    let mut legal = started["legal"].clone();
    let start = Instant::now();
    for ply in 0..150 {
        let is_point = |m: &&serde_json::Value| **m != "pass";
        let moves = legal.as_array().expect("a list").iter();
        let m = moves.clone().find(is_point).or(moves.clone().next());
        let m = m.expect("a legal move").as_str().expect("text").to_owned();
        let (mover, other) = if ply % 2 == 0 {
            (&mut ann, &mut bob)
        } else {
            (&mut bob, &mut ann)
        };
        let answer = mover.play_move(&id, ply, &m).await;
        assert_eq!(answer["type"], "ok", "{answer}");
        let moved = mover.expect_event("moved").await;
        assert_eq!(moved["next_ply"], ply + 1);
        legal = moved["legal"].clone();
        other.expect_event("moved").await;
        if moved["turn"].is_null() {
            break;
        }
    }
    assert!(start.elapsed() < Duration::from_millis(500));
}

#[tokio::test(start_paused = true)]
async fn rejected_moves_count_toward_rate_limit() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.start_match().await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    for rejected in ["b2", "c3"] {
        advance_time(4).await;
        let mut served = 0;
        loop {
            let answer = ann.play_move(&id, 0, rejected).await;
            if answer["code"] == "rate_limited" {
                assert!(answer["retry_after_ms"].as_u64().expect("a number") > 0);
                break;
            }
            served += 1;
        }
        assert_eq!(served, 41, "{rejected}");
    }
}

/// Sends 100 pings at once and counts the `pong` answers.
async fn count_pongs(player: &mut TestPlayer) -> usize {
    advance_time(4).await;
    player.drain_messages().await;
    advance_time(4).await;
    for id in 10_000..10_100 {
        let ping = json!({"type": "ping", "id": id});
        player.send_text(&ping.to_string()).await;
    }
    let mut pongs = 0;
    for _ in 0..100 {
        pongs += usize::from(player.next_message().await["type"] == "pong");
    }
    advance_time(4).await;
    pongs
}

#[tokio::test(start_paused = true)]
async fn spectator_requests_cost_more() {
    let server = TestServer::start(Settings {
        watching_cost: nonzero(2),
        ..settings()
    });
    let (mut ann, _bob, id) = server.start_match().await;
    let mut carl = server.connect_player("carl").await;
    assert_eq!(count_pongs(&mut carl).await, 40);
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(carl.request(watch).await["type"], "match");
    assert_eq!(count_pongs(&mut carl).await, 20);
    assert_eq!(count_pongs(&mut ann).await, 40);
    // A spectator's requests cost more towards the rate limit than a player's requests, unless the
    // spectator also hosts a match.
    carl.create_match(json!({})).await;
    assert_eq!(count_pongs(&mut carl).await, 40);
}

#[tokio::test(start_paused = true)]
async fn seeks_are_limited_unless_paired_at_once() {
    let server = TestServer::start(Settings {
        seeks_max: 1,
        ..settings()
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let seek = |game: &str| json!({"type": "seek", "game": game});
    assert_eq!(ann.request(seek("chess")).await["type"], "ok");
    assert_eq!(bob.expect_error(seek("go")).await, "overloaded");
    // A seek that is paired immediately does not count towards the limit on waiting seeks.
    assert_eq!(bob.request(seek("chess")).await["type"], "ok");
    ann.expect_event("match").await;
    bob.expect_event("match").await;
}

#[tokio::test(start_paused = true)]
async fn oversized_request_closes_with_1009() {
    let server = TestServer::start(Settings {
        message_bytes: 2048,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    assert_eq!(ann.welcome["limits"]["message_bytes"], 2048);
    ann.send_text(&format!("{:2048}", json!({"type": "ping", "id": 9})))
        .await;
    assert_eq!(ann.next_message().await["type"], "pong");
    ann.send_text(&" ".repeat(2049)).await;
    assert_eq!(ann.wait_for_close().await, 1009);
}

/// The request limit counts complete messages. An endless sequence of fragments never completes a
/// message, so the server must also limit the bytes that a client sends.
#[tokio::test(start_paused = true)]
async fn unfinished_message_is_throttled_and_closed_as_idle() {
    let settings = settings();
    let bytes_per_minute = (40 + 20 * 62) * (settings.message_bytes + 8);
    let server = TestServer::start(settings);
    let (mut ann, mut bob, id) = server.start_match().await;
    let (_, mut eve) = request_upgrade(&server, "192.0.2.1", "").await;
    // This text message never ends: its first frame is followed only by empty masked fragments.
    eve.write_all(&[0x01, 0x80, 0, 0, 0, 0])
        .await
        .expect("the connection is open");
    let fragments = [0x00, 0x80, 0, 0, 0, 0].repeat(1000);
    let start = Instant::now();
    let flood = async {
        let mut bytes_accepted = 0;
        while eve.write_all(&fragments).await.is_ok() {
            bytes_accepted += fragments.len();
        }
        bytes_accepted
    };
    let (bytes_accepted, ()) = tokio::join!(flood, async {
        ann.play_move(&id, 0, "b2").await;
        bob.play_move(&id, 1, "a1").await;
        assert!(start.elapsed() < Duration::from_millis(100));
    });
    // The server ignores incomplete messages when it checks for idle connections, so it closed this
    // connection as idle.
    assert!((59..70).contains(&start.elapsed().as_secs()));
    assert!(
        bytes_accepted < bytes_per_minute,
        "{bytes_accepted} of {bytes_per_minute} bytes"
    );
}

/// If the process runs out of file descriptors, open connections continue to work. When descriptors
/// are free again, the server accepts new connections.
#[tokio::test]
async fn server_survives_file_descriptor_exhaustion() {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -n 60 && exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_plyhouse"), "--listen", "127.0.0.1:0"])
        .args(["--data", ":memory:"])
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let (_process, address) = spawn_server(&mut shell).await;
    let url = format!("ws://{address}/ws");
    let mut first = Connection::open(&url).await.expect("accepted");
    let mut sockets = Vec::new();
    for _ in 0..80 {
        let stream = TcpStream::connect(&address).await;
        sockets.push(stream.expect("the backlog takes the connection"));
    }
    let ping = r#"{"type":"ping","id":1}"#;
    first
        .send_text(ping.into())
        .await
        .expect("the connection is open");
    while !first
        .receive_text()
        .await
        .expect("the connection is open")
        .contains("pong")
    {}
    drop(sockets);
    let again = timeout(Duration::from_secs(60), Connection::open(&url)).await;
    again.expect("in time").expect("accepted again");
}
