//! Tests of accounts: rated matches, leaderboards, invitations, blocks and account deletion.

use plyhouse_matches::ratings::{Rating, RatingEntry, RatingKey, RatingState};
use plyhouse_protocol::{PlayerId, RatingPool};

use crate::real_server::{PlyProcess, RealServer};
use crate::scripted_server::PlyHome;

fn register_player(server: &RealServer, name: &str) -> PlyHome {
    let home = PlyHome::new();
    let register = ["register", name, "--no-password"];
    home.run(&server.url, &register, "")
        .assert_output(0, &[name]);
    home
}

/// Returns the id of the player whose identity is stored in this home directory.
fn player_id(server: &RealServer, home: &PlyHome) -> String {
    let profile = home.run(&server.url, &["profile", "--json"], "").stdout;
    let (_, rest) = profile
        .split_once("\"player\":{\"id\":\"")
        .expect("a player ID");
    rest[..36].to_owned()
}

#[test]
fn rated_match_requires_accounts_and_changes_ratings() {
    let server = RealServer::start();
    let (ann, bob) = (
        register_player(&server, "ann"),
        register_player(&server, "bob"),
    );
    let clock = ["--rated", "--clock", "5+3"];
    let play = [
        &["play", "tic-tac-toe", "--open", "--as", "first"],
        &clock[..],
    ]
    .concat();
    PlyHome::new()
        .run(&server.url, &play, "")
        .assert_output(4, &["register"]);

    let mut first = PlyProcess::spawn(&ann, &server, &play);
    let command = first.wait_for_line("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();
    PlyHome::new()
        .run(&server.url, &["join", &code], "")
        .assert_output(4, &["register"]);
    let mut second = PlyProcess::spawn(&bob, &server, &["join", &code]);
    second.wait_for_line("(x) to move.");
    first.type_lines("a1\n");
    second.type_lines("a2\n");
    second.wait_for_line("You play a2.");
    first.type_lines("resign\n");
    first.wait_for_line("You lose.");
    second.wait_for_line("You win!");
    // The server rates the match after the match has ended. A non-interactive run waits for the
    // rating changes.
    for player in [first, second] {
        let output = player.wait_for_output();
        output.assert_output(0, &["Rating of x: 1500 → 1", "Rating of o: 1500 → 1", "?"]);
    }
    for (home, score) in [(&ann, "0 won, 1 lost"), (&bob, "1 won, 0 lost")] {
        let profile = home.run(&server.url, &["profile"], "");
        profile.assert_output(
            0,
            &[
                "registered player",
                score,
                "tic-tac-toe (live): 1",
                "1 rated match\n",
            ],
        );
    }
}

/// The list shows a command next to each seek. Running that command accepts the seek.
#[test]
fn pending_seek_is_listed_with_command_to_accept_it() {
    let server = RealServer::start();
    let (ann, bob) = (PlyHome::new(), PlyHome::new());
    let seek = ["play", "tic-tac-toe", "--seek", "--clock", "5+3"];
    let mut first = PlyProcess::spawn(&ann, &server, &seek);
    first.wait_for_line("Looking for an opponent");
    let command = "ply play tic-tac-toe --seek --clock 5+3";
    let list = bob.run(&server.url, &["list"], "");
    list.assert_output(0, &["LOOKING", "tic-tac-toe 5+3", command]);
    let json = bob.run(&server.url, &["list", "--json"], "");
    json.assert_output(0, &[r#""seekers":{"total":1,"rows":[{"player":"#]);
    let accept_arguments: Vec<&str> = command.split(' ').skip(1).collect();
    let second = PlyProcess::spawn(&bob, &server, &accept_arguments);
    for mut player in [first, second] {
        player.wait_for_line("Tic-tac-toe ");
    }
    let list_after_match = bob.run(&server.url, &["list"], "");
    assert!(
        !list_after_match.stdout.contains("LOOKING"),
        "{}",
        list_after_match.stdout
    );
}

#[test]
fn leaderboard_lists_players_by_rating() {
    let server = RealServer::start();
    let homes = ["ann", "bob"].map(|name| register_player(&server, name));
    let leaders = |arguments: &[&str]| {
        let arguments = [&["leaders", "chess"], arguments].concat();
        homes[0].run(&server.url, &arguments, "")
    };
    leaders(&[]).assert_output(0, &["No ranked players."]);
    let rating_entry = |(home, rating): (&PlyHome, f64)| {
        let record = RatingKey {
            player: PlayerId(player_id(&server, home).parse().unwrap()),
            game: "chess".to_owned(),
            pool: RatingPool::Live,
        };
        let rating = Rating {
            rating,
            deviation: 60.0,
            ..Rating::INITIAL
        };
        let rated = RatingEntry {
            rating,
            games: 40,
            // The date, in the year 2096, lies in the future, so that the rating counts as recent
            // whenever the test runs.
            last_ms: 4_000_000_000_000,
        };
        (record, rated)
    };
    server.post_ratings(RatingState {
        ratings: homes
            .iter()
            .zip([1612.0, 1704.0])
            .map(rating_entry)
            .collect(),
        ..RatingState::default()
    });

    let leaderboard = leaders(&[]);
    leaderboard.assert_output(
        0,
        &[
            "  1. 1704 ± 60  bob (40 rated matches)",
            "  2. 1612 ± 60  ann",
        ],
    );
    leaders(&["--limit", "1"]).assert_output(0, &["bob", "… of 2; more with --after 1"]);
    let rest = leaders(&["--after", "1"]);
    rest.assert_output(0, &["  2. 1612"]);
    assert!(!rest.stdout.contains("bob"), "{rest:?}");
    leaders(&["--pool", "bots"]).assert_output(0, &["No ranked players."]);
    leaders(&["--pool", "all"]).assert_output(2, &["--pool"]);
}

/// Looking up other players must not store an identity in the home directory. Lookups of the user's
/// own data must therefore still fail afterwards.
#[test]
fn lookups_of_other_players_need_no_identity() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let bea = player_id(&server, &register_player(&server, "bea"));
    let run = |arguments: &[&str]| home.run(&server.url, arguments, "");
    run(&["leaders", "chess"]).assert_output(0, &["No ranked players."]);
    run(&["leaders", "go", "--limit", "5"]).assert_output(0, &["No ranked players."]);
    run(&["profile", "bea"]).assert_output(0, &["bea, registered player"]);
    run(&["profile", &bea]).assert_output(0, &["bea, registered player"]);
    run(&["profile", "nobody"]).assert_output(4, &["no account with this name"]);
    run(&["history", "--player", &bea]).assert_output(0, &["No matches found."]);
    for own_lookup in [&["profile"][..], &["history"], &["games"]] {
        run(own_lookup).assert_output(4, &["no player is saved on this machine"]);
    }
}

#[test]
fn invitation_code_allows_one_registration() {
    let (server, home) = (RealServer::start_invite_only(), PlyHome::new());
    let register = |options: &[&str], input: &str| {
        let arguments = [&["register", "ada", "--no-password"], options].concat();
        home.run(&server.url, &arguments, input)
    };
    register(&[], "").assert_output(4, &["invitation"]);
    register(&["--invited"], "ABCDEFGHIJKLMNOPQRSTUVWXYZ\n").assert_output(4, &["invitation"]);
    let invitation = format!("{}\n", server.create_invitation());
    register(&["--invited"], &invitation).assert_output(0, &["Account ada created"]);
    home.run(&server.url, &["profile"], "")
        .assert_output(0, &["ada, registered player"]);

    // The invitation code is valid only once.
    let other = ["register", "bea", "--no-password", "--invited"];
    PlyHome::new()
        .run(&server.url, &other, &invitation)
        .assert_output(4, &["invitation"]);
}

#[test]
fn blocked_player_cannot_join_match() {
    let server = RealServer::start();
    let (ann, bob) = (
        register_player(&server, "ann"),
        register_player(&server, "bob"),
    );
    let run = |home: &PlyHome, arguments: &[&str]| home.run(&server.url, arguments, "");
    run(&ann, &["blocked"]).assert_output(0, &["You have not blocked anyone."]);
    run(&ann, &["block", "nobody"]).assert_output(4, &["no account with this name"]);
    run(&ann, &["block", "ann"]).assert_output(4, &[]);
    let id = player_id(&server, &bob);
    run(&ann, &["block", "Bob"]).assert_output(0, &[&format!("{id}  bob")]);
    run(&ann, &["blocked"]).assert_output(0, &[&format!("{id}  bob")]);
    run(&bob, &["blocked"]).assert_output(0, &["You have not blocked anyone."]);
    run(&ann, &["unblock", &id]).assert_output(0, &["You have not blocked anyone."]);
    run(&ann, &["block", &id]).assert_output(0, &[&format!("{id}  bob")]);

    let mut host = PlyProcess::spawn(&ann, &server, &["play", "--open"]);
    let command = host.wait_for_line("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();
    run(&bob, &["join", &code]).assert_output(4, &["one of you has blocked the other"]);
}

#[test]
fn account_deletion_needs_confirmation_and_password() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["forget", "--yes"], "").assert_output(4, &["no player is saved on this machine"]);
    run(&["register", "ada"], "correct horse\n").assert_output(0, &["Account ada created"]);
    run(&["forget"], "").assert_output(4, &["--yes"]);
    run(&["forget", "--yes"], "wrong horse\n").assert_output(4, &["wrong"]);
    run(&["profile"], "").assert_output(0, &["ada, registered player"]);
    run(&["forget", "--yes"], "correct horse\n").assert_output(0, &["Account deleted."]);
    run(&["profile"], "").assert_output(4, &["no player is saved on this machine"]);
    let other = register_player(&server, "bea");
    other
        .run(&server.url, &["profile", "ada"], "")
        .assert_output(4, &["no account with this name"]);
    let register = ["register", "ada", "--no-password"];
    PlyHome::new()
        .run(&server.url, &register, "")
        .assert_output(4, &["or one that looks like it, is already taken"]);
}
