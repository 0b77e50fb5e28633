//! Matches that are played for ratings.

use serde_json::{Value, json};

use crate::accounts::registered;
use crate::blocks::program;
use crate::support::{Player, TestServer, calm, pass};

/// A clock that no test waits for.
fn clock() -> Value {
    json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0})
}

pub(crate) fn rated() -> Value {
    json!({"rated": true, "clock": clock(), "seats": ["me", "open"]})
}

pub(crate) fn seek(range: Option<[i32; 2]>) -> Value {
    let mut seek = json!({"type": "seek", "game": "tic-tac-toe", "rated": true, "clock": clock()});
    if let Some(range) = range {
        seek["rating"] = json!(range);
    }
    seek
}

/// The next message of this kind, whatever comes before it.
pub(crate) async fn until(player: &mut Player, kind: &str) -> Value {
    loop {
        let message = player.next().await;
        if message["type"] == kind {
            return message;
        }
    }
}

/// The second joins a rated match of the first, who plays first.
async fn begin(first: &mut Player, second: &mut Player) -> String {
    let id = first.create(rated()).await;
    let joined = second.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(joined["type"], "match", "{joined}");
    until(first, "started").await;
    id
}

/// Two plies that no match before had, and the second gives up. Gives what the first is told of ratings.
pub(crate) async fn lose(
    first: &mut Player,
    second: &mut Player,
    line: [&str; 2],
) -> (String, Value) {
    let id = begin(first, second).await;
    for (ply, m) in (0..).zip(line) {
        let player = if ply == 0 { &mut *first } else { &mut *second };
        assert_eq!(player.play(&id, ply, m).await["type"], "ok");
    }
    let resign = json!({"type": "resign", "match": id});
    assert_eq!(second.ask(resign).await["type"], "ok");
    let told = until(first, "rating").await;
    assert_eq!(told["match"], id);
    assert_eq!(until(second, "rating").await, told);
    (id, told)
}

#[tokio::test(start_paused = true)]
async fn a_rated_match_changes_ratings_and_everybody_is_told() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    let id = ann.create(rated()).await;
    let shown = bob.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(shown["rated"], true);
    assert_eq!(shown["watch"], "anyone");
    assert_eq!(shown["takeback"], false);
    for seat in 0..2 {
        let seat = &shown["seats"][seat];
        assert_eq!(seat["rating"], 1500);
        assert_eq!(seat["provisional"], true);
    }
    let gift = json!({"type": "give_time", "match": id, "ms": 15000});
    assert_eq!(bob.refused(gift).await, "not_allowed");
    until(&mut ann, "started").await;
    ann.play(&id, 0, "b2").await;
    bob.play(&id, 1, "a1").await;
    let takeback = json!({"type": "offer", "match": id, "offer": "takeback", "ply": 2});
    assert_eq!(bob.refused(takeback).await, "not_allowed");
    bob.ask(json!({"type": "resign", "match": id})).await;
    let told = until(&mut ann, "rating").await;
    let changes = told["changes"].as_array().expect("changes");
    let after = changes[0]["after"].as_i64().expect("a rating");
    assert!(after > 1600, "{told}");
    let expected = json!([
        {"seat": 0, "before": 1500, "after": after, "provisional": true},
        {"seat": 1, "before": 1500, "after": 3000 - after, "provisional": true},
    ]);
    assert_eq!(told["changes"], expected);
    assert_eq!((told.get("seq"), told.get("why")), (None, None));

    // Whoever comes later is shown what it has changed; and it is told once.
    let mut cat = server.player("cat").await;
    let shown = cat.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["changes"], expected);
    pass(30).await;
    let later = [ann.drain().await, cat.drain().await].concat();
    assert!(
        later.iter().all(|message| message["type"] != "rating"),
        "{later:?}"
    );
    let history = cat
        .ask(json!({"type": "history", "player": ann.id()}))
        .await;
    let row = &history["rows"][0];
    assert_eq!((&row["rated"], &row["match"]), (&json!(true), &json!(id)));
    assert_eq!(row["seats"][0]["rating"], 1500);
    let profile = cat.ask(json!({"type": "profile", "name": "ann"})).await;
    let rating = &profile["ratings"][0];
    assert_eq!(rating["game"], "tic-tac-toe");
    assert_eq!(rating["pool"], "live");
    assert_eq!(rating["rating"], after);
    assert_eq!(rating["games"], 1);
    assert_eq!(rating["series"][0][1], after);

    // They sit down with it next.
    let id = ann.create(json!({"clock": clock()})).await;
    let shown = ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["rating"], after);
    assert_eq!(shown.get("rated"), None);
}

#[tokio::test(start_paused = true)]
async fn who_may_play_for_ratings() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut guest = server.player("cat").await;
    let mut create = rated();
    create["type"] = json!("create");
    create["game"] = json!("tic-tac-toe");
    assert_eq!(guest.refused(create.clone()).await, "not_registered");
    assert_eq!(guest.refused(seek(None)).await, "not_registered");
    create["bot"] = json!("nobody");
    assert_eq!(guest.refused(create.clone()).await, "unknown_level");
    create["bot"] = json!("easy");
    let refused = ann.ask_anything(create).await;
    assert_eq!(
        (&refused["code"], &refused["field"]),
        (&json!("bad_field"), &json!("rated"))
    );
    let id = ann.create(rated()).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(guest.refused(join).await, "not_registered");
    let seat = json!({"type": "seat", "match": id, "seat": 1, "occupant": {"bot": "easy"}});
    assert_eq!(ann.refused(seat).await, "not_allowed");

    let settings = plyhouse_server::Settings {
        accounts: plyhouse_server::AccountPolicy::Off,
        ..calm()
    };
    let server = TestServer::start(settings);
    let mut guest = server.player("cat").await;
    assert_eq!(guest.refused(seek(None)).await, "not_allowed");
}

/// A bot account plays other bots and the server's levels, and no person.
#[tokio::test(start_paused = true)]
async fn bots_play_among_themselves() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let key = json!({"type": "create_key", "label": "laptop", "bot": "randy",
        "password": crate::accounts::PASSWORD});
    let key = ann.ask(key).await;
    assert_eq!(key["type"], "key", "{key}");
    let mut randy = server.connect().await;
    randy.hello(json!({"token": key["key"]})).await;
    let id = ann.create(rated()).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(randy.refused(join).await, "not_allowed");
    assert_eq!(ann.ask(seek(None)).await["type"], "ok");
    assert_eq!(randy.ask(seek(None)).await["type"], "ok");
    pass(1).await;
    assert!(
        randy
            .drain()
            .await
            .iter()
            .all(|message| message["type"] != "match")
    );

    let mut against = rated();
    against["bot"] = json!("beginner");
    let id = randy.create(against).await;
    randy.play(&id, 0, "b2").await;
    until(&mut randy, "moved").await;
    randy.ask(json!({"type": "resign", "match": id})).await;
    let told = until(&mut randy, "rating").await;
    let changes = told["changes"].as_array().expect("changes");
    assert_eq!(changes.len(), 1, "a level stays as it is: {told}");
    let profile = ann.ask(json!({"type": "profile", "name": "randy"})).await;
    assert_eq!(profile["ratings"][0]["pool"], "bots");
}

/// Nobody is challenged who could not join.
#[tokio::test(start_paused = true)]
async fn a_rated_challenge_is_for_whoever_may_join() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    let mut one = program(&server, &mut bob, "one").await;
    let guest = server.player("carl").await;
    let challenge = |other: &Value| {
        let mut challenge = rated();
        challenge["type"] = json!("create");
        challenge["game"] = json!("tic-tac-toe");
        challenge["for"] = other.clone();
        challenge
    };
    assert_eq!(ann.refused(challenge(guest.id())).await, "not_registered");
    assert_eq!(ann.refused(challenge(one.id())).await, "not_allowed");
    assert_eq!(one.refused(challenge(ann.id())).await, "not_allowed");
    assert_eq!(ann.ask(challenge(bob.id())).await["type"], "match");
}

/// Nobody feeds one account of theirs with the points of another.
#[tokio::test(start_paused = true)]
async fn programs_of_one_owner_do_not_play_each_other_for_ratings() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut one = program(&server, &mut ann, "one").await;
    let mut two = program(&server, &mut ann, "two").await;
    let id = one.create(rated()).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(two.refused(join.clone()).await, "not_allowed");
    let mut challenge = rated();
    challenge["type"] = json!("create");
    challenge["game"] = json!("tic-tac-toe");
    challenge["for"] = json!(one.id());
    assert_eq!(two.refused(challenge).await, "not_allowed");
    for program in [&mut one, &mut two] {
        assert_eq!(program.ask(seek(None)).await["type"], "ok");
        let told = program.drain().await;
        assert!(told.iter().all(|told| told["type"] != "match"), "{told:?}");
    }
    let mut bob = registered(&server, "bob").await;
    let mut other = program(&server, &mut bob, "other").await;
    assert_eq!(other.ask(seek(None)).await["type"], "ok");
    until(&mut one, "match").await;
    assert_eq!(other.ask(join).await["type"], "match");
}

#[tokio::test(start_paused = true)]
async fn the_same_match_once_more_changes_nothing() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (
        registered(&server, "ann").await,
        registered(&server, "bob").await,
    );
    let (_, first) = lose(&mut ann, &mut bob, ["b2", "a1"]).await;
    assert_eq!(first["changes"].as_array().map(Vec::len), Some(2));
    let (id, again) = lose(&mut ann, &mut bob, ["b2", "a1"]).await;
    assert_eq!(
        (&again["changes"], &again["why"]),
        (&json!([]), &json!("farming"))
    );
    let shown = ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["changes"], json!([]));
    // On a board that is laid down otherwise it is another.
    let (_, other) = lose(&mut ann, &mut bob, ["b2", "c3"]).await;
    assert_eq!(other["changes"][0]["before"], first["changes"][0]["after"]);
}

/// Whoever breaks off three of ten plays no more for ratings, for a while.
#[tokio::test(start_paused = true)]
async fn who_breaks_off_is_barred_for_a_while() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (
        registered(&server, "ann").await,
        registered(&server, "bob").await,
    );
    // Right after a start nobody is blamed.
    pass(601).await;
    for _ in 0..3 {
        let id = begin(&mut ann, &mut bob).await;
        bob.ask(json!({"type": "abort", "match": id})).await;
        let told = until(&mut ann, "rating").await;
        assert_eq!((&told["changes"], told.get("why")), (&json!([]), None));
    }
    let id = ann.create(rated()).await;
    let join = json!({"type": "join", "match": id});
    let refused = bob.ask_anything(join.clone()).await;
    assert_eq!(refused["code"], "too_soon");
    let retry_ms = refused["retry_after_ms"].as_u64().expect("a time");
    assert!((590_000..=600_000).contains(&retry_ms), "{refused}");
    assert_eq!(bob.refused(seek(None)).await, "too_soon");
    bob.create(json!({"clock": clock()})).await;
    pass(600).await;
    assert_eq!(bob.ask(join).await["type"], "match");
}

#[tokio::test(start_paused = true)]
async fn seeks_widen_until_both_fit() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    let mut cat = registered(&server, "cat").await;
    let (_, told) = lose(&mut ann, &mut bob, ["b2", "a1"]).await;
    let apart = told["changes"][0]["after"].as_i64().expect("a rating") - 1500;
    assert!((100..300).contains(&apart), "{told}");

    // Two connections of one player are not paired.
    assert_eq!(ann.ask(seek(None)).await["type"], "ok");
    let mut beside = crate::sessions::beside(&server, &ann.token()).await;
    assert_eq!(beside.ask(seek(Some([-50, 50]))).await["type"], "ok");
    assert_eq!(cat.ask(seek(None)).await["type"], "ok");
    let steps = u64::try_from(apart - 50).expect("more").div_ceil(50);
    pass(steps * 5 - 2).await;
    assert!(
        cat.drain().await.is_empty(),
        "ann does not take anybody yet"
    );
    pass(4).await;
    let shown = until(&mut cat, "match").await;
    assert_eq!(&shown["host"], ann.id());
    assert_eq!(shown["rated"], true);
    let casual = json!({"type": "seek", "game": "tic-tac-toe", "clock": clock()});
    assert_eq!(bob.ask(seek(None)).await["type"], "ok");
    assert_eq!(cat.ask(casual).await["type"], "ok");
    pass(30).await;
    let told = bob.drain().await;
    assert!(
        told.iter().all(|message| message["type"] != "match"),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn leaders_are_told() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let leaders = json!({"type": "leaders", "game": "chess"});
    let told = ann.ask(leaders).await;
    assert_eq!((&told["total"], &told["rows"]), (&json!(0), &json!([])));
    let unknown = json!({"type": "leaders", "game": "ludo"});
    assert_eq!(ann.refused(unknown).await, "unknown_game");
    let levels = ann.welcome["levels"].as_array().expect("levels");
    let medium = levels.iter().find(|level| level["level"] == "medium");
    assert_eq!(medium.expect("medium")["rating"]["chess"], 1500);
}

/// A rated match's rematch is rated, and both sit down with what they have by then.
#[tokio::test(start_paused = true)]
async fn a_rematch_is_rated_too() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (
        registered(&server, "ann").await,
        registered(&server, "bob").await,
    );
    let (id, told) = lose(&mut ann, &mut bob, ["b2", "a1"]).await;
    for player in [&mut ann, &mut bob] {
        let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
        assert_eq!(player.ask(offer).await["type"], "ok");
    }
    let shown = until(&mut ann, "match").await;
    assert_eq!(shown["rated"], true);
    // The seats have changed sides.
    assert_eq!(shown["seats"][1]["rating"], told["changes"][0]["after"]);
}

/// The operator takes somebody out: what others have won and lost against them is as if it had not been.
#[tokio::test(start_paused = true)]
async fn who_is_taken_out_has_never_played() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    lose(&mut ann, &mut bob, ["b2", "a1"]).await;
    let unrate = |name: &str| plyhouse_server::AdminCommand::ExcludeFromRatings {
        name: name.to_owned(),
    };
    let nobody = server.server.run_admin_command(unrate("nobody")).await;
    assert!(matches!(nobody, plyhouse_server::AdminResult::Refused(_)));
    let obeyed = server.server.run_admin_command(unrate("Bob")).await;
    assert_eq!(obeyed, plyhouse_server::AdminResult::Done);
    pass(1).await;
    for name in ["ann", "bob"] {
        let profile = ann.ask(json!({"type": "profile", "name": name})).await;
        assert_eq!(profile["ratings"], json!([]), "{name}");
    }
    // What is played from then on counts.
    let (_, told) = lose(&mut ann, &mut bob, ["a1", "b2"]).await;
    assert_eq!(told["changes"][0]["before"], 1500);
}
