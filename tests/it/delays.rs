//! Those who have no seat see a match with a delay so much later, and learn nothing of it before.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::accounts::registered;
use crate::support::{TestPlayer, TestServer, json_string, settings_without_pings};

const DELAY: Duration = Duration::from_secs(10);

fn to(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

fn delayed() -> Value {
    json!({"game": "tic-tac-toe", "delay_ms": 10_000})
}

/// The numbers of the events that are told by these messages.
fn seqs(messages: &[Value]) -> Vec<u64> {
    let told = messages.iter().filter(|told| told["type"] != "match");
    told.filter_map(|told| told["seq"].as_u64()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_delay_has_bounds_and_is_told() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    for (fields, told) in [
        (json!({}), Value::Null),
        (json!({"delay_ms": 0}), Value::Null),
        (json!({"delay_ms": 600_000}), json!(600_000)),
    ] {
        let mut create = json!({"type": "create", "game": "chess"});
        let fields = fields.as_object().expect("fields").clone();
        create.as_object_mut().expect("an object").extend(fields);
        assert_eq!(ann.request(create).await["delay_ms"], told);
    }
    let days = json!({"kind": "move", "move_ms": 86_400_000});
    for fields in [
        json!({"delay_ms": 600_001}),
        json!({"delay_ms": 5, "clock": days}),
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

/// A rematch begins at the same table before strangers know how the match before it ended.
#[tokio::test(start_paused = true)]
async fn a_rematch_does_not_tell_how_the_match_before_it_ended() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match_with(delayed()).await;
    ann.play_move(&id, 0, "b2").await;
    bob.expect_event("moved").await;
    bob.request(to("resign", &id)).await;
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    ann.request(offer.clone()).await;
    bob.request(offer).await;
    let told = bob.drain_messages().await;
    let next = told.iter().rfind(|told| told["type"] == "match");
    let next = next.expect("the rematch is shown");
    assert_eq!(next["series"]["game"], 2);
    let mut cat = server.connect_player("cat").await;
    let shown = cat.request(to("watch", &json_string(&next["match"]))).await;
    assert_eq!(shown["status"], "open");
    assert_eq!((shown.get("series"), shown.get("previous")), (None, None));
    // What they know leads to the match that they see, and no list tells of another.
    let code = json_string(&ann.request(to("watch", &id)).await["code"]);
    assert_ne!(next["code"], json!(code));
    let found = cat.request(to("watch", &code)).await;
    assert_eq!(
        (&found["match"], &found["status"]),
        (&json!(id), &json!("open"))
    );
    let listed = async |cat: &mut TestPlayer| {
        let list = cat.request(json!({"type": "list"})).await;
        let rows = list["matches"].as_array().expect("rows").clone();
        assert_eq!(list["total"], rows.len());
        rows.iter()
            .map(|row| json_string(&row["match"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&mut cat).await, slice::from_ref(&id));
    sleep(DELAY).await;
    cat.drain_messages().await;
    assert_eq!(listed(&mut cat).await, [json_string(&next["match"]), id]);
}

/// What a rated match has changed nobody can see anywhere before it has ended for strangers.
#[tokio::test(start_paused = true)]
async fn ratings_do_not_tell_how_a_match_ended() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    let mut cat = server.connect_player("cat").await;
    let clock = json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0});
    let rated = |delay_ms: u64| json!({"rated": true, "clock": clock, "seats": ["me", "open"], "delay_ms": delay_ms});
    let mut ids = Vec::new();
    for (delay_ms, line) in [(10_000, ["b2", "a1"]), (20_000, ["c1", "a3"])] {
        let id = ann.create_match(rated(delay_ms)).await;
        bob.request(to("join", &id)).await;
        for (ply, m) in (0..).zip(line) {
            let player = if ply == 0 { &mut ann } else { &mut bob };
            assert_eq!(player.play_move(&id, ply, m).await["type"], "ok");
        }
        bob.request(to("resign", &id)).await;
        cat.request(to("watch", &id)).await;
        ids.push(id);
    }
    let profile = json!({"type": "profile", "name": "ann"});
    let told = |profile: &Value| profile["ratings"][0]["games"].as_u64().unwrap_or(0);
    sleep(DELAY - Duration::from_millis(1)).await;
    assert_eq!(told(&cat.request(profile.clone()).await), 0);
    let open = bob
        .create_match(json!({"clock": clock, "seats": ["me", "open"]}))
        .await;
    let shown = cat.request(to("watch", &open)).await;
    assert_eq!(shown["seats"][0]["rating"], 1500);
    assert!(
        cat.drain_messages()
            .await
            .iter()
            .all(|told| told["type"] != "rating")
    );

    for (games, id) in [(1, &ids[0]), (2, &ids[1])] {
        sleep(Duration::from_millis(2)).await;
        assert_eq!(told(&cat.request(profile.clone()).await), games);
        let news = [cat.drain_messages().await, ann.drain_messages().await].concat();
        let ratings = news.iter().filter(|told| told["type"] == "rating");
        let of: Vec<&Value> = ratings.map(|told| &told["match"]).collect();
        assert_eq!(of, [&json!(id); 2], "{news:?}");
        sleep(DELAY).await;
    }
}

#[tokio::test(start_paused = true)]
async fn spectators_see_it_later_and_players_at_once() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match_with(delayed()).await;
    let (mut beside, _) = server.resume_session(&bob.token()).await;
    assert_eq!(beside.expect_event("match").await["status"], "running");
    let mut cat = server.connect_player("cat").await;
    let shown = cat.request(to("watch", &id)).await;
    assert_eq!(
        (&shown["status"], &shown["seq"], &shown["you"]),
        (&json!("open"), &json!(0), &json!(null))
    );
    sleep(Duration::from_secs(5)).await;
    ann.play_move(&id, 0, "b2").await;
    assert_eq!(beside.expect_event("moved").await["move"], "b2");
    bob = beside;
    ann.request(json!({"type": "say", "match": id, "preset": "hello"}))
        .await;
    bob.expect_event("said").await;
    ann.request(to("resign", &id)).await;
    bob.expect_event("ended").await;

    assert_eq!(seqs(&cat.drain_messages().await), [0; 0]);
    let list = |status: &str| json!({"type": "list", "status": status});
    assert_eq!(cat.request(list("open")).await["matches"][0]["ply"], 0);
    for status in ["running", "ended"] {
        assert_eq!(cat.request(list(status)).await["total"], 0, "{status}");
    }
    // Neither does what is refused tell anything.
    assert_eq!(cat.expect_error(to("join", &id)).await, "seat_taken");
    let seat = json!({"type": "seat", "match": id, "seat": 1, "occupant": "open"});
    assert_eq!(cat.expect_error(seat).await, "not_host");
    let say = json!({"type": "say", "match": id, "preset": "good-game"});
    assert_eq!(cat.expect_error(say.clone()).await, "not_allowed");
    let resync = json!({"type": "resync", "match": id, "since": 0});
    assert_eq!(cat.request(resync.clone()).await["events"], json!([]));

    sleep(Duration::from_secs(5)).await;
    let started = cat.drain_messages().await;
    assert_eq!(seqs(&started), [1, 2, 3], "{started:?}");
    assert_eq!(cat.request(list("running")).await["total"], 1);
    assert_eq!(cat.expect_error(say.clone()).await, "not_allowed");
    sleep(Duration::from_secs(5)).await;
    let ended = cat.drain_messages().await;
    assert_eq!(seqs(&ended), [4, 5], "{ended:?}");
    let said = ended.iter().position(|told| told["type"] == "said");
    let end = ended.iter().position(|told| told["type"] == "ended");
    assert!(said.is_some() && said < end, "{ended:?}");
    assert_eq!(cat.request(list("ended")).await["total"], 1);
    let known = cat.request(resync).await;
    assert_eq!(known["events"].as_array().map(Vec::len), Some(5));
    assert_eq!(cat.request(say).await["type"], "ok");
    assert_eq!(cat.expect_event("said").await["name"], "cat");
}

#[tokio::test(start_paused = true)]
async fn whoever_sits_down_is_told_at_once_and_whoever_stands_up_is_shown_out() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let id = ann.create_match(delayed()).await;
    let mut bob = server.connect_player("bob").await;
    let (mut beside, _) = server.resume_session(&bob.token()).await;
    let bob_too = json!({"token": bob.token(), "beside": true});
    let mut third = server.connect().await;
    third.send_hello(bob_too).await;
    bob = third;
    for player in [&mut bob, &mut beside] {
        assert_eq!(player.request(to("watch", &id)).await["seq"], 0);
    }
    assert_eq!(bob.request(to("join", &id)).await["seq"], 3);
    let shown = beside.expect_event("match").await;
    assert_eq!((&shown["seq"], &shown["you"]), (&json!(3), &json!(1)));
    ann.play_move(&id, 0, "b2").await;
    for player in [&mut bob, &mut beside] {
        assert_eq!(player.expect_event("moved").await["move"], "b2");
    }

    let open = ann.create_match(delayed()).await;
    bob.request(to("watch", &open)).await;
    let mut cat = server.connect_player("cat").await;
    cat.request(to("watch", &open)).await;
    let hosted = bob
        .create_match(json!({"seats": ["open", "open"], "delay_ms": 10_000}))
        .await;
    assert_eq!(beside.request(to("watch", &hosted)).await["seq"], 0);
    assert_eq!(bob.request(to("join", &hosted)).await["seq"], 1);
    assert_eq!(beside.expect_event("match").await["match"], hosted.as_str());
    sleep(DELAY).await;
    cat.drain_messages().await;
}

/// What strangers are told of a match, by whichever way, is as of a time so long ago, and at the end they
/// have been told all.
#[tokio::test(start_paused = true)]
async fn nobody_without_a_seat_is_told_of_what_is_younger() {
    for seed in 0..24 {
        World::new(seed).await.run().await;
    }
}

struct World {
    server: TestServer,
    chance: u64,
    ann: TestPlayer,
    bob: TestPlayer,
    id: String,
    /// When each event was told to those who play.
    told: BTreeMap<u64, Instant>,
    /// How many plies were played by then.
    plies: Vec<(Instant, u64)>,
    /// Those who look on, and the last event that each has been told.
    strangers: Vec<(TestPlayer, u64)>,
}

impl World {
    async fn new(seed: u64) -> Self {
        let server = TestServer::start(Settings {
            seed: Some(seed),
            ..settings_without_pings()
        });
        let mut ann = server.connect_player("ann").await;
        let id = ann.create_match(delayed()).await;
        let bob = server.connect_player("bob").await;
        let mut world = Self {
            server,
            chance: seed * 7919 + 17,
            ann,
            bob,
            id,
            told: BTreeMap::new(),
            plies: Vec::new(),
            strangers: Vec::new(),
        };
        world.told.insert(1, Instant::now());
        world
    }

    fn below(&mut self, n: u64) -> u64 {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.chance >> 33) % n
    }

    async fn run(mut self) {
        let mut has_joined = false;
        for _ in 0..60 {
            let step = self.below(3000);
            sleep(Duration::from_millis(step)).await;
            match self.below(9) {
                0 if !has_joined => {
                    self.bob.request(to("join", &self.id)).await;
                    has_joined = true;
                }
                1 => {
                    let name = format!("stranger {}", self.strangers.len());
                    let mut stranger = self.server.connect_player(&name).await;
                    let shown = stranger.request(to("watch", &self.id)).await;
                    let seq = self.check(&shown);
                    self.strangers.push((stranger, seq));
                }
                2 if !self.strangers.is_empty() => self.look().await,
                3 => {
                    let say = json!({"type": "say", "match": self.id, "preset": "hello"});
                    self.ann.request(say).await;
                }
                4 if self.below(12) == 0 => {
                    self.ann.request(to("resign", &self.id)).await;
                }
                _ => self.play().await,
            }
            self.hear().await;
        }
        self.bob.request(to("join", &self.id)).await;
        self.ann.request(to("resign", &self.id)).await;
        self.hear().await;
        sleep(DELAY).await;
        self.hear().await;
        let last = *self
            .told
            .keys()
            .next_back()
            .expect("something has happened");
        for (_, seq) in &self.strangers {
            assert_eq!(*seq, last, "all have been told all");
        }
    }

    async fn play(&mut self) {
        let now = self.ann.request(to("watch", &self.id)).await;
        let legal = now["legal"].as_array().cloned().unwrap_or_default();
        if legal.is_empty() {
            return;
        }
        let n = usize::try_from(self.below(legal.len() as u64)).expect("small");
        let (ply, m) = (now["ply"].as_u64().expect("a ply"), json_string(&legal[n]));
        let mover = match now["turn"] == 0 {
            true => &mut self.ann,
            false => &mut self.bob,
        };
        mover.play_move(&self.id, ply, &m).await;
    }

    /// One of those who look on asks for something.
    async fn look(&mut self) {
        let n = usize::try_from(self.below(self.strangers.len() as u64)).expect("small");
        let what = self.below(3);
        let (stranger, seq) = &mut self.strangers[n];
        let known = *seq;
        match what {
            0 => {
                let resync = json!({"type": "resync", "match": self.id, "since": 0});
                let answer = stranger.request(resync).await;
                for event in answer["events"].as_array().into_iter().flatten() {
                    self.check(event);
                }
            }
            1 => {
                let shown = stranger.request(to("watch", &self.id)).await;
                assert!(
                    shown["seq"].as_u64() >= Some(known),
                    "nothing is taken back"
                );
                let seq = self.check(&shown);
                // What came before it was kept, and is heard later.
                self.strangers[n].1 = known.max(seq.min(known));
            }
            _ => {
                let list = stranger.request(json!({"type": "list"})).await;
                self.check_row(&list["matches"][0]);
            }
        }
    }

    /// An event or a snapshot tells of nothing younger than the delay.
    fn check(&self, told: &Value) -> u64 {
        let seq = told["seq"].as_u64().expect("a number");
        if seq > 0 {
            let at = self.told.get(&seq).expect("players were told of it");
            let age = Instant::now().duration_since(*at);
            assert!(age >= DELAY, "{seq} is told after {age:?}: {told}");
        }
        seq
    }

    fn check_row(&self, row: &Value) {
        let ply = row["ply"].as_u64().expect("a row");
        let then = Instant::now() - DELAY;
        let most = self.plies.iter().rev().find(|(at, _)| *at <= then);
        assert!(ply <= most.map_or(0, |(_, ply)| *ply), "{row}");
        let started = self.plies.first().is_some_and(|(at, _)| *at <= then);
        assert!(started || row["status"] == "open", "{row}");
    }

    async fn hear(&mut self) {
        let now = Instant::now();
        for told in self.ann.drain_messages().await {
            let is_event = told["type"] != "match" && told["seq"].is_u64();
            if is_event {
                self.told
                    .insert(told["seq"].as_u64().expect("a number"), now);
            }
            if told["type"] == "started" || told["type"] == "moved" {
                let ply = told["next_ply"].as_u64().unwrap_or(0);
                self.plies.push((now, ply));
            }
        }
        self.bob.drain_messages().await;
        let mut strangers = std::mem::take(&mut self.strangers);
        for (stranger, seq) in &mut strangers {
            for told in stranger.drain_messages().await {
                if told["type"] != "match" && told["seq"].is_u64() {
                    let next = self.check(&told);
                    assert_eq!(next, *seq + 1, "without a gap");
                    *seq = next;
                }
                assert_ne!(told["type"], "watch_over");
            }
        }
        self.strangers = strangers;
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_nothing_is_told_sooner() {
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, _bob, id) = server.start_match_with(delayed()).await;
    sleep(DELAY).await;
    ann.play_move(&id, 0, "b2").await;
    let pong = ann.request(json!({"type": "ping"})).await;
    server.server.stop().await;
    let again = Settings {
        seed: Some(8),
        started_ms: pong["now_ms"].as_u64(),
        ..settings_without_pings()
    };
    let server = TestServer::with_store(again, store as Arc<dyn Store>);
    server.server.recover().await.expect("readable");
    let mut cat = server.connect_player("cat").await;
    let shown = cat.request(to("watch", &id)).await;
    assert_eq!((&shown["seq"], &shown["ply"]), (&json!(3), &json!(0)));
    let (mut ann, _) = server.resume_session(&ann.token()).await;
    assert_eq!(ann.expect_event("match").await["seq"], 4);
    assert_eq!(seqs(&cat.drain_messages().await), [0; 0]);
    sleep(DELAY + Duration::from_secs(1)).await;
    assert_eq!(seqs(&cat.drain_messages().await), [4]);
}

#[tokio::test(start_paused = true)]
async fn a_record_is_as_old_as_what_is_watched() {
    let server = TestServer::start(settings_without_pings());
    let create = json!({"game": "chess", "delay_ms": 10_000});
    let (mut ann, mut bob, id) = server.start_match_with(create).await;
    let record = async || {
        let sheet = server
            .server
            .game_record(id.as_str().into(), "pgn", None)
            .await;
        sheet.expect("there is one").text
    };
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;
    bob.request(to("resign", &id)).await;
    sleep(DELAY - Duration::from_millis(1)).await;
    let early = server
        .server
        .game_record(id.as_str().into(), "pgn", None)
        .await;
    assert!(early.is_err() || !early.expect("it is").text.contains("e4"));
    sleep(Duration::from_millis(2)).await;
    let late = record().await;
    assert!(late.contains("e4") && late.contains("1-0"), "{late}");
}

/// A match that nobody may watch is not there any more for strangers once it has started: so much later as they
/// may know of that.
#[tokio::test(start_paused = true)]
async fn that_a_closed_match_has_started_is_told_late() {
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
    let open = cat.request(to("watch", &id)).await;
    assert_eq!(open["status"], "open", "{open}");
    bob.request(to("join", &id)).await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    sleep(DELAY / 2).await;
    assert_eq!(cat.drain_messages().await, [] as [Value; 0]);
    for stranger in [&mut cat, &mut dan] {
        let shown = stranger.request(to("watch", &id)).await;
        assert_eq!(shown["status"], "open", "{shown}");
        assert_eq!(shown["seats"][0]["occupant"], "open", "{shown}");
    }
    sleep(DELAY).await;
    let told = cat.drain_messages().await;
    let over = told.iter().filter(|told| told["type"] == "watch_over");
    assert_eq!(over.count(), 1, "{told:?}");
    assert!(
        told.iter().all(|told| told["type"] != "started"),
        "{told:?}"
    );
    for stranger in [&mut cat, &mut dan] {
        assert_eq!(
            stranger.expect_error(to("watch", &id)).await,
            "unknown_match"
        );
    }
    assert_eq!(ann.request(to("watch", &id)).await["status"], "running");
}
