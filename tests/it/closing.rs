//! How connections end, and that the client gets to hear why.

use std::time::Duration;

use plyhouse_server::Settings;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::limits::request_upgrade;
use crate::support::{TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn the_twentieth_malformed_message_is_answered_and_the_last() {
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
async fn a_message_over_the_limit_closes() {
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
async fn a_flood_is_closed() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    // The server answers, then refuses, and at last has enough of it.
    let closed = loop {
        ann.try_send_text(r#"{"type":"ping"}"#)
            .await
            .expect("the close frame comes first");
        if let Some(code) = ann.try_close_code() {
            break code;
        }
    };
    assert_eq!(closed, 4003);
}

#[tokio::test(start_paused = true)]
async fn who_stays_silent_is_pinged_and_then_closed() {
    let server = TestServer::start(settings());
    // A client that listens answers pings and stays.
    let mut ann = server.connect_player("ann").await;
    let begun = Instant::now();
    let stayed = tokio::time::timeout(Duration::from_secs(200), ann.wait_for_close()).await;
    assert!(
        stayed.is_err(),
        "closed with {stayed:?} after {:?}",
        begun.elapsed()
    );

    // However short the limit, it is pinged before.
    let hasty = Settings {
        idle_timeout: Duration::from_secs(2),
        ..settings()
    };
    let hasty = TestServer::start(hasty);
    let mut cat = hasty.connect_player("cat").await;
    assert!(
        tokio::time::timeout(Duration::from_secs(60), cat.wait_for_close())
            .await
            .is_err()
    );

    // One that does not is let go.
    let mut bob = server.connect_player("bob").await;
    advance_time(61).await;
    assert_eq!(bob.wait_for_close().await, 4004);
}

/// Whichever of the two bounds is reached: the messages that wait, or their bytes.
#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_closed_and_costs_nobody_else() {
    let few = Settings {
        outbox_messages: 4,
        ..settings()
    };
    // Room for a few of the events of a board that has two hundred legal moves to tell.
    let small = Settings {
        outbox_bytes: 6_000,
        ..settings()
    };
    for (settings, game) in [(few, "tic-tac-toe"), (small, "gomoku")] {
        let server = TestServer::start(settings);
        let (mut ann, mut bob, id) = server.start_match_of(game).await;
        // A pipe that holds about one event. What is told after that waits in the outbox.
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
        // What was under way when the queue ran full still comes, and then the reason.
        assert_eq!(slow.wait_for_close().await, 4002);
    }
}

/// What a match could not write itself goes out as soon as the client reads on, not when something
/// else happens to the connection.
#[tokio::test(start_paused = true)]
async fn who_reads_late_is_told_everything_at_once() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut late = server.connect_with_pipe(256).await;
    late.send_hello(json!({})).await;
    late.request(json!({"type": "watch", "match": id})).await;
    let moves = ["a1", "b2", "c3", "b1", "b3", "a3"];
    for (ply, m) in moves.iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        mover.play_move(&id, ply as u64, m).await;
        // Lets the connection of the late one find out that its pipe is full.
        tokio::task::yield_now().await;
    }
    let begun = Instant::now();
    for m in moves {
        assert_eq!(late.expect_event("moved").await["move"], m);
    }
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "after {:?}",
        begun.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_says_so() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, _) = server.start_match().await;
    let _silent = server.connect_raw();
    let stopping = server.server.clone();
    let stopped = Instant::now();
    let ((), a, b) = tokio::join!(stopping.stop(), ann.wait_for_close(), bob.wait_for_close());
    assert_eq!((a, b), (1001, 1001));
    assert!(
        stopped.elapsed() < Duration::from_secs(2),
        "something held it back"
    );
}

/// Whoever has been told goodbye is given so long to read it, and then let go of, whether it reads or
/// not.
#[tokio::test(start_paused = true)]
async fn a_goodbye_is_waited_for_and_not_for_ever() {
    const STEP: Duration = Duration::from_millis(100);
    for seconds in [1, 7] {
        let server = TestServer::start(Settings {
            close_timeout: Duration::from_secs(seconds),
            ..settings()
        });
        let mut ann = server.connect_player("ann").await;
        for reads in [true, false] {
            let (_, mut rude) = request_upgrade(&server, "192.0.2.1", "").await;
            // A frame without a mask, which no client may send.
            rude.write_all(&[0x81, 1, b'x']).await.expect("open");
            if reads {
                let mut told = Vec::new();
                rude.read_to_end(&mut told).await.expect("it says goodbye");
                // The close frame, with its code.
                let code = 1002_u16.to_be_bytes();
                assert!(told.windows(2).any(|two| two == code), "{told:?}");
            } else {
                ann.request(json!({"type": "ping"})).await;
            }
            let begun = Instant::now();
            while rude.write_all(b"x").await.is_ok() {
                tokio::time::sleep(STEP).await;
                assert_eq!(ann.request(json!({"type": "ping"})).await["type"], "pong");
            }
            let waited = begun.elapsed();
            let wanted = Duration::from_secs(seconds);
            assert!(
                waited >= wanted - STEP && waited <= wanted + STEP,
                "{waited:?}, and was to be {wanted:?}"
            );
        }
    }
}

/// A browser asks for many files over few connections; none is kept for long. Who asks late is
/// answered, too, and told that it was the last.
#[tokio::test(start_paused = true)]
async fn a_connection_for_files_is_kept_for_a_while() {
    const ASK: &str = "GET /healthz HTTP/1.1\r\nHost: plyhouse.test\r\n\r\n";
    let server = TestServer::start(settings());
    let all_after = async |pause: u64, requests: usize| {
        let mut stream = server.connect_raw();
        let begun = Instant::now();
        tokio::time::sleep(Duration::from_secs(pause)).await;
        let requests = ASK.repeat(requests);
        stream.write_all(requests.as_bytes()).await.expect("open");
        let mut answers = String::new();
        let read = stream.read_to_string(&mut answers);
        read.await.expect("it is closed when nothing is left");
        let answered = answers.matches("HTTP/1.1 200 ").count();
        let told = answers.contains("connection: close");
        (answered, told, begun.elapsed().as_secs())
    };
    assert_eq!(all_after(0, 3).await, (3, false, 3));
    assert_eq!(all_after(5, 1).await, (1, true, 5));
}
