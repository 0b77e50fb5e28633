//! Tests of the spectator delay: a client without a seat sees each event of a match only after the
//! delay.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::accounts::connect_registered_player;
use crate::support::{TestPlayer, TestServer, json_string, settings_without_pings};

const SPECTATOR_DELAY: Duration = Duration::from_secs(10);

fn match_request(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

fn delayed_match_params() -> Value {
    json!({"game": "tic-tac-toe", "delay_ms": 10_000})
}

/// Returns the sequence numbers of the events in these messages.
fn event_seqs(messages: &[Value]) -> Vec<u64> {
    let events = messages.iter().filter(|message| message["type"] != "match");
    events.filter_map(|event| event["seq"].as_u64()).collect()
}

#[tokio::test(start_paused = true)]
async fn spectator_delay_is_bounded_and_reported() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    for (fields, expected) in [
        (json!({}), Value::Null),
        (json!({"delay_ms": 0}), Value::Null),
        (json!({"delay_ms": 600_000}), json!(600_000)),
    ] {
        let mut create = json!({"type": "create", "game": "chess"});
        let fields = fields.as_object().expect("fields").clone();
        create.as_object_mut().expect("an object").extend(fields);
        assert_eq!(ann.request(create).await["delay_ms"], expected);
    }
    let correspondence_clock = json!({"kind": "move", "move_ms": 86_400_000});
    for fields in [
        json!({"delay_ms": 600_001}),
        json!({"delay_ms": 5, "clock": correspondence_clock}),
    ] {
        let mut create = json!({"type": "create", "game": "chess"});
        let fields = fields.as_object().expect("fields").clone();
        create.as_object_mut().expect("an object").extend(fields);
        let refused = ann.request_unchecked(create).await;
        assert_eq!(
            (&refused["code"], &refused["field"]),
            (&json!("bad_field"), &json!("delay_ms"))
        );
    }
}

/// The rematch starts before the spectators learn the outcome of the first match.
#[tokio::test(start_paused = true)]
async fn rematch_does_not_reveal_delayed_outcome() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match_with(delayed_match_params()).await;
    ann.play_move(&id, 0, "b2").await;
    bob.expect_event("moved").await;
    bob.request(match_request("resign", &id)).await;
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    ann.request(offer.clone()).await;
    bob.request(offer).await;
    let messages = bob.drain_messages().await;
    let rematch = messages.iter().rfind(|message| message["type"] == "match");
    let rematch = rematch.expect("a snapshot of the rematch");
    assert_eq!(rematch["series"]["game"], 2);
    let mut cat = server.connect_player("cat").await;
    let snapshot = cat
        .request(match_request("watch", &json_string(&rematch["match"])))
        .await;
    assert_eq!(snapshot["status"], "open");
    assert_eq!(
        (snapshot.get("series"), snapshot.get("previous")),
        (None, None)
    );
    // Until the delay has passed, the match code that spectators know refers to the first match.
    // The match list does not contain the rematch.
    let code = json_string(&ann.request(match_request("watch", &id)).await["code"]);
    assert_ne!(rematch["code"], json!(code));
    let snapshot_by_code = cat.request(match_request("watch", &code)).await;
    assert_eq!(
        (&snapshot_by_code["match"], &snapshot_by_code["status"]),
        (&json!(id), &json!("open"))
    );
    let list_match_ids = async |cat: &mut TestPlayer| {
        let list = cat.request(json!({"type": "list"})).await;
        let rows = list["matches"].as_array().expect("rows").clone();
        assert_eq!(list["total"], rows.len());
        rows.iter()
            .map(|row| json_string(&row["match"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(list_match_ids(&mut cat).await, slice::from_ref(&id));
    sleep(SPECTATOR_DELAY).await;
    cat.drain_messages().await;
    assert_eq!(
        list_match_ids(&mut cat).await,
        [json_string(&rematch["match"]), id]
    );
}

#[tokio::test(start_paused = true)]
async fn rating_changes_are_hidden_until_delayed_end() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    let mut cat = server.connect_player("cat").await;
    let clock = json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0});
    let rated = |delay_ms: u64| json!({"rated": true, "clock": clock, "seats": ["me", "open"], "delay_ms": delay_ms});
    let mut ids = Vec::new();
    for (delay_ms, moves) in [(10_000, ["b2", "a1"]), (20_000, ["c1", "a3"])] {
        let id = ann.create_match(rated(delay_ms)).await;
        bob.request(match_request("join", &id)).await;
        for (ply, m) in (0..).zip(moves) {
            let player = if ply == 0 { &mut ann } else { &mut bob };
            assert_eq!(player.play_move(&id, ply, m).await["type"], "ok");
        }
        bob.request(match_request("resign", &id)).await;
        cat.request(match_request("watch", &id)).await;
        ids.push(id);
    }
    let profile = json!({"type": "profile", "name": "ann"});
    let rated_game_count = |profile: &Value| profile["ratings"][0]["games"].as_u64().unwrap_or(0);
    sleep(SPECTATOR_DELAY - Duration::from_millis(1)).await;
    assert_eq!(rated_game_count(&cat.request(profile.clone()).await), 0);
    let open = bob
        .create_match(json!({"clock": clock, "seats": ["me", "open"]}))
        .await;
    let snapshot = cat.request(match_request("watch", &open)).await;
    assert_eq!(snapshot["seats"][0]["rating"], 1500);
    assert!(
        cat.drain_messages()
            .await
            .iter()
            .all(|message| message["type"] != "rating")
    );

    for (games, id) in [(1, &ids[0]), (2, &ids[1])] {
        sleep(Duration::from_millis(2)).await;
        assert_eq!(rated_game_count(&cat.request(profile.clone()).await), games);
        let messages = [cat.drain_messages().await, ann.drain_messages().await].concat();
        let ratings = messages
            .iter()
            .filter(|message| message["type"] == "rating");
        let match_ids: Vec<&Value> = ratings.map(|message| &message["match"]).collect();
        assert_eq!(match_ids, [&json!(id); 2], "{messages:?}");
        sleep(SPECTATOR_DELAY).await;
    }
}

#[tokio::test(start_paused = true)]
async fn spectators_see_events_delayed_and_players_at_once() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match_with(delayed_match_params()).await;
    let (mut second_connection, _) = server.resume_session(&bob.token()).await;
    assert_eq!(
        second_connection.expect_event("match").await["status"],
        "running"
    );
    let mut cat = server.connect_player("cat").await;
    let snapshot = cat.request(match_request("watch", &id)).await;
    assert_eq!(
        (&snapshot["status"], &snapshot["seq"], &snapshot["you"]),
        (&json!("open"), &json!(0), &json!(null))
    );
    sleep(Duration::from_secs(5)).await;
    ann.play_move(&id, 0, "b2").await;
    assert_eq!(second_connection.expect_event("moved").await["move"], "b2");
    bob = second_connection;
    ann.request(json!({"type": "say", "match": id, "preset": "hello"}))
        .await;
    bob.expect_event("said").await;
    ann.request(match_request("resign", &id)).await;
    bob.expect_event("ended").await;

    assert_eq!(event_seqs(&cat.drain_messages().await), [0; 0]);
    let list = |status: &str| json!({"type": "list", "status": status});
    assert_eq!(cat.request(list("open")).await["matches"][0]["ply"], 0);
    for status in ["running", "ended"] {
        assert_eq!(cat.request(list(status)).await["total"], 0, "{status}");
    }
    // Answers to refused requests must not reveal delayed events.
    assert_eq!(
        cat.expect_error(match_request("join", &id)).await,
        "seat_taken"
    );
    let seat = json!({"type": "seat", "match": id, "seat": 1, "occupant": "open"});
    assert_eq!(cat.expect_error(seat).await, "not_host");
    let say = json!({"type": "say", "match": id, "preset": "good-game"});
    assert_eq!(cat.expect_error(say.clone()).await, "not_allowed");
    let resync = json!({"type": "resync", "match": id, "since": 0});
    assert_eq!(cat.request(resync.clone()).await["events"], json!([]));

    sleep(Duration::from_secs(5)).await;
    let messages = cat.drain_messages().await;
    assert_eq!(event_seqs(&messages), [1, 2, 3], "{messages:?}");
    assert_eq!(cat.request(list("running")).await["total"], 1);
    assert_eq!(cat.expect_error(say.clone()).await, "not_allowed");
    sleep(Duration::from_secs(5)).await;
    let messages = cat.drain_messages().await;
    assert_eq!(event_seqs(&messages), [4, 5], "{messages:?}");
    let chat_index = messages
        .iter()
        .position(|message| message["type"] == "said");
    let end_index = messages
        .iter()
        .position(|message| message["type"] == "ended");
    assert!(
        chat_index.is_some() && chat_index < end_index,
        "{messages:?}"
    );
    assert_eq!(cat.request(list("ended")).await["total"], 1);
    let replayed = cat.request(resync).await;
    assert_eq!(replayed["events"].as_array().map(Vec::len), Some(5));
    assert_eq!(cat.request(say).await["type"], "ok");
    assert_eq!(cat.expect_event("said").await["name"], "cat");
}

#[tokio::test(start_paused = true)]
async fn joining_player_sees_match_without_delay_on_all_connections() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let id = ann.create_match(delayed_match_params()).await;
    let mut bob = server.connect_player("bob").await;
    let (mut second_connection, _) = server.resume_session(&bob.token()).await;
    let hello = json!({"token": bob.token(), "beside": true});
    let mut third_connection = server.connect().await;
    third_connection.send_hello(hello).await;
    bob = third_connection;
    for player in [&mut bob, &mut second_connection] {
        assert_eq!(player.request(match_request("watch", &id)).await["seq"], 0);
    }
    assert_eq!(bob.request(match_request("join", &id)).await["seq"], 3);
    let snapshot = second_connection.expect_event("match").await;
    assert_eq!((&snapshot["seq"], &snapshot["you"]), (&json!(3), &json!(1)));
    ann.play_move(&id, 0, "b2").await;
    for player in [&mut bob, &mut second_connection] {
        assert_eq!(player.expect_event("moved").await["move"], "b2");
    }

    let open = ann.create_match(delayed_match_params()).await;
    bob.request(match_request("watch", &open)).await;
    let mut cat = server.connect_player("cat").await;
    cat.request(match_request("watch", &open)).await;
    let hosted = bob
        .create_match(json!({"seats": ["open", "open"], "delay_ms": 10_000}))
        .await;
    assert_eq!(
        second_connection
            .request(match_request("watch", &hosted))
            .await["seq"],
        0
    );
    assert_eq!(bob.request(match_request("join", &hosted)).await["seq"], 1);
    assert_eq!(
        second_connection.expect_event("match").await["match"],
        hosted.as_str()
    );
    sleep(SPECTATOR_DELAY).await;
    cat.drain_messages().await;
}

/// Simulates matches with random requests. Spectators receive only events older than the delay. At
/// the end, they have received all events.
#[tokio::test(start_paused = true)]
async fn spectators_never_receive_events_before_delay() {
    for seed in 0..24 {
        DelaySimulation::new(seed).await.run().await;
    }
}

struct DelaySimulation {
    server: TestServer,
    rng_state: u64,
    ann: TestPlayer,
    bob: TestPlayer,
    id: String,
    /// Time at which the players received each event, by sequence number.
    event_times: BTreeMap<u64, Instant>,
    /// Times of the moves. Each time is paired with the number of plies played up to that time.
    ply_times: Vec<(Instant, u64)>,
    /// Spectators of the match. Each spectator is paired with the sequence number of the last event
    /// that it received.
    spectators: Vec<(TestPlayer, u64)>,
}

impl DelaySimulation {
    async fn new(seed: u64) -> Self {
        let server = TestServer::start(Settings {
            seed: Some(seed),
            ..settings_without_pings()
        });
        let mut ann = server.connect_player("ann").await;
        let id = ann.create_match(delayed_match_params()).await;
        let bob = server.connect_player("bob").await;
        let mut simulation = Self {
            server,
            rng_state: seed * 7919 + 17,
            ann,
            bob,
            id,
            event_times: BTreeMap::new(),
            ply_times: Vec::new(),
            spectators: Vec::new(),
        };
        simulation.event_times.insert(1, Instant::now());
        simulation
    }

    fn random_below(&mut self, n: u64) -> u64 {
        self.rng_state = self
            .rng_state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.rng_state >> 33) % n
    }

    async fn run(mut self) {
        let mut has_joined = false;
        for _ in 0..60 {
            let step = self.random_below(3000);
            sleep(Duration::from_millis(step)).await;
            match self.random_below(9) {
                0 if !has_joined => {
                    self.bob.request(match_request("join", &self.id)).await;
                    has_joined = true;
                }
                1 => {
                    let name = format!("stranger {}", self.spectators.len());
                    let mut spectator = self.server.connect_player(&name).await;
                    let snapshot = spectator.request(match_request("watch", &self.id)).await;
                    let seq = self.assert_not_early(&snapshot);
                    self.spectators.push((spectator, seq));
                }
                2 if !self.spectators.is_empty() => self.send_random_spectator_request().await,
                3 => {
                    let say = json!({"type": "say", "match": self.id, "preset": "hello"});
                    self.ann.request(say).await;
                }
                4 if self.random_below(12) == 0 => {
                    self.ann.request(match_request("resign", &self.id)).await;
                }
                _ => self.play_random_move().await,
            }
            self.receive_messages().await;
        }
        self.bob.request(match_request("join", &self.id)).await;
        self.ann.request(match_request("resign", &self.id)).await;
        self.receive_messages().await;
        sleep(SPECTATOR_DELAY).await;
        self.receive_messages().await;
        let last = *self
            .event_times
            .keys()
            .next_back()
            .expect("at least one event");
        for (_, seq) in &self.spectators {
            assert_eq!(*seq, last, "every spectator has received all events");
        }
    }

    async fn play_random_move(&mut self) {
        let snapshot = self.ann.request(match_request("watch", &self.id)).await;
        let legal = snapshot["legal"].as_array().cloned().unwrap_or_default();
        if legal.is_empty() {
            return;
        }
        let n = usize::try_from(self.random_below(legal.len() as u64)).expect("fits in usize");
        let (ply, m) = (
            snapshot["ply"].as_u64().expect("a ply"),
            json_string(&legal[n]),
        );
        let mover = match snapshot["turn"] == 0 {
            true => &mut self.ann,
            false => &mut self.bob,
        };
        mover.play_move(&self.id, ply, &m).await;
    }

    /// Sends a random request from a random spectator.
    async fn send_random_spectator_request(&mut self) {
        let n = usize::try_from(self.random_below(self.spectators.len() as u64))
            .expect("fits in usize");
        let request_kind = self.random_below(3);
        let (spectator, seq) = &mut self.spectators[n];
        let last_seq = *seq;
        match request_kind {
            0 => {
                let resync = json!({"type": "resync", "match": self.id, "since": 0});
                let answer = spectator.request(resync).await;
                for event in answer["events"].as_array().into_iter().flatten() {
                    self.assert_not_early(event);
                }
            }
            1 => {
                let snapshot = spectator.request(match_request("watch", &self.id)).await;
                assert!(
                    snapshot["seq"].as_u64() >= Some(last_seq),
                    "a snapshot never goes backwards"
                );
                let seq = self.assert_not_early(&snapshot);
                // The snapshot may include events that the server has not yet sent to this
                // spectator as messages. The test therefore does not advance the spectator's
                // sequence number.
                self.spectators[n].1 = last_seq.max(seq.min(last_seq));
            }
            _ => {
                let list = spectator.request(json!({"type": "list"})).await;
                self.assert_row_not_early(&list["matches"][0]);
            }
        }
    }

    /// Asserts that the server sends an event or snapshot only after the spectator delay. Returns
    /// the sequence number of the message.
    fn assert_not_early(&self, message: &Value) -> u64 {
        let seq = message["seq"].as_u64().expect("a number");
        if seq > 0 {
            let sent_at = self
                .event_times
                .get(&seq)
                .expect("an event that players have received");
            let age = Instant::now().duration_since(*sent_at);
            assert!(
                age >= SPECTATOR_DELAY,
                "{seq} was sent after {age:?}: {message}"
            );
        }
        seq
    }

    fn assert_row_not_early(&self, row: &Value) {
        let ply = row["ply"].as_u64().expect("a row");
        let cutoff = Instant::now() - SPECTATOR_DELAY;
        let latest = self.ply_times.iter().rev().find(|(at, _)| *at <= cutoff);
        assert!(ply <= latest.map_or(0, |(_, ply)| *ply), "{row}");
        let has_started = self.ply_times.first().is_some_and(|(at, _)| *at <= cutoff);
        assert!(has_started || row["status"] == "open", "{row}");
    }

    async fn receive_messages(&mut self) {
        let now = Instant::now();
        for message in self.ann.drain_messages().await {
            let is_event = message["type"] != "match" && message["seq"].is_u64();
            if is_event {
                self.event_times
                    .insert(message["seq"].as_u64().expect("a number"), now);
            }
            if message["type"] == "started" || message["type"] == "moved" {
                let ply = message["next_ply"].as_u64().unwrap_or(0);
                self.ply_times.push((now, ply));
            }
        }
        self.bob.drain_messages().await;
        let mut spectators = std::mem::take(&mut self.spectators);
        for (spectator, seq) in &mut spectators {
            for message in spectator.drain_messages().await {
                if message["type"] != "match" && message["seq"].is_u64() {
                    let next = self.assert_not_early(&message);
                    assert_eq!(next, *seq + 1, "no gap in seq");
                    *seq = next;
                }
                assert_ne!(message["type"], "watch_over");
            }
        }
        self.spectators = spectators;
    }
}

#[tokio::test(start_paused = true)]
async fn spectator_delay_survives_restart() {
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, _bob, id) = server.start_match_with(delayed_match_params()).await;
    sleep(SPECTATOR_DELAY).await;
    ann.play_move(&id, 0, "b2").await;
    let pong = ann.request(json!({"type": "ping"})).await;
    server.server.stop().await;
    let restart_settings = Settings {
        seed: Some(8),
        started_ms: pong["now_ms"].as_u64(),
        ..settings_without_pings()
    };
    let server = TestServer::with_store(restart_settings, store as Arc<dyn Store>);
    server.server.recover().await.expect("readable");
    let mut cat = server.connect_player("cat").await;
    let snapshot = cat.request(match_request("watch", &id)).await;
    assert_eq!((&snapshot["seq"], &snapshot["ply"]), (&json!(3), &json!(0)));
    let (mut ann, _) = server.resume_session(&ann.token()).await;
    assert_eq!(ann.expect_event("match").await["seq"], 4);
    assert_eq!(event_seqs(&cat.drain_messages().await), [0; 0]);
    sleep(SPECTATOR_DELAY + Duration::from_secs(1)).await;
    assert_eq!(event_seqs(&cat.drain_messages().await), [4]);
}

#[tokio::test(start_paused = true)]
async fn game_record_is_delayed_for_spectators() {
    let server = TestServer::start(settings_without_pings());
    let create = json!({"game": "chess", "delay_ms": 10_000});
    let (mut ann, mut bob, id) = server.start_match_with(create).await;
    let record = async || {
        let record = server
            .server
            .game_record(id.as_str().into(), "pgn", None)
            .await;
        record.expect("a game record").text
    };
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;
    bob.request(match_request("resign", &id)).await;
    sleep(SPECTATOR_DELAY - Duration::from_millis(1)).await;
    let early = server
        .server
        .game_record(id.as_str().into(), "pgn", None)
        .await;
    assert!(early.is_err() || !early.expect("a game record").text.contains("e4"));
    sleep(Duration::from_millis(2)).await;
    let late = record().await;
    assert!(late.contains("e4") && late.contains("1-0"), "{late}");
}

/// The host has set the match to be visible only to its players. Until the spectator delay after
/// the match start has passed, spectators still see the match as open. After the delay, the server
/// answers spectators as if the match did not exist.
#[tokio::test(start_paused = true)]
async fn start_of_hidden_match_is_revealed_after_delay() {
    let server = TestServer::start(settings_without_pings());
    let [mut ann, mut bob] = [
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    ];
    let [mut cat, mut dan] = [
        server.connect_player("cat").await,
        server.connect_player("dan").await,
    ];
    let create = json!({"game": "tic-tac-toe", "watch": "nobody", "delay_ms": 10_000});
    let id = ann.create_match(create).await;
    let open = cat.request(match_request("watch", &id)).await;
    assert_eq!(open["status"], "open", "{open}");
    bob.request(match_request("join", &id)).await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    sleep(SPECTATOR_DELAY / 2).await;
    assert_eq!(cat.drain_messages().await, [] as [Value; 0]);
    for spectator in [&mut cat, &mut dan] {
        let snapshot = spectator.request(match_request("watch", &id)).await;
        assert_eq!(snapshot["status"], "open", "{snapshot}");
        assert_eq!(snapshot["seats"][0]["occupant"], "open", "{snapshot}");
    }
    sleep(SPECTATOR_DELAY).await;
    let messages = cat.drain_messages().await;
    let watch_over = messages
        .iter()
        .filter(|message| message["type"] == "watch_over");
    assert_eq!(watch_over.count(), 1, "{messages:?}");
    assert!(
        messages.iter().all(|message| message["type"] != "started"),
        "{messages:?}"
    );
    for spectator in [&mut cat, &mut dan] {
        assert_eq!(
            spectator.expect_error(match_request("watch", &id)).await,
            "unknown_match"
        );
    }
    assert_eq!(
        ann.request(match_request("watch", &id)).await["status"],
        "running"
    );
}
