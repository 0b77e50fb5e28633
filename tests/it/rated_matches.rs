//! Tests of rated matches.

use serde_json::{Value, json};

use crate::accounts::connect_registered_player;
use crate::player_blocks::connect_bot_account;
use crate::support::{TestPlayer, TestServer, advance_time, settings_without_pings};

/// Returns a clock that does not run out during a test.
fn long_clock() -> Value {
    json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0})
}

pub(crate) fn rated_match_params() -> Value {
    json!({"rated": true, "clock": long_clock(), "seats": ["me", "open"]})
}

pub(crate) fn rated_seek(range: Option<[i32; 2]>) -> Value {
    let mut seek =
        json!({"type": "seek", "game": "tic-tac-toe", "rated": true, "clock": long_clock()});
    if let Some(range) = range {
        seek["rating"] = json!(range);
    }
    seek
}

/// Returns the next message that has the type `kind`, and discards all earlier messages.
pub(crate) async fn receive_until(player: &mut TestPlayer, kind: &str) -> Value {
    loop {
        let message = player.next_message().await;
        if message["type"] == kind {
            return message;
        }
    }
}

/// Starts a rated match. Player `first` creates the match and moves first, and player `second`
/// joins it.
async fn start_rated_match(first: &mut TestPlayer, second: &mut TestPlayer) -> String {
    let id = first.create_match(rated_match_params()).await;
    let joined = second.request(json!({"type": "join", "match": id})).await;
    assert_eq!(joined["type"], "match", "{joined}");
    receive_until(first, "started").await;
    id
}

/// Plays the moves `line` in a rated match, which `second` then resigns. The moves must differ from
/// the moves of earlier matches, because the server does not rate a repeated game. Returns the
/// match id and the `rating` message.
pub(crate) async fn play_rated_loss(
    first: &mut TestPlayer,
    second: &mut TestPlayer,
    line: [&str; 2],
) -> (String, Value) {
    let id = start_rated_match(first, second).await;
    for (ply, m) in (0..).zip(line) {
        let player = if ply == 0 { &mut *first } else { &mut *second };
        assert_eq!(player.play_move(&id, ply, m).await["type"], "ok");
    }
    let resign = json!({"type": "resign", "match": id});
    assert_eq!(second.request(resign).await["type"], "ok");
    let rating_event = receive_until(first, "rating").await;
    assert_eq!(rating_event["match"], id);
    assert_eq!(receive_until(second, "rating").await, rating_event);
    (id, rating_event)
}

#[tokio::test(start_paused = true)]
async fn rated_match_changes_ratings_and_notifies_players() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    let id = ann.create_match(rated_match_params()).await;
    let shown = bob.request(json!({"type": "join", "match": id})).await;
    assert_eq!(shown["rated"], true);
    assert_eq!(shown["watch"], "anyone");
    assert_eq!(shown["takeback"], false);
    for seat in 0..2 {
        let seat = &shown["seats"][seat];
        assert_eq!(seat["rating"], 1500);
        assert_eq!(seat["provisional"], true);
    }
    receive_until(&mut ann, "started").await;
    ann.play_move(&id, 0, "b2").await;
    bob.play_move(&id, 1, "a1").await;
    bob.request(json!({"type": "resign", "match": id})).await;
    let rating_event = receive_until(&mut ann, "rating").await;
    let changes = rating_event["changes"].as_array().expect("changes");
    let after = changes[0]["after"].as_i64().expect("a rating");
    assert!(after > 1600, "{rating_event}");
    let expected = json!([
        {"seat": 0, "before": 1500, "after": after, "provisional": true},
        {"seat": 1, "before": 1500, "after": 3000 - after, "provisional": true},
    ]);
    assert_eq!(rating_event["changes"], expected);
    assert_eq!(
        (rating_event.get("seq"), rating_event.get("why")),
        (None, None)
    );

    // A spectator who connects later receives the rating changes in the snapshot. The server sends
    // the `rating` message only once.
    let mut cat = server.connect_player("cat").await;
    let shown = cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["changes"], expected);
    advance_time(30).await;
    let messages = [ann.drain_messages().await, cat.drain_messages().await].concat();
    assert!(
        messages.iter().all(|message| message["type"] != "rating"),
        "{messages:?}"
    );
    let history = cat
        .request(json!({"type": "history", "player": ann.id()}))
        .await;
    let row = &history["rows"][0];
    assert_eq!((&row["rated"], &row["match"]), (&json!(true), &json!(id)));
    assert_eq!(row["seats"][0]["rating"], 1500);
    let profile = cat.request(json!({"type": "profile", "name": "ann"})).await;
    let rating = &profile["ratings"][0];
    assert_eq!(rating["game"], "tic-tac-toe");
    assert_eq!(rating["pool"], "live");
    assert_eq!(rating["rating"], after);
    assert_eq!(rating["games"], 1);
    assert_eq!(rating["series"][0][1], after);

    // When the player creates another match, the player's seat shows the new rating.
    let id = ann.create_match(json!({"clock": long_clock()})).await;
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["rating"], after);
    assert_eq!(shown.get("rated"), None);
}

#[tokio::test(start_paused = true)]
async fn rated_play_requires_accounts_and_no_server_bot() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut guest = server.connect_player("cat").await;
    let mut create = rated_match_params();
    create["type"] = json!("create");
    create["game"] = json!("tic-tac-toe");
    assert_eq!(guest.expect_error(create.clone()).await, "not_registered");
    assert_eq!(guest.expect_error(rated_seek(None)).await, "not_registered");
    create["bot"] = json!("nobody");
    assert_eq!(guest.expect_error(create.clone()).await, "unknown_level");
    create["bot"] = json!("easy");
    let refused = ann.request_unchecked(create).await;
    assert_eq!(
        (&refused["code"], &refused["field"]),
        (&json!("bad_field"), &json!("rated"))
    );
    let id = ann.create_match(rated_match_params()).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(guest.expect_error(join).await, "not_registered");

    let settings = plyhouse_server::Settings {
        accounts: plyhouse_server::AccountPolicy::Off,
        ..settings_without_pings()
    };
    let server = TestServer::start(settings);
    let mut guest = server.connect_player("cat").await;
    assert_eq!(guest.expect_error(rated_seek(None)).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn bot_accounts_play_rated_only_against_bots() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let key = json!({"type": "create_key", "label": "laptop", "bot": "randy",
        "password": crate::accounts::PASSWORD});
    let key = ann.request(key).await;
    assert_eq!(key["type"], "key", "{key}");
    let mut randy = server.connect().await;
    randy.send_hello(json!({"token": key["key"]})).await;
    let id = ann.create_match(rated_match_params()).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(randy.expect_error(join).await, "not_allowed");
    assert_eq!(ann.request(rated_seek(None)).await["type"], "ok");
    assert_eq!(randy.request(rated_seek(None)).await["type"], "ok");
    advance_time(1).await;
    assert!(
        randy
            .drain_messages()
            .await
            .iter()
            .all(|message| message["type"] != "match")
    );

    let mut against = rated_match_params();
    against["bot"] = json!("beginner");
    let id = randy.create_match(against).await;
    randy.play_move(&id, 0, "b2").await;
    receive_until(&mut randy, "moved").await;
    randy.request(json!({"type": "resign", "match": id})).await;
    let rating_event = receive_until(&mut randy, "rating").await;
    let changes = rating_event["changes"].as_array().expect("changes");
    assert_eq!(
        changes.len(),
        1,
        "the bot level keeps its rating: {rating_event}"
    );
    let profile = ann
        .request(json!({"type": "profile", "name": "randy"}))
        .await;
    assert_eq!(profile["ratings"][0]["pool"], "bots");
}

#[tokio::test(start_paused = true)]
async fn rated_challenge_requires_eligible_opponent() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    let mut one = connect_bot_account(&server, &mut bob, "one").await;
    let guest = server.connect_player("carl").await;
    let challenge = |other: &Value| {
        let mut challenge = rated_match_params();
        challenge["type"] = json!("create");
        challenge["game"] = json!("tic-tac-toe");
        challenge["for"] = other.clone();
        challenge
    };
    assert_eq!(
        ann.expect_error(challenge(guest.id())).await,
        "not_registered"
    );
    assert_eq!(ann.expect_error(challenge(one.id())).await, "not_allowed");
    assert_eq!(one.expect_error(challenge(ann.id())).await, "not_allowed");
    assert_eq!(ann.request(challenge(bob.id())).await["type"], "match");
}

/// Bots of the same owner cannot play rated matches against each other. Otherwise the owner could
/// transfer rating points between accounts.
#[tokio::test(start_paused = true)]
async fn bots_of_same_owner_cannot_play_each_other_rated() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut one = connect_bot_account(&server, &mut ann, "one").await;
    let mut two = connect_bot_account(&server, &mut ann, "two").await;
    let id = one.create_match(rated_match_params()).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(two.expect_error(join.clone()).await, "not_allowed");
    let mut challenge = rated_match_params();
    challenge["type"] = json!("create");
    challenge["game"] = json!("tic-tac-toe");
    challenge["for"] = json!(one.id());
    assert_eq!(two.expect_error(challenge).await, "not_allowed");
    for program in [&mut one, &mut two] {
        assert_eq!(program.request(rated_seek(None)).await["type"], "ok");
        let messages = program.drain_messages().await;
        assert!(
            messages.iter().all(|message| message["type"] != "match"),
            "{messages:?}"
        );
    }
    let mut bob = connect_registered_player(&server, "bob").await;
    let mut other = connect_bot_account(&server, &mut bob, "other").await;
    assert_eq!(other.request(rated_seek(None)).await["type"], "ok");
    receive_until(&mut one, "match").await;
    assert_eq!(other.request(join).await["type"], "match");
}

#[tokio::test(start_paused = true)]
async fn repeated_identical_match_changes_no_ratings() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        connect_registered_player(&server, "ann").await,
        connect_registered_player(&server, "bob").await,
    );
    let (_, first) = play_rated_loss(&mut ann, &mut bob, ["b2", "a1"]).await;
    assert_eq!(first["changes"].as_array().map(Vec::len), Some(2));
    let (id, again) = play_rated_loss(&mut ann, &mut bob, ["b2", "a1"]).await;
    assert_eq!(
        (&again["changes"], &again["why"]),
        (&json!([]), &json!("farming"))
    );
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["changes"], json!([]));
    // The second move differs from the earlier game only by a rotation of the board. The server
    // still treats the game as a different game and rates the match.
    let (_, other) = play_rated_loss(&mut ann, &mut bob, ["b2", "c3"]).await;
    assert_eq!(other["changes"][0]["before"], first["changes"][0]["after"]);
}

/// The server bans a player who aborts three of the last ten rated matches from rated play. The
/// first ban lasts ten minutes.
#[tokio::test(start_paused = true)]
async fn repeated_aborts_ban_from_rated_play() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        connect_registered_player(&server, "ann").await,
        connect_registered_player(&server, "bob").await,
    );
    // Aborts shortly after the server start do not count towards the ban, so the test waits first.
    advance_time(601).await;
    for _ in 0..3 {
        let id = start_rated_match(&mut ann, &mut bob).await;
        bob.request(json!({"type": "abort", "match": id})).await;
        let rating_message = receive_until(&mut ann, "rating").await;
        assert_eq!(
            (&rating_message["changes"], rating_message.get("why")),
            (&json!([]), None)
        );
    }
    let id = ann.create_match(rated_match_params()).await;
    let join = json!({"type": "join", "match": id});
    let refused = bob.request_unchecked(join.clone()).await;
    assert_eq!(refused["code"], "too_soon");
    let retry_ms = refused["retry_after_ms"].as_u64().expect("a time");
    assert!((590_000..=600_000).contains(&retry_ms), "{refused}");
    assert_eq!(bob.expect_error(rated_seek(None)).await, "too_soon");
    bob.create_match(json!({"clock": long_clock()})).await;
    advance_time(600).await;
    assert_eq!(bob.request(join).await["type"], "match");
}

#[tokio::test(start_paused = true)]
async fn seek_rating_range_widens_until_both_fit() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    let mut cat = connect_registered_player(&server, "cat").await;
    let (_, rating_event) = play_rated_loss(&mut ann, &mut bob, ["b2", "a1"]).await;
    let rating_gap = rating_event["changes"][0]["after"]
        .as_i64()
        .expect("a rating")
        - 1500;
    assert!((100..300).contains(&rating_gap), "{rating_event}");

    // The server does not pair two connections of the same player.
    assert_eq!(ann.request(rated_seek(None)).await["type"], "ok");
    let mut second_connection = crate::sessions::add_connection(&server, &ann.token()).await;
    assert_eq!(
        second_connection.request(rated_seek(Some([-50, 50]))).await["type"],
        "ok"
    );
    assert_eq!(cat.request(rated_seek(None)).await["type"], "ok");
    let steps = u64::try_from(rating_gap - 50)
        .expect("a gap above 50")
        .div_ceil(50);
    advance_time(steps * 5 - 2).await;
    assert!(
        cat.drain_messages().await.is_empty(),
        "ann's rating range does not include cat yet"
    );
    advance_time(4).await;
    let shown = receive_until(&mut cat, "match").await;
    assert_eq!(&shown["host"], ann.id());
    assert_eq!(shown["rated"], true);
    let casual = json!({"type": "seek", "game": "tic-tac-toe", "clock": long_clock()});
    assert_eq!(bob.request(rated_seek(None)).await["type"], "ok");
    assert_eq!(cat.request(casual).await["type"], "ok");
    advance_time(30).await;
    let messages = bob.drain_messages().await;
    assert!(
        messages.iter().all(|message| message["type"] != "match"),
        "{messages:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn leaderboard_of_unplayed_game_is_empty() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let leaders = json!({"type": "leaders", "game": "chess"});
    let leaderboard = ann.request(leaders).await;
    assert_eq!(
        (&leaderboard["total"], &leaderboard["rows"]),
        (&json!(0), &json!([]))
    );
    let unknown = json!({"type": "leaders", "game": "ludo"});
    assert_eq!(ann.expect_error(unknown).await, "unknown_game");
    let levels = ann.welcome["levels"].as_array().expect("levels");
    let medium = levels.iter().find(|level| level["level"] == "medium");
    assert_eq!(medium.expect("medium")["rating"]["chess"], 1500);
}

/// The seats of the rematch show the ratings after the first match.
#[tokio::test(start_paused = true)]
async fn rematch_of_rated_match_is_rated() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        connect_registered_player(&server, "ann").await,
        connect_registered_player(&server, "bob").await,
    );
    let (id, rating_event) = play_rated_loss(&mut ann, &mut bob, ["b2", "a1"]).await;
    for player in [&mut ann, &mut bob] {
        let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
        assert_eq!(player.request(offer).await["type"], "ok");
    }
    let shown = receive_until(&mut ann, "match").await;
    assert_eq!(shown["rated"], true);
    // The rematch swaps the seats.
    assert_eq!(
        shown["seats"][1]["rating"],
        rating_event["changes"][0]["after"]
    );
}

/// If the operator excludes a player from the ratings, the server recomputes the opponents'
/// ratings. The recomputation ignores the opponents' earlier matches against the excluded player.
#[tokio::test(start_paused = true)]
async fn excluded_player_is_removed_from_all_ratings() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    play_rated_loss(&mut ann, &mut bob, ["b2", "a1"]).await;
    let exclude_command = |name: &str| plyhouse_server::AdminCommand::ExcludeFromRatings {
        name: name.to_owned(),
    };
    let unknown_player = server
        .server
        .run_admin_command(exclude_command("nobody"))
        .await;
    assert!(matches!(
        unknown_player,
        plyhouse_server::AdminResult::Refused(_)
    ));
    let result = server
        .server
        .run_admin_command(exclude_command("Bob"))
        .await;
    assert_eq!(result, plyhouse_server::AdminResult::Done);
    advance_time(1).await;
    for name in ["ann", "bob"] {
        let profile = ann.request(json!({"type": "profile", "name": name})).await;
        assert_eq!(profile["ratings"], json!([]), "{name}");
    }
    // The exclusion affects only the matches that ended before the exclusion, so the server rates
    // the next match.
    let (_, rating_event) = play_rated_loss(&mut ann, &mut bob, ["a1", "b2"]).await;
    assert_eq!(rating_event["changes"][0]["before"], 1500);
}
