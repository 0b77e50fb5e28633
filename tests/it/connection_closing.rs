//! Tests of how the server closes connections and which close code it sends.

use std::time::Duration;

use plyhouse_server::Settings;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::limits::request_upgrade;
use crate::support::{TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn twentieth_malformed_message_is_answered_then_closes() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    for _ in 0..20 {
        ann.send_text("nonsense").await;
    }
    for _ in 0..20 {
        assert_eq!(ann.next_message().await["code"], "malformed");
    }
    assert_eq!(ann.wait_for_close().await, 1008);
}

#[tokio::test(start_paused = true)]
async fn message_over_size_limit_closes_connection() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let padded = |bytes: usize| {
        let bare = r#"{"type":"ping","id":7,"x":""}"#;
        bare.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - bare.len())))
    };
    ann.send_text(&padded(8192)).await;
    assert_eq!(ann.next_message().await["type"], "pong");
    ann.send_text(&padded(8193)).await;
    assert_eq!(ann.wait_for_close().await, 1009);
}

#[tokio::test(start_paused = true)]
async fn request_flood_closes_connection() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    // The server answers the client's first `ping` requests, then refuses further ones and finally
    // closes the connection.
    let close_code = loop {
        ann.try_send_text(r#"{"type":"ping"}"#)
            .await
            .expect("the close frame comes first");
        if let Some(code) = ann.try_close_code() {
            break code;
        }
    };
    assert_eq!(close_code, 4003);
}

#[tokio::test(start_paused = true)]
async fn unresponsive_client_is_closed_after_ping() {
    let server = TestServer::start(settings());
    // A client that answers pings stays connected.
    let mut ann = server.connect_player("ann").await;
    let start = Instant::now();
    let result = tokio::time::timeout(Duration::from_secs(200), ann.wait_for_close()).await;
    assert!(
        result.is_err(),
        "closed with {result:?} after {:?}",
        start.elapsed()
    );

    // With a short idle timeout, the server must send its ping early enough for the client to
    // answer it.
    let short_timeout = Settings {
        idle_timeout: Duration::from_secs(2),
        ..settings()
    };
    let short_timeout_server = TestServer::start(short_timeout);
    let mut cat = short_timeout_server.connect_player("cat").await;
    assert!(
        tokio::time::timeout(Duration::from_secs(60), cat.wait_for_close())
            .await
            .is_err()
    );

    // A client that answers no pings is disconnected.
    let mut bob = server.connect_player("bob").await;
    advance_time(61).await;
    assert_eq!(bob.wait_for_close().await, 4004);
}

/// Tests both limits of the outbox: the number of messages and their size in bytes.
#[tokio::test(start_paused = true)]
async fn slow_reader_is_closed_without_delaying_others() {
    let few_messages = Settings {
        outbox_messages: 4,
        ..settings()
    };
    // With this byte limit, the outbox holds only a few events of a gomoku match. Each event lists
    // about 200 legal moves.
    let few_bytes = Settings {
        outbox_bytes: 6_000,
        ..settings()
    };
    for (settings, game) in [(few_messages, "tic-tac-toe"), (few_bytes, "gomoku")] {
        let server = TestServer::start(settings);
        let (mut ann, mut bob, id) = server.start_match_of(game).await;
        // The pipe holds about one event, so later events wait in the outbox.
        let mut slow = server.connect_with_pipe(256).await;
        slow.request(json!({"type": "watch", "match": id})).await;
        for (ply, m) in ["a1", "b2", "c3", "b1", "b3", "a3", "c1", "c2"]
            .iter()
            .enumerate()
        {
            let (mover, other) = if ply % 2 == 0 {
                (&mut ann, &mut bob)
            } else {
                (&mut bob, &mut ann)
            };
            assert_eq!(mover.play_move(&id, ply as u64, m).await["type"], "ok");
            assert_eq!(other.expect_event("moved").await["move"], *m);
            mover.expect_event("moved").await;
        }
        ann.play_move(&id, 8, "a2").await;
        bob.expect_event("moved").await;
        if game == "tic-tac-toe" {
            assert_eq!(
                bob.expect_event("ended").await["outcome"]["reason"],
                "rules"
            );
        }
        // The server completes the message that it had started to send, and then sends the close
        // frame.
        assert_eq!(slow.wait_for_close().await, 4002);
    }
}

/// As soon as the client reads again, the server sends the events that did not fit into the pipe.
/// The server must not wait for other activity on the connection.
#[tokio::test(start_paused = true)]
async fn late_reader_receives_all_queued_events_at_once() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut late_reader = server.connect_with_pipe(256).await;
    late_reader.send_hello(json!({})).await;
    late_reader
        .request(json!({"type": "watch", "match": id}))
        .await;
    let moves = ["a1", "b2", "c3", "b1", "b3", "a3"];
    for (ply, m) in moves.iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play_move(&id, ply as u64, m).await;
        // `yield_now` lets the server detect that the pipe to `late_reader` is full.
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    for m in moves {
        assert_eq!(late_reader.expect_event("moved").await["move"], m);
    }
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "after {:?}",
        start.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn stopping_server_closes_connections_with_1001() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, _) = server.start_match().await;
    let _silent = server.connect_raw();
    let stopping = server.server.clone();
    let start = Instant::now();
    let ((), a, b) = tokio::join!(stopping.stop(), ann.wait_for_close(), bob.wait_for_close());
    assert_eq!((a, b), (1001, 1001));
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "the stop was delayed"
    );
}

/// The server ends the connection after the close timeout, whether or not the client reads the
/// close frame.
#[tokio::test(start_paused = true)]
async fn close_handshake_is_bounded_by_close_timeout() {
    const STEP: Duration = Duration::from_millis(100);
    for seconds in [1, 7] {
        let server = TestServer::start(Settings {
            close_timeout: Duration::from_secs(seconds),
            ..settings()
        });
        let mut ann = server.connect_player("ann").await;
        for reads_close_frame in [true, false] {
            let (_, mut stream) = request_upgrade(&server, "192.0.2.1", "").await;
            // Clients must mask their frames, so the server rejects this unmasked frame.
            stream.write_all(&[0x81, 1, b'x']).await.expect("open");
            if reads_close_frame {
                let mut received = Vec::new();
                stream
                    .read_to_end(&mut received)
                    .await
                    .expect("a close frame");
                // The close frame contains the code 1002 (protocol error).
                let code = 1002_u16.to_be_bytes();
                assert!(received.windows(2).any(|two| two == code), "{received:?}");
            } else {
                ann.request(json!({"type": "ping"})).await;
            }
            let start = Instant::now();
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(STEP).await;
                assert_eq!(ann.request(json!({"type": "ping"})).await["type"], "pong");
            }
            let elapsed = start.elapsed();
            let expected = Duration::from_secs(seconds);
            assert!(
                elapsed >= expected - STEP && elapsed <= expected + STEP,
                "{elapsed:?}, expected {expected:?}"
            );
        }
    }
}

/// If the first HTTP request on a connection arrives late, the server answers it with `connection:
/// close`.
#[tokio::test(start_paused = true)]
async fn http_connection_is_short_lived_but_answers_late_request() {
    const HEALTH_REQUEST: &str = "GET /healthz HTTP/1.1\r\nHost: plyhouse.test\r\n\r\n";
    let server = TestServer::start(settings());
    let send_after_pause = async |pause: u64, requests: usize| {
        let mut stream = server.connect_raw();
        let start = Instant::now();
        tokio::time::sleep(Duration::from_secs(pause)).await;
        let requests = HEALTH_REQUEST.repeat(requests);
        stream.write_all(requests.as_bytes()).await.expect("open");
        let mut answers = String::new();
        let read = stream.read_to_string(&mut answers);
        read.await.expect("the server closes the connection");
        let answered = answers.matches("HTTP/1.1 200 ").count();
        let has_close_header = answers.contains("connection: close");
        (answered, has_close_header, start.elapsed().as_secs())
    };
    assert_eq!(send_after_pause(0, 3).await, (3, false, 3));
    assert_eq!(send_after_pause(5, 1).await, (1, true, 5));
}
