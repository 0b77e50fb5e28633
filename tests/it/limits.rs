//! Every bound is reached by somebody, who is told so, and somebody beside notices nothing.

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

use crate::socket::started;
use crate::support::{Player, TestServer, pass, settings};

fn some(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("not zero")
}

fn address(text: &str) -> IpAddr {
    text.parse().expect(text)
}

/// Asks for a WebSocket from this address, and gives what is answered, to the end of its head.
pub(crate) async fn knock(
    server: &TestServer,
    from: &str,
    headers: &str,
) -> (String, DuplexStream) {
    let mut stream = server.silent_from(address(from));
    let request = format!(
        "GET /ws HTTP/1.1\r\nHost: plyhouse.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("open");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("open"));
    }
    (String::from_utf8(head).expect("text"), stream)
}

fn status(head: &str) -> &str {
    head.split(' ').nth(1).expect("a status")
}

#[tokio::test(start_paused = true)]
async fn connections_of_an_address() {
    let server = TestServer::start(Settings {
        connections_per_address: 2,
        ..settings()
    });
    let first = knock(&server, "192.0.2.1", "").await;
    let second = knock(&server, "192.0.2.1", "").await;
    assert_eq!((status(&first.0), status(&second.0)), ("101", "101"));
    let (refused, _) = knock(&server, "192.0.2.1", "").await;
    assert_eq!(status(&refused), "429");
    assert!(refused.contains("\r\nretry-after: "), "{refused}");
    // One customer has a /64.
    let _v6 = [
        knock(&server, "2001:db8::1", "").await,
        knock(&server, "2001:db8::2", "").await,
    ];
    let (refused, _) = knock(&server, "2001:db8::3", "").await;
    assert_eq!(status(&refused), "429");

    // Others notice nothing, nor does the server's own machine.
    assert_eq!(status(&knock(&server, "192.0.2.2", "").await.0), "101");
    let own = [0; 5].map(|_| knock(&server, "127.0.0.1", ""));
    for (head, _) in futures::future::join_all(own).await {
        assert_eq!(status(&head), "101");
    }
    drop(first);
    pass(1).await;
    assert_eq!(status(&knock(&server, "192.0.2.1", "").await.0), "101");
}

#[tokio::test(start_paused = true)]
async fn handshakes_of_an_address() {
    let server = TestServer::start(Settings {
        handshakes_per_s: some(1),
        handshakes_burst: some(3),
        ..settings()
    });
    for _ in 0..3 {
        assert_eq!(status(&knock(&server, "192.0.2.1", "").await.0), "101");
    }
    let (refused, _) = knock(&server, "192.0.2.1", "").await;
    assert_eq!(status(&refused), "429");
    assert_eq!(status(&knock(&server, "192.0.2.2", "").await.0), "101");
    pass(1).await;
    assert_eq!(status(&knock(&server, "192.0.2.1", "").await.0), "101");
}

#[tokio::test(start_paused = true)]
async fn the_address_that_the_proxy_tells() {
    let server = TestServer::start(Settings {
        connections_per_address: 1,
        client_address: ClientAddressSource::XForwardedFor,
        ..settings()
    });
    let ask = async |named: &str| {
        let header = format!("X-Forwarded-For: 203.0.113.9, {named}\r\n");
        knock(&server, "127.0.0.1", &header).await
    };
    let first = ask("192.0.2.1").await;
    assert_eq!(status(&first.0), "101");
    assert_eq!(status(&ask("192.0.2.1").await.0), "429");
    assert_eq!(status(&ask("192.0.2.2").await.0), "101");
}

#[tokio::test(start_paused = true)]
async fn matches_of_an_address_that_wait_for_somebody() {
    let server = TestServer::start(Settings {
        open_matches_per_address: 2,
        ..settings()
    });
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let mut ann = server.connect_from(address("192.0.2.1")).await;
    let first = ann.create(json!({})).await;
    let mut other = server.connect_from(address("192.0.2.1")).await;
    other.create(json!({})).await;
    assert_eq!(ann.refused(create.clone()).await, "too_many_matches");
    // A match that waits for nobody is not counted, unless nobody plays it.
    ann.create(json!({"seats": ["me", {"bot": "easy"}]})).await;
    let of_bots = json!({"type": "create", "game": "tic-tac-toe", "pace_ms": 10_000,
        "seats": [{"bot": "easy"}, {"bot": "easy"}]});
    assert_eq!(ann.refused(of_bots.clone()).await, "too_many_matches");

    let mut bob = server.connect_from(address("192.0.2.2")).await;
    bob.create(json!({})).await;
    bob.ask(json!({"type": "join", "match": first})).await;
    assert_eq!(ann.ask(of_bots).await["type"], "match");
    assert_eq!(ann.refused(create).await, "too_many_matches");
}

#[tokio::test(start_paused = true)]
async fn guesses_are_answered_ever_later() {
    let server = TestServer::start(settings());
    let mut eve = server.connect_from(address("192.0.2.1")).await;
    let guess = json!({"type": "watch", "match": "AAAAAA"});
    let start = Instant::now();
    for _ in 0..20 {
        assert_eq!(eve.refused(guess.clone()).await, "unknown_match");
    }
    assert!(start.elapsed() < Duration::from_millis(100));
    let mut waits = Vec::new();
    for _ in 0..5 {
        let before = Instant::now();
        assert_eq!(eve.refused(guess.clone()).await, "unknown_match");
        waits.push(before.elapsed().as_secs_f64().round());
    }
    assert_eq!(waits, [1.0; 5]);

    let list = json!({"type": "list", "after": "AAAAAA"});
    let before = Instant::now();
    assert_eq!(eve.refused(list).await, "unknown_match");
    assert!(before.elapsed() >= Duration::from_millis(900));

    // A new connection of the same address is no way around it, and a token is no other thing.
    let mut again = server.connect_from(address("192.0.2.1")).await;
    let before = Instant::now();
    again.hello(json!({"token": "A".repeat(43)})).await;
    assert!(before.elapsed() >= Duration::from_millis(900));
    // Somebody else has slips of the hand, too.
    let mut bob = server.connect_from(address("192.0.2.2")).await;
    let before = Instant::now();
    assert_eq!(bob.refused(guess).await, "unknown_match");
    assert!(before.elapsed() < Duration::from_millis(100));
}

/// Two programs that answer each other at once are no flood, however long their match is.
#[tokio::test(start_paused = true)]
async fn legal_moves_are_never_too_many() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.pair_at("go").await;
    let started = ann.ask(json!({"type": "watch", "match": id})).await;
    let mut legal = started["legal"].clone();
    let begun = Instant::now();
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
        let answer = mover.play(&id, ply, &m).await;
        assert_eq!(answer["type"], "ok", "{answer}");
        let moved = mover.event("moved").await;
        assert_eq!(moved["next_ply"], ply + 1);
        legal = moved["legal"].clone();
        other.event("moved").await;
        if moved["turn"].is_null() {
            break;
        }
    }
    assert!(begun.elapsed() < Duration::from_millis(500));
}

/// What makes no progress counts as any request does.
#[tokio::test(start_paused = true)]
async fn moves_that_come_to_nothing_are_counted() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.pair().await;
    assert_eq!(ann.play(&id, 0, "b2").await["type"], "ok");
    for wasted in ["b2", "c3"] {
        pass(4).await;
        let mut served = 0;
        loop {
            let answer = ann.play(&id, 0, wasted).await;
            if answer["code"] == "rate_limited" {
                assert!(answer["retry_after_ms"].as_u64().expect("a number") > 0);
                break;
            }
            served += 1;
        }
        assert_eq!(served, 41, "{wasted}");
    }
}

/// How many of 100 pings at once are answered.
async fn pongs(player: &mut Player) -> usize {
    pass(4).await;
    player.drain().await;
    pass(4).await;
    for id in 10_000..10_100 {
        let ping = json!({"type": "ping", "id": id});
        player.send(&ping.to_string()).await;
    }
    let mut pongs = 0;
    for _ in 0..100 {
        pongs += usize::from(player.next().await["type"] == "pong");
    }
    pass(4).await;
    pongs
}

#[tokio::test(start_paused = true)]
async fn requests_of_who_only_watches() {
    let server = TestServer::start(Settings {
        watching_cost: some(2),
        ..settings()
    });
    let (mut ann, _bob, id) = server.pair().await;
    let mut carl = server.player("carl").await;
    assert_eq!(pongs(&mut carl).await, 40);
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(carl.ask(watch).await["type"], "match");
    assert_eq!(pongs(&mut carl).await, 20);
    assert_eq!(pongs(&mut ann).await, 40);
    // Who has a match of their own is no mere spectator.
    carl.create(json!({})).await;
    assert_eq!(pongs(&mut carl).await, 40);
}

#[tokio::test(start_paused = true)]
async fn players_who_look_for_somebody() {
    let server = TestServer::start(Settings {
        seeks_max: 1,
        ..settings()
    });
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let seek = |game: &str| json!({"type": "seek", "game": game});
    assert_eq!(ann.ask(seek("chess")).await["type"], "ok");
    assert_eq!(bob.refused(seek("go")).await, "overloaded");
    // Whoever finds somebody need not wait.
    assert_eq!(bob.ask(seek("chess")).await["type"], "ok");
    ann.event("match").await;
    bob.event("match").await;
}

#[tokio::test(start_paused = true)]
async fn bytes_of_a_request() {
    let server = TestServer::start(Settings {
        message_bytes: 2048,
        ..settings()
    });
    let mut ann = server.player("ann").await;
    assert_eq!(ann.welcome["limits"]["message_bytes"], 2048);
    ann.send(&format!("{:2048}", json!({"type": "ping", "id": 9})))
        .await;
    assert_eq!(ann.next().await["type"], "pong");
    ann.send(&" ".repeat(2049)).await;
    assert_eq!(ann.closed().await, 1009);
}

/// Frames that make no message are seen below the WebSocket.
#[tokio::test(start_paused = true)]
async fn bytes_that_make_no_message() {
    let settings = settings();
    let a_minute = (40 + 20 * 62) * (settings.message_bytes + 8);
    let server = TestServer::start(settings);
    let (mut ann, mut bob, id) = server.pair().await;
    let (_, mut eve) = knock(&server, "192.0.2.1", "").await;
    // A text that begins and is never ended: masked empty fragments.
    eve.write_all(&[0x01, 0x80, 0, 0, 0, 0])
        .await
        .expect("open");
    let fragments = [0x00, 0x80, 0, 0, 0, 0].repeat(1000);
    let start = Instant::now();
    let flood = async {
        let mut taken = 0;
        while eve.write_all(&fragments).await.is_ok() {
            taken += fragments.len();
        }
        taken
    };
    let (taken, ()) = tokio::join!(flood, async {
        ann.play(&id, 0, "b2").await;
        bob.play(&id, 1, "a1").await;
        assert!(start.elapsed() < Duration::from_millis(100));
    });
    // As far as anybody above can tell it was silent all the time, and that has ended it.
    assert!((59..70).contains(&start.elapsed().as_secs()));
    assert!(taken < a_minute, "{taken} of {a_minute} bytes");
}

/// With no descriptors left the server goes on with those it has, and accepts again later.
#[tokio::test]
async fn descriptors() {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -n 60 && exec \"$0\" \"$@\""])
        .args([env!("CARGO_BIN_EXE_plyhouse"), "--listen", "127.0.0.1:0"])
        .args(["--data", ":memory:"])
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let (_process, address) = started(&mut shell).await;
    let url = format!("ws://{address}/ws");
    let mut first = Connection::open(&url).await.expect("accepted");
    let mut held = Vec::new();
    for _ in 0..80 {
        let stream = TcpStream::connect(&address).await;
        held.push(stream.expect("it waits to be accepted"));
    }
    let ping = r#"{"type":"ping","id":1}"#;
    first.send_text(ping.into()).await.expect("open");
    while !first.receive_text().await.expect("open").contains("pong") {}
    drop(held);
    let again = timeout(Duration::from_secs(60), Connection::open(&url)).await;
    again.expect("in time").expect("accepted again");
}
