//! Names of one's own among others: matches for ratings, who leads, invitations, blocks, and being forgotten.

use plyhouse_matches::ratings::{Rating, RatingEntry, RatingKey, RatingState};
use plyhouse_protocol::{PlayerId, RatingPool};

use crate::fake::Home;
use crate::real::{Real, Somebody};

fn registered(server: &Real, name: &str) -> Home {
    let home = Home::new();
    let register = ["register", name, "--no-password"];
    home.run(&server.url, &register, "").expect(0, &[name]);
    home
}

/// The id of whoever is known here, as the server tells it.
fn id_of(server: &Real, home: &Home) -> String {
    let told = home.run(&server.url, &["profile", "--json"], "").out;
    let (_, rest) = told.split_once("\"player\":{\"id\":\"").expect("a player");
    rest[..36].to_owned()
}

#[test]
fn a_match_is_played_for_ratings() {
    let server = Real::start();
    let (ann, bob) = (registered(&server, "ann"), registered(&server, "bob"));
    let clock = ["--rated", "--clock", "5+3"];
    let play = [
        &["play", "tic-tac-toe", "--open", "--as", "first"],
        &clock[..],
    ]
    .concat();
    Home::new()
        .run(&server.url, &play, "")
        .expect(4, &["register"]);

    let mut first = Somebody::start(&ann, &server, &play);
    let command = first.sees("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();
    Home::new()
        .run(&server.url, &["join", &code], "")
        .expect(4, &["register"]);
    let mut second = Somebody::start(&bob, &server, &["join", &code]);
    second.sees("(x) to move.");
    first.types("a1\n");
    second.types("a2\n");
    second.sees("You play a2.");
    first.types("resign\n");
    first.sees("You lose.");
    second.sees("You win!");
    // It is rated after it has ended: a run without a person waits for that.
    for player in [first, second] {
        let ran = player.ran();
        ran.expect(0, &["Rating of x: 1500 → 1", "Rating of o: 1500 → 1", "?"]);
    }
    for (home, score) in [(&ann, "0 won, 1 lost"), (&bob, "1 won, 0 lost")] {
        let profile = home.run(&server.url, &["profile"], "");
        profile.expect(
            0,
            &[
                "an account",
                score,
                "tic-tac-toe (live): 1",
                "1 rated matches",
            ],
        );
    }
}

/// Who looks for an opponent is in the list, and the command that stands beside it answers.
#[test]
fn whoever_seeks_is_listed() {
    let server = Real::start();
    let (ann, bob) = (Home::new(), Home::new());
    let seek = ["play", "tic-tac-toe", "--seek", "--clock", "5+3"];
    let mut first = Somebody::start(&ann, &server, &seek);
    first.sees("Looking for somebody");
    let command = "ply play tic-tac-toe --seek --clock 5+3";
    let listed = bob.run(&server.url, &["list"], "");
    listed.expect(0, &["LOOKING", "tic-tac-toe 5+3", command]);
    let json = bob.run(&server.url, &["list", "--json"], "");
    json.expect(0, &[r#""seekers":{"total":1,"rows":[{"player":"#]);
    let answer: Vec<&str> = command.split(' ').skip(1).collect();
    let second = Somebody::start(&bob, &server, &answer);
    for mut player in [first, second] {
        player.sees("Tic-tac-toe ");
    }
    let after = bob.run(&server.url, &["list"], "");
    assert!(!after.out.contains("LOOKING"), "{}", after.out);
}

#[test]
fn whoever_leads_is_listed() {
    let server = Real::start();
    let homes = ["ann", "bob"].map(|name| registered(&server, name));
    let leaders = |arguments: &[&str]| {
        let arguments = [&["leaders", "chess"], arguments].concat();
        homes[0].run(&server.url, &arguments, "")
    };
    leaders(&[]).expect(0, &["Nobody is here"]);
    let rated = |(home, rating): (&Home, f64)| {
        let record = RatingKey {
            player: PlayerId(id_of(&server, home).parse().unwrap()),
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
            // Not long ago for years to come.
            last_ms: 4_000_000_000_000,
        };
        (record, rated)
    };
    server.rate(RatingState {
        ratings: homes.iter().zip([1612.0, 1704.0]).map(rated).collect(),
        ..RatingState::default()
    });

    let all = leaders(&[]);
    all.expect(
        0,
        &[
            "  1. 1704 ± 60  bob (40 rated matches)",
            "  2. 1612 ± 60  ann",
        ],
    );
    leaders(&["--limit", "1"]).expect(0, &["bob", "… of 2; more by --after 1"]);
    let behind = leaders(&["--after", "1"]);
    behind.expect(0, &["  2. 1612"]);
    assert!(!behind.out.contains("bob"), "{behind:?}");
    leaders(&["--pool", "bots"]).expect(0, &["Nobody is here"]);
    leaders(&["--pool", "all"]).expect(2, &["--pool"]);
}

/// As with `list`, nothing has to be known here of whoever asks, and nothing is stored.
#[test]
fn lookups_of_others_need_no_player_here() {
    let (server, home) = (Real::start(), Home::new());
    let bea = id_of(&server, &registered(&server, "bea"));
    let run = |arguments: &[&str]| home.run(&server.url, arguments, "");
    run(&["leaders", "chess"]).expect(0, &["Nobody is here"]);
    run(&["leaders", "go", "--limit", "5"]).expect(0, &["Nobody is here"]);
    run(&["profile", "bea"]).expect(0, &["bea, an account"]);
    run(&["profile", &bea]).expect(0, &["bea, an account"]);
    run(&["profile", "nobody"]).expect(4, &["nobody has this name"]);
    run(&["history", "--player", &bea]).expect(0, &["No match has ended yet."]);
    for of_oneself in [&["profile"][..], &["history"], &["games"]] {
        run(of_oneself).expect(4, &["nobody is known here"]);
    }
}

#[test]
fn whoever_is_invited_registers() {
    let (server, home) = (Real::start_by_invitation(), Home::new());
    let register = |more: &[&str], input: &str| {
        let arguments = [&["register", "ada", "--no-password"], more].concat();
        home.run(&server.url, &arguments, input)
    };
    register(&[], "").expect(4, &["invitation"]);
    register(&["--invited"], "ABCDEFGHIJKLMNOPQRSTUVWXYZ\n").expect(4, &["invitation"]);
    let invitation = format!("{}\n", server.invitation());
    register(&["--invited"], &invitation).expect(0, &["ada is your name alone"]);
    home.run(&server.url, &["profile"], "")
        .expect(0, &["ada, an account"]);

    // It is good once.
    let other = ["register", "bea", "--no-password", "--invited"];
    Home::new()
        .run(&server.url, &other, &invitation)
        .expect(4, &["invitation"]);
}

#[test]
fn whoever_is_blocked_is_not_met() {
    let server = Real::start();
    let (ann, bob) = (registered(&server, "ann"), registered(&server, "bob"));
    let on = |home: &Home, arguments: &[&str]| home.run(&server.url, arguments, "");
    on(&ann, &["blocked"]).expect(0, &["You block nobody."]);
    on(&ann, &["block", "nobody"]).expect(4, &["nobody has this name"]);
    on(&ann, &["block", "ann"]).expect(4, &[]);
    let id = id_of(&server, &bob);
    on(&ann, &["block", "Bob"]).expect(0, &[&format!("{id}  bob")]);
    on(&ann, &["blocked"]).expect(0, &[&format!("{id}  bob")]);
    on(&bob, &["blocked"]).expect(0, &["You block nobody."]);
    on(&ann, &["unblock", &id]).expect(0, &["You block nobody."]);
    on(&ann, &["block", &id]).expect(0, &[&format!("{id}  bob")]);

    let mut host = Somebody::start(&ann, &server, &["play", "--open"]);
    let command = host.sees("ply join ");
    let code = command.split_whitespace().nth(2).unwrap().to_owned();
    on(&bob, &["join", &code]).expect(4, &["one of you has blocked the other"]);
}

#[test]
fn whoever_wants_is_forgotten() {
    let (server, home) = (Real::start(), Home::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["forget", "--yes"], "").expect(4, &["nobody is known here"]);
    run(&["register", "ada"], "correct horse\n").expect(0, &["ada is your name alone"]);
    run(&["forget"], "").expect(4, &["--yes"]);
    run(&["forget", "--yes"], "wrong horse\n").expect(4, &["wrong"]);
    run(&["profile"], "").expect(0, &["ada, an account"]);
    run(&["forget", "--yes"], "correct horse\n").expect(0, &["You are forgotten."]);
    run(&["profile"], "").expect(4, &["nobody is known here"]);
    let other = registered(&server, "bea");
    other
        .run(&server.url, &["profile", "ada"], "")
        .expect(4, &["nobody has this name"]);
    let again = ["register", "ada", "--no-password"];
    Home::new()
        .run(&server.url, &again, "")
        .expect(4, &["somebody else has this name"]);
}
