//! Metrics after scripted sessions, whose requests and messages are known exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::{ClientMessage, CloseCode, ErrorCode, Request};
use plyhouse_server::{AccountPolicy, DropReason, SearchMode, Settings};
use plyhouse_store::SqliteStore;
use serde_json::json;

use crate::fault_injecting_store::{FailingStore, PANIC_ONCE};
use crate::support::{TestServer, advance_time, settings};

/// Parsed metrics: maps the name and labels of each series to its value.
struct MetricValues(BTreeMap<String, f64>);

impl MetricValues {
    fn read(server: &TestServer) -> Self {
        let metrics = server.server.metrics_text();
        assert!(metrics.ends_with("# EOF\n"), "{metrics}");
        let lines = metrics.lines().filter(|line| !line.starts_with('#'));
        let series = lines.map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            (name.to_owned(), value.parse().expect("a number"))
        });
        Self(series.collect())
    }

    fn value(&self, name: &str) -> f64 {
        let name = format!("plyhouse_{name}");
        let value = self.0.get(&name);
        *value.unwrap_or_else(|| panic!("there is no {name}: {:#?}", self.0))
    }

    #[track_caller]
    fn assert_values(&self, expected: &[(&str, u32)]) {
        for (name, value) in expected {
            assert!(
                (self.value(name) - f64::from(*value)).abs() < 1e-9,
                "{name} is {}, not {value}",
                self.value(name)
            );
        }
    }

    /// Returns the nonzero series of a metric family, by label.
    fn nonzero_by_label(&self, family: &str) -> BTreeMap<&str, u64> {
        let begin = format!("plyhouse_{family}{{");
        let of_family = self.0.iter().filter_map(|(name, value)| {
            let labels = name.strip_prefix(&begin)?;
            let label = labels.split('"').nth(1).expect("a label");
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small counts"
            )]
            let count = *value as u64;
            (count > 0).then_some((label, count))
        });
        of_family.collect()
    }
}

#[tokio::test(start_paused = true)]
#[allow(clippy::too_many_lines, reason = "a session, told in its order")]
async fn requests_matches_and_connections_are_counted() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok"); // The repeated move has no effect.
    assert_eq!(bob.play_move(&id, 1, "b2").await["code"], "illegal_move");
    assert_eq!(bob.play_move(&id, 1, "a1").await["type"], "ok");
    ann.send_text("nonsense").await;
    ann.expect_event("moved").await;
    let mut spectator = server.connect().await;
    spectator
        .request(json!({"type": "watch", "match": id}))
        .await; // The spectator sends no `hello`, so the server welcomes a guest.
    spectator
        .request(json!({"type": "resync", "match": id, "since": 1}))
        .await;
    let seek = json!({"type": "seek", "game": "connect-four"});
    spectator.request(seek).await;
    let unknown = json!({"type": "watch", "match": "K7QM2P"});
    assert_eq!(spectator.expect_error(unknown).await, "unknown_match");
    let (mut ann_again, _) = server.resume_session(&ann.token()).await;
    assert_eq!(ann.wait_for_close().await, 4001);
    let open = bob.create_match(json!({"game": "chess"})).await;

    let values = MetricValues::read(&server);
    assert_eq!(
        values.nonzero_by_label("requests_total"),
        BTreeMap::from([
            ("hello", 3),
            ("create", 2),
            ("join", 1),
            ("move", 4),
            ("watch", 2),
            ("resync", 1),
            ("seek", 1),
            ("unreadable", 1),
        ])
    );
    assert_eq!(
        values.nonzero_by_label("errors_total"),
        BTreeMap::from([("illegal_move", 1), ("malformed", 1), ("unknown_match", 1)])
    );
    assert_eq!(
        values.nonzero_by_label("connections_closed_total"),
        BTreeMap::from([("4001", 1)])
    );
    assert_eq!(
        values.nonzero_by_label("moves_total"),
        BTreeMap::from([("tic-tac-toe", 2)])
    );
    values.assert_values(&[
        ("connections", 3),
        ("connections_opened_total", 4),
        ("players", 3),
        ("seeks", 1),
        ("resumes_total", 1),
        ("matches{game=\"tic-tac-toe\",status=\"running\"}", 1),
        ("matches{game=\"chess\",status=\"open\"}", 1),
        ("matches_created_total{game=\"tic-tac-toe\"}", 1),
        ("matches_created_total{game=\"chess\"}", 1),
        ("move_durable_seconds_count", 2),
        ("move_written_seconds_count", 2),
        ("move_durable_seconds_bucket{le=\"+Inf\"}", 2),
        ("outbox_messages", 0),
        ("outbox_messages_max", 0),
        ("outbox_bytes", 0),
        ("outbox_unread_total", 0),
        ("store_well", 1),
        ("panics_total", 0),
    ]);

    ann_again
        .request(json!({"type": "resign", "match": id}))
        .await;
    bob.request(json!({"type": "leave", "match": open})).await;
    drop(spectator);
    advance_time(1).await;
    let values = MetricValues::read(&server);
    values.assert_values(&[
        ("matches{game=\"tic-tac-toe\",status=\"running\"}", 0),
        ("matches{game=\"tic-tac-toe\",status=\"ended\"}", 1),
        ("matches{game=\"chess\",status=\"open\"}", 0),
        ("matches{game=\"chess\",status=\"ended\"}", 1),
        (
            "matches_ended_total{game=\"tic-tac-toe\",reason=\"resignation\"}",
            1,
        ),
        ("matches_ended_total{game=\"chess\",reason=\"aborted\"}", 1),
        ("connections", 2),
        ("seeks", 0),
        ("players", 2),
    ]);
    let closed = BTreeMap::from([("4001", 1), ("left", 1)]);
    assert_eq!(values.nonzero_by_label("connections_closed_total"), closed);

    // The server evicts ended matches after ten minutes.
    advance_time(601).await;
    MetricValues::read(&server).assert_values(&[
        ("matches{game=\"tic-tac-toe\",status=\"ended\"}", 0),
        ("matches{game=\"chess\",status=\"ended\"}", 0),
    ]);
}

#[tokio::test(start_paused = true)]
async fn bot_moves_and_searches_are_counted() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let seats = json!([{"bot": "beginner"}, {"bot": "beginner"}]);
    ann.create_match(json!({"seats": seats, "pace_ms": 100}))
        .await;
    let mut moves = 0;
    loop {
        match ann.next_message().await["type"].as_str() {
            Some("moved") => moves += 1,
            Some("ended") => break,
            _ => {}
        }
    }
    let values = MetricValues::read(&server);
    let played = values.nonzero_by_label("moves_total")["tic-tac-toe"];
    assert!(
        played == moves && played >= 5,
        "{played} moves, {moves} seen"
    );
    let played = u32::try_from(played).expect("few");
    values.assert_values(&[
        ("search_seconds_count", played),
        ("move_written_seconds_count", played),
        ("move_durable_seconds_count", 0),
        ("searches_running", 0),
        ("searches_waiting", 0),
        ("searches_missed_total", 0),
        (
            "matches_ended_total{game=\"tic-tac-toe\",reason=\"rules\"}",
            1,
        ),
    ]);
    assert!(values.value("search_nodes_total") >= f64::from(played));
}

#[tokio::test]
async fn waiting_searches_are_reported() {
    let server = TestServer::start(Settings {
        search: SearchMode::Threads(1),
        search_table: 1 << 20,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    let seats = json!([{"bot": "max"}, {"bot": "max"}]);
    for _ in 0..3 {
        ann.create_match(json!({"game": "chess", "seats": seats}))
            .await;
    }
    // A full-strength chess search takes its full two seconds.
    loop {
        let values = MetricValues::read(&server);
        let (running, waiting) = (
            values.value("searches_running"),
            values.value("searches_waiting"),
        );
        assert!(
            running <= 1.0 && waiting <= 3.0,
            "{running} run, {waiting} wait"
        );
        if running > 0.0 && waiting > 1.0 {
            break;
        }
        ann.request(json!({"type": "ping"})).await;
        tokio::task::yield_now().await;
    }
    server.server.stop().await;
    let values = MetricValues::read(&server);
    values.assert_values(&[("searches_waiting", 0)]);
}

#[tokio::test]
async fn searches_per_player_leave_threads_for_others() {
    let server = TestServer::start(Settings {
        search: SearchMode::Threads(2),
        searches_per_player: 1,
        // With a search time of one hour, no chess search finishes during the test.
        search_time: Duration::from_secs(3600),
        search_table: 1 << 20,
        ..settings()
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let seats = json!([{"bot": "max"}, "me"]);
    for _ in 0..3 {
        ann.create_match(json!({"game": "chess", "seats": seats}))
            .await;
    }
    // Ann's searches may use only one of the two search threads. Otherwise, no bot would move in
    // Bob's matches.
    for _ in 0..10 {
        bob.create_match(json!({"seats": seats})).await;
        assert_eq!(bob.expect_event("moved").await["ply"], 0);
    }
    MetricValues::read(&server).assert_values(&[("searches_waiting", 2)]);
    server.server.stop().await;
}

#[tokio::test(start_paused = true)]
async fn slow_reader_queue_and_dropped_messages_are_counted() {
    let server = TestServer::start(Settings {
        outbox_messages: 4,
        ..settings()
    });
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut slow = server.connect_with_pipe(256).await;
    slow.request(json!({"type": "watch", "match": id})).await;
    let moves = ["a1", "b2", "c3", "b1", "b3", "a3", "c1", "c2", "a2"];
    let mut max_queued = 0.0_f64;
    for (ply, m) in moves.iter().enumerate() {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        assert_eq!(mover.play_move(&id, ply as u64, m).await["type"], "ok");
        let values = MetricValues::read(&server);
        max_queued = max_queued.max(values.value("outbox_messages_max"));
        assert!(values.value("outbox_messages") >= values.value("outbox_messages_max"));
    }
    assert!(max_queued > 0.0 && max_queued <= 4.0, "{max_queued}");
    assert_eq!(slow.wait_for_close().await, 4002);
    advance_time(5).await;
    let values = MetricValues::read(&server);
    assert_eq!(
        values.nonzero_by_label("connections_closed_total"),
        BTreeMap::from([("4002", 1)])
    );
    // The slow reader left five messages unread. Four of these messages filled the slow reader's
    // queue, and the fifth did not fit.
    values.assert_values(&[("outbox_unread_total", 5), ("outbox_messages", 0)]);
}

#[tokio::test(start_paused = true)]
async fn connection_without_request_is_counted_as_dropped() {
    let server = TestServer::start(settings());
    let silent = server.connect_raw();
    advance_time(11).await;
    drop(silent);
    let broken = server.connect_raw();
    drop(broken);
    let values = MetricValues::read(&server);
    let slow = BTreeMap::from([(DropReason::SlowRequest.as_str(), 1)]);
    assert_eq!(values.nonzero_by_label("connections_dropped_total"), slow);
}

#[tokio::test(start_paused = true)]
async fn panic_and_internal_error_are_counted() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as _);
    let (mut ann, _bob, id) = server.start_match().await;
    store.set_mode(PANIC_ONCE);
    assert_eq!(ann.play_move(&id, 0, "b2").await["code"], "internal");
    let values = MetricValues::read(&server);
    values.assert_values(&[("panics_total", 1), ("errors_total{code=\"internal\"}", 1)]);
}

/// The store syncs once per batch of writes.
#[tokio::test]
async fn store_writes_and_syncs_are_counted() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(folder.path(), None).expect("the store opens");
    let metrics = store.metrics();
    // With accounts, the server also records its start in the store, at an unpredictable moment.
    // This test counts the writes, so it turns accounts off.
    let settings = Settings {
        accounts: AccountPolicy::Off,
        ..settings()
    };
    let server = TestServer::with_metrics(settings, Arc::new(store), &metrics);
    let (mut ann, mut bob, id) = server.start_match().await;
    ann.play_move(&id, 0, "b2").await;
    bob.play_move(&id, 1, "a1").await;
    let values = MetricValues::read(&server);
    // The store receives six writes: one for each of the two players, the match, the opponent's
    // join, and two moves.
    values.assert_values(&[("store_writes_total", 6), ("store_failures_total", 0)]);
    let batches = values.value("store_batches_total");
    assert!((1.0..=6.0).contains(&batches), "{batches}");
    let syncs = values.value("store_sync_seconds_count");
    assert!(
        (syncs - batches).abs() < 1e-9,
        "{syncs} syncs of {batches} batches"
    );
    assert!(values.value("store_sync_seconds_sum") > 0.0);
    assert!(values.value("move_durable_seconds_sum") > 0.0);
}

#[tokio::test(start_paused = true)]
async fn client_input_adds_no_metric_series() {
    let names = |server| {
        MetricValues::read(server)
            .0
            .into_keys()
            .collect::<BTreeSet<_>>()
    };
    let server = TestServer::start(settings());
    let before = names(&server);
    let (mut ann, _bob, id) = server.start_match().await;
    ann.send_text(r#"{"type":"surprise"}"#).await;
    ann.play_move(&id, 0, "b2").await;
    ann.request_unchecked(json!({"type": "create", "game": "surprise"}))
        .await;
    assert_eq!(names(&server), before);
    let count_series = |family: &str| {
        let begin = format!("plyhouse_{family}{{");
        before
            .iter()
            .filter(|name| name.starts_with(&begin))
            .count()
    };
    assert_eq!(
        count_series("requests_total"),
        ClientMessage::TYPES.len() + 1
    );
    assert_eq!(count_series("errors_total"), ErrorCode::ALL.len());
    assert_eq!(
        count_series("connections_closed_total"),
        CloseCode::ALL.len() + 1
    );
    assert_eq!(
        count_series("connections_dropped_total"),
        DropReason::ALL.len()
    );
}

#[test]
fn request_types_match_their_metric_labels() {
    let requests = [
        json!({"type": "hello"}),
        json!({"type": "ping"}),
        json!({"type": "create", "game": "chess"}),
        json!({"type": "join", "match": "a"}),
        json!({"type": "watch", "match": "a"}),
        json!({"type": "leave", "match": "a"}),
        json!({"type": "seat", "match": "a", "seat": 0, "occupant": "open"}),
        json!({"type": "move", "match": "a", "ply": 0, "move": "a1"}),
        json!({"type": "resign", "match": "a"}),
        json!({"type": "abort", "match": "a"}),
        json!({"type": "offer", "match": "a", "offer": "draw", "ply": 2}),
        json!({"type": "decline", "match": "a", "offer": "draw"}),
        json!({"type": "give_time", "match": "a", "ms": 15000}),
        json!({"type": "list"}),
        json!({"type": "watch_list"}),
        json!({"type": "unwatch_list"}),
        json!({"type": "seek", "game": "chess"}),
        json!({"type": "unseek"}),
        json!({"type": "resync", "match": "a", "since": 0}),
        json!({"type": "sessions"}),
        json!({"type": "end_session", "session": "a"}),
        json!({"type": "pair"}),
        json!({"type": "recovery"}),
        json!({"type": "register", "name": "ada"}),
        json!({"type": "rename", "name": "ada"}),
        json!({"type": "set_password", "new": "correct horse"}),
        json!({"type": "history"}),
        json!({"type": "explore", "game": "chess", "moves": []}),
        json!({"type": "create_key"}),
        json!({"type": "say", "match": "K7QM2P", "preset": "hello"}),
        json!({"type": "profile", "name": "ada"}),
        json!({"type": "leaders", "game": "chess", "pool": "live"}),
        json!({"type": "forget_me"}),
        json!({"type": "block"}),
        json!({"type": "analyse", "match": "a"}),
        json!({"type": "hint", "match": "a", "ply": 0}),
    ];
    assert_eq!(requests.len(), ClientMessage::TYPES.len());
    for request in requests {
        let read = Request::decode(&request.to_string()).expect("a request");
        let index = read.request.message.type_index();
        assert_eq!(request["type"], ClientMessage::TYPES[index]);
    }
}

/// The guide must list exactly the exported metrics, without obsolete ones.
#[tokio::test]
async fn operating_guide_lists_every_metric() {
    let server = TestServer::start(settings());
    let metrics = server.server.metrics_text();
    let exported: BTreeSet<&str> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/deploy/OPERATING.md");
    let page = fs::read_to_string(page).expect("readable");
    let documented: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `plyhouse_")?.split('`').next())
        // Skips rows that start with an expression instead of a name, such as `plyhouse_store_well
        // == 0`.
        .filter(|name| !name.contains(' '))
        .collect();
    let documented: BTreeSet<String> = documented
        .into_iter()
        .map(|name| format!("plyhouse_{name}"))
        .collect();
    let exported: BTreeSet<String> = exported.into_iter().map(str::to_owned).collect();
    assert_eq!(documented, exported);
}
